//go:build !slim

package assembly

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/fleet/saltapi"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// chosen are the fleets of a run: those that are configured, or those of them that
// the option fleet (--fleet) names.
type chosen struct {
	roster  bool
	masters []saltapi.Config
	order   []string
}

// chosenFleets reads the options fleets, fleet_order and fleet.
func chosenFleets(o EnvOptions) (chosen, error) {
	opts := o.Config.Opts
	c := chosen{roster: true}
	if !opts.Has("fleets") && !opts.Has("fleet") {
		return c, nil
	}
	getenv := o.SSH.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	names := []string{fleet.RosterFleet}
	only := named(opts.At("fleet"))
	all := opts.At("fleets")
	if m, ok := all.(*value.Map); ok {
		for k := range m.All() {
			names = append(names, value.Str(k))
		}
		if len(only) > 0 {
			// The secrets of others are not read.
			all = pick(m, only)
		}
	}
	var err error
	if c.masters, err = saltapi.Parse(all, o.Config.Dir, getenv); err != nil {
		return c, err
	}
	known := func(option string, list []string) error {
		for _, name := range list {
			if !slices.Contains(names, name) {
				return fun.Errorf("%s: there is no fleet %q; there are %s%s", option, name, strings.Join(names, ", "), source.DidYouMean(name, names))
			}
		}
		return nil
	}
	c.order = named(opts.At("fleet_order"))
	if err := known("fleet_order", c.order); err != nil {
		return c, err
	}
	if err := known("--fleet", only); err != nil {
		return c, err
	}
	c.roster = len(only) == 0 || slices.Contains(only, fleet.RosterFleet)
	return c, nil
}

// pick returns the entries of m that are named.
func pick(m *value.Map, names []string) *value.Map {
	out := value.NewMap(len(names))
	for k, v := range m.All() {
		if slices.Contains(names, value.Str(k)) {
			out.Set(k, v)
		}
	}
	return out
}

// named returns the names of an option that is a list, or text with commas.
func named(v value.Value) []string {
	var out []string
	switch v := v.(type) {
	case nil:
	case *value.List:
		for _, x := range v.Items {
			out = append(out, value.Str(x))
		}
	default:
		for s := range strings.SplitSeq(value.Str(v), ",") {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// add adds the providers of the masters to the fleet.
func (c chosen) add(f *fleet.Fleet, ctl *fun.Env, o EnvOptions) error {
	f.Order = c.order
	if len(c.masters) > 0 && value.Truth(o.Config.Opts.At("undo")) {
		ctl.Warn(fun.Warning{Text: "undo: the minions of Salt masters keep nothing of what a run changes there"})
	}
	for _, conf := range c.masters {
		p, err := saltapi.New(saltapi.Options{
			Config: conf, Cache: filepath.Join(o.Config.CacheDir, "fleets"), NewJID: f.NewJID, Bus: o.Bus,
			IsOwnJob: func(jid string) bool { return jid == ctl.JID || f.IsOwnJob(jid) },
			Warn:     func(text string) { ctl.Warn(fun.Warning{Text: text}) },
			Now:      o.Host.Now, Gather: f.Gather, Draining: o.Draining,
			Secret: func(text string) { o.Secrets.Add(text) },
		})
		if err != nil {
			return err
		}
		f.Add(p)
	}
	return nil
}
