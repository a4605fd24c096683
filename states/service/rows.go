package service

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// nameArg is the one argument that every function has.
type nameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the service, or unit with its type, such as backup.timer"`
}

// bootArgs are the arguments of running and dead.
type bootArgs struct {
	_         fun.Arguments
	Enable    value.Value `arg:"enable,str|bool" doc:"whether the service is to start at boot; default, and the text None: leave that as it is"`
	Sig       value.Value `arg:"sig,str" doc:"regular expression that finds the service's process in ps; not used with systemd"`
	InitDelay value.Value `arg:"init_delay,duration" unit:"s" doc:"wait this long before the service is looked at again"`
	NoBlock   value.Value `arg:"no_block,bool" doc:"systemd: do not wait until the service has started or stopped"`
}

type timeoutArgs struct {
	_       fun.Arguments
	Timeout value.Value `arg:"timeout,duration" unit:"s" doc:"fail if starting or stopping takes longer"`
}

type unmaskArgs struct {
	_             fun.Arguments
	Unmask        value.Value `arg:"unmask,bool" doc:"systemd: remove a mask first"`
	UnmaskRuntime value.Value `arg:"unmask_runtime,bool" doc:"systemd: remove a mask that lasts until the next boot first"`
}

// enableArgs are for the functions that enable and disable.
type enableArgs struct {
	_         fun.Arguments
	Runlevels value.Value `arg:"runlevels,list[str]" doc:"OpenRC: the runlevels in which the service starts"`
}

type runtimeArgs struct {
	_       fun.Arguments
	Runtime bool `arg:"runtime" default:"False" doc:"the mask that lasts until the next boot"`
}

type bootOnlyArgs struct {
	_       fun.Arguments
	NoBlock value.Value `arg:"no_block,bool" doc:"systemd: accepted; enabling does not wait for anything"`
	Root    value.Value `arg:"root,path" doc:"systemd: root directory to use instead of /"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "dead", Doc: "Stop a service.", Src: "states/service.py dead", Do: dead,
	},
	{
		Name: "disabled", Doc: "Disable a service: it does not start at boot.\nIt is not stopped; see dead for that.", Src: "states/service.py disabled", Do: disabled,
	},
	{
		Name: "enabled", Doc: "Enable a service: it starts at boot.\nIt is not started; see running for that.", Src: "states/service.py enabled", Do: enabled,
	},
	{
		Name: "masked", Doc: "Mask a unit of systemd: it cannot be started.", Src: "states/service.py masked", Do: masked,
	},
	{
		Name: "running", Doc: "Start a service, and restart it when what it watches changes.", Src: "states/service.py running", Do: running,
	},
	{
		Name: "unmasked", Doc: "Remove the mask of a unit of systemd.", Src: "states/service.py unmasked", Do: unmasked,
	},
}
