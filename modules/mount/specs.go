package mount

import "brine/internal/core/fun"

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required,path" doc:"mount point"`
}

type configArg struct {
	_      fun.Arguments
	Config string `arg:"config,path" default:"/etc/fstab" doc:"the fstab"`
}

type mkmntArg struct {
	_     fun.Arguments
	Mkmnt bool `arg:"mkmnt" default:"False" doc:"create the mount point if it is missing"`
}

type fstypeArg struct {
	_      fun.Arguments
	Fstype string `arg:"fstype" default:"" doc:"type of the file system"`
}

type optsArg struct {
	_    fun.Arguments
	Opts []string `arg:"opts,comma[str]" default:"'defaults'" doc:"mount options, as a list or separated by commas"`
}

type runAsArg struct {
	_    fun.Arguments
	User string `arg:"user" doc:"user who runs the command"`
}

type utilArg struct {
	_    fun.Arguments
	Util string `arg:"util" default:"mount" doc:"tool that mounts; only mount is supported"`
}

type swapArg struct {
	_    fun.Arguments
	Name string `arg:"name,required,path" doc:"swap file or device"`
}

type cacheArg struct {
	_        fun.Arguments
	RealName string `arg:"real_name,required" doc:"mount point, links resolved"`
}

type pathArg struct {
	_    fun.Arguments
	Path string `arg:"path,required,path" doc:"file or directory"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "active", Doc: "Return the mounted file systems.", Src: "modules/mount.py active", Do: active,
	},
	{Name: "delete_mount_cache", Doc: "Forget how a mount point was mounted.", Src: "modules/mount.py delete_mount_cache", Do: deleteMountCache},
	{Name: "fstab", Doc: "Return the entries of the fstab.", Src: "modules/mount.py fstab", Do: fstab},
	{Name: "get_device_from_path", Doc: "Return the device on which a file is.", Src: "modules/mount.py get_device_from_path", Do: deviceFromPath},
	{Name: "get_mount_from_path", Doc: "Return the mount point above a file.", Src: "modules/mount.py get_mount_from_path", Do: mountFromPath},
	{
		Name: "is_fuse_exec", Doc: "Return whether a program is linked with FUSE.", Src: "modules/mount.py is_fuse_exec", Do: isFuseExec,
	},
	{Name: "is_mounted", Doc: "Return whether something is mounted at a mount point.", Src: "modules/mount.py is_mounted", Do: isMounted},
	{
		Name: "mount", Doc: "Mount a file system; return True or what mount said.", Src: "modules/mount.py mount", Do: mount,
	},
	{Name: "read_mount_cache", Doc: "Return how a mount point was mounted.", Src: "modules/mount.py read_mount_cache", Do: readMountCache},
	{
		Name: "remount", Doc: "Mount a file system with new options; return True or what mount said.\nOne that is not mounted is mounted.", Src: "modules/mount.py remount", Do: remount,
	},
	{
		Name: "rm_fstab", Doc: "Remove a mount point from the fstab.", Src: "modules/mount.py rm_fstab", Do: rmFstab,
	},
	{
		Name: "set_fstab", Doc: "Set an entry of the fstab; return new, change or present.", Src: "modules/mount.py set_fstab", Do: setFstab,
	},
	{Name: "swapoff", Doc: "Deactivate a swap area; None if it is not active.", Src: "modules/mount.py swapoff", Do: swapOff},
	{
		Name: "swapon", Doc: "Activate a swap area.", Src: "modules/mount.py swapon", Do: swapOn,
	},
	{Name: "swaps", Doc: "Return the active swap areas.", Src: "modules/mount.py swaps", Do: swaps},
	{
		Name: "umount", Doc: "Unmount a file system; return True or what umount said.", Src: "modules/mount.py umount", Do: umount,
	},
	{
		Name: "write_mount_cache", Doc: "Note how a mount point was mounted.", Src: "modules/mount.py write_mount_cache", Do: writeMountCache,
	},
}
