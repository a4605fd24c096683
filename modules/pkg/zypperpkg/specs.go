package zypperpkg

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg/rpm"
)

type rootArg struct {
	_    fun.Arguments
	Root string `arg:"root,path" doc:"directory of another system"`
}

type rootKw struct {
	_    fun.Arguments
	Root string `arg:"root,kw,path" doc:"directory of another system"`
}

type refreshArg struct {
	_       fun.Arguments
	Refresh bool `arg:"refresh,kw" default:"True" doc:"refresh the repositories first"`
}

type onceArg struct {
	_       fun.Arguments
	Refresh bool `arg:"refresh" default:"False" doc:"refresh the repositories first"`
}

type repoArg struct {
	_    fun.Arguments
	Repo string `arg:"repo,required" doc:"alias of the repository"`
}

type removeArgs struct {
	Name string        `arg:"name" doc:"name of the package, or several with commas between them"`
	Pkgs []value.Value `arg:"pkgs" doc:"several packages: names, or mappings of a name to a version; name is ignored"`
	rootArg
	InclusionDetection bool `arg:"inclusion_detection" default:"False" doc:"take what is before a colon for a kind: patch, pattern or product"`
}

type holdArgs struct {
	Name string        `arg:"name" doc:"name of the package, or several with commas between them"`
	Pkgs []value.Value `arg:"pkgs" doc:"several packages: names, or mappings of a name to a version; name is ignored"`
	rootArg
}

type latestArgs struct {
	refreshArg
	rootKw
	refreshKw
}

type upgradeList struct {
	Refresh bool `arg:"refresh" default:"True" doc:"refresh the repositories first"`
	rootArg
	Fromrepo []string `arg:"fromrepo,kw,comma[str]" doc:"use only these repositories"`
}

type versionCmpArgs struct {
	rpm.VersionCmpArgs
	_ fun.Kwargs
}

type patternsArgs struct {
	onceArg
	rootArg
}

var specs = []fun.Spec{
	{
		Name: "available_version", Doc: "Return the version of a package that can be installed or upgraded to.\nThe same as latest_version.", Src: "modules/zypperpkg.py available_version", Do: latestVersion,
	},
	{
		Name: "clean_locks", Doc: "Remove locks that lock no package.", Src: "modules/zypperpkg.py clean_locks", Do: cleanLocks,
	},
	{
		Name: "del_repo", Doc: "Delete a repository.", Src: "modules/zypperpkg.py del_repo", Do: delRepo,
	},
	{
		Name: "download", Doc: "Download packages.\nReturns where they are by name.", Src: "modules/zypperpkg.py download", Do: download,
	},
	{
		Name: "get_repo", Doc: "Return the options of a repository; none if there is no such repository.", Src: "modules/zypperpkg.py get_repo", Do: getRepo,
	},
	{
		Name: "hold", Doc: "Keep packages from being changed.", Src: "modules/zypperpkg.py hold", Do: hold,
	},
	{
		Name: "info_available", Doc: "Describe packages of repositories.", Src: "modules/zypperpkg.py info_available", Do: infoAvailable,
	},
	{
		Name: "install", Doc: "Install packages, or update them.\nReturns the versions before and after of all packages that changed.", Src: "modules/zypperpkg.py install", Do: install,
	},
	{
		Name: "latest_version", Doc: "Return the version of a package that can be installed or upgraded to.\nIt is an empty string for a package that is up to date. For several packages, a mapping is returned.", Src: "modules/zypperpkg.py latest_version", Do: latestVersion,
	},
	{
		Name: "list_downloaded", Doc: "List package files that were downloaded.", Src: "modules/zypperpkg.py list_downloaded", Do: listDownloaded,
	},
	{
		Name: "list_holds", Doc: "List installed packages that are locked.", Src: "modules/zypperpkg.py list_holds", Do: listHolds,
	},
	{
		Name: "list_installed_patches", Doc: "List installed patches.", Src: "modules/zypperpkg.py list_installed_patches", Do: listInstalledPatches,
	},
	{
		Name: "list_installed_patterns", Doc: "List installed patterns.", Src: "modules/zypperpkg.py list_installed_patterns", Do: listInstalledPatterns,
	},
	{
		Name: "list_locks", Doc: "List locks by the names that they are for.", Src: "modules/zypperpkg.py list_locks", Do: listLocks,
	},
	{
		Name: "list_patches", Doc: "List the patches of repositories.", Src: "modules/zypperpkg.py list_patches", Do: listPatches,
	},
	{
		Name: "list_patterns", Doc: "List the patterns of repositories.", Src: "modules/zypperpkg.py list_patterns", Do: listPatterns,
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions.", Src: "modules/zypperpkg.py list_pkgs", Do: listPkgs,
	},
	{
		Name: "list_products", Doc: "List products of SUSE.", Src: "modules/zypperpkg.py list_products", Do: listProducts,
	},
	{
		Name: "list_provides", Doc: "List what installed packages provide, with the packages.", Src: "modules/zypperpkg.py list_provides", Do: listProvides,
	},
	{
		Name: "list_repo_pkgs", Doc: "List the versions that repositories have of packages, newest first.\nWithout a name, all packages are listed. A name may be a pattern.", Src: "modules/zypperpkg.py list_repo_pkgs", Do: listRepoPkgs,
	},
	{
		Name: "list_repos", Doc: "List repositories and their options.", Src: "modules/zypperpkg.py list_repos", Do: listRepos,
	},
	{
		Name: "list_updates", Doc: "List packages that can be upgraded.\nThe same as list_upgrades.", Src: "modules/zypperpkg.py list_updates", Do: listUpgrades,
	},
	{
		Name: "list_upgrades", Doc: "List packages that can be upgraded.", Src: "modules/zypperpkg.py list_upgrades", Do: listUpgrades,
	},
	{
		Name: "mod_repo", Doc: "Change options of a repository, or add it.\nA new repository needs url, baseurl or mirrorlist.", Src: "modules/zypperpkg.py mod_repo", Do: modRepo,
	},
	{
		Name: "purge", Doc: "Remove packages.\nThe same as remove: rpm has no purge.", Src: "modules/zypperpkg.py purge", Do: remove,
	},
	{
		Name: "refresh_db", Doc: "Refresh the repositories.\nReturns by repository whether there was something new.", Src: "modules/zypperpkg.py refresh_db", Do: refreshDB,
	},
	{
		Name: "remove", Doc: "Remove packages.", Src: "modules/zypperpkg.py remove", Do: remove,
	},
	{
		Name: "resolve_capabilities", Doc: "Replace names of capabilities by those of the packages that provide them.", Src: "modules/zypperpkg.py resolve_capabilities", Do: resolveCapabilities,
	},
	{
		Name: "search", Doc: "Search packages.", Src: "modules/zypperpkg.py search", Do: search,
	},
	{
		Name: "services_need_restart", Doc: "List services that use files which the package manager replaced.", Src: "modules/zypperpkg.py services_need_restart", Do: servicesNeedRestart,
	},
	{
		Name: "unhold", Doc: "Let packages be changed again.", Src: "modules/zypperpkg.py unhold", Do: unhold,
	},
	{
		Name: "upgrade", Doc: "Upgrade all packages.\nReturns the versions before and after of all packages that changed.", Src: "modules/zypperpkg.py upgrade", Do: upgrade,
	},
	{
		Name: "upgrade_available", Doc: "Report whether a package can be upgraded or installed.", Src: "modules/zypperpkg.py upgrade_available", Do: upgradeAvailable,
	},
	{
		Name: "version_cmp", Doc: "Compare two versions as rpm does: -1, 0 or 1.\nA release that only one of them has is ignored.", Src: "modules/zypperpkg.py version_cmp", Do: versionCmp,
	},
}
