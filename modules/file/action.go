package file

import (
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

func actionRows() []fun.Spec {
	user, group := fun.Opt("user", fun.Any, nil, "owner, by name or number"), fun.Opt("group", fun.Any, nil, "group, by name or number")
	mode := fun.Opt("mode", fun.Any, nil, "permissions, such as 0755")
	owners := func(name, doc string, fn func(context.Context, *FS, *fun.Call) (value.Value, error)) fun.Spec {
		return row(name, doc, fn, pathArg(), fun.Need("user", fun.Any, "owner, by name or number"), fun.Need("group", fun.Any, "group, by name or number"))
	}
	src, dst := fun.Need("src", fun.Str, "the old path"), fun.Need("dst", fun.Str, "the new path")
	return []fun.Spec{
		varRow("append", "Add lines at the end of a file.", appendTo, pathArg()),
		varRow("prepend", "Put lines before those of a file.", prependTo, pathArg()),
		varRow("write", "Write lines to a file, instead of what it has.", write, pathArg()),
		varRow("chattr", "Change chattr(1) attributes of files.", chattr),
		row("chgrp", "Change the group of a file.", func(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
			return f.chown(c.Str("path"), nil, c.Value("group"), true)
		}, pathArg(), fun.Need("group", fun.Any, "group, by name or number")),
		owners("chown", "Change owner and group of a file.", func(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
			return f.chown(c.Str("path"), c.Value("user"), c.Value("group"), true)
		}),
		owners("lchown", "Change owner and group of a link itself.", func(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
			return f.chown(c.Str("path"), c.Value("user"), c.Value("group"), false)
		}),
		row("copy", "Copy a file or directory.", copyAction, src, dst, fun.Opt("recurse", fun.Bool, false, "copy a directory with all in it"),
			fun.Opt("remove_existing", fun.Bool, false, "remove a directory that is there first")),
		row("delete_backup", "Remove a kept copy of a file.", deleteBackup, pathArg(), fun.Need("backup_id", fun.Any, "its number in list_backups")),
		row("remove_backup", "Remove a kept copy of a file.", deleteBackup, pathArg(), fun.Need("backup_id", fun.Any, "its number in list_backups")),
		row("restore_backup", "Put a kept copy of a file back.", restoreBackup, pathArg(), fun.Need("backup_id", fun.Any, "its number in list_backups")),
		row("link", "Make a further name of a file.", link, src, fun.Need("path", fun.Str, "the name")),
		row("makedirs", "Make the directory that contains a path, and those above it.", makedirs, pathArg(), user, group, mode),
		row("makedirs_perms", "Make a directory and those above it, with owner and mode.", makedirsPerms, fun.Need("name", fun.Str, "the directory"), user, group,
			fun.Opt("mode", fun.Any, "0755", "permissions")),
		row("mkdir", "Make a directory and those above it.", mkdir, fun.Need("dir_path", fun.Str, "the directory"), user, group, mode),
		row("move", "Move a file or directory, also to another file system.", moveAction, src, dst,
			fun.Opt("disallow_copy_and_unlink", fun.Bool, false, "fail where it is another file system")),
		row("remove", "Remove a file, a link, or a directory with all in it.", onPath(func(f *FS, p string) (value.Value, error) {
			return wrap(f.Remove(p))
		}), pathArg()),
		row("rename", "Rename a file or directory.", renameAction, src, dst),
		row("rmdir", "Remove an empty directory; return whether that worked.", rmdir, pathArg(), fun.Opt("recurse", fun.Bool, false, "also the empty directories in it"),
			fun.Opt("verbose", fun.Bool, false, "return what was removed and what could not be"),
			fun.Arg{Name: "older_than", Unit: "days", Doc: "only what was not changed for this long"}),
		row("seek_write", "Write text into a file at an offset.", seekWrite, pathArg(), fun.Need("data", fun.Str, "the text"), fun.Need("offset", fun.Int, "where")),
		row("set_mode", "Set the permissions of a file.", setMode, pathArg(), fun.Need("mode", fun.Any, "permissions, such as 0644")),
		row("symlink", "Make a symbolic link.", symlink, src, fun.Need("path", fun.Str, "the link"),
			fun.Opt("force", fun.Bool, false, "replace what is there"), fun.Opt("atomic", fun.Bool, false, "replace it in one step")),
		row("touch", "Make an empty file, or set the times of one that is there.", touch, fun.Need("name", fun.Str, "the file"),
			fun.Arg{Name: "atime", Type: fun.Any, Unit: "s", Doc: "time of access, since 1970"}, fun.Arg{Name: "mtime", Type: fun.Any, Unit: "s", Doc: "time of change, since 1970"}),
		row("truncate", "Cut a file off at a length.", truncate, pathArg(), fun.Need("length", fun.Int, "bytes to keep")),
	}
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

func appendTo(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	lines := linesOf(c)
	if err := f.AppendLines(c.Str("path"), lines); err != nil {
		return nil, osError(err)
	}
	return wrote("Wrote", len(lines), f.Expand(c.Str("path"))), nil
}

func prependTo(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	lines := linesOf(c)
	if err := f.PrependLines(c.Str("path"), lines); err != nil {
		return nil, osError(err)
	}
	return wrote("Prepended", len(lines), f.Expand(c.Str("path"))), nil
}

func write(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p, lines := f.Expand(c.Str("path")), linesOf(c)
	text := ""
	if len(lines) > 0 {
		text = strings.Join(lines, "\n") + "\n"
	}
	if err := f.Write(p, text); err != nil {
		return nil, osError(err)
	}
	return wrote("Wrote", len(lines), p), nil
}

func chattr(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	op := map[value.Value]string{"add": "+", "remove": "-"}[c.Kw.At("operator")]
	if op == "" {
		return nil, invalid("Need an operator: 'add' or 'remove' to modify attributes.")
	}
	attrs := c.Kw.Str("attributes")
	if attrs == "" {
		return nil, invalid("Need attributes: [aAcCdDeijPsStTu]")
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
		return nil, fun.Errorf("chattr: %s", host.Strerror(err))
	}
	if out.Status != 0 {
		return nil, fun.Errorf("%s", strings.TrimSpace(string(out.Stderr)))
	}
	return true, nil
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

func copyAction(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	src, dst := f.Expand(c.Str("src")), f.Expand(c.Str("dst"))
	if !filepath.IsAbs(src) {
		return nil, invalid("File path must be absolute.")
	}
	st, err := f.Stat(src)
	if err != nil {
		return nil, fun.Errorf("No such file or directory '%s'", src)
	}
	fail := func(err error) (value.Value, error) {
		return nil, f.because(err, "Could not copy '%s' to '%s'", src, dst)
	}
	if st.Mode.IsDir() {
		if !c.Bool("recurse") {
			return nil, invalid("Cannot copy overwriting a directory without recurse flag set to true!")
		}
		if c.Bool("remove_existing") {
			if _, err := f.Remove(dst); err != nil {
				return nil, err
			}
		}
		if err := f.copyTree(src, dst); err != nil {
			return fail(err)
		}
		return true, nil
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
	return true, nil
}

func backupID(c *fun.Call) int {
	if n, ok := asNumber(c.Value("backup_id")); ok {
		return n
	}
	return -1
}

func deleteBackup(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	m, err := f.DeleteBackup(c.Str("path"), backupID(c))
	if err != nil {
		return nil, err
	}
	return m, nil
}

func restoreBackup(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	return f.RestoreBackup(c.Str("path"), backupID(c)), nil
}

func link(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	src, p := f.Expand(c.Str("src")), f.Expand(c.Str("path"))
	if !filepath.IsAbs(src) {
		return nil, invalid("File path must be absolute.")
	}
	if err := f.Link(src, p); err != nil {
		return nil, fun.Errorf("Could not create '%s': %s", p, host.OSError(err))
	}
	return true, nil
}

func permsOf(c *fun.Call) Perms {
	return Perms{User: c.Value("user"), Group: c.Value("group"), Mode: NormMode(c.Value("mode"))}
}

func makedirs(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	dir := filepath.Clean(pyDir(f.Expand(c.Str("path"))))
	if f.IsDir(dir) {
		return fmt.Sprintf("Directory '%s' already exists", dir), nil
	}
	if f.Exists(dir) {
		return fmt.Sprintf("The path '%s' already exists and is not a directory", dir), nil
	}
	return nil, osError(f.Mkdir(ctx, dir, permsOf(c)))
}

func makedirsPerms(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := f.Expand(c.Str("name"))
	if f.Exists(p) {
		return nil, osError(&fs.PathError{Op: "mkdir", Path: p, Err: fs.ErrExist})
	}
	return nil, osError(f.Mkdir(ctx, p, permsOf(c)))
}

func mkdir(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	if err := f.Mkdir(ctx, c.Str("dir_path"), permsOf(c)); err != nil {
		return nil, osError(err)
	}
	return true, nil
}

func moveAction(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	src, dst := f.Expand(c.Str("src")), f.Expand(c.Str("dst"))
	if !filepath.IsAbs(src) {
		return nil, invalid("Source path must be absolute.")
	}
	if !filepath.IsAbs(dst) {
		return nil, invalid("Destination path must be absolute.")
	}
	ret := value.MapOf("result", true, "comment", fmt.Sprintf("'%s' moved to '%s'", src, dst))
	move := f.Move
	if c.Bool("disallow_copy_and_unlink") {
		move = f.Rename
	}
	if f.IsDir(dst) {
		dst = filepath.Join(dst, filepath.Base(src))
	}
	if err := move(src, dst); err != nil {
		return nil, fun.Errorf("Unable to move '%s' to '%s': %s", src, dst, host.OSError(err))
	}
	return ret, nil
}

func renameAction(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	src, dst := f.Expand(c.Str("src")), f.Expand(c.Str("dst"))
	if !filepath.IsAbs(src) {
		return nil, invalid("File path must be absolute.")
	}
	if err := f.Rename(src, dst); err != nil {
		return nil, f.because(err, "Could not rename '%s' to '%s'", src, dst)
	}
	return true, nil
}

func seekWrite(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p, data := f.Expand(c.Str("path")), c.Str("data")
	at := c.Int("offset")
	old, err := f.ReadFile(p)
	if err != nil {
		return nil, osError(err)
	}
	const most = 1 << 30
	if at < 0 || at > most {
		return nil, invalid("offset %d is out of range", at)
	}
	b := append([]byte(nil), old...)
	for int64(len(b)) < at+int64(len(data)) {
		b = append(b, 0)
	}
	copy(b[at:], data)
	if err := f.Write(p, string(b)); err != nil {
		return nil, osError(err)
	}
	return int64(len(data)), nil
}

func setMode(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p, mode := f.Expand(c.Str("path")), NormMode(c.Value("mode"))
	if !f.Exists(p) {
		return nil, fun.Errorf("%s: File not found", p)
	}
	m, ok := ParseMode(mode)
	if !ok || f.Chmod(p, m) != nil {
		return "Invalid Mode " + strings.TrimLeft(mode, "0"), nil
	}
	st, err := f.Stats(p, true)
	if err != nil {
		return nil, err
	}
	return st.Mode, nil
}

func symlink(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	src, p := f.Expand(c.Str("src")), f.Expand(c.Str("path"))
	if !filepath.IsAbs(p) {
		return nil, invalid("Link path must be absolute: %s", p)
	}
	replace := c.Bool("force") || c.Bool("atomic")
	if f.IsLink(p) {
		if to, err := f.Readlink(p); err == nil && filepath.Clean(to) == filepath.Clean(src) {
			return true, nil
		}
		if !replace {
			return nil, fun.Errorf("Found existing symlink: %s", p)
		}
	} else if f.LExists(p) && !replace {
		return nil, fun.Errorf("Existing path is not a symlink: %s", p)
	}
	if err := f.SymlinkOver(src, p); err != nil {
		return nil, f.because(err, "Could not create '%s'", p)
	}
	return true, nil
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
	defer f.RemoveAll(dir)
	tmp := filepath.Join(dir, "link")
	if err := make(tmp); err != nil {
		return err
	}
	return f.Rename(tmp, path)
}

func touch(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := f.Expand(c.Str("name"))
	if err := f.Touch(p, c.Value("atime"), c.Value("mtime")); err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			return nil, fun.Errorf("%s", host.Strerror(err))
		}
		return nil, invalid("%s", err)
	}
	return f.Exists(p), nil
}

func truncate(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := f.Expand(c.Str("path"))
	n := c.Int("length")
	const most = 1 << 30
	if n < 0 || n > most {
		return nil, invalid("length %d is out of range", n)
	}
	b, err := f.ReadFile(p)
	if err != nil {
		return nil, osError(err)
	}
	out := make([]byte, n)
	copy(out, b)
	return nil, osError(f.Write(p, string(out)))
}
