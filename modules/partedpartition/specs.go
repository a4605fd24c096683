package partedpartition

import "brine/internal/fun"

var (
	dev   = fun.Arg{Name: "device", Type: fun.Path, Required: true, Doc: "block device, such as /dev/sda"}
	minor = fun.Arg{Name: "minor", Type: fun.Int, Required: true, Doc: "number of the partition"}
	part  = fun.Arg{Name: "partition", Type: fun.Int, Required: true, Doc: "number of the partition"}
	state = fun.Arg{Name: "state", Type: fun.Str, Required: true, Doc: "on or off"}
	kinds = []string{"primary", "logical", "extended"}
	start = fun.Arg{Name: "start", Type: fun.Str, Required: true, Doc: "where it starts, in MB or with a unit such as s, MiB or %"}
	end   = fun.Arg{Name: "end", Type: fun.Str, Required: true, Doc: "where it ends, in MB or with a unit such as s, MiB or %"}
	flag  = fun.Arg{Name: "flag", Type: fun.Str, Required: true, Doc: "flag of a partition, such as boot, lvm or raid"}
	disk  = fun.Arg{Name: "flag", Type: fun.Str, Required: true, Doc: "flag of a disk: cylinder_alignment, implicit_partition_table or pmbr_boot"}

	newPartition = []fun.Arg{
		dev,
		{Name: "part_type", Type: fun.Str, Required: true, OneOf: kinds, Doc: "kind of the partition"},
		{Name: "fs_type", Type: fun.Str, Doc: "file system that it is to hold"},
		{Name: "start", Type: fun.Str, Doc: "where it starts, in MB or with a unit such as s, MiB or %"},
		{Name: "end", Type: fun.Str, Doc: "where it ends, in MB or with a unit such as s, MiB or %"},
	}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "align_check", Doc: "Check the alignment of a partition, and return what parted says.", Src: "modules/parted_partition.py align_check", Fn: alignCheck,
		Args: []fun.Arg{
			dev,
			{Name: "part_type", Type: fun.Str, Required: true, OneOf: []string{"minimal", "optimal"}, Doc: "alignment"},
			part,
		},
	},
	{Name: "check", Doc: "Check the file system of a partition; parted 3 has no such command.", Src: "modules/parted_partition.py check", Fn: check, Args: []fun.Arg{dev, minor}},
	{
		Name: "cp", Doc: "Copy the file system of a partition to another; parted 3 has no such command.", Src: "modules/parted_partition.py cp", Fn: cp,
		Args: []fun.Arg{
			dev,
			{Name: "from_minor", Type: fun.Int, Required: true, Doc: "number of the partition"},
			{Name: "to_minor", Type: fun.Int, Required: true, Doc: "number of the partition that is overwritten"},
		},
	},
	{Name: "disk_set", Doc: "Set a flag of a disk.", Src: "modules/parted_partition.py disk_set", Fn: diskSet, Args: []fun.Arg{dev, disk, state}},
	{Name: "disk_toggle", Doc: "Toggle a flag of a disk.", Src: "modules/parted_partition.py disk_toggle", Fn: diskToggle, Args: []fun.Arg{dev, disk}},
	{
		Name: "exists", Doc: "Return whether a path is a block device.", Src: "modules/parted_partition.py exists", Fn: exists,
		Args: []fun.Arg{{Name: "device", Type: fun.Path, Default: "", Doc: "path of the device"}},
	},
	{Name: "get_block_device", Doc: "Return the names of the disks.", Src: "modules/parted_partition.py get_block_device", Fn: getBlockDevice},
	{Name: "get_id", Doc: "Return the type of a partition as a number.", Src: "modules/parted_partition.py get_id", Fn: getID, Args: []fun.Arg{dev, minor}},
	{
		Name: "list", Doc: "Return the partition table of a disk and its partitions.", Src: "modules/parted_partition.py list_", Fn: list,
		Args: []fun.Arg{dev, {Name: "unit", Type: fun.Str, Doc: "unit of sizes, such as s, MiB or %"}},
	},
	{
		Name: "mkfs", Doc: "Make a file system on a partition.", Src: "modules/parted_partition.py mkfs", Fn: mkfs,
		Args: []fun.Arg{dev, {Name: "fs_type", Type: fun.Str, Required: true, Doc: "file system, such as ext4"}},
	},
	{
		Name: "mklabel", Doc: "Make a new partition table.", Src: "modules/parted_partition.py mklabel", Fn: mklabel,
		Args: []fun.Arg{dev, {Name: "label_type", Type: fun.Str, Required: true, Doc: "kind of the table, such as gpt or msdos"}},
	},
	{Name: "mkpart", Doc: "Make a partition.", Src: "modules/parted_partition.py mkpart", Fn: mkpart, Args: newPartition},
	{Name: "mkpartfs", Doc: "Make a partition, as mkpart.", Src: "modules/parted_partition.py mkpartfs", Fn: mkpart, Args: newPartition},
	{
		Name: "name", Doc: "Name a partition; only some kinds of tables have names.", Src: "modules/parted_partition.py name", Fn: name,
		Args: []fun.Arg{dev, part, {Name: "name", Type: fun.Str, Required: true, Doc: "letters, digits, blanks, _ and -"}},
	},
	{
		Name: "probe", Doc: "Have the kernel read partition tables again: those of the devices that are given, else all.", Src: "modules/parted_partition.py probe",
		VarArg: true, Fn: probe,
	},
	{Name: "rescue", Doc: "Look for a lost partition.", Src: "modules/parted_partition.py rescue", Fn: rescue, Args: []fun.Arg{dev, start, end}},
	{Name: "resize", Doc: "Resize a partition; parted 3 has no such command.", Src: "modules/parted_partition.py resize", Fn: resize, Args: []fun.Arg{dev, minor, start, end}},
	{Name: "rm", Doc: "Remove a partition.", Src: "modules/parted_partition.py rm", Fn: rm, Args: []fun.Arg{dev, minor}},
	{Name: "set", Doc: "Set a flag of a partition.", Src: "modules/parted_partition.py set_", Fn: set, Args: []fun.Arg{dev, minor, flag, state}},
	{
		Name: "set_id", Doc: "Set the type of a partition.", Src: "modules/parted_partition.py set_id", Fn: setID,
		Args: []fun.Arg{dev, minor, {Name: "system_id", Type: fun.Str, Required: true, Doc: "type as system_types lists it, such as 83"}},
	},
	{Name: "system_types", Doc: "Return the types of partitions that sfdisk knows.", Src: "modules/parted_partition.py system_types", Fn: systemTypes},
	{Name: "toggle", Doc: "Toggle a flag of a partition.", Src: "modules/parted_partition.py toggle", Fn: toggle, Args: []fun.Arg{dev, part, flag}},
}
