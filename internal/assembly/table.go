// Package assembly lists brine's rooms: the only place that imports them all.
package assembly

import (
	"brine/internal/fun"
	cmdmod "brine/modules/cmd"
	configmod "brine/modules/config"
	defaultsmod "brine/modules/defaults"
	environmod "brine/modules/environ"
	grainsmod "brine/modules/grains"
	groupmod "brine/modules/group"
	networkmod "brine/modules/network"
	pillarmod "brine/modules/pillar"
	slsutilmod "brine/modules/slsutil"
	statusmod "brine/modules/status"
	testmod "brine/modules/test"
	usermod "brine/modules/user"
	"brine/runner/fn/orchestrate"
	statefn "brine/runner/fn/state"
	testrun "brine/runner/fn/testing"
	cmdstates "brine/states/cmd"
	environstates "brine/states/environ"
	filestates "brine/states/file"
	grainsstates "brine/states/grains"
	saltstates "brine/states/salt"
	teststates "brine/states/test"
)

// Table returns all functions of this build. Modules are made when they are
// first used.
func Table() *fun.Table {
	return fun.NewTable([]fun.Entry{
		{Kind: fun.Exec, Name: "cmd", Load: cmdmod.Module},
		{Kind: fun.Exec, Name: "config", Load: configmod.Module},
		{Kind: fun.Exec, Name: "defaults", Load: defaultsmod.Module},
		{Kind: fun.Exec, Name: "environ", Load: environmod.Module},
		{Kind: fun.Exec, Name: "grains", Load: grainsmod.Module},
		{Kind: fun.Exec, Name: "group", Load: groupmod.Module},
		{Kind: fun.Exec, Name: "network", Load: networkmod.Module},
		{Kind: fun.Exec, Name: "pillar", Load: pillarmod.Module},
		{Kind: fun.Exec, Name: "slsutil", Load: slsutilmod.Module},
		{Kind: fun.Exec, Name: "state", Load: stateModule},
		{Kind: fun.Exec, Name: "status", Load: statusmod.Module},
		{Kind: fun.Exec, Name: "test", Load: testmod.Module},
		{Kind: fun.Exec, Name: "user", Load: usermod.Module},

		{Kind: fun.State, Name: "cmd", Load: cmdstates.States},
		{Kind: fun.State, Name: "environ", Load: environstates.States},
		{Kind: fun.State, Name: "file", Load: filestates.States},
		{Kind: fun.State, Name: "grains", Load: grainsstates.States},
		{Kind: fun.State, Name: "salt", Load: saltstates.States},
		{Kind: fun.State, Name: "test", Load: teststates.States},

		{Kind: fun.Runner, Name: "state", Load: orchestrate.Runners},
		{Kind: fun.Runner, Name: "test", Load: testrun.Runners},
	})
}

// stateModule joins the execution module "state" with masterless
// orchestration, which stands above it.
func stateModule() fun.Module {
	m := statefn.Module()
	m.Specs = append(m.Specs, orchestrate.Specs()...)
	return m
}
