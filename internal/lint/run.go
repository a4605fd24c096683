package lint

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"brine/internal/event"
	"brine/internal/fileserver"
	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/render"
	"brine/internal/saltnames"
	"brine/internal/source"
	"brine/internal/value"
	"brine/runner/high"
	"brine/runner/low"
)

// A machine is a fake one whose files are those of the disk, to read.
type machine struct {
	*host.Fake
	disk host.Files
}

func (m machine) Stat(p string) (host.Stat, error)        { return m.disk.Stat(p) }
func (m machine) Lstat(p string) (host.Stat, error)       { return m.disk.Lstat(p) }
func (m machine) ReadFile(p string) ([]byte, error)       { return m.disk.ReadFile(p) }
func (m machine) Open(p string) (io.ReadCloser, error)    { return m.disk.Open(p) }
func (m machine) ReadDir(p string) ([]string, error)      { return m.disk.ReadDir(p) }
func (m machine) Readlink(p string) (string, error)       { return m.disk.Readlink(p) }
func (m machine) EvalSymlinks(p string) (string, error)   { return m.disk.EvalSymlinks(p) }
func (m machine) OpenRoot(p string) (host.Root, error)    { return m.disk.OpenRoot(p) }
func (m machine) CheckSystem(p string, follow bool) error { return m.disk.CheckSystem(p, follow) }

// tables returns the functions that a template may call and those that are known:
// every provider of a virtual module counts, whatever the machine, and the custom
// modules of the tree answer to any name.
func (l *linter) tables() (callable, known *fun.Table) {
	var entries []fun.Entry
	for _, kind := range []fun.Kind{fun.Exec, fun.State, fun.Runner, fun.Wheel} {
		for _, name := range l.o.Table.Modules(kind) {
			mod := merged(l.o.Table.Providers(kind, name), name)
			entries = append(entries, fun.Entry{Kind: kind, Name: name, Load: func() fun.Module { return mod }})
		}
	}
	known = fun.NewTable(entries)
	var custom []fun.Entry
	for _, f := range l.files {
		kind, name, ok := f.custom()
		if !ok {
			continue
		}
		for _, name := range append(f.virtualNames(), name) {
			custom = append(custom, fun.Entry{Kind: kind, Name: name, Load: func() fun.Module { return openModule(kind, name) }})
			l.used.Custom[kind][name] = true
		}
	}
	known = known.With(custom)
	var more []fun.Entry
	for _, name := range saltnames.ModulesOf(fun.Exec.Short()) {
		mod := openModule(fun.Exec, name)
		if ours, ok := known.Module(fun.Exec, name); ok {
			if ours.Dynamic != nil {
				continue
			}
			mod = *ours
		}
		mod.Dynamic = func(fn string) *fun.Spec {
			if !saltnames.Has(fun.Exec.Short(), name+"."+fn) {
				return nil
			}
			return &fun.Spec{Name: fn, VarArg: true, VarKw: true}
		}
		more = append(more, fun.Entry{Kind: fun.Exec, Name: name, Load: func() fun.Module { return mod }})
	}
	return known.With(more), known
}

// merged returns one module with the functions of all providers.
func merged(providers []*fun.Module, name string) fun.Module {
	out := *providers[0]
	out.Name, out.Avail, out.Aliases = name, nil, nil
	out.Specs = slices.Clone(out.Specs)
	for _, p := range providers[1:] {
		for _, s := range p.Specs {
			if !slices.ContainsFunc(out.Specs, func(x fun.Spec) bool { return x.Name == s.Name }) {
				out.Specs = append(out.Specs, s)
			}
		}
	}
	out.SortSpecs()
	return out
}

// openModule is a module that answers to any name.
func openModule(kind fun.Kind, name string) fun.Module {
	return fun.Module{Name: name, Kind: kind, Dynamic: func(fn string) *fun.Spec {
		return &fun.Spec{Name: fn, VarArg: true, VarKw: true}
	}, Watch: func(context.Context, *fun.Call) fun.Ret { return fun.Ret{} }}
}

// custom returns the kind and name of the custom module that a file is.
func (f *file) custom() (fun.Kind, string, bool) {
	kinds := map[string]fun.Kind{"_modules": fun.Exec, "_states": fun.State, "_runners": fun.Runner, "_wheel": fun.Wheel}
	kind, ok := kinds[strings.SplitN(f.Path, "/", 2)[0]]
	base := path.Base(f.Path)
	name := strings.TrimSuffix(base, path.Ext(base))
	if !ok || f.pillar || name == "" || strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".") {
		return 0, "", false
	}
	return kind, name, true
}

// virtualNames returns the names under which a Python module serves as well.
func (f *file) virtualNames() []string {
	var names []string
	for _, line := range f.lines {
		if rest, ok := strings.CutPrefix(line, "__virtualname__"); ok {
			if name := strings.Trim(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), "=")), `'"`); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// A run compiles the tree for one system.
type run struct {
	l     *linter
	sys   System
	env   *fun.Env
	probe *probe

	engine *render.Engine
	cache  map[string]rendered
	asked  bool // what is compiled now depends on an unknown value
	// open are the requisites to nothing, by place; met are places whose requisite
	// is met in some combination of SLS files.
	open map[source.Pos]Finding
	met  map[source.Pos]bool
	// loose are the requisites that a state hands to a state that is not there, how
	// often a unit has each, and ran how often a unit has a file.
	loose map[source.Pos]int
	ran   map[string]int
}

// rendered is what an SLS file came to.
type rendered struct {
	data  value.Value
	err   error
	asked bool
}

func (l *linter) newRun(sys System) *run {
	r := &run{l: l, sys: sys, probe: &probe{}, cache: map[string]rendered{}, open: map[source.Pos]Finding{}, met: map[source.Pos]bool{}, loose: map[source.Pos]int{}, ran: map[string]int{}}
	opts := l.o.Opts.Copy()
	id := sys.Grains.Str("id")
	if id == "" {
		id = sys.Name
	}
	opts.Set("id", id)
	opts.Set("file_client", "local")
	grains := knownMap{sys.Grains, r.probe}
	env := &fun.Env{
		Identity:  fun.Identity{ID: id, SaltEnv: "base"},
		Data:      fun.Data{Opts: opts, Grains: grains, Pillar: value.NewMap(0), Memo: &fun.Memo{}},
		Machine:   fun.Machine{Host: machine{host.NewFake(), l.o.Disk}, Up: &fileserver.Local{Server: l.states}},
		Functions: fun.Functions{Table: l.table, NewInvoker: func(e *fun.Env) fun.Invoker { return newInvoker(e, r.probe) }},
		Network:   fun.Network{Bus: event.NewRing(0, host.FakeTime)},
	}
	env.Invoker = newInvoker(env, r.probe)
	env.OnWarn = r.warned
	r.env = env
	return r
}

// warned notes what a pass of the compiler warns of, if it says where.
func (r *run) warned(w fun.Warning) {
	if strings.Contains(w.Text, " renders to ") {
		return // it is for some machines, or for some pillars
	}
	pos, ok := parsePos(w.Where)
	switch {
	case !ok || isUnknown(w.Text):
	case strings.Contains(w.Text, " of this run") || strings.Contains(w.Text, " in this run"):
		r.lacks(Finding{Rule: missingRequisite, Pos: pos, Message: w.Text})
	default:
		r.add(Finding{Rule: compileWarning, Pos: pos, Message: w.Text})
	}
}

// lacks notes a requisite that a state hands to one that this unit does not have.
func (r *run) lacks(f Finding) {
	if r.loose[f.Pos]++; !r.asked {
		r.open[f.Pos] = f
	}
}

func (r *run) add(f Finding) { r.l.add(r.sys.Name, f) }

// all checks the pillar, the top files and every SLS.
func (r *run) all(ctx context.Context) error {
	r.pillar(ctx)
	r.top(ctx)
	for _, f := range r.l.sls {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.unit(ctx, high.Match{SaltEnv: f.saltenv, SLS: []string{f.sls}})
	}
	for pos, f := range r.open {
		if !r.met[pos] && (r.loose[pos] == 0 || r.loose[pos] >= r.ran[pos.File]) {
			r.add(f)
		}
	}
	return ctx.Err()
}

// unit compiles SLS files that run together and checks their states.
func (r *run) unit(ctx context.Context, m high.Match) {
	r.engine = render.For(r.env).Run()
	r.asked = false
	c := high.New(r.env, r.render)
	h := c.Render(ctx, []high.Match{m})
	if len(h.Faults) > 0 {
		r.faults(h.Faults)
		return
	}
	if h.Data.Len() == 0 || isReactor(h.Data) {
		return
	}
	files := map[string]bool{}
	for id := range h.Data.All() {
		files[h.Pos(value.Str(id)).File] = true
	}
	for name := range files {
		r.ran[name]++
	}
	lower := &low.Compiler{Warn: r.warned}
	chunks, err := lower.Compile(h)
	if err != nil {
		r.faults(source.Faults(err))
		return
	}
	r.check(ctx, h, chunks)
}

// isReactor reports whether the data of an SLS is that of a reactor or of a
// thorium, whose states are kinds of functions.
func isReactor(data *value.Map) bool {
	for _, body := range data.All() {
		m, ok := body.(*value.Map)
		if !ok {
			continue
		}
		for k := range m.All() {
			switch kind, _, _ := strings.Cut(value.Str(k), "."); kind {
			case "local", "runner", "wheel", "caller", "reg", "check", "status":
				return true
			}
		}
	}
	return false
}

// render is the renderer of the compiler. What cannot be rendered because it
// depends on an unknown value is taken as empty.
func (r *run) render(ctx context.Context, in render.Input) (value.Value, error) {
	k := in.SaltEnv + "\x00" + in.SLS + "\x00" + in.Path
	got, ok := r.cache[k]
	if !ok {
		got = r.rendered(ctx, in)
		r.cache[k] = got
		r.seen(in, got)
	}
	if got.asked {
		r.asked = true
	}
	return value.Clone(got.data), got.err
}

func (r *run) rendered(ctx context.Context, in render.Input) (got rendered) {
	if usesPython(in.Text) {
		return rendered{data: value.NewMap(0), asked: true}
	}
	r.probe.asked = false
	got.data, got.err = r.engine.SLS(ctx, in)
	got.asked = r.probe.asked
	if got.err != nil && got.asked && !isSyntax(got.err) {
		got.data, got.err = value.NewMap(0), nil
	}
	return got
}

// usesPython reports whether the first line of an SLS names a renderer that runs
// Python or one that brine does not have.
func usesPython(text []byte) bool {
	for _, name := range pipelineOf(string(text)) {
		if !slices.Contains(render.Renderers(), name) || name == "pongo2" || name == "py" {
			return true
		}
	}
	return false
}

// pipelineOf returns the renderers that the first line of an SLS names.
func pipelineOf(text string) []string {
	first, _, _ := strings.Cut(text, "\n")
	line, ok := strings.CutPrefix(first, "#!")
	if !ok || strings.HasPrefix(line, "/") {
		return nil
	}
	var names []string
	for stage := range strings.SplitSeq(line, "|") {
		if words := strings.Fields(stage); len(words) > 0 {
			names = append(names, words[0])
		}
	}
	return names
}

// isSyntax reports whether a file fails to parse, whatever its variables are.
func isSyntax(err error) bool {
	for _, f := range source.Faults(err) {
		if strings.HasPrefix(f.SaltText(), "Jinja syntax error") {
			return true
		}
	}
	return false
}

// seen notes the includes of a rendered SLS, and whether it has states.
func (r *run) seen(in render.Input, got rendered) {
	name := in.SaltEnv + ":" + in.SLS
	data, ok := got.data.(*value.Map)
	r.l.mu.Lock()
	if got.asked || got.err != nil || ok && data.Len() > 0 {
		r.l.filled[name] = true
	}
	r.l.mu.Unlock()
	if !ok {
		return
	}
	list := data.List("include")
	seen := map[string]bool{}
	for i := range list.Len() {
		item, ok := list.Items[i].(string)
		if !ok || isUnknown(item) {
			continue
		}
		sls := absolute(item, in)
		pos := list.PosAt(i)
		switch {
		case seen[sls]:
			r.add(Finding{Rule: unusedInclude, Pos: pos, Message: "SLS " + sls + " is included twice"})
		case sls == in.SLS:
			r.add(Finding{Rule: unusedInclude, Pos: pos, Message: "SLS " + sls + " includes itself"})
		default:
			r.l.mu.Lock()
			r.l.reached[in.SaltEnv+":"+sls+"\x00"+in.Path] = pos
			r.l.mu.Unlock()
		}
		seen[sls] = true
	}
}

// absolute returns the SLS that an include of another names.
func absolute(item string, in render.Input) string {
	rest := strings.TrimLeft(item, ".")
	levels := len(item) - len(rest)
	if levels == 0 {
		return item
	}
	comps := strings.Split(in.SLS, ".")
	if path.Base(in.Path) == "init.sls" {
		comps = append(comps, "init")
	}
	if levels > len(comps) {
		return item
	}
	return fun.PlainSLS(strings.Join(append(slices.Clip(comps[:len(comps)-levels]), rest), "."))
}

// faults notes the faults of a pass.
func (r *run) faults(faults source.Errors) {
	for _, f := range faults {
		rule := r.l.ruleOfFault(f)
		if r.asked && (rule == missingRequisite || rule == structure) || isUnknown(f.Error()) {
			continue
		}
		if rule == undefinedVariable && isReactorFault(f) {
			continue
		}
		out := Finding{Rule: rule, Pos: f.Pos, Message: f.Err.Error(), Hint: f.Hint}
		if rule == missingRequisite {
			r.lacks(out)
			continue
		}
		r.add(out)
	}
}

// isReactorFault reports whether a fault is a variable that only the SLS of a
// reactor has.
func isReactorFault(f *source.Error) bool {
	text := f.Err.Error()
	return strings.Contains(text, "'data' is undefined") || strings.Contains(text, "'tag' is undefined")
}

// RuleOf returns the rule that a fault of a run breaks, such as one that a
// function of states has shown.
func RuleOf(f *source.Error) Rule {
	if strings.HasPrefix(f.Err.Error(), "unknown state function") {
		return ruleOf(unknownState)
	}
	return ruleOf(faultRule(f))
}

// ruleOfFault returns the rule that a fault of the compiler breaks.
func (l *linter) ruleOfFault(f *source.Error) string {
	if strings.Contains(f.SaltText(), "found character that cannot start any token") && l.hasTab(f.Pos) {
		return yamlTab
	}
	return faultRule(f)
}

// faultRule is ruleOfFault without a look at the files.
func faultRule(f *source.Error) string {
	text, has := f.SaltText(), func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(f.SaltText(), p) })
	}
	switch {
	case has("Jinja variable"):
		return undefinedVariable
	case has("found conflicting ID"):
		return duplicateKey
	case has("Detected conflicting IDs"):
		return duplicateID
	case has("is not available on the salt master", "No matching sls found", "Nonexistent saltenv", "No matching salt environment"):
		return missingInclude
	case has("Cannot extend", "Extended state"):
		return missingRequisite
	case has("recursive requisite", "Recursive requisite"):
		return requisiteCycle
	case strings.HasPrefix(text, "Rendering SLS"):
		return renderError
	}
	return structure
}

// hasTab reports whether a tab is at a place.
func (l *linter) hasTab(pos source.Pos) bool {
	for _, f := range l.files {
		if f.Path == pos.File || f.Abs == pos.File {
			if n := pos.Line; n > 0 && n <= len(f.lines) && strings.Contains(f.lines[n-1], "\t") {
				return true
			}
		}
	}
	return false
}

// top checks the top files of the states.
func (r *run) top(ctx context.Context) {
	r.engine = render.For(r.env).Run()
	r.asked = false
	c := high.New(r.env, r.render)
	t, err := c.Top(ctx, high.TopRequest{})
	if err != nil {
		r.faults(source.Faults(err))
		return
	}
	r.faults(t.Faults)
	faults := t.Verify()
	r.faults(faults)
	if len(faults) > 0 {
		return
	}
	for env, v := range t.Data.All() {
		saltenv, _ := env.(string)
		matches, _ := v.(*value.Map)
		for _, v := range matches.All() {
			list, _ := v.(*value.List)
			if names := r.topNames(ctx, saltenv, list); len(names) > 0 {
				r.unit(ctx, high.Match{SaltEnv: saltenv, SLS: names})
			}
		}
	}
}

// topNames returns the SLS files that a target has in a top file; one that is
// missing is a finding.
func (r *run) topNames(ctx context.Context, saltenv string, list *value.List) []string {
	var names []string
	for i := range list.Len() {
		name, ok := list.Items[i].(string)
		if !ok || isUnknown(name) {
			continue
		}
		all, err := fun.ListSLS(ctx, r.env.Up, saltenv)
		if err != nil {
			continue
		}
		_, err = fun.FindSLS(ctx, r.env.Up, saltenv, name)
		switch {
		case value.HasGlob(name) && len(value.FnmatchFilter(all, name)) > 0, err == nil:
			names = append(names, name)
		case errors.Is(err, fs.ErrNotExist):
			f := Finding{Rule: missingInclude, Pos: list.PosAt(i), Message: "SLS " + name + " of the top file does not exist in saltenv " + saltenv}
			if near, ok := source.Nearest(name, all); ok {
				f.Hint = "did you mean \"" + near + "\"?"
			}
			r.add(f)
		}
	}
	return names
}

// A pillarRun renders the files of the pillar.
type pillarRun struct {
	*run
	engine *render.Engine
	data   *value.Map
	// defaults are the variables that includes give to SLS files.
	defaults map[string]*value.Map
}

// pillar renders every file of the pillar and gives the run all their data: which
// of it a machine has is not known.
func (r *run) pillar(ctx context.Context) {
	env := r.env.Fork(func(e *fun.Env) { e.Pillar = knownMap{value.NewMap(0), r.probe} })
	p := &pillarRun{run: r, engine: render.New(env, r.l.pillars), data: value.NewMap(0), defaults: map[string]*value.Map{}}
	var files, again []*file
	for _, f := range r.l.files {
		if f.pillar && f.sls != "" {
			files = append(files, f)
		}
	}
	errs := map[*file]error{}
	for _, f := range files {
		if ctx.Err() != nil {
			return
		}
		if err := p.file(ctx, f); err != nil {
			again = append(again, f)
			errs[f] = err
		}
	}
	lacks := false
	for _, f := range again {
		// By now all includes are known.
		if p.defaults[f.saltenv+":"+f.sls] == nil || p.file(ctx, f) != nil {
			p.faulty(f, errs[f])
			lacks = true
		}
	}
	if lacks || len(files) == 0 || value.Truth(r.env.Opts.At("ext_pillar")) {
		r.env.Pillar = knownMap{p.data, r.probe}
		return
	}
	r.env.Pillar = p.data
}

// file renders one file; the error is one that does not depend on the machine.
func (p *pillarRun) file(ctx context.Context, f *file) error {
	text := strings.Join(f.lines, "\n")
	if usesPython([]byte(text)) {
		return nil
	}
	if first, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(first, "#!") {
		text = strings.ReplaceAll(strings.ReplaceAll(first, "| gpg", ""), "|gpg", "") + "\n" + rest // what is encrypted stays so
	}
	p.probe.asked = false
	v, err := p.engine.SLS(ctx, render.Input{
		Path: f.Path, Abs: f.Abs, SLS: f.sls, SaltEnv: f.saltenv, Text: []byte(text), Vars: p.defaults[f.saltenv+":"+f.sls],
	})
	if err != nil {
		if p.probe.asked && !isSyntax(err) {
			return nil
		}
		return err
	}
	m, ok := v.(*value.Map)
	switch {
	case !ok:
		if value.Truth(v) {
			p.add(Finding{Rule: structure, Pos: source.Pos{File: f.Abs}, Message: "pillar SLS " + f.sls + " is not a mapping"})
		}
	case f.sls == "top":
		p.pillarTop(ctx, f, m)
	default:
		p.pillarNames(ctx, f, f.saltenv, m.List("include"))
		p.defaultsOf(f, m.List("include"))
		if m.Has("include") {
			m.Delete("include")
		}
		p.l.notePillar(f, m)
		p.data = value.MergeRecurse(p.data, m, false)
	}
	return nil
}

// defaultsOf notes the variables that includes give to SLS files.
func (p *pillarRun) defaultsOf(f *file, includes *value.List) {
	for _, item := range itemsOf(includes) {
		m, ok := item.(*value.Map)
		if !ok || m.Len() == 0 {
			continue
		}
		k, v := m.Entry(0)
		with, _ := v.(*value.Map)
		if vars := with.Map("defaults"); vars.Len() > 0 {
			p.defaults[f.saltenv+":"+value.Str(k)] = vars
		}
	}
}

// faulty notes why a file cannot be rendered.
func (p *pillarRun) faulty(f *file, err error) {
	for _, e := range source.Faults(err) {
		rule := p.l.ruleOfFault(e)
		if rule == structure {
			rule = renderError
		}
		pos := e.Pos
		if pos.File == "" || pos.File == f.Path {
			pos.File = f.Abs
		}
		p.add(Finding{Rule: rule, Pos: pos, Message: e.Err.Error(), Hint: e.Hint})
	}
}

// pillarTop checks the names in a top file of the pillar.
func (r *run) pillarTop(ctx context.Context, f *file, top *value.Map) {
	for env, v := range top.All() {
		matches, _ := v.(*value.Map)
		for _, v := range matches.All() {
			list, _ := v.(*value.List)
			if slices.ContainsFunc(itemsOf(list), isIgnoreMissing) {
				continue
			}
			r.pillarNames(ctx, f, value.Str(env), list)
		}
	}
}

func isIgnoreMissing(v value.Value) bool {
	m, ok := v.(*value.Map)
	return ok && value.Truth(m.At("ignore_missing"))
}

// pillarNames checks that a list names SLS files of the pillar.
func (r *run) pillarNames(ctx context.Context, f *file, saltenv string, list *value.List) {
	all, err := fun.ListSLS(ctx, r.l.pillars, saltenv)
	if err != nil {
		return
	}
	for i := range list.Len() {
		name, ok := list.Items[i].(string)
		if m, isMap := list.Items[i].(*value.Map); isMap && m.Len() == 1 && !m.Has("match") {
			k, _ := m.Entry(0)
			name, ok = k.(string)
		}
		if strings.HasPrefix(name, ".") {
			name = absolute(name, render.Input{SLS: f.sls, Path: f.Path})
		}
		if !ok || isUnknown(name) || slices.Contains(all, fun.PlainSLS(name)) || value.HasGlob(name) {
			continue
		}
		pos := list.PosAt(i)
		pos.File = f.Abs
		out := Finding{Rule: missingInclude, Pos: pos, Message: "pillar SLS " + name + " does not exist in saltenv " + saltenv}
		if near, ok := source.Nearest(name, all); ok {
			out.Hint = "did you mean \"" + near + "\"?"
		}
		r.add(out)
	}
}

func itemsOf(l *value.List) []value.Value {
	if l == nil {
		return nil
	}
	return l.Items
}
