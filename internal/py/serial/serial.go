// Package serial writes and reads data in the formats that Salt calls
// serializers: configparser, json, keyvalue, msgpack, plist, python, toml, yaml
// and yamlex.
package serial

import (
	"fmt"
	"strings"

	"brine/internal/py/proc"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// A Format writes and reads data.
type Format struct {
	// Write returns a text, or bytes for binary formats. Its options are those of
	// the Python function that Salt uses.
	Write func(v value.Value, o *value.Map) (value.Value, error)
	// Read reads text, which comes from the file name ("" is a text in memory);
	// nil: the format cannot be read.
	Read func(text, name string, o *value.Map) (value.Value, error)
}

// Names are the formats in alphabetical order.
func Names() []string {
	return []string{"configparser", "json", "keyvalue", "msgpack", "plist", "python", "toml", "tomlmod", "yaml", "yamlex"}
}

// Of returns a format by Salt's name. Errors of its functions are Salt's
// SerializationError and DeserializationError.
func Of(name string) (Format, bool) {
	var f Format
	switch name {
	case "configparser":
		f = Format{writeINI, readINI}
	case "json":
		f = Format{writeJSON, plain(value.ParseJSON)}
	case "keyvalue":
		f = Format{writeKeyValue, readKeyValue}
	case "msgpack":
		f = Format{writeMsgpack, plain(readMsgpack)}
	case "plist":
		f = Format{writePlist, plain(readPlist)}
	case "python":
		f = Format{writePython, nil}
	case "toml", "tomlmod":
		f = Format{writeTOML, plain(func(s string) (value.Value, error) { return mapping(ReadTOML([]byte(s))) })}
	case "yaml":
		f = Format{writeYAML, plain(yamlsalt.LoadString)}
	case "yamlex":
		f = Format{writeYAMLEx, readYAMLEx}
	default:
		return Format{}, false
	}
	return f.wrapped(), true
}

// wrapped returns f with errors as Salt wraps them.
func (f Format) wrapped() Format {
	write, read := f.Write, f.Read
	f.Write = func(v value.Value, o *value.Map) (value.Value, error) {
		out, err := write(v, o)
		if err != nil {
			return nil, value.Raise("salt.serializers.SerializationError", "%s", err.Error())
		}
		return out, nil
	}
	if read != nil {
		f.Read = func(text, name string, o *value.Map) (value.Value, error) {
			out, err := read(text, name, o)
			if err != nil {
				return nil, value.Raise("salt.serializers.DeserializationError", "%s", err.Error())
			}
			return out, nil
		}
	}
	return f
}

// plain makes a reader of one that has no options.
func plain(read func(string) (value.Value, error)) func(string, string, *value.Map) (value.Value, error) {
	return func(text, _ string, _ *value.Map) (value.Value, error) { return read(text) }
}

// mapping keeps a nil map from becoming a value that is not nil.
func mapping(m *value.Map, err error) (value.Value, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

// writeJSON writes JSON by the options of Python's json.dumps.
func writeJSON(v value.Value, o *value.Map) (value.Value, error) {
	jo := value.JSONOptions{
		SortKeys: value.Truth(o.At("sort_keys")), SkipKeys: value.Truth(o.At("skipkeys")),
		// Salt's own default, which is not Python's.
		EscapeNonASCII: value.Truth(o.At("ensure_ascii")),
	}
	switch n := o.At("indent").(type) {
	case int64:
		jo.Indent = int(min(n, 64))
		if n <= 0 {
			jo.Indent = -1
		}
	case string:
		jo.IndentText = n
	}
	if seps, ok := value.AsTuple(o.At("separators")); ok && len(seps) == 2 {
		jo.ItemSep, jo.KeySep = value.Str(seps[0]), value.Str(seps[1])
	} else if l, ok := o.At("separators").(*value.List); ok && l.Len() == 2 {
		jo.ItemSep, jo.KeySep = value.Str(l.Items[0]), value.Str(l.Items[1])
	}
	b, err := value.AppendJSON(nil, v, jo)
	return string(b), err
}

// writePython prints data as Python's pprint, by way of JSON: dicts are plain,
// their keys text, tuples lists. Salt: salt/serializers/python.py.
func writePython(v value.Value, o *value.Map) (value.Value, error) {
	text, err := value.AppendJSON(nil, v, value.JSONOptions{})
	if err != nil {
		return nil, err
	}
	if v, err = value.ParseJSON(string(text)); err != nil {
		return nil, err
	}
	width := int64(80)
	if n, ok := value.AsInt(o.At("width")); ok {
		width = n
	}
	return pyformat.Pformat(v, int(max(1, min(width, 1<<20)))), nil
}

// yamlOptions reads the keywords of yaml.dump.
func yamlOptions(o *value.Map) yamlsalt.DumpOptions {
	yo := yamlsalt.SerializerOptions()
	for k, x := range o.All() {
		switch k {
		case "default_flow_style":
			switch {
			case x == nil:
				yo.FlowStyle = yamlsalt.FlowAuto
			case value.Truth(x):
				yo.FlowStyle = yamlsalt.FlowAlways
			default:
				yo.FlowStyle = yamlsalt.FlowNever
			}
		case "indent":
			if n, ok := value.AsInt(x); ok {
				yo.Indent = int(n)
			}
		case "width":
			if n, ok := value.AsInt(x); ok {
				yo.Width = int(n)
			}
		case "sort_keys":
			yo.SortKeys = value.Truth(x)
		case "allow_unicode":
			yo.AllowUnicode = value.Truth(x)
		case "explicit_start":
			yo.ExplicitStart = value.Truth(x)
		case "explicit_end":
			yo.ExplicitEnd = value.Truth(x)
		case "canonical":
			yo.Canonical = value.Truth(x)
		case "default_style":
			if s, ok := x.(string); ok {
				yo.DefaultStyle = s
			}
		}
	}
	return yo
}

func writeYAML(v value.Value, o *value.Map) (value.Value, error) {
	return yamlsalt.Serialize(v, yamlOptions(o))
}

// writeYAMLEx writes YAML with the keys of an OrderedDict in their own order.
// Salt: salt/serializers/yamlex.py serialize.
func writeYAMLEx(v value.Value, o *value.Map) (value.Value, error) {
	yo := yamlOptions(o)
	yo.SortOrdered = false
	return yamlsalt.Serialize(v, yo)
}

func readYAMLEx(text, name string, _ *value.Map) (value.Value, error) {
	return yamlsalt.LoadText(yamlsalt.LoadOptions{Name: name, Ordered: true, Extended: true}, text)
}

// writeKeyValue writes lines of key, separator and value.
// Salt: salt/serializers/keyvalue.py serialize.
func writeKeyValue(v value.Value, o *value.Map) (value.Value, error) {
	var pairs []value.Tuple
	switch x := v.(type) {
	case value.Mapping:
		for _, k := range x.Keys() {
			val, _ := x.Get(k)
			pairs = append(pairs, value.Tuple{k, val})
		}
	case *value.List, value.Tuple, *value.Set:
		items, err := value.Items(x)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			pair, err := value.Items(it)
			if err != nil {
				return nil, err
			}
			switch {
			case len(pair) < 2:
				return nil, value.Raise("ValueError", "not enough values to unpack (expected 2, got %d)", len(pair))
			case len(pair) > 2:
				return nil, value.Raise("ValueError", "too many values to unpack (expected 2)")
			}
			pairs = append(pairs, value.Tuple(pair))
		}
	default:
		return nil, value.Raise("TypeError", "Input validation failed. Iterable required.")
	}
	sep, end := textOption(o, "separator", "="), textOption(o, "line_ending", "\n")
	lines := make([]string, len(pairs))
	for i, p := range pairs {
		val := value.Str(p[1])
		if value.Truth(o.At("quoting")) {
			var err error
			if val, err = Quote(p[1]); err != nil {
				return nil, err
			}
		}
		lines[i] = value.Str(p[0]) + sep + val
	}
	return strings.Join(lines, end), nil
}

func textOption(o *value.Map, name, def string) string {
	if s, ok := o.At(name).(string); ok && (s != "" || name == "separator") {
		return s
	}
	return def
}

func readKeyValue(text, _ string, o *value.Map) (value.Value, error) {
	m := value.NewMap(8)
	sep := textOption(o, "separator", "=")
	quoting, given := o.Get("quoting")
	for _, line := range value.SplitLines(text, false) {
		k, v, ok := strings.Cut(line, sep)
		if !ok {
			return nil, value.Raise("ValueError", "not enough values to unpack (expected 2, got 1)")
		}
		if given && quoting == false && len(v) > 0 && v[0] == v[len(v)-1] && (v[0] == '"' || v[0] == '\'') {
			v = v[1:max(1, len(v)-1)]
		}
		m.Set(k, v)
	}
	return m, nil
}

// Quote quotes text for a shell as Python's shlex.quote: what is false is ”.
func Quote(v value.Value) (string, error) {
	if !value.Truth(v) {
		return "''", nil
	}
	s, ok := value.AsText(v)
	if !ok {
		return "", value.Raise("TypeError", "expected string or bytes-like object, got '%s'", value.TypeName(v))
	}
	return proc.Quote(s), nil
}

// typeText is a value's type as Python prints it.
func typeText(v value.Value) string { return fmt.Sprintf("<class '%s'>", value.TypeName(v)) }
