package casefile

import (
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Host is an existing one that a test may change.
type Host struct {
	Pos    source.Pos
	Target string // an id of the roster, or user@host:port
	// Reset is the command that brings it back; "" says that nothing does.
	Reset string
}

// hosts reads which hosts are given. Only those are that the file says may be changed.
func (r *reader) hosts(c *Case, m *value.Map) {
	hosts := r.mapping(m, "hosts")
	for k, v := range hosts.All() {
		system, pos := value.Str(k), hosts.Pos(k)
		h, ok := v.(*value.Map)
		if !ok {
			r.Fault(pos, "the host of %s must be a mapping with target, may_be_changed and reset, not %s", system, value.Kind(v))
			continue
		}
		r.Keys(h, "the host of "+system, "may_be_changed", "reset", "target")
		got := Host{Pos: pos, Target: r.Text(h, "target")}
		if got.Target == "" {
			r.Fault(pos, "the host of %s has no target: name an id of the roster, or user@host", system)
		}
		if h.At("may_be_changed") != true {
			r.Fault(pos, "the host of %s is not used: a test changes it, and may break it. If that is what you want, write may_be_changed: true", system)
		}
		switch reset := h.At("reset").(type) {
		case string:
			got.Reset = reset
		case bool:
			ok = !reset
		default:
			ok = false
		}
		if !ok || h.At("reset") == "" {
			r.Fault(pos, "the host of %s needs a reset: the command that brings it back, run on this machine before each test; or false, and no test of it counts as one on a fresh machine", system)
		}
		if c.Machine.Hosts == nil {
			c.Machine.Hosts = map[string]Host{}
		}
		c.Machine.Hosts[system] = got
	}
}
