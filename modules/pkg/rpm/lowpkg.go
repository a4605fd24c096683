// Package rpm is Salt's execution module "lowpkg" on systems with rpm, and rpm's
// database for the providers of "pkg" there.
package rpm

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
	"brine/modules/cp"
	"brine/modules/machine"
	"brine/modules/pkg"
	"brine/modules/tool"
)

// Module returns the execution module "lowpkg" for rpm.
func Module() fun.Module {
	return fun.Module{Name: "lowpkg", Kind: fun.Exec, Doc: "Read and change rpm's database.", Avail: avail, Specs: specs}
}

// relatives are the values of the grain os that are systems with rpm, whatever
// their os_family is.
var relatives = []string{"amazon", "xcp", "xenserver", "virtuozzolinux", "virtuozzo", "issabel pbx", "openeuler"}

// Family reports whether a machine is of one of the families, by its grains.
func Family(env *fun.Env, families ...string) bool {
	return slices.Contains(families, strings.ToLower(machine.Grain(env, "os_family"))) ||
		slices.Contains(relatives, strings.ToLower(machine.Grain(env, "os")))
}

func avail(env *fun.Env) (bool, string) {
	if !Family(env, "redhat", "suse") {
		return false, "os_family is not RedHat or Suse"
	}
	if !tool.Has(env.Host, "rpm") {
		return false, "rpm is missing"
	}
	return true, ""
}

// names returns the positional arguments, which are names of packages.
func names(c *fun.Call) ([]string, error) {
	list := pkg.Names(c)
	return list, pkg.CheckNames(list)
}

// asking are the options that query packages: all of them where none is named.
func asking(wanted []string, short string) []string {
	if len(wanted) == 0 {
		return []string{short + "a"}
	}
	return []string{short}
}

type binPkgInfoArgs struct {
	_       fun.Arguments
	Path    string `arg:"path,required,path" doc:"path or URL of the file; salt:// is a file of the file server"`
	Saltenv string `arg:"saltenv" default:"base" doc:"environment of a salt:// URL"`
}

func binPkgInfo(ctx context.Context, c *fun.Call, a *binPkgInfoArgs) (fun.Result, error) {
	file := a.Path
	local := file
	if cp.Scheme(file) != "" {
		var err error
		if local, err = pkg.Fetch(ctx, c.Env, file, a.Saltenv); err != nil {
			return fun.Result{}, err
		}
		if local == "" {
			return fun.Result{}, fun.Errorf("Unable to retrieve %s from saltenv '%s'", cp.Redact(file), a.Saltenv)
		}
	} else if _, err := c.Env.Host.Stat(file); !path.IsAbs(file) || errors.Is(err, fs.ErrNotExist) {
		return fun.Result{}, fun.Errorf("%s does not exist on minion", file)
	}
	p, ok, why, err := ReadFile(ctx, c.Env, local)
	if err != nil {
		return fun.Result{}, err
	}
	if !ok {
		c.Env.Log().Warn("rpm cannot read a package file", "path", file, "why", why)
		return fun.Value(nil)
	}
	date, seconds := p.date()
	return fun.Value(value.MapOf("name", p.Name, "version", p.EVR(), "arch", p.Arch, "repoid", "none",
		"install_date", date, "install_date_time_t", seconds))
}

// listPkgsArgs are the arguments of listPkgs, fileList, fileDict, owner and checksum.
type listPkgsArgs struct {
	rootArg
	_ fun.Varargs
	_ fun.Kwargs
}

func listPkgs(ctx context.Context, c *fun.Call, a *listPkgsArgs) (fun.Result, error) {
	wanted, err := names(c)
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(0)
	if len(wanted) == 0 {
		db, err := Read(ctx, c.Env, a.Root)
		if err != nil {
			return fun.Result{}, err
		}
		for i := range db.Packages {
			m.Set(db.Packages[i].Base, db.Packages[i].Version)
		}
		return fun.Value(m)
	}
	out, err := Query(ctx, c.Env.Host, a.Root, slices.Concat([]string{"-q", "--queryformat", `%{NAME} %{VERSION}\n`}, wanted)...)
	if err != nil {
		return fun.Result{}, err
	}
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		if f := strings.Fields(line); len(f) == 2 && !missing(line) {
			m.Set(f[0], f[1])
		}
	}
	return fun.Result{Value: m, Retcode: out.Status}, nil
}

// missing reports whether a line says that a package is not installed.
func missing(line string) bool {
	return strings.HasPrefix(line, "package ") && strings.HasSuffix(line, " is not installed")
}

func fileList(ctx context.Context, c *fun.Call, a *listPkgsArgs) (fun.Result, error) {
	wanted, err := names(c)
	if err != nil {
		return fun.Result{}, err
	}
	out, err := Query(ctx, c.Env.Host, a.Root, slices.Concat(asking(wanted, "-ql"), wanted)...)
	if err != nil {
		return fun.Result{}, err
	}
	files, faults := value.NewList(), value.NewList()
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		switch {
		case missing(line):
			faults.Append(line)
		case strings.HasPrefix(line, "/"):
			files.Append(line)
		}
	}
	return fun.Result{Value: value.MapOf("errors", faults, "files", files), Retcode: out.Status}, nil
}

func fileDict(ctx context.Context, c *fun.Call, a *listPkgsArgs) (fun.Result, error) {
	wanted, err := names(c)
	if err != nil {
		return fun.Result{}, err
	}
	out, err := Query(ctx, c.Env.Host, a.Root, slices.Concat(asking(wanted, "-q"), []string{"--queryformat", `%{NAME}\n[\t%{FILENAMES}\n]`}, wanted)...)
	if err != nil {
		return fun.Result{}, err
	}
	faults, pkgs := value.NewList(), value.NewMap(0)
	var files *value.List
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		file, isFile := strings.CutPrefix(line, "\t")
		switch {
		case missing(line):
			faults.Append(line)
			files = nil
		case isFile:
			if files != nil {
				files.Append(file)
			}
		case line != "":
			if files = pkgs.List(line); files == nil {
				files = value.NewList()
				pkgs.Set(line, files)
			}
		}
	}
	return fun.Result{Value: value.MapOf("errors", faults, "packages", pkgs), Retcode: out.Status}, nil
}

func owner(ctx context.Context, c *fun.Call, a *listPkgsArgs) (fun.Result, error) {
	paths := pkg.Names(c)
	if len(paths) == 0 {
		return fun.Value("")
	}
	m, status, err := Owners(ctx, c.Env, a.Root, paths)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: pkg.One(paths, m), Retcode: status}, nil
}

// Owners returns the packages that paths belong to, "" for a path of none, and the
// last status of rpm.
func Owners(ctx context.Context, env *fun.Env, root string, paths []string) (*value.Map, int, error) {
	for _, p := range paths {
		if p == "" || strings.HasPrefix(p, "-") || strings.ContainsAny(p, "\x00\n") {
			return nil, 0, fun.Errorf("invalid path %s", value.Repr(p))
		}
	}
	m := value.NewMap(len(paths))
	ask := func(paths ...string) (lines []string, status int, err error) {
		out, err := Query(ctx, env.Host, root, slices.Concat([]string{"-qf", "--queryformat", `%{NAME}\n`}, paths)...)
		return strings.Split(out.Stdout, "\n"), out.Status, err
	}
	if len(paths) > 1 {
		lines, status, err := ask(paths...)
		if err != nil {
			return nil, 0, err
		}
		if status == 0 && len(lines) == len(paths) { // each has exactly one owner
			for i, p := range paths {
				m.Set(p, lines[i])
			}
			return m, 0, nil
		}
	}
	status := 0
	for _, p := range paths {
		lines, s, err := ask(p)
		if err != nil {
			return nil, 0, err
		}
		if s != 0 {
			status, lines[0] = s, ""
		}
		m.Set(p, lines[0])
	}
	return m, status, nil
}

type diffArgs struct {
	_           fun.Arguments
	PackagePath string `arg:"package_path,required,path" doc:"path of the package file"`
	Path        string `arg:"path,required,path" doc:"path of the installed file"`
}

// diff compares a file with the one in a package.
func diff(ctx context.Context, c *fun.Call, a *diffArgs) (fun.Result, error) {
	text, err := Diff(ctx, c.Env, a.PackagePath, a.Path)
	return fun.Result{Value: text}, err
}

// Diff returns how a file differs from that in a package file: "" where it does
// not, and a sentence where it is binary.
func Diff(ctx context.Context, env *fun.Env, file, name string) (string, error) {
	for _, p := range []string{"rpm2cpio", "cpio", "diff"} {
		if !tool.Has(env.Host, p) {
			return "", fun.Errorf("The '%s' binary was not found in $PATH.", p)
		}
	}
	if !path.IsAbs(name) || !path.IsAbs(file) {
		return "", &fun.InvocationError{Msg: "package_path and path must be absolute paths"}
	}
	archive, err := rawOutput(ctx, env, nil, "rpm2cpio", file)
	if err != nil {
		return "", err
	}
	original, err := rawOutput(ctx, env, archive, "cpio", "-i", "--quiet", "--to-stdout", "."+name)
	if err != nil {
		return "", err
	}
	text, err := rawOutput(ctx, env, original, "diff", "-u", "--label", "A "+name, "--from-file=-", "--label", "B "+name, name)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(string(text), "Binary file") {
		return "File '" + name + "' is binary and its content has been modified.", nil
	}
	return strings.TrimRight(value.DecodeReplace(text), "\n"), nil
}

// VersionCmpArgs are the arguments of VersionCmp.
type VersionCmpArgs struct {
	_           fun.Arguments
	Ver1        string `arg:"ver1,required,str|none" doc:"a version"`
	Ver2        string `arg:"ver2,required,str|none" doc:"another version"`
	IgnoreEpoch bool   `arg:"ignore_epoch" default:"False" doc:"ignore the epochs"`
}

// VersionCmp is the function version_cmp.
func VersionCmp(_ context.Context, _ *fun.Call, a *VersionCmpArgs) (fun.Result, error) {
	return fun.Value(int64(Compare(a.Ver1, a.Ver2, a.IgnoreEpoch)))
}

// Compare compares two versions as rpm does: -1, 0 or 1.
func Compare(a, b string, ignoreEpoch bool) int {
	if ignoreEpoch {
		a, b = pkgversion.IgnoreEpoch(a), pkgversion.IgnoreEpoch(b)
	}
	return pkgversion.RPM(a, b)
}

func checksum(ctx context.Context, c *fun.Call, a *listPkgsArgs) (fun.Result, error) {
	files := pkg.Names(c)
	if len(files) == 0 {
		return fun.Result{}, fun.Errorf("No package files has been specified.")
	}
	m := value.NewMap(len(files))
	for _, f := range files {
		good, err := Valid(ctx, c.Env, a.Root, f)
		if err != nil {
			return fun.Result{}, err
		}
		m.Set(f, good)
	}
	return fun.Value(m)
}

// Valid reports whether a path is that of a package file with the right checksums
// and signatures.
func Valid(ctx context.Context, env *fun.Env, root, file string) (bool, error) {
	if st, err := env.Host.Stat(file); err != nil || !st.Mode.IsRegular() || strings.HasPrefix(file, "-") {
		return false, nil
	}
	out, err := Query(ctx, env.Host, root, "-K", "--quiet", file)
	return out.Status == 0, err
}
