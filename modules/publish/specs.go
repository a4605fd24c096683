package publish

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// called are the arguments of publish and full_data.
type called struct {
	_        fun.Arguments
	Tgt      value.Value `arg:"tgt,required,str|list" doc:"target expression over the machines of the run"`
	Fun      string      `arg:"fun,required" doc:"execution function to call there"`
	Arg      value.Value `arg:"arg" doc:"its argument, or a list of them; key=value is one by name"`
	TgtType  string      `arg:"tgt_type" default:"glob" doc:"type of tgt; pillar values are compared exactly"`
	Returner string      `arg:"returner" default:"" doc:"returner that gets each return too"`
	Timeout  value.Value `arg:"timeout,str|int|float" default:"5" unit:"s" doc:"how long a machine may be silent before it is asked whether it still works"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "full_data", Src: "modules/publish.py full_data", Do: fullData, Doc: "Call a function on other machines of the run and return a dict by ID, each return as ret.\nThe controller's option peer has to allow it.",
	},
	{
		Name: "publish", Src: "modules/publish.py publish", Do: publish, Doc: "Call a function on other machines of the run and return their returns by ID.\nThe controller's option peer has to allow it.",
	},
	{
		Name: "runner", Src: "modules/publish.py runner", Do: runner,
		Doc: "Call a runner function on the controller and return its return.\nThe controller's option peer_run has to allow it.",
	},
}
