package virtualenv

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "create", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Create an environment and return what the program said.", Src: "modules/virtualenv_mod.py create", Fn: create,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Required: true, Doc: "directory of the environment"},
			{Name: "venv_bin", Type: fun.Str, Doc: "virtualenv program, or python3 -m venv; default: virtualenv if available, else python3 -m venv"},
			{Name: "system_site_packages", Type: fun.Bool, Default: false, Doc: "let the environment see the packages of the system"},
			{Name: "distribute", Type: fun.Bool, Default: false, Doc: "accepted; it is used by virtualenv before 1.10 only"},
			{Name: "clear", Type: fun.Bool, Default: false, Doc: "delete what is in the environment first"},
			{Name: "python", Type: fun.Str, Doc: "Python of the environment"},
			{Name: "extra_search_dir", Type: fun.Commas, Doc: "directories with wheels for virtualenv"},
			{Name: "never_download", Type: fun.Bool, Doc: "virtualenv downloads nothing"},
			{Name: "prompt", Type: fun.Str, Doc: "text that the shell shows before its prompt"},
			{Name: "pip", Type: fun.Bool, Default: false, Doc: "install pip where the environment has none"},
			{Name: "symlinks", Type: fun.Bool, Doc: "link the Python instead of copying it; python3 -m venv only"},
			{Name: "upgrade", Type: fun.Bool, Doc: "update an environment after an update of Python; python3 -m venv only"},
			{Name: "user", Type: fun.Str, Doc: "account that creates the environment"},
			{Name: "use_vt", Type: fun.Bool, Default: false, Doc: "accepted; output is not shown while the program runs"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "accepted for compatibility"},
		},
		VarKw: true, NearMiss: true,
	},
	{
		Name: "get_distribution_path", Doc: "Return where a package of an environment is installed.", Src: "modules/virtualenv_mod.py get_distribution_path", Fn: getDistributionPath,
		Args: []fun.Arg{
			{Name: "venv", Type: fun.Path, Required: true, Doc: "directory of the environment"},
			{Name: "distribution", Type: fun.Str, Required: true, Doc: "name of a package"},
		},
	},
	{
		Name: "get_resource_content", Doc: "Return the content of a file of a package, as Python prints bytes.", Src: "modules/virtualenv_mod.py get_resource_content", Fn: getResourceContent,
		Args: []fun.Arg{
			{Name: "venv", Type: fun.Path, Required: true, Doc: "directory of the environment"},
			{Name: "package", Type: fun.Str, Doc: "name of a package"},
			{Name: "resource", Type: fun.Str, Doc: "path in the package"},
		},
	},
	{
		Name: "get_resource_path", Doc: "Return the path of a file of a package.", Src: "modules/virtualenv_mod.py get_resource_path", Fn: getResourcePath,
		Args: []fun.Arg{
			{Name: "venv", Type: fun.Path, Required: true, Doc: "directory of the environment"},
			{Name: "package", Type: fun.Str, Doc: "name of a package"},
			{Name: "resource", Type: fun.Str, Doc: "path in the package"},
		},
	},
	{
		Name: "get_site_packages", Doc: "Return the directory of the packages of an environment.", Src: "modules/virtualenv_mod.py get_site_packages", Fn: getSitePackages,
		Args: []fun.Arg{
			{Name: "venv", Type: fun.Path, Required: true, Doc: "directory of the environment"},
		},
	},
	{
		Name: "virtualenv_ver", Doc: "Return the version of virtualenv as a list of numbers.", Src: "modules/virtualenv_mod.py virtualenv_ver", Fn: virtualenvVer,
		Args: []fun.Arg{
			{Name: "venv_bin", Type: fun.Str, Required: true, Doc: "virtualenv program, or python3 -m venv; default: virtualenv if available, else python3 -m venv"},
			{Name: "user", Type: fun.Str, Doc: "account that creates the environment"},
		},
		VarKw: true, NearMiss: true,
	},
}
