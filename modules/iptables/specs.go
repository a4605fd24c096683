package iptables

import "brine/internal/core/fun"

type tableArg struct {
	_     fun.Arguments
	Table string `arg:"table" default:"filter" doc:"table that has the chain"`
}

type chainArg struct {
	_     fun.Arguments
	Chain string `arg:"chain" doc:"the chain; required"`
}

type ruleArg struct {
	_    fun.Arguments
	Rule string `arg:"rule" doc:"the rule as iptables takes it after the name of the chain; required"`
}

type fileArg struct {
	_        fun.Arguments
	ConfFile string `arg:"conf_file,path" doc:"file of rules; default: the one that this system reads when it starts"`
}

type familyArg struct {
	_      fun.Arguments
	Family string `arg:"family" default:"ipv4" oneof:"ipv4|ipv6" doc:"ipv4 or ipv6"`
}

type chainArgs struct {
	tableArg
	chainArg
	familyArg
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "append", Doc: "Add a rule to the end of a chain. Return True, or False if the chain has it or iptables complains.", Src: "modules/iptables.py append", Do: appendRule,
	},
	{
		Name: "build_rule", Hands: true, Do: buildRule, Src: "modules/iptables.py build_rule",
		Doc: "Return the text of a rule.\nFurther arguments are options of iptables without their dashes. A value that begins with ! or not is negated; an option without a value has an empty one.",
	},
	{Name: "check", Doc: "Return whether a chain has a rule.", Src: "modules/iptables.py check", Do: check},
	{Name: "check_chain", Doc: "Return whether a table has a chain.", Src: "modules/iptables.py check_chain", Do: checkChain},
	{
		Name: "delete", Doc: "Delete a rule of a chain, by its text or its position. Return what iptables says, which is empty for success.", Src: "modules/iptables.py delete", Do: deleteRule,
	},
	{Name: "delete_chain", Doc: "Delete a chain. Return True, or what iptables says.", Src: "modules/iptables.py delete_chain", Do: deleteChain},
	{
		Name: "flush", Doc: "Delete all rules of a chain, or of a table. Return what iptables says, which is empty for success.", Src: "modules/iptables.py flush", Do: flush,
	},
	{Name: "get_policy", Doc: "Return the policy of a chain.", Src: "modules/iptables.py get_policy", Do: getPolicy},
	{Name: "get_rules", Doc: "Return the rules of the kernel, by table and chain.", Src: "modules/iptables.py get_rules", Do: getRules},
	{Name: "get_saved_policy", Doc: "Return the policy that a file of rules has for a chain.", Src: "modules/iptables.py get_saved_policy", Do: getSavedPolicy},
	{Name: "get_saved_rules", Doc: "Return the rules of a file, by table and chain.", Src: "modules/iptables.py get_saved_rules", Do: getSavedRules},
	{
		Name: "insert", Doc: "Insert a rule into a chain. Return what iptables says, which is empty for success, or False if the chain has the rule.", Src: "modules/iptables.py insert", Do: insertRule,
	},
	{Name: "new_chain", Doc: "Create a chain. Return True, or what iptables says.", Src: "modules/iptables.py new_chain", Do: newChain},
	{
		Name: "save", Doc: "Write the rules of the kernel to a file.\nLines that match a regular expression of the option iptables.save_filters are left out.", Src: "modules/iptables.py save", Do: save,
	},
	{
		Name: "set_policy", Doc: "Set the policy of a chain. Return what iptables says, which is empty for success.", Src: "modules/iptables.py set_policy", Do: setPolicy,
	},
	{Name: "version", Doc: "Return the version of iptables.", Src: "modules/iptables.py version", Do: showVersion},
}
