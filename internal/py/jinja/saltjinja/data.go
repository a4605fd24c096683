package saltjinja

import (
	"errors"
	"strings"

	"brine/internal/py/jinja"
	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/jinja/pytext"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// dataFilters returns Salt's filters that read and write data.
func dataFilters() map[string]jinja.Func {
	return map[string]jinja.Func{
		"dict_to_sls_yaml_params": filterSLSParams,
		"json":                    filterJSON,
		"load_json":               filterLoadJSON,
		"load_text":               filterLoadText,
		"load_yaml":               filterLoadYAML,
		"method_call":             filterMethodCall,
		"python":                  filterPython,
		"sequence":                filterSequence,
		"skip":                    filterSkip,
		"to_bool":                 filterToBool,
		"tojson":                  filterTojson,
		"xml":                     filterXML,
		"yaml":                    filterYAML,
		"yaml_dquote":             filterYAMLQuote("yaml_dquote"),
		"yaml_encode":             filterYAMLEncode,
		"yaml_squote":             filterYAMLQuote("yaml_squote"),
	}
}

// httpQuery is the http_query filter: the function http.query.
// Salt: salt/utils/http.py query.
func (m machine) httpQuery(c *jinja.Call) (value.Value, error) {
	if len(c.Args) > 0 {
		if err := jinja.Defined(c.Args[0]); err != nil {
			return nil, err
		}
	}
	if m.query == nil {
		return nil, errNoHost()
	}
	return m.query(c)
}

// filterJSON is the json filter: json.dumps with sorted keys and letters beyond
// ASCII as they are. Salt: salt/utils/jinja.py format_json.
func filterJSON(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("SerializerExtension.format_json", 1, "value", "sort_keys?", "indent?")
	if err != nil {
		return nil, err
	}
	o := value.JSONOptions{}
	if o.SortKeys, err = c.BoolArg(a[1], true); err != nil {
		return nil, err
	}
	if err := pymethod.JSONIndent(&o, pymethod.OrNil(a[2])); err != nil {
		return nil, err
	}
	b, err := value.AppendJSON(nil, a[0], o)
	if err != nil {
		return nil, err
	}
	return markupsafe.Markup(value.TrimSpace(string(b))), value.CheckSize(len(b))
}

// filterTojson is Salt's tojson filter: keys in their order, and characters not
// escaped for HTML. Salt: salt/utils/jinja.py tojson.
func filterTojson(c *jinja.Call) (value.Value, error) {
	names := []string{"val", "indent?", "ensure_ascii?", "sort_keys?", "skipkeys?", "separators?"}
	if len(c.Args) > 2 {
		return nil, value.Raise("TypeError", "tojson() takes from 1 to 2 positional arguments but %d were given", len(c.Args))
	}
	a, err := c.Params("tojson", 0, names...)
	if err != nil {
		return nil, err
	}
	ascii, err := c.BoolArg(a[2], true)
	if err != nil {
		return nil, err
	}
	o := value.JSONOptions{EscapeNonASCII: ascii}
	if o.SortKeys, err = c.BoolArg(a[3], false); err != nil {
		return nil, err
	}
	if o.SkipKeys, err = c.BoolArg(a[4], false); err != nil {
		return nil, err
	}
	if v := pymethod.OrNil(a[5]); v != nil {
		item, key, err := pymethod.UnpackPair(v)
		if err != nil {
			return nil, err
		}
		o.ItemSep, _ = value.AsText(item)
		o.KeySep, _ = value.AsText(key)
	}
	if err := pymethod.JSONIndent(&o, pymethod.OrNil(a[1])); err != nil {
		return nil, err
	}
	return pymethod.SafeJSON(a[0], o)
}

func dumpYAML(v, flow value.Value) (markupsafe.Markup, error) {
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
	return markupsafe.Markup(strings.TrimSuffix(s, "\n...")), value.CheckSize(len(s))
}

// filterYAML is the yaml filter; flow_style is on by default.
// Salt: salt/utils/jinja.py format_yaml.
func filterYAML(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("SerializerExtension.format_yaml", 1, "value", "flow_style?")
	if err != nil {
		return nil, err
	}
	var flow value.Value = true
	if pymethod.Given(a[1]) {
		flow = a[1]
	}
	return dumpYAML(a[0], flow)
}

// filterSLSParams writes a dict as the list of one-key dicts that a state's
// arguments are. Salt: salt/utils/jinja.py dict_to_sls_yaml_params.
func filterSLSParams(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("SerializerExtension.dict_to_sls_yaml_params", 1, "value", "flow_style?")
	if err != nil {
		return nil, err
	}
	if err := jinja.Defined(a[0]); err != nil {
		return nil, err
	}
	m, ok := a[0].(value.Mapping)
	if !ok {
		return nil, pymethod.NoItems(a[0])
	}
	l := &value.List{}
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		l.Append(value.MapOf(k, v))
	}
	var flow value.Value = false
	if pymethod.Given(a[1]) {
		flow = a[1]
	}
	return dumpYAML(l, flow)
}

func filterPython(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("SerializerExtension.format_python", 1, "value")
	if err != nil {
		return nil, err
	}
	return markupsafe.Markup(value.TrimSpace(pyformat.Pformat(a[0], 80))), nil
}

// loadedText is the text that a load filter reads: that of a template, where
// one was imported.
func loadedText(v value.Value) value.Value {
	if m, ok := v.(*jinja.Module); ok {
		return m.PyStr()
	}
	return v
}

func filterLoadText(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("SerializerExtension.load_text", 1, "value")
	if err != nil {
		return nil, err
	}
	return loadedText(a[0]), nil
}

// filterLoadJSON reads JSON. Salt: salt/utils/jinja.py load_json.
func filterLoadJSON(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("SerializerExtension.load_json", 1, "value")
	if err != nil {
		return nil, err
	}
	v := loadedText(a[0])
	text, ok := value.AsText(v)
	if b, isBytes := v.(value.Bytes); isBytes {
		text, ok = string(b), true
	}
	if ok {
		data, err := value.ParseJSON(text)
		if err == nil {
			return data, nil
		}
	}
	s, err := c.State.Str(v)
	if err != nil {
		return nil, err
	}
	return nil, value.Raise("TemplateRuntimeError", "Unable to load json from %s", s)
}

// filterLoadYAML reads YAML. Salt: salt/utils/jinja.py load_yaml.
func filterLoadYAML(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("SerializerExtension.load_yaml", 1, "value")
	if err != nil {
		return nil, err
	}
	v := loadedText(a[0])
	text, ok := value.AsText(v)
	if b, isBytes := v.(value.Bytes); isBytes {
		text, ok = string(b), true
	}
	if !ok {
		s, err := c.State.Str(v)
		if err != nil {
			return nil, err
		}
		return nil, value.Raise("TemplateRuntimeError", "Unable to load yaml from %s", s)
	}
	at := c.State.Origin(text)
	data, err := yamlsalt.LoadText(yamlsalt.LoadOptions{Name: c.State.Pos().File, Pos: at}, text)
	if err == nil {
		return data, nil
	}
	var f *yamlsalt.SyntaxError
	if !errors.As(err, &f) {
		return nil, value.Raise("TemplateRuntimeError", "Encountered error loading yaml: %s", err)
	}
	if f.Line == 0 {
		return nil, value.Raise("TemplateRuntimeError", "Encountered error loading yaml: %s", f.Text())
	}
	msg := "Encountered error loading yaml: " + f.Problem + "\n" + value.Excerpt(text, f.Line)
	return nil, jinja.ErrorAt(&value.PyError{Type: "TemplateRuntimeError", Msg: msg}, at(f.Line))
}

func filterYAMLQuote(name string) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		a, err := c.Params(name, 0, "text")
		if err != nil {
			return nil, err
		}
		s, err := c.State.Str(a[0])
		if err != nil {
			return nil, err
		}
		if name == "yaml_dquote" {
			return yamlsalt.DoubleQuote(s), nil
		}
		return yamlsalt.SingleQuote(s), nil
	}
}

func filterYAMLEncode(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("yaml_encode", 0, "data")
	if err != nil {
		return nil, err
	}
	v := a[0]
	if m, ok := v.(markupsafe.Markup); ok {
		v = string(m)
	}
	if jinja.Defined(v) != nil {
		return nil, value.Raise("RepresenterError", "('cannot represent an object', Undefined)")
	}
	return yamlsalt.EncodeScalar(v)
}

func filterSkip(c *jinja.Call) (value.Value, error) {
	_, err := c.Params("skip_filter", 0, "data")
	return "", err
}

// filterSequence returns lists, tuples, sets and dicts as they are, other values
// in a list.
func filterSequence(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("ensure_sequence_filter", 0, "data")
	if err != nil {
		return nil, err
	}
	switch a[0].(type) {
	case *value.List, value.Tuple, value.Tupler, *value.Set, value.Mapping:
		return a[0], nil
	}
	return value.NewList(a[0]), nil
}

// filterToBool is the truth of yes, true and 1, of numbers above zero and of
// lists and dicts that are not empty. Salt: salt/utils/jinja.py to_bool.
func filterToBool(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("to_bool", 0, "val")
	if err != nil {
		return nil, err
	}
	switch v := a[0].(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case *jinja.Undefined:
		return false, nil
	}
	if s, ok := value.AsText(a[0]); ok {
		switch pytext.Lower(s) {
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

// filterMethodCall calls a method by name; the result is None if there is none.
// Salt: salt/utils/jinja.py method_call.
func filterMethodCall(c *jinja.Call) (value.Value, error) {
	if len(c.Args) < 2 {
		missing := []string{"'obj'", "'f_name'"}[len(c.Args):]
		return nil, value.Raise("TypeError", "method_call() %s", value.MissingArguments(missing))
	}
	name, ok := value.AsText(c.Args[1])
	if !ok {
		return nil, value.Raise("TypeError", "attribute name must be string, not '%s'", value.TypeName(c.Args[1]))
	}
	if err := jinja.Defined(c.Args[0]); err != nil {
		return nil, err
	}
	fn, ok, err := c.State.Attr(c.Args[0], name)
	if err != nil || !ok {
		return nil, err
	}
	return c.State.CallValue(fn, c.Args[2:], c.Kw)
}
