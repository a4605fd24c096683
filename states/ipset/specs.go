package ipset

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/modules/netfilter"
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", Doc: "Make sure that a set does not have entries.", Src: "states/ipset.py absent", Do: absent, Leaves: leaves,
	},
	{
		Name: "flush", Doc: "Make sure that a set has no entries.", Src: "states/ipset.py flush", Do: flush, Leaves: leaves,
	},
	{
		Name: "present", Doc: "Make sure that a set has entries.", Src: "states/ipset.py present", Do: present, Leaves: leaves,
	},
	{
		Name: "set_absent", Doc: "Make sure that a set does not exist.", Src: "states/ipset.py set_absent", Do: setAbsent, Leaves: leaves,
	},
	{
		Name: "set_present", Doc: "Make sure that a set is there.\n\nAn existing set is left as it is.", Src: "states/ipset.py set_present", Do: setPresent, Leaves: leaves,
	},
}

type setArg struct {
	_       fun.Arguments
	SetName string `arg:"set_name" doc:"name of the set"`
}

// leaves has an overlay have the sets that a state leaves.
func leaves(ctx context.Context, c *fun.Call, o *host.Overlay) error {
	return netfilter.Leaves(ctx, c, o, "ipset")
}
