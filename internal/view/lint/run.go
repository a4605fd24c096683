package lint

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/event"
	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/render"
	"brine/internal/core/saltnames"
	"brine/internal/core/star"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/high"
	"brine/runner/low"
)

// A machine is a fake one whose files are those of the disk, to read.
type machine struct {
	*host.Fake
	disk  host.Files
	probe *probe
}

// Unknown is what a filter of Jinja answers that looks at the machine, such as which.
func (m machine) Unknown(call string) value.Value {
	m.probe.asked = true
	return unknown{p: m.probe, path: call}
}

func (m machine) Stat(p string) (host.Stat, error)        { return m.disk.Stat(p) }
func (m machine) Lstat(p string) (host.Stat, error)       { return m.disk.Lstat(p) }
func (m machine) ReadFile(p string) ([]byte, error)       { return m.disk.ReadFile(p) }
func (m machine) Open(p string) (io.ReadCloser, error)    { return m.disk.Open(p) }
func (m machine) ReadDir(p string) ([]string, error)      { return m.disk.ReadDir(p) }
func (m machine) Readlink(p string) (string, error)       { return m.disk.Readlink(p) }
func (m machine) EvalSymlinks(p string) (string, error)   { return m.disk.EvalSymlinks(p) }
func (m machine) ReadTarget(p string) (string, error)     { return m.disk.ReadTarget(p) }
func (m machine) Target(p string) (string, error)         { return m.disk.Target(p) }
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
			mod := openModule(kind, name)
			if f.star != nil && !f.star.Open {
				mod = starModule(mod, f.star)
			}
			custom = append(custom, fun.Entry{Kind: kind, Name: name, Custom: true, Load: func() fun.Module { return mod }})
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

// starModule is a module that has the functions of a Starlark file alone.
func starModule(mod fun.Module, facts *star.Facts) fun.Module {
	mod.Dynamic = nil
	for _, fn := range facts.Functions {
		mod.Specs = append(mod.Specs, fun.Spec{Name: fn.Name, Doc: fn.Doc, VarArg: true, VarKw: true})
	}
	mod.SortSpecs()
	return mod
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

// virtualNames returns the names under which a Python module serves as well: its
// __virtualname__, and the texts that __virtual__ returns.
func (f *file) virtualNames() []string {
	var names []string
	add := func(text string) {
		if name := strings.TrimSpace(text); len(name) > 2 && strings.ContainsRune(`'"`, rune(name[0])) {
			names = append(names, strings.Trim(name, `'"`))
		}
	}
	inside := false
	for _, line := range f.lines {
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			inside = strings.HasPrefix(line, "def __virtual__(")
		}
		if rest, ok := strings.CutPrefix(line, "__virtualname__"); ok {
			add(strings.TrimPrefix(strings.TrimSpace(rest), "="))
		} else if text, ok := strings.CutPrefix(strings.TrimSpace(line), "return "); ok && inside {
			add(text)
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
	cache  map[string]*rendered
	asked  bool // what is compiled now depends on an unknown value
	vague  bool // which states there are now depends on one
	// explores says that this is the system on which SLS files are rendered in all
	// worlds: what that shows holds on others as well. elsewhere says that this SLS has
	// more of them, so that its requisites are checked there.
	explores, elsewhere bool
	// vary is how the SLS of the unit is rendered now; nil: as usual.
	vary *variant

	units map[string]*unit // what is compiled, by [keyOf]
	tops  []*unit          // those of the top file, in order
	never map[string]bool  // by saltenv and SLS: the top file gives it to no machine of this system
	top   *pass            // what reading the top file came to; nil: it is to be read
	u     *unit            // what is compiled now
	at    *pass            // where findings and dependencies are noted now

	// templates are what templates of files came to, by what they were rendered with.
	templates map[string]*pass

	pillarFiles map[string]*pillarFile // by the id of the file
	pillarText  string                 // the data of all, to see whether it changed
	pillarDue   bool                   // it is to be rendered
	changes     int                    // how many times files changed under the engine
}

// A pass is what one step over some files came to.
type pass struct {
	found []Finding
	deps  map[string]bool // the files that it read or looked for (see [depOf])
}

func newPass() *pass { return &pass{deps: map[string]bool{}} }

// A unit is SLS files that run together.
type unit struct {
	pass
	matches []high.Match
	targets []topEntry // of the top file, which have these files
	stale   bool       // it is to be compiled
	// open are the requisites to nothing, by place; met are places whose requisite
	// is met in some combination of SLS files; maybe are those to nothing where an
	// unknown value says which states there are.
	open, maybe map[source.Pos]Finding
	met         map[source.Pos]bool
	// loose are the requisites that a state hands to a state that is not there, how
	// often the unit has each; ran are its files.
	loose map[source.Pos]int
	ran   map[string]bool
	own   string // the key in the cache of the one SLS that it is made of; "": of the top file
	many  bool   // the SLS can be rendered in many ways
	// explored is what further renderings of the SLS came to.
	explored pass
}

// keyOf identifies SLS files that run together.
func keyOf(matches []high.Match) string {
	var parts []string
	for _, m := range matches {
		parts = append(parts, m.SaltEnv+"\x00"+strings.Join(m.SLS, "\x00"))
	}
	return strings.Join(parts, "\x00\x00")
}

// size returns how many SLS files a unit has.
func (u *unit) size() (n int) {
	for _, m := range u.matches {
		n += len(m.SLS)
	}
	return n
}

// rendered is what an SLS file came to.
type rendered struct {
	pass
	in       render.Input
	data     value.Value
	err      error
	asked    bool   // it depends on an unknown value
	dropped  bool   // it could not be rendered for one
	choices  int    // how many questions about unknown values it asked
	name     string // "saltenv:sls"
	filled   bool   // it has states, or may have some
	includes map[string]source.Pos
}

// noted is an upstream that notes which files a run depends on.
type noted struct {
	*fileserver.Local
	r *run
}

// Stat returns a file, or that it is not there.
func (n noted) Stat(ctx context.Context, saltenv, p string) (fun.FileInfo, error) {
	n.r.note(false, saltenv, p)
	n.unreadable(saltenv, p)
	return n.r.l.seen.Stat(ctx, n.Local, seenKey{false, saltenv, p})
}

// Open opens a file.
func (n noted) Open(ctx context.Context, saltenv, p string) (io.ReadCloser, error) {
	n.r.note(false, saltenv, p)
	if n.unreadable(saltenv, p) {
		return io.NopCloser(strings.NewReader("")), nil // what depends on it is not judged
	}
	return n.r.l.seen.Open(ctx, n.Local, seenKey{false, saltenv, p})
}

// unreadable reports whether a file cannot be read: nothing is known of what depends on it.
func (n noted) unreadable(saltenv, p string) bool {
	broken := n.r.l.unreadable(false, saltenv, p)
	n.r.probe.asked = n.r.probe.asked || broken
	return broken
}

// notedPillar are the files of the pillar, as noted are those of the states.
type notedPillar struct {
	*fileserver.Server
	r *run
}

// Stat returns a file, or that it is not there.
func (n notedPillar) Stat(ctx context.Context, saltenv, p string) (fun.FileInfo, error) {
	n.r.note(true, saltenv, p)
	return n.r.l.seen.Stat(ctx, n.Server, seenKey{true, saltenv, p})
}

// Open opens a file.
func (n notedPillar) Open(ctx context.Context, saltenv, p string) (io.ReadCloser, error) {
	n.r.note(true, saltenv, p)
	return n.r.l.seen.Open(ctx, n.Server, seenKey{true, saltenv, p})
}

// note notes that what is done now depends on a file.
func (r *run) note(pillar bool, saltenv, p string) {
	if r.at != nil {
		r.at.deps[depOf(pillar, saltenv, strings.TrimLeft(path.Clean("/"+p), "/"))] = true
	}
}

func (l *linter) newRun(sys System) *run {
	r := &run{l: l, sys: sys, probe: &probe{}, cache: map[string]*rendered{}, units: map[string]*unit{}, templates: map[string]*pass{}, pillarFiles: map[string]*pillarFile{}, pillarDue: true}
	opts := l.o.Opts.Copy()
	id := sys.Grains.Str("id")
	hasID := id != ""
	opts.Set("id", id)
	if !hasID {
		id = sys.Name
		opts.Set("id", unknown{p: r.probe, path: "grains.id"})
	}
	opts.Set("file_client", "local")
	grains := knownMap{sys.Grains, "grains", r.probe}
	env := &fun.Env{
		Identity:  fun.Identity{ID: id, SaltEnv: "base"},
		Data:      fun.Data{Opts: opts, Grains: grains, Pillar: value.NewMap(0), Memo: &fun.Memo{}},
		Machine:   fun.Machine{Host: machine{host.NewFake(), l.o.Disk, r.probe}, Up: noted{&fileserver.Local{Server: l.states}, r}},
		Functions: fun.Functions{Table: l.table, NewInvoker: func(e *fun.Env) fun.Invoker { return newInvoker(e, r.probe, hasID) }, Limits: noGPG()},
		Network:   fun.Network{Bus: event.NewRing(0, host.FakeTime)},
	}
	env.Invoker = newInvoker(env, r.probe, hasID)
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
		r.noteMissing(Finding{Rule: missingRequisite, Pos: pos, Message: w.Text})
	default:
		r.add(Finding{Rule: compileWarning, Pos: pos, Message: w.Text})
	}
}

// noteMissing notes a requisite that a state gives to a state that is not in this unit.
func (r *run) noteMissing(f Finding) {
	if r.u == nil {
		return
	}
	if r.vary == nil {
		r.u.loose[f.Pos]++
	}
	r.unmet(f)
}

// unmet notes a requisite to nothing.
func (r *run) unmet(f Finding) {
	switch {
	case r.elsewhere:
	case r.vague:
		r.u.maybe[f.Pos] = f
	default:
		r.u.open[f.Pos] = f
	}
}

// unjudged notes what was not looked at, and why.
func (r *run) unjudged(pos source.Pos, format string, args ...any) {
	r.add(Finding{Rule: notJudged, Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// unjudgedFaults notes faults that depend on unknown values.
func (r *run) unjudgedFaults(path string, err error) {
	for _, f := range source.Faults(err) {
		pos := f.Pos
		if pos.File == "" {
			pos.File = path
		}
		r.unjudged(pos, "%s (%s)", clean(f.Err.Error()), machineOnly)
	}
}

// machineOnly is why something is not judged.
const machineOnly = "it depends on values that only a machine has"

// clean replaces the text of unknown values in a message.
func clean(text string) string {
	return unknownText().ReplaceAllString(text, "?")
}

var unknownText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?i)'?" + marker + "[0-9]*'?") })

func (r *run) add(f Finding) {
	if r.at != nil {
		r.at.found = append(r.at.found, f)
	}
}

// within notes findings and dependencies in p while do runs.
func (r *run) within(p *pass, do func()) {
	before := r.at
	r.at = p
	do()
	r.at = before
}

// compile compiles the SLS files of a unit and checks their states.
func (r *run) compile(ctx context.Context, u *unit) {
	u.pass, u.explored, u.many = *newPass(), *newPass(), false
	u.open, u.maybe, u.met, u.loose, u.ran = map[source.Pos]Finding{}, map[source.Pos]Finding{}, map[source.Pos]bool{}, map[source.Pos]int{}, map[string]bool{}
	r.u = u
	r.within(&u.pass, func() {
		r.unit(ctx, u.matches...)
		if u.own != "" {
			r.variants(ctx, u)
		}
	})
	r.u = nil
	maps.Copy(u.deps, u.explored.deps)
	u.stale = ctx.Err() != nil
}

// unit compiles SLS files that run together and checks their states.
func (r *run) unit(ctx context.Context, matches ...high.Match) {
	r.engine = render.For(r.env).Run()
	r.asked, r.vague, r.elsewhere = false, false, false
	c := high.New(r.env, r.render)
	h := c.Render(ctx, matches)
	r.vague = r.vague || hasUnknownNames(h.Data)
	if len(h.Faults) > 0 {
		r.faults(h.Faults)
		r.rest(ctx, h)
		return
	}
	if h.Data.Len() == 0 {
		return
	}
	for id := range h.Data.All() {
		r.u.ran[h.Pos(value.Str(id)).File] = true
	}
	lower := &low.Compiler{Warn: r.warned}
	chunks, err := lower.Compile(h)
	if err != nil {
		r.faults(source.Faults(err))
		r.rest(ctx, h)
		return
	}
	r.check(ctx, h, chunks)
}

// rest checks the states that nothing is wrong with, where others keep the SLS
// files from being compiled. Their requisites are left alone: what they name may be
// among the others.
func (r *run) rest(ctx context.Context, h *high.High) {
	one, good := h.Copy(), h.Copy()
	good.Data = value.NewMap(h.Data.Len())
	for k, body := range h.Data.All() {
		if id, ok := k.(string); !ok || strings.HasPrefix(id, "__") {
			continue
		}
		if one.Data = value.MapOf(k, body); len(one.Verify()) == 0 {
			good.Data.Set(k, body)
		}
	}
	if chunks, err := low.Show(good); err == nil {
		r.states(ctx, good, chunks)
	}
}

// render is the renderer of the compiler. What cannot be rendered because it
// depends on an unknown value is taken as empty.
func (r *run) render(ctx context.Context, in render.Input) (value.Value, error) {
	k := in.SaltEnv + "\x00" + in.SLS + "\x00" + in.Path
	got, ok := r.cache[k]
	switch {
	case r.vary != nil && r.vary.key == k:
		got = r.vary.got
	case !ok:
		got = &rendered{pass: *newPass(), in: in, name: in.SaltEnv + ":" + in.SLS}
		r.within(&got.pass, func() {
			r.note(false, in.SaltEnv, in.Path)
			r.rendered(ctx, in, world{}, got)
			r.seen(in, got)
		})
		if ctx.Err() == nil {
			r.cache[k] = got
		}
	}
	if r.at != nil {
		maps.Copy(r.at.deps, got.deps)
	}
	if got.asked {
		r.asked = true
	}
	if r.u != nil && k == r.u.own {
		r.elsewhere = !r.explores && got.choices > 0
		r.vague = r.vague || got.choices >= maxVariants
	} else if got.choices > 0 {
		r.vague = true
	}
	r.vague = r.vague || got.dropped
	return value.Clone(got.data), got.err
}

// hasUnknownNames reports whether the ID or the name of a state depends on an unknown
// value.
func hasUnknownNames(data *value.Map) bool {
	for id, body := range data.All() {
		if isUnknown(value.Str(id)) {
			return true
		}
		m, _ := body.(*value.Map)
		for _, args := range m.All() {
			list, _ := args.(*value.List)
			for _, item := range list.Elems() {
				arg, _ := item.(*value.Map)
				if isUnknown(arg.Str("name")) {
					return true
				}
			}
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
	if len(names) == 1 { // the old spelling of two, data format first
		if format, engine, ok := strings.Cut(names[0], "_"); ok && (format == "yaml" || format == "json") {
			return []string{engine, format}
		}
	}
	return names
}

// isSyntax reports whether a file fails to parse, whatever its variables are.
func isSyntax(err error) bool {
	for _, f := range source.Faults(err) {
		if text := f.SaltText(); strings.HasPrefix(text, "Jinja syntax error") && !strings.Contains(text, "Encountered error loading") {
			return true
		}
	}
	return false
}

// seen notes the includes of a rendered SLS, and whether it has states.
func (r *run) seen(in render.Input, got *rendered) {
	data, ok := got.data.(*value.Map)
	got.filled = got.asked || got.err != nil || ok && data.Len() > 0
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
			if got.includes == nil {
				got.includes = map[string]source.Pos{}
			}
			got.includes[in.SaltEnv+":"+sls] = pos
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
		if r.asked && rule == structure && (r.vary != nil || r.l.isRendered(f.Pos)) || isUnknown(f.Error()) {
			r.unjudgedFaults("", f)
			continue
		}
		out := Finding{Rule: rule, Pos: f.Pos, Message: f.Err.Error(), Hint: f.Hint, Via: f.Via}
		if rule == missingRequisite {
			r.noteMissing(out)
			continue
		}
		r.add(out)
	}
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

// fileOf returns the file that a place names; nil if it is none of the tree.
func (l *linter) fileOf(name string) *file {
	for _, f := range l.files {
		if f.Path == name || f.Abs == name {
			return f
		}
	}
	return nil
}

// isRendered reports whether what is at a place was made by an expression of a template, or
// by a loop or a condition that begins right below it, such as the items of a list.
func (l *linter) isRendered(pos source.Pos) bool {
	f := l.fileOf(pos.File)
	if f == nil || pos.Line < 1 || pos.Line > len(f.lines) {
		return true
	}
	lines := f.lines[pos.Line-1 : min(pos.Line+1, len(f.lines))]
	return strings.Contains(strings.Join(lines, ""), "{{") || len(lines) == 2 && beginsBlock().MatchString(lines[1])
}

var beginsBlock = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\{%[-+]?\s*(for|if)\b`) })

// hasTab reports whether a tab is at a place.
func (l *linter) hasTab(pos source.Pos) bool {
	f := l.fileOf(pos.File)
	return f != nil && pos.Line > 0 && pos.Line <= len(f.lines) && strings.Contains(f.lines[pos.Line-1], "\t")
}
