package gem

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "install", Doc: "Install gems and return what gem said.", Src: "modules/gem.py install", Do: install,
	},
	{
		Name: "list", Doc: "Return the versions of the installed gems.", Src: "modules/gem.py list", Do: list,
	},
	{
		Name: "list_upgrades", Doc: "Return the gems with newer versions.", Src: "modules/gem.py list_upgrades", Do: listUpgrades,
	},
	{
		Name: "sources_add", Doc: "Add a source of gems.", Src: "modules/gem.py sources_add", Do: sourcesAdd,
	},
	{
		Name: "sources_list", Doc: "Return the sources of gems.", Src: "modules/gem.py sources_list", Do: sourcesList,
	},
	{
		Name: "sources_remove", Doc: "Remove a source of gems.", Src: "modules/gem.py sources_remove", Do: sourcesRemove,
	},
	{
		Name: "uninstall", Doc: "Remove all versions of gems and return what gem said.", Src: "modules/gem.py uninstall", Do: uninstall,
	},
	{
		Name: "update", Doc: "Update gems and return what gem said.", Src: "modules/gem.py update", Do: update,
	},
	{
		Name: "update_system", Doc: "Update RubyGems and return what gem said.", Src: "modules/gem.py update_system", Do: updateSystem,
	},
	{
		Name: "version", Doc: "Return the version of RubyGems.", Src: "modules/gem.py version", Do: version,
	},
}
