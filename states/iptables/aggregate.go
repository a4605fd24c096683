package iptables

import (
	"context"
	"strings"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// aggregate joins the rules of other states of the same function into one, which
// sets them in their order. Salt: salt/states/iptables.py mod_aggregate.
func aggregate(_ context.Context, c *fun.Call, chunks []*fun.Chunk, running *value.Map) *fun.Chunk {
	if fn := c.Low.Fun; fn != "append" && fn != "insert" {
		return nil
	}
	own := c.Low.Low.Copy()
	own.Delete("rules")
	rules := value.NewList(own)
	if l := c.Low.Low.List("rules"); l != nil {
		rules = value.NewList(l.Items...)
	}
	n := rules.Len()
	for _, o := range chunks {
		if o == c.Low || o.State != c.Low.State || o.Fun != c.Low.Fun || o.Tag() == c.Low.Tag() || running.Has(o.Tag()) ||
			value.Truth(o.Low.At("__agg__")) {
			continue
		}
		rules.Append(o.Low.Copy())
		o.Low.Set("__agg__", true)
	}
	if rules.Len() == n {
		return nil
	}
	chunk := *c.Low
	chunk.Low = c.Low.Low.Copy()
	chunk.Low.Set("rules", rules)
	return &chunk
}

// each does what a state is about: with one rule, or with those of the argument
// rules, which aggregation makes. The rules are saved once. jobOf returns the rule of a
// call.
func each[A any](ctx context.Context, c *fun.Call, a *A, jobOf func(*fun.Call, *A) *job, do func(*job, context.Context, *fun.Env) fun.Ret) fun.Ret {
	rules, ok := c.Kw.Get("rules")
	if !ok {
		return do(jobOf(c, a), ctx, c.Env)
	}
	list, ok := rules.(*value.List)
	if !ok {
		return fun.Fail("rules is not a list")
	}
	var (
		ret      = fun.Ret{Result: fun.OK}
		names    = value.NewList()
		comments []string
		save     *job
	)
	for _, x := range list.Items {
		low, ok := x.(*value.Map)
		if !ok {
			return fun.Fail("an item of rules is not a mapping")
		}
		one, err := bind(c, low)
		if err != nil {
			return fun.Raise(err)
		}
		var j *job
		fun.StateFunc(func(_ context.Context, c *fun.Call, a *A) fun.Ret {
			j = jobOf(c, a)
			return fun.Ret{}
		}).State(ctx, one)
		if j.saves {
			save, j.saves = j, false
		}
		r := do(j, ctx, c.Env)
		if r.Err != nil {
			r = fun.Fail("%v", r.Err)
		}
		if m, ok := r.Changes.(*value.Map); ok && m.Has("locale") {
			names.Append(m.At("locale"))
		}
		comments = append(comments, value.Str(r.Comment))
		ret.Result = worse(ret.Result, r.Result)
	}
	if save != nil && !c.Test && save.t != nil {
		if _, err := save.keep(ctx); err != nil {
			ret.Result, comments = fun.Failed, append(comments, err.Error())
		}
	}
	if names.Len() > 0 {
		ret.Changes = value.MapOf("locale", names)
	}
	ret.Comment = strings.Join(comments, "\n")
	return ret
}

// worse returns the result of two states that were joined.
func worse(a, b fun.Outcome) fun.Outcome {
	switch {
	case a == fun.Failed || b == fun.Failed:
		return fun.Failed
	case a == fun.WouldChange || b == fun.WouldChange:
		return fun.WouldChange
	}
	return fun.OK
}

// bind returns the call of a chunk that was joined into c.
func bind(c *fun.Call, low *value.Map) (*fun.Call, error) {
	args := value.NewMap(low.Len())
	for k, v := range low.All() {
		if name := value.Str(k); name == "name" || !dispatch.Internal(name) {
			args.Set(k, v)
		}
	}
	one, err := c.Env.Invoker.Bind(c.Mod, c.Spec, fun.Args{Kw: args})
	if err != nil {
		return nil, err
	}
	one.Test, one.Low = c.Test, c.Low
	return one, nil
}
