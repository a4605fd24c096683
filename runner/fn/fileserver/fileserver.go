// Package fileserver is Salt's runner module "fileserver": it lists and updates
// what salt:// has on this controller.
package fileserver

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Runners returns the rows of the runner module "fileserver".
func Runners() fun.Module {
	return fun.Module{Name: "fileserver", Kind: fun.Runner, Doc: "List and update the files of the file server.", Specs: specs}
}

// server returns the file server of this controller with the backends that a call
// names; those with a minus in front are left out.
func server(c *fun.Call, a *backend) (*fileserver.Server, error) {
	up, ok := c.Env.Up.(*fileserver.Local)
	if !ok {
		return nil, fun.Errorf("the files of this run come from elsewhere")
	}
	var with, without []string
	for _, b := range a.Backend {
		if name, minus := strings.CutPrefix(b, "-"); minus {
			without = append(without, name)
		} else if b != "" {
			with = append(with, b)
		}
	}
	if len(without) > 0 {
		if _, err := up.Only(without...); err != nil {
			return nil, err
		}
		if len(with) == 0 {
			with = up.Names()
		}
		with = slices.DeleteFunc(with, func(b string) bool { return slices.Contains(without, b) })
		if len(with) == 0 {
			return nil, fun.Errorf("no backend is left")
		}
	}
	return up.Only(with...)
}

// list makes a function that lists paths.
func list(of func(ctx context.Context, s *fileserver.Server, saltenv string) ([]string, error)) func(context.Context, *fun.Call, *listArgs) (fun.Result, error) {
	return func(ctx context.Context, c *fun.Call, a *listArgs) (fun.Result, error) {
		s, err := server(c, &a.backend)
		if err != nil {
			return fun.Result{}, err
		}
		out, err := of(ctx, s, a.Saltenv)
		if err != nil {
			return fun.Result{}, err
		}
		return fun.Value(value.Strings(out...))
	}
}

func files(ctx context.Context, s *fileserver.Server, saltenv string) ([]string, error) {
	fis, err := fun.ListFiles(ctx, s, saltenv, "")
	out := make([]string, 0, len(fis))
	for _, fi := range fis {
		out = append(out, fi.Path)
	}
	return out, err
}

func dirs(ctx context.Context, s *fileserver.Server, saltenv string) ([]string, error) {
	d, err := s.Dirs(ctx, saltenv, "")
	return append([]string{"."}, d...), err
}

// emptyDirs returns the directories with nothing in them.
func emptyDirs(ctx context.Context, s *fileserver.Server, saltenv string) ([]string, error) {
	all, err := s.Dirs(ctx, saltenv, "")
	if err != nil {
		return nil, err
	}
	full := map[string]bool{}
	mark := func(p string) {
		if i := strings.LastIndexByte(p, '/'); i > 0 {
			full[p[:i]] = true
		}
	}
	fis, err := s.List(ctx, saltenv, "")
	if err != nil {
		return nil, err
	}
	for _, fi := range fis {
		mark(fi.Path)
	}
	for _, d := range all {
		mark(d)
	}
	return slices.DeleteFunc(slices.Clone(all), func(d string) bool { return full[d] }), nil
}

func links(ctx context.Context, c *fun.Call, a *listArgs) (fun.Result, error) {
	s, err := server(c, &a.backend)
	if err != nil {
		return fun.Result{}, err
	}
	fis, err := s.List(ctx, a.Saltenv, "")
	if err != nil {
		return fun.Result{}, err
	}
	out := value.NewMap(0)
	for _, fi := range fis {
		if fi.Link != "" || fi.Mode&fs.ModeSymlink != 0 {
			out.Set(fi.Path, fi.Link)
		}
	}
	return fun.Value(out)
}

type envsArgs struct {
	backend
	Sources bool `arg:"sources" default:"False" doc:"return them by backend"`
}

// envs lists the saltenvs. Salt: salt/runners/fileserver.py envs.
func envs(ctx context.Context, c *fun.Call, a *envsArgs) (fun.Result, error) {
	s, err := server(c, &a.backend)
	if err != nil {
		return fun.Result{}, err
	}
	sorted := func(s *fileserver.Server) (*value.List, error) {
		e, err := s.Envs(ctx)
		slices.Sort(e)
		return value.Strings(e...), err
	}
	if !a.Sources {
		l, err := sorted(s)
		if err != nil {
			return fun.Result{}, err
		}
		return fun.Value(l)
	}
	out := value.NewMap(0)
	for _, name := range s.Names() {
		one, err := s.Only(name)
		if err != nil {
			return fun.Result{}, err
		}
		l, err := sorted(one)
		if err != nil {
			return fun.Result{}, err
		}
		out.Set(name, l)
	}
	return fun.Value(out)
}

// update fetches what remote backends have now.
func update(ctx context.Context, c *fun.Call, a *backend) (fun.Result, error) {
	s, err := server(c, a)
	if err != nil {
		return fun.Result{}, err
	}
	for _, r := range s.Remotes() {
		err = errors.Join(err, r.Update(ctx))
	}
	forget(c)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(true)
}

// forget drops the listings of the run.
func forget(c *fun.Call) {
	if up, ok := c.Env.Up.(*fileserver.Local); ok {
		up.Forget()
	}
}

// clearCache removes what was fetched. Salt: salt/runners/fileserver.py clear_cache.
func clearCache(ctx context.Context, c *fun.Call, a *backend) (fun.Result, error) {
	s, err := server(c, a)
	if err != nil {
		return fun.Result{}, err
	}
	cleared, ret := []string{}, value.NewMap(0)
	for _, r := range s.Remotes() {
		got, rerr := r.ClearCache(ctx)
		cleared, err = append(cleared, got...), errors.Join(err, rerr)
	}
	forget(c)
	if len(cleared) > 0 {
		ret.Set("cleared", value.Strings(cleared...))
	}
	if err != nil {
		ret.Set("errors", value.Strings(strings.Split(err.Error(), "\n")...))
		return fun.Result{Value: ret, Retcode: 1}, nil
	}
	if ret.Len() == 0 {
		return fun.Value("No cache was cleared")
	}
	return fun.Value(ret)
}

type clearListsArgs struct {
	Saltenv string `arg:"saltenv" doc:"environment, all if not given"`
	backend
}

// clearLists drops the listings of files. A run makes its own, so there is
// nothing more to remove. Salt: salt/runners/fileserver.py clear_file_list_cache.
func clearLists(ctx context.Context, c *fun.Call, a *clearListsArgs) (fun.Result, error) {
	s, err := server(c, &a.backend)
	if err != nil {
		return fun.Result{}, err
	}
	forget(c)
	out := value.NewMap(0)
	for _, name := range s.Names() {
		one, err := s.Only(name)
		if err != nil {
			return fun.Result{}, err
		}
		all, err := one.Envs(ctx)
		if err != nil {
			return fun.Result{}, err
		}
		if a.Saltenv != "" {
			all = slices.DeleteFunc(all, func(e string) bool { return e != a.Saltenv })
		}
		if len(all) > 0 {
			out.Set(name, value.Strings(all...))
		}
	}
	return fun.Value(out)
}

type clearLockArgs struct {
	backend
	Remote string `arg:"remote" doc:"glob of the URLs or names of remotes"`
}

// clearLock reports the locks of remotes. Salt: salt/runners/fileserver.py
// clear_lock.
func clearLock(ctx context.Context, c *fun.Call, a *clearLockArgs) (fun.Result, error) {
	s, err := server(c, &a.backend)
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(0)
	var cleared, failed []string
	for _, r := range s.Remotes() {
		ok, bad := r.ClearLock(ctx, a.Remote)
		cleared, failed = append(cleared, ok...), append(failed, bad...)
	}
	if len(cleared) > 0 {
		ret.Set("cleared", value.Strings(cleared...))
	}
	if len(failed) > 0 {
		ret.Set("errors", value.Strings(failed...))
		return fun.Result{Value: ret, Retcode: 1}, nil
	}
	if ret.Len() == 0 {
		return fun.Value("No locks were removed")
	}
	return fun.Value(ret)
}
