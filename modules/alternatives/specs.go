package alternatives

import "brine/internal/fun"

var (
	nameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the alternative"}
	pathArg = fun.Arg{Name: "path", Type: fun.Path, Required: true, Doc: "path that serves under the name"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "auto", Doc: "Let the path with the highest priority serve. Return what update-alternatives says.", Src: "modules/alternatives.py auto", Args: []fun.Arg{nameArg}, Fn: auto},
	{Name: "check_exists", Doc: "Return whether a path is registered for a name.", Src: "modules/alternatives.py check_exists", Args: []fun.Arg{nameArg, pathArg}, Fn: checkExists},
	{Name: "check_installed", Doc: "Return whether a path serves under a name.", Src: "modules/alternatives.py check_installed", Args: []fun.Arg{nameArg, pathArg}, Fn: checkInstalled},
	{Name: "display", Doc: "Return the paths of a name, as update-alternatives shows them.", Src: "modules/alternatives.py display", Args: []fun.Arg{nameArg}, Fn: display},
	{
		Name: "install", Doc: "Register a path for a name. Return what update-alternatives says.", Src: "modules/alternatives.py install",
		Fn: install,
		Args: []fun.Arg{
			nameArg,
			{Name: "link", Type: fun.Path, Required: true, Doc: "link by which the name is used"},
			pathArg,
			{Name: "priority", Type: fun.Int, Required: true, Doc: "in automatic mode the path with the highest priority serves"},
		},
	},
	{Name: "remove", Doc: "Remove a path from those of a name. Return what update-alternatives says.", Src: "modules/alternatives.py remove", Args: []fun.Arg{nameArg, pathArg}, Fn: remove},
	{Name: "set", Doc: "Choose the path that serves under a name. Return what update-alternatives says.", Src: "modules/alternatives.py set_", Args: []fun.Arg{nameArg, pathArg}, Fn: set},
	{Name: "show_current", Doc: "Return the path that serves under a name, False if there is none.", Src: "modules/alternatives.py show_current", Args: []fun.Arg{nameArg}, Fn: showCurrent},
	{Name: "show_link", Doc: "Return the link by which a name is used, False if there is none.", Src: "modules/alternatives.py show_link", Args: []fun.Arg{nameArg}, Fn: showLink},
}
