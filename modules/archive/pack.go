package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"sort"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	"brine/modules/cp"
)

// expand returns sources with globs resolved, those without a match as they
// are. Salt: _expand_sources.
func expand(c *fun.Call, sources []string, dir string) []string {
	var out []string
	for _, s := range sources {
		found := []string{}
		if strings.ContainsAny(s, "*?[") {
			found = glob(c.Env.Host, s, dir)
		}
		if len(found) == 0 {
			found = []string{s}
		}
		out = append(out, found...)
	}
	return out
}

// glob resolves the last part of a pattern; what is before it is taken as it is.
func glob(h host.Host, pattern, dir string) []string {
	base := filepath.Dir(pattern)
	look := base
	if !filepath.IsAbs(look) {
		look = filepath.Join(dir, look)
	}
	names, err := h.ReadDir(look)
	if err != nil {
		return nil
	}
	var out []string
	for _, n := range names {
		hidden := strings.HasPrefix(n, ".") && !strings.HasPrefix(filepath.Base(pattern), ".")
		if !hidden && value.Fnmatch(filepath.Base(pattern), n) {
			out = append(out, filepath.Join(base, n))
		}
	}
	sort.Strings(out)
	return out
}

// lines is the return of a program whose output is returned by lines, as
// cmd.run does it.
func lines(text []string, code int, err error) (fun.Result, error) {
	return fun.Result{Value: value.Strings(text...), Retcode: code}, err
}

type cmdZipArgs struct {
	zipArg
	sourcesArg
	templateArg
	cwdArg
	runasArg
}

func cmdZip(ctx context.Context, c *fun.Call, a *cmdZipArgs) (fun.Result, error) {
	argv := append([]string{"zip", "-r", a.ZipFile}, expand(c, a.Sources, a.Cwd)...)
	return lines(run(ctx, c, a.Runas, argv, a.Cwd, filepath.Dir(a.ZipFile)))
}

type cmdUnzipArgs struct {
	zipArg
	destArg
	excludesArg
	optionsArg
	templateArg
	runasArg
	TrimOutput value.Value `arg:"trim_output,bool|int" default:"False" doc:"return at most this many names; True is 100"`
	Password   string      `arg:"password,secret" doc:"password of the archive"`
}

func cmdUnzip(ctx context.Context, c *fun.Call, a *cmdUnzipArgs) (fun.Result, error) {
	argv := []string{"unzip"}
	var env []string
	if p := a.Password; p != "" {
		// Everybody can read the arguments of a program, its environment only the
		// account that runs it.
		if strings.ContainsAny(p, "\"\\\x00") {
			return fun.Result{}, fun.Errorf("the password has a quote or backslash, which cannot be handed to unzip")
		}
		env = append(c.Env.Host.Environ(), `UNZIP=-P "`+p+`"`)
	}
	options, err := proc.Split(a.Options)
	if err != nil {
		return fun.Result{}, fun.Errorf("options: %v", err)
	}
	argv = append(append(argv, options...), a.ZipFile, "-d", a.Dest)
	if x := a.Excludes; len(x) > 0 {
		argv = append(append(argv, "-x"), x...)
	}
	out, code, err := runWith(ctx, c, a.Runas, argv, "", env, a.Dest)
	if err != nil {
		return fun.Result{}, err
	}
	if code != 0 {
		return fun.Result{}, fun.Errorf("%s", strings.Join(out, "\n"))
	}
	return fun.Value(value.Strings(TrimListed(out, a.TrimOutput)...))
}

type rarArgs struct {
	rarArg
	sourcesArg
	templateArg
	cwdArg
	runasArg
}

func rar(ctx context.Context, c *fun.Call, a *rarArgs) (fun.Result, error) {
	argv := append([]string{"rar", "a", "-idp", a.Rarfile}, expand(c, a.Sources, a.Cwd)...)
	return lines(run(ctx, c, a.Runas, argv, a.Cwd, filepath.Dir(a.Rarfile)))
}

type unrarArgs struct {
	rarArg
	destArg
	excludesArg
	templateArg
	runasArg
	TrimOutput value.Value `arg:"trim_output,bool|int" default:"False" doc:"return at most this many names; True is 100"`
}

func unrar(ctx context.Context, c *fun.Call, a *unrarArgs) (fun.Result, error) {
	tool := "unrar"
	if _, err := c.Env.Host.LookPath(tool, ""); err != nil {
		tool = "rar"
	}
	argv := []string{tool, "x", "-idp", a.Rarfile}
	for _, x := range a.Excludes {
		argv = append(argv, "-x"+x)
	}
	out, code, err := run(ctx, c, a.Runas, append(argv, a.Dest), "", a.Dest)
	return lines(TrimListed(out, a.TrimOutput), code, err)
}

type isEncryptedArgs struct {
	Name    string `arg:"name,required,path" doc:"path or URL of the archive"`
	_       bool   `arg:"clean" default:"False" doc:"accepted"`
	Saltenv string `arg:"saltenv" default:"base" doc:"environment of a salt:// URL"`
	hashArg
	etagArgs
}

// isEncrypted looks at the flags of a zip's members.
func isEncrypted(ctx context.Context, c *fun.Call, a *isEncryptedArgs) (fun.Result, error) {
	name := a.Name
	p, err := cp.New(c.Env, a.Saltenv).CacheFile(ctx, name, cp.Options{SourceHash: a.SourceHash, UseETag: a.UseEtag})
	if err != nil {
		return fun.Result{}, err
	}
	if p == "" {
		return fun.Result{}, fun.Errorf("Failed to cache %s", name)
	}
	r, err := c.Env.Host.Open(p)
	if err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
	}
	defer r.Close()
	z, err := readZip(r, LimitsOf(c.Env.Opts))
	if errors.Is(err, ErrFormat) {
		return fun.Result{}, fun.Errorf("%s is not a ZIP file", name)
	}
	if err != nil {
		return fun.Result{}, fun.Errorf("%s: %s", name, host.OSError(err))
	}
	for _, f := range z.File {
		if f.Flags&1 != 0 {
			return fun.Value(true)
		}
	}
	return fun.Value(false)
}

type packArgs struct {
	zipArg
	sourcesArg
	templateArg
	Cwd   string `arg:"cwd,path" doc:"base directory of relative sources and of the names"`
	Runas string `arg:"runas" doc:"owner of the archive"`
	_     bool   `arg:"zip64" default:"False" doc:"accepted; large archives are zip64"`
}

// pack makes a zip. Names in it are relative to cwd, or to the root.
// Salt: salt/modules/archive.py zip_.
func pack(ctx context.Context, c *fun.Call, args *packArgs) (fun.Result, error) {
	h, cwd := c.Env.Host, args.Cwd
	if cwd != "" && !filepath.IsAbs(cwd) {
		return fun.Result{}, fun.Errorf("cwd must be absolute")
	}
	sources := expand(c, args.Sources, cwd)
	for _, s := range sources {
		if cwd == "" && !filepath.IsAbs(s) {
			return fun.Result{}, fun.Errorf("Relative paths require the 'cwd' parameter")
		}
	}
	root := cwd
	if root == "" {
		root = "/"
	}
	z := &packing{h: h, root: root}
	var b bytes.Buffer
	z.w = zip.NewWriter(&b)
	for _, s := range sources {
		if !filepath.IsAbs(s) {
			s = filepath.Join(cwd, s)
		}
		if err := z.add(ctx, filepath.Clean(s)); err != nil {
			return fun.Result{}, fun.Errorf("Exception encountered creating zipfile: %s", host.OSError(err))
		}
	}
	if err := z.w.Close(); err != nil {
		return fun.Result{}, err
	}
	opts := host.WriteOptions{}
	if u := args.Runas; u != "" {
		a, err := h.LookupUser(u)
		if err != nil {
			return fun.Result{}, fun.Errorf("User '%s' does not exist", u)
		}
		opts.UID, opts.GID = &a.UID, &a.GID
	}
	if err := h.WriteFile(args.ZipFile, &b, opts); err != nil {
		return fun.Result{}, fun.Errorf("Exception encountered creating zipfile: %s", host.OSError(err))
	}
	return fun.Value(value.Strings(z.names...))
}

type packing struct {
	h     host.Host
	root  string
	w     *zip.Writer
	names []string
}

// add puts a path in the archive, a directory with all below it: its own
// files first, then its directories, as Python's os.walk has them. What is not
// there is passed over, as in Salt.
func (z *packing) add(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	st, err := z.h.Stat(path)
	if err != nil {
		return nil // see above
	}
	name, err := filepath.Rel(z.root, path)
	if err != nil {
		return err
	}
	hd := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: st.Mtime}
	hd.SetMode(st.Mode)
	if !st.Mode.IsDir() {
		z.names = append(z.names, name)
		w, err := z.w.CreateHeader(hd)
		if err != nil {
			return err
		}
		r, err := z.h.Open(path)
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = io.Copy(w, r)
		return err
	}
	hd.Name += "/"
	z.names = append(z.names, hd.Name)
	if _, err := z.w.CreateHeader(hd); err != nil {
		return err
	}
	names, err := z.h.ReadDir(path)
	if err != nil {
		return err
	}
	var dirs []string
	for _, n := range names {
		p := filepath.Join(path, n)
		if st, err := z.h.Stat(p); err == nil && st.Mode.IsDir() {
			// os.walk does not go where links lead.
			if l, err := z.h.Lstat(p); err == nil && l.Mode.IsDir() {
				dirs = append(dirs, p)
			}
			continue
		}
		if err := z.add(ctx, p); err != nil {
			return err
		}
	}
	for _, d := range dirs {
		if err := z.add(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
