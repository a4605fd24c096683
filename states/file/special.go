package file

import (
	"context"
	"fmt"
	"sort"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	files "brine/modules/file"
)

type mknodArgs struct {
	_     fun.Arguments
	_     string      `arg:"name,required,path" doc:"path of the device or pipe"`
	Ntype string      `arg:"ntype,required" doc:"c for a character device, b for a block device, p for a named pipe"`
	Major int64       `arg:"major" default:"0" doc:"major device number"`
	Minor int64       `arg:"minor" default:"0" doc:"minor device number"`
	User  value.Value `arg:"user,str|int" doc:"owner, by name or ID"`
	Group value.Value `arg:"group,str|int" doc:"group, by name or ID"`
	Mode  value.Value `arg:"mode,mode" default:"0600" doc:"permissions, such as '0644'"`
}

// mknod makes a device or a named pipe; one that exists gets owner and mode,
// and one of other numbers stays and is a failure. Salt: states/file.py mknod.
func mknod(ctx context.Context, fc *fun.Call, a *mknodArgs) fun.Ret {
	c := begin(fc)
	name := c.path()
	if name == "" {
		return c.fail("Must provide name to file.mknod")
	}
	kind := a.Ntype
	words := map[string]struct{ what, of, is string }{
		"c": {"Character device", "character device", "char"},
		"b": {"Block device", "block device", "block"},
		"p": {"Fifo pipe", "fifo pipe", "pipe"},
	}
	w, ok := words[kind]
	if !ok {
		return c.fail("Node type unavailable: '%s'. Available node types are character ('c'), block ('b'), and pipe ('p')", kind)
	}
	if c.IsFile(name) {
		return c.fail("File %s exists and is not a %s. Refusing to continue", name, w.of)
	}
	major, minor := a.Major, a.Minor
	user, group := c.owner(a.User, a.Group)
	if st, err := c.Stats(name, true); err != nil || st.Type != w.is {
		if c.Test {
			return c.done(fun.WouldChange, fmt.Sprintf("%s %s is set to be created", w.what, name))
		}
		if err := c.MakeDirs(ctx, name, files.Perms{User: user, Group: group}); err != nil {
			return fun.Raise(err)
		}
		r, err := c.MakeNode(ctx, files.Node{Name: name, Kind: kind, Major: major, Minor: minor, User: user, Group: group, Mode: a.Mode})
		if err != nil {
			return fun.Raise(err)
		}
		return r.Ret()
	}
	if kind != "p" {
		a, b, err := c.DeviceNumbers(ctx, name)
		if err != nil {
			return fun.Raise(err)
		}
		if a != major || b != minor {
			return c.fail("%s %s exists and has a different major/minor %d/%d. Refusing to continue", w.what, name, a, b)
		}
	}
	if _, err := c.CheckPerms(ctx, name, c.ret, c.perms(user, group, a.Mode)); err != nil {
		return fun.Raise(err)
	}
	if c.ret.Changes.Len() == 0 {
		c.ret.Comment = fmt.Sprintf("%s %s is in the correct state", w.what, name)
	}
	return c.ret.Ret()
}

type prunedArgs struct {
	_            string `arg:"name,required,path" doc:"absolute path of the directory"`
	Recurse      bool   `arg:"recurse" default:"False" doc:"first remove the empty directories in it"`
	IgnoreErrors bool   `arg:"ignore_errors" default:"False" doc:"remove empty directories and leave the rest; implies recurse"`
	OlderThan    int64  `arg:"older_than" unit:"days" doc:"only remove directories that were not modified for this long"`
	fun.SystemPath
}

// pruned removes empty directories. Salt: states/file.py pruned.
func pruned(ctx context.Context, fc *fun.Call, a *prunedArgs) fun.Ret {
	c := begin(fc)
	name := c.path()
	if !c.IsDir(name) {
		return c.done(fun.OK, fmt.Sprintf("Directory %s is not present", name))
	}
	if err := c.CheckSystem(name, true); err != nil {
		return c.fail("%s", err)
	}
	if c.Test {
		c.ret.Changes.Set("deleted", name)
		return c.done(fun.WouldChange, fmt.Sprintf("Directory %s is set for removal", name))
	}
	ignore := a.IgnoreErrors
	recurse := a.Recurse || ignore
	r, err := c.Rmdir(name, recurse, a.OlderThan)
	if err != nil {
		return fun.Raise(err)
	}
	sort.Strings(r.Deleted)
	gone := value.Strings(r.Deleted...)
	switch {
	case len(r.Deleted) > 0 && recurse && (r.OK || ignore):
		c.ret.Changes.Set("deleted", gone)
		return c.done(fun.OK, "Recursively removed empty directories under "+name)
	case r.OK && !recurse:
		c.ret.Changes.Set("deleted", name)
		return c.done(fun.OK, "Removed directory "+name)
	case r.OK:
		return c.done(fun.OK, "")
	}
	m := r.Map()
	m.Delete("result")
	c.ret.Changes = m
	return c.fail("Failed to remove directory %s", name)
}
