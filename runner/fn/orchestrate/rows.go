package orchestrate

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

const doc = "Run an orchestration: compile SLS files and run them on this controller."

type orchestrateArgs struct {
	_         fun.Arguments
	Mods      value.Value `arg:"mods,required,str|list[str]" doc:"SLS files to run, as a list or a comma-separated string"`
	Saltenv   value.Value `arg:"saltenv,str" default:"base" doc:"environment of the SLS files"`
	Test      value.Value `arg:"test,bool" doc:"run in test mode; default: as configured"`
	Exclude   value.Value `arg:"exclude,str|list|dict" doc:"SLS files or IDs to exclude"`
	Pillar    value.Value `arg:"pillar" doc:"mapping that is merged over the pillar of the controller"`
	PillarEnv value.Value `arg:"pillarenv,str" doc:"environment of the pillar"`
	PillarEnc value.Value `arg:"pillar_enc,str" doc:"renderer that decrypts pillar"`
	_         string      `arg:"orchestration_jid" doc:"job that this orchestration belongs to"`
}

type showArgs struct {
	_         fun.Arguments
	Mods      value.Value `arg:"mods,required,str|list[str]" doc:"SLS files to show, as a list or a comma-separated string"`
	Saltenv   value.Value `arg:"saltenv,str" default:"base" doc:"environment of the SLS files"`
	Test      value.Value `arg:"test,bool" doc:"run in test mode; default: as configured"`
	_         value.Value `arg:"queue,bool|int" default:"False" doc:"accepted without effect; orchestrations run concurrently"`
	Pillar    value.Value `arg:"pillar" doc:"mapping that is merged over the pillar of the controller"`
	PillarEnv value.Value `arg:"pillarenv,str" doc:"environment of the pillar"`
	PillarEnc value.Value `arg:"pillar_enc,str" doc:"renderer that decrypts pillar"`
}

// stepArgs are the last arguments of functions that run what they are given.
type stepArgs struct {
	_      fun.Arguments
	Test   value.Value `arg:"test,bool" doc:"run in test mode; default: as configured"`
	_      value.Value `arg:"queue,bool|int" default:"False" doc:"accepted without effect; orchestrations run concurrently"`
	Pillar value.Value `arg:"pillar" doc:"mapping that is merged over the pillar of the controller"`
}

var execSpecs = []fun.Spec{
	{Name: "orch", Doc: doc, Src: "runners/state.py orchestrate", Do: Orchestrate},
	{Name: "orchestrate", Doc: doc, Src: "runners/state.py orchestrate", Do: Orchestrate},
}

var runnerSpecs = []fun.Spec{
	{Name: "orch", Doc: doc, Src: "runners/state.py orchestrate", Do: Orchestrate},
	{
		Name: "orch_show_sls", Src: "runners/state.py orchestrate_show_sls", Do: showSLS,
		Doc: "Show the high data of an orchestration.",
	},
	{Name: "orchestrate", Doc: doc, Src: "runners/state.py orchestrate", Do: Orchestrate},
	{
		Name: "orchestrate_high", Src: "runners/state.py orchestrate_high", NearMiss: true, Do: high,
		Doc: "Run an orchestration given as high data.",
	},
	{
		Name: "orchestrate_show_sls", Src: "runners/state.py orchestrate_show_sls", Do: showSLS,
		Doc: "Show the high data of an orchestration.",
	},
	{
		// Further keyword arguments are the step's own.
		Name: "orchestrate_single", Src: "runners/state.py orchestrate_single", Do: single,
		Doc: "Run one step.",
	},
	{Name: "sls", Doc: doc, Src: "runners/state.py orchestrate", Do: Orchestrate},
}
