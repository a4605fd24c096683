package pkg

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type nameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the package; ignored where pkgs or sources is given"`
}

type epochArg struct {
	_           fun.Arguments
	IgnoreEpoch value.Value `arg:"ignore_epoch,bool" doc:"whether to ignore the epoch when versions are compared; default: only for a version without epoch that is not compared by < or >"`
}

type repoArg struct {
	_        fun.Arguments
	FromRepo value.Value `arg:"fromrepo,str" doc:"repository or release to take packages from"`
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
	_         fun.Arguments
	Normalize bool `arg:"normalize" default:"True" doc:"strip the architecture of the machine from names"`
}

// providerArgs are passed on to the functions of the provider, where they are
// given. Those that a provider does not know it ignores.
type providerArgs struct {
	_                     fun.Arguments
	CacheValidTime        value.Value `arg:"cache_valid_time,duration" unit:"s" doc:"do not refresh if the package database is younger than this (apt)"`
	InstallRecommends     value.Value `arg:"install_recommends,bool" doc:"whether to install recommended packages; default: what the package manager is configured to do (apt)"`
	OnlyUpgrade           value.Value `arg:"only_upgrade,bool" doc:"only upgrade packages that are installed (apt)"`
	ForceConfNew          value.Value `arg:"force_conf_new,bool" doc:"replace changed configuration files by those of the new version (apt)"`
	ForceYes              value.Value `arg:"force_yes,bool" doc:"also downgrade, remove essential packages, change held packages and install unsigned ones (apt)"`
	Debconf               value.Value `arg:"debconf,str" doc:"path or URL of a file with answers for debconf, which are set before packages are installed (apt)"`
	Env                   value.Value `arg:"env,list|dict" doc:"environment variables for the package manager (apt)"`
	Disablerepo           value.Value `arg:"disablerepo,comma[str]" doc:"repositories not to use (dnf, yum)"`
	Enablerepo            value.Value `arg:"enablerepo,comma[str]" doc:"disabled repositories to use, too (dnf, yum)"`
	Disableexcludes       value.Value `arg:"disableexcludes,str" doc:"ignore excludes: all, main or those of a repository (dnf, yum)"`
	Branch                value.Value `arg:"branch,str" doc:"branch of repositories to use (dnf, yum)"`
	Setopt                value.Value `arg:"setopt,comma[str]" doc:"settings for this run, as name=value (dnf, yum)"`
	DiffAttr              value.Value `arg:"diff_attr,comma[str]" doc:"attributes to report of changed packages in place of versions (dnf, yum, zypper)"`
	GPGAutoImport         value.Value `arg:"gpgautoimport,bool" doc:"trust the keys of the repositories (zypper)"`
	IgnoreRepoFailure     value.Value `arg:"ignore_repo_failure,bool" doc:"go on where a repository fails (zypper)"`
	InclusionDetection    value.Value `arg:"inclusion_detection,bool" doc:"take what is before a colon for a kind: patch, pattern or product (zypper)"`
	NoRecommends          value.Value `arg:"no_recommends,bool" doc:"do not install recommended packages (zypper)"`
	Novendorchange        value.Value `arg:"novendorchange,bool" doc:"do not let packages change their vendor (zypper)"`
	Allowvendorchange     value.Value `arg:"allowvendorchange,bool" doc:"let packages change their vendor (zypper)"`
	Sysupgrade            value.Value `arg:"sysupgrade,bool" doc:"upgrade all packages, too (pacman)"`
	ResolveCapabilities   value.Value `arg:"resolve_capabilities,bool" doc:"take names of capabilities for names of the packages that provide them (zypper)"`
	ReportRebootExitCodes value.Value `arg:"report_reboot_exit_codes,bool" doc:"Windows only"`
}

// given are those that are given.
func (a *providerArgs) given() *value.Map {
	m := value.NewMap(8)
	for _, p := range [...]struct {
		name  string
		value value.Value
	}{
		{"cache_valid_time", a.CacheValidTime},
		{"install_recommends", a.InstallRecommends},
		{"only_upgrade", a.OnlyUpgrade},
		{"force_conf_new", a.ForceConfNew},
		{"force_yes", a.ForceYes},
		{"debconf", a.Debconf},
		{"env", a.Env},
		{"disablerepo", a.Disablerepo},
		{"enablerepo", a.Enablerepo},
		{"disableexcludes", a.Disableexcludes},
		{"branch", a.Branch},
		{"setopt", a.Setopt},
		{"diff_attr", a.DiffAttr},
		{"gpgautoimport", a.GPGAutoImport},
		{"ignore_repo_failure", a.IgnoreRepoFailure},
		{"inclusion_detection", a.InclusionDetection},
		{"no_recommends", a.NoRecommends},
		{"novendorchange", a.Novendorchange},
		{"allowvendorchange", a.Allowvendorchange},
		{"sysupgrade", a.Sysupgrade},
		{"resolve_capabilities", a.ResolveCapabilities},
		{"report_reboot_exit_codes", a.ReportRebootExitCodes},
	} {
		if p.value != nil {
			m.Set(p.name, p.value)
		}
	}
	return m
}

type removeArgs struct {
	_       string      `arg:"name,required" doc:"name of the package; ignored where pkgs is given"`
	Version string      `arg:"version" doc:"remove only this version, which may be a pattern or comparisons such as >=1.2,<2"`
	Pkgs    value.Value `arg:"pkgs,list" doc:"several packages: names, or mappings of a name to a version"`
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
		Name: "installed", Do: installed, Src: "states/pkg.py installed", Exclusive: [][]string{{"pkgs", "sources"}},
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
