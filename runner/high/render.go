package high

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Compiler renders SLS files into high data. It serves one run and is not
// safe for concurrent use.
type Compiler struct {
	env       *fun.Env
	render    Renderer
	avail     avail
	autoOrder bool
	order     int64           // of the next state without one of its own
	mods      map[string]bool // modKey of what was rendered
	matches   []Match         // what this run asked for
	from      map[string]*node
}

// firstOrder is the order of the first state that says none.
const firstOrder = 10000

// New returns a compiler for one run in env. r is nil for the renderers of env.
func New(env *fun.Env, r Renderer) *Compiler {
	if r == nil {
		r = render.For(env).Run().SLS
	}
	auto := option(env, "state_auto_order")
	return &Compiler{
		env: env, render: r, avail: avail{env: env},
		autoOrder: auto == nil || value.Truth(auto),
		order:     firstOrder,
		mods:      map[string]bool{},
		from:      map[string]*node{},
	}
}

// A node is one SLS file in the tree of includes.
type node struct {
	sls, saltenv string
	path         string
	parent       *node
	incPos       source.Pos // the include statement that led here

	ids      *value.Map // the file's own IDs; their bodies may be malformed
	notDict  value.Value
	extend   []*value.Map
	exclude  []value.Value
	faults   source.Errors
	missing  bool // the file is not there
	noEnv    bool // named without an environment
	includes []include
}

// An include is what one item of an include list came to: a fault or a file.
type include struct {
	fault *source.Error
	node  *node
}

// label is the file as Salt's texts name it.
func (n *node) label() string {
	if n.noEnv {
		return ":" + n.sls
	}
	return n.saltenv + ":" + n.sls
}

// via returns the include statements that led to a file, innermost first.
func (n *node) via() []source.Pos {
	var via []source.Pos
	for ; n != nil && n.parent != nil; n = n.parent {
		via = append(via, n.incPos)
	}
	return via
}

func (n *node) fault(pos source.Pos, hint, format string, args ...any) {
	n.faults = append(n.faults, n.newFault(pos, hint, format, args...))
}

func (n *node) newFault(pos source.Pos, hint, format string, args ...any) *source.Error {
	if pos.IsZero() {
		pos.File = n.path
	}
	f := newFault(pos, hint, fmt.Sprintf(format, args...))
	f.Via = n.via()
	return f
}

// Render renders the SLS files of matches, in order, with all that they
// include, each file once. What went wrong is in the High's Faults; the data
// is then not whole.
// Salt: BaseHighState.render_highstate.
func (c *Compiler) Render(ctx context.Context, matches []Match) *High {
	c.matches = matches
	h := &High{Data: value.NewMap(0), pos: map[string]source.Pos{}, from: c.from}
	m := merger{h: h, owner: map[string]*node{}}
	for _, match := range matches {
		for _, want := range match.SLS {
			if ctx.Err() != nil {
				h.Faults = append(h.Faults, &source.Error{Err: ctx.Err()})
				return h
			}
			if !c.avail.has(ctx, match.SaltEnv) {
				f := newFault(source.Pos{}, "", fmt.Sprintf("No matching salt environment for environment '%s' found", match.SaltEnv))
				all := c.avail.all(ctx)
				if n, ok := source.Nearest(match.SaltEnv, all); ok {
					f.Hint = `did you mean saltenv "` + n + `"?`
				} else if len(all) > 0 {
					f.Hint = "environments are keys of file_roots: " + strings.Join(all, ", ")
				}
				h.Faults = append(h.Faults, f)
				// Salt looks for the SLS all the same, and says so.
				h.Faults = append(h.Faults, newFault(source.Pos{}, "", noMatch(want, match.SaltEnv)))
				continue
			}
			for _, sls := range c.avail.match(ctx, match.SaltEnv, want) {
				if c.mods[modKey(match.SaltEnv, sls)] {
					continue
				}
				n := c.sls(ctx, sls, match.SaltEnv, nil, source.Pos{})
				if n.missing && sls == want {
					c.named(n.faults[0], want, match.SaltEnv)
				}
				m.add(n)
			}
		}
	}
	dedupExtend(h.Data)
	if h.Data.Len() == 0 && len(h.Faults) == 0 {
		c.warnNothing(matches)
	}
	return h
}

// named words the fault of a missing SLS as Salt does where the caller named it.
func (c *Compiler) named(f *source.Error, sls, saltenv string) {
	f.Salt = noMatch(sls, saltenv)
	f.Err = errors.New(f.Salt)
	if f.Hint == "" {
		f.Hint = Where(c.env, saltenv)
	}
}

// noMatch is Salt's text for an SLS that the caller named and that is not there.
func noMatch(sls, saltenv string) string {
	return fmt.Sprintf("No matching sls found for '%s' in env '%s'", sls, saltenv)
}

// warnNothing warns that there is nothing to run, which Salt silently counts as
// success.
func (c *Compiler) warnNothing(matches []Match) {
	for _, match := range matches {
		for _, sls := range match.SLS {
			if n := c.from[match.SaltEnv+":"+sls]; n != nil {
				c.warn(source.Pos{File: n.path}, "SLS %s renders to nothing: there is no state to run", sls)
			}
		}
	}
}

// Template compiles one SLS file that need not be below the file roots, as
// state.template does. saltenv is what its states have as __env__: base where it
// is "", which Salt's texts show as it is.
func (c *Compiler) Template(ctx context.Context, path, saltenv string, text []byte) *High {
	h := &High{Data: value.NewMap(0), pos: map[string]source.Pos{}, from: c.from}
	n := &node{sls: path, saltenv: saltenv, path: path}
	if saltenv == "" {
		saltenv = "base"
		n.saltenv, n.noEnv = saltenv, true
	}
	c.from[saltenv+":"+path] = n
	c.file(ctx, n, render.Input{Path: path, Abs: path, SLS: path, SaltEnv: saltenv, Text: text})
	n.notDict = nil // Salt's second text for it is that of merging, and there is nothing to merge
	m := merger{h: h, owner: map[string]*node{}}
	m.add(n)
	dedupExtend(h.Data)
	return h
}

// modKey is what one file of an environment is known by. Names that relative
// includes make of it, such as "dir." and "dir..", have one key, or files that
// include each other so would be rendered for ever.
func modKey(saltenv, sls string) string { return saltenv + ":" + fun.PlainSLS(sls) }

// sls renders one SLS and what it includes.
// Salt: BaseHighState.render_state.
func (c *Compiler) sls(ctx context.Context, sls, saltenv string, parent *node, incPos source.Pos) *node {
	n := &node{sls: sls, saltenv: saltenv, parent: parent, incPos: incPos}
	info, ok, err := c.avail.find(ctx, saltenv, sls)
	var text []byte
	if ok {
		n.path = info.Path
		text, err = c.avail.read(ctx, info, saltenv)
	}
	switch {
	case err != nil:
		n.fault(source.Pos{}, "", "Rendering SLS %s failed, render error: %v", sls, err)
		c.mods[modKey(saltenv, sls)] = true
		return n
	case !ok:
		n.missing = true
		pos := incPos
		f := newFault(pos, c.avail.nearest(ctx, saltenv, sls), fmt.Sprintf(
			"Specified SLS %s in saltenv %s is not available on the salt master or through a configured fileserver", sls, saltenv))
		if parent != nil {
			f.Via = parent.via()
		}
		n.faults = source.Errors{f}
		return n
	}
	c.mods[modKey(saltenv, sls)] = true
	c.from[saltenv+":"+sls] = n
	c.file(ctx, n, render.Input{Path: info.Path, Abs: info.Abs, SLS: sls, SaltEnv: saltenv, Text: text})
	return n
}

// file renders a file's text into n and follows its includes.
func (c *Compiler) file(ctx context.Context, n *node, in render.Input) {
	began := time.Now()
	data, err := c.render(ctx, in)
	c.env.Took("render", n.sls, began)
	if err != nil {
		n.faults = append(n.faults, c.renderFault(n, err))
		return
	}
	state, ok := data.(*value.Map)
	if !ok {
		if value.Truth(data) {
			n.notDict = data
			n.fault(source.Pos{}, notDictHint(data), "SLS %s does not render to a dictionary", n.sls)
		} else if data != nil {
			c.warn(source.Pos{File: n.path}, "SLS %s renders to an empty %s, which has no states", n.sls, value.TypeName(data))
		}
		return
	}
	if state.Len() == 0 {
		return
	}
	incs := c.declarations(n, state)
	for i, inc := range incs.Items {
		if ctx.Err() != nil {
			n.includes = append(n.includes, include{fault: n.newFault(incs.PosAt(i), "", "%v", ctx.Err())})
			return
		}
		c.include(ctx, n, inc, incs.PosAt(i))
	}
	c.number(n)
}

// renderFault places a renderer's error in the tree of includes. Salt reports
// one fault a file, the first.
func (c *Compiler) renderFault(n *node, err error) *source.Error {
	all := source.Faults(err)
	if len(all) == 0 {
		return n.newFault(source.Pos{}, "", "Rendering SLS '%s' failed: %v", n.label(), err)
	}
	f := *all[0]
	prefix := fmt.Sprintf("Rendering SLS '%s' failed: ", n.label())
	if !render.Handled(err) {
		// What Salt's renderer does not expect reaches it as a bare exception.
		prefix = fmt.Sprintf("Rendering SLS %s failed, render error: ", n.sls)
	}
	f.Salt = prefix + all[0].SaltText()
	if f.Pos.IsZero() {
		f.Pos.File = n.path
	}
	f.Via = append(slices.Clip(f.Via), n.via()...)
	return &f
}

func (c *Compiler) warn(pos source.Pos, format string, args ...any) {
	c.env.Warn(fun.Warning{Where: pos.String(), Text: fmt.Sprintf(format, args...)})
}

// include follows one item of an include list:
//
//	web.common          an SLS of the same environment (globs too)
//	.common, ..common   relative to the including SLS
//	{dev: web.common}   an SLS of another environment
//	{_xenv: web.common} the one environment of this run that has it
func (c *Compiler) include(ctx context.Context, n *node, item value.Value, pos source.Pos) {
	const anyMatched = "_xenv"
	fail := func(hint, format string, args ...any) {
		n.includes = append(n.includes, include{fault: n.newFault(pos, hint, format, args...)})
	}
	key := n.saltenv
	if m, ok := item.(*value.Map); ok && m.Len() > 0 {
		k, v := m.Entry(m.Len() - 1)
		key, item = value.Str(k), v
	}
	sls, ok := item.(string)
	if !ok || sls == "" {
		fail("an include is the name of an SLS", "Badly formatted include %s found in include in SLS '%s:%s'", value.Str(item), n.saltenv, n.sls)
		return
	}
	if key != anyMatched && key != n.saltenv && !c.avail.has(ctx, key) {
		fail(envHint(key, c.avail.all(ctx)), "Nonexistent saltenv '%s' found in include of '%s' within SLS '%s:%s'", key, sls, n.saltenv, n.sls)
		return
	}
	if rest := strings.TrimLeft(sls, "."); rest != sls {
		levels := len(sls) - len(rest)
		comps := strings.Split(n.sls, ".")
		if n.path == "init.sls" || strings.HasSuffix(n.path, "/init.sls") {
			comps = append(comps, "init")
		}
		if levels > len(comps) {
			fail("", "Attempted relative include of '%s' within SLS '%s:%s' goes beyond top level package ", sls, n.saltenv, n.sls)
			return
		}
		sls = strings.Join(append(slices.Clip(comps[:len(comps)-levels]), rest), ".")
	}

	var resolved []string
	if key == anyMatched {
		for _, m := range c.matches {
			if !slices.Contains(resolved, m.SaltEnv) && c.exists(ctx, m.SaltEnv, sls) {
				resolved = append(resolved, m.SaltEnv)
			}
		}
	} else if c.matched(key) || key == n.saltenv || c.exists(ctx, key, sls) {
		resolved = []string{key}
	}
	switch {
	case len(resolved) == 1:
	case slices.Contains(resolved, n.saltenv):
		resolved = []string{n.saltenv}
	case len(resolved) == 0:
		envs, look := key, key
		if key == anyMatched {
			look = n.saltenv
			names := make([]string, len(c.matches))
			for i, m := range c.matches {
				names[i] = m.SaltEnv
			}
			envs = strings.Join(names, ", ")
		}
		fail(c.avail.nearest(ctx, look, sls), "Unknown include: Specified SLS %s: %s is not available on the salt master in saltenv(s): %s ", key, sls, envs)
		return
	default:
		fail("name the environment: {"+resolved[0]+": "+sls+"}",
			"Ambiguous include: Specified SLS %s: %s is available on the salt master in multiple available saltenvs: %s", key, sls, strings.Join(resolved, ", "))
		return
	}
	for _, target := range c.avail.match(ctx, resolved[0], sls) {
		if !c.mods[modKey(resolved[0], target)] {
			n.includes = append(n.includes, include{node: c.sls(ctx, target, resolved[0], n, pos)})
		}
	}
}

// matched reports whether the run asked for SLS of an environment.
func (c *Compiler) matched(saltenv string) bool {
	return slices.ContainsFunc(c.matches, func(m Match) bool { return m.SaltEnv == saltenv })
}

// exists reports whether an environment has an SLS, or one that a glob names.
func (c *Compiler) exists(ctx context.Context, saltenv, sls string) bool {
	if value.HasGlob(sls) {
		return len(value.FnmatchFilter(c.avail.names(ctx, saltenv), sls)) > 0
	}
	_, ok, err := c.avail.find(ctx, saltenv, sls)
	return ok || err != nil
}

// number gives an order to the states of a file that have none; included files
// had their turn.
// Salt: BaseHighState._handle_iorder.
func (c *Compiler) number(n *node) {
	if !c.autoOrder {
		return
	}
	for _, v := range n.ids.All() {
		body, ok := v.(*value.Map)
		if !ok {
			continue
		}
		for i := range body.Len() {
			k, v := body.Entry(i)
			state, _ := k.(string)
			args, ok := v.(*value.List)
			if !ok || strings.HasPrefix(state, "_") {
				continue
			}
			if !hasOrder(args) {
				args.Append(value.MapOf("order", c.order))
				c.order++
			}
		}
	}
}

func hasOrder(args *value.List) bool {
	for _, a := range args.Items {
		if m, ok := a.(*value.Map); ok && m.Len() > 0 {
			if k, _ := m.Entry(0); k == "order" {
				return true
			}
		}
	}
	return false
}
