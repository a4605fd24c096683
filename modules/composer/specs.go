package composer

import "brine/internal/fun"

var (
	program = fun.Arg{Name: "composer", Type: fun.Path, Doc: "path of composer.phar; default: the program composer"}
	php     = fun.Arg{Name: "php", Type: fun.Path, Doc: "PHP that runs composer.phar"}
	runas   = fun.Arg{Name: "runas", Type: fun.Str, Doc: "account that runs composer"}
	quiet   = fun.Arg{Name: "quiet", Type: fun.Bool, Default: false, Doc: "return True instead of what composer prints"}
	home    = fun.Arg{Name: "composer_home", Type: fun.Path, Default: "/root", Doc: "directory of composer's own files"}

	of = []fun.Arg{
		{Name: "directory", Type: fun.Path, Required: true, Doc: "directory of composer.json"},
		program, php, runas,
		{Name: "prefer_source", Type: fun.Bool, Doc: "get packages from their repositories"},
		{Name: "prefer_dist", Type: fun.Bool, Doc: "get packages as archives"},
		{Name: "no_scripts", Type: fun.Bool, Doc: "do not run the scripts of composer.json"},
		{Name: "no_plugins", Type: fun.Bool, Doc: "do not use plugins"},
		{Name: "optimize", Type: fun.Bool, Doc: "make a fast autoloader"},
		{Name: "no_dev", Type: fun.Bool, Doc: "leave out what only development needs"},
		quiet, home,
		{Name: "env", Type: fun.Dict | fun.List, Doc: "environment variables"},
	}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "did_composer_install", Doc: "Return whether a directory has dependencies that were installed.", Src: "modules/composer.py did_composer_install", Fn: didComposerInstall,
		Args: []fun.Arg{{Name: "dir", Type: fun.Path, Required: true, Doc: "directory of composer.json"}},
	},
	{
		Name: "install", Doc: "Install the dependencies of a project.", Src: "modules/composer.py install", Fn: install,
		Args: of,
	},
	{
		Name: "selfupdate", Doc: "Update composer itself.", Src: "modules/composer.py selfupdate", Fn: selfupdate,
		Args: []fun.Arg{program, php, runas, quiet, home},
	},
	{
		Name: "update", Doc: "Update the dependencies of a project, or install them.", Src: "modules/composer.py update", Fn: update,
		Args: of,
	},
}
