package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
)

func chgrp(_ context.Context, c *fun.Call) (fun.Result, error) {
	return result(on(c).chown(c.Str("path"), nil, c.Value("group"), true))
}

func chown(_ context.Context, c *fun.Call) (fun.Result, error) {
	return result(on(c).chown(c.Str("path"), c.Value("user"), c.Value("group"), true))
}

func lchown(_ context.Context, c *fun.Call) (fun.Result, error) {
	return result(on(c).chown(c.Str("path"), c.Value("user"), c.Value("group"), false))
}

func remove(_ context.Context, c *fun.Call) (fun.Result, error) {
	f, p := onPath(c)
	return wrap(f.Remove(p))
}

// lines returns the texts of append and its like: further arguments, or args=.
func linesOf(c *fun.Call) []string {
	items := c.Pos
	if v, ok := c.Kw.Get("args"); ok {
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

func appendTo(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	lines := linesOf(c)
	if err := f.AppendLines(c.Str("path"), lines); err != nil {
		return fun.Result{}, osError(err)
	}
	return fun.Value(wrote("Wrote", len(lines), f.Expand(c.Str("path"))))
}

func prependTo(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	lines := linesOf(c)
	if err := f.PrependLines(c.Str("path"), lines); err != nil {
		return fun.Result{}, osError(err)
	}
	return fun.Value(wrote("Prepended", len(lines), f.Expand(c.Str("path"))))
}

func write(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	p, lines := f.Expand(c.Str("path")), linesOf(c)
	text := ""
	if len(lines) > 0 {
		text = strings.Join(lines, "\n") + "\n"
	}
	if err := f.Write(p, text); err != nil {
		return fun.Result{}, osError(err)
	}
	return fun.Value(wrote("Wrote", len(lines), p))
}

func chattr(ctx context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	op := map[value.Value]string{"add": "+", "remove": "-"}[c.Kw.At("operator")]
	if op == "" {
		return fun.Result{}, invalid("Need an operator: 'add' or 'remove' to modify attributes.")
	}
	attrs := c.Kw.Str("attributes")
	if attrs == "" {
		return fun.Result{}, invalid("Need attributes: [aAcCdDeijPsStTu]")
	}
	argv := []string{"chattr"}
	if v := c.Kw.At("version"); v != nil {
		argv = append(argv, "-v", value.Str(v))
	}
	if fl := c.Kw.Str("flags"); fl != "" {
		argv = append(argv, "-"+strings.TrimPrefix(fl, "-"))
	}
	argv = append(argv, op+attrs)
	for _, p := range c.Pos {
		argv = append(argv, f.Expand(value.Str(p)))
	}
	out, err := f.Run(ctx, host.Cmd{Argv: argv})
	if err != nil {
		return fun.Result{}, fun.Errorf("chattr: %s", host.Strerror(err))
	}
	if out.Status != 0 {
		return fun.Result{}, fun.Errorf("%s", strings.TrimSpace(string(out.Stderr)))
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

func copyAction(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	src, dst := f.Expand(c.Str("src")), f.Expand(c.Str("dst"))
	if !filepath.IsAbs(src) {
		return fun.Result{}, invalid("File path must be absolute.")
	}
	st, err := f.Stat(src)
	if err != nil {
		return fun.Result{}, fun.Errorf("No such file or directory '%s'", src)
	}
	fail := func(err error) (fun.Result, error) {
		return fun.Result{}, f.because(err, "Could not copy '%s' to '%s'", src, dst)
	}
	if st.Mode.IsDir() {
		if !c.Bool("recurse") {
			return fun.Result{}, invalid("Cannot copy overwriting a directory without recurse flag set to true!")
		}
		if c.Bool("remove_existing") {
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

func backupID(c *fun.Call) int {
	if n, ok := asNumber(c.Value("backup_id")); ok {
		return n
	}
	return -1
}

func deleteBackup(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	m, err := f.DeleteBackup(c.Str("path"), backupID(c))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

func restoreBackup(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	return fun.Value(f.RestoreBackup(c.Str("path"), backupID(c)))
}

func link(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	src, p := f.Expand(c.Str("src")), f.Expand(c.Str("path"))
	if !filepath.IsAbs(src) {
		return fun.Result{}, invalid("File path must be absolute.")
	}
	if err := f.Link(src, p); err != nil {
		return fun.Result{}, fun.Errorf("Could not create '%s': %s", p, host.OSError(err))
	}
	return fun.Value(true)
}

func permsOf(c *fun.Call) Perms {
	return Perms{User: c.Value("user"), Group: c.Value("group"), Mode: NormMode(c.Value("mode"))}
}

func makedirs(ctx context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	dir := filepath.Clean(pyDir(f.Expand(c.Str("path"))))
	if f.IsDir(dir) {
		return fun.Value(fmt.Sprintf("Directory '%s' already exists", dir))
	}
	if f.Exists(dir) {
		return fun.Value(fmt.Sprintf("The path '%s' already exists and is not a directory", dir))
	}
	return fun.Result{}, osError(f.Mkdir(ctx, dir, permsOf(c)))
}

func makedirsPerms(ctx context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	p := f.Expand(c.Str("name"))
	if f.Exists(p) {
		return fun.Result{}, osError(&fs.PathError{Op: "mkdir", Path: p, Err: fs.ErrExist})
	}
	return fun.Result{}, osError(f.Mkdir(ctx, p, permsOf(c)))
}

func mkdir(ctx context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	if err := f.Mkdir(ctx, c.Str("dir_path"), permsOf(c)); err != nil {
		return fun.Result{}, osError(err)
	}
	return fun.Value(true)
}

func moveAction(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	src, dst := f.Expand(c.Str("src")), f.Expand(c.Str("dst"))
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
	if c.Bool("disallow_copy_and_unlink") {
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

func renameAction(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	src, dst := f.Expand(c.Str("src")), f.Expand(c.Str("dst"))
	if !filepath.IsAbs(src) {
		return fun.Result{}, invalid("File path must be absolute.")
	}
	if err := cmp.Or(f.CheckSystem(src, false), f.CheckSystem(dst, false)); err != nil {
		return fun.Result{}, fun.Errorf("%s", err)
	}
	if err := f.Rename(src, dst); err != nil {
		return fun.Result{}, f.because(err, "Could not rename '%s' to '%s'", src, dst)
	}
	return fun.Value(true)
}

func seekWrite(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	p, data := f.Expand(c.Str("path")), c.Str("data")
	at := c.Int("offset")
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

func setMode(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	p, mode := f.Expand(c.Str("path")), NormMode(c.Value("mode"))
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

func symlink(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	src, p := f.Expand(c.Str("src")), f.Expand(c.Str("path"))
	if !filepath.IsAbs(p) {
		return fun.Result{}, invalid("Link path must be absolute: %s", p)
	}
	replace := c.Bool("force") || c.Bool("atomic")
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
		return fun.Result{}, f.because(err, "Could not create '%s'", p)
	}
	return fun.Value(true)
}

// SymlinkOver makes path a symbolic link to target, in place of what is there: in one
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

// HardLink makes path a further name of target, in place of what is there.
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

func touch(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	p := f.Expand(c.Str("name"))
	if err := f.Touch(p, c.Value("atime"), c.Value("mtime")); err != nil {
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			return fun.Result{}, fun.Errorf("%s", host.Strerror(err))
		}
		return fun.Result{}, invalid("%s", err)
	}
	return fun.Value(f.Exists(p))
}

func truncate(_ context.Context, c *fun.Call) (fun.Result, error) {
	f := on(c)
	p := f.Expand(c.Str("path"))
	n := c.Int("length")
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
