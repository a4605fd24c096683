package yumpkg

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// repoArgs choose repositories and settings.
type repoArgs struct {
	_               fun.Arguments
	Fromrepo        []string `arg:"fromrepo,kw,comma[str]" doc:"use only these repositories"`
	Repo            []string `arg:"repo,kw,comma[str]" doc:"old name of fromrepo"`
	Disablerepo     []string `arg:"disablerepo,kw,comma[str]" doc:"repositories not to use; ignored with fromrepo"`
	Enablerepo      []string `arg:"enablerepo,kw,comma[str]" doc:"disabled repositories to use, too; ignored with fromrepo"`
	Disableexcludes string   `arg:"disableexcludes,kw" doc:"ignore excludes: all, main or those of a repository"`
	Branch          string   `arg:"branch,kw" doc:"branch of repositories to use"`
	Setopt          []string `arg:"setopt,kw,comma[str]" doc:"settings for this run, as name=value"`
}

type refreshArg struct {
	_       fun.Arguments
	Refresh bool `arg:"refresh,kw" default:"True" doc:"refresh the repositories first"`
}

type attrArg struct {
	_        fun.Arguments
	DiffAttr value.Value `arg:"diff_attr,kw,comma[str]" doc:"attributes to return of changed packages in place of versions: epoch, version, release, arch, install_date, install_date_time_t, or all"`
}

type strictArg struct {
	_            fun.Arguments
	StrictConfig bool `arg:"strict_config,kw" default:"True" doc:"refuse files with a section or an option that occurs twice"`
}

type basedirArg struct {
	_       fun.Arguments
	Basedir []string `arg:"basedir,comma[str]" doc:"directories of files with repositories; default: those of the settings"`
}

type repoArg struct {
	_    fun.Arguments
	Repo string `arg:"repo,required" doc:"name of the repository, or copr:USER/PROJECT"`
}

type groupArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the group"`
}

type simulateArg struct {
	_        fun.Arguments
	Simulate bool `arg:"simulate,kw" default:"False" doc:"change nothing, and return what would change, with the packages that come along"`
}

type latestArgs struct {
	refreshArg
}

type holdsArgs struct {
	_       fun.Arguments
	Pattern string `arg:"pattern" default:"[\\w+]+(?:[.-][^-]+)*" doc:"regular expression for the names of packages"`
	Full    bool   `arg:"full" default:"True" doc:"return the locks with their versions rather than names"`
}

var specs = []fun.Spec{
	{
		Name: "available_version", Doc: "Return the version of a package that can be installed or upgraded to.\nThe same as latest_version.", Src: "modules/yumpkg.py available_version", Do: latestVersion,
	},
	{
		Name: "clean_metadata", Doc: "Have the metadata of repositories fetched again.\nThe same as refresh_db.", Src: "modules/yumpkg.py clean_metadata", Do: refreshDB,
	},
	{
		Name: "del_repo", Doc: "Delete a repository, and its file if that has no other one.", Src: "modules/yumpkg.py del_repo", Do: delRepo,
	},
	{
		Name: "download", Doc: "Download packages to /var/cache/yum/packages.\nReturns their paths by name.", Src: "modules/yumpkg.py download", Do: download,
	},
	{
		Name: "get_locked_packages", Doc: "List held packages.\nThe same as list_holds.", Src: "modules/yumpkg.py get_locked_packages", Do: listHolds,
	},
	{
		Name: "get_repo", Doc: "Return the options of a repository; none if there is no such repository.", Src: "modules/yumpkg.py get_repo", Do: getRepo,
	},
	{
		Name: "group_diff", Doc: "List which packages of a group are installed, and which are not.", Src: "modules/yumpkg.py group_diff", Do: groupDiff,
	},
	{
		Name: "group_info", Doc: "Describe a group of packages.", Src: "modules/yumpkg.py group_info", Do: groupInfo,
	},
	{
		Name: "group_install", Doc: "Install the packages of groups.", Src: "modules/yumpkg.py group_install", Do: groupInstall,
		Of: "pkg.install",
	},
	{
		Name: "group_list", Doc: "List the groups of packages.", Src: "modules/yumpkg.py group_list", Do: groupList,
	},
	{
		Name: "groupinstall", Doc: "Install the packages of groups.\nThe same as group_install.", Src: "modules/yumpkg.py groupinstall", Do: groupInstall,
		Of: "pkg.install",
	},
	{
		Name: "hold", Doc: "Keep packages from being upgraded.\nThis needs the plugin versionlock.", Src: "modules/yumpkg.py hold", Do: hold,
	},
	{
		Name: "install", Doc: "Install packages, or update them.\nReturns the versions before and after of all packages that changed.", Src: "modules/yumpkg.py install", Do: install,
	},
	{
		Name: "latest_version", Doc: "Return the version of a package that can be installed or upgraded to.\nIt is an empty string for a package that is up to date. For several packages, a mapping is returned.", Src: "modules/yumpkg.py latest_version", Do: latestVersion,
	},
	{
		Name: "list_downloaded", Doc: "List package files that were downloaded.", Src: "modules/yumpkg.py list_downloaded", Do: listDownloaded,
	},
	{
		Name: "list_holds", Doc: "List held packages.\nThis needs the plugin versionlock.", Src: "modules/yumpkg.py list_holds", Do: listHolds,
	},
	{
		Name: "list_installed_patches", Doc: "List advisories of which all packages are installed.", Src: "modules/yumpkg.py list_installed_patches", Do: listInstalledPatches,
	},
	{
		Name: "list_patches", Doc: "List the advisories of repositories.", Src: "modules/yumpkg.py list_patches", Do: listPatches,
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions.", Src: "modules/yumpkg.py list_pkgs", Do: listPkgs,
	},
	{
		Name: "list_repo_pkgs", Doc: "List the versions that repositories have of packages, newest first.\nWithout a name, all packages are listed. A name may be a pattern.", Src: "modules/yumpkg.py list_repo_pkgs", Do: listRepoPkgs,
	},
	{
		Name: "list_repos", Doc: "List repositories and their options.", Src: "modules/yumpkg.py list_repos", Do: listRepos,
	},
	{
		Name: "list_updates", Doc: "List packages that can be upgraded.\nThe same as list_upgrades.", Src: "modules/yumpkg.py list_updates", Do: listUpgrades,
	},
	{
		Name: "list_upgrades", Doc: "List packages that can be upgraded.", Src: "modules/yumpkg.py list_upgrades", Do: listUpgrades,
	},
	{
		Name: "mod_repo", Doc: "Change options of a repository, or add it.\nFurther arguments are the options; an empty one is taken out. A new repository needs name, and baseurl or mirrorlist.", Src: "modules/yumpkg.py mod_repo", Do: modRepo,
		Hands: true,
	},
	{
		Name: "purge", Doc: "Remove packages.\nThe same as remove: rpm has no purge.", Src: "modules/yumpkg.py purge", Do: remove,
	},
	{
		Name: "refresh_db", Doc: "Have the metadata of repositories fetched again.\nReturns True if there are updates, None if there are none, and False if that failed.", Src: "modules/yumpkg.py refresh_db", Do: refreshDB,
	},
	{
		Name: "remove", Doc: "Remove packages.", Src: "modules/yumpkg.py remove", Do: remove,
	},
	{
		Name: "services_need_restart", Doc: "List services that use files which the package manager replaced.\nThis needs dnf with its plugin needs-restarting, and systemd.", Src: "modules/yumpkg.py services_need_restart", Do: servicesNeedRestart,
	},
	{
		Name: "unhold", Doc: "Let packages be upgraded again.\nThis needs the plugin versionlock.", Src: "modules/yumpkg.py unhold", Do: unhold,
	},
	{
		Name: "update", Doc: "Upgrade all packages, without those that replace others.\nThe same as upgrade with obsoletes=False. Further arguments are options of dnf or yum.", Src: "modules/yumpkg.py update", Do: update,
		Hands: true,
	},
	{
		Name: "upgrade", Doc: "Upgrade all packages.\nReturns the versions before and after of all packages that changed. Further arguments are options of dnf or yum: security=True is --security.", Src: "modules/yumpkg.py upgrade", Do: upgrade,
		Hands: true,
	},
	{
		Name: "upgrade_available", Doc: "Report whether a package can be upgraded or installed.", Src: "modules/yumpkg.py upgrade_available", Do: upgradeAvailable,
	},
}
