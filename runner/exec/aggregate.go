package exec

import (
	"context"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// apart are the arguments that keep a state from being joined with others: they
// say whether, when or as whom it runs.
var apart = [...]string{
	"onlyif", "unless", "creates", "check_cmd", "retry", "parallel", "runas", "umask",
	"prereq", "onfail", "onfail_any", "onfail_all", "onchanges", "onchanges_any",
}

// joinable reports whether n may be joined with others.
func (n *node) joinable() bool {
	if n.par != nil || len(n.gates) > 0 || n.c.Low.At("aggregate") == false {
		return false
	}
	for _, k := range apart {
		if n.c.Low.Has(k) {
			return false
		}
	}
	return true
}

// joinOthers implements mod_aggregate: if aggregation is enabled, the module
// joins what other states would do into n, which is about to run. It is offered
// only the states whose own turn could be now: everything that they require has
// succeeded or is joined, too. So nothing is done before what it requires, or
// in spite of its failure, and no state waits for more than its requisites.
//
// Salt: salt/state.py State._mod_aggregate. Difference: Salt offers all states,
// whatever they require and their conditions say.
func (r *run) joinOthers(ctx context.Context, n *node) {
	if !r.joins(n) || value.Truth(n.c.Low.At("__agg__")) || !n.joinable() {
		return
	}
	mod, _, errs := r.verify(n.c)
	if errs != nil || mod.Aggregate == nil {
		return
	}
	defer r.guard("mod_aggregate", n.c)
	joined := map[*node]bool{n: true}
	var waiting []*node
	for _, o := range r.nodes {
		if o != n && o.c.State == n.c.State && !o.done && r.o.Prior[o.tag] == nil && !value.Truth(o.c.Low.At("__agg__")) && o.joinable() {
			waiting = append(waiting, o)
		}
	}
	for more := len(waiting) > 0; more; {
		var ready, rest []*node
		for _, o := range waiting {
			if r.ready(o, joined) {
				ready = append(ready, o)
			} else {
				rest = append(rest, o)
			}
		}
		if len(ready) == 0 || !r.join(ctx, n, ready) {
			break
		}
		more = false
		for _, o := range ready {
			if value.Truth(o.c.Low.At("__agg__")) {
				joined[o], more = true, len(rest) > 0
			}
		}
		waiting = rest
	}
	if len(joined) > 1 {
		c := *n.c
		c.Low = n.c.Low.Copy()
		c.Low.Set("__agg__", true)
		n.c = &c
	}
}

// joins reports whether aggregation is enabled for n: by the state itself, else
// by the option state_aggregate, which is True or a list of modules.
func (r *run) joins(n *node) bool {
	want, ok := n.c.Low.Get("aggregate")
	if !ok {
		want = r.aggregate
	}
	l, ok := want.(*value.List)
	return want == true || ok && slices.Contains(l.Items, value.Value(n.c.State))
}

// join calls mod_aggregate of n's module with the chunks of the run; of the
// chunks of that module, only with n's and the ready ones. It reports whether n
// has a new chunk.
func (r *run) join(ctx context.Context, n *node, ready []*node) bool {
	mod, spec, errs := r.verify(n.c)
	if errs != nil {
		return false
	}
	call := r.bind(n, mod, spec)
	if call == nil {
		return false
	}
	offered := make(map[*node]bool, len(ready)+1)
	offered[n] = true
	for _, o := range ready {
		offered[o] = true
	}
	chunks := make([]*fun.Chunk, 0, len(r.nodes))
	for _, o := range r.nodes {
		if o.c.State != n.c.State || offered[o] {
			chunks = append(chunks, o.c)
		}
	}
	c := mod.Aggregate(ctx, call, chunks, r.Returns)
	if c == nil {
		return false
	}
	n.c = c
	return true
}

// ready reports whether everything that o requires has succeeded, or is among
// joined.
func (r *run) ready(o *node, joined map[*node]bool) bool {
	if !o.resolved {
		r.resolve(o)
	}
	if len(o.lost) > 0 {
		return false
	}
	var all stat
	for i := 0; i < len(o.reqs); {
		k := o.reqs[i].kind
		var s stat
		for ; i < len(o.reqs) && o.reqs[i].kind == k; i++ {
			g := o.reqs[i].g
			if g.known[k.class()] {
				s |= g.memo[k.class()]
				continue
			}
			for _, m := range g.nodes {
				switch {
				case joined[m]:
					s |= met
				case !m.done || m.par != nil:
					return false
				default:
					s |= m.out.stat(k.class())
				}
			}
		}
		all |= k.combine(s)
	}
	st := statusOf(all)
	return st == goAhead || st == goWatch
}
