package file

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
	files "brine/modules/file"
)

type copyFileArgs struct {
	_        string      `arg:"name,required,path" doc:"absolute path of the copy"`
	Source   string      `arg:"source,required,path" doc:"file or directory to copy"`
	Force    bool        `arg:"force" default:"False" doc:"replace an existing target"`
	Makedirs bool        `arg:"makedirs" default:"False" doc:"create missing parent directories"`
	Preserve bool        `arg:"preserve" default:"False" doc:"keep owner and mode"`
	User     value.Value `arg:"user,str|int" doc:"owner, by name or ID; default: the user that brine runs as"`
	Group    value.Value `arg:"group,str|int" doc:"group, by name or ID; default: the primary group of user"`
	Mode     value.Value `arg:"mode,mode" doc:"permissions, such as '0644'; default: those of the source"`
	DirMode  value.Value `arg:"dir_mode,mode" doc:"permissions of created parent directories"`
	Subdir   bool        `arg:"subdir" default:"False" doc:"copy into an existing target directory"`
	fun.SystemPath
	_ fun.Kwargs
}

// copyFile copies a file or directory of this machine.
// Salt: states/file.py copy_.
func copyFile(ctx context.Context, fc *fun.Call, a *copyFileArgs) fun.Ret {
	c := begin(fc)
	name, source := c.path(), c.Expand(a.Source)
	switch {
	case name == "":
		return c.fail("Must provide name to file.copy")
	case !filepath.IsAbs(name):
		return c.fail("Specified file %s is not an absolute path", name)
	case !c.Exists(source):
		return c.fail(`Source file "%s" is not present`, source)
	}
	st, err := c.Stats(source, true)
	if err != nil {
		return fun.Raise(err)
	}
	perms, fault := c.copyPerms(a, st)
	if fault != "" {
		return c.fail("%s", fault)
	}
	say := fmt.Sprintf(`Copied "%s" to "%s"`, source, name)
	if c.IsDir(name) && a.Subdir {
		name = filepath.Join(name, filepath.Base(source))
	}
	there, force := c.LExists(name), a.Force
	if there && !force {
		return c.done(fun.OK, fmt.Sprintf(`The target file "%s" exists and will not be overwritten`, name))
	}
	if err := c.CheckSystem(name, false); err != nil && there {
		return c.fail("%s", err)
	}
	if c.Test {
		return c.done(fun.WouldChange, fmt.Sprintf(`File "%s" is set to be copied to "%s"`, source, name))
	}
	if there && c.IsFile(name) {
		if diff, err := files.Diff(c.FileAt(name), c.FileAt(source)); err == nil && diff == "" {
			say += " - files are identical but force flag is set"
		}
	}
	if dir := filepath.Dir(name); !c.IsDir(dir) {
		if !a.Makedirs {
			return c.fail("The target directory %s is not present", dir)
		}
		dirMode := cmp.Or(files.NormMode(a.DirMode), files.DirMode(perms.Mode))
		if err := c.MakeDirs(ctx, name, files.Perms{User: perms.User, Group: perms.Group, Mode: dirMode}); err != nil {
			return c.fail("%s", host.OSError(err))
		}
	}
	if there && (st.Type == "dir" || c.IsDir(name)) {
		if _, err := c.Remove(name); err != nil {
			return c.fail(`Failed to delete "%s" in preparation for forced move`, name)
		}
	}
	if err := c.Copy(source, name, perms); err != nil {
		c.warn(err)
		return c.fail(`Failed to copy "%s" to "%s"`, source, name)
	}
	c.ret.Changes.Set(name, source)
	c.ret.Comment = say
	if !a.Preserve {
		if err := c.checkCopy(ctx, a, name, perms, st.Mode); err != nil {
			return fun.Raise(err)
		}
	}
	return c.ret.Ret()
}

// copyPerms returns the owner and mode that a copy gets; fault says why that is
// not possible.
func (c *call) copyPerms(a *copyFileArgs, source files.Stats) (perms files.Perms, fault string) {
	if a.Preserve {
		return files.Perms{User: source.User, Group: source.Group, Mode: source.Mode}, ""
	}
	perms = c.perms(nil, nil, a.Mode)
	user, group := c.owner(a.User, a.Group)
	perms.User, perms.Group = c.defaultOwner(user, group)
	perms.Mode = cmp.Or(perms.Mode, source.Mode)
	return perms, c.unknownOwner(perms.User, perms.Group)
}

// checkCopy notes owner and mode of a copy, whose source has mode. The copy has
// them from the start; what differs from a plain copy counts as changed, and
// what could not be set is said.
func (c *call) checkCopy(ctx context.Context, a *copyFileArgs, name string, perms files.Perms, mode string) error {
	made := value.NewMap(1)
	if _, valid := files.ParseMode(perms.Mode); a.Mode != nil && valid && perms.Mode != mode {
		made.Set("mode", perms.Mode)
	}
	if !c.isSelf(perms) {
		if perms.User != nil && !value.Equal(perms.User, c.UIDToUser(c.Geteuid())) {
			made.Set("user", perms.User)
		}
		if perms.Group != nil && !value.Equal(perms.Group, c.GIDToGroup(c.Getegid())) {
			made.Set("group", perms.Group)
		}
	}
	check := files.NewReturn(name)
	if _, err := c.CheckPerms(ctx, name, check, perms); err != nil {
		return err
	}
	c.ret.Changes.Update(made)
	c.ret.Changes.Update(check.Changes)
	if check.Result == fun.Failed {
		c.ret.Result, c.ret.Comment = fun.Failed, value.Str(c.ret.Comment)+"; "+check.Comment
	}
	return nil
}

// isSelf reports whether an owner is the one that brine runs as.
func (c *call) isSelf(p files.Perms) bool {
	uid, ok := c.UserToUID(p.User)
	gid, ok2 := c.GroupToGID(p.Group)
	return ok && ok2 && uid == c.Geteuid() && gid == c.Getegid()
}

type renameArgs struct {
	_        string `arg:"name,required,path" doc:"absolute path of the target"`
	Source   string `arg:"source,required,path" doc:"file or directory to move"`
	Force    bool   `arg:"force" default:"False" doc:"replace an existing target"`
	Makedirs bool   `arg:"makedirs" default:"False" doc:"create missing parent directories"`
	fun.SystemPath
	_ fun.Kwargs
}

// rename moves a file or directory of this machine.
// Salt: states/file.py rename.
func rename(ctx context.Context, fc *fun.Call, a *renameArgs) fun.Ret {
	c := begin(fc)
	name, source := c.expandVars(c.path()), c.expandVars(c.Expand(a.Source))
	c.ret.Name = name
	switch {
	case name == "":
		return c.fail("Must provide name to file.rename")
	case !filepath.IsAbs(name):
		return c.fail("Specified file %s is not an absolute path", name)
	case !c.LExists(source):
		return c.done(fun.OK, fmt.Sprintf(`Source file "%s" has already been moved out of place`, source))
	}
	there := c.LExists(name)
	if there && !a.Force {
		return c.done(fun.OK, fmt.Sprintf(`The target file "%s" exists and will not be overwritten`, name))
	}
	if err := cmp.Or(c.CheckSystem(source, false), c.CheckSystem(name, false)); err != nil {
		return c.fail("%s", err)
	}
	if c.Test {
		return c.done(fun.WouldChange, fmt.Sprintf(`File "%s" is set to be moved to "%s"`, source, name))
	}
	if dir := filepath.Dir(name); !c.IsDir(dir) {
		if !a.Makedirs {
			return c.fail("The target directory %s is not present", dir)
		}
		if err := c.MakeDirs(ctx, name, files.Perms{}); err != nil {
			return c.fail("%s", host.OSError(err))
		}
	}
	if there && (c.IsDir(name) || c.IsDir(source)) {
		if _, err := c.Remove(name); err != nil {
			return c.fail(`Failed to delete "%s" in preparation for forced move`, name)
		}
	}
	if err := c.Move(source, name); err != nil {
		c.warn(err)
		return c.fail(`Failed to move "%s" to "%s"`, source, name)
	}
	c.ret.Changes = value.MapOf(name, source)
	return c.done(fun.OK, fmt.Sprintf(`Moved "%s" to "%s"`, source, name))
}

// expandVars replaces $NAME and ${NAME} by variables of the environment; those
// that are not set stay, as in Python's os.path.expandvars.
func (c *call) expandVars(p string) string {
	if !strings.Contains(p, "$") {
		return p
	}
	env := map[string]string{}
	for _, kv := range c.Environ() {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	re, err := pyre.Compile(`\$(?:(\w+)|\{([^}]*)\})`, pyre.ASCII)
	if err != nil {
		return p
	}
	out, _, err := re.SubFunc(func(m *pyre.Match) string {
		name, ok := m.Group(1)
		if !ok {
			name, _ = m.Group(2)
		}
		if v, ok := env[name]; ok {
			return v
		}
		all, _ := m.Group(0)
		return all
	}, p, 0)
	if err != nil {
		return p
	}
	return out
}

// A tidy is which files tidied removes.
type tidy struct {
	age, size           int64
	op, only, by        string
	rmdirs, rmlinks     bool
	full                bool
	matches, exclusions []*pyre.Regexp
}

type tidiedArgs struct {
	_                      string            `arg:"name,required,path" doc:"absolute path of the directory"`
	Age                    int64             `arg:"age" default:"0" unit:"days" doc:"remove files that are at least this old"`
	Matches                fun.Opt[[]string] `arg:"matches" doc:"regular expressions of the names to remove; default: all"`
	Rmdirs                 bool              `arg:"rmdirs" default:"False" doc:"remove directories too"`
	Size                   int64             `arg:"size,size" default:"0" unit:"bytes" doc:"remove files of at least this size, such as 10M"`
	Exclude                []string          `arg:"exclude" doc:"regular expressions of the names to keep"`
	FullPathMatch          bool              `arg:"full_path_match" default:"False" doc:"match whole paths instead of names"`
	Followlinks            bool              `arg:"followlinks" default:"False" doc:"descend into targets of symbolic links"`
	TimeComparison         string            `arg:"time_comparison" default:"atime" doc:"time that is the age: atime, mtime or ctime"`
	AgeSizeLogicalOperator string            `arg:"age_size_logical_operator" default:"OR" doc:"AND requires age and size, OR one of them"`
	AgeSizeOnly            string            `arg:"age_size_only" doc:"age or size: compare only that"`
	Rmlinks                bool              `arg:"rmlinks" default:"True" doc:"remove symbolic links too"`
	fun.SystemPath
	_ fun.Kwargs
}

// tidied removes files that are old, large or match.
// Salt: states/file.py tidied.
func tidied(ctx context.Context, fc *fun.Call, a *tidiedArgs) fun.Ret {
	c := begin(fc)
	name := c.path()
	if !filepath.IsAbs(name) {
		return c.fail("Specified file %s is not an absolute path", name)
	}
	if !c.IsDir(name) {
		return c.fail("%s does not exist or is not a directory.", name)
	}
	if err := c.CheckSystem(name, true); err != nil {
		return c.fail("%s", err)
	}
	t, err := tidyArgs(a)
	if err != nil {
		return fun.Raise(err)
	}
	var due []string
	err = c.Walk(name, a.Followlinks, func(dir string, dirs, names []string) error {
		var here []string
		for _, n := range append(append([]string(nil), names...), dirs...) {
			p := filepath.Join(dir, n)
			ok, err := t.due(c, p, n)
			if err != nil {
				return err
			}
			if ok {
				here = append(here, p)
			}
		}
		due = append(here, due...) // what is deeper goes first
		return ctx.Err()
	})
	if err != nil {
		return fun.Raise(err)
	}
	if len(due) == 0 {
		return c.done(fun.OK, fmt.Sprintf("Nothing to remove from directory %s", name))
	}
	if c.Test {
		c.ret.Changes.Set("removed", value.Strings(due...))
		return c.done(fun.WouldChange, name+" is set for tidy")
	}
	removed := &value.List{}
	c.ret.Changes.Set("removed", removed)
	on, done, err := c.beneath(name, a.Followlinks)
	if err != nil {
		return c.fail("%s", host.OSError(err))
	}
	defer done()
	for _, p := range due {
		if _, err := on.Remove(p); err != nil {
			return c.fail("%s", err)
		}
		removed.Append(p)
	}
	return c.done(fun.OK, fmt.Sprintf("Removed %d files or directories from directory %s", len(due), name))
}

func tidyArgs(a *tidiedArgs) (*tidy, error) {
	t := &tidy{
		op: strings.ToUpper(a.AgeSizeLogicalOperator), only: strings.ToLower(a.AgeSizeOnly),
		by: strings.ToLower(a.TimeComparison), rmdirs: a.Rmdirs, rmlinks: a.Rmlinks, full: a.FullPathMatch,
	}
	t.age, t.size = a.Age, a.Size
	patterns := []string{".*"}
	if a.Matches.Given {
		patterns = a.Matches.V
	}
	var err error
	if t.matches, err = compileAll(patterns); err != nil {
		return nil, err
	}
	t.exclusions, err = compileAll(a.Exclude)
	return t, err
}

func compileAll(patterns []string) ([]*pyre.Regexp, error) {
	var res []*pyre.Regexp
	for _, p := range patterns {
		re, err := pyre.Compile(p, 0)
		if err != nil {
			return nil, err
		}
		res = append(res, re)
	}
	return res, nil
}

// due reports whether a file is to go.
func (t *tidy) due(c *call, path, name string) (bool, error) {
	link := c.IsLink(path)
	if link && !t.rmlinks {
		return false, nil
	}
	st, err := c.Lstat(path)
	if err != nil {
		return false, nil // it is gone, or not ours to see
	}
	size := int64(0)
	switch {
	case st.Mode.IsDir():
		if !t.rmdirs {
			return false, nil
		}
	case !link:
		size = st.Size
	}
	at := st.Atime
	switch t.by {
	case "mtime":
		at = st.Mtime
	case "ctime":
		at = st.Ctime
	}
	old, large := daysBetween(at, c.Now()) >= t.age, size >= t.size
	ok := old || large
	switch {
	case t.only == "age":
		ok = old
	case t.only == "size":
		ok = large
	case t.op == "AND":
		ok = old && large
	}
	if !ok {
		return false, nil
	}
	if t.full {
		name = path
	}
	if any, err := matchAny(t.matches, name); !any || err != nil {
		return false, err
	}
	excluded, err := matchAny(t.exclusions, name)
	return !excluded, err
}

func matchAny(res []*pyre.Regexp, s string) (bool, error) {
	for _, re := range res {
		if m, err := re.Match(s); m != nil || err != nil {
			return m != nil, err
		}
	}
	return false, nil
}

// daysBetween counts the midnights between two times.
func daysBetween(a, b time.Time) int64 {
	day := func(t time.Time) time.Time {
		y, m, d := t.Local().Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	n := int64(day(b).Sub(day(a)).Hours() / 24)
	return max(n, -n)
}
