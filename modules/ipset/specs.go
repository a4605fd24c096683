package ipset

import (
	"brine/internal/fun"
	"brine/internal/value"
)

// AddArgs are the options of entries.
type AddArgs struct {
	_       fun.Arguments
	Timeout value.Value `arg:"timeout,int" unit:"seconds" doc:"how long the entry stays"`
	Comment value.Value `arg:"comment,str" doc:"comment of the entry"`
	_       bool        `arg:"nomatch" doc:"leave the network out of a greater one"`
	_       int64       `arg:"packets" doc:"start of the counter of packets"`
	_       int64       `arg:"bytes" doc:"start of the counter of bytes"`
	_       string      `arg:"skbmark" doc:"firewall mark of packets"`
	_       string      `arg:"skbprio" doc:"class of packets"`
	_       int64       `arg:"skbqueue" doc:"hardware queue of packets"`
}

// SetArgs are the options of sets.
type SetArgs struct {
	_ fun.Arguments
	_ string `arg:"range" doc:"addresses or ports that a set of type bitmap can have"`
	_ string `arg:"netmask" doc:"length of the prefix, or mask, that addresses are cut to"`
	_ string `arg:"markmask" doc:"bits of marks that count"`
	_ int64  `arg:"hashsize" doc:"first size of the table"`
	_ int64  `arg:"maxelem" doc:"most entries"`
	_ int64  `arg:"size" doc:"size of a list of sets"`
	_ int64  `arg:"timeout" unit:"seconds" doc:"how long entries stay, 0 for ever"`
	_ bool   `arg:"counters" doc:"count packets and bytes of entries"`
	_ bool   `arg:"skbinfo" doc:"keep marks, classes and queues of entries"`
}

// Families are the values of the argument family.
var Families = []string{"ipv4", "ip4", "ipv6", "ip6"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add", Doc: "Add an entry to a set.", Src: "modules/ipset.py add", Do: add, NearMiss: true,
	},
	{
		Name: "check", Doc: "Report whether a set has an entry, or one of several.", Src: "modules/ipset.py check", Do: check,
	},
	{
		Name: "check_set", Doc: "Report whether a set is there.", Src: "modules/ipset.py check_set", Do: checkSet,
	},
	{
		Name: "delete", Doc: "Remove an entry from a set.", Src: "modules/ipset.py delete", Do: remove,
	},
	{
		Name: "delete_set", Doc: "Remove a set with its entries.", Src: "modules/ipset.py delete_set", Do: deleteSet,
	},
	{
		Name: "flush", Doc: "Remove the entries of a set, or of all sets.", Src: "modules/ipset.py flush", Do: flush,
	},
	{
		Name: "list_sets", Doc: "List the sets, without their entries.", Src: "modules/ipset.py list_sets", Do: listSets,
	},
	{
		Name: "new_set", Doc: "Create a set.", Src: "modules/ipset.py new_set", Do: newSet, NearMiss: true,
	},
	{
		Name: "rename_set", Doc: "Rename a set.", Src: "modules/ipset.py rename_set", Do: renameSet,
	},
	{
		Name: "test", Doc: "Ask the kernel whether a set has an entry.", Src: "modules/ipset.py test", Do: test,
	},
	{Name: "version", Doc: "Return the version of ipset.", Src: "modules/ipset.py version", Do: version},
}
