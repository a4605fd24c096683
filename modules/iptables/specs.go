package iptables

import "brine/internal/fun"

// Arguments that several functions have.
var (
	tableArg    = fun.Arg{Name: "table", Type: fun.Str, Default: "filter", Doc: "table that has the chain"}
	chainArg    = fun.Arg{Name: "chain", Type: fun.Str, Doc: "the chain; required"}
	ruleArg     = fun.Arg{Name: "rule", Type: fun.Str, Doc: "the rule as iptables takes it after the name of the chain; required"}
	positionArg = fun.Arg{Name: "position", Type: fun.Int, Doc: "number of the rule in the chain, from 1"}
	fileArg     = fun.Arg{Name: "conf_file", Type: fun.Path, Doc: "file of rules; default: the one that this system reads when it starts"}
	familyArg   = fun.Arg{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: []string{"ipv4", "ipv6"}, Doc: "ipv4 or ipv6"}
)

var chainArgs = []fun.Arg{tableArg, chainArg, familyArg}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "append", Doc: "Add a rule to the end of a chain. Return True, or False if the chain has it or iptables complains.", Src: "modules/iptables.py append", Fn: appendRule,
		Args: []fun.Arg{tableArg, chainArg, ruleArg, familyArg},
	},
	{
		Name: "build_rule", VarKw: true, Hands: true, Fn: buildRule, Src: "modules/iptables.py build_rule",
		Doc: "Return the text of a rule.\nFurther arguments are options of iptables without their dashes. A value that begins with ! or not is negated; an option without a value has an empty one.",
		Args: []fun.Arg{
			tableArg, chainArg,
			{Name: "command", Type: fun.Str, Doc: "with full: option such as A, I, D or insert"},
			{Name: "position", Type: fun.Int | fun.Str, Default: "", Doc: "with full: number of the rule in the chain"},
			{Name: "full", Type: fun.Bool, Doc: "return the whole command line, which needs table, chain and command"},
			familyArg,
		},
	},
	{Name: "check", Doc: "Return whether a chain has a rule.", Src: "modules/iptables.py check", Fn: check, Args: []fun.Arg{tableArg, chainArg, ruleArg, familyArg}},
	{Name: "check_chain", Doc: "Return whether a table has a chain.", Src: "modules/iptables.py check_chain", Fn: checkChain, Args: chainArgs},
	{
		Name: "delete", Doc: "Delete a rule of a chain, by its text or its position. Return what iptables says, which is empty for success.", Src: "modules/iptables.py delete", Fn: deleteRule,
		Args: []fun.Arg{{Name: "table", Type: fun.Str, Required: true, Doc: "table that has the chain"}, chainArg, positionArg, {Name: "rule", Type: fun.Str, Doc: "the rule, unless position is given"}, familyArg},
	},
	{Name: "delete_chain", Doc: "Delete a chain. Return True, or what iptables says.", Src: "modules/iptables.py delete_chain", Fn: deleteChain, Args: chainArgs},
	{
		Name: "flush", Doc: "Delete all rules of a chain, or of a table. Return what iptables says, which is empty for success.", Src: "modules/iptables.py flush", Fn: flush,
		Args: []fun.Arg{tableArg, {Name: "chain", Type: fun.Str, Default: "", Doc: "the chain; empty is all chains of the table"}, familyArg},
	},
	{Name: "get_policy", Doc: "Return the policy of a chain.", Src: "modules/iptables.py get_policy", Fn: getPolicy, Args: chainArgs},
	{Name: "get_rules", Doc: "Return the rules of the kernel, by table and chain.", Src: "modules/iptables.py get_rules", Fn: getRules, Args: []fun.Arg{familyArg}},
	{Name: "get_saved_policy", Doc: "Return the policy that a file of rules has for a chain.", Src: "modules/iptables.py get_saved_policy", Fn: getSavedPolicy, Args: []fun.Arg{tableArg, chainArg, fileArg, familyArg}},
	{Name: "get_saved_rules", Doc: "Return the rules of a file, by table and chain.", Src: "modules/iptables.py get_saved_rules", Fn: getSavedRules, Args: []fun.Arg{fileArg, familyArg}},
	{
		Name: "insert", Doc: "Insert a rule into a chain. Return what iptables says, which is empty for success, or False if the chain has the rule.", Src: "modules/iptables.py insert", Fn: insertRule,
		Args: []fun.Arg{
			tableArg, chainArg,
			{Name: "position", Type: fun.Int, Doc: "number that the rule gets in the chain; a negative one counts from the end; required"},
			ruleArg, familyArg,
		},
	},
	{Name: "new_chain", Doc: "Create a chain. Return True, or what iptables says.", Src: "modules/iptables.py new_chain", Fn: newChain, Args: chainArgs},
	{
		Name: "save", Doc: "Write the rules of the kernel to a file.\nLines that match a regular expression of the option iptables.save_filters are left out.", Src: "modules/iptables.py save", Fn: save,
		Args: []fun.Arg{{Name: "filename", Type: fun.Path, Doc: "the file; default: the one that this system reads when it starts"}, familyArg},
	},
	{
		Name: "set_policy", Doc: "Set the policy of a chain. Return what iptables says, which is empty for success.", Src: "modules/iptables.py set_policy", Fn: setPolicy,
		Args: []fun.Arg{tableArg, chainArg, {Name: "policy", Type: fun.Str, Doc: "ACCEPT or DROP; required"}, familyArg},
	},
	{Name: "version", Doc: "Return the version of iptables.", Src: "modules/iptables.py version", Fn: showVersion, Args: []fun.Arg{familyArg}},
}
