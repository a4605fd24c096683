package status

import (
	"brine/internal/core/fun"
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "all_status", Doc: "Return the results of the other functions for this machine by name.", Src: "modules/status.py all_status", Do: allStatus},
	{Name: "cpuinfo", Doc: "Return /proc/cpuinfo of the last processor.", Src: "modules/status.py cpuinfo", Do: cpuinfo},
	{Name: "cpustats", Doc: "Return the counters of /proc/stat.", Src: "modules/status.py cpustats", Do: cpustats},
	{Name: "custom", Doc: "Return what the options status.FUNCTION.custom list.\n\nstatus.cpustats.custom: [cpu, ctxt] gives these two of status.cpustats.", Src: "modules/status.py custom", Do: custom},
	{Name: "diskstats", Doc: "Return the counters of /proc/diskstats by device.", Src: "modules/status.py diskstats", Do: diskstats},
	{
		Name: "diskusage", Doc: "Return the size and free space of file systems in bytes.\n\nArguments are mount points (with a leading slash) or types of file systems (globs); none is all.", Src: "modules/status.py diskusage",
		Do: diskusage,
	},
	{Name: "loadavg", Doc: "Return the load averages of 1, 5 and 15 minutes.", Src: "modules/status.py loadavg", Do: loadavg},
	{Name: "meminfo", Doc: "Return /proc/meminfo.", Src: "modules/status.py meminfo", Do: meminfo},
	{Name: "netdev", Doc: "Return the counters of /proc/net/dev by interface.", Src: "modules/status.py netdev", Do: netdev},
	{Name: "netstats", Doc: "Return the counters of /proc/net/netstat.", Src: "modules/status.py netstats", Do: netstats},
	{Name: "nproc", Doc: "Return the number of processors.", Src: "modules/status.py nproc", Do: nproc},
	{
		Name: "pid", Doc: "Return the IDs of the processes whose line in ps matches a regular expression, one per line.", Src: "modules/status.py pid",
		Do: pid,
	},
	{Name: "procs", Doc: "Return the user and command of processes by ID.", Src: "modules/status.py procs", Do: procs},
	{
		Name: "time", Doc: "Return the local time.", Src: "modules/status.py time_",
		Do: timeFn,
	},
	{Name: "uptime", Doc: "Return how long the machine has been running.", Src: "modules/status.py uptime", Do: uptime},
	{Name: "version", Doc: "Return /proc/version.", Src: "modules/status.py version", Do: version},
	{Name: "vmstats", Doc: "Return the counters of /proc/vmstat.", Src: "modules/status.py vmstats", Do: vmstats},
	{Name: "w", Doc: "Return the users who are logged in, as w(1) shows them.", Src: "modules/status.py w", Do: who},
}
