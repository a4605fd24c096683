package alternatives

import "brine/internal/fun"

var (
	nameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the alternative"}
	pathArg = fun.Arg{Name: "path", Type: fun.Path, Required: true, Doc: "path that serves under the name"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "auto", Doc: "Let the path with the highest priority serve. Return what update-alternatives says.", Src: "modules/alternatives.py auto", Example: "call alternatives.auto editor", Args: []fun.Arg{nameArg}, Fn: auto},
	{Name: "check_exists", Doc: "Return whether a path is registered for a name.", Src: "modules/alternatives.py check_exists", Example: "call alternatives.check_exists editor /usr/bin/vim.basic", Args: []fun.Arg{nameArg, pathArg}, Fn: checkExists},
	{Name: "check_installed", Doc: "Return whether a path serves under a name.", Src: "modules/alternatives.py check_installed", Example: "call alternatives.check_installed editor /usr/bin/vim.basic", Args: []fun.Arg{nameArg, pathArg}, Fn: checkInstalled},
	{Name: "display", Doc: "Return the paths of a name, as update-alternatives shows them.", Src: "modules/alternatives.py display", Example: "call alternatives.display editor", Args: []fun.Arg{nameArg}, Fn: display},
	{
		Name: "install", Doc: "Register a path for a name. Return what update-alternatives says.", Src: "modules/alternatives.py install",
		Example: "call alternatives.install editor /usr/bin/editor /usr/bin/emacs23 50", Fn: install,
		Args: []fun.Arg{
			nameArg,
			{Name: "link", Type: fun.Path, Required: true, Doc: "link by which the name is used"},
			pathArg,
			{Name: "priority", Type: fun.Int, Required: true, Doc: "in automatic mode the path with the highest priority serves"},
		},
	},
	{Name: "remove", Doc: "Remove a path from those of a name. Return what update-alternatives says.", Src: "modules/alternatives.py remove", Example: "call alternatives.remove editor /usr/bin/emacs23", Args: []fun.Arg{nameArg, pathArg}, Fn: remove},
	{Name: "set", Doc: "Choose the path that serves under a name. Return what update-alternatives says.", Src: "modules/alternatives.py set_", Example: "call alternatives.set editor /usr/bin/vim.basic", Args: []fun.Arg{nameArg, pathArg}, Fn: set},
	{Name: "show_current", Doc: "Return the path that serves under a name, False if there is none.", Src: "modules/alternatives.py show_current", Example: "call alternatives.show_current editor", Args: []fun.Arg{nameArg}, Fn: showCurrent},
	{Name: "show_link", Doc: "Return the link by which a name is used, False if there is none.", Src: "modules/alternatives.py show_link", Example: "call alternatives.show_link editor", Args: []fun.Arg{nameArg}, Fn: showLink},
}
