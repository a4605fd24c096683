package lvm

import "brine/internal/core/fun"

type deviceArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"the device"`
}

type groupArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"the volume group"`
}

type volumeArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"the logical volume"`
}

type vgnameArg struct {
	_      fun.Arguments
	Vgname string `arg:"vgname" doc:"its volume group; needed"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "lv_absent", Do: lvAbsent, Src: "states/lvm.py lv_absent", Doc: "Remove a logical volume.",
	},
	{
		Name: "lv_present", Do: lvPresent, Of: "lvm.lvcreate", Src: "states/lvm.py lv_present",
		Doc: "Create or resize a logical volume.\nA size is compared after rounding up to whole extents, as LVM does.",
	},
	{
		Name: "pv_absent", Do: pvAbsent, Src: "states/lvm.py pv_absent", Doc: "Make a device no physical volume.",
	},
	{
		Name: "pv_present", Do: pvPresent, Of: "lvm.pvcreate", Src: "states/lvm.py pv_present",
		Doc: "Make a device a physical volume.\nWhat is on it is lost.",
	},
	{
		Name: "vg_absent", Do: vgAbsent, Src: "states/lvm.py vg_absent", Doc: "Remove a volume group.",
	},
	{
		Name: "vg_present", Do: vgPresent, Of: "lvm.vgcreate", Src: "states/lvm.py vg_present",
		Doc: "Create a volume group, or add physical volumes to it.",
	},
}
