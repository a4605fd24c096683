package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	files "brine/modules/file"
)

// recurseTypes are what recurse may list.
const recurseTypes = `"user", "group", "mode", "ignore_files", "ignore_dirs", "silent"`

// A recursion is what recurse says.
type recursion struct {
	user, group, mode, ignoreFiles, ignoreDirs, silent bool
}

// parseRecurse reads recurse; fault is Salt's text for a wrong one.
func parseRecurse(v value.Value) (r recursion, any bool, fault string) {
	if !value.Truth(v) {
		return r, false, ""
	}
	l, ok := v.(*value.List)
	if !ok {
		return r, false, `"recurse" must be formed as a list of strings`
	}
	for _, x := range l.Items {
		switch x {
		case "user":
			r.user = true
		case "group":
			r.group = true
		case "mode":
			r.mode = true
		case "ignore_files":
			r.ignoreFiles = true
		case "ignore_dirs":
			r.ignoreDirs = true
		case "silent":
			r.silent = true
		default:
			return r, false, "Types for \"recurse\" limited to " + recurseTypes + "."
		}
	}
	if r.ignoreFiles && r.ignoreDirs {
		return r, false, `Must not specify "recurse" options "ignore_files" and "ignore_dirs" at the same time.`
	}
	return r, true, ""
}

// A dirPlan is the arguments of directory, which recurse sets for each.
type dirPlan struct {
	user, group        value.Value
	dirMode, fileMode  string
	recurse            value.Value
	maxDepth           int // -1 means no limit
	makedirs, clean    bool
	require, exclude   value.Value
	follow, force      bool
	backup             *string
	allowLink, onlySub bool
}

type directoryArgs struct {
	_              string         `arg:"name,required,path" doc:"absolute path of the directory"`
	User           value.Value    `arg:"user,str|int" doc:"owner, by name or ID"`
	Group          value.Value    `arg:"group,str|int" doc:"group, by name or ID"`
	Recurse        value.Value    `arg:"recurse" doc:"what to manage recursively: a list of user, group, mode, ignore_files or ignore_dirs, silent"`
	MaxDepth       fun.Opt[int64] `arg:"max_depth" doc:"levels that recurse descends; not together with clean"`
	DirMode        value.Value    `arg:"dir_mode,mode" doc:"permissions, such as '0644'"`
	Mode           value.Value    `arg:"mode,mode" doc:"same as dir_mode"`
	FileMode       value.Value    `arg:"file_mode,mode" doc:"permissions of the files in it; default: dir_mode"`
	Makedirs       bool           `arg:"makedirs" default:"False" doc:"create missing parent directories"`
	Clean          bool           `arg:"clean" default:"False" doc:"remove files that belong to no file state that this one requires"`
	Require        value.Value    `arg:"require,list" doc:"requisites; clean keeps their files"`
	ExcludePat     value.Value    `arg:"exclude_pat,str|list[str]" doc:"globs, or regular expressions after E@, of files that clean keeps"`
	FollowSymlinks bool           `arg:"follow_symlinks" default:"False" doc:"manage the targets of symbolic links"`
	Force          bool           `arg:"force" default:"False" doc:"replace a file that has this name"`
	Backupname     value.Value    `arg:"backupname,path" doc:"rename a file that has this name to backupname"`
	AllowSymlink   bool           `arg:"allow_symlink" default:"True" doc:"accept a symbolic link to a directory"`
	ChildrenOnly   bool           `arg:"children_only" default:"False" doc:"manage the contents but not the directory itself"`
	windowsArgs
	windowsResetArgs
	fun.SystemPath
	_ fun.Kwargs
}

// directory manages a directory.
//
// It fails where something else is in the way and force is not set, where the
// directory above is missing and makedirs is not set, or where user or group
// are not known. Salt: states/file.py directory. Difference: none known.
func directory(ctx context.Context, fc *fun.Call, a *directoryArgs) fun.Ret {
	c := begin(fc)
	if c.path() == "" {
		return c.fail("Must provide name to file.directory")
	}
	user, group := c.owner(a.User, a.Group)
	dirMode := a.DirMode
	if !value.Truth(dirMode) {
		dirMode = a.Mode
	}
	fileMode := a.FileMode
	if !value.Truth(fileMode) {
		fileMode = dirMode
	}
	p := dirPlan{
		user: user, group: group, dirMode: files.NormMode(dirMode), fileMode: files.NormMode(fileMode),
		recurse: a.Recurse, maxDepth: -1, makedirs: a.Makedirs, clean: a.Clean,
		require: a.Require, exclude: a.ExcludePat, follow: a.FollowSymlinks,
		force: a.Force, backup: textOf(a.Backupname), allowLink: a.AllowSymlink, onlySub: a.ChildrenOnly,
	}
	if a.MaxDepth.Given {
		p.maxDepth = int(a.MaxDepth.V)
	}
	return c.directory(ctx, p)
}

func (c *call) directory(ctx context.Context, p dirPlan) fun.Ret {
	name := c.path()
	if name != "/" && strings.HasSuffix(name, "/") {
		name = name[:len(name)-1]
	}
	if p.maxDepth >= 0 && p.clean {
		return c.fail("Cannot specify both max_depth and clean")
	}
	if s := c.unknownOwner(p.user, p.group); s != "" {
		return c.fail("%s", s)
	}
	if !filepath.IsAbs(name) {
		return c.fail("Specified file %s is not an absolute path", name)
	}
	if value.Truth(p.recurse) || p.clean {
		if err := c.CheckSystem(name, true); err != nil {
			return c.fail("%s", err)
		}
	}
	if stop := c.clearWay(name, p); stop {
		return c.ret.Ret()
	}
	outcome, comment, changes := c.checkDirectory(ctx, name, p)
	c.ret.Changes.Update(changes)
	if c.Test || c.ret.Changes.Len() == 0 {
		return c.done(outcome, comment)
	}
	if !c.IsDir(name) {
		return c.makeDirectory(ctx, name, p)
	}
	return c.updateDirectory(ctx, name, p)
}

// clearWay removes or renames what is in the way of a directory; stop says that
// the return is complete.
func (c *call) clearWay(name string, p dirPlan) (stop bool) {
	isFile, isLink := c.IsFile(name), c.IsLink(name)
	if !isFile && (!isLink || p.allowLink && !p.force) {
		return false
	}
	if p.backup != nil {
		backup := *p.backup
		if c.LExists(backup) {
			if !p.force {
				c.ret.Fail("File exists where the backup target %s should go", backup)
				return true
			}
			if err := c.CheckSystem(backup, false); err != nil {
				c.ret.Fail("%s", err)
				return true
			}
			if !c.Test {
				if _, err := c.Remove(backup); err != nil {
					c.ret.Fail("%s", err)
					return true
				}
			}
		}
		if c.Test { // Salt renames the file even so
			c.ret.Changes.Set(name, value.MapOf("directory", "new"))
			c.done(fun.WouldChange, fmt.Sprintf("The following files will be changed:\n%s: directory - new\n", name))
			return true
		}
		if err := c.Rename(name, backup); err != nil {
			c.ret.Fail("%s", host.OSError(err))
			return true
		}
		return false
	}
	if !p.force {
		what := "file"
		if !isFile {
			what = "symlink"
		}
		c.ret.Fail("Specified location %s exists and is a %s", name, what)
		return true
	}
	what := "File"
	if !isFile {
		what = "Symlink"
	}
	if c.Test {
		c.ret.Changes.Set("forced", what+" would be forcibly replaced")
		return false
	}
	if err := c.Host.Remove(name); err != nil {
		c.ret.Fail("%s", host.OSError(err))
		return true
	}
	c.ret.Changes.Set("forced", what+" was forcibly replaced")
	return false
}

// checkDirectory returns what is to be changed of a directory.
// Salt: _check_directory.
func (c *call) checkDirectory(ctx context.Context, name string, p dirPlan) (fun.Outcome, string, *value.Map) {
	changes := value.NewMap(1)
	rec, recurses, fault := parseRecurse(p.recurse)
	if fault != "" {
		return fun.Failed, fault, changes
	}
	user, group, dirMode, fileMode := p.user, p.group, p.dirMode, p.fileMode
	if recurses {
		if !rec.user {
			user = nil
		}
		if !rec.group {
			group = nil
		}
		if !rec.mode {
			dirMode, fileMode = "", ""
		}
		c.noteBelow(changes, name, p, rec, files.Perms{User: user, Group: group}, dirMode, fileMode)
	}
	if !p.onlySub {
		c.noteMeta(changes, name, user, group, dirMode, p.follow)
	}
	if p.clean {
		c.noteClean(ctx, changes, name, p)
	}
	if !c.IsDir(name) {
		changes.Set(name, value.MapOf("directory", "new"))
	}
	if changes.Len() == 0 {
		return fun.OK, fmt.Sprintf("The directory %s is in the correct state", name), changes
	}
	var b strings.Builder
	b.WriteString("The following files will be changed:\n")
	for path, ch := range changes.All() {
		for k, v := range ch.(*value.Map).All() {
			fmt.Fprintf(&b, "%s: %s - %s\n", path, k, value.Str(v))
		}
	}
	return fun.WouldChange, b.String(), changes
}

// noteBelow notes what is to change in what a directory holds.
func (c *call) noteBelow(changes *value.Map, name string, p dirPlan, rec recursion, owner files.Perms, dirMode, fileMode string) {
	_ = c.walkDepth(name, p.maxDepth, func(dir string, dirs, names []string) error {
		if !rec.ignoreFiles {
			for _, n := range names {
				c.noteMeta(changes, filepath.Join(dir, n), owner.User, owner.Group, fileMode, p.follow)
			}
		}
		if !rec.ignoreDirs {
			for _, n := range dirs {
				c.noteMeta(changes, filepath.Join(dir, n), owner.User, owner.Group, dirMode, p.follow)
			}
		}
		return nil
	})
}

// noteClean notes what clean would remove.
func (c *call) noteClean(ctx context.Context, changes *value.Map, name string, p dirPlan) {
	// As in Salt, a directory above a file that is kept counts as one to be
	// removed, though it stays.
	keep := c.keepFiles(ctx, name, p.require)
	_ = c.Walk(name, false, func(dir string, dirs, names []string) error {
		for _, n := range append(append([]string(nil), names...), dirs...) {
			full := filepath.Join(dir, n)
			if !keep[full] && c.included(relative(name, full), nil, p.exclude) {
				changes.Set(full, value.MapOf("removed", "Removed due to clean"))
			}
		}
		return nil
	})
}

// walkDepth walks down. Directories deeper than depth, where it is not -1, are not
// visited; files are, at any depth, as in Salt, whose walk goes on into them.
//
// Salt: _depth_limited_walk.
func (c *call) walkDepth(name string, depth int, visit func(dir string, dirs, names []string) error) error {
	top := strings.Count(strings.TrimRight(name, "/"), "/")
	return c.Walk(name, false, func(dir string, dirs, names []string) error {
		if depth >= 0 && strings.Count(strings.TrimRight(dir, "/"), "/")-top >= depth {
			dirs = nil
		}
		return visit(dir, dirs, names)
	})
}

// noteMeta notes how owner and mode of a file differ from what is wanted.
// Salt: _check_dir_meta.
func (c *call) noteMeta(changes *value.Map, path string, user, group value.Value, mode string, follow bool) {
	st, err := c.Stats(path, follow)
	if err != nil {
		changes.Set(path, value.MapOf("directory", "new"))
		return
	}
	ch := value.NewMap(1)
	if user != nil && !owns(user, st.User, st.UID) {
		ch.Set("user", user)
	}
	if group != nil && !owns(group, st.Group, st.GID) {
		ch.Set("group", group)
	}
	if mode != "" && mode != st.Mode && (follow || st.Type != "link") {
		ch.Set("mode", mode)
	}
	if ch.Len() > 0 {
		changes.Set(path, ch)
	}
}

// owns reports whether want names the owner of this name and number.
func owns(want, name value.Value, id int) bool {
	if n, ok := value.AsInt(want); ok {
		return int(n) == id
	}
	return value.Str(want) == value.Str(name)
}

// makeDirectory makes the directory.
func (c *call) makeDirectory(ctx context.Context, name string, p dirPlan) fun.Ret {
	perms := files.Perms{User: p.user, Group: p.group, Mode: p.dirMode}
	if !c.IsDir(filepath.Dir(name)) && !p.makedirs {
		return c.fail("No directory to create %s in", name)
	}
	err := c.Mkdir(ctx, name, perms)
	if _, made := errors.AsType[*files.PermsError](err); made && c.IsDir(name) {
		c.ret.Changes.Set(name, value.MapOf("directory", "new"))
		return c.fail("%s", err)
	}
	if err != nil {
		return c.fail("Failed to create directory %s: %s", name, host.OSError(err))
	}
	c.ret.Changes.Set(name, value.MapOf("directory", "new"))
	return c.ret.Ret()
}

// updateDirectory sets owner and mode of a directory that exists and of what
// is in it, and cleans it.
func (c *call) updateDirectory(ctx context.Context, name string, p dirPlan) fun.Ret {
	if !p.onlySub {
		if _, err := c.CheckPerms(ctx, name, c.ret, files.Perms{User: p.user, Group: p.group, Mode: p.dirMode, Follow: p.follow}); err != nil {
			return fun.Raise(err)
		}
	}
	var errs []string
	rec, recurses, fault := parseRecurse(p.recurse)
	if fault != "" {
		c.ret.Fail("%s", fault)
	}
	if recurses {
		errs = c.updateBelow(ctx, name, p, rec)
	}
	if p.clean {
		removed, err := c.cleanDir(ctx, name, c.keepFiles(ctx, name, p.require), p.exclude)
		if len(removed) > 0 {
			c.ret.Changes.Set("removed", value.Strings(removed...))
			c.ret.Comment = fmt.Sprintf("Files cleaned from directory %s", name)
		}
		if err != nil {
			errs = append(errs, host.OSError(err))
		}
	}
	if c.ret.Comment == "" {
		if p.onlySub {
			c.ret.Comment = fmt.Sprintf("Directory %s/* updated", name)
		} else if c.ret.Changes.Len() > 0 {
			c.ret.Comment = fmt.Sprintf("Directory %s updated", name)
		}
	}
	if len(errs) > 0 {
		c.ret.Result = fun.Failed
		c.ret.Comment += "\n\nThe following errors were encountered:\n"
		for _, e := range errs {
			c.ret.Comment += "\n- " + e
		}
	}
	return c.ret.Ret()
}

// beneath returns the files for work on all that a directory holds, through
// links only where follow is set.
func (c *call) beneath(dir string, follow bool) (on *files.FS, done func(), err error) {
	if follow {
		return c.FS, func() {}, nil
	}
	below, err := c.Below(dir)
	if err != nil {
		return nil, nil, err
	}
	return &below.FS, below.Done, nil
}

// updateBelow sets owner and mode of what is in a directory.
func (c *call) updateBelow(ctx context.Context, name string, p dirPlan, rec recursion) (errs []string) {
	user, group, dirMode, fileMode := p.user, p.group, p.dirMode, p.fileMode
	switch {
	case !rec.user:
		user = nil
	case !value.Truth(user):
		if _, ok := value.AsInt(user); !ok {
			c.ret.Fail("user not specified, but configured as a target for recursive ownership management")
		}
	default:
		if _, ok := c.UserToUID(user); !ok {
			c.ret.Fail("Failed to enforce ownership for user %s (user does not exist)", value.Str(user))
		}
	}
	switch {
	case !rec.group:
		group = nil
	case !value.Truth(group):
		if _, ok := value.AsInt(group); !ok {
			c.ret.Fail("group not specified, but configured as a target for recursive ownership management")
		}
	default:
		if _, ok := c.GroupToGID(group); !ok {
			c.ret.Fail("Failed to enforce group ownership for group %s", value.Str(group))
		}
	}
	if !rec.mode {
		dirMode, fileMode = "", ""
	}
	if rec.silent {
		c.ret.Changes = value.MapOf("recursion", "Changes silenced")
	}
	on, done, err := c.beneath(name, p.follow)
	if err != nil {
		return []string{host.OSError(err)}
	}
	defer done()
	check := func(path, mode string) {
		_, err := on.CheckPerms(ctx, path, c.ret, files.Perms{User: user, Group: group, Mode: mode, Follow: p.follow})
		if err != nil && !errors.Is(err, files.ErrNotFound) { // it was removed meanwhile
			errs = append(errs, err.Error())
		}
	}
	err = c.walkDepth(name, p.maxDepth, func(dir string, dirs, names []string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !rec.ignoreFiles {
			for _, n := range names {
				check(filepath.Join(dir, n), fileMode)
			}
		}
		if !rec.ignoreDirs {
			for _, n := range dirs {
				check(filepath.Join(dir, n), dirMode)
			}
		}
		return nil
	})
	if err != nil {
		errs = append(errs, err.Error())
	}
	return errs
}
