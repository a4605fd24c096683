package zypperpkg

import (
	"brine/internal/fun"
	"brine/modules/pkg/rpm"
)

var (
	rootArg    = fun.Arg{Name: "root", Type: fun.Path, Doc: "directory of another system"}
	rootKw     = fun.Arg{Name: "root", Type: fun.Path, KwOnly: true, Doc: "directory of another system"}
	refreshArg = fun.Arg{Name: "refresh", Type: fun.Bool, Default: true, KwOnly: true, Doc: "refresh the repositories first"}
	onceArg    = fun.Arg{Name: "refresh", Type: fun.Bool, Default: false, Doc: "refresh the repositories first"}
	repoArg    = fun.Arg{Name: "repo", Type: fun.Str, Required: true, Doc: "alias of the repository"}

	removeArgs = []fun.Arg{
		{Name: "name", Type: fun.Str, Doc: "name of the package, or several with commas between them"},
		{Name: "pkgs", Type: fun.List, Doc: "several packages: names, or mappings of a name to a version; name is ignored"},
		rootArg,
		{Name: "inclusion_detection", Type: fun.Bool, Default: false, Doc: "take what is before a colon for a kind: patch, pattern or product"},
	}
	holdArgs = []fun.Arg{
		{Name: "name", Type: fun.Str, Doc: "name of the package, or several with commas between them"},
		{Name: "pkgs", Type: fun.List, Doc: "several packages: names, or mappings of a name to a version; name is ignored"},
		rootArg,
	}
	latestArgs  = []fun.Arg{refreshArg, rootKw}
	upgradeList = []fun.Arg{
		{Name: "refresh", Type: fun.Bool, Default: true, Doc: "refresh the repositories first"},
		rootArg,
		{Name: "fromrepo", Type: fun.Commas, KwOnly: true, Doc: "use only these repositories"},
	}
	patternsArgs = []fun.Arg{onceArg, rootArg}
	vendorArgs   = []fun.Arg{
		{Name: "novendorchange", Type: fun.Bool, Default: true, Doc: "do not let packages change their vendor"},
		{Name: "allowvendorchange", Type: fun.Bool, Default: false, Doc: "let packages change their vendor, whatever novendorchange is"},
	}
)

var specs = []fun.Spec{
	{
		Name: "available_version", Doc: "Return the version of a package that can be installed or upgraded to.\nThe same as latest_version.", Src: "modules/zypperpkg.py available_version", Fn: latestVersion,
		VarArg: true, VarKw: true, Args: latestArgs,
	},
	{
		Name: "clean_locks", Doc: "Remove locks that lock no package.", Src: "modules/zypperpkg.py clean_locks", Fn: cleanLocks,
		Args: []fun.Arg{rootArg},
	},
	{
		Name: "del_repo", Doc: "Delete a repository.", Src: "modules/zypperpkg.py del_repo", Fn: delRepo,
		Args: []fun.Arg{repoArg, rootArg},
	},
	{
		Name: "download", Doc: "Download packages.\nReturns where they are by name.", Src: "modules/zypperpkg.py download", Fn: download,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{{Name: "refresh", Type: fun.Bool, Default: false, KwOnly: true, Doc: "refresh the repositories first"}, rootKw},
	},
	{
		Name: "get_repo", Doc: "Return the options of a repository; none if there is no such repository.", Src: "modules/zypperpkg.py get_repo", Fn: getRepo,
		VarKw: true, Args: []fun.Arg{repoArg, rootArg},
	},
	{
		Name: "hold", Doc: "Keep packages from being changed.", Src: "modules/zypperpkg.py hold", Fn: hold,
		VarKw: true, Args: holdArgs,
	},
	{
		Name: "info_available", Doc: "Describe packages of repositories.", Src: "modules/zypperpkg.py info_available", Fn: infoAvailable,
		VarArg: true, VarKw: true, Args: latestArgs,
	},
	{
		Name: "install", Doc: "Install packages, or update them.\nReturns the versions before and after of all packages that changed.", Src: "modules/zypperpkg.py install", Fn: install,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the package, or several with commas between them"},
			{Name: "refresh", Type: fun.Bool, Default: false, Doc: "refresh the repositories first"},
			{Name: "fromrepo", Type: fun.Str, Doc: "repository to take packages from"},
			{Name: "pkgs", Type: fun.List, Doc: "several packages: names, or mappings of a name to a version; name is ignored"},
			{Name: "sources", Type: fun.List, Doc: "package files: mappings of a name to a path or URL; name is ignored"},
			{Name: "downloadonly", Type: fun.Bool, Default: false, Doc: "only download the packages"},
			{Name: "skip_verify", Type: fun.Bool, Default: false, Doc: "do not check signatures"},
			{Name: "version", Type: fun.Str, Doc: "version to install: a version, a pattern such as 1.2*, or comparisons such as >=1.2"},
			{Name: "ignore_repo_failure", Type: fun.Bool, Default: false, Doc: "go on where a repository fails"},
			{Name: "no_recommends", Type: fun.Bool, Default: false, Doc: "do not install recommended packages"},
			rootArg,
			{Name: "inclusion_detection", Type: fun.Bool, Default: false, Doc: "take what is before a colon for a kind: patch, pattern or product"},
			{Name: "novendorchange", Type: fun.Bool, Default: true, Doc: "do not let packages change their vendor"},
			{Name: "allowvendorchange", Type: fun.Bool, Default: false, Doc: "let packages change their vendor, whatever novendorchange is"},
			{Name: "resolve_capabilities", Type: fun.Bool, Default: false, KwOnly: true, Doc: "names may be those of capabilities"},
			{Name: "advisory_ids", Type: fun.Strs, KwOnly: true, Doc: "install these patches; an empty list means name"},
			{Name: "saltenv", Type: fun.Str, Default: "base", KwOnly: true, Doc: "environment of salt:// URLs"},
			{Name: "diff_attr", Type: fun.Commas, KwOnly: true, Doc: "attributes to return of changed packages in place of versions: epoch, version, release, arch, install_date, install_date_time_t, or all"},
		},
	},
	{
		Name: "latest_version", Doc: "Return the version of a package that can be installed or upgraded to.\nIt is an empty string for a package that is up to date. For several packages, a mapping is returned.", Src: "modules/zypperpkg.py latest_version", Fn: latestVersion,
		VarArg: true, VarKw: true, Args: latestArgs,
	},
	{
		Name: "list_downloaded", Doc: "List package files that were downloaded.", Src: "modules/zypperpkg.py list_downloaded", Fn: listDownloaded,
		VarKw: true, Args: []fun.Arg{rootArg},
	},
	{
		Name: "list_holds", Doc: "List installed packages that are locked.", Src: "modules/zypperpkg.py list_holds", Fn: listHolds,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "pattern", Type: fun.Str, Doc: "regular expression for the names of packages"},
			{Name: "full", Type: fun.Bool, Default: true, Doc: "return versions, too"},
			rootArg,
		},
	},
	{
		Name: "list_installed_patches", Doc: "List installed patches.", Src: "modules/zypperpkg.py list_installed_patches", Fn: listInstalledPatches,
		VarKw: true, Args: []fun.Arg{rootArg},
	},
	{
		Name: "list_installed_patterns", Doc: "List installed patterns.", Src: "modules/zypperpkg.py list_installed_patterns", Fn: listInstalledPatterns,
		Args: []fun.Arg{rootArg},
	},
	{
		Name: "list_locks", Doc: "List locks by the names that they are for.", Src: "modules/zypperpkg.py list_locks", Fn: listLocks,
		Args: []fun.Arg{rootArg},
	},
	{
		Name: "list_patches", Doc: "List the patches of repositories.", Src: "modules/zypperpkg.py list_patches", Fn: listPatches,
		VarKw: true, Args: patternsArgs,
	},
	{
		Name: "list_patterns", Doc: "List the patterns of repositories.", Src: "modules/zypperpkg.py list_patterns", Fn: listPatterns,
		Args: patternsArgs, VarKw: true,
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions.", Src: "modules/zypperpkg.py list_pkgs", Fn: listPkgs,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "versions_as_list", Type: fun.Bool, Default: false, Doc: "return lists of versions rather than text"},
			rootArg,
			{Name: "includes", Type: fun.Commas, Doc: "also list what is installed of these kinds: patch, pattern, product"},
			{Name: "attr", Type: fun.Commas, KwOnly: true, Doc: "attributes to return in place of versions: epoch, version, release, arch, install_date, install_date_time_t, or all"},
			{Name: "removed", Type: fun.Bool, Default: false, KwOnly: true, Doc: "list removed packages instead, of which rpm knows none"},
			{Name: "purge_desired", Type: fun.Bool, Default: false, KwOnly: true, Doc: "list packages to be purged instead, of which rpm knows none"},
		},
	},
	{
		Name: "list_products", Doc: "List products of SUSE.", Src: "modules/zypperpkg.py list_products", Fn: listProducts,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "all", Type: fun.Bool, Default: false, Doc: "list all products rather than those that are installed"},
			onceArg,
			rootArg,
		},
	},
	{
		Name: "list_provides", Doc: "List what installed packages provide, with the packages.", Src: "modules/zypperpkg.py list_provides", Fn: listProvides,
		VarKw: true, Args: []fun.Arg{rootArg},
	},
	{
		Name: "list_repo_pkgs", Doc: "List the versions that repositories have of packages, newest first.\nWithout a name, all packages are listed. A name may be a pattern.", Src: "modules/zypperpkg.py list_repo_pkgs", Fn: listRepoPkgs,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{
			{Name: "byrepo", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return a mapping for each repository"},
			{Name: "fromrepo", Type: fun.Commas, KwOnly: true, Doc: "use only these repositories"},
			rootKw,
		},
	},
	{
		Name: "list_repos", Doc: "List repositories and their options.", Src: "modules/zypperpkg.py list_repos", Fn: listRepos,
		VarKw: true, Args: []fun.Arg{rootArg},
	},
	{
		Name: "list_updates", Doc: "List packages that can be upgraded.\nThe same as list_upgrades.", Src: "modules/zypperpkg.py list_updates", Fn: listUpgrades,
		VarKw: true, Args: upgradeList,
	},
	{
		Name: "list_upgrades", Doc: "List packages that can be upgraded.", Src: "modules/zypperpkg.py list_upgrades", Fn: listUpgrades,
		VarKw: true, Args: upgradeList,
	},
	{
		Name: "mod_repo", Doc: "Change options of a repository, or add it.\nFurther arguments are the options: url, baseurl, mirrorlist, enabled, refresh, cache, gpgcheck, gpgautoimport, priority, name. A new repository needs one of the first three.", Src: "modules/zypperpkg.py mod_repo", Fn: modRepo,
		VarKw: true, Hands: true, Args: []fun.Arg{repoArg, rootKw},
	},
	{
		Name: "purge", Doc: "Remove packages.\nThe same as remove: rpm has no purge.", Src: "modules/zypperpkg.py purge", Fn: remove,
		VarKw: true, Args: removeArgs,
	},
	{
		Name: "refresh_db", Doc: "Refresh the repositories.\nReturns by repository whether there was something new.", Src: "modules/zypperpkg.py refresh_db", Fn: refreshDB,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "force", Type: fun.Bool, Doc: "refresh repositories that are up to date, too; default: the pillar zypper:refreshdb_force, else true"},
			rootArg,
			{Name: "gpgautoimport", Type: fun.Bool, Default: false, KwOnly: true, Doc: "trust the keys of the repositories"},
			{Name: "repos", Type: fun.Commas, KwOnly: true, Doc: "refresh only these repositories"},
		},
	},
	{
		Name: "remove", Doc: "Remove packages.", Src: "modules/zypperpkg.py remove", Fn: remove,
		VarKw: true, Args: removeArgs,
	},
	{
		Name: "resolve_capabilities", Doc: "Replace names of capabilities by those of the packages that provide them.", Src: "modules/zypperpkg.py resolve_capabilities", Fn: resolveCapabilities,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "pkgs", Type: fun.List, Required: true, Doc: "names, or mappings of a name to a version"},
			onceArg,
			rootArg,
			{Name: "resolve_capabilities", Type: fun.Bool, Default: false, KwOnly: true, Doc: "do so; default: return the names as they are"},
		},
	},
	{
		Name: "search", Doc: "Search packages.", Src: "modules/zypperpkg.py search", Fn: search,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "criteria", Type: fun.Str, Required: true, Doc: "what to search for"},
			onceArg,
			{Name: "match", Type: fun.Str, OneOf: []string{"exact", "words", "substrings"}, KwOnly: true, Doc: "how names are compared; default: substrings"},
			{Name: "provides", Type: fun.Bool, Default: false, KwOnly: true, Doc: "search what packages provide"},
			{Name: "recommends", Type: fun.Bool, Default: false, KwOnly: true, Doc: "search what packages recommend"},
			{Name: "requires", Type: fun.Bool, Default: false, KwOnly: true, Doc: "search what packages require"},
			{Name: "suggests", Type: fun.Bool, Default: false, KwOnly: true, Doc: "search what packages suggest"},
			{Name: "conflicts", Type: fun.Bool, Default: false, KwOnly: true, Doc: "search what packages conflict with"},
			{Name: "obsoletes", Type: fun.Bool, Default: false, KwOnly: true, Doc: "search what packages make obsolete"},
			{Name: "file_list", Type: fun.Bool, Default: false, KwOnly: true, Doc: "search the files of packages"},
			{Name: "search_descriptions", Type: fun.Bool, Default: false, KwOnly: true, Doc: "search summaries and descriptions, too"},
			{Name: "case_sensitive", Type: fun.Bool, Default: false, KwOnly: true, Doc: "respect case"},
			{Name: "installed_only", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return only installed packages"},
			{Name: "not_installed_only", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return only packages that are not installed"},
			{Name: "details", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return versions and repositories, too"},
			rootKw,
		},
	},
	{
		Name: "services_need_restart", Doc: "List services that use files which the package manager replaced.", Src: "modules/zypperpkg.py services_need_restart", Fn: servicesNeedRestart,
		VarKw: true, Args: []fun.Arg{rootArg},
	},
	{
		Name: "unhold", Doc: "Let packages be changed again.", Src: "modules/zypperpkg.py unhold", Fn: unhold,
		VarKw: true, Args: holdArgs,
	},
	{
		Name: "upgrade", Doc: "Upgrade all packages.\nReturns the versions before and after of all packages that changed.", Src: "modules/zypperpkg.py upgrade", Fn: upgrade,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "upgrade only this package, or several with commas between them"},
			{Name: "pkgs", Type: fun.List, Doc: "upgrade only these packages; name is ignored"},
			{Name: "refresh", Type: fun.Bool, Default: true, Doc: "refresh the repositories first"},
			{Name: "dryrun", Type: fun.Bool, Default: false, Doc: "only return what zypper says that it would do"},
			{Name: "dist_upgrade", Type: fun.Bool, Default: false, Doc: "upgrade the distribution: also install and remove packages where that is needed"},
			{Name: "fromrepo", Type: fun.Commas, Doc: "use only these repositories"},
		},
		Shared: [][]fun.Arg{vendorArgs, {
			{Name: "skip_verify", Type: fun.Bool, Default: false, Doc: "do not check signatures"},
			{Name: "no_recommends", Type: fun.Bool, Default: false, Doc: "do not install recommended packages"},
			rootArg,
			{Name: "diff_attr", Type: fun.Commas, Doc: "attributes to return of changed packages in place of versions"},
		}},
	},
	{
		Name: "upgrade_available", Doc: "Report whether a package can be upgraded or installed.", Src: "modules/zypperpkg.py upgrade_available", Fn: upgradeAvailable,
		VarKw: true,
		Args:  []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package"}, refreshArg, rootKw},
	},
	{
		Name: "version_cmp", Doc: "Compare two versions as rpm does: -1, 0 or 1.\nA release that only one of them has is ignored.", Src: "modules/zypperpkg.py version_cmp", Fn: rpm.VersionCmp,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "ver1", Type: fun.Str | fun.None, Required: true, Doc: "a version"},
			{Name: "ver2", Type: fun.Str | fun.None, Required: true, Doc: "another version"},
			{Name: "ignore_epoch", Type: fun.Bool, Default: false, Doc: "ignore the epochs"},
		},
	},
}
