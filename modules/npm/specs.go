package npm

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "cache_clean", Doc: "Clean the cache of npm.", Src: "modules/npm.py cache_clean", Fn: cacheClean,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Str, Doc: "package or path in the cache"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs npm"},
			{Name: "env", Type: fun.Dict, Doc: "environment variables for npm"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "clean the cache although npm thinks that this is not needed; npm 5 and later want it"},
		},
	},
	{
		Name: "cache_list", Doc: "Return what is in the cache of npm.", Src: "modules/npm.py cache_list", Fn: cacheList,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Str, Doc: "package or path in the cache"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs npm"},
			{Name: "env", Type: fun.Dict, Doc: "environment variables for npm"},
		},
	},
	{
		Name: "cache_path", Doc: "Return the directory of the cache of npm.", Src: "modules/npm.py cache_path", Fn: cachePath,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs npm"},
			{Name: "env", Type: fun.Dict, Doc: "environment variables for npm"},
		},
	},
	{
		Name: "install", Doc: "Install packages and return what npm reports.", Src: "modules/npm.py install", Fn: install,
		Args: []fun.Arg{
			{Name: "pkg", Type: fun.Str, Doc: "package, with name@version for a version"},
			{Name: "pkgs", Type: fun.Strs, Doc: "packages, where no pkg is given"},
			{Name: "dir", Type: fun.Path, Doc: "directory of the project; default: the global packages"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs npm"},
			{Name: "registry", Type: fun.Str, Secret: true, Doc: "URL of the registry"},
			{Name: "env", Type: fun.Dict, Doc: "environment variables for npm"},
			{Name: "dry_run", Type: fun.Bool, Default: false, Doc: "only report what would be installed"},
			{Name: "silent", Type: fun.Bool, Default: true, Doc: "do not let npm show messages"},
		},
	},
	{
		Name: "list", Doc: "Return the installed packages.", Src: "modules/npm.py list", Fn: list,
		Args: []fun.Arg{
			{Name: "pkg", Type: fun.Str, Doc: "package, with name@version for a version"},
			{Name: "dir", Type: fun.Path, Doc: "directory of the project; default: the global packages"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs npm"},
			{Name: "env", Type: fun.Dict, Doc: "environment variables for npm"},
			{Name: "depth", Type: fun.Int, Doc: "how deep dependencies are shown"},
		},
	},
	{
		Name: "uninstall", Doc: "Remove a package.", Src: "modules/npm.py uninstall", Fn: uninstall,
		Args: []fun.Arg{
			{Name: "pkg", Type: fun.Str, Required: true, Doc: "package, with name@version for a version"},
			{Name: "dir", Type: fun.Path, Doc: "directory of the project; default: the global packages"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs npm"},
			{Name: "env", Type: fun.Dict, Doc: "environment variables for npm"},
		},
	},
}
