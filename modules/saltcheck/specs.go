package saltcheck

import "brine/internal/core/fun"

type envArg struct {
	_       fun.Arguments
	Saltenv string `arg:"saltenv" doc:"environment of the states; default: the option saltenv, else base"`
}

type failsArg struct {
	_         fun.Arguments
	OnlyFails bool `arg:"only_fails" default:"False" doc:"return only tests that failed"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "parallel_scheck", Doc: "Run a test that has a name.", Src: "modules/saltcheck.py parallel_scheck", Do: parallelScheck,
	},
	{
		Name: "report_highstate_tests", Doc: "Report which states of the top file have tests.\nThe exit status is not 0 if there are states without tests.", Src: "modules/saltcheck.py report_highstate_tests", Do: reportHighstateTests,
	},
	{
		Name: "run_highstate_tests", Doc: "Run the tests of all states of the top file.", Src: "modules/saltcheck.py run_highstate_tests", Do: runHighstateTests,
	},
	{
		Name: "run_state_tests", Doc: "Run the tests of states, and of the states that they include.\nThe tests of salt://apache/config.sls are in salt://apache/saltcheck-tests/config.tst, those of an init.sls in init.tst. The option saltcheck_test_location names another directory.", Src: "modules/saltcheck.py run_state_tests", Do: runStateTests,
	},
	{
		Name: "run_test", Doc: "Run one test.", Src: "modules/saltcheck.py run_test", Do: runTest,
	},
	{
		Name: "state_apply", Doc: "Apply states, to prepare tests or to clean up.", Src: "modules/saltcheck.py state_apply", Do: stateApply,
		Of: "state.apply",
	},
}
