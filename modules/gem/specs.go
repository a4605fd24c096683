package gem

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "install", Doc: "Install gems and return what gem said.", Src: "modules/gem.py install", Fn: install,
		Args: []fun.Arg{
			{Name: "gems", Type: fun.Strs, Required: true, Doc: "names of gems, separated by blanks, or a list"},
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "gem_bin", Type: fun.Path, Doc: "path of gem; RVM and rbenv are not used"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs gem"},
			{Name: "version", Type: fun.Str, Doc: "version, or a condition such as >= 1.0"},
			{Name: "rdoc", Type: fun.Bool, Default: false, Doc: "generate RDoc documentation"},
			{Name: "ri", Type: fun.Bool, Default: false, Doc: "generate RI documentation"},
			{Name: "pre_releases", Type: fun.Bool, Default: false, Doc: "take pre-releases, too"},
			{Name: "proxy", Type: fun.Str, Secret: true, Doc: "HTTP proxy"},
			{Name: "source", Type: fun.Str, Doc: "URL of a source of gems to use"},
		},
	},
	{
		Name: "list", Doc: "Return the versions of the installed gems.", Src: "modules/gem.py list", Fn: list,
		Args: []fun.Arg{
			{Name: "prefix", Type: fun.Str, Default: "", Doc: "only gems whose names match this"},
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs gem"},
			{Name: "gem_bin", Type: fun.Path, Doc: "path of gem; RVM and rbenv are not used"},
		},
	},
	{
		Name: "list_upgrades", Doc: "Return the gems with newer versions.", Src: "modules/gem.py list_upgrades", Fn: listUpgrades,
		Args: []fun.Arg{
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs gem"},
			{Name: "gem_bin", Type: fun.Path, Doc: "path of gem; RVM and rbenv are not used"},
		},
	},
	{
		Name: "sources_add", Doc: "Add a source of gems.", Src: "modules/gem.py sources_add", Fn: sourcesAdd,
		Args: []fun.Arg{
			{Name: "source_uri", Type: fun.Str, Required: true, Doc: "URL of the source"},
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs gem"},
			{Name: "gem_bin", Type: fun.Path, Doc: "path of gem; RVM and rbenv are not used"},
		},
	},
	{
		Name: "sources_list", Doc: "Return the sources of gems.", Src: "modules/gem.py sources_list", Fn: sourcesList,
		Args: []fun.Arg{
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs gem"},
			{Name: "gem_bin", Type: fun.Path, Doc: "path of gem; RVM and rbenv are not used"},
		},
	},
	{
		Name: "sources_remove", Doc: "Remove a source of gems.", Src: "modules/gem.py sources_remove", Fn: sourcesRemove,
		Args: []fun.Arg{
			{Name: "source_uri", Type: fun.Str, Required: true, Doc: "URL of the source"},
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs gem"},
			{Name: "gem_bin", Type: fun.Path, Doc: "path of gem; RVM and rbenv are not used"},
		},
	},
	{
		Name: "uninstall", Doc: "Remove all versions of gems and return what gem said.", Src: "modules/gem.py uninstall", Fn: uninstall,
		Args: []fun.Arg{
			{Name: "gems", Type: fun.Strs, Required: true, Doc: "names of gems, separated by blanks, or a list"},
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs gem"},
			{Name: "gem_bin", Type: fun.Path, Doc: "path of gem; RVM and rbenv are not used"},
		},
	},
	{
		Name: "update", Doc: "Update gems and return what gem said.", Src: "modules/gem.py update", Fn: update,
		Args: []fun.Arg{
			{Name: "gems", Type: fun.Strs, Required: true, Doc: "names of gems, separated by blanks, or a list"},
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs gem"},
			{Name: "gem_bin", Type: fun.Path, Doc: "path of gem; RVM and rbenv are not used"},
		},
	},
	{
		Name: "update_system", Doc: "Update RubyGems and return what gem said.", Src: "modules/gem.py update_system", Fn: updateSystem,
		Args: []fun.Arg{
			{Name: "version", Type: fun.Str, Default: "", Doc: "version of RubyGems; default: the newest"},
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs gem"},
			{Name: "gem_bin", Type: fun.Path, Doc: "path of gem; RVM and rbenv are not used"},
		},
	},
	{
		Name: "version", Doc: "Return the version of RubyGems.", Src: "modules/gem.py version", Fn: version,
		Args: []fun.Arg{
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "runas", Type: fun.Str, Doc: "account that runs gem"},
			{Name: "gem_bin", Type: fun.Path, Doc: "path of gem; RVM and rbenv are not used"},
		},
	},
}
