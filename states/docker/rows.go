package docker

import (
	"time"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/modules/docker"
)

type containerArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the container"`
}

type imageArg struct {
	_     fun.Arguments
	Image value.Value `arg:"image,str" doc:"the image; needed"`
}

type networkArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the network"`
}

type networksArg struct {
	_ fun.Arguments
	_ value.Value `arg:"networks" doc:"networks to connect it to: a list of names, or of mappings with aliases, links, ipv4_address and ipv6_address; it is disconnected from others"`
}

type timeoutArg struct {
	_ fun.Arguments
	_ time.Duration `arg:"client_timeout" default:"60" unit:"s" doc:"how long the engine may take for an answer to begin"`
}

type volumeArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the volume"`
}

// translateArgs say how the arguments of containers and networks are read.
type translateArgs struct {
	_ fun.Arguments
	_ value.Value `arg:"skip_translate" doc:"arguments, or True for all, that are in the form of the engine's API already"`
	_ bool        `arg:"ignore_collisions" default:"False" doc:"no error if an argument is given under two names"`
	_ bool        `arg:"validate_ip_addrs" default:"True" doc:"check addresses"`
}

// runArgs are further arguments of docker_container.run.
var runArgs = []fun.Arg{
	{Name: "bg", Type: fun.Bool, Default: false, Doc: "do not wait for its end"},
	{Name: "failhard", Type: fun.Bool, Default: true, Doc: "a status other than 0 is a failure"},
	{Name: "replace", Type: fun.Bool, Default: false, Doc: "remove a container that has the name"},
	{Name: "force", Type: fun.Bool, Default: false, Doc: "with replace, remove it although it runs"},
}

// The functions of each module, alphabetically.
var (
	containerSpecs = []fun.Spec{
		{
			Name: "absent", Do: containerAbsent, Src: "states/docker_container.py absent",
			Doc: "Remove a container.",
		},
		{
			Name: "run", State: runOnce, VarKw: true, Always: true, Src: "states/docker_container.py run",
			Doc:    "Run a container and wait for its end.\nThe changes have what it printed.",
			Args:   []fun.Arg{fun.ArgsOf((*containerArg)(nil))[0], fun.ArgsOf((*imageArg)(nil))[0]},
			Shared: [][]fun.Arg{runArgs, fun.ArgsOf((*translateArgs)(nil)), {fun.ArgsOf((*timeoutArg)(nil))[0], fun.ArgsOf((*networksArg)(nil))[0]}, fun.ArgsOf((*docker.ContainerArgs)(nil))},
		},
		{
			Name: "running", Do: running, NearMiss: true, Src: "states/docker_container.py running",
			Doc: "Create a container that is as described, and start it.\nA container that differs is replaced. To find that out, a container is created as described and compared, also in test mode; it is removed again.",
		},
		{
			Name: "stopped", State: stopped, VarKw: true, Src: "states/docker_container.py stopped",
			Doc: "Stop a container, or several.",
			Args: []fun.Arg{
				{Name: "name", Type: fun.Str, Doc: "name of the container"},
				{Name: "containers", Type: fun.Any, Doc: "list of containers, instead of the name"},
				{Name: "shutdown_timeout", Type: fun.Int, Unit: "s", Doc: "how long they may take; default: that of the container, else 10"},
				{Name: "unpause", Type: fun.Bool, Default: false, Doc: "unpause paused containers, to stop them"},
				{Name: "error_on_absent", Type: fun.Bool, Default: true, Doc: "fail if a container does not exist"},
			},
		},
	}
	imageSpecs = []fun.Spec{
		{
			Name: "absent", Do: imageAbsent, Src: "states/docker_image.py absent",
			Doc: "Remove an image, or several.",
		},
		{
			Name: "present", Do: imagePresent, NearMiss: true, Src: "states/docker_image.py present",
			Doc: "Pull an image, build it of a directory, or load it of an archive.",
		},
	}
	networkSpecs = []fun.Spec{
		{
			Name: "absent", Do: networkAbsent, Src: "states/docker_network.py absent",
			Doc: "Disconnect the containers of a network and remove it.",
		},
		{
			Name: "present", Do: networkPresent, NearMiss: true, Src: "states/docker_network.py present",
			Doc: "Create a network, or replace one that differs.\nTo find that out, a network is created as described and compared, also in test mode; it is removed again.",
		},
	}
	volumeSpecs = []fun.Spec{
		{
			Name: "absent", Do: volumeAbsent, Src: "states/docker_volume.py absent",
			Doc: "Remove a volume.",
		},
		{
			Name: "present", Do: volumePresent, Src: "states/docker_volume.py present",
			Doc: "Create a volume, or with force replace one with another driver.",
		},
	}
)
