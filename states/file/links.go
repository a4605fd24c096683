package file

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	files "brine/modules/file"
)

// A linkPlan is the arguments of symlink, which recurse sets for each link.
type linkPlan struct {
	target          string
	force, makedirs bool
	atomic          bool
	backup          *string
	oneFS           bool // backup is not to be a copy
	user, group     value.Value
	mode            string
}

type symlinkArgs struct {
	_                     string      `arg:"name,required,path" doc:"absolute path of the link"`
	Target                string      `arg:"target,required,path" doc:"path that the link points to"`
	Force                 bool        `arg:"force" default:"False" doc:"replace a file or directory that has this name"`
	Backupname            value.Value `arg:"backupname,path" doc:"rename a file or directory that has this name to backupname"`
	Makedirs              bool        `arg:"makedirs" default:"False" doc:"create missing parent directories"`
	User                  value.Value `arg:"user,str|int" doc:"owner, by name or ID; default: the user that brine runs as"`
	Group                 value.Value `arg:"group,str|int" doc:"group, by name or ID; default: the primary group of user"`
	Mode                  value.Value `arg:"mode,mode" doc:"permissions of created parent directories"`
	_                     string      `arg:"win_owner" doc:"Windows only"`
	_                     value.Value `arg:"win_perms,dict" doc:"Windows only"`
	_                     value.Value `arg:"win_deny_perms,dict" doc:"Windows only"`
	_                     bool        `arg:"win_inheritance" doc:"Windows only"`
	Atomic                bool        `arg:"atomic" default:"False" doc:"replace an existing file in one step"`
	DisallowCopyAndUnlink bool        `arg:"disallow_copy_and_unlink" default:"False" doc:"fail if backupname is on another file system"`
	InheritUserAndGroup   bool        `arg:"inherit_user_and_group" default:"False" doc:"keep the owner of an existing link"`
	fun.SystemPath
	_ fun.Kwargs
}

// symlink makes a symbolic link.
//
// It fails where something other than a link is in the way and neither force nor
// backupname is given, where another link is there and force is not given, or
// where the directory is missing. Salt: states/file.py symlink.
func symlink(ctx context.Context, fc *fun.Call, a *symlinkArgs) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.symlink")
	}
	user, group := c.owner(a.User, a.Group)
	if a.InheritUserAndGroup && (user == nil || group == nil) && c.IsLink(c.path()) {
		if st, err := c.Stats(c.path(), false); err == nil {
			if user == nil {
				user = st.User
			}
			if group == nil {
				group = st.Group
			}
		}
	}
	return c.symlink(ctx, linkPlan{
		target: a.Target, force: a.Force, makedirs: a.Makedirs, atomic: a.Atomic,
		backup: textOf(a.Backupname), oneFS: a.DisallowCopyAndUnlink, user: user, group: group, mode: files.NormMode(a.Mode),
	})
}

// defaultOwner sets the owner that is not given.
func (c *call) defaultOwner(user, group value.Value) (value.Value, value.Value) {
	if user == nil {
		user = c.DefaultUser()
	}
	if group == nil {
		group = c.PrimaryGroup(user)
	}
	return user, group
}

// preflight returns what is wrong with owner and name, in one sentence each.
func (c *call) preflight(user, group value.Value, also ...string) string {
	var faults []string
	if _, ok := c.UserToUID(user); !ok {
		faults = append(faults, fmt.Sprintf("User %s does not exist", value.Str(user)))
	}
	if _, ok := c.GroupToGID(group); !ok {
		faults = append(faults, fmt.Sprintf("Group %s does not exist", value.Str(group)))
	}
	if !filepath.IsAbs(c.path()) {
		faults = append(faults, fmt.Sprintf("Specified file %s is not an absolute path", c.path()))
	}
	faults = append(faults, also...)
	s := strings.Join(faults, ". ")
	if len(faults) > 1 {
		s += "."
	}
	return s
}

func (c *call) symlink(ctx context.Context, p linkPlan) fun.Ret {
	name := c.path()
	p.user, p.group = c.defaultOwner(p.user, p.group)
	if s := c.preflight(p.user, p.group); s != "" {
		return c.fail("%s", s)
	}
	if err := c.CheckSystem(name, false); err != nil && c.replaces(p) {
		return c.fail("%s", err)
	}
	if c.Test {
		return c.wouldLink(p)
	}
	if dir := filepath.Dir(name); !c.IsDir(dir) {
		if !p.makedirs {
			return c.fail("Directory %s for symlink is not present", dir)
		}
		if err := c.MakeDirs(ctx, name, files.Perms{User: p.user, Group: p.group, Mode: p.mode}); err != nil {
			return c.fail("%s", host.OSError(err))
		}
	}
	if c.IsLink(name) {
		to, err := c.Readlink(name)
		if err != nil {
			return fun.Raise(err)
		}
		if filepath.Clean(to) == filepath.Clean(p.target) {
			return c.linkOwner(p)
		}
		if !p.force && !p.atomic {
			return c.fail("Unable to create new symlink %s -> %s: Found existing symlink: %s", name, p.target, name)
		}
	} else if c.LExists(name) {
		if ret, stop := c.linkWay(p); stop {
			return ret
		}
	}
	if err := c.SymlinkOver(p.target, name); err != nil {
		c.warn(err)
		return c.fail("Unable to create new symlink %s -> %s: Could not create '%s'", name, p.target, name)
	}
	c.ret.Changes.Set("new", name)
	c.ret.Comment = fmt.Sprintf("Created new symlink %s -> %s", name, p.target)
	if !c.ownsLink(p) && !c.giveLink(p) {
		c.ret.Result = fun.Failed
		c.ret.Comment += fmt.Sprintf(", but was unable to set ownership to %s:%s", value.Str(p.user), value.Str(p.group))
	}
	return c.ret.Ret()
}

// replaces reports whether the link would take the place of something else.
func (c *call) replaces(p linkPlan) bool {
	if to, err := c.Readlink(c.path()); err == nil {
		return (p.force || p.atomic) && filepath.Clean(to) != filepath.Clean(p.target)
	}
	return (p.force || p.atomic || p.backup != nil) && c.LExists(c.path())
}

// linkWay deals with what is in the way of a link and is none.
func (c *call) linkWay(p linkPlan) (ret fun.Ret, stop bool) {
	name := c.path()
	if p.backup == nil {
		if p.force || p.atomic {
			return fun.Ret{}, false
		}
		kind := "File system entry"
		if c.IsFile(name) {
			kind = "File"
		} else if c.IsDir(name) {
			kind = "Directory"
		}
		return c.fail("%s exists where the symlink %s should be", kind, name), true
	}
	backup := *p.backup
	if !filepath.IsAbs(backup) {
		if backup != filepath.Base(backup) {
			return c.fail("Backupname must be an absolute path or a file name: %s", backup), true
		}
		backup = filepath.Join(filepath.Dir(filepath.Clean(name)), backup)
	}
	if c.LExists(backup) {
		if !p.force {
			return c.fail("Symlink & backup dest exists and Force not set. %s -> %s - backup: %s", name, p.target, backup), true
		}
		if _, err := c.Remove(backup); err != nil {
			return c.fail("%s", err), true
		}
	}
	move := c.Move
	if p.oneFS {
		move = c.Rename
	}
	if err := move(name, backup); err != nil {
		return c.fail("Unable to rename %s to backup %s -> : %s", name, backup, host.OSError(err)), true
	}
	return fun.Ret{}, false
}

// ownsLink reports whether the link has the owner.
func (c *call) ownsLink(p linkPlan) bool {
	st, err := c.Stats(c.path(), false)
	return err == nil && owns(p.user, st.User, st.UID) && owns(p.group, st.Group, st.GID)
}

// giveLink sets the owner and reports whether it did.
func (c *call) giveLink(p linkPlan) bool {
	uid, _ := c.UserToUID(p.user)
	gid, _ := c.GroupToGID(p.group)
	_ = c.Lchown(c.path(), uid, gid)
	return c.ownsLink(p)
}

// linkOwner checks the owner of a link that leads where it should.
func (c *call) linkOwner(p linkPlan) fun.Ret {
	owner := value.Str(p.user) + ":" + value.Str(p.group)
	if c.ownsLink(p) {
		return c.done(fun.OK, fmt.Sprintf("Symlink %s is present and owned by %s", c.path(), owner))
	}
	if !c.giveLink(p) {
		return c.fail("Failed to set ownership of symlink %s to %s", c.path(), owner)
	}
	c.ret.Changes.Set("ownership", owner)
	return c.done(fun.OK, fmt.Sprintf("Set ownership of symlink %s to %s", c.path(), owner))
}

// wouldLink reports what a run would do. Salt: _symlink_check.
func (c *call) wouldLink(p linkPlan) fun.Ret {
	name := c.path()
	o, comment := fun.WouldChange, ""
	switch {
	case !c.LExists(name):
		c.ret.Changes.Set("new", name)
		comment = fmt.Sprintf("Symlink %s to %s is set for creation", name, p.target)
	case c.IsLink(name):
		to, err := c.Readlink(name)
		if err != nil {
			return fun.Raise(err)
		}
		if to != p.target {
			c.ret.Changes.Set("change", name)
			comment = fmt.Sprintf("Link %s target is set to be changed to %s", name, p.target)
			break
		}
		o, comment = fun.OK, fmt.Sprintf("The symlink %s is present", name)
		if !c.ownsLink(p) {
			st, err := c.Stats(name, false)
			if err != nil {
				return fun.Raise(err)
			}
			have := value.Str(st.User) + ":" + value.Str(st.Group)
			o = fun.WouldChange
			c.ret.Changes.Set("ownership", have)
			comment += fmt.Sprintf(", but the ownership of the symlink would be changed from %s to %s:%s", have, value.Str(p.user), value.Str(p.group))
		}
	case p.force:
		comment = fmt.Sprintf("The file or directory %s is set for removal to make way for a new symlink targeting %s", name, p.target)
	default:
		o = fun.Failed
		comment = fmt.Sprintf("File or directory exists where the symlink %s should be. Did you mean to use force?", name)
	}
	if dir := filepath.Dir(name); !c.IsDir(dir) {
		if p.makedirs {
			comment += fmt.Sprintf("\n%s will be created", dir)
		} else {
			comment += fmt.Sprintf("\nDirectory %s for symlink is not present", dir)
		}
	}
	return c.done(o, comment)
}

type hardlinkArgs struct {
	_        string      `arg:"name,required,path" doc:"absolute path of the link"`
	Target   string      `arg:"target,required,path" doc:"absolute path of the file"`
	Force    bool        `arg:"force" default:"False" doc:"replace another file that has this name"`
	Makedirs bool        `arg:"makedirs" default:"False" doc:"create missing parent directories"`
	User     value.Value `arg:"user,str|int" doc:"owner, by name or ID, of created parent directories"`
	Group    value.Value `arg:"group,str|int" doc:"group, by name or ID, of created parent directories"`
	DirMode  value.Value `arg:"dir_mode,mode" doc:"permissions of created parent directories"`
	_        fun.Kwargs
}

// hardlink makes a further name of a file. Salt: states/file.py hardlink.
func hardlink(ctx context.Context, fc *fun.Call, a *hardlinkArgs) fun.Ret {
	c := begin(fc)
	name, target := c.path(), a.Target
	if name == "" {
		return c.fail("Must provide name to file.hardlink")
	}
	user, group := c.owner(a.User, a.Group)
	user, group = c.defaultOwner(user, group)
	var also []string
	if !filepath.IsAbs(target) {
		also = append(also, fmt.Sprintf("Specified target %s is not an absolute path", target))
	}
	if s := c.preflight(user, group, also...); s != "" {
		return c.fail("%s", s)
	}
	if c.Test {
		return c.wouldHardlink(target, a.Force)
	}
	for _, d := range []struct{ word, path string }{{"to", name}, {"from", target}} {
		if c.IsDir(d.path) {
			return c.fail("Unable to hard link %s directory %s", d.word, d.path)
		}
	}
	if !c.Exists(target) {
		return c.fail("Target %s for hard link does not exist", target)
	}
	if dir := filepath.Dir(name); !c.IsDir(dir) {
		if !a.Makedirs {
			return c.fail("Directory %s for hard link is not present", dir)
		}
		if err := c.MakeDirs(ctx, name, c.perms(user, group, a.DirMode)); err != nil {
			return c.fail("%s", host.OSError(err))
		}
	}
	verb, done := "create new", "Created new"
	if c.IsFile(name) {
		linked := c.hardlinked(name)
		switch {
		case linked && c.sameFile(name, target):
			return c.done(fun.OK, fmt.Sprintf("Target of hard link %s is already pointing to %s", name, target))
		case linked:
			verb, done = "set target of", "Set target of"
		case !a.Force:
			return c.fail("File exists where the hard link %s should be", name)
		}
		if err := c.HardLink(target, name); err != nil {
			return c.fail("Unable to %s hard link %s -> %s: %s", verb, name, target, host.OSError(err))
		}
		if !linked {
			c.ret.Changes.Set("forced", "File for hard link was forcibly replaced")
		}
	} else if err := c.Link(target, name); err != nil {
		return c.fail("Unable to create new hard link %s -> %s: %s", name, target, host.OSError(err))
	}
	c.ret.Changes.Set("new", name)
	return c.done(fun.OK, fmt.Sprintf("%s hard link %s -> %s", done, name, target))
}

// hardlinked reports whether a file has further names.
func (c *call) hardlinked(path string) bool {
	st, err := c.Lstat(path)
	return err == nil && st.Nlink > 1
}

// sameFile reports whether two names are of one file.
func (c *call) sameFile(a, b string) bool {
	x, err := c.Lstat(a)
	if err != nil {
		return false
	}
	y, err := c.Lstat(b)
	return err == nil && x.Inode == y.Inode && x.Dev == y.Dev
}

// wouldHardlink reports what a run would do. Salt: _hardlink_check.
func (c *call) wouldHardlink(target string, force bool) fun.Ret {
	name := c.path()
	switch {
	case !c.Exists(target):
		return c.fail("Target %s for hard link does not exist", target)
	case c.IsDir(target):
		return c.fail("Unable to hard link from directory %s", target)
	case c.IsDir(name):
		return c.fail("Unable to hard link to directory %s", name)
	case !c.Exists(name):
		c.ret.Changes.Set("new", name)
		return c.done(fun.WouldChange, fmt.Sprintf("Hard link %s to %s is set for creation", name, target))
	case c.hardlinked(name) && c.sameFile(name, target):
		return c.done(fun.OK, fmt.Sprintf("The hard link %s is presently targetting %s", name, target))
	case c.hardlinked(name):
		c.ret.Changes.Set("change", name)
		return c.done(fun.WouldChange, fmt.Sprintf("Link %s target is set to be changed to %s", name, target))
	case force:
		return c.done(fun.WouldChange, fmt.Sprintf("The file or directory %s is set for removal to make way for a new hard link targeting %s", name, target))
	}
	return c.fail("File or directory exists where the hard link %s should be. Did you mean to use force?", name)
}
