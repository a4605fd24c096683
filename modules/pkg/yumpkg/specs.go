package yumpkg

import "brine/internal/fun"

var (
	// repoArgs choose repositories and settings.
	repoArgs = []fun.Arg{
		{Name: "fromrepo", Type: fun.Commas, KwOnly: true, Doc: "use only these repositories"},
		{Name: "repo", Type: fun.Commas, KwOnly: true, Doc: "old name of fromrepo"},
		{Name: "disablerepo", Type: fun.Commas, KwOnly: true, Doc: "repositories not to use; ignored with fromrepo"},
		{Name: "enablerepo", Type: fun.Commas, KwOnly: true, Doc: "disabled repositories to use, too; ignored with fromrepo"},
		{Name: "disableexcludes", Type: fun.Str, KwOnly: true, Doc: "ignore excludes: all, main or those of a repository"},
		{Name: "branch", Type: fun.Str, KwOnly: true, Doc: "branch of repositories to use"},
		{Name: "setopt", Type: fun.Commas, KwOnly: true, Doc: "settings for this run, as name=value"},
	}
	refreshArg = fun.Arg{Name: "refresh", Type: fun.Bool, Default: true, KwOnly: true, Doc: "fetch the metadata of repositories first"}
	attrArg    = fun.Arg{Name: "diff_attr", Type: fun.Commas, KwOnly: true, Doc: "attributes to return of changed packages in place of versions: epoch, version, release, arch, install_date, install_date_time_t, or all"}
	strictArg  = fun.Arg{Name: "strict_config", Type: fun.Bool, Default: true, KwOnly: true, Doc: "refuse files with a section or an option that occurs twice"}
	basedirArg = fun.Arg{Name: "basedir", Type: fun.Commas, Doc: "directories of files with repositories; default: those of the settings"}
	repoArg    = fun.Arg{Name: "repo", Type: fun.Str, Required: true, Doc: "name of the repository, or copr:USER/PROJECT"}
	groupArg   = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the group"}

	latestArgs = []fun.Arg{refreshArg}
	removeArgs = []fun.Arg{
		{Name: "name", Type: fun.Str, Doc: "name of the package, or several with commas between them; * stands for any text"},
		{Name: "pkgs", Type: fun.List, Doc: "several packages: names, or mappings of a name to a version; name is ignored"},
		{Name: "split_arch", Type: fun.Bool, Default: true, KwOnly: true, Doc: "strip the architecture of the machine from names"},
	}
	holdArgs = []fun.Arg{
		{Name: "name", Type: fun.Str, Doc: "name of the package"},
		{Name: "pkgs", Type: fun.List, Doc: "names of several packages"},
		{Name: "sources", Type: fun.List, Doc: "mappings of a name to a package file; the names count"},
	}
	holdsArgs = []fun.Arg{
		{Name: "pattern", Type: fun.Str, Default: defaultPattern, Doc: "regular expression for the names of packages"},
		{Name: "full", Type: fun.Bool, Default: true, Doc: "return the locks with their versions rather than names"},
	}
	refreshArgs = []fun.Arg{
		{Name: "check_update", Type: fun.Bool, Default: true, KwOnly: true, Doc: "fetch the metadata now, and see whether there are updates"},
	}
	groupInstallArgs = []fun.Arg{
		{Name: "name", Type: fun.Commas, Required: true, Doc: "names of groups"},
		{Name: "skip", Type: fun.Commas, Doc: "default packages not to install"},
		{Name: "include", Type: fun.Commas, Doc: "further packages to install, such as optional ones"},
	}
	upgradesArgs = []fun.Arg{{Name: "refresh", Type: fun.Bool, Default: true, Doc: "fetch the metadata of repositories first"}}
)

var specs = []fun.Spec{
	{
		Name: "available_version", Doc: "Return the version of a package that can be installed or upgraded to.\nThe same as latest_version.", Src: "modules/yumpkg.py available_version", Fn: latestVersion,
		VarArg: true, VarKw: true, Args: latestArgs, Shared: [][]fun.Arg{repoArgs},
	},
	{
		Name: "clean_metadata", Doc: "Have the metadata of repositories fetched again.\nThe same as refresh_db.", Src: "modules/yumpkg.py clean_metadata", Fn: refreshDB,
		VarKw: true, Args: refreshArgs, Shared: [][]fun.Arg{repoArgs},
	},
	{
		Name: "del_repo", Doc: "Delete a repository, and its file if that has no other one.", Src: "modules/yumpkg.py del_repo", Fn: delRepo,
		VarKw: true, Args: []fun.Arg{repoArg, basedirArg, strictArg},
	},
	{
		Name: "download", Doc: "Download packages to /var/cache/yum/packages.\nReturns their paths by name.", Src: "modules/yumpkg.py download", Fn: download,
		VarArg: true, VarKw: true,
	},
	{
		Name: "get_locked_packages", Doc: "List held packages.\nThe same as list_holds.", Src: "modules/yumpkg.py get_locked_packages", Fn: listHolds,
		Args: holdsArgs,
	},
	{
		Name: "get_repo", Doc: "Return the options of a repository; none if there is no such repository.", Src: "modules/yumpkg.py get_repo", Fn: getRepo,
		VarKw: true, Args: []fun.Arg{repoArg, basedirArg, strictArg},
	},
	{
		Name: "group_diff", Doc: "List which packages of a group are installed, and which are not.", Src: "modules/yumpkg.py group_diff", Fn: groupDiff,
		Args: []fun.Arg{groupArg},
	},
	{
		Name: "group_info", Doc: "Describe a group of packages.", Src: "modules/yumpkg.py group_info", Fn: groupInfo,
		Args: []fun.Arg{
			groupArg,
			{Name: "expand", Type: fun.Bool, Default: false, Doc: "return the packages of the groups of an environment rather than the groups"},
			{Name: "ignore_groups", Type: fun.Strs, Doc: "groups not to expand"},
		},
	},
	{
		Name: "group_install", Doc: "Install the packages of groups.\nFurther arguments are those of pkg.install.", Src: "modules/yumpkg.py group_install", Fn: groupInstall,
		VarKw: true, Hands: true, Args: groupInstallArgs,
	},
	{
		Name: "group_list", Doc: "List the groups of packages.", Src: "modules/yumpkg.py group_list", Fn: groupList,
	},
	{
		Name: "groupinstall", Doc: "Install the packages of groups.\nThe same as group_install.", Src: "modules/yumpkg.py groupinstall", Fn: groupInstall,
		VarKw: true, Hands: true, Args: groupInstallArgs,
	},
	{
		Name: "hold", Doc: "Keep packages from being upgraded.\nThis needs the plugin versionlock.", Src: "modules/yumpkg.py hold", Fn: hold,
		VarKw: true, Args: holdArgs,
		Shared: [][]fun.Arg{{{Name: "normalize", Type: fun.Bool, Default: true, Doc: "has no effect"}}},
	},
	{
		Name: "install", Doc: "Install packages, or update them.\nReturns the versions before and after of all packages that changed.", Src: "modules/yumpkg.py install", Fn: install,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the package, or several with commas between them"},
			{Name: "refresh", Type: fun.Bool, Default: false, Doc: "fetch the metadata of repositories first"},
			{Name: "skip_verify", Type: fun.Bool, Default: false, Doc: "do not check signatures"},
			{Name: "pkgs", Type: fun.List, Doc: "several packages: names, or mappings of a name to a version; name is ignored"},
			{Name: "sources", Type: fun.List, Doc: "package files: mappings of a name to a path or URL; name is ignored"},
			{Name: "downloadonly", Type: fun.Bool, Default: false, Doc: "only download the packages"},
			{Name: "reinstall", Type: fun.Bool, Default: false, Doc: "install packages again that have the wanted version already"},
			{Name: "normalize", Type: fun.Bool, Default: true, Doc: "strip the architecture of the machine from names"},
			{Name: "update_holds", Type: fun.Bool, Default: false, Doc: "change packages that are held, and hold them again"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of salt:// URLs"},
			{Name: "ignore_epoch", Type: fun.Bool, Default: false, Doc: "ignore the epoch when versions are compared"},
			{Name: "version", Type: fun.Str, KwOnly: true, Doc: "version to install: a version, a pattern such as 1.2*, or comparisons such as >=1.2,<2"},
			{Name: "split_arch", Type: fun.Bool, Default: true, KwOnly: true, Doc: "take an architecture at the end of a name for that of the package"},
			{Name: "advisory_ids", Type: fun.Strs, KwOnly: true, Doc: "install the packages of these advisories; an empty list means name"},
			attrArg,
		},
		Shared: [][]fun.Arg{repoArgs},
	},
	{
		Name: "latest_version", Doc: "Return the version of a package that can be installed or upgraded to.\nIt is an empty string for a package that is up to date. For several packages, a mapping is returned.", Src: "modules/yumpkg.py latest_version", Fn: latestVersion,
		VarArg: true, VarKw: true, Args: latestArgs, Shared: [][]fun.Arg{repoArgs},
	},
	{
		Name: "list_downloaded", Doc: "List package files that were downloaded.", Src: "modules/yumpkg.py list_downloaded", Fn: listDownloaded,
		VarKw: true,
	},
	{
		Name: "list_holds", Doc: "List held packages.\nThis needs the plugin versionlock.", Src: "modules/yumpkg.py list_holds", Fn: listHolds,
		Args: holdsArgs,
	},
	{
		Name: "list_installed_patches", Doc: "List advisories of which all packages are installed.", Src: "modules/yumpkg.py list_installed_patches", Fn: listInstalledPatches,
		VarKw: true,
	},
	{
		Name: "list_patches", Doc: "List the advisories of repositories.", Src: "modules/yumpkg.py list_patches", Fn: listPatches,
		VarKw: true,
		Args:  []fun.Arg{{Name: "refresh", Type: fun.Bool, Default: false, Doc: "fetch the metadata of repositories first"}},
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions.", Src: "modules/yumpkg.py list_pkgs", Fn: listPkgs,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "versions_as_list", Type: fun.Bool, Default: false, Doc: "return lists of versions rather than text"},
			{Name: "attr", Type: fun.Commas, KwOnly: true, Doc: "attributes to return in place of versions: epoch, version, release, arch, install_date, install_date_time_t, or all"},
			{Name: "removed", Type: fun.Bool, Default: false, KwOnly: true, Doc: "list removed packages instead, of which rpm knows none"},
			{Name: "purge_desired", Type: fun.Bool, Default: false, KwOnly: true, Doc: "list packages to be purged instead, of which rpm knows none"},
		},
	},
	{
		Name: "list_repo_pkgs", Doc: "List the versions that repositories have of packages, newest first.\nWithout a name, all packages are listed. A name may be a pattern.", Src: "modules/yumpkg.py list_repo_pkgs", Fn: listRepoPkgs,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{
			{Name: "byrepo", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return a mapping for each repository"},
			{Name: "cacheonly", Type: fun.Bool, Default: false, KwOnly: true, Doc: "use only metadata that was fetched before"},
			strictArg,
		},
		Shared: [][]fun.Arg{repoArgs},
	},
	{
		Name: "list_repos", Doc: "List repositories and their options.", Src: "modules/yumpkg.py list_repos", Fn: listRepos,
		VarKw: true, Args: []fun.Arg{basedirArg, strictArg},
	},
	{
		Name: "list_updates", Doc: "List packages that can be upgraded.\nThe same as list_upgrades.", Src: "modules/yumpkg.py list_updates", Fn: listUpgrades,
		VarKw: true, Args: upgradesArgs, Shared: [][]fun.Arg{repoArgs},
	},
	{
		Name: "list_upgrades", Doc: "List packages that can be upgraded.", Src: "modules/yumpkg.py list_upgrades", Fn: listUpgrades,
		VarKw: true, Args: upgradesArgs, Shared: [][]fun.Arg{repoArgs},
	},
	{
		Name: "mod_repo", Doc: "Change options of a repository, or add it.\nFurther arguments are the options; an empty one is taken out. A new repository needs name, and baseurl or mirrorlist.", Src: "modules/yumpkg.py mod_repo", Fn: modRepo,
		VarKw: true, Hands: true, Args: []fun.Arg{repoArg, basedirArg, strictArg},
	},
	{
		Name: "purge", Doc: "Remove packages.\nThe same as remove: rpm has no purge.", Src: "modules/yumpkg.py purge", Fn: remove,
		VarKw: true, Args: removeArgs,
	},
	{
		Name: "refresh_db", Doc: "Have the metadata of repositories fetched again.\nReturns True if there are updates, None if there are none, and False if that failed.", Src: "modules/yumpkg.py refresh_db", Fn: refreshDB,
		VarKw: true, Args: refreshArgs, Shared: [][]fun.Arg{repoArgs},
	},
	{
		Name: "remove", Doc: "Remove packages.", Src: "modules/yumpkg.py remove", Fn: remove,
		VarKw: true, Args: removeArgs,
	},
	{
		Name: "services_need_restart", Doc: "List services that use files which the package manager replaced.\nThis needs dnf with its plugin needs-restarting, and systemd.", Src: "modules/yumpkg.py services_need_restart", Fn: servicesNeedRestart,
		VarKw: true,
	},
	{
		Name: "unhold", Doc: "Let packages be upgraded again.\nThis needs the plugin versionlock.", Src: "modules/yumpkg.py unhold", Fn: unhold,
		VarKw: true, Args: holdArgs,
	},
	{
		Name: "update", Doc: "Upgrade all packages, without those that replace others.\nThe same as upgrade with obsoletes=False.", Src: "modules/yumpkg.py update", Fn: upgrade,
		VarKw: true, Hands: true, Args: upgradeArgs,
		Shared: [][]fun.Arg{{{Name: "obsoletes", Type: fun.Bool, Default: false, Doc: "replace packages by those that make them obsolete"}, attrArg}, repoArgs},
	},
	{
		Name: "upgrade", Doc: "Upgrade all packages.\nReturns the versions before and after of all packages that changed. Further arguments are options of dnf or yum: security=True is --security.", Src: "modules/yumpkg.py upgrade", Fn: upgrade,
		VarKw: true, Hands: true, Args: upgradeArgs,
		Shared: [][]fun.Arg{{{Name: "obsoletes", Type: fun.Bool, Default: true, Doc: "replace packages by those that make them obsolete"}, {Name: "diff_attr", Type: fun.Commas, Doc: "attributes to return of changed packages in place of versions"}}, repoArgs},
	},
	{
		Name: "upgrade_available", Doc: "Report whether a package can be upgraded or installed.", Src: "modules/yumpkg.py upgrade_available", Fn: upgradeAvailable,
		VarKw:  true,
		Args:   []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package"}, refreshArg},
		Shared: [][]fun.Arg{repoArgs},
	},
}

// upgradeArgs are those of upgrade and update.
var upgradeArgs = []fun.Arg{
	{Name: "name", Type: fun.Str, Doc: "upgrade only this package, or several with commas between them"},
	{Name: "pkgs", Type: fun.List, Doc: "upgrade only these packages; name is ignored"},
	{Name: "refresh", Type: fun.Bool, Default: true, Doc: "fetch the metadata of repositories first"},
	{Name: "skip_verify", Type: fun.Bool, Default: false, Doc: "do not check signatures"},
	{Name: "normalize", Type: fun.Bool, Default: true, Doc: "strip the architecture of the machine from names"},
	{Name: "minimal", Type: fun.Bool, Default: false, Doc: "upgrade only to the next version that fixes a fault"},
	{Name: "downloadonly", Type: fun.Bool, Default: false, KwOnly: true, Doc: "only download the packages"},
}
