package config

import (
	"brine/internal/core/fun"
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "backup_mode", Doc: "Return the backup mode for files.", Src: "modules/config.py backup_mode",
		Do: backupMode,
	},
	{
		Name: "dot_vals", Doc: "Return all options that start with a name and a dot.", Src: "modules/config.py dot_vals",
		Do: dotVals,
	},
	{
		Name: "get", Doc: "Return an option from the configuration, grains, pillar or master's options, whichever has it first.\nWith merge, the values of all of them are merged, the configuration last.", Src: "modules/config.py get",
		Do: get,
	},
	{Name: "items", Doc: "Return the configuration.", Src: "modules/config.py items", Do: items},
	{
		Name: "manage_mode", Doc: "Return a file mode as text of at least four digits.", Src: "modules/config.py manage_mode",
		Do: manageMode,
	},
	{
		Name: "merge", Doc: "Return an option, merging the mappings and lists of all sources.", Src: "modules/config.py merge",
		Do: mergeOption,
	},
	{
		Name: "option", Doc: "Return an option from the configuration, grains, pillar or master's options, whichever has it first.", Src: "modules/config.py option",
		Do: option,
	},
	{
		Name: "valid_fileproto", Doc: "Return whether files can be fetched from a URI's scheme.", Src: "modules/config.py valid_fileproto",
		Do: validFileproto,
	},
}
