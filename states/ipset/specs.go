package ipset

import (
	"brine/internal/fun"
	"brine/modules/ipset"
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that a set does not have entries.", Src: "states/ipset.py absent", State: absent, VarKw: true,
		Shared: [][]fun.Arg{setArg, ipset.AddArgs},
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "any text"},
			{Name: "entry", Type: fun.Strs, Doc: "entry, or a list of entries"},
			{Name: "entries", Type: fun.Strs, Doc: "further entries"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: ipset.Families, Doc: "family, as comments name it"},
		},
	},
	{
		Name: "flush", Doc: "Make sure that a set has no entries.", Src: "states/ipset.py flush", State: flush, VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the set"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: ipset.Families, Doc: "family, as comments name it"},
		},
	},
	{
		Name: "present", Doc: "Make sure that a set has entries.", Src: "states/ipset.py present", State: present, VarKw: true,
		Shared: [][]fun.Arg{setArg, ipset.AddArgs},
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "any text"},
			{Name: "entry", Type: fun.Strs, Doc: "entry, or a list of entries: address, network, port and so on, with options"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: ipset.Families, Doc: "family, as comments name it"},
		},
	},
	{
		Name: "set_absent", Doc: "Make sure that a set does not exist.", Src: "states/ipset.py set_absent", State: setAbsent, VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the set"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: ipset.Families, Doc: "family, as comments name it"},
		},
	},
	{
		Name: "set_present", Doc: "Make sure that a set is there.\n\nAn existing set is left as it is.", Src: "states/ipset.py set_present", State: setPresent, VarKw: true,
		Shared: [][]fun.Arg{commentArg, ipset.SetArgs},
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the set"},
			{Name: "set_type", Type: fun.Str, Required: true, Doc: "type of the set, such as hash:ip or list:set"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: ipset.Families, Doc: "family of the addresses"},
		},
	},
}

var (
	setArg     = []fun.Arg{{Name: "set_name", Type: fun.Str, Doc: "name of the set"}}
	commentArg = []fun.Arg{{Name: "comment", Type: fun.Bool, Default: false, Doc: "entries may have comments"}}
)
