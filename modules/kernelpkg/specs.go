package kernelpkg

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "active", Doc: "Return the release of the running kernel.", Src: "modules/kernelpkg_linux_apt.py active", Fn: active},
	{
		Name: "cleanup", Doc: "Remove the packages of all kernels but the running one.", Src: "modules/kernelpkg_linux_apt.py cleanup", Fn: cleanup,
		Args: []fun.Arg{{Name: "keep_latest", Type: fun.Bool, Default: true, Doc: "keep the newest kernel, too"}},
	},
	{Name: "latest_available", Doc: "Return the release of the newest kernel in the repositories.", Src: "modules/kernelpkg_linux_apt.py latest_available", Fn: latestAvailable},
	{Name: "latest_installed", Doc: "Return the release of the newest installed kernel.", Src: "modules/kernelpkg_linux_apt.py latest_installed", Fn: latestInstalled},
	{Name: "list_installed", Doc: "List the releases of installed kernels of the type of the running one.", Src: "modules/kernelpkg_linux_apt.py list_installed", Fn: listInstalled},
	{Name: "needs_reboot", Doc: "Return whether a newer kernel than the running one is installed.", Src: "modules/kernelpkg_linux_apt.py needs_reboot", Fn: needsReboot},
	{
		Name: "remove", Doc: "Remove the package of a kernel that does not run.", Src: "modules/kernelpkg_linux_apt.py remove", Fn: remove,
		Args: []fun.Arg{{Name: "release", Type: fun.Str, Required: true, Doc: "release of the kernel, as list_installed returns it"}},
	},
	{
		Name: "upgrade", Doc: "Install the newest kernel, and reboot if asked for.", Src: "modules/kernelpkg_linux_apt.py upgrade", Fn: upgrade,
		Args: []fun.Arg{
			{Name: "reboot", Type: fun.Bool, Default: false, Doc: "reboot if a newer kernel than the running one is installed"},
			{Name: "at_time", Type: fun.Any, Doc: "when to reboot, as for system.reboot; default: now"},
		},
	},
	{Name: "upgrade_available", Doc: "Return whether the repositories have a newer kernel than the installed ones.", Src: "modules/kernelpkg_linux_apt.py upgrade_available", Fn: upgradeAvailable},
}
