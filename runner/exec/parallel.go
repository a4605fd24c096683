package exec

import (
	"context"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A parallel is a parallel state that runs.
type parallel struct {
	done chan struct{}
	ret  *value.Map // whole, when done is closed
}

// finished queues the parallel states that have ended until the walk sees to
// them.
type finished struct {
	mu    sync.Mutex
	nodes []*node
}

func (f *finished) add(n *node) {
	f.mu.Lock()
	f.nodes = append(f.nodes, n)
	f.mu.Unlock()
}

func (f *finished) take() []*node {
	f.mu.Lock()
	defer f.mu.Unlock()
	ns := f.nodes
	f.nodes = nil
	return ns
}

// start starts the parallel state n and returns what stands for its return
// until it has one. It has an Env of its own, since the walk may reload grains
// and pillar meanwhile.
func (r *run) start(ctx context.Context, n *node, j *job, retry *retry, watched bool) *value.Map {
	j.env = j.env.With(func(*fun.Env) {})
	var follow *job
	if watched {
		w := r.watchChunk(n)
		if mod, spec, errs := r.verify(w); errs == nil {
			follow = r.job(n, w, mod, spec)
			follow.env = j.env
		}
	}
	slots := r.slots
	if slots != nil {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			slots = nil // it ends as soon as it starts
		}
	}
	p := &parallel{done: make(chan struct{})}
	n.par = p
	begun := r.now()
	num := r.nextNum()
	test := r.test
	tail := func(ret *value.Map) *value.Map {
		ret.Set("__sls__", j.c.Low.At("__sls__"))
		ret.Set("__run_num__", num)
		return ret
	}
	r.wg.Go(func() {
		defer func() {
			if slots != nil {
				<-slots
			}
			r.queue.add(n)
			close(p.done)
		}()
		var past []*value.Map
		for {
			start := r.now()
			ret := j.invoke(ctx)
			if follow != nil && leftToModWatch(ret) {
				ret = follow.invoke(ctx)
			}
			tail(ret)
			ret.Set("start_time", clock(start))
			ret.Set("duration", millis(r.now().Sub(start)))
			wait, again := retry.next(test, len(past)+1, ret)
			if again {
				ret.Set(waited, millis(wait))
				if again = r.sleep(ctx, wait) == nil; again {
					past = append(past, ret)
					continue
				}
			}
			p.ret = withText(retry.fold(test, past, ret))
			p.ret.Set("__id__", j.c.ID)
			p.ret.Set("__parallel__", true)
			return
		}
	})
	ret := tail(value.MapOf("name", j.c.Low.At("name"), "result", nil, "changes", value.NewMap(0),
		"comment", "Started in a separate process"))
	ret.Set("start_time", clock(begun))
	ret.Set("duration", millis(r.now().Sub(begun)))
	ret.Set("__id__", j.c.ID)
	return ret
}

// await waits for the parallel state n, or for the end of ctx.
func (r *run) await(ctx context.Context, n *node) {
	select {
	case <-n.par.done:
		r.collect(ctx, n)
	case <-ctx.Done():
	}
}

// collect records the return of a parallel state that has ended.
func (r *run) collect(ctx context.Context, n *node) {
	if n.par == nil {
		return
	}
	ret := n.par.ret
	n.par = nil
	r.refresh(ctx, n.c, ret)
	subs := ret.At("sub_state_run")
	if subs != nil {
		ret.Delete("sub_state_run")
	}
	r.set(n.tag, ret)
	n.out = r.outcome(ret)
	r.published(n, ret, subs)
}

// reap records the parallel states that have ended.
func (r *run) reap(ctx context.Context) {
	for _, n := range r.queue.take() {
		r.collect(ctx, n)
	}
}

// settle waits for all parallel states. A state ends soon when its context
// does, so this waits for no other.
func (r *run) settle(ctx context.Context) {
	r.wg.Wait()
	r.reap(ctx)
}
