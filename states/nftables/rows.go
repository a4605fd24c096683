package nftables

import (
	"brine/internal/fun"
	"brine/modules/nftables"
)

// Arguments that several functions have.
var (
	ruleNameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the rule in reports"}
	chainName   = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "the chain"}
	tableName   = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "the table"}
	tableArg    = fun.Arg{Name: "table", Type: fun.Str, Default: "filter", Doc: "table that has the chain"}
	inTable     = fun.Arg{Name: "table", Type: fun.Str, Required: true, KwOnly: true, Doc: "table that has the chain"}
	chainArg    = fun.Arg{Name: "chain", Type: fun.Str, Required: true, KwOnly: true, Doc: "the chain"}
	saveArg     = fun.Arg{Name: "save", Type: fun.Bool, Default: false, KwOnly: true, Doc: "write the rules to /etc/nftables, or to salt-all-in-one.nft in it"}
	positionArg = fun.Arg{Name: "position", Type: fun.Int, KwOnly: true, Doc: "handle of a rule"}
	familyArg   = fun.Arg{
		Name: "family", Type: fun.Str, Default: "ipv4", Doc: "family of the table",
		OneOf: []string{"ipv4", "ip4", "ip", "ipv6", "ip6", "inet", "arp", "bridge", "netdev"},
	}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "append", State: appended, VarKw: true, Src: "states/nftables.py append",
		Doc:    "Add a rule to the end of a chain, unless the chain has it.",
		Args:   []fun.Arg{ruleNameArg, familyArg, inTable, chainArg, saveArg},
		Shared: [][]fun.Arg{nftables.RuleArgs},
	},
	{
		Name: "chain_absent", State: chainAbsent, Src: "states/nftables.py chain_absent",
		Doc:  "Delete a chain with its rules.",
		Args: []fun.Arg{chainName, tableArg, familyArg},
	},
	{
		Name: "chain_present", State: chainPresent, Src: "states/nftables.py chain_present",
		Doc: "Create a chain. With table_type, hook and priority it is a base chain.",
		Args: []fun.Arg{
			chainName, tableArg,
			{Name: "table_type", Type: fun.Str, Doc: "type of a base chain: filter, nat or route"},
			{Name: "hook", Type: fun.Str, Doc: "hook of a base chain, such as input"},
			{Name: "priority", Type: fun.Str, Doc: "priority of a base chain, such as 0"},
			familyArg,
		},
	},
	{
		Name: "delete", State: deleted, VarKw: true, Src: "states/nftables.py delete",
		Doc:    "Delete a rule of a chain, described as in append, or by its handle.",
		Args:   []fun.Arg{ruleNameArg, familyArg, inTable, chainArg, saveArg, positionArg},
		Shared: [][]fun.Arg{nftables.RuleArgs},
	},
	{
		Name: "flush", State: flushed, VarKw: true, Always: true, Src: "states/nftables.py flush",
		Doc: "Delete all rules of a chain, or of a table.\nIt acts on every run.",
		Args: []fun.Arg{
			ruleNameArg, familyArg,
			{Name: "ignore_absence", Type: fun.Bool, Default: false, Doc: "succeed if the table or chain does not exist"},
			{Name: "table", Type: fun.Str, Default: "filter", KwOnly: true, Doc: "the table"},
			{Name: "chain", Type: fun.Str, Default: "", KwOnly: true, Doc: "the chain; empty is all chains of the table"},
		},
	},
	{
		Name: "insert", State: inserted, VarKw: true, Src: "states/nftables.py insert",
		Doc: "Insert a rule into a chain, unless the chain has it.",
		Args: []fun.Arg{
			ruleNameArg, familyArg, inTable, chainArg, saveArg,
			{Name: "position", Type: fun.Int, KwOnly: true, Doc: "handle of the rule in front of which it goes; default: the first place"},
		},
		Shared: [][]fun.Arg{nftables.RuleArgs},
	},
	{
		Name: "set_policy", State: policySet, VarKw: true, Src: "states/nftables.py set_policy",
		Doc: "Set the policy of a base chain.",
		Args: []fun.Arg{
			ruleNameArg, tableArg, familyArg, chainArg,
			{Name: "policy", Type: fun.Str, Required: true, KwOnly: true, Doc: "accept or drop"},
			saveArg,
			{Name: "save_filename", Type: fun.Path, KwOnly: true, Doc: "with save: file, or directory, which gets a file salt-all-in-one.nft"},
		},
	},
	{
		Name: "table_absent", State: tableAbsent, VarKw: true, Src: "states/nftables.py table_absent",
		Doc:  "Delete a table with its chains.",
		Args: []fun.Arg{tableName, familyArg},
	},
	{
		Name: "table_present", State: tablePresent, VarKw: true, Src: "states/nftables.py table_present",
		Doc:  "Create a table.",
		Args: []fun.Arg{tableName, familyArg},
	},
}
