// Package archive is Salt's execution module archive: tar and zip.
//
// [Module] lists the functions; [List] and [Extract] are what the state uses.
// tar (plain, gzip, bzip2) and zip are read by brine itself; xz, lzma and zstd
// by the programs of that name.
//
// Salt: salt/modules/archive.py.
package archive

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
	"brine/modules/cp"
)

// Module returns the execution module "archive".
func Module() fun.Module {
	return fun.Module{Name: "archive", Kind: fun.Exec, Doc: "List, create and unpack archives.", Specs: specs}
}

func list(ctx context.Context, c *fun.Call) (fun.Result, error) {
	name := c.Str("name")
	p, err := cp.New(c.Env, c.Str("saltenv")).CacheFile(ctx, name, cp.Options{SourceHash: c.Str("source_hash"), UseETag: c.Bool("use_etag")})
	if err != nil {
		return fun.Result{}, err
	}
	if p == "" {
		return fun.Result{}, fun.Errorf("Failed to cache %s", name)
	}
	format := c.Str("archive_format")
	if format == "" {
		format = Guess(name)
	}
	if format != "tar" && format != "zip" {
		return fun.Result{}, fun.Errorf("Unable to guess archive format, please pass an 'archive_format' argument.")
	}
	strip := c.Int("strip_components")
	l, err := List(ctx, c.Env.Host, p, format, LimitsOf(c.Env.Opts), int(strip))
	if err != nil {
		if errors.Is(err, ErrFormat) {
			return fun.Result{}, fun.Errorf("%s", Unlisted(name, p, format))
		}
		return fun.Result{}, unreadable(err)
	}
	if c.Bool("verbose") {
		return fun.Value(l.Value())
	}
	all := map[string]bool{}
	for _, names := range [][]string{l.Dirs, l.Files, l.Links} {
		for _, n := range names {
			all[n] = true
		}
	}
	return fun.Value(value.Strings(sorted(all)...))
}

// unreadable gives an error of reading an archive Salt's words.
func unreadable(err error) error {
	if errors.Is(err, ErrFormat) {
		return fun.Errorf("Failed to list contents of archive: not a tar or zip archive that brine can read")
	}
	return fun.Errorf("%s", host.OSError(err))
}

// run runs a program and returns its output, stderr included, by lines, and
// its status.
func run(ctx context.Context, c *fun.Call, argv []string, dir string, writes ...string) ([]string, int, error) {
	return runWith(ctx, c, argv, dir, nil, writes...)
}

// runWith is run with an environment; nil is the host's. writes are the directories
// that the program writes to.
func runWith(ctx context.Context, c *fun.Call, argv []string, dir string, env []string, writes ...string) ([]string, int, error) {
	if _, err := c.Env.Host.LookPath(argv[0], ""); err != nil {
		return nil, 0, fun.Errorf("Unable to run command '%s': no program %s is there", strings.Join(argv, " "), argv[0])
	}
	cmd := host.Cmd{Argv: argv, Dir: dir, Merge: true, Env: env}
	if u := c.Str("runas"); u != "" {
		a, err := c.Env.Host.LookupUser(u)
		if err != nil {
			return nil, 0, fun.Errorf("User '%s' is not available", u)
		}
		cmd.User = &a
	}
	if cmd.User == nil || cmd.User.UID == 0 {
		if err := host.CheckOwn(c.Env.Host, "runas", writes...); err != nil {
			return nil, 0, fun.Errorf("Unable to run %s: %s", argv[0], host.OSError(err))
		}
		cmd.Alone, cmd.AloneArg = writes, "runas"
	}
	out, err := c.Env.Host.Run(ctx, cmd)
	if err != nil {
		return nil, 0, fun.Errorf("Unable to run %s: %s", argv[0], host.Strerror(err))
	}
	text := strings.TrimRight(value.DecodeReplace(out.Stdout), " \t\r\n")
	if text == "" {
		return nil, out.Status, nil
	}
	return strings.Split(text, "\n"), out.Status, nil
}

// inPlace runs a program on the file that is the first argument.
func inPlace(ctx context.Context, c *fun.Call, program string) (fun.Result, error) {
	argv := append([]string{program}, strings.Fields(c.Str("options"))...)
	file := c.Str(c.Spec.Args[0].Name)
	out, code, err := run(ctx, c, append(argv, file), "", filepath.Dir(file))
	if err != nil {
		return fun.Result{}, err
	}
	return lines(out, code)
}

func gzipFile(ctx context.Context, c *fun.Call) (fun.Result, error) { return inPlace(ctx, c, "gzip") }

func gunzipFile(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return inPlace(ctx, c, "gunzip")
}

func tarFn(ctx context.Context, c *fun.Call) (fun.Result, error) {
	options := c.Str("options")
	if options == "" {
		return fun.Result{}, fun.Errorf("Tar options can not be empty")
	}
	// Old style letters would take the archive for an argument of any of them.
	if !strings.HasPrefix(options, "-") {
		options = "-" + options
	}
	argv := append(append([]string{"tar"}, strings.Fields(options)...), c.Str("tarfile"))
	if d := c.Str("dest"); d != "" {
		argv = append(argv, "-C", d)
	}
	out, code, err := run(ctx, c, append(argv, expand(c, c.Str("cwd"))...), c.Str("cwd"), tarWrites(c, options)...)
	if err != nil {
		return fun.Result{}, err
	}
	return lines(out, code)
}

// tarWrites returns the directory that a call of tar writes to: that of the
// archive, or the one that it is unpacked in.
func tarWrites(c *fun.Call, options string) []string {
	first, _, _ := strings.Cut(strings.TrimLeft(options, "-"), " ")
	has := func(letters string, words ...string) bool {
		return !strings.HasPrefix(options, "--") && strings.ContainsAny(first, letters) ||
			slices.ContainsFunc(words, func(w string) bool { return strings.Contains(options, "--"+w) })
	}
	switch {
	case has("t", "list", "diff", "compare", "test-label") && !has("xcruA"):
		return nil
	case has("x", "extract", "get"):
		dest := c.Str("dest")
		if dest == "" {
			dest = c.Str("cwd")
		} else if !filepath.IsAbs(dest) {
			dest = filepath.Join(c.Str("cwd"), dest)
		}
		if dest == "" {
			return nil
		}
		return []string{dest}
	}
	file := c.Str("tarfile")
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.Str("cwd"), file)
	}
	return []string{filepath.Dir(file)}
}

func unzip(ctx context.Context, c *fun.Call) (fun.Result, error) {
	dest := c.Str("dest")
	if !filepath.IsAbs(dest) {
		return fun.Result{}, fun.Errorf("dest has to be an absolute path")
	}
	if err := c.Env.Host.MkdirAll(dest, 0o755); err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
	}
	names, err := Extract(ctx, c.Env.Host, c.Str("zip_file"), "zip", dest, LimitsOf(c.Env.Opts), c.Bool("extract_perms"))
	if err != nil {
		return fun.Result{}, unreadable(err)
	}
	return fun.Value(value.Strings(TrimListed(names, c.Value("trim_output"))...))
}

// TrimListed is Trim with a last line that says that more is left out.
//
// Salt: salt/modules/archive.py _trim_files.
func TrimListed(names []string, trim value.Value) []string {
	left := Trim(names, trim)
	if len(left) < len(names) {
		left = append(slices.Clone(left), fmt.Sprintf("List trimmed after %d files.", len(left)))
	}
	return left
}

// Trim returns at most as many names as trim_output says; True is a hundred.
func Trim(names []string, trim value.Value) []string {
	n := 0
	if v, ok := value.AsInt(trim); ok {
		n = int(v)
	}
	if trim == true {
		n = 100
	}
	if n > 0 && n < len(names) {
		return names[:n]
	}
	return names
}
