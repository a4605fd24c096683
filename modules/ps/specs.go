package ps

import "brine/internal/fun"

// Arguments that several functions have.
var (
	allArg    = fun.Arg{Name: "all", Type: fun.Bool, Default: false, Doc: "also file systems without a device, such as tmpfs"}
	nameArg   = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the program"}
	perCPUArg = fun.Arg{Name: "per_cpu", Type: fun.Bool, Default: false, Doc: "return a list, one item for each processor"}
	signalArg = fun.Arg{Name: "signal", Type: fun.Int, Default: int64(15), Doc: "number of the signal"}
	userArg   = fun.Arg{Name: "user", Type: fun.Str, Doc: "only processes of this account"}
	fullArg   = fun.Arg{Name: "full", Type: fun.Bool, Default: false, Doc: "look at the whole command line, not the name alone"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "boot_time", Doc: "Return when the machine was started, in seconds since 1970.", Src: "modules/ps.py boot_time", Fn: bootTimeFn, Args: []fun.Arg{{Name: "time_format", Type: fun.Str, Doc: "format for strftime(3); the return is text then"}}},
	{
		Name: "cpu_percent", Doc: "Return how busy the processors are, in percent.", Src: "modules/ps.py cpu_percent", Fn: cpuPercent,
		Args: []fun.Arg{{Name: "interval", Type: fun.Duration, Default: 0.1, Unit: "s", Doc: "how long to look"}, perCPUArg},
	},
	{Name: "cpu_times", Doc: "Return the time of the processors by what they did, in seconds.", Src: "modules/ps.py cpu_times", Fn: cpuTimes, Args: []fun.Arg{perCPUArg}},
	{Name: "disk_io_counters", Doc: "Return what was read and written.", Src: "modules/ps.py disk_io_counters", Fn: diskIO, Args: []fun.Arg{{Name: "device", Type: fun.Str, Doc: "name of the device; None is all disks"}}},
	{Name: "disk_partition_usage", Doc: "Return the file systems and how full they are.", Src: "modules/ps.py disk_partition_usage", Fn: partitionUsage, Args: []fun.Arg{allArg}},
	{Name: "disk_partitions", Doc: "Return the file systems that are mounted.", Src: "modules/ps.py disk_partitions", Fn: diskPartitions, Args: []fun.Arg{allArg}},
	{Name: "disk_usage", Doc: "Return how full a file system is, in bytes.", Src: "modules/ps.py disk_usage", Fn: diskUsage, Args: []fun.Arg{{Name: "path", Type: fun.Path, Required: true, Doc: "a path on it"}}},
	{Name: "get_pid_list", Doc: "Return the numbers of all processes.", Src: "modules/ps.py get_pid_list", Fn: getPIDList},
	{Name: "get_users", Doc: "Return who is logged in.", Src: "modules/ps.py get_users", Fn: getUsers},
	{
		Name: "kill_pid", Doc: "Send a signal to a process; return whether there is one.", Src: "modules/ps.py kill_pid", Fn: killPID,
		Args: []fun.Arg{{Name: "pid", Type: fun.Int, Required: true, Doc: "number of the process"}, signalArg},
	},
	{Name: "lsof", Doc: "Return the files that a program has open, by lsof(8).", Src: "modules/ps.py lsof", Fn: lsof, Args: []fun.Arg{nameArg}},
	{Name: "netstat", Doc: "Return the lines of netstat(8) for a program.", Src: "modules/ps.py netstat", Fn: netstat, Args: []fun.Arg{nameArg}},
	{Name: "network_io_counters", Doc: "Return what was sent and received.", Src: "modules/ps.py network_io_counters", Fn: networkIO, Args: []fun.Arg{{Name: "interface", Type: fun.Str, Doc: "name of the interface; None is all"}}},
	{Name: "num_cpus", Doc: "Return the number of processors.", Src: "modules/ps.py num_cpus", Fn: numCPUs},
	{
		Name: "pgrep", Doc: "Return the numbers of the processes that match, None if there is none.", Src: "modules/ps.py pgrep", Fn: pgrep,
		Args: []fun.Arg{
			{Name: "pattern", Type: fun.Str, Required: true, Doc: "text in the name"},
			userArg, fullArg,
			{Name: "pattern_is_regex", Type: fun.Bool, Default: false, Doc: "the pattern is a regular expression"},
		},
	},
	{
		Name: "pkill", Doc: "Send a signal to the processes that match; return their numbers, None if there is none.", Src: "modules/ps.py pkill", Fn: pkill,
		Args: []fun.Arg{{Name: "pattern", Type: fun.Str, Required: true, Doc: "text in the name"}, userArg, signalArg, fullArg},
	},
	{
		Name: "proc_info", Doc: "Return what is known of a process.\n\nThe attributes are those of psutil, but connections, ionice, memory_maps\nand open_files.", Src: "modules/ps.py proc_info",
		Fn: procInfo,
		Args: []fun.Arg{
			{Name: "pid", Type: fun.Int, Required: true, Doc: "number of the process"},
			{Name: "attrs", Type: fun.Strs, Doc: "names of attributes; None is all"},
		},
	},
	{Name: "psaux", Doc: "Return the lines of ps aux that match.", Src: "modules/ps.py psaux", Fn: psaux, Args: []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "a regular expression"}}},
	{Name: "ss", Doc: "Return the lines of ss(8) for a program.", Src: "modules/ps.py ss", Fn: ss, Args: []fun.Arg{nameArg}},
	{Name: "status", Doc: "Return the processes in a state.", Src: "modules/ps.py status", Fn: statusOf, Args: []fun.Arg{{Name: "status", Type: fun.Str, Required: true, Doc: "running, sleeping, disk_sleep, stopped, tracing_stop, zombie, dead, wake_kill, waking, parked, idle"}}},
	{Name: "swap_memory", Doc: "Return the size and use of swap in bytes.", Src: "modules/ps.py swap_memory", Fn: swapMemory},
	{
		Name: "top", Doc: "Return the processes that use most time of the processors.", Src: "modules/ps.py top", Fn: top,
		Args: []fun.Arg{{Name: "num_processes", Type: fun.Int, Default: int64(5), Doc: "how many"}, {Name: "interval", Type: fun.Duration, Default: int64(3), Unit: "s", Doc: "how long to look"}},
	},
	{Name: "total_physical_memory", Doc: "Return the size of the memory in bytes.", Src: "modules/ps.py total_physical_memory", Fn: totalMemory},
	{Name: "virtual_memory", Doc: "Return the size and use of memory in bytes.", Src: "modules/ps.py virtual_memory", Fn: virtualMemory},
}
