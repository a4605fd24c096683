package gitfs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// pins are what --at says: REF for the only remote, or NAME=REF.
func pins(opts *value.Map) []string {
	switch v := opts.At("gitfs_at").(type) {
	case nil:
		return nil
	case *value.List:
		var out []string
		for _, x := range v.Items {
			out = append(out, value.Str(x))
		}
		return out
	default:
		return []string{value.Str(v)}
	}
}

// is reports whether a name of --at is that of a remote.
func (r *Remote) is(name string) bool { return r.Name == name || r.URL == name }

func labels(remotes []*Remote) []string {
	out := make([]string, 0, len(remotes))
	for _, r := range remotes {
		out = append(out, r.Label())
	}
	return out
}

// pin sets what --at says on the remotes of gitfs. Names of git_pillar are left to
// its own remotes.
func pin(remotes []*Remote, opts *value.Map, saltenv string) error {
	pillars := pillarRemotes(opts)
	for _, item := range pins(opts) {
		name, ref, named := strings.Cut(item, "=")
		if !named {
			name, ref = "", item
			if len(remotes) != 1 {
				return fmt.Errorf("--at %s: there are %d remotes in gitfs_remotes; write NAME=%s with the name or URL of one: %s", item, len(remotes), item, strings.Join(labels(remotes), ", "))
			}
		}
		found := slices.ContainsFunc(pillars, func(r *Remote) bool { return named && r.is(name) })
		for _, r := range remotes {
			if !named || r.is(name) {
				r.At, r.AtEnv, found = ref, saltenv, true
			}
		}
		if !found || ref == "" {
			return fmt.Errorf("--at %s: no remote of gitfs_remotes has the name %q; there are %s", item, name, strings.Join(labels(slices.Concat(remotes, pillars)), ", "))
		}
	}
	return nil
}

// pinPillars sets what --at says on the remotes of git_pillar. Without gitfs, REF
// alone is for the only one.
func pinPillars(remotes []*Remote, opts *value.Map) {
	files := Serves(opts, Files)
	for _, item := range pins(opts) {
		name, ref, named := strings.Cut(item, "=")
		for _, r := range remotes {
			switch {
			case named && r.is(name):
				r.At = ref
			case !named && !files && len(remotes) == 1:
				r.At = item
			}
		}
	}
}

// pillarRemotes returns the remotes of each ext_pillar git. One that is wrong is an
// error where the pillar is rendered.
func pillarRemotes(opts *value.Map) []*Remote {
	var out []*Remote
	list := opts.List("ext_pillar")
	for i := range list.Len() {
		m, _ := list.Items[i].(*value.Map)
		v := m.At("git")
		if v == nil {
			continue
		}
		remotes, ok := v.(*value.List)
		if !ok {
			remotes = value.NewList(v)
		}
		more, err := Parse(opts, Pillar, remotes)
		if err != nil {
			continue
		}
		out = append(out, more...)
	}
	pinPillars(out, opts)
	return out
}

// noRemotes is the fault of --at where nothing is in git. One who gives a time means
// another command.
func noRemotes(item string) error {
	err := &source.Error{Err: fmt.Errorf("--at %s pins a remote of gitfs_remotes or of ext_pillar git, and there is none", item)}
	if strings.Contains(item, " ") {
		err.Hint = "'brine recurring add' runs a chain or an orchestration at given times"
	}
	return err
}

// PillarSources returns the commit of each remote of git_pillar: remote,
// pillarenv, ref and commit. A remote that cannot be reached is left out, unless
// --at names it: rendering the pillar tells of it. Without gitfs it fails where --at
// names nothing that there is.
func (s *Store) PillarSources(ctx context.Context, opts *value.Map) (*value.List, error) {
	remotes := pillarRemotes(opts)
	if at := pins(opts); !Serves(opts, Files) && len(at) > 0 {
		for _, item := range at {
			name, _, named := strings.Cut(item, "=")
			switch {
			case len(remotes) == 0:
				return nil, noRemotes(item)
			case !named && len(remotes) > 1:
				return nil, fmt.Errorf("--at %s: there are %d remotes of ext_pillar git; write NAME=%s with the name or URL of one: %s", item, len(remotes), item, strings.Join(labels(remotes), ", "))
			case named && !slices.ContainsFunc(remotes, func(r *Remote) bool { return r.is(name) }):
				return nil, fmt.Errorf("--at %s: no remote of ext_pillar git has the name %q; there are %s", item, name, strings.Join(labels(remotes), ", "))
			}
		}
	}
	out := value.NewList()
	asked := askedEnv(opts)
	for _, r := range remotes {
		env, ref, commit, ok, err := s.pillarCommit(ctx, r, asked)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && r.At != "":
			return nil, err
		case err != nil || !ok:
			continue
		}
		out.Append(value.MapOf("remote", r.Label(), "pillarenv", env, "ref", ref, "commit", commit))
	}
	return out, nil
}

// askedEnv is the environment whose pillar is rendered.
func askedEnv(opts *value.Map) string {
	return cmp.Or(text(opts.At("pillarenv")), text(opts.At("saltenv")), "base")
}

// pillarCommit returns the commit of a remote of git_pillar, by the ref that it
// is of, and the environment of its files. ok is false where it has nothing for
// the environment that is asked for.
func (s *Store) pillarCommit(ctx context.Context, r *Remote, asked string) (env, ref, commit string, ok bool, err error) {
	ref = r.checkoutRef(asked)
	env = r.pillarEnv(asked, ref)
	if r.At != "" {
		commit, ok, err = s.commit(ctx, r, r.At)
		if err == nil && !ok {
			err = fmt.Errorf("--at %s: git_pillar remote %s has no such commit, tag or branch", r.At, r.Label())
		}
		return env, r.At, commit, ok, err
	}
	commit, ok, err = s.commit(ctx, r, ref)
	if err == nil && !ok && r.Fallback != "" {
		ref = r.Fallback
		env = r.pillarEnv(asked, ref)
		commit, ok, err = s.commit(ctx, r, ref)
	}
	if err == nil && !ok && r.Branch != "__env__" { // of an environment, not every remote has a branch
		err = s.fault(r, fmt.Errorf("there is no branch, tag or commit %q", ref))
	}
	return env, ref, commit, ok, err
}

// Serves reports whether files come from one of the roles.
func Serves(opts *value.Map, roles ...string) bool {
	l := opts.List("fileserver_backend")
	return l != nil && slices.ContainsFunc(l.Items, func(v value.Value) bool { return slices.Contains(roles, value.Str(v)) })
}
