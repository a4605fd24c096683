package linuxlvm

import "brine/internal/fun"

// Arguments that several functions have.
var (
	devicesArg  = fun.Arg{Name: "devices", Type: fun.Commas, Required: true, Doc: "devices, as a list or separated by commas"}
	vgArg       = fun.Arg{Name: "vgname", Type: fun.Str, Required: true, Doc: "the volume group"}
	lvArg       = fun.Arg{Name: "lvname", Type: fun.Str, Required: true, Doc: "the logical volume"}
	quietArg    = fun.Arg{Name: "quiet", Type: fun.Bool, Default: false, Doc: "a failure of the program does not show in the exit status"}
	overrideArg = fun.Arg{Name: "override", Type: fun.Bool, Default: true, Doc: "skip devices that there is nothing to do for, instead of stopping there"}
	forceArg    = fun.Arg{Name: "force", Type: fun.Bool, Default: true, Doc: "answer all questions with yes"}
	noForceArg  = fun.Arg{Name: "force", Type: fun.Bool, Default: false, Doc: "answer all questions with yes"}
	sizeArg     = fun.Arg{Name: "size", Type: fun.Str, Doc: "size with a unit, such as 10G; without one megabytes"}
	extentsArg  = fun.Arg{Name: "extents", Type: fun.Str, Doc: "number of extents, or a percentage such as 100%FREE, instead of size"}
)

var resizeArgs = []fun.Arg{
	sizeArg,
	{Name: "lvpath", Type: fun.Str, Doc: "path of the logical volume; needed"},
	extentsArg, noForceArg,
	{Name: "resizefs", Type: fun.Bool, Default: false, Doc: "resize the file system, too"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "fullversion", Doc: "Return the versions of LVM, its library and its driver.", Src: "modules/linux_lvm.py fullversion", Fn: fullversion},
	{
		Name: "lvcreate", VarKw: true, Hands: true, Src: "modules/linux_lvm.py lvcreate", Fn: lvcreate,
		Doc: "Create a logical volume.\nFurther arguments are options of lvcreate: activate, chunksize, contiguous, discards, ignoremonitoring, minor, mirrors, monitor, nosync, noudevsync, permission, persistent, poolmetadatasize, readahead, regionsize, stripes, stripesize, thin, type, virtualsize, zero.",
		Args: []fun.Arg{
			lvArg, vgArg, sizeArg, extentsArg,
			{Name: "snapshot", Type: fun.Str, Doc: "logical volume that this one is a snapshot of"},
			{Name: "pv", Type: fun.Str, Doc: "physical volume on which it is placed"},
			{Name: "thinvolume", Type: fun.Bool, Default: false, Doc: "a thin volume; vgname is GROUP/POOL"},
			{Name: "thinpool", Type: fun.Bool, Default: false, Doc: "a thin pool"},
			noForceArg,
		},
	},
	{
		Name: "lvdisplay", Doc: "Return the logical volumes, or one.", Src: "modules/linux_lvm.py lvdisplay", Fn: lvdisplay,
		Args: []fun.Arg{{Name: "lvname", Type: fun.Str, Default: "", Doc: "path of the logical volume; empty is all"}, quietArg},
	},
	{Name: "lvextend", Doc: "Extend a logical volume.", Src: "modules/linux_lvm.py lvextend", Fn: lvextend, Args: resizeArgs},
	{Name: "lvremove", Doc: "Remove a logical volume.", Src: "modules/linux_lvm.py lvremove", Fn: lvremove, Args: []fun.Arg{lvArg, vgArg, forceArg}},
	{Name: "lvresize", Doc: "Resize a logical volume.", Src: "modules/linux_lvm.py lvresize", Fn: lvresize, Args: resizeArgs},
	{
		Name: "pvcreate", VarKw: true, Hands: true, Src: "modules/linux_lvm.py pvcreate", Fn: pvcreate,
		Doc:  "Make devices physical volumes. Return True, or what went wrong.\nFurther arguments are options of pvcreate: dataalignment, dataalignmentoffset, labelsector, metadatacopies, metadataignore, metadatasize, norestorefile, pvmetadatacopies, restorefile, setphysicalvolumesize.",
		Args: []fun.Arg{devicesArg, overrideArg, forceArg},
	},
	{
		Name: "pvdisplay", Doc: "Return the physical volumes, or one.", Src: "modules/linux_lvm.py pvdisplay", Fn: pvdisplay,
		Args: []fun.Arg{
			{Name: "pvname", Type: fun.Str, Default: "", Doc: "device of the physical volume; empty is all"},
			{Name: "real", Type: fun.Bool, Default: false, Doc: "name devices by their path without links"},
			quietArg,
		},
	},
	{Name: "pvremove", Doc: "Remove the label of physical volumes. Return True, or what went wrong.", Src: "modules/linux_lvm.py pvremove", Fn: pvremove, Args: []fun.Arg{devicesArg, overrideArg, forceArg}},
	{Name: "pvresize", Doc: "Give physical volumes the size of their devices. Return True, or what went wrong.", Src: "modules/linux_lvm.py pvresize", Fn: pvresize, Args: []fun.Arg{devicesArg, overrideArg, forceArg}},
	{Name: "version", Doc: "Return the version of LVM.", Src: "modules/linux_lvm.py version", Fn: version},
	{
		Name: "vgcreate", VarKw: true, Hands: true, Src: "modules/linux_lvm.py vgcreate", Fn: vgcreate,
		Doc:  "Create a volume group.\nFurther arguments are options of vgcreate: addtag, alloc, autobackup, clustered, maxlogicalvolumes, maxphysicalvolumes, metadatacopies, metadatatype, physicalextentsize, vgmetadatacopies, zero.",
		Args: []fun.Arg{vgArg, devicesArg, noForceArg},
	},
	{
		Name: "vgdisplay", Doc: "Return the volume groups, or one.", Src: "modules/linux_lvm.py vgdisplay", Fn: vgdisplay,
		Args: []fun.Arg{{Name: "vgname", Type: fun.Str, Default: "", Doc: "the volume group; empty is all"}, quietArg},
	},
	{Name: "vgextend", Doc: "Add physical volumes to a volume group.", Src: "modules/linux_lvm.py vgextend", Fn: vgextend, Args: []fun.Arg{vgArg, devicesArg, noForceArg}},
	{Name: "vgremove", Doc: "Remove a volume group.", Src: "modules/linux_lvm.py vgremove", Fn: vgremove, Args: []fun.Arg{vgArg, forceArg}},
}
