package statefn

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// The arguments that several functions have, in groups that follow each other.

type testArgs struct {
	_    fun.Arguments
	Test fun.Opt[bool] `arg:"test" doc:"run in test mode; default: as configured"`
}

type queueArgs struct {
	_     fun.Arguments
	Queue value.Value `arg:"queue,bool|int" doc:"wait for other state runs on this machine, or only for fewer than this number, instead of failing; default: the option state_queue"`
}

type excludeArgs struct {
	_       fun.Arguments
	Exclude value.Value `arg:"exclude,str|list|dict" doc:"names or globs of SLS files to exclude, or a list of {sls: NAME} and {id: ID}"`
}

type eventArgs struct {
	_           fun.Arguments
	StateEvents fun.Opt[bool] `arg:"state_events" doc:"send an event after each state; default: the option state_events"`
}

// pillarArgs are those of all functions that render SLS files or run states. They
// take any other keyword, too: see warnUnknown.
type pillarArgs struct {
	Pillar    value.Value     `arg:"pillar" doc:"mapping that is merged over the pillar"`
	PillarEnc fun.Opt[string] `arg:"pillar_enc" doc:"renderer that decrypts pillar"`
	Saltenv   value.Value     `arg:"saltenv,str" doc:"environment of the SLS files"`
	PillarEnv value.Value     `arg:"pillarenv,str" doc:"the only environment of the pillar"`
	Rest      fun.Kwargs
}

type forceArgs struct {
	_     fun.Arguments
	Force bool `arg:"force" default:"False" doc:"run despite errors in the pillar"`
}

type runArgs struct {
	_                fun.Arguments
	Terse            bool   `arg:"terse" default:"False" doc:"return only states that failed or changed something"`
	Concurrent       bool   `arg:"concurrent" default:"False" doc:"run beside other state runs on this machine"`
	Cache            bool   `arg:"cache" doc:"save the high data, and reuse that of an earlier run"`
	CacheName        string `arg:"cache_name" default:"highstate" doc:"name of the saved high data"`
	Mock             bool   `arg:"mock" default:"False" doc:"show the order of the states without running any"`
	OrchestrationJID string `arg:"orchestration_jid" doc:"jid of the orchestration that the run is a step of"`
}

type whitelistArgs struct {
	_         fun.Arguments
	Whitelist value.Value `arg:"whitelist,str|list[str]" doc:"the only SLS names of the top file to apply, as a list or a comma-separated string"`
}

// options are the arguments that a session reads. Those that a function does not have
// are zero.
type options struct {
	testArgs
	queueArgs
	excludeArgs
	eventArgs
	pillarArgs
	forceArgs
	runArgs
	whitelistArgs
}

// An asker is a struct of arguments of a function that opens a session.
type asker interface{ options() options }

// beside reports whether a run is to go beside others. Only some functions declare
// the argument, the others take it as a further keyword.
func (o *options) beside() bool {
	return o.Concurrent || value.Truth(o.Rest.At("concurrent"))
}

// fullArgs are the arguments of a run of SLS files after their names.
type fullArgs struct {
	testArgs
	excludeArgs
	queueArgs
	SyncMods value.Value `arg:"sync_mods,str|bool|list[str]" doc:"types of custom modules to sync first (states, modules, ... or all)"`
	eventArgs
	pillarArgs
	forceArgs
	runArgs
}

func (a *fullArgs) options() options {
	return options{
		testArgs: a.testArgs, queueArgs: a.queueArgs, excludeArgs: a.excludeArgs, eventArgs: a.eventArgs,
		pillarArgs: a.pillarArgs, forceArgs: a.forceArgs, runArgs: a.runArgs,
	}
}

// applyArgs are the arguments of apply and test.
type applyArgs struct {
	Mods value.Value `arg:"mods,str|list[str]" doc:"names or globs of SLS files, as a list or a comma-separated string"`
	fullArgs
	whitelistArgs
}

func (a *applyArgs) options() options {
	o := a.fullArgs.options()
	o.whitelistArgs = a.whitelistArgs
	return o
}

type highstateArgs struct {
	testArgs
	queueArgs
	eventArgs
	pillarArgs
	forceArgs
	runArgs
	excludeArgs
	whitelistArgs
}

func (a *highstateArgs) options() options {
	return options{
		testArgs: a.testArgs, queueArgs: a.queueArgs, excludeArgs: a.excludeArgs, eventArgs: a.eventArgs,
		pillarArgs: a.pillarArgs, forceArgs: a.forceArgs, runArgs: a.runArgs, whitelistArgs: a.whitelistArgs,
	}
}

// showArgs are the arguments of functions that show what the top file gives.
type showArgs struct {
	queueArgs
	pillarArgs
	forceArgs
}

func (a *showArgs) options() options {
	return options{queueArgs: a.queueArgs, pillarArgs: a.pillarArgs, forceArgs: a.forceArgs}
}

// showSLSArgs are the arguments of functions that show SLS files.
type showSLSArgs struct {
	Mods value.Value `arg:"mods,required,str|list[str]" doc:"names or globs of SLS files, as a list or a comma-separated string"`
	testArgs
	showArgs
}

func (a *showSLSArgs) options() options {
	o := a.showArgs.options()
	o.testArgs = a.testArgs
	return o
}
