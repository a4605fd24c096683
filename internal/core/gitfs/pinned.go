package gitfs

import (
	"context"
	"errors"
	"fmt"

	"brine/internal/py/value"
)

// NewRemote returns a remote of a role that has no options in the configuration:
// root and mountpoint are as those of gitfs. Its URL must not have a password,
// since files with it are kept in version control.
func NewRemote(role, name, url, root, mountpoint string) (*Remote, error) {
	p := parser{role: role, opts: value.NewMap(0), conf: value.NewMap(0)}
	r := &Remote{Role: role, Name: name, RefTypes: refTypes}
	for _, s := range defaultRefspecs {
		spec, err := parseRefspec(s)
		if err != nil {
			return nil, err
		}
		r.Refspecs = append(r.Refspecs, spec)
	}
	r.Root, r.Mountpoint = p.path("root", root), p.path("mountpoint", mountpoint)
	p.url(r, url)
	if p.err == nil && r.Auth.Password != "" {
		return nil, errors.New("the URL has a password; use SSH for repositories that are not public")
	}
	return r, p.err
}

// Fetch updates a remote now and returns the commit of a ref.
func (s *Store) Fetch(ctx context.Context, r *Remote, ref string) (string, error) {
	if err := s.refresh(ctx, r); err != nil {
		return "", err
	}
	commit, ok, err := s.commit(ctx, r, ref)
	if err == nil && !ok {
		err = s.fault(r, fmt.Errorf("there is no tag, commit or branch %q", ref))
	}
	return commit, err
}

// Tree returns a directory with the files of a commit. What is in the cache is
// used without a look at the remote.
func (s *Store) Tree(ctx context.Context, r *Remote, commit string) (string, error) {
	x := s.of(r)
	if x.c == nil {
		return "", s.fault(r, x.err)
	}
	if dir, _, ok := x.c.ready(commit, s.Now()); ok {
		return dir, nil
	}
	found, ok, err := s.commit(ctx, r, commit)
	if err == nil && !ok {
		if found, err = s.Fetch(ctx, r, commit); err != nil {
			return "", err
		}
	}
	if err != nil {
		return "", err
	}
	return s.tree(ctx, r, found)
}
