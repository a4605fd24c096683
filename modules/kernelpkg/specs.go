package kernelpkg

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "active", Doc: "Return the release of the running kernel.", Src: "modules/kernelpkg_linux_apt.py active", Do: active},
	{
		Name: "cleanup", Doc: "Remove the packages of all kernels but the running one.", Src: "modules/kernelpkg_linux_apt.py cleanup", Do: cleanup,
	},
	{Name: "latest_available", Doc: "Return the release of the newest kernel in the repositories.", Src: "modules/kernelpkg_linux_apt.py latest_available", Do: latestAvailable},
	{Name: "latest_installed", Doc: "Return the release of the newest installed kernel.", Src: "modules/kernelpkg_linux_apt.py latest_installed", Do: latestInstalled},
	{Name: "list_installed", Doc: "List the releases of installed kernels of the type of the running one.", Src: "modules/kernelpkg_linux_apt.py list_installed", Do: listInstalled},
	{Name: "needs_reboot", Doc: "Return whether a newer kernel than the running one is installed.", Src: "modules/kernelpkg_linux_apt.py needs_reboot", Do: needsReboot},
	{
		Name: "remove", Doc: "Remove the package of a kernel that does not run.", Src: "modules/kernelpkg_linux_apt.py remove", Do: remove,
	},
	{
		Name: "upgrade", Doc: "Install the newest kernel, and reboot if asked for.", Src: "modules/kernelpkg_linux_apt.py upgrade", Do: upgrade,
	},
	{Name: "upgrade_available", Doc: "Return whether the repositories have a newer kernel than the installed ones.", Src: "modules/kernelpkg_linux_apt.py upgrade_available", Do: upgradeAvailable},
}
