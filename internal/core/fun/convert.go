package fun

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/redact"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Convert returns v as a value of the argument's type. The conversions are the
// ones that Salt's functions make: numeric text is a number, a scalar is a list
// of one, octal modes may be written 644, "0644" or "0o644".
//
// For an argument that is not required, None, False, "" and an empty list or
// mapping mean "not given" where they are not values of the type: they become
// nil. Text for a boolean is true or yes, on, 1, or false, no, off, 0. Salt takes
// all text but "" for true: hint says so for text that reads as false, which
// still is true here, as in Salt.
//
// An undefined variable of a template raises what its use raises, and is "" where
// templates may use it.
//
// It returns an *InvocationError that names the argument, the value and the type
// for a value that no reading makes valid. Lists and mappings keep their identity
// unless an element had to be converted.
func (a *Arg) Convert(v value.Value) (out value.Value, hint string, err error) {
	if a.Type == Any {
		return v, "", nil
	}
	if v == nil {
		if a.Required && a.Type&None == 0 {
			return nil, "", a.refuse(v)
		}
		return nil, "", nil
	}
	if u, ok := v.(value.Faulty); ok { // a template's undefined
		if err := u.Fault("str"); err != nil {
			return nil, "", err
		}
		v = ""
	}
	if out, ok := a.exact(v); ok {
		return out, "", nil
	}
	if out, hint, ok := a.read(v); ok {
		return out, hint, nil
	}
	if !a.Required && blank(v) {
		return nil, "", nil
	}
	return nil, "", a.refuse(v)
}

// blank reports whether v is what Python counts as false.
func blank(v value.Value) bool {
	switch x := v.(type) {
	case bool:
		return !x
	case string:
		return strings.TrimSpace(x) == ""
	case *value.List, value.Tuple, value.Mapping, *value.Set:
		return !value.Truth(v)
	}
	return false
}

// exact converts v where it is of one of the argument's types already.
func (a *Arg) exact(v value.Value) (value.Value, bool) {
	t := a.Type
	switch x := v.(type) {
	case bool:
		return v, t&Bool != 0
	case int64:
		return v, t&(Int|Float|Duration) != 0 || t&Size != 0 && x >= 0
	case float64:
		return v, t&(Float|Duration) != 0
	case *value.List:
		if t&(List|Comma) != 0 {
			return a.items(v, x.Items)
		}
	case value.Tuple:
		if t&(List|Comma) != 0 {
			return a.items(v, x)
		}
	case value.Mapping:
		if t&Dict != 0 {
			return a.entries(x)
		}
	case value.Bytes:
		return v, t&(Str|Path) != 0
	}
	if s, ok := value.AsText(v); ok && t&(Str|Path) != 0 {
		return v, a.takes(s)
	}
	return nil, false
}

// takes reports whether s is text that the argument may be.
func (a *Arg) takes(s string) bool {
	if a.Type&Path != 0 && strings.IndexByte(s, 0) >= 0 {
		return false
	}
	return len(a.OneOf) == 0 || slices.Contains(a.OneOf, s)
}

// read converts v to one of the argument's types, the narrowest first.
func (a *Arg) read(v value.Value) (out value.Value, hint string, ok bool) {
	t := a.Type
	s, isText := value.AsText(v)
	if t&Mode != 0 {
		if m, ok := modeOf(v, s, isText); ok {
			return m, "", true
		}
		if isText && slices.Contains(a.OneOf, s) {
			return s, "", true
		}
	}
	if n, ok := a.readNumber(v, s, isText); ok {
		return n, "", true
	}
	if t&Bool != 0 {
		if b, hint, ok := boolOf(v, s, isText); ok {
			return b, hint, true
		}
	}
	if t&Comma != 0 && isText {
		l := value.NewList()
		for part := range strings.SplitSeq(s, ",") {
			if part = strings.TrimSpace(part); part != "" {
				l.Append(part)
			}
		}
		out, ok := a.items(l, l.Items)
		return out, "", ok
	}
	if t&(Str|Path) != 0 && isScalar(v) {
		if s := value.Str(v); a.takes(s) && (v != false || a.Required) {
			return s, "", true
		}
	}
	if t&(List|Comma) != 0 {
		out, ok := a.readList(v, s, isText)
		return out, "", ok
	}
	return nil, "", false
}

// readNumber reads v as one of the numbers that the argument takes.
func (a *Arg) readNumber(v value.Value, s string, isText bool) (out value.Value, ok bool) {
	if a.Type&Int != 0 {
		if n, ok := intOf(v, s, isText); ok {
			return n, true
		}
	}
	if a.Type&Size != 0 {
		if n, ok := SizeOf(v); ok {
			return n, true
		}
	}
	if a.Type&(Float|Duration) != 0 && isText {
		if f, err := value.ToFloat(s); err == nil && !math.IsNaN(f) {
			return f, true
		}
	}
	return nil, false
}

// readList reads v as a list: a scalar is a list of one item.
func (a *Arg) readList(v value.Value, s string, isText bool) (out value.Value, ok bool) {
	if isText && s != "" || !isText && isScalar(v) && v != false {
		l := value.NewList(v)
		return a.items(l, l.Items)
	}
	if _, isMap := v.(value.Mapping); isMap || isText || isScalar(v) || !value.IsIterable(v) {
		return nil, false
	}
	items, err := value.Items(v)
	if err != nil {
		return nil, false
	}
	return a.items(value.NewList(items...), items)
}

func isScalar(v value.Value) bool {
	switch v.(type) {
	case bool, int64, *big.Int, float64, string:
		return true
	}
	_, ok := value.AsText(v)
	return ok || value.TypeName(v) == "datetime"
}

// items converts the items of the list v by the type of elements.
func (a *Arg) items(v value.Value, items []value.Value) (value.Value, bool) {
	of := Elem(a.Type)
	if of == Any {
		return v, true
	}
	e := Arg{Name: a.Name, Type: of, OneOf: a.OneOf, Required: true}
	var changed []value.Value
	for i, x := range items {
		y, _, err := e.Convert(x)
		if err != nil {
			return nil, false
		}
		if changed == nil && !same(x, y) {
			changed = append(make([]value.Value, 0, len(items)), items[:i]...)
		}
		if changed != nil {
			changed = append(changed, y)
		}
	}
	if changed == nil {
		return v, true
	}
	return value.NewList(changed...), true
}

// entries converts the values of the mapping m by the type of elements.
func (a *Arg) entries(m value.Mapping) (value.Value, bool) {
	of := Elem(a.Type)
	if of == Any {
		return m, true
	}
	e := Arg{Name: a.Name, Type: of}
	var changed *value.Map
	for _, k := range m.Keys() {
		x, _ := m.Get(k)
		y, _, err := e.Convert(x)
		if err != nil {
			return nil, false
		}
		if same(x, y) {
			continue
		}
		if changed == nil {
			changed = value.NewMap(m.Len())
			for _, k := range m.Keys() {
				v, _ := m.Get(k)
				changed.Set(k, v)
			}
		}
		changed.Set(k, y)
	}
	if changed == nil {
		return m, true
	}
	return changed, true
}

// same reports whether converting x gave x itself. Containers are compared by
// identity.
func same(x, y value.Value) bool {
	switch x.(type) {
	case value.Tuple:
		_, ok := y.(value.Tuple)
		return ok
	case nil, bool, int64, float64, string, value.Bytes, *big.Int, *value.List, *value.Map, *value.Set:
		return x == y
	}
	// Text that a template marked and lazy mappings are what they were, unless
	// they became a plain value.
	switch y.(type) {
	case nil, bool, int64, float64, string, *value.Map, *value.List:
		return false
	}
	return true
}

// modeOf reads permissions: Salt takes the digits of a number for octal ones,
// since YAML has dropped the leading zero of 0644.
// Salt: salt/utils/files.py normalize_mode.
func modeOf(v value.Value, s string, isText bool) (string, bool) {
	if !isText {
		n, ok := v.(int64)
		if !ok || n < 0 {
			return "", false
		}
		s = strconv.FormatInt(n, 10)
	}
	s = strings.TrimPrefix(strings.Trim(s, `"'`), "0o")
	n, err := strconv.ParseUint(s, 8, 16)
	if err != nil || n > 0o7777 {
		return "", false
	}
	octal := strconv.FormatUint(n, 8)
	return strings.Repeat("0", max(0, 4-len(octal))) + octal, true
}

func intOf(v value.Value, s string, isText bool) (int64, bool) {
	if f, ok := v.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f), true
	}
	if !isText {
		return 0, false
	}
	n, err := value.ToInt(s)
	if err != nil {
		return 0, false
	}
	i, ok := n.(int64)
	return i, ok
}

// SizeOf reads a number of bytes, as a number or text with a unit: "512", "10k",
// "1.5G", "64KiB". K is 1024, KB is 1000. ok is false for anything else.
//
// Salt: salt/utils/stringutils.py human_to_bytes with handle_metric.
func SizeOf(v value.Value) (bytes int64, ok bool) {
	const most = 1 << 62
	switch x := v.(type) {
	case int64:
		return x, x >= 0
	case float64:
		return int64(x), x >= 0 && x < most
	}
	s, isText := value.AsText(v)
	if !isText {
		return 0, false
	}
	s = strings.ToLower(strings.TrimSpace(s))
	end := strings.LastIndexAny(s, "0123456789.") + 1
	f, err := strconv.ParseFloat(s[:end], 64)
	if err != nil || f < 0 {
		return 0, false
	}
	unit, base := strings.TrimSpace(s[end:]), 1024.0
	letter, rest := unit, ""
	if len(unit) > 1 {
		letter, rest = unit[:1], unit[1:]
	}
	switch rest {
	case "b":
		base = 1000
	case "", "ib":
	default:
		return 0, false
	}
	power := strings.Index("bkmgtpezy", letter)
	if letter == "" {
		power = 0
	}
	if power < 0 || power == 0 && rest != "" {
		return 0, false
	}
	f *= math.Pow(base, float64(power))
	return int64(f), f < most
}

// boolOf reads a boolean. Salt's functions test for truth, so that all text but
// "" is true: hint says so where the text reads as false.
func boolOf(v value.Value, s string, isText bool) (b bool, hint string, ok bool) {
	switch x := v.(type) {
	case int64:
		return x != 0, "", true
	case float64:
		return x != 0, "", true
	}
	if !isText {
		return false, "", false
	}
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "":
		return false, "", true
	case "true", "yes", "on", "1", "y":
		return true, "", true
	case "false", "no", "off", "0", "n", "none":
		return true, "the string " + value.Repr(s) + " is true, as every string in Salt: write False without quotes", true
	}
	return false, "", false
}

// refuse returns the error for a value that the argument cannot take. Secret
// values are not shown, and long ones are cut.
func (a *Arg) refuse(v value.Value) error {
	const most = 80
	shown := "None"
	switch {
	case v == nil:
	case a.Secret || redact.Hides(a.Name, v):
		shown = "a value of type " + value.TypeName(v)
	default:
		shown = value.Repr(v)
		if r := []rune(shown); len(r) > most {
			shown = string(r[:most]) + "..."
		}
	}
	near := ""
	if s, ok := value.AsText(v); ok && len(a.OneOf) > 0 {
		near = source.DidYouMean(s, a.OneOf)
	}
	return &InvocationError{Arg: a.Name, Msg: a.Name + " must be " + a.want() + ", not " + shown + near}
}
