package kmod

import "brine/internal/fun"

var modArg = fun.Arg{Name: "mod", Type: fun.Str, Required: true, Doc: "name of the module; load takes parameters after it"}

var modArgs = []fun.Arg{modArg}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "available", Doc: "Return the modules that the running kernel has or can load.", Src: "modules/kmod.py available", Fn: available},
	{Name: "check_available", Doc: "Return whether the running kernel has a module or can load it.", Src: "modules/kmod.py check_available", Args: modArgs, Fn: checkAvailable},
	{Name: "is_loaded", Doc: "Return whether a module is loaded.", Src: "modules/kmod.py is_loaded", Args: modArgs, Fn: isLoaded},
	{
		Name: "load", Doc: "Load a module. Return the modules that came with it, or text for a failure.", Src: "modules/kmod.py load",
		Fn:   load,
		Args: []fun.Arg{modArg, {Name: "persist", Type: fun.Bool, Default: false, Doc: "load it at boot, too"}},
	},
	{Name: "lsmod", Doc: "Return the modules that are loaded, with their sizes and users.", Src: "modules/kmod.py lsmod", Fn: lsmod},
	{
		Name: "mod_list", Doc: "Return the names of the modules that are loaded.", Src: "modules/kmod.py mod_list",
		Fn:   modList,
		Args: []fun.Arg{{Name: "only_persist", Type: fun.Bool, Default: false, Doc: "those that are loaded at boot instead"}},
	},
	{
		Name: "remove", Doc: "Unload a module. Return the modules that went, or text for a failure.", Src: "modules/kmod.py remove",
		Fn: remove,
		Args: []fun.Arg{
			modArg,
			{Name: "persist", Type: fun.Bool, Default: false, Doc: "do not load it at boot, either"},
			{Name: "comment", Type: fun.Bool, Default: true, Doc: "with persist: keep its line as a comment"},
		},
	},
}
