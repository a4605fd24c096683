package partedpartition

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type dev struct {
	_      fun.Arguments
	Device string `arg:"device,required,path" doc:"block device, such as /dev/sda"`
}

type minor struct {
	_     fun.Arguments
	Minor int64 `arg:"minor,required" doc:"number of the partition"`
}

type part struct {
	_         fun.Arguments
	Partition int64 `arg:"partition,required" doc:"number of the partition"`
}

type state struct {
	_     fun.Arguments
	State string `arg:"state,required" doc:"on or off"`
}

type start struct {
	_     fun.Arguments
	Start string `arg:"start,required" doc:"where it starts, in MB or with a unit such as s, MiB or %"`
}

type end struct {
	_   fun.Arguments
	End string `arg:"end,required" doc:"where it ends, in MB or with a unit such as s, MiB or %"`
}

type flag struct {
	_    fun.Arguments
	Flag string `arg:"flag,required" doc:"flag of a partition, such as boot, lvm or raid"`
}

type disk struct {
	_    fun.Arguments
	Flag string `arg:"flag,required" doc:"flag of a disk: cylinder_alignment, implicit_partition_table or pmbr_boot"`
}

type newPartition struct {
	dev
	PartType string      `arg:"part_type,required" oneof:"primary|logical|extended" doc:"kind of the partition"`
	FSType   value.Value `arg:"fs_type,str" doc:"file system that it is to hold"`
	Start    value.Value `arg:"start,str" doc:"where it starts, in MB or with a unit such as s, MiB or %"`
	End      value.Value `arg:"end,str" doc:"where it ends, in MB or with a unit such as s, MiB or %"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "align_check", Doc: "Check the alignment of a partition, and return what parted says.", Src: "modules/parted_partition.py align_check", Do: alignCheck,
	},
	{Name: "check", Doc: "Check the file system of a partition; parted 3 has no such command.", Src: "modules/parted_partition.py check", Do: check},
	{
		Name: "cp", Doc: "Copy the file system of a partition to another; parted 3 has no such command.", Src: "modules/parted_partition.py cp", Do: cp,
	},
	{Name: "disk_set", Doc: "Set a flag of a disk.", Src: "modules/parted_partition.py disk_set", Do: diskSet},
	{Name: "disk_toggle", Doc: "Toggle a flag of a disk.", Src: "modules/parted_partition.py disk_toggle", Do: diskToggle},
	{
		Name: "exists", Doc: "Return whether a path is a block device.", Src: "modules/parted_partition.py exists", Do: exists,
	},
	{Name: "get_block_device", Doc: "Return the names of the disks.", Src: "modules/parted_partition.py get_block_device", Do: getBlockDevice},
	{Name: "get_id", Doc: "Return the type of a partition as a number.", Src: "modules/parted_partition.py get_id", Do: getID},
	{
		Name: "list", Doc: "Return the partition table of a disk and its partitions.", Src: "modules/parted_partition.py list_", Do: list,
	},
	{
		Name: "mkfs", Doc: "Make a file system on a partition.", Src: "modules/parted_partition.py mkfs", Do: mkfs,
	},
	{
		Name: "mklabel", Doc: "Make a new partition table.", Src: "modules/parted_partition.py mklabel", Do: mklabel,
	},
	{Name: "mkpart", Doc: "Make a partition.", Src: "modules/parted_partition.py mkpart", Do: mkpart},
	{Name: "mkpartfs", Doc: "Make a partition, as mkpart.", Src: "modules/parted_partition.py mkpartfs", Do: mkpart},
	{
		Name: "name", Doc: "Name a partition; only some kinds of tables have names.", Src: "modules/parted_partition.py name", Do: name,
	},
	{
		Name: "probe", Doc: "Have the kernel read partition tables again: those of the devices that are given, else all.", Src: "modules/parted_partition.py probe",
		Do: probe,
	},
	{Name: "rescue", Doc: "Look for a lost partition.", Src: "modules/parted_partition.py rescue", Do: rescue},
	{Name: "resize", Doc: "Resize a partition; parted 3 has no such command.", Src: "modules/parted_partition.py resize", Do: resize},
	{Name: "rm", Doc: "Remove a partition.", Src: "modules/parted_partition.py rm", Do: rm},
	{Name: "set", Doc: "Set a flag of a partition.", Src: "modules/parted_partition.py set_", Do: set},
	{
		Name: "set_id", Doc: "Set the type of a partition.", Src: "modules/parted_partition.py set_id", Do: setID,
	},
	{Name: "system_types", Doc: "Return the types of partitions that sfdisk knows.", Src: "modules/parted_partition.py system_types", Do: systemTypes},
	{Name: "toggle", Doc: "Toggle a flag of a partition.", Src: "modules/parted_partition.py toggle", Do: toggle},
}
