package ipset

import "brine/internal/fun"

// AddArgs are the options of entries.
var AddArgs = []fun.Arg{
	{Name: "timeout", Type: fun.Int, Unit: "seconds", Doc: "how long the entry stays"},
	{Name: "comment", Type: fun.Str, Doc: "comment of the entry"},
	{Name: "nomatch", Type: fun.Bool, Doc: "leave the network out of a greater one"},
	{Name: "packets", Type: fun.Int, Doc: "start of the counter of packets"},
	{Name: "bytes", Type: fun.Int, Doc: "start of the counter of bytes"},
	{Name: "skbmark", Type: fun.Str, Doc: "firewall mark of packets"},
	{Name: "skbprio", Type: fun.Str, Doc: "class of packets"},
	{Name: "skbqueue", Type: fun.Int, Doc: "hardware queue of packets"},
}

// SetArgs are the options of sets.
var SetArgs = []fun.Arg{
	{Name: "range", Type: fun.Str, Doc: "addresses or ports that a set of type bitmap can have"},
	{Name: "netmask", Type: fun.Str, Doc: "length of the prefix, or mask, that addresses are cut to"},
	{Name: "markmask", Type: fun.Str, Doc: "bits of marks that count"},
	{Name: "hashsize", Type: fun.Int, Doc: "first size of the table"},
	{Name: "maxelem", Type: fun.Int, Doc: "most entries"},
	{Name: "size", Type: fun.Int, Doc: "size of a list of sets"},
	{Name: "timeout", Type: fun.Int, Unit: "seconds", Doc: "how long entries stay, 0 for ever"},
	{Name: "counters", Type: fun.Bool, Doc: "count packets and bytes of entries"},
	{Name: "skbinfo", Type: fun.Bool, Doc: "keep marks, classes and queues of entries"},
}

// Families are the values of the argument family.
var Families = []string{"ipv4", "ip4", "ipv6", "ip6"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add", Doc: "Add an entry to a set.", Src: "modules/ipset.py add", Fn: add, VarKw: true, NearMiss: true, Shared: [][]fun.Arg{AddArgs},
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the set"},
			{Name: "entry", Type: fun.Str, Doc: "address, network, port and so on, with options"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: Families, Doc: "has no effect: the set has a family"},
		},
	},
	{
		Name: "check", Doc: "Report whether a set has an entry, or one of several.", Src: "modules/ipset.py check", Fn: check,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the set"},
			{Name: "entry", Type: fun.Strs, Doc: "address, range, network and so on, or a list of them"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: Families, Doc: "has no effect: the set has a family"},
		},
	},
	{
		Name: "check_set", Doc: "Report whether a set is there.", Src: "modules/ipset.py check_set", Fn: checkSet,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the set"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: Families, Doc: "has no effect: the set has a family"},
		},
	},
	{
		Name: "delete", Doc: "Remove an entry from a set.", Src: "modules/ipset.py delete", Fn: remove, VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the set"},
			{Name: "entry", Type: fun.Str, Doc: "address, network, port and so on"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: Families, Doc: "has no effect: the set has a family"},
		},
	},
	{
		Name: "delete_set", Doc: "Remove a set with its entries.", Src: "modules/ipset.py delete_set", Fn: deleteSet,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the set"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: Families, Doc: "has no effect: the set has a family"},
		},
	},
	{
		Name: "flush", Doc: "Remove the entries of a set, or of all sets.", Src: "modules/ipset.py flush", Fn: flush,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the set; without it, all sets"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: Families, Doc: "has no effect: the set has a family"},
		},
	},
	{
		Name: "list_sets", Doc: "List the sets, without their entries.", Src: "modules/ipset.py list_sets", Fn: listSets,
		Args: []fun.Arg{{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: Families, Doc: "has no effect: sets of all families are listed"}},
	},
	{
		Name: "new_set", Doc: "Create a set.", Src: "modules/ipset.py new_set", Fn: newSet, VarKw: true, NearMiss: true, Shared: [][]fun.Arg{SetArgs},
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the set"},
			{Name: "set_type", Type: fun.Str, Doc: "type of the set, such as hash:ip or list:set"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: Families, Doc: "family of the addresses"},
			{Name: "comment", Type: fun.Bool, Default: false, Doc: "entries may have comments"},
		},
	},
	{
		Name: "rename_set", Doc: "Rename a set.", Src: "modules/ipset.py rename_set", Fn: renameSet,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the set"},
			{Name: "new_set", Type: fun.Str, Doc: "new name"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: Families, Doc: "has no effect: the set has a family"},
		},
	},
	{
		Name: "test", Doc: "Ask the kernel whether a set has an entry.", Src: "modules/ipset.py test", Fn: test, VarKw: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "name of the set"},
			{Name: "entry", Type: fun.Str, Doc: "address, network, port and so on"},
			{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: Families, Doc: "has no effect: the set has a family"},
		},
	},
	{Name: "version", Doc: "Return the version of ipset.", Src: "modules/ipset.py version", Fn: version},
}
