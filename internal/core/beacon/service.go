package beacon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// service tells whether services run, each time or when that changes.
// Salt: salt/beacons/service.py. Difference: delay is not there.
var service = Kind{
	Name: "service", Doc: "whether services run",
	keys: []key{{name: "services", required: true, check: (*checking).isMapping}},
	check: func(c *checking) {
		c.mappings("services", []string{"emitatstartup", "onchangeonly", "uncleanshutdown"}, true, func(at source.Pos, where string, m *value.Map) {
			for _, flag := range []string{"emitatstartup", "onchangeonly"} {
				if m.Has(flag) {
					c.isBool(at, where+": "+flag, m.At(flag))
				}
			}
			if m.Has("uncleanshutdown") {
				c.isPath(at, where+": uncleanshutdown", m.At("uncleanshutdown"))
			}
		})
	},
	look: lookServices,
}

func lookServices(ctx context.Context, l *look) (found []*value.Map, err error) {
	var errs []error
	last := l.state.Map("last")
	if last == nil {
		last = value.NewMap(4)
	}
	kept := value.NewMap(4)
	for k, v := range l.mapping("services").All() {
		name := value.Str(k)
		o, _ := v.(*value.Map)
		if o == nil {
			o = value.NewMap(0)
		}
		running, err := l.exec(ctx, "service.status", name)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			if old, ok := last.Get(name); ok {
				kept.Set(name, old)
			}
			continue
		}
		is := value.MapOf("running", running)
		if pid := o.Str("uncleanshutdown"); pid != "" && !value.Truth(running) {
			is.Set("uncleanshutdown", exists(l.env.Host, pid))
		}
		was, seen := last.Get(name)
		kept.Set(name, is)
		if value.Truth(o.At("onchangeonly")) {
			startup := !o.Has("emitatstartup") || value.Truth(o.At("emitatstartup"))
			if !seen && !startup || seen && value.Equal(was, is) {
				continue
			}
		}
		found = append(found, value.MapOf("service_name", name, name, value.Clone(is), "tag", name))
	}
	l.state.Set("last", kept)
	return found, errors.Join(errs...)
}

// exists reports whether there is something at a path.
func exists(h host.Host, path string) bool {
	_, err := h.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// ps tells of processes that run or do not.
// Salt: salt/beacons/ps.py.
var ps = Kind{
	Name: "ps", Doc: "processes that run, or do not run",
	keys: []key{{name: "processes", required: true, check: (*checking).isMapping}},
	check: func(c *checking) {
		m := c.mapping("processes")
		for k, v := range m.All() {
			if v != "running" && v != "stopped" {
				c.fault(m.Pos(k), "", "processes: %s: %s is neither running nor stopped", value.Str(k), value.Repr(v))
			}
		}
	},
	look: lookProcesses,
}

func lookProcesses(_ context.Context, l *look) (found []*value.Map, err error) {
	names, err := processNames(l.env.Host)
	if err != nil {
		return nil, err
	}
	for k, want := range l.mapping("processes").All() {
		name := value.Str(k)
		switch {
		case want == "running" && names[name]:
			found = append(found, value.MapOf(name, "Running"))
		case want == "stopped" && !names[name]:
			found = append(found, value.MapOf(name, "Stopped"))
		}
	}
	return found, nil
}

// processNames returns the names of all processes. The kernel cuts them to 15 bytes; the
// rest is in the command line.
func processNames(h host.Host) (map[string]bool, error) {
	dir, err := h.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("processes cannot be read: %w", err)
	}
	names := map[string]bool{}
	for _, pid := range dir {
		if strings.Trim(pid, "0123456789") != "" {
			continue
		}
		comm, err := h.ReadFile("/proc/" + pid + "/comm")
		if err != nil {
			continue // it has ended
		}
		name := strings.TrimSuffix(string(comm), "\n")
		names[name] = true
		if len(name) < 15 {
			continue
		}
		line, _ := h.ReadFile("/proc/" + pid + "/cmdline")
		first, _, _ := strings.Cut(string(line), "\x00")
		if whole := first[strings.LastIndex(first, "/")+1:]; strings.HasPrefix(whole, name) {
			names[whole] = true
		}
	}
	if len(names) == 0 {
		return nil, errors.New("processes cannot be read: /proc names none")
	}
	return names, nil
}

// pkg tells of packages that are installed, removed, or have updates.
// Salt: salt/beacons/pkg.py.
var pkg = Kind{
	Name: "pkg", Doc: "packages that have updates, are installed or removed",
	keys: []key{
		{name: "pkgs", required: true, check: (*checking).isNames},
		{name: "refresh", check: (*checking).isBool},
	},
	look: lookPackages,
}

func lookPackages(ctx context.Context, l *look) (found []*value.Map, err error) {
	var errs []error
	last := l.state.Map("last")
	if last == nil {
		last = value.NewMap(4)
	}
	kept, refresh := value.NewMap(4), l.flag("refresh", false)
	for _, x := range l.list("pkgs") {
		name := value.Str(x)
		is, version, err := l.pkgStatus(ctx, name, refresh)
		refresh = false // once is enough
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			is = last.Str(name)
		} else if was := last.Str(name); was != "" && was != is {
			found = append(found, value.MapOf("pkg", name, "version", version, "status", is))
		}
		kept.Set(name, is)
	}
	l.state.Set("last", kept)
	return found, errors.Join(errs...)
}

// pkgStatus tells what is with a package: "installed", "upgrade" or "not-installed".
func (l *look) pkgStatus(ctx context.Context, name string, refresh bool) (status string, version value.Value, err error) {
	have, err := l.exec(ctx, "pkg.version", name)
	if err != nil {
		return "", nil, err
	}
	if !value.Truth(have) {
		return "not-installed", nil, nil
	}
	latest, err := l.env.Exec(ctx, "pkg.latest_version", value.MapOf("refresh", refresh), name)
	if err != nil {
		return "", nil, fmt.Errorf("pkg.latest_version: %w", err)
	}
	if value.Truth(latest) {
		return "upgrade", latest, nil
	}
	return "installed", have, nil
}

// statusDefault is what status tells where its options name nothing.
var statusDefault = []string{"loadavg", "cpustats", "meminfo", "vmstats", "time"}

// status tells what functions of the module status return.
// Salt: salt/beacons/status.py.
var status = Kind{
	Name: "status", Doc: "figures of the module status, each time",
	check: func(c *checking) {
		for _, x := range c.items {
			for _, field := range fieldsOf(x.v) {
				switch field.(type) {
				case string, int64:
				default:
					c.fault(x.at, "write '- "+x.name+": [all]'", "%s: %s is not the name of a field", x.name, value.Repr(field))
				}
			}
		}
	},
	look: lookStatus,
}

// fieldsOf returns the fields that an option of status names.
func fieldsOf(v value.Value) []value.Value {
	if l, ok := v.(*value.List); ok {
		return l.Items
	}
	return []value.Value{v}
}

func lookStatus(ctx context.Context, l *look) ([]*value.Map, error) {
	items := l.items
	if len(items) == 0 {
		for _, name := range statusDefault {
			items = append(items, item{name: name, v: "all"})
		}
	}
	data := value.NewMap(len(items))
	var errs []error
	for _, x := range items {
		v, err := l.exec(ctx, "status."+x.name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		part, err := picked(v, fieldsOf(x.v))
		if err != nil {
			errs = append(errs, fmt.Errorf("status.%s: %w", x.name, err))
			continue
		}
		data.Set(x.name, part)
	}
	tag := l.env.Host.Now().UTC().Format("2006-01-02T15:04:05.000000")
	return []*value.Map{value.MapOf("tag", tag, "data", data)}, errors.Join(errs...)
}

// picked returns the fields of what a function of the module status returns.
func picked(v value.Value, fields []value.Value) (value.Value, error) {
	out := value.NewMap(len(fields))
	for _, f := range fields {
		if f == "all" {
			return v, nil
		}
		var part value.Value
		ok := false
		switch x := v.(type) {
		case *value.Map:
			part, ok = x.Get(value.Str(f))
		case *value.List:
			if n, isInt := value.AsInt(f); isInt && n >= 0 && n < int64(x.Len()) {
				part, ok = x.Items[n], true
			}
		default:
			part, ok = v, value.Str(f) == "0"
		}
		if !ok {
			return nil, fmt.Errorf("it returns no field %s", value.Repr(f))
		}
		out.Set(f, part)
	}
	return out, nil
}
