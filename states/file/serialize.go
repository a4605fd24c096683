package file

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"brine/internal/fun"
	"brine/internal/render"
	"brine/internal/value"
	"brine/internal/yamlsalt"
	files "brine/modules/file"
	"brine/outputter"
)

// A serializer writes and reads a format.
type serializer struct {
	write func(v value.Value, o *value.Map) (string, error)
	read  func(text string) (value.Value, error) // nil: it cannot
}

// serializerOf returns a format by Salt's name.
func serializerOf(name string) (serializer, bool) {
	switch name {
	case "yaml":
		return serializer{writeYAML, yamlsalt.LoadString}, true
	case "json":
		return serializer{writeJSON, value.ParseJSON}, true
	case "toml", "tomlmod":
		return serializer{writeTOML, func(s string) (value.Value, error) { return render.ParseTOML([]byte(s)) }}, true
	case "configparser":
		return serializer{writeINI, readINI}, true
	case "python":
		return serializer{write: writePython}, true
	}
	return serializer{}, false
}

// serialize writes data to a file.
//
// It fails where there are no data, for a format that is not known, and where
// managed fails. Salt: states/file.py serialize. Difference: the formats
// msgpack, plist and keyvalue are not there.
func serialize(ctx context.Context, fc *fun.Call) fun.Ret {
	c := begin(fc)
	name := c.path()
	if name == "" {
		return c.fail("Must provide name to file.serialize")
	}
	if !c.Bool("create") && !c.IsFile(name) {
		return c.done(fun.OK, fmt.Sprintf("File %s is not present and is not set for creation", name))
	}
	if !filepath.IsAbs(name) {
		return c.fail("Specified file %s is not an absolute path", name)
	}
	format, formatter := c.Str("serializer"), c.Str("formatter")
	if format != "" && formatter != "" {
		return c.fail("Only one of serializer and formatter are allowed")
	}
	if format == "" {
		format = formatter
	}
	if format = strings.ToLower(format); format == "" {
		format = "yaml"
	}
	data, pillarKey := c.Value("dataset"), c.Value("dataset_pillar")
	if value.Truth(data) && value.Truth(pillarKey) {
		return c.fail("Only one of 'dataset' and 'dataset_pillar' is permitted")
	}
	if value.Truth(pillarKey) {
		v, err := c.invoke(ctx, "pillar.get", pillarKey)
		if err != nil {
			return fun.Raise(err)
		}
		data = v
	}
	if data == nil {
		return c.fail("Neither 'dataset' nor 'dataset_pillar' was defined")
	}
	s, ok := serializerOf(format)
	if !ok {
		return c.fail("The %s serializer could not be found. It either does not exist or its prerequisites are not installed.", format)
	}
	if c.Value("deserializer_opts") != nil && !c.Bool("merge_if_exists") {
		c.ret.Warnings = append(c.ret.Warnings, "The 'deserializer_opts' option is ignored unless merge_if_exists is set to True.")
	}
	data, diff, ret, stop := c.mergeExisting(s, format, data)
	if stop {
		return ret
	}
	text, err := s.write(data, c.serializerOptions(format))
	if err != nil {
		return fun.Raise(err)
	}
	return c.storeSerialized(ctx, text+"\n", diff)
}

// serializerOptions returns serializer_opts as one dict. Where an encoding is
// given, YAML has letters beyond ASCII as they are.
func (c *call) serializerOptions(format string) *value.Map {
	o := value.NewMap(2)
	if format == "yaml" && c.Str("encoding") != "" {
		o.Set("allow_unicode", true)
	}
	for _, it := range c.List("serializer_opts") {
		if m, ok := it.(*value.Map); ok {
			o.Update(m)
		}
	}
	return o
}

// mergeExisting merges data into those of the file; diff is how they change.
func (c *call) mergeExisting(s serializer, format string, data value.Value) (merged value.Value, diff *value.Map, ret fun.Ret, stop bool) {
	name := c.path()
	if !c.Bool("merge_if_exists") || !c.IsFile(name) {
		return data, nil, fun.Ret{}, false
	}
	if s.read == nil {
		return nil, nil, c.fail("merge_if_exists is not supported for the %s serializer", format), true
	}
	raw, err := c.ReadFile(name)
	if err != nil {
		return nil, nil, fun.Raise(err), true
	}
	have, err := s.read(string(raw))
	if err != nil {
		return nil, nil, c.fail("Failed to deserialize existing data: %s", err), true
	}
	if have == nil {
		return data, nil, fun.Ret{}, false
	}
	old, ok := have.(*value.Map)
	now, ok2 := data.(*value.Map)
	if !ok || !ok2 {
		return nil, nil, fun.Raise(value.Raise("TypeError", "Cannot update using non-dict types in dictupdate.update()")), true
	}
	all := value.MergeRecurse(old, now, false)
	if value.Equal(old, all) {
		return nil, nil, c.done(fun.OK, fmt.Sprintf("The file %s is in the correct state", name)), true
	}
	return all, dataDiff(old, all), fun.Ret{}, false
}

// dataDiff returns what is new or other in now: {new, old} at each place.
// Salt: salt/utils/dictdiffer.py recursive_diff.
func dataDiff(old, now *value.Map) *value.Map {
	d := value.NewMap(1)
	for k, v := range now.All() {
		was, ok := old.Get(k)
		switch {
		case !ok:
			d.Set(k, value.MapOf("new", v, "old", "<_null_>"))
		case !value.Equal(v, was):
			a, isMap := was.(*value.Map)
			b, isMap2 := v.(*value.Map)
			if isMap && isMap2 {
				if sub := dataDiff(a, b); sub.Len() > 0 {
					d.Set(k, sub)
				}
				continue
			}
			d.Set(k, value.MapOf("new", v, "old", was))
		}
	}
	return d
}

// storeSerialized manages the file with the text as its content.
func (c *call) storeSerialized(ctx context.Context, text string, diff *value.Map) fun.Ret {
	content, err := files.Encode(text, c.Str("encoding"), c.Str("encoding_errors"))
	if err != nil {
		return fun.Raise(err)
	}
	user, group := c.owner()
	p := files.Plan{
		Name: c.path(), Contents: content, HasText: true, Backup: c.Str("backup"), MakeDirs: c.Bool("makedirs"),
		HideDiff: !c.Bool("show_changes"),
		Perms:    files.Perms{User: user, Group: group, Mode: files.NormMode(c.Value("mode")), Follow: true},
	}
	if !c.Test {
		c.ManageFile(ctx, c.ret, p)
		if diff != nil && c.ret.Result == fun.OK {
			c.ret.Changes.Set("diff", diff)
		}
		return c.ret.Ret()
	}
	changes, err := c.WouldChange(ctx, p)
	if err != nil {
		return fun.Raise(err)
	}
	if changes.Len() == 0 {
		return c.done(fun.OK, fmt.Sprintf("The file %s is in the correct state", p.Name))
	}
	if p.HideDiff {
		changes.Set("diff", "<show_changes=False>")
	}
	if diff != nil {
		changes.Set("diff", diff)
	}
	c.ret.Changes = changes
	return c.done(fun.WouldChange, fmt.Sprintf("Dataset will be serialized and stored into %s", p.Name))
}

func writeYAML(v value.Value, o *value.Map) (string, error) {
	yo := yamlsalt.SerializerOptions()
	yo.FlowStyle = yamlsalt.FlowNever
	for k, x := range o.All() {
		switch k {
		case "default_flow_style":
			switch {
			case x == nil:
				yo.FlowStyle = yamlsalt.FlowAuto
			case value.Truth(x):
				yo.FlowStyle = yamlsalt.FlowAlways
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
	return yamlsalt.Serialize(v, yo)
}

func writeJSON(v value.Value, o *value.Map) (string, error) {
	jo := value.JSONOptions{Indent: 2, ItemSep: ",", KeySep: ": ", SortKeys: true}
	for k, x := range o.All() {
		switch k {
		case "indent":
			switch n := x.(type) {
			case nil:
				jo.Indent = 0
			case int64:
				jo.Indent = int(min(n, 64))
				if n <= 0 {
					jo.Indent = -1
				}
			case string:
				jo.IndentText = n
			}
		case "sort_keys":
			jo.SortKeys = value.Truth(x)
		case "ensure_ascii":
			jo.EscapeNonASCII = value.Truth(x)
		case "skipkeys":
			jo.SkipKeys = value.Truth(x)
		case "separators":
			if l, ok := x.(*value.List); ok && l.Len() == 2 {
				jo.ItemSep, jo.KeySep = value.Str(l.Items[0]), value.Str(l.Items[1])
			}
		}
	}
	b, err := value.AppendJSON(nil, v, jo)
	return string(b), err
}

// writePython prints data as Python's pprint, by way of JSON: dicts are plain,
// their keys text, tuples lists. Salt: salt/serializers/python.py.
func writePython(v value.Value, _ *value.Map) (string, error) {
	text, err := value.AppendJSON(nil, v, value.JSONOptions{})
	if err != nil {
		return "", err
	}
	if v, err = value.ParseJSON(string(text)); err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = outputter.Pprint(&b, v, nil)
	return strings.TrimSuffix(b.String(), "\n"), err
}
