package salt

import (
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// targetArgs are the first arguments of state and function.
type targetArgs struct {
	_         fun.Arguments
	_         string      `arg:"name,required" doc:"name of the step; for salt.function the function to run"`
	Tgt       value.Value `arg:"tgt,required,str|list" doc:"target expression"`
	_         bool        `arg:"ssh" default:"True" doc:"accepted without effect; targets come from the roster"`
	TgtType   string      `arg:"tgt_type" default:"glob" doc:"type of tgt: glob, pcre, list, grain, grain_pcre, pillar, pillar_exact, pillar_pcre, nodegroup, ipcidr, compound"`
	Ret       value.Value `arg:"ret,str|list[str]" default:"''" doc:"returners for the returns"`
	RetConfig string      `arg:"ret_config" doc:"configuration profile of the returners"`
	RetKwargs *value.Map  `arg:"ret_kwargs" doc:"settings of the returners"`
}

// jobArgs are the last arguments of state and function.
type jobArgs struct {
	_                fun.Arguments
	FailMinions      value.Value    `arg:"fail_minions" doc:"targets that may fail, as a list or a comma-separated string"`
	Batch            value.Value    `arg:"batch,str|int" doc:"number or percentage of targets that run at once"`
	Subset           fun.Opt[int64] `arg:"subset" doc:"run on this many of the targets, chosen at random"`
	Timeout          time.Duration  `arg:"timeout" unit:"s" doc:"ask a silent target after this time whether it is still working"`
	GatherJobTimeout time.Duration  `arg:"gather_job_timeout" unit:"s" doc:"how long a silent target may take to respond"`
	MaxWait          time.Duration  `arg:"max_wait" unit:"s" doc:"how long a target may work on the job before it counts as failed; default: the option max_wait, 24 hours"`
	Asynchronous     bool           `arg:"asynchronous" default:"False" doc:"start the job without waiting for it; jobs.lookup_jid shows its returns. Not with batch, subset, waves or max_failures"`
	Failhard         bool           `arg:"failhard" default:"False" doc:"start no further batch after a failure"`
	Roster           string         `arg:"roster" doc:"type of roster"`
	Fleet            string         `arg:"fleet" doc:"only the targets of this fleet; default: those of all"`
	Metadata         value.Value    `arg:"metadata" doc:"data to store with the job"`
	BatchWait        time.Duration  `arg:"batch_wait" unit:"s" doc:"with batch: how long to wait after each return before the next target starts"`
	Waves            value.Value    `arg:"waves" doc:"start on a few targets first: a list of how many targets have started with each wave, as numbers, percentages or groups of targets"`
	WaveWait         value.Value    `arg:"wave_wait,duration" unit:"s" doc:"how long to wait between two waves"`
	WaveCheck        value.Value    `arg:"wave_check" doc:"health check between two waves: a mapping with function or runner, and arg, kwarg, tgt, tgt_type, fail_function, retries, interval"`
	MaxFailures      value.Value    `arg:"max_failures,str|int" doc:"number or percentage of targets that may fail before nothing further starts; default with waves: 0"`
}

// stepGiven is what run reads of the arguments of state and function.
type stepGiven struct {
	*targetArgs
	*jobArgs
	expectMinions bool
	test          bool // state asks for test mode
}

// fleetArg is the last argument of runner and wheel.
type fleetArg struct {
	_     fun.Arguments
	Fleet string `arg:"fleet" doc:"fleet whose Salt master runs the function; default: this controller does"`
}

var specs = []fun.Spec{
	{
		Name: "function", Always: true, Do: function, Src: "states/saltmod.py function",
		Doc: "Run an execution function on targets.",
	},
	{
		Name: "parallel_runners", Always: true, Do: parallelRunners, Src: "states/saltmod.py parallel_runners",
		Doc: "Run several runner functions in parallel.",
	},
	{
		Name: "runner", Hands: true, Always: true, Do: runner, Src: "states/saltmod.py runner",
		Doc: "Run a runner function on the controller, or on the Salt master of a fleet.\nFurther arguments are those of the function.",
	},
	{
		Name: "state", Always: true, Do: state, Src: "states/saltmod.py state",
		Doc: "Apply states to targets.",
	},
	{
		Name: "wait_for_event", Always: true, Do: waitForEvent, Src: "states/saltmod.py wait_for_event",
		Doc: waitDoc,
	},
	{
		Name: "wheel", Hands: true, Always: true, Do: wheel, Src: "states/saltmod.py wheel",
		Doc: "Run a wheel function on the controller, or on the Salt master of a fleet.\nFurther arguments are those of the function.",
	},
}
