package match

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type tgtArg struct {
	_   fun.Arguments
	Tgt value.Value `arg:"tgt,required,str|list" doc:"the target"`
}

type idArg struct {
	_        fun.Arguments
	MinionID string `arg:"minion_id" doc:"match this ID instead of that of this machine"`
}

type delimiterArgs struct {
	_         fun.Arguments
	Delimiter string `arg:"delimiter" default:":" doc:"separates the keys of nested data"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "compound", Doc: "Return whether a compound target matches this machine.", Src: "modules/match.py compound", Do: compound},
	{Name: "data", Doc: "Return whether a target of the data store matches this machine.", Src: "modules/match.py data", Do: data},
	{
		Name: "filter_by", Doc: "Return the value of the first key that matches this machine as a compound target.", Src: "modules/match.py filter_by",
		Do: filterBy,
	},
	{Name: "glob", Doc: "Return whether a glob matches this machine.", Src: "modules/match.py glob", Do: glob},
	{Name: "grain", Doc: "Return whether a grain target matches this machine.", Src: "modules/match.py grain", Do: grain},
	{
		Name: "grain_pcre", Doc: "Return whether a grain target with a regular expression matches this machine.", Src: "modules/match.py grain_pcre",
		Do: grainPCRE,
	},
	{
		Name: "ifelse", Doc: "Return the value after the first target that matches this machine, else the last argument.\nTargets and values alternate; True is a target that always matches.", Src: "modules/match.py ifelse",
		Raw: true, Do: ifElse,
	},
	{Name: "ipcidr", Doc: "Return whether an address or network matches this machine.", Src: "modules/match.py ipcidr", Do: ipcidr},
	{Name: "list", Doc: "Return whether this machine is in a list of IDs.", Src: "modules/match.py list_", Do: list},
	{Name: "pcre", Doc: "Return whether a regular expression matches the ID of this machine.", Src: "modules/match.py pcre", Do: pcre},
	{Name: "pillar", Doc: "Return whether a pillar target matches this machine.", Src: "modules/match.py pillar", Do: pillar},
	{
		Name: "pillar_pcre", Doc: "Return whether a pillar target with a regular expression matches this machine.", Src: "modules/match.py pillar_pcre",
		Do: pillarPCRE,
	},
	{
		Name: "search_by", Doc: "Return the names whose target lists match this machine, None if there are none.", Src: "modules/match.py search_by",
		Do: searchBy,
	},
}
