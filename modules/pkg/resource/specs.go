package resource

import "brine/internal/fun"

var pkgsArg = fun.Arg{Name: "pkgs", Type: fun.Dict, Required: true, Doc: "mapping of names to lists of versions, which is changed"}

var normalizeArg = fun.Arg{Name: "normalize", Type: fun.Bool, Default: true, Doc: "strip the architecture of the machine from names"}

var specs = []fun.Spec{
	{
		Name: "add_pkg", Doc: "Add a version of a package to a mapping.", Src: "modules/pkg_resource.py add_pkg", Fn: addPkg,
		Args: []fun.Arg{
			pkgsArg,
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package"},
			{Name: "pkgver", Type: fun.Str | fun.None, Required: true, Doc: "version to add"},
		},
	},
	{
		Name: "check_extra_requirements", Doc: "Report whether an installed package meets requirements that only its package manager knows.", Src: "modules/pkg_resource.py check_extra_requirements", Fn: checkExtraRequirements,
		Args: []fun.Arg{
			{Name: "pkgname", Type: fun.Str, Required: true, Doc: "name of the package"},
			{Name: "pkgver", Type: fun.Str | fun.None, Required: true, Doc: "version with the requirements"},
		},
	},
	{
		Name: "format_pkg_list", Doc: "Format packages as the function list_pkgs of providers does.", Src: "modules/pkg_resource.py format_pkg_list", Fn: formatPkgList,
		Args: []fun.Arg{
			{Name: "packages", Type: fun.Dict, Required: true, Doc: "mapping of names to lists of mappings with epoch, version, release and more"},
			{Name: "versions_as_list", Type: fun.Bool | fun.None, Required: true, Doc: "return lists of versions rather than text"},
			{Name: "attr", Type: fun.Commas | fun.None, Required: true, Doc: "attributes to return in place of versions, or all"},
		},
	},
	{
		Name: "format_version", Doc: "Join epoch, version and release.", Src: "modules/pkg_resource.py format_version", Fn: formatVersion,
		Args: []fun.Arg{
			{Name: "epoch", Type: fun.Str | fun.None, Required: true, Doc: "the epoch, or an empty string"},
			{Name: "version", Type: fun.Str | fun.None, Required: true, Doc: "the version"},
			{Name: "release", Type: fun.Str | fun.None, Required: true, Doc: "the release, or an empty string"},
		},
	},
	{
		Name: "pack_sources", Doc: "Make one mapping of a list of mappings of a name to a package file.", Src: "modules/pkg_resource.py pack_sources", Fn: packSources,
		Args: []fun.Arg{
			{Name: "sources", Type: fun.List, Required: true, Doc: "the list, or text that is one"},
			normalizeArg,
		},
	},
	{
		Name: "parse_targets", Doc: "Return which packages the arguments of pkg.install mean, and where they come from.", Src: "modules/pkg_resource.py parse_targets", Fn: parseTargets,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the package, or several with commas between them"},
			{Name: "pkgs", Type: fun.List, Doc: "names, or mappings of a name to a version"},
			{Name: "sources", Type: fun.List, Doc: "mappings of a name to a package file"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of salt:// URLs"},
			normalizeArg,
			{Name: "version", Type: fun.Str, KwOnly: true, Doc: "version of name"},
		},
	},
	{
		Name: "sort_pkglist", Doc: "Sort the versions of packages in a mapping and drop doubles.", Src: "modules/pkg_resource.py sort_pkglist", Fn: sortPkglist,
		Args: []fun.Arg{pkgsArg},
	},
	{
		Name: "stringify", Doc: "Join the versions of packages in a mapping to text.", Src: "modules/pkg_resource.py stringify", Fn: stringify,
		Args: []fun.Arg{pkgsArg},
	},
	{
		Name: "version", Doc: "Return the installed version of a package, or an empty string.\nFor several packages, or a name with *, a mapping is returned.", Src: "modules/pkg_resource.py version", Fn: version,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{{Name: "versions_as_list", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return lists of versions rather than text"}},
	},
	{
		Name: "version_clean", Doc: "Strip from a version what only its package manager needs.", Src: "modules/pkg_resource.py version_clean", Fn: versionClean,
		Args: []fun.Arg{{Name: "verstr", Type: fun.Any, Required: true, Doc: "the version"}},
	},
	{
		Name: "version_compare", Doc: "Compare two versions as the package manager does.", Src: "modules/pkg_resource.py version_compare", Fn: versionCompare,
		Args: []fun.Arg{
			{Name: "ver1", Type: fun.Str | fun.None, Required: true, Doc: "a version"},
			{Name: "oper", Type: fun.Str, Required: true, Doc: "one of ==, !=, >=, <=, > and <"},
			{Name: "ver2", Type: fun.Str | fun.None, Required: true, Doc: "another version"},
			{Name: "ignore_epoch", Type: fun.Bool, Default: false, Doc: "ignore the epochs"},
		},
	},
}
