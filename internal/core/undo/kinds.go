package undo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A kind is a kind of facts: how they are asked for, and brought back.
type kind struct {
	// read returns what is the case now; nil: it is not there.
	read func(ctx context.Context, env *fun.Env, name string) (*value.Map, error)
	// differ returns the part of what is the case now that differs from what was; nil: all
	// of it counts.
	differ func(was, now *value.Map) *value.Map
	// restore has it be as it was.
	restore  func(ctx context.Context, env *fun.Env, f *Fact, now *value.Map) error
	describe func(name string) string
}

// kinds are the kinds of facts by their names in the log.
var kinds = map[string]kind{
	"service": {
		read: readService, restore: restoreService,
		describe: func(name string) string { return "service " + name },
	},
	"packages": {
		read: readPackages, differ: differing, restore: restorePackages,
		describe: func(string) string { return "packages" },
	},
	"sysctl": {
		read: func(ctx context.Context, env *fun.Env, name string) (*value.Map, error) {
			v, err := env.Exec(ctx, "sysctl.get", value.MapOf("name", name))
			if err != nil || !value.Truth(v) {
				return nil, err
			}
			return value.MapOf("value", strings.TrimSpace(value.Str(v))), nil
		},
		restore: func(ctx context.Context, env *fun.Env, f *Fact, _ *value.Map) error {
			if f.Was == nil {
				return fmt.Errorf("it had no value")
			}
			return did(env.Exec(ctx, "sysctl.assign", value.MapOf("name", f.Name, "value", f.Was.At("value"))))
		},
		describe: func(name string) string { return "kernel parameter " + name },
	},
	"mount": {
		read: func(ctx context.Context, env *fun.Env, name string) (*value.Map, error) {
			v, err := env.Exec(ctx, "mount.active", nil)
			if err != nil {
				return nil, err
			}
			m := fun.MapOf(v).Map(name)
			if m == nil {
				return nil, nil
			}
			return value.MapOf("device", m.Str("device"), "fstype", m.Str("fstype"), "opts", m.At("opts")), nil
		},
		restore: restoreMount, describe: func(name string) string { return "mount " + name },
	},
	"kmod": {
		read: func(ctx context.Context, env *fun.Env, name string) (*value.Map, error) {
			v, err := env.Exec(ctx, "kmod.is_loaded", nil, name)
			return value.MapOf("loaded", value.Truth(v)), err
		},
		restore: func(ctx context.Context, env *fun.Env, f *Fact, _ *value.Map) error {
			fn := "kmod.remove"
			if f.Was.At("loaded") == true {
				fn = "kmod.load"
			}
			return did(env.Exec(ctx, fn, nil, f.Name))
		},
		describe: func(name string) string { return "kernel module " + name },
	},
	"iptables":  packetKind("iptables table", readIptables, restoreIptables),
	"nftables":  packetKind("nftables table", readNftables, restoreNftables),
	"ipset":     packetKind("set", readIpset, restoreIpset),
	"firewalld": packetKind("firewalld", readFirewalld, restoreFirewalld),
}

// did returns the error of a function, or what it says where it returns text or False.
func did(v value.Value, err error) error {
	if text, ok := v.(string); err == nil && ok && text != "" {
		return fun.Errorf("%s", text)
	}
	return err
}

func readService(ctx context.Context, env *fun.Env, name string) (*value.Map, error) {
	runs, err := env.Exec(ctx, "service.status", value.MapOf("name", name))
	if err != nil {
		return nil, err
	}
	m := value.MapOf("running", value.Truth(runs), "enabled", nil)
	if enabled, err := env.Exec(ctx, "service.enabled", value.MapOf("name", name)); err == nil {
		m.Set("enabled", value.Truth(enabled))
	}
	// Not all kinds of services can be masked.
	if masked, err := env.Exec(ctx, "service.masked", value.MapOf("name", name)); err == nil && value.Truth(masked) {
		m.Set("masked", true)
	}
	return m, nil
}

func restoreService(ctx context.Context, env *fun.Env, f *Fact, now *value.Map) error {
	call := func(fn string) error {
		v, err := env.Exec(ctx, "service."+fn, value.MapOf("name", f.Name))
		if err == nil && v == false {
			return fun.Errorf("service.%s of %s returned False", fn, f.Name)
		}
		return err
	}
	if now.At("masked") == true && f.Was.At("masked") != true {
		if err := call("unmask"); err != nil {
			return err
		}
	}
	if was := f.Was.At("enabled"); was != nil && was != now.At("enabled") {
		fn := "disable"
		if was == true {
			fn = "enable"
		}
		if err := call(fn); err != nil {
			return err
		}
	}
	if was := f.Was.At("running"); was != now.At("running") {
		fn := "stop"
		if was == true {
			fn = "start"
		}
		if err := call(fn); err != nil {
			return err
		}
	}
	if f.Was.At("masked") == true && now.At("masked") != true {
		return call("mask")
	}
	return nil
}

func readPackages(ctx context.Context, env *fun.Env, _ string) (*value.Map, error) {
	v, err := env.Exec(ctx, "pkg.list_pkgs", nil)
	if err != nil {
		return nil, err
	}
	m := fun.MapOf(v)
	if m == nil {
		return nil, fun.Errorf("pkg.list_pkgs returned no packages")
	}
	return m, nil
}

// differing returns those of now that was has not, or has otherwise; what is not there any
// more is None.
func differing(was, now *value.Map) *value.Map {
	out := value.NewMap(4)
	for k, v := range now.All() {
		if old, ok := was.Get(k); !ok || !value.Equal(old, v) {
			out.Set(k, v)
		}
	}
	for k := range was.All() {
		if !now.Has(k) {
			out.Set(k, nil)
		}
	}
	return out
}

// restorePackages installs what was there in the version that it had, and removes what
// was not. Only packages of which the run left another version are looked at.
func restorePackages(ctx context.Context, env *fun.Env, f *Fact, now *value.Map) error {
	drop, back := value.NewList(), value.NewList()
	for k := range f.Now.All() {
		old, had := f.Was.Get(k)
		cur, has := now.Get(k)
		switch {
		case had && (!has || !value.Equal(old, cur)):
			back.Append(value.MapOf(k, old))
		case !had && has:
			drop.Append(k)
		}
	}
	if back.Len() > 0 {
		if _, err := env.Exec(ctx, "pkg.install", value.MapOf("pkgs", back)); err != nil {
			return err
		}
	}
	if drop.Len() > 0 {
		if _, err := env.Exec(ctx, "pkg.remove", value.MapOf("pkgs", drop)); err != nil {
			return err
		}
	}
	return nil
}

func restoreMount(ctx context.Context, env *fun.Env, f *Fact, now *value.Map) error {
	if now != nil {
		if err := done(env.Exec(ctx, "mount.umount", value.MapOf("name", f.Name))); err != nil {
			return err
		}
	}
	if f.Was == nil {
		return nil
	}
	return done(env.Exec(ctx, "mount.mount", value.MapOf("name", f.Name, "device", f.Was.Str("device"), "fstype", f.Was.Str("fstype"), "opts", f.Was.At("opts"))))
}

// done returns the error of a function that returns True, or what went wrong.
func done(v value.Value, err error) error {
	if err == nil && v != true {
		return fun.Errorf("%s", value.Str(v))
	}
	return err
}

// alike reports whether a fact is as the log has it: of packages those are compared that
// the run changed.
func (f *Fact) alike(want, now *value.Map) bool {
	if f.Kind != "packages" {
		return want == nil && now == nil || want != nil && now != nil && value.Equal(want, now)
	}
	return len(f.others(want, now)) == 0
}

// others names the packages that are not as they are to be.
func (f *Fact) others(want, now *value.Map) []string {
	var out []string
	for k := range f.Now.All() {
		w, _ := want.Get(k)
		n, _ := now.Get(k)
		if !value.Equal(w, n) {
			out = append(out, value.Str(k))
		}
	}
	slices.Sort(out)
	return out
}

// changesOf says what would become what.
func (f *Fact) changesOf(now *value.Map) *value.Map {
	out := value.NewMap(4)
	set := func(k, old, was value.Value) {
		if !value.Equal(old, was) {
			out.Set(k, value.MapOf("old", old, "new", was))
		}
	}
	switch {
	case (now.Has("rules") || f.Was.Has("rules")) && !value.Equal(orNone(now), orNone(f.Was)):
		return ruleChanges(now, f.Was)
	case f.Kind == "packages":
		for k := range f.Now.All() {
			n, _ := now.Get(k)
			w, _ := f.Was.Get(k)
			set(k, value.OrEmpty(n), value.OrEmpty(w))
		}
	case now == nil || f.Was == nil:
		out.Set(f.Name, value.MapOf("old", orNone(now), "new", orNone(f.Was)))
	default:
		for k, v := range f.Was.All() {
			set(k, now.At(k), v)
		}
	}
	return out
}

// orNone is a dict as a value; one that is not there is None.
func orNone(m *value.Map) value.Value {
	if m == nil {
		return nil
	}
	return m
}
