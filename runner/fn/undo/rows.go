// Package undofn is the execution module "undo", which Salt does not have: what runs with
// undo: True have changed on this machine, and to bring it back.
package undofn

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/core/undo"
	"brine/internal/py/value"
)

// Module returns the execution module "undo".
func Module() fun.Module {
	return fun.Module{Name: "undo", Kind: fun.Exec, Doc: "Bring back what runs of states have changed.", Specs: []fun.Spec{
		{
			Name: "drop", Do: drop,
			Doc: "Forget what is kept of a run, which can then not be undone.",
		},
		{
			Name: "kept", Do: keptRuns,
			Doc: "Return the runs of which is kept what they changed on this machine, oldest first.",
		},
		{
			Name: "run", Do: run,
			Doc: "Bring back what a run has changed on this machine.\n" +
				"With test=True it only says what it would bring back. What was changed since the run is left as it is, and named, unless force is set; " +
				"what cannot be brought back is named as well. The result has what states return.",
		},
	}}
}

type jidArgs struct {
	_   fun.Arguments
	JID string `arg:"jid,required" doc:"jid of the run"`
}

type runArgs struct {
	jidArgs
	Test  fun.Opt[bool] `arg:"test" doc:"only say what would be brought back; default: the option test"`
	Force bool          `arg:"force" default:"False" doc:"also bring back what was changed since the run"`
}

// known words the error of a run of which nothing is kept.
func known(jid string, err error) error {
	if undo.IsNone(err) {
		return fun.Errorf("nothing is kept of run %s here: it changed nothing on this machine, it ran without undo: True, or what was kept was dropped since", jid)
	}
	return err
}

func drop(_ context.Context, c *fun.Call, a *jidArgs) (fun.Result, error) {
	if err := undo.StoreOf(c.Env).Drop(a.JID); err != nil {
		return fun.Result{}, known(a.JID, err)
	}
	return fun.Value(true)
}

func keptRuns(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	s := undo.StoreOf(c.Env)
	jids, err := s.JIDs()
	if err != nil {
		return fun.Result{}, err
	}
	out := value.NewMap(len(jids))
	for _, jid := range jids {
		m := value.MapOf("bytes", s.Size(jid))
		rec, err := s.Read(jid)
		if err != nil {
			m.Set("error", err.Error())
			out.Set(jid, m)
			continue
		}
		m.Set("began", rec.At)
		m.Set("ended", rec.Ended)
		m.Set("paths", int64(len(rec.Paths)))
		m.Set("facts", int64(len(rec.Facts)))
		m.Set("undone", nil)
		if rec.Undone != "" {
			m.Set("undone", rec.Undone)
		}
		out.Set(jid, m)
	}
	return fun.Value(out)
}

func run(ctx context.Context, c *fun.Call, a *runArgs) (fun.Result, error) {
	test := a.Test.V
	if !a.Test.Given {
		test = value.Truth(c.Env.Opts.At("test"))
	}
	items, err := undo.StoreOf(c.Env).Undo(ctx, c.Env, a.JID, undo.Options{Test: test, Force: a.Force})
	if err != nil && len(items) == 0 {
		return fun.Result{}, known(a.JID, err)
	}
	items = undo.Folded(items)
	out := value.NewMap(len(items))
	code := 0
	for i, it := range items {
		ret := returnOf(it, test)
		ret.Set("__run_num__", int64(i))
		if ret.At("result") == false {
			code = 2
		}
		out.Set("undo_|-"+it.ID+"_|-"+it.Name+"_|-"+it.Kind, ret)
	}
	if len(items) == 0 {
		out.Set("undo_|-"+a.JID+"_|-"+a.JID+"_|-run", value.MapOf("name", a.JID, "__id__", a.JID, "result", true, "changes", value.NewMap(0),
			"comment", "The run changed nothing on this machine that is not as it was", "__run_num__", int64(0)))
	}
	return fun.Result{Value: out, Out: "highstate", Retcode: code}, err
}

// returnOf is an item as a state returns it.
func returnOf(it *undo.Item, test bool) *value.Map {
	var result value.Value = true
	changes := value.NewMap(0)
	comment := it.Comment
	switch it.Verdict {
	case undo.Back:
		changes = it.Changes
		if test {
			result = nil
		}
	case undo.Already:
	case undo.Since:
		result, comment = false, "Left as it is: "+comment
	case undo.Cannot:
		result, comment = false, "Cannot be undone: "+comment
	case undo.Fault:
		result, comment = false, "Not undone: "+comment
	}
	if changes == nil {
		changes = value.NewMap(0)
	}
	return value.MapOf("name", it.Name, "__id__", it.ID, "result", result, "changes", changes, "comment", comment,
		"start_time", it.Began.Local().Format("15:04:05.000000"), "duration", float64(it.Took.Microseconds())/1000)
}
