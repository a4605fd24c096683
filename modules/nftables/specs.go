package nftables

import (
	"brine/internal/fun"
	"brine/internal/value"
)

type tableArg struct {
	_     fun.Arguments
	Table string `arg:"table" default:"filter" doc:"the table"`
}

type mustTable struct {
	_     fun.Arguments
	Table string `arg:"table,required" doc:"the table"`
}

type chainArg struct {
	_     fun.Arguments
	Chain string `arg:"chain" doc:"the chain; needed"`
}

type ruleArg struct {
	_    fun.Arguments
	Rule string `arg:"rule" doc:"the rule as nft takes it; needed"`
}

type familyArg struct {
	_      fun.Arguments
	Family string `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ip|ipv6|ip6|inet|arp|bridge|netdev" doc:"family of the table"`
}

type chainArgs struct {
	tableArg
	chainArg
	familyArg
}

type ruleArgs struct {
	tableArg
	chainArg
	ruleArg
	familyArg
}

// RuleArgs are the arguments that describe a rule.
type RuleArgs struct {
	_ fun.Arguments
	_ value.Value `arg:"connstate,kw,str|list" doc:"states of the connection, such as new or \"related,established\""`
	_ value.Value `arg:"counter,kw" default:"False" doc:"count packets; any value but False"`
	_ string      `arg:"daddr,kw" doc:"destination address"`
	_ string      `arg:"destination,kw" doc:"another name of daddr"`
	_ string      `arg:"dport,kw" doc:"destination port, or a range such as 1000:2000; needs proto"`
	_ value.Value `arg:"dports,kw,str|list" doc:"destination ports; needs proto"`
	_ value.Value `arg:"icmp-type,kw,str|list" doc:"types of ICMP messages"`
	_ string      `arg:"if,kw" doc:"name of the interface on which packets arrive"`
	_ string      `arg:"j,kw" doc:"another name of jump"`
	_ string      `arg:"jump,kw" doc:"verdict or statement, such as accept, drop or \"jump other\""`
	_ value.Value `arg:"match,kw,str|list" doc:"ignored, as in Salt: nftables has no match modules"`
	_ string      `arg:"of,kw" doc:"name of the interface by which packets leave"`
	_ value.Value `arg:"pkttype,kw,str|list" doc:"types of packets: host, broadcast, multicast"`
	_ string      `arg:"proto,kw" doc:"protocol of the ports: tcp, udp, ..."`
	_ string      `arg:"redirect-to,kw" doc:"port that packets are redirected to"`
	_ string      `arg:"reject-with,kw" doc:"how packets are rejected, such as \"tcp reset\""`
	_ string      `arg:"saddr,kw" doc:"source address"`
	_ string      `arg:"source,kw" doc:"another name of saddr"`
	_ string      `arg:"sport,kw" doc:"source port or range; needs proto"`
	_ value.Value `arg:"sports,kw,str|list" doc:"source ports; needs proto"`
	_ string      `arg:"target,kw" doc:"another name of jump"`
	_ string      `arg:"to-destination,kw" doc:"text after the verdict, such as an address after \"dnat to\""`
	_ string      `arg:"to-port,kw" doc:"another name of redirect-to"`
	_ string      `arg:"to-ports,kw" doc:"text --to-ports and its value, as Salt writes it"`
	_ string      `arg:"to-source,kw" doc:"text after the verdict, such as an address after \"snat to\""`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "append", Doc: "Add a rule to the end of a chain, unless the chain has it.", Src: "modules/nftables.py append", Do: appendRule},
	{
		Name: "build_rule", Doc: "Return the text of a rule.", Src: "modules/nftables.py build_rule", Do: buildRule,
	},
	{Name: "check", Doc: "Return whether a chain has a rule, however it is written.", Src: "modules/nftables.py check", Do: check},
	{Name: "check_chain", Doc: "Return whether a table has a chain.", Src: "modules/nftables.py check_chain", Do: checkChain},
	{Name: "check_table", Doc: "Return whether there is a table.", Src: "modules/nftables.py check_table", Do: checkTable},
	{
		Name: "delete", Doc: "Delete a rule of a chain, by its text or its handle.", Src: "modules/nftables.py delete", Do: deleteRule,
	},
	{Name: "delete_chain", Doc: "Delete a chain.", Src: "modules/nftables.py delete_chain", Do: deleteChain},
	{Name: "delete_table", Doc: "Delete a table with its chains.", Src: "modules/nftables.py delete_table", Do: deleteTable},
	{
		Name: "flush", Doc: "Delete all rules of a chain, or of a table.", Src: "modules/nftables.py flush", Do: flush,
	},
	{Name: "get_policy", Doc: "Return the policy of a chain, None if it has none.", Src: "modules/nftables.py get_policy", Do: getPolicy},
	{Name: "get_rule_handle", Doc: "Return the handle of a rule.", Src: "modules/nftables.py get_rule_handle", Do: getRuleHandle},
	{Name: "get_rules", Doc: "Return the tables of a family with their rules, as nft prints them.", Src: "modules/nftables.py get_rules", Do: getRules},
	{Name: "get_rules_json", Doc: "Return the rules of a family as data.", Src: "modules/nftables.py get_rules_json", Do: getRulesJSON},
	{
		Name: "get_saved_rules", Doc: "Return the lines of a file of rules, without comments.", Src: "modules/nftables.py get_saved_rules", Do: getSavedRules,
	},
	{
		Name: "insert", Doc: "Insert a rule into a chain, unless the chain has it.", Src: "modules/nftables.py insert", Do: insertRule,
	},
	{Name: "list_tables", Doc: "Return the tables of a family.", Src: "modules/nftables.py list_tables", Do: listTables},
	{
		Name: "new_chain", Doc: "Create a chain.", Src: "modules/nftables.py new_chain", Do: newChain,
	},
	{Name: "new_table", Doc: "Create a table.", Src: "modules/nftables.py new_table", Do: newTable},
	{
		Name: "save", Doc: "Write the rules of all families to a file, and return them.", Src: "modules/nftables.py save", Do: save,
	},
	{
		Name: "set_policy", Doc: "Set the policy of a base chain. Return whether that worked.", Src: "modules/nftables.py set_policy", Do: setPolicy,
	},
	{Name: "version", Doc: "Return the version of nft.", Src: "modules/nftables.py version", Do: showVersion},
}
