package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/tool"
)

type chgrpArgs struct {
	pathArg
	groupArg
}

func chgrp(_ context.Context, c *fun.Call, a *chgrpArgs) (fun.Result, error) {
	return result(on(c).chown(a.Path, nil, a.Group, true))
}

// chownArgs are the arguments of chown and lchown.
type chownArgs struct {
	pathArg
	userArg
	groupArg
}

func chown(_ context.Context, c *fun.Call, a *chownArgs) (fun.Result, error) {
	return result(on(c).chown(a.Path, a.User, a.Group, true))
}

func lchown(_ context.Context, c *fun.Call, a *chownArgs) (fun.Result, error) {
	return result(on(c).chown(a.Path, a.User, a.Group, false))
}

type removeArgs struct {
	pathArg
	fun.SystemPath
	_ fun.Kwargs
}

func remove(_ context.Context, c *fun.Call, a *removeArgs) (fun.Result, error) {
	f, p := onPath(c, a.Path)
	return wrap(f.Remove(p))
}

// lines returns the texts of append and its like: further arguments, or args=.
func linesOf(c *fun.Call) []string {
	items := c.Pos
	if v := c.Args.At("args"); v != nil {
		items = []value.Value{v}
		if l, ok := v.(*value.List); ok {
			items = l.Items
		}
	}
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = value.Str(it)
	}
	return out
}

// appendToArgs are the arguments of appendTo, prependTo and write.
type appendToArgs struct {
	pathArg
	_ value.Value `arg:"args,kw,list|str" doc:"the lines, instead of further arguments"`
	_ fun.Varargs
	_ fun.Kwargs
}

func appendTo(_ context.Context, c *fun.Call, a *appendToArgs) (fun.Result, error) {
	f := on(c)
	lines := linesOf(c)
	if err := f.AppendLines(a.Path, lines); err != nil {
		return fun.Result{}, osError(err)
	}
	return fun.Value(wrote("Wrote", len(lines), f.Expand(a.Path)))
}

func prependTo(_ context.Context, c *fun.Call, a *appendToArgs) (fun.Result, error) {
	f := on(c)
	lines := linesOf(c)
	if err := f.PrependLines(a.Path, lines); err != nil {
		return fun.Result{}, osError(err)
	}
	return fun.Value(wrote("Prepended", len(lines), f.Expand(a.Path)))
}

func write(_ context.Context, c *fun.Call, a *appendToArgs) (fun.Result, error) {
	f := on(c)
	p, lines := f.Expand(a.Path), linesOf(c)
	text := ""
	if len(lines) > 0 {
		text = strings.Join(lines, "\n") + "\n"
	}
	if err := f.Write(p, text); err != nil {
		return fun.Result{}, osError(err)
	}
	return fun.Value(wrote("Wrote", len(lines), p))
}

type chattrArgs struct {
	Operator   string      `arg:"operator,kw" doc:"add or remove"`
	Attributes string      `arg:"attributes,kw" doc:"letters of attributes: aAcCdDeijPsStTu"`
	Version    value.Value `arg:"version,kw,str" doc:"version of the file to set"`
	Flags      string      `arg:"flags,kw" doc:"options of chattr: R, V, f"`
	More       fun.Varargs
	_          fun.Kwargs
}

func chattr(ctx context.Context, c *fun.Call, a *chattrArgs) (fun.Result, error) {
	f := on(c)
	op := map[string]string{"add": "+", "remove": "-"}[a.Operator]
	if op == "" {
		return fun.Result{}, invalid("Need an operator: 'add' or 'remove' to modify attributes.")
	}
	attrs := a.Attributes
	if attrs == "" {
		return fun.Result{}, invalid("Need attributes: [aAcCdDeijPsStTu]")
	}
	argv := []string{"chattr"}
	if a.Version != nil {
		argv = append(argv, "-v", value.Str(a.Version))
	}
	if fl := a.Flags; fl != "" {
		argv = append(argv, "-"+strings.TrimPrefix(fl, "-"))
	}
	argv = append(argv, op+attrs)
	for _, p := range a.More {
		argv = append(argv, f.Expand(value.Str(p)))
	}
	out, err := tool.Run(ctx, f.Host, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	if !out.OK() {
		return fun.Result{}, fun.Errorf("%s", strings.TrimSpace(out.Stderr))
	}
	return fun.Value(true)
}

// chown changes the owner; it returns None, or text that says what is wrong.
func (f *FS) chown(p string, user, group value.Value, follow bool) (value.Value, error) {
	p = f.Expand(p)
	uid, gid := -1, -1
	fault := ""
	if user != nil {
		id, ok := f.UserToUID(user)
		if !ok && value.Truth(user) {
			fault += "User does not exist\n"
		} else if ok {
			uid = id
		}
	}
	if group != nil {
		id, ok := f.GroupToGID(group)
		if !ok && value.Truth(group) {
			fault += "Group does not exist\n"
		} else if ok {
			gid = id
		}
	}
	change := f.Lchown
	if follow && f.Exists(p) {
		change = f.Chown
	}
	if !f.LExists(p) {
		fault += "File not found"
	}
	if fault != "" {
		return fault, nil
	}
	return nil, osError(change(p, uid, gid))
}

type copyActionArgs struct {
	srcArg
	dstArg
	Recurse        bool `arg:"recurse" default:"False" doc:"copy a directory with its contents"`
	RemoveExisting bool `arg:"remove_existing" default:"False" doc:"remove an existing directory first"`
	fun.SystemPath
}

func copyAction(_ context.Context, c *fun.Call, a *copyActionArgs) (fun.Result, error) {
	f := on(c)
	src, dst := f.Expand(a.Src), f.Expand(a.Dst)
	if !filepath.IsAbs(src) {
		return fun.Result{}, invalid("File path must be absolute.")
	}
	st, err := f.Stat(src)
	if err != nil {
		return fun.Result{}, fun.Errorf("No such file or directory '%s'", src)
	}
	fail := func(err error) (fun.Result, error) {
		return fun.Result{}, f.failure(err, "Could not copy '%s' to '%s'", src, dst)
	}
	if st.Mode.IsDir() {
		if !a.Recurse {
			return fun.Result{}, invalid("Cannot copy overwriting a directory without recurse flag set to true!")
		}
		if a.RemoveExisting {
			if _, err := f.Remove(dst); err != nil {
				return fun.Result{}, err
			}
		}
		if err := f.copyTree(src, dst); err != nil {
			return fail(err)
		}
		return fun.Value(true)
	}
	if f.IsDir(dst) {
		dst = filepath.Join(dst, filepath.Base(src))
	}
	mode := st.Mode
	r, err := f.Open(src)
	if err != nil {
		return fail(err)
	}
	defer r.Close()
	perm := host.FileMode(host.UnixMode(mode))
	if err := f.WriteFile(dst, r, host.WriteOptions{Mode: &perm, FollowLinks: true}); err != nil {
		return fail(err)
	}
	return fun.Value(true)
}

func backupID(a *deleteBackupArgs) int {
	if n, ok := asNumber(a.BackupID); ok {
		return n
	}
	return -1
}

// deleteBackupArgs are the arguments of deleteBackup and restoreBackup.
type deleteBackupArgs struct {
	pathArg
	backupIDArg
}

func deleteBackup(_ context.Context, c *fun.Call, a *deleteBackupArgs) (fun.Result, error) {
	f := on(c)
	m, err := f.DeleteBackup(a.Path, backupID(a))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

func restoreBackup(_ context.Context, c *fun.Call, a *deleteBackupArgs) (fun.Result, error) {
	f := on(c)
	return fun.Value(f.RestoreBackup(a.Path, backupID(a)))
}

type linkArgs struct {
	srcArg
	Path string `arg:"path,required,path" doc:"the new name"`
}

func link(_ context.Context, c *fun.Call, a *linkArgs) (fun.Result, error) {
	f := on(c)
	src, p := f.Expand(a.Src), f.Expand(a.Path)
	if !filepath.IsAbs(src) {
		return fun.Result{}, invalid("File path must be absolute.")
	}
	if err := f.Link(src, p); err != nil {
		return fun.Result{}, fun.Errorf("Could not create '%s': %s", p, host.OSError(err))
	}
	return fun.Value(true)
}

func permsOf(group, mode, user value.Value) Perms {
	return Perms{User: user, Group: group, Mode: NormMode(mode)}
}

type makedirsArgs struct {
	pathArg
	ownerOpt
	groupOpt
	modeOpt
}

func makedirs(ctx context.Context, c *fun.Call, a *makedirsArgs) (fun.Result, error) {
	f := on(c)
	dir := filepath.Clean(pyDir(f.Expand(a.Path)))
	if f.IsDir(dir) {
		return fun.Value(fmt.Sprintf("Directory '%s' already exists", dir))
	}
	if f.Exists(dir) {
		return fun.Value(fmt.Sprintf("The path '%s' already exists and is not a directory", dir))
	}
	return fun.Result{}, osError(f.Mkdir(ctx, dir, permsOf(a.Group, a.Mode, a.User)))
}

type makedirsPermsArgs struct {
	Name string `arg:"name,required,path" doc:"the directory"`
	ownerOpt
	groupOpt
	Mode value.Value `arg:"mode,mode" default:"0755" doc:"permissions"`
}

func makedirsPerms(ctx context.Context, c *fun.Call, a *makedirsPermsArgs) (fun.Result, error) {
	f := on(c)
	p := f.Expand(a.Name)
	if f.Exists(p) {
		return fun.Result{}, osError(&fs.PathError{Op: "mkdir", Path: p, Err: fs.ErrExist})
	}
	return fun.Result{}, osError(f.Mkdir(ctx, p, permsOf(a.Group, a.Mode, a.User)))
}

type mkdirArgs struct {
	DirPath string `arg:"dir_path,required,path" doc:"the directory"`
	ownerOpt
	groupOpt
	modeOpt
}

func mkdir(ctx context.Context, c *fun.Call, a *mkdirArgs) (fun.Result, error) {
	f := on(c)
	if err := f.Mkdir(ctx, a.DirPath, permsOf(a.Group, a.Mode, a.User)); err != nil {
		return fun.Result{}, osError(err)
	}
	return fun.Value(true)
}

type moveActionArgs struct {
	srcArg
	dstArg
	DisallowCopyAndUnlink bool `arg:"disallow_copy_and_unlink" default:"False" doc:"fail if the destination is on another file system"`
	fun.SystemPath
}

func moveAction(_ context.Context, c *fun.Call, a *moveActionArgs) (fun.Result, error) {
	f := on(c)
	src, dst := f.Expand(a.Src), f.Expand(a.Dst)
	if !filepath.IsAbs(src) {
		return fun.Result{}, invalid("Source path must be absolute.")
	}
	if !filepath.IsAbs(dst) {
		return fun.Result{}, invalid("Destination path must be absolute.")
	}
	ret := value.MapOf("result", true, "comment", fmt.Sprintf("'%s' moved to '%s'", src, dst))
	move := f.Move
	if err := f.CheckSystem(src, false); err != nil {
		return fun.Result{}, fun.Errorf("%s", err)
	}
	if a.DisallowCopyAndUnlink {
		move = f.Rename
	}
	if f.IsDir(dst) {
		dst = filepath.Join(dst, filepath.Base(src))
	}
	if err := move(src, dst); err != nil {
		return fun.Result{}, fun.Errorf("Unable to move '%s' to '%s': %s", src, dst, host.OSError(err))
	}
	return fun.Value(ret)
}

type renameActionArgs struct {
	srcArg
	dstArg
	fun.SystemPath
}

func renameAction(_ context.Context, c *fun.Call, a *renameActionArgs) (fun.Result, error) {
	f := on(c)
	src, dst := f.Expand(a.Src), f.Expand(a.Dst)
	if !filepath.IsAbs(src) {
		return fun.Result{}, invalid("File path must be absolute.")
	}
	if err := cmp.Or(f.CheckSystem(src, false), f.CheckSystem(dst, false)); err != nil {
		return fun.Result{}, fun.Errorf("%s", err)
	}
	if err := f.Rename(src, dst); err != nil {
		return fun.Result{}, f.failure(err, "Could not rename '%s' to '%s'", src, dst)
	}
	return fun.Value(true)
}

type seekWriteArgs struct {
	pathArg
	Data   string `arg:"data,required" doc:"the text"`
	Offset int64  `arg:"offset,required" unit:"bytes" doc:"where to start"`
}

func seekWrite(_ context.Context, c *fun.Call, a *seekWriteArgs) (fun.Result, error) {
	f := on(c)
	p, data := f.Expand(a.Path), a.Data
	at := a.Offset
	old, err := f.ReadFile(p)
	if err != nil {
		return fun.Result{}, osError(err)
	}
	const most = 1 << 30
	if at < 0 || at > most {
		return fun.Result{}, invalid("offset %d is out of range", at)
	}
	b := append([]byte(nil), old...)
	for int64(len(b)) < at+int64(len(data)) {
		b = append(b, 0)
	}
	copy(b[at:], data)
	if err := f.Write(p, string(b)); err != nil {
		return fun.Result{}, osError(err)
	}
	return fun.Value(int64(len(data)))
}

type setModeArgs struct {
	pathArg
	Mode value.Value `arg:"mode,required" doc:"permissions, such as 0644"`
}

func setMode(_ context.Context, c *fun.Call, a *setModeArgs) (fun.Result, error) {
	f := on(c)
	p, mode := f.Expand(a.Path), NormMode(a.Mode)
	if !f.Exists(p) {
		return fun.Result{}, fun.Errorf("%s: File not found", p)
	}
	m, ok := ParseMode(mode)
	if !ok || f.Chmod(p, m) != nil {
		return fun.Value("Invalid Mode " + strings.TrimLeft(mode, "0"))
	}
	st, err := f.Stats(p, true)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(st.Mode)
}

type symlinkArgs struct {
	srcArg
	Path   string `arg:"path,required,path" doc:"the link"`
	Force  bool   `arg:"force" default:"False" doc:"replace an existing path"`
	Atomic bool   `arg:"atomic" default:"False" doc:"replace it in one step"`
	fun.SystemPath
}

func symlink(_ context.Context, c *fun.Call, a *symlinkArgs) (fun.Result, error) {
	f := on(c)
	src, p := f.Expand(a.Src), f.Expand(a.Path)
	if !filepath.IsAbs(p) {
		return fun.Result{}, invalid("Link path must be absolute: %s", p)
	}
	replace := a.Force || a.Atomic
	if f.IsLink(p) {
		if to, err := f.Readlink(p); err == nil && filepath.Clean(to) == filepath.Clean(src) {
			return fun.Value(true)
		}
		if !replace {
			return fun.Result{}, fun.Errorf("Found existing symlink: %s", p)
		}
	} else if f.LExists(p) && !replace {
		return fun.Result{}, fun.Errorf("Existing path is not a symlink: %s", p)
	}
	if err := f.CheckSystem(p, false); err != nil && f.LExists(p) {
		return fun.Result{}, fun.Errorf("%s", err)
	}
	if err := f.SymlinkOver(src, p); err != nil {
		return fun.Result{}, f.failure(err, "Could not create '%s'", p)
	}
	return fun.Value(true)
}

// SymlinkOver makes path a symbolic link to target, in place of what exists: in one
// step, but for a directory.
func (f *FS) SymlinkOver(target, path string) error {
	if !f.LExists(path) {
		return f.Symlink(target, path)
	}
	if f.IsDir(path) && !f.IsLink(path) { // a rename cannot replace a directory
		if _, err := f.Remove(path); err != nil {
			return err
		}
		return f.Symlink(target, path)
	}
	return f.inPlace(path, func(tmp string) error { return f.Symlink(target, tmp) })
}

// HardLink makes path a further name of target, in place of what exists.
func (f *FS) HardLink(target, path string) error {
	if !f.LExists(path) {
		return f.Link(target, path)
	}
	return f.inPlace(path, func(tmp string) error { return f.Link(target, tmp) })
}

// inPlace makes something beside path and renames it to path.
func (f *FS) inPlace(path string, make func(tmp string) error) error {
	dir, err := f.MkdirTemp(filepath.Dir(path), ".brine-link-*")
	if err != nil {
		return err
	}
	defer func() { _ = f.RemoveAll(dir) }()
	tmp := filepath.Join(dir, "link")
	if err := make(tmp); err != nil {
		return err
	}
	return f.Rename(tmp, path)
}

type touchArgs struct {
	_     fun.Arguments
	Name  string      `arg:"name,required,path" doc:"the file"`
	Atime value.Value `arg:"atime" unit:"s" doc:"access time, since 1970"`
	Mtime value.Value `arg:"mtime" unit:"s" doc:"modification time, since 1970"`
}

func touch(_ context.Context, c *fun.Call, a *touchArgs) (fun.Result, error) {
	f := on(c)
	p := f.Expand(a.Name)
	if err := f.Touch(p, a.Atime, a.Mtime); err != nil {
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			return fun.Result{}, fun.Errorf("%s", host.Strerror(err))
		}
		return fun.Result{}, invalid("%s", err)
	}
	return fun.Value(f.Exists(p))
}

type truncateArgs struct {
	pathArg
	Length int64 `arg:"length,required" unit:"bytes" doc:"the new length"`
}

func truncate(_ context.Context, c *fun.Call, a *truncateArgs) (fun.Result, error) {
	f := on(c)
	p := f.Expand(a.Path)
	n := a.Length
	const most = 1 << 30
	if n < 0 || n > most {
		return fun.Result{}, invalid("length %d is out of range", n)
	}
	b, err := f.ReadFile(p)
	if err != nil {
		return fun.Result{}, osError(err)
	}
	out := make([]byte, n)
	copy(out, b)
	return fun.Result{}, osError(f.Write(p, string(out)))
}
