package aptpkg

import "brine/internal/fun"

// Arguments that several functions have.
var (
	cacheArg = fun.Arg{Name: "cache_valid_time", Type: fun.Duration, Default: int64(0), Unit: "s", KwOnly: true, Doc: "do not refresh if the lists of apt are younger than this"}
	repoArg  = fun.Arg{Name: "fromrepo", Type: fun.Str, KwOnly: true, Doc: "release to take packages from, such as stable or bookworm-backports"}

	envArgs = []fun.Arg{
		{Name: "env", Type: fun.Dict | fun.List, KwOnly: true, Doc: "environment variables for apt, as a mapping or a list of mappings"},
	}
	// changeArgs are those of functions that install or upgrade.
	changeArgs = []fun.Arg{
		{Name: "cache_valid_time", Type: fun.Duration, Default: int64(0), Unit: "s", KwOnly: true, Doc: "do not refresh if the lists of apt are younger than this"},
		{Name: "force_conf_new", Type: fun.Bool, Default: false, KwOnly: true, Doc: "replace changed configuration files by those of the new version; default: keep them"},
		{Name: "force_yes", Type: fun.Bool, Default: false, KwOnly: true, Doc: "also downgrade, remove essential packages, change held packages and install unsigned ones"},
	}
	latestArgs = []fun.Arg{
		{Name: "refresh", Type: fun.Bool, Default: true, KwOnly: true, Doc: "refresh the lists of apt first"},
		repoArg,
		cacheArg,
		{Name: "show_installed", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return the version of packages that are up to date, too, rather than an empty string"},
	}
	holdArgs = []fun.Arg{
		{Name: "name", Type: fun.Str, Doc: "name of the package"},
		{Name: "pkgs", Type: fun.List, Doc: "names of several packages"},
		{Name: "sources", Type: fun.List, Doc: "mappings of a name to a package file; the names count"},
	}
	removeArgs = []fun.Arg{
		{Name: "name", Type: fun.Str, Doc: "name of the package, or several with commas between them"},
		{Name: "pkgs", Type: fun.List, Doc: "names of several packages; name is ignored"},
		{Name: "test", Type: fun.Bool, Default: false, KwOnly: true, Doc: "only return what would be removed, with the packages that depend on it"},
	}
	definitionArg = fun.Arg{Name: "repo", Type: fun.Str, Required: true, Doc: "the repository: an entry in one line, or ppa:OWNER/NAME on Ubuntu"}
	ppaAuthArg    = fun.Arg{Name: "ppa_auth", Type: fun.Str, KwOnly: true, Secret: true, Doc: "USER:PASSWORD of a private archive"}
	aptKeyArg     = fun.Arg{Name: "aptkey", Type: fun.Bool, Default: true, Doc: "use apt-key where it is there; False: keyrings"}
	keyDirArg     = fun.Arg{Name: "keydir", Type: fun.Path, Doc: "directory of keyrings; default: /etc/apt/keyrings"}
	entryArgs     = []fun.Arg{
		{Name: "architectures", Type: fun.Commas, KwOnly: true, Doc: "architectures, instead of those of the definition"},
		{Name: "comps", Type: fun.Commas, KwOnly: true, Doc: "components, instead of those of the definition"},
		{Name: "disabled", Type: fun.Bool, KwOnly: true, Doc: "whether the entry is commented out; default: as it is"},
		{Name: "dist", Type: fun.Str, KwOnly: true, Doc: "suite, instead of that of the definition"},
		{Name: "enabled", Type: fun.Bool, KwOnly: true, Doc: "the opposite of disabled"},
		{Name: "signedby", Type: fun.Str, KwOnly: true, Doc: "path of a keyring, where the definition does not name one"},
		{Name: "uri", Type: fun.Str, KwOnly: true, Doc: "address, instead of that of the definition"},
	}
)

var specs = []fun.Spec{
	{
		Name: "add_repo_key", Doc: "Import the key of a repository, unless it is there.\nThe key comes from a file, text or a keyserver. Without apt-key it is written to a keyring, which the entry of the repository names by signed-by.", Src: "modules/aptpkg.py add_repo_key", Fn: addRepoKey,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Str, Doc: "path or URL of a file with the key"},
			{Name: "text", Type: fun.Str, Doc: "the key as text"},
			{Name: "keyserver", Type: fun.Str, Doc: "server that has the key"},
			{Name: "keyid", Type: fun.Any, Doc: "ID or fingerprint of the key"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of a salt:// URL"},
			aptKeyArg,
			keyDirArg,
			{Name: "keyfile", Type: fun.Path, Doc: "name of the keyring; needed for a key of a keyserver"},
		},
	},
	{
		Name: "autoremove", Doc: "Remove packages that were installed as dependencies and are no longer needed.", Src: "modules/aptpkg.py autoremove", Fn: autoremove,
		Args: []fun.Arg{
			{Name: "list_only", Type: fun.Bool, Default: false, Doc: "only list the packages"},
			{Name: "purge", Type: fun.Bool, Default: false, Doc: "remove their configuration files, too"},
		},
	},
	{
		Name: "available_version", Doc: "Return the version of a package that can be installed or upgraded to.\nThe same as latest_version.", Src: "modules/aptpkg.py available_version", Fn: latestVersion,
		VarArg: true, VarKw: true, Shared: [][]fun.Arg{latestArgs},
	},
	{
		Name: "del_repo", Doc: "Remove components of a repository from apt's lists, and the entry with the last of them.\nThe lists of packages are refreshed.", Src: "modules/aptpkg.py del_repo", Fn: delRepo,
		VarKw: true,
		Args:  []fun.Arg{definitionArg, ppaAuthArg},
	},
	{
		Name: "del_repo_key", Doc: "Remove the key of a repository and return its ID.\nReturn False if there is no keyring that has it.", Src: "modules/aptpkg.py del_repo_key", Fn: delRepoKey,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "ppa:OWNER/NAME, for keyid_ppa"},
			aptKeyArg,
			keyDirArg,
			{Name: "keyid", Type: fun.Any, KwOnly: true, Doc: "ID of the key: at least its last 8 digits"},
			{Name: "keyid_ppa", Type: fun.Bool, Default: false, KwOnly: true, Doc: "ask Launchpad which key the archive has"},
		},
	},
	{
		Name: "expand_repo_def", Doc: "Return the repository that a definition and the arguments of mod_repo describe.", Src: "modules/aptpkg.py expand_repo_def", Fn: expandRepoDef,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "repo", Type: fun.Str, KwOnly: true, Doc: "the repository: an entry in one line, or ppa:OWNER/NAME on Ubuntu"},
			ppaAuthArg,
		},
		Shared: [][]fun.Arg{entryArgs},
	},
	{
		Name: "file_dict", Doc: "List the files of packages, by package.\nWithout a name, all packages are listed.", Src: "modules/aptpkg.py file_dict", Fn: fileDict,
		VarArg: true, VarKw: true,
	},
	{
		Name: "file_list", Doc: "List the files of packages.\nWithout a name, the files of all packages are listed.", Src: "modules/aptpkg.py file_list", Fn: fileList,
		VarArg: true, VarKw: true,
	},
	{
		Name: "get_repo", Doc: "Return a repository of apt's lists: the entry with this type, address and suite that has one of the components.\nReturn an empty mapping if there is none.", Src: "modules/aptpkg.py get_repo", Fn: getRepo,
		VarKw: true,
		Args: []fun.Arg{
			definitionArg,
			ppaAuthArg,
			{Name: "dist", Type: fun.Str, KwOnly: true, Doc: "suite, instead of that of the definition"},
			{Name: "file", Type: fun.Path, KwOnly: true, Doc: "prefer the entry of this file where there are several"},
		},
	},
	{
		Name: "get_repo_keys", Doc: "Return the keys of repositories by their IDs.\nReturn False if there is no directory of keyrings.", Src: "modules/aptpkg.py get_repo_keys", Fn: getRepoKeys,
		VarKw: true,
		Args:  []fun.Arg{aptKeyArg, keyDirArg},
	},
	{
		Name: "get_selections", Doc: "Return what is wanted of packages in dpkg's database: install, hold, deinstall or purge.", Src: "modules/aptpkg.py get_selections", Fn: getSelections,
		Args: []fun.Arg{
			{Name: "pattern", Type: fun.Str, Doc: "pattern of names; default: all"},
			{Name: "state", Type: fun.Str, Doc: "return only the packages with this state"},
		},
	},
	{
		Name: "hold", Doc: "Keep packages from being upgraded.", Src: "modules/aptpkg.py hold", Fn: hold,
		VarKw: true, Shared: [][]fun.Arg{holdArgs},
	},
	{
		Name: "info_installed", Doc: "Describe installed packages.\nWithout a name, all are described.", Src: "modules/aptpkg.py info_installed", Fn: infoInstalled,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{
			{Name: "failhard", Type: fun.Bool, Default: true, KwOnly: true, Doc: "fail if a package is not known, rather than return nothing"},
			{Name: "errors", Type: fun.Any, KwOnly: true, Doc: "RPM only"},
			{Name: "attr", Type: fun.Str, KwOnly: true, Doc: "names of what to return, with commas between them; default: all"},
			{Name: "all_versions", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return a list for each package"},
		},
	},
	{
		Name: "install", Doc: "Install packages, or update them.\nReturns the versions before and after of all packages that changed.", Src: "modules/aptpkg.py install", Fn: install,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the package, or several with commas between them"},
			{Name: "refresh", Type: fun.Bool, Default: false, Doc: "refresh the lists of apt first, unless they have all versions that are asked for"},
			{Name: "fromrepo", Type: fun.Str, Doc: "release to take packages from, such as stable or bookworm-backports"},
			{Name: "skip_verify", Type: fun.Bool, Default: false, Doc: "install packages of repositories that are not signed"},
			{Name: "debconf", Type: fun.Str, Doc: "path or URL of a file with answers for debconf, which are set first"},
			{Name: "pkgs", Type: fun.List, Doc: "several packages: names, or mappings of a name to a version; name is ignored"},
			{Name: "sources", Type: fun.List, Doc: "package files: mappings of a name to a path or URL; name is ignored"},
			{Name: "reinstall", Type: fun.Bool, Default: false, Doc: "install packages again that have the wanted version already"},
			{Name: "downloadonly", Type: fun.Bool, Default: false, Doc: "only download the packages"},
			{Name: "ignore_epoch", Type: fun.Bool, Default: false, Doc: "ignore the epoch when versions are compared"},
			{Name: "version", Type: fun.Str, KwOnly: true, Doc: "version to install: a version, a pattern such as 1.2*, or comparisons such as >=1.2,<2"},
			{Name: "install_recommends", Type: fun.Bool, KwOnly: true, Doc: "whether to install recommended packages; default: what apt is configured to do"},
			{Name: "only_upgrade", Type: fun.Bool, Default: false, KwOnly: true, Doc: "only upgrade packages that are installed"},
			{Name: "update_holds", Type: fun.Bool, Default: false, KwOnly: true, Doc: "do not log that held packages are changed; they are held again afterwards in any case"},
			{Name: "normalize", Type: fun.Bool, Default: true, KwOnly: true, Doc: "strip the architecture of the machine from names"},
			{Name: "saltenv", Type: fun.Str, KwOnly: true, Doc: "environment of salt:// URLs"},
			{Name: "repo", Type: fun.Str, KwOnly: true, Doc: "old name of fromrepo"},
		},
		Shared: [][]fun.Arg{changeArgs, envArgs},
	},
	{
		Name: "latest_version", Doc: "Return the version of a package that can be installed or upgraded to.\nIt is an empty string for a package that is up to date. For several packages, a mapping is returned.", Src: "modules/aptpkg.py latest_version", Fn: latestVersion,
		VarArg: true, VarKw: true, Shared: [][]fun.Arg{latestArgs},
	},
	{
		Name: "list_downloaded", Doc: "List package files that apt has downloaded.", Src: "modules/aptpkg.py list_downloaded", Fn: listDownloaded,
		VarKw: true,
		Args:  []fun.Arg{{Name: "root", Type: fun.Path, Doc: "directory of another system"}},
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions.", Src: "modules/aptpkg.py list_pkgs", Fn: listPkgs,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "versions_as_list", Type: fun.Bool, Default: false, Doc: "return lists of versions rather than text"},
			{Name: "removed", Type: fun.Bool, Default: false, Doc: "list packages instead that were removed and not purged"},
			{Name: "purge_desired", Type: fun.Bool, Default: false, Doc: "list packages instead that are to be purged and still needed"},
		},
	},
	{
		Name: "list_repo_pkgs", Doc: "List the versions that repositories have of packages.\nWithout a name, all packages are listed.", Src: "modules/aptpkg.py list_repo_pkgs", Fn: listRepoPkgs,
		VarArg: true, VarKw: true,
	},
	{
		Name: "list_repos", Doc: "List the repositories of apt's lists by their address.\nEntries that are commented out are disabled repositories.", Src: "modules/aptpkg.py list_repos", Fn: listRepos,
		VarKw: true,
	},
	{
		Name: "list_upgrades", Doc: "List packages that can be upgraded.", Src: "modules/aptpkg.py list_upgrades", Fn: listUpgrades,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "refresh", Type: fun.Bool, Default: true, Doc: "refresh the lists of apt first"},
			{Name: "dist_upgrade", Type: fun.Bool, Default: true, Doc: "list what apt-get dist-upgrade would do rather than apt-get upgrade"},
			cacheArg,
			repoArg,
		},
	},
	{
		Name: "mod_repo", Doc: "Add a repository to apt's lists, or change it.\nNothing changes if the lists of packages cannot be refreshed afterwards.", Src: "modules/aptpkg.py mod_repo", Fn: modRepo,
		VarKw: true,
		Args: []fun.Arg{
			definitionArg,
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of a salt:// URL"},
			aptKeyArg,
			ppaAuthArg,
			{Name: "file", Type: fun.Path, KwOnly: true, Doc: "file that the entry is to be in; default: where it is, else /etc/apt/sources.list"},
			{Name: "clean_file", Type: fun.Bool, Default: false, KwOnly: true, Doc: "remove all else from the file"},
			{Name: "consolidate", Type: fun.Bool, Default: false, KwOnly: true, Doc: "join the entries of all one-line files in /etc/apt/sources.list"},
			{Name: "comments", Type: fun.Strs, KwOnly: true, Doc: "comments at the end of the entry"},
			{Name: "keyid", Type: fun.Any, KwOnly: true, Doc: "IDs of keys to import from keyserver"},
			{Name: "keyserver", Type: fun.Str, KwOnly: true, Doc: "server that has the keys"},
			{Name: "key_url", Type: fun.Str, KwOnly: true, Doc: "path or URL of a key to import"},
			{Name: "key_text", Type: fun.Str, KwOnly: true, Doc: "a key to import, as text"},
			{Name: "refresh", Type: fun.Bool, Default: true, KwOnly: true, Doc: "refresh the lists of packages"},
			{Name: "refresh_db", Type: fun.Bool, KwOnly: true, Doc: "the same as refresh, which it overrides"},
		},
		Shared: [][]fun.Arg{entryArgs},
	},
	{
		Name: "normalize_name", Doc: "Strip the architecture from a name where it is that of the machine.", Src: "modules/aptpkg.py normalize_name", Fn: normalizeName,
		Args: []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package"}},
	},
	{
		Name: "owner", Doc: "Return the package that a file belongs to, or an empty string.\nFor several files, a mapping is returned.", Src: "modules/aptpkg.py owner", Fn: owner,
		VarArg: true, VarKw: true,
	},
	{
		Name: "parse_arch", Doc: "Divide a name into the package and its architecture.", Src: "modules/aptpkg.py parse_arch", Fn: parseArch,
		Args: []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package"}},
	},
	{
		Name: "purge", Doc: "Remove packages and their configuration files.", Src: "modules/aptpkg.py purge", Fn: purge,
		VarKw: true, Shared: [][]fun.Arg{removeArgs, envArgs},
	},
	{
		Name: "refresh_db", Doc: "Update the lists of apt.\nReturns by repository: True if something new was fetched, None if nothing is new, False if it failed.", Src: "modules/aptpkg.py refresh_db", Fn: refreshDB,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "cache_valid_time", Type: fun.Duration, Default: int64(0), Unit: "s", Doc: "do nothing if the lists are younger than this"},
			{Name: "failhard", Type: fun.Bool, Default: false, Doc: "fail if a repository cannot be fetched"},
		},
	},
	{
		Name: "remove", Doc: "Remove packages; their configuration files stay.", Src: "modules/aptpkg.py remove", Fn: remove,
		VarKw: true, Shared: [][]fun.Arg{removeArgs, envArgs},
	},
	{
		Name: "services_need_restart", Doc: "List services that use files which the package manager replaced.\nThis needs checkrestart of the package debian-goodies.", Src: "modules/aptpkg.py services_need_restart", Fn: servicesNeedRestart,
		VarKw: true,
	},
	{
		Name: "set_selections", Doc: "Set what is wanted of packages in dpkg's database: install, hold, deinstall or purge.", Src: "modules/aptpkg.py set_selections", Fn: setSelections,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Doc: "path or URL of a file with selections, as dpkg --get-selections prints them"},
			{Name: "selection", Type: fun.Dict | fun.Str, Doc: "mapping of a state to a list of names"},
			{Name: "clear", Type: fun.Bool, Default: false, Doc: "first mark all packages but essential ones to be removed"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of a salt:// URL"},
		},
	},
	{
		Name: "show", Doc: "Show what the repositories say of packages, by name and version.", Src: "modules/aptpkg.py show", Fn: show,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{
			{Name: "filter", Type: fun.Commas, KwOnly: true, Doc: "keys to return; default: all"},
			{Name: "refresh", Type: fun.Bool, Default: false, KwOnly: true, Doc: "refresh the lists of apt first"},
		},
	},
	{
		Name: "unhold", Doc: "Let packages be upgraded again.", Src: "modules/aptpkg.py unhold", Fn: unhold,
		VarKw: true, Shared: [][]fun.Arg{holdArgs},
	},
	{
		Name: "upgrade", Doc: "Upgrade all packages.\nReturns the versions before and after of all packages that changed.", Src: "modules/aptpkg.py upgrade", Fn: upgrade,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "refresh", Type: fun.Bool, Default: true, Doc: "refresh the lists of apt first"},
			{Name: "dist_upgrade", Type: fun.Bool, Default: false, Doc: "also install and remove packages where that is needed"},
			{Name: "pkgs", Type: fun.List, KwOnly: true, Doc: "upgrade only these packages"},
			repoArg,
			{Name: "skip_verify", Type: fun.Bool, Default: false, KwOnly: true, Doc: "install packages of repositories that are not signed"},
			{Name: "download_only", Type: fun.Bool, Default: false, KwOnly: true, Doc: "only download the packages"},
			{Name: "downloadonly", Type: fun.Bool, Default: false, KwOnly: true, Doc: "the same as download_only"},
			{Name: "allow_downgrades", Type: fun.Bool, Default: false, KwOnly: true, Doc: "allow older versions to be installed"},
		},
		Shared: [][]fun.Arg{changeArgs},
	},
	{
		Name: "upgrade_available", Doc: "Report whether a package can be upgraded or installed.", Src: "modules/aptpkg.py upgrade_available", Fn: upgradeAvailable,
		VarKw: true,
		Args:  []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package"}},
	},
	{
		Name: "version", Doc: "Return the installed version of a package, or an empty string.\nFor several packages, or a name with *, a mapping is returned.", Src: "modules/aptpkg.py version", Fn: version,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{{Name: "versions_as_list", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return lists of versions rather than text"}},
	},
	{
		Name: "version_cmp", Doc: "Compare two versions as dpkg does: -1, 0 or 1.\nIt is None where one of them is not a version.", Src: "modules/aptpkg.py version_cmp", Fn: versionCmp,
		VarKw: true,
		Args: []fun.Arg{
			{Name: "pkg1", Type: fun.Str | fun.None, Required: true, Doc: "a version"},
			{Name: "pkg2", Type: fun.Str | fun.None, Required: true, Doc: "another version"},
			{Name: "ignore_epoch", Type: fun.Bool, Default: false, Doc: "ignore the epochs"},
		},
	},
}
