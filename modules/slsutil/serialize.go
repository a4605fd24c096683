package slsutil

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/serial"
	"brine/internal/source"
	"brine/internal/value"
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

func serialize(_ context.Context, c *fun.Call) (fun.Result, error) {
	name := c.Str("serializer")
	f, ok := serial.Of(name)
	if !ok {
		return fun.Result{}, noFormat(name)
	}
	out, err := f.Write(c.Value("obj"), options(c.Kw))
	if err != nil {
		return fun.Result{}, formatError(err)
	}
	return fun.Value(out)
}

func deserialize(_ context.Context, c *fun.Call) (fun.Result, error) {
	text := c.Str("stream_or_string")
	if b, ok := c.Value("stream_or_string").(value.Bytes); ok {
		text = string(b)
	}
	name := c.Str("serializer")
	f, ok := serial.Of(name)
	switch {
	case !ok:
		return fun.Result{}, noFormat(name)
	case f.Read == nil:
		return fun.Result{}, fun.Errorf("Serializer '%s' does not implement deserialize.", name)
	}
	v, err := f.Read(text, "", options(c.Kw))
	if err != nil {
		return fun.Result{}, formatError(err)
	}
	return fun.Value(v)
}
