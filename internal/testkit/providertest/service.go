package providertest

import (
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Service is what a provider of service is tried with.
type Service struct {
	New func(t *testing.T) Machine
	// The names of services: Unknown is none.
	Running, Stopped, Enabled, Disabled, Unknown string
	// Looks and Without are those of Pkg.
	Looks   func(command string) bool
	Without map[string]string
}

// not calls a function that may fail by an error or by returning False.
func (r *run) not(name, arg string, kw ...value.Value) {
	r.t.Helper()
	if v, err := r.call(name, arg, kw...); err == nil && value.Truth(v) {
		r.t.Errorf("%s %s: %s, want False or an error", name, arg, value.Repr(v))
	}
}

var servicePromises = []struct {
	name string
	test func(p *Service, m *run)
}{
	{"get_all names all services, in order", func(p *Service, m *run) {
		v, err := m.call("service.get_all", "")
		items, fault := value.Items(v)
		if err != nil || fault != nil {
			m.t.Fatalf("get_all: %s, %v", value.Repr(v), err)
		}
		var names []string
		for _, x := range items {
			names = append(names, value.Str(x))
		}
		if !slices.IsSorted(names) {
			m.t.Errorf("get_all: %q are not sorted", names)
		}
		for _, name := range []string{p.Running, p.Stopped, p.Enabled, p.Disabled} {
			if !slices.Contains(names, name) {
				m.t.Errorf("get_all: %q lack %s", names, name)
			}
		}
		if slices.Contains(names, p.Unknown) {
			m.t.Errorf("get_all: %q have %s", names, p.Unknown)
		}
	}},
	{"available and missing are opposites", func(p *Service, m *run) {
		m.is("True", "service.available", p.Stopped)
		m.is("False", "service.missing", p.Stopped)
		m.is("False", "service.available", p.Unknown)
		m.is("True", "service.missing", p.Unknown)
	}},
	{"enabled and disabled are opposites", func(p *Service, m *run) {
		m.is("True", "service.enabled", p.Enabled)
		m.is("False", "service.disabled", p.Enabled)
		m.is("False", "service.enabled", p.Disabled)
		m.is("True", "service.disabled", p.Disabled)
		m.is("False", "service.enabled", p.Unknown)
	}},
	{"get_enabled and get_disabled divide the services", func(p *Service, m *run) {
		for fn, name := range map[string]string{"service.get_enabled": p.Enabled, "service.get_disabled": p.Disabled} {
			v, err := m.call(fn, "")
			items, _ := value.Items(v)
			if other := p.Enabled + p.Disabled; err != nil || !slices.Contains(items, value.Value(name)) || slices.Contains(items, value.Value(strings.Replace(other, name, "", 1))) {
				m.t.Errorf("%s: %s, %v", fn, value.Repr(v), err)
			}
		}
	}},
	{"status says whether a service runs", func(p *Service, m *run) {
		m.is("True", "service.status", p.Running)
		m.is("False", "service.status", p.Stopped)
	}},
	{"queries change nothing", func(p *Service, m *run) {
		for _, fn := range []string{"status", "enabled", "disabled", "available", "missing"} {
			if _, err := m.call("service."+fn, p.Running); err != nil {
				m.t.Errorf("service.%s: %v", fn, err)
			}
		}
		for _, fn := range []string{"get_all", "get_enabled", "get_disabled"} {
			if _, err := m.call("service."+fn, ""); err != nil {
				m.t.Errorf("service.%s: %v", fn, err)
			}
		}
		m.kept("queries")
	}},
	{"start, stop, restart and reload succeed, also where there is nothing to do", func(p *Service, m *run) {
		for _, fn := range []string{"start", "restart", "reload", "stop"} {
			m.is("True", "service."+fn, p.Running)
		}
		m.is("True", "service.stop", p.Stopped)
	}},
	{"enable and disable succeed, also where there is nothing to do", func(p *Service, m *run) {
		for _, name := range []string{p.Enabled, p.Disabled} {
			m.is("True", "service.enable", name)
			m.is("True", "service.disable", name)
		}
	}},
	{"what a program refuses is no success", func(p *Service, m *run) {
		m.breaks()
		for _, fn := range []string{"start", "stop", "restart", "reload"} {
			m.not("service."+fn, p.Running)
		}
	}},
	{"enable and disable that a program refuses are no success", func(p *Service, m *run) {
		m.breaks()
		m.not("service.enable", p.Disabled)
		m.not("service.disable", p.Enabled)
	}},
	{"names that are paths or options reach no program", func(p *Service, m *run) {
		bad := []string{"../x", "/etc/passwd", "-x", "--force"}
		for _, fn := range []string{"start", "stop", "restart", "reload", "enable", "disable", "status"} {
			for _, name := range bad {
				m.not("service."+fn, name)
			}
		}
		for _, c := range m.Host.Calls() {
			for _, name := range bad {
				if slices.Contains(c.Argv, name) && !slices.Contains(c.Argv, "--") {
					m.t.Errorf("%q has the name %s", c.Argv, name)
				}
			}
		}
	}},
	{"service.running and dead in test mode change nothing", func(p *Service, m *run) {
		for name, of := range map[string]string{"running": p.Stopped, "dead": p.Running} {
			if ret := m.state(true, "service."+name, of); ret.Result != fun.WouldChange || ret.Err != nil {
				m.t.Errorf("service.%s %s: %v %v, %v", name, of, ret.Result.Value(), ret.Comment, ret.Err)
			}
		}
		m.kept("test mode")
	}},
}

// Test runs the suite.
func (p *Service) Test(t *testing.T) {
	var names []string
	for _, q := range servicePromises {
		names = append(names, q.name)
		check(t, q.name, p.Without, func(t *testing.T) {
			q.test(p, newRun(t, p.New(t), p.Looks))
		})
	}
	unknown(t, p.Without, names)
}
