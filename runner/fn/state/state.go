// Package statefn has the execution module state: it compiles SLS files or the
// top file, and runs or shows what comes out.
//
// [Module] is the table of functions. Each opens a session (session.go), which
// validates pillar, sets the test mode and forks the Env; then it compiles
// (runner/high, runner/low) and runs (runner/exec).
//
// Salt: salt/modules/state.py.
package statefn

import (
	"brine/internal/fun"
	"brine/internal/value"
	"brine/runner/high"
)

// A module holds what its functions share.
type module struct {
	render high.Renderer // nil: that of the Env of the run
}

// Module returns the execution module state.
func Module() fun.Module { return newModule(nil) }

func newModule(r high.Renderer) fun.Module {
	m := &module{render: r}
	return fun.Module{
		Name: "state", Kind: fun.Exec,
		Doc: "Compile and run states on this machine.",
		Specs: []fun.Spec{
			{Name: "apply", Doc: applyDoc, Src: "modules/state.py apply_", Args: applyArgs(), VarKw: true, Fn: m.apply},
			{Name: "apply_", Doc: applyDoc, Src: "modules/state.py apply_", Args: applyArgs(), VarKw: true, Fn: m.apply},
			{
				Name: "check_request", Doc: "Return the state runs that were requested by state.request.",
				Src: "modules/state.py check_request", Args: []fun.Arg{requestName(nil)}, Fn: m.checkRequest,
			},
			{Name: "clear_cache", Doc: "Remove the high data that runs with cache=True keep; return the names of the files.", Src: "modules/state.py clear_cache", Fn: m.clearCache},
			{
				Name: "clear_request", Doc: "Forget a requested state run without running it.",
				Src: "modules/state.py clear_request", Args: []fun.Arg{requestName(nil)}, Fn: m.clearRequest,
			},
			{
				Name: "disable", Doc: "Forbid SLS files, or highstate, to run on this machine.",
				Src: "modules/state.py disable", Args: []fun.Arg{statesArg}, Fn: m.disable,
			},
			{
				Name: "enable", Doc: "Allow what state.disable has forbidden.",
				Src: "modules/state.py enable", Args: []fun.Arg{statesArg}, Fn: m.enable,
			},
			{
				Name: "high", Doc: "Run high data given as a value, such as {vim: {pkg: [installed]}}.",
				Src:   "modules/state.py high",
				Args:  args(fun.Arg{Name: "data", Type: fun.Dict, Required: true, Doc: "ID → {state: [function, {argument: value}]}"}, testArg, queueArg),
				VarKw: true, Fn: m.high,
			},
			{
				Name: "highstate", Doc: "Run all states that the top file gives to this machine.",
				Src: "modules/state.py highstate", Args: highstateArgs(), VarKw: true, Fn: m.highstate,
			},
			{
				Name: "id_exists", Doc: "Return whether all given IDs are in SLS files.",
				Src:   "modules/state.py id_exists",
				Args:  args(fun.Arg{Name: "ids", Required: true, Doc: "IDs, as a list or with commas"}, modsArg, testArg, queueArg),
				VarKw: true, Fn: m.idExists,
			},
			{Name: "list_disabled", Doc: "List what state.disable has forbidden.", Src: "modules/state.py list_disabled", Fn: m.listDisabled},
			{
				Name: "low", Doc: "Run one low chunk, such as {state: pkg, fun: installed, name: vi, __id__: vi}.",
				Src:   "modules/state.py low",
				Args:  args(fun.Arg{Name: "data", Type: fun.Dict, Required: true, Doc: "the chunk: state, fun, name, __id__ and arguments"}, queueArg),
				VarKw: true, Fn: m.low,
			},
			{
				Name: "request", Doc: "Try a state run in test mode and keep it for state.run_request.",
				Src: "modules/state.py request", Args: append(applyArgs(), requestName(nil)), VarKw: true, Fn: m.request,
			},
			{
				Name: "run_request", Doc: "Run what state.request has kept.",
				Src: "modules/state.py run_request", Args: []fun.Arg{requestName("default")}, VarKw: true, Fn: m.runRequest,
			},
			{
				Name: "running", Doc: "List the state functions that run on this machine.",
				Src:  "modules/state.py running",
				Args: []fun.Arg{{Name: "concurrent", Type: fun.Bool, Default: false, Doc: "return an empty list"}}, Fn: m.running,
			},
			{Name: "show_highstate", Doc: "Show the high data of all states that the top file gives to this machine.", Src: "modules/state.py show_highstate", Args: showArgs(), VarKw: true, Fn: m.showHighstate},
			{
				Name: "show_low_sls", Doc: "Show the low chunks of SLS files, before extend, exclude, use and the _in requisites are applied.",
				Src: "modules/state.py show_low_sls", Args: showSLSArgs(), VarKw: true, Fn: m.showLowSLS,
			},
			{Name: "show_lowstate", Doc: "Show the low chunks of all states that the top file gives to this machine.", Src: "modules/state.py show_lowstate", Args: showArgs(), VarKw: true, Fn: m.showLowstate},
			{Name: "show_sls", Doc: "Show the high data of SLS files.", Src: "modules/state.py show_sls", Args: showSLSArgs(), VarKw: true, Fn: m.showSLS},
			{Name: "show_state_usage", Doc: "Show which SLS files the top file uses and which it does not, by environment.", Src: "modules/state.py show_state_usage", Args: showArgs(), VarKw: true, Fn: m.showStateUsage},
			{Name: "show_states", Doc: "List the SLS files whose states the top file gives to this machine.", Src: "modules/state.py show_states", Args: showArgs(), VarKw: true, Fn: m.showStates},
			{Name: "show_top", Doc: "Show what the top file gives to this machine, by environment.", Src: "modules/state.py show_top", Args: showArgs(), VarKw: true, Fn: m.showTop},
			{
				Name: "single", Doc: "Run one state function, with its arguments as keywords.",
				Src: "modules/state.py single",
				Args: args(
					fun.Arg{Name: "fun", Type: fun.Str, Required: true, Doc: `the state function, "pkg.installed"`},
					fun.Arg{Name: "name", Required: true, Doc: "the name of the state"}, testArg, queueArg, pillarArg, pillarencArg, saltenvArg, pillarenvArg),
				VarKw: true, Fn: m.single,
			},
			{Name: "sls", Doc: "Run the states of SLS files.", Src: "modules/state.py sls", Args: slsArgs(), VarKw: true, Fn: m.sls},
			{Name: "sls_exists", Doc: "Return whether SLS files are there and can be rendered.", Src: "modules/state.py sls_exists", Args: showSLSArgs(), VarKw: true, Fn: m.slsExists},
			{
				Name: "sls_id", Doc: "Run one ID of SLS files, with what it requires.",
				Src:   "modules/state.py sls_id",
				Args:  args(fun.Arg{Name: "id_", Type: fun.Str, Required: true, Doc: "the ID"}, modsArg, testArg, queueArg, pillarArg, pillarencArg, saltenvArg, pillarenvArg, forceArg),
				VarKw: true, Fn: m.slsID,
			},
			{
				Name: "template", Doc: "Run the states of a file on this machine, which need not be below the file roots.",
				Src:   "modules/state.py template",
				Args:  args(fun.Arg{Name: "tem", Type: fun.Str, Required: true, Doc: "path of the file; .sls may be left out"}, queueArg, pillarArg, saltenvArg, pillarenvArg, forceArg),
				VarKw: true, Fn: m.template,
			},
			{
				Name: "template_str", Doc: "Run the states of a text.",
				Src:   "modules/state.py template_str",
				Args:  args(fun.Arg{Name: "tem", Type: fun.Str, Required: true, Doc: "the text of an SLS"}, queueArg, pillarArg, saltenvArg, pillarenvArg),
				VarKw: true, Fn: m.templateStr,
			},
			{Name: "test", Doc: "Do what state.apply does, in test mode: change nothing, show what would change.", Src: "modules/state.py test", Args: applyArgs(), VarKw: true, Fn: m.test},
			{
				Name: "top", Doc: "Run all states that a given top file gives to this machine.",
				Src:   "modules/state.py top",
				Args:  append([]fun.Arg{{Name: "topfn", Type: fun.Str, Required: true, Doc: "the top file below the file roots, \"prod_top.sls\""}}, highstateArgs()...),
				VarKw: true, Fn: m.top,
			},
		},
	}
}

const applyDoc = "Run the states of SLS files, or without any those of the top file.\nWith mods it is state.sls, without state.highstate."

// The arguments that several functions have.
var (
	modsArg      = fun.Arg{Name: "mods", Required: true, Doc: "names or globs of SLS files, as a list or with commas"}
	statesArg    = fun.Arg{Name: "states", Required: true, Doc: `names of SLS files, or "highstate", as a list or with commas`}
	testArg      = fun.Arg{Name: "test", Doc: "test mode; the default is that of configuration"}
	excludeArg   = fun.Arg{Name: "exclude", Doc: "SLS names or globs to leave out (a list or with commas), or a list of {sls: name} and {id: ID}"}
	queueArg     = fun.Arg{Name: "queue", Doc: "wait for state runs of other processes that began before; the default is the option state_queue"}
	syncModsArg  = fun.Arg{Name: "sync_mods", Doc: "kinds of custom modules to sync before (states, modules, ... or all)"}
	pillarArg    = fun.Arg{Name: "pillar", Doc: "a dict that is merged over the pillar"}
	pillarencArg = fun.Arg{Name: "pillar_enc", Doc: "the renderer that decrypts pillar"}
	saltenvArg   = fun.Arg{Name: "saltenv", Doc: "the environment of the SLS files"}
	pillarenvArg = fun.Arg{Name: "pillarenv", Doc: "the only environment of the pillar"}
	forceArg     = fun.Arg{Name: "force", Type: fun.Bool, Default: false, Doc: "run in spite of errors in the pillar"}
	terseArg     = fun.Arg{Name: "terse", Type: fun.Bool, Default: false, Doc: "return only states that failed or changed something"}
	concurrArg   = fun.Arg{Name: "concurrent", Type: fun.Bool, Default: false, Doc: "accepted: without queue, state runs of several processes go side by side"}
	cacheArg     = fun.Arg{Name: "cache", Default: nil, Doc: "keep the high data, and use what an earlier run has kept"}
	cacheNameArg = fun.Arg{Name: "cache_name", Type: fun.Str, Default: "highstate", Doc: "the name under which high data is kept"}
	mockArg      = fun.Arg{Name: "mock", Type: fun.Bool, Default: false, Doc: "call no state: show the order in which they would be called"}
	whitelistArg = fun.Arg{Name: "whitelist", Doc: "the only SLS names of the top file that count, as a list or with commas"}
	orchJIDArg   = fun.Arg{Name: "orchestration_jid", Doc: "jid of the orchestration that the run is a step of"}
)

func args(a ...fun.Arg) []fun.Arg { return a }

// requestName is the argument that names a request.
func requestName(def value.Value) fun.Arg {
	return fun.Arg{Name: "name", Default: def, Doc: "the name of the request"}
}

func runArgs(first ...fun.Arg) []fun.Arg {
	return append(first, pillarArg, pillarencArg, saltenvArg, pillarenvArg, forceArg, terseArg, concurrArg, cacheArg, cacheNameArg, mockArg, orchJIDArg)
}

func slsArgs() []fun.Arg { return runArgs(modsArg, testArg, excludeArg, queueArg, syncModsArg) }

func highstateArgs() []fun.Arg { return append(runArgs(testArg, queueArg), excludeArg, whitelistArg) }

func applyArgs() []fun.Arg {
	mods := modsArg
	mods.Required = false
	return append(runArgs(mods, testArg, excludeArg, queueArg, syncModsArg), whitelistArg)
}

func showArgs() []fun.Arg {
	return args(queueArg, pillarArg, pillarencArg, saltenvArg, pillarenvArg, forceArg)
}

func showSLSArgs() []fun.Arg {
	return args(modsArg, testArg, queueArg, pillarArg, pillarencArg, saltenvArg, pillarenvArg, forceArg)
}
