package lvm

import "brine/internal/fun"

var (
	deviceArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "the device"}
	groupArg  = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "the volume group"}
	volumeArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "the logical volume"}
	vgnameArg = fun.Arg{Name: "vgname", Type: fun.Str, Doc: "its volume group; needed"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "lv_absent", State: lvAbsent, Src: "states/lvm.py lv_absent", Doc: "Remove a logical volume.",
		Args: []fun.Arg{volumeArg, vgnameArg},
	},
	{
		Name: "lv_present", State: lvPresent, VarKw: true, Hands: true, Src: "states/lvm.py lv_present",
		Doc: "Create or resize a logical volume.\nA size is compared after rounding up to whole extents, as LVM does. Further arguments are those of lvm.lvcreate.",
		Args: []fun.Arg{
			volumeArg, vgnameArg,
			{Name: "size", Type: fun.Str, Doc: "size with a unit S (sectors), M, G, T or P; without one megabytes"},
			{Name: "extents", Type: fun.Str, Doc: "number of extents instead of size, or a percentage such as 100%FREE for a new volume"},
			{Name: "snapshot", Type: fun.Str, Doc: "name of a snapshot to create of the volume"},
			{Name: "pv", Type: fun.Str, Default: "", Doc: "physical volume on which it is placed"},
			{Name: "thinvolume", Type: fun.Bool, Default: false, Doc: "a thin volume; vgname is GROUP/POOL"},
			{Name: "thinpool", Type: fun.Bool, Default: false, Doc: "a thin pool"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "answer all questions with yes; needed to make a volume smaller"},
			{Name: "resizefs", Type: fun.Bool, Default: false, Doc: "resize the file system, too"},
		},
	},
	{
		Name: "pv_absent", State: pvAbsent, Src: "states/lvm.py pv_absent", Doc: "Make a device no physical volume.",
		Args: []fun.Arg{deviceArg},
	},
	{
		Name: "pv_present", State: pvPresent, VarKw: true, Hands: true, Src: "states/lvm.py pv_present",
		Doc:  "Make a device a physical volume.\nWhat is on it is lost. Further arguments are those of lvm.pvcreate.",
		Args: []fun.Arg{deviceArg},
	},
	{
		Name: "vg_absent", State: vgAbsent, Src: "states/lvm.py vg_absent", Doc: "Remove a volume group.",
		Args: []fun.Arg{groupArg},
	},
	{
		Name: "vg_present", State: vgPresent, VarKw: true, Hands: true, Src: "states/lvm.py vg_present",
		Doc:  "Create a volume group, or add physical volumes to it.\nFurther arguments are those of lvm.vgcreate.",
		Args: []fun.Arg{groupArg, {Name: "devices", Type: fun.Commas, Doc: "physical volumes, as a list or separated by commas"}},
	},
}
