package trial

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/core/target"
	"brine/internal/py/value"
	"brine/internal/view/casefile"
)

// compileSite compiles an orchestration, and on each machine the SLS files that its
// steps apply there.
func (w *World) compileSite(ctx context.Context, r *Result, dir string, update bool) {
	began := time.Now()
	ctl := controllerCase(r.Case)
	ctl.SLS = ctl.Orchestrate
	s := &siteCompiler{w: w, r: r, dir: dir, ctl: Job{named(ctl, casefile.Controller), r.System}, doc: value.NewMap(0)}
	steps, ok := s.low(ctx, s.ctl, "")
	if !ok {
		return
	}
	s.doc.Set("orchestration", steps)
	for _, n := range r.Case.Nodes {
		s.nodes = append(s.nodes, &siteNode{Node: n, job: Job{named(nodeCase(r.Case, n), n.Name), n.SystemOf(r.System)}})
	}
	r.Files = append(r.Files, w.goldenPath(r.Job))
	if s.choose(steps); r.Failed() {
		return
	}
	for _, n := range s.nodes {
		s.compileNode(ctx, n)
	}
	if r.Failed() {
		return
	}
	r.compiled = true
	r.add(Check{Name: "compile", Text: fmt.Sprintf("%s, %s on %s", count(steps.Len(), "step"), count(s.states, "state"), count(len(s.nodes), "machine"))}, began)
	if len(s.later) > 0 {
		r.add(Check{Name: "steps", Status: Skipped, Text: "not compiled, since only a run knows what they apply: " + strings.Join(s.later, ", ")}, began)
	}
	r.add(w.golden(r.Job, s.doc, update), time.Now())
}

// named is a case with the grains of a machine of this name.
func named(c *casefile.Case, name string) *casefile.Case {
	out := *c
	out.Grains = value.MapOf("id", name, "host", name, "nodename", name, "localhost", name, "fqdn", name+".example.org")
	if c.Grains != nil {
		value.Update(out.Grains, value.Clone(c.Grains).(*value.Map), true, false)
	}
	return &out
}

// A siteCompiler compiles one orchestration.
type siteCompiler struct {
	w      *World
	r      *Result
	dir    string
	ctl    Job
	nodes  []*siteNode
	doc    *value.Map // what the golden file has
	states int
	runs   int
	later  []string // steps of which only a run knows what they apply, and where
}

// A siteNode is a machine, and what steps apply to it: SLS files, or the highstate where
// there are none.
type siteNode struct {
	casefile.Node
	job     Job
	applies [][]string
}

// low compiles a job, and adds what failed under the name of a machine.
func (s *siteCompiler) low(ctx context.Context, j Job, name string) (*value.List, bool) {
	began := time.Now()
	s.runs++
	low, used, failed := s.w.low(ctx, filepath.Join(s.dir, fmt.Sprint(s.runs)), j)
	s.r.use(used)
	for _, c := range failed {
		if name != "" {
			c.Name = name + ": " + c.Name
		}
		s.r.add(c, began)
	}
	return low, failed == nil
}

// compileNode compiles what is applied to one machine.
func (s *siteCompiler) compileNode(ctx context.Context, n *siteNode) {
	lows := value.NewList()
	for _, sls := range n.applies {
		c := *n.job.Case
		c.SLS = sls
		low, ok := s.low(ctx, Job{&c, n.job.System}, n.Name)
		if !ok {
			return
		}
		s.states += low.Len()
		lows.Append(low)
	}
	s.doc.Set(n.Name, lows)
}

// choose finds the targets of the steps. A step whose targets the case does not have is a
// failure.
func (s *siteCompiler) choose(steps *value.List) {
	for _, v := range steps.Items {
		step, ok := v.(*value.Map)
		if !ok || step.Str("state") != "salt" || !slices.Contains([]string{"state", "function"}, step.Str("fun")) {
			continue
		}
		began := time.Now()
		chosen, err := s.targets(step)
		if err != nil {
			c := &compiler{w: s.w, job: s.ctl, roots: s.roots()}
			fn := "salt." + step.Str("fun")
			text := fmt.Sprintf("%s (%s) in %s: %v", step.Str("__id__"), fn, step.Str("__sls__"), err)
			s.r.add(Check{Name: "compile", Status: Failed, Text: text, Pos: c.posOf(step, fn), Hint: "the case has the machines " + strings.Join(s.names(), ", ")}, began)
			continue
		}
		sls, ok := applied(step)
		if step.Str("fun") == "state" && (!ok || len(chosen) == 0) {
			s.later = append(s.later, step.Str("__id__"))
		}
		if ok {
			for _, n := range chosen {
				n.applies = append(n.applies, sls)
			}
		}
	}
}

// roots are the directories of SLS files of the orchestration.
func (s *siteCompiler) roots() []string {
	return (&workspace{dir: s.dir}).roots(s.w.Opts, s.ctl.Case, same)
}

func (s *siteCompiler) names() []string {
	var out []string
	for _, n := range s.nodes {
		out = append(out, n.Name)
	}
	return out
}

// targets returns the machines that a step means. Those that depend on pillar are only
// known in a run: they are none.
func (s *siteCompiler) targets(step *value.Map) ([]*siteNode, error) {
	kind := cmp.Or(step.Str("tgt_type"), step.Str("expr_form"), "glob")
	m, err := target.Compile(step.At("tgt"), kind, s.w.Opts.Map("nodegroups"))
	if err != nil {
		return nil, err
	}
	if _, pillar := m.Needs(); pillar {
		return nil, nil
	}
	var chosen []*siteNode
	for _, n := range s.nodes {
		grains, err := s.w.Grains(n.job.System)
		if err != nil {
			return nil, err
		}
		all := value.Update(value.Clone(grains).(*value.Map), n.job.Case.Grains, true, false)
		ok, err := m.Match(target.Minion{
			ID: n.Name, Grains: func() value.Mapping { return all }, Pillar: func() value.Mapping { return value.NewMap(0) },
		})
		if err != nil {
			return nil, err
		}
		if ok {
			chosen = append(chosen, n)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no machine matches %s (%s)", value.Repr(step.At("tgt")), kind)
	}
	return chosen, nil
}

// applied returns the SLS files that a step applies, none for the highstate; false if it
// applies none, or applies them with data of its own, so that only a run shows them.
func applied(step *value.Map) (sls []string, ok bool) {
	for _, key := range []string{"exclude", "pillar", "pillarenv", "saltenv", "top"} {
		if step.Has(key) {
			return nil, false
		}
	}
	switch v := step.At("sls").(type) {
	case string:
		sls = strings.Split(v, ",")
	case *value.List:
		for _, x := range v.Items {
			sls = append(sls, value.Str(x))
		}
	}
	return sls, step.Str("fun") == "state" && (len(sls) > 0 || value.Truth(step.At("highstate")))
}
