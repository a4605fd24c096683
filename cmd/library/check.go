package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"brine/cmd/assembly"
	"brine/cmd/session"
	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/chain"
	"brine/internal/view/orchestration"
	"brine/states/salt"
)

// maxNested is how deep orchestrations that start others are looked into.
const maxNested = 20

// A checker finds what of a run cannot work before anything of it has begun.
type checker struct {
	env    *fun.Env
	faults []string
	// unsure are things that cannot be judged from here.
	unsure []string
	seen   map[string]bool // orchestrations that were compiled
	custom map[string]bool // saltenvs with modules of their own
}

// CheckChain returns what of a chain cannot work as the tree is now: SLS files,
// directories and functions that do not exist, orchestrations that cannot be compiled or
// have steps without targets, and in unsure, what only the run shows. The targets of the
// chain itself are not looked at.
func CheckChain(ctx context.Context, env *fun.Env, c *chain.Chain) (faults, unsure []string) {
	k := &checker{env: env, seen: map[string]bool{}, custom: map[string]bool{}}
	for i := range c.Steps {
		s := &c.Steps[i]
		n, u := len(k.faults), len(k.unsure)
		k.step(ctx, s)
		at := fmt.Sprintf("step %d (%s): ", i+1, s.Summary())
		prefix(k.faults[n:], at)
		prefix(k.unsure[u:], at)
	}
	return k.faults, k.unsure
}

// CheckOrchestration returns what of an orchestration cannot work as the tree and the roster
// are now, and in unsure, what only the run shows.
func CheckOrchestration(ctx context.Context, env *fun.Env, sls string) (faults, unsure []string) {
	k := &checker{env: env, seen: map[string]bool{}, custom: map[string]bool{}}
	k.orchestration(ctx, env.SaltEnv, sls, nil, 0)
	return k.faults, k.unsure
}

func (k *checker) fault(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(k.faults, text) {
		k.faults = append(k.faults, text)
	}
}

// CheckAll is CheckChain, with the steps of the chain itself that have no targets, or with
// one that has no steps at all.
func CheckAll(ctx context.Context, env *fun.Env, c *chain.Chain) (faults, unsure []string) {
	if len(c.Steps) == 0 {
		return []string{"no steps: 'brine chain add' adds some"}, nil
	}
	faults, unsure = CheckChain(ctx, env, c)
	if err := checkDestinations(env, c.Notify); err != nil {
		faults = append(faults, err.Error())
	}
	targets := c.Targets()
	for _, n := range slices.Sorted(maps.Keys(targets)) {
		e := targets[n]
		ids, err := MatchAll(ctx, env, e)
		if err == nil && len(ids) == 0 {
			err = NothingMatches(ctx, env, e)
		}
		if err != nil {
			faults = append(faults, fmt.Sprintf("step %d (%s): %s", n, c.Steps[n-1].Summary(), err))
		}
	}
	return faults, unsure
}

// checkDestinations returns an error for destinations of notifications that do not exist.
func checkDestinations(env *fun.Env, names []string) error {
	if len(names) == 0 {
		return nil
	}
	to, err := assembly.Destinations(env)
	if err != nil {
		return err
	}
	return to.CheckNames(names)
}

// prefix puts the place of findings in front of them.
func prefix(texts []string, at string) {
	for i := range texts {
		texts[i] = at + texts[i]
	}
}

// doubt notes something that cannot be judged from here.
func (k *checker) doubt(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(k.unsure, text) {
		k.unsure = append(k.unsure, text)
	}
}

func (k *checker) step(ctx context.Context, s *chain.Step) {
	switch s.Action {
	case chain.Config:
		dirs, err := k.env.Up.Dirs(ctx, k.env.SaltEnv, "")
		switch {
		case err != nil:
			k.fault("%s", err)
		case !slices.Contains(dirs, strings.Trim(s.Source, "/")):
			k.fault("the directory salt://%s does not exist%s", s.Source, source.DidYouMean(s.Source, dirs))
		}
	case chain.Orchestrate:
		for _, name := range s.SLS {
			k.orchestration(ctx, k.env.SaltEnv, name, s.Pillar, 0)
		}
	default:
		for _, name := range s.SLS {
			k.sls(ctx, k.env.SaltEnv, name)
		}
	}
}

// sls reports an SLS that is not in the tree, and whether it is.
func (k *checker) sls(ctx context.Context, saltenv, name string) bool {
	if value.HasGlob(name) {
		all, err := fun.ListSLS(ctx, k.env.Up, saltenv)
		if err == nil && len(value.FnmatchFilter(all, name)) == 0 {
			err = fmt.Errorf("no SLS of saltenv %s matches %s", saltenv, name)
		}
		if err != nil {
			k.fault("%s", err)
		}
		return err == nil
	}
	_, err := fun.FindSLS(ctx, k.env.Up, saltenv, name)
	if err == nil {
		return true
	}
	if !errors.Is(err, fs.ErrNotExist) {
		k.fault("%s", err)
		return false
	}
	all, _ := fun.ListSLS(ctx, k.env.Up, saltenv)
	k.fault("SLS %s does not exist in saltenv %s%s", name, saltenv, source.DidYouMean(name, all))
	return false
}

// orchestration compiles an orchestration as the run would, and looks at its steps.
func (k *checker) orchestration(ctx context.Context, saltenv, name string, pillar *value.Map, depth int) {
	if pillar == nil {
		pillar = value.NewMap(0)
	}
	key := saltenv + "\x00" + name + "\x00" + value.Repr(pillar)
	if k.seen[key] {
		return
	}
	if depth > maxNested {
		k.doubt("orchestrations are nested deeper than %d: %s is not looked at", maxNested, name)
		return
	}
	if !k.sls(ctx, saltenv, name) {
		return
	}
	k.seen[key] = true
	kw := value.MapOf("saltenv", saltenv)
	if pillar.Len() > 0 {
		kw.Set("pillar", pillar)
	}
	low, err := Compiled(ctx, k.env, name, kw)
	if err != nil {
		k.fault("%s", err)
		return
	}
	for _, x := range low.Items {
		if m, ok := x.(*value.Map); ok {
			k.lowStep(ctx, saltenv, name, m, depth)
		}
	}
}

// lowStep looks at a step of an orchestration.
func (k *checker) lowStep(ctx context.Context, saltenv, in string, m *value.Map, depth int) {
	n, u := len(k.faults), len(k.unsure)
	if m.Str("state") != "salt" {
		k.function(ctx, saltenv, fun.State, m.Str("state")+"."+m.Str("fun"))
	} else {
		if own := m.Str("saltenv"); own != "" {
			saltenv = own
		}
		k.saltStep(ctx, saltenv, m, depth)
	}
	at := fmt.Sprintf("%s, step %s: ", in, m.Str("__id__"))
	prefix(k.faults[n:], at)
	prefix(k.unsure[u:], at)
}

// saltStep looks at a step that targets, the controller or a Salt master are to do.
func (k *checker) saltStep(ctx context.Context, saltenv string, m *value.Map, depth int) {
	name := m.Str("name")
	switch m.Str("fun") {
	case "state":
		k.targets(ctx, m)
		if value.Truth(m.At("highstate")) {
			k.doubt("the highstate of its targets is not compiled")
		}
		for _, name := range names(m.At("sls")) {
			k.sls(ctx, saltenv, name)
		}
	case "function":
		k.targets(ctx, m)
		k.function(ctx, saltenv, fun.Exec, name)
	case "runner":
		if fleet := m.Str("fleet"); fleet != "" {
			k.doubt("%s: the Salt master of the fleet %s knows whether it has it", name, fleet)
			return
		}
		k.runner(ctx, saltenv, name, m, depth)
	case "parallel_runners":
		calls, err := salt.RunnerJobs(m.At("runners"))
		if err != nil {
			k.fault("%s", err)
		}
		for _, c := range calls {
			k.runner(ctx, saltenv, c.Name, c.Args.Kw, depth)
		}
	case "wheel":
		if fleet := m.Str("fleet"); fleet != "" {
			k.doubt("%s: the Salt master of the fleet %s knows whether it has it", name, fleet)
			return
		}
		k.function(ctx, saltenv, fun.Wheel, name)
	default:
		k.function(ctx, saltenv, fun.State, "salt."+m.Str("fun"))
	}
}

// runner looks at a runner function of this controller, and into orchestrations.
func (k *checker) runner(ctx context.Context, saltenv, name string, kw *value.Map, depth int) {
	if !session.IsOrchestrate(name) {
		k.function(ctx, saltenv, fun.Runner, name)
		return
	}
	if own := kw.Str("saltenv"); own != "" {
		saltenv = own
	}
	mods := names(kw.At("mods"))
	if len(mods) == 0 {
		k.doubt("%s: it does not name its SLS with mods", name)
	}
	for _, sls := range mods {
		k.orchestration(ctx, saltenv, sls, kw.Map("pillar"), depth+1)
	}
}

// targets reports a step whose targets nobody is.
func (k *checker) targets(ctx context.Context, m *value.Map) {
	e := orchestration.Expr{Text: value.Str(m.At("tgt")), Type: cmp.Or(m.Str("tgt_type"), m.Str("expr_form"), "glob")}
	if l, ok := m.At("tgt").(*value.List); ok {
		e = orchestration.Expr{Text: strings.Join(texts(l), ","), Type: "list"}
	}
	ids, unlisted, err := k.matched(ctx, m, e)
	for _, err := range unlisted {
		k.fault("%s", err)
	}
	switch {
	case len(unlisted) > 0:
	case err != nil:
		k.doubt("the targets %s (%s): %s", e.Text, e.Type, err)
	case len(ids) == 0:
		k.fault("%s", NothingMatches(ctx, k.env, e))
	}
}

// matched returns the targets of a step, and those of a list that nobody has, unless the
// step lets some fail.
func (k *checker) matched(ctx context.Context, m *value.Map, e orchestration.Expr) (ids []string, unlisted []error, err error) {
	f, ok := k.env.Fleet.(*fleet.Fleet)
	if !ok {
		ids, err = MatchExpr(ctx, k.env, e)
		return ids, nil, err
	}
	ids, unlisted, err = f.Listed(ctx, fun.Job{Tgt: TargetOf(e), TgtType: e.Type, Fleet: m.Str("fleet"), Roster: m.Str("roster")})
	if value.Truth(m.At("fail_minions")) {
		unlisted = nil
	}
	return ids, unlisted, err
}

func texts(l *value.List) (out []string) {
	for _, x := range l.Items {
		out = append(out, value.Str(x))
	}
	return out
}

// names are the SLS of an argument: a list, or a text with commas.
func names(v value.Value) (out []string) {
	l, ok := v.(*value.List)
	if !ok {
		l = value.NewList(v)
	}
	for _, x := range l.Items {
		text, _ := x.(string)
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// function reports a function that does not exist. Modules of the tree may have it under
// any name.
func (k *checker) function(ctx context.Context, saltenv string, kind fun.Kind, name string) {
	if _, _, ok := k.env.Table.Lookup(kind, name); ok {
		return
	}
	dir := customDirs[kind]
	if k.hasCustom(ctx, saltenv, dir) {
		k.doubt("%s: only the run shows whether a module of %s has it", name, dir)
		return
	}
	k.fault("%s%s", k.env.Table.NotFound(kind, name), source.DidYouMean(name, k.env.Table.Names(kind)))
}

// customDirs are where a tree has modules of its own.
var customDirs = map[fun.Kind]string{fun.Exec: "_modules", fun.State: "_states", fun.Runner: "_runners", fun.Wheel: "_wheel"}

func (k *checker) hasCustom(ctx context.Context, saltenv, dir string) bool {
	key := saltenv + "/" + dir
	has, known := k.custom[key]
	if !known {
		all, err := k.env.Up.List(ctx, saltenv, dir)
		has = err != nil || len(all) > 0
		k.custom[key] = has
	}
	return has
}

// Compiled returns the low data of an SLS as the controller compiles it. kw, which may be
// nil, are the saltenv and the pillar.
func Compiled(ctx context.Context, env *fun.Env, sls string, kw *value.Map) (*value.List, error) {
	if kw == nil {
		kw = value.NewMap(0)
	}
	res, err := env.Invoker.Invoke(ctx, fun.Exec, "state.show_low_sls", fun.Args{Pos: []value.Value{sls}, Kw: kw})
	if err != nil {
		return nil, err
	}
	l, ok := res.Value.(*value.List)
	if ok && res.Retcode == 0 && session.AllMaps(l) {
		return l, nil
	}
	if ok {
		var faults []string
		for _, x := range l.Items {
			if text, is := x.(string); is {
				faults = append(faults, text)
			}
		}
		return nil, fmt.Errorf("%s cannot be compiled: %s", sls, strings.Join(faults, "\n"))
	}
	return nil, fmt.Errorf("%s cannot be compiled", sls)
}
