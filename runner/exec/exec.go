// Package exec runs low chunks: it walks them in order, sees to their
// requisites, and calls the state functions, which it knows only by the table.
//
// [Run] is the entry. index.go resolves requisites to chunks, walk.go decides
// which chunk is next and what its requisites mean for it, call.go calls a
// state function (with its conditions, retries and slots), listen.go runs what
// listens at the end.
//
// Salt: salt/state.py State.call_chunks and what it calls. The algorithm
// differs: Salt scans all chunks for each requisite and recurses; here
// references are resolved by an index and the walk has a stack of its own, so
// that time is linear in chunks and requisites, and depth is bounded by memory
// only.
package exec

import (
	"context"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Options say how to run.
type Options struct {
	// Test runs every state in test mode; the option "test" of the
	// configuration does so, too.
	Test bool
	// Prior are returns, by tag, of chunks that are not to be called: an
	// earlier run did what they do.
	Prior map[string]*value.Map
	// Only is the ID whose chunks are called, with what they require, and
	// without listeners; "" is all.
	Only string
	// Direct calls what state.disable forbids, too: it is asked of whole runs
	// alone.
	Direct bool
	// Mock calls no state function; see job.invoke.
	Mock bool
	// Begin, if not nil, is called with each chunk before it runs.
	Begin func(*fun.Chunk)
	// Done, if not nil, is called with each chunk and its return.
	Done func(*fun.Chunk, *value.Map)
	// Keep, if not nil, keeps what states change.
	Keep Keeper
}

// A Keeper keeps what states change, so that it can be brought back.
type Keeper interface {
	// State returns the machine that a state is to act on, and what is to be called with
	// its return.
	State(ctx context.Context, env *fun.Env, c *fun.Chunk, spec *fun.Spec) (h host.Host, after func(ret *value.Map))
}

// A Running is a run in progress, then its outcome. Its methods are safe for
// concurrent use; Returns is to be read when Run has returned.
type Running struct {
	// Returns has the return of each chunk that ran or was passed over, by tag,
	// in order. A chunk that was not reached (failhard, Stopped) has none.
	Returns *value.Map
	// Stopped says that the gate was closed or the context ended before all
	// chunks were done.
	Stopped bool
	// StoppedAt is the chunk before which the gate was closed; nil where the
	// context ended.
	StoppedAt *fun.Chunk

	mu     sync.RWMutex
	chunks []*fun.Chunk
}

// Low returns the low chunks of the run, in order.
func (r *Running) Low() []*fun.Chunk { return r.chunks }

// Running returns a copy of the returns so far, by tag.
func (r *Running) Running() *value.Map {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.Returns.Copy()
}

// Return returns the return of a tag so far, nil where there is none.
func (r *Running) Return(tag string) *value.Map {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.Returns.Map(tag)
}

func (r *Running) set(tag string, ret *value.Map) {
	r.mu.Lock()
	r.Returns.Set(tag, ret)
	r.mu.Unlock()
}

// OK reports whether the run counts as a success: no state has the result
// False, except those whose failure is handled, that is, which a state with
// onfail and "onfail_stop: False" names that ran well itself.
//
// Salt: salt/utils/state.py check_result.
func (r *Running) OK() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var failed []string
	for k, v := range r.Returns.All() {
		if m, ok := v.(*value.Map); ok && m.At("result") == false {
			failed = append(failed, k.(string))
		}
	}
	if len(failed) == 0 {
		return true
	}
	handlers := r.handlers()
	for _, tag := range failed {
		c := handlers.chunk[tag]
		if c == nil || !handlers.handled(r.Returns, c) {
			return false
		}
	}
	return true
}

// onfailHandlers are the chunks with onfail_stop: False, by what they name.
type onfailHandlers struct {
	chunk map[string]*fun.Chunk
	by    map[[2]string][]*fun.Chunk
}

func (r *Running) handlers() onfailHandlers {
	h := onfailHandlers{chunk: map[string]*fun.Chunk{}, by: map[[2]string][]*fun.Chunk{}}
	for _, c := range r.chunks {
		h.chunk[c.Tag()] = c
		if c.Low.At("onfail_stop") != false {
			continue
		}
		for _, kind := range []string{"onfail", "onfail_any", "onfail_all"} {
			for _, ref := range refs(c.Low, kind) {
				k := [2]string{ref.state, ref.text}
				h.by[k] = append(h.by[k], c)
			}
		}
	}
	return h
}

func (h onfailHandlers) handled(returns *value.Map, c *fun.Chunk) bool {
	ok := false
	for _, k := range [][2]string{{c.State, c.ID}, {"id", c.ID}} {
		for _, by := range h.by[k] {
			if by.ID == c.ID {
				continue
			}
			switch returns.Map(by.Tag()).At("result") {
			case false:
				return false
			case true:
				ok = true
			}
		}
	}
	return ok
}

// run is the state of one Run. The walk is one goroutine; parallel states see
// only what attempt takes.
type run struct {
	*Running
	env  *fun.Env
	o    Options
	test bool
	// planned says that the run is that of a plan.
	planned bool
	// plan is nil where the run is not for a plan.
	plan *rehearsal
	// failhard and events are the configuration's defaults.
	failhard  bool
	events    bool
	aggregate value.Value
	disabled  map[string]bool // disabled_requisites

	nodes  []*node
	byTag  map[string]*node
	index  *index
	stack  []frame
	num    int // __run_num__
	halted bool

	inited map[string]bool // modules whose Init has run

	wg       sync.WaitGroup
	slots    chan struct{} // bounds parallel states; nil means no limit
	queue    finished
	warnings warned
	// placed counts the requisites that placeLost has shown.
	placed int
}

// Run runs chunks in order, requisites first, and returns all returns. It runs
// in env, and sets its Run meanwhile.
//
// If ctx ends before the run, the error is that of ctx, and the Running still
// has the returns up to then. A state that fails is not an error.
func Run(ctx context.Context, env *fun.Env, chunks []*fun.Chunk, o Options) (*Running, error) {
	r := newRun(env, chunks, o)
	defer func(before fun.RunView) { env.Run = before }(env.Run)
	env.Run = r.Running
	r.walk(ctx, r.roots())
	r.settle(ctx)
	if !r.Stopped && o.Only == "" {
		r.listen(ctx)
		r.settle(ctx)
	}
	return r.Running, ctx.Err()
}

// roots returns the nodes that are called for their own sake.
func (r *run) roots() []*node {
	if r.o.Only == "" {
		return r.nodes
	}
	var ns []*node
	for _, n := range r.nodes {
		if n.c.ID == r.o.Only {
			ns = append(ns, n)
		}
	}
	return ns
}

func newRun(env *fun.Env, chunks []*fun.Chunk, o Options) *run {
	r := &run{
		Running: &Running{Returns: value.NewMap(len(chunks)), chunks: chunks},
		env:     env, o: o,
		test:      o.Test || value.Truth(env.Opts.At("test")),
		failhard:  value.Truth(env.Opts.At("failhard")),
		events:    value.Truth(env.Opts.At("state_events")),
		aggregate: env.Opts.At("state_aggregate"),
		inited:    map[string]bool{},
	}
	if n, ok := value.AsInt(env.Opts.At("state_max_parallel")); ok && n > 0 {
		r.slots = make(chan struct{}, n)
	}
	for _, x := range items(env.Opts.At("disabled_requisites")) {
		if r.disabled == nil {
			r.disabled = map[string]bool{}
		}
		r.disabled[value.Str(x)] = true
	}
	_, r.planned = env.Fleet.(fun.Rehearser)
	if r.test && (r.planned || env.Plan) {
		r.plan = &rehearsal{}
	}
	r.setNodes(r.enabled(chunks))
	return r
}

// enabled returns the chunks that state.disable has not forbidden, and reports
// the others as failed.
func (r *run) enabled(chunks []*fun.Chunk) []*fun.Chunk {
	if r.env.Grains == nil || r.o.Direct {
		return chunks
	}
	pats, _ := r.env.Grains.Get("state_runs_disabled")
	if !value.Truth(pats) {
		return chunks
	}
	kept := make([]*fun.Chunk, 0, len(chunks))
next:
	for _, c := range chunks {
		full := c.State + "." + c.Fun
		for _, p := range items(pats) {
			pat := value.Str(p)
			if !value.Fnmatch(pat, full) {
				continue
			}
			r.set(c.Tag(), value.MapOf("changes", value.NewMap(0), "result", false,
				"comment", `The state function "`+full+`" is currently disabled by "`+pat+`", to re-enable, run state.enable `+pat+`.`,
				"__run_num__", r.nextNum(), "__sls__", c.Low.At("__sls__")))
			continue next
		}
		kept = append(kept, c)
	}
	return kept
}

func (r *run) nextNum() int64 {
	r.num++
	return int64(r.num - 1)
}

func (r *run) now() time.Time {
	if r.env.Host != nil {
		return r.env.Host.Now()
	}
	return time.Now()
}

func (r *run) sleep(ctx context.Context, d time.Duration) error {
	if r.env.Host != nil {
		return r.env.Host.Sleep(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// items returns the items of a list; of a single value, itself; of None, none.
func items(v value.Value) []value.Value {
	switch v := v.(type) {
	case nil:
		return nil
	case *value.List:
		return v.Items
	case value.Tuple:
		return v
	}
	return []value.Value{v}
}

// clock and millis print a time and a duration as Salt's returns have them.
func clock(t time.Time) string { return t.Local().Format("15:04:05.000000") }

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
