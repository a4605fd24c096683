// Package file is Salt's state module file: regular files, directories, links
// and edits of text.
//
// [States] lists the functions. What touches files is in modules/file; the
// functions here check, compare and report.
//
// Salt: salt/states/file.py.
package file

import (
	"context"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	files "brine/modules/file"
)

// States returns the state module file.
func States() fun.Module {
	return fun.Module{
		Name: "file", Kind: fun.State, OwnCheckCmd: true, Brings: brings,
		Doc:   "Manage regular files, directories, links and parts of text files.",
		Specs: specs,
	}
}

// brings reports whether a state may have brought programs or Python modules.
// Salt: salt/state.py State.check_refresh.
func brings(c *fun.Chunk) bool {
	switch c.Fun {
	case "recurse":
		return true
	case "symlink":
		return strings.Contains(c.Name, "bin")
	case "managed":
		return strings.HasSuffix(c.Name, ".py") || strings.HasSuffix(c.Name, ".so")
	}
	return false
}

// A call is a state's call with the files it works on.
type call struct {
	*fun.Call
	*files.FS
	Env  *fun.Env // of both
	Test bool     // of both
	ret  *files.Return
}

// begin returns the call of a state whose name is a path, with ~ resolved.
func begin(c *fun.Call) *call {
	saltenv := ""
	if c.Low != nil {
		saltenv = c.Low.SaltEnv
	}
	f := files.New(c.Env, saltenv, c.Test)
	if c.Low != nil {
		f.Umask = umask(c.Low.Low)
	}
	return &call{Call: c, FS: f, Env: c.Env, Test: c.Test, ret: files.NewReturn(f.Expand(c.Name))}
}

// umask returns the umask that a state has of its own, nil where it has none.
func umask(low *value.Map) *uint32 {
	for _, key := range []string{"umask", "__umask__"} {
		v, ok := low.Get(key)
		if !ok || v == nil {
			continue
		}
		if m, ok := files.ParseMode(files.NormMode(v)); ok {
			bits := uint32(m.Perm())
			return &bits
		}
	}
	return nil
}

// path is the state's name as a path.
func (c *call) path() string { return c.ret.Name }

// fail reports a failure; what was noted as changed stays.
func (c *call) fail(format string, args ...any) fun.Ret { return c.ret.Fail(format, args...).Ret() }

// warn tells the cause of a failure beside the report, where Salt's comment has
// none.
func (c *call) warn(cause error) {
	w := fun.Warning{Text: c.path() + ": " + host.OSError(cause)}
	if c.Low != nil {
		w.Where = c.Low.Pos.String()
	}
	c.Env.Warn(w)
}

// done reports an outcome.
func (c *call) done(o fun.Outcome, comment string) fun.Ret {
	c.ret.Result, c.ret.Comment = o, comment
	return c.ret.Ret()
}

// owner returns user and group as given; owner: is taken for user: as Salt
// does for people who come from other systems.
func (c *call) owner(user, group value.Value) (value.Value, value.Value) {
	if !value.Truth(user) && c.Kw.Has("owner") {
		user = c.Kw.At("owner")
	}
	return user, group
}

// unknownOwner returns what there is to say where user or group are not known;
// in test mode they may be made by an earlier state.
func (c *call) unknownOwner(user, group value.Value) string {
	s := ""
	if value.Truth(user) {
		if _, ok := c.UserToUID(user); !ok {
			s += "User " + value.Str(user) + " is not available "
		}
	}
	if value.Truth(group) {
		if _, ok := c.GroupToGID(group); !ok {
			s += "Group " + value.Str(group) + " is not available"
		}
	}
	if c.Test {
		return ""
	}
	return s
}

// existing returns what there is to say where the path is not absolute or not
// there.
func (c *call) existing() string {
	switch p := c.path(); {
	case !filepath.IsAbs(p):
		return "Specified file " + p + " is not an absolute path"
	case !c.Exists(p):
		return p + ": file not found"
	}
	return ""
}

// perms returns the owner and the mode of an argument.
func (c *call) perms(user, group, mode value.Value) files.Perms {
	return files.Perms{User: user, Group: group, Mode: files.NormMode(mode)}
}

// textOf returns an argument as text, nil where it is None.
func textOf(v value.Value) *string {
	if v == nil {
		return nil
	}
	s := value.Str(v)
	return &s
}

// invoke calls an execution function.
func (c *call) invoke(ctx context.Context, name string, pos ...value.Value) (value.Value, error) {
	return c.Env.Exec(ctx, name, nil, pos...)
}
