package file

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cp"
	files "brine/modules/file"
)

type absentArgs struct {
	_ string `arg:"name,required,path" doc:"absolute path to remove"`
	fun.SystemPath
	_ fun.Kwargs
}

// absent removes a path.
//
// Salt: states/file.py absent. Difference: other kinds than files, links and
// directories (sockets, devices) are removed too.
func absent(ctx context.Context, fc *fun.Call, _ *absentArgs) fun.Ret {
	c := begin(fc)
	name := c.path()
	switch {
	case name == "":
		return c.fail("Must provide name to file.absent")
	case !filepath.IsAbs(name):
		return c.fail("Specified file %s is not an absolute path", name)
	case filepath.Clean(name) == "/":
		return c.fail(`Refusing to make "/" absent`)
	}
	if err := c.CheckSystem(name, false); err != nil {
		return c.fail("%s", err)
	}
	st, err := c.Lstat(name)
	if err != nil {
		return c.done(fun.OK, fmt.Sprintf("File %s is not present", name))
	}
	kind, lower := "File", "file"
	if st.Mode.IsDir() {
		kind, lower = "Directory", "directory"
	}
	if c.Test {
		c.ret.Changes.Set("removed", name)
		return c.done(fun.WouldChange, fmt.Sprintf("%s %s is set for removal", kind, name))
	}
	if _, err := c.Remove(name); err != nil {
		return c.fail("%s", err)
	}
	c.ret.Changes.Set("removed", name)
	return c.done(fun.OK, fmt.Sprintf("Removed %s %s", lower, name))
}

// existsArgs are the arguments of exists and missing.
type existsArgs struct {
	_ string `arg:"name,required,path" doc:"path to check"`
	_ fun.Kwargs
}

// exists checks that a path is there. Salt: states/file.py exists.
func exists(ctx context.Context, fc *fun.Call, _ *existsArgs) fun.Ret {
	c := begin(fc)
	switch name := c.path(); {
	case name == "":
		return c.fail("Must provide name to file.exists")
	case !c.Exists(name):
		return c.fail("Specified path %s does not exist", name)
	default:
		return c.done(fun.OK, fmt.Sprintf("Path %s exists", name))
	}
}

// missing checks that a path is not there. Salt: states/file.py missing.
func missing(ctx context.Context, fc *fun.Call, _ *existsArgs) fun.Ret {
	c := begin(fc)
	switch name := c.path(); {
	case name == "":
		return c.fail("Must provide name to file.missing")
	case c.Exists(name):
		return c.fail("Specified path %s exists", name)
	default:
		return c.done(fun.OK, fmt.Sprintf("Path %s is missing", name))
	}
}

type touchArgs struct {
	_        fun.Arguments
	_        string      `arg:"name,required,path" doc:"absolute path of the file"`
	Atime    value.Value `arg:"atime,int|float" unit:"s" doc:"access time, in seconds since 1970; default: now"`
	Mtime    value.Value `arg:"mtime,int|float" unit:"s" doc:"modification time, in seconds since 1970; default: now"`
	Makedirs bool        `arg:"makedirs" default:"False" doc:"create missing parent directories"`
}

// touch makes an empty file or sets the times of one that exists. It acts on
// every run. Salt: states/file.py touch.
func touch(ctx context.Context, fc *fun.Call, a *touchArgs) fun.Ret {
	c := begin(fc)
	return c.touch(ctx, a.Atime, a.Mtime, a.Makedirs)
}

func (c *call) touch(ctx context.Context, atime, mtime value.Value, makedirs bool) fun.Ret {
	name := c.path()
	switch {
	case name == "":
		return c.fail("Must provide name to file.touch")
	case !filepath.IsAbs(name):
		return c.fail("Specified file %s is not an absolute path", name)
	}
	if c.Test {
		return c.wouldTouch(c.Exists(name), atime, mtime)
	}
	if makedirs { // with a slash at its end, name is a directory to make
		if err := c.Mkdir(ctx, filepath.Dir(name), files.Perms{}); err != nil {
			return c.fail("%s", host.OSError(err))
		}
	}
	there := c.Exists(name)
	if !c.IsDir(filepath.Dir(name)) {
		return c.fail("Directory not present to touch file %s", name)
	}
	if err := c.Touch(name, atime, mtime); err != nil {
		return fun.Raise(err)
	}
	if !there {
		c.ret.Changes.Set("new", name)
		return c.done(fun.OK, fmt.Sprintf("Created empty file %s", name))
	}
	kind := "file"
	if c.IsDir(name) {
		kind = "directory"
	}
	c.ret.Changes.Set("touched", name)
	return c.done(fun.OK, fmt.Sprintf("Updated times on %s %s", kind, name))
}

func (c *call) wouldTouch(there bool, atime, mtime value.Value) fun.Ret {
	name := c.path()
	c.ret.Changes.Set("new", name)
	if !there {
		return c.done(fun.WouldChange, fmt.Sprintf("File %s is set to be created", name))
	}
	st, err := c.Stats(name, false)
	if err != nil {
		return fun.Raise(err)
	}
	differs := func(want value.Value, have float64) bool {
		return want != nil && value.Str(want) != value.FloatRepr(have)
	}
	if differs(atime, files.Seconds(st.Atime)) || differs(mtime, files.Seconds(st.Mtime)) {
		c.ret.Changes = value.MapOf("touched", name)
		return c.done(fun.WouldChange, fmt.Sprintf("Times set to be updated on file %s", name))
	}
	return c.done(fun.OK, fmt.Sprintf("File %s exists and has the correct times", name))
}

type notCachedArgs struct {
	_       fun.Arguments
	_       string `arg:"name,required" doc:"source: a salt:// or web URL, or a path"`
	Saltenv string `arg:"saltenv" default:"base" doc:"environment of a salt:// URL"`
}

// notCached removes the copy of a source from the cache.
//
// Salt: states/file.py not_cached. Difference: in test mode the copy stays.
func notCached(ctx context.Context, fc *fun.Call, a *notCachedArgs) fun.Ret {
	c := begin(fc)
	c.SaltEnv = a.Saltenv
	c.ret.Name = c.Name
	if local, ok := localPath(c, c.Name); ok {
		return c.done(fun.OK, fmt.Sprintf("File %s is a local path, no action taken", local))
	}
	p := c.Cached(c.Name)
	if p == "" {
		return c.done(fun.OK, c.Name+" is not cached")
	}
	c.ret.Changes.Set("deleted", true)
	if c.Test {
		return c.done(fun.WouldChange, p+" would be deleted")
	}
	if err := c.Host.Remove(p); err != nil {
		c.ret.Changes = value.NewMap(0)
		return c.fail("Failed to delete %s: %s", p, host.OSError(err))
	}
	return c.done(fun.OK, p+" was deleted")
}

// localPath returns the path of a source on this machine, and whether it is
// one.
func localPath(c *call, source string) (string, bool) {
	switch cp.Scheme(source) {
	case "":
		return c.Expand(source), true
	case "file":
		return strings.TrimPrefix(source, "file://"), true
	}
	return "", false
}
