package beacon

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"brine/internal/core/absent"
	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Config is the beacons of a machine.
type Config struct {
	Enabled bool
	Entries []*Entry // in the order in which they are written
	Faults  []error  // what is wrong; a beacon that has one is not among Entries
}

// An Entry is a beacon of the configuration.
type Entry struct {
	Name    string // its part of the tag
	Kind    *Kind
	At      source.Pos
	Enabled bool
	// Interval is how much time is between two looks; 0: each run looks.
	Interval time.Duration
	// NotWithStates says that it does not look while states are applied.
	NotWithStates bool
	// Once says that it looks no more when it has found something.
	Once bool

	items []item // its own options, in their order
}

// An item is an option as it is written.
type item struct {
	at   source.Pos
	name string
	v    value.Value
}

// option returns the value of an option; nil where it is not given. The last one counts.
func (e *Entry) option(name string) value.Value {
	for _, x := range slices.Backward(e.items) {
		if x.name == name {
			return x.v
		}
	}
	return nil
}

// flag returns an option that is True or False.
func (e *Entry) flag(name string, unset bool) bool {
	if v := e.option(name); v != nil {
		return value.Truth(v)
	}
	return unset
}

// mapping returns an option that is a mapping.
func (e *Entry) mapping(name string) *value.Map {
	m, _ := e.option(name).(*value.Map)
	if m == nil {
		m = value.NewMap(0)
	}
	return m
}

// list returns an option that is a list.
func (e *Entry) list(name string) []value.Value {
	l, _ := e.option(name).(*value.List)
	if l == nil {
		return nil
	}
	return l.Items
}

// Merge returns the beacons of a machine: those of the pillar, over which go those of the
// configuration, as in Salt.
func Merge(opts, pillar *value.Map) *value.Map {
	out := pillar.Copy()
	out.Update(opts)
	return out
}

// OfEnv reads the beacons of a run's machine, from its configuration and its pillar.
func OfEnv(env *fun.Env) *Config {
	var pillar value.Value
	if env.Pillar != nil {
		pillar, _ = env.Pillar.Get("beacons")
	}
	var parts []*value.Map
	var faults []error
	if env.Pillar != nil {
		if errs, _ := env.Pillar.Get("_errors"); value.Truth(errs) {
			faults = append(faults, fmt.Errorf("the pillar does not render, and its beacons do not look: %.1000s", value.Str(errs)))
		}
	}
	for _, x := range []struct {
		where string
		v     value.Value
	}{{"pillar", pillar}, {"configuration", env.Opts.At("beacons")}} {
		m := fun.MapOf(x.v)
		if m == nil && x.v != nil {
			faults = append(faults, fmt.Errorf("beacons of the %s must be a mapping, not %s", x.where, value.Kind(x.v)))
		}
		parts = append(parts, m)
	}
	c := Read(parts...)
	c.Faults = append(faults, c.Faults...)
	return c
}

// Read reads the beacons of a machine. What a part says of a beacon goes over the parts
// before it.
func Read(parts ...*value.Map) *Config {
	c := &Config{Enabled: true}
	for i, part := range parts {
		for k, v := range part.All() {
			name := value.Str(k)
			switch {
			case slices.ContainsFunc(parts[i+1:], func(later *value.Map) bool { return later.Has(k) }):
			case name == "enabled":
				c.Enabled = value.Truth(v)
			default:
				c.add(name, part.Pos(k), v)
			}
		}
	}
	return c
}

// add reads a beacon.
func (c *Config) add(name string, at source.Pos, v value.Value) {
	r := &checking{Entry: &Entry{Name: name, At: at, Enabled: true}}
	r.read(v)
	if len(r.faults) > 0 {
		c.Faults = append(c.Faults, r.faults...)
		return
	}
	c.Entries = append(c.Entries, r.Entry)
}

// Entry returns a beacon; nil: there is none of this name.
func (c *Config) Entry(name string) *Entry {
	for _, e := range c.Entries {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// A checking reads one beacon and collects what is wrong with it.
type checking struct {
	*Entry
	faults []error
}

func (c *checking) fault(at source.Pos, hint, format string, args ...any) {
	if at.IsZero() {
		at = c.At
	}
	c.faults = append(c.faults, &source.Error{Pos: at, Hint: hint, Err: fmt.Errorf("beacon %q: "+format, append([]any{c.Name}, args...)...)})
}

// read reads the options of a beacon.
func (c *checking) read(v value.Value) {
	if c.Name == "" || strings.ContainsAny(c.Name, "/\n") {
		c.fault(c.At, "", "a name is part of the tag, and has no slash and no line break")
		return
	}
	list, ok := v.(*value.List)
	if !ok {
		c.fault(c.At, "write one option a line, each with a dash: '- interval: 60'", "its options must be a list, not %s", value.Kind(v))
		return
	}
	var items []item
	for i, x := range list.Items {
		m, ok := x.(*value.Map)
		if !ok {
			c.fault(list.PosAt(i), "write '- interval: 60'", "an option must be a mapping, not %s", value.Repr(x))
			continue
		}
		for k, x := range m.All() {
			at := m.Pos(k)
			if at.IsZero() {
				at = list.PosAt(i)
			}
			items = append(items, item{at: at, name: value.Str(k), v: x})
		}
	}
	kind := c.Name
	for _, x := range items {
		if x.name == "beacon_module" {
			kind = value.Str(x.v)
		}
	}
	if c.Kind = kindOf(kind); c.Kind == nil {
		c.unknown(kind)
		return
	}
	for _, x := range items {
		c.take(x)
	}
	c.checkKeys()
	if c.Kind.check != nil && len(c.faults) == 0 {
		c.Kind.check(c)
	}
}

// unknown tells of a beacon that is not there.
func (c *checking) unknown(kind string) {
	if why := absent.Why(absent.Beacon, kind); why != "" {
		c.fault(c.At, "", "the beacon %s of Salt is not there: %s", kind, why)
		return
	}
	c.fault(c.At, "beacons are "+strings.Join(Names(), ", ")+"; beacon_module says which one a beacon of another name is",
		"there is no beacon %q%s", kind, source.DidYouMean(kind, Names()))
}

// take takes an option, one of all beacons or one of its own.
func (c *checking) take(x item) {
	switch x.name {
	case "beacon_module":
	case "enabled":
		c.isBool(x.at, x.name, x.v)
		c.Enabled = value.Truth(x.v)
	case "disable_during_state_run":
		c.isBool(x.at, x.name, x.v)
		c.NotWithStates = value.Truth(x.v)
	case "run_once":
		c.isBool(x.at, x.name, x.v)
		c.Once = value.Truth(x.v)
	case "interval":
		n, err := value.ToFloat(x.v)
		if _, text := x.v.(string); err != nil || text || !(n >= 0 && n <= math.MaxInt32) {
			c.fault(x.at, "", "interval: %s is not a number of seconds", value.Repr(x.v))
			return
		}
		c.Interval = time.Duration(n * float64(time.Second))
	default:
		c.items = append(c.items, x)
	}
}

// common are the options of all beacons.
var common = []string{"beacon_module", "disable_during_state_run", "enabled", "interval", "run_once"}

// checkKeys compares the options of a beacon with those that it has.
func (c *checking) checkKeys() {
	if c.Kind.keys == nil {
		return
	}
	names := make([]string, len(c.Kind.keys))
	for i, k := range c.Kind.keys {
		names[i] = k.name
	}
	for _, x := range c.items {
		i := slices.Index(names, x.name)
		if i < 0 {
			c.fault(x.at, "options are "+strings.Join(slices.Concat(names, common), ", "), "there is no option %q%s", x.name, source.DidYouMean(x.name, slices.Concat(names, common)))
			continue
		}
		c.Kind.keys[i].check(c, x.at, x.name, x.v)
	}
	for _, k := range c.Kind.keys {
		if k.required && c.option(k.name) == nil {
			c.fault(c.At, "", "the option %s is missing", k.name)
		}
	}
}

// The checks of options say what is right.

func (c *checking) isBool(at source.Pos, name string, v value.Value) {
	if _, ok := v.(bool); !ok {
		c.fault(at, "", "%s: %s is neither True nor False", name, value.Repr(v))
	}
}

func (c *checking) isPercent(at source.Pos, name string, v value.Value) {
	if _, err := percentOf(v); err != nil {
		c.fault(at, "", "%s: %v", name, err)
	}
}

func (c *checking) isMapping(at source.Pos, name string, v value.Value) {
	if _, ok := v.(*value.Map); !ok {
		c.fault(at, "", "%s must be a mapping, not %s", name, value.Kind(v))
	}
}

func (c *checking) isNames(at source.Pos, name string, v value.Value) {
	l, ok := v.(*value.List)
	if !ok {
		c.fault(at, "", "%s must be a list, not %s", name, value.Kind(v))
		return
	}
	for i, x := range l.Items {
		if _, ok := x.(string); !ok {
			c.fault(l.PosAt(i), "", "%s: %s is not text", name, value.Repr(x))
		}
	}
}

func (c *checking) isPath(at source.Pos, name string, v value.Value) {
	if s, ok := v.(string); !ok || !strings.HasPrefix(s, "/") {
		c.fault(at, "", "%s: %s is not an absolute path", name, value.Repr(v))
	}
}

func (c *checking) isInt(at source.Pos, name string, v value.Value) {
	if _, ok := v.(int64); !ok {
		c.fault(at, "", "%s: %s is not a whole number", name, value.Repr(v))
	}
}

// mappings checks an option that is a mapping of mappings with known keys; None counts as
// an empty one where empty says so.
func (c *checking) mappings(option string, known []string, empty bool, each func(at source.Pos, where string, m *value.Map)) {
	all := c.mapping(option)
	for k, v := range all.All() {
		where := option + ": " + value.Str(k)
		m, ok := v.(*value.Map)
		switch {
		case v == nil && empty:
			m = value.NewMap(0)
		case !ok:
			c.fault(all.Pos(k), "", "%s must be a mapping, not %s", where, value.Kind(v))
			continue
		}
		for k := range m.All() {
			if name := value.Str(k); known != nil && !slices.Contains(known, name) {
				c.fault(m.Pos(k), "options are "+strings.Join(known, ", "), "%s: there is no option %q%s", where, name, source.DidYouMean(name, known))
			}
		}
		if each != nil {
			each(all.Pos(k), where, m)
		}
	}
}

// percentOf reads "63%" or a number.
func percentOf(v value.Value) (float64, error) {
	s := strings.TrimSpace(value.Str(v))
	n, err := value.ToFloat(strings.TrimSpace(strings.TrimSuffix(s, "%")))
	if _, isBool := v.(bool); err != nil || isBool || !(n >= 0 && n <= 100) {
		return 0, fmt.Errorf("%s is not a percentage such as 90%%", value.Repr(v))
	}
	return n, nil
}
