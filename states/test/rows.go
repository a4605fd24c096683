package test

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type successArgs struct {
	_       fun.Arguments
	Comment value.Value `arg:"comment" default:"'Success!'" doc:"comment of the return"`
}

type failureArgs struct {
	_       fun.Arguments
	Comment value.Value `arg:"comment" default:"'Failure!'" doc:"comment of the return"`
}

var specs = []fun.Spec{
	{
		Name: "check_pillar", Do: checkPillar, Src: "states/test.py check_pillar",
		Doc: "Check that pillar keys exist and have a given type.",
	},
	{
		Name: "configurable_test_state", Do: configurable, Always: true, Src: "states/test.py configurable_test_state",
		Doc: "Return the given changes, result and comment.",
	},
	{
		Name: "fail_with_changes", Do: failWithChanges, Always: true, Src: "states/test.py fail_with_changes", Doc: "Fail and report changes.",
	},
	{
		Name: "fail_without_changes", Do: failWithoutChanges, Always: true, Src: "states/test.py fail_without_changes", Doc: "Fail and report no changes.",
	},
	{
		Name: "nop", Do: nop, Src: "states/test.py nop",
		Doc: "Do nothing, successfully. Any arguments are accepted.",
	},
	{
		Name: "show_notification", Do: showNotification, Src: "states/test.py show_notification",
		Doc: "Show a text as the comment.",
	},
	{
		Name: "succeed_with_changes", Do: succeedWithChanges, Always: true, Src: "states/test.py succeed_with_changes", Doc: "Succeed and report changes.",
	},
	{
		Name: "succeed_without_changes", Do: succeedWithoutChanges, Src: "states/test.py succeed_without_changes", Doc: "Succeed and report no changes.",
	},
}
