package fun

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"brine/internal/py/value"
)

// Arguments is for structs that declare arguments and embed no other: their first field
// is "_ fun.Arguments". What has it cannot be compared, so that the program has no code
// that compares hundreds of such structs.
type Arguments struct{ _ [0]func() }

// Kwargs are the keyword arguments of a call beyond the declared ones. A struct of
// arguments with a field of this type declares that the function takes them.
type Kwargs struct {
	_ [0]func()
	*value.Map
}

// Varargs are the positional arguments of a call beyond the declared ones. A struct
// of arguments with a field of this type declares that the function takes them.
type Varargs []value.Value

// An Opt is an argument for which None, or not being given, means something of
// its own.
type Opt[T any] struct {
	V     T
	Given bool // it is not None
}

// Or returns the argument, or def where it is None.
func (o Opt[T]) Or(def T) T {
	if o.Given {
		return o.V
	}
	return def
}

func (Opt[T]) holds() reflect.Type { return reflect.TypeFor[T]() }

type optional interface{ holds() reflect.Type }

// A layout is how a struct declares arguments and is filled from a call.
type layout struct {
	args   []Arg
	fields []field // of args, in their order
	varKw  bool    // there is a field of type Kwargs
	hideKw bool    // and its tag arg is "secret"
	varArg bool    // there is a field of type Varargs

	rest, more       uintptr // where the fields of type Kwargs and Varargs are
	hasRest, hasMore bool    // there is one that is read
}

// A field is where an argument is put.
type field struct {
	name   value.Value                       // of the argument
	offset uintptr                           // in the outermost struct
	set    func(unsafe.Pointer, value.Value) // nil: the argument is accepted and not read
	opt    bool                              // it is set for None, too
}

// defaults is what a struct of arguments has that gives a default which no tag can say,
// such as one that marks what was not given. Arguments are named as in the tags.
type defaults interface{ Defaults() map[string]value.Value }

var layouts sync.Map // of reflect.Type to *layout

// layoutOf returns the layout of a struct of arguments. It panics for a struct that
// declares none properly: [CheckArgs] looks for such in the tests of the table.
func layoutOf(t reflect.Type) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout)
	}
	l := &layout{}
	if err := l.add(t, 0); err != nil {
		panic(err)
	}
	if d, ok := reflect.TypeAssert[defaults](reflect.New(t)); ok {
		for name, v := range d.Defaults() {
			i := slices.IndexFunc(l.args, func(a Arg) bool { return a.Name == name })
			l.args[i].Default = v
		}
	}
	kept, _ := layouts.LoadOrStore(t, l)
	return kept.(*layout)
}

// add declares the fields of t, which is at an offset of the outermost struct.
//
// A field declares an argument by its tags:
//
//	arg:"name,required,kw,secret,TYPE"  the name; then any of the words; TYPE only where
//	                                    the field's Go type does not say it (see [ParseType])
//	default:"..."                       as Python writes it; for types of text only: as it is
//	unit:"s"
//	oneof:"a|b|c"                       the words that it takes
//	doc:"..."
//
// A field of type [Kwargs] has no tag, or arg:"secret" where any of them may be one.
//
// A blank field (_) declares an argument that is accepted and not read. The fields of
// an embedded struct are declared in its place.
func (l *layout) add(t reflect.Type, offset uintptr) error {
	for f := range t.Fields() {
		at := offset + f.Offset
		switch {
		case f.Type == reflect.TypeFor[Arguments]():
			continue
		case f.Type == reflect.TypeFor[Kwargs]():
			l.hideKw = f.Tag.Get("arg") == "secret"
			if l.varKw = true; f.Name != "_" {
				l.rest, l.hasRest = at, true
			}
			continue
		case f.Type == reflect.TypeFor[Varargs]():
			if l.varArg = true; f.Name != "_" {
				l.more, l.hasMore = at, true
			}
			continue
		case f.Anonymous:
			if err := l.add(f.Type, at); err != nil {
				return err
			}
			continue
		}
		tag, ok := f.Tag.Lookup("arg")
		if !ok {
			return fmt.Errorf("%s.%s has no tag arg", t, f.Name)
		}
		a, err := declared(f, tag)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		if slices.ContainsFunc(l.args, func(b Arg) bool { return a.Name == b.Name }) {
			return fmt.Errorf("%s.%s: the argument %s is declared twice", t, f.Name, a.Name)
		}
		to := field{name: a.key, offset: at}
		if f.Name != "_" {
			if to.set, to.opt = setter(f.Type); to.set == nil {
				return fmt.Errorf("%s.%s: a field of type %s keeps no argument", t, f.Name, f.Type)
			}
		}
		l.args, l.fields = append(l.args, a), append(l.fields, to)
	}
	return nil
}

// declared returns the argument that a field declares.
func declared(f reflect.StructField, tag string) (Arg, error) {
	name, words, _ := strings.Cut(tag, ",")
	a := Arg{Name: name, key: name, Unit: f.Tag.Get("unit"), Doc: f.Tag.Get("doc")}
	typed := false
	for word := range strings.SplitSeq(words, ",") {
		switch word {
		case "":
		case "required":
			a.Required = true
		case "kw":
			a.KwOnly = true
		case "secret":
			a.Secret = true
		default:
			t, err := ParseType(word)
			if err != nil {
				return a, err
			}
			a.Type, typed = t, true
		}
	}
	if !typed {
		t, ok := typeOf(f.Type)
		if !ok {
			return a, fmt.Errorf("a field of type %s declares no argument", f.Type)
		}
		a.Type = t
	}
	if oneOf, ok := f.Tag.Lookup("oneof"); ok {
		a.OneOf = strings.Split(oneOf, "|")
	}
	if text, ok := f.Tag.Lookup("default"); ok {
		v, err := defaultOf(a.Type, text)
		if err != nil {
			return a, err
		}
		a.Default = v
	}
	return a, nil
}

var typeWords = [...]string{"str", "bool", "int", "float", "list", "dict", "comma", "mode", "duration", "size", "path", "none"}

// ParseType reads a type as a tag writes it: words joined by |, such as "str|bool";
// "any"; and lists, comma-separated lists and mappings with the type of their
// elements: "list[str]", "comma[str|int]", "dict[str]".
func ParseType(text string) (Type, error) {
	if text == "any" {
		return Any, nil
	}
	var t Type
	for text != "" {
		word := text
		if i := strings.IndexAny(text, "|["); i >= 0 {
			word = text[:i]
		}
		text = text[len(word):]
		n := slices.Index(typeWords[:], word)
		if n < 0 {
			return 0, fmt.Errorf("%q is not a type of arguments", word)
		}
		t |= 1 << n
		if inner, ok := strings.CutPrefix(text, "["); ok {
			of, after, ok := strings.Cut(inner, "]")
			e, err := ParseType(of)
			if err != nil {
				return 0, err
			}
			if !ok || e == Any || t&(List|Comma|Dict) == 0 || Elem(t) != 0 && Elem(t) != e {
				return 0, fmt.Errorf("[%s] is not a type of elements here", of)
			}
			t, text = t|e<<elem, after
		}
		if next, ok := strings.CutPrefix(text, "|"); ok && next != "" {
			text = next
		} else if text != "" {
			return 0, fmt.Errorf("%q after the type %q", text, word)
		}
	}
	if t == 0 {
		return 0, fmt.Errorf("an empty type")
	}
	return t, nil
}

// typeOf returns the type that a field's Go type stands for.
func typeOf(t reflect.Type) (Type, bool) {
	if o, ok := reflect.TypeAssert[optional](reflect.Zero(t)); ok {
		t = o.holds()
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return Duration, true
	case reflect.TypeFor[[]string]():
		return Strs, true
	case reflect.TypeFor[[]value.Value]():
		return List, true
	case reflect.TypeFor[*value.Map]():
		return Dict, true
	case reflect.TypeFor[value.Value]():
		return Any, true
	}
	switch t.Kind() { //nolint:exhaustive // others declare nothing
	case reflect.String:
		return Str, true
	case reflect.Bool:
		return Bool, true
	case reflect.Int64:
		return Int, true
	case reflect.Float64:
		return Float, true
	}
	return 0, false
}

// defaultOf reads a default.
func defaultOf(t Type, text string) (value.Value, error) {
	if t != Any && t&^(Str|Path|Mode) == 0 {
		return text, nil
	}
	switch text {
	case "True", "False":
		return text == "True", nil
	case "[]":
		return value.NewList(), nil
	case "{}":
		return value.NewMap(0), nil
	}
	if s, ok := strings.CutPrefix(text, "'"); ok {
		if s, ok = strings.CutSuffix(s, "'"); ok && !strings.ContainsAny(s, `'\`) {
			return s, nil
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f, nil
	}
	return nil, fmt.Errorf("the default %s cannot be read", text)
}
