package pillar

import (
	"context"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// extGit is the pillar of git repositories: each has a top file of its own, and
// sees the files of the others of its environment.
//
// Salt: salt/pillar/git_pillar.py ext_pillar.
func (j *job) extGit(ctx context.Context, a extArgs) (value.Mapping, error) {
	return j.extTrees(ctx, "git", a)
}

// extS3 is the pillar of a bucket, which has a top file of its own.
//
// Salt: salt/pillar/s3.py ext_pillar.
func (j *job) extS3(ctx context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	return j.extTrees(ctx, "s3", a)
}

// extTrees is the pillar of the trees of an external pillar.
func (j *job) extTrees(ctx context.Context, name string, a extArgs) (value.Mapping, error) {
	if j.env.PillarTrees == nil {
		return nil, fun.Errorf("repositories are not available here")
	}
	remotes := value.NewList(a.pos...)
	if a.kw != nil {
		remotes.Append(a.kw)
	}
	trees, err := j.env.PillarTrees(ctx, name, j.opts, remotes)
	if err != nil {
		return nil, err
	}
	includes := true
	if v, ok := j.opts.Get("git_pillar_includes"); ok {
		includes = value.Truth(v)
	}
	out := value.NewMap(0)
	for i, t := range trees {
		if t.Mount != "" || j.pillarenv != "" && t.Env != j.pillarenv {
			continue
		}
		dirs := []fun.PillarTree{t}
		for k, other := range trees {
			if includes && k != i && other.Env == t.Env {
				dirs = append(dirs, other)
			}
		}
		out = j.merge(out, j.gitTrees(ctx, t.Env, dirs))
	}
	return out, ctx.Err()
}

// gitTrees renders the pillar of directories.
func (j *job) gitTrees(ctx context.Context, env string, trees []fun.PillarTree) *value.Map {
	b := treeBackend{env: env}
	roots := fileserver.RootsOf(j.opts, "pillar_roots")
	roots.Envs, roots.Dirs = []string{env}, map[string][]string{}
	for _, t := range trees {
		roots.Dirs[env] = append(roots.Dirs[env], t.Path)
		b.dirs = append(b.dirs, fileserver.Dir{Path: t.Path, Mount: t.Mount, Within: t.Within})
	}
	c := &Compiler{
		env: j.c.env, files: fileserver.Over(j.env.Host, roots, b), shown: map[string]bool{},
	}
	of := c.newJob(fun.PillarRequest{SaltEnv: j.saltenv, PillarEnv: j.pillarenv, Grains: j.env.Subject}, j.env.Pillar)
	top := of.top(ctx)
	topErrs := of.errs
	of.errs = nil
	m := of.files(ctx, of.matches(ctx, top))
	j.errs = append(append(j.errs, of.errs...), topErrs...)
	return m
}

// A treeBackend has the directories of one environment.
type treeBackend struct {
	env  string
	dirs []fileserver.Dir
}

func (treeBackend) Name() string { return "git_pillar" }

func (b treeBackend) Envs(context.Context) ([]string, error) { return []string{b.env}, nil }

func (b treeBackend) Dirs(_ context.Context, env string) ([]fileserver.Dir, bool, error) {
	if env != b.env {
		return nil, false, nil
	}
	return b.dirs, true, nil
}
