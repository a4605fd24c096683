// Package returner is what Salt's returners have in common: their settings, and
// how rows of jobs look. Each returner is a package below this one;
// cmd/assembly lists them.
package returner

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/source"
	"brine/internal/py/value"
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
	// Prepare completes settings and refuses those that cannot work, without a
	// network; nil leaves them as they are.
	Prepare func(s Settings) (Settings, error)
	// New connects. It may wait for a network, as long as ctx allows. Its settings
	// are those of Check.
	New func(ctx context.Context, s Settings) (jobs.Returner, error)
	// Where says where rows go, for a returner whose keys alone do not; nil leaves it
	// to them. Place is one that no setting moves.
	Where func(s Settings) *value.Map
	Place string
	// Others are entries of the configuration that have the same prefix and are not
	// settings of the returner.
	Others []string
	// Reads says that the returner is a jobs.Store as well.
	Reads bool
	// History says that the returner also keeps the history of orchestrations: it
	// has a method History that returns a *history.Store.
	History bool
	// ForThisRun says that a later run has no use for what the returner was not
	// given.
	ForThisRun bool
}

// A Key is a setting of a returner.
type Key struct {
	Name     string
	Default  value.Value
	Doc      string
	Secret   bool
	Required bool // there is no default that could work
	Where    bool // it says where rows go
	Number   bool // a whole number
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

// Check returns the settings that the returner is made with. Its error is one of
// configuration, which no other try can mend, and names the keys that have no
// value.
func (s Settings) Check() (Settings, error) {
	if s.Spec.Prepare != nil {
		var err error
		if s, err = s.Spec.Prepare(s); err != nil {
			return s, err
		}
	}
	var missing []string
	for _, k := range s.Spec.Keys {
		if err := s.fits(k); err != nil {
			return s, err
		}
		if k.Required && s.Str(k.Name) == "" {
			missing = append(missing, s.Spec.Name+"."+k.Name)
		}
	}
	if len(missing) > 0 {
		return s, fmt.Errorf("%s must be configured", strings.Join(missing, ", "))
	}
	return s, nil
}

// Destination says where rows go: the settings, none of them a secret, that make
// one store another one.
func (s Settings) Destination() *value.Map {
	if s.Spec.Where != nil {
		return s.Spec.Where(s)
	}
	m := value.NewMap(4)
	if s.Spec.Place != "" {
		m.Set("place", s.Spec.Place)
	}
	for _, k := range s.Spec.Keys {
		if v := s.Value(k.Name); k.Where && !k.Secret && v != nil {
			m.Set(k.Name, WithoutAccount(value.Str(v)))
		}
	}
	return m
}

// account is the name and the password in a URL.
var account = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/@\s'"]*@`) })

// WithoutAccount returns text without names and passwords in its URLs.
func WithoutAccount(text string) string { return account().ReplaceAllString(text, "://") }

// WithProfile returns settings with those of a profile, a dict of the
// configuration that the setting "profile" names: its keys are KEY or NAME.KEY.
// They count more than the configuration and less than ret_kwargs.
// Salt: salt/returners/__init__.py _fetch_profile_opts.
func (s Settings) WithProfile() (Settings, error) {
	name := s.Str("profile")
	if name == "" {
		return s, nil
	}
	m := s.Env.Opts.Map(name)
	if m == nil {
		return s, fmt.Errorf("%s.profile: the configuration has no dict %q", s.Spec.Name, name)
	}
	return s.over(m), nil
}

// over returns settings with those of a dict over the configuration.
func (s Settings) over(m *value.Map) Settings {
	kw := value.NewMap(m.Len())
	for k, v := range m.All() {
		name := strings.TrimPrefix(value.Str(k), s.Spec.Name+".")
		kw.Set(name, v)
		kw.SetPos(name, m.Pos(k))
	}
	kw.Update(s.Kwargs)
	s.Kwargs = kw
	return s
}

// WithDict returns settings with those of a dict of the configuration that has
// another name than the returner.
func (s Settings) WithDict(name string) Settings {
	if m := s.Env.Opts.Map(name); m != nil {
		return s.over(m)
	}
	return s
}

// Value returns a setting: from ret_kwargs; else from the configuration as
// CONFIG.NAME.KEY, NAME.KEY, returner.NAME.KEY, or as a dict by that name; else
// its default.
// Salt: salt/returners/__init__.py get_returner_options.
func (s Settings) Value(key string) value.Value {
	if f, ok := s.find(key); ok {
		return f.v
	}
	for _, k := range s.Spec.Keys {
		if k.Name == key {
			return k.Default
		}
	}
	return nil
}

// Given reports whether a setting has a value that is not its default.
func (s Settings) Given(key string) bool {
	f, ok := s.find(key)
	return ok && f.v != nil
}

// A found is a setting with the name and the place that it has in a configuration.
type found struct {
	v    value.Value
	name string
	at   source.Pos
}

// find returns a setting that is not a default.
func (s Settings) find(key string) (found, bool) {
	if v, ok := s.Kwargs.Get(key); ok {
		return found{v, s.Spec.Name + "." + key, s.Kwargs.Pos(key)}, true
	}
	for _, from := range []value.Mapping{s.Env.Opts, s.Env.Pillar} {
		for _, p := range s.prefixes() {
			if f, ok := lookup(from, p, key); ok && f.v != nil {
				return f, true
			}
		}
	}
	return found{}, false
}

// prefixes returns what settings may be under, in the order in which they count.
func (s Settings) prefixes() []string {
	var own, all []string
	for _, n := range append([]string{s.Spec.Name}, s.Spec.Aliases...) {
		all = append(all, n, "returner."+n)
		if s.Config != "" {
			own = append(own, s.Config+"."+n, s.Config+".returner."+n)
		}
	}
	return append(own, all...)
}

// lookup finds PREFIX.KEY, whole or as dicts within dicts, whose keys may have
// dots: "other.slack.channel", other.slack: {channel: ...}, and so on.
func lookup(m value.Mapping, prefix, key string) (found, bool) {
	if m == nil {
		return found{}, false
	}
	f, ok := find(m, strings.Split(prefix+"."+key, "."))
	f.name = prefix + "." + key
	return f, ok
}

func find(m value.Mapping, parts []string) (found, bool) {
	for n := len(parts); n > 0; n-- {
		name := strings.Join(parts[:n], ".")
		v, ok := m.Get(name)
		if !ok || v == nil {
			continue
		}
		if n == len(parts) {
			return found{v: v, at: placeOf(m, name)}, true
		}
		if d, ok := v.(value.Mapping); ok {
			if f, ok := find(d, parts[n:]); ok {
				return f, true
			}
		}
	}
	return found{}, false
}

// placeOf returns where a key of a configuration is written, if that is known.
func placeOf(m value.Mapping, key string) source.Pos {
	if p, ok := m.(interface {
		Pos(key value.Value) source.Pos
	}); ok {
		return p.Pos(key)
	}
	return source.Pos{}
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
		b = append(append(b, value.StrictJSON(r)...), '\n')
	}
	return b
}

// EventLines is a line of JSON for each event: its tag and data.
func EventLines(events []jobs.EventRow) []byte {
	var b []byte
	for _, e := range events {
		b = append(append(b, value.StrictJSON(value.MapOf("tag", e.Tag, "data", e.Data))...), '\n')
	}
	return b
}
