package slsutil

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/render"
	"brine/internal/source"
	"brine/internal/value"
	"brine/internal/yamlsalt"
)

var formats = [...]string{"json", "python", "toml", "tomlmod", "yaml"}

func noFormat(name string) error {
	return fun.Errorf("Serializer '%s' not found.%s", name, source.DidYouMean(name, formats[:]))
}

// options returns the keywords without those that Salt adds.
func options(kw *value.Map) *value.Map {
	m := value.NewMap(kw.Len())
	for k, v := range kw.All() {
		if s, _ := k.(string); !strings.HasPrefix(s, "__") {
			m.Set(k, v)
		}
	}
	return m
}

func serialize(_ context.Context, c *fun.Call) (fun.Result, error) {
	o := options(c.Kw)
	switch name := c.Str("serializer"); name {
	case "json":
		text, err := value.AppendJSON(nil, c.Value("obj"), jsonOptions(o))
		if err != nil {
			return fun.Result{}, fun.Errorf("%v", err)
		}
		return fun.Value(string(text))
	case "yaml":
		text, err := yamlsalt.Serialize(c.Value("obj"), yamlOptions(o))
		if err != nil {
			return fun.Result{}, fun.Errorf("%v", err)
		}
		return fun.Value(text)
	case "python":
		return fun.Value(value.Repr(c.Value("obj")))
	case "toml", "tomlmod":
		return fun.Result{}, fun.Errorf("Serializer '%s' does not implement serialize.", name)
	default:
		return fun.Result{}, noFormat(name)
	}
}

// jsonOptions reads the keywords of Python's json.dumps.
func jsonOptions(o *value.Map) value.JSONOptions {
	jo := value.JSONOptions{SortKeys: value.Truth(o.At("sort_keys")), EscapeNonASCII: value.Truth(o.At("ensure_ascii"))}
	switch n := o.At("indent").(type) {
	case int64:
		jo.Indent = int(min(n, 64))
		if n == 0 {
			jo.Indent = -1
		}
	case string:
		jo.IndentText = n
	}
	var seps []value.Value
	switch s := o.At("separators").(type) {
	case value.Tuple:
		seps = s
	case *value.List:
		seps = s.Items
	}
	if len(seps) == 2 {
		jo.ItemSep, jo.KeySep = value.Str(seps[0]), value.Str(seps[1])
	}
	return jo
}

// yamlOptions reads the keywords of yaml.dump.
func yamlOptions(o *value.Map) yamlsalt.DumpOptions {
	yo := yamlsalt.SerializerOptions()
	if v, ok := o.Get("default_flow_style"); ok && v != nil {
		yo.FlowStyle = yamlsalt.FlowNever
		if value.Truth(v) {
			yo.FlowStyle = yamlsalt.FlowAlways
		}
	}
	if v, ok := o.Get("sort_keys"); ok {
		yo.SortKeys = value.Truth(v)
	}
	if v, ok := o.Get("allow_unicode"); ok {
		yo.AllowUnicode = value.Truth(v)
	}
	if n, ok := value.AsInt(o.At("indent")); ok {
		yo.Indent = int(n)
	}
	if n, ok := value.AsInt(o.At("width")); ok {
		yo.Width = int(n)
	}
	return yo
}

func deserialize(_ context.Context, c *fun.Call) (fun.Result, error) {
	text := c.Str("stream_or_string")
	if b, ok := c.Value("stream_or_string").(value.Bytes); ok {
		text = string(b)
	}
	var (
		v   value.Value
		err error
	)
	switch name := c.Str("serializer"); name {
	case "json":
		v, err = value.ParseJSON(text)
	case "yaml":
		v, err = yamlsalt.LoadString(text)
	case "python":
		err = fun.Errorf("Serializer '%s' does not implement deserialize.", name)
	case "toml", "tomlmod":
		v, err = render.ParseTOML([]byte(text))
	default:
		err = noFormat(name)
	}
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(v)
}
