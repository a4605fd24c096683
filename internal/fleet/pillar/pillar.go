// Package pillar renders the pillar of a target: its top file selects SLS
// files, which are rendered and merged; then external sources and the values of
// the command line are merged over them.
//
// A [Compiler] belongs to one Env, that of the target. [Compiler.Lazy] is the
// pillar of a run, rendered when it is first read; [Compiler.Render] renders it
// again, as pillar.items does. Errors in pillar files are part of the pillar:
// its key _errors lists them in Salt's words, and Env.Fault receives their
// positions.
package pillar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// ErrorsKey is the key of the pillar that lists what failed.
const ErrorsKey = "_errors"

// A Compiler renders the pillar of one target. It is safe for concurrent use.
type Compiler struct {
	env   *fun.Env
	files *fileserver.Server

	shared *render.Shared // with the compilers of other targets; nil: none

	mu    sync.Mutex
	shown map[string]bool // faults that were shown
}

// New returns the compiler of env: its options say where the pillar is, its
// grains what top files match, its functions are those that templates call.
func New(env *fun.Env) *Compiler {
	return &Compiler{
		env:   env,
		files: fileserver.New(env.Host, fileserver.RootsOf(env.Opts, "pillar_roots")),
		shown: map[string]bool{},
	}
}

// Share lets c use what the compilers of other targets with the same roots have
// worked out. It returns c.
func (c *Compiler) Share(s *render.Shared) *Compiler {
	c.shared = s
	return c
}

// Lazy returns the pillar of a run, which is rendered on first use with
// Env.PillarOverride merged over it. Its own files see an empty pillar. A run
// that ends meanwhile leaves it empty.
func (c *Compiler) Lazy(ctx context.Context) *value.LazyMap {
	return value.NewLazyMap(func() *value.Map {
		m, err := c.render(ctx, fun.PillarRequest{Override: c.env.PillarOverride}, value.NewMap(0))
		if err != nil {
			return value.MapOf(ErrorsKey, value.Strings(err.Error()))
		}
		return m
	})
}

// Render renders the pillar again. Its files see the current pillar of the Env.
// Errors in the files are in the result; the returned error is that of ctx.
func (c *Compiler) Render(ctx context.Context, req fun.PillarRequest) (*value.Map, error) {
	if req.Tops {
		return c.tops(ctx, req)
	}
	base := c.env.Pillar
	if req.Base != nil && keepsBase(c.env.Opts) {
		base = req.Base
	}
	return c.render(ctx, req, base)
}

// keepsBase reports whether a newly rendered pillar is merged over the pillar
// in effect: without a master it is.
func keepsBase(opts *value.Map) bool { return value.Truth(opts.At("ssh_merge_pillar")) }

// noPillar is the upstream of functions that pillar files call: they cannot
// ask for the pillar that is being rendered.
type noPillar struct{ fun.Upstream }

func (noPillar) Pillar(context.Context, fun.PillarRequest) (*value.Map, error) {
	return nil, fun.Errorf("the pillar cannot be rendered from within pillar files")
}

// keptMine is the mine of functions that pillar files call: it asks no machine for
// its data, which may be the one that waits for this pillar.
type keptMine struct{ of fun.Mine }

// Mine answers a request as one of no job.
func (m keptMine) Mine(ctx context.Context, req fun.MineRequest) (*value.Map, error) {
	req.JID = ""
	return m.of.Mine(ctx, req)
}

// A job is one rendering.
type job struct {
	c         *Compiler
	env       *fun.Env // what templates and functions see
	engine    *render.Engine
	opts      *value.Map
	saltenv   string // as asked for, may be ""
	pillarenv string // "" is all
	otherEnv  bool   // pillarenv is not that of the configuration
	override  *value.Map
	late      *value.Map // an override that is merged when all is decrypted
	strategy  value.Strategy
	renderer  string
	lists     bool // merge lists
	errs      []string
	ignored   map[string]map[string]bool // SLS that may be missing, by saltenv
}

func (c *Compiler) newJob(req fun.PillarRequest, base value.Mapping) *job {
	opts := c.env.Opts.Copy()
	j := &job{
		c:        c,
		opts:     opts,
		saltenv:  req.SaltEnv,
		override: req.Override,
		strategy: value.Strategy(opts.Str("pillar_source_merging_strategy")),
		renderer: opts.Str("renderer"),
		lists:    value.Truth(opts.At("pillar_merge_lists")),
		ignored:  map[string]map[string]bool{},
	}
	if j.strategy == "" {
		j.strategy = value.Smart
	}
	if !j.strategy.Known() {
		j.warn(source.Pos{}, "pillar_source_merging_strategy %q is unknown; recurse is used%s", string(j.strategy),
			source.DidYouMean(string(j.strategy), []string{"smart", "recurse", "aggregate", "overwrite", "list", "none"}))
	}
	fromSaltenv := value.Truth(opts.At("pillarenv_from_saltenv"))
	saltenv, _ := opts.At("saltenv").(string)
	pillarenv, _ := opts.At("pillarenv").(string)
	if fromSaltenv && saltenv != "" {
		pillarenv = saltenv
	}
	if j.saltenv == "" {
		j.saltenv = saltenv
	}
	j.pillarenv = req.PillarEnv
	if j.pillarenv == "" {
		j.pillarenv = pillarenv
		if fromSaltenv && j.saltenv != "" {
			j.pillarenv = j.saltenv
		}
	}
	if req.Foreign && pillarenv != "" && !slices.Contains(req.Named, j.pillarenv) {
		j.pillarenv = pillarenv
	}
	if req.Foreign && render.Encrypted(req.Override) {
		// It is the target's own text: the keys here are not for that.
		j.override, j.late = nil, req.Override
	}
	j.otherEnv = j.pillarenv != pillarenv
	opts.Set("saltenv", value.OrNone(j.saltenv))
	opts.Set("pillarenv", value.OrNone(j.pillarenv))
	opts.Set("id", c.env.ID)
	opts.Set("minion_id", c.env.ID)
	if base == nil {
		base = value.NewMap(0)
	}
	j.env = c.env.Fork(func(e *fun.Env) {
		e.Opts = opts
		e.Pillar = base
		e.PillarOverride = nil
		e.Up = noPillar{c.env.Up}
		if e.Mine != nil {
			e.Mine = keptMine{e.Mine}
		}
		if req.Grains != nil {
			e.Subject = req.Grains
		}
	})
	j.engine = render.New(j.env, c.files).NameAbsolute().Share(c.shared)
	return j
}

// warn warns of a mistake that Salt accepts silently.
func (j *job) warn(pos source.Pos, format string, args ...any) {
	if !j.c.first(fmt.Sprint(pos, format, args)) {
		return
	}
	where := ""
	if !pos.IsZero() {
		where = pos.String()
	}
	j.c.env.Warn(fun.Warning{Where: where, Text: fmt.Sprintf(format, args...)})
}

// first reports whether what is shown for the first time.
func (c *Compiler) first(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown[what] {
		return false
	}
	c.shown[what] = true
	return true
}

// fail adds an error in Salt's words, and shows the fault behind it.
func (j *job) fail(salt string, fault error) {
	j.errs = append(j.errs, salt)
	if fault == nil || !j.c.first(salt+"\x00"+fault.Error()) {
		return
	}
	for _, f := range source.Faults(fault) {
		j.c.env.Fault(f)
	}
}

// at places a fault.
func at(pos source.Pos, format string, args ...any) error {
	return &source.Error{Pos: pos, Err: fmt.Errorf(format, args...)}
}

// render makes the pillar.
//
// Salt: salt/pillar/__init__.py compile_pillar.
func (c *Compiler) render(ctx context.Context, req fun.PillarRequest, base value.Mapping) (*value.Map, error) {
	began := time.Now()
	j := c.newJob(req, base)
	ext := j.opts.At("ext_pillar")
	if req.Ext != nil {
		ext = j.onDemand(ext, req.Ext, req.Foreign)
	}
	// Salt lists the faults of the top file last.
	top := j.top(ctx)
	topErrs := j.errs
	j.errs = nil

	var pillar *value.Map
	if value.Truth(j.opts.At("ext_pillar_first")) {
		first := j.extPillar(ctx, j.overrideCopy(), ext)
		j.env.Pillar = first
		pillar = j.merge(value.Clone(first).(*value.Map), j.files(ctx, j.matches(ctx, top)))
	} else {
		pillar = j.extPillar(ctx, j.files(ctx, j.matches(ctx, top)), ext)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.env.Log().Debug("pillar rendered", "id", j.opts.Str("id"), "keys", pillar.Len(), "time", time.Since(began))
	j.env.Took("pillar", j.opts.Str("id"), began)
	errs := append(j.errs, topErrs...)
	if value.Truth(j.opts.At("pillar_opts")) {
		pillar.Set("master", j.masterOpts())
	}
	if j.keeps(base) {
		pillar = j.merge(value.Clone(value.ToMap(base)).(*value.Map), pillar)
	}
	if len(errs) > 0 {
		pillar.Set(ErrorsKey, value.Strings(errs...))
	}
	if j.override.Len() > 0 {
		pillar = j.merge(pillar, j.override)
	}
	if errs := j.decrypt(ctx, pillar); len(errs) > 0 {
		all := value.Strings(errs...)
		if have := pillar.List(ErrorsKey); have != nil {
			all = have.Copy(len(errs))
			all.Append(value.Strings(errs...).Items...)
		}
		pillar.Set(ErrorsKey, all)
	}
	if j.late.Len() > 0 {
		pillar = j.merge(pillar, j.late)
	}
	c.env.Secrets.AddPillar(pillar)
	return pillar, nil
}

// keeps reports whether the rendered pillar is merged over base. A base that
// has not been read yet would be the same again, except in another environment
// or under an override that does more than replace: it is not rendered for
// that.
func (j *job) keeps(base value.Mapping) bool {
	if base == nil || !keepsBase(j.opts) {
		return false
	}
	lazy, ok := base.(*value.LazyMap)
	return !ok || lazy.Loaded() || j.otherEnv ||
		j.override.Len() > 0 && (j.lists || j.strategy.For(j.renderer) != value.Recurse)
}

// masterOpts is what pillar_opts puts at master.
func (j *job) masterOpts() *value.Map {
	m := value.Clone(j.opts).(*value.Map)
	m.Delete("grains")
	if v, ok := j.env.SubjectGrains().Get("saltversion"); ok {
		m.Set("saltversion", v)
	}
	return m
}

func (j *job) overrideCopy() *value.Map {
	if j.override == nil {
		return value.NewMap(0)
	}
	return value.Clone(j.override).(*value.Map)
}

// merge returns b merged over a by the strategy in effect. a is the job's own
// and may be changed; b is not.
func (j *job) merge(a *value.Map, b value.Mapping) *value.Map {
	b = value.Clone(b).(*value.Map)
	switch j.strategy.For(j.renderer) {
	case value.Recurse:
		return value.Update(a, b, true, j.lists)
	case value.NoMerge:
		return value.Update(a, b, true, false)
	default:
		return value.Merge(a, b, j.strategy, j.renderer, j.lists)
	}
}

// files renders the SLS files of matches and merges them.
//
// Salt: salt/pillar/__init__.py render_pillar.
func (j *job) files(ctx context.Context, matches []envMatches) *value.Map {
	pillar := j.overrideCopy()
	for _, m := range matches {
		mods := map[string]value.Value{}
		for _, ref := range j.expand(ctx, m.saltenv, m.sls) {
			if ctx.Err() != nil {
				return pillar
			}
			state := j.sls(ctx, ref, m.saltenv, mods, nil, nil)
			if d, ok := state.(*value.Map); ok {
				pillar = j.merge(pillar, d)
			}
		}
	}
	return pillar
}

// A slsRef is an SLS and where it is named.
type slsRef struct {
	name string
	pos  source.Pos
}

// expand returns the SLS files that names, which may be globs, stand for. A
// glob without a match stands for itself.
func (j *job) expand(ctx context.Context, saltenv string, refs []slsRef) []slsRef {
	known := contains(j.envs(), saltenv)
	var out []slsRef
	for _, r := range refs {
		matched := []slsRef{r}
		switch {
		case !known:
			j.fail("No matching pillar environment for environment '"+saltenv+"' found",
				at(r.pos, "pillar SLS %q: there is no saltenv %q in pillar_roots", r.name, saltenv))
		case value.HasGlob(r.name):
			if got := j.match(ctx, saltenv, r); len(got) > 0 {
				matched = got
			}
		}
		out = append(out, matched...)
	}
	return out
}

// available returns the SLS files of a saltenv.
func (j *job) available(ctx context.Context, saltenv string) []string {
	names, err := fun.ListSLS(ctx, j.c.files, saltenv)
	if err != nil {
		j.fail(err.Error(), err)
	}
	return names
}

// sls renders one SLS with what it includes. via are the places of the
// includes that led here. The result is nil where it failed or may be missing.
//
// Salt: salt/pillar/__init__.py render_pstate.
func (j *job) sls(ctx context.Context, ref slsRef, saltenv string, mods map[string]value.Value, defaults *value.Map, via []source.Pos) value.Value {
	fi, err := fun.FindSLS(ctx, j.c.files, saltenv, ref.name)
	if err != nil {
		return j.missing(ctx, ref, saltenv, mods, via, err)
	}
	state, err := j.renderFile(ctx, fi, ref.name, defaults)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		salt := fmt.Sprintf("Rendering SLS '%s' failed, render error:\n%s", ref.name, saltText(err))
		if safe, ok := j.opts.Get("pillar_safe_render_error"); !ok || value.Truth(safe) {
			salt = fmt.Sprintf("Rendering SLS '%s' failed. Please see master log for details.", ref.name)
		}
		j.fail(salt, withVia(err, via))
		mods[fun.PlainSLS(ref.name)] = nil
		return nil
	}
	mods[fun.PlainSLS(ref.name)] = state
	if !value.Truth(state) {
		return state
	}
	d, ok := state.(*value.Map)
	if !ok {
		j.fail(fmt.Sprintf("SLS '%s' does not render to a dictionary", ref.name),
			withVia(at(source.Pos{File: fi.Abs, Line: 1}, "the pillar SLS must render to a mapping, not to %s", value.Kind(state)), via))
		return nil
	}
	if d.Has("include") {
		return j.includes(ctx, d, fi, ref.name, saltenv, mods, defaults, via)
	}
	return d
}

// missing reports an SLS that could not be found.
func (j *job) missing(ctx context.Context, ref slsRef, saltenv string, mods map[string]value.Value, via []source.Pos, err error) value.Value {
	if ctx.Err() != nil || j.ignored[saltenv][ref.name] {
		return nil
	}
	if dirs := j.c.files.Roots().Dirs[saltenv]; len(dirs) == 0 && !j.c.files.Roots().Has(saltenv) {
		return nil
	}
	fault := at(ref.pos, "there is no pillar SLS %q in saltenv %s%s", ref.name, saltenv, j.near(ctx, ref.name, saltenv))
	if _, ok := errors.AsType[*fileserver.RefusedError](err); ok {
		fault = at(ref.pos, "pillar SLS %q: %w", ref.name, err)
	}
	j.fail(fmt.Sprintf("Specified SLS '%s' in environment '%s' is not available on the salt master", ref.name, saltenv), withVia(fault, via))
	mods[fun.PlainSLS(ref.name)] = nil
	return nil
}

func (j *job) near(ctx context.Context, name, saltenv string) string {
	names, err := fun.ListSLS(ctx, j.c.files, saltenv)
	if err != nil {
		return ""
	}
	return source.DidYouMean(name, names)
}

// renderFile renders one file of the pillar.
func (j *job) renderFile(ctx context.Context, fi fun.FileInfo, sls string, vars *value.Map) (value.Value, error) {
	text, err := render.Read(ctx, j.c.files, fi)
	if err != nil {
		return nil, err
	}
	return j.engine.SLS(ctx, render.Input{
		Path: fi.Path, Abs: fi.Abs, Name: fi.Abs, SLS: sls, SaltEnv: fi.SaltEnv, Text: text, Vars: vars,
	})
}

// saltText returns what Salt reports of a fault.
func saltText(err error) string {
	if e, ok := errors.AsType[*source.Error](err); ok {
		return e.SaltText()
	}
	return err.Error()
}

// withVia adds the includes that led to a fault.
func withVia(err error, via []source.Pos) error {
	var e *source.Error
	if len(via) == 0 || !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Via = append(slices.Clip(c.Via), via...)
	return &c
}
