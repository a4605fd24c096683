package orchestrate

import "brine/internal/fun"

const doc = "Run an orchestration: compile SLS files and run them on this controller."

var (
	orchestrateArgs = []fun.Arg{
		{Name: "mods", Type: fun.Str | fun.Strs, Required: true, Doc: "SLS files to run, as a list or a comma-separated string"},
		{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of the SLS files"},
		{Name: "test", Type: fun.Bool, Doc: "run in test mode; default: as configured"},
		{Name: "exclude", Type: fun.Str | fun.List | fun.Dict, Doc: "SLS files or IDs to exclude"},
		{Name: "pillar", Doc: "mapping that is merged over the pillar of the controller"},
		{Name: "pillarenv", Type: fun.Str, Doc: "environment of the pillar"},
		{Name: "pillar_enc", Type: fun.Str, Doc: "renderer that decrypts pillar"},
		{Name: "orchestration_jid", Type: fun.Str, Doc: "job that this orchestration belongs to"},
	}
	showArgs = []fun.Arg{
		{Name: "mods", Type: fun.Str | fun.Strs, Required: true, Doc: "SLS files to show, as a list or a comma-separated string"},
		{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of the SLS files"},
		{Name: "test", Type: fun.Bool, Doc: "run in test mode; default: as configured"},
		{Name: "queue", Type: fun.Bool | fun.Int, Default: false, Doc: "accepted without effect; orchestrations run concurrently"},
		{Name: "pillar", Doc: "mapping that is merged over the pillar of the controller"},
		{Name: "pillarenv", Type: fun.Str, Doc: "environment of the pillar"},
		{Name: "pillar_enc", Type: fun.Str, Doc: "renderer that decrypts pillar"},
	}
	// stepArgs are the last arguments of functions that run what they are given.
	stepArgs = []fun.Arg{
		{Name: "test", Type: fun.Bool, Doc: "run in test mode; default: as configured"},
		{Name: "queue", Type: fun.Bool | fun.Int, Default: false, Doc: "accepted without effect; orchestrations run concurrently"},
		{Name: "pillar", Doc: "mapping that is merged over the pillar of the controller"},
	}
)

var execSpecs = []fun.Spec{
	{Name: "orch", Doc: doc, Src: "runners/state.py orchestrate", Args: orchestrateArgs, Fn: Orchestrate},
	{Name: "orchestrate", Doc: doc, Src: "runners/state.py orchestrate", Args: orchestrateArgs, Fn: Orchestrate},
}

var runnerSpecs = []fun.Spec{
	{Name: "orch", Doc: doc, Src: "runners/state.py orchestrate", Args: orchestrateArgs, Fn: Orchestrate},
	{
		Name: "orch_show_sls", Src: "runners/state.py orchestrate_show_sls", Args: showArgs, Fn: showSLS,
		Doc: "Show the high data of an orchestration.",
	},
	{Name: "orchestrate", Doc: doc, Src: "runners/state.py orchestrate", Args: orchestrateArgs, Fn: Orchestrate},
	{
		Name: "orchestrate_high", Src: "runners/state.py orchestrate_high", VarKw: true, NearMiss: true, Fn: high,
		Doc:    "Run an orchestration given as high data.",
		Args:   []fun.Arg{{Name: "data", Type: fun.Dict, Required: true, Doc: "high data"}},
		Shared: [][]fun.Arg{stepArgs},
	},
	{
		Name: "orchestrate_show_sls", Src: "runners/state.py orchestrate_show_sls", Args: showArgs, Fn: showSLS,
		Doc: "Show the high data of an orchestration.",
	},
	{
		// Further keyword arguments are the step's own.
		Name: "orchestrate_single", Src: "runners/state.py orchestrate_single", VarKw: true, Fn: single,
		Doc: "Run one step.",
		Args: []fun.Arg{
			{Name: "fun", Type: fun.Str, Required: true, Doc: "state function, such as salt.function"},
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the step"},
		},
		Shared: [][]fun.Arg{stepArgs},
	},
	{Name: "sls", Doc: doc, Src: "runners/state.py orchestrate", Args: orchestrateArgs, Fn: Orchestrate},
}
