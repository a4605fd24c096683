package cmd

import (
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// runArgs are the arguments of run, and of wait and watch, which run stands in
// for. Blank ones go on to cmd.run_all: see runKw.
type runArgs struct {
	_             string        `arg:"name,required" doc:"command to run"`
	Cwd           string        `arg:"cwd,path" doc:"working directory; default: the home directory of the user"`
	_             string        `arg:"root,path" doc:"directory to chroot into"`
	_             string        `arg:"runas" doc:"user to run as"`
	_             string        `arg:"shell" doc:"shell; default: the grain shell"`
	Env           value.Value   `arg:"env" doc:"environment variables, as a mapping or a list of mappings"`
	_             string        `arg:"prepend_path" doc:"directory to prepend to PATH"`
	Stateful      value.Value   `arg:"stateful" default:"False" doc:"read result and changes from the last line of output; [{test_name: COMMAND}] sets the command for test mode"`
	_             string        `arg:"output_loglevel" default:"debug" doc:"quiet: output is not shown while it runs; output is never logged"`
	_             bool          `arg:"hide_output" default:"False" doc:"omit the output from the return"`
	_             time.Duration `arg:"timeout" unit:"s" doc:"kill the command after this time"`
	IgnoreTimeout bool          `arg:"ignore_timeout" default:"False" doc:"start the command, do not wait for it and succeed"`
	_             bool          `arg:"use_vt" default:"False" doc:"accepted; output is not shown while it runs"`
	_             value.Value   `arg:"success_retcodes,list[int]|comma[int]" doc:"exit statuses that count as success"`
	_             value.Value   `arg:"success_stdout,comma[str]" doc:"outputs that count as success"`
	_             value.Value   `arg:"success_stderr,comma[str]" doc:"error outputs that count as success"`
	_             bool          `arg:"python_shell" default:"True" doc:"run the command in a shell; otherwise its words are run as they are"`
	_             string        `arg:"group" doc:"primary group to run with"`
	_             string        `arg:"umask,mode" doc:"umask, in octal"`
	_             string        `arg:"stdin" doc:"standard input of the command"`
	_             bool          `arg:"clean_env" default:"False" doc:"do not pass on brine's own environment"`
	_             string        `arg:"template" doc:"template engine that renders the command first"`
	_             bool          `arg:"bg" default:"False" doc:"start the command and do not wait for it"`
	_             bool          `arg:"rstrip" default:"True" doc:"strip whitespace from the end of the output"`
	_             bool          `arg:"reset_system_locale" default:"True" doc:"run with the locale C"`
	_             bool          `arg:"ignore_retcode" default:"False" doc:"accepted; as in Salt the state still fails"`
	_             string        `arg:"password,secret" doc:"Windows only"`
	_             fun.Kwargs
}

// scriptArgs are the arguments of script and wait_script. Blank ones go on to
// cmd.script: see runKw.
type scriptArgs struct {
	_        string        `arg:"name,required" doc:"script and its arguments; with source a label"`
	Source   string        `arg:"source" doc:"script: a salt:// or web URL, or a path"`
	_        string        `arg:"template" doc:"template engine that renders the script first"`
	Args     string        `arg:"args" doc:"arguments of the script"`
	Context  value.Value   `arg:"context" doc:"template variables; they override defaults"`
	Defaults value.Value   `arg:"defaults" doc:"default template variables"`
	Cwd      string        `arg:"cwd,path" doc:"working directory; default: the home directory of the user"`
	_        string        `arg:"runas" doc:"user to run as"`
	_        string        `arg:"shell" doc:"shell; default: the grain shell"`
	Env      value.Value   `arg:"env" doc:"environment variables, as a mapping or a list of mappings"`
	Stateful value.Value   `arg:"stateful" default:"False" doc:"read result and changes from the last line of output; [{test_name: COMMAND}] sets the command for test mode"`
	_        string        `arg:"output_loglevel" default:"debug" doc:"quiet: output is not shown while it runs; output is never logged"`
	_        bool          `arg:"hide_output" default:"False" doc:"omit the output from the return"`
	_        time.Duration `arg:"timeout" unit:"s" doc:"kill the script after this time"`
	_        bool          `arg:"use_vt" default:"False" doc:"accepted; output is not shown while it runs"`
	_        value.Value   `arg:"success_retcodes,list[int]|comma[int]" doc:"exit statuses that count as success"`
	_        value.Value   `arg:"success_stdout,comma[str]" doc:"outputs that count as success"`
	_        value.Value   `arg:"success_stderr,comma[str]" doc:"error outputs that count as success"`
	_        string        `arg:"group" doc:"primary group to run with"`
	_        string        `arg:"umask,mode" doc:"umask, in octal"`
	_        string        `arg:"stdin" doc:"standard input of the script"`
	_        bool          `arg:"bg" default:"False" doc:"start the script and do not wait for it"`
	_        bool          `arg:"reset_system_locale" default:"True" doc:"run with the locale C"`
	_        bool          `arg:"ignore_retcode" default:"False" doc:"accepted; as in Salt the state still fails"`
	_        string        `arg:"password,secret" doc:"Windows only"`
	_        fun.Kwargs
}

// calledArgs are the arguments of call and wait_call.
type calledArgs struct {
	_    fun.Arguments
	_    string        `arg:"name,required" doc:"label of the state"`
	Func string        `arg:"func,required" doc:"execution function to call"`
	Args []value.Value `arg:"args" doc:"positional arguments of the function"`
	Kws  *value.Map    `arg:"kws" doc:"keyword arguments of the function"`
	_    string        `arg:"output_loglevel" default:"debug" doc:"accepted without effect; output is not logged"`
	_    bool          `arg:"hide_output" default:"False" doc:"accepted without effect"`
	_    bool          `arg:"use_vt" default:"False" doc:"accepted without effect"`
}

// callArgs are the arguments of call.
type callArgs struct {
	calledArgs
	_ fun.Kwargs
}

// waitCallArgs are the arguments of wait_call.
type waitCallArgs struct {
	calledArgs
	_ value.Value `arg:"stateful" default:"False" doc:"accepted without effect"`
	_ fun.Kwargs
}

var specs = []fun.Spec{
	{
		Name: "call", Always: true, Do: call, Src: "states/cmd.py call",
		Doc: "Call an execution function and return its result as the state's.",
	},
	{
		Name: "run", Always: true, Do: run, Src: "states/cmd.py run",
		Doc: "Run a command.",
	},
	{
		Name: "script", Always: true, Do: script, Src: "states/cmd.py script",
		Doc: "Run a script of the file server or of this machine.",
	},
	{
		Name: "wait", Do: waits[runArgs], Src: "states/cmd.py wait",
		Doc: "Run a command only if a watched state changed.",
	},
	{
		Name: "wait_call", Do: waits[waitCallArgs], Src: "states/cmd.py wait_call",
		Doc: "Call an execution function only if a watched state changed.",
	},
	{
		Name: "wait_script", Do: waits[scriptArgs], Src: "states/cmd.py wait_script",
		Doc: "Run a script only if a watched state changed.",
	},
	{
		Name: "watch", Do: waits[runArgs], Src: "states/cmd.py watch",
		Doc: "Run a command only if a watched state changed; same as wait.",
	},
}
