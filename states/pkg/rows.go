package pkg

import (
	"time"

	"brine/internal/fun"
	"brine/internal/value"
)

type nameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the package; ignored where pkgs or sources is given"`
}

type epochArg struct {
	_ fun.Arguments
	_ bool `arg:"ignore_epoch" doc:"whether to ignore the epoch when versions are compared; default: only for a version without epoch that is not compared by < or >"`
}

type repoArg struct {
	_ fun.Arguments
	_ string `arg:"fromrepo" doc:"repository or release to take packages from"`
}

type verifyArg struct {
	_          fun.Arguments
	SkipVerify bool `arg:"skip_verify" default:"False" doc:"install packages that are not signed"`
}

type onceArg struct {
	_       fun.Arguments
	Refresh value.Value `arg:"refresh,bool" doc:"refresh the package database first; default: once in a run"`
}

type normArg struct {
	_ fun.Arguments
	_ bool `arg:"normalize" default:"True" doc:"strip the architecture of the machine from names"`
}

// providerArgs are passed on to the functions of the provider, where they are
// given. Those that a provider does not know it ignores.
type providerArgs struct {
	_ fun.Arguments
	_ time.Duration `arg:"cache_valid_time" unit:"s" doc:"do not refresh if the package database is younger than this (apt)"`
	_ bool          `arg:"install_recommends" doc:"whether to install recommended packages; default: what the package manager is configured to do (apt)"`
	_ bool          `arg:"only_upgrade" doc:"only upgrade packages that are installed (apt)"`
	_ bool          `arg:"force_conf_new" doc:"replace changed configuration files by those of the new version (apt)"`
	_ bool          `arg:"force_yes" doc:"also downgrade, remove essential packages, change held packages and install unsigned ones (apt)"`
	_ string        `arg:"debconf" doc:"path or URL of a file with answers for debconf, which are set before packages are installed (apt)"`
	_ value.Value   `arg:"env,list|dict" doc:"environment variables for the package manager (apt)"`
	_ value.Value   `arg:"disablerepo,comma[str]" doc:"repositories not to use (dnf, yum)"`
	_ value.Value   `arg:"enablerepo,comma[str]" doc:"disabled repositories to use, too (dnf, yum)"`
	_ string        `arg:"disableexcludes" doc:"ignore excludes: all, main or those of a repository (dnf, yum)"`
	_ string        `arg:"branch" doc:"branch of repositories to use (dnf, yum)"`
	_ value.Value   `arg:"setopt,comma[str]" doc:"settings for this run, as name=value (dnf, yum)"`
	_ value.Value   `arg:"diff_attr,comma[str]" doc:"attributes to report of changed packages in place of versions (dnf, yum, zypper)"`
	_ bool          `arg:"gpgautoimport" doc:"trust the keys of the repositories (zypper)"`
	_ bool          `arg:"ignore_repo_failure" doc:"go on where a repository fails (zypper)"`
	_ bool          `arg:"inclusion_detection" doc:"take what is before a colon for a kind: patch, pattern or product (zypper)"`
	_ bool          `arg:"no_recommends" doc:"do not install recommended packages (zypper)"`
	_ bool          `arg:"novendorchange" doc:"do not let packages change their vendor (zypper)"`
	_ bool          `arg:"allowvendorchange" doc:"let packages change their vendor (zypper)"`
	_ bool          `arg:"sysupgrade" doc:"upgrade all packages, too (pacman)"`
	_ bool          `arg:"resolve_capabilities" doc:"take names of capabilities for names of the packages that provide them (zypper)"`
	_ bool          `arg:"report_reboot_exit_codes" doc:"Windows only"`
}

type removeArgs struct {
	_ string      `arg:"name,required" doc:"name of the package; ignored where pkgs is given"`
	_ string      `arg:"version" doc:"remove only this version, which may be a pattern or comparisons such as >=1.2,<2"`
	_ value.Value `arg:"pkgs,list" doc:"several packages: names, or mappings of a name to a version"`
	normArg
	epochArg
}

var specs = []fun.Spec{
	{
		Name: "downloaded", Do: downloaded, Src: "states/pkg.py downloaded",
		Doc: "Download packages without installing them.",
	},
	{
		Name: "group_installed", Do: groupInstalled, Src: "states/pkg.py group_installed",
		Doc: "Install a group of packages.\nPackage managers without groups, such as apt, do not have this.",
	},
	{
		Name: "held", Do: held, Src: "states/pkg.py held",
		Doc: "Keep packages from being changed.",
	},
	{
		Name: "installed", Do: installed, Src: "states/pkg.py installed",
		Doc: "Install packages, in certain versions where those are given.",
	},
	{
		Name: "latest", Do: latest, Src: "states/pkg.py latest",
		Doc: "Install packages in the newest version there is.",
	},
	{
		Name: "patch_downloaded", Do: patchDownloaded, Src: "states/pkg.py patch_downloaded",
		Doc: "Download the packages of advisories.\nPackage managers without advisories, such as apt, do not have this.",
	},
	{
		Name: "patch_installed", Do: patchInstalled, Src: "states/pkg.py patch_installed",
		Doc: "Install the packages of advisories.\nPackage managers without advisories, such as apt, do not have this.",
	},
	{
		Name: "purged", Do: purged, Src: "states/pkg.py purged",
		Doc: "Remove packages and their configuration files.",
	},
	{
		Name: "removed", Do: removed, Src: "states/pkg.py removed",
		Doc: "Remove packages; their configuration files stay.",
	},
	{
		Name: "unheld", Do: unheld, Src: "states/pkg.py unheld",
		Doc: "Let packages be changed that are held.",
	},
	{
		Name: "uptodate", Do: uptodate, Src: "states/pkg.py uptodate",
		Doc: "Upgrade all packages.",
	},
}
