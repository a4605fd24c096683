package statefn

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type statesArgs struct {
	_      fun.Arguments
	States value.Value `arg:"states,required,str|list[str]" doc:"names of SLS files or \"highstate\", as a list or a comma-separated string"`
}

var specs = []fun.Spec{
	{
		Name: "apply", Src: "modules/state.py apply_", NearMiss: true, Do: inTurn(apply),
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
		Name: "high", Src: "modules/state.py high", NearMiss: true, Do: inTurn(highData),
		Doc: "Run high data given as a value, such as {vim: {pkg: [installed]}}.",
	},
	{
		Name: "highstate", Src: "modules/state.py highstate", NearMiss: true, Do: inTurn(highstate),
		Doc: "Apply all states that the top file assigns to this machine.",
	},
	{
		Name: "id_exists", Src: "modules/state.py id_exists", NearMiss: true, Do: idExists,
		Doc: "Return whether all given IDs are in SLS files.",
	},
	{
		Name: "list_disabled", Src: "modules/state.py list_disabled", Do: listDisabled,
		Doc: "List what state.disable forbids.",
	},
	{
		Name: "low", Src: "modules/state.py low", NearMiss: true, Do: inTurn(lowChunk),
		Doc: "Run one low chunk, such as {state: pkg, fun: installed, name: vi, __id__: vi}.",
	},
	{
		Name: "request", Src: "modules/state.py request", NearMiss: true, Do: request,
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
		Name: "show_highstate", Src: "modules/state.py show_highstate", NearMiss: true, Do: showHighstate,
		Doc: "Show the high data of all states that the top file assigns to this machine.",
	},
	{
		Name: "show_low_sls", Src: "modules/state.py show_low_sls", NearMiss: true, Do: showLowSLS,
		Doc: "Show the low chunks of SLS files, before extend, exclude, use and the _in requisites are applied.",
	},
	{
		Name: "show_lowstate", Src: "modules/state.py show_lowstate", NearMiss: true, Do: showLowstate,
		Doc: "Show the low chunks of all states that the top file assigns to this machine.",
	},
	{
		Name: "show_sls", Src: "modules/state.py show_sls", NearMiss: true, Do: showSLS,
		Doc: "Show the high data of SLS files.",
	},
	{
		Name: "show_state_usage", Src: "modules/state.py show_state_usage", NearMiss: true, Do: showStateUsage,
		Doc: "Show which SLS files the top file uses and which it does not, by environment.",
	},
	{
		Name: "show_states", Src: "modules/state.py show_states", NearMiss: true, Do: showStates,
		Doc: "List the SLS files whose states the top file assigns to this machine.",
	},
	{
		Name: "show_top", Src: "modules/state.py show_top", NearMiss: true, Do: showTop,
		Doc: "Show what the top file assigns to this machine, by environment.",
	},
	{
		// Further keyword arguments are the state's own: see refuseMisspelt.
		Name: "single", Src: "modules/state.py single", Do: inTurn(single),
		Doc: "Run one state function, with its arguments as keywords.",
	},
	{
		Name: "sls", Src: "modules/state.py sls", NearMiss: true, Do: inTurn(sls),
		Doc: "Apply SLS files.",
	},
	{
		Name: "sls_exists", Src: "modules/state.py sls_exists", NearMiss: true, Do: slsExists,
		Doc: "Return whether SLS files exist and can be rendered.",
	},
	{
		Name: "sls_id", Src: "modules/state.py sls_id", NearMiss: true, Do: inTurn(slsID),
		Doc: "Run one ID of SLS files and what it requires.",
	},
	{
		Name: "template", Src: "modules/state.py template", NearMiss: true, Do: inTurn(template),
		Doc: "Run the states of a file on this machine, which need not be in the file roots.",
	},
	{
		Name: "template_str", Src: "modules/state.py template_str", NearMiss: true, Do: inTurn(templateStr),
		Doc: "Run the states of SLS text.",
	},
	{
		Name: "test", Src: "modules/state.py test", NearMiss: true, Do: inTurn(testRun),
		Doc: "Run state.apply in test mode: change nothing, show what would change.",
	},
	{
		Name: "top", Src: "modules/state.py top", NearMiss: true, Do: inTurn(runTop),
		Doc: "Apply all states that the given top file assigns to this machine.",
	},
}
