package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/core/target"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/reactor"
)

// Reactors checks what reacts to events before one comes. The files are rendered with an event
// of which nothing is known, so that all branches of their conditions are taken; functions that
// do more than compute are not called. faults are what can never be honoured; open is what
// depends on the event.
func Reactors(ctx context.Context, env *fun.Env, m reactor.Map) (faults, open source.Errors) {
	files, faults := m.Files(ctx, env)
	k := newReacting(env)
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		k.check(ctx, &files[i])
	}
	return distinct(append(faults, k.faults...)), distinct(k.open)
}

// Reactions checks reactions to an event that came: faults are what keeps one from being run,
// open is what this machine cannot know.
func Reactions(ctx context.Context, env *fun.Env, all []*reactor.Reaction) (faults, open source.Errors) {
	k := newReacting(env)
	for _, x := range all {
		k.reaction(ctx, x)
	}
	return distinct(append(k.faults, k.wrong...)), distinct(k.open)
}

func newReacting(env *fun.Env) *reacting {
	k := &reacting{real: env, probe: &probe{}}
	k.env = env.Fork(func(e *fun.Env) {
		e.OnWarn = nil
		e.NewInvoker = func(e *fun.Env) fun.Invoker { return newInvoker(e, k.probe, true) }
	})
	return k
}

// A reacting checks files of reactions.
type reacting struct {
	real         *fun.Env
	env          *fun.Env // the same, whose functions only compute
	probe        *probe
	faults, open source.Errors

	// Of the file that is checked: what was wrong with a reaction in some worlds, and which
	// reactions were right in others.
	wrong source.Errors
	right map[source.Pos]bool
}

// check renders a file in several worlds.
func (k *reacting) check(ctx context.Context, f *reactor.File) {
	k.wrong, k.right = nil, map[source.Pos]bool{}
	at := source.Pos{File: f.Path, Line: 1, Col: 1}
	first, _, _ := strings.Cut(string(f.Text), "\n")
	if name, line := notRendered(pipelineOf(first), f.Text); name != "" {
		at.Line = line
		if !slices.Contains(render.Renderers(), name) && !render.ByPython(name) && !k.exists(ctx, "_renderers/"+name+".py") {
			k.faults = append(k.faults, &source.Error{Pos: at, Err: fmt.Errorf("unknown renderer %q%s", name, source.DidYouMean(name, render.Renderers()))})
			return
		}
		k.later(at, "the renderer %s runs with an event", name)
		return
	}
	no := k.world(ctx, f, world{})
	if no == 0 {
		k.settle()
		return
	}
	yes := k.world(ctx, f, world{yes: true})
	left := maxVariants
	for i := 1; i <= max(no, yes) && left > 0 && ctx.Err() == nil; i++ {
		for _, w := range []world{{flip: i}, {yes: true, flip: i}} {
			if n := map[bool]int{false: no, true: yes}[w.yes]; i <= n && n > 1 {
				left--
				k.world(ctx, f, w)
			}
		}
	}
	if left <= 0 {
		k.later(at, "it has more conditions than are tried")
	}
	k.settle()
}

// settle decides what was wrong with reactions in some worlds: where one was right in another
// world, it is the event that decides.
func (k *reacting) settle() {
	for _, f := range k.wrong {
		if k.right[f.Pos] {
			k.later(f.Pos, "%s", clean(f.Err.Error()))
			continue
		}
		k.faults = append(k.faults, f)
	}
}

// later notes what only an event can show.
func (k *reacting) later(pos source.Pos, format string, args ...any) {
	k.open = append(k.open, &source.Error{Pos: pos, Err: fmt.Errorf(format, args...)})
}

// world renders a file in a world and checks its reactions. It returns how many questions the
// file asked.
func (k *reacting) world(ctx context.Context, f *reactor.File, w world) int {
	k.probe.begin(w)
	v, err := render.For(k.env).Run().SLS(ctx, f.Input(unknown{p: k.probe, path: "tag"}, unknown{p: k.probe, path: "data"}))
	asked, choices := k.probe.asked, k.probe.choices
	if err != nil {
		for _, e := range reactor.FaultsOf(f.Path, err) {
			if asked && !isSyntax(err) {
				k.later(e.Pos, "%s", clean(e.Err.Error()))
				continue
			}
			k.faults = append(k.faults, e)
		}
		return choices
	}
	all, err := reactor.OfFile(k.env, f.Path, v)
	for _, e := range source.Faults(err) {
		if isUnknown(e.Error()) {
			k.later(e.Pos, "%s", clean(e.Err.Error()))
			continue
		}
		k.wrong = append(k.wrong, e)
	}
	for _, x := range all {
		if k.reaction(ctx, x) {
			k.right[x.Pos] = true
		}
	}
	return choices
}

// reaction checks what a reaction calls. It reports whether its arguments may be right.
func (k *reacting) reaction(ctx context.Context, x *reactor.Reaction) bool {
	if isUnknown(x.Fun) {
		k.later(x.Pos, "reaction %s: which function it calls", clean(x.ID))
		return true
	}
	fault := func(hint, format string, args ...any) {
		k.faults = append(k.faults, &source.Error{Pos: x.Pos, Err: fmt.Errorf("reaction %s: "+format, append([]any{clean(x.ID)}, args...)...), Hint: hint})
	}
	// A minion of a Salt master may have more functions and SLS files than this machine.
	foreign := x.Kind == reactor.Local && k.env.Opts.At("fleets") != nil
	mod, spec, err := k.find(x)
	if nf, ok := errors.AsType[*fun.NotFoundError](err); ok {
		if foreign {
			k.later(x.Pos, "reaction %s: %v Minions of fleets may have it", clean(x.ID), nf)
		} else {
			fault(nf.Hint(), "%v", nf)
		}
		return true
	}
	if err != nil {
		fault("", "%v", err)
		return true
	}
	if x.Kind == reactor.Local {
		k.targets(ctx, x, fault)
	}
	for name := range strings.SplitSeq(x.Returner, ",") {
		if name = strings.TrimSpace(name); name == "" || isUnknown(name) || k.real.CheckReturner == nil {
			continue
		}
		if err := k.real.CheckReturner(k.real, name); err != nil {
			fault("", "ret: %v", err)
		}
	}
	if foreign {
		return true
	}
	k.states(ctx, x, fault)
	return k.arguments(x, mod, spec)
}

// find returns the function that a reaction calls. Those of targets are not asked whether they
// can run on this machine.
func (k *reacting) find(x *reactor.Reaction) (*fun.Module, *fun.Spec, error) {
	if x.Kind != reactor.Local {
		return k.env.Find(x.Table(), x.Fun)
	}
	mod, spec, ok := k.env.Table.Lookup(fun.Exec, x.Fun)
	if !ok {
		return nil, nil, k.env.Table.NotFound(fun.Exec, x.Fun)
	}
	return mod, spec, nil
}

// targets checks on what a reaction of the kind local runs.
func (k *reacting) targets(ctx context.Context, x *reactor.Reaction, fault func(hint, format string, args ...any)) {
	all := target.Types()
	if slices.Contains(all, x.TgtType) || isUnknown(x.TgtType) || k.exists(ctx, "_matchers/"+x.TgtType+"_match.py") {
		return
	}
	fault("types are "+strings.Join(all, ", "), "unknown target type %q%s", x.TgtType, source.DidYouMean(x.TgtType, all))
}

// exists reports whether the file roots have a file.
func (k *reacting) exists(ctx context.Context, path string) bool {
	_, err := k.env.Up.Stat(ctx, "base", path)
	return err == nil
}

// arguments checks what a function is called with. It reports whether that may be right.
func (k *reacting) arguments(x *reactor.Reaction, mod *fun.Module, spec *fun.Spec) bool {
	if mod.Dynamic != nil {
		return true
	}
	_, err := k.env.Invoker.Bind(mod, spec, x.Args)
	if err == nil || isUnknown(err.Error()) {
		return true
	}
	if _, ok := errors.AsType[*fun.ArgError](err); !ok && (hasUnknown(value.NewList(x.Args.Pos...)) || hasUnknown(x.Args.Kw)) {
		return true // a value that is not known has no type
	}
	k.wrong = append(k.wrong, &source.Error{Pos: x.Pos, Err: fmt.Errorf("reaction %s: %s: %w", clean(x.ID), x.Fun, err)})
	return false
}

// states checks whether the SLS files are there that a reaction applies.
func (k *reacting) states(ctx context.Context, x *reactor.Reaction, fault func(hint, format string, args ...any)) {
	names, saltenv := slsOf(x)
	for _, name := range names {
		if isUnknown(name) || isUnknown(saltenv) {
			k.later(x.Pos, "reaction %s: which SLS it applies", clean(x.ID))
			continue
		}
		if _, err := fun.FindSLS(ctx, k.env.Up, saltenv, name); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		hint := ""
		if all, err := fun.ListSLS(ctx, k.env.Up, saltenv); err == nil {
			if near, ok := source.Nearest(name, all); ok {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
		}
		fault(hint, "SLS %s does not exist in saltenv %s", name, saltenv)
	}
}

// slsOf returns the SLS files that a reaction applies, and of which saltenv. Globs and relative
// names are left out.
func slsOf(x *reactor.Reaction) (names []string, saltenv string) {
	switch x.Kind + "." + x.Fun {
	case "runner.state.orchestrate", "runner.state.orch", "runner.state.sls",
		"local.state.apply", "local.state.sls", "caller.state.apply", "caller.state.sls":
	default:
		return nil, ""
	}
	mods := x.Args.Kw.At("mods")
	if mods == nil && len(x.Args.Pos) > 0 {
		mods = x.Args.Pos[0]
	}
	for _, entry := range itemsOrOne(mods) {
		text, _ := entry.(string)
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" && !value.HasGlob(name) {
				names = append(names, name)
			}
		}
	}
	if saltenv = x.Args.Kw.Str("saltenv"); saltenv == "" {
		saltenv = "base"
	}
	return names, saltenv
}

// distinct returns each fault once, by its place.
func distinct(all source.Errors) source.Errors {
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(f *source.Error) bool {
		text := f.Error()
		again := seen[text]
		seen[text] = true
		return again
	})
	slices.SortStableFunc(all, func(a, b *source.Error) int { return strings.Compare(sortKey(a.Pos), sortKey(b.Pos)) })
	return all
}
