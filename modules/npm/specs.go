package npm

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "cache_clean", Doc: "Clean the cache of npm.", Src: "modules/npm.py cache_clean", Do: cacheClean,
	},
	{
		Name: "cache_list", Doc: "Return what is in the cache of npm.", Src: "modules/npm.py cache_list", Do: cacheList,
	},
	{
		Name: "cache_path", Doc: "Return the directory of the cache of npm.", Src: "modules/npm.py cache_path", Do: cachePath,
	},
	{
		Name: "install", Doc: "Install packages and return what npm reports.", Src: "modules/npm.py install", Do: install,
	},
	{
		Name: "list", Doc: "Return the installed packages.", Src: "modules/npm.py list", Do: list,
	},
	{
		Name: "uninstall", Doc: "Remove a package.", Src: "modules/npm.py uninstall", Do: uninstall,
	},
}
