// Package grains tells what the machine is: Salt's core grains, with Salt's
// names, types and values.
//
// [Collect] returns them as a mapping that works nothing out before it is
// asked: a grain costs what it needs, and grains that come from one source (a
// file, a command) are worked out together, once. Listing the keys works out
// all. Start with the table of groups in table.go.
package grains

import (
	"regexp"
	"sync"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// The version of Salt whose behaviour brine follows.
const (
	SaltVersion      = "3006.0"
	saltVersionMajor = 3006
	saltVersionMinor = 0
)

// Options say whose grains are collected.
type Options struct {
	Host host.Host
	ID   string // minion id
	// Opts are Salt's __opts__. Read are grains, grains_deep_merge,
	// grains_blacklist, conf_file, master, append_domain and the switches
	// enable_*_grains, *_grains.
	Opts *value.Map
	// Exe is the path of the running program, for saltpath; "" is unknown.
	Exe string
	// Skip reports whether the grains of one of Salt's modules are left out; nil: none are.
	Skip func(module string) bool
	// Custom returns the grains that modules of the tree add; it is called when
	// the first grain is read that the file and the configuration do not have.
	// nil: none.
	Custom func() *value.Map
	// Warn receives faults of the grains file, which does not count then; nil
	// drops them.
	Warn func(error)
	// Loaded, if not nil, is called with the names of core grains that were
	// computed together, and with the time that took.
	Loaded func(names []string, took time.Duration)
}

// Grains are the grains of one machine: a [value.Mapping], safe for concurrent
// use.
//
// Core grains come first; those of the tree's modules replace them, then those of
// the grains file, then those of the configuration (grains:). With grains_deep_merge dicts are merged
// instead of replaced.
type Grains struct {
	c         *collector
	conf      *value.Map
	static    func() *value.Map
	custom    func() *value.Map
	deep      bool
	blacklist []string

	mu      sync.RWMutex
	set     *value.Map // by Set in this run
	removed map[any]bool
}

var _ value.Mapping = (*Grains)(nil)

// Collect returns the grains of a machine. It does no work yet.
func Collect(o Options) *Grains {
	g := &Grains{
		c:       newCollector(o),
		conf:    o.Opts.Map("grains"),
		deep:    value.Equal(o.Opts.At("grains_deep_merge"), true),
		removed: map[any]bool{},
		set:     value.NewMap(0),
	}
	if l := o.Opts.List("grains_blacklist"); l != nil {
		for _, b := range l.Items {
			g.blacklist = append(g.blacklist, value.Str(b))
		}
	}
	g.custom = func() *value.Map { return nil }
	if o.Custom != nil {
		g.custom = sync.OnceValue(o.Custom)
	}
	g.static = sync.OnceValue(func() *value.Map {
		m, err := LoadStatic(o.Host, StaticPath(o.Host, o.Opts))
		if err != nil && o.Warn != nil {
			o.Warn(err)
		}
		return m
	})
	return g
}

// Get returns a grain. It works out only what that grain needs.
func (g *Grains) Get(key value.Value) (value.Value, bool) {
	g.mu.RLock()
	v, ok := g.set.Get(key)
	name, isName := key.(string)
	gone := isName && g.removed[name]
	g.mu.RUnlock()
	if ok {
		return v, true
	}
	if gone {
		return nil, false
	}
	conf, inConf := g.conf.Get(key)
	if inConf && !g.deep {
		return conf, true
	}
	if g.blocked(key) {
		return conf, inConf
	}
	file, inFile := g.static().Get(key)
	if inFile && !g.deep {
		return file, true
	}
	var core value.Value
	var inCore bool
	if isName {
		core, inCore = g.c.lookup(name)
	}
	v, ok = core, inCore
	if own, has := g.custom().Get(key); has {
		if g.deep {
			v, ok = overlay(v, ok, own, true)
		} else {
			v, ok = own, true
		}
	}
	v, ok = overlay(v, ok, file, inFile)
	return overlay(v, ok, conf, inConf)
}

// overlay merges b over a as grains_deep_merge does.
func overlay(a value.Value, hasA bool, b value.Value, hasB bool) (value.Value, bool) {
	if !hasB {
		return a, hasA
	}
	am, ok1 := a.(*value.Map)
	bm, ok2 := b.(*value.Map)
	if hasA && ok1 && ok2 {
		return value.MergeRecurse(am, bm, false), true
	}
	return b, true
}

// blocked reports whether grains_blacklist names key.
func (g *Grains) blocked(key value.Value) bool {
	if len(g.blacklist) == 0 {
		return false
	}
	name := value.Str(key)
	for _, b := range g.blacklist {
		if b == name || value.Fnmatch(b, name) {
			return true
		}
		if re, err := regexp.Compile(`\A(?:` + b + `)\z`); err == nil && re.MatchString(name) {
			return true
		}
	}
	return false
}

// Keys works out all grains and returns their names.
func (g *Grains) Keys() []value.Value {
	seen := value.NewMap(128)
	add := func(k value.Value) { seen.Set(k, nil) }
	for _, name := range g.c.all() {
		if !g.blocked(name) {
			add(name)
		}
	}
	for _, k := range append(g.custom().Keys(), g.static().Keys()...) {
		if !g.blocked(k) {
			add(k)
		}
	}
	for _, k := range g.conf.Keys() {
		add(k)
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	for k := range g.removed {
		seen.Delete(k)
	}
	for _, k := range g.set.Keys() {
		add(k)
	}
	return seen.Keys()
}

// Len works out all grains and returns their number.
func (g *Grains) Len() int { return len(g.Keys()) }

// Truth is true: there are always grains, and none need be worked out to say
// so.
func (g *Grains) Truth() bool { return true }

// TypeName is the name of Python's type.
func (g *Grains) TypeName() string { return "dict" }

// Set changes a grain for this run; [SaveStatic] keeps it for the next.
func (g *Grains) Set(name string, v value.Value) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.removed, name)
	g.set.Set(name, v)
}

// Delete takes a grain out for this run.
func (g *Grains) Delete(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.set.Delete(name)
	g.removed[name] = true
}
