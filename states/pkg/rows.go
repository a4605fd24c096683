package pkg

import "brine/internal/fun"

var (
	nameArg   = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package; ignored where pkgs or sources is given"}
	epochArg  = fun.Arg{Name: "ignore_epoch", Type: fun.Bool, Doc: "whether to ignore the epoch when versions are compared; default: only for a version without epoch that is not compared by < or >"}
	repoArg   = fun.Arg{Name: "fromrepo", Type: fun.Str, Doc: "repository or release to take packages from"}
	verifyArg = fun.Arg{Name: "skip_verify", Type: fun.Bool, Default: false, Doc: "install packages that are not signed"}
	onceArg   = fun.Arg{Name: "refresh", Type: fun.Bool, Doc: "refresh the package database first; default: once in a run"}
	normArg   = fun.Arg{Name: "normalize", Type: fun.Bool, Default: true, Doc: "strip the architecture of the machine from names"}
)

// providerArgs are passed on to the functions of the provider, where they are
// given. Those that a provider does not know it ignores.
var providerArgs = []fun.Arg{
	{Name: "cache_valid_time", Type: fun.Duration, Unit: "s", Doc: "do not refresh if the package database is younger than this (apt)"},
	{Name: "install_recommends", Type: fun.Bool, Doc: "whether to install recommended packages; default: what the package manager is configured to do (apt)"},
	{Name: "only_upgrade", Type: fun.Bool, Doc: "only upgrade packages that are installed (apt)"},
	{Name: "force_conf_new", Type: fun.Bool, Doc: "replace changed configuration files by those of the new version (apt)"},
	{Name: "force_yes", Type: fun.Bool, Doc: "also downgrade, remove essential packages, change held packages and install unsigned ones (apt)"},
	{Name: "debconf", Type: fun.Str, Doc: "path or URL of a file with answers for debconf, which are set before packages are installed (apt)"},
	{Name: "env", Type: fun.Dict | fun.List, Doc: "environment variables for the package manager (apt)"},
	{Name: "disablerepo", Type: fun.Commas, Doc: "repositories not to use (dnf, yum)"},
	{Name: "enablerepo", Type: fun.Commas, Doc: "disabled repositories to use, too (dnf, yum)"},
	{Name: "disableexcludes", Type: fun.Str, Doc: "ignore excludes: all, main or those of a repository (dnf, yum)"},
	{Name: "branch", Type: fun.Str, Doc: "branch of repositories to use (dnf, yum)"},
	{Name: "setopt", Type: fun.Commas, Doc: "settings for this run, as name=value (dnf, yum)"},
	{Name: "diff_attr", Type: fun.Commas, Doc: "attributes to report of changed packages in place of versions (dnf, yum, zypper)"},
	{Name: "gpgautoimport", Type: fun.Bool, Doc: "trust the keys of the repositories (zypper)"},
	{Name: "ignore_repo_failure", Type: fun.Bool, Doc: "go on where a repository fails (zypper)"},
	{Name: "inclusion_detection", Type: fun.Bool, Doc: "take what is before a colon for a kind: patch, pattern or product (zypper)"},
	{Name: "no_recommends", Type: fun.Bool, Doc: "do not install recommended packages (zypper)"},
	{Name: "novendorchange", Type: fun.Bool, Doc: "do not let packages change their vendor (zypper)"},
	{Name: "allowvendorchange", Type: fun.Bool, Doc: "let packages change their vendor (zypper)"},
	{Name: "sysupgrade", Type: fun.Bool, Doc: "upgrade all packages, too (pacman)"},
	{Name: "resolve_capabilities", Type: fun.Bool, Doc: "take names of capabilities for names of the packages that provide them (zypper)"},
	{Name: "report_reboot_exit_codes", Type: fun.Bool, Doc: "Windows only"},
}

var removeArgs = []fun.Arg{
	{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package; ignored where pkgs is given"},
	{Name: "version", Type: fun.Str, Doc: "remove only this version, which may be a pattern or comparisons such as >=1.2,<2"},
	{Name: "pkgs", Type: fun.List, Doc: "several packages: names, or mappings of a name to a version"},
	normArg,
	epochArg,
}

var specs = []fun.Spec{
	{
		Name: "downloaded", State: downloaded, Src: "states/pkg.py downloaded",
		Doc:   "Download packages without installing them.",
		VarKw: true,
		Args: []fun.Arg{
			nameArg,
			{Name: "version", Type: fun.Str, Doc: "version to download"},
			{Name: "pkgs", Type: fun.List, Doc: "several packages: names, or mappings of a name to a version"},
			repoArg,
			epochArg,
		},
		Shared: [][]fun.Arg{providerArgs},
	},
	{
		Name: "group_installed", State: groupInstalled, Src: "states/pkg.py group_installed",
		Doc:   "Install a group of packages.\nPackage managers without groups, such as apt, do not have this.",
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the group"},
			{Name: "skip", Type: fun.Strs, Doc: "default packages not to install"},
			{Name: "include", Type: fun.Strs, Doc: "optional packages to install"},
		},
		Shared: [][]fun.Arg{providerArgs},
	},
	{
		Name: "held", State: held, Src: "states/pkg.py held",
		Doc:   "Keep packages from being changed.",
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package; ignored where pkgs is given"},
			{Name: "version", Type: fun.Str, Doc: "version to hold (zypper)"},
			{Name: "pkgs", Type: fun.List, Doc: "several packages: names, or mappings of a name to a version"},
			{Name: "replace", Type: fun.Bool, Default: false, Doc: "release all other packages that are held"},
		},
	},
	{
		Name: "installed", State: installed, Src: "states/pkg.py installed",
		Doc:   "Install packages, in certain versions where those are given.",
		VarKw: true,
		Args: []fun.Arg{
			nameArg,
			{Name: "version", Type: fun.Str, Doc: "version to install: a version, a pattern such as 1.2*, comparisons such as >=1.2,<2, or latest"},
			onceArg,
			repoArg,
			verifyArg,
			{Name: "skip_suggestions", Type: fun.Bool, Default: false, Doc: "do not look for similar names where a package is not known"},
			{Name: "pkgs", Type: fun.List, Doc: "several packages: names, or mappings of a name to a version"},
			{Name: "sources", Type: fun.List, Doc: "package files: mappings of a name to a path or URL"},
			{Name: "allow_updates", Type: fun.Bool, Default: false, Doc: "accept a later version than the one given"},
			{Name: "pkg_verify", Type: fun.Bool | fun.List, Default: false, Doc: "install packages again whose files were changed; a list may have ignore_types and verify_options (rpm)"},
			normArg,
			epochArg,
			{Name: "reinstall", Type: fun.Bool, Default: false, Doc: "install packages again that have the wanted version already"},
			{Name: "update_holds", Type: fun.Bool, Default: false, Doc: "change packages that are held, and hold them again"},
			{Name: "hold", Type: fun.Bool, Doc: "hold the packages (True) or release them (False)"},
		},
		Shared: [][]fun.Arg{providerArgs},
	},
	{
		Name: "latest", State: latest, Src: "states/pkg.py latest",
		Doc:   "Install packages in the newest version there is.",
		VarKw: true,
		Args: []fun.Arg{
			nameArg,
			onceArg,
			repoArg,
			verifyArg,
			{Name: "pkgs", Type: fun.List, Doc: "names of several packages"},
			{Name: "watch_flags", Type: fun.Bool, Default: true, Doc: "Gentoo only"},
		},
		Shared: [][]fun.Arg{providerArgs},
	},
	{
		Name: "patch_downloaded", State: patchDownloaded, Src: "states/pkg.py patch_downloaded",
		Doc:   "Download the packages of advisories.\nPackage managers without advisories, such as apt, do not have this.",
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "the advisory; ignored where advisory_ids is given"},
			{Name: "advisory_ids", Type: fun.Strs, Doc: "several advisories"},
		},
		Shared: [][]fun.Arg{providerArgs},
	},
	{
		Name: "patch_installed", State: patchInstalled, Src: "states/pkg.py patch_installed",
		Doc:   "Install the packages of advisories.\nPackage managers without advisories, such as apt, do not have this.",
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "the advisory; ignored where advisory_ids is given"},
			{Name: "advisory_ids", Type: fun.Strs, Doc: "several advisories"},
			{Name: "downloadonly", Type: fun.Bool, Doc: "only download the packages"},
		},
		Shared: [][]fun.Arg{providerArgs},
	},
	{
		Name: "purged", State: purged, Src: "states/pkg.py purged",
		Doc:   "Remove packages and their configuration files.",
		VarKw: true, Shared: [][]fun.Arg{removeArgs, providerArgs},
	},
	{
		Name: "removed", State: removed, Src: "states/pkg.py removed",
		Doc:   "Remove packages; their configuration files stay.",
		VarKw: true, Shared: [][]fun.Arg{removeArgs, providerArgs},
	},
	{
		Name: "unheld", State: unheld, Src: "states/pkg.py unheld",
		Doc:   "Let packages be changed that are held.",
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the package; ignored where pkgs is given"},
			{Name: "version", Type: fun.Str, Doc: "version that is held (zypper)"},
			{Name: "pkgs", Type: fun.List, Doc: "several packages: names, or mappings of a name to a version"},
			{Name: "all", Type: fun.Bool, Default: false, Doc: "release all packages"},
		},
	},
	{
		Name: "uptodate", State: uptodate, Src: "states/pkg.py uptodate",
		Doc:   "Upgrade all packages.",
		VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "a name for the state"},
			{Name: "refresh", Type: fun.Bool, Default: false, Doc: "refresh the package database first"},
			{Name: "pkgs", Type: fun.List, Doc: "upgrade only these packages"},
			{Name: "dist_upgrade", Type: fun.Bool, Doc: "also install and remove packages where that is needed (apt)"},
			{Name: "fromrepo", Type: fun.Str, Doc: "release to take packages from (apt)"},
			verifyArg,
		},
		Shared: [][]fun.Arg{providerArgs},
	},
}
