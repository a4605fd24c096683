package rvm

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type runas struct {
	_     fun.Arguments
	Runas string `arg:"runas" doc:"account that runs rvm; default: the setting rvm.runas"`
}

type ruby struct {
	_    fun.Arguments
	Ruby string `arg:"ruby,required" doc:"version of Ruby"`
}

type gems struct {
	_      fun.Arguments
	Gemset string `arg:"gemset,required" doc:"name of the set of gems"`
}

type vars struct {
	_   fun.Arguments
	Env value.Value `arg:"env,list|dict" doc:"environment variables"`
}

type gemsOf struct {
	ruby
	gems
	runas
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "do", Doc: "Run a command with a version of Ruby.", Src: "modules/rvm.py do", Do: do,
	},
	{
		Name: "gemset_copy", Doc: "Copy all gems of a set to another.", Src: "modules/rvm.py gemset_copy", Do: gemsetCopy,
	},
	{Name: "gemset_create", Doc: "Make a set of gems.", Src: "modules/rvm.py gemset_create", Do: gemsetCreate},
	{Name: "gemset_delete", Doc: "Delete a set of gems.", Src: "modules/rvm.py gemset_delete", Do: gemsetDelete},
	{Name: "gemset_empty", Doc: "Remove all gems of a set.", Src: "modules/rvm.py gemset_empty", Do: gemsetEmpty},
	{
		Name: "gemset_list", Doc: "Return the sets of gems of a version of Ruby.", Src: "modules/rvm.py gemset_list", Do: gemsetList,
	},
	{
		Name: "gemset_list_all", Doc: "Return the sets of gems of all versions of Ruby.", Src: "modules/rvm.py gemset_list_all", Do: gemsetListAll,
	},
	{
		Name: "get", Doc: "Update RVM.", Src: "modules/rvm.py get", Do: get,
	},
	{
		Name: "install", Doc: "Install RVM by its own script.", Src: "modules/rvm.py install", Do: install,
	},
	{
		Name: "install_ruby", Doc: "Build and install a version of Ruby.", Src: "modules/rvm.py install_ruby", Do: installRuby,
	},
	{
		Name: "is_installed", Doc: "Return whether RVM is installed.", Src: "modules/rvm.py is_installed", Do: isInstalled,
	},
	{
		Name: "list", Doc: "Return the installed versions of Ruby: the kind, the version, and whether it is the default.", Src: "modules/rvm.py list_", Do: list,
	},
	{
		Name: "reinstall_ruby", Doc: "Build and install a version of Ruby again.", Src: "modules/rvm.py reinstall_ruby", Do: reinstallRuby,
	},
	{
		Name: "rubygems", Doc: "Install a version of RubyGems in a version of Ruby.", Src: "modules/rvm.py rubygems", Do: rubygems,
	},
	{
		Name: "set_default", Doc: "Set the default version of Ruby.", Src: "modules/rvm.py set_default", Do: setDefault,
	},
	{
		Name: "wrapper", Doc: "Make programs that run with a version of Ruby. Further arguments are the names of the programs.", Src: "modules/rvm.py wrapper", Do: wrapper,
	},
}
