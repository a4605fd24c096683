// Package mine is Salt's runner module "mine": the mine as the controller sees it.
package mine

import (
	"context"

	"brine/internal/fun"
	"brine/internal/value"
)

// Runners returns the rows of the runner module "mine".
func Runners() fun.Module {
	return fun.Module{Name: "mine", Kind: fun.Runner, Doc: "Read and update the mine from the controller.", Specs: specs}
}

var specs = []fun.Spec{
	{
		Name: "get", Src: "runners/mine.py get", Fn: get,
		Doc: "Return mine data of machines by ID, as it was last kept.",
		Args: []fun.Arg{
			{Name: "tgt", Type: fun.Str | fun.List, Required: true, Doc: "target expression"},
			{Name: "fun", Type: fun.Str | fun.List, Required: true, Doc: "function to get the data of; several return data by function"},
			{Name: "tgt_type", Type: fun.Str, Default: "glob", Doc: "type of tgt"},
		},
	},
	{
		Name: "update", Src: "runners/mine.py update", Fn: update,
		Doc: "Have machines run the functions of mine_functions and keep their results.",
		Args: []fun.Arg{
			{Name: "tgt", Type: fun.Str | fun.List, Required: true, Doc: "target expression"},
			{Name: "tgt_type", Type: fun.Str, Default: "glob", Doc: "type of tgt"},
			{Name: "clear", Type: fun.Bool, Default: false, Doc: "remove data of other functions"},
			{Name: "mine_functions", Type: fun.Dict | fun.List, Doc: "functions to run instead of those of the configuration and pillar"},
		},
	},
}

func get(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if c.Env.Mine == nil {
		return fun.Result{}, fun.Errorf("there is no mine here: use 'brine run'")
	}
	names, byFunction := fun.MineFunctions(c.Value("fun"))
	data, err := c.Env.Mine.Mine(ctx, fun.MineRequest{Op: fun.MineGet, JID: c.Env.JID, Tgt: c.Value("tgt"), TgtType: c.Str("tgt_type"), Funs: names})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(fun.MineShape(data, names, byFunction))
}

// update follows salt/runners/mine.py update.
func update(ctx context.Context, c *fun.Call) (fun.Result, error) {
	kw := value.MapOf("clear", c.Bool("clear"))
	if !c.IsNone("mine_functions") {
		kw.Set("mine_functions", c.Value("mine_functions"))
	}
	args := fun.Args{Pos: []value.Value{c.Value("tgt"), "mine.update"}, Kw: value.MapOf("tgt_type", c.Str("tgt_type"), "kwarg", kw)}
	return c.Env.Invoker.Invoke(ctx, fun.Runner, "salt.execute", args)
}
