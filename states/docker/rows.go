package docker

import (
	"brine/internal/fun"
	"brine/modules/docker"
)

// Arguments that several functions have.
var (
	containerArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the container"}
	imageArg     = fun.Arg{Name: "image", Type: fun.Str, Doc: "the image; needed"}
	networkArg   = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the network"}
	networksArg  = fun.Arg{Name: "networks", Type: fun.Any, Doc: "networks to connect it to: a list of names, or of mappings with aliases, links, ipv4_address and ipv6_address; it is disconnected from others"}
	timeoutArg   = fun.Arg{Name: "client_timeout", Type: fun.Duration, Default: int64(60), Unit: "s", Doc: "how long the engine may take for an answer to begin"}
	imageNameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the image"}
	volumeArg    = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the volume"}
	driverArg    = fun.Arg{Name: "driver", Type: fun.Str, Doc: "driver of the volume"}
)

// translateArgs say how the arguments of containers and networks are read.
var translateArgs = []fun.Arg{
	{Name: "skip_translate", Type: fun.Any, Doc: "arguments, or True for all, that are in the form of the engine's API already"},
	{Name: "ignore_collisions", Type: fun.Bool, Default: false, Doc: "no error if an argument is given under two names"},
	{Name: "validate_ip_addrs", Type: fun.Bool, Default: true, Doc: "check addresses"},
}

// runningArgs are further arguments of docker_container.running.
var runningArgs = []fun.Arg{
	{Name: "force", Type: fun.Bool, Default: false, Doc: "replace the container although it is as described"},
	{Name: "watch_action", Type: fun.Str, Default: "force", Doc: "what a watched change does: force, which replaces the container, or the signal to send"},
	{Name: "start", Type: fun.Bool, Default: true, Doc: "start an existing container that does not run; a new one is always started"},
	{Name: "shutdown_timeout", Type: fun.Int, Unit: "s", Doc: "how long a container that is replaced may take to stop; default: its own"},
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
			Name: "absent", State: containerAbsent, Src: "states/docker_container.py absent",
			Doc:  "Remove a container.",
			Args: []fun.Arg{containerArg, {Name: "force", Type: fun.Bool, Default: false, Doc: "remove it although it runs"}},
		},
		{
			Name: "run", State: runOnce, VarKw: true, Always: true, Src: "states/docker_container.py run",
			Doc:    "Run a container and wait for its end.\nThe changes have what it printed.",
			Args:   []fun.Arg{containerArg, imageArg},
			Shared: [][]fun.Arg{runArgs, translateArgs, {timeoutArg, networksArg}, docker.ContainerArgs},
		},
		{
			Name: "running", State: running, VarKw: true, NearMiss: true, Src: "states/docker_container.py running",
			Doc:    "Create a container that is as described, and start it.\nA container that differs is replaced. To find that out, a container is created as described and compared, also in test mode; it is removed again.",
			Args:   []fun.Arg{containerArg, imageArg},
			Shared: [][]fun.Arg{translateArgs, runningArgs, {timeoutArg, networksArg}, docker.ContainerArgs},
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
			Name: "absent", State: imageAbsent, Src: "states/docker_image.py absent",
			Doc: "Remove an image, or several.",
			Args: []fun.Arg{
				{Name: "name", Type: fun.Str, Doc: "name of the image"},
				{Name: "images", Type: fun.Strs, Doc: "list of images, instead of the name"},
				{Name: "force", Type: fun.Bool, Default: false, Doc: "remove them although they are used"},
			},
		},
		{
			Name: "present", State: imagePresent, VarKw: true, NearMiss: true, Src: "states/docker_image.py present",
			Doc: "Pull an image, build it of a directory, or load it of an archive.",
			Args: []fun.Arg{
				imageNameArg,
				{Name: "tag", Type: fun.Str, Doc: "tag of the image; needed with build and load"},
				{Name: "build", Type: fun.Str, Doc: "directory with a Dockerfile, or a URL"},
				{Name: "load", Type: fun.Str, Doc: "archive: a path of this machine, or a salt://, http:// or https:// URL"},
				{Name: "force", Type: fun.Bool, Default: false, Doc: "pull, build or load it although it is there"},
				{Name: "insecure_registry", Type: fun.Bool, Default: false, Doc: "accepted; the engine's own configuration says which registries are insecure"},
				timeoutArg,
				{Name: "dockerfile", Type: fun.Str, Doc: "path of the Dockerfile in the directory"},
				{Name: "sls", Doc: "refused: images are not built from SLS, which takes Salt in the image"},
				{Name: "base", Type: fun.Str, Default: "opensuse/python", Doc: "accepted; only with sls"},
				{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "accepted; only with sls"},
				{Name: "pillarenv", Type: fun.Str, Doc: "accepted; only with sls"},
				{Name: "pillar", Type: fun.Dict, Doc: "accepted; only with sls"},
			},
		},
	}
	networkSpecs = []fun.Spec{
		{
			Name: "absent", State: networkAbsent, Src: "states/docker_network.py absent",
			Doc:  "Disconnect the containers of a network and remove it.",
			Args: []fun.Arg{networkArg},
		},
		{
			Name: "present", State: networkPresent, VarKw: true, NearMiss: true, Src: "states/docker_network.py present",
			Doc:  "Create a network, or replace one that differs.\nTo find that out, a network is created as described and compared, also in test mode; it is removed again.",
			Args: []fun.Arg{networkArg},
			Shared: [][]fun.Arg{translateArgs, {
				{Name: "containers", Type: fun.Commas, Doc: "running containers to connect"},
				{Name: "reconnect", Type: fun.Bool, Default: true, Doc: "connect the containers of a network that is replaced again"},
			}, docker.NetworkArgs},
		},
	}
	volumeSpecs = []fun.Spec{
		{
			Name: "absent", State: volumeAbsent, Src: "states/docker_volume.py absent",
			Doc:  "Remove a volume.",
			Args: []fun.Arg{volumeArg, {Name: "driver", Type: fun.Str, Doc: "accepted; the name is enough"}},
		},
		{
			Name: "present", State: volumePresent, Src: "states/docker_volume.py present",
			Doc: "Create a volume, or with force replace one with another driver.",
			Args: []fun.Arg{
				volumeArg, driverArg,
				{Name: "driver_opts", Type: fun.Any, Doc: "options of the driver, as a mapping"},
				{Name: "force", Type: fun.Bool, Default: false, Doc: "replace a volume with another driver; its data is lost"},
			},
		},
	}
)
