package saltcheck

import (
	"context"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A loader finds the tests of states.
type loader struct {
	env      *fun.Env
	saltenv  string
	location string   // the option saltcheck_test_location
	found    []string // states that have tests
	states   []string // all states; nil: not asked for yet
	files    []string // the tests to load
}

func newLoader(ctx context.Context, env *fun.Env, saltenv string) *loader {
	location := value.Str(option(ctx, env, "saltcheck_test_location", "saltcheck-tests"))
	return &loader{env: env, saltenv: saltenv, location: path.Clean("/" + location)[1:]}
}

// load renders the files that were added and returns their tests.
func (l *loader) load(ctx context.Context) (*value.Map, error) {
	tests := value.NewMap(0)
	slices.Sort(l.files)
	for _, f := range slices.Compact(l.files) {
		v, err := l.env.Exec(ctx, "slsutil.renderer", value.MapOf("saltenv", l.saltenv), f)
		if err != nil {
			return nil, err
		}
		switch m := v.(type) {
		case nil: // an empty file
		case *value.Map:
			tests.Update(m)
		default:
			return nil, fun.Errorf("%s does not have tests: it is not a mapping", f)
		}
	}
	l.files = nil
	return tests, nil
}

// dirs returns the directories in which the tests of a state may be, the longest
// path first. The root of the file server is not searched, as in Salt.
func (l *loader) dirs(state string) []string {
	parts := strings.Split(state, ".")
	var list []string
	for _, dir := range [][]string{parts, parts[:len(parts)-1], parts[:1]} {
		if p := path.Join(path.Join(dir...), l.location); len(dir) > 0 && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
}

// names returns how the paths of the tests of one state end.
func (l *loader) names(state string) []string {
	parts := strings.Split(state, ".")
	last := parts[len(parts)-1] + ".tst"
	list := []string{
		path.Join(path.Join(parts...), l.location, "init.tst"),
		path.Join(path.Join(parts[:len(parts)-1]...), l.location, last),
	}
	var between []string
	if len(parts) > 2 {
		between = parts[1 : len(parts)-1]
	}
	return append(list, path.Join(parts[0], l.location, path.Join(between...), last))
}

// included returns the states that a state has states of: itself, and what it
// includes. What is not a state is taken as the name of a test.
func (l *loader) included(ctx context.Context, sls string) ([]string, error) {
	if l.states == nil {
		v, err := l.env.Exec(ctx, "cp.list_states", value.MapOf("saltenv", l.saltenv))
		if err != nil {
			return nil, err
		}
		items, _ := value.Items(v)
		l.states = make([]string, 0, len(items))
		for _, x := range items {
			l.states = append(l.states, value.Str(x))
		}
	}
	if !slices.Contains(l.states, sls) {
		return []string{sls}, nil
	}
	v, err := l.env.Exec(ctx, "state.show_low_sls", value.MapOf("saltenv", l.saltenv, "test", true), sls)
	if err != nil {
		return nil, err
	}
	items, _ := value.Items(v)
	var list []string
	for _, x := range items {
		low, ok := x.(*value.Map)
		if !ok {
			l.env.Log().Error("low data from show_low_sls is not formed as a dict: " + value.Str(x))
			break
		}
		if name := low.Str("__sls__"); name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list, nil
}

// add adds the tests of a state and of those that it includes; all of their
// directories where all says so.
// Salt: salt/modules/saltcheck.py StateTestLoader.add_test_files_for_sls.
func (l *loader) add(ctx context.Context, sls string, all bool) error {
	if sls == "" {
		return &fun.InvocationError{Msg: "the name of a state is empty", Arg: "state"}
	}
	states, err := l.included(ctx, sls)
	if err != nil {
		return err
	}
	var cached []string
	for _, state := range states {
		for _, dir := range l.dirs(state) {
			if slices.Contains(l.found, state) {
				break
			}
			files, err := l.cache(ctx, dir)
			if err != nil {
				return err
			}
			switch {
			case len(files) == 0:
			case all:
				l.files = append(l.files, files...)
			default:
				l.found = append(l.found, state)
				cached = append(cached, files...)
			}
		}
		if all {
			continue
		}
		names := l.names(state)
		for _, f := range cached {
			if slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(f, "/"+n) }) {
				l.files = append(l.files, f)
			}
		}
	}
	return nil
}

// cache fetches the tests of a directory of the file server.
func (l *loader) cache(ctx context.Context, dir string) ([]string, error) {
	v, err := l.env.Exec(ctx, "cp.cache_dir", value.MapOf("saltenv", l.saltenv, "include_pat", "*.tst"), "salt://"+dir)
	if err != nil {
		return nil, err
	}
	items, _ := value.Items(v)
	var files []string
	for _, x := range items {
		if f := value.Str(x); strings.HasSuffix(f, ".tst") {
			files = append(files, f)
		}
	}
	return files, nil
}
