package slsutil

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/serial"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

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

func noFormat(name string) error {
	return fun.Errorf("Serializer '%s' not found.%s", name, source.DidYouMean(name, serial.Names()))
}

// formatError keeps the message of a serializer's error alone.
func formatError(err error) error { return fun.Errorf("%v", err) }

type serializeArgs struct {
	serializerArg
	Obj  value.Value `arg:"obj,required" doc:"the data"`
	Rest fun.Kwargs
}

func serialize(_ context.Context, c *fun.Call, a *serializeArgs) (fun.Result, error) {
	name := a.Serializer
	f, ok := serial.Of(name)
	if !ok {
		return fun.Result{}, noFormat(name)
	}
	out, err := f.Write(a.Obj, options(a.Rest.Map))
	if err != nil {
		return fun.Result{}, formatError(err)
	}
	return fun.Value(out)
}

type deserializeArgs struct {
	serializerArg
	StreamOrString value.Value `arg:"stream_or_string,required,str" doc:"the text"`
	Rest           fun.Kwargs
}

func deserialize(_ context.Context, c *fun.Call, a *deserializeArgs) (fun.Result, error) {
	text := fun.TextOf(a.StreamOrString)
	if b, ok := a.StreamOrString.(value.Bytes); ok {
		text = string(b)
	}
	name := a.Serializer
	f, ok := serial.Of(name)
	switch {
	case !ok:
		return fun.Result{}, noFormat(name)
	case f.Read == nil:
		return fun.Result{}, fun.Errorf("Serializer '%s' does not implement deserialize.", name)
	}
	v, err := f.Read(text, "", options(a.Rest.Map))
	if err != nil {
		return fun.Result{}, formatError(err)
	}
	return fun.Value(v)
}
