// Package returner is what Salt's returners have in common: their settings, and
// how rows of jobs look. Each returner is a package below this one;
// internal/assembly lists them.
package returner

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/value"
)

// A Spec is one returner of a build.
type Spec struct {
	Name string
	// Aliases are other names of it and of its settings.
	Aliases []string
	Doc     string // one line, imperative
	Src     string // where Salt has it
	// Keys are the settings, with their defaults; a Required one has none.
	Keys   []Key
	Schema string // SQL that makes the tables; "" where there are none
	// New connects. It may wait for a network, as long as ctx allows.
	New func(ctx context.Context, s Settings) (jobs.Returner, error)
	// Reads says that the returner is a jobs.Store as well.
	Reads bool
	// ForThisRun says that a later run has no use for what the returner was not
	// given.
	ForThisRun bool
}

// A Key is a setting of a returner.
type Key struct {
	Name    string
	Default value.Value
	Doc     string
	Secret  bool
}

// Settings are what a returner is made with.
type Settings struct {
	Spec *Spec
	// Config is the prefix of an alternative configuration (ret_config).
	Config string
	Kwargs *value.Map // ret_kwargs: over the configuration
	Env    *fun.Env   // the controller's
	Log    *slog.Logger
}

// Value returns a setting: from ret_kwargs; else from the configuration as
// CONFIG.NAME.KEY, NAME.KEY, returner.NAME.KEY, or as a dict by that name; else
// its default.
// Salt: salt/returners/__init__.py get_returner_options.
func (s Settings) Value(key string) value.Value {
	if v, ok := s.Kwargs.Get(key); ok {
		return v
	}
	var own, prefixes []string
	for _, n := range append([]string{s.Spec.Name}, s.Spec.Aliases...) {
		prefixes = append(prefixes, n, "returner."+n)
		if s.Config != "" {
			own = append(own, s.Config+"."+n)
		}
	}
	prefixes = append(own, prefixes...)
	for _, from := range []value.Mapping{s.Env.Opts, s.Env.Pillar} {
		for _, p := range prefixes {
			if v, ok := lookup(from, p, key); ok && v != nil {
				return v
			}
		}
	}
	for _, k := range s.Spec.Keys {
		if k.Name == key {
			return k.Default
		}
	}
	return nil
}

// lookup finds PREFIX.KEY, whole or as dicts within dicts.
func lookup(m value.Mapping, prefix, key string) (value.Value, bool) {
	if m == nil {
		return nil, false
	}
	if v, ok := m.Get(prefix + "." + key); ok {
		return v, true
	}
	var at value.Value = m
	for _, part := range append(strings.Split(prefix, "."), key) {
		d, ok := at.(value.Mapping)
		if !ok {
			return nil, false
		}
		if at, ok = d.Get(part); !ok {
			return nil, false
		}
	}
	return at, true
}

// Str returns a setting as text; "" for None.
func (s Settings) Str(key string) string {
	v := s.Value(key)
	if v == nil {
		return ""
	}
	return value.Str(v)
}

// Int returns a setting as a number; 0 where it is none.
func (s Settings) Int(key string) int {
	v := s.Value(key)
	if n, ok := value.AsInt(v); ok {
		return int(n)
	}
	n, err := value.ToInt(v)
	if err != nil {
		return 0
	}
	i, _ := value.AsInt(n)
	return int(i)
}

// Bool returns a setting's truth.
func (s Settings) Bool(key string) bool { return value.Truth(s.Value(key)) }

// Find returns the returner of a name.
func Find(specs []Spec, name string) (*Spec, bool) {
	for i := range specs {
		if specs[i].Name == name || slices.Contains(specs[i].Aliases, name) {
			return &specs[i], true
		}
	}
	return nil, false
}

// Names returns the names of returners, in order.
func Names(specs []Spec) []string {
	out := make([]string, len(specs))
	for i := range specs {
		out[i] = specs[i].Name
	}
	return out
}

// ReturnLines is a line of JSON for each return.
func ReturnLines(rets []*value.Map) []byte {
	var b []byte
	for _, r := range rets {
		b = append(append(b, value.EncodeJSON(r)...), '\n')
	}
	return b
}

// EventLines is a line of JSON for each event: its tag and data.
func EventLines(events []jobs.EventRow) []byte {
	var b []byte
	for _, e := range events {
		b = append(append(b, value.EncodeJSON(value.MapOf("tag", e.Tag, "data", e.Data))...), '\n')
	}
	return b
}
