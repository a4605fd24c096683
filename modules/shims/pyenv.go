package shims

import "brine/internal/fun"

// pyenvSpecs are the functions of pyenv, alphabetically.
var pyenvSpecs = []fun.Spec{
	{
		Name: "default", Doc: "Return the default version of Python, or set it.", Src: "modules/pyenv.py default", Fn: defaultVersion,
		Args: []fun.Arg{
			{Name: "python", Type: fun.Str, Doc: "version to set"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs pyenv"},
		},
	},
	{
		Name: "do", Doc: "Run a command with the shims of pyenv.", Src: "modules/pyenv.py do", Fn: do,
		Args: []fun.Arg{
			{Name: "cmdline", Type: fun.Str, Required: true, Doc: "command line; no shell sees it"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs pyenv"},
		},
	},
	{
		Name: "do_with_python", Doc: "Run a command with a version of Python.", Src: "modules/pyenv.py do_with_python", Fn: doWith,
		Args: []fun.Arg{
			{Name: "python", Type: fun.Str | fun.None, Required: true, Doc: "version; None is the default one"},
			{Name: "cmdline", Type: fun.Str, Required: true, Doc: "command line; no shell sees it"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs pyenv"},
		},
	},
	{
		Name: "install", Doc: "Install pyenv.", Src: "modules/pyenv.py install", Fn: install,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs pyenv"},
			{Name: "path", Type: fun.Path, Doc: "directory of pyenv; default: the usual one of the account"},
		},
	},
	{
		Name: "install_python", Doc: "Build and install a version of Python.", Src: "modules/pyenv.py install_python", Fn: installVersion,
		Args: []fun.Arg{
			{Name: "python", Type: fun.Str, Required: true, Doc: "version, such as 3.12.4"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs pyenv"},
		},
	},
	{
		Name: "is_installed", Doc: "Return whether pyenv is installed.", Src: "modules/pyenv.py is_installed", Fn: isInstalled,
		Args: []fun.Arg{{Name: "runas", Type: fun.Str, Doc: "account that runs pyenv"}},
	},
	{
		Name: "list", Doc: "Return the versions of Python that can be installed.", Src: "modules/pyenv.py list_", Fn: list,
		Args: []fun.Arg{{Name: "runas", Type: fun.Str, Doc: "account that runs pyenv"}},
	},
	{
		Name: "rehash", Doc: "Make the shims of programs that are new.", Src: "modules/pyenv.py rehash", Fn: rehash,
		Args: []fun.Arg{{Name: "runas", Type: fun.Str, Doc: "account that runs pyenv"}},
	},
	{
		Name: "uninstall_python", Doc: "Remove a version of Python.", Src: "modules/pyenv.py uninstall_python", Fn: uninstallVersion,
		Args: []fun.Arg{
			{Name: "python", Type: fun.Str, Required: true, Doc: "version, such as 3.12.4"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs pyenv"},
		},
	},
	{
		Name: "update", Doc: "Update pyenv.", Src: "modules/pyenv.py update", Fn: update,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs pyenv"},
			{Name: "path", Type: fun.Path, Doc: "directory of pyenv; default: the usual one of the account"},
		},
	},
	{
		Name: "versions", Doc: "Return the versions of Python that are installed.", Src: "modules/pyenv.py versions", Fn: versions,
		Args: []fun.Arg{{Name: "runas", Type: fun.Str, Doc: "account that runs pyenv"}},
	},
}
