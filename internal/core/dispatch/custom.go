package dispatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Bounds of a custom function.
const (
	customTimeout = 5 * time.Minute // where the option custom_timeout says nothing else
	maxCustomOut  = 16 << 20        // bytes of its answer
	maxCustomFile = 64 << 20        // bytes of the executable
)

// customDirs are where the executables of each kind are below the roots.
var customDirs = [...]struct {
	dir  string
	kind fun.Kind
}{{"_modules", fun.Exec}, {"_runners", fun.Runner}, {"_states", fun.State}, {"_wheel", fun.Wheel}}

// FindGrains returns the modules of the tree that add grains.
func FindGrains(ctx context.Context, env *fun.Env) []fun.FileInfo {
	return FindScripts(ctx, env, grainsDir)
}

const grainsDir = "_grains"

// FindScripts returns the modules in Python and Starlark that the tree has in a
// directory of its root.
func FindScripts(ctx context.Context, env *fun.Env, dir string) []fun.FileInfo {
	if env.Up == nil {
		return nil
	}
	if _, err := env.Up.Stat(ctx, env.SaltEnv, dir); err != nil {
		return nil
	}
	files, err := env.Up.List(ctx, env.SaltEnv, dir)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(files, func(f fun.FileInfo) bool {
		base := path.Base(f.Path)
		name := strings.TrimSuffix(base, path.Ext(base))
		if env.Limits.Custom(dir, name) != "" || dir == grainsDir && env.Limits.GrainModule(name) != "" {
			return true
		}
		return !f.Mode.IsRegular() || !isScript(path.Ext(base)) || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "__") || path.Dir(f.Path) != dir
	})
}

func isScript(ext string) bool { return ext == ".py" || ext == ".star" }

// A Custom is a file below the roots that serves as a module: an executable, or
// a script in Python or Starlark, which package python runs.
type Custom struct {
	Kind   fun.Kind
	Name   string // of the module: the file's name without its extension
	Script bool
	File   fun.FileInfo
}

// FindCustom returns the custom modules and runners of env's saltenv. What lies
// there and cannot serve is warned of: files that are not executable.
func FindCustom(ctx context.Context, env *fun.Env) ([]Custom, error) {
	var out []Custom
	var bad unfit
	defer func() { bad.warn(env) }()
	for _, d := range customDirs {
		if _, err := env.Up.Stat(ctx, env.SaltEnv, d.dir); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return out, err
		}
		files, err := env.Up.List(ctx, env.SaltEnv, d.dir)
		if err != nil {
			return out, err
		}
		for _, f := range files {
			base := path.Base(f.Path)
			ext := path.Ext(base)
			name := strings.TrimSuffix(base, ext)
			switch {
			case strings.HasPrefix(base, ".") || strings.HasPrefix(base, "__") || path.Dir(f.Path) != d.dir:
			case ext == ".md" || ext == ".rst" || ext == ".txt":
			case env.Limits.Custom(d.dir, name) != "":
			case !f.Mode.IsRegular():
				bad.add(f, "not a regular file of the roots, or a link that leads out of them")
			case ext == ".star" && slices.ContainsFunc(out, func(c Custom) bool { return c.Kind == d.kind && c.Name == name && c.Script }):
				bad.add(f, "there is a module of this name in Python")
			case isScript(ext):
				out = append(out, Custom{d.kind, name, true, f})
			case ext == ".pyc" || ext == ".pyx" || ext == ".so" || ext == ".zip":
				bad.add(f, "compiled Python: put its source there")
			case d.kind == fun.State:
			case f.Mode.Perm()&0o111 == 0:
				bad.add(f, "not executable: chmod +x")
			default:
				out = append(out, Custom{d.kind, name, false, f})
			}
		}
	}
	return out, nil
}

// unfit are the files that cannot serve as modules, by the reason.
type unfit struct {
	reasons []string
	files   map[string][]string
}

func (u *unfit) add(f fun.FileInfo, reason string) {
	if u.files == nil {
		u.files = map[string][]string{}
	}
	if u.files[reason] == nil {
		u.reasons = append(u.reasons, reason)
	}
	u.files[reason] = append(u.files[reason], f.Path)
}

// warn gives one warning for all files.
func (u *unfit) warn(env *fun.Env) {
	const shown = 3
	var parts []string
	for _, reason := range u.reasons {
		files := u.files[reason]
		names := "salt://" + strings.Join(files[:min(shown, len(files))], ", salt://")
		if more := len(files) - shown; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, names+": "+reason)
	}
	if len(parts) > 0 {
		env.Warn(fun.Warning{Text: "cannot serve as custom modules: " + strings.Join(parts, "; ")})
	}
}

// Entries returns the table entries of custom modules that are executables.
func Entries(customs []Custom) []fun.Entry {
	var out []fun.Entry
	for _, c := range customs {
		if c.Script {
			continue
		}
		out = append(out, fun.Entry{Kind: c.Kind, Name: c.Name, Custom: true, Load: func() fun.Module {
			return fun.Module{
				Name: c.Name, Kind: c.Kind, Doc: "Custom functions of salt://" + c.File.Path,
				Dynamic: func(name string) *fun.Spec {
					return &fun.Spec{Name: name, Doc: "A custom function.", Src: "salt://" + c.File.Path, VarArg: true, VarKw: true, Raw: true, MayLack: true, Fn: c.call(name)}
				},
			}
		}})
	}
	return out
}

// call returns the function that runs the executable: it gets function, args
// and kwargs as a line of JSON on stdin and answers {"return": ..., "retcode":
// N} on stdout.
func (c Custom) call(name string) fun.ExecFn {
	return func(ctx context.Context, call *fun.Call) (fun.Result, error) {
		full := c.Name + "." + name
		exe, err := c.executable(ctx, call.Env)
		if err != nil {
			return fun.Result{}, fmt.Errorf("custom function %s: %w", full, err)
		}
		kw := value.NewMap(call.Kw.Len())
		for k, v := range call.Kw.All() {
			if s := value.Str(k); !strings.HasPrefix(s, "__") {
				kw.Set(k, v)
			}
		}
		in := question(value.MapOf("fun", name, "args", value.NewList(call.Pos...), "kwargs", kw, "id", call.Env.ID))
		out, err := call.Env.Host.Run(ctx, host.Cmd{
			Argv: []string{exe}, Stdin: bytes.NewReader(in), Timeout: timeoutOf(call.Env), MaxOutput: maxCustomOut,
		})
		if err != nil {
			return fun.Result{}, fmt.Errorf("custom function %s: run %s: %w", full, exe, err)
		}
		return c.answer(full, out)
	}
}

// question returns the line that an executable reads: spaced as Python and the
// documentation write it, since shell scripts look for text in it.
func question(m *value.Map) []byte {
	line, err := value.AppendJSON(nil, m, value.JSONOptions{Repr: true})
	if err != nil {
		line = value.EncodeJSON(m) // writes keys that JSON does not have, too
	}
	return append(line, '\n')
}

func timeoutOf(env *fun.Env) time.Duration {
	if n, ok := value.AsInt(env.Opts.At("custom_timeout")); ok && n > 0 {
		return time.Duration(n) * time.Second
	}
	return customTimeout
}

// answer reads what the executable wrote.
func (c Custom) answer(full string, out host.Output) (fun.Result, error) {
	why := strings.TrimSpace(string(out.Stderr))
	if len(why) > 2000 {
		why = "..." + why[len(why)-2000:]
	}
	if why != "" {
		why = ": " + why
	}
	switch {
	case out.TimedOut:
		return fun.Result{}, fun.Errorf("custom function %s did not answer in time (option custom_timeout)%s", full, why)
	case out.Truncated:
		return fun.Result{}, fun.Errorf("custom function %s answered more than %d bytes", full, maxCustomOut)
	}
	v, err := value.DecodeJSON(bytes.NewReader(out.Stdout))
	m, ok := v.(*value.Map)
	if ok && m.At("missing") == true {
		return fun.Result{}, &fun.MissingError{Name: full, File: "salt://" + c.File.Path}
	}
	if err != nil || !ok || !m.Has("return") && !m.Has("retcode") {
		if out.Status != 0 {
			return fun.Result{}, fun.Errorf("custom function %s ended with status %d%s", full, out.Status, why)
		}
		return fun.Result{}, fun.Errorf("custom function %s (salt://%s) must answer with one JSON dict {\"return\": ..., \"retcode\": N} for every function that it has, and with {\"missing\": true} for others%s", full, c.File.Path, why)
	}
	rc, _ := value.AsInt(m.At("retcode"))
	if rc == 0 && out.Status != 0 {
		rc = int64(out.Status)
	}
	return fun.Result{Value: m.At("return"), Retcode: int(rc), Out: m.Str("out")}, nil
}

// executable returns the path of the file on this machine; one from elsewhere
// is copied to the cache first.
func (c Custom) executable(ctx context.Context, env *fun.Env) (string, error) {
	if c.File.Abs != "" {
		return c.File.Abs, nil
	}
	sum, err := env.Up.Hash(ctx, c.File.SaltEnv, c.File.Path, "sha256")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(env.CacheDir, "extmods")
	dst := filepath.Join(dir, sum+"-"+c.Name)
	if _, err := env.Host.Stat(dst); err == nil {
		return dst, nil
	}
	r, err := env.Up.Open(ctx, c.File.SaltEnv, c.File.Path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if err := env.Host.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	mode := fs.FileMode(0o700)
	return dst, env.Host.WriteFile(dst, io.LimitReader(r, maxCustomFile), host.WriteOptions{Mode: &mode})
}
