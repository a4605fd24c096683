package nftables

import (
	"brine/internal/core/fun"
)

type ruleNameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the rule in reports"`
}

type chainName struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"the chain"`
}

type tableName struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"the table"`
}

type tableArg struct {
	_     fun.Arguments
	Table string `arg:"table" default:"filter" doc:"table that has the chain"`
}

type inTable struct {
	_     fun.Arguments
	Table string `arg:"table,required,kw" doc:"table that has the chain"`
}

type chainArg struct {
	_     fun.Arguments
	Chain string `arg:"chain,required,kw" doc:"the chain"`
}

type saveArg struct {
	_    fun.Arguments
	Save bool `arg:"save,kw" default:"False" doc:"write the rules to /etc/nftables, or to salt-all-in-one.nft in it"`
}

type familyArg struct {
	_      fun.Arguments
	Family string `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ip|ipv6|ip6|inet|arp|bridge|netdev" doc:"family of the table"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "append", Do: appended, Leaves: leaves, Src: "states/nftables.py append",
		Doc: "Add a rule to the end of a chain, unless the chain has it.",
	},
	{
		Name: "chain_absent", Do: chainAbsent, Leaves: leaves, Src: "states/nftables.py chain_absent",
		Doc: "Delete a chain with its rules.",
	},
	{
		Name: "chain_present", Do: chainPresent, Leaves: leaves, Src: "states/nftables.py chain_present",
		Doc: "Create a chain. With table_type, hook and priority it is a base chain.",
	},
	{
		Name: "delete", Do: deleted, Leaves: leaves, Src: "states/nftables.py delete",
		Doc: "Delete a rule of a chain, described as in append, or by its handle.",
	},
	{
		Name: "flush", Do: flushed, Leaves: leaves, Always: true, Src: "states/nftables.py flush",
		Doc: "Delete all rules of a chain, or of a table.\nIt acts on every run.",
	},
	{
		Name: "insert", Do: inserted, Leaves: leaves, Src: "states/nftables.py insert",
		Doc: "Insert a rule into a chain, unless the chain has it.",
	},
	{
		Name: "set_policy", Do: policySet, Leaves: leaves, Src: "states/nftables.py set_policy",
		Doc: "Set the policy of a base chain.",
	},
	{
		Name: "table_absent", Do: tableAbsent, Leaves: leaves, Src: "states/nftables.py table_absent",
		Doc: "Delete a table with its chains.",
	},
	{
		Name: "table_present", Do: tablePresent, Leaves: leaves, Src: "states/nftables.py table_present",
		Doc: "Create a table.",
	},
}
