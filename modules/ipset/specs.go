package ipset

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// AddArgs are the options of entries.
type AddArgs struct {
	_        fun.Arguments
	Timeout  value.Value `arg:"timeout,int" unit:"seconds" doc:"how long the entry stays"`
	Comment  value.Value `arg:"comment,str" doc:"comment of the entry"`
	Nomatch  value.Value `arg:"nomatch,bool" doc:"leave the network out of a greater one"`
	Packets  value.Value `arg:"packets,int" doc:"start of the counter of packets"`
	Bytes    value.Value `arg:"bytes,int" doc:"start of the counter of bytes"`
	Skbmark  value.Value `arg:"skbmark,str" doc:"firewall mark of packets"`
	Skbprio  value.Value `arg:"skbprio,str" doc:"class of packets"`
	Skbqueue value.Value `arg:"skbqueue,int" doc:"hardware queue of packets"`
}

// Options returns the options by their names for ipset(8).
func (a *AddArgs) Options() *value.Map {
	return value.MapOf("timeout", a.Timeout, "packets", a.Packets, "bytes", a.Bytes, "skbmark", a.Skbmark, "skbprio", a.Skbprio,
		"skbqueue", a.Skbqueue, "nomatch", a.Nomatch, "comment", a.Comment)
}

// SetArgs are the options of sets.
type SetArgs struct {
	_        fun.Arguments
	Range    value.Value `arg:"range,str" doc:"addresses or ports that a set of type bitmap can have"`
	Netmask  value.Value `arg:"netmask,str" doc:"length of the prefix, or mask, that addresses are cut to"`
	Markmask value.Value `arg:"markmask,str" doc:"bits of marks that count"`
	Hashsize value.Value `arg:"hashsize,int" doc:"first size of the table"`
	Maxelem  value.Value `arg:"maxelem,int" doc:"most entries"`
	Size     value.Value `arg:"size,int" doc:"size of a list of sets"`
	Timeout  value.Value `arg:"timeout,int" unit:"seconds" doc:"how long entries stay, 0 for ever"`
	Counters value.Value `arg:"counters,bool" doc:"count packets and bytes of entries"`
	Skbinfo  value.Value `arg:"skbinfo,bool" doc:"keep marks, classes and queues of entries"`
}

// Options returns the options by their names for ipset(8).
func (a *SetArgs) Options() *value.Map {
	return value.MapOf("range", a.Range, "netmask", a.Netmask, "markmask", a.Markmask, "hashsize", a.Hashsize, "maxelem", a.Maxelem,
		"size", a.Size, "timeout", a.Timeout, "counters", a.Counters, "skbinfo", a.Skbinfo)
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
