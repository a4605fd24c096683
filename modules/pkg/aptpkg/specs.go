package aptpkg

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type cacheArg struct {
	_              fun.Arguments
	CacheValidTime float64 `arg:"cache_valid_time,kw,duration" default:"0" unit:"s" doc:"do not refresh if the lists of apt are younger than this"`
}

type repoArg struct {
	_        fun.Arguments
	Fromrepo fun.Opt[string] `arg:"fromrepo,kw" doc:"release to take packages from, such as stable or bookworm-backports"`
}

type envArgs struct {
	_   fun.Arguments
	Env value.Value `arg:"env,kw,list|dict" doc:"environment variables for apt, as a mapping or a list of mappings"`
}

// changeArgs are those of functions that install or upgrade.
type changeArgs struct {
	_              fun.Arguments
	CacheValidTime float64 `arg:"cache_valid_time,kw,duration" default:"0" unit:"s" doc:"do not refresh if the lists of apt are younger than this"`
	ForceConfNew   bool    `arg:"force_conf_new,kw" default:"False" doc:"replace changed configuration files by those of the new version; default: keep them"`
	ForceYes       bool    `arg:"force_yes,kw" default:"False" doc:"also downgrade, remove essential packages, change held packages and install unsigned ones"`
}

type simulateArg struct {
	_        fun.Arguments
	Simulate bool `arg:"simulate,kw" default:"False" doc:"change nothing, and return what would change, with the packages that come along"`
}

type latestArgs struct {
	Refresh bool `arg:"refresh,kw" default:"True" doc:"refresh the repositories first"`
	repoArg
	cacheArg
	ShowInstalled bool `arg:"show_installed,kw" default:"False" doc:"return the version of packages that are up to date, too, rather than an empty string"`
}

type removeArgs struct {
	_    fun.Arguments
	Name string        `arg:"name" doc:"name of the package, or several with commas between them"`
	Pkgs []value.Value `arg:"pkgs" doc:"names of several packages; name is ignored"`
	Test bool          `arg:"test,kw" default:"False" doc:"only return what would be removed, with the packages that depend on it"`
}

type definitionArg struct {
	_    fun.Arguments
	Repo string `arg:"repo,required" doc:"the repository: an entry in one line, or ppa:OWNER/NAME on Ubuntu"`
}

type ppaAuthArg struct {
	_       fun.Arguments
	PPAAuth string `arg:"ppa_auth,kw,secret" doc:"USER:PASSWORD of a private archive"`
}

type aptKeyArg struct {
	_      fun.Arguments
	AptKey bool `arg:"aptkey" default:"True" doc:"use apt-key where it is there; False: keyrings"`
}

type keyDirArg struct {
	_      fun.Arguments
	Keydir string `arg:"keydir,path" doc:"directory of keyrings; default: /etc/apt/keyrings"`
}

type entryArgs struct {
	_             fun.Arguments
	Architectures fun.Opt[[]string] `arg:"architectures,kw,comma[str]" doc:"architectures, instead of those of the definition"`
	Comps         fun.Opt[[]string] `arg:"comps,kw,comma[str]" doc:"components, instead of those of the definition"`
	Disabled      fun.Opt[bool]     `arg:"disabled,kw" doc:"whether the entry is commented out; default: as it is"`
	Dist          string            `arg:"dist,kw" doc:"suite, instead of that of the definition"`
	Enabled       fun.Opt[bool]     `arg:"enabled,kw" doc:"the opposite of disabled"`
	Signedby      string            `arg:"signedby,kw" doc:"path of a keyring, where the definition does not name one"`
	URI           string            `arg:"uri,kw" doc:"address, instead of that of the definition"`
}

var specs = []fun.Spec{
	{
		Name: "add_repo_key", Doc: "Import the key of a repository, unless it is there.\nThe key comes from a file, text or a keyserver. Without apt-key it is written to a keyring, which the entry of the repository names by signed-by.", Src: "modules/aptpkg.py add_repo_key", Do: addRepoKey,
	},
	{
		Name: "autoremove", Doc: "Remove packages that were installed as dependencies and are no longer needed.", Src: "modules/aptpkg.py autoremove", Do: autoremove,
	},
	{
		Name: "available_version", Doc: "Return the version of a package that can be installed or upgraded to.\nThe same as latest_version.", Src: "modules/aptpkg.py available_version", Do: latestVersion,
	},
	{
		Name: "del_repo", Doc: "Remove components of a repository from apt's lists, and the entry with the last of them.\nThe lists of packages are refreshed.", Src: "modules/aptpkg.py del_repo", Do: delRepo,
	},
	{
		Name: "del_repo_key", Doc: "Remove the key of a repository and return its ID.\nReturn False if there is no keyring that has it.", Src: "modules/aptpkg.py del_repo_key", Do: delRepoKey,
	},
	{
		Name: "expand_repo_def", Doc: "Return the repository that a definition and the arguments of mod_repo describe.", Src: "modules/aptpkg.py expand_repo_def", Do: expandRepoDef,
	},
	{
		Name: "file_dict", Doc: "List the files of packages, by package.\nWithout a name, all packages are listed.", Src: "modules/aptpkg.py file_dict", Do: fileDict,
	},
	{
		Name: "file_list", Doc: "List the files of packages.\nWithout a name, the files of all packages are listed.", Src: "modules/aptpkg.py file_list", Do: fileList,
	},
	{
		Name: "get_repo", Doc: "Return a repository of apt's lists: the entry with this type, address and suite that has one of the components.\nReturn an empty mapping if there is none.", Src: "modules/aptpkg.py get_repo", Do: getRepo,
	},
	{
		Name: "get_repo_keys", Doc: "Return the keys of repositories by their IDs.\nReturn False if there is no directory of keyrings.", Src: "modules/aptpkg.py get_repo_keys", Do: getRepoKeys,
	},
	{
		Name: "get_selections", Doc: "Return what is wanted of packages in dpkg's database: install, hold, deinstall or purge.", Src: "modules/aptpkg.py get_selections", Do: getSelections,
	},
	{
		Name: "hold", Doc: "Keep packages from being upgraded.", Src: "modules/aptpkg.py hold", Do: hold,
	},
	{
		Name: "info_installed", Doc: "Describe installed packages.\nWithout a name, all are described.", Src: "modules/aptpkg.py info_installed", Do: infoInstalled,
	},
	{
		Name: "install", Doc: "Install packages, or update them.\nReturns the versions before and after of all packages that changed.", Src: "modules/aptpkg.py install", Do: install,
	},
	{
		Name: "latest_version", Doc: "Return the version of a package that can be installed or upgraded to.\nIt is an empty string for a package that is up to date. For several packages, a mapping is returned.", Src: "modules/aptpkg.py latest_version", Do: latestVersion,
	},
	{
		Name: "list_downloaded", Doc: "List package files that apt has downloaded.", Src: "modules/aptpkg.py list_downloaded", Do: listDownloaded,
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions.", Src: "modules/aptpkg.py list_pkgs", Do: listPkgs,
	},
	{
		Name: "list_repo_pkgs", Doc: "List the versions that repositories have of packages.\nWithout a name, all packages are listed.", Src: "modules/aptpkg.py list_repo_pkgs", Do: listRepoPkgs,
	},
	{
		Name: "list_repos", Doc: "List the repositories of apt's lists by their address.\nEntries that are commented out are disabled repositories.", Src: "modules/aptpkg.py list_repos", Do: listRepos,
	},
	{
		Name: "list_upgrades", Doc: "List packages that can be upgraded.", Src: "modules/aptpkg.py list_upgrades", Do: listUpgrades,
	},
	{
		Name: "mod_repo", Doc: "Add a repository to apt's lists, or change it.\nNothing changes if the lists of packages cannot be refreshed afterwards.", Src: "modules/aptpkg.py mod_repo", Do: modRepo,
	},
	{
		Name: "normalize_name", Doc: "Strip the architecture from a name where it is that of the machine.", Src: "modules/aptpkg.py normalize_name", Do: normalizeName,
	},
	{
		Name: "owner", Doc: "Return the package that a file belongs to, or an empty string.\nFor several files, a mapping is returned.", Src: "modules/aptpkg.py owner", Do: owner,
	},
	{
		Name: "parse_arch", Doc: "Divide a name into the package and its architecture.", Src: "modules/aptpkg.py parse_arch", Do: parseArch,
	},
	{
		Name: "purge", Doc: "Remove packages and their configuration files.", Src: "modules/aptpkg.py purge", Do: purge,
	},
	{
		Name: "refresh_db", Doc: "Update the lists of apt.\nReturns by repository: True if something new was fetched, None if nothing is new, False if it failed.", Src: "modules/aptpkg.py refresh_db", Do: refreshDB,
	},
	{
		Name: "remove", Doc: "Remove packages; their configuration files stay.", Src: "modules/aptpkg.py remove", Do: remove,
	},
	{
		Name: "services_need_restart", Doc: "List services that use files which the package manager replaced.\nThis needs checkrestart of the package debian-goodies.", Src: "modules/aptpkg.py services_need_restart", Do: servicesNeedRestart,
	},
	{
		Name: "set_selections", Doc: "Set what is wanted of packages in dpkg's database: install, hold, deinstall or purge.", Src: "modules/aptpkg.py set_selections", Do: setSelections,
	},
	{
		Name: "show", Doc: "Show what the repositories say of packages, by name and version.", Src: "modules/aptpkg.py show", Do: show,
	},
	{
		Name: "unhold", Doc: "Let packages be upgraded again.", Src: "modules/aptpkg.py unhold", Do: unhold,
	},
	{
		Name: "upgrade", Doc: "Upgrade all packages.\nReturns the versions before and after of all packages that changed.", Src: "modules/aptpkg.py upgrade", Do: upgrade,
	},
	{
		Name: "upgrade_available", Doc: "Report whether a package can be upgraded or installed.", Src: "modules/aptpkg.py upgrade_available", Do: upgradeAvailable,
	},
	{
		Name: "version", Doc: "Return the installed version of a package, or an empty string.\nFor several packages, or a name with *, a mapping is returned.", Src: "modules/aptpkg.py version", Do: version,
	},
	{
		Name: "version_cmp", Doc: "Compare two versions as dpkg does: -1, 0 or 1.\nIt is None where one of them is not a version.", Src: "modules/aptpkg.py version_cmp", Do: versionCmp,
	},
}
