package nftables

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
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
	_             fun.Arguments
	Connstate     value.Value `arg:"connstate,kw,str|list" doc:"states of the connection, such as new or \"related,established\""`
	Counter       value.Value `arg:"counter,kw" default:"False" doc:"count packets; any value but False"`
	Daddr         value.Value `arg:"daddr,kw,str" doc:"destination address"`
	Destination   value.Value `arg:"destination,kw,str" doc:"another name of daddr"`
	Dport         value.Value `arg:"dport,kw,str" doc:"destination port, or a range such as 1000:2000; needs proto"`
	Dports        value.Value `arg:"dports,kw,str|list" doc:"destination ports; needs proto"`
	IcmpType      value.Value `arg:"icmp-type,kw,str|list" doc:"types of ICMP messages"`
	If            value.Value `arg:"if,kw,str" doc:"name of the interface on which packets arrive"`
	J             value.Value `arg:"j,kw,str" doc:"another name of jump"`
	Jump          value.Value `arg:"jump,kw,str" doc:"verdict or statement, such as accept, drop or \"jump other\""`
	_             value.Value `arg:"match,kw,str|list" doc:"ignored, as in Salt: nftables has no match modules"`
	Of            value.Value `arg:"of,kw,str" doc:"name of the interface by which packets leave"`
	Pkttype       value.Value `arg:"pkttype,kw,str|list" doc:"types of packets: host, broadcast, multicast"`
	Proto         value.Value `arg:"proto,kw,str" doc:"protocol of the ports: tcp, udp, ..."`
	RedirectTo    value.Value `arg:"redirect-to,kw,str" doc:"port that packets are redirected to"`
	RejectWith    value.Value `arg:"reject-with,kw,str" doc:"how packets are rejected, such as \"tcp reset\""`
	Saddr         value.Value `arg:"saddr,kw,str" doc:"source address"`
	Source        value.Value `arg:"source,kw,str" doc:"another name of saddr"`
	Sport         value.Value `arg:"sport,kw,str" doc:"source port or range; needs proto"`
	Sports        value.Value `arg:"sports,kw,str|list" doc:"source ports; needs proto"`
	Target        value.Value `arg:"target,kw,str" doc:"another name of jump"`
	ToDestination value.Value `arg:"to-destination,kw,str" doc:"text after the verdict, such as an address after \"dnat to\""`
	ToPort        value.Value `arg:"to-port,kw,str" doc:"another name of redirect-to"`
	ToPorts       value.Value `arg:"to-ports,kw,str" doc:"text --to-ports and its value, as Salt writes it"`
	ToSource      value.Value `arg:"to-source,kw,str" doc:"text after the verdict, such as an address after \"snat to\""`
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
