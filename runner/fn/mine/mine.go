// Package mine is Salt's runner module "mine": the mine as the controller sees it.
package mine

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Runners returns the rows of the runner module "mine".
func Runners() fun.Module {
	return fun.Module{Name: "mine", Kind: fun.Runner, Doc: "Read and update the mine from the controller.", Specs: specs}
}

var specs = []fun.Spec{
	{
		Name: "get", Src: "runners/mine.py get", Do: get,
		Doc: "Return mine data of machines by ID, as it was last kept.",
	},
	{
		Name: "update", Src: "runners/mine.py update", Do: update,
		Doc: "Have machines run the functions of mine_functions and keep their results.",
	},
}

type getArgs struct {
	_       fun.Arguments
	Tgt     value.Value `arg:"tgt,required,str|list" doc:"target expression"`
	Fun     value.Value `arg:"fun,required,str|list" doc:"function to get the data of; several return data by function"`
	TgtType string      `arg:"tgt_type" default:"glob" doc:"type of tgt"`
}

func get(ctx context.Context, c *fun.Call, a *getArgs) (fun.Result, error) {
	if c.Env.Mine == nil {
		return fun.Result{}, fun.Errorf("there is no mine here: use 'brine run'")
	}
	names, byFunction := fun.MineFunctions(a.Fun)
	data, err := c.Env.Mine.Mine(ctx, fun.MineRequest{Op: fun.MineGet, JID: c.Env.JID, Tgt: a.Tgt, TgtType: a.TgtType, Funs: names})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(fun.MineShape(data, names, byFunction))
}

type updateArgs struct {
	_             fun.Arguments
	Tgt           value.Value `arg:"tgt,required,str|list" doc:"target expression"`
	TgtType       string      `arg:"tgt_type" default:"glob" doc:"type of tgt"`
	Clear         bool        `arg:"clear" default:"False" doc:"remove data of other functions"`
	MineFunctions value.Value `arg:"mine_functions,list|dict" doc:"functions to run instead of those of the configuration and pillar"`
}

// update follows salt/runners/mine.py update.
func update(ctx context.Context, c *fun.Call, a *updateArgs) (fun.Result, error) {
	kw := value.MapOf("clear", a.Clear)
	if a.MineFunctions != nil {
		kw.Set("mine_functions", a.MineFunctions)
	}
	args := fun.Args{Pos: []value.Value{a.Tgt, "mine.update"}, Kw: value.MapOf("tgt_type", a.TgtType, "kwarg", kw)}
	return c.Env.Invoker.Invoke(ctx, fun.Runner, "salt.execute", args)
}
