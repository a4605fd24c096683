// Package assembly lists brine's rooms: the only place that imports them all.
package assembly

import (
	"slices"

	"brine/internal/fun"
	alternativesmod "brine/modules/alternatives"
	archivemod "brine/modules/archive"
	cmdmod "brine/modules/cmd"
	configmod "brine/modules/config"
	cpmod "brine/modules/cp"
	cronmod "brine/modules/cron"
	datamod "brine/modules/data"
	defaultsmod "brine/modules/defaults"
	environmod "brine/modules/environ"
	eventmod "brine/modules/event"
	filemod "brine/modules/file"
	gemmod "brine/modules/gem"
	gitmod "brine/modules/git"
	grainsmod "brine/modules/grains"
	groupmod "brine/modules/group"
	hashutilmod "brine/modules/hashutil"
	hostsmod "brine/modules/hosts"
	httpmod "brine/modules/http"
	inimanagemod "brine/modules/inimanage"
	jinjamod "brine/modules/jinja"
	keyboardmod "brine/modules/keyboard"
	kmodmod "brine/modules/kmod"
	linuxaclmod "brine/modules/linuxacl"
	linuxsysctlmod "brine/modules/linuxsysctl"
	localemod "brine/modules/locale"
	logmod "brine/modules/log"
	logrotatemod "brine/modules/logrotate"
	matchmod "brine/modules/match"
	mountmod "brine/modules/mount"
	networkmod "brine/modules/network"
	npmmod "brine/modules/npm"
	openrcmod "brine/modules/openrc"
	outmod "brine/modules/out"
	pillarmod "brine/modules/pillar"
	pipmod "brine/modules/pip"
	"brine/modules/pkg/aptpkg"
	"brine/modules/pkg/dpkg"
	pkgresource "brine/modules/pkg/resource"
	randommod "brine/modules/random"
	runitmod "brine/modules/runit"
	saltutilmod "brine/modules/saltutil"
	shadowmod "brine/modules/shadow"
	slsutilmod "brine/modules/slsutil"
	sshmod "brine/modules/ssh"
	statusmod "brine/modules/status"
	systemmod "brine/modules/system"
	systemdmod "brine/modules/systemd"
	sysvmod "brine/modules/sysv"
	testmod "brine/modules/test"
	timezonemod "brine/modules/timezone"
	usermod "brine/modules/user"
	virtualenvmod "brine/modules/virtualenv"
	"brine/runner/fn/events"
	"brine/runner/fn/manage"
	"brine/runner/fn/orchestrate"
	pillarrun "brine/runner/fn/pillar"
	"brine/runner/fn/saltrun"
	statefn "brine/runner/fn/state"
	testrun "brine/runner/fn/testing"
	"brine/runner/fn/wheel"
	alternativesstates "brine/states/alternatives"
	archivestates "brine/states/archive"
	cmdstates "brine/states/cmd"
	cronstates "brine/states/cron"
	environstates "brine/states/environ"
	eventstates "brine/states/event"
	filestates "brine/states/file"
	gemstates "brine/states/gem"
	gitstates "brine/states/git"
	grainsstates "brine/states/grains"
	groupstates "brine/states/group"
	hoststates "brine/states/host"
	httpstates "brine/states/http"
	inimanagestates "brine/states/inimanage"
	keyboardstates "brine/states/keyboard"
	kmodstates "brine/states/kmod"
	linuxaclstates "brine/states/linuxacl"
	localestates "brine/states/locale"
	logrotatestates "brine/states/logrotate"
	modulestates "brine/states/module"
	mountstates "brine/states/mount"
	npmstates "brine/states/npm"
	pipstates "brine/states/pip"
	pkgstates "brine/states/pkg"
	saltstates "brine/states/salt"
	servicestates "brine/states/service"
	sshauthstates "brine/states/sshauth"
	sshknownhostsstates "brine/states/sshknownhosts"
	stateconfstates "brine/states/stateconf"
	sysctlstates "brine/states/sysctl"
	teststates "brine/states/test"
	timezonestates "brine/states/timezone"
	userstates "brine/states/user"
	virtualenvstates "brine/states/virtualenv"
)

// Table returns all functions of this build. Modules are made when they are
// first used.
func Table() *fun.Table {
	return fun.NewTable([]fun.Entry{
		{Kind: fun.Exec, Name: "aptpkg", Virtual: "pkg", Load: aptpkg.Module},
		{Kind: fun.Exec, Name: "alternatives", Load: alternativesmod.Module},
		{Kind: fun.Exec, Name: "archive", Load: archivemod.Module},
		{Kind: fun.Exec, Name: "cmd", Load: cmdmod.Module},
		{Kind: fun.Exec, Name: "config", Load: configmod.Module},
		{Kind: fun.Exec, Name: "cp", Load: cpmod.Module},
		{Kind: fun.Exec, Name: "cron", Load: cronmod.Module},
		{Kind: fun.Exec, Name: "data", Load: datamod.Module},
		{Kind: fun.Exec, Name: "defaults", Load: defaultsmod.Module},
		{Kind: fun.Exec, Name: "dpkg_lowpkg", Virtual: "lowpkg", Load: dpkg.Module},
		{Kind: fun.Exec, Name: "environ", Load: environmod.Module},
		{Kind: fun.Exec, Name: "event", Load: eventmod.Module},
		{Kind: fun.Exec, Name: "file", Load: filemod.Module},
		{Kind: fun.Exec, Name: "gem", Load: gemmod.Module},
		{Kind: fun.Exec, Name: "git", Load: gitmod.Module},
		{Kind: fun.Exec, Name: "grains", Load: grainsmod.Module},
		{Kind: fun.Exec, Name: "group", Load: groupmod.Module},
		{Kind: fun.Exec, Name: "hashutil", Load: hashutilmod.Module},
		{Kind: fun.Exec, Name: "hosts", Load: hostsmod.Module},
		{Kind: fun.Exec, Name: "http", Load: httpmod.Module},
		{Kind: fun.Exec, Name: "ini_manage", Virtual: "ini", Load: inimanagemod.Module},
		{Kind: fun.Exec, Name: "jinja", Load: jinjamod.Module},
		{Kind: fun.Exec, Name: "linux_acl", Virtual: "acl", Load: linuxaclmod.Module},
		{Kind: fun.Exec, Name: "linux_sysctl", Virtual: "sysctl", Load: linuxsysctlmod.Module},
		{Kind: fun.Exec, Name: "keyboard", Load: keyboardmod.Module},
		{Kind: fun.Exec, Name: "kmod", Load: kmodmod.Module},
		{Kind: fun.Exec, Name: "locale", Load: localemod.Module},
		{Kind: fun.Exec, Name: "log", Load: logmod.Module},
		{Kind: fun.Exec, Name: "logrotate", Load: logrotatemod.Module},
		{Kind: fun.Exec, Name: "match", Load: matchmod.Module},
		{Kind: fun.Exec, Name: "mount", Load: mountmod.Module},
		{Kind: fun.Exec, Name: "network", Load: networkmod.Module},
		{Kind: fun.Exec, Name: "npm", Load: npmmod.Module},
		{Kind: fun.Exec, Name: "out", Load: outmod.Module},
		{Kind: fun.Exec, Name: "pillar", Load: pillarmod.Module},
		{Kind: fun.Exec, Name: "pip", Load: pipmod.Module},
		{Kind: fun.Exec, Name: "pkg_resource", Load: pkgresource.Module},
		{Kind: fun.Exec, Name: "random", Load: randommod.Module},
		{Kind: fun.Exec, Name: "runit", Load: runitmod.Module},
		{Kind: fun.Exec, Name: "saltutil", Load: saltutilmod.Module},
		{Kind: fun.Exec, Name: "shadow", Load: shadowmod.Module},
		{Kind: fun.Exec, Name: "slsutil", Load: slsutilmod.Module},
		{Kind: fun.Exec, Name: "ssh", Load: sshmod.Module},
		{Kind: fun.Exec, Name: "state", Load: stateModule},
		{Kind: fun.Exec, Name: "status", Load: statusmod.Module},
		{Kind: fun.Exec, Name: "sys", Load: sysModule},
		{Kind: fun.Exec, Name: "system", Load: systemmod.Module},
		{Kind: fun.Exec, Name: "systemd_service", Virtual: "service", Load: systemdmod.Module},
		{Kind: fun.Exec, Name: "gentoo_service", Virtual: "service", Load: openrcmod.Module},
		{Kind: fun.Exec, Name: "runit", Virtual: "service", Load: runitmod.Service},
		{Kind: fun.Exec, Name: "debian_service", Virtual: "service", Load: sysvmod.Debian},
		{Kind: fun.Exec, Name: "rh_service", Virtual: "service", Load: sysvmod.RedHat},
		{Kind: fun.Exec, Name: "test", Load: testmod.Module},
		{Kind: fun.Exec, Name: "timezone", Load: timezonemod.Module},
		{Kind: fun.Exec, Name: "user", Load: usermod.Module},
		{Kind: fun.Exec, Name: "virtualenv", Load: virtualenvmod.Module},

		{Kind: fun.State, Name: "alternatives", Load: alternativesstates.States},
		{Kind: fun.State, Name: "archive", Load: archivestates.States},
		{Kind: fun.State, Name: "cmd", Load: cmdstates.States},
		{Kind: fun.State, Name: "cron", Load: cronstates.States},
		{Kind: fun.State, Name: "environ", Load: environstates.States},
		{Kind: fun.State, Name: "event", Load: eventstates.States},
		{Kind: fun.State, Name: "file", Load: filestates.States},
		{Kind: fun.State, Name: "gem", Load: gemstates.States},
		{Kind: fun.State, Name: "git", Load: gitstates.States},
		{Kind: fun.State, Name: "grains", Load: grainsstates.States},
		{Kind: fun.State, Name: "group", Load: groupstates.States},
		{Kind: fun.State, Name: "host", Load: hoststates.States},
		{Kind: fun.State, Name: "http", Load: httpstates.States},
		{Kind: fun.State, Name: "keyboard", Load: keyboardstates.States},
		{Kind: fun.State, Name: "kmod", Load: kmodstates.States},
		{Kind: fun.State, Name: "locale", Load: localestates.States},
		{Kind: fun.State, Name: "ini_manage", Virtual: "ini", Load: inimanagestates.States},
		{Kind: fun.State, Name: "linux_acl", Virtual: "acl", Load: linuxaclstates.States},
		{Kind: fun.State, Name: "logrotate", Load: logrotatestates.States},
		{Kind: fun.State, Name: "module", Load: modulestates.States},
		{Kind: fun.State, Name: "npm", Load: npmstates.States},
		{Kind: fun.State, Name: "pip", Load: pipstates.States},
		{Kind: fun.State, Name: "pkg", Load: pkgstates.States},
		{Kind: fun.State, Name: "mount", Load: mountstates.States},
		{Kind: fun.State, Name: "salt", Load: saltstates.States},
		{Kind: fun.State, Name: "ssh_auth", Load: sshauthstates.States},
		{Kind: fun.State, Name: "ssh_known_hosts", Load: sshknownhostsstates.States},
		{Kind: fun.State, Name: "service", Load: servicestates.States},
		{Kind: fun.State, Name: "stateconf", Load: stateconfstates.States},
		{Kind: fun.State, Name: "sysctl", Load: sysctlstates.States},
		{Kind: fun.State, Name: "test", Load: teststates.States},
		{Kind: fun.State, Name: "timezone", Load: timezonestates.States},
		{Kind: fun.State, Name: "user", Load: userstates.States},
		{Kind: fun.State, Name: "virtualenv", Load: virtualenvstates.States},

		{Kind: fun.Runner, Name: "audit", Load: auditRunner},
		{Kind: fun.Runner, Name: "config", Load: saltrun.Config},
		{Kind: fun.Runner, Name: "error", Load: saltrun.Error},
		{Kind: fun.Runner, Name: "event", Load: events.Runners},
		{Kind: fun.Runner, Name: "http", Load: saltrun.HTTP},
		{Kind: fun.Runner, Name: "jobs", Load: jobsRunner},
		{Kind: fun.Runner, Name: "manage", Load: manage.Runners},
		{Kind: fun.Runner, Name: "pillar", Load: pillarrun.Runners},
		{Kind: fun.Runner, Name: "returner", Load: returnerRunner},
		{Kind: fun.Runner, Name: "salt", Load: saltrun.Runners},
		{Kind: fun.Runner, Name: "saltutil", Load: saltutilmod.Runners},
		{Kind: fun.Runner, Name: "state", Load: stateRunner},
		{Kind: fun.Runner, Name: "test", Load: testrun.Runners},

		{Kind: fun.Wheel, Name: "config", Load: wheel.Config},
		{Kind: fun.Wheel, Name: "error", Load: wheel.Error},
		{Kind: fun.Wheel, Name: "key", Load: wheel.Key},
		{Kind: fun.Wheel, Name: "minions", Load: wheel.Minions},
	})
}

// stateRunner joins orchestrations with what watches and steers runs.
func stateRunner() fun.Module {
	m := orchestrate.Runners()
	m.Specs = slices.Concat(m.Specs, events.StateSpecs(), events.PauseRunners())
	m.SortSpecs()
	return m
}

// stateModule joins the execution module "state" with masterless
// orchestration, which stands above it.
func stateModule() fun.Module {
	m := statefn.Module()
	m.Specs = slices.Concat(m.Specs, orchestrate.Specs(), events.PauseSpecs())
	m.SortSpecs()
	return m
}
