package disk

import "brine/internal/fun"

// Arguments that several functions have.
var (
	deviceArg = fun.Arg{Name: "device", Type: fun.Path, Required: true, Doc: "path of the block device"}
	disksArg  = fun.Arg{Name: "disks", Type: fun.Strs, Required: true, Doc: "names of disks, with or without /dev/"}
	flagsArg  = fun.Arg{Name: "args", Type: fun.Strs, Doc: "letters of options of df(1)"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "blkid", Doc: "Return what is on block devices: UUID, LABEL, TYPE.", Src: "modules/disk.py blkid", Fn: blkid,
		Args: []fun.Arg{{Name: "device", Type: fun.Path, Doc: "path of the one to look at; None is all"}, {Name: "token", Type: fun.Str, Doc: "only those that have it: UUID=..., TYPE=ext4"}},
	},
	{
		Name: "dump", Doc: "Return what blockdev(8) tells of a device, False if it fails.", Src: "modules/disk.py dump", Fn: dump,
		Args: []fun.Arg{deviceArg, {Name: "args", Type: fun.Strs, Doc: "only these: getro, getsz, getss, getra ..."}},
	},
	{
		Name: "format", Doc: "Make a file system; what was on the device is lost.", Src: "modules/disk.py format_", Fn: format,
		Args: []fun.Arg{
			deviceArg,
			{Name: "fs_type", Type: fun.Str, Default: "ext4", Doc: "type of the file system"},
			{Name: "inode_size", Type: fun.Int, Unit: "bytes", Doc: "of ext: bytes of the file system for each inode; of xfs: size of an inode"},
			{Name: "lazy_itable_init", Type: fun.Int, Doc: "of ext: 0 writes all tables of inodes now, 1 later"},
			{Name: "fat", Type: fun.Int, Doc: "of fat: 12, 16 or 32 bits"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "of ext and xfs: also where there is one, or the device is a whole disk"},
		},
	},
	{Name: "fstype", Doc: "Return the type of the file system on a device, '' if there is none.", Src: "modules/disk.py fstype", Fn: fstype, Args: []fun.Arg{deviceArg}},
	{Name: "get_fstype_from_path", Doc: "Return the type of the file system that a path is on.", Src: "modules/disk.py get_fstype_from_path", Fn: fstypeFromPath, Args: []fun.Arg{{Name: "path", Type: fun.Path, Required: true, Doc: "the path"}}},
	{Name: "hdparms", Doc: "Return the parameters of disks by hdparm(8).", Src: "modules/disk.py hdparms", Fn: hdparms, Args: []fun.Arg{disksArg, {Name: "args", Type: fun.Strs, Doc: "letters of options of hdparm(8) that ask; default: all"}}},
	{Name: "hpa", Doc: "Return the hidden area of disks, or set it.", Src: "modules/disk.py hpa", Fn: hpa, Args: []fun.Arg{disksArg, {Name: "size", Type: fun.Str, Doc: "how much to hide: sectors, or a share such as 5%"}}},
	{Name: "inodeusage", Doc: "Return how many inodes of the file systems are used.", Src: "modules/disk.py inodeusage", Fn: inodeusage, Args: []fun.Arg{flagsArg}},
	{
		Name: "iostat", Doc: "Return the means of what iostat(1) reports.", Src: "modules/disk.py iostat", Fn: iostat,
		Args: []fun.Arg{
			{Name: "interval", Type: fun.Int, Default: int64(1), Unit: "s", Doc: "time between reports"},
			{Name: "count", Type: fun.Int, Default: int64(5), Doc: "number of reports"},
			{Name: "disks", Type: fun.Strs, Doc: "names of disks; None is all, and the processors"},
		},
	},
	{Name: "percent", Doc: "Return how full the file systems are in percent.", Src: "modules/disk.py percent", Fn: percent, Args: []fun.Arg{{Name: "args", Type: fun.Str, Doc: "mount point of the one to return"}}},
	{Name: "resize2fs", Doc: "Make an ext file system as large as its device.", Src: "modules/disk.py resize2fs", Fn: resize2fs, Args: []fun.Arg{deviceArg}},
	{
		Name: "smart_attributes", Doc: "Return the SMART attributes of a disk.", Src: "modules/disk.py smart_attributes", Fn: smartAttributes,
		Args: []fun.Arg{
			{Name: "dev", Type: fun.Path, Required: true, Doc: "the disk, with or without /dev/"},
			{Name: "attributes", Type: fun.Ints, Doc: "numbers of attributes; None is all"},
			{Name: "values", Type: fun.Strs, Doc: "names of columns; None is all"},
		},
	},
	{Name: "tune", Doc: "Set properties of a block device: read-ahead, filesystem-read-ahead, read-only, read-write.", Src: "modules/disk.py tune", Fn: tune, Args: []fun.Arg{deviceArg}, VarKw: true},
	{Name: "usage", Doc: "Return how full the file systems are.", Src: "modules/disk.py usage", Fn: usage, Args: []fun.Arg{flagsArg}},
	{Name: "wipe", Doc: "Remove the signatures of file systems from a device.", Src: "modules/disk.py wipe", Fn: wipe, Args: []fun.Arg{deviceArg}},
}
