//go:build !slim

package assembly

import (
	"brine/internal/core/fun"
	"brine/runner/fn/controller"
	"brine/runner/fn/manage"
	"brine/runner/fn/survey"
)

// notOnAgents is a module that an agent does not have for a reason, also one that is the
// whole brine.
func notOnAgents(m fun.Module, why string) fun.Module {
	m.Avail = func(e *fun.Env) (bool, string) {
		if e.Opts.Has("schedule_conf_dir") {
			return false, why
		}
		return true, ""
	}
	return m
}

// manageRunner is the runner module "manage".
func manageRunner() fun.Module { return manage.Runners() }

// surveyRunner is the runner module "survey".
func surveyRunner() fun.Module { return survey.Runners() }

// cacheRunner is the runner module "cache".
func cacheRunner() fun.Module { return controller.Cache() }

// docRunner is the runner module "doc".
func docRunner() fun.Module { return controller.Doc() }

// networkRunner is the runner module "network".
func networkRunner() fun.Module { return controller.Network() }

// sshRunner is the runner module "ssh".
func sshRunner() fun.Module { return controller.SSH() }
