package cmd

import (
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type sourceArg struct {
	_      fun.Arguments
	Source string `arg:"source,required,path" doc:"the script: salt://, http(s):// or a path"`
}

type programArg struct {
	_   fun.Arguments
	Cmd string `arg:"cmd,required" doc:"the program"`
}

type cwdArg struct {
	_   fun.Arguments
	Cwd string `arg:"cwd,path" doc:"working directory; default: the home directory of the user"`
}

func (a *cwdArg) dir() string { return a.Cwd }

// The groups of arguments that say how a command is run: Salt's functions have them
// in different orders. Umask and timeout take any value, so that what is wrong with
// them is said in Salt's words.

// common are the arguments of all functions that run a command or a script.
type common interface {
	dir() string
	input() string
	user() *userArgs
	inShell() fun.Opt[bool]
	vars() value.Value
	engine() string
	mask() string
	hidden() bool
	quiet() bool
	limit() *timeoutArgs
	fileEnv() string
	background() bool
	success() *successArgs
}

// ofCommand are the arguments of functions that run a command.
type ofCommand interface {
	common
	clean() bool
	prepend() string
	strip() bool
}

// ofOne are those of functions that run one command in the usual way.
type ofOne interface {
	ofCommand
	command() value.Value
	ignored() bool
	raises() bool
}

// ofScript are the arguments of functions that run a script.
type ofScript interface {
	common
	script() *scriptArgs
	templateVars() *contextArgs
}

type cmdArgs struct {
	Cmd value.Value `arg:"cmd,required,str|list" doc:"the command; a list is its words"`
	cwdArg
}

func (a *cmdArgs) command() value.Value { return a.Cmd }

type scriptArgs struct {
	sourceArg
	Args string `arg:"args" doc:"arguments of the script"`
	cwdArg
}

func (a *scriptArgs) script() *scriptArgs { return a }

type stdinArgs struct {
	_     fun.Arguments
	Stdin string `arg:"stdin" doc:"text for standard input; a backslash and n is a newline unless stdin_raw_newlines is given"`
}

func (a *stdinArgs) input() string { return a.Stdin }

type userArgs struct {
	_     fun.Arguments
	RunAs string `arg:"runas" doc:"user to run as"`
	Group string `arg:"group" doc:"primary group to run with"`
	Shell string `arg:"shell" doc:"shell; default: the grain shell"`
}

func (a *userArgs) user() *userArgs { return a }

type pythonShellArgs struct {
	_           fun.Arguments
	PythonShell fun.Opt[bool] `arg:"python_shell" doc:"run in the shell; default: true from the command line, false from templates"`
}

func (a *pythonShellArgs) inShell() fun.Opt[bool] { return a.PythonShell }

type envArgs struct {
	_   fun.Arguments
	Env value.Value `arg:"env" doc:"environment variables, a mapping or a list of mappings"`
}

func (a *envArgs) vars() value.Value { return a.Env }

type cleanEnvArgs struct {
	_        fun.Arguments
	CleanEnv bool `arg:"clean_env" default:"False" doc:"do not pass on the environment of brine"`
}

func (a *cleanEnvArgs) clean() bool { return a.CleanEnv }

type templateArgs struct {
	_        fun.Arguments
	Template string `arg:"template" doc:"engine that renders the command or script first, such as jinja"`
}

func (a *templateArgs) engine() string { return a.Template }

type rstripArgs struct {
	_      fun.Arguments
	Rstrip bool `arg:"rstrip" default:"True" doc:"strip white space from the end of the output"`
}

func (a *rstripArgs) strip() bool { return a.Rstrip }

type umaskArgs struct {
	_     fun.Arguments
	Umask string `arg:"umask,any" doc:"umask in octal digits"`
}

func (a *umaskArgs) mask() string { return a.Umask }

type logArgs struct {
	_     fun.Arguments
	_     string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	Level string      `arg:"output_loglevel" default:"debug" doc:"quiet: output is not shown while it runs; output is never logged"`
	_     value.Value `arg:"log_callback" doc:"accepted; output is not logged"`
}

func (a *logArgs) quiet() bool { return strings.EqualFold(a.Level, "quiet") }

type hideArgs struct {
	_          fun.Arguments
	HideOutput bool `arg:"hide_output" default:"False" doc:"return empty output"`
}

func (a *hideArgs) hidden() bool { return a.HideOutput }

type timeoutArgs struct {
	_                 fun.Arguments
	Timeout           value.Value `arg:"timeout" unit:"s" doc:"stop the command after this time"`
	ResetSystemLocale bool        `arg:"reset_system_locale" default:"True" doc:"run with the locale C"`
}

func (a *timeoutArgs) limit() *timeoutArgs { return a }

type ignoreArgs struct {
	_             fun.Arguments
	IgnoreRetcode bool `arg:"ignore_retcode" default:"False" doc:"a status other than 0 is not a failure"`
}

func (a *ignoreArgs) ignored() bool { return a.IgnoreRetcode }

type saltenvArgs struct {
	_       fun.Arguments
	SaltEnv string `arg:"saltenv" doc:"environment of the template or script"`
}

func (a *saltenvArgs) fileEnv() string { return a.SaltEnv }

type vtArgs struct {
	_ fun.Arguments
	_ bool `arg:"use_vt" default:"False" doc:"accepted; output is returned at the end"`
}

type bgArgs struct {
	_          fun.Arguments
	Background bool `arg:"bg" default:"False" doc:"start the command and do not wait"`
}

func (a *bgArgs) background() bool { return a.Background }

type passwordArgs struct {
	_ fun.Arguments
	_ string `arg:"password,secret" doc:"accepted; only used on Windows"`
}

type encodedArgs struct {
	_ fun.Arguments
	_ bool `arg:"encoded_cmd" default:"False" doc:"accepted; only used by PowerShell"`
}

type raiseArgs struct {
	_        fun.Arguments
	RaiseErr bool `arg:"raise_err" default:"False" doc:"a status other than 0 is an error"`
}

func (a *raiseArgs) raises() bool { return a.RaiseErr }

type prependArgs struct {
	_           fun.Arguments
	PrependPath string `arg:"prepend_path,path" doc:"directory to prepend to PATH"`
}

func (a *prependArgs) prepend() string { return a.PrependPath }

type successArgs struct {
	_               fun.Arguments
	SuccessRetcodes []value.Value `arg:"success_retcodes,comma[str]" doc:"statuses that count as success"`
	SuccessStdout   []string      `arg:"success_stdout,comma[str]" doc:"outputs that count as success"`
	SuccessStderr   []string      `arg:"success_stderr,comma[str]" doc:"error outputs that count as success"`
}

func (a *successArgs) success() *successArgs { return a }

type contextArgs struct {
	_        fun.Arguments
	Context  *value.Map `arg:"context" doc:"variables of the template"`
	Defaults *value.Map `arg:"defaults" doc:"variables of the template; context takes precedence"`
}

func (a *contextArgs) templateVars() *contextArgs { return a }

type codeArgs struct {
	_    fun.Arguments
	Lang string      `arg:"lang,required" doc:"interpreter, such as python3"`
	Code string      `arg:"code,required" doc:"the program"`
	Cwd  value.Value `arg:"cwd,path" doc:"working directory"`
	Args []string    `arg:"args" doc:"arguments of the program"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "exec_code", Doc: "Run code with an interpreter and return its output.", Src: "modules/cmdmod.py exec_code", Of: "cmd.run_all", Do: execCode},
	{
		Name: "exec_code_all", Doc: "Run code with an interpreter and return pid, retcode, stdout and stderr.", Src: "modules/cmdmod.py exec_code_all",
		Of: "cmd.run_all", Do: execCodeAll,
	},
	{Name: "has_exec", Doc: "Return whether a program is in PATH.", Src: "modules/cmdmod.py has_exec", Do: hasExec},
	{
		Name: "retcode", Doc: "Run a command and return its status.", Src: "modules/cmdmod.py retcode",
		Do: retcode,
	},
	{
		Name: "run", Doc: "Run a command and return its output, including stderr.", Src: "modules/cmdmod.py run",
		Do: runOutput,
	},
	{
		Name: "run_all", Doc: "Run a command and return pid, retcode, stdout and stderr.", Src: "modules/cmdmod.py run_all",
		Do: runAll,
	},
	{
		Name: "run_bg", Doc: "Start a command in the background and return its pid.", Src: "modules/cmdmod.py run_bg",
		Do: runBg,
	},
	{
		Name: "run_chroot", Doc: "Run a command in another root directory and return pid, retcode, stdout and stderr.\n/dev, /proc and /sys are mounted there while it runs.", Src: "modules/cmdmod.py run_chroot",
		Do: runChroot,
	},
	{
		Name: "run_stderr", Doc: "Run a command and return its standard error.", Src: "modules/cmdmod.py run_stderr",
		Do: runStderr,
	},
	{
		Name: "run_stdout", Doc: "Run a command and return its standard output.", Src: "modules/cmdmod.py run_stdout",
		Do: runStdout,
	},
	{
		Name: "script", Doc: "Run a script from the file server or this machine.", Src: "modules/cmdmod.py script",
		Do: script,
	},
	{
		Name: "script_retcode", Doc: "Run a script and return its status.", Src: "modules/cmdmod.py script_retcode",
		Do: scriptRetcode,
	},
	{
		Name: "shell", Doc: "Run a command in the shell and return its output.", Src: "modules/cmdmod.py shell",
		Do: shellOutput,
	},
	{
		Name: "shell_info", Doc: "Return whether a shell or interpreter is installed, its path and its version.", Src: "modules/cmdmod.py shell_info", Do: shellInfo,
	},
	{Name: "shells", Doc: "List the shells in /etc/shells.", Src: "modules/cmdmod.py shells", Do: shells},
	{
		Name: "tty", Doc: "Write text to a terminal.", Src: "modules/cmdmod.py tty", Do: tty,
	},
	{Name: "which", Doc: "Return the path of a program, None if it is not found.", Src: "modules/cmdmod.py which", Do: which},
	{
		Name: "which_bin", Doc: "Return the path of the first program that is found.", Src: "modules/cmdmod.py which_bin",
		Do: whichBin,
	},
}
