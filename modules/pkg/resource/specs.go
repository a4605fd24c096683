package resource

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type pkgsArg struct {
	_    fun.Arguments
	Pkgs *value.Map `arg:"pkgs,required" doc:"mapping of names to lists of versions, which is changed"`
}

type normalizeArg struct {
	_         fun.Arguments
	Normalize bool `arg:"normalize" default:"True" doc:"strip the architecture of the machine from names"`
}

var specs = []fun.Spec{
	{
		Name: "add_pkg", Doc: "Add a version of a package to a mapping.", Src: "modules/pkg_resource.py add_pkg", Do: addPkg,
	},
	{
		Name: "check_extra_requirements", Doc: "Report whether an installed package meets requirements that only its package manager knows.", Src: "modules/pkg_resource.py check_extra_requirements", Do: checkExtraRequirements,
	},
	{
		Name: "format_pkg_list", Doc: "Format packages as the function list_pkgs of providers does.", Src: "modules/pkg_resource.py format_pkg_list", Do: formatPkgList,
	},
	{
		Name: "format_version", Doc: "Join epoch, version and release.", Src: "modules/pkg_resource.py format_version", Do: formatVersion,
	},
	{
		Name: "pack_sources", Doc: "Make one mapping of a list of mappings of a name to a package file.", Src: "modules/pkg_resource.py pack_sources", Do: packSources,
	},
	{
		Name: "parse_targets", Doc: "Return which packages the arguments of pkg.install mean, and where they come from.", Src: "modules/pkg_resource.py parse_targets", Do: parseTargets,
	},
	{
		Name: "sort_pkglist", Doc: "Sort the versions of packages in a mapping and drop doubles.", Src: "modules/pkg_resource.py sort_pkglist", Do: sortPkglist,
	},
	{
		Name: "stringify", Doc: "Join the versions of packages in a mapping to text.", Src: "modules/pkg_resource.py stringify", Do: stringify,
	},
	{
		Name: "version", Doc: "Return the installed version of a package, or an empty string.\nFor several packages, or a name with *, a mapping is returned.", Src: "modules/pkg_resource.py version", Do: version,
	},
	{
		Name: "version_clean", Doc: "Strip from a version what only its package manager needs.", Src: "modules/pkg_resource.py version_clean", Do: versionClean,
	},
	{
		Name: "version_compare", Doc: "Compare two versions as the package manager does.", Src: "modules/pkg_resource.py version_compare", Do: versionCompare,
	},
}
