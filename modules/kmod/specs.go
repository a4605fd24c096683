package kmod

import "brine/internal/core/fun"

type modArg struct {
	_   fun.Arguments
	Mod string `arg:"mod,required" doc:"name of the module; load takes parameters after it"`
}

type modArgs struct {
	modArg
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "available", Doc: "Return the modules that the running kernel has or can load.", Src: "modules/kmod.py available", Do: available},
	{Name: "check_available", Doc: "Return whether the running kernel has a module or can load it.", Src: "modules/kmod.py check_available", Do: checkAvailable},
	{Name: "is_loaded", Doc: "Return whether a module is loaded.", Src: "modules/kmod.py is_loaded", Do: isLoaded},
	{
		Name: "load", Doc: "Load a module. Return the modules that came with it, or text for a failure.", Src: "modules/kmod.py load",
		Do: load,
	},
	{Name: "lsmod", Doc: "Return the modules that are loaded, with their sizes and users.", Src: "modules/kmod.py lsmod", Do: lsmod},
	{
		Name: "mod_list", Doc: "Return the names of the modules that are loaded.", Src: "modules/kmod.py mod_list",
		Do: modList,
	},
	{
		Name: "remove", Doc: "Unload a module. Return the modules that went, or text for a failure.", Src: "modules/kmod.py remove",
		Do: remove,
	},
}
