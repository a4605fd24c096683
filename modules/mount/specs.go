package mount

import "brine/internal/fun"

// Arguments that several functions have.
var (
	nameArg   = fun.Arg{Name: "name", Type: fun.Path, Required: true, Doc: "mount point"}
	configArg = fun.Arg{Name: "config", Type: fun.Path, Default: "/etc/fstab", Doc: "the fstab"}
	deviceArg = fun.Arg{Name: "device", Type: fun.Str | fun.Bool, Default: false, Doc: "device, or remote or special file system; without it, that of the fstab"}
	mkmntArg  = fun.Arg{Name: "mkmnt", Type: fun.Bool, Default: false, Doc: "create the mount point if it is missing"}
	fstypeArg = fun.Arg{Name: "fstype", Type: fun.Str, Default: "", Doc: "type of the file system"}
	optsArg   = fun.Arg{Name: "opts", Type: fun.Commas, Default: "defaults", Doc: "mount options, as a list or separated by commas"}
	runAsArg  = fun.Arg{Name: "user", Type: fun.Str, Doc: "user who runs the command"}
	utilArg   = fun.Arg{Name: "util", Type: fun.Str, Default: "mount", Doc: "tool that mounts; only mount is supported"}
	swapArg   = fun.Arg{Name: "name", Type: fun.Path, Required: true, Doc: "swap file or device"}
	cacheArg  = fun.Arg{Name: "real_name", Type: fun.Str, Required: true, Doc: "mount point, links resolved"}
	pathArg   = fun.Arg{Name: "path", Type: fun.Path, Required: true, Doc: "file or directory"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "active", Doc: "Return the mounted file systems.", Src: "modules/mount.py active", Fn: active,
		Args: []fun.Arg{{Name: "extended", Type: fun.Bool, Default: false, Doc: "return what mountinfo says too"}},
	},
	{Name: "delete_mount_cache", Doc: "Forget how a mount point was mounted.", Src: "modules/mount.py delete_mount_cache", Fn: deleteMountCache, Args: []fun.Arg{cacheArg}},
	{Name: "fstab", Doc: "Return the entries of the fstab.", Src: "modules/mount.py fstab", Fn: fstab, Args: []fun.Arg{configArg}},
	{Name: "get_device_from_path", Doc: "Return the device on which a file is.", Src: "modules/mount.py get_device_from_path", Fn: deviceFromPath, Args: []fun.Arg{pathArg}},
	{Name: "get_mount_from_path", Doc: "Return the mount point above a file.", Src: "modules/mount.py get_mount_from_path", Fn: mountFromPath, Args: []fun.Arg{pathArg}},
	{
		Name: "is_fuse_exec", Doc: "Return whether a program is linked with FUSE.", Src: "modules/mount.py is_fuse_exec", Fn: isFuseExec,
		Args: []fun.Arg{{Name: "cmd", Type: fun.Str, Required: true, Doc: "name of the program"}},
	},
	{Name: "is_mounted", Doc: "Return whether something is mounted at a mount point.", Src: "modules/mount.py is_mounted", Fn: isMounted, Args: []fun.Arg{nameArg}},
	{
		Name: "mount", Doc: "Mount a file system; return True or what mount said.", Src: "modules/mount.py mount", Fn: mount,
		Args: []fun.Arg{nameArg, deviceArg, mkmntArg, fstypeArg, optsArg, runAsArg, utilArg},
	},
	{Name: "read_mount_cache", Doc: "Return how a mount point was mounted.", Src: "modules/mount.py read_mount_cache", Fn: readMountCache, Args: []fun.Arg{nameArg}},
	{
		Name: "remount", Doc: "Mount a file system with new options; return True or what mount said.\nOne that is not mounted is mounted.", Src: "modules/mount.py remount", Fn: remount,
		Args: []fun.Arg{nameArg, {Name: "device", Type: fun.Str, Required: true, Doc: "device, or remote or special file system"}, mkmntArg, fstypeArg, optsArg, runAsArg},
	},
	{
		Name: "rm_fstab", Doc: "Remove a mount point from the fstab.", Src: "modules/mount.py rm_fstab", Fn: rmFstab,
		Args: []fun.Arg{nameArg, {Name: "device", Type: fun.Str | fun.None, Required: true, Doc: "device of the entry; None is any"}, configArg},
	},
	{
		Name: "set_fstab", Doc: "Set an entry of the fstab; return new, change or present.", Src: "modules/mount.py set_fstab", Fn: setFstab, VarKw: true,
		Args: []fun.Arg{
			nameArg,
			{Name: "device", Type: fun.Str, Required: true, Doc: "device, or remote or special file system"},
			{Name: "fstype", Type: fun.Str, Required: true, Doc: "type of the file system"},
			optsArg,
			{Name: "dump", Type: fun.Int, Default: int64(0), Doc: "field for dump(8)"},
			{Name: "pass_num", Type: fun.Int, Default: int64(0), Doc: "order of the checks at boot"},
			configArg,
			{Name: "test", Type: fun.Bool, Default: false, Doc: "change nothing, return what would change"},
			{Name: "match_on", Type: fun.Strs, Default: "auto", Doc: "fields by which an existing entry is found: device, name, fstype, opts, dump, pass_num; auto chooses by the type"},
			{Name: "not_change", Type: fun.Bool, Default: false, Doc: "leave an existing entry as it is"},
		},
	},
	{Name: "swapoff", Doc: "Deactivate a swap area; None if it is not active.", Src: "modules/mount.py swapoff", Fn: swapOff, Args: []fun.Arg{swapArg}},
	{
		Name: "swapon", Doc: "Activate a swap area.", Src: "modules/mount.py swapon", Fn: swapOn,
		Args: []fun.Arg{swapArg, {Name: "priority", Type: fun.Int, Doc: "priority of the swap area"}},
	},
	{Name: "swaps", Doc: "Return the active swap areas.", Src: "modules/mount.py swaps", Fn: swaps},
	{
		Name: "umount", Doc: "Unmount a file system; return True or what umount said.", Src: "modules/mount.py umount", Fn: umount,
		Args: []fun.Arg{nameArg, {Name: "device", Type: fun.Str, Doc: "device to unmount instead of the mount point"}, runAsArg, utilArg},
	},
	{
		Name: "write_mount_cache", Doc: "Note how a mount point was mounted.", Src: "modules/mount.py write_mount_cache", Fn: writeMountCache,
		Args: []fun.Arg{
			cacheArg,
			{Name: "device", Type: fun.Str | fun.None, Required: true, Doc: "device"},
			{Name: "mkmnt", Type: fun.Bool | fun.None, Required: true, Doc: "whether the mount point was created"},
			{Name: "fstype", Type: fun.Str | fun.None, Required: true, Doc: "type of the file system"},
			{Name: "mount_opts", Type: fun.Str | fun.List | fun.None, Required: true, Doc: "mount options"},
		},
	},
}
