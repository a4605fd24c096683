package config

import (
	"brine/internal/fun"
	"brine/internal/value"
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "backup_mode", Doc: "Return the backup mode for files.", Src: "modules/config.py backup_mode",
		Fn: backupMode,
		Args: []fun.Arg{
			{Name: "backup", Type: fun.Str, Default: "", Doc: "returned if given"},
		},
	},
	{
		Name: "dot_vals", Doc: "Return all options that start with a name and a dot.", Src: "modules/config.py dot_vals",
		Fn: dotVals,
		Args: []fun.Arg{
			{Name: "value", Type: fun.Str, Required: true, Doc: "the name"},
		},
	},
	{
		Name: "get", Doc: "Return an option from the configuration, grains, pillar or master's options, whichever has it first.\nWith merge, the values of all of them are merged, the configuration last.", Src: "modules/config.py get",
		Fn: get,
		Args: []fun.Arg{
			{Name: "key", Type: fun.Str | fun.Int | fun.List, Required: true, Doc: "the option; colons separate nested keys"},
			{Name: "default", Default: "", Doc: "returned if nothing is found"},
			{Name: "delimiter", Type: fun.Str, Default: value.DefaultDelim, Doc: "separates the parts of the key"},
			{Name: "merge", Type: fun.Str, Doc: "recurse or overwrite"},
			{Name: "omit_opts", Type: fun.Bool, Default: false, Doc: "skip the configuration"},
			{Name: "omit_pillar", Type: fun.Bool, Default: false, Doc: "skip the pillar"},
			{Name: "omit_master", Type: fun.Bool, Default: false, Doc: "skip the master's options (pillar_opts)"},
			{Name: "omit_grains", Type: fun.Bool, Default: false, Doc: "skip the grains"},
		},
	},
	{Name: "items", Doc: "Return the configuration.", Src: "modules/config.py items", Fn: items},
	{
		Name: "manage_mode", Doc: "Return a file mode as text of at least four digits.", Src: "modules/config.py manage_mode",
		Fn: manageMode,
		Args: []fun.Arg{
			{Name: "mode", Required: true, Doc: "the mode; None is None"},
		},
	},
	{
		Name: "merge", Doc: "Return an option, merging the mappings and lists of all sources.", Src: "modules/config.py merge",
		Fn: mergeOption,
		Args: []fun.Arg{
			{Name: "value", Type: fun.Str, Required: true, Doc: "the option"},
			{Name: "default", Default: "", Doc: "returned if nothing is found"},
			{Name: "omit_opts", Type: fun.Bool, Default: false, Doc: "skip the configuration"},
			{Name: "omit_master", Type: fun.Bool, Default: false, Doc: "skip the master's options (pillar_opts)"},
			{Name: "omit_pillar", Type: fun.Bool, Default: false, Doc: "skip the pillar"},
		},
	},
	{
		Name: "option", Doc: "Return an option from the configuration, grains, pillar or master's options, whichever has it first.", Src: "modules/config.py option",
		Fn: option,
		Args: []fun.Arg{
			{Name: "value", Type: fun.Str, Required: true, Doc: "the option; with wildcard a glob"},
			{Name: "default", Doc: "returned if nothing is found; '' if not given"},
			{Name: "omit_opts", Type: fun.Bool, Default: false, Doc: "skip the configuration"},
			{Name: "omit_grains", Type: fun.Bool, Default: false, Doc: "skip the grains"},
			{Name: "omit_pillar", Type: fun.Bool, Default: false, Doc: "skip the pillar"},
			{Name: "omit_master", Type: fun.Bool, Default: false, Doc: "skip the master's options (pillar_opts)"},
			{Name: "omit_all", Type: fun.Bool, Default: false, Doc: "skip everything but the built-in defaults"},
			{Name: "wildcard", Type: fun.Bool, Default: false, Doc: "return a mapping of all options that match"},
		},
	},
	{
		Name: "valid_fileproto", Doc: "Return whether files can be fetched from a URI's scheme.", Src: "modules/config.py valid_fileproto",
		Fn: validFileproto,
		Args: []fun.Arg{
			{Name: "uri", Required: true, Doc: "the URI"},
		},
	},
}
