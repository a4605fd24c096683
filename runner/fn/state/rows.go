package statefn

import (
	"brine/internal/fun"
	"brine/internal/value"
)

// names is a list of names, or text with commas.
const names = fun.Str | fun.Strs

// The arguments that several functions have, in groups that follow each other.
var (
	modsArgs = []fun.Arg{
		{Name: "mods", Type: names, Required: true, Doc: "names or globs of SLS files, as a list or a comma-separated string"},
	}
	optionalModsArgs = []fun.Arg{
		{Name: "mods", Type: names, Doc: "names or globs of SLS files, as a list or a comma-separated string"},
	}
	testArgs = []fun.Arg{
		{Name: "test", Type: fun.Bool, Doc: "run in test mode; default: as configured"},
	}
	queueArgs = []fun.Arg{
		{Name: "queue", Type: fun.Bool | fun.Int, Doc: "wait for other state runs on this machine, or only for fewer than this number, instead of failing; default: the option state_queue"},
	}
	excludeArgs = []fun.Arg{
		{Name: "exclude", Type: fun.Str | fun.List | fun.Dict, Doc: "names or globs of SLS files to exclude, or a list of {sls: NAME} and {id: ID}"},
	}
	syncArgs = []fun.Arg{
		{Name: "sync_mods", Type: names | fun.Bool, Doc: "types of custom modules to sync first (states, modules, ... or all)"},
	}
	eventArgs = []fun.Arg{
		{Name: "state_events", Type: fun.Bool, Doc: "send an event after each state; default: the option state_events"},
	}
	pillarArgs = []fun.Arg{
		{Name: "pillar", Doc: "mapping that is merged over the pillar"},
		{Name: "pillar_enc", Type: fun.Str, Doc: "renderer that decrypts pillar"},
		{Name: "saltenv", Type: fun.Str, Doc: "environment of the SLS files"},
		{Name: "pillarenv", Type: fun.Str, Doc: "the only environment of the pillar"},
	}
	forceArgs = []fun.Arg{
		{Name: "force", Type: fun.Bool, Default: false, Doc: "run despite errors in the pillar"},
	}
	runArgs = []fun.Arg{
		{Name: "terse", Type: fun.Bool, Default: false, Doc: "return only states that failed or changed something"},
		{Name: "concurrent", Type: fun.Bool, Default: false, Doc: "run beside other state runs on this machine"},
		{Name: "cache", Type: fun.Bool, Doc: "save the high data, and reuse that of an earlier run"},
		{Name: "cache_name", Type: fun.Str, Default: "highstate", Doc: "name of the saved high data"},
		{Name: "mock", Type: fun.Bool, Default: false, Doc: "show the order of the states without running any"},
		{Name: "orchestration_jid", Type: fun.Str, Doc: "jid of the orchestration that the run is a step of"},
	}
	whitelistArgs = []fun.Arg{
		{Name: "whitelist", Type: names, Doc: "the only SLS names of the top file to apply, as a list or a comma-separated string"},
	}

	applyGroups     = [][]fun.Arg{optionalModsArgs, testArgs, excludeArgs, queueArgs, syncArgs, eventArgs, pillarArgs, forceArgs, runArgs, whitelistArgs}
	requestGroups   = [][]fun.Arg{optionalModsArgs, testArgs, excludeArgs, queueArgs, syncArgs, eventArgs, pillarArgs, forceArgs, runArgs, whitelistArgs, fun.ArgsOf((*requestArgs)(nil))}
	slsGroups       = [][]fun.Arg{modsArgs, testArgs, excludeArgs, queueArgs, syncArgs, eventArgs, pillarArgs, forceArgs, runArgs}
	highstateGroups = [][]fun.Arg{testArgs, queueArgs, eventArgs, pillarArgs, forceArgs, runArgs, excludeArgs, whitelistArgs}
	showGroups      = [][]fun.Arg{queueArgs, pillarArgs, forceArgs}
	showSLSGroups   = [][]fun.Arg{modsArgs, testArgs, queueArgs, pillarArgs, forceArgs}
)

type requestArgs struct {
	_    fun.Arguments
	Name string `arg:"name" doc:"name of the request"`
}

type statesArgs struct {
	_      fun.Arguments
	States value.Value `arg:"states,required,str|list[str]" doc:"names of SLS files or \"highstate\", as a list or a comma-separated string"`
}

var specs = []fun.Spec{
	{
		Name: "apply", Src: "modules/state.py apply_", Shared: applyGroups, VarKw: true, NearMiss: true, Fn: inTurn(apply),
		Doc: "Apply SLS files, or the top file if none are given.\nWith mods this is state.sls, without it state.highstate.",
	},
	{
		Name: "check_request", Src: "modules/state.py check_request", Do: checkRequest,
		Doc: "Return the state runs that state.request saved.",
	},
	{
		Name: "clear_cache", Src: "modules/state.py clear_cache", Do: clearCache,
		Doc: "Remove the high data that runs with cache=True saved; return the file names.",
	},
	{
		Name: "clear_request", Src: "modules/state.py clear_request", Do: clearRequest,
		Doc: "Remove a requested state run without running it.",
	},
	{
		Name: "disable", Src: "modules/state.py disable", Do: disable,
		Doc: "Forbid SLS files, or highstate, to run on this machine.",
	},
	{
		Name: "enable", Src: "modules/state.py enable", Do: enable,
		Doc: "Allow what state.disable forbade.",
	},
	{
		Name: "high", Src: "modules/state.py high", VarKw: true, NearMiss: true, Fn: inTurn(highData),
		Doc:    "Run high data given as a value, such as {vim: {pkg: [installed]}}.",
		Args:   []fun.Arg{{Name: "data", Required: true, Doc: "ID → {state: [function, {argument: value}]}"}},
		Shared: [][]fun.Arg{testArgs, queueArgs, pillarArgs},
	},
	{
		Name: "highstate", Src: "modules/state.py highstate", Shared: highstateGroups, VarKw: true, NearMiss: true, Fn: inTurn(highstate),
		Doc: "Apply all states that the top file assigns to this machine.",
	},
	{
		Name: "id_exists", Src: "modules/state.py id_exists", VarKw: true, NearMiss: true, Fn: idExists,
		Doc:    "Return whether all given IDs are in SLS files.",
		Args:   []fun.Arg{{Name: "ids", Type: names, Required: true, Doc: "IDs, as a list or a comma-separated string"}},
		Shared: showSLSGroups,
	},
	{
		Name: "list_disabled", Src: "modules/state.py list_disabled", Do: listDisabled,
		Doc: "List what state.disable forbids.",
	},
	{
		Name: "low", Src: "modules/state.py low", VarKw: true, NearMiss: true, Fn: inTurn(lowChunk),
		Doc:    "Run one low chunk, such as {state: pkg, fun: installed, name: vi, __id__: vi}.",
		Args:   []fun.Arg{{Name: "data", Type: fun.Dict, Required: true, Doc: "low chunk: state, fun, name, __id__ and arguments"}},
		Shared: [][]fun.Arg{queueArgs, pillarArgs},
	},
	{
		Name: "request", Src: "modules/state.py request", Shared: requestGroups, VarKw: true, NearMiss: true, Fn: request,
		Doc: "Run in test mode and save the call for state.run_request.",
	},
	{
		Name: "run_request", Src: "modules/state.py run_request", Do: runRequest,
		Doc: "Run what state.request saved.",
	},
	{
		Name: "running", Src: "modules/state.py running", Do: running,
		Doc: "List the state functions that are running on this machine.",
	},
	{
		Name: "show_highstate", Src: "modules/state.py show_highstate", Shared: showGroups, VarKw: true, NearMiss: true, Fn: showHighstate,
		Doc: "Show the high data of all states that the top file assigns to this machine.",
	},
	{
		Name: "show_low_sls", Src: "modules/state.py show_low_sls", Shared: showSLSGroups, VarKw: true, NearMiss: true, Fn: showLowSLS,
		Doc: "Show the low chunks of SLS files, before extend, exclude, use and the _in requisites are applied.",
	},
	{
		Name: "show_lowstate", Src: "modules/state.py show_lowstate", Shared: showGroups, VarKw: true, NearMiss: true, Fn: showLowstate,
		Doc: "Show the low chunks of all states that the top file assigns to this machine.",
	},
	{
		Name: "show_sls", Src: "modules/state.py show_sls", Shared: showSLSGroups, VarKw: true, NearMiss: true, Fn: showSLS,
		Doc: "Show the high data of SLS files.",
	},
	{
		Name: "show_state_usage", Src: "modules/state.py show_state_usage", Shared: showGroups, VarKw: true, NearMiss: true, Fn: showStateUsage,
		Doc: "Show which SLS files the top file uses and which it does not, by environment.",
	},
	{
		Name: "show_states", Src: "modules/state.py show_states", Shared: showGroups, VarKw: true, NearMiss: true, Fn: showStates,
		Doc: "List the SLS files whose states the top file assigns to this machine.",
	},
	{
		Name: "show_top", Src: "modules/state.py show_top", Shared: showGroups, VarKw: true, NearMiss: true, Fn: showTop,
		Doc: "Show what the top file assigns to this machine, by environment.",
	},
	{
		// Further keyword arguments are the state's own: see refuseMisspelt.
		Name: "single", Src: "modules/state.py single", VarKw: true, Fn: inTurn(single),
		Doc: "Run one state function, with its arguments as keywords.",
		Args: []fun.Arg{
			{Name: "fun", Type: fun.Str, Required: true, Doc: `state function, such as "pkg.installed"`},
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the state"},
		},
		Shared: [][]fun.Arg{testArgs, queueArgs, pillarArgs},
	},
	{
		Name: "sls", Src: "modules/state.py sls", Shared: slsGroups, VarKw: true, NearMiss: true, Fn: inTurn(sls),
		Doc: "Apply SLS files.",
	},
	{
		Name: "sls_exists", Src: "modules/state.py sls_exists", Shared: showSLSGroups, VarKw: true, NearMiss: true, Fn: slsExists,
		Doc: "Return whether SLS files exist and can be rendered.",
	},
	{
		Name: "sls_id", Src: "modules/state.py sls_id", VarKw: true, NearMiss: true, Fn: inTurn(slsID),
		Doc:    "Run one ID of SLS files and what it requires.",
		Args:   []fun.Arg{{Name: "id_", Type: fun.Str, Required: true, Doc: "ID to run"}},
		Shared: [][]fun.Arg{modsArgs, testArgs, queueArgs, eventArgs, pillarArgs, forceArgs},
	},
	{
		Name: "template", Src: "modules/state.py template", VarKw: true, NearMiss: true, Fn: inTurn(template),
		Doc:    "Run the states of a file on this machine, which need not be in the file roots.",
		Args:   []fun.Arg{{Name: "tem", Type: fun.Path, Required: true, Doc: "path of the file; .sls may be omitted"}},
		Shared: [][]fun.Arg{queueArgs, pillarArgs, forceArgs},
	},
	{
		Name: "template_str", Src: "modules/state.py template_str", VarKw: true, NearMiss: true, Fn: inTurn(templateStr),
		Doc:    "Run the states of SLS text.",
		Args:   []fun.Arg{{Name: "tem", Type: fun.Str, Required: true, Doc: "text of an SLS file"}},
		Shared: [][]fun.Arg{queueArgs, pillarArgs},
	},
	{
		Name: "test", Src: "modules/state.py test", Shared: applyGroups, VarKw: true, NearMiss: true, Fn: inTurn(testRun),
		Doc: "Run state.apply in test mode: change nothing, show what would change.",
	},
	{
		Name: "top", Src: "modules/state.py top", VarKw: true, NearMiss: true, Fn: inTurn(runTop),
		Doc:    "Apply all states that the given top file assigns to this machine.",
		Args:   []fun.Arg{{Name: "topfn", Type: fun.Str, Required: true, Doc: `path of the top file in the file roots, such as "prod_top.sls"`}},
		Shared: highstateGroups,
	},
}
