package exec_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/runner/exec"
)

// Joined are those whose own turn could be now: never before what they require, in
// spite of it, or of their conditions. Salt joins all of them.
func TestAggregateRequisites(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		chunks []*fun.Chunk
		want   string // what was installed, in order
		good   bool
	}{
		{"one after the other", []*fun.Chunk{chunk("a: pkg.installed"), chunk("b: pkg.installed", "require", req("pkg: a")), chunk("c: pkg.installed", "require", req("pkg: b"))}, "a+b+c b c", true},
		{"against the order", []*fun.Chunk{chunk("c: pkg.installed", "require", req("pkg: b")), chunk("b: pkg.installed", "require", req("pkg: a")), chunk("a: pkg.installed")}, "a+b+c b c", true},
		{"watch and a glob", []*fun.Chunk{chunk("a1: pkg.installed"), chunk("a2: pkg.installed"), chunk("b: pkg.installed", "watch", req("pkg: a*"))}, "a1+a2+b a2 b", true},
		{"one of several", []*fun.Chunk{chunk("a: pkg.installed"), chunk("b: pkg.installed", "require", req("id: a"), "require_any", req("id: a", "test: t")), chunk("t: test.nop")}, "a b", true},
		{"over another state", []*fun.Chunk{chunk("a: pkg.installed"), chunk("repo: test.nop", "require", req("pkg: a")), chunk("b: pkg.installed", "require", req("test: repo"))}, "a b", true},
		{"what has run", []*fun.Chunk{chunk("repo: test.nop"), chunk("a: pkg.installed"), chunk("b: pkg.installed", "require", req("test: repo"))}, "a+b b", true},
		{"what has failed", []*fun.Chunk{chunk("repo: test.fail_without_changes"), chunk("a: pkg.installed"), chunk("b: pkg.installed", "require", req("test: repo"))}, "a", false},
		{"its own requisite first", []*fun.Chunk{chunk("a: pkg.installed", "require", req("test: repo")), chunk("b: pkg.installed", "require", req("test: repo")), chunk("repo: test.nop")}, "a+b b", true},
		{"conditions", []*fun.Chunk{chunk("a: pkg.installed"), chunk("b: pkg.installed", "unless", "true"), chunk("c: pkg.installed", "onchanges", req("pkg: a")), chunk("d: pkg.installed", "onfail", req("pkg: a"))}, "a", true},
		{"prereq", []*fun.Chunk{chunk("a: pkg.installed"), chunk("t: test.nop", "prereq", req("pkg: b")), chunk("b: pkg.installed")}, "a b b", true},
		{"not this one", []*fun.Chunk{chunk("a: pkg.installed"), chunk("b: pkg.installed", "aggregate", false)}, "a b", true},
		{"two in a circle", []*fun.Chunk{chunk("a: pkg.installed"), chunk("b: pkg.installed", "require", req("pkg: c")), chunk("c: pkg.installed", "require", req("pkg: b"))}, "a", false},
	} {
		var installed []string
		r := newRig(t, joining(&installed))
		r.env.Opts.Set("state_aggregate", true)
		got := r.run(exec.Options{}, tt.chunks...)
		good := true
		for _, ret := range got.Returns.All() {
			good = good && ret.(*value.Map).At("result") != false
		}
		if have := strings.Join(installed, " "); have != tt.want || good != tt.good {
			t.Errorf("%s: installed %q, all good %t; want %q, %t", tt.name, have, good, tt.want, tt.good)
		}
	}
}

// joining is a module pkg that joins all that it is offered, and notes what is
// installed together.
func joining(installed *[]string) fun.Module {
	return fun.Module{
		Name: "pkg", Kind: fun.State,
		Aggregate: func(_ context.Context, c *fun.Call, chunks []*fun.Chunk, _ *value.Map) *fun.Chunk {
			all := value.NewList(c.Low.Name)
			if l := c.Low.Low.List("pkgs"); l != nil {
				all = value.NewList(l.Items...)
			}
			n := all.Len()
			for _, o := range chunks {
				if o.State == "pkg" && o.Tag() != c.Low.Tag() && !value.Truth(o.Low.At("__agg__")) {
					all.Append(o.Name)
					o.Low.Set("__agg__", true)
				}
			}
			if all.Len() == n {
				return nil
			}
			j := *c.Low
			j.Low = j.Low.Copy()
			j.Low.Set("pkgs", all)
			return &j
		},
		Specs: []fun.Spec{{Name: "installed", VarKw: true, State: func(_ context.Context, c *fun.Call) fun.Ret {
			names := []string{c.Name}
			if l, ok := c.Kw.At("pkgs").(*value.List); ok {
				names = nil
				for _, x := range l.Items {
					names = append(names, value.Str(x))
				}
			}
			*installed = append(*installed, strings.Join(names, "+"))
			return fun.Ret{Result: fun.OK}
		}}},
	}
}
