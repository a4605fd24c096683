package iptables

import "brine/internal/fun"

// Arguments that several functions have.
var (
	ruleNameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the rule in reports"}
	tableArg    = fun.Arg{Name: "table", Type: fun.Str, Default: "filter", Doc: "table that has the chain"}
	familyArg   = fun.Arg{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: []string{"ipv4", "ipv6"}, Doc: "ipv4 or ipv6"}
	chainArg    = fun.Arg{Name: "chain", Type: fun.Str, Required: true, KwOnly: true, Doc: "the chain"}
	saveArg     = fun.Arg{Name: "save", Type: fun.Bool | fun.Path, Default: false, KwOnly: true, Doc: "write the rules to a file: True for the one that this system reads when it starts, or a path"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "append", State: appended, VarKw: true, Hands: true, Src: "states/iptables.py append",
		Doc:  "Add a rule to the end of a chain, unless the chain has it.\nFurther arguments are options of iptables without their dashes; connstate is its option state, name_ its option name. A value that begins with ! or not is negated; an option without a value has an empty one.",
		Args: []fun.Arg{ruleNameArg, tableArg, familyArg, chainArg, saveArg},
	},
	{
		Name: "chain_absent", State: chainAbsent, Src: "states/iptables.py chain_absent",
		Doc:  "Delete a chain with its rules.",
		Args: []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "the chain"}, tableArg, familyArg},
	},
	{
		Name: "chain_present", State: chainPresent, Src: "states/iptables.py chain_present",
		Doc:  "Create a chain.",
		Args: []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "the chain"}, tableArg, familyArg},
	},
	{
		Name: "delete", State: deleted, VarKw: true, Hands: true, Src: "states/iptables.py delete",
		Doc: "Delete a rule of a chain, described as in append, or by its position.\nA position that the chain does not have is a failure.",
		Args: []fun.Arg{
			ruleNameArg, tableArg, familyArg, chainArg, saveArg,
			{Name: "position", Type: fun.Int, KwOnly: true, Doc: "number of the rule in the chain, instead of its options"},
		},
	},
	{
		Name: "flush", State: flushed, VarKw: true, Always: true, Src: "states/iptables.py flush",
		Doc:  "Delete all rules of a chain, or of a table.\nIt acts on every run.",
		Args: []fun.Arg{ruleNameArg, tableArg, familyArg, {Name: "chain", Type: fun.Str, Default: "", KwOnly: true, Doc: "the chain; empty is all chains of the table"}},
	},
	{
		Name: "insert", State: inserted, VarKw: true, Hands: true, Src: "states/iptables.py insert",
		Doc: "Insert a rule into a chain, unless the chain has it. The rule is described as in append.",
		Args: []fun.Arg{
			ruleNameArg, tableArg, familyArg, chainArg, saveArg,
			{Name: "position", Type: fun.Int, KwOnly: true, Doc: "number that the rule gets in the chain; a negative one counts from the end; needed"},
		},
	},
	{
		Name: "set_policy", State: policySet, VarKw: true, Src: "states/iptables.py set_policy",
		Doc:  "Set the policy of a chain.",
		Args: []fun.Arg{ruleNameArg, tableArg, familyArg, chainArg, {Name: "policy", Type: fun.Str, Required: true, KwOnly: true, Doc: "ACCEPT or DROP"}, saveArg},
	},
}
