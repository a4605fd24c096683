package iptables

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/netfilter"
)

type ruleNameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the rule in reports"`
}

type tableArg struct {
	_     fun.Arguments
	Table string `arg:"table" default:"filter" doc:"table that has the chain"`
}

type familyArg struct {
	_      fun.Arguments
	Family string `arg:"family" default:"ipv4" oneof:"ipv4|ipv6" doc:"ipv4 or ipv6"`
}

type chainArg struct {
	_     fun.Arguments
	Chain string `arg:"chain,required,kw" doc:"the chain"`
}

type saveArg struct {
	_    fun.Arguments
	Save value.Value `arg:"save,kw,bool|path" default:"False" doc:"write the rules to a file: True for the one that this system reads when it starts, or a path"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "append", Do: appended, Leaves: leaves, Hands: true, Src: "states/iptables.py append",
		Doc: "Add a rule to the end of a chain, unless the chain has it.\nFurther arguments are options of iptables without their dashes; connstate is its option state, name_ its option name. A value that begins with ! or not is negated; an option without a value has an empty one.",
	},
	{
		Name: "chain_absent", Do: chainAbsent, Leaves: leaves, Src: "states/iptables.py chain_absent",
		Doc: "Delete a chain with its rules.",
	},
	{
		Name: "chain_present", Do: chainPresent, Leaves: leaves, Src: "states/iptables.py chain_present",
		Doc: "Create a chain.",
	},
	{
		Name: "delete", Do: deleted, Leaves: leaves, Hands: true, Src: "states/iptables.py delete",
		Doc: "Delete a rule of a chain, described as in append, or by its position.\nA position that the chain does not have is a failure. Further arguments are options of iptables.",
	},
	{
		Name: "flush", Do: flushed, Leaves: leaves, Always: true, Src: "states/iptables.py flush",
		Doc: "Delete all rules of a chain, or of a table.\nIt acts on every run.",
	},
	{
		Name: "insert", Do: inserted, Leaves: leaves, Hands: true, Src: "states/iptables.py insert",
		Doc: "Insert a rule into a chain, unless the chain has it. The rule is described as in append.\nFurther arguments are options of iptables.",
	},
	{
		Name: "set_policy", Do: policySet, Leaves: leaves, Src: "states/iptables.py set_policy",
		Doc: "Set the policy of a chain.",
	},
}

// leaves has an overlay have the rules that a state leaves.
func leaves(ctx context.Context, c *fun.Call, o *host.Overlay) error {
	program := "iptables"
	if c.Low != nil && c.Low.Low.At("family") == "ipv6" {
		program = "ip6tables"
	}
	return netfilter.Leaves(ctx, c, o, program)
}
