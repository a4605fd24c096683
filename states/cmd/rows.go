package cmd

import "brine/internal/fun"

// statuses and outputs are lists, or text with commas.
const (
	statuses = fun.Ints | fun.Comma
	outputs  = fun.Commas
)

// runArgs are the arguments of run, and of wait and watch, which run stands in
// for.
var runArgs = []fun.Arg{
	{Name: "name", Type: fun.Str, Required: true, Doc: "command to run"},
	{Name: "cwd", Type: fun.Path, Doc: "working directory; default: the home directory of the user"},
	{Name: "root", Type: fun.Path, Doc: "directory to chroot into"},
	{Name: "runas", Type: fun.Str, Doc: "user to run as"},
	{Name: "shell", Type: fun.Str, Doc: "shell; default: the grain shell"},
	{Name: "env", Doc: "environment variables, as a mapping or a list of mappings"},
	{Name: "prepend_path", Type: fun.Str, Doc: "directory to prepend to PATH"},
	{Name: "stateful", Default: false, Doc: "read result and changes from the last line of output; [{test_name: COMMAND}] sets the command for test mode"},
	{Name: "output_loglevel", Type: fun.Str, Default: "debug", Doc: "accepted without effect; output is not logged"},
	{Name: "hide_output", Type: fun.Bool, Default: false, Doc: "omit the output from the return"},
	{Name: "timeout", Type: fun.Duration, Unit: "s", Doc: "kill the command after this time"},
	{Name: "ignore_timeout", Type: fun.Bool, Default: false, Doc: "start the command, do not wait for it and succeed"},
	{Name: "use_vt", Type: fun.Bool, Default: false, Doc: "accepted without effect; output is shown at the end"},
	{Name: "success_retcodes", Type: statuses, Doc: "exit statuses that count as success"},
	{Name: "success_stdout", Type: outputs, Doc: "outputs that count as success"},
	{Name: "success_stderr", Type: outputs, Doc: "error outputs that count as success"},
	{Name: "python_shell", Type: fun.Bool, Default: true, Doc: "run the command in a shell; otherwise its words are run as they are"},
	{Name: "group", Type: fun.Str, Doc: "primary group to run with"},
	{Name: "umask", Type: fun.Mode, Doc: "umask, in octal"},
	{Name: "stdin", Type: fun.Str, Doc: "standard input of the command"},
	{Name: "clean_env", Type: fun.Bool, Default: false, Doc: "do not pass on brine's own environment"},
	{Name: "template", Type: fun.Str, Doc: "template engine that renders the command first"},
	{Name: "bg", Type: fun.Bool, Default: false, Doc: "start the command and do not wait for it"},
	{Name: "rstrip", Type: fun.Bool, Default: true, Doc: "strip whitespace from the end of the output"},
	{Name: "reset_system_locale", Type: fun.Bool, Default: true, Doc: "run with the locale C"},
	{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "accepted; as in Salt the state still fails"},
	{Name: "password", Type: fun.Str, Secret: true, Doc: "Windows only"},
}

// scriptArgs are the arguments of script and wait_script.
var scriptArgs = []fun.Arg{
	{Name: "name", Type: fun.Str, Required: true, Doc: "script and its arguments; with source a label"},
	{Name: "source", Type: fun.Str, Doc: "script: a salt:// or web URL, or a path"},
	{Name: "template", Type: fun.Str, Doc: "template engine that renders the script first"},
	{Name: "args", Type: fun.Str, Doc: "arguments of the script"},
	{Name: "context", Doc: "template variables; they override defaults"},
	{Name: "defaults", Doc: "default template variables"},
	{Name: "cwd", Type: fun.Path, Doc: "working directory; default: the home directory of the user"},
	{Name: "runas", Type: fun.Str, Doc: "user to run as"},
	{Name: "shell", Type: fun.Str, Doc: "shell; default: the grain shell"},
	{Name: "env", Doc: "environment variables, as a mapping or a list of mappings"},
	{Name: "stateful", Default: false, Doc: "read result and changes from the last line of output; [{test_name: COMMAND}] sets the command for test mode"},
	{Name: "output_loglevel", Type: fun.Str, Default: "debug", Doc: "accepted without effect; output is not logged"},
	{Name: "hide_output", Type: fun.Bool, Default: false, Doc: "omit the output from the return"},
	{Name: "timeout", Type: fun.Duration, Unit: "s", Doc: "kill the script after this time"},
	{Name: "use_vt", Type: fun.Bool, Default: false, Doc: "accepted without effect; output is shown at the end"},
	{Name: "success_retcodes", Type: statuses, Doc: "exit statuses that count as success"},
	{Name: "success_stdout", Type: outputs, Doc: "outputs that count as success"},
	{Name: "success_stderr", Type: outputs, Doc: "error outputs that count as success"},
	{Name: "group", Type: fun.Str, Doc: "primary group to run with"},
	{Name: "umask", Type: fun.Mode, Doc: "umask, in octal"},
	{Name: "stdin", Type: fun.Str, Doc: "standard input of the script"},
	{Name: "bg", Type: fun.Bool, Default: false, Doc: "start the script and do not wait for it"},
	{Name: "reset_system_locale", Type: fun.Bool, Default: true, Doc: "run with the locale C"},
	{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "accepted; as in Salt the state still fails"},
	{Name: "password", Type: fun.Str, Secret: true, Doc: "Windows only"},
}

// callArgs are the arguments of call and wait_call.
var callArgs = []fun.Arg{
	{Name: "name", Type: fun.Str, Required: true, Doc: "label of the state"},
	{Name: "func", Type: fun.Str, Required: true, Doc: "execution function to call"},
	{Name: "args", Type: fun.List, Doc: "positional arguments of the function"},
	{Name: "kws", Type: fun.Dict, Doc: "keyword arguments of the function"},
	{Name: "output_loglevel", Type: fun.Str, Default: "debug", Doc: "accepted without effect; output is not logged"},
	{Name: "hide_output", Type: fun.Bool, Default: false, Doc: "accepted without effect"},
	{Name: "use_vt", Type: fun.Bool, Default: false, Doc: "accepted without effect"},
}

var specs = []fun.Spec{
	{
		Name: "call", VarKw: true, Always: true, State: call, Src: "states/cmd.py call", Args: callArgs,
		Doc: "Call an execution function and return its result as the state's.",
	},
	{
		Name: "run", VarKw: true, Always: true, State: run, Src: "states/cmd.py run", Args: runArgs,
		Doc: "Run a command.",
	},
	{
		Name: "script", VarKw: true, Always: true, State: script, Src: "states/cmd.py script", Args: scriptArgs,
		Doc: "Run a script of the file server or of this machine.",
	},
	{
		Name: "wait", VarKw: true, State: waits, Src: "states/cmd.py wait", Args: runArgs,
		Doc: "Run a command only if a watched state changed.",
	},
	{
		Name: "wait_call", VarKw: true, State: waits, Src: "states/cmd.py wait_call",
		Doc: "Call an execution function only if a watched state changed.",
		Shared: [][]fun.Arg{callArgs, {
			{Name: "stateful", Default: false, Doc: "accepted without effect"},
		}},
	},
	{
		Name: "wait_script", VarKw: true, State: waits, Src: "states/cmd.py wait_script", Args: scriptArgs,
		Doc: "Run a script only if a watched state changed.",
	},
	{
		Name: "watch", VarKw: true, State: waits, Src: "states/cmd.py watch", Args: runArgs,
		Doc: "Run a command only if a watched state changed; same as wait.",
	},
}
