package returner

import (
	"fmt"
	"slices"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A TypeError says that the value of a setting cannot be one. No run can work with
// it, and no other try.
type TypeError struct{ err error }

func (e *TypeError) Error() string { return e.err.Error() }
func (e *TypeError) Unwrap() error { return e.err }

// fits returns a *TypeError for a setting whose value is not of the type of its key.
// It names the place in the configuration.
func (s Settings) fits(k Key) error {
	f, ok := s.find(k.Name)
	if !ok || f.v == nil {
		return nil
	}
	want := k.wants(f.v)
	if want == "" {
		return nil
	}
	got := value.Repr(f.v)
	if k.Secret {
		got = "a " + value.TypeName(f.v)
	}
	err := fmt.Errorf("%s must be %s, not %s", f.name, want, got)
	if !f.at.IsZero() {
		err = &source.Error{Pos: f.at, Err: err}
	}
	return &TypeError{err}
}

// wants says what the value of a key must be; "" where v is that.
func (k Key) wants(v value.Value) string {
	_, isBool := v.(bool)
	n, err := value.ToFloat(v)
	isNumber := err == nil && !isBool && n-n == 0
	whole := isNumber && n == float64(int64(n))
	switch k.Default.(type) {
	case bool:
		if !isBool && (v != int64(0) && v != int64(1)) {
			return "True or False"
		}
	case float64:
		if !isNumber {
			return "a number"
		}
	}
	switch {
	case !k.Number:
	case k.Name == "port" || strings.HasSuffix(k.Name, "_port"):
		if !whole || n < 1 || n > 65535 {
			return "a port, 1 to 65535"
		}
	case !whole:
		return "a whole number"
	}
	return ""
}

// Misspelt returns an error for each entry of the configuration that looks like a
// setting of the returner and is none, with the nearest one. An entry that is
// near to no setting belongs to somebody else.
func (s Settings) Misspelt() []error {
	known := make([]string, len(s.Spec.Keys))
	for i, k := range s.Spec.Keys {
		known[i] = k.Name
	}
	var errs []error
	tell := func(m *value.Map, entry value.Value, prefix, name string) {
		if name == "" || s.known(name, known) {
			return
		}
		near, ok := source.Nearest(name, known)
		if !ok {
			return
		}
		err := fmt.Errorf("the returner %s has no setting %q (did you mean %q?)", s.Spec.Name, prefix+"."+name, prefix+"."+near)
		if at := m.Pos(entry); !at.IsZero() {
			err = &source.Error{Pos: at, Err: err}
		}
		errs = append(errs, err)
	}
	for _, p := range s.prefixes() {
		for k, v := range s.Env.Opts.All() {
			name, ok := k.(string)
			if !ok {
				continue
			}
			if rest, ok := strings.CutPrefix(name, p+"."); ok {
				tell(s.Env.Opts, k, p, rest)
			}
			if d, ok := v.(*value.Map); ok && name == p {
				for k := range d.All() {
					tell(d, k, p, value.Str(k))
				}
			}
		}
	}
	return errs
}

// known reports whether a name is a setting or what settings with dots are under.
func (s Settings) known(name string, known []string) bool {
	return slices.ContainsFunc(known, func(k string) bool {
		return k == name || strings.HasPrefix(k, name+".") || strings.HasPrefix(name, k+".")
	}) || slices.Contains(s.Spec.Others, name)
}
