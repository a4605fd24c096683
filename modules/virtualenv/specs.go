package virtualenv

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "create", Doc: "Create an environment and return what the program said.", Src: "modules/virtualenv_mod.py create", Do: create,
		NearMiss: true,
	},
	{
		Name: "get_distribution_path", Doc: "Return where a package of an environment is installed.", Src: "modules/virtualenv_mod.py get_distribution_path", Do: getDistributionPath,
	},
	{
		Name: "get_resource_content", Doc: "Return the content of a file of a package, as Python prints bytes.", Src: "modules/virtualenv_mod.py get_resource_content", Do: getResourceContent,
	},
	{
		Name: "get_resource_path", Doc: "Return the path of a file of a package.", Src: "modules/virtualenv_mod.py get_resource_path", Do: getResourcePath,
	},
	{
		Name: "get_site_packages", Doc: "Return the directory of the packages of an environment.", Src: "modules/virtualenv_mod.py get_site_packages", Do: getSitePackages,
	},
	{
		Name: "virtualenv_ver", Doc: "Return the version of virtualenv as a list of numbers.", Src: "modules/virtualenv_mod.py virtualenv_ver", Do: virtualenvVer,
		NearMiss: true,
	},
}
