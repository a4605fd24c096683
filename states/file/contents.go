package file

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/cp"
	files "brine/modules/file"
)

// missingMark is what pillar.get and grains.get return where there is nothing.
const missingMark = "\x00brine: nothing there"

// contents sets the content that the arguments give.
func (c *call) contents(ctx context.Context, a *managedGiven, m *managedFile) (fault string, err error) {
	v := a.Contents
	id := "'contents'"
	switch {
	case a.ContentsPillar != nil:
		id = "contents_pillar " + fun.TextOf(a.ContentsPillar)
		v, fault, err = c.lookup(ctx, "pillar.get", "Pillar", a.ContentsPillar, a.ContentsDelimiter)
	case a.ContentsGrains != nil:
		id = "contents_grains " + fun.TextOf(a.ContentsGrains)
		v, fault, err = c.lookup(ctx, "grains.get", "Grain", a.ContentsGrains, a.ContentsDelimiter)
	}
	if fault != "" || err != nil {
		return fault, err
	}
	if v == nil {
		return "", nil // None in pillar or grains is not content: the file only has to exist
	}
	if !a.AllowEmpty && !value.Truth(v) {
		return id + " value would result in empty contents. Set allow_empty to True to allow the managed file to be empty.", nil
	}
	if b, ok := v.(value.Bytes); ok && !utf8.ValidString(string(b)) {
		if m.template != "" {
			return "Contents specified by contents/contents_pillar/contents_grains appears to be binary data, and as will not be able to be treated as a Jinja template.", nil
		}
		m.text, m.hasText = []byte(b), true
		return "", nil
	}
	parts := textParts(v)
	if len(parts) == 0 {
		return "Contents specified by contents/contents_pillar/contents_grains is not a string or list of strings, and is not binary data. SLS is likely malformed.", nil
	}
	var b strings.Builder
	for _, p := range parts {
		for _, l := range files.SplitLines(p, false) {
			b.WriteString(l)
			b.WriteByte('\n')
		}
	}
	text := b.String()
	if !a.ContentsNewline {
		text = strings.TrimRight(text, "\r\n")
	}
	if m.template != "" {
		if text, fault, err = c.renderContents(ctx, m, text); fault != "" || err != nil {
			return fault, err
		}
	}
	if enc := a.Encoding; enc != "" {
		m.text, err = files.Encode(text, enc, a.EncodingErrors)
		if err != nil {
			return "Unable to manage file: " + err.Error(), nil
		}
	} else {
		m.text = []byte(text)
	}
	m.hasText = true
	return "", nil
}

// renderContents renders contents as a template.
func (c *call) renderContents(ctx context.Context, m *managedFile, text string) (out, fault string, err error) {
	defaults, _ := m.defaults.(*value.Map)
	context, _ := m.context.(*value.Map)
	out, err = cp.New(c.Env, c.SaltEnv).Render(ctx, m.template, "contents of "+c.path(), []byte(text), cp.Vars(nil, defaults, context))
	if unknown, ok := errors.AsType[*cp.UnknownTemplateError](err); ok {
		return "", unknown.Error(), nil
	}
	return out, "", err
}

// lookup reads a key, or several joined by newlines, from pillar or grains.
func (c *call) lookup(ctx context.Context, getter, what string, keys value.Value, delimiter string) (v value.Value, fault string, err error) {
	get := func(key value.Value) (value.Value, bool, error) {
		res, err := c.Env.Exec(ctx, getter, value.MapOf("delimiter", delimiter), key, missingMark)
		return res, !value.Equal(res, missingMark), err
	}
	l, ok := keys.(*value.List)
	if !ok {
		v, found, err := get(keys)
		if err == nil && !found {
			fault = fmt.Sprintf("%s %s does not exist", what, value.Str(keys))
		}
		return v, fault, err
	}
	var parts []string
	for _, k := range l.Items {
		v, found, err := get(k)
		if err != nil {
			return nil, "", err
		}
		if !found {
			return nil, fmt.Sprintf("%s %s does not exist", what, value.Str(k)), nil
		}
		parts = append(parts, value.Str(v))
	}
	return strings.Join(parts, "\n"), "", nil
}

// textParts returns a text, or the items of a list as text.
// Salt: _validate_str_list.
func textParts(v value.Value) []string {
	switch v := v.(type) {
	case *value.List:
		return strs(v.Items)
	case value.Tuple:
		return strs(v)
	case value.Bytes:
		return []string{string(v)}
	}
	return []string{value.Str(v)}
}

func strs(items []value.Value) []string {
	out := make([]string, len(items))
	for i, x := range items {
		out[i] = value.Str(x)
	}
	return out
}
