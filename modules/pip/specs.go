package pip

import "brine/internal/core/fun"

// whereArgs are arguments that several functions have.
type whereArgs struct {
	_      fun.Arguments
	BinEnv string `arg:"bin_env,path" doc:"a virtualenv, or the path of a Python or a pip; default: the python3 of the system"`
	User   string `arg:"user" doc:"account that runs pip"`
	Cwd    string `arg:"cwd,path" doc:"working directory"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "freeze", Doc: "Return the lines of pip freeze.", Src: "modules/pip.py freeze", Do: freeze,
		NearMiss: true,
	},
	{
		Name: "install", Doc: "Install packages and return what pip said.", Src: "modules/pip.py install", Do: install,
		NearMiss: true,
	},
	{
		Name: "is_installed", Doc: "Return whether a package is installed.", Src: "modules/pip.py is_installed", Do: isInstalled,
	},
	{
		Name: "list", Doc: "Return the versions of the installed packages.", Src: "modules/pip.py list", Do: list,
		NearMiss: true,
	},
	{
		Name: "list_all_versions", Doc: "Return the versions of a package that can be installed.", Src: "modules/pip.py list_all_versions", Do: listAllVersions,
	},
	{
		Name: "list_freeze_parse", Doc: "Return the versions of the installed packages as pip freeze has them.", Src: "modules/pip.py list_freeze_parse", Do: listFreezeParse,
		NearMiss: true,
	},
	{
		Name: "list_upgrades", Doc: "Return the packages with newer versions.", Src: "modules/pip.py list_upgrades", Do: listUpgrades,
	},
	{
		Name: "uninstall", Doc: "Remove packages and return what pip said.", Src: "modules/pip.py uninstall", Do: uninstall,
	},
	{
		Name: "upgrade", Doc: "Upgrade all packages.", Src: "modules/pip.py upgrade", Do: upgrade,
	},
	{
		Name: "upgrade_available", Doc: "Return whether there is a newer version of a package.", Src: "modules/pip.py upgrade_available", Do: upgradeAvailable,
	},
	{
		Name: "version", Doc: "Return the version of pip.", Src: "modules/pip.py version", Do: version,
	},
}
