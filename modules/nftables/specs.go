package nftables

import "brine/internal/fun"

// Arguments that several functions have.
var (
	tableArg    = fun.Arg{Name: "table", Type: fun.Str, Default: "filter", Doc: "the table"}
	mustTable   = fun.Arg{Name: "table", Type: fun.Str, Required: true, Doc: "the table"}
	chainArg    = fun.Arg{Name: "chain", Type: fun.Str, Doc: "the chain; needed"}
	ruleArg     = fun.Arg{Name: "rule", Type: fun.Str, Doc: "the rule as nft takes it; needed"}
	positionArg = fun.Arg{Name: "position", Type: fun.Int, Doc: "handle of a rule"}
	familyArg   = fun.Arg{Name: "family", Type: fun.Str, Default: "ipv4", OneOf: families, Doc: "family of the table"}
)

var (
	chainArgs = []fun.Arg{tableArg, chainArg, familyArg}
	ruleArgs  = []fun.Arg{tableArg, chainArg, ruleArg, familyArg}
)

// RuleArgs are the arguments that describe a rule.
var RuleArgs = []fun.Arg{
	{Name: "connstate", Type: fun.Str | fun.List, KwOnly: true, Doc: "states of the connection, such as new or \"related,established\""},
	{Name: "counter", Type: fun.Any, Default: false, KwOnly: true, Doc: "count packets; any value but False"},
	{Name: "daddr", Type: fun.Str, KwOnly: true, Doc: "destination address"},
	{Name: "destination", Type: fun.Str, KwOnly: true, Doc: "another name of daddr"},
	{Name: "dport", Type: fun.Str, KwOnly: true, Doc: "destination port, or a range such as 1000:2000; needs proto"},
	{Name: "dports", Type: fun.Str | fun.List, KwOnly: true, Doc: "destination ports; needs proto"},
	{Name: "icmp-type", Type: fun.Str | fun.List, KwOnly: true, Doc: "types of ICMP messages"},
	{Name: "if", Type: fun.Str, KwOnly: true, Doc: "name of the interface on which packets arrive"},
	{Name: "j", Type: fun.Str, KwOnly: true, Doc: "another name of jump"},
	{Name: "jump", Type: fun.Str, KwOnly: true, Doc: "verdict or statement, such as accept, drop or \"jump other\""},
	{Name: "match", Type: fun.Str | fun.List, KwOnly: true, Doc: "ignored, as in Salt: nftables has no match modules"},
	{Name: "of", Type: fun.Str, KwOnly: true, Doc: "name of the interface by which packets leave"},
	{Name: "pkttype", Type: fun.Str | fun.List, KwOnly: true, Doc: "types of packets: host, broadcast, multicast"},
	{Name: "proto", Type: fun.Str, KwOnly: true, Doc: "protocol of the ports: tcp, udp, ..."},
	{Name: "redirect-to", Type: fun.Str, KwOnly: true, Doc: "port that packets are redirected to"},
	{Name: "reject-with", Type: fun.Str, KwOnly: true, Doc: "how packets are rejected, such as \"tcp reset\""},
	{Name: "saddr", Type: fun.Str, KwOnly: true, Doc: "source address"},
	{Name: "source", Type: fun.Str, KwOnly: true, Doc: "another name of saddr"},
	{Name: "sport", Type: fun.Str, KwOnly: true, Doc: "source port or range; needs proto"},
	{Name: "sports", Type: fun.Str | fun.List, KwOnly: true, Doc: "source ports; needs proto"},
	{Name: "target", Type: fun.Str, KwOnly: true, Doc: "another name of jump"},
	{Name: "to-destination", Type: fun.Str, KwOnly: true, Doc: "text after the verdict, such as an address after \"dnat to\""},
	{Name: "to-port", Type: fun.Str, KwOnly: true, Doc: "another name of redirect-to"},
	{Name: "to-ports", Type: fun.Str, KwOnly: true, Doc: "text --to-ports and its value, as Salt writes it"},
	{Name: "to-source", Type: fun.Str, KwOnly: true, Doc: "text after the verdict, such as an address after \"snat to\""},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "append", Doc: "Add a rule to the end of a chain, unless the chain has it.", Src: "modules/nftables.py append", Fn: appendRule, Args: ruleArgs},
	{
		Name: "build_rule", VarKw: true, Doc: "Return the text of a rule.", Src: "modules/nftables.py build_rule", Fn: buildRule,
		Args: []fun.Arg{
			{Name: "table", Type: fun.Str, Doc: "with full: the table"},
			{Name: "chain", Type: fun.Str, Doc: "with full: the chain"},
			{Name: "command", Type: fun.Str, Doc: "with full: insert, add or delete"},
			{Name: "position", Type: fun.Int | fun.Str, Default: "", Doc: "with full and insert: handle of the rule in front of which it goes"},
			{Name: "full", Type: fun.Bool, Doc: "return the whole command line, which needs table, chain and command"},
			familyArg,
		},
		Shared: [][]fun.Arg{RuleArgs},
	},
	{Name: "check", Doc: "Return whether a chain has a rule, however it is written.", Src: "modules/nftables.py check", Fn: check, Args: ruleArgs},
	{Name: "check_chain", Doc: "Return whether a table has a chain.", Src: "modules/nftables.py check_chain", Fn: checkChain, Args: chainArgs},
	{Name: "check_table", Doc: "Return whether there is a table.", Src: "modules/nftables.py check_table", Fn: checkTable, Args: []fun.Arg{{Name: "table", Type: fun.Str, Doc: "the table; needed"}, familyArg}},
	{
		Name: "delete", Doc: "Delete a rule of a chain, by its text or its handle.", Src: "modules/nftables.py delete", Fn: deleteRule,
		Args: []fun.Arg{mustTable, chainArg, positionArg, {Name: "rule", Type: fun.Str, Doc: "the rule, unless position is given"}, familyArg},
	},
	{Name: "delete_chain", Doc: "Delete a chain.", Src: "modules/nftables.py delete_chain", Fn: deleteChain, Args: chainArgs},
	{Name: "delete_table", Doc: "Delete a table with its chains.", Src: "modules/nftables.py delete_table", Fn: deleteTable, Args: []fun.Arg{mustTable, familyArg}},
	{
		Name: "flush", Doc: "Delete all rules of a chain, or of a table.", Src: "modules/nftables.py flush", Fn: flush,
		Args: []fun.Arg{tableArg, {Name: "chain", Type: fun.Str, Default: "", Doc: "the chain; empty is all chains of the table"}, familyArg},
	},
	{Name: "get_policy", Doc: "Return the policy of a chain, None if it has none.", Src: "modules/nftables.py get_policy", Fn: getPolicy, Args: chainArgs},
	{Name: "get_rule_handle", Doc: "Return the handle of a rule.", Src: "modules/nftables.py get_rule_handle", Fn: getRuleHandle, Args: ruleArgs},
	{Name: "get_rules", Doc: "Return the tables of a family with their rules, as nft prints them.", Src: "modules/nftables.py get_rules", Fn: getRules, Args: []fun.Arg{familyArg}},
	{Name: "get_rules_json", Doc: "Return the rules of a family as data.", Src: "modules/nftables.py get_rules_json", Fn: getRulesJSON, Args: []fun.Arg{familyArg}},
	{
		Name: "get_saved_rules", Doc: "Return the lines of a file of rules, without comments.", Src: "modules/nftables.py get_saved_rules", Fn: getSavedRules,
		Args: []fun.Arg{{Name: "conf_file", Type: fun.Path, Doc: "the file; default: /etc/nftables"}},
	},
	{
		Name: "insert", Doc: "Insert a rule into a chain, unless the chain has it.", Src: "modules/nftables.py insert", Fn: insertRule,
		Args: []fun.Arg{tableArg, chainArg, {Name: "position", Type: fun.Int, Doc: "handle of the rule in front of which it goes; default: the first place"}, ruleArg, familyArg},
	},
	{Name: "list_tables", Doc: "Return the tables of a family.", Src: "modules/nftables.py list_tables", Fn: listTables, Args: []fun.Arg{familyArg}},
	{
		Name: "new_chain", Doc: "Create a chain.", Src: "modules/nftables.py new_chain", Fn: newChain,
		Args: []fun.Arg{
			tableArg, chainArg,
			{Name: "table_type", Type: fun.Str, Doc: "type of a base chain: filter, nat or route"},
			{Name: "hook", Type: fun.Str, Doc: "hook of a base chain, such as input"},
			{Name: "priority", Type: fun.Str, Doc: "priority of a base chain, such as 0"},
			familyArg,
		},
	},
	{Name: "new_table", Doc: "Create a table.", Src: "modules/nftables.py new_table", Fn: newTable, Args: []fun.Arg{mustTable, familyArg}},
	{
		Name: "save", Doc: "Write the rules of all families to a file, and return them.", Src: "modules/nftables.py save", Fn: save,
		Args: []fun.Arg{{Name: "filename", Type: fun.Path, Doc: "the file, or a directory, which gets a file salt-all-in-one.nft; default: /etc/nftables"}, familyArg},
	},
	{
		Name: "set_policy", Doc: "Set the policy of a base chain. Return whether that worked.", Src: "modules/nftables.py set_policy", Fn: setPolicy,
		Args: []fun.Arg{tableArg, chainArg, {Name: "policy", Type: fun.Str, Doc: "accept or drop; needed"}, familyArg},
	},
	{Name: "version", Doc: "Return the version of nft.", Src: "modules/nftables.py version", Fn: showVersion},
}
