package casefile

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// expect reads what a case expects.
func (r *reader) expect(m *value.Map) (e Expect) {
	x := r.mapping(m, "expect")
	r.Keys(x, "expect", "files", "functions", "ports", "script", "states")
	r.notEmpty(m, "expect")
	r.notEmpty(x, "files", "functions", "ports", "script", "states")
	r.each(x, "functions", func(pos source.Pos, name string, v value.Value) {
		e.Functions = append(e.Functions, r.function(pos, name, v))
	})
	r.each(x, "states", func(pos source.Pos, name string, v value.Value) {
		args, ok := v.(*value.Map)
		if !ok {
			r.Fault(pos, "the state %s must have its arguments as a mapping, not %s", name, value.Kind(v))
		}
		e.States = append(e.States, State{pos, name, args})
	})
	files := r.mapping(x, "files")
	for k, v := range files.All() {
		e.Files = append(e.Files, r.file(files.Pos(k), value.Str(k), v))
	}
	ports := x.List("ports")
	if ports == nil && value.Truth(x.At("ports")) {
		r.Fault(x.Pos("ports"), "ports must be a list of numbers, not %s", value.Kind(x.At("ports")))
	}
	for i := range ports.Len() {
		n, ok := value.AsInt(ports.Items[i])
		if !ok || n < 1 || n > 65535 {
			r.Fault(ports.PosAt(i), "a port must be a number from 1 to 65535, not %s", value.Repr(ports.Items[i]))
		}
		e.Ports = append(e.Ports, Port{ports.PosAt(i), n})
	}
	for _, text := range r.Texts(x, "script") {
		e.Scripts = append(e.Scripts, Script{x.Pos("script"), text})
	}
	return e
}

// notEmpty complains of keys without anything in them, for which nothing would be looked at.
func (r *reader) notEmpty(m *value.Map, keys ...string) {
	for _, key := range keys {
		if v, ok := m.Get(key); ok && !value.Truth(v) {
			r.Fault(m.Pos(key), "%s has nothing in it, so that nothing would be looked at: fill it, or leave it away", key)
		}
	}
}

// each reads a list of mappings that have one key, the name of a function.
func (r *reader) each(x *value.Map, key string, do func(source.Pos, string, value.Value)) {
	l := x.List(key)
	if v := x.At(key); l == nil && v != nil {
		r.Fault(x.Pos(key), "%s must be a list of mappings from functions to arguments, not %s", key, value.Kind(v))
	}
	for i := range l.Len() {
		m, ok := l.Items[i].(*value.Map)
		if !ok || m.Len() != 1 {
			r.Fault(l.PosAt(i), "%s: each item must be a mapping with one function, such as \"- test.ping: {}\"", key)
			continue
		}
		k, v := m.Entry(0)
		name := value.Str(k)
		if mod, fn, ok := strings.Cut(name, "."); !ok || mod == "" || fn == "" {
			r.Fault(m.Pos(k), "%s: %q is not the name of a function: it has the form MODULE.FUNCTION", key, name)
			continue
		}
		do(m.Pos(k), name, v)
	}
}

// function reads a call: a text or a list are its arguments, a mapping has them and what
// is expected. What is expected of a call that says nothing of it is a true value.
func (r *reader) function(pos source.Pos, name string, v value.Value) Function {
	f := Function{Pos: pos, Name: name}
	m, ok := v.(*value.Map)
	if !ok {
		f.Args = items(v)
		return f
	}
	r.Keys(m, name, "args", "has", "is", "kwargs", "match", "status")
	r.notEmpty(m, "has", "match")
	f.Args, f.Kwargs, f.Has = items(m.At("args")), r.mapping(m, "kwargs"), r.mapping(m, "has")
	f.Is, f.HasIs = m.Get("is")
	f.Match = r.pattern(m)
	if v, ok := m.Get("status"); ok {
		n, ok := value.AsInt(v)
		if !ok {
			r.Fault(m.Pos("status"), "status must be a number, not %s", value.Repr(v))
		}
		f.Status = &n
	}
	return f
}

func items(v value.Value) []value.Value {
	switch v := v.(type) {
	case nil:
		return nil
	case *value.List:
		return v.Items
	}
	return []value.Value{v}
}

// pattern reads a regular expression.
func (r *reader) pattern(m *value.Map) *regexp.Regexp {
	text := r.Text(m, "match")
	if text == "" {
		return nil
	}
	if _, err := regexp.Compile(text); err != nil {
		r.Fault(m.Pos("match"), "match: %v", err)
		return nil
	}
	return regexp.MustCompile("(?m)" + text) // ^ and $ are those of lines
}

// fileTypes are what a file can be.
var fileTypes = []string{"absent", "directory", "file", "link"}

// file reads what a file is to be like.
func (r *reader) file(pos source.Pos, path string, v value.Value) FileWant {
	f := FileWant{Pos: pos, Path: path, Type: "file"}
	m, ok := v.(*value.Map)
	if !ok && v != nil {
		r.Fault(pos, "%s must be a mapping, such as {mode: '0644'}, not %s", path, value.Kind(v))
	}
	if !strings.HasPrefix(path, "/") {
		r.Fault(pos, "the file %q must be an absolute path", path)
	}
	r.Keys(m, path, "content", "group", "match", "mode", "target", "type", "user")
	r.notEmpty(m, "group", "match", "target", "type", "user")
	if t := r.Text(m, "type"); t != "" {
		f.Type = t
	}
	if !slices.Contains(fileTypes, f.Type) {
		r.Fault(m.Pos("type"), "type: %q is not one of %s%s", f.Type, strings.Join(fileTypes, ", "), source.DidYouMean(f.Type, fileTypes))
	}
	for k := range m.All() {
		key := value.Str(k)
		if f.Type == "absent" && key != "type" || f.Type != "link" && key == "target" || f.Type == "directory" && (key == "content" || key == "match") {
			r.Fault(m.Pos(k), "%s: %s is not looked at where the type is %s", path, key, f.Type)
		}
	}
	f.User, f.Group, f.Target, f.Match = r.Text(m, "user"), r.Text(m, "group"), r.Text(m, "target"), r.pattern(m)
	if m.Has("mode") {
		f.Mode = cmp.Or(strings.TrimLeft(value.Str(m.At("mode")), "0"), "0")
		if _, quoted := m.At("mode").(string); !quoted || !octal().MatchString(f.Mode) {
			r.Fault(m.Pos("mode"), "mode must be octal digits in quotes, such as '0644', not %s", value.Repr(m.At("mode")))
		}
	}
	if v, ok := m.Get("content"); ok {
		text, ok := v.(string)
		if !ok {
			r.Fault(m.Pos("content"), "content must be text, not %s", value.Kind(v))
		}
		f.Content = &text
	}
	return f
}

var octal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-7]{0,4}$`) })
