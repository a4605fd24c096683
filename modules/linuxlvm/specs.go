package linuxlvm

import "brine/internal/core/fun"

type devicesArg struct {
	_       fun.Arguments
	Devices []string `arg:"devices,required,comma[str]" doc:"devices, as a list or separated by commas"`
}

type vgArg struct {
	_      fun.Arguments
	Vgname string `arg:"vgname,required" doc:"the volume group"`
}

type lvArg struct {
	_      fun.Arguments
	Lvname string `arg:"lvname,required" doc:"the logical volume"`
}

type quietArg struct {
	_     fun.Arguments
	Quiet bool `arg:"quiet" default:"False" doc:"a failure of the program does not show in the exit status"`
}

type overrideArg struct {
	_        fun.Arguments
	Override bool `arg:"override" default:"True" doc:"skip devices that there is nothing to do for, instead of stopping there"`
}

type forceArg struct {
	_     fun.Arguments
	Force bool `arg:"force" default:"True" doc:"answer all questions with yes"`
}

type noForceArg struct {
	_     fun.Arguments
	Force bool `arg:"force" default:"False" doc:"answer all questions with yes"`
}

type sizeArg struct {
	_    fun.Arguments
	Size string `arg:"size" doc:"size with a unit, such as 10G; without one megabytes"`
}

type extentsArg struct {
	_       fun.Arguments
	Extents string `arg:"extents" doc:"number of extents, or a percentage such as 100%FREE, instead of size"`
}

type resizeArgs struct {
	sizeArg
	Lvpath string `arg:"lvpath" doc:"path of the logical volume; needed"`
	extentsArg
	noForceArg
	Resizefs bool `arg:"resizefs" default:"False" doc:"resize the file system, too"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "fullversion", Doc: "Return the versions of LVM, its library and its driver.", Src: "modules/linux_lvm.py fullversion", Do: fullversion},
	{
		Name: "lvcreate", Src: "modules/linux_lvm.py lvcreate", Do: lvcreate,
		Doc: "Create a logical volume.",
	},
	{
		Name: "lvdisplay", Doc: "Return the logical volumes, or one.", Src: "modules/linux_lvm.py lvdisplay", Do: lvdisplay,
	},
	{Name: "lvextend", Doc: "Extend a logical volume.", Src: "modules/linux_lvm.py lvextend", Do: lvextend},
	{Name: "lvremove", Doc: "Remove a logical volume.", Src: "modules/linux_lvm.py lvremove", Do: lvremove},
	{Name: "lvresize", Doc: "Resize a logical volume.", Src: "modules/linux_lvm.py lvresize", Do: lvresize},
	{
		Name: "pvcreate", Src: "modules/linux_lvm.py pvcreate", Do: pvcreate,
		Doc: "Make devices physical volumes. Return True, or what went wrong.",
	},
	{
		Name: "pvdisplay", Doc: "Return the physical volumes, or one.", Src: "modules/linux_lvm.py pvdisplay", Do: pvdisplay,
	},
	{Name: "pvremove", Doc: "Remove the label of physical volumes. Return True, or what went wrong.", Src: "modules/linux_lvm.py pvremove", Do: pvremove},
	{Name: "pvresize", Doc: "Give physical volumes the size of their devices. Return True, or what went wrong.", Src: "modules/linux_lvm.py pvresize", Do: pvresize},
	{Name: "version", Doc: "Return the version of LVM.", Src: "modules/linux_lvm.py version", Do: version},
	{
		Name: "vgcreate", Src: "modules/linux_lvm.py vgcreate", Do: vgcreate,
		Doc: "Create a volume group.\nFurther arguments are options of vgcreate: addtag, alloc, autobackup, clustered, maxlogicalvolumes, maxphysicalvolumes, metadatacopies, metadatatype, physicalextentsize, vgmetadatacopies, zero.",
	},
	{
		Name: "vgdisplay", Doc: "Return the volume groups, or one.", Src: "modules/linux_lvm.py vgdisplay", Do: vgdisplay,
	},
	{Name: "vgextend", Doc: "Add physical volumes to a volume group.", Src: "modules/linux_lvm.py vgextend", Do: vgextend},
	{Name: "vgremove", Doc: "Remove a volume group.", Src: "modules/linux_lvm.py vgremove", Do: vgremove},
}
