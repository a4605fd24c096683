package composer

import "brine/internal/fun"

// of are the arguments that both functions have before always_check.
var of = []fun.Arg{
	{Name: "name", Type: fun.Path, Required: true, Doc: "directory of composer.json"},
	{Name: "composer", Type: fun.Path, Doc: "path of composer.phar; default: the program composer"},
	{Name: "php", Type: fun.Path, Doc: "PHP that runs composer.phar"},
	{Name: "user", Type: fun.Str, Doc: "account that runs composer"},
	{Name: "prefer_source", Type: fun.Bool, Doc: "get packages from their repositories"},
	{Name: "prefer_dist", Type: fun.Bool, Doc: "get packages as archives"},
	{Name: "no_scripts", Type: fun.Bool, Doc: "do not run the scripts of composer.json"},
	{Name: "no_plugins", Type: fun.Bool, Doc: "do not use plugins"},
	{Name: "optimize", Type: fun.Bool, Doc: "make a fast autoloader"},
	{Name: "no_dev", Type: fun.Bool, Doc: "leave out what only development needs"},
	{Name: "quiet", Type: fun.Bool, Default: false, Doc: "do not report what composer prints as changes"},
	{Name: "composer_home", Type: fun.Path, Default: "/root", Doc: "directory of composer's own files"},
}

var env = []fun.Arg{{Name: "env", Type: fun.Dict | fun.List, Doc: "environment variables"}}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "installed", Doc: "Make sure that the dependencies of a PHP project are installed.", Src: "states/composer.py installed", State: installed,
		Shared: [][]fun.Arg{of, {{Name: "always_check", Type: fun.Bool, Default: true, Doc: "run composer; if false, only where nothing was installed yet"}}, env},
	},
	{
		Name: "update", Doc: "Make sure that the dependencies of a PHP project are at their newest versions.", Src: "states/composer.py update", State: update,
		Shared: [][]fun.Arg{of, env},
	},
}
