package mount

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required,path" doc:"mount point"`
}

type configArg struct {
	_      fun.Arguments
	Config string `arg:"config,path" default:"/etc/fstab" doc:"the fstab"`
}

type userArg struct {
	_    fun.Arguments
	User value.Value `arg:"user,str" doc:"user who runs the command"`
}

type matchOnArg struct {
	_       fun.Arguments
	MatchOn []string `arg:"match_on" default:"'auto'" doc:"fields by which an existing entry is found: device, name, fstype, opts, dump, pass_num; auto chooses by the type"`
}

type fsFileArg struct {
	_      fun.Arguments
	FSFile string `arg:"fs_file,required,path" doc:"mount point"`
}

type specArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"device, tag such as UUID=..., or remote or special file system"`
}

type mountByArg struct {
	_       fun.Arguments
	MountBy string `arg:"mount_by" doc:"how the fstab names the device: device, label, uuid, partlabel or partuuid; default: as name does"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "fstab_absent", Do: fstabAbsent, Files: true, Src: "states/mount.py fstab_absent",
		Doc: "Remove an entry from the fstab.",
	},
	{
		Name: "fstab_present", Do: fstabPresent, Files: true, Src: "states/mount.py fstab_present",
		Doc: "Put an entry into the fstab, and mount it if it is new.",
	},
	{
		Name: "mounted", Do: mounted, Files: true, Src: "states/mount.py mounted",
		Doc: "Mount a file system and keep it in the fstab.",
	},
	{
		Name: "swap", Do: swap, Src: "states/mount.py swap",
		Doc: "Activate a swap area and keep it in the fstab.",
	},
	{
		Name: "unmounted", Do: unmounted, Files: true, Src: "states/mount.py unmounted",
		Doc: "Unmount a file system.",
	},
}
