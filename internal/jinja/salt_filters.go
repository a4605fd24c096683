package jinja

import (
	"errors"
	"strings"

	"brine/internal/source"
	"brine/internal/value"
	"brine/internal/yamlsalt"
)

// saltFilter returns a filter that Salt adds to Jinja2's or puts in place of
// one.
func saltFilter(name string) Func {
	switch name {
	case "json":
		return saltJSON
	case "yaml":
		return saltYAML
	case "python":
		return saltPython
	case "xml":
		return saltXML
	case "load_json":
		return saltLoadJSON
	case "load_yaml":
		return saltLoadYAML
	case "load_text":
		return saltLoadText
	case "dict_to_sls_yaml_params":
		return saltSLSParams
	case "tojson":
		return saltTojson
	case "yaml_dquote", "yaml_squote":
		return saltYAMLQuote(name)
	case "yaml_encode":
		return saltYAMLEncode
	case "strftime", "date_format":
		return saltStrftime
	case "sequence":
		return saltSequence
	case "skip":
		return saltSkip
	case "to_bool":
		return saltToBool
	case "method_call":
		return saltMethodCall
	case "http_query":
		return saltQuery
	}
	for _, lookup := range []func(string) Func{saltTextFilter, saltListFilter, saltDictFilter, saltNetFilter, saltFileFilter} {
		if f := lookup(name); f != nil {
			return f
		}
	}
	return nil
}

// saltQuery is the http_query filter: the function http.query.
// Salt: salt/utils/http.py query.
func saltQuery(c *Call) (value.Value, error) {
	if len(c.Args) > 0 {
		if err := defined(c.Args[0]); err != nil {
			return nil, err
		}
	}
	if q := c.S.Env().opts.Query; q != nil {
		return q(c)
	}
	return nil, errNoHost()
}

// saltJSON is the json filter: json.dumps with sorted keys and letters beyond
// ASCII as they are. Salt: salt/utils/jinja.py format_json.
func saltJSON(c *Call) (value.Value, error) {
	a, err := c.bind("SerializerExtension.format_json", 1, "value", "sort_keys?", "indent?")
	if err != nil {
		return nil, err
	}
	o := value.JSONOptions{}
	if o.SortKeys, err = c.boolArg(a[1], true); err != nil {
		return nil, err
	}
	if err := jsonIndent(&o, orNil(a[2])); err != nil {
		return nil, err
	}
	b, err := value.AppendJSON(nil, a[0], o)
	if err != nil {
		return nil, err
	}
	return Markup(value.TrimSpace(string(b))), value.CheckSize(len(b))
}

// saltTojson is the tojson filter as Salt has it: keys in their order, and
// plain text. Salt: salt/utils/jinja.py tojson.
func saltTojson(c *Call) (value.Value, error) {
	names := []string{"val", "indent?", "ensure_ascii?", "sort_keys?", "skipkeys?", "separators?"}
	if len(c.Args) > 2 {
		return nil, value.Raise("TypeError", "tojson() takes from 1 to 2 positional arguments but %d were given", len(c.Args))
	}
	a, err := c.bind("tojson", 0, names...)
	if err != nil {
		return nil, err
	}
	ascii, err := c.boolArg(a[2], true)
	if err != nil {
		return nil, err
	}
	o := value.JSONOptions{EscapeNonASCII: ascii}
	if o.SortKeys, err = c.boolArg(a[3], false); err != nil {
		return nil, err
	}
	if o.SkipKeys, err = c.boolArg(a[4], false); err != nil {
		return nil, err
	}
	if v := orNil(a[5]); v != nil {
		item, key, err := unpackPair(v)
		if err != nil {
			return nil, err
		}
		o.ItemSep, _ = Text(item)
		o.KeySep, _ = Text(key)
	}
	if err := jsonIndent(&o, orNil(a[1])); err != nil {
		return nil, err
	}
	return safeJSON(a[0], o)
}

func dumpYAML(v, flow value.Value) (Markup, error) {
	o := yamlsalt.SafeOptions()
	switch {
	case flow == nil:
		o.FlowStyle = yamlsalt.FlowAuto
	case value.Truth(flow):
		o.FlowStyle = yamlsalt.FlowAlways
	default:
		o.FlowStyle = yamlsalt.FlowNever
	}
	s, err := yamlsalt.Dump(v, o)
	if err != nil {
		return "", err
	}
	s = value.TrimSpace(s)
	return Markup(strings.TrimSuffix(s, "\n...")), value.CheckSize(len(s))
}

// saltYAML is the yaml filter; flow_style is on by default.
// Salt: salt/utils/jinja.py format_yaml.
func saltYAML(c *Call) (value.Value, error) {
	a, err := c.bind("SerializerExtension.format_yaml", 1, "value", "flow_style?")
	if err != nil {
		return nil, err
	}
	var flow value.Value = true
	if given(a[1]) {
		flow = a[1]
	}
	return dumpYAML(a[0], flow)
}

// saltSLSParams writes a dict as the list of one-key dicts that a state's
// arguments are. Salt: salt/utils/jinja.py dict_to_sls_yaml_params.
func saltSLSParams(c *Call) (value.Value, error) {
	a, err := c.bind("SerializerExtension.dict_to_sls_yaml_params", 1, "value", "flow_style?")
	if err != nil {
		return nil, err
	}
	if err := defined(a[0]); err != nil {
		return nil, err
	}
	m, ok := a[0].(value.Mapping)
	if !ok {
		return nil, noItems(a[0])
	}
	l := &value.List{}
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		l.Append(value.MapOf(k, v))
	}
	var flow value.Value = false
	if given(a[1]) {
		flow = a[1]
	}
	return dumpYAML(l, flow)
}

func saltPython(c *Call) (value.Value, error) {
	a, err := c.bind("SerializerExtension.format_python", 1, "value")
	if err != nil {
		return nil, err
	}
	return Markup(value.TrimSpace(value.Pformat(a[0], 80))), nil
}

// loadedText is the text that a load filter reads: that of a template, where
// one was imported.
func loadedText(v value.Value) value.Value {
	if m, ok := v.(*Module); ok {
		return m.body
	}
	return v
}

func saltLoadText(c *Call) (value.Value, error) {
	a, err := c.bind("SerializerExtension.load_text", 1, "value")
	if err != nil {
		return nil, err
	}
	return loadedText(a[0]), nil
}

// saltLoadJSON reads JSON. Salt: salt/utils/jinja.py load_json.
func saltLoadJSON(c *Call) (value.Value, error) {
	a, err := c.bind("SerializerExtension.load_json", 1, "value")
	if err != nil {
		return nil, err
	}
	v := loadedText(a[0])
	text, ok := Text(v)
	if b, isBytes := v.(value.Bytes); isBytes {
		text, ok = string(b), true
	}
	if ok {
		data, err := value.ParseJSON(text)
		if err == nil {
			return data, nil
		}
	}
	s, err := c.S.Str(v)
	if err != nil {
		return nil, err
	}
	return nil, value.Raise("TemplateRuntimeError", "Unable to load json from %s", s)
}

// placer returns what tells the place of a line of a text that is read as data:
// its own where that is known, else that of the tag.
func (s *State) placer(text string) func(line int) source.Pos {
	tag := s.Pos()
	marks := s.run.origin(text)
	if len(marks) == 0 {
		return func(int) source.Pos { return tag }
	}
	return (&Output{Text: text, name: tag.File, marks: append([]mark(nil), marks...)}).Pos
}

// saltLoadYAML reads YAML. Salt: salt/utils/jinja.py load_yaml.
func saltLoadYAML(c *Call) (value.Value, error) {
	a, err := c.bind("SerializerExtension.load_yaml", 1, "value")
	if err != nil {
		return nil, err
	}
	v := loadedText(a[0])
	text, ok := Text(v)
	if b, isBytes := v.(value.Bytes); isBytes {
		text, ok = string(b), true
	}
	if !ok {
		s, err := c.S.Str(v)
		if err != nil {
			return nil, err
		}
		return nil, value.Raise("TemplateRuntimeError", "Unable to load yaml from %s", s)
	}
	at := c.S.placer(text)
	data, err := yamlsalt.LoadText(yamlsalt.LoadOptions{Name: c.S.Pos().File, Pos: at}, text)
	if err == nil {
		return data, nil
	}
	var f *yamlsalt.Fault
	if !errors.As(err, &f) {
		return nil, value.Raise("TemplateRuntimeError", "Encountered error loading yaml: %s", err)
	}
	if f.Line == 0 {
		return nil, value.Raise("TemplateRuntimeError", "Encountered error loading yaml: %s", f.Text())
	}
	msg := "Encountered error loading yaml: " + f.Problem + "\n" + value.Excerpt(text, f.Line)
	return nil, &elsewhere{&value.PyError{Type: "TemplateRuntimeError", Msg: msg}, at(f.Line)}
}

func saltYAMLQuote(name string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.bind(name, 0, "text")
		if err != nil {
			return nil, err
		}
		s, err := c.S.Str(a[0])
		if err != nil {
			return nil, err
		}
		if name == "yaml_dquote" {
			return yamlsalt.DoubleQuote(s), nil
		}
		return yamlsalt.SingleQuote(s), nil
	}
}

func saltYAMLEncode(c *Call) (value.Value, error) {
	a, err := c.bind("yaml_encode", 0, "data")
	if err != nil {
		return nil, err
	}
	v := a[0]
	if m, ok := v.(Markup); ok {
		v = string(m)
	}
	return yamlsalt.EncodeScalar(v)
}

func saltSkip(c *Call) (value.Value, error) {
	_, err := c.bind("skip_filter", 0, "data")
	return "", err
}

// saltSequence makes a list of what is no list, tuple, set or dict.
func saltSequence(c *Call) (value.Value, error) {
	a, err := c.bind("ensure_sequence_filter", 0, "data")
	if err != nil {
		return nil, err
	}
	switch a[0].(type) {
	case *value.List, value.Tuple, value.Tupler, *value.Set, value.Mapping:
		return a[0], nil
	}
	return value.NewList(a[0]), nil
}

// saltToBool is the truth of yes, true and 1, of numbers above zero and of
// lists and dicts that are not empty. Salt: salt/utils/jinja.py to_bool.
func saltToBool(c *Call) (value.Value, error) {
	a, err := c.bind("to_bool", 0, "val")
	if err != nil {
		return nil, err
	}
	switch v := a[0].(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case *Undefined:
		return false, nil
	}
	if s, ok := Text(a[0]); ok {
		switch lower(s) {
		case "yes", "1", "true":
			return true, nil
		}
		return false, nil
	}
	if i, ok := value.AsBig(a[0]); ok {
		return i.Sign() > 0, nil
	}
	if !value.Hashable(a[0]) {
		n, err := value.Len(a[0])
		return n > 0, err
	}
	return false, nil
}

// saltMethodCall calls a method by name; one that is not there gives None.
// Salt: salt/utils/jinja.py method_call.
func saltMethodCall(c *Call) (value.Value, error) {
	if len(c.Args) < 2 {
		missing := []string{"'obj'", "'f_name'"}[len(c.Args):]
		return nil, value.Raise("TypeError", "method_call() %s", value.MissingArguments(missing))
	}
	name, ok := Text(c.Args[1])
	if !ok {
		return nil, value.Raise("TypeError", "attribute name must be string, not '%s'", value.TypeName(c.Args[1]))
	}
	if err := defined(c.Args[0]); err != nil {
		return nil, err
	}
	fn, ok, err := c.S.attr(c.Args[0], name)
	if err != nil || !ok {
		return nil, err
	}
	return c.S.CallValue(fn, c.Args[2:], c.Kw)
}
