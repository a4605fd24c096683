package test

import (
	"brine/internal/fun"
)

var hashArgs = []fun.Arg{
	{Name: "size", Type: fun.Int | fun.Float, Default: int64(9999999999), Doc: "the largest number"},
	{Name: "hash_type", Type: fun.Str, Doc: "md5, sha1, sha224, sha256, sha384 or sha512; default: the option hash_type"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "arg", Doc: "Return the arguments as they arrived: args and kwargs.", Src: "modules/test.py arg", VarArg: true, VarKw: true, Raw: true, Fn: arg},
	{Name: "arg_clean", Doc: "Return the arguments as they arrived, without those that start with __.", Src: "modules/test.py arg_clean", VarArg: true, VarKw: true, Raw: true, Fn: argClean},
	{Name: "arg_repr", Doc: "Return the arguments as Python prints them.", Src: "modules/test.py arg_repr", VarArg: true, VarKw: true, Raw: true, Fn: argRepr},
	{Name: "arg_type", Doc: "Return the Python types of the arguments.", Src: "modules/test.py arg_type", VarArg: true, VarKw: true, Raw: true, Fn: argType},
	{
		Name: "assertion", Doc: "Fail unless the argument is true.", Src: "modules/test.py assertion",
		Fn: assertion,
		Args: []fun.Arg{
			{Name: "assertion", Required: true, Doc: "what must be true"},
		},
	},
	{Name: "attr_call", Doc: "Return all grains.", Src: "modules/test.py attr_call", Fn: attrCall},
	{
		Name: "collatz", Doc: "Return the Collatz sequence from a number, and the seconds it took.", Src: "modules/test.py collatz",
		Fn: collatz,
		Args: []fun.Arg{
			{Name: "start", Required: true, Doc: "the first number, at least 1"},
		},
	},
	{Name: "conf_test", Doc: "Return the configuration option test.foo.", Src: "modules/test.py conf_test", Fn: confTest},
	{
		Name: "cross_test", Doc: "Call another execution function.", Src: "modules/test.py cross_test",
		Fn: crossTest,
		Args: []fun.Arg{
			{Name: "func", Type: fun.Str, Required: true, Doc: "the function, such as test.ping"},
			{Name: "args", Type: fun.List, Doc: "its arguments"},
		},
	},
	{Name: "deprecation_warning", Doc: "Return True. (Salt also logs a warning.)", Src: "modules/test.py deprecation_warning", Fn: yes},
	{Name: "echo", Doc: "Return the text.", Src: "modules/test.py echo", Args: []fun.Arg{{Name: "text", Required: true, Doc: "what to return"}}, Fn: echo},
	{Name: "exception", Doc: "Raise an exception.", Src: "modules/test.py exception", Args: []fun.Arg{{Name: "message", Default: "Test Exception", Doc: "its message"}}, Fn: exception},
	{Name: "false", Doc: "Return False.", Src: "modules/test.py false_", Fn: no},
	{Name: "fib", Doc: "Return a Fibonacci number, and the seconds it took.", Src: "modules/test.py fib", Args: []fun.Arg{{Name: "num", Required: true, Doc: "which one, from 0"}}, Fn: fib},
	{Name: "get_opts", Doc: "Return the configuration.", Src: "modules/test.py get_opts", Fn: getOpts},
	{Name: "kwarg", Doc: "Return the keyword arguments as they arrived.", Src: "modules/test.py kwarg", VarKw: true, Fn: kwarg},
	{Name: "module_report", Doc: "Return the available execution modules and functions.", Src: "modules/test.py module_report", Fn: moduleReport},
	{Name: "opts_pkg", Doc: "Return the configuration including the grains.", Src: "modules/test.py opts_pkg", Fn: optsPkg},
	{
		Name: "outputter", Doc: "Return the data, for trying an outputter.", Src: "modules/test.py outputter",
		Fn: outputter,
		Args: []fun.Arg{
			{Name: "data", Required: true, Doc: "what to return"},
		},
	},
	{Name: "ping", Doc: "Return True: the machine can be reached. No ICMP is sent.", Src: "modules/test.py ping", Fn: yes},
	{
		Name: "provider", Doc: "Return which of Salt's files has a module's functions: useradd for user; empty for an unknown module.", Src: "modules/test.py provider",
		Fn: provider,
		Args: []fun.Arg{
			{Name: "module", Type: fun.Str, Required: true, Doc: "the module"},
		},
	},
	{Name: "providers", Doc: "Return which of Salt's files each module stands for.", Src: "modules/test.py providers", Fn: providers},
	{
		Name: "raise_exception", Doc: "Raise a Python exception or one of salt.exceptions by name; return False for an unknown name.", Src: "modules/test.py raise_exception",
		VarArg: true, VarKw: true, Fn: raiseException,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "its name, such as TypeError"},
		},
	},
	{
		Name: "rand_sleep", Doc: "Sleep for a random time, then return True.", Src: "modules/test.py rand_sleep",
		Fn: randSleep,
		Args: []fun.Arg{
			{Name: "max", Type: fun.Int | fun.Float, Default: int64(60), Unit: "s", Doc: "the longest time"},
		},
	},
	{Name: "rand_str", Doc: "Return the hash of a random number; an alias of random_hash.", Src: "modules/test.py rand_str", Args: hashArgs, Fn: randomHash},
	{Name: "random_hash", Doc: "Return the hash of a random number.", Src: "modules/test.py random_hash", Args: hashArgs, Fn: randomHash},
	{
		Name: "retcode", Doc: "Return True with a return code.", Src: "modules/test.py retcode",
		Fn: retcode,
		Args: []fun.Arg{
			{Name: "code", Type: fun.Int | fun.Float, Default: int64(42), Doc: "the code"},
		},
	},
	{
		Name: "sleep", Doc: "Sleep, then return True.", Src: "modules/test.py sleep",
		Fn: sleep,
		Args: []fun.Arg{
			{Name: "length", Type: fun.Int | fun.Float, Required: true, Unit: "s", Doc: "how long"},
		},
	},
	{Name: "true", Doc: "Return True.", Src: "modules/test.py true_", Fn: yes},
	{
		Name: "try", Doc: "Call an execution function; return None if it fails.", Src: "modules/test.py try_",
		VarKw: true, Hands: true, Fn: try,
		Args: []fun.Arg{
			{Name: "module", Type: fun.Str, Required: true, Doc: "the function, such as pkg.version"},
			{Name: "return_try_exception", Type: fun.Bool, Default: false, Doc: "return the error instead of None"},
		},
	},
	{Name: "version", Doc: "Return the version of Salt that brine is compatible with.", Src: "modules/test.py version", Fn: version},
	{Name: "versions", Doc: "Return the versions of Salt, brine's parts and the system as text.", Src: "modules/test.py versions", Fn: versionsReport},
	{Name: "versions_information", Doc: "Return the versions of Salt, brine's parts and the system.", Src: "modules/test.py versions_information", Fn: versionsInformation},
	{Name: "versions_report", Doc: "Return the versions of Salt, brine's parts and the system as text.", Src: "modules/test.py versions_report", Fn: versionsReport},
}
