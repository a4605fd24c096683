package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A Run is a run of states whose changes are kept.
type Run struct {
	store *Store
	log   *Log
}

// Begin begins to keep what a run changes. It warns of older runs that it drops to make
// room.
func Begin(env *fun.Env) (*Run, error) {
	s := StoreOf(env)
	l, err := s.Begin(env)
	if err != nil {
		return nil, err
	}
	if dropped := s.sweep(env.JID); len(dropped) > 0 {
		env.Note("undo: what was kept of %s is dropped, as it is too old or takes too much room", list(dropped, 3))
	}
	return &Run{s, l}, nil
}

// list names the first of some things.
func list(names []string, most int) string {
	out := ""
	for i, n := range names {
		if i == most {
			return fmt.Sprintf("%s and %d others", out, len(names)-most)
		}
		if i > 0 {
			out += ", "
		}
		out += n
	}
	return out
}

// End says that the run is over. Of one that changed nothing, nothing stays.
func (r *Run) End(env *fun.Env) {
	r.log.mu.Lock()
	idle := !r.log.acted
	r.log.mu.Unlock()
	err := errors.Join(r.log.writeTimes(), r.log.end())
	if idle {
		err = errors.Join(err, r.store.Drop(r.log.JID))
	}
	if err != nil {
		env.Warn(fun.Warning{Text: fmt.Sprintf("undo: what the run changed may not be kept whole: %v", err)})
	}
}

// A subject is something that programs change and that can be asked for.
type subject struct {
	kind string // a kind of a fact, or "path", "lines", "tree"
	name string
}

// watches are the subjects of a module's states: what the programs change that its
// functions run. They are asked for before the first program runs that does not only look.
var watches = map[string]subjects{
	"service": func(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject { return []subject{{"service", c.Name}} },
	"pkg":     func(context.Context, *fun.Env, *fun.Chunk) []subject { return []subject{{"packages", ""}} },
	"sysctl":  func(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject { return []subject{{"sysctl", c.Name}} },
	"mount": func(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject {
		return []subject{{"mount", path.Clean(c.Name)}}
	},
	"kmod":  kmodSubjects,
	"user":  userSubjects,
	"group": func(context.Context, *fun.Env, *fun.Chunk) []subject { return accountFiles() },
	"cron":  cronSubjects,
	"alternatives": func(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject {
		out := paths("/etc/alternatives/"+c.Name, "/var/lib/dpkg/alternatives/"+c.Name, "/var/lib/alternatives/"+c.Name)
		if link := c.Low.Str("link"); path.IsAbs(link) {
			out = append(out, subject{"path", link})
		}
		return out
	},
	"acl": aclSubjects, "linux_acl": aclSubjects,
	"timezone": func(context.Context, *fun.Env, *fun.Chunk) []subject { return paths("/etc/localtime", "/etc/timezone") },
	"git":      target, "hg": target, "svn": target,
	"virtualenv": func(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject { return []subject{{"tree", c.Name}} },
	"archive":    func(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject { return []subject{{"tree", c.Name}} },
	"cmd":        creates,
	"iptables":   iptablesSubjects, "nftables": nftablesSubjects, "ipset": ipsetSubjects, "firewalld": firewalldSubjects,
}

// whole are the modules whose subjects are all that their programs change, as far as
// anybody cares.
var whole = []string{"service", "pkg", "sysctl", "mount", "kmod", "user", "group", "cron", "alternatives", "timezone", "acl", "linux_acl", "iptables", "nftables", "ipset", "firewalld"}

// aclSubjects are the file that has the ACL, with all below it where those get one too.
func aclSubjects(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject {
	if value.Truth(c.Low.At("recurse")) {
		return []subject{{"taken", c.Name}}
	}
	return paths(c.Name)
}

func paths(names ...string) []subject {
	out := make([]subject, len(names))
	for i, n := range names {
		out[i] = subject{"path", n}
	}
	return out
}

// accountFiles are the files that have users and groups, a line each.
func accountFiles() []subject {
	var out []subject
	for _, n := range [...]string{"passwd", "shadow", "group", "gshadow", "subuid", "subgid"} {
		out = append(out, subject{"lines", "/etc/" + n})
	}
	return out
}

func userSubjects(_ context.Context, env *fun.Env, c *fun.Chunk) []subject {
	out := accountFiles()
	if a, err := env.Host.LookupUser(c.Name); err == nil {
		if c.Fun == "absent" && value.Truth(c.Low.At("purge")) {
			out = append(out, subject{"taken", a.Home})
		}
		return out
	}
	if c.Fun != "present" {
		return out
	}
	home := c.Low.Str("home")
	if home == "" {
		home = "/home/" + c.Name
	}
	return append(out, subject{"tree", home}, subject{"tree", "/var/mail/" + c.Name})
}

func cronSubjects(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject {
	user := c.Low.Str("user")
	if user == "" {
		user = "root"
	}
	if user != path.Base(user) {
		return nil
	}
	return paths("/var/spool/cron/crontabs/"+user, "/var/spool/cron/tabs/"+user, "/var/spool/cron/"+user, "/etc/crontabs/"+user)
}

func kmodSubjects(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject {
	var out []subject
	if l := c.Low.List("mods"); l != nil {
		for _, m := range l.Items {
			out = append(out, subject{"kmod", value.Str(m)})
		}
		return out
	}
	return append(out, subject{"kmod", c.Name})
}

func target(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject {
	if at := c.Low.Str("target"); path.IsAbs(at) {
		return []subject{{"tree", at}}
	}
	return nil
}

func creates(_ context.Context, _ *fun.Env, c *fun.Chunk) []subject {
	var out []subject
	names := []value.Value{c.Low.At("creates")}
	if l := c.Low.List("creates"); l != nil {
		names = l.Items
	}
	for _, v := range names {
		if at, ok := v.(string); ok && path.IsAbs(at) {
			out = append(out, subject{"tree", at})
		}
	}
	return out
}

// State returns the machine for a state that is about to act, and what is to be called
// with its return.
func (r *Run) State(ctx context.Context, env *fun.Env, c *fun.Chunk, spec *fun.Spec) (h host.Host, after func(ret *value.Map)) {
	w := r.watch(ctx, env, c, watches[c.State])
	w.covered = slices.Contains(whole, c.State) || spec != nil && spec.Files
	return w.k, func(ret *value.Map) { r.after(ctx, w, ret) }
}

// A subjects function returns what the programs of a state change.
type subjects func(ctx context.Context, env *fun.Env, c *fun.Chunk) []subject

func (r *Run) watch(ctx context.Context, env *fun.Env, c *fun.Chunk, of subjects) *watching {
	s := &seen{tag: c.Tag(), at: map[string]bool{}, dirs: map[string]bool{}, wrote: map[string]written{}}
	w := &watching{k: &Keeper{Host: env.Host, log: r.log, state: s}, env: env, c: c, of: of}
	s.acts = func() {
		w.once.Do(func() { w.before(ctx) })
		w.settle()
	}
	return w
}

// watching is what is found out of the subjects of a state.
type watching struct {
	k    *Keeper
	env  *fun.Env
	c    *fun.Chunk
	of   subjects
	once sync.Once
	// covered says that its subjects are all that its programs change.
	covered bool

	facts []watched
	trees []string
	lines []string
	// settled are paths of which is known already what the state leaves.
	settled []string
	// fresh says that its trees were not there before.
	fresh bool
}

type watched struct {
	subject
	was *value.Map
}

// before asks for the subjects, before a program runs.
func (w *watching) before(ctx context.Context) {
	if w.of == nil {
		return
	}
	// What is asked for here is asked on the machine itself.
	env := w.env.With(func(e *fun.Env) { e.Host = w.k.Host })
	k := w.k
	for _, s := range w.of(ctx, env, w.c) {
		var err error
		switch s.kind {
		case "path":
			err = k.before(s.name, true)
		case "lines":
			if err = k.before(s.name, true); err == nil {
				at := k.real(s.name)
				err = k.log.write(value.MapOf("path", at, "lines", true))
				w.lines = append(w.lines, at)
			}
		case "taken":
			err = k.tree(s.name)
		case "tree":
			if _, lerr := k.Lstat(s.name); errors.Is(lerr, fs.ErrNotExist) {
				w.fresh = true
				w.trees = append(w.trees, k.real(s.name))
				err = k.parents(s.name)
			}
		default:
			kind := kinds[s.kind]
			was, rerr := kind.read(ctx, env, s.name)
			if rerr != nil {
				w.k.state.do(fmt.Sprintf("changed %s, which could not be asked for before: %v", kind.describe(s.name), rerr))
				continue
			}
			w.facts = append(w.facts, watched{s, was})
			err = k.log.write(value.MapOf("fact", s.kind, "name", s.name, "by", k.state.tag, "was", orNone(was)))
		}
		if err != nil {
			w.k.state.do(fmt.Sprintf("changed %s, which could not be kept: %v", s.name, err))
		}
	}
}

// settle writes down what the state has left so far at mount points, and for good: something
// else may be mounted there by the program that is about to run.
func (w *watching) settle() {
	k, s := w.k, w.k.state
	for _, f := range w.facts {
		s.mu.Lock()
		due := f.kind == "mount" && s.at[f.name] && !slices.Contains(w.settled, f.name)
		s.mu.Unlock()
		if !due {
			continue
		}
		if now, _, err := k.now(f.name, false); err == nil && k.log.write(value.MapOf("path", f.name, "now", now.line())) == nil {
			w.settled = append(w.settled, f.name)
		}
	}
}

// after writes down what a state left.
func (r *Run) after(ctx context.Context, w *watching, ret *value.Map) {
	k, s := w.k, w.k.state
	s.mu.Lock()
	touched, did := slices.Clone(s.paths), slices.Clone(s.did)
	s.mu.Unlock()
	k.leave()
	changed := value.Truth(ret.At("changes"))
	if len(touched) == 0 && len(did) == 0 && !changed {
		return
	}
	var lines []*value.Map
	env := w.env.With(func(e *fun.Env) { e.Host = k.Host })
	for _, name := range touched {
		if slices.Contains(w.settled, name) {
			continue
		}
		now, where, err := k.now(name, slices.Contains(w.lines, name))
		if err != nil {
			lines = append(lines, value.MapOf("path", name, "why", err.Error()))
			continue
		}
		if where != nil {
			lines = append(lines, where)
		}
		line := value.MapOf("path", name, "now", now.line())
		if now != nil && now.Type == "dir" && slices.Contains(w.trees, name) {
			line.Set("tree", treeSum(k.Host, name))
		}
		lines = append(lines, line)
	}
	for _, f := range w.facts {
		now, err := kinds[f.kind].read(ctx, env, f.name)
		if err != nil {
			did = append(did, fmt.Sprintf("changed %s, which could not be asked for afterwards: %v", kinds[f.kind].describe(f.name), err))
			continue
		}
		if differ := kinds[f.kind].differ; differ != nil {
			now = differ(f.was, now)
		}
		line := value.MapOf("fact", f.kind, "name", f.name, "now", orNone(now))
		if w.c.Fun == "mod_watch" && changed {
			line.Set("restarted", true)
		}
		lines = append(lines, line)
	}
	covered := w.covered || w.fresh && w.c.State != "cmd" // the tree is all that it made
	if len(did) > 0 && (changed || ret.At("result") == false) || changed && len(touched)+len(w.facts) == 0 {
		lines = append(lines, value.MapOf("state", s.tag, "id", w.c.ID, "fun", w.c.State+"."+w.c.Fun, "result", ret.At("result"),
			"did", value.Strings(did...), "seen", covered))
	}
	r.log.mu.Lock()
	r.log.acted = r.log.acted || changed || len(touched) > 0 || len(did) > 0
	r.log.mu.Unlock()
	if len(lines) == 0 {
		return
	}
	if err := k.log.write(lines...); err != nil {
		w.env.Warn(fun.Warning{Text: fmt.Sprintf("undo: what %s left is not kept: %v", w.c.ID, err)})
	}
}

// now returns what is at a path after a state; of a file whose old content is kept, or
// that is new, with the digest of its content, which is kept as well with content.
func (k *Keeper) now(name string, content bool) (st *Stat, where *value.Map, err error) {
	k.log.mu.Lock()
	p := k.log.paths[name]
	k.log.mu.Unlock()
	sum := !content && p != nil && p.content
	k.state.mu.Lock()
	w := k.state.wrote[name]
	k.state.mu.Unlock()
	if is, lerr := k.Lstat(name); sum && lerr == nil && w.is(is) {
		if st, err = describe(k.Host, name, is, false); err == nil {
			st.Sum = w.sum
		}
	} else {
		st, err = look(k.Host, name, sum)
	}
	if err != nil || st == nil || !content || st.Type != "file" {
		return st, nil, err
	}
	f, err := k.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	st.Sum, where, err = k.log.keep(f)
	return st, where, err
}
