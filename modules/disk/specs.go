package disk

import "brine/internal/core/fun"

type deviceArg struct {
	_      fun.Arguments
	Device string `arg:"device,required,path" doc:"path of the block device"`
}

type disksArg struct {
	_     fun.Arguments
	Disks []string `arg:"disks,required" doc:"names of disks, with or without /dev/"`
}

type flagsArg struct {
	_    fun.Arguments
	Args []string `arg:"args" doc:"letters of options of df(1)"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "blkid", Doc: "Return what is on block devices: UUID, LABEL, TYPE.", Src: "modules/disk.py blkid", Do: blkid,
	},
	{
		Name: "dump", Doc: "Return what blockdev(8) tells of a device, False if it fails.", Src: "modules/disk.py dump", Do: dump,
	},
	{
		Name: "format", Doc: "Make a file system; what was on the device is lost.", Src: "modules/disk.py format_", Do: format,
	},
	{Name: "fstype", Doc: "Return the type of the file system on a device, '' if there is none.", Src: "modules/disk.py fstype", Do: fstype},
	{Name: "get_fstype_from_path", Doc: "Return the type of the file system that a path is on.", Src: "modules/disk.py get_fstype_from_path", Do: fstypeFromPath},
	{Name: "hdparms", Doc: "Return the parameters of disks by hdparm(8).", Src: "modules/disk.py hdparms", Do: hdparms},
	{Name: "hpa", Doc: "Return the hidden area of disks, or set it.", Src: "modules/disk.py hpa", Do: hpa},
	{Name: "inodeusage", Doc: "Return how many inodes of the file systems are used.", Src: "modules/disk.py inodeusage", Do: inodeusage},
	{
		Name: "iostat", Doc: "Return the means of what iostat(1) reports.", Src: "modules/disk.py iostat", Do: iostat,
	},
	{Name: "percent", Doc: "Return how full the file systems are in percent.", Src: "modules/disk.py percent", Do: percent},
	{Name: "resize2fs", Doc: "Make an ext file system as large as its device.", Src: "modules/disk.py resize2fs", Do: resize2fs},
	{
		Name: "smart_attributes", Doc: "Return the SMART attributes of a disk.", Src: "modules/disk.py smart_attributes", Do: smartAttributes,
	},
	{Name: "tune", Doc: "Set properties of a block device: read-ahead, filesystem-read-ahead, read-only, read-write.", Src: "modules/disk.py tune", Do: tune},
	{Name: "usage", Doc: "Return how full the file systems are.", Src: "modules/disk.py usage", Do: usage},
	{Name: "wipe", Doc: "Remove the signatures of file systems from a device.", Src: "modules/disk.py wipe", Do: wipe},
}
