// Package sdb reads and writes values that are kept outside of configuration and
// pillar, as Salt's SDB does: sdb://PROFILE/KEY, where PROFILE is a dict of the
// configuration or the pillar with the name of a driver and its settings.
//
// [Get], [Set] and [Delete] serve the functions sdb.*; [Apply] puts values into a
// configuration. Values that were read are secrets: records and logs hide them.
package sdb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"brine/internal/core/absent"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/python"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

const scheme = "sdb://"

// errUnsupported says that a driver has no such operation.
var errUnsupported = errors.New("it is read-only")

// A driver reads and writes the values of a profile. A key that has no value is nil.
type driver interface {
	get(ctx context.Context, key string) (value.Value, error)
	set(ctx context.Context, key string, v value.Value) error
	delete(ctx context.Context, key string) error
}

// A maker makes the driver of a profile.
type maker func(env *fun.Env, profile *value.Map) (driver, error)

// makers are the drivers of every build.
func makers() map[string]maker {
	m := map[string]maker{"env": newEnviron, "file": newFiles, "yaml": newYAML}
	maps.Copy(m, moreMakers())
	return m
}

// Drivers returns the names of the drivers, sorted.
func Drivers() []string {
	return slices.Sorted(maps.Keys(makers()))
}

// A place is a URI that was taken apart.
type place struct {
	profile, key string
	conf         *value.Map
	pos          source.Pos // of the profile
}

// parse takes a URI apart. An error says why Salt takes it for ordinary text.
func parse(env *fun.Env, uri value.Value) (place, error) {
	s, ok := value.AsText(uri)
	rest, is := strings.CutPrefix(s, scheme)
	if !ok || !is {
		return place{}, errors.New(`SDB uri must start with "sdb://"`)
	}
	name, key, _ := strings.Cut(rest, "/")
	if name == "" || key == "" {
		return place{}, errors.New("SDB uri must have a profile name as a first part of the uri before the /")
	}
	p := place{profile: name, key: key}
	for _, from := range []value.Mapping{env.Opts, env.Pillar} {
		if from == nil {
			continue
		}
		v, _ := from.Get(name)
		if m, ok := v.(*value.Map); ok && m.Len() > 0 {
			p.conf = m
			if o, ok := from.(*value.Map); ok {
				p.pos = o.Pos(name)
			}
			break
		}
	}
	if !p.conf.Has("driver") {
		return place{}, fmt.Errorf("SDB profile %q wasnt found in the minion configuration", name)
	}
	return p, nil
}

// open makes the driver of a profile.
func (p place) open(ctx context.Context, env *fun.Env) (driver, error) {
	if host.IsStill(env.Host) {
		return nil, &host.StillError{What: "ask a store"}
	}
	name := value.Str(p.conf.At("driver"))
	f := makers()[name]
	if f == nil && python.Exists(ctx, env, "sdb", name) {
		mod, err := python.Open(ctx, env, "sdb", name)
		return treeDriver{mod, p.conf}, err
	}
	if f == nil {
		why := ""
		if slices.Contains(elsewhere(), name) {
			why = ": this driver is served on the controller only; read the value in the pillar, where templates run there"
		}
		if reason := absent.ReasonSuffix(absent.SDB, name); reason != "" {
			return nil, fmt.Errorf("there is no driver %q%s", name, reason)
		}
		return nil, fmt.Errorf("there is no driver %q%s%s; there are %s", name, source.DidYouMean(name, Drivers()), why, strings.Join(Drivers(), ", "))
	}
	return f(env, p.conf)
}

// fault says which profile an error is of.
func (p place) fault(err error) error {
	at := ""
	if !p.pos.IsZero() {
		at = " (" + p.pos.String() + ")"
	}
	return fmt.Errorf("SDB profile %s%s, driver %s: %w", p.profile, at, value.Str(p.conf.At("driver")), err)
}

// Is reports whether v is the URI of a value.
func Is(v value.Value) bool {
	s, ok := value.AsText(v)
	return ok && strings.HasPrefix(s, scheme)
}

// Get returns the value of a URI, or nil if it has none. A value that is not a
// URI, or names an unknown profile, is returned unchanged; with strict it is an
// error.
//
// Salt: salt/utils/sdb.py sdb_get.
func Get(ctx context.Context, env *fun.Env, uri value.Value, strict bool) (value.Value, error) {
	p, err := parse(env, uri)
	if err != nil {
		if strict {
			return nil, fun.Errorf("%v", err)
		}
		return uri, nil
	}
	d, err := p.open(ctx, env)
	if err != nil {
		return nil, p.fault(err)
	}
	v, err := d.get(ctx, p.key)
	if err != nil {
		return nil, p.fault(err)
	}
	hide(env, v)
	return v, nil
}

// hide has records and logs hide every text of a value.
func hide(env *fun.Env, v value.Value) {
	switch v := v.(type) {
	case string:
		env.Secrets.Add(v)
	case *value.List:
		for _, x := range v.Items {
			hide(env, x)
		}
	case *value.Map:
		for _, x := range v.All() {
			hide(env, x)
		}
	}
}

// change opens the driver of a URI that is to be written; ok is false where the
// URI names no profile.
func change(ctx context.Context, env *fun.Env, uri value.Value) (p place, d driver, ok bool, err error) {
	if p, err = parse(env, uri); err != nil {
		return p, nil, false, nil
	}
	if d, err = p.open(ctx, env); err != nil {
		return p, nil, true, p.fault(err)
	}
	return p, d, true, nil
}

// Set stores a value. It is false where the URI names no profile.
//
// Salt: salt/utils/sdb.py sdb_set.
func Set(ctx context.Context, env *fun.Env, uri, v value.Value) (bool, error) {
	hide(env, v)
	p, d, ok, err := change(ctx, env, uri)
	if !ok || err != nil {
		return false, err
	}
	if err := d.set(ctx, p.key, v); err != nil {
		return false, p.fault(err)
	}
	return true, nil
}

// Delete removes a value. It is false where the URI names no profile.
//
// Salt: salt/utils/sdb.py sdb_delete.
func Delete(ctx context.Context, env *fun.Env, uri value.Value) (bool, error) {
	p, d, ok, err := change(ctx, env, uri)
	if !ok || err != nil {
		return false, err
	}
	if err := d.delete(ctx, p.key); err != nil {
		return false, p.fault(err)
	}
	return true, nil
}

// maxHash bounds what GetOrSetHash makes.
const maxHash = 1 << 16

// GetOrSetHash returns the value of a URI, or stores a random text of length
// characters out of chars and returns that. It is false where the URI names no
// profile.
//
// Salt: salt/utils/sdb.py sdb_get_or_set_hash.
func GetOrSetHash(ctx context.Context, env *fun.Env, uri value.Value, length int64, chars string) (value.Value, error) {
	all := []rune(chars)
	if length < 1 || length > maxHash || len(all) == 0 {
		return nil, fun.Errorf("length must be from 1 to %d, and chars must not be empty", maxHash)
	}
	if _, err := parse(env, uri); err != nil {
		return false, nil
	}
	v, err := Get(ctx, env, uri, false)
	if err != nil || v != nil {
		return v, err
	}
	made := make([]rune, length)
	for i := range made {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(all))))
		if err != nil {
			return nil, err
		}
		made[i] = all[n.Int64()]
	}
	if _, err := Set(ctx, env, uri, string(made)); err != nil {
		return nil, err
	}
	return string(made), nil
}

// Apply puts values in the place of the URIs among the options of env, profiles
// excepted. A URI that names no profile stays, one that has no value becomes
// None; warn tells of both. An error has the place of the option.
//
// Salt: salt/config/__init__.py apply_sdb.
func Apply(ctx context.Context, env *fun.Env, warn func(pos source.Pos, format string, args ...any)) error {
	a := applying{env: env, warn: warn}
	for k, v := range env.Opts.All() {
		if m, ok := v.(*value.Map); ok && m.Has("driver") && a.nested(m, 0) {
			// A profile is read as the drivers read it.
			continue
		}
		got, err := a.put(ctx, v, env.Opts.Pos(k), 0)
		if err != nil {
			return err
		}
		env.Opts.Set(k, got)
	}
	return nil
}

// Uses reports whether options have a URI.
func Uses(opts *value.Map) bool { return applying{}.nested(opts, 0) }

type applying struct {
	env  *fun.Env
	warn func(pos source.Pos, format string, args ...any)
}

// maxNesting bounds how deep options are searched.
const maxNesting = 100

// nested reports whether there is a URI in v.
func (a applying) nested(v value.Value, depth int) bool {
	if depth > maxNesting {
		return false
	}
	switch v := v.(type) {
	case string:
		return strings.HasPrefix(v, scheme)
	case *value.List:
		return slices.ContainsFunc(v.Items, func(x value.Value) bool { return a.nested(x, depth+1) })
	case *value.Map:
		for _, x := range v.All() {
			if a.nested(x, depth+1) {
				return true
			}
		}
	}
	return false
}

// put returns v with values in the place of URIs. Containers that have one are
// copied.
func (a applying) put(ctx context.Context, v value.Value, pos source.Pos, depth int) (value.Value, error) {
	if !a.nested(v, depth) {
		return v, nil
	}
	switch v := v.(type) {
	case string:
		return a.value(ctx, v, pos)
	case *value.List:
		out := v.Copy(0)
		for i, x := range v.Items {
			got, err := a.put(ctx, x, v.PosAt(i), depth+1)
			if err != nil {
				return nil, err
			}
			out.Items[i] = got
		}
		return out, nil
	case *value.Map:
		out := v.Copy()
		for k, x := range v.All() {
			got, err := a.put(ctx, x, v.Pos(k), depth+1)
			if err != nil {
				return nil, err
			}
			out.Set(k, got)
		}
		return out, nil
	}
	return v, nil
}

func (a applying) value(ctx context.Context, uri string, pos source.Pos) (value.Value, error) {
	if _, err := parse(a.env, uri); err != nil {
		a.warn(pos, "%s stays as it is: %v", uri, err)
		return uri, nil
	}
	v, err := Get(ctx, a.env, uri, true)
	if err != nil {
		return nil, &source.Error{Pos: pos, Err: err}
	}
	if v == nil {
		a.warn(pos, "%s has no value: the option is None", uri)
	}
	return v, nil
}
