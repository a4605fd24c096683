package saltutil

import (
	"context"

	"brine/internal/fun"
)

// refreshSpecs returns the rows of the refresh functions, which trees call so
// that a minion forgets what it keeps between jobs.
func refreshSpecs() []fun.Spec {
	row := func(name, what string, args ...fun.Arg) fun.Spec {
		return fun.Spec{
			Name: name, Src: "modules/saltutil.py " + name, Args: args, VarKw: true, Fn: refreshed,
			Doc: "Return True: every job of brine has " + what + " anew, so there is nothing to refresh.",
		}
	}
	wait := fun.Arg{Name: "async", Type: fun.Bool, Default: true, Doc: "accepted: there is nothing to wait for"}
	return []fun.Spec{
		row("refresh_grains", "grains", fun.Arg{Name: "refresh_pillar", Type: fun.Bool, Default: true, Doc: "accepted: the pillar is new, too"}),
		row("refresh_modules", "the functions", wait),
		row("refresh_pillar", "the pillar",
			fun.Arg{Name: "wait", Type: fun.Bool, Default: false, Doc: "accepted: there is nothing to wait for"},
			fun.Arg{Name: "timeout", Type: fun.Float, Default: int64(30), Unit: "s", Doc: "accepted"}),
	}
}

func refreshed(context.Context, *fun.Call) (fun.Result, error) { return fun.Value(true) }
