package manage

import (
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type pingArgs struct {
	_                fun.Arguments
	Tgt              value.Value   `arg:"tgt,str|list" default:"'*'" doc:"target expression"`
	TgtType          string        `arg:"tgt_type" default:"glob" doc:"type of tgt"`
	Timeout          time.Duration `arg:"timeout" unit:"s" doc:"ask a silent target after this time whether it is still working"`
	GatherJobTimeout time.Duration `arg:"gather_job_timeout" unit:"s" doc:"how long a silent target may take to respond"`
}

var specs = []fun.Spec{
	{
		Name: "down", Src: "runners/manage.py down", Do: down,
		Doc: "List the targets that do not respond to test.ping.",
	},
	{
		Name: "status", Src: "runners/manage.py status", Do: status,
		Doc: "List the targets that respond to test.ping, and those that do not.",
	},
	{
		Name: "up", Src: "runners/manage.py up", Do: up,
		Doc: "List the targets that respond to test.ping.",
	},
}
