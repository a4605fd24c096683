package beacon

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/internal/py/pyre"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// diskUsage finds file systems that are fuller than they may be. Its options are mount
// points, or regular expressions of them.
// Salt: salt/beacons/diskusage.py.
var diskUsage = Kind{
	Name: "diskusage", Doc: "file systems that are fuller than a percentage",
	check: func(c *checking) {
		for _, x := range c.items {
			c.isPercent(x.at, x.name, x.v)
			if _, err := mountPattern(x.name); err != nil {
				c.fault(x.at, "", "%q is not a regular expression: %v", x.name, err)
			}
		}
		if len(c.items) == 0 {
			c.fault(c.At, "write '- /: 90%'", "no file system is named")
		}
	},
	look: lookDisks,
}

// mountPattern matches all of a mount point from its beginning.
func mountPattern(text string) (*pyre.Regexp, error) {
	if !strings.HasSuffix(text, "$") {
		text += "$"
	}
	return pyre.Compile(text, 0)
}

func lookDisks(ctx context.Context, l *look) (found []*value.Map, err error) {
	v, err := l.exec(ctx, "ps.disk_partitions", true)
	if err != nil {
		return nil, err
	}
	parts, _ := v.(*value.List)
	var errs []error
	for _, x := range l.items {
		limit, err := percentOf(x.v)
		if err != nil {
			return nil, err
		}
		re, err := mountPattern(x.name)
		if err != nil {
			return nil, err
		}
		mounted := false
		for _, p := range parts.Elems() {
			m, _ := p.(*value.Map)
			mount := m.Str("mountpoint")
			if hit, err := re.Match(mount); err != nil || hit == nil {
				errs = append(errs, err)
				continue
			}
			mounted = true
			used, err := l.percent(ctx, "ps.disk_usage", mount)
			switch {
			case err != nil:
				errs = append(errs, err)
			case used >= limit:
				found = append(found, value.MapOf("diskusage", used, "mount", mount))
			}
		}
		if !mounted {
			errs = append(errs, fmt.Errorf("nothing is mounted at %s", x.name))
		}
	}
	return found, errors.Join(errs...)
}

// percent returns the key percent of what a function returns.
func (l *look) percent(ctx context.Context, name string, args ...value.Value) (float64, error) {
	v, err := l.exec(ctx, name, args...)
	if err != nil {
		return 0, err
	}
	m, _ := v.(*value.Map)
	n, err := value.ToFloat(m.At("percent"))
	if err != nil {
		return 0, fmt.Errorf("%s returned no percentage", name)
	}
	return n, nil
}

// memUsage finds that more memory is in use than a percentage.
// Salt: salt/beacons/memusage.py.
var memUsage = Kind{
	Name: "memusage", Doc: "memory that is fuller than a percentage",
	keys: []key{{name: "percent", required: true, check: (*checking).isPercent}},
	look: func(ctx context.Context, l *look) ([]*value.Map, error) { return l.memory(ctx, "ps.virtual_memory") },
}

// swapUsage is memUsage of swap.
// Salt: salt/beacons/swapusage.py.
var swapUsage = Kind{
	Name: "swapusage", Doc: "swap that is fuller than a percentage",
	keys: memUsage.keys,
	look: func(ctx context.Context, l *look) ([]*value.Map, error) { return l.memory(ctx, "ps.swap_memory") },
}

// memory compares what a function says is in use with the percentage of the beacon. A
// machine may have no swap, but not no memory: then it cannot be read here.
func (l *look) memory(ctx context.Context, name string) ([]*value.Map, error) {
	v, err := l.exec(ctx, name)
	if err != nil {
		return nil, err
	}
	m, _ := v.(*value.Map)
	if total, _ := value.ToFloat(m.At("total")); total == 0 && name == "ps.virtual_memory" {
		return nil, errors.New("how much memory there is cannot be read on this system")
	}
	used, err := value.ToFloat(m.At("percent"))
	if err != nil {
		return nil, fmt.Errorf("%s returned no percentage", name)
	}
	limit, err := percentOf(l.option("percent"))
	if err != nil || used < limit {
		return nil, err
	}
	return []*value.Map{value.MapOf(l.Kind.Name, used)}, nil
}

// averages are the load averages by the names of the beacon and of status.loadavg.
var averages = [...][2]string{{"1m", "1-min"}, {"5m", "5-min"}, {"15m", "15-min"}}

// load finds load averages that are outside of limits.
// Salt: salt/beacons/load.py.
var load = Kind{
	Name: "load", Doc: "load averages that are outside of limits",
	keys: []key{
		{name: "averages", required: true, check: isAverages},
		{name: "emitatstartup", check: (*checking).isBool},
		{name: "onchangeonly", check: (*checking).isBool},
	},
	look: lookLoad,
}

// isAverages checks the limits of load averages.
func isAverages(c *checking, at source.Pos, name string, v value.Value) {
	m, ok := v.(*value.Map)
	if !ok {
		c.fault(at, "write '- averages: {1m: [0.0, 2.0]}'", "%s must be a mapping of 1m, 5m and 15m, not %s", name, value.Kind(v))
		return
	}
	for k, v := range m.All() {
		which := value.Str(k)
		if which != "1m" && which != "5m" && which != "15m" {
			c.fault(m.Pos(k), "", "%s: %q is none of 1m, 5m and 15m", name, which)
			continue
		}
		if _, _, err := limitsOf(v); err != nil {
			c.fault(m.Pos(k), "write '"+which+": [0.0, 2.0]'", "%s: %s: %v", name, which, err)
		}
	}
	if m.Len() == 0 {
		c.fault(at, "", "%s is empty", name)
	}
}

// limitsOf reads a list of a lower and an upper limit.
func limitsOf(v value.Value) (low, high float64, err error) {
	l, _ := v.(*value.List)
	if l.Len() != 2 {
		return 0, 0, fmt.Errorf("%s is not a list of a lower and an upper limit", value.Repr(v))
	}
	low, err = value.ToFloat(l.Items[0])
	if err == nil {
		high, err = value.ToFloat(l.Items[1])
	}
	if err == nil && low > high {
		err = fmt.Errorf("the lower limit %v is above the upper one %v", low, high)
	}
	return low, high, err
}

func lookLoad(ctx context.Context, l *look) ([]*value.Map, error) {
	v, err := l.exec(ctx, "status.loadavg")
	if err != nil {
		return nil, err
	}
	m, _ := v.(*value.Map)
	now, last := value.NewMap(3), l.state.Map("last")
	for _, a := range averages {
		now.Set(a[0], m.At(a[1]))
	}
	onChange := l.flag("onchangeonly", false)
	if last == nil {
		last = now
	}
	l.state.Set("last", now)
	if onChange && l.first && !l.flag("emitatstartup", true) {
		return nil, nil
	}
	for _, a := range averages {
		limits := l.mapping("averages").At(a[0])
		if limits == nil {
			continue
		}
		low, high, err := limitsOf(limits)
		if err != nil {
			return nil, err
		}
		is, err := value.ToFloat(now.At(a[0]))
		if err != nil {
			return nil, fmt.Errorf("the load average %s cannot be read: %w", a[0], err)
		}
		was, err := value.ToFloat(last.At(a[0]))
		if err != nil {
			was = is
		}
		outside := is < low || is > high
		// The first look knows of no change: what is outside then is new.
		if outside && (!onChange || l.first || was >= low && is < low || was <= high && is > high) {
			return []*value.Map{now.Copy()}, nil
		}
	}
	return nil, nil
}
