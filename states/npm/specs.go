package npm

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "bootstrap", Doc: "Make sure that the packages that package.json of a directory names are installed.", Src: "states/npm.py bootstrap", Do: bootstrap,
	},
	{
		Name: "cache_cleaned", Doc: "Clean the cache of npm, or remove a package from it.", Src: "states/npm.py cache_cleaned", Do: cacheCleaned,
	},
	{
		Name: "installed", Doc: "Make sure that packages are installed.", Src: "states/npm.py installed", Do: installed,
	},
	{
		Name: "removed", Doc: "Make sure that a package is not installed.", Src: "states/npm.py removed", Do: removed,
	},
}
