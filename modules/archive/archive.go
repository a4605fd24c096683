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

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cp"
	"brine/modules/tool"
)

// Module returns the execution module "archive".
func Module() fun.Module {
	return fun.Module{Name: "archive", Kind: fun.Exec, Doc: "List, create and unpack archives.", Specs: specs}
}

type listArgs struct {
	Name            string `arg:"name,required,path" doc:"path or URL of the archive"`
	ArchiveFormat   string `arg:"archive_format" doc:"tar or zip; default: by the name"`
	_               string `arg:"options" doc:"accepted, has no effect"`
	StripComponents int64  `arg:"strip_components" doc:"remove this many leading parts of the names"`
	_               bool   `arg:"clean" default:"False" doc:"accepted"`
	Verbose         bool   `arg:"verbose" default:"False" doc:"return directories, files and links separately"`
	Saltenv         string `arg:"saltenv" default:"base" doc:"environment of a salt:// URL"`
	hashArg
	etagArgs
}

func list(ctx context.Context, c *fun.Call, a *listArgs) (fun.Result, error) {
	name := a.Name
	p, err := cp.New(c.Env, a.Saltenv).CacheFile(ctx, name, cp.Options{SourceHash: a.SourceHash, UseETag: a.UseEtag})
	if err != nil {
		return fun.Result{}, err
	}
	if p == "" {
		return fun.Result{}, fun.Errorf("Failed to cache %s", name)
	}
	format := a.ArchiveFormat
	if format == "" {
		format = Guess(name)
	}
	if format != "tar" && format != "zip" {
		return fun.Result{}, fun.Errorf("Unable to guess archive format, please pass an 'archive_format' argument.")
	}
	strip := a.StripComponents
	l, err := List(ctx, c.Env.Host, p, format, LimitsOf(c.Env.Opts), int(strip))
	if err != nil {
		if errors.Is(err, ErrFormat) {
			return fun.Result{}, fun.Errorf("%s", Unlisted(name, p, format))
		}
		return fun.Result{}, unreadable(err)
	}
	if a.Verbose {
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

// run runs a program as an account and returns its output, stderr included, by lines,
// and its status.
func run(ctx context.Context, c *fun.Call, runas string, argv []string, dir string, writes ...string) ([]string, int, error) {
	return runWith(ctx, c, runas, argv, dir, nil, writes...)
}

// runWith is run with an environment; nil is the host's. writes are the directories
// that the program writes to.
func runWith(ctx context.Context, c *fun.Call, runas string, argv []string, dir string, env []string, writes ...string) ([]string, int, error) {
	if !tool.Has(c.Env.Host, argv[0]) {
		return nil, 0, fun.Errorf("Unable to run command '%s': no program %s is there", strings.Join(argv, " "), argv[0])
	}
	cmd := host.Cmd{Argv: argv, Dir: dir, Merge: true, Env: env}
	if u := runas; u != "" {
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
		return nil, 0, tool.NotRun(strings.Join(argv, " "), argv[0], err)
	}
	text := strings.TrimRight(value.DecodeReplace(out.Stdout), " \t\r\n")
	if text == "" {
		return nil, out.Status, nil
	}
	return strings.Split(text, "\n"), out.Status, nil
}

// inPlace runs a program on a file.
func inPlace(ctx context.Context, c *fun.Call, program, options, file, runas string) (fun.Result, error) {
	argv := append([]string{program}, strings.Fields(options)...)
	return lines(run(ctx, c, runas, append(argv, file), "", filepath.Dir(file)))
}

type gzipFileArgs struct {
	Sourcefile string `arg:"sourcefile,required,path" doc:"the file"`
	templateArg
	runasArg
	optionsArg
}

func gzipFile(ctx context.Context, c *fun.Call, a *gzipFileArgs) (fun.Result, error) {
	return inPlace(ctx, c, "gzip", a.Options, a.Sourcefile, a.Runas)
}

type gunzipFileArgs struct {
	Gzipfile string `arg:"gzipfile,required,path" doc:"the file"`
	templateArg
	runasArg
	optionsArg
}

func gunzipFile(ctx context.Context, c *fun.Call, a *gunzipFileArgs) (fun.Result, error) {
	return inPlace(ctx, c, "gunzip", a.Options, a.Gzipfile, a.Runas)
}

type tarFnArgs struct {
	Options string   `arg:"options,required" doc:"letters such as cjvf, or options"`
	Tarfile string   `arg:"tarfile,required,path" doc:"the archive"`
	Sources []string `arg:"sources,comma[str]" doc:"files to pack, as a list or separated by commas"`
	Dest    string   `arg:"dest,path" doc:"directory to unpack in"`
	cwdArg
	templateArg
	runasArg
}

func tarFn(ctx context.Context, c *fun.Call, a *tarFnArgs) (fun.Result, error) {
	options := a.Options
	if options == "" {
		return fun.Result{}, fun.Errorf("Tar options can not be empty")
	}
	// Old style letters would take the archive for an argument of any of them.
	if !strings.HasPrefix(options, "-") {
		options = "-" + options
	}
	argv := append(append([]string{"tar"}, strings.Fields(options)...), a.Tarfile)
	if d := a.Dest; d != "" {
		argv = append(argv, "-C", d)
	}
	return lines(run(ctx, c, a.Runas, append(argv, expand(c, a.Sources, a.Cwd)...), a.Cwd, tarWrites(a, options)...))
}

// tarWrites returns the directory that a call of tar writes to: that of the
// archive, or the one that it is unpacked in.
func tarWrites(a *tarFnArgs, options string) []string {
	first, _, _ := strings.Cut(strings.TrimLeft(options, "-"), " ")
	has := func(letters string, words ...string) bool {
		return !strings.HasPrefix(options, "--") && strings.ContainsAny(first, letters) ||
			slices.ContainsFunc(words, func(w string) bool { return strings.Contains(options, "--"+w) })
	}
	switch {
	case has("t", "list", "diff", "compare", "test-label") && !has("xcruA"):
		return nil
	case has("x", "extract", "get"):
		dest := a.Dest
		if dest == "" {
			dest = a.Cwd
		} else if !filepath.IsAbs(dest) {
			dest = filepath.Join(a.Cwd, dest)
		}
		if dest == "" {
			return nil
		}
		return []string{dest}
	}
	file := a.Tarfile
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.Cwd, file)
	}
	return []string{filepath.Dir(file)}
}

type unzipArgs struct {
	zipArg
	destArg
	excludesArg
	_ string `arg:"options" doc:"accepted, has no effect"`
	templateArg
	runasArg
	TrimOutput   value.Value `arg:"trim_output,bool|int" default:"False" doc:"return at most this many names; True is 100"`
	_            string      `arg:"password,secret" doc:"accepted; encrypted archives are not read"`
	ExtractPerms bool        `arg:"extract_perms" default:"True" doc:"keep the permissions of the archive"`
}

func unzip(ctx context.Context, c *fun.Call, a *unzipArgs) (fun.Result, error) {
	h := c.Env.Host
	if u := a.Runas; u != "" && (u != "root" || h.Geteuid() != 0) {
		return fun.Result{}, fun.Errorf("archive.unzip runs as no other user; archive.cmd_unzip does")
	}
	dest := a.Dest
	if !filepath.IsAbs(dest) {
		return fun.Result{}, fun.Errorf("dest has to be an absolute path")
	}
	if err := h.MkdirAll(dest, 0o755); err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
	}
	names, err := Extract(ctx, h, a.ZipFile, "zip", dest, LimitsOf(c.Env.Opts), a.ExtractPerms, a.Excludes...)
	if err != nil {
		return fun.Result{}, unreadable(err)
	}
	return fun.Value(value.Strings(TrimListed(names, a.TrimOutput)...))
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
