// Package survey is Salt's runner module "survey": which targets return the same.
package survey

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/difflib"
	"brine/internal/py/value"
)

// Runners returns the rows of the runner module "survey".
func Runners() fun.Module {
	return fun.Module{Name: "survey", Kind: fun.Runner, Doc: "Compare what targets return.", Specs: specs}
}

const noReturnDoc = "\nTargets that did not return are in a last entry, under \"no return\", with the reason; Salt leaves them out."

var specs = []fun.Spec{
	{
		Name: "diff", Src: "runners/survey.py diff", Do: diff,
		Doc: "Run a function on targets and return which have the same result, and how the others differ from the first group.\n" +
			"The difference is in each group, under \"diff\", as a unified diff; Salt prints it." + noReturnDoc,
	},
	{
		Name: "hash", Src: "runners/survey.py hash", Do: hash,
		Doc: "Run a function on targets and return which have the same result." + noReturnDoc,
	},
}

type surveyArgs struct {
	Tgt     value.Value `arg:"tgt,required,str|list" doc:"target expression"`
	Fun     string      `arg:"fun,required" doc:"function to run"`
	More    fun.Varargs
	TgtType string `arg:"tgt_type,kw" default:"compound" doc:"type of tgt"`
	Sort    string `arg:"survey_sort,kw" default:"down" oneof:"down|up" doc:"largest group first (down) or last (up)"`
	Rest    fun.Kwargs
}

// A pool is a group of targets that returned the same.
type pool struct {
	ids  []string
	text string
}

// A poll is what the targets of a survey returned.
type poll struct {
	pools   []pool
	missing *value.Map // the reason by ID, of those that did not return
	failed  bool
}

// ask runs the function, and groups the targets by what they return.
// Salt: salt/runners/survey.py _get_pool_results.
func (a *surveyArgs) ask(ctx context.Context, c *fun.Call) (poll, error) {
	p := poll{missing: value.NewMap(0)}
	if c.Env.Fleet == nil {
		return p, fun.Errorf("there is no roster to run on: use 'brine run'")
	}
	kw := value.NewMap(a.Rest.Len())
	for k, v := range a.Rest.All() {
		if !strings.HasPrefix(value.Str(k), "_") {
			kw.Set(k, v)
		}
	}
	byText := map[string][]string{}
	why := map[string]value.Value{}
	job := fun.Job{Tgt: a.Tgt, TgtType: a.TgtType, Fun: a.Fun, Args: fun.Args{Pos: a.More, Kw: kw}}
	sum, err := c.Env.Fleet.Run(ctx, job, func(r fun.Return) error {
		v, err := r.Value()
		if err != nil {
			return err
		}
		if r.Stage != fun.Returned {
			why[r.ID] = cmp.Or(value.Str(v), r.Stage.String())
			return nil
		}
		p.failed = p.failed || r.Retcode != 0
		text := value.Str(v)
		byText[text] = append(byText[text], r.ID)
		return nil
	})
	if err != nil {
		return p, err
	}
	for _, id := range sum.Missing {
		p.missing.Set(id, cmp.Or(why[id], value.Value("no return")))
	}
	for text, ids := range byText {
		slices.Sort(ids)
		p.pools = append(p.pools, pool{ids, text})
	}
	p.sort(a.Sort == "up")
	return p, nil
}

// sort orders the groups by size, and those of one size by their first target.
func (p *poll) sort(smallFirst bool) {
	slices.SortFunc(p.pools, func(a, b pool) int {
		bySize := cmp.Compare(len(b.ids), len(a.ids))
		if smallFirst {
			bySize = -bySize
		}
		return cmp.Or(bySize, cmp.Compare(a.ids[0], b.ids[0]))
	})
}

// result returns the groups, each with what more adds to it.
func (p *poll) result(more func(i int, m *value.Map)) fun.Result {
	res := fun.Result{}
	list := value.NewList()
	for i, g := range p.pools {
		m := value.MapOf("pool", value.Strings(g.ids...), "result", g.text)
		more(i, m)
		list.Append(m)
	}
	if p.missing.Len() > 0 {
		list.Append(value.MapOf("no return", p.missing))
	}
	if p.failed || p.missing.Len() > 0 {
		res.Retcode = 1
	}
	res.Value = list
	return res
}

func hash(ctx context.Context, c *fun.Call, a *surveyArgs) (fun.Result, error) {
	p, err := a.ask(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	return p.result(func(int, *value.Map) {}), nil
}

// maxLines bounds the results that are compared line by line, which takes longer the
// longer they are: they are what targets make of them.
const maxLines = 5000

// diff adds to each group but the first how it differs from that.
func diff(ctx context.Context, c *fun.Call, a *surveyArgs) (fun.Result, error) {
	p, err := a.ask(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	return p.result(func(i int, m *value.Map) {
		if i > 0 {
			m.Set("diff", difference(p.pools[0], p.pools[i]))
		}
	}), nil
}

func difference(from, to pool) string {
	a, b := linesOf(from.text), linesOf(to.text)
	if max(len(a), len(b)) > maxLines {
		return "the results have too many lines to compare them"
	}
	return strings.Join(difflib.Unified(a, b, from.ids[0], to.ids[0], "\n"), "")
}

// linesOf returns the lines of a result, each with its end.
func linesOf(s string) []string {
	if !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return difflib.SplitLines(s)
}
