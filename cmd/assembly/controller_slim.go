//go:build slim

package assembly

import "brine/internal/core/fun"

// The runner modules that only a controller has are empty: it is the controller that
// reaches targets.

func manageRunner() fun.Module  { return fun.Module{Name: "manage", Kind: fun.Runner} }
func surveyRunner() fun.Module  { return fun.Module{Name: "survey", Kind: fun.Runner} }
func cacheRunner() fun.Module   { return fun.Module{Name: "cache", Kind: fun.Runner} }
func docRunner() fun.Module     { return fun.Module{Name: "doc", Kind: fun.Runner} }
func networkRunner() fun.Module { return fun.Module{Name: "network", Kind: fun.Runner} }
func sshRunner() fun.Module     { return fun.Module{Name: "ssh", Kind: fun.Runner} }

// away is a module that an agent does not have for a reason.
func away(kind fun.Kind, name, why string) fun.Module {
	return fun.Module{Name: name, Kind: kind, Avail: func(*fun.Env) (bool, string) { return false, why }}
}
