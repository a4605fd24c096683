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
		Name: "versions", Src: "runners/manage.py versions", Do: versions,
		Doc: "Return the version of each target, by how it compares to that of this controller.\n" +
			"The version is that of Salt: for hosts over SSH the one that brine is compatible with, which differs only where another agent runs; for minions of Salt masters that of the minion.\n" +
			"Targets that do not respond are offline. Those that respond with something else are listed as of unknown version, without it.",
	},
	{
		Name: "up", Src: "runners/manage.py up", Do: up,
		Doc: "List the targets that respond to test.ping.",
	},
}

// presenceSpecs returns the rows of the names that Salt has for what it knows of
// connections. There are none without a master, so that targets are asked.
func presenceSpecs() []fun.Spec {
	var rows []fun.Spec
	for _, name := range []string{"list_state", "present", "joined", "allowed", "alived", "reaped"} {
		rows = append(rows, fun.Spec{
			Name: name, Src: "runners/manage.py " + name, Do: present,
			Doc: "List the targets that respond, like manage.up.\nDifference: Salt lists the minions that are connected to the master; here the targets are asked.",
		})
	}
	for _, name := range []string{"list_not_state", "not_present", "not_joined", "not_allowed", "not_alived", "not_reaped"} {
		rows = append(rows, fun.Spec{
			Name: name, Src: "runners/manage.py " + name, Do: absent,
			Doc: "List the targets that do not respond, like manage.down.\nDifference: Salt lists the minions that are not connected to the master; here the targets are asked.",
		})
	}
	return rows
}
