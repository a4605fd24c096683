package python

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"brine/internal/fun"
	"brine/internal/source"
	"brine/internal/value"
)

// maxSource bounds the file of a module, in bytes.
const maxSource = 4 << 20

// A File is a Python module of the tree.
type File struct {
	Kind fun.Kind
	Name string // the file's name without its extension
	fun.FileInfo
}

// A Tree is the Python modules that a run has.
type Tree struct {
	env   *fun.Env
	h     *Helper
	files []File
}

// NewTree returns the Python modules of files, which a run of env and its forks
// share.
func NewTree(env *fun.Env, files []File) *Tree {
	return &Tree{env: env, files: files, h: helperOf(env)}
}

type helperKey struct{}

// helperOf returns the helper of a run: modules and grains have the same.
func helperOf(env *fun.Env) *Helper {
	return env.Memo.Once(helperKey{}, func() any { return newHelper(utils(env)) }).(*Helper)
}

// kindDir is the directory of a kind, without the underscore.
func kindDir(k fun.Kind) string {
	switch k {
	case fun.State:
		return "states"
	case fun.Runner:
		return "runners"
	default:
		return "modules"
	}
}

// utils returns what finds the modules of _utils.
func utils(env *fun.Env) func(ctx context.Context, name string) (*value.Map, error) {
	return func(ctx context.Context, name string) (*value.Map, error) {
		if strings.ContainsAny(name, "/.") {
			return nil, nil
		}
		info, err := env.Up.Stat(ctx, env.SaltEnv, "_utils/"+name+".py")
		if err != nil {
			return nil, nil //nolint:nilerr // there is none
		}
		text, err := read(ctx, env, info)
		if err != nil {
			return nil, err
		}
		return load("utils", name, info, text), nil
	}
}

func load(kind, name string, info fun.FileInfo, text string) *value.Map {
	return value.MapOf("op", "load", "kind", kind, "name", name, "path", "salt://"+info.Path, "file", info.Abs, "source", text)
}

func read(ctx context.Context, env *fun.Env, info fun.FileInfo) (string, error) {
	r, err := env.Up.Open(ctx, info.SaltEnv, info.Path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxSource+1))
	if err == nil && len(b) > maxSource {
		err = fmt.Errorf("it has more than %d bytes", maxSource)
	}
	return string(b), err
}

var (
	virtualName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^__virtualname__\s*=\s*["'](\w+)["']`) })
	virtualBody = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?ms)^def __virtual__\(.*?\):.*?(?:^\S|\z)`)
	})
	returnsName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s+return\s+["'](\w+)["']`) })
)

// Entries returns the table entries of the modules. Under which name a module
// serves is known when its __virtual__ has run, which needs Python; the names that
// its text mentions are the ones under which it may be found.
func (t *Tree) Entries(ctx context.Context) []fun.Entry {
	var out []fun.Entry
	for _, f := range t.files {
		text, err := read(ctx, t.env, f.FileInfo)
		m := &module{t: t, f: f, text: text, err: err}
		names := []string{f.Name}
		if v := virtualName().FindStringSubmatch(text); v != nil {
			names = []string{v[1]}
		}
		if body := virtualBody().FindString(text); body != "" {
			for _, v := range returnsName().FindAllStringSubmatch(body, -1) {
				if !slices.Contains(names, v[1]) {
					names = append(names, v[1])
				}
			}
		}
		for _, name := range names {
			out = append(out, fun.Entry{Kind: f.Kind, Name: f.Name, Virtual: name, Load: func() fun.Module { return m.as(name) }})
		}
	}
	return out
}

// A module is a Python file that is loaded when it is first asked for.
type module struct {
	t    *Tree
	f    File
	text string
	err  error // why it could not be read

	once  sync.Once
	facts *value.Map
	why   string // why it does not serve
}

// describe loads the module and keeps what it says of itself.
func (m *module) describe() {
	m.once.Do(func() {
		if m.err != nil {
			m.why = fmt.Sprintf("salt://%s cannot be read: %v", m.f.Path, m.err)
			return
		}
		answer, err := m.t.h.ask(context.Background(), m.t.env, load(kindDir(m.f.Kind), m.f.Name, m.f.FileInfo, m.text))
		if err != nil {
			m.why = unloaded(m.f.Path, err)
			return
		}
		m.facts = answer.Map("value")
		if !value.Truth(m.facts.At("serves")) {
			m.why = m.facts.Str("why")
			if m.why == "" {
				m.why = "its __virtual__ returned False"
			}
		}
	})
}

// unloaded says why a file could not be loaded.
func unloaded(path string, err error) string {
	if errors.Is(err, ErrNoPython) {
		return fmt.Sprintf("salt://%s is Python, and %v: install it, or write the module as an executable (docs/guide.md)", path, err)
	}
	return fmt.Sprintf("salt://%s cannot be loaded: %v", path, err)
}

// Grains returns what the functions of the tree's grain modules return, the later
// over the earlier. A module that fails is warned of.
//
// Salt: salt/loader/__init__.py grains.
func Grains(ctx context.Context, env *fun.Env, files []fun.FileInfo) *value.Map {
	all := value.NewMap(8)
	h := helperOf(env)
	for n, info := range files {
		name := strings.TrimSuffix(info.Path[strings.LastIndexByte(info.Path, '/')+1:], ".py")
		text, err := read(ctx, env, info)
		if err != nil {
			env.Warn(fun.Warning{Where: "salt://" + info.Path, Text: err.Error()})
			continue
		}
		answer, err := h.ask(ctx, env, load("grains", name, info, text))
		if errors.Is(err, ErrNoPython) && n+1 < len(files) { // it is the same for all
			env.Warn(fun.Warning{Text: fmt.Sprintf("%d modules of salt://_grains are Python, and %v: install it, or do without their grains", len(files)-n, err)})
			return all
		}
		if err != nil {
			env.Warn(fun.Warning{Text: unloaded(info.Path, err)})
			continue
		}
		facts := answer.Map("value")
		if !value.Truth(facts.At("serves")) {
			continue
		}
		for k, v := range facts.Map("functions").All() {
			f, _ := v.(*value.Map)
			kw := value.NewMap(1)
			for _, it := range f.List("args").Items {
				if a, ok := it.(*value.Map); ok && a.Str("name") == "grains" {
					kw.Set("grains", grainsOf(env))
				}
			}
			q := value.MapOf("op", "call", "kind", "grains", "module", name, "attribute", f.At("attribute"), "kwargs", kw)
			answer, err := h.ask(ctx, env, q)
			if err != nil {
				env.Warn(fun.Warning{Where: "salt://" + info.Path, Text: fmt.Sprintf("%s: %v", value.Str(k), err)})
				continue
			}
			if m, ok := answer.At("value").(*value.Map); ok {
				all.Update(m)
			}
		}
	}
	return all
}

// grainsOf copies the grains that env has.
func grainsOf(env *fun.Env) *value.Map {
	m := value.NewMap(64)
	for _, k := range env.Grains.Keys() {
		v, _ := env.Grains.Get(k)
		m.Set(k, v)
	}
	return m
}

// as returns the module as it serves under a name.
func (m *module) as(name string) fun.Module {
	mod := fun.Module{
		Name: name, Kind: m.f.Kind, Doc: "Custom functions of salt://" + m.f.Path,
		Avail: func(*fun.Env) (bool, string) {
			m.describe()
			if m.why == "" && m.facts.Str("name") != name {
				return false, "it serves as " + m.facts.Str("name")
			}
			return m.why == "", m.why
		},
	}
	m.describe()
	if m.facts == nil {
		return mod
	}
	if doc, _, _ := strings.Cut(m.facts.Str("doc"), "\n"); doc != "" {
		mod.Doc = doc
	}
	for k, v := range m.facts.Map("functions").All() {
		f, _ := v.(*value.Map)
		fn := value.Str(k)
		switch {
		case m.f.Kind == fun.State && fn == "mod_watch":
			mod.Watch = m.state(f)
			continue
		case m.f.Kind == fun.State && fn == "mod_init":
			mod.Init = m.state(f)
			continue
		}
		mod.Specs = append(mod.Specs, m.spec(fn, f))
	}
	slices.SortFunc(mod.Specs, func(a, b fun.Spec) int { return strings.Compare(a.Name, b.Name) })
	return mod
}

// spec makes the row of a function from its signature.
func (m *module) spec(name string, f *value.Map) fun.Spec {
	s := fun.Spec{
		Name: name, Doc: f.Str("doc"), Src: "salt://" + m.f.Path,
		VarArg: value.Truth(f.At("varargs")), VarKw: value.Truth(f.At("varkw")),
	}
	if s.Doc == "" {
		s.Doc = "A custom function."
	}
	for _, it := range f.List("args").Items {
		a, ok := it.(*value.Map)
		if !ok {
			continue
		}
		s.Args = append(s.Args, fun.Arg{
			Name: a.Str("name"), Required: !value.Truth(a.At("optional")), Default: a.At("default"), KwOnly: value.Truth(a.At("keyword")),
			Doc: "an argument of the custom function",
		})
	}
	if m.f.Kind == fun.State {
		s.State = m.state(f)
	} else {
		s.Fn = m.exec(name, f)
	}
	return s
}

// question returns the call of a function with its arguments. Those that have
// their defaults are left out, since a default may be what JSON cannot carry.
func (m *module) question(c *fun.Call, f *value.Map) *value.Map {
	args, kw := &value.List{}, value.NewMap(c.Kw.Len())
	for i := range c.Spec.Args {
		a := &c.Spec.Args[i]
		v, ok := c.Args.Get(a.Name)
		switch {
		case !ok:
		case len(c.Pos) > 0 && !a.KwOnly:
			args.Append(v)
		case a.Required || !value.Equal(v, a.Default):
			kw.Set(a.Name, v)
		}
	}
	args.Items = append(args.Items, c.Pos...)
	kw.Update(c.Kw)
	return value.MapOf("op", "call", "kind", kindDir(m.f.Kind), "module", m.f.Name, "attribute", f.At("attribute"), "args", args, "kwargs", kw)
}

func (m *module) exec(name string, f *value.Map) fun.ExecFn {
	return func(ctx context.Context, c *fun.Call) (fun.Result, error) {
		answer, err := m.t.h.ask(ctx, c.Env, m.question(c, f))
		c.Env.Host.Changed()
		if err != nil {
			return fun.Result{}, m.worded(name, err)
		}
		code, _ := value.AsInt(answer.At("retcode"))
		return fun.Result{Value: answer.At("value"), Retcode: int(int32(code)), Out: answer.Str("out")}, nil
	}
}

// worded makes the error of a call what Salt makes of the exception.
func (m *module) worded(name string, err error) error {
	var re *RaisedError
	if !errors.As(err, &re) {
		return fmt.Errorf("%s of salt://%s: %w", name, m.f.Path, err)
	}
	switch re.Type[strings.LastIndexByte(re.Type, '.')+1:] {
	case "CommandExecutionError", "CommandNotFoundError":
		return fun.Errorf("%s", re.Msg)
	case "SaltInvocationError":
		return &fun.InvocationError{Msg: re.Msg}
	}
	return re
}

// show tells on stderr where a module raised an exception.
func (m *module) show(env *fun.Env, re *RaisedError) {
	file, line, ok := cutLast(re.Place)
	n, err := strconv.Atoi(line)
	if !ok || err != nil {
		return
	}
	env.Fault(&source.Error{Pos: source.Pos{File: file, Line: n}, Err: errors.New(re.Type + ": " + re.Msg)})
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func (m *module) state(f *value.Map) fun.StateFn {
	return func(ctx context.Context, c *fun.Call) fun.Ret {
		q := m.question(c, f)
		q.Set("test", c.Test)
		if c.Low != nil {
			q.Set("frame", value.MapOf("low", c.Low.Low, "sls", c.Low.SLS, "env", c.Low.SaltEnv, "id", c.Low.Low.Str("__id__"), "instance_id", c.Low.Low.Str("__id__")))
		}
		answer, err := m.t.h.ask(ctx, c.Env, q)
		c.Env.Host.Changed()
		if err != nil {
			if re, ok := errors.AsType[*RaisedError](err); ok {
				m.show(c.Env, re)
			}
			return fun.Raise(err)
		}
		return stateReturn(answer.At("value"))
	}
}

// stateReturn checks and takes apart what a state function returned.
// Salt: salt/utils/decorators/state.py content_check.
func stateReturn(v value.Value) fun.Ret {
	m, ok := v.(*value.Map)
	if !ok {
		return fun.Fail("Malformed state return. Data must be a dictionary type.")
	}
	var missing []string
	for _, k := range []string{"name", "changes", "result", "comment"} {
		if !m.Has(k) {
			missing = append(missing, k)
		}
	}
	if len(missing) > 0 {
		return fun.Fail("The following keys were not present in the state return: %s.", strings.Join(missing, ", "))
	}
	ret := fun.Ret{Name: m.Str("name"), Changes: m.At("changes"), Comment: m.At("comment"), Extra: m.Copy()}
	for _, k := range []string{"name", "changes", "result", "comment"} {
		ret.Extra.Delete(k)
	}
	switch r := m.At("result"); {
	case r == nil:
		ret.Result = fun.WouldChange
	case value.Truth(r):
		ret.Result = fun.OK
	}
	return ret
}
