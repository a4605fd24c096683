package saltcheck

import "brine/internal/fun"

var (
	envArg   = fun.Arg{Name: "saltenv", Type: fun.Str, Doc: "environment of the states; default: the option saltenv, else base"}
	failsArg = fun.Arg{Name: "only_fails", Type: fun.Bool, Default: false, Doc: "return only tests that failed"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "parallel_scheck", Doc: "Run a test that has a name.", Src: "modules/saltcheck.py parallel_scheck", Fn: parallelScheck,
		Args: []fun.Arg{{Name: "data", Type: fun.List, Required: true, Doc: "list of the name and the test"}},
	},
	{
		Name: "report_highstate_tests", Doc: "Report which states of the top file have tests.\nThe exit status is not 0 if there are states without tests.", Src: "modules/saltcheck.py report_highstate_tests", Fn: reportHighstateTests,
		Args: []fun.Arg{envArg},
	},
	{
		Name: "run_highstate_tests", Doc: "Run the tests of all states of the top file.", Src: "modules/saltcheck.py run_highstate_tests", Fn: runHighstateTests,
		Args: []fun.Arg{envArg, failsArg},
	},
	{
		Name: "run_state_tests", Doc: "Run the tests of states, and of the states that they include.\nThe tests of salt://apache/config.sls are in salt://apache/saltcheck-tests/config.tst, those of an init.sls in init.tst. The option saltcheck_test_location names another directory.", Src: "modules/saltcheck.py run_state_tests", Fn: runStateTests,
		Args: []fun.Arg{
			{Name: "state", Type: fun.Commas, Required: true, Doc: "names of states, or of tests without a state"},
			envArg,
			{Name: "check_all", Type: fun.Bool, Default: false, Doc: "run all tests of the directories"},
			failsArg,
		},
	},
	{
		Name: "run_test", Doc: "Run one test.", Src: "modules/saltcheck.py run_test", Fn: runTest,
		VarKw: true,
		Args:  []fun.Arg{{Name: "test", Type: fun.Any, KwOnly: true, Doc: "the test, a mapping"}},
	},
	{
		Name: "state_apply", Doc: "Apply states, to prepare tests or to clean up. The arguments are those of state.apply.", Src: "modules/saltcheck.py state_apply", Fn: stateApply,
		VarKw: true, Hands: true,
		Args: []fun.Arg{{Name: "state_name", Type: fun.Str, Required: true, Doc: "names of states, with commas between them"}},
	},
}
