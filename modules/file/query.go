package file

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"brine/internal/difflib"
	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/pyre"
	"brine/internal/value"
	"brine/modules/cp"
)

func queryRows() []fun.Spec {
	follow := fun.Opt("follow_symlinks", fun.Bool, true, "of a link, what it leads to")
	boolOf := func(fn func(f *FS, path string) bool) func(context.Context, *FS, *fun.Call) (value.Value, error) {
		return onPath(func(f *FS, p string) (value.Value, error) { return fn(f, p), nil })
	}
	kind := func(typ string) func(context.Context, *FS, *fun.Call) (value.Value, error) {
		return onPath(func(f *FS, p string) (value.Value, error) {
			st, err := f.Lstat(p)
			return err == nil && typeName(st.Mode) == typ, nil
		})
	}
	stat := func(fn func(Stats) value.Value) func(context.Context, *FS, *fun.Call) (value.Value, error) {
		return func(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
			st, err := f.Stats(f.Expand(c.Str("path")), c.Bool("follow_symlinks"))
			if err != nil {
				return nil, err
			}
			return fn(st), nil
		}
	}
	text := func(fn func(string) string) func(context.Context, *FS, *fun.Call) (value.Value, error) {
		return func(_ context.Context, _ *FS, c *fun.Call) (value.Value, error) { return fn(c.Str("path")), nil }
	}
	hashArg := fun.Opt("form", fun.Str, "sha256", "md5, sha1, sha224, sha256, sha384 or sha512")
	return []fun.Spec{
		row("access", "Tell whether a path can be used in a mode.", access, pathArg(), fun.Need("mode", fun.Str, "f: it is there, r: read, w: write, x: run or enter")),
		row("basename", "Return the last part of a path.", text(pyBase), pathArg()),
		row("check_hash", "Tell whether a file has a digest.", checkHash, pathArg(), fun.Need("file_hash", fun.Any, "the digest, or TYPE:DIGEST, or TYPE=DIGEST")),
		row("contains", "Tell whether a file has a text.", contains, pathArg(), fun.Need("text", fun.Any, "the text, without blanks at its ends")),
		row("contains_glob", "Tell whether a glob matches a line of a file.", containsGlob, pathArg(), fun.Need("glob_expr", fun.Str, "the glob")),
		row("contains_regex", "Tell whether a regular expression matches in a line of a file.", containsRegex, pathArg(),
			fun.Need("regex", fun.Str, "the expression"), fun.Opt("lchar", fun.Str, "", "characters to take off the beginning of each line")),
		row("directory_exists", "Tell whether a path is a directory.", boolOf((*FS).IsDir), pathArg()),
		row("dirname", "Return a path without its last part.", text(pyDir), pathArg()),
		row("diskusage", "Return how many bytes the files below a path have.", onPath(diskusage), pathArg()),
		row("extract_hash", "Find the digest of a file in a file of digests.", extractHash,
			fun.Need("hash_fn", fun.Str, "the file of digests"), fun.Opt("hash_type", fun.Str, "sha256", "kind of digest"), fun.Opt("file_name", fun.Str, "", "name of the file"),
			fun.Opt("source", fun.Str, "", "URL of the file"), fun.Opt("source_hash_name", fun.Any, nil, "name to look for first")),
		row("file_exists", "Tell whether a path is a regular file.", boolOf((*FS).IsFile), pathArg()),
		findRow(),
		row("get_diff", "Return the unified diff of two files.", getDiff,
			fun.Need("file1", fun.Str, "path or URL"), fun.Need("file2", fun.Str, "path or URL"), fun.Opt("saltenv", fun.Str, "base", "environment of salt:// URLs"),
			fun.Opt("show_filenames", fun.Bool, true, "name the files at the top"), fun.Opt("show_changes", fun.Bool, true, "show the difference"),
			fun.Opt("template", fun.Bool, false, "accepted"), fun.Opt("source_hash_file1", fun.Any, nil, "digest of the first"), fun.Opt("source_hash_file2", fun.Any, nil, "digest of the second")),
		row("get_gid", "Return the number of the group of a file.", stat(func(s Stats) value.Value { return int64(s.GID) }), pathArg(), follow),
		row("get_group", "Return the group of a file.", stat(func(s Stats) value.Value { return s.Group }), pathArg(), follow),
		row("get_hash", "Return the digest of a file.", getHash, pathArg(), hashArg, fun.Opt("chunk_size", fun.Any, int64(65536), "accepted")),
		row("get_mode", "Return the permissions of a file.", stat(func(s Stats) value.Value { return s.Mode }), pathArg(), follow),
		row("get_sum", "Return the digest of a file, or that it is not found.", getSum, pathArg(), hashArg),
		row("get_uid", "Return the number of the owner of a file.", stat(func(s Stats) value.Value { return int64(s.UID) }), pathArg(), follow),
		row("get_user", "Return the owner of a file.", stat(func(s Stats) value.Value { return s.User }), pathArg(), follow),
		row("gid_to_group", "Return the name of a group, or the number where it has none.", gidToGroup, fun.Need("gid", fun.Any, "number or name")),
		row("group_to_gid", "Return the number of a group, empty where it is not known.", groupToGID, fun.Need("group", fun.Any, "name or number")),
		row("is_blkdev", "Tell whether a path is a block device.", kind("block"), pathArgNamed("name")),
		row("is_chrdev", "Tell whether a path is a character device.", kind("char"), pathArgNamed("name")),
		row("is_fifo", "Tell whether a path is a named pipe.", kind("pipe"), pathArgNamed("name")),
		row("is_hardlink", "Tell whether a file has further names.", boolOf(func(f *FS, p string) bool {
			st, err := f.Lstat(p)
			return err == nil && st.Mode.IsRegular() && st.Nlink > 1
		}), pathArg()),
		row("is_link", "Tell whether a path is a symbolic link.", boolOf((*FS).IsLink), pathArg()),
		varRow("join", "Join parts to a path; leading slashes of all but the first are taken off.", join),
		row("list_backups", "Return the kept copies of a file, newest first.", listBackups, pathArg(), fun.Opt("limit", fun.Any, nil, "at most this many")),
		row("list_backups_dir", "Return how many kept copies of each file of a directory there are.", onPath(listBackupsDir), pathArg(), fun.Opt("limit", fun.Any, nil, "accepted")),
		row("lsattr", "Return the chattr(1) attributes of a file.", lsattr, pathArg()),
		row("lstat", "Return what lstat(2) tells of a path.", onPath(lstat), pathArg()),
		row("normpath", "Return a path without . and .. and doubled slashes.", text(filepath.Clean), pathArg()),
		{Name: "pardir", Doc: "Return what names the directory above.", Src: "modules/file.py pardir", Fn: func(context.Context, *fun.Call) (fun.Result, error) { return fun.Value("..") }},
		row("path_exists_glob", "Tell whether a glob names something that is there.", onPath(func(f *FS, p string) (value.Value, error) {
			return len(f.Glob(p)) > 0, nil
		}), pathArg()),
		row("pwd", "Return the working directory.", func(_ context.Context, f *FS, _ *fun.Call) (value.Value, error) { return f.Getwd() }),
		row("read", "Return the content of a file.", read, pathArg(), fun.Opt("binary", fun.Bool, false, "as bytes")),
		row("readdir", "Return the names in a directory, . and .. first.", onPath(readdir), pathArg()),
		row("readlink", "Return where a link leads.", readlink, pathArg(), fun.Opt("canonicalize", fun.Bool, false, "all the way, as an absolute path")),
		row("search", "Tell whether a regular expression matches in a file.", search, pathArg(), fun.Need("pattern", fun.Str, "the expression"),
			fun.Opt("flags", fun.Any, int64(8), "its flags: names, or Python's number"), fun.Opt("bufsize", fun.Any, int64(1), "accepted"),
			fun.Opt("ignore_if_missing", fun.Bool, false, "a file that is not there has no match"), fun.Opt("multiline", fun.Bool, false, "let ^ and $ match at lines")),
		row("seek_read", "Return bytes of a file as text.", seekRead, pathArg(), fun.Need("size", fun.Int, "how many"), fun.Need("offset", fun.Int, "from where; negative counts from the end")),
		row("source_list", "Return the first source that exists, and its digest.", sourceList, fun.Need("source", fun.Any, "sources"), fun.Need("source_hash", fun.Any, "digest"), fun.Need("saltenv", fun.Str, "environment")),
		row("stats", "Return what is known of a file.", stats, pathArg(), fun.Opt("hash_type", fun.Any, nil, "also give the digest of this kind"), follow),
		row("tail", "Return the last lines of a file.", tail, pathArg(), fun.Need("lines", fun.Int, "how many")),
		row("uid_to_user", "Return the name of a user, or the number where it has none.", uidToUser, fun.Need("uid", fun.Any, "number")),
		row("user_to_uid", "Return the number of a user, empty where it is not known.", userToUID, fun.Need("user", fun.Any, "name or number; None is who brine runs as")),
		grepRow(),
	}
}

func pathArgNamed(name string) fun.Arg { return fun.Need(name, fun.Str, "the path") }

// varRow is the row of a function that takes any number of arguments.
func varRow(name, doc string, fn func(context.Context, *FS, *fun.Call) (value.Value, error), args ...fun.Arg) fun.Spec {
	s := row(name, doc, fn, args...)
	s.VarArg, s.VarKw = true, true
	return s
}

// pyBase is Python's os.path.basename.
func pyBase(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// pyDir is Python's os.path.dirname.
func pyDir(p string) string {
	head := p[:strings.LastIndexByte(p, '/')+1]
	if t := strings.TrimRight(head, "/"); t != "" {
		return t
	}
	return head
}

func access(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := f.Expand(c.Str("path"))
	if !filepath.IsAbs(p) {
		return nil, invalid("Path to link must be absolute.")
	}
	bit := map[string]uint32{"f": 0, "r": 4, "w": 2, "x": 1, "0": 0, "1": 1, "2": 2, "4": 4} // letters, or the numbers of os.access
	want, ok := bit[c.Str("mode")]
	if !ok {
		return nil, invalid("Invalid mode specified.")
	}
	st, err := f.Stat(p)
	if err != nil {
		return false, nil
	}
	uid := f.Geteuid()
	switch {
	case want == 0:
		return true, nil
	case uid == 0:
		return want != 1 || st.Mode.IsDir() || st.Perm()&0o111 != 0, nil
	case uid == st.UID:
		return st.Perm()>>6&want != 0, nil
	}
	gids := []int{f.Getegid()}
	if a, err := f.LookupUID(uid); err == nil {
		if more, err := f.GroupIDs(a.Name); err == nil {
			gids = append(gids, more...)
		}
	}
	if slices.Contains(gids, st.GID) {
		return st.Perm()>>3&want != 0, nil
	}
	return st.Perm()&want != 0, nil
}

func checkHash(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	want, ok := c.Value("file_hash").(string)
	if !ok {
		return nil, invalid("hash must be a string")
	}
	kind := cp.HashType(len(want))
	if i := strings.IndexAny(want, ":="); i >= 0 {
		kind, want = want[:i], want[i+1:]
	} else if kind == "" {
		return nil, invalid("Hash %s (length: %d) could not be matched to a supported hash type. The supported hash types and lengths are: %s", want, len(want), hashTable())
	}
	have, err := cp.HashFile(f.Host, f.Expand(c.Str("path")), kind)
	return have == want, osError(err)
}

// osError gives an error of the system Python's words.
func osError(err error) error {
	if err == nil {
		return nil
	}
	return fun.Errorf("%s", host.OSError(err))
}

func contains(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	b, err := f.ReadFile(f.Expand(c.Str("path")))
	if err != nil {
		return false, nil //nolint:nilerr // as in Salt
	}
	return strings.Contains(string(b), strings.TrimSpace(c.Str("text"))), nil
}

func containsGlob(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	b, err := f.ReadFile(f.Expand(c.Str("path")))
	if err != nil {
		return false, nil //nolint:nilerr // as in Salt
	}
	return value.Fnmatch(c.Str("glob_expr"), string(b)), nil
}

func containsRegex(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	b, err := f.ReadFile(f.Expand(c.Str("path")))
	if err != nil {
		return false, nil //nolint:nilerr // as in Salt
	}
	re, err := pyre.Compile(c.Str("regex"), 0)
	if err != nil {
		return nil, err
	}
	for _, l := range difflib.SplitLines(string(b)) {
		if lc := c.Str("lchar"); lc != "" {
			l = strings.TrimLeft(l, lc)
		}
		if ok, err := re.Has(l); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

func diskusage(f *FS, p string) (value.Value, error) {
	st, err := f.Stat(p)
	if err != nil {
		return int64(0), nil // what is not there takes no room
	}
	if !st.Mode.IsDir() {
		return st.Size, nil
	}
	total := int64(0)
	seen := map[[2]uint64]bool{}
	err = f.Walk(p, false, func(dir string, _, names []string) error {
		for _, n := range names {
			st, err := f.Stat(path.Join(dir, n))
			if err != nil || seen[[2]uint64{st.Dev, st.Inode}] {
				continue
			}
			seen[[2]uint64{st.Dev, st.Inode}] = true
			total += st.Size
		}
		return nil
	})
	return total, err
}

func extractHash(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	s, ok, err := f.ExtractHash(c.Str("hash_fn"), c.Str("hash_type"), c.Str("file_name"), c.Str("source"), c.Str("source_hash_name"))
	if err != nil || !ok {
		return nil, osError(err)
	}
	return value.MapOf("hsum", s.Hex, "hash_type", s.Type), nil
}

func getDiff(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	var paths [2]string
	client := f.cp()
	for i, k := range []string{"file1", "file2"} {
		p, err := client.CacheFile(ctx, f.Expand(c.Str(k)), cp.Options{SourceHash: c.Str("source_hash_" + k)})
		if err != nil {
			return nil, err
		}
		if p == "" {
			return nil, fun.Errorf("Failed to cache one or more files: File %s not found", c.Str(k))
		}
		paths[i] = p
	}
	var names []string
	if c.Bool("show_filenames") {
		names = paths[:]
	}
	a, b := f.FileAt(paths[0]), f.FileAt(paths[1])
	if !c.Bool("show_changes") {
		d, err := f.showDiff(a, b, true)
		return d, osError(err)
	}
	d, err := Diff(a, b, names...)
	return d, osError(err)
}

func getHash(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	h, err := cp.HashFile(f.Host, f.Expand(c.Str("path")), c.Str("form"))
	return h, osError(err)
}

func getSum(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := f.Expand(c.Str("path"))
	if !f.IsFile(p) {
		return "File not found", nil
	}
	h, err := cp.HashFile(f.Host, p, c.Str("form"))
	return h, osError(err)
}

// asNumber returns a number that may come as text.
func asNumber(v value.Value) (int, bool) {
	if n, ok := value.AsInt(v); ok {
		return int(n), true
	}
	if s, ok := v.(string); ok {
		n, err := strconv.Atoi(s)
		return n, err == nil
	}
	return 0, false
}

func gidToGroup(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	gid, ok := asNumber(c.Value("gid"))
	if !ok {
		if gid, ok = f.GroupToGID(c.Value("gid")); !ok {
			return "", nil
		}
	}
	return f.GIDToGroup(gid), nil
}

func groupToGID(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	if gid, ok := f.GroupToGID(c.Value("group")); ok {
		return int64(gid), nil
	}
	return "", nil
}

func uidToUser(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	if uid, ok := asNumber(c.Value("uid")); ok {
		return f.UIDToUser(uid), nil
	}
	return c.Value("uid"), nil
}

func userToUID(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	if uid, ok := f.UserToUID(c.Value("user")); ok {
		return int64(uid), nil
	}
	return "", nil
}

func join(_ context.Context, _ *FS, c *fun.Call) (value.Value, error) {
	if len(c.Pos) == 0 {
		return "", nil
	}
	parts := []string{strings.TrimRight(value.Str(c.Pos[0]), "/") + "/"}
	if value.Str(c.Pos[0]) == "" {
		parts[0] = ""
	}
	for _, p := range c.Pos[1:] {
		parts = append(parts, strings.TrimLeft(value.Str(p), "/"))
	}
	return filepath.Clean(path.Join(parts...)), nil
}

func listBackups(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	limit, _ := asNumber(c.Value("limit"))
	return f.ListBackups(c.Str("path"), limit), nil
}

func listBackupsDir(f *FS, p string) (value.Value, error) {
	names, err := f.ReadDir(filepath.Join(f.backupRoot(), p))
	if err != nil {
		return value.NewMap(0), nil //nolint:nilerr // there are none
	}
	count := value.NewMap(len(names))
	for _, n := range names {
		parts := strings.Split(n, "_")
		if len(parts) < 7 {
			continue
		}
		base := strings.Join(parts[:len(parts)-6], "_")
		k, _ := value.AsInt(count.At(base))
		count.Set(base, k+1)
	}
	return count, nil
}

func lsattr(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := f.Expand(c.Str("path"))
	if _, err := f.LookPath("lsattr", ""); err != nil {
		return nil, nil //nolint:nilerr // as in Salt, where lsattr is missing
	}
	if !f.Exists(p) {
		return nil, invalid("File or directory does not exist: %s", p)
	}
	attrs, ok := f.Lsattr(ctx, p)
	if !ok {
		return value.NewMap(0), nil
	}
	l := &value.List{}
	for _, a := range attrs {
		l.Append(string(a))
	}
	return value.MapOf(p, l), nil
}

func lstat(f *FS, p string) (value.Value, error) {
	if !filepath.IsAbs(p) {
		return nil, invalid("Path to file must be absolute.")
	}
	st, err := f.Lstat(p)
	if err != nil {
		return value.NewMap(0), nil //nolint:nilerr // as in Salt
	}
	return value.MapOf(
		"st_atime", Seconds(st.Atime), "st_mode", int64(unixMode(st.Mode)), "st_gid", int64(st.GID), "st_mtime", Seconds(st.Mtime),
		"st_nlink", int64(st.Nlink), "st_size", st.Size, "st_uid", int64(st.UID), "st_ctime", Seconds(st.Ctime),
	), nil
}

// unixMode returns st_mode: type and permissions.
func unixMode(m fs.FileMode) uint32 {
	t := map[string]uint32{"file": 0o100000, "dir": 0o040000, "link": 0o120000, "char": 0o020000, "block": 0o060000, "pipe": 0o010000, "socket": 0o140000}
	return t[typeName(m)] | host.UnixMode(m)
}

func read(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	b, err := f.ReadFile(f.Expand(c.Str("path")))
	if err != nil {
		return nil, osError(err)
	}
	if c.Bool("binary") {
		return value.Bytes(b), nil
	}
	return string(b), nil
}

func readdir(f *FS, p string) (value.Value, error) {
	if !filepath.IsAbs(p) {
		return nil, invalid("Dir path must be absolute.")
	}
	if !f.IsDir(p) {
		return nil, invalid("A valid directory was not specified.")
	}
	names, err := f.ReadDir(p)
	if err != nil {
		return nil, osError(err)
	}
	return value.Strings(append([]string{".", ".."}, names...)...), nil
}

func readlink(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := f.Expand(c.Str("path"))
	if !filepath.IsAbs(p) {
		return nil, invalid("Path to link must be absolute.")
	}
	if !f.IsLink(p) {
		return nil, invalid("A valid link was not specified.")
	}
	if c.Bool("canonicalize") {
		return f.RealPath(p), nil
	}
	to, err := f.Readlink(p)
	return to, osError(err)
}

func search(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	flags, err := ReFlags(c.Value("flags"))
	if err != nil {
		return nil, err
	}
	if c.Bool("multiline") {
		flags |= pyre.Multiline
	}
	return wrap(f.Search(c.Str("path"), c.Str("pattern"), flags, c.Bool("ignore_if_missing")))
}

func wrap[T any](v T, err error) (value.Value, error) {
	if err != nil {
		return nil, err
	}
	return value.From(v), nil
}

func seekRead(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	b, err := f.ReadFile(f.Expand(c.Str("path")))
	if err != nil {
		return nil, osError(err)
	}
	size := c.Int("size")
	at := c.Int("offset")
	if at < 0 {
		at = max(0, int64(len(b))+at)
	}
	at = min(at, int64(len(b)))
	return string(b[at:min(int64(len(b)), at+max(0, size))]), nil
}

func sourceList(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	src, hash, err := f.SourceList(ctx, c.Value("source"), c.Value("source_hash"))
	if err != nil {
		return nil, err
	}
	return value.NewList(src, hash), nil
}

func stats(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := f.Expand(c.Str("path"))
	st, err := f.Stats(p, c.Bool("follow_symlinks"))
	if err != nil {
		return nil, err
	}
	m := value.MapOf(
		"inode", value.From(st.Inode), "uid", int64(st.UID), "gid", int64(st.GID), "group", st.Group, "user", st.User,
		"atime", Seconds(st.Atime), "mtime", Seconds(st.Mtime), "ctime", Seconds(st.Ctime), "size", st.Size, "mode", st.Mode,
	)
	if kind := c.Str("hash_type"); kind != "" {
		sum := value.Value("File not found")
		if f.IsFile(p) {
			if sum, err = cp.HashFile(f.Host, p, kind); err != nil {
				return nil, osError(err)
			}
		}
		m.Set("sum", sum)
	}
	m.Set("type", st.Type)
	m.Set("target", f.RealPath(p))
	return m, nil
}

func tail(_ context.Context, f *FS, c *fun.Call) (value.Value, error) {
	p := f.Expand(c.Str("path"))
	if !f.IsFile(p) {
		return nil, invalid("File not found: %s", p)
	}
	b, err := f.ReadFile(p)
	if err != nil {
		return nil, osError(err)
	}
	if !IsText(b) {
		return nil, invalid("Cannot tail a binary file: %s", p)
	}
	n := c.Int("lines")
	lines := SplitLines(string(b), false)
	if k := len(lines) - int(n); k > 0 && n >= 0 {
		lines = lines[k:]
	}
	return value.Strings(lines...), nil
}

// Glob returns the paths that a shell pattern names, sorted. ** is as *, and a
// leading dot has to be written.
func (f *FS) Glob(pattern string) []string {
	if !value.HasGlob(pattern) {
		if f.LExists(pattern) {
			return []string{pattern}
		}
		return nil
	}
	dir, base := path.Split(pattern)
	dir = strings.TrimRight(dir, "/")
	if dir == "" && strings.HasPrefix(pattern, "/") {
		dir = "/"
	}
	var found []string
	for _, d := range f.Glob(dir) {
		if !value.HasGlob(base) {
			if p := path.Join(d, base); f.LExists(p) {
				found = append(found, p)
			}
			continue
		}
		names, err := f.ReadDir(d)
		if err != nil {
			continue
		}
		for _, n := range names {
			if (!strings.HasPrefix(n, ".") || strings.HasPrefix(base, ".")) && value.Fnmatch(base, n) {
				found = append(found, path.Join(d, n))
			}
		}
	}
	return found
}

func grepRow() fun.Spec {
	return varRow("grep", "Run grep(1) on a file or on the files of a glob; further arguments are its options.", grep,
		pathArg(), fun.Need("pattern", fun.Any, "what to look for"))
}

func grep(ctx context.Context, f *FS, c *fun.Call) (value.Value, error) {
	argv := []string{"grep"}
	for _, o := range c.Pos {
		s := value.Str(o)
		if len(strings.Fields(s)) > 1 {
			return nil, invalid("Passing multiple command line arguments in a single string is not supported, please pass the following arguments separately: %s", s)
		}
		argv = append(argv, s)
	}
	p := f.Expand(c.Str("path"))
	argv = append(argv, c.Str("pattern"))
	if files := f.Glob(p); len(files) > 0 {
		argv = append(argv, files...)
	} else {
		argv = append(argv, p)
	}
	return f.runAll(ctx, argv)
}

// runAll runs a program and returns what cmd.run_all does.
func (f *FS) runAll(ctx context.Context, argv []string) (value.Value, error) {
	out, err := f.Run(ctx, host.Cmd{Argv: argv})
	if err != nil {
		return nil, fun.Errorf("Unable to run %s: %s", argv[0], host.Strerror(err))
	}
	text := func(b []byte) string { return strings.TrimRight(string(b), "\r\n") }
	return value.MapOf("pid", int64(out.PID), "retcode", int64(out.Status), "stdout", text(out.Stdout), "stderr", text(out.Stderr)), nil
}
