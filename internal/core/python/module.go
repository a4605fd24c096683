package python

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"brine/internal/core/fun"
	places "brine/internal/py/source"
	"brine/internal/py/value"
)

// A File is a module of the tree.
type File struct {
	Kind fun.Kind
	Name string // the file's name without its extension
	fun.FileInfo
}

// A Tree is the modules that a run has.
type Tree struct {
	env   *fun.Env
	files []File
}

// NewTree returns the modules of files, which a run of env and its forks
// share.
func NewTree(env *fun.Env, files []File) *Tree {
	return &Tree{env: env, files: files}
}

type helperKey struct{ lang language }

// helpers keeps the helpers of a run, which its forks have too.
func helpers(env *fun.Env) *fun.Memo {
	if env.Process == nil {
		return env.Memo
	}
	return env.Process
}

// helperOf returns the helper of a run for a language.
func helperOf(env *fun.Env, lang language) *Helper {
	return helpers(env).Once(helperKey{lang}, func() any { return newHelper(lang) }).(*Helper)
}

// kindDir is the directory of a kind, without the underscore.
func kindDir(k fun.Kind) string {
	switch k {
	case fun.State:
		return "states"
	case fun.Runner:
		return "runners"
	case fun.Wheel:
		return "wheel"
	default:
		return "modules"
	}
}

var (
	virtualName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^__virtualname__\s*=\s*["'](\w+)["']`) })
	virtualBody = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?ms)^def __virtual__\(.*?\):.*?(?:^\S|\z)`)
	})
	virtualAliases = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?ms)^__virtual_aliases__\s*=\s*([(\[].*?[)\]]|["']\w+["'].*?$)`)
	})
	quotedName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`["'](\w+)["']`) })
	returnsName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s+return\s+["'](\w+)["']`) })
)

// namesOf returns the names under which a module may serve. Which they are, is known
// when its __virtual__ has run, which needs Python; these are those that its text
// mentions. Without __virtual__, it is the name of the file, whatever
// __virtualname__ says.
func namesOf(file, text string) []string {
	names := []string{file}
	if !strings.Contains(text, "__virtual__") {
		return append(names, aliasesOf(text)...)
	}
	if v := virtualName().FindStringSubmatch(text); v != nil {
		names = []string{v[1]}
	}
	more := aliasesOf(text)
	if body := virtualBody().FindString(text); body != "" {
		for _, v := range returnsName().FindAllStringSubmatch(body, -1) {
			more = append(more, v[1])
		}
	}
	for _, name := range more {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// aliasesOf returns the words in quotes of __virtual_aliases__.
func aliasesOf(text string) []string {
	var names []string
	if v := virtualAliases().FindStringSubmatch(text); v != nil {
		for _, w := range quotedName().FindAllStringSubmatch(v[1], -1) {
			names = append(names, w[1])
		}
	}
	return names
}

// NamesOf returns the names under which a file of the tree may serve.
func NamesOf(ctx context.Context, env *fun.Env, info fun.FileInfo) []string {
	text, _ := read(ctx, env, info)
	return namesOf(nameOf(info.Path), text)
}

// Entries returns the table entries of the modules. ctx is that of the run: a module
// is loaded when it is first asked for, and loading ends with the run.
func (t *Tree) Entries(ctx context.Context) []fun.Entry {
	var out []fun.Entry
	for _, f := range t.files {
		src, err := newSource(ctx, t.env, kindDir(f.Kind), f.FileInfo)
		if err != nil {
			src = &source{}
		}
		m := &module{t: t, f: f, src: src, err: err}
		for _, name := range namesOf(f.Name, src.text) {
			out = append(out, fun.Entry{Kind: f.Kind, Name: f.Name, Virtual: name, Custom: true, Load: func() fun.Module { return m.as(ctx, name) }})
		}
	}
	return out
}

// A module is a file that is loaded when it is first asked for.
type module struct {
	t   *Tree
	f   File
	src *source
	err error // why it could not be read

	once  sync.Once
	facts *value.Map
	why   string // why it does not serve
	// broken says that it could not be loaded.
	broken bool
}

// serves reports whether the module serves under a name.
func (m *module) serves(name string) bool {
	if m.facts.Str("name") == name {
		return true
	}
	l := m.facts.List("aliases")
	return l != nil && slices.Contains(l.Items, value.Value(name))
}

// helper is what runs the module. It is looked up for each call: a run that is over
// must not hold the process.
func (m *module) helper() *Helper { return helperOf(m.t.env, m.src.lang) }

// describe loads the module and keeps what it says of itself.
func (m *module) describe(ctx context.Context) {
	m.once.Do(func() {
		if m.err != nil {
			m.why, m.broken = fmt.Sprintf("salt://%s cannot be read: %v", m.f.Path, m.err), true
			return
		}
		answer, err := m.helper().ask(ctx, world{env: m.t.env}, m.src, nil)
		if err != nil {
			m.why, m.broken = unloaded(m.f.Path, err), true
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
		return fmt.Sprintf("salt://%s is Python, and %v: install it, or write the module in Starlark or as an executable (see 'brine docs custom')", path, err)
	}
	return fmt.Sprintf("salt://%s cannot be loaded: %v", path, err)
}

// Grains returns what the functions of the tree's grain modules return, the later
// over the earlier. A module that fails is warned of.
//
// Salt: salt/loader/__init__.py grains.
func Grains(ctx context.Context, env *fun.Env, files []fun.FileInfo) *value.Map {
	all := value.NewMap(8)
	files = runnable(env, files)
	for _, info := range files {
		m, err := OpenFile(ctx, env, "grains", info)
		switch {
		case errors.Is(err, errDoesNotServe):
			continue
		case err != nil:
			env.Warn(fun.Warning{Text: err.Error()})
			continue
		}
		for k := range m.facts.Map("functions").All() {
			name, kw := value.Str(k), value.NewMap(1)
			if m.declares(name, "grains") {
				kw.Set("grains", grainsOf(env))
			}
			v, err := m.Call(ctx, name, nil, kw)
			if err != nil {
				env.Warn(fun.Warning{Where: "salt://" + info.Path, Text: fmt.Sprintf("%s: %v", name, err)})
				continue
			}
			if m, ok := v.(*value.Map); ok {
				all.Update(m)
			}
		}
	}
	return all
}

// runnable returns the files that this machine can run. Of several in Python where
// there is none, one warning tells.
func runnable(env *fun.Env, files []fun.FileInfo) []fun.FileInfo {
	isPython := func(f fun.FileInfo) bool { return path.Ext(f.Path) == extensions[python3] }
	n := 0
	for _, f := range files {
		if isPython(f) {
			n++
		}
	}
	if n < 2 {
		return files
	}
	if _, err := env.Host.LookPath("python3", ""); err == nil {
		return files
	}
	env.Warn(fun.Warning{Text: fmt.Sprintf("%d modules of salt://_grains are Python, and %v: install it, or do without their grains", n, ErrNoPython)})
	return slices.DeleteFunc(slices.Clone(files), isPython)
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
func (m *module) as(ctx context.Context, name string) fun.Module {
	mod := fun.Module{
		Name: name, Kind: m.f.Kind, Doc: "Custom functions of salt://" + m.f.Path,
		Avail: func(*fun.Env) (bool, string) {
			m.describe(ctx)
			if m.why == "" && !m.serves(name) {
				return false, "it serves as " + m.facts.Str("name")
			}
			return m.why == "", m.why
		},
	}
	m.describe(ctx)
	if m.broken {
		mod.Broken = m.why
	}
	if m.facts == nil || m.why == "" && !m.serves(name) {
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
			mod.Watch = m.watch(f)
			continue
		case m.f.Kind == fun.State && fn == "mod_init":
			mod.Init = m.init(f)
			continue
		case m.f.Kind == fun.State && fn == "mod_aggregate":
			mod.Aggregate = m.aggregate(f)
			continue
		}
		mod.Specs = append(mod.Specs, m.spec(fn, f))
	}
	mod.SortSpecs()
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
	return m.src.call(f.At("attribute"), args, kw)
}

func (m *module) exec(name string, f *value.Map) fun.ExecFn {
	return func(ctx context.Context, c *fun.Call) (fun.Result, error) {
		answer, err := m.helper().ask(ctx, world{env: c.Env}, m.src, m.question(c, f))
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
	if pos, ok := PlaceOf(re.Place); ok {
		env.Fault(&places.Error{Pos: pos, Err: errors.New(re.Type + ": " + re.Msg)})
	}
}

// PlaceOf reads FILE:LINE or FILE:LINE:COLUMN.
func PlaceOf(s string) (places.Pos, bool) {
	var nums [2]int
	n := 0
	for ; n < 2; n++ {
		i := strings.LastIndexByte(s, ':')
		if i < 0 {
			break
		}
		num, err := strconv.Atoi(s[i+1:])
		if err != nil {
			break
		}
		s, nums[n] = s[:i], num
	}
	switch n {
	case 1:
		return places.Pos{File: s, Line: nums[0]}, true
	case 2:
		return places.Pos{File: s, Line: nums[1], Col: nums[0]}, true
	}
	return places.Pos{}, false
}

func (m *module) state(f *value.Map) fun.StateFn {
	return func(ctx context.Context, c *fun.Call) fun.Ret {
		q := m.question(c, f)
		q.Set("test", c.Test)
		if c.Low != nil {
			q.Set("frame", chunkOf(c.Low))
		}
		answer, err := m.helper().ask(ctx, world{env: c.Env}, m.src, q)
		c.Env.Host.Changed()
		if err != nil {
			if re, ok := errors.AsType[*RaisedError](err); ok {
				m.show(c.Env, re)
				return fun.Fail("An exception occurred in this state: %s\n", re.Traceback())
			}
			return fun.Raise(err)
		}
		return stateReturn(answer.At("value"))
	}
}

// watch runs mod_watch, which has beside the arguments of the state's own function the
// name of that, sfun, and the requisites, __reqs__, where it takes them.
func (m *module) watch(f *value.Map) fun.StateFn {
	run := m.state(f)
	return func(ctx context.Context, c *fun.Call) fun.Ret {
		w := *c
		w.Kw = c.Kw.Copy()
		for _, name := range []string{"sfun", "__reqs__"} {
			if v, ok := c.Low.Low.Get(name); ok && (value.Truth(f.At("varkw")) || names(f, name)) {
				w.Kw.Set(name, v)
			}
		}
		return run(ctx, &w)
	}
}

// init runs mod_init, which takes the low chunk and returns whether it is done.
func (m *module) init(f *value.Map) fun.StateFn {
	return func(ctx context.Context, c *fun.Call) fun.Ret {
		q := m.src.call(f.At("attribute"), value.NewList(c.Low.Low), nil)
		q.Set("test", c.Test)
		q.Set("frame", chunkOf(c.Low))
		answer, err := m.helper().ask(ctx, world{env: c.Env}, m.src, q)
		switch {
		case err != nil:
			return fun.Raise(err)
		case value.Truth(answer.At("value")):
			return fun.Ret{Result: fun.OK}
		}
		return fun.Ret{}
	}
}

// chunkOf is what a state function sees of its chunk.
func chunkOf(c *fun.Chunk) *value.Map {
	return value.MapOf("low", c.Low, "sls", c.SLS, "env", c.SaltEnv, "id", c.Low.Str("__id__"), "instance_id", c.Low.Str("__id__"))
}

// aggregate runs mod_aggregate, which takes the low chunk, all chunks and what has
// run, and returns the chunk to run instead. It may mark the others.
func (m *module) aggregate(f *value.Map) func(context.Context, *fun.Call, []*fun.Chunk, *value.Map) *fun.Chunk {
	return func(ctx context.Context, c *fun.Call, chunks []*fun.Chunk, running *value.Map) *fun.Chunk {
		own := c.Low.Low.Copy()
		own.Set("__agg__", true) // as in Salt: functions tell their own state by it
		all := &value.List{}
		for _, o := range chunks {
			if o == c.Low {
				all.Append(own)
			} else {
				all.Append(o.Low)
			}
		}
		q := m.src.call(f.At("attribute"), value.NewList(own, all, running), nil)
		q.Set("test", c.Test)
		q.Set("frame", chunkOf(c.Low))
		q.Set("back", int64(1)) // the chunks come back as the function left them
		answer, err := m.helper().ask(ctx, world{env: c.Env}, m.src, q)
		if err != nil {
			c.Env.Warn(fun.Warning{Where: "salt://" + m.f.Path, Text: fmt.Sprintf("mod_aggregate: %v", err)})
			return nil
		}
		low, ok := answer.At("value").(*value.Map)
		if !ok || value.Equal(low, own) {
			return nil
		}
		for i, it := range answer.List("back").Items {
			if o, ok := it.(*value.Map); ok && i < len(chunks) && chunks[i] != c.Low && value.Truth(o.At("__agg__")) {
				chunks[i].Low.Set("__agg__", true)
			}
		}
		joined := *c.Low
		joined.Low = low
		return &joined
	}
}

// stateReturn checks and takes apart what a state function returned.
// Salt: salt/utils/decorators/state.py content_check.
func stateReturn(v value.Value) fun.Ret {
	m, ok := v.(*value.Map)
	if !ok {
		return fun.Fail("An exception occurred in this state: Malformed state return. Data must be a dictionary type.")
	}
	var missing []string
	for _, k := range []string{"name", "changes", "result", "comment"} {
		if !m.Has(k) {
			missing = append(missing, k)
		}
	}
	if len(missing) > 0 {
		return fun.Fail("An exception occurred in this state: The following keys were not present in the state return: %s.", strings.Join(missing, ", "))
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
