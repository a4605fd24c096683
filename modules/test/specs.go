package test

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type hashArgs struct {
	_        fun.Arguments
	Size     value.Value `arg:"size,int|float" default:"9999999999" doc:"the largest number"`
	HashType string      `arg:"hash_type" doc:"md5, sha1, sha224, sha256, sha384 or sha512; default: the option hash_type"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "arg", Doc: "Return the arguments as they arrived: args and kwargs.", Src: "modules/test.py arg", Raw: true, Do: arg},
	{Name: "arg_clean", Doc: "Return the arguments as they arrived, without those that start with __.", Src: "modules/test.py arg_clean", Raw: true, Do: argClean},
	{Name: "arg_repr", Doc: "Return the arguments as Python prints them.", Src: "modules/test.py arg_repr", Raw: true, Do: argRepr},
	{Name: "arg_type", Doc: "Return the Python types of the arguments.", Src: "modules/test.py arg_type", Raw: true, Do: argType},
	{
		Name: "assertion", Doc: "Fail unless the argument is true.", Src: "modules/test.py assertion",
		Do: assertion,
	},
	{Name: "attr_call", Doc: "Return all grains.", Src: "modules/test.py attr_call", Do: attrCall},
	{
		Name: "collatz", Doc: "Return the Collatz sequence from a number, and the seconds it took.", Src: "modules/test.py collatz",
		Do: collatz,
	},
	{Name: "conf_test", Doc: "Return the configuration option test.foo.", Src: "modules/test.py conf_test", Do: confTest},
	{
		Name: "cross_test", Doc: "Call another execution function.", Src: "modules/test.py cross_test",
		Do: crossTest,
	},
	{Name: "deprecation_warning", Doc: "Return True. (Salt also logs a warning.)", Src: "modules/test.py deprecation_warning", Do: yes},
	{Name: "echo", Doc: "Return the text.", Src: "modules/test.py echo", Do: echo},
	{Name: "exception", Doc: "Raise an exception.", Src: "modules/test.py exception", Do: exception},
	{Name: "false", Doc: "Return False.", Src: "modules/test.py false_", Do: no},
	{Name: "fib", Doc: "Return a Fibonacci number, and the seconds it took.", Src: "modules/test.py fib", Do: fib},
	{Name: "get_opts", Doc: "Return the configuration.", Src: "modules/test.py get_opts", Do: getOpts},
	{Name: "kwarg", Doc: "Return the keyword arguments as they arrived.", Src: "modules/test.py kwarg", Do: kwarg},
	{Name: "module_report", Doc: "Return the available execution modules and functions.", Src: "modules/test.py module_report", Do: moduleReport},
	{Name: "opts_pkg", Doc: "Return the configuration including the grains.", Src: "modules/test.py opts_pkg", Do: optsPkg},
	{
		Name: "outputter", Doc: "Return the data, for trying an outputter.", Src: "modules/test.py outputter",
		Do: outputter,
	},
	{Name: "ping", Doc: "Return True: the machine can be reached. No ICMP is sent.", Src: "modules/test.py ping", Do: yes},
	{
		Name: "provider", Doc: "Return which of Salt's files has a module's functions: useradd for user; empty for an unknown module.", Src: "modules/test.py provider",
		Do: provider,
	},
	{Name: "providers", Doc: "Return which of Salt's files each module stands for.", Src: "modules/test.py providers", Do: providers},
	{
		Name: "raise_exception", Doc: "Raise a Python exception or one of salt.exceptions by name; return False for an unknown name.", Src: "modules/test.py raise_exception",
		Do: raiseException,
	},
	{
		Name: "rand_sleep", Doc: "Sleep for a random time, then return True.", Src: "modules/test.py rand_sleep",
		Do: randSleep,
	},
	{Name: "rand_str", Doc: "Return the hash of a random number; an alias of random_hash.", Src: "modules/test.py rand_str", Do: randomHash},
	{Name: "random_hash", Doc: "Return the hash of a random number.", Src: "modules/test.py random_hash", Do: randomHash},
	{
		Name: "retcode", Doc: "Return True with a return code.", Src: "modules/test.py retcode",
		Do: retcode,
	},
	{
		Name: "sleep", Doc: "Sleep, then return True.", Src: "modules/test.py sleep",
		Do: sleep,
	},
	{Name: "true", Doc: "Return True.", Src: "modules/test.py true_", Do: yes},
	{
		Name: "try", Doc: "Call an execution function; return None if it fails.\nFurther arguments are those of the function.", Src: "modules/test.py try_",
		Hands: true, Do: try,
	},
	{Name: "version", Doc: "Return the version of Salt that brine is compatible with.", Src: "modules/test.py version", Do: version},
	{Name: "versions", Doc: "Return the versions of Salt, brine's parts and the system as text.", Src: "modules/test.py versions", Do: versionsReport},
	{Name: "versions_information", Doc: "Return the versions of Salt, brine's parts and the system.", Src: "modules/test.py versions_information", Do: versionsInformation},
	{Name: "versions_report", Doc: "Return the versions of Salt, brine's parts and the system as text.", Src: "modules/test.py versions_report", Do: versionsReport},
}
