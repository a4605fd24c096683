package shims

import "brine/internal/fun"

// rbenvSpecs are the functions of rbenv, alphabetically.
var rbenvSpecs = []fun.Spec{
	{
		Name: "default", Doc: "Return the default version of Ruby, or set it.", Src: "modules/rbenv.py default", Fn: defaultVersion,
		Args: []fun.Arg{
			{Name: "ruby", Type: fun.Str, Doc: "version to set"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs rbenv"},
		},
	},
	{
		Name: "do", Doc: "Run a command with the shims of rbenv.", Src: "modules/rbenv.py do", Fn: do,
		Args: []fun.Arg{
			{Name: "cmdline", Type: fun.Str, Required: true, Doc: "command line; no shell sees it"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs rbenv"},
			{Name: "env", Type: fun.Dict | fun.List, Doc: "environment variables"},
		},
	},
	{
		Name: "do_with_ruby", Doc: "Run a command with a version of Ruby.", Src: "modules/rbenv.py do_with_ruby", Fn: doWith,
		Args: []fun.Arg{
			{Name: "ruby", Type: fun.Str | fun.None, Required: true, Doc: "version; None is the default one"},
			{Name: "cmdline", Type: fun.Str, Required: true, Doc: "command line; no shell sees it"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs rbenv"},
		},
	},
	{
		Name: "install", Doc: "Install rbenv.", Src: "modules/rbenv.py install", Fn: install,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs rbenv"},
			{Name: "path", Type: fun.Path, Doc: "directory of rbenv; default: the usual one of the account"},
		},
	},
	{
		Name: "install_ruby", Doc: "Build and install a version of Ruby.", Src: "modules/rbenv.py install_ruby", Fn: installVersion,
		Args: []fun.Arg{
			{Name: "ruby", Type: fun.Str, Required: true, Doc: "version, such as 3.2.2"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs rbenv"},
		},
	},
	{
		Name: "is_installed", Doc: "Return whether rbenv is installed.", Src: "modules/rbenv.py is_installed", Fn: isInstalled,
		Args: []fun.Arg{{Name: "runas", Type: fun.Str, Doc: "account that runs rbenv"}},
	},
	{
		Name: "list", Doc: "Return the versions of Ruby that can be installed.", Src: "modules/rbenv.py list_", Fn: list,
		Args: []fun.Arg{{Name: "runas", Type: fun.Str, Doc: "account that runs rbenv"}},
	},
	{
		Name: "rehash", Doc: "Make the shims of programs that are new.", Src: "modules/rbenv.py rehash", Fn: rehash,
		Args: []fun.Arg{{Name: "runas", Type: fun.Str, Doc: "account that runs rbenv"}},
	},
	{
		Name: "uninstall_ruby", Doc: "Remove a version of Ruby.", Src: "modules/rbenv.py uninstall_ruby", Fn: uninstallVersion,
		Args: []fun.Arg{
			{Name: "ruby", Type: fun.Str, Required: true, Doc: "version, such as 3.2.2"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs rbenv"},
		},
	},
	{
		Name: "update", Doc: "Update rbenv.", Src: "modules/rbenv.py update", Fn: update,
		Args: []fun.Arg{
			{Name: "runas", Type: fun.Str, Doc: "account that runs rbenv"},
			{Name: "path", Type: fun.Path, Doc: "directory of rbenv; default: the usual one of the account"},
		},
	},
	{
		Name: "versions", Doc: "Return the versions of Ruby that are installed.", Src: "modules/rbenv.py versions", Fn: versions,
		Args: []fun.Arg{{Name: "runas", Type: fun.Str, Doc: "account that runs rbenv"}},
	},
}
