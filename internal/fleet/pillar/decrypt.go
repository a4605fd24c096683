package pillar

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// decrypt decrypts what decrypt_pillar names, in place, and returns what Salt
// puts into _errors.
//
// Salt: salt/pillar/__init__.py decrypt_pillar, salt/utils/crypt.py decrypt.
func (j *job) decrypt(ctx context.Context, pillar *value.Map) []string {
	option := j.opts.At("decrypt_pillar")
	if !value.Truth(option) {
		return nil
	}
	var errs []string
	fail := func(format string, args ...any) {
		msg := fmt.Sprintf(format, args...)
		errs = append(errs, msg)
		j.warn(j.opts.Pos("decrypt_pillar"), "%s", msg)
	}
	wanted, ok := decryptKeys(option)
	if !ok {
		fail("decrypt_pillar config option is malformed")
		return errs
	}
	delim := j.opts.Str("decrypt_pillar_delimiter")
	if delim == "" {
		delim = ":"
	}
	for k, r := range wanted.All() {
		key := value.Str(k)
		parent, last := parentOf(pillar, strings.Split(key, delim))
		v := parent.At(last)
		if v == nil {
			continue
		}
		plain, err := j.decryptValue(ctx, v, r)
		switch {
		case ctx.Err() != nil:
			return errs
		case err != nil:
			fail("Failed to decrypt pillar key '%s': %v", key, err)
		default:
			parent.Set(last, plain)
		}
	}
	return errs
}

// decryptKeys returns the renderers by key of a list of keys, of dicts of them,
// or a dict; a renderer that is not named is nil.
func decryptKeys(option value.Value) (*value.Map, bool) {
	switch o := option.(type) {
	case *value.Map:
		return o, true
	case *value.List:
		m := value.NewMap(o.Len())
		for _, x := range o.Items {
			switch x := x.(type) {
			case *value.Map:
				if x.Len() != 1 {
					return nil, false
				}
				m.Update(x)
			case string:
				m.Set(x, nil)
			default:
				return nil, false
			}
		}
		return m, m.Len() > 0
	}
	return nil, false
}

func (j *job) decryptValue(ctx context.Context, v, renderer value.Value) (value.Value, error) {
	name := j.opts.Str("decrypt_pillar_default")
	if value.Truth(renderer) {
		name = value.Str(renderer)
	}
	return decryptWith(ctx, j.opts, j.engine, name, v)
}

// decryptWith decrypts v, in place, with the renderer of that name.
func decryptWith(ctx context.Context, opts *value.Map, engine *render.Engine, name string, v value.Value) (value.Value, error) {
	var valid []string
	known := false
	if l := opts.List("decrypt_pillar_renderers"); l != nil {
		for _, x := range l.Items {
			valid = append(valid, value.Str(x))
			known = known || value.Str(x) == name
		}
	}
	if !known {
		return nil, fmt.Errorf("'%s' is not a valid decryption renderer. Valid choices are: %s", name, strings.Join(valid, ", "))
	}
	if name != "gpg" {
		return nil, fmt.Errorf("'%s' renderer is not available%s", name, source.DidYouMean(name, []string{"gpg"}))
	}
	return engine.Decrypt(ctx, v)
}

// Given returns the pillar that pillar= gave with pillar_enc, the renderer that
// decrypts it: a dict with messages among its values, or a text that decrypts to
// a dict in YAML. Two characters "\n" in a text are a newline. v stays as it is.
//
// Salt: salt/state.py State._gather_pillar. Difference: what cannot be decrypted
// is an error; Salt logs it and goes on without.
func Given(ctx context.Context, env *fun.Env, v value.Value, enc string) (*value.Map, error) {
	plain, err := decryptWith(ctx, env.Opts, render.For(env), strings.ToLower(enc), newlines(value.Clone(v)))
	if err != nil {
		return nil, fun.Errorf("Failed to decrypt pillar override: %v", err)
	}
	if text, ok := plain.(string); ok {
		if plain, err = yamlsalt.LoadString(text); err != nil {
			return nil, fun.Errorf("Failed to load CLI pillar override: %v", err)
		}
	}
	m, ok := plain.(*value.Map)
	if !ok {
		return nil, fun.Errorf("Pillar override was not passed as a dictionary, but as a %s", value.TypeName(plain))
	}
	return m, nil
}

// newlines puts newlines where the texts of v, which is changed in place, have
// "\n" in two characters.
func newlines(v value.Value) value.Value {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, `\n`, "\n")
	case *value.List:
		for i, x := range v.Items {
			v.Items[i] = newlines(x)
		}
	case *value.Map:
		for i := range v.Len() {
			k, x := v.Entry(i)
			v.Set(k, newlines(x))
		}
	}
	return v
}

// parentOf returns the dict that holds what is at a path of dicts, nil where
// there is none, and its key.
func parentOf(m *value.Map, path []string) (*value.Map, string) {
	for ; len(path) > 1; path = path[1:] {
		m = m.Map(path[0])
	}
	return m, path[0]
}
