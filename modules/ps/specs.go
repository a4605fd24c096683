package ps

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type allArg struct {
	_   fun.Arguments
	All bool `arg:"all" default:"False" doc:"also file systems without a device, such as tmpfs"`
}

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the program"`
}

type perCPUArg struct {
	_      fun.Arguments
	PerCPU bool `arg:"per_cpu" default:"False" doc:"return a list, one item for each processor"`
}

type signalArg struct {
	_      fun.Arguments
	Signal int64 `arg:"signal" default:"15" doc:"number of the signal"`
}

type userArg struct {
	_    fun.Arguments
	User value.Value `arg:"user,str" doc:"only processes of this account"`
}

type fullArg struct {
	_    fun.Arguments
	Full bool `arg:"full" default:"False" doc:"look at the whole command line, not the name alone"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "boot_time", Doc: "Return when the machine was started, in seconds since 1970.", Src: "modules/ps.py boot_time", Do: bootTimeFn},
	{
		Name: "cpu_percent", Doc: "Return how busy the processors are, in percent.", Src: "modules/ps.py cpu_percent", Do: cpuPercent,
	},
	{Name: "cpu_times", Doc: "Return the time of the processors by what they did, in seconds.", Src: "modules/ps.py cpu_times", Do: cpuTimes},
	{Name: "disk_io_counters", Doc: "Return what was read and written.", Src: "modules/ps.py disk_io_counters", Do: diskIO},
	{Name: "disk_partition_usage", Doc: "Return the file systems and how full they are.", Src: "modules/ps.py disk_partition_usage", Do: partitionUsage},
	{Name: "disk_partitions", Doc: "Return the file systems that are mounted.", Src: "modules/ps.py disk_partitions", Do: diskPartitions},
	{Name: "disk_usage", Doc: "Return how full a file system is, in bytes.", Src: "modules/ps.py disk_usage", Do: diskUsage},
	{Name: "get_pid_list", Doc: "Return the numbers of all processes.", Src: "modules/ps.py get_pid_list", Do: getPIDList},
	{Name: "get_users", Doc: "Return who is logged in.", Src: "modules/ps.py get_users", Do: getUsers},
	{
		Name: "kill_pid", Doc: "Send a signal to a process; return whether there is one.", Src: "modules/ps.py kill_pid", Do: killPID,
	},
	{Name: "lsof", Doc: "Return the files that a program has open, by lsof(8).", Src: "modules/ps.py lsof", Do: lsof},
	{Name: "netstat", Doc: "Return the lines of netstat(8) for a program.", Src: "modules/ps.py netstat", Do: netstat},
	{Name: "network_io_counters", Doc: "Return what was sent and received.", Src: "modules/ps.py network_io_counters", Do: networkIO},
	{Name: "num_cpus", Doc: "Return the number of processors.", Src: "modules/ps.py num_cpus", Do: numCPUs},
	{
		Name: "pgrep", Doc: "Return the numbers of the processes that match, None if there is none.", Src: "modules/ps.py pgrep", Do: pgrep,
	},
	{
		Name: "pkill", Doc: "Send a signal to the processes that match; return their numbers, None if there is none.", Src: "modules/ps.py pkill", Do: pkill,
	},
	{
		Name: "proc_info", Doc: "Return what is known of a process.\n\nThe attributes are those of psutil, but connections, ionice, memory_maps\nand open_files.", Src: "modules/ps.py proc_info",
		Do: procInfo,
	},
	{Name: "psaux", Doc: "Return the lines of ps aux that match.", Src: "modules/ps.py psaux", Do: psaux},
	{Name: "ss", Doc: "Return the lines of ss(8) for a program.", Src: "modules/ps.py ss", Do: ss},
	{Name: "status", Doc: "Return the processes in a state.", Src: "modules/ps.py status", Do: statusOf},
	{Name: "swap_memory", Doc: "Return the size and use of swap in bytes.", Src: "modules/ps.py swap_memory", Do: swapMemory},
	{
		Name: "top", Doc: "Return the processes that use most time of the processors.", Src: "modules/ps.py top", Do: top,
	},
	{Name: "total_physical_memory", Doc: "Return the size of the memory in bytes.", Src: "modules/ps.py total_physical_memory", Do: totalMemory},
	{Name: "virtual_memory", Doc: "Return the size and use of memory in bytes.", Src: "modules/ps.py virtual_memory", Do: virtualMemory},
}
