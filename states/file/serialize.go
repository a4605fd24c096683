package file

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/serial"
	"brine/internal/py/value"
	files "brine/modules/file"
)

type serializeArgs struct {
	_                string      `arg:"name,required,path" doc:"absolute path of the file"`
	Dataset          value.Value `arg:"dataset" doc:"the data"`
	DatasetPillar    value.Value `arg:"dataset_pillar,str" doc:"pillar key of the data"`
	User             value.Value `arg:"user,str|int" doc:"owner, by name or ID"`
	Group            value.Value `arg:"group,str|int" doc:"group, by name or ID"`
	Mode             value.Value `arg:"mode,mode" doc:"permissions, such as '0644'"`
	Backup           string      `arg:"backup" default:"" doc:"minion: keep a copy of the replaced file"`
	Makedirs         bool        `arg:"makedirs" default:"False" doc:"create missing parent directories"`
	ShowChanges      bool        `arg:"show_changes" default:"True" doc:"show the diff"`
	Create           bool        `arg:"create" default:"True" doc:"create the file if it is missing"`
	MergeIfExists    bool        `arg:"merge_if_exists" default:"False" doc:"merge the data into the data of an existing file"`
	Encoding         string      `arg:"encoding" doc:"encoding of the file, by Python's name; default: UTF-8"`
	EncodingErrors   string      `arg:"encoding_errors" default:"strict" doc:"handling of characters that the encoding lacks"`
	Serializer       string      `arg:"serializer" doc:"configparser, json, keyvalue, msgpack, plist, python, toml, yaml (default) or yamlex"`
	Formatter        string      `arg:"formatter" doc:"same as serializer"`
	SerializerOpts   value.Value `arg:"serializer_opts,list|dict" doc:"options of the serializer, such as indent"`
	DeserializerOpts value.Value `arg:"deserializer_opts,list|dict" doc:"options for reading the file with merge_if_exists, such as defaults for configparser"`
	_                fun.Kwargs
}

// serialize writes data to a file.
//
// It fails where there are no data, for a format that is not known, and where
// managed fails. Salt: states/file.py serialize.
func serialize(ctx context.Context, fc *fun.Call, a *serializeArgs) fun.Ret {
	c := begin(fc)
	name := c.path()
	if name == "" {
		return c.fail("Must provide name to file.serialize")
	}
	if !a.Create && !c.IsFile(name) {
		return c.done(fun.OK, fmt.Sprintf("File %s is not present and is not set for creation", name))
	}
	if !filepath.IsAbs(name) {
		return c.fail("Specified file %s is not an absolute path", name)
	}
	format, formatter := a.Serializer, a.Formatter
	if format != "" && formatter != "" {
		return c.fail("Only one of serializer and formatter are allowed")
	}
	if format == "" {
		format = formatter
	}
	if format = strings.ToLower(format); format == "" {
		format = "yaml"
	}
	data, pillarKey := a.Dataset, a.DatasetPillar
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
	s, ok := serial.Of(format)
	if !ok {
		return c.fail("The %s serializer could not be found. It either does not exist or its prerequisites are not installed.", format)
	}
	if a.DeserializerOpts != nil && !a.MergeIfExists {
		c.ret.Warnings = append(c.ret.Warnings, "The 'deserializer_opts' option is ignored unless merge_if_exists is set to True.")
	}
	data, diff, ret, stop := c.mergeExisting(a, s, format, data)
	if stop {
		return ret
	}
	out, err := s.Write(data, a.serializerOptions(format))
	if err != nil {
		return fun.Raise(err)
	}
	if b, ok := out.(value.Bytes); ok { // a binary format
		return c.storeSerialized(ctx, a, []byte(b), diff)
	}
	content, err := files.Encode(value.Str(out)+"\n", a.Encoding, a.EncodingErrors)
	if err != nil {
		return fun.Raise(err)
	}
	return c.storeSerialized(ctx, a, content, diff)
}

// serializerOptions returns Salt's options of a format with serializer_opts over
// them. Where an encoding is given, letters beyond ASCII stay as they are.
func (a *serializeArgs) serializerOptions(format string) *value.Map {
	o := value.NewMap(4)
	switch format {
	case "yaml":
		o.Set("default_flow_style", false)
		if a.Encoding != "" {
			o.Set("allow_unicode", true)
		}
	case "json":
		o.Update(value.MapOf("indent", int64(2), "separators", value.Tuple{",", ": "}, "sort_keys", true))
		if a.Encoding != "" {
			o.Set("ensure_ascii", false)
		}
	}
	o.Update(repacked(a.SerializerOpts))
	return o
}

// repacked makes one dict of a list of dicts.
func repacked(v value.Value) *value.Map {
	o := value.NewMap(2)
	if m, ok := v.(*value.Map); ok {
		o.Update(m)
	}
	if l, ok := v.(*value.List); ok {
		for _, it := range l.Items {
			if m, ok := it.(*value.Map); ok {
				o.Update(m)
			}
		}
	}
	return o
}

// mergeExisting merges data into those of the file; diff is how they change.
func (c *call) mergeExisting(a *serializeArgs, s serial.Format, format string, data value.Value) (merged value.Value, diff *value.Map, ret fun.Ret, stop bool) {
	name := c.path()
	if !a.MergeIfExists || !c.IsFile(name) {
		return data, nil, fun.Ret{}, false
	}
	if s.Read == nil {
		return nil, nil, c.fail("merge_if_exists is not supported for the %s serializer", format), true
	}
	raw, err := c.ReadFile(name)
	if err != nil {
		return nil, nil, fun.Raise(err), true
	}
	have, err := s.Read(string(raw), name, repacked(a.DeserializerOpts))
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
func (c *call) storeSerialized(ctx context.Context, a *serializeArgs, content []byte, diff *value.Map) fun.Ret {
	user, group := c.owner(a.User, a.Group)
	p := files.Plan{
		Name: c.path(), Contents: content, HasText: true, Backup: a.Backup, MakeDirs: a.Makedirs,
		HideDiff: !a.ShowChanges,
		Perms:    files.Perms{User: user, Group: group, Mode: files.NormMode(a.Mode), Follow: true},
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
	return c.preview(p, changes, fmt.Sprintf("Dataset will be serialized and stored into %s", p.Name))
}
