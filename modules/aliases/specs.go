package aliases

import "brine/internal/fun"

var (
	aliasArg  = fun.Arg{Name: "alias", Type: fun.Str, Required: true, Doc: "name of the alias"}
	targetArg = fun.Arg{Name: "target", Type: fun.Str | fun.Strs, Required: true, Doc: "address that mail goes to, or a list"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "get_target", Doc: "Return the target of an alias, an empty string if there is no such alias.", Src: "modules/aliases.py get_target", Args: []fun.Arg{aliasArg}, Fn: getTarget},
	{Name: "has_target", Doc: "Return whether an alias has this target.", Src: "modules/aliases.py has_target", Args: []fun.Arg{aliasArg, targetArg}, Fn: hasTarget},
	{Name: "list_aliases", Doc: "Return the targets of all aliases by name.", Src: "modules/aliases.py list_aliases", Fn: listAliases},
	{Name: "rm_alias", Doc: "Remove an alias.", Src: "modules/aliases.py rm_alias", Args: []fun.Arg{aliasArg}, Fn: rmAlias},
	{Name: "set_target", Doc: "Set the target of an alias, which is added if there is none.", Src: "modules/aliases.py set_target", Args: []fun.Arg{aliasArg, targetArg}, Fn: setTarget},
}
