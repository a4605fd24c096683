package rvm

import "brine/internal/fun"

var (
	runas  = fun.Arg{Name: "runas", Type: fun.Str, Doc: "account that runs rvm; default: the setting rvm.runas"}
	ruby   = fun.Arg{Name: "ruby", Type: fun.Str, Required: true, Doc: "version of Ruby"}
	gems   = fun.Arg{Name: "gemset", Type: fun.Str, Required: true, Doc: "name of the set of gems"}
	vars   = fun.Arg{Name: "env", Type: fun.Dict | fun.List, Doc: "environment variables"}
	gemsOf = []fun.Arg{ruby, gems, runas}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "do", Doc: "Run a command with a version of Ruby.", Src: "modules/rvm.py do", Fn: do,
		Args: []fun.Arg{
			ruby,
			{Name: "command", Type: fun.Str, Required: true, Doc: "command line; no shell sees it"},
			runas,
			{Name: "cwd", Type: fun.Path, Doc: "directory; default: the home directory"},
			vars,
		},
	},
	{
		Name: "gemset_copy", Doc: "Copy all gems of a set to another.", Src: "modules/rvm.py gemset_copy", Fn: gemsetCopy,
		Args: []fun.Arg{
			{Name: "source", Type: fun.Str, Required: true, Doc: "set of gems, with its version of Ruby: 3.2.2@name"},
			{Name: "destination", Type: fun.Str, Required: true, Doc: "set of gems that gets them"},
			runas,
		},
	},
	{Name: "gemset_create", Doc: "Make a set of gems.", Src: "modules/rvm.py gemset_create", Fn: gemsetCreate, Args: gemsOf},
	{Name: "gemset_delete", Doc: "Delete a set of gems.", Src: "modules/rvm.py gemset_delete", Fn: gemsetDelete, Args: gemsOf},
	{Name: "gemset_empty", Doc: "Remove all gems of a set.", Src: "modules/rvm.py gemset_empty", Fn: gemsetEmpty, Args: gemsOf},
	{
		Name: "gemset_list", Doc: "Return the sets of gems of a version of Ruby.", Src: "modules/rvm.py gemset_list", Fn: gemsetList,
		Args: []fun.Arg{
			{Name: "ruby", Type: fun.Str, Default: "default", Doc: "version of Ruby"},
			runas,
		},
	},
	{
		Name: "gemset_list_all", Doc: "Return the sets of gems of all versions of Ruby.", Src: "modules/rvm.py gemset_list_all", Fn: gemsetListAll,
		Args: []fun.Arg{runas},
	},
	{
		Name: "get", Doc: "Update RVM.", Src: "modules/rvm.py get", Fn: get,
		Args: []fun.Arg{
			{Name: "version", Type: fun.Str, Default: "stable", Doc: "version of RVM, such as stable or head"},
			runas,
		},
	},
	{
		Name: "install", Doc: "Install RVM by its own script.", Src: "modules/rvm.py install", Fn: install,
		Args: []fun.Arg{runas},
	},
	{
		Name: "install_ruby", Doc: "Build and install a version of Ruby.", Src: "modules/rvm.py install_ruby", Fn: installRuby,
		Args: []fun.Arg{ruby, runas, {Name: "opts", Type: fun.Strs, Doc: "options for rvm install"}, vars},
	},
	{
		Name: "is_installed", Doc: "Return whether RVM is installed.", Src: "modules/rvm.py is_installed", Fn: isInstalled,
		Args: []fun.Arg{runas},
	},
	{
		Name: "list", Doc: "Return the installed versions of Ruby: the kind, the version, and whether it is the default.", Src: "modules/rvm.py list_", Fn: list,
		Args: []fun.Arg{runas},
	},
	{
		Name: "reinstall_ruby", Doc: "Build and install a version of Ruby again.", Src: "modules/rvm.py reinstall_ruby", Fn: reinstallRuby,
		Args: []fun.Arg{ruby, runas, vars},
	},
	{
		Name: "rubygems", Doc: "Install a version of RubyGems in a version of Ruby.", Src: "modules/rvm.py rubygems", Fn: rubygems,
		Args: []fun.Arg{
			ruby,
			{Name: "version", Type: fun.Str, Required: true, Doc: "version of RubyGems, or remove for the one that Ruby brings"},
			runas,
		},
	},
	{
		Name: "set_default", Doc: "Set the default version of Ruby.", Src: "modules/rvm.py set_default", Fn: setDefault,
		Args: []fun.Arg{ruby, runas},
	},
	{
		Name: "wrapper", Doc: "Make programs that run with a version of Ruby. Further arguments are the names of the programs.", Src: "modules/rvm.py wrapper", VarArg: true, Fn: wrapper,
		Args: []fun.Arg{
			{Name: "ruby_string", Type: fun.Str, Required: true, Doc: "version of Ruby, with @NAME for a set of gems"},
			{Name: "wrapper_prefix", Type: fun.Str, Required: true, Doc: "start of the names of the new programs"},
			runas,
		},
	},
}
