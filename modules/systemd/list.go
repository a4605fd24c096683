package systemd

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
)

// listedDirs are where Salt lists unit files.
var listedDirs = []string{"/lib/systemd/system", "/usr/lib/systemd/system", "/etc/systemd/system"}

// short returns the name of a unit as Salt lists it: without the type where that
// is service. ok is false for types that Salt does not list.
func short(full string) (name string, ok bool) {
	dot := strings.LastIndexByte(full, '.')
	if dot < 0 || !slices.Contains(unitTypes, full[dot+1:]) {
		return "", false
	}
	if full[dot+1:] == "service" {
		return full[:dot], true
	}
	return full, true
}

// unitFiles returns the names of the units that have files.
func unitFiles(h host.Host, root string) map[string]bool {
	names := map[string]bool{}
	for _, dir := range listedDirs {
		dir = at(root, dir)
		// A link leads to another of these directories.
		if st, err := h.Lstat(dir); err != nil || st.Mode&fs.ModeSymlink != 0 {
			continue
		}
		files, _ := h.ReadDir(dir)
		for _, f := range files {
			if n, ok := short(f); ok {
				names[n] = true
			}
		}
	}
	return names
}

// initScripts returns the init scripts that have no unit file.
func initScripts(h host.Host, root string, units map[string]bool) ([]string, error) {
	dir := at(root, initDir)
	files, err := h.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fun.Errorf("Unable to check sysvinit scripts: %v", err)
	}
	var names []string
	for _, f := range files {
		if !units[f] && machine.Executable(h, path.Join(dir, f)) {
			names = append(names, f)
		}
	}
	return names, nil
}

// allUnits returns the names of all units and init scripts, sorted.
func allUnits(h host.Host, root string) ([]string, error) {
	units := unitFiles(h, root)
	scripts, err := initScripts(h, root, units)
	if err != nil {
		return nil, err
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(scripts, maps.Keys(units))))), nil
}

func getAll(_ context.Context, c *fun.Call, a *rootArg) (fun.Result, error) {
	return machine.Strings(allUnits(c.Env.Host, a.Root))
}

// byState returns the units of whose files systemctl says state.
func byState(ctx context.Context, m *manager, root, state string) (map[string]bool, error) {
	out, err := m.look(ctx, rooted(root, "--full", "--no-legend", "list-unit-files")...)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for line := range strings.Lines(out.Stdout) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == state {
			if n, ok := short(f[0]); ok {
				names[n] = true
			}
		}
	}
	return names, nil
}

// withScripts adds the init scripts that are enabled, or are not.
func withScripts(ctx context.Context, c *fun.Call, a *rootArg, state string, on bool) ([]string, error) {
	m, root := newManager(c.Env), a.Root
	names, err := byState(ctx, m, root, state)
	if err != nil {
		return nil, err
	}
	scripts, err := initScripts(m.h, root, unitFiles(m.h, root))
	if err != nil {
		return nil, err
	}
	for _, s := range scripts {
		is, err := m.sysvEnabled(ctx, s, root)
		if err != nil {
			return nil, err
		}
		if is == on {
			names[s] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

func getEnabled(ctx context.Context, c *fun.Call, a *rootArg) (fun.Result, error) {
	return machine.Strings(withScripts(ctx, c, a, "enabled", true))
}

func getDisabled(ctx context.Context, c *fun.Call, a *rootArg) (fun.Result, error) {
	return machine.Strings(withScripts(ctx, c, a, "disabled", false))
}

func getStatic(ctx context.Context, c *fun.Call, a *rootArg) (fun.Result, error) {
	names, err := byState(ctx, newManager(c.Env), a.Root, "static")
	return machine.Strings(slices.Sorted(maps.Keys(names)), err)
}

func getRunning(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	out, err := newManager(c.Env).look(ctx, "--full", "--no-legend", "--plain", "list-units")
	if err != nil {
		return fun.Result{}, err
	}
	names := map[string]bool{}
	for line := range strings.Lines(out.Stdout) {
		if f := strings.Fields(line); len(f) > 3 && f[3] == "running" {
			if n, ok := short(f[0]); ok {
				names[n] = true
			}
		}
	}
	return machine.Strings(slices.Sorted(maps.Keys(names)), nil)
}

// parseShow reads the properties of one unit as Salt returns them: structures are
// dicts, a few lists of units are lists.
func parseShow(text string) *value.Map {
	out := value.NewMap(256)
	for line := range strings.Lines(text) {
		k, v, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
		if k == "" {
			continue
		}
		switch {
		case strings.HasPrefix(v, "{"):
			m := value.NewMap(8)
			for item := range strings.SplitSeq(strings.NewReplacer("{", "", "}", "").Replace(v), " ; ") {
				name, val, _ := strings.Cut(item, "=")
				val, _, _ = strings.Cut(val, "=")
				m.Set(strings.TrimSpace(name), strings.TrimSpace(val))
			}
			out.Set(k, m)
		case k == "Before" || k == "After" || k == "Wants":
			out.Set(k, value.Strings(strings.Fields(v)...))
		default:
			out.Set(k, v)
		}
	}
	return out
}

func show(ctx context.Context, c *fun.Call, a *disabledArgs) (fun.Result, error) {
	out, err := newManager(c.Env).look(ctx, rooted(a.Root, "show", "--", canonical(a.Name))...)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(parseShow(out.Stdout))
}

// execs asks systemctl for many units at once.
func execs(ctx context.Context, c *fun.Call, a *rootArg) (fun.Result, error) {
	m, root := newManager(c.Env), a.Root
	all, err := allUnits(m.h, root)
	if err != nil {
		return fun.Result{}, err
	}
	all = slices.DeleteFunc(all, func(n string) bool { return template(canonical(n)) || !plain(canonical(n)) })
	ret := value.NewMap(len(all))
	for part := range slices.Chunk(all, batch) {
		argv := rooted(root, "show", "--property", "Id,ExecStart", "--")
		for _, n := range part {
			argv = append(argv, canonical(n))
		}
		out, err := m.look(ctx, argv...)
		if err != nil {
			return fun.Result{}, err
		}
		blocks := strings.Split(strings.TrimSpace(out.Stdout), "\n\n")
		if len(blocks) != len(part) {
			return fun.Result{}, fun.Errorf("systemctl show reported %d units instead of %d%s", len(blocks), len(part), reasonOf(out))
		}
		for i, n := range part {
			if e, ok := parseShow(blocks[i]).At("ExecStart").(*value.Map); ok {
				ret.Set(n, e.At("path"))
			}
		}
	}
	return fun.Value(ret)
}
