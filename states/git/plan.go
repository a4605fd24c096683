package git

import (
	"context"
	"path"

	"brine/internal/core/fun"
	"brine/internal/core/host"
)

// targetLeaves has an overlay have the directory that the argument target names.
func targetLeaves(_ context.Context, c *fun.Call, o *host.Overlay) error {
	return repositoryLeaves(c, o, fun.TextOf(c.Args.At("target")))
}

// presentLeaves has an overlay have the directory of a repository that present makes.
func presentLeaves(_ context.Context, c *fun.Call, o *host.Overlay) error {
	return repositoryLeaves(c, o, fun.TextOf(c.Args.At("name")))
}

// repositoryLeaves has an overlay have the directory of a repository, with the owner that
// git gives it. Nobody knows what is in it then.
func repositoryLeaves(c *fun.Call, o *host.Overlay, dir string) error {
	if !path.IsAbs(dir) {
		return fun.Errorf("the directory %q is not known before git runs", dir)
	}
	uid, gid := -1, -1
	if user := fun.TextOf(c.Args.At("user")); user != "" {
		u, err := o.LookupUser(user)
		if err != nil {
			return err
		}
		uid, gid = u.UID, u.GID
	}
	if err := makeParents(o, path.Clean(dir), uid, gid); err != nil {
		return err
	}
	return o.Veil(dir, false)
}

// makeParents makes a directory and those above it, where they are missing.
func makeParents(o *host.Overlay, dir string, uid, gid int) error {
	if st, err := o.Stat(dir); err == nil && st.Mode.IsDir() {
		return nil
	}
	if err := makeParents(o, path.Dir(dir), uid, gid); err != nil {
		return err
	}
	if err := o.Mkdir(dir, 0o777); err != nil {
		return err
	}
	return o.Chown(dir, uid, gid)
}
