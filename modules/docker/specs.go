package docker

import "brine/internal/fun"

// ContainerArgs are the arguments that describe a container.
var ContainerArgs = []fun.Arg{
	{Name: "auto_remove", Type: fun.Any, KwOnly: true, Doc: "remove the container when it ends"},
	{Name: "binds", Type: fun.Any, KwOnly: true, Doc: "directories and volumes of the host: host:container:mode, as a list or a mapping"},
	{Name: "blkio_weight", Type: fun.Any, KwOnly: true, Doc: "block IO weight, 10 to 1000"},
	{Name: "blkio_weight_device", Type: fun.Any, KwOnly: true, Doc: "block IO weight of devices, as path:weight"},
	{Name: "cap_add", Type: fun.Any, KwOnly: true, Doc: "capabilities to add"},
	{Name: "cap_drop", Type: fun.Any, KwOnly: true, Doc: "capabilities to drop"},
	{Name: "cgroup_parent", Type: fun.Any, KwOnly: true, Doc: "parent cgroup"},
	{Name: "cmd", Type: fun.Any, KwOnly: true, Doc: "another name of command"},
	{Name: "command", Type: fun.Any, KwOnly: true, Doc: "command of the container, as text or a list of words"},
	{Name: "cpu_period", Type: fun.Any, KwOnly: true, Doc: "CPU CFS period in microseconds"},
	{Name: "cpu_quota", Type: fun.Any, KwOnly: true, Doc: "CPU CFS quota in microseconds"},
	{Name: "cpu_shares", Type: fun.Any, KwOnly: true, Doc: "CPU shares"},
	{Name: "cpuset", Type: fun.Any, KwOnly: true, Doc: "another name of cpuset_cpus"},
	{Name: "cpuset_cpus", Type: fun.Any, KwOnly: true, Doc: "CPUs to run on, such as 0-3"},
	{Name: "cpuset_mems", Type: fun.Any, KwOnly: true, Doc: "memory nodes to use"},
	{Name: "detach", Type: fun.Any, KwOnly: true, Doc: "accepted; containers do not block, except those of run"},
	{Name: "device_read_bps", Type: fun.Any, KwOnly: true, Doc: "read rate of devices, as path:rate"},
	{Name: "device_read_iops", Type: fun.Any, KwOnly: true, Doc: "read operations of devices per second, as path:rate"},
	{Name: "device_write_bps", Type: fun.Any, KwOnly: true, Doc: "write rate of devices, as path:rate"},
	{Name: "device_write_iops", Type: fun.Any, KwOnly: true, Doc: "write operations of devices per second, as path:rate"},
	{Name: "devices", Type: fun.Any, KwOnly: true, Doc: "devices, as host:container:permissions"},
	{Name: "dns", Type: fun.Any, KwOnly: true, Doc: "name servers"},
	{Name: "dns_opt", Type: fun.Any, KwOnly: true, Doc: "resolver options"},
	{Name: "dns_option", Type: fun.Any, KwOnly: true, Doc: "another name of dns_opt"},
	{Name: "dns_search", Type: fun.Any, KwOnly: true, Doc: "search domains"},
	{Name: "domainname", Type: fun.Any, KwOnly: true, Doc: "domain name"},
	{Name: "entrypoint", Type: fun.Any, KwOnly: true, Doc: "entry point, as text or a list of words"},
	{Name: "env", Type: fun.Any, KwOnly: true, Doc: "another name of environment"},
	{Name: "environment", Type: fun.Any, KwOnly: true, Doc: "environment variables, as a mapping or a list of KEY=value"},
	{Name: "expose", Type: fun.Any, KwOnly: true, Doc: "another name of ports"},
	{Name: "extra_hosts", Type: fun.Any, KwOnly: true, Doc: "lines of /etc/hosts, as name:address"},
	{Name: "group_add", Type: fun.Any, KwOnly: true, Doc: "additional groups"},
	{Name: "host_config", Type: fun.Any, KwOnly: true, Doc: "keys of HostConfig, as the engine's API has them"},
	{Name: "hostname", Type: fun.Any, KwOnly: true, Doc: "host name"},
	{Name: "init", Type: fun.Any, KwOnly: true, Doc: "run an init process"},
	{Name: "interactive", Type: fun.Any, KwOnly: true, Doc: "another name of stdin_open"},
	{Name: "ipc", Type: fun.Any, KwOnly: true, Doc: "another name of ipc_mode"},
	{Name: "ipc_mode", Type: fun.Any, KwOnly: true, Doc: "IPC namespace"},
	{Name: "isolation", Type: fun.Any, KwOnly: true, Doc: "isolation technology"},
	{Name: "label", Type: fun.Any, KwOnly: true, Doc: "another name of labels"},
	{Name: "labels", Type: fun.Any, KwOnly: true, Doc: "labels, as a mapping or a list of key=value"},
	{Name: "links", Type: fun.Any, KwOnly: true, Doc: "containers to link, as name:alias"},
	{Name: "log_config", Type: fun.Any, KwOnly: true, Doc: "logging configuration, as the engine's API has it"},
	{Name: "log_driver", Type: fun.Any, KwOnly: true, Doc: "logging driver"},
	{Name: "log_opt", Type: fun.Any, KwOnly: true, Doc: "options of the logging driver, as key=value"},
	{Name: "mac_address", Type: fun.Any, KwOnly: true, Doc: "MAC address"},
	{Name: "mem_limit", Type: fun.Any, KwOnly: true, Doc: "memory limit, in bytes or with a unit"},
	{Name: "mem_swappiness", Type: fun.Any, KwOnly: true, Doc: "swappiness, 0 to 100"},
	{Name: "memory", Type: fun.Any, KwOnly: true, Doc: "another name of mem_limit"},
	{Name: "memory_swap", Type: fun.Any, KwOnly: true, Doc: "another name of memswap_limit"},
	{Name: "memswap_limit", Type: fun.Any, KwOnly: true, Doc: "limit of memory and swap; -1 is none"},
	{Name: "network_disabled", Type: fun.Any, KwOnly: true, Doc: "no network"},
	{Name: "network_mode", Type: fun.Any, KwOnly: true, Doc: "bridge, none, host, container:NAME or a network"},
	{Name: "oom_kill_disable", Type: fun.Any, KwOnly: true, Doc: "no OOM killer"},
	{Name: "oom_score_adj", Type: fun.Any, KwOnly: true, Doc: "OOM score adjustment"},
	{Name: "pid_mode", Type: fun.Any, KwOnly: true, Doc: "PID namespace"},
	{Name: "pids_limit", Type: fun.Any, KwOnly: true, Doc: "limit of processes"},
	{Name: "port_bindings", Type: fun.Any, KwOnly: true, Doc: "published ports: port, host:port or ip:host:port; ranges and /udp work"},
	{Name: "ports", Type: fun.Any, KwOnly: true, Doc: "exposed ports"},
	{Name: "privileged", Type: fun.Any, KwOnly: true, Doc: "extended privileges"},
	{Name: "publish", Type: fun.Any, KwOnly: true, Doc: "another name of port_bindings"},
	{Name: "publish_all", Type: fun.Any, KwOnly: true, Doc: "another name of publish_all_ports"},
	{Name: "publish_all_ports", Type: fun.Any, KwOnly: true, Doc: "publish all exposed ports"},
	{Name: "read_only", Type: fun.Any, KwOnly: true, Doc: "read-only root file system"},
	{Name: "restart", Type: fun.Any, KwOnly: true, Doc: "another name of restart_policy"},
	{Name: "restart_policy", Type: fun.Any, KwOnly: true, Doc: "no, always, unless-stopped or on-failure:N"},
	{Name: "rm", Type: fun.Any, KwOnly: true, Doc: "another name of auto_remove"},
	{Name: "runtime", Type: fun.Any, KwOnly: true, Doc: "runtime of the container"},
	{Name: "security_opt", Type: fun.Any, KwOnly: true, Doc: "security options"},
	{Name: "security_opts", Type: fun.Any, KwOnly: true, Doc: "another name of security_opt"},
	{Name: "shm_size", Type: fun.Any, KwOnly: true, Doc: "size of /dev/shm, in bytes or with a unit"},
	{Name: "stdin_open", Type: fun.Any, KwOnly: true, Doc: "keep stdin open"},
	{Name: "stop_signal", Type: fun.Any, KwOnly: true, Doc: "signal that stops the container"},
	{Name: "stop_timeout", Type: fun.Any, KwOnly: true, Doc: "seconds after which a stop is a kill"},
	{Name: "storage_opt", Type: fun.Any, KwOnly: true, Doc: "storage options, as key=value"},
	{Name: "sysctl", Type: fun.Any, KwOnly: true, Doc: "another name of sysctls"},
	{Name: "sysctls", Type: fun.Any, KwOnly: true, Doc: "kernel parameters, as key=value"},
	{Name: "tmpfs", Type: fun.Any, KwOnly: true, Doc: "mapping of paths to options of a tmpfs"},
	{Name: "tty", Type: fun.Any, KwOnly: true, Doc: "with a terminal"},
	{Name: "ulimit", Type: fun.Any, KwOnly: true, Doc: "another name of ulimits"},
	{Name: "ulimits", Type: fun.Any, KwOnly: true, Doc: "limits, as name=soft:hard"},
	{Name: "user", Type: fun.Any, KwOnly: true, Doc: "user that the command runs as"},
	{Name: "user_ns_mode", Type: fun.Any, KwOnly: true, Doc: "another name of userns_mode"},
	{Name: "userns_mode", Type: fun.Any, KwOnly: true, Doc: "user namespace"},
	{Name: "volume", Type: fun.Any, KwOnly: true, Doc: "another name of volumes"},
	{Name: "volume_driver", Type: fun.Any, KwOnly: true, Doc: "driver of volumes"},
	{Name: "volumes", Type: fun.Any, KwOnly: true, Doc: "mount points of anonymous volumes"},
	{Name: "volumes_from", Type: fun.Any, KwOnly: true, Doc: "containers to take volumes of"},
	{Name: "workdir", Type: fun.Any, KwOnly: true, Doc: "another name of working_dir"},
	{Name: "working_dir", Type: fun.Any, KwOnly: true, Doc: "working directory"},
}

// NetworkArgs are the arguments that describe a network.
var NetworkArgs = []fun.Arg{
	{Name: "attachable", Type: fun.Any, KwOnly: true, Doc: "containers may connect by themselves, in swarm mode"},
	{Name: "aux_address", Type: fun.Any, KwOnly: true, Doc: "another name of aux_addresses"},
	{Name: "aux_addresses", Type: fun.Any, KwOnly: true, Doc: "addresses that containers do not get, as name=address"},
	{Name: "check_duplicate", Type: fun.Any, KwOnly: true, Doc: "refuse a second network of the name"},
	{Name: "driver", Type: fun.Any, KwOnly: true, Doc: "driver of the network"},
	{Name: "driver_opt", Type: fun.Any, KwOnly: true, Doc: "another name of options"},
	{Name: "driver_opts", Type: fun.Any, KwOnly: true, Doc: "another name of options"},
	{Name: "enable_ipv6", Type: fun.Any, KwOnly: true, Doc: "with IPv6"},
	{Name: "gateway", Type: fun.Any, KwOnly: true, Doc: "gateway of the pool"},
	{Name: "ingress", Type: fun.Any, KwOnly: true, Doc: "routing mesh of a swarm"},
	{Name: "internal", Type: fun.Any, KwOnly: true, Doc: "without access to the outside"},
	{Name: "ip_range", Type: fun.Any, KwOnly: true, Doc: "another name of iprange"},
	{Name: "ipam", Type: fun.Any, KwOnly: true, Doc: "addresses, as the engine's API has them"},
	{Name: "ipam_driver", Type: fun.Any, KwOnly: true, Doc: "driver of addresses"},
	{Name: "ipam_opts", Type: fun.Any, KwOnly: true, Doc: "options of the driver of addresses"},
	{Name: "ipam_pools", Type: fun.Any, KwOnly: true, Doc: "pools of addresses: a list of mappings with subnet, iprange, gateway and aux_addresses"},
	{Name: "iprange", Type: fun.Any, KwOnly: true, Doc: "part of the subnet that containers get addresses of"},
	{Name: "ipv6", Type: fun.Any, KwOnly: true, Doc: "another name of enable_ipv6"},
	{Name: "labels", Type: fun.Any, KwOnly: true, Doc: "labels, as a mapping or a list of key=value"},
	{Name: "options", Type: fun.Any, KwOnly: true, Doc: "options of the driver, as key=value"},
	{Name: "scope", Type: fun.Any, KwOnly: true, Doc: "scope of the network"},
	{Name: "subnet", Type: fun.Any, KwOnly: true, Doc: "subnet of the pool"},
}

// endpointArgs are the arguments of a connection to a network.
var endpointArgs = []fun.Arg{
	{Name: "aliases", Type: fun.Commas, KwOnly: true, Doc: "names of the container in the network"},
	{Name: "driver_opt", Type: fun.Dict, KwOnly: true, Doc: "options of the driver"},
	{Name: "ipv4_address", Type: fun.Str, KwOnly: true, Doc: "IPv4 address"},
	{Name: "ipv6_address", Type: fun.Str, KwOnly: true, Doc: "IPv6 address"},
	{Name: "link_local_ips", Type: fun.Commas, KwOnly: true, Doc: "link-local addresses"},
	{Name: "links", Type: fun.Any, KwOnly: true, Doc: "containers to link, as name:alias"},
}

// Arguments that several functions have.
var (
	containerArg  = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name or ID of the container"}
	imageNameArg  = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name or ID of the image"}
	imageArg      = fun.Arg{Name: "image", Type: fun.Str, Required: true, Doc: "the image"}
	allArg        = fun.Arg{Name: "all", Type: fun.Bool, Default: false, KwOnly: true, Doc: "also those that do not run"}
	allImagesArg  = fun.Arg{Name: "all", Type: fun.Bool, Default: false, KwOnly: true, Doc: "also those without a tag"}
	apiArg        = fun.Arg{Name: "api_response", Type: fun.Bool, Default: false, Doc: "return the answer of the engine, too"}
	insecureArg   = fun.Arg{Name: "insecure_registry", Type: fun.Bool, Default: false, Doc: "accepted; the engine's own configuration says which registries are insecure"}
	timeoutArg    = fun.Arg{Name: "client_timeout", Type: fun.Duration, Default: int64(60), Unit: "s", Doc: "how long the engine may take for an answer to begin"}
	networkIDArg  = fun.Arg{Name: "network_id", Type: fun.Str, Required: true, Doc: "name or ID of the network"}
	volumeArg     = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the volume"}
	filtersArg    = fun.Arg{Name: "filters", Type: fun.Any, Doc: "filters of the engine, as a mapping"}
	repositoryArg = fun.Arg{Name: "repository", Type: fun.Str, Doc: "repository of the image"}
	tagArg        = fun.Arg{Name: "tag", Type: fun.Str, Doc: "tag of the image"}
	newRepoArg    = fun.Arg{Name: "repository", Type: fun.Str, Required: true, Doc: "repository of the image"}
	latestArg     = fun.Arg{Name: "tag", Type: fun.Str, Default: "latest", Doc: "tag of the image"}
	driverArg     = fun.Arg{Name: "driver", Type: fun.Str, Doc: "driver of the volume"}
)

// translateArgs say how the arguments of containers and networks are read.
var translateArgs = []fun.Arg{
	{Name: "skip_translate", Type: fun.Any, Doc: "arguments, or True for all, that are in the form of the engine's API already"},
	{Name: "ignore_collisions", Type: fun.Bool, Default: false, Doc: "no error if an argument is given under two names"},
	{Name: "validate_ip_addrs", Type: fun.Bool, Default: true, Doc: "check addresses"},
}

// runArgs are the arguments of programs in containers.
var runArgs = []fun.Arg{
	{Name: "name", Type: fun.Str, Required: true, Doc: "name or ID of the container"},
	{Name: "cmd", Type: fun.Str, Required: true, Doc: "the command; no shell reads it, unless it is sh -c"},
	{Name: "exec_driver", Type: fun.Str, Doc: "accepted; commands run by the engine's exec"},
	{Name: "stdin", Type: fun.Str, Doc: "standard input of the command"},
	{Name: "python_shell", Type: fun.Bool, Default: true, Doc: "accepted; there is no shell"},
	{Name: "output_loglevel", Type: fun.Str, Default: "debug", Doc: "accepted; output is not logged"},
	{Name: "use_vt", Type: fun.Bool, Default: false, Doc: "accepted; there is no terminal"},
	{Name: "ignore_retcode", Type: fun.Bool, Default: false, Doc: "the status of the command is not that of the function"},
	{Name: "keep_env", Type: fun.Bool | fun.Commas, Doc: "variables of the environment to pass on, or True for all"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "build", Doc: "Build an image of a directory with a Dockerfile, or of a URL.", Src: "modules/dockermod.py build", Fn: build,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Str, Doc: "directory of this machine, or a URL"},
			repositoryArg,
			tagArg,
			{Name: "cache", Type: fun.Bool, Default: true, Doc: "use the cache"},
			{Name: "rm", Type: fun.Bool, Default: true, Doc: "remove intermediate containers"},
			apiArg,
			{Name: "fileobj", Type: fun.Str, Doc: "accepted; not supported"},
			{Name: "dockerfile", Type: fun.Str, Doc: "path of the Dockerfile in the directory"},
			{Name: "buildargs", Type: fun.Any, Doc: "arguments of the build, as a mapping"},
			{Name: "logfile", Type: fun.Str, Doc: "file to append the output to"},
		},
	},
	{
		Name: "commit", Doc: "Make an image of a container.", Src: "modules/dockermod.py commit", Fn: commit,
		Args: []fun.Arg{
			containerArg,
			newRepoArg,
			latestArg,
			{Name: "message", Type: fun.Str, Doc: "message of the commit"},
			{Name: "author", Type: fun.Str, Doc: "author of the commit"},
		},
	},
	{
		Name: "compare_container", Doc: "Return the differences of two containers: the same as compare_containers.", Src: "modules/dockermod.py compare_containers", Fn: compareContainers,
		Args: []fun.Arg{
			{Name: "first", Type: fun.Str, Required: true, Doc: "one container"},
			{Name: "second", Type: fun.Str, Required: true, Doc: "the other"},
			{Name: "ignore", Type: fun.Commas, Doc: "keys that do not count"},
		},
	},
	{
		Name: "compare_container_networks", Doc: "Return the differences of the networks of two containers.", Src: "modules/dockermod.py compare_container_networks", Fn: compareContainerNetworks,
		Args: []fun.Arg{
			{Name: "first", Type: fun.Str, Required: true, Doc: "one container"},
			{Name: "second", Type: fun.Str, Required: true, Doc: "the other"},
		},
	},
	{
		Name: "compare_containers", Doc: "Return the differences of two containers.", Src: "modules/dockermod.py compare_containers", Fn: compareContainers,
		Args: []fun.Arg{
			{Name: "first", Type: fun.Str, Required: true, Doc: "one container"},
			{Name: "second", Type: fun.Str, Required: true, Doc: "the other"},
			{Name: "ignore", Type: fun.Commas, Doc: "keys that do not count"},
		},
	},
	{
		Name: "compare_networks", Doc: "Return the differences of two networks.", Src: "modules/dockermod.py compare_networks", Fn: compareNetworks,
		Args: []fun.Arg{
			{Name: "first", Type: fun.Str, Required: true, Doc: "one network"},
			{Name: "second", Type: fun.Str, Required: true, Doc: "the other"},
			{Name: "ignore", Type: fun.Commas, Default: "Name,Id,Created,Containers", Doc: "keys that do not count"},
		},
	},
	{
		Name: "connect_container_to_network", Doc: "Connect a container to a network.", Src: "modules/dockermod.py connect_container_to_network", Fn: connect,
		Args: []fun.Arg{
			{Name: "container", Type: fun.Str, Required: true, Doc: "name or ID of the container"},
			{Name: "net_id", Type: fun.Str, Required: true, Doc: "name or ID of the network"},
		},
		Shared: [][]fun.Arg{endpointArgs},
		VarKw:  true, NearMiss: true,
	},
	{
		Name: "connected", Doc: "List the containers of a network.", Src: "modules/dockermod.py connected", Fn: connected,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name or ID of the network"},
			{Name: "verbose", Type: fun.Bool, Default: false, Doc: "return what is known of each"},
		},
	},
	{
		Name: "create", Doc: "Create a container, and pull its image if it is missing.", Src: "modules/dockermod.py create", Fn: create,
		Args: []fun.Arg{
			imageArg,
			{Name: "name", Type: fun.Str, Doc: "name of the container"},
			{Name: "start", Type: fun.Bool, Default: false, Doc: "start it"},
		},
		Shared: [][]fun.Arg{translateArgs, {timeoutArg}, ContainerArgs},
		VarKw:  true, NearMiss: true,
	},
	{
		Name: "create_network", Doc: "Create a network.", Src: "modules/dockermod.py create_network", Fn: createNetwork,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the network"},
		},
		Shared: [][]fun.Arg{translateArgs, {timeoutArg}, NetworkArgs},
		VarKw:  true, NearMiss: true,
	},
	{
		Name: "create_volume", Doc: "Create a volume.", Src: "modules/dockermod.py create_volume", Fn: createVolume,
		Args: []fun.Arg{
			volumeArg,
			driverArg,
			{Name: "driver_opts", Type: fun.Any, Doc: "options of the driver, as a mapping"},
		},
	},
	{
		Name: "dangling", Doc: "List images without a tag that no image is made of, or remove them.", Src: "modules/dockermod.py dangling", Fn: dangling,
		Args: []fun.Arg{
			{Name: "prune", Type: fun.Bool, Default: false, Doc: "remove them"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "remove them although they are used"},
		},
	},
	{
		Name: "depends", Doc: "List the containers and images that need an image.", Src: "modules/dockermod.py depends", Fn: depends,
		Args: []fun.Arg{
			imageNameArg,
		},
	},
	{
		Name: "diff", Doc: "Return what a container changed of its image.", Src: "modules/dockermod.py diff", Fn: diff,
		Args: []fun.Arg{
			containerArg,
		},
	},
	{
		Name: "disconnect_all_containers_from_network", Doc: "Disconnect all containers from a network.", Src: "modules/dockermod.py disconnect_all_containers_from_network", Fn: disconnectAll,
		Args: []fun.Arg{
			networkIDArg,
		},
	},
	{
		Name: "disconnect_container_from_network", Doc: "Disconnect a container from a network.", Src: "modules/dockermod.py disconnect_container_from_network", Fn: disconnect,
		Args: []fun.Arg{
			{Name: "container", Type: fun.Str, Required: true, Doc: "name or ID of the container"},
			networkIDArg,
		},
	},
	{
		Name: "exists", Doc: "Report whether there is a container.", Src: "modules/dockermod.py exists", Fn: exists,
		Args: []fun.Arg{
			containerArg,
		},
	},
	{
		Name: "freeze", Doc: "Pause a container: the same as pause.", Src: "modules/dockermod.py pause", Fn: pause,
		Args: []fun.Arg{
			containerArg,
		},
	},
	{
		Name: "history", Doc: "Return how an image was made.", Src: "modules/dockermod.py history", Fn: history,
		Args: []fun.Arg{
			imageNameArg,
			{Name: "quiet", Type: fun.Bool, Default: false, Doc: "return the commands only"},
		},
	},
	{
		Name: "images", Doc: "List images.", Src: "modules/dockermod.py images", Fn: images,
		Args: []fun.Arg{
			{Name: "verbose", Type: fun.Bool, Default: false, Doc: "with what inspect_image returns"},
			allImagesArg,
		},
	},
	{
		Name: "info", Doc: "Return what is known of the engine.", Src: "modules/dockermod.py info", Fn: info,
	},
	{
		Name: "inspect", Doc: "Return what is known of a container, an image, a volume or a network.", Src: "modules/dockermod.py inspect", Fn: inspect,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name or ID"},
		},
	},
	{
		Name: "inspect_container", Doc: "Return what is known of a container.", Src: "modules/dockermod.py inspect_container", Fn: inspectContainer,
		Args: []fun.Arg{
			containerArg,
		},
	},
	{
		Name: "inspect_image", Doc: "Return what is known of an image.", Src: "modules/dockermod.py inspect_image", Fn: inspectImage,
		Args: []fun.Arg{
			imageNameArg,
		},
	},
	{
		Name: "inspect_network", Doc: "Return what is known of a network.", Src: "modules/dockermod.py inspect_network", Fn: inspectNetwork,
		Args: []fun.Arg{
			networkIDArg,
		},
	},
	{
		Name: "inspect_volume", Doc: "Return what is known of a volume.", Src: "modules/dockermod.py inspect_volume", Fn: inspectVolume,
		Args: []fun.Arg{
			volumeArg,
		},
	},
	{
		Name: "kill", Doc: "Kill a container.", Src: "modules/dockermod.py kill", Fn: kill,
		Args: []fun.Arg{
			containerArg,
		},
	},
	{
		Name: "layers", Doc: "List the layers of an image.", Src: "modules/dockermod.py layers", Fn: layers,
		Args: []fun.Arg{
			imageNameArg,
		},
	},
	{
		Name: "list_containers", Doc: "List the names of containers.", Src: "modules/dockermod.py list_containers", Fn: listContainers,
		Args: []fun.Arg{
			allArg,
		},
	},
	{
		Name: "list_tags", Doc: "List the tags of all images.", Src: "modules/dockermod.py list_tags", Fn: listTags,
	},
	{
		Name: "load", Doc: "Load the images of an archive.", Src: "modules/dockermod.py load", Fn: load,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Str, Required: true, Doc: "path of this machine, or a salt://, http:// or https:// URL"},
			repositoryArg,
			tagArg,
		},
	},
	{
		Name: "login", Doc: "Log in to the registries of the configuration, or some of them.\nThe credentials go to config.json of the docker client.", Src: "modules/dockermod.py login", Fn: login,
		VarArg: true,
	},
	{
		Name: "logout", Doc: "Forget the credentials of registries.", Src: "modules/dockermod.py logout", Fn: logout,
		VarArg: true,
	},
	{
		Name: "logs", Doc: "Return what a container printed.", Src: "modules/dockermod.py logs", Fn: logs,
		Args: []fun.Arg{
			containerArg,
			{Name: "stdout", Type: fun.Bool, KwOnly: true, Doc: "with stdout; default: True"},
			{Name: "stderr", Type: fun.Bool, KwOnly: true, Doc: "with stderr; default: True"},
			{Name: "timestamps", Type: fun.Bool, KwOnly: true, Doc: "with times"},
			{Name: "follow", Type: fun.Bool, KwOnly: true, Doc: "wait for its end"},
			{Name: "tail", Type: fun.Str, KwOnly: true, Doc: "how many lines from the end; default: all"},
			{Name: "since", Type: fun.Str, KwOnly: true, Doc: "from a time on, in seconds since 1970"},
			{Name: "until", Type: fun.Str, KwOnly: true, Doc: "up to a time, in seconds since 1970"},
		},
	},
	{
		Name: "networks", Doc: "List networks.", Src: "modules/dockermod.py networks", Fn: networks,
		Args: []fun.Arg{
			{Name: "names", Type: fun.Commas, Doc: "only those with these names"},
			{Name: "ids", Type: fun.Commas, Doc: "only those with these IDs"},
		},
	},
	{
		Name: "pause", Doc: "Pause a container.", Src: "modules/dockermod.py pause", Fn: pause,
		Args: []fun.Arg{
			containerArg,
		},
	},
	{
		Name: "pid", Doc: "Return the process ID of a container.", Src: "modules/dockermod.py pid", Fn: pid,
		Args: []fun.Arg{
			containerArg,
		},
	},
	{
		Name: "port", Doc: "Return where ports of a container are published.", Src: "modules/dockermod.py port", Fn: port,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the container, or a pattern"},
			{Name: "private_port", Type: fun.Int | fun.Str, Doc: "only this port, such as 80 or 53/udp"},
		},
	},
	{
		Name: "prune", Doc: "Remove what is not used.", Src: "modules/dockermod.py prune", Fn: prune,
		Args: []fun.Arg{
			{Name: "containers", Type: fun.Bool, Default: false, Doc: "stopped containers"},
			{Name: "networks", Type: fun.Bool, Default: false, Doc: "networks without containers"},
			{Name: "images", Type: fun.Bool, Default: false, Doc: "images without a tag"},
			{Name: "build", Type: fun.Bool, Default: false, Doc: "the cache of builds"},
			{Name: "volumes", Type: fun.Bool, Default: false, Doc: "volumes without containers"},
			{Name: "system", Type: fun.Bool, Doc: "all of these but volumes; default: where nothing else is named"},
		},
		VarKw: true, NearMiss: true,
	},
	{
		Name: "ps", Doc: "List containers.", Src: "modules/dockermod.py ps_", Fn: ps,
		Args: []fun.Arg{
			filtersArg,
			allArg,
			{Name: "verbose", Type: fun.Bool, Default: false, KwOnly: true, Doc: "with what inspect_container returns"},
		},
	},
	{
		Name: "pull", Doc: "Pull an image.", Src: "modules/dockermod.py pull", Fn: pull,
		Args: []fun.Arg{
			imageArg,
			insecureArg,
			apiArg,
			timeoutArg,
		},
	},
	{
		Name: "push", Doc: "Push an image.", Src: "modules/dockermod.py push", Fn: push,
		Args: []fun.Arg{
			imageArg,
			insecureArg,
			apiArg,
			timeoutArg,
		},
	},
	{
		Name: "remove_network", Doc: "Remove a network.", Src: "modules/dockermod.py remove_network", Fn: removeNetwork,
		Args: []fun.Arg{
			networkIDArg,
		},
	},
	{
		Name: "remove_volume", Doc: "Remove a volume.", Src: "modules/dockermod.py remove_volume", Fn: removeVolume,
		Args: []fun.Arg{
			volumeArg,
		},
	},
	{
		Name: "rename", Doc: "Rename a container.", Src: "modules/dockermod.py rename", Fn: rename,
		Args: []fun.Arg{
			containerArg,
			{Name: "new_name", Type: fun.Str, Required: true, Doc: "the new name"},
		},
	},
	{
		Name: "resolve_image_id", Doc: "Return the ID of an image; False if there is none.", Src: "modules/dockermod.py resolve_image_id", Fn: resolveImageID,
		Args: []fun.Arg{
			imageNameArg,
		},
	},
	{
		Name: "resolve_tag", Doc: "Return a tag of an image, or its ID; False if there is none.", Src: "modules/dockermod.py resolve_tag", Fn: resolveTag,
		Args: []fun.Arg{
			imageNameArg,
			{Name: "all", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return all tags"},
		},
	},
	{
		Name: "restart", Doc: "Restart a container.", Src: "modules/dockermod.py restart", Fn: restart,
		Args: []fun.Arg{
			containerArg,
			{Name: "timeout", Type: fun.Int, Default: int64(10), Unit: "s", Doc: "how long it may take to stop"},
		},
	},
	{
		Name: "retcode", Doc: "Run a command in a container and return its status.", Src: "modules/dockermod.py retcode", Fn: retcode,
		Shared: [][]fun.Arg{runArgs},
	},
	{
		Name: "rm", Doc: "Remove a container and return the IDs of what is gone.", Src: "modules/dockermod.py rm_", Fn: rm,
		Args: []fun.Arg{
			containerArg,
			{Name: "force", Type: fun.Bool, Default: false, Doc: "remove it although it runs"},
			{Name: "volumes", Type: fun.Bool, Default: false, Doc: "remove its anonymous volumes, too"},
			{Name: "stop", Type: fun.Bool, Default: false, KwOnly: true, Doc: "stop it first"},
			{Name: "timeout", Type: fun.Int, KwOnly: true, Unit: "s", Doc: "how long it may take to stop"},
		},
	},
	{
		Name: "rmi", Doc: "Remove images.", Src: "modules/dockermod.py rmi", Fn: rmi,
		Args: []fun.Arg{
			{Name: "force", Type: fun.Bool, Default: false, KwOnly: true, Doc: "remove them although they are used"},
			{Name: "prune", Type: fun.Bool, Default: true, KwOnly: true, Doc: "remove their parents without a tag, too"},
		},
		VarArg: true,
	},
	{
		Name: "run", Doc: "Run a command in a container and return its output.", Src: "modules/dockermod.py run", Fn: runAny,
		Shared: [][]fun.Arg{runArgs},
	},
	{
		Name: "run_all", Doc: "Run a command in a container and return its output and status.", Src: "modules/dockermod.py run_all", Fn: runAll,
		Shared: [][]fun.Arg{runArgs},
	},
	{
		Name: "run_container", Doc: "Create and start a container and return what it printed.", Src: "modules/dockermod.py run_container", Fn: runContainer,
		Args: []fun.Arg{
			imageArg,
			{Name: "name", Type: fun.Str, Doc: "name of the container"},
		},
		Shared: [][]fun.Arg{translateArgs, {timeoutArg}, runContainerArgs, ContainerArgs},
		VarKw:  true, NearMiss: true,
	},
	{
		Name: "run_stderr", Doc: "Run a command in a container and return what it printed on stderr.", Src: "modules/dockermod.py run_stderr", Fn: runStderr,
		Shared: [][]fun.Arg{runArgs},
	},
	{
		Name: "run_stdout", Doc: "Run a command in a container and return what it printed on stdout.", Src: "modules/dockermod.py run_stdout", Fn: runStdout,
		Shared: [][]fun.Arg{runArgs},
	},
	{
		Name: "search", Doc: "Search for images on Docker Hub.", Src: "modules/dockermod.py search", Fn: search,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "what to search for"},
			{Name: "official", Type: fun.Bool, Default: false, Doc: "only official images"},
			{Name: "trusted", Type: fun.Bool, Default: false, Doc: "only trusted images"},
		},
	},
	{
		Name: "signal", Doc: "Send a signal to a container.", Src: "modules/dockermod.py signal_", Fn: signal,
		Args: []fun.Arg{
			containerArg,
			{Name: "signal", Type: fun.Str, Required: true, Doc: "the signal"},
		},
	},
	{
		Name: "start", Doc: "Start a container.", Src: "modules/dockermod.py start_", Fn: start,
		Args: []fun.Arg{
			containerArg,
		},
	},
	{
		Name: "state", Doc: "Return whether a container is running, paused or stopped.", Src: "modules/dockermod.py state", Fn: state,
		Args: []fun.Arg{
			containerArg,
		},
	},
	{
		Name: "stop", Doc: "Stop a container.", Src: "modules/dockermod.py stop", Fn: stop,
		Args: []fun.Arg{
			containerArg,
			{Name: "timeout", Type: fun.Int, Unit: "s", Doc: "how long it may take; default: that of the container, else 10"},
			{Name: "unpause", Type: fun.Bool, Default: false, KwOnly: true, Doc: "unpause it first"},
		},
	},
	{
		Name: "tag", Doc: "Give an image a tag.", Src: "modules/dockermod.py tag_", Fn: tag,
		Args: []fun.Arg{
			imageNameArg,
			newRepoArg,
			latestArg,
			{Name: "force", Type: fun.Bool, Default: false, Doc: "take the tag from another image"},
		},
	},
	{
		Name: "top", Doc: "List the processes of a container.", Src: "modules/dockermod.py top", Fn: top,
		Args: []fun.Arg{
			containerArg,
		},
	},
	{
		Name: "unfreeze", Doc: "Unpause a container: the same as unpause.", Src: "modules/dockermod.py unpause", Fn: unpause,
		Args: []fun.Arg{
			containerArg,
		},
	},
	{
		Name: "unpause", Doc: "Unpause a container.", Src: "modules/dockermod.py unpause", Fn: unpause,
		Args: []fun.Arg{
			containerArg,
		},
	},
	{
		Name: "version", Doc: "Return the versions of the engine.", Src: "modules/dockermod.py version", Fn: version,
	},
	{
		Name: "volumes", Doc: "List volumes.", Src: "modules/dockermod.py volumes", Fn: volumeList,
		Args: []fun.Arg{
			filtersArg,
		},
	},
	{
		Name: "wait", Doc: "Wait for the end of a container and return its status.", Src: "modules/dockermod.py wait", Fn: wait,
		Args: []fun.Arg{
			containerArg,
			{Name: "ignore_already_stopped", Type: fun.Bool, Default: false, Doc: "a container that does not run is a success"},
			{Name: "fail_on_exit_status", Type: fun.Bool, Default: false, Doc: "a status other than 0 is a failure"},
		},
	},
}

var runContainerArgs = []fun.Arg{
	{Name: "bg", Type: fun.Bool, Default: false, Doc: "do not wait for its end"},
	{Name: "replace", Type: fun.Bool, Default: false, Doc: "remove a container that has the name"},
	{Name: "force", Type: fun.Bool, Default: false, Doc: "with replace, remove it although it runs"},
	{Name: "networks", Type: fun.Any, Doc: "networks to connect it to, as a list or a mapping"},
}
