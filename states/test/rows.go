package test

import "brine/internal/fun"

// keys is a key of the pillar or a list of keys.
const keys = fun.Str | fun.List

var (
	successArgs = []fun.Arg{{Name: "comment", Default: "Success!", Doc: "comment of the return"}}
	failureArgs = []fun.Arg{{Name: "comment", Default: "Failure!", Doc: "comment of the return"}}
)

var specs = []fun.Spec{
	{
		Name: "check_pillar", State: checkPillar, Src: "states/test.py check_pillar",
		Doc: "Check that pillar keys exist and have a given type.",
		Args: []fun.Arg{
			{Name: "present", Type: keys, Doc: "pillar key or keys that must exist; a:b is b in a"},
			{Name: "boolean", Type: keys, Doc: "pillar key or keys whose value must be True or False"},
			{Name: "integer", Type: keys, Doc: "pillar key or keys whose value must be an integer"},
			{Name: "string", Type: keys, Doc: "pillar key or keys whose value must be text"},
			{Name: "listing", Type: keys, Doc: "pillar key or keys whose value must be a list"},
			{Name: "dictionary", Type: keys, Doc: "pillar key or keys whose value must be a mapping"},
			{Name: "verbose", Type: fun.Bool, Default: false, Doc: "list the keys that passed too"},
		},
	},
	{
		Name: "configurable_test_state", State: configurable, Always: true, Src: "states/test.py configurable_test_state",
		Doc: "Return the given changes, result and comment.",
		Args: []fun.Arg{
			{Name: "changes", Default: true, Doc: "whether to report changes: True, False or Random"},
			{Name: "result", Default: true, Doc: "result: True, False or Random"},
			{Name: "comment", Default: "", Doc: "comment of the return"},
			{Name: "warnings", Doc: "warning or list of warnings of the return"},
		},
	},
	{
		Name: "fail_with_changes", State: failWithChanges, Always: true, VarKw: true, Src: "states/test.py fail_with_changes", Args: failureArgs,
		Doc: "Fail and report changes.",
	},
	{
		Name: "fail_without_changes", State: failWithoutChanges, Always: true, VarKw: true, Src: "states/test.py fail_without_changes", Args: failureArgs,
		Doc: "Fail and report no changes.",
	},
	{
		Name: "nop", State: nop, VarKw: true, Src: "states/test.py nop",
		Doc: "Do nothing, successfully. Any arguments are accepted.",
	},
	{
		Name: "show_notification", State: showNotification, VarKw: true, Src: "states/test.py show_notification",
		Doc:  "Show a text as the comment.",
		Args: []fun.Arg{{Name: "text", Doc: "text to show; required"}},
	},
	{
		Name: "succeed_with_changes", State: succeedWithChanges, Always: true, VarKw: true, Src: "states/test.py succeed_with_changes", Args: successArgs,
		Doc: "Succeed and report changes.",
	},
	{
		Name: "succeed_without_changes", State: succeedWithoutChanges, VarKw: true, Src: "states/test.py succeed_without_changes", Args: successArgs,
		Doc: "Succeed and report no changes.",
	},
}
