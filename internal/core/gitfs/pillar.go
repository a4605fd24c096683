package gitfs

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Pillars returns the trees of the remotes of git_pillar, in their order, for the
// pillarenv and saltenv of opts. A remote that has no such branch is left out.
//
// Salt: salt/utils/gitfs.py GitPillar.checkout.
func (s *Store) Pillars(ctx context.Context, opts *value.Map, remotes *value.List) ([]fun.PillarTree, error) {
	if err := CheckGlobals(opts, Pillar); err != nil {
		return nil, err
	}
	list, err := Parse(opts, Pillar, remotes)
	if err != nil {
		return nil, err
	}
	pinPillars(list, opts)
	asked := askedEnv(opts)
	var out []fun.PillarTree
	for _, r := range list {
		env, ref, commit, ok, err := s.pillarCommit(ctx, r, asked)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		tree, err := s.tree(ctx, r, commit)
		if err != nil {
			return nil, err
		}
		out = append(out, fun.PillarTree{Env: env, Path: s.Root(r, ref, tree, r.Root), Mount: r.Mountpoint, Within: tree})
	}
	return out, nil
}

func text(v value.Value) string {
	s, _ := v.(string)
	return s
}

// checkoutRef returns the branch of a remote of git_pillar.
func (r *Remote) checkoutRef(asked string) string {
	switch {
	case r.Branch != "__env__":
		return r.Branch
	case r.AllSaltEnvs != "":
		return r.AllSaltEnvs
	case asked == "base":
		return r.Base
	}
	return asked
}

// pillarEnv returns the environment that the files of a remote belong to.
func (r *Remote) pillarEnv(asked, ref string) string {
	switch {
	case r.Branch == "__env__" && r.AllSaltEnvs != "", r.Env == "__env__":
		return asked
	case r.Env != "":
		return r.Env
	case r.Branch == r.Base || ref == r.Base:
		return "base"
	}
	return ref
}
