package docker

import (
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
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
	_        fun.Arguments
	Networks value.Value `arg:"networks" doc:"networks to connect it to: a list of names, or of mappings with aliases, links, ipv4_address and ipv6_address; it is disconnected from others"`
}

type timeoutArg struct {
	_             fun.Arguments
	ClientTimeout time.Duration `arg:"client_timeout" default:"60" unit:"s" doc:"how long the engine may take for an answer to begin"`
}

type volumeArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the volume"`
}

// The functions of each module, alphabetically.
var (
	containerSpecs = []fun.Spec{
		{
			Name: "absent", Do: containerAbsent, Src: "states/docker_container.py absent",
			Doc: "Remove a container.",
		},
		{
			Name: "run", Do: runOnce, Always: true, Src: "states/docker_container.py run",
			Doc: "Run a container and wait for its end.\nThe changes have what it printed.",
		},
		{
			Name: "running", Do: running, NearMiss: true, Src: "states/docker_container.py running",
			Doc: "Create a container that is as described, and start it.\nA container that differs is replaced. To find that out, a container is created as described and compared, also in test mode; it is removed again.",
		},
		{
			Name: "stopped", Do: stopped, Src: "states/docker_container.py stopped",
			Doc: "Stop a container, or several.",
		},
	}
	imageSpecs = []fun.Spec{
		{
			Name: "absent", Do: imageAbsent, Src: "states/docker_image.py absent",
			Doc: "Remove an image, or several.",
		},
		{
			Name: "present", Do: imagePresent, NearMiss: true, Src: "states/docker_image.py present", Exclusive: [][]string{{"build", "load"}},
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
