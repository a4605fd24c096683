package alternatives

import "brine/internal/core/fun"

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the alternative"`
}

type pathArg struct {
	_    fun.Arguments
	Path string `arg:"path,required,path" doc:"path that serves under the name"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "auto", Doc: "Let the path with the highest priority serve. Return what update-alternatives says.", Src: "modules/alternatives.py auto", Do: auto},
	{Name: "check_exists", Doc: "Return whether a path is registered for a name.", Src: "modules/alternatives.py check_exists", Do: checkExists},
	{Name: "check_installed", Doc: "Return whether a path serves under a name.", Src: "modules/alternatives.py check_installed", Do: checkInstalled},
	{Name: "display", Doc: "Return the paths of a name, as update-alternatives shows them.", Src: "modules/alternatives.py display", Do: display},
	{
		Name: "install", Doc: "Register a path for a name. Return what update-alternatives says.", Src: "modules/alternatives.py install",
		Do: install,
	},
	{Name: "remove", Doc: "Remove a path from those of a name. Return what update-alternatives says.", Src: "modules/alternatives.py remove", Do: remove},
	{Name: "set", Doc: "Choose the path that serves under a name. Return what update-alternatives says.", Src: "modules/alternatives.py set_", Do: set},
	{Name: "show_current", Doc: "Return the path that serves under a name, False if there is none.", Src: "modules/alternatives.py show_current", Do: showCurrent},
	{Name: "show_link", Doc: "Return the link by which a name is used, False if there is none.", Src: "modules/alternatives.py show_link", Do: showLink},
}
