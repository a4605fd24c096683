package docker

import (
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// ContainerArgs are the arguments that describe a container.
type ContainerArgs struct {
	_ fun.Arguments
	_ value.Value `arg:"auto_remove,kw" doc:"remove the container when it ends"`
	_ value.Value `arg:"binds,kw" doc:"directories and volumes of the host: host:container:mode, as a list or a mapping"`
	_ value.Value `arg:"blkio_weight,kw" doc:"block IO weight, 10 to 1000"`
	_ value.Value `arg:"blkio_weight_device,kw" doc:"block IO weight of devices, as path:weight"`
	_ value.Value `arg:"cap_add,kw" doc:"capabilities to add"`
	_ value.Value `arg:"cap_drop,kw" doc:"capabilities to drop"`
	_ value.Value `arg:"cgroup_parent,kw" doc:"parent cgroup"`
	_ value.Value `arg:"cmd,kw" doc:"another name of command"`
	_ value.Value `arg:"command,kw" doc:"command of the container, as text or a list of words"`
	_ value.Value `arg:"cpu_period,kw" doc:"CPU CFS period in microseconds"`
	_ value.Value `arg:"cpu_quota,kw" doc:"CPU CFS quota in microseconds"`
	_ value.Value `arg:"cpu_shares,kw" doc:"CPU shares"`
	_ value.Value `arg:"cpuset,kw" doc:"another name of cpuset_cpus"`
	_ value.Value `arg:"cpuset_cpus,kw" doc:"CPUs to run on, such as 0-3"`
	_ value.Value `arg:"cpuset_mems,kw" doc:"memory nodes to use"`
	_ value.Value `arg:"detach,kw" doc:"accepted; containers do not block, except those of run"`
	_ value.Value `arg:"device_read_bps,kw" doc:"read rate of devices, as path:rate"`
	_ value.Value `arg:"device_read_iops,kw" doc:"read operations of devices per second, as path:rate"`
	_ value.Value `arg:"device_write_bps,kw" doc:"write rate of devices, as path:rate"`
	_ value.Value `arg:"device_write_iops,kw" doc:"write operations of devices per second, as path:rate"`
	_ value.Value `arg:"devices,kw" doc:"devices, as host:container:permissions"`
	_ value.Value `arg:"dns,kw" doc:"name servers"`
	_ value.Value `arg:"dns_opt,kw" doc:"resolver options"`
	_ value.Value `arg:"dns_option,kw" doc:"another name of dns_opt"`
	_ value.Value `arg:"dns_search,kw" doc:"search domains"`
	_ value.Value `arg:"domainname,kw" doc:"domain name"`
	_ value.Value `arg:"entrypoint,kw" doc:"entry point, as text or a list of words"`
	_ value.Value `arg:"env,kw" doc:"another name of environment"`
	_ value.Value `arg:"environment,kw" doc:"environment variables, as a mapping or a list of KEY=value"`
	_ value.Value `arg:"expose,kw" doc:"another name of ports"`
	_ value.Value `arg:"extra_hosts,kw" doc:"lines of /etc/hosts, as name:address"`
	_ value.Value `arg:"group_add,kw" doc:"additional groups"`
	_ value.Value `arg:"host_config,kw" doc:"keys of HostConfig, as the engine's API has them"`
	_ value.Value `arg:"hostname,kw" doc:"host name"`
	_ value.Value `arg:"init,kw" doc:"run an init process"`
	_ value.Value `arg:"interactive,kw" doc:"another name of stdin_open"`
	_ value.Value `arg:"ipc,kw" doc:"another name of ipc_mode"`
	_ value.Value `arg:"ipc_mode,kw" doc:"IPC namespace"`
	_ value.Value `arg:"isolation,kw" doc:"isolation technology"`
	_ value.Value `arg:"label,kw" doc:"another name of labels"`
	_ value.Value `arg:"labels,kw" doc:"labels, as a mapping or a list of key=value"`
	_ value.Value `arg:"links,kw" doc:"containers to link, as name:alias"`
	_ value.Value `arg:"log_config,kw" doc:"logging configuration, as the engine's API has it"`
	_ value.Value `arg:"log_driver,kw" doc:"logging driver"`
	_ value.Value `arg:"log_opt,kw" doc:"options of the logging driver, as key=value"`
	_ value.Value `arg:"mac_address,kw" doc:"MAC address"`
	_ value.Value `arg:"mem_limit,kw" doc:"memory limit, in bytes or with a unit"`
	_ value.Value `arg:"mem_swappiness,kw" doc:"swappiness, 0 to 100"`
	_ value.Value `arg:"memory,kw" doc:"another name of mem_limit"`
	_ value.Value `arg:"memory_swap,kw" doc:"another name of memswap_limit"`
	_ value.Value `arg:"memswap_limit,kw" doc:"limit of memory and swap; -1 is none"`
	_ value.Value `arg:"network_disabled,kw" doc:"no network"`
	_ value.Value `arg:"network_mode,kw" doc:"bridge, none, host, container:NAME or a network"`
	_ value.Value `arg:"oom_kill_disable,kw" doc:"no OOM killer"`
	_ value.Value `arg:"oom_score_adj,kw" doc:"OOM score adjustment"`
	_ value.Value `arg:"pid_mode,kw" doc:"PID namespace"`
	_ value.Value `arg:"pids_limit,kw" doc:"limit of processes"`
	_ value.Value `arg:"port_bindings,kw" doc:"published ports: port, host:port or ip:host:port; ranges and /udp work"`
	_ value.Value `arg:"ports,kw" doc:"exposed ports"`
	_ value.Value `arg:"privileged,kw" doc:"extended privileges"`
	_ value.Value `arg:"publish,kw" doc:"another name of port_bindings"`
	_ value.Value `arg:"publish_all,kw" doc:"another name of publish_all_ports"`
	_ value.Value `arg:"publish_all_ports,kw" doc:"publish all exposed ports"`
	_ value.Value `arg:"read_only,kw" doc:"read-only root file system"`
	_ value.Value `arg:"restart,kw" doc:"another name of restart_policy"`
	_ value.Value `arg:"restart_policy,kw" doc:"no, always, unless-stopped or on-failure:N"`
	_ value.Value `arg:"rm,kw" doc:"another name of auto_remove"`
	_ value.Value `arg:"runtime,kw" doc:"runtime of the container"`
	_ value.Value `arg:"security_opt,kw" doc:"security options"`
	_ value.Value `arg:"security_opts,kw" doc:"another name of security_opt"`
	_ value.Value `arg:"shm_size,kw" doc:"size of /dev/shm, in bytes or with a unit"`
	_ value.Value `arg:"stdin_open,kw" doc:"keep stdin open"`
	_ value.Value `arg:"stop_signal,kw" doc:"signal that stops the container"`
	_ value.Value `arg:"stop_timeout,kw" doc:"seconds after which a stop is a kill"`
	_ value.Value `arg:"storage_opt,kw" doc:"storage options, as key=value"`
	_ value.Value `arg:"sysctl,kw" doc:"another name of sysctls"`
	_ value.Value `arg:"sysctls,kw" doc:"kernel parameters, as key=value"`
	_ value.Value `arg:"tmpfs,kw" doc:"mapping of paths to options of a tmpfs"`
	_ value.Value `arg:"tty,kw" doc:"with a terminal"`
	_ value.Value `arg:"ulimit,kw" doc:"another name of ulimits"`
	_ value.Value `arg:"ulimits,kw" doc:"limits, as name=soft:hard"`
	_ value.Value `arg:"user,kw" doc:"user that the command runs as"`
	_ value.Value `arg:"user_ns_mode,kw" doc:"another name of userns_mode"`
	_ value.Value `arg:"userns_mode,kw" doc:"user namespace"`
	_ value.Value `arg:"volume,kw" doc:"another name of volumes"`
	_ value.Value `arg:"volume_driver,kw" doc:"driver of volumes"`
	_ value.Value `arg:"volumes,kw" doc:"mount points of anonymous volumes"`
	_ value.Value `arg:"volumes_from,kw" doc:"containers to take volumes of"`
	_ value.Value `arg:"workdir,kw" doc:"another name of working_dir"`
	_ value.Value `arg:"working_dir,kw" doc:"working directory"`
}

// NetworkArgs are the arguments that describe a network.
type NetworkArgs struct {
	_ fun.Arguments
	_ value.Value `arg:"attachable,kw" doc:"containers may connect by themselves, in swarm mode"`
	_ value.Value `arg:"aux_address,kw" doc:"another name of aux_addresses"`
	_ value.Value `arg:"aux_addresses,kw" doc:"addresses that containers do not get, as name=address"`
	_ value.Value `arg:"check_duplicate,kw" doc:"refuse a second network of the name"`
	_ value.Value `arg:"driver,kw" doc:"driver of the network"`
	_ value.Value `arg:"driver_opt,kw" doc:"another name of options"`
	_ value.Value `arg:"driver_opts,kw" doc:"another name of options"`
	_ value.Value `arg:"enable_ipv6,kw" doc:"with IPv6"`
	_ value.Value `arg:"gateway,kw" doc:"gateway of the pool"`
	_ value.Value `arg:"ingress,kw" doc:"routing mesh of a swarm"`
	_ value.Value `arg:"internal,kw" doc:"without access to the outside"`
	_ value.Value `arg:"ip_range,kw" doc:"another name of iprange"`
	_ value.Value `arg:"ipam,kw" doc:"addresses, as the engine's API has them"`
	_ value.Value `arg:"ipam_driver,kw" doc:"driver of addresses"`
	_ value.Value `arg:"ipam_opts,kw" doc:"options of the driver of addresses"`
	_ value.Value `arg:"ipam_pools,kw" doc:"pools of addresses: a list of mappings with subnet, iprange, gateway and aux_addresses"`
	_ value.Value `arg:"iprange,kw" doc:"part of the subnet that containers get addresses of"`
	_ value.Value `arg:"ipv6,kw" doc:"another name of enable_ipv6"`
	_ value.Value `arg:"labels,kw" doc:"labels, as a mapping or a list of key=value"`
	_ value.Value `arg:"options,kw" doc:"options of the driver, as key=value"`
	_ value.Value `arg:"scope,kw" doc:"scope of the network"`
	_ value.Value `arg:"subnet,kw" doc:"subnet of the pool"`
}

// endpointArgs are the arguments of a connection to a network.
type endpointArgs struct {
	_            fun.Arguments
	Aliases      value.Value `arg:"aliases,kw,comma[str]" doc:"names of the container in the network"`
	DriverOpt    value.Value `arg:"driver_opt,kw,dict" doc:"options of the driver"`
	IPv4Address  value.Value `arg:"ipv4_address,kw,str" doc:"IPv4 address"`
	IPv6Address  value.Value `arg:"ipv6_address,kw,str" doc:"IPv6 address"`
	LinkLocalIPs value.Value `arg:"link_local_ips,kw,comma[str]" doc:"link-local addresses"`
	Links        value.Value `arg:"links,kw" doc:"containers to link, as name:alias"`
}

type containerArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name or ID of the container"`
}

type imageNameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name or ID of the image"`
}

type imageArg struct {
	_     fun.Arguments
	Image string `arg:"image,required" doc:"the image"`
}

type allArg struct {
	_   fun.Arguments
	All bool `arg:"all,kw" default:"False" doc:"also those that do not run"`
}

type apiArg struct {
	_           fun.Arguments
	APIResponse bool `arg:"api_response" default:"False" doc:"return the answer of the engine, too"`
}

type insecureArg struct {
	_ fun.Arguments
	_ bool `arg:"insecure_registry" default:"False" doc:"accepted; the engine's own configuration says which registries are insecure"`
}

type timeoutArg struct {
	_             fun.Arguments
	ClientTimeout time.Duration `arg:"client_timeout" default:"60" unit:"s" doc:"how long the engine may take for an answer to begin"`
}

type networkIDArg struct {
	_         fun.Arguments
	NetworkID string `arg:"network_id,required" doc:"name or ID of the network"`
}

type volumeArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the volume"`
}

type filtersArg struct {
	_       fun.Arguments
	Filters value.Value `arg:"filters" doc:"filters of the engine, as a mapping"`
}

type repositoryArg struct {
	_          fun.Arguments
	Repository string `arg:"repository" doc:"repository of the image"`
}

type tagArg struct {
	_   fun.Arguments
	Tag string `arg:"tag" doc:"tag of the image"`
}

type newRepoArg struct {
	_          fun.Arguments
	Repository string `arg:"repository,required" doc:"repository of the image"`
}

type latestArg struct {
	_   fun.Arguments
	Tag string `arg:"tag" default:"latest" doc:"tag of the image"`
}

// TranslateArgs say how the arguments of containers and networks are read.
type TranslateArgs struct {
	_                fun.Arguments
	SkipTranslate    value.Value `arg:"skip_translate" doc:"arguments, or True for all, that are in the form of the engine's API already"`
	IgnoreCollisions bool        `arg:"ignore_collisions" default:"False" doc:"no error if an argument is given under two names"`
	ValidateIPAddrs  bool        `arg:"validate_ip_addrs" default:"True" doc:"check addresses"`
}

// runArgs are the arguments of programs in containers.
type runArgs struct {
	_             fun.Arguments
	Name          string      `arg:"name,required" doc:"name or ID of the container"`
	Cmd           string      `arg:"cmd,required" doc:"the command; no shell reads it, unless it is sh -c"`
	_             string      `arg:"exec_driver" doc:"accepted; commands run by the engine's exec"`
	Stdin         string      `arg:"stdin" doc:"standard input of the command"`
	_             bool        `arg:"python_shell" default:"True" doc:"accepted; there is no shell"`
	_             string      `arg:"output_loglevel" default:"debug" doc:"accepted; output is not logged"`
	_             bool        `arg:"use_vt" default:"False" doc:"accepted; there is no terminal"`
	IgnoreRetcode bool        `arg:"ignore_retcode" default:"False" doc:"the status of the command is not that of the function"`
	KeepEnv       value.Value `arg:"keep_env,bool|comma[str]" doc:"variables of the environment to pass on, or True for all"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "build", Doc: "Build an image of a directory with a Dockerfile, or of a URL.", Src: "modules/dockermod.py build", Do: build,
	},
	{
		Name: "commit", Doc: "Make an image of a container.", Src: "modules/dockermod.py commit", Do: commit,
	},
	{
		Name: "compare_container", Doc: "Return the differences of two containers: the same as compare_containers.", Src: "modules/dockermod.py compare_containers", Do: compareContainers,
	},
	{
		Name: "compare_container_networks", Doc: "Return the differences of the networks of two containers.", Src: "modules/dockermod.py compare_container_networks", Do: compareContainerNetworks,
	},
	{
		Name: "compare_containers", Doc: "Return the differences of two containers.", Src: "modules/dockermod.py compare_containers", Do: compareContainers,
	},
	{
		Name: "compare_networks", Doc: "Return the differences of two networks.", Src: "modules/dockermod.py compare_networks", Do: compareNetworks,
	},
	{
		Name: "connect_container_to_network", Doc: "Connect a container to a network.", Src: "modules/dockermod.py connect_container_to_network", Do: connect,
		NearMiss: true,
	},
	{
		Name: "connected", Doc: "List the containers of a network.", Src: "modules/dockermod.py connected", Do: connected,
	},
	{
		Name: "create", Doc: "Create a container, and pull its image if it is missing.", Src: "modules/dockermod.py create", Do: create,
		NearMiss: true,
	},
	{
		Name: "create_network", Doc: "Create a network.", Src: "modules/dockermod.py create_network", Do: createNetwork,
		NearMiss: true,
	},
	{
		Name: "create_volume", Doc: "Create a volume.", Src: "modules/dockermod.py create_volume", Do: createVolume,
	},
	{
		Name: "dangling", Doc: "List images without a tag that no image is made of, or remove them.", Src: "modules/dockermod.py dangling", Do: dangling,
	},
	{
		Name: "depends", Doc: "List the containers and images that need an image.", Src: "modules/dockermod.py depends", Do: depends,
	},
	{
		Name: "diff", Doc: "Return what a container changed of its image.", Src: "modules/dockermod.py diff", Do: diff,
	},
	{
		Name: "disconnect_all_containers_from_network", Doc: "Disconnect all containers from a network.", Src: "modules/dockermod.py disconnect_all_containers_from_network", Do: disconnectAll,
	},
	{
		Name: "disconnect_container_from_network", Doc: "Disconnect a container from a network.", Src: "modules/dockermod.py disconnect_container_from_network", Do: disconnect,
	},
	{
		Name: "exists", Doc: "Report whether there is a container.", Src: "modules/dockermod.py exists", Do: exists,
	},
	{
		Name: "freeze", Doc: "Pause a container: the same as pause.", Src: "modules/dockermod.py pause", Do: pause,
	},
	{
		Name: "history", Doc: "Return how an image was made.", Src: "modules/dockermod.py history", Do: history,
	},
	{
		Name: "images", Doc: "List images.", Src: "modules/dockermod.py images", Do: images,
	},
	{
		Name: "info", Doc: "Return what is known of the engine.", Src: "modules/dockermod.py info", Do: info,
	},
	{
		Name: "inspect", Doc: "Return what is known of a container, an image, a volume or a network.", Src: "modules/dockermod.py inspect", Do: inspect,
	},
	{
		Name: "inspect_container", Doc: "Return what is known of a container.", Src: "modules/dockermod.py inspect_container", Do: inspectContainer,
	},
	{
		Name: "inspect_image", Doc: "Return what is known of an image.", Src: "modules/dockermod.py inspect_image", Do: inspectImage,
	},
	{
		Name: "inspect_network", Doc: "Return what is known of a network.", Src: "modules/dockermod.py inspect_network", Do: inspectNetwork,
	},
	{
		Name: "inspect_volume", Doc: "Return what is known of a volume.", Src: "modules/dockermod.py inspect_volume", Do: inspectVolume,
	},
	{
		Name: "kill", Doc: "Kill a container.", Src: "modules/dockermod.py kill", Do: kill,
	},
	{
		Name: "layers", Doc: "List the layers of an image.", Src: "modules/dockermod.py layers", Do: layers,
	},
	{
		Name: "list_containers", Doc: "List the names of containers.", Src: "modules/dockermod.py list_containers", Do: listContainers,
	},
	{
		Name: "list_tags", Doc: "List the tags of all images.", Src: "modules/dockermod.py list_tags", Do: listTags,
	},
	{
		Name: "load", Doc: "Load the images of an archive.", Src: "modules/dockermod.py load", Do: load,
	},
	{
		Name: "login", Doc: "Log in to the registries of the configuration, or some of them.\nThe credentials go to config.json of the docker client.", Src: "modules/dockermod.py login", Do: login,
	},
	{
		Name: "logout", Doc: "Forget the credentials of registries.", Src: "modules/dockermod.py logout", Do: logout,
	},
	{
		Name: "logs", Doc: "Return what a container printed.", Src: "modules/dockermod.py logs", Do: logs,
	},
	{
		Name: "networks", Doc: "List networks.", Src: "modules/dockermod.py networks", Do: networks,
	},
	{
		Name: "pause", Doc: "Pause a container.", Src: "modules/dockermod.py pause", Do: pause,
	},
	{
		Name: "pid", Doc: "Return the process ID of a container.", Src: "modules/dockermod.py pid", Do: pid,
	},
	{
		Name: "port", Doc: "Return where ports of a container are published.", Src: "modules/dockermod.py port", Do: port,
	},
	{
		Name: "prune", Doc: "Remove what is not used.", Src: "modules/dockermod.py prune", Do: prune,
		NearMiss: true,
	},
	{
		Name: "ps", Doc: "List containers.", Src: "modules/dockermod.py ps_", Do: ps,
	},
	{
		Name: "pull", Doc: "Pull an image.", Src: "modules/dockermod.py pull", Do: pull,
	},
	{
		Name: "push", Doc: "Push an image.", Src: "modules/dockermod.py push", Do: push,
	},
	{
		Name: "remove_network", Doc: "Remove a network.", Src: "modules/dockermod.py remove_network", Do: removeNetwork,
	},
	{
		Name: "remove_volume", Doc: "Remove a volume.", Src: "modules/dockermod.py remove_volume", Do: removeVolume,
	},
	{
		Name: "rename", Doc: "Rename a container.", Src: "modules/dockermod.py rename", Do: rename,
	},
	{
		Name: "resolve_image_id", Doc: "Return the ID of an image; False if there is none.", Src: "modules/dockermod.py resolve_image_id", Do: resolveImageID,
	},
	{
		Name: "resolve_tag", Doc: "Return a tag of an image, or its ID; False if there is none.", Src: "modules/dockermod.py resolve_tag", Do: resolveTag,
	},
	{
		Name: "restart", Doc: "Restart a container.", Src: "modules/dockermod.py restart", Do: restart,
	},
	{
		Name: "retcode", Doc: "Run a command in a container and return its status.", Src: "modules/dockermod.py retcode", Do: retcode,
	},
	{
		Name: "rm", Doc: "Remove a container and return the IDs of what is gone.", Src: "modules/dockermod.py rm_", Do: rm,
	},
	{
		Name: "rmi", Doc: "Remove images.", Src: "modules/dockermod.py rmi", Do: rmi,
	},
	{
		Name: "run", Doc: "Run a command in a container and return its output.", Src: "modules/dockermod.py run", Do: runAny,
	},
	{
		Name: "run_all", Doc: "Run a command in a container and return its output and status.", Src: "modules/dockermod.py run_all", Do: runAll,
	},
	{
		Name: "run_container", Doc: "Create and start a container and return what it printed.", Src: "modules/dockermod.py run_container", Do: runContainer,
		NearMiss: true,
	},
	{
		Name: "run_stderr", Doc: "Run a command in a container and return what it printed on stderr.", Src: "modules/dockermod.py run_stderr", Do: runStderr,
	},
	{
		Name: "run_stdout", Doc: "Run a command in a container and return what it printed on stdout.", Src: "modules/dockermod.py run_stdout", Do: runStdout,
	},
	{
		Name: "search", Doc: "Search for images on Docker Hub.", Src: "modules/dockermod.py search", Do: search,
	},
	{
		Name: "signal", Doc: "Send a signal to a container.", Src: "modules/dockermod.py signal_", Do: signal,
	},
	{
		Name: "start", Doc: "Start a container.", Src: "modules/dockermod.py start_", Do: start,
	},
	{
		Name: "state", Doc: "Return whether a container is running, paused or stopped.", Src: "modules/dockermod.py state", Do: state,
	},
	{
		Name: "stop", Doc: "Stop a container.", Src: "modules/dockermod.py stop", Do: stop,
	},
	{
		Name: "tag", Doc: "Give an image a tag.", Src: "modules/dockermod.py tag_", Do: tag,
	},
	{
		Name: "top", Doc: "List the processes of a container.", Src: "modules/dockermod.py top", Do: top,
	},
	{
		Name: "unfreeze", Doc: "Unpause a container: the same as unpause.", Src: "modules/dockermod.py unpause", Do: unpause,
	},
	{
		Name: "unpause", Doc: "Unpause a container.", Src: "modules/dockermod.py unpause", Do: unpause,
	},
	{
		Name: "version", Doc: "Return the versions of the engine.", Src: "modules/dockermod.py version", Do: version,
	},
	{
		Name: "volumes", Doc: "List volumes.", Src: "modules/dockermod.py volumes", Do: volumeList,
	},
	{
		Name: "wait", Doc: "Wait for the end of a container and return its status.", Src: "modules/dockermod.py wait", Do: wait,
	},
}
