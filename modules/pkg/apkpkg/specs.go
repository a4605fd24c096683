package apkpkg

import "brine/internal/fun"

var (
	nameArg    = fun.Arg{Name: "name", Type: fun.Str, Doc: "name of the package, or several with commas between them"}
	pkgsArg    = fun.Arg{Name: "pkgs", Type: fun.List, Doc: "several packages: names, or mappings of a name to a version; name is ignored"}
	refreshArg = fun.Arg{Name: "refresh", Type: fun.Bool, Default: true, Doc: "update the index of packages first"}
	refreshKw  = fun.Arg{Name: "refresh", Type: fun.Bool, Default: true, KwOnly: true, Doc: "update the index of packages first"}
)

var specs = []fun.Spec{
	{
		Name: "file_dict", Doc: "List the files of packages, by package.", Src: "modules/apkpkg.py file_dict", Fn: fileDict,
		VarArg: true, VarKw: true,
	},
	{
		Name: "file_list", Doc: "List the files of packages, by package.\nThe same as file_dict.", Src: "modules/apkpkg.py file_list", Fn: fileDict,
		VarArg: true, VarKw: true,
	},
	{
		Name: "install", Doc: "Install packages, or update them.\nReturns the versions before and after of all packages that changed.", Src: "modules/apkpkg.py install", Fn: install,
		VarKw: true,
		Args: []fun.Arg{
			nameArg,
			{Name: "refresh", Type: fun.Bool, Default: false, Doc: "update the index of packages first"},
			pkgsArg,
			{Name: "sources", Type: fun.List, Doc: "package files: mappings of a name to a path or URL; name is ignored"},
			{Name: "version", Type: fun.Str, KwOnly: true, Doc: "version to install, or comparisons such as >=1.2; apk keeps to it in upgrades"},
			{Name: "skip_verify", Type: fun.Bool, Default: false, KwOnly: true, Doc: "do not check signatures"},
			{Name: "saltenv", Type: fun.Str, Default: "base", KwOnly: true, Doc: "environment of salt:// URLs"},
		},
	},
	{
		Name: "latest_version", Doc: "Return the version of a package that can be installed or upgraded to.\nIt is an empty string for a package that is up to date. For several packages, a mapping is returned.", Src: "modules/apkpkg.py latest_version", Fn: latestVersion,
		VarArg: true, VarKw: true, Args: []fun.Arg{refreshKw},
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions.", Src: "modules/apkpkg.py list_pkgs", Fn: listPkgs,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "versions_as_list", Type: fun.Bool, Default: false, Doc: "return lists of versions rather than text"},
			{Name: "removed", Type: fun.Bool, Default: false, KwOnly: true, Doc: "list removed packages instead, of which apk knows none"},
			{Name: "purge_desired", Type: fun.Bool, Default: false, KwOnly: true, Doc: "list packages to be purged instead, of which apk knows none"},
		},
	},
	{
		Name: "list_upgrades", Doc: "List packages that can be upgraded.", Src: "modules/apkpkg.py list_upgrades", Fn: listUpgrades,
		VarKw: true, Args: []fun.Arg{refreshArg},
	},
	{
		Name: "owner", Doc: "Return the packages that files belong to, by file.", Src: "modules/apkpkg.py owner", Fn: owner,
		VarArg: true, VarKw: true,
	},
	{
		Name: "purge", Doc: "Remove packages and their configuration files.", Src: "modules/apkpkg.py purge", Fn: purge,
		VarKw: true, Args: []fun.Arg{nameArg, pkgsArg},
	},
	{
		Name: "refresh_db", Doc: "Update the index of packages.", Src: "modules/apkpkg.py refresh_db", Fn: refreshDB,
		VarKw: true,
	},
	{
		Name: "remove", Doc: "Remove packages.", Src: "modules/apkpkg.py remove", Fn: remove,
		VarKw: true,
		Args:  []fun.Arg{nameArg, pkgsArg, {Name: "purge", Type: fun.Bool, Default: false, Doc: "remove their configuration files, too"}},
	},
	{
		Name: "upgrade", Doc: "Upgrade all packages, or some.\nReturns a mapping of changes, result and comment.", Src: "modules/apkpkg.py upgrade", Fn: upgrade,
		VarKw: true, Args: []fun.Arg{nameArg, pkgsArg, refreshArg},
	},
	{
		Name: "version", Doc: "Return the installed version of a package, or an empty string.\nFor several packages, or a name with *, a mapping is returned.", Src: "modules/apkpkg.py version", Fn: version,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{{Name: "versions_as_list", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return lists of versions rather than text"}},
	},
	{
		Name: "version_cmp", Doc: "Compare two versions as apk does: -1, 0 or 1.\nSalt has this for other package managers.", Src: "modules/aptpkg.py version_cmp", Fn: versionCmp,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "pkg1", Type: fun.Str | fun.None, Required: true, Doc: "a version"},
			{Name: "pkg2", Type: fun.Str | fun.None, Required: true, Doc: "another version"},
			{Name: "ignore_epoch", Type: fun.Bool, Default: false, Doc: "has no effect: versions of apk have no epoch"},
		},
	},
}
