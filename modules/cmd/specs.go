package cmd

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	sourceArg  = fun.Arg{Name: "source", Type: fun.Path, Required: true, Doc: "the script: salt://, http(s):// or a path"}
	programArg = fun.Arg{Name: "cmd", Type: fun.Str, Required: true, Doc: "the program"}
	cwdArg     = fun.Arg{Name: "cwd", Type: fun.Path, Doc: "working directory; default: the home directory of the user"}
)

// The groups of arguments that say how a command is run: Salt's functions have them
// in different orders. Umask and timeout take any value, so that what is wrong with
// them is said in Salt's words.
var cmdArgs = []fun.Arg{
	{Name: "cmd", Type: fun.Str | fun.List, Required: true, Doc: "the command; a list is its words"},
	cwdArg,
}

var scriptArgs = []fun.Arg{
	sourceArg,
	{Name: "args", Type: fun.Str, Doc: "arguments of the script"},
	cwdArg,
}

var stdinArgs = []fun.Arg{
	{Name: "stdin", Type: fun.Str, Doc: "text for standard input; a backslash and n is a newline unless stdin_raw_newlines is given"},
}

var userArgs = []fun.Arg{
	{Name: "runas", Type: fun.Str, Doc: "user to run as"},
	{Name: "group", Type: fun.Str, Doc: "primary group to run with"},
	{Name: "shell", Type: fun.Str, Doc: "shell; default: the grain shell"},
}

var pythonShellArgs = []fun.Arg{
	{Name: "python_shell", Type: fun.Bool, Doc: "run in the shell; default: true from the command line, false from templates"},
}

var envArgs = []fun.Arg{
	{Name: "env", Doc: "environment variables, a mapping or a list of mappings"},
}

var cleanEnvArgs = []fun.Arg{
	{Name: "clean_env", Type: fun.Bool, Default: false, Doc: "do not pass on the environment of brine"},
}

var templateArgs = []fun.Arg{
	{Name: "template", Type: fun.Str, Doc: "engine that renders the command or script first, such as jinja"},
}

var jinjaArgs = []fun.Arg{
	{Name: "template", Type: fun.Str, Default: "jinja", Doc: "engine that renders the script first"},
}

var rstripArgs = []fun.Arg{
	{Name: "rstrip", Type: fun.Bool, Default: true, Doc: "strip white space from the end of the output"},
}

var umaskArgs = []fun.Arg{
	{Name: "umask", Doc: "umask in octal digits"},
}

var logArgs = []fun.Arg{
	{Name: "output_encoding", Type: fun.Str, Doc: "accepted; output is UTF-8"},
	{Name: "output_loglevel", Type: fun.Str, Default: "debug", Doc: "accepted; output is not logged"},
	{Name: "log_callback", Doc: "accepted; output is not logged"},
}

var hideArgs = []fun.Arg{
	{Name: "hide_output", Type: fun.Bool, Default: false, Doc: "return empty output"},
}

var timeoutArgs = []fun.Arg{
	{Name: "timeout", Unit: "s", Doc: "stop the command after this time"},
	{Name: "reset_system_locale", Type: fun.Bool, Default: true, Doc: "run with the locale C"},
}

var ignoreArgs = []fun.Arg{
	{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "a status other than 0 is not a failure"},
}

var saltenvArgs = []fun.Arg{
	{Name: "saltenv", Type: fun.Str, Doc: "environment of the template or script"},
}

var vtArgs = []fun.Arg{
	{Name: "use_vt", Type: fun.Bool, Default: false, Doc: "accepted; output is returned at the end"},
}

var bgArgs = []fun.Arg{
	{Name: "bg", Type: fun.Bool, Default: false, Doc: "start the command and do not wait"},
}

var redirectArgs = []fun.Arg{
	{Name: "redirect_stderr", Type: fun.Bool, Default: false, Doc: "send stderr to stdout"},
}

var passwordArgs = []fun.Arg{
	{Name: "password", Type: fun.Str, Doc: "accepted; only used on Windows", Secret: true},
}

var encodedArgs = []fun.Arg{
	{Name: "encoded_cmd", Type: fun.Bool, Default: false, Doc: "accepted; only used by PowerShell"},
}

var raiseArgs = []fun.Arg{
	{Name: "raise_err", Type: fun.Bool, Default: false, Doc: "a status other than 0 is an error"},
}

var prependArgs = []fun.Arg{
	{Name: "prepend_path", Type: fun.Path, Doc: "directory to prepend to PATH"},
}

var successArgs = []fun.Arg{
	{Name: "success_retcodes", Type: fun.Commas, Doc: "statuses that count as success"},
	{Name: "success_stdout", Type: fun.Commas, Doc: "outputs that count as success"},
	{Name: "success_stderr", Type: fun.Commas, Doc: "error outputs that count as success"},
}

var contextArgs = []fun.Arg{
	{Name: "context", Type: fun.Dict, Doc: "variables of the template"},
	{Name: "defaults", Type: fun.Dict, Doc: "variables of the template; context takes precedence"},
}

var codeArgs = []fun.Arg{
	{Name: "lang", Type: fun.Str, Required: true, Doc: "interpreter, such as python3"},
	{Name: "code", Type: fun.Str, Required: true, Doc: "the program"},
	{Name: "cwd", Type: fun.Path, Doc: "working directory"},
	{Name: "args", Type: fun.Strs, Doc: "arguments of the program"},
}

var chrootArgs = []fun.Arg{
	{Name: "root", Type: fun.Path, Required: true, Doc: "the root directory"},
	{Name: "cmd", Type: fun.Str | fun.List, Required: true, Doc: "the command; a list is its words"},
	{Name: "cwd", Type: fun.Path, Doc: "working directory of chroot(8); the command starts in the root directory"},
}

var bindsArgs = []fun.Arg{
	{Name: "binds", Type: fun.Strs, Doc: "directories to mount at the same place in the root directory"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "exec_code", Doc: "Run code with an interpreter and return its output.", Src: "modules/cmdmod.py exec_code", VarKw: true, Hands: true, Args: codeArgs, Fn: execCode},
	{
		Name: "exec_code_all", Doc: "Run code with an interpreter and return pid, retcode, stdout and stderr.", Src: "modules/cmdmod.py exec_code_all",
		VarKw: true, Hands: true, Args: codeArgs, Fn: execCodeAll,
	},
	{Name: "has_exec", Doc: "Return whether a program is in PATH.", Src: "modules/cmdmod.py has_exec", Args: []fun.Arg{programArg}, Fn: hasExec},
	{
		Name: "retcode", Doc: "Run a command and return its status.", Src: "modules/cmdmod.py retcode",
		VarKw: true, Args: cmdArgs, Shared: [][]fun.Arg{stdinArgs, userArgs, pythonShellArgs, envArgs, cleanEnvArgs, templateArgs, umaskArgs, logArgs, timeoutArgs, ignoreArgs, saltenvArgs, vtArgs, passwordArgs, successArgs, rstripArgs, hideArgs, bgArgs, encodedArgs, raiseArgs, prependArgs}, Fn: retcode,
	},
	{
		Name: "run", Doc: "Run a command and return its output, including stderr.", Src: "modules/cmdmod.py run",
		VarKw: true, Args: cmdArgs, Shared: [][]fun.Arg{stdinArgs, userArgs, pythonShellArgs, envArgs, cleanEnvArgs, templateArgs, rstripArgs, umaskArgs, logArgs, hideArgs, timeoutArgs, ignoreArgs, saltenvArgs, vtArgs, bgArgs, passwordArgs, encodedArgs, raiseArgs, prependArgs, successArgs}, Fn: runOutput,
	},
	{
		Name: "run_all", Doc: "Run a command and return pid, retcode, stdout and stderr.", Src: "modules/cmdmod.py run_all",
		VarKw: true, Args: cmdArgs, Shared: [][]fun.Arg{stdinArgs, userArgs, pythonShellArgs, envArgs, cleanEnvArgs, templateArgs, rstripArgs, umaskArgs, logArgs, hideArgs, timeoutArgs, ignoreArgs, saltenvArgs, vtArgs, redirectArgs, passwordArgs, encodedArgs, prependArgs, successArgs, bgArgs, raiseArgs}, Fn: runAll,
	},
	{
		Name: "run_bg", Doc: "Start a command in the background and return its pid.", Src: "modules/cmdmod.py run_bg",
		VarKw: true, Args: cmdArgs, Shared: [][]fun.Arg{userArgs, pythonShellArgs, envArgs, cleanEnvArgs, templateArgs, umaskArgs, timeoutArgs, logArgs, ignoreArgs, saltenvArgs, passwordArgs, prependArgs, successArgs, stdinArgs, rstripArgs, hideArgs, vtArgs, bgArgs, encodedArgs, raiseArgs}, Fn: runBg,
	},
	{
		Name: "run_chroot", Doc: "Run a command in another root directory and return pid, retcode, stdout and stderr.\n/dev, /proc and /sys are mounted there while it runs.", Src: "modules/cmdmod.py run_chroot",
		VarKw: true, Args: chrootArgs, Shared: [][]fun.Arg{stdinArgs, userArgs, pythonShellArgs, bindsArgs, envArgs, cleanEnvArgs, templateArgs, rstripArgs, umaskArgs, logArgs, hideArgs, timeoutArgs, ignoreArgs, saltenvArgs, vtArgs, bgArgs, successArgs, prependArgs}, Fn: runChroot,
	},
	{
		Name: "run_stderr", Doc: "Run a command and return its standard error.", Src: "modules/cmdmod.py run_stderr",
		VarKw: true, Args: cmdArgs, Shared: [][]fun.Arg{stdinArgs, userArgs, pythonShellArgs, envArgs, cleanEnvArgs, templateArgs, rstripArgs, umaskArgs, logArgs, hideArgs, timeoutArgs, ignoreArgs, saltenvArgs, vtArgs, passwordArgs, prependArgs, successArgs, bgArgs, encodedArgs, raiseArgs}, Fn: runStderr,
	},
	{
		Name: "run_stdout", Doc: "Run a command and return its standard output.", Src: "modules/cmdmod.py run_stdout",
		VarKw: true, Args: cmdArgs, Shared: [][]fun.Arg{stdinArgs, userArgs, pythonShellArgs, envArgs, cleanEnvArgs, templateArgs, rstripArgs, umaskArgs, logArgs, hideArgs, timeoutArgs, ignoreArgs, saltenvArgs, vtArgs, passwordArgs, prependArgs, successArgs, bgArgs, encodedArgs, raiseArgs}, Fn: runStdout,
	},
	{
		Name: "script", Doc: "Run a script from the file server or this machine.", Src: "modules/cmdmod.py script",
		VarKw: true, Args: scriptArgs, Shared: [][]fun.Arg{stdinArgs, userArgs, pythonShellArgs, envArgs, templateArgs, umaskArgs, logArgs, hideArgs, timeoutArgs, saltenvArgs, vtArgs, bgArgs, passwordArgs, successArgs, contextArgs, ignoreArgs}, Fn: script,
	},
	{
		Name: "script_retcode", Doc: "Run a script and return its status.", Src: "modules/cmdmod.py script_retcode",
		VarKw: true, Args: scriptArgs, Shared: [][]fun.Arg{stdinArgs, userArgs, pythonShellArgs, envArgs, jinjaArgs, umaskArgs, timeoutArgs, saltenvArgs, logArgs, vtArgs, passwordArgs, successArgs, hideArgs, bgArgs, contextArgs, ignoreArgs}, Fn: scriptRetcode,
	},
	{
		Name: "shell", Doc: "Run a command in the shell and return its output.", Src: "modules/cmdmod.py shell",
		VarKw: true, Args: cmdArgs, Shared: [][]fun.Arg{stdinArgs, userArgs, envArgs, cleanEnvArgs, templateArgs, rstripArgs, umaskArgs, logArgs, hideArgs, timeoutArgs, ignoreArgs, saltenvArgs, vtArgs, bgArgs, passwordArgs, prependArgs, successArgs, pythonShellArgs, encodedArgs, raiseArgs}, Fn: shellOutput,
	},
	{
		Name: "shell_info", Doc: "Return whether a shell or interpreter is installed, its path and its version.", Src: "modules/cmdmod.py shell_info", Fn: shellInfo,
		Args: []fun.Arg{
			{Name: "shell", Type: fun.Str, Required: true, Doc: "bash, perl, php, powershell, python, ruby, tcsh or zsh"},
			{Name: "list_modules", Type: fun.Bool, Default: false, Doc: "accepted; only used by PowerShell"},
		},
	},
	{Name: "shells", Doc: "List the shells in /etc/shells.", Src: "modules/cmdmod.py shells", Fn: shells},
	{
		Name: "tty", Doc: "Write text to a terminal.", Src: "modules/cmdmod.py tty", Fn: tty,
		Args: []fun.Arg{
			{Name: "device", Type: fun.Str, Required: true, Doc: "name of the terminal, such as tty0 or pts3"},
			{Name: "echo", Default: "", Doc: "the text"},
		},
	},
	{Name: "which", Doc: "Return the path of a program, None if it is not found.", Src: "modules/cmdmod.py which", Args: []fun.Arg{programArg}, Fn: which},
	{
		Name: "which_bin", Doc: "Return the path of the first program that is found.", Src: "modules/cmdmod.py which_bin",
		Fn: whichBin,
		Args: []fun.Arg{
			{Name: "cmds", Type: fun.Strs, Required: true, Doc: "the programs"},
		},
	},
}
