package file

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cp"
	"brine/modules/textfile"
	"brine/modules/tool"
)

func basename(_ context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	return fun.Value(pyBase(a.Path))
}

func dirname(_ context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	return fun.Value(pyDir(a.Path))
}

func normpath(_ context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	return fun.Value(filepath.Clean(a.Path))
}

func pardir(context.Context, *fun.Call, *fun.NoArgs) (fun.Result, error) { return fun.Value("..") }

func pwd(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return result(on(c).Getwd())
}

func directoryExists(_ context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	f, p := onPath(c, a.Path)
	return fun.Value(f.IsDir(p))
}

func fileExists(_ context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	f, p := onPath(c, a.Path)
	return fun.Value(f.IsFile(p))
}

func isLink(_ context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	f, p := onPath(c, a.Path)
	return fun.Value(f.IsLink(p))
}

func isHardLink(_ context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	f, p := onPath(c, a.Path)
	st, err := f.Lstat(p)
	return fun.Value(err == nil && st.Mode.IsRegular() && st.Nlink > 1)
}

func pathExistsGlob(_ context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	f, p := onPath(c, a.Path)
	return fun.Value(len(f.Glob(p)) > 0)
}

// isOfType returns whether the path of a call is a file of a type.
func isOfType(c *fun.Call, a *nameArg, typ string) (fun.Result, error) {
	f, p := onPath(c, a.Name)
	st, err := f.Lstat(p)
	return fun.Value(err == nil && typeName(st.Mode) == typ)
}

func isBlockDev(_ context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	return isOfType(c, a, "block")
}

func isCharDev(_ context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	return isOfType(c, a, "char")
}

func isFIFO(_ context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	return isOfType(c, a, "pipe")
}

// stat returns the part of the stats of a call's path that pick takes.
func stat(c *fun.Call, a *getGIDArgs, pick func(Stats) value.Value) (fun.Result, error) {
	f, p := onPath(c, a.Path)
	st, err := f.Stats(p, a.FollowSymlinks)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(pick(st))
}

func getMode(_ context.Context, c *fun.Call, a *getGIDArgs) (fun.Result, error) {
	return stat(c, a, func(s Stats) value.Value { return s.Mode })
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

type accessArgs struct {
	pathArg
	Mode string `arg:"mode,required" doc:"f: exists, r: readable, w: writable, x: executable"`
}

func access(_ context.Context, c *fun.Call, args *accessArgs) (fun.Result, error) {
	f := on(c)
	p := f.Expand(args.Path)
	if !filepath.IsAbs(p) {
		return fun.Result{}, invalid("Path to link must be absolute.")
	}
	bit := map[string]uint32{"f": 0, "r": 4, "w": 2, "x": 1, "0": 0, "1": 1, "2": 2, "4": 4} // letters, or the numbers of os.access
	want, ok := bit[args.Mode]
	if !ok {
		return fun.Result{}, invalid("Invalid mode specified.")
	}
	st, err := f.Stat(p)
	if err != nil {
		return fun.Value(false)
	}
	uid := f.Geteuid()
	switch {
	case want == 0:
		return fun.Value(true)
	case uid == 0:
		return fun.Value(want != 1 || st.Mode.IsDir() || st.Perm()&0o111 != 0)
	case uid == st.UID:
		return fun.Value(st.Perm()>>6&want != 0)
	}
	gids := []int{f.Getegid()}
	if a, err := f.LookupUID(uid); err == nil {
		if more, err := f.GroupIDs(a.Name); err == nil {
			gids = append(gids, more...)
		}
	}
	if slices.Contains(gids, st.GID) {
		return fun.Value(st.Perm()>>3&want != 0)
	}
	return fun.Value(st.Perm()&want != 0)
}

type checkHashArgs struct {
	pathArg
	FileHash value.Value `arg:"file_hash,required" doc:"the digest, or TYPE:DIGEST, or TYPE=DIGEST"`
}

func checkHash(_ context.Context, c *fun.Call, a *checkHashArgs) (fun.Result, error) {
	f := on(c)
	want, ok := a.FileHash.(string)
	if !ok {
		return fun.Result{}, invalid("hash must be a string")
	}
	kind := cp.HashType(len(want))
	if i := strings.IndexAny(want, ":="); i >= 0 {
		kind, want = want[:i], want[i+1:]
	} else if kind == "" {
		return fun.Result{}, invalid("Hash %s (length: %d) could not be matched to a supported hash type. The supported hash types and lengths are: %s", want, len(want), hashTable())
	}
	have, err := cp.HashFile(f.Host, f.Expand(a.Path), kind)
	return fun.Result{Value: have == want}, osError(err)
}

// osError gives an error of the system Python's words.
func osError(err error) error {
	if err == nil {
		return nil
	}
	return fun.Errorf("%s", host.OSError(err))
}

func diskusage(_ context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	f, p := onPath(c, a.Path)
	st, err := f.Stat(p)
	if err != nil {
		return fun.Value(int64(0)) // what is not there takes no room
	}
	if !st.Mode.IsDir() {
		return fun.Value(st.Size)
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
	return fun.Result{Value: total}, err
}

type extractHashArgs struct {
	HashFn   string `arg:"hash_fn,required,path" doc:"the file of digests"`
	HashType string `arg:"hash_type" default:"sha256" doc:"kind of digest"`
	FileName string `arg:"file_name" default:"" doc:"name of the file"`
	Source   string `arg:"source" default:"" doc:"URL of the file"`
	hashNameOpt
}

func extractHash(_ context.Context, c *fun.Call, a *extractHashArgs) (fun.Result, error) {
	f := on(c)
	s, ok, err := f.ExtractHash(a.HashFn, a.HashType, a.FileName, a.Source, a.SourceHashName)
	if err != nil || !ok {
		return fun.Result{}, osError(err)
	}
	return fun.Value(value.MapOf("hsum", s.Hex, "hash_type", s.Type))
}

type getDiffArgs struct {
	_               fun.Arguments
	File1           string `arg:"file1,required,path" doc:"path or URL"`
	File2           string `arg:"file2,required,path" doc:"path or URL"`
	SaltEnv         string `arg:"saltenv" default:"base" doc:"environment of salt:// URLs"`
	ShowFilenames   bool   `arg:"show_filenames" default:"True" doc:"name the files at the top"`
	ShowChanges     bool   `arg:"show_changes" default:"True" doc:"show the diff"`
	_               bool   `arg:"template" default:"False" doc:"accepted"`
	SourceHashFile1 string `arg:"source_hash_file1" doc:"digest of the first file"`
	SourceHashFile2 string `arg:"source_hash_file2" doc:"digest of the second file"`
}

func getDiff(ctx context.Context, c *fun.Call, args *getDiffArgs) (fun.Result, error) {
	f := onEnv(c, args.SaltEnv)
	var paths [2]string
	client := f.cp()
	for i, side := range []struct{ file, hash string }{{args.File1, args.SourceHashFile1}, {args.File2, args.SourceHashFile2}} {
		p, err := client.CacheFile(ctx, f.Expand(side.file), cp.Options{SourceHash: side.hash})
		if err != nil {
			return fun.Result{}, err
		}
		if p == "" {
			return fun.Result{}, fun.Errorf("Failed to cache one or more files: File %s not found", side.file)
		}
		paths[i] = p
	}
	var names []string
	if args.ShowFilenames {
		names = paths[:]
	}
	a, b := f.FileAt(paths[0]), f.FileAt(paths[1])
	if !args.ShowChanges {
		d, err := f.showDiff(a, b, true)
		return fun.Result{Value: d}, osError(err)
	}
	d, err := Diff(a, b, names...)
	return fun.Result{Value: d}, osError(err)
}

type getHashArgs struct {
	pathArg
	Form string `arg:"form" default:"sha256" doc:"md5, sha1, sha224, sha256, sha384 or sha512"`
	_    int64  `arg:"chunk_size" default:"65536" unit:"bytes" doc:"accepted"`
}

func getHash(_ context.Context, c *fun.Call, a *getHashArgs) (fun.Result, error) {
	f := on(c)
	h, err := cp.HashFile(f.Host, f.Expand(a.Path), a.Form)
	return fun.Result{Value: h}, osError(err)
}

type getSumArgs struct {
	pathArg
	Form string `arg:"form" default:"sha256" doc:"md5, sha1, sha224, sha256, sha384 or sha512"`
}

func getSum(_ context.Context, c *fun.Call, a *getSumArgs) (fun.Result, error) {
	f := on(c)
	p := f.Expand(a.Path)
	if !f.IsFile(p) {
		return fun.Value("File not found")
	}
	h, err := cp.HashFile(f.Host, p, a.Form)
	return fun.Result{Value: h}, osError(err)
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

type joinArgs struct {
	More fun.Varargs
}

func join(_ context.Context, c *fun.Call, a *joinArgs) (fun.Result, error) {
	if len(a.More) == 0 {
		return fun.Value("")
	}
	out := ""
	for i, p := range a.More {
		switch part := value.Str(p); { // an absolute part starts again
		case i == 0 || strings.HasPrefix(part, "/"):
			out = part
		case out == "" || strings.HasSuffix(out, "/"):
			out += part
		default:
			out += "/" + part
		}
	}
	return fun.Value(out)
}

type listBackupsArgs struct {
	pathArg
	Limit value.Value `arg:"limit,int" doc:"return at most this many"`
}

func listBackups(_ context.Context, c *fun.Call, a *listBackupsArgs) (fun.Result, error) {
	f := on(c)
	limit, _ := asNumber(a.Limit)
	return fun.Value(f.ListBackups(a.Path, limit))
}

type listBackupsDirArgs struct {
	pathArg
	Limit value.Value `arg:"limit,int" doc:"return at most this many of each"`
}

func listBackupsDir(_ context.Context, c *fun.Call, a *listBackupsDirArgs) (fun.Result, error) {
	f, p := onPath(c, a.Path)
	names, err := f.ReadDir(filepath.Join(f.backupRoot(), p))
	if err != nil {
		return fun.Value(value.NewMap(0)) // there are none
	}
	limit, _ := asNumber(a.Limit)
	all := value.NewMap(len(names))
	for _, n := range names {
		parts := strings.Split(n, "_")
		if len(parts) < 7 {
			continue
		}
		base := strings.Join(parts[:len(parts)-6], "_")
		if !all.Has(base) {
			all.Set(base, f.ListBackups(filepath.Join(p, base), limit))
		}
	}
	return fun.Value(all)
}

func lsattr(ctx context.Context, c *fun.Call, args *pathArg) (fun.Result, error) {
	f := on(c)
	p := f.Expand(args.Path)
	if !tool.Has(f.Host, "lsattr") {
		return fun.Value(nil) // as in Salt, where lsattr is missing
	}
	if !f.Exists(p) {
		return fun.Result{}, invalid("File or directory does not exist: %s", p)
	}
	out, err := tool.Run(ctx, f.Host, "lsattr", "--", p)
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(1)
	// One line a file, of a directory one for each file in it; what lsattr cannot
	// ask is on stderr, and its status says so.
	for line := range strings.Lines(out.Stdout) {
		attrs, name, ok := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if !ok {
			continue
		}
		l := &value.List{}
		for _, a := range attributes(attrs) {
			l.Append(string(a))
		}
		ret.Set(strings.TrimLeft(name, " "), l)
	}
	return fun.Value(ret)
}

func lstat(_ context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	f, p := onPath(c, a.Path)
	if !filepath.IsAbs(p) {
		return fun.Result{}, invalid("Path to file must be absolute.")
	}
	st, err := f.Lstat(p)
	if err != nil {
		return fun.Value(value.NewMap(0)) // as in Salt
	}
	return fun.Value(value.MapOf(
		"st_atime", Seconds(st.Atime), "st_mode", int64(unixMode(st.Mode)), "st_gid", int64(st.GID), "st_mtime", Seconds(st.Mtime),
		"st_nlink", int64(st.Nlink), "st_size", st.Size, "st_uid", int64(st.UID), "st_ctime", Seconds(st.Ctime),
	))
}

// unixMode returns st_mode: type and permissions.
func unixMode(m fs.FileMode) uint32 {
	t := map[string]uint32{"file": 0o100000, "dir": 0o040000, "link": 0o120000, "char": 0o020000, "block": 0o060000, "pipe": 0o010000, "socket": 0o140000}
	return t[typeName(m)] | host.UnixMode(m)
}

type readArgs struct {
	pathArg
	Binary bool `arg:"binary" default:"False" doc:"return bytes"`
}

func read(_ context.Context, c *fun.Call, a *readArgs) (fun.Result, error) {
	f := on(c)
	b, err := f.ReadFile(f.Expand(a.Path))
	if err != nil {
		return fun.Result{}, osError(err)
	}
	if a.Binary {
		return fun.Value(value.Bytes(b))
	}
	return fun.Value(string(b))
}

func readdir(_ context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	f, p := onPath(c, a.Path)
	if !filepath.IsAbs(p) {
		return fun.Result{}, invalid("Dir path must be absolute.")
	}
	if !f.IsDir(p) {
		return fun.Result{}, invalid("A valid directory was not specified.")
	}
	names, err := f.ReadDir(p)
	if err != nil {
		return fun.Result{}, osError(err)
	}
	return fun.Value(value.Strings(append([]string{".", ".."}, names...)...))
}

type readlinkArgs struct {
	pathArg
	Canonicalize bool `arg:"canonicalize" default:"False" doc:"resolve all links; return an absolute path"`
}

func readlink(_ context.Context, c *fun.Call, a *readlinkArgs) (fun.Result, error) {
	f := on(c)
	p := f.Expand(a.Path)
	if !filepath.IsAbs(p) {
		return fun.Result{}, invalid("Path to link must be absolute.")
	}
	if !f.IsLink(p) {
		return fun.Result{}, invalid("A valid link was not specified.")
	}
	if a.Canonicalize {
		return fun.Value(f.RealPath(p))
	}
	to, err := f.Readlink(p)
	return fun.Result{Value: to}, osError(err)
}

// wrap is result for a Go value.
func wrap[T any](v T, err error) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.From(v))
}

type seekReadArgs struct {
	pathArg
	Size   int64 `arg:"size,required" unit:"bytes" doc:"how much to read"`
	Offset int64 `arg:"offset,required" unit:"bytes" doc:"where to start; negative counts from the end"`
}

func seekRead(_ context.Context, c *fun.Call, a *seekReadArgs) (fun.Result, error) {
	f := on(c)
	b, err := f.ReadFile(f.Expand(a.Path))
	if err != nil {
		return fun.Result{}, osError(err)
	}
	size := a.Size
	at := a.Offset
	if at < 0 {
		at = max(0, int64(len(b))+at)
	}
	at = min(at, int64(len(b)))
	return fun.Value(string(b[at:min(int64(len(b)), at+max(0, size))]))
}

type sourceListArgs struct {
	_          fun.Arguments
	Source     value.Value `arg:"source,required" doc:"sources"`
	SourceHash value.Value `arg:"source_hash,required" doc:"digest"`
	SaltEnv    string      `arg:"saltenv,required" doc:"environment of salt:// URLs"`
}

func sourceList(ctx context.Context, c *fun.Call, a *sourceListArgs) (fun.Result, error) {
	f := onEnv(c, a.SaltEnv)
	src, hash, err := f.SourceList(ctx, a.Source, a.SourceHash)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.NewList(src, hash))
}

type statsArgs struct {
	pathArg
	HashType string `arg:"hash_type" doc:"also return a digest of this kind"`
	followArgs
}

func stats(_ context.Context, c *fun.Call, a *statsArgs) (fun.Result, error) {
	f := on(c)
	p := f.Expand(a.Path)
	st, err := f.Stats(p, a.FollowSymlinks)
	if err != nil {
		return fun.Result{}, err
	}
	m := value.MapOf(
		"inode", value.From(st.Inode), "uid", int64(st.UID), "gid", int64(st.GID), "group", st.Group, "user", st.User,
		"atime", Seconds(st.Atime), "mtime", Seconds(st.Mtime), "ctime", Seconds(st.Ctime), "size", st.Size, "mode", st.Mode,
	)
	if kind := a.HashType; kind != "" {
		sum := value.Value("File not found")
		if f.IsFile(p) {
			if sum, err = cp.HashFile(f.Host, p, kind); err != nil {
				return fun.Result{}, osError(err)
			}
		}
		m.Set("sum", sum)
	}
	m.Set("type", st.Type)
	m.Set("target", f.RealPath(p))
	return fun.Value(m)
}

type tailArgs struct {
	pathArg
	Lines int64 `arg:"lines,required" doc:"how many"`
}

func tail(_ context.Context, c *fun.Call, a *tailArgs) (fun.Result, error) {
	f := on(c)
	p := f.Expand(a.Path)
	if !f.IsFile(p) {
		return fun.Result{}, invalid("File not found: %s", p)
	}
	b, err := f.ReadFile(p)
	if err != nil {
		return fun.Result{}, osError(err)
	}
	if !IsText(b) {
		return fun.Result{}, invalid("Cannot tail a binary file: %s", p)
	}
	n := a.Lines
	lines := SplitLines(string(b), false)
	if k := len(lines) - int(n); k > 0 && n >= 0 {
		lines = lines[k:]
	}
	return fun.Value(value.Strings(lines...))
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

// runOn is runAll for a program that changes the file which is its last argument.
func (f *FS) runOn(ctx context.Context, path string, argv []string) (v value.Value, err error) {
	ferr := textfile.ByProgram(f.Host, path, func(copied string) error {
		if v, err = f.runAll(ctx, append(slices.Clip(argv), copied)); err != nil {
			return err
		}
		for _, name := range []string{"stdout", "stderr"} {
			m := v.(*value.Map)
			m.Set(name, strings.ReplaceAll(m.Str(name), copied, path))
		}
		return nil
	})
	if err == nil && ferr != nil {
		err = fun.Errorf("Unable to run %s: %s", argv[0], host.OSError(ferr))
	}
	return v, err
}

// runAll runs a program and returns what cmd.run_all does.
func (f *FS) runAll(ctx context.Context, argv []string, alone ...string) (value.Value, error) {
	out, err := f.Run(ctx, host.Cmd{Argv: argv, Alone: alone})
	if err != nil {
		return nil, tool.NotRun(strings.Join(argv, " "), argv[0], err)
	}
	text := func(b []byte) string { return strings.TrimRight(string(b), "\r\n") }
	return value.MapOf("pid", int64(out.PID), "retcode", int64(out.Status), "stdout", text(out.Stdout), "stderr", text(out.Stderr)), nil
}
