// Package cp is Salt's execution module cp: files from the file server, from
// web servers and from this machine.
//
// [Module] lists the functions; other rooms fetch files through a [Client].
//
// Salt: salt/modules/cp.py, salt/fileclient.py.
package cp

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Module returns the execution module cp.
func Module() fun.Module {
	return fun.Module{Name: "cp", Kind: fun.Exec, Doc: "Fetch files from the file server, from web servers and from this machine.", Specs: specs}
}

// retMissing is the return code of functions that found no file to hand over.
// Difference: Salt has none.
const retMissing = 1

// answer is what a function returns, where False stands for what is missing: an
// error of the system gets Python's words.
func answer(v value.Value, err error) (fun.Result, error) {
	var (
		raised *value.PyError
		known  *fun.CommandError
	)
	if err != nil && !errors.As(err, &raised) && !errors.As(err, &known) {
		err = fun.Errorf("%s", host.OSError(err))
	}
	res := fun.Result{Value: v}
	if there, isBool := v.(bool); isBool && !there {
		res.Retcode = retMissing
	}
	return res, err
}

// none is the return of a function whose file is missing.
func none(call *fun.Call, v value.Value, missing string) (fun.Result, error) {
	call.Env.Warn(fun.Warning{Text: "cp." + call.Spec.Name + ": " + missing + " does not exist"})
	return fun.Result{Value: v, Retcode: retMissing}, nil
}

// orFalse is the path of what was fetched, False where there was none.
func orFalse(p string, err error) (value.Value, error) {
	if p == "" || err != nil {
		return false, err
	}
	return p, nil
}

type cacheDestArgs struct {
	URL string `arg:"url,required,path" doc:"salt:// or web URL, or a path"`
	saltenvArg
}

// cacheDest tells where a copy would be; a path of this machine is its own.
func cacheDest(_ context.Context, call *fun.Call, a *cacheDestArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	source := a.URL
	switch {
	case Scheme(source) == "salt":
		rel, saltenv, ok := c.split(source)
		if !ok {
			return fun.Value("")
		}
		return fun.Value(filepath.Join(c.CacheDir(), "files", saltenv, rel))
	case IsRemote(source):
		return fun.Value(c.extern(source, c.SaltEnv))
	}
	return fun.Value(filePath(source))
}

type cacheFileArgs struct {
	pathArg
	saltenvArg
	hashArg
	VerifySSL bool `arg:"verify_ssl" default:"True" doc:"verify certificates of https:// URLs"`
	UseEtag   bool `arg:"use_etag" default:"False" doc:"ask a web server by ETag whether its file changed"`
}

func cacheFile(ctx context.Context, call *fun.Call, a *cacheFileArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	return answer(orFalse(c.CacheFile(ctx, a.Path, Options{SourceHash: a.SourceHash, NoVerify: !a.VerifySSL, UseETag: a.UseEtag, Copy: true})))
}

type cacheFilesArgs struct {
	Paths []string `arg:"paths,required,comma[str]" doc:"URLs, as a list or separated by commas"`
	saltenvArg
}

func cacheFiles(ctx context.Context, call *fun.Call, a *cacheFilesArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	out := fun.Result{Value: &value.List{}}
	for _, p := range a.Paths {
		v, err := orFalse(c.CacheFile(ctx, p, Options{Copy: true}))
		if err != nil {
			return answer(nil, err)
		}
		if v == false {
			out.Retcode = retMissing
		}
		out.Value.(*value.List).Append(v)
	}
	return out, nil
}

// filesBelow returns the files of a directory of the server.
func (c *Client) filesBelow(ctx context.Context, source string) (files []fun.FileInfo, dir, saltenv string, err error) {
	dir, saltenv, ok := c.split(strings.TrimRight(source, "/"))
	if !ok {
		return nil, "", "", fun.Errorf("Unsupported path: %s", source)
	}
	all, err := fun.ListFiles(ctx, c.Env.Up, saltenv, dir)
	if err != nil {
		return nil, "", "", err
	}
	for _, fi := range all {
		if dir == "" || strings.HasPrefix(fi.Path, dir+"/") {
			files = append(files, fi)
		}
	}
	return files, dir, saltenv, nil
}

type cacheDirArgs struct {
	pathArg
	saltenvArg
	IncludeEmpty bool        `arg:"include_empty" default:"False" doc:"include empty directories"`
	IncludePat   value.Value `arg:"include_pat,str|list[str]" doc:"glob, or regular expression after E@, of the files to fetch"`
	ExcludePat   value.Value `arg:"exclude_pat,str|list[str]" doc:"glob, or regular expression after E@, of the files to leave out"`
}

func cacheDir(ctx context.Context, call *fun.Call, a *cacheDirArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	files, dir, saltenv, err := c.filesBelow(ctx, a.Path)
	if err != nil {
		return answer(nil, err)
	}
	out := &value.List{}
	for _, fi := range files {
		ok, err := fileserver.Included(strings.TrimPrefix(fi.Path, dir+"/"), a.IncludePat, a.ExcludePat)
		if err != nil {
			return answer(nil, err)
		}
		if !ok {
			continue
		}
		p, err := c.CacheFile(ctx, MakeURL(fi.Path, saltenv), Options{Copy: true})
		if err != nil {
			return answer(nil, err)
		}
		out.Append(p)
	}
	if a.IncludeEmpty {
		dirs, err := c.emptyDirs(ctx, saltenv, dir, files)
		if err != nil {
			return answer(nil, err)
		}
		for _, d := range dirs {
			local := filepath.Join(c.CacheDir(), "files", saltenv, d)
			if err := c.Env.Host.MkdirAll(local, 0o755); err != nil {
				return answer(nil, err)
			}
			out.Append(local)
		}
	}
	return fun.Value(out)
}

// emptyDirs returns the directories below dir that hold none of the files.
func (c *Client) emptyDirs(ctx context.Context, saltenv, dir string, files []fun.FileInfo) ([]string, error) {
	dirs, err := c.Env.Up.Dirs(ctx, saltenv, dir)
	if err != nil {
		return nil, err
	}
	full := map[string]bool{}
	for _, fi := range files {
		for d := path.Dir(fi.Path); d != "." && !full[d]; d = path.Dir(d) {
			full[d] = true
		}
	}
	var empty []string
	for _, d := range dirs {
		if !full[d] && (dir == "" || strings.HasPrefix(d, dir+"/")) {
			empty = append(empty, d)
		}
	}
	return empty, nil
}

func cacheLocal(_ context.Context, call *fun.Call, a *pathArg) (fun.Result, error) {
	c := New(call.Env, "")
	p := a.Path
	f, err := c.Env.Host.Open(p)
	if errors.Is(err, fs.ErrNotExist) {
		return fun.Value("")
	}
	if err != nil {
		return answer(nil, err)
	}
	defer f.Close()
	dest := filepath.Join(c.CacheDir(), "localfiles", strings.TrimLeft(filepath.Clean(p), "/"))
	return answer(dest, c.Put(f, dest, true))
}

func cacheMaster(ctx context.Context, call *fun.Call, a *saltenvArg) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	all, err := fun.ListFiles(ctx, c.Env.Up, c.SaltEnv, "")
	if err != nil {
		return answer(nil, err)
	}
	out := &value.List{}
	for _, fi := range all {
		p, err := c.CacheFile(ctx, MakeURL(fi.Path, c.SaltEnv), Options{Copy: true})
		if err != nil {
			return answer(nil, err)
		}
		out.Append(p)
	}
	return fun.Value(out)
}

func envs(ctx context.Context, call *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	c := New(call.Env, "")
	names, err := c.Env.Up.Envs(ctx)
	return answer(value.Strings(names...), err)
}

// renderNames renders path and dest where a template engine is given.
func renderNames(ctx context.Context, c *Client, rest fun.Kwargs, argDest string, path string, template string) (source, dest string, err error) {
	source, dest = path, argDest
	engine := template
	if engine == "" {
		return source, dest, nil
	}
	if source, err = c.Render(ctx, engine, "path", []byte(source), rest.Map); err != nil {
		return "", "", fun.Errorf("Failed to render file path with error: %s", err)
	}
	if dest, err = c.Render(ctx, engine, "dest", []byte(dest), rest.Map); err != nil {
		return "", "", fun.Errorf("Failed to render file path with error: %s", err)
	}
	return source, dest, nil
}

type getFileArgs struct {
	pathArg
	destArg
	saltenvArg
	Makedirs bool `arg:"makedirs" default:"False" doc:"create missing directories"`
	templateArg
	gzipArg
	Rest fun.Kwargs
}

func getFile(ctx context.Context, call *fun.Call, a *getFileArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	source, dest, err := renderNames(ctx, c, a.Rest, a.Dest, a.Path, a.Template)
	if err != nil {
		return answer(nil, err)
	}
	if Scheme(source) == "salt" {
		_, found, err := c.Hash(ctx, source)
		if err != nil {
			return answer("", err)
		}
		if !found {
			return none(call, "", source)
		}
	}
	return answer(orFalse(c.Fetch(ctx, source, dest, a.Makedirs, Options{Copy: true})))
}

type getDirArgs struct {
	pathArg
	destArg
	saltenvArg
	templateArg
	gzipArg
	Rest fun.Kwargs
}

func getDir(ctx context.Context, call *fun.Call, a *getDirArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	source, dest, err := renderNames(ctx, c, a.Rest, a.Dest, a.Path, a.Template)
	if err != nil {
		return answer(nil, err)
	}
	files, dir, saltenv, err := c.filesBelow(ctx, source)
	if err != nil {
		return answer(nil, err)
	}
	above := path.Dir(dir) // the directory itself is copied, under its name
	if above == "." {
		above = ""
	}
	var out []string
	for _, fi := range files {
		to := filepath.Join(dest, strings.TrimPrefix(strings.TrimPrefix(fi.Path, above), "/"))
		p, err := c.Fetch(ctx, MakeURL(fi.Path, saltenv), to, true, Options{})
		if err != nil {
			return answer(nil, err)
		}
		out = append(out, p)
	}
	empty, err := c.emptyDirs(ctx, saltenv, dir, files)
	if err != nil {
		return answer(nil, err)
	}
	for _, d := range empty {
		to := filepath.Join(dest, strings.TrimPrefix(strings.TrimPrefix(d, above), "/"))
		if err := c.Env.Host.MkdirAll(to, 0o755); err != nil {
			return answer(nil, err)
		}
		out = append(out, to)
	}
	sort.Strings(out)
	if len(out) == 0 {
		return none(call, value.Strings(), source)
	}
	return fun.Value(value.Strings(out...))
}

// text returns the content of a source, False where it does not exist.
func (c *Client) text(ctx context.Context, source string, o Options) (value.Value, error) {
	if !IsRemote(source) && Scheme(source) != "salt" {
		if _, err := c.Env.Host.Stat(filePath(source)); err != nil {
			return false, nil // as in Salt
		}
	}
	r, err := c.Open(ctx, source, o)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return string(b), err
}

// getFileStrArgs are the arguments of getFileStr, hashFile and isCached.
type getFileStrArgs struct {
	pathArg
	saltenvArg
}

func getFileStr(ctx context.Context, call *fun.Call, a *getFileStrArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	return answer(c.text(ctx, a.Path, Options{}))
}

type getTemplateArgs struct {
	pathArg
	Dest     string `arg:"dest,required,path|none" doc:"where to put it; None: in the cache"`
	Template string `arg:"template" default:"jinja" doc:"template engine"`
	saltenvArg
	Makedirs bool `arg:"makedirs" default:"False" doc:"create missing directories"`
	Rest     fun.Kwargs
}

func getTemplate(ctx context.Context, call *fun.Call, a *getTemplateArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	source, dest := a.Path, a.Dest
	v, err := c.text(ctx, source, Options{})
	if err != nil {
		return answer(nil, err)
	}
	text, ok := v.(string)
	if !ok {
		return none(call, "", source)
	}
	vars := a.Rest.Copy()
	context, _ := vars.At("context").(*value.Map)
	defaults, _ := vars.At("defaults").(*value.Map)
	vars.Delete("context")
	vars.Delete("defaults")
	out, err := c.Render(ctx, a.Template, source, []byte(text), Vars(vars, defaults, context))
	if err != nil {
		return answer(nil, err)
	}
	makedirs := a.Makedirs
	if dest == "" {
		rel, saltenv, _ := c.split(source)
		dest, makedirs = filepath.Join(c.CacheDir(), "extrn_files", saltenv, filepath.Clean("/"+rel)), true
	}
	if _, err := c.Env.Host.Stat(filepath.Dir(dest)); err != nil && !makedirs {
		return none(call, "", filepath.Dir(dest)) // as in Salt
	}
	return answer(dest, c.Put(strings.NewReader(out), dest, makedirs))
}

type getURLArgs struct {
	pathArg
	Dest fun.Opt[string] `arg:"dest,path" default:"" doc:"where to put it"`
	saltenvArg
	Makedirs bool `arg:"makedirs" default:"False" doc:"create missing directories"`
	hashArg
	VerifySSL bool `arg:"verify_ssl" default:"True" doc:"verify certificates of https:// URLs"`
}

func getURL(ctx context.Context, call *fun.Call, a *getURLArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	o := Options{SourceHash: a.SourceHash, NoVerify: !a.VerifySSL, Copy: true}
	if !a.Dest.Given {
		return answer(c.text(ctx, a.Path, o))
	}
	return answer(orFalse(c.Fetch(ctx, a.Path, a.Dest.V, a.Makedirs, o)))
}

func hashFile(ctx context.Context, call *fun.Call, a *getFileStrArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	source := a.Path
	s, ok, err := c.Hash(ctx, source)
	switch {
	case err != nil:
		return answer(nil, err)
	case !ok && Scheme(source) == "salt":
		return fun.Value("")
	case !ok: // so Salt has it: a digest, and no stat beside it
		return fun.Value(value.NewList(value.NewMap(0), nil))
	}
	return fun.Value(value.MapOf("hsum", s.Hex, "hash_type", s.Type))
}

func isCached(_ context.Context, call *fun.Call, a *getFileStrArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	return fun.Value(c.IsCached(a.Path))
}

// below reports whether a path is in a directory of the server.
func below(p, prefix string) bool {
	prefix = strings.Trim(prefix, "/")
	return prefix == "" || p == prefix || strings.HasPrefix(p, prefix+"/")
}

// listMasterArgs are the arguments of listMaster, listMasterDirs and listMasterLinks.
type listMasterArgs struct {
	saltenvArg
	prefixArgs
}

func listMaster(ctx context.Context, call *fun.Call, a *listMasterArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	all, err := fun.ListFiles(ctx, c.Env.Up, c.SaltEnv, "")
	out := &value.List{}
	for _, fi := range all {
		if below(fi.Path, a.Prefix) {
			out.Append(fi.Path)
		}
	}
	return answer(out, err)
}

func listMasterDirs(ctx context.Context, call *fun.Call, a *listMasterArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	all, err := c.Env.Up.Dirs(ctx, c.SaltEnv, "")
	out := &value.List{}
	for _, d := range all {
		if below(d, a.Prefix) {
			out.Append(d)
		}
	}
	return answer(out, err)
}

func listMasterLinks(ctx context.Context, call *fun.Call, a *listMasterArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	all, err := c.Env.Up.List(ctx, c.SaltEnv, "")
	out := value.NewMap(2)
	for _, fi := range all {
		if fi.Link != "" && below(fi.Path, a.Prefix) {
			out.Set(fi.Path, fi.Link)
		}
	}
	return answer(out, err)
}

func listMinion(_ context.Context, call *fun.Call, a *saltenvArg) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	root := filepath.Join(c.CacheDir(), "files", c.SaltEnv)
	var out []string
	var walk func(dir string)
	walk = func(dir string) {
		names, err := c.Env.Host.ReadDir(dir)
		if err != nil {
			return
		}
		for _, n := range names {
			p := filepath.Join(dir, n)
			if st, err := c.Env.Host.Lstat(p); err == nil && st.Mode.IsDir() {
				walk(p)
			} else if rel, err := filepath.Rel(root, p); err == nil {
				out = append(out, rel)
			}
		}
	}
	walk(root)
	sort.Strings(out)
	return fun.Value(value.Strings(out...))
}

func listStates(ctx context.Context, call *fun.Call, a *saltenvArg) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	names, err := fun.ListSLS(ctx, c.Env.Up, c.SaltEnv)
	return answer(value.Strings(names...), err)
}

type statFileArgs struct {
	pathArg
	saltenvArg
	Octal bool `arg:"octal" default:"True" doc:"as text such as 0644"`
}

func statFile(ctx context.Context, call *fun.Call, a *statFileArgs) (fun.Result, error) {
	c := New(call.Env, a.Saltenv)
	source := a.Path
	var m fs.FileMode
	if Scheme(source) == "salt" {
		fi, err := c.Stat(ctx, source)
		if errors.Is(err, fs.ErrNotExist) || err == nil && fi.Mode.IsDir() {
			return fun.Value(nil)
		}
		if err != nil {
			return answer(nil, err)
		}
		m = fi.Mode
	} else {
		st, err := c.Env.Host.Stat(filePath(source))
		if err != nil {
			return fun.Value(nil) // as in Salt
		}
		m = st.Mode
	}
	bits := host.UnixMode(m)
	if a.Octal {
		s := []byte("0000")
		for i := range 4 {
			s[3-i] = byte('0' + bits>>(3*i)&7)
		}
		return fun.Value(string(s))
	}
	kind := uint32(0o100000)
	if m.IsDir() {
		kind = 0o040000
	}
	return fun.Value(int64(kind | bits))
}
