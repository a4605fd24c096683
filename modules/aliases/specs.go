package aliases

import "brine/internal/core/fun"

type aliasArg struct {
	_     fun.Arguments
	Alias string `arg:"alias,required" doc:"name of the alias"`
}

type targetArg struct {
	_      fun.Arguments
	Target []string `arg:"target,required,str|list[str]" doc:"address that mail goes to, or a list"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "get_target", Doc: "Return the target of an alias, an empty string if there is no such alias.", Src: "modules/aliases.py get_target", Do: getTarget},
	{Name: "has_target", Doc: "Return whether an alias has this target.", Src: "modules/aliases.py has_target", Do: hasTarget},
	{Name: "list_aliases", Doc: "Return the targets of all aliases by name.", Src: "modules/aliases.py list_aliases", Do: listAliases},
	{Name: "rm_alias", Doc: "Remove an alias.", Src: "modules/aliases.py rm_alias", Do: rmAlias},
	{Name: "set_target", Doc: "Set the target of an alias, which is added if there is none.", Src: "modules/aliases.py set_target", Do: setTarget},
}
