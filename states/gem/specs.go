package gem

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "installed", Doc: "Make sure that a gem is installed.", Src: "states/gem.py installed", State: installed,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the gem"},
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "gem_bin", Type: fun.Path, Doc: "path of gem; RVM and rbenv are not used"},
			{Name: "user", Type: fun.Str, Doc: "account that runs gem"},
			{Name: "version", Type: fun.Str, Doc: "version, or a condition such as >= 1.0"},
			{Name: "rdoc", Type: fun.Bool, Default: false, Doc: "generate RDoc documentation"},
			{Name: "ri", Type: fun.Bool, Default: false, Doc: "generate RI documentation"},
			{Name: "pre_releases", Type: fun.Bool, Default: false, Doc: "take pre-releases, too"},
			{Name: "proxy", Type: fun.Str, Secret: true, Doc: "HTTP proxy"},
			{Name: "source", Type: fun.Str, Doc: "URL of a source of gems to use"},
		},
	},
	{
		Name: "removed", Doc: "Make sure that no version of a gem is installed.", Src: "states/gem.py removed", State: removed,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the gem"},
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "user", Type: fun.Str, Doc: "account that runs gem"},
			{Name: "gem_bin", Type: fun.Path, Doc: "path of gem; RVM and rbenv are not used"},
		},
	},
	{
		Name: "sources_add", Doc: "Make sure that a source of gems is configured.", Src: "states/gem.py sources_add", State: sourcesAdd,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "URL of the source"},
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "user", Type: fun.Str, Doc: "account that runs gem"},
		},
	},
	{
		Name: "sources_remove", Doc: "Make sure that a source of gems is not configured.", Src: "states/gem.py sources_remove", State: sourcesRemove,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "URL of the source"},
			{Name: "ruby", Type: fun.Str, Doc: "version of Ruby, where RVM or rbenv is installed"},
			{Name: "user", Type: fun.Str, Doc: "account that runs gem"},
		},
	},
}
