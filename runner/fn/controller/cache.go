package controller

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Cache returns the rows of the runner module "cache".
func Cache() fun.Module {
	return fun.Module{Name: "cache", Kind: fun.Runner, Doc: "Show and clear the mine data that the controller keeps of machines.", Specs: []fun.Spec{
		{
			Name: "clear_mine", Src: "runners/cache.py clear_mine", Do: clearMine,
			Doc: "Remove the mine data of machines.\nDifference: returns the IDs of the machines; Salt returns True, and False without tgt.",
		},
		{
			Name: "clear_mine_func", Src: "runners/cache.py clear_mine_func", Do: clearMineFunc,
			Doc: "Remove the mine data of machines of one function.\nDifference: returns the IDs of the machines that had it; Salt returns True, and False without tgt.",
		},
		{
			Name: "mine", Src: "runners/cache.py mine", Do: keptMine,
			Doc: "Return the mine data of machines by ID and function, as it was last kept.",
		},
	}}
}

// mineOf returns the mine data of machines, by ID and function.
func mineOf(ctx context.Context, c *fun.Call, tgt value.Value, tgtType string) (*value.Map, error) {
	if c.Env.Mine == nil {
		return nil, fun.Errorf("there is no mine here: use 'brine run'")
	}
	return c.Env.Mine.Mine(ctx, fun.MineRequest{Op: fun.MineKept, Tgt: tgt, TgtType: tgtType})
}

type keptArgs struct {
	_       fun.Arguments
	Tgt     value.Value `arg:"tgt,str|list" default:"'*'" doc:"target expression"`
	TgtType string      `arg:"tgt_type" default:"glob" doc:"type of tgt"`
}

func keptMine(ctx context.Context, c *fun.Call, a *keptArgs) (fun.Result, error) {
	data, err := mineOf(ctx, c, a.Tgt, a.TgtType)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(data)
}

type clearArgs struct {
	_       fun.Arguments
	Tgt     value.Value `arg:"tgt,required,str|list" doc:"target expression"`
	TgtType string      `arg:"tgt_type" default:"glob" doc:"type of tgt"`
}

// forget sends a request for each machine that has mine data, or data of a function
// where one is named, and returns their IDs.
func forget(ctx context.Context, c *fun.Call, a *clearArgs, req fun.MineRequest) (fun.Result, error) {
	data, err := mineOf(ctx, c, a.Tgt, a.TgtType)
	if err != nil {
		return fun.Result{}, err
	}
	cleared := value.NewList()
	for id, functions := range data.All() {
		if len(req.Funs) > 0 && !functions.(*value.Map).Has(req.Funs[0]) {
			continue
		}
		req.ID = value.Str(id)
		if _, err := c.Env.Mine.Mine(ctx, req); err != nil {
			return fun.Result{}, err
		}
		cleared.Append(id)
	}
	return fun.Value(cleared)
}

func clearMine(ctx context.Context, c *fun.Call, a *clearArgs) (fun.Result, error) {
	return forget(ctx, c, a, fun.MineRequest{Op: fun.MineFlush})
}

type clearFuncArgs struct {
	_       fun.Arguments
	Tgt     value.Value `arg:"tgt,required,str|list" doc:"target expression"`
	TgtType string      `arg:"tgt_type" default:"glob" doc:"type of tgt"`
	Name    string      `arg:"clear_mine_func_flag" doc:"required: function whose data is removed, as mine.get names it"`
}

func clearMineFunc(ctx context.Context, c *fun.Call, a *clearFuncArgs) (fun.Result, error) {
	if a.Name == "" {
		return fun.Result{}, fun.Errorf("name the function whose data is to be removed: clear_mine_func_flag=FUNCTION")
	}
	return forget(ctx, c, &clearArgs{Tgt: a.Tgt, TgtType: a.TgtType}, fun.MineRequest{Op: fun.MineDelete, Funs: []string{a.Name}})
}
