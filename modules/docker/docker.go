// Package docker is Salt's execution module "docker": containers, images, networks
// and volumes of a Docker engine. It speaks the engine's HTTP API, see [Engine],
// which the states use, too.
package docker

import "brine/internal/core/fun"

// Module returns the module "docker".
func Module() fun.Module {
	return fun.Module{Name: "docker", Aliases: []string{"moby"}, Kind: fun.Exec, Doc: "Manage containers of a Docker engine.", Specs: specs}
}
