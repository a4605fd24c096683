package python

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// maxSource bounds the file of a module, in bytes.
const maxSource = 4 << 20

// A source is a file of the tree, as the helper of its language loads it.
type source struct {
	lang language
	kind string // "modules", "returners": the directory without its underscore
	name string // the file's name without its extension
	key  string // the same for the same file of the same tree
	info fun.FileInfo
	text string
}

func newSource(ctx context.Context, env *fun.Env, kind string, info fun.FileInfo) (*source, error) {
	text, err := read(ctx, env, info)
	if err != nil {
		return nil, err
	}
	lang, _ := languageOf(info.Path)
	return &source{lang: lang, kind: kind, name: nameOf(info.Path), key: kind + ":" + info.SaltEnv + ":" + info.Abs + ":" + info.Path, info: info, text: text}, nil
}

// file is how tracebacks name it.
func (s *source) file() string {
	if s.info.Abs != "" {
		return s.info.Abs
	}
	return "salt://" + s.info.Path
}

// question asks the helper to load it.
func (s *source) question() *value.Map {
	return value.MapOf("op", "load", "key", s.key, "kind", s.kind, "name", s.name, "file", s.file(), "path", s.info.Path, "saltenv", s.info.SaltEnv, "source", s.text)
}

// call asks the helper to call one of its functions.
func (s *source) call(attribute value.Value, args *value.List, kw *value.Map) *value.Map {
	if args == nil {
		args = &value.List{}
	}
	if kw == nil {
		kw = value.NewMap(0)
	}
	return value.MapOf("op", "call", "key", s.key, "attribute", attribute, "args", args, "kwargs", kw)
}

// nameOf is the name of a file without its directory and extension.
func nameOf(file string) string {
	base := path.Base(file)
	return strings.TrimSuffix(base, path.Ext(base))
}

// stat returns the file of the module of a kind and a name in one of the languages,
// all where none is given; the error is fs.ErrNotExist where the tree has none.
func stat(ctx context.Context, env *fun.Env, kind, name string, langs ...language) (fun.FileInfo, error) {
	if env.Up == nil || name == "" || strings.ContainsAny(name, "/.") || env.Limits.Custom("_"+kind, name) != "" {
		return fun.FileInfo{}, fs.ErrNotExist
	}
	if langs == nil {
		langs = []language{python3, starlark}
	}
	for _, lang := range langs {
		info, err := env.Up.Stat(ctx, env.SaltEnv, "_"+kind+"/"+name+extensions[lang])
		if !errors.Is(err, fs.ErrNotExist) {
			return info, err
		}
	}
	return fun.FileInfo{}, fs.ErrNotExist
}

// find returns the module of a kind and a name; nil where the tree has none.
func find(ctx context.Context, env *fun.Env, kind, name string, langs ...language) (*source, error) {
	info, err := stat(ctx, env, kind, name, langs...)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return newSource(ctx, env, kind, info)
}

// loadable returns a Starlark file of a saltenv, for the statement load of another
// file there.
func loadable(ctx context.Context, env *fun.Env, saltenv, name string) (value.Value, error) {
	if env.Up == nil || path.Ext(name) != extensions[starlark] || !fs.ValidPath(name) {
		return nil, fmt.Errorf("load takes .star files of the tree, such as \"//lib/names.star\"")
	}
	info, err := env.Up.Stat(ctx, saltenv, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("salt://%s is not in the tree", name)
	}
	if err != nil {
		return nil, err
	}
	src, err := newSource(ctx, env, "load", info)
	if err != nil {
		return nil, err
	}
	return src.question(), nil
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

// A Module is a file of the tree that brine calls for a purpose of its own:
// a returner, a renderer, an external pillar.
type Module struct {
	env   *fun.Env
	src   *source
	facts *value.Map
}

// Exists reports whether env's tree has a module of a kind, such as "pillar" for
// _pillar, and a name.
func Exists(ctx context.Context, env *fun.Env, kind, name string) bool {
	info, err := stat(ctx, env, kind, name)
	return err == nil && info.Mode.IsRegular()
}

// Open loads the module of a kind and a name. The error says why it does not
// serve; fs.ErrNotExist that the tree has none.
func Open(ctx context.Context, env *fun.Env, kind, name string) (*Module, error) {
	src, err := find(ctx, env, kind, name)
	if err != nil {
		return nil, err
	}
	if src == nil {
		return nil, fmt.Errorf("salt://_%s/%s.py: %w", kind, name, fs.ErrNotExist)
	}
	return open(ctx, env, src)
}

// Renderer loads a renderer that brine has in Python, by its name: "pyobjects".
func Renderer(ctx context.Context, env *fun.Env, name string) (*Module, error) {
	file := "renderers/" + name + ".py"
	text, err := runtimeFiles.ReadFile("runtime/" + file)
	if err != nil {
		return nil, err
	}
	return OpenText(ctx, env, "renderers", name, string(text))
}

// OpenText loads a module of a kind that brine has in Python.
func OpenText(ctx context.Context, env *fun.Env, kind, name, text string) (*Module, error) {
	file := kind + "/" + name + ".py"
	// Tracebacks leave out files of this prefix.
	info := fun.FileInfo{Path: file, Abs: "brine:" + file}
	return open(ctx, env, &source{lang: python3, kind: kind, name: name, key: info.Abs, info: info, text: text})
}

// OpenFile loads a file as a module of a kind.
func OpenFile(ctx context.Context, env *fun.Env, kind string, info fun.FileInfo) (*Module, error) {
	src, err := newSource(ctx, env, kind, info)
	if err != nil {
		return nil, err
	}
	return open(ctx, env, src)
}

func open(ctx context.Context, env *fun.Env, src *source) (*Module, error) {
	answer, err := helperOf(env, src.lang).ask(ctx, world{env: env}, src, nil)
	if err != nil {
		return nil, &loadError{unloaded(src.info.Path, err), err}
	}
	m := &Module{env, src, answer.Map("value")}
	if !value.Truth(m.facts.At("serves")) {
		why := m.facts.Str("why")
		if why == "" {
			why = "its __virtual__ returned False"
		}
		return nil, fmt.Errorf("salt://%s %w: %s", src.info.Path, errDoesNotServe, why)
	}
	return m, nil
}

// A loadError says why a module cannot be loaded.
type loadError struct {
	text string
	err  error
}

func (e *loadError) Error() string { return e.text }
func (e *loadError) Unwrap() error { return e.err }

// errDoesNotServe says that the __virtual__ of a module refused.
var errDoesNotServe = errors.New("does not serve")

// Name is the name under which the module serves.
func (m *Module) Name() string { return m.facts.Str("name") }

// Has reports whether the module has a function.
func (m *Module) Has(function string) bool { return m.facts.Map("functions").Has(function) }

// declares reports whether a function names an argument.
func (m *Module) declares(function, arg string) bool {
	return names(m.facts.Map("functions").Map(function), arg)
}

// names reports whether a function, as its module describes it, names an argument.
func names(f *value.Map, arg string) bool {
	l := f.List("args")
	return l != nil && slices.ContainsFunc(l.Items, func(it value.Value) bool {
		a, ok := it.(*value.Map)
		return ok && a.Str("name") == arg
	})
}

// Call calls a function of the module. What it raises is a [RaisedError].
func (m *Module) Call(ctx context.Context, function string, args *value.List, kw *value.Map) (value.Value, error) {
	return m.callIn(ctx, world{env: m.env}, function, args, kw)
}

// CallFor is Call for another machine than this one: __grains__ are its grains.
func (m *Module) CallFor(ctx context.Context, grains value.Mapping, function string, args *value.List, kw *value.Map) (value.Value, error) {
	return m.callIn(ctx, world{env: m.env, grains: grains}, function, args, kw)
}

func (m *Module) callIn(ctx context.Context, w world, function string, args *value.List, kw *value.Map) (value.Value, error) {
	f := m.facts.Map("functions").Map(function)
	if f == nil {
		return nil, fmt.Errorf("salt://%s has no function %s", m.src.info.Path, function)
	}
	answer, err := helperOf(m.env, m.src.lang).ask(ctx, w, m.src, m.src.call(f.At("attribute"), args, kw))
	if err != nil {
		return nil, err
	}
	return answer.At("value"), nil
}

// Render calls the function render of a module of _renderers with text or what the
// renderer before it returned. first says that it is the first of its pipeline.
func (m *Module) Render(ctx context.Context, grains value.Mapping, data value.Value, first bool, args *value.List, kw *value.Map) (value.Value, error) {
	q := value.MapOf("op", "render", "key", m.src.key, "data", data, "first", first, "args", args, "kwargs", kw)
	answer, err := helperOf(m.env, m.src.lang).ask(ctx, world{m.env, grains}, m.src, q)
	if err != nil {
		return nil, err
	}
	return answer.At("value"), nil
}

// Raised returns what a Python function raised.
func Raised(err error) (*RaisedError, bool) { return errors.AsType[*RaisedError](err) }

// A Script is a Python file that is run for what its function run returns: a
// template.
type Script struct {
	File   string // as tracebacks name it
	Text   string
	Vars   *value.Map    // names that it sees
	Grains value.Mapping // nil: the Env's
}

// Run runs a script.
//
// Salt: salt/utils/templates.py py.
func Run(ctx context.Context, env *fun.Env, s Script) (value.Value, error) {
	answer, err := helperOf(env, python3).ask(ctx, world{env, s.Grains}, nil, value.MapOf("op", "run", "file", s.File, "source", s.Text, "vars", s.Vars))
	if err != nil {
		return nil, err
	}
	return answer.At("value"), nil
}
