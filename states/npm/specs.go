package npm

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "bootstrap", Doc: "Make sure that the packages that package.json of a directory names are installed.", Src: "states/npm.py bootstrap", State: bootstrap,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "directory of the project"},
			{Name: "user", Type: fun.Str, Doc: "account that runs npm"},
			{Name: "silent", Type: fun.Bool, Default: true, Doc: "do not let npm show messages"},
		},
	},
	{
		Name: "cache_cleaned", Doc: "Clean the cache of npm, or remove a package from it.", Src: "states/npm.py cache_cleaned", State: cacheCleaned,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str | fun.None, Doc: "package; None is the whole cache"},
			{Name: "user", Type: fun.Str, Doc: "account that runs npm"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "clean the cache although npm thinks that this is not needed; npm 5 and later want it"},
		},
	},
	{
		Name: "installed", Doc: "Make sure that packages are installed.", Src: "states/npm.py installed", State: installed,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "package, with name@version for a version"},
			{Name: "pkgs", Type: fun.Strs, Doc: "packages, instead of the name"},
			{Name: "dir", Type: fun.Path, Doc: "directory of the project; default: the global packages"},
			{Name: "user", Type: fun.Str, Doc: "account that runs npm"},
			{Name: "force_reinstall", Type: fun.Bool, Default: false, Doc: "install packages that are installed, too"},
			{Name: "registry", Type: fun.Str, Secret: true, Doc: "URL of the registry"},
			{Name: "env", Type: fun.Dict, Doc: "environment variables for npm"},
		},
	},
	{
		Name: "removed", Doc: "Make sure that a package is not installed.", Src: "states/npm.py removed", State: removed,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package"},
			{Name: "dir", Type: fun.Path, Doc: "directory of the project; default: the global packages"},
			{Name: "user", Type: fun.Str, Doc: "account that runs npm"},
		},
	},
}
