package pacmanpkg

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type rootArg struct {
	_    fun.Arguments
	Root string `arg:"root,kw,path" doc:"directory of another system"`
}

type dirArg struct {
	_    fun.Arguments
	Root string `arg:"root,path" doc:"directory of another system"`
}

type groupArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the group"`
}

type onceArg struct {
	_       fun.Arguments
	Refresh bool `arg:"refresh" default:"False" doc:"update the databases of packages first"`
}

type onceKw struct {
	_       fun.Arguments
	Refresh bool `arg:"refresh,kw" default:"False" doc:"update the databases of packages first"`
}

type removeArgs struct {
	Name string        `arg:"name" doc:"name of the package, or several with commas between them"`
	Pkgs []value.Value `arg:"pkgs" doc:"names of several packages; name is ignored"`
	rootArg
}

var specs = []fun.Spec{
	{
		Name: "available_version", Doc: "Return the version of a package that can be installed or upgraded to.\nThe same as latest_version.", Src: "modules/pacmanpkg.py available_version", Do: latestVersion,
	},
	{
		Name: "file_dict", Doc: "List the files of packages, by package.\nWithout a name, all packages are listed.", Src: "modules/pacmanpkg.py file_dict", Do: fileDict,
	},
	{
		Name: "file_list", Doc: "List the files of packages.\nWithout a name, the files of all packages are listed.", Src: "modules/pacmanpkg.py file_list", Do: fileList,
	},
	{
		Name: "group_diff", Doc: "List which packages of a group are installed, and which are not.", Src: "modules/pacmanpkg.py group_diff", Do: groupDiff,
	},
	{
		Name: "group_info", Doc: "List the packages of a group.", Src: "modules/pacmanpkg.py group_info", Do: groupInfo,
	},
	{
		Name: "group_list", Doc: "List the groups of packages.", Src: "modules/pacmanpkg.py group_list", Do: groupList,
	},
	{
		Name: "install", Doc: "Install packages, or update them.\nReturns the versions before and after of all packages that changed.", Src: "modules/pacmanpkg.py install", Do: install,
	},
	{
		Name: "latest_version", Doc: "Return the version of a package that can be installed or upgraded to.\nIt is an empty string for a package that is up to date. For several packages, a mapping is returned.", Src: "modules/pacmanpkg.py latest_version", Do: latestVersion,
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions.", Src: "modules/pacmanpkg.py list_pkgs", Do: listPkgs,
	},
	{
		Name: "list_repo_pkgs", Doc: "List the versions that repositories have of packages, newest first.\nWithout a name, all packages are listed. A name may be a pattern.", Src: "modules/pacmanpkg.py list_repo_pkgs", Do: listRepoPkgs,
	},
	{
		Name: "list_upgrades", Doc: "List packages that can be upgraded.", Src: "modules/pacmanpkg.py list_upgrades", Do: listUpgrades,
	},
	{
		Name: "owner", Doc: "Return the package that a file belongs to, or an empty string.\nFor several files, a mapping is returned.", Src: "modules/pacmanpkg.py owner", Do: owner,
	},
	{
		Name: "purge", Doc: "Remove packages, what they depend on and nothing else needs, and what depends on them.", Src: "modules/pacmanpkg.py purge", Do: purge,
	},
	{
		Name: "refresh_db", Doc: "Update the databases of packages.\nReturns by database whether there was something new.", Src: "modules/pacmanpkg.py refresh_db", Do: refreshDB,
	},
	{
		Name: "remove", Doc: "Remove packages.", Src: "modules/pacmanpkg.py remove", Do: remove,
	},
	{
		Name: "upgrade", Doc: "Upgrade all packages.\nReturns the versions before and after of all packages that changed.", Src: "modules/pacmanpkg.py upgrade", Do: upgrade,
	},
	{
		Name: "upgrade_available", Doc: "Report whether a package can be upgraded or installed.", Src: "modules/pacmanpkg.py upgrade_available", Do: upgradeAvailable,
	},
	{
		Name: "version", Doc: "Return the installed version of a package, or an empty string.\nFor several packages, or a name with *, a mapping is returned.", Src: "modules/pacmanpkg.py version", Do: version,
	},
	{
		Name: "version_cmp", Doc: "Compare two versions as pacman does: -1, 0 or 1.\nSalt has this for other package managers.", Src: "modules/aptpkg.py version_cmp", Do: versionCmp,
	},
}
