package lint

import (
	"context"
	"maps"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A pillarRun renders the files of the pillar.
type pillarRun struct {
	*run
	engine *render.Engine
	data   *value.Map
	// defaults are the variables that includes give to SLS files.
	defaults map[string]*value.Map
}

// A pillarFile is what a file of the pillar came to.
type pillarFile struct {
	pass
	vars    *value.Map            // the variables that it was rendered with
	gives   map[string]*value.Map // those that it gives to other files
	data    *value.Map
	err     error // one that does not depend on the machine
	partial bool  // it may have data that are not known
}

// pillar renders every file of the pillar and gives the run all their data: which
// of it a machine has is not known. It returns whether the data changed.
func (r *run) pillar(ctx context.Context) bool {
	env := r.env.Fork(func(e *fun.Env) { e.Pillar = knownMap{value.NewMap(0), "pillar", r.probe} })
	p := &pillarRun{run: r, engine: render.New(env, notedPillar{r.l.pillars, r}), data: value.NewMap(0), defaults: map[string]*value.Map{}}
	var files, again []*file
	for _, f := range r.l.files {
		if f.pillar && f.sls != "" && !f.lost {
			files = append(files, f)
		}
	}
	for _, f := range files {
		if ctx.Err() != nil {
			return false
		}
		if p.file(ctx, f).err != nil {
			again = append(again, f)
		}
	}
	lacks := slices.ContainsFunc(files, func(f *file) bool {
		got := p.pillarFiles[f.id()]
		return got != nil && got.partial
	})
	for _, f := range again {
		if ctx.Err() != nil {
			return false // what was rendered last is not kept
		}
		// By now all includes are known.
		first := r.pillarFiles[f.id()]
		if p.defaults[f.saltenv+":"+f.sls] == nil || p.file(ctx, f).err != nil {
			r.within(&first.pass, func() { p.faulty(f, first.err) })
			r.pillarFiles[f.id()] = first
			lacks = true
		}
	}
	if ctx.Err() != nil {
		return false
	}
	r.pillarDue = false
	p.probe.hide(p.data, "pillar")
	text := value.Repr(p.data)
	if lacks || len(files) == 0 || value.Truth(r.env.Opts.At("ext_pillar")) {
		r.env.Pillar = knownMap{p.data, "pillar", r.probe}
		text += "?"
	} else {
		r.env.Pillar = p.data
	}
	changed := text != r.pillarText
	r.pillarText = text
	return changed
}

// file renders one file, unless it came to the same before.
func (p *pillarRun) file(ctx context.Context, f *file) *pillarFile {
	vars := p.defaults[f.saltenv+":"+f.sls]
	got := p.pillarFiles[f.id()]
	if got == nil || got.vars.Len() != vars.Len() || vars.Len() > 0 && value.Repr(got.vars) != value.Repr(vars) {
		got = &pillarFile{pass: *newPass(), vars: vars, gives: map[string]*value.Map{}, data: value.NewMap(0)}
		p.within(&got.pass, func() {
			p.note(true, f.saltenv, f.Path)
			got.err = p.render(ctx, f, got)
		})
		if ctx.Err() == nil {
			p.pillarFiles[f.id()] = got
		}
	} else if got.err != nil {
		got.found = nil // they are noted when all includes are known
	}
	maps.Copy(p.defaults, got.gives)
	value.Update(p.data, value.Clone(got.data).(*value.Map), true, false)
	return got
}

// text returns the text of a file.
func (p *pillarRun) text(f *file) (string, error) {
	if f.lines != nil {
		return strings.Join(f.lines, "\n"), nil
	}
	text, err := p.l.o.Disk.ReadFile(f.Abs) // one that is too large for the rules that look at text
	return string(text), err
}

// render renders one file; the error is one that does not depend on the machine.
func (p *pillarRun) render(ctx context.Context, f *file, got *pillarFile) error {
	text, err := p.text(f)
	if err != nil {
		got.partial = true // the listing of the tree says so
		return nil
	}
	if name, line := p.l.notRendered([]byte(text)); name != "" {
		got.partial = true
		p.unjudged(source.Pos{File: f.Abs, Line: line, Col: 1}, "the renderer %s does not run here", name)
		return nil
	}
	p.probe.begin(world{})
	v, err := p.engine.SLS(ctx, render.Input{
		Path: f.Path, Abs: f.Abs, SLS: f.sls, SaltEnv: f.saltenv, Text: []byte(text), Vars: got.vars,
	})
	if err != nil {
		if p.probe.asked && !isSyntax(err) {
			got.partial = true
			for _, e := range source.Faults(err) {
				pos := e.Pos
				if pos.File == "" || pos.File == f.Path {
					pos.File = f.Abs
				}
				p.unjudged(pos, "%s (%s)", clean(e.Err.Error()), machineOnly)
			}
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
		got.defaultsOf(f, m.List("include"))
		p.l.used.pillar(m)
		if m.Has("include") {
			m.Delete("include")
		}
		got.data = m
	}
	return nil
}

// defaultsOf notes the variables that includes give to SLS files.
func (p *pillarFile) defaultsOf(f *file, includes *value.List) {
	for _, item := range includes.Elems() {
		m, ok := item.(*value.Map)
		if !ok || m.Len() == 0 {
			continue
		}
		k, v := m.Entry(0)
		with, _ := v.(*value.Map)
		if vars := with.Map("defaults"); vars.Len() > 0 {
			p.gives[f.saltenv+":"+value.Str(k)] = vars
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
			if slices.ContainsFunc(list.Elems(), isIgnoreMissing) {
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
