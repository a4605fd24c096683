package high

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// avail knows which SLS files the environments have.
type avail struct {
	env   *fun.Env
	envs  []string            // nil until asked for
	lists map[string][]string // SLS names by environment
}

// anyEnv is the environment whose roots serve every other name.
const anyEnv = "__env__"

// all returns the environments in the order in which tops are read: base and
// those of file_roots, or env_order where that is set.
func (a *avail) all(ctx context.Context) []string {
	if a.envs != nil {
		return a.envs
	}
	known, err := a.env.Up.Envs(ctx)
	if err != nil {
		a.env.Log().Warn("environments cannot be listed", "err", err)
	}
	var order []string
	if l, ok := option(a.env, "env_order").(*value.List); ok {
		for _, x := range l.Items {
			if s, ok := x.(string); ok {
				order = appendNew(order, s)
			}
		}
	}
	switch {
	case len(order) > 0 && len(known) > 0:
		a.envs = slices.DeleteFunc(order, func(e string) bool { return !slices.Contains(known, e) })
	case len(order) > 0:
		a.envs = order
	default:
		a.envs = []string{"base"}
		if m, ok := option(a.env, "file_roots").(*value.Map); ok {
			for k := range m.All() {
				if s, ok := k.(string); ok {
					a.envs = appendNew(a.envs, s)
				}
			}
		}
		a.envs = appendNew(a.envs, known...)
	}
	return a.envs
}

// appendNew appends what the list does not have.
func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// has reports whether an environment is there.
func (a *avail) has(ctx context.Context, saltenv string) bool {
	if saltenv == "base" {
		return true
	}
	envs := a.all(ctx)
	return slices.Contains(envs, saltenv) || slices.Contains(envs, anyEnv)
}

// names returns the SLS names of an environment, sorted.
func (a *avail) names(ctx context.Context, saltenv string) []string {
	if l, ok := a.lists[saltenv]; ok {
		return l
	}
	names, err := fun.ListSLS(ctx, a.env.Up, saltenv)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.env.Log().Warn("SLS files cannot be listed", "saltenv", saltenv, "err", err)
	}
	if a.lists == nil {
		a.lists = map[string][]string{}
	}
	a.lists[saltenv] = names
	return names
}

// match returns the SLS names that a name or glob stands for; a name without
// special characters, and a glob without matches, stands for itself.
func (a *avail) match(ctx context.Context, saltenv, pattern string) []string {
	if value.HasGlob(pattern) {
		if names := value.FnmatchFilter(a.names(ctx, saltenv), pattern); len(names) > 0 {
			return names
		}
	}
	return []string{pattern}
}

// find returns the file of an SLS, and whether it is there.
func (a *avail) find(ctx context.Context, saltenv, sls string) (fun.FileInfo, bool, error) {
	info, err := fun.FindSLS(ctx, a.env.Up, saltenv, sls)
	if errors.Is(err, fs.ErrNotExist) {
		return info, false, nil
	}
	return info, err == nil, err
}

// read returns the text of a file.
func (a *avail) read(ctx context.Context, info fun.FileInfo, saltenv string) ([]byte, error) {
	if info.SaltEnv == "" {
		info.SaltEnv = saltenv
	}
	return render.Read(ctx, a.env.Up, info)
}

// nearest returns a hint that names the SLS most likely meant.
func (a *avail) nearest(ctx context.Context, saltenv, sls string) string {
	names := a.names(ctx, saltenv)
	if n := asPath(sls, names); n != "" {
		return `did you mean "` + n + `"?`
	}
	if n, ok := source.Nearest(sls, names); ok {
		return `did you mean "` + n + `"?`
	}
	if slices.Contains(names, sls) {
		return `a file name with a dot cannot be an SLS: dots in "` + sls + `" stand for directories`
	}
	return related(sls, names)
}

// asPath returns the SLS whose file a path names, from wherever it was written
// down; "" where there is none.
func asPath(path string, names []string) string {
	stem, isFile := strings.CutSuffix(path, ".sls")
	if !isFile && !strings.Contains(path, "/") {
		return ""
	}
	parts := strings.FieldsFunc(stem, func(r rune) bool { return r == '/' || r == '.' })
	for i := range parts {
		name := strings.Join(parts[i:], ".")
		if slices.Contains(names, name) {
			return name
		}
		if dir, ok := strings.CutSuffix(name, ".init"); ok && slices.Contains(names, dir) {
			return dir
		}
	}
	return ""
}

// related names SLS of that name in a directory, else those in the directory of
// that name.
func related(sls string, names []string) string {
	sls = strings.Trim(sls, ".")
	if sls == "" {
		return ""
	}
	var same, below []string
	for _, n := range names {
		switch {
		case strings.HasSuffix(n, "."+sls):
			same = append(same, n)
		case strings.HasPrefix(n, sls+"."):
			below = append(below, n)
		}
	}
	found := same
	if len(found) == 0 {
		found = below
	}
	const most = 5
	switch {
	case len(found) == 0:
		return ""
	case len(found) > most:
		return fmt.Sprintf("there are %s and %d more", strings.Join(found[:most], ", "), len(found)-most)
	case len(found) == 1:
		return `did you mean "` + found[0] + `"?`
	}
	return "there are " + strings.Join(found, ", ")
}
