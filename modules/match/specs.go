package match

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	tgtArg    = fun.Arg{Name: "tgt", Type: fun.Str | fun.List, Required: true, Doc: "the target"}
	idArg     = fun.Arg{Name: "minion_id", Type: fun.Str, Doc: "match this ID instead of that of this machine"}
	lookupArg = fun.Arg{Name: "lookup", Type: fun.Dict, Required: true, Doc: "targets to values"}
)

var delimiterArgs = []fun.Arg{
	{Name: "delimiter", Type: fun.Str, Default: ":", Doc: "separates the keys of nested data"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "compound", Doc: "Return whether a compound target matches this machine.", Src: "modules/match.py compound", Args: []fun.Arg{tgtArg, idArg}, Fn: compound},
	{Name: "data", Doc: "Return whether a target of the data store matches this machine.", Src: "modules/match.py data", Args: []fun.Arg{tgtArg}, Fn: data},
	{
		Name: "filter_by", Doc: "Return the value of the first key that matches this machine as a compound target.", Src: "modules/match.py filter_by",
		Fn: filterBy,
		Args: []fun.Arg{
			lookupArg,
			{Name: "tgt_type", Type: fun.Str, Default: "compound", Doc: "type of the targets"},
			idArg,
			{Name: "merge", Doc: "a mapping merged over the value"},
			{Name: "merge_lists", Type: fun.Bool, Default: false, Doc: "append lists in the merge"},
			{Name: "default", Default: "default", Doc: "the key if none matches"},
		},
	},
	{Name: "glob", Doc: "Return whether a glob matches this machine.", Src: "modules/match.py glob", Args: []fun.Arg{tgtArg, idArg}, Fn: glob},
	{Name: "grain", Doc: "Return whether a grain target matches this machine.", Src: "modules/match.py grain", Args: []fun.Arg{tgtArg}, Shared: [][]fun.Arg{delimiterArgs}, Fn: grain},
	{
		Name: "grain_pcre", Doc: "Return whether a grain target with a regular expression matches this machine.", Src: "modules/match.py grain_pcre",
		Shared: [][]fun.Arg{delimiterArgs}, Fn: grainPCRE,
		Args: []fun.Arg{
			tgtArg,
		},
	},
	{
		Name: "ifelse", Doc: "Return the value after the first target that matches this machine, else the last argument.\nTargets and values alternate; True is a target that always matches.", Src: "modules/match.py ifelse",
		VarArg: true, Raw: true, Fn: ifElse,
		Args: []fun.Arg{
			{Name: "tgt_type", Type: fun.Str, Default: "compound", KwOnly: true, Doc: "type of the targets"},
			{Name: "minion_id", Type: fun.Str, KwOnly: true, Doc: "match this ID instead of that of this machine"},
			{Name: "merge", KwOnly: true, Doc: "a mapping merged over the value"},
			{Name: "merge_lists", Type: fun.Bool, Default: false, KwOnly: true, Doc: "append lists in the merge"},
		},
	},
	{Name: "ipcidr", Doc: "Return whether an address or network matches this machine.", Src: "modules/match.py ipcidr", Args: []fun.Arg{tgtArg}, Fn: ipcidr},
	{Name: "list", Doc: "Return whether this machine is in a list of IDs.", Src: "modules/match.py list_", Args: []fun.Arg{tgtArg, idArg}, Fn: list},
	{Name: "pcre", Doc: "Return whether a regular expression matches the ID of this machine.", Src: "modules/match.py pcre", Args: []fun.Arg{tgtArg, idArg}, Fn: pcre},
	{Name: "pillar", Doc: "Return whether a pillar target matches this machine.", Src: "modules/match.py pillar", Args: []fun.Arg{tgtArg}, Shared: [][]fun.Arg{delimiterArgs}, Fn: pillar},
	{
		Name: "pillar_pcre", Doc: "Return whether a pillar target with a regular expression matches this machine.", Src: "modules/match.py pillar_pcre",
		Shared: [][]fun.Arg{delimiterArgs}, Fn: pillarPCRE,
		Args: []fun.Arg{
			tgtArg,
		},
	},
	{
		Name: "search_by", Doc: "Return the names whose target lists match this machine, None if there are none.", Src: "modules/match.py search_by",
		Fn: searchBy,
		Args: []fun.Arg{
			{Name: "lookup", Type: fun.Dict, Required: true, Doc: "names to lists of targets"},
			{Name: "tgt_type", Type: fun.Str, Default: "compound", Doc: "type of the targets"},
			idArg,
		},
	},
}
