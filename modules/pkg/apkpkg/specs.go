package apkpkg

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name" doc:"name of the package, or several with commas between them"`
}

type pkgsArg struct {
	_    fun.Arguments
	Pkgs []value.Value `arg:"pkgs" doc:"several packages: names, or mappings of a name to a version; name is ignored"`
}

type refreshArg struct {
	_       fun.Arguments
	Refresh bool `arg:"refresh" default:"True" doc:"refresh the repositories first"`
}

var specs = []fun.Spec{
	{
		Name: "file_dict", Doc: "List the files of packages, by package.", Src: "modules/apkpkg.py file_dict", Do: fileDict,
	},
	{
		Name: "file_list", Doc: "List the files of packages, by package.\nThe same as file_dict.", Src: "modules/apkpkg.py file_list", Do: fileDict,
	},
	{
		Name: "install", Doc: "Install packages, or update them.\nReturns the versions before and after of all packages that changed.", Src: "modules/apkpkg.py install", Do: install,
	},
	{
		Name: "latest_version", Doc: "Return the version of a package that can be installed or upgraded to.\nIt is an empty string for a package that is up to date. For several packages, a mapping is returned.", Src: "modules/apkpkg.py latest_version", Do: latestVersion,
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions.", Src: "modules/apkpkg.py list_pkgs", Do: listPkgs,
	},
	{
		Name: "list_upgrades", Doc: "List packages that can be upgraded.", Src: "modules/apkpkg.py list_upgrades", Do: listUpgrades,
	},
	{
		Name: "owner", Doc: "Return the packages that files belong to, by file.", Src: "modules/apkpkg.py owner", Do: owner,
	},
	{
		Name: "purge", Doc: "Remove packages and their configuration files.", Src: "modules/apkpkg.py purge", Do: purge,
	},
	{
		Name: "refresh_db", Doc: "Update the index of packages.", Src: "modules/apkpkg.py refresh_db", Do: refreshDB,
	},
	{
		Name: "remove", Doc: "Remove packages.", Src: "modules/apkpkg.py remove", Do: remove,
	},
	{
		Name: "upgrade", Doc: "Upgrade all packages, or some.\nReturns a mapping of changes, result and comment.", Src: "modules/apkpkg.py upgrade", Do: upgrade,
	},
	{
		Name: "version", Doc: "Return the installed version of a package, or an empty string.\nFor several packages, or a name with *, a mapping is returned.", Src: "modules/apkpkg.py version", Do: version,
	},
	{
		Name: "version_cmp", Doc: "Compare two versions as apk does: -1, 0 or 1.\nSalt has this for other package managers.", Src: "modules/aptpkg.py version_cmp", Do: versionCmp,
	},
}
