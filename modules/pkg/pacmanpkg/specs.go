package pacmanpkg

import "brine/internal/fun"

var (
	rootArg  = fun.Arg{Name: "root", Type: fun.Path, KwOnly: true, Doc: "directory of another system"}
	dirArg   = fun.Arg{Name: "root", Type: fun.Path, Doc: "directory of another system"}
	groupArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the group"}
	onceArg  = fun.Arg{Name: "refresh", Type: fun.Bool, Default: false, Doc: "update the databases of packages first"}
	onceKw   = fun.Arg{Name: "refresh", Type: fun.Bool, Default: false, KwOnly: true, Doc: "update the databases of packages first"}

	removeArgs = []fun.Arg{
		{Name: "name", Type: fun.Str, Doc: "name of the package, or several with commas between them"},
		{Name: "pkgs", Type: fun.List, Doc: "names of several packages; name is ignored"},
		rootArg,
	}
)

var specs = []fun.Spec{
	{
		Name: "available_version", Doc: "Return the version of a package that can be installed or upgraded to.\nThe same as latest_version.", Src: "modules/pacmanpkg.py available_version", Fn: latestVersion,
		VarArg: true, VarKw: true, Args: []fun.Arg{onceKw, rootArg},
	},
	{
		Name: "file_dict", Doc: "List the files of packages, by package.\nWithout a name, all packages are listed.", Src: "modules/pacmanpkg.py file_dict", Fn: fileDict,
		VarArg: true, VarKw: true,
	},
	{
		Name: "file_list", Doc: "List the files of packages.\nWithout a name, the files of all packages are listed.", Src: "modules/pacmanpkg.py file_list", Fn: fileList,
		VarArg: true, VarKw: true,
	},
	{
		Name: "group_diff", Doc: "List which packages of a group are installed, and which are not.", Src: "modules/pacmanpkg.py group_diff", Fn: groupDiff,
		Args: []fun.Arg{groupArg},
	},
	{
		Name: "group_info", Doc: "List the packages of a group.", Src: "modules/pacmanpkg.py group_info", Fn: groupInfo,
		Args: []fun.Arg{groupArg},
	},
	{
		Name: "group_list", Doc: "List the groups of packages.", Src: "modules/pacmanpkg.py group_list", Fn: groupList,
	},
	{
		Name: "install", Doc: "Install packages, or update them.\nReturns the versions before and after of all packages that changed.", Src: "modules/pacmanpkg.py install", Fn: install,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the package, or several with commas between them"},
			onceArg,
			{Name: "sysupgrade", Type: fun.Bool, Doc: "upgrade all packages, too; default: only with refresh"},
			{Name: "pkgs", Type: fun.List, Doc: "several packages: names, or mappings of a name to a version; name is ignored"},
			{Name: "sources", Type: fun.List, Doc: "package files: mappings of a name to a path or URL; name is ignored"},
			{Name: "version", Type: fun.Str, KwOnly: true, Doc: "version to install: a version, a pattern such as 1.2*, or comparisons such as >=1.2"},
			{Name: "downloadonly", Type: fun.Bool, Default: false, KwOnly: true, Doc: "only download the packages"},
			{Name: "saltenv", Type: fun.Str, Default: "base", KwOnly: true, Doc: "environment of salt:// URLs"},
			rootArg,
		},
	},
	{
		Name: "latest_version", Doc: "Return the version of a package that can be installed or upgraded to.\nIt is an empty string for a package that is up to date. For several packages, a mapping is returned.", Src: "modules/pacmanpkg.py latest_version", Fn: latestVersion,
		VarArg: true, VarKw: true, Args: []fun.Arg{onceKw, rootArg},
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions.", Src: "modules/pacmanpkg.py list_pkgs", Fn: listPkgs,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "versions_as_list", Type: fun.Bool, Default: false, Doc: "return lists of versions rather than text"},
			{Name: "removed", Type: fun.Bool, Default: false, KwOnly: true, Doc: "list removed packages instead, of which pacman knows none"},
			{Name: "purge_desired", Type: fun.Bool, Default: false, KwOnly: true, Doc: "list packages to be purged instead, of which pacman knows none"},
			rootArg,
		},
	},
	{
		Name: "list_repo_pkgs", Doc: "List the versions that repositories have of packages, newest first.\nWithout a name, all packages are listed. A name may be a pattern.", Src: "modules/pacmanpkg.py list_repo_pkgs", Fn: listRepoPkgs,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{
			{Name: "fromrepo", Type: fun.Commas, KwOnly: true, Doc: "use only these repositories"},
			{Name: "byrepo", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return a mapping for each repository"},
			onceKw,
		},
	},
	{
		Name: "list_upgrades", Doc: "List packages that can be upgraded.", Src: "modules/pacmanpkg.py list_upgrades", Fn: listUpgrades,
		VarKw: true, Args: []fun.Arg{onceArg, dirArg},
	},
	{
		Name: "owner", Doc: "Return the package that a file belongs to, or an empty string.\nFor several files, a mapping is returned.", Src: "modules/pacmanpkg.py owner", Fn: owner,
		VarArg: true, VarKw: true,
	},
	{
		Name: "purge", Doc: "Remove packages, what they depend on and nothing else needs, and what depends on them.", Src: "modules/pacmanpkg.py purge", Fn: purge,
		VarKw: true, Args: removeArgs,
	},
	{
		Name: "refresh_db", Doc: "Update the databases of packages.\nReturns by database whether there was something new.", Src: "modules/pacmanpkg.py refresh_db", Fn: refreshDB,
		VarKw: true, Args: []fun.Arg{dirArg},
	},
	{
		Name: "remove", Doc: "Remove packages.", Src: "modules/pacmanpkg.py remove", Fn: remove,
		VarKw: true, Args: removeArgs,
	},
	{
		Name: "upgrade", Doc: "Upgrade all packages.\nReturns the versions before and after of all packages that changed.", Src: "modules/pacmanpkg.py upgrade", Fn: upgrade,
		VarKw: true, Args: []fun.Arg{onceArg, dirArg},
	},
	{
		Name: "upgrade_available", Doc: "Report whether a package can be upgraded or installed.", Src: "modules/pacmanpkg.py upgrade_available", Fn: upgradeAvailable,
		VarKw: true,
		Args:  []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package"}, onceKw},
	},
	{
		Name: "version", Doc: "Return the installed version of a package, or an empty string.\nFor several packages, or a name with *, a mapping is returned.", Src: "modules/pacmanpkg.py version", Fn: version,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{{Name: "versions_as_list", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return lists of versions rather than text"}},
	},
	{
		Name: "version_cmp", Doc: "Compare two versions as pacman does: -1, 0 or 1.\nSalt has this for other package managers.", Src: "modules/aptpkg.py version_cmp", Fn: versionCmp,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "pkg1", Type: fun.Str | fun.None, Required: true, Doc: "a version"},
			{Name: "pkg2", Type: fun.Str | fun.None, Required: true, Doc: "another version"},
			{Name: "ignore_epoch", Type: fun.Bool, Default: false, Doc: "ignore the epochs"},
		},
	},
}
