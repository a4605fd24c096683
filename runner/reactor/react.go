package reactor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/high"
	"brine/runner/low"
)

// Kinds of reactions.
const (
	Local  = "local"  // an execution function on targets
	Runner = "runner" // a runner function on the controller
	Wheel  = "wheel"  // a wheel function on the controller
	Caller = "caller" // an execution function on the controller
)

var kinds = []string{Local, Runner, Wheel, Caller}

// aliases are older names of kinds.
var aliases = map[string]string{"cmd": Local}

// A Reaction is a call that an event asks for.
type Reaction struct {
	ID   string
	File string // whose SLS it is
	Kind string
	Fun  string
	Args fun.Args
	Pos  source.Pos

	// Of Local alone.
	Tgt       value.Value
	TgtType   string
	Returner  string
	RetConfig string
	RetKwargs *value.Map
	Timeout   time.Duration // 0: that of the configuration
	Metadata  value.Value
}

// React returns what reacts to an event, in the order in which it is called: by order, else
// by kind, ID and function, as in Salt. An event that nothing matches has no reactions. The
// error has all faults of the files, with their places: nothing is to be called then.
func (m Map) React(ctx context.Context, env *fun.Env, tag string, data *value.Map) ([]*Reaction, error) {
	var faults source.Errors
	all := value.NewMap(4) // high data of all files: an ID of a later one replaces that of an earlier one, as in Salt
	at := map[string]place{}
	for _, e := range m.Match(tag) {
		for _, name := range e.Files {
			files, err := e.find(ctx, env, name)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			for _, f := range files {
				ids, err := compile(ctx, env, f, tag, data)
				if err != nil {
					faults = append(faults, FaultsOf(f.Path, err)...)
					continue
				}
				for k, body := range ids.All() {
					all.Delete(k) // the later one also comes later
					all.Set(k, body)
					at[value.Str(k)] = place{f.Path, ids.Pos(k)}
				}
			}
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return reactions(env, all, func(id string) place { return at[id] }, func(kind fun.Kind, name string) error {
		_, _, err := env.Find(kind, name)
		return err
	})
}

// OfFile returns the reactions of a file, by what it rendered to. Whether their functions
// exist is not looked at. The error has all faults, with their places; the reactions are
// those that nothing is wrong with.
func OfFile(env *fun.Env, path string, rendered value.Value) ([]*Reaction, error) {
	data, err := idsOf(rendered)
	if err == nil {
		err = shape(data)
	}
	if err != nil {
		return nil, FaultsOf(path, err)
	}
	return reactions(env, data, func(id string) place { return place{path, data.Pos(id)} }, func(fun.Kind, string) error { return nil })
}

// reactions reads the high data of reactions. With an error it returns those that nothing is
// wrong with. at is where an ID is written, and known returns an error for a function on the
// controller that does not exist.
func reactions(env *fun.Env, data *value.Map, at func(id string) place, known func(fun.Kind, string) error) ([]*Reaction, error) {
	h := high.FromData(data)
	if faults := h.Verify(); len(faults) > 0 {
		return nil, faults
	}
	chunks, err := low.Show(h)
	if err != nil {
		return nil, err
	}
	var faults source.Errors
	var out []*Reaction
	for _, c := range chunks {
		r, err := reaction(env, c, at(c.ID), known)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		out = append(out, r)
	}
	if len(faults) > 0 {
		return out, faults
	}
	return out, nil
}

// A place is where an ID is written.
type place struct {
	file string
	pos  source.Pos
}

// A File is an SLS file of reactions.
type File struct {
	Path string // as messages have it
	Abs  string
	Text []byte
}

// Input is what a renderer gets of the file, with an event.
func (f *File) Input(tag, data value.Value) render.Input {
	return render.Input{Path: f.Path, Abs: f.Abs, SLS: f.Path, SaltEnv: "base", Text: f.Text, Vars: value.MapOf("tag", tag, "data", data)}
}

// Files returns the files of all entries, each once. The faults are of those that cannot be
// read.
func (m Map) Files(ctx context.Context, env *fun.Env) (out []File, faults source.Errors) {
	seen := map[string]bool{}
	for _, e := range m {
		for _, name := range e.Files {
			files, err := e.find(ctx, env, name)
			if err != nil {
				faults = append(faults, err)
			}
			for _, f := range files {
				if !seen[f.Abs+f.Path] {
					seen[f.Abs+f.Path] = true
					out = append(out, f)
				}
			}
		}
	}
	return out, faults
}

// find returns the files that a name of an entry means.
func (e *Entry) find(ctx context.Context, env *fun.Env, name string) ([]File, *source.Error) {
	files, err := find(ctx, env, name)
	if err != nil {
		return nil, &source.Error{Pos: e.Pos, Err: fmt.Errorf("reactor %s: %w", e.Glob, err)}
	}
	return files, nil
}

// find returns the files that a name means, each with its text: a salt:// URL is one of
// them, a path may be a glob.
func find(ctx context.Context, env *fun.Env, name string) ([]File, error) {
	if path, saltenv, ok := fun.SplitURL(name); ok {
		return served(ctx, env, path, cmp.Or(saltenv, "base"))
	}
	if strings.Contains(name, "://") {
		return nil, fmt.Errorf("%s is neither a path nor a salt:// URL", name)
	}
	paths := config.Glob(env.Host, name)
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s does not exist", name)
	}
	var out []File
	for _, p := range paths {
		text, err := env.Host.ReadFile(p)
		if err != nil {
			return nil, err
		}
		if len(text) > maxFile {
			return nil, fmt.Errorf("%s has more than %d bytes", p, maxFile)
		}
		out = append(out, File{p, p, text})
	}
	return out, nil
}

// maxFile bounds an SLS file of reactions, in bytes.
const maxFile = 16 << 20

// served returns a file of the file roots.
func served(ctx context.Context, env *fun.Env, path, saltenv string) ([]File, error) {
	info, err := env.Up.Stat(ctx, saltenv, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("salt://%s does not exist in %s", path, saltenv)
	case err != nil:
		return nil, err
	}
	r, err := env.Up.Open(ctx, saltenv, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("salt://%s has more than %d bytes", path, maxFile)
	}
	if err != nil {
		return nil, err
	}
	return []File{{path, info.Abs, text}}, nil
}

// compile renders a file with an event, and returns what each ID says.
func compile(ctx context.Context, env *fun.Env, f File, tag string, data *value.Map) (*value.Map, error) {
	v, err := render.For(env).Run().SLS(ctx, f.Input(tag, data))
	if err != nil {
		return nil, err
	}
	m, err := idsOf(v)
	if err != nil {
		return nil, err
	}
	return m, shape(m)
}

// idsOf returns what a file rendered to as the mapping of IDs that it is to be.
func idsOf(v value.Value) (*value.Map, error) {
	m, ok := v.(*value.Map)
	switch {
	case v == nil: // a condition that does not hold
		return value.NewMap(0), nil
	case !ok:
		return nil, fmt.Errorf("a file of reactions has a mapping of IDs, not %s", value.Kind(v))
	}
	return m, nil
}

// shape returns an error for an ID that is not a reaction.
func shape(m *value.Map) error {
	var faults source.Errors
	for k, body := range m.All() {
		if text, _ := body.(string); strings.Contains(text, ".") {
			continue // "caller.test.ping", without arguments
		}
		if _, isMap := body.(*value.Map); !isMap {
			faults = append(faults, &source.Error{Pos: m.Pos(k), Err: fmt.Errorf("reaction %s: %s is not a reaction", value.Str(k), value.Repr(body)), Hint: `write "local.FUNCTION:" below the ID, with a list of what it is called with`})
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// FaultsOf returns the faults of a file, each with a place.
func FaultsOf(path string, err error) source.Errors {
	all := source.Faults(err)
	for i, f := range all {
		if f.Pos.File == "" {
			g := *f
			g.Pos.File = path
			all[i] = &g
		}
	}
	return all
}

// internal are keys of a low chunk that are not arguments.
var internal = []string{"__id__", "__sls__", "__env__", "name", "order", "fun", "key", "state"}

// reaction reads a low chunk.
func reaction(env *fun.Env, c *fun.Chunk, at place, known func(fun.Kind, string) error) (*Reaction, *source.Error) {
	pos := c.Pos
	if pos.IsZero() {
		pos = at.pos
	}
	if pos.File == "" {
		pos.File = at.file
	}
	fault := func(hint, format string, args ...any) (*Reaction, *source.Error) {
		return nil, &source.Error{Pos: pos, Err: fmt.Errorf("reaction %s: "+format, append([]any{c.ID}, args...)...), Hint: hint}
	}
	kind := c.State
	if k, ok := aliases[kind]; ok {
		kind = k
	}
	r := &Reaction{ID: c.ID, File: at.file, Kind: kind, Fun: c.Fun, Pos: pos, Args: fun.Args{Kw: value.NewMap(0)}}
	if !slices.Contains(kinds, kind) {
		return fault("write local.FUNCTION, runner.FUNCTION, wheel.FUNCTION or caller.FUNCTION", "%q is not a kind of reaction%s", c.State, source.DidYouMean(c.State, kinds))
	}
	if r.Fun == "" {
		return fault("", "%s has no function", c.State)
	}
	spec := env.Table.Spec(r.Table(), r.Fun)
	if spec == nil && kind != Local {
		if err := known(r.Table(), r.Fun); err != nil { // a module of the tree may have it
			hint := ""
			if nf, ok := errors.AsType[*fun.NotFoundError](err); ok {
				hint = nf.Hint()
			}
			return fault(hint, "%v", err)
		}
	}
	if kind == Local {
		if why, hint := r.target(c.Low); why != "" {
			return fault(hint, "%s", why)
		}
	}
	if v, ok := c.Low.Get("args"); ok {
		for _, old := range [...]string{"arg", "kwarg"} {
			if c.Low.Has(old) {
				env.Warn(fun.Warning{Where: pos.String(), Text: fmt.Sprintf("reaction %s: %s has no effect beside args, which is the newer form", c.ID, old)})
			}
		}
		if why, hint := r.named(v); why != "" {
			return fault(hint, "%s", why)
		}
		return r, nil
	}
	if why := r.older(c, spec); why != "" {
		return fault("", "%s", why)
	}
	return r, nil
}

// Table is the kind of the function that is called.
func (r *Reaction) Table() fun.Kind {
	switch r.Kind {
	case Runner:
		return fun.Runner
	case Wheel:
		return fun.Wheel
	}
	return fun.Exec
}

// localKeys are what a reaction of the kind local has beside its arguments.
var localKeys = []string{"tgt", "tgt_type", "expr_form", "arg", "kwarg", "args", "ret", "ret_config", "ret_kwargs", "timeout", "metadata"}

// target reads on which targets a function runs, and how. why says what is wrong.
func (r *Reaction) target(m *value.Map) (why, hint string) {
	for k := range m.All() {
		name := value.Str(k)
		if !slices.Contains(internal, name) && !slices.Contains(localKeys, name) {
			return fmt.Sprintf("local has no %q%s", name, source.DidYouMean(name, localKeys)), "arguments of the function are below args, by name"
		}
	}
	r.Tgt, r.TgtType = m.At("tgt"), "glob"
	switch tgt := r.Tgt.(type) {
	case nil:
		return "it has no tgt", "tgt says on which targets the function runs, such as tgt: {{ data['id'] }}"
	case string:
		if tgt == "" {
			return "its tgt is empty", "tgt says on which targets the function runs"
		}
	case *value.List:
		r.TgtType = "list"
	default:
		r.Tgt = value.Str(tgt) // an id that looks like a number
	}
	for _, key := range []string{"expr_form", "tgt_type"} {
		if s := m.Str(key); s != "" {
			r.TgtType = s
		}
	}
	switch ret := m.At("ret").(type) {
	case nil:
	case string:
		r.Returner = ret
	default:
		r.Returner = strings.Join(fun.StringsOf(ret), ",")
	}
	r.RetConfig, r.RetKwargs, r.Metadata = m.Str("ret_config"), m.Map("ret_kwargs"), m.At("metadata")
	if v := m.At("timeout"); v != nil {
		s, err := value.ToFloat(v)
		if err != nil || !(s >= 0 && s <= 1e6) {
			return fmt.Sprintf("timeout must be a number of seconds, not %s", value.Repr(v)), ""
		}
		r.Timeout = time.Duration(s * float64(time.Second))
	}
	return "", ""
}

// older reads what the function is called with in the older form: arg and kwarg, and for
// functions on the controller also the names of arguments beside them. why says what is
// wrong.
func (r *Reaction) older(c *fun.Chunk, spec *fun.Spec) (why string) {
	m := c.Low
	switch arg := m.At("arg").(type) {
	case nil:
	case *value.List:
		r.Args.Pos = slices.Clone(arg.Items)
	default:
		r.Args.Pos = []value.Value{arg} // as a client of Salt takes it
	}
	switch kw := m.At("kwarg").(type) {
	case nil:
	case *value.Map:
		r.Args.Kw = kw.Copy()
	default:
		return fmt.Sprintf("kwarg must be a mapping, not %s", value.Kind(kw))
	}
	if r.Kind == Local || r.Kind == Caller || m.Has("arg") && m.Has("kwarg") {
		return ""
	}
	for k, v := range m.All() {
		name := value.Str(k)
		if name != "arg" && name != "kwarg" && !slices.Contains(internal, name) {
			r.Args.Kw.Set(name, v)
		}
	}
	if spec != nil && slices.Contains(spec.ArgNames(), "name") && !r.Args.Kw.Has("name") {
		r.Args.Kw.Set("name", m.At("name"))
	}
	return ""
}

// named reads args: a mapping of arguments, or a list of mappings.
func (r *Reaction) named(v value.Value) (why, hint string) {
	const form = `args is a list of arguments by name, such as "- args: [mods: web]"`
	switch args := v.(type) {
	case *value.Map:
		r.Args.Kw = args.Copy()
		return "", ""
	case *value.List:
		plain := 0
		for _, x := range args.Items {
			m, ok := x.(*value.Map)
			if !ok {
				plain++
				continue
			}
			for k, v := range m.All() {
				r.Args.Kw.Set(k, v)
			}
		}
		switch {
		case plain == 0:
			return "", ""
		case r.Kind == Caller && plain == args.Len(): // its older form
			r.Args.Pos = slices.Clone(args.Items)
			return "", ""
		}
		return "args has an argument without a name", form
	}
	return fmt.Sprintf("args must be a list, not %s", value.Kind(v)), form
}

// Job is the job of a reaction of the kind local.
func (r *Reaction) Job() fun.Job {
	return fun.Job{
		Fun: r.Fun, Args: r.Args, Tgt: r.Tgt, TgtType: r.TgtType, Timeout: r.Timeout, Metadata: r.Metadata,
		Returner: r.Returner, RetConfig: r.RetConfig, RetKwargs: r.RetKwargs, Published: true,
	}
}

// Value is the reaction as data, for people who look at it before it runs.
func (r *Reaction) Value() *value.Map {
	m := value.MapOf("id", r.ID, "file", r.File, "kind", r.Kind, "fun", r.Fun)
	if r.Kind == Local {
		m.Set("tgt", r.Tgt)
		m.Set("tgt_type", r.TgtType)
		if r.Returner != "" {
			m.Set("ret", r.Returner)
		}
	}
	if len(r.Args.Pos) > 0 {
		m.Set("arg", value.NewList(r.Args.Pos...))
	}
	if r.Args.Kw.Len() > 0 {
		m.Set("kwarg", r.Args.Kw)
	}
	return m
}
