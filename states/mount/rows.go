package mount

import "brine/internal/fun"

// Arguments that several functions have.
var (
	nameArg    = fun.Arg{Name: "name", Type: fun.Path, Required: true, Doc: "mount point"}
	configArg  = fun.Arg{Name: "config", Type: fun.Path, Default: "/etc/fstab", Doc: "the fstab"}
	userArg    = fun.Arg{Name: "user", Type: fun.Str, Doc: "user who runs the command"}
	matchOnArg = fun.Arg{Name: "match_on", Type: fun.Strs, Default: "auto", Doc: "fields by which an existing entry is found: device, name, fstype, opts, dump, pass_num; auto chooses by the type"}
	fsFileArg  = fun.Arg{Name: "fs_file", Type: fun.Path, Required: true, Doc: "mount point"}
	specArg    = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "device, tag such as UUID=..., or remote or special file system"}
	mountByArg = fun.Arg{Name: "mount_by", Type: fun.Str, Doc: "how the fstab names the device: device, label, uuid, partlabel or partuuid; default: as name does"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "fstab_absent", State: fstabAbsent, Src: "states/mount.py fstab_absent",
		Doc:  "Remove an entry from the fstab.",
		Args: []fun.Arg{specArg, fsFileArg, mountByArg, configArg},
	},
	{
		Name: "fstab_present", State: fstabPresent, Src: "states/mount.py fstab_present",
		Doc: "Put an entry into the fstab, and mount it if it is new.",
		Args: []fun.Arg{
			specArg, fsFileArg,
			{Name: "fs_vfstype", Type: fun.Str, Required: true, Doc: "type of the file system"},
			{Name: "fs_mntops", Type: fun.Commas, Default: "defaults", Doc: "mount options, as a list or separated by commas"},
			{Name: "fs_freq", Type: fun.Int, Default: int64(0), Doc: "field for dump(8)"},
			{Name: "fs_passno", Type: fun.Int, Default: int64(0), Doc: "order of the checks at boot"},
			mountByArg, configArg,
			{Name: "mount", Type: fun.Bool, Default: true, Doc: "mount a new entry"},
			matchOnArg,
			{Name: "not_change", Type: fun.Bool, Default: false, Doc: "leave an existing entry as it is"},
			{Name: "fs_mount", Type: fun.Bool, Default: true, Doc: "AIX only"},
		},
	},
	{
		Name: "mounted", State: mounted, VarKw: true, Src: "states/mount.py mounted",
		Doc: "Mount a file system and keep it in the fstab.",
		Args: []fun.Arg{
			nameArg,
			{Name: "device", Type: fun.Str, Required: true, Doc: "device, tag such as UUID=..., or remote or special file system"},
			{Name: "fstype", Type: fun.Str, Required: true, Doc: "type of the file system"},
			{Name: "mkmnt", Type: fun.Bool, Default: false, Doc: "create the mount point if it is missing"},
			{Name: "opts", Type: fun.Commas, Default: "defaults", Doc: "mount options, as a list or separated by commas"},
			{Name: "dump", Type: fun.Int, Default: int64(0), Doc: "field for dump(8)"},
			{Name: "pass_num", Type: fun.Int, Default: int64(0), Doc: "order of the checks at boot"},
			configArg,
			{Name: "persist", Type: fun.Bool, Default: true, Doc: "keep the file system in the fstab"},
			{Name: "mount", Type: fun.Bool, Default: true, Doc: "mount the file system"},
			userArg, matchOnArg,
			{Name: "device_name_regex", Type: fun.Strs, Doc: "regular expressions; a mounted device that matches one is not unmounted"},
			{Name: "extra_mount_invisible_options", Type: fun.Strs, Doc: "further options that a mounted file system does not show"},
			{Name: "extra_mount_invisible_keys", Type: fun.Strs, Doc: "further keys of options that a mounted file system does not show"},
			{Name: "extra_mount_ignore_fs_keys", Type: fun.Dict, Doc: "keys of options that cause no remount, by type of file system"},
			{Name: "extra_mount_translate_options", Type: fun.StrDict, Doc: "options that a mounted file system shows in another way"},
			{Name: "hidden_opts", Type: fun.Commas, Doc: "options that are not compared"},
			{Name: "bind_mount_copy_active_opts", Type: fun.Bool, Default: true, Doc: "a bind mount has the options of the bound file system"},
		},
	},
	{
		Name: "swap", State: swap, Src: "states/mount.py swap",
		Doc: "Activate a swap area and keep it in the fstab.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "swap file or device"},
			{Name: "persist", Type: fun.Bool, Default: true, Doc: "keep the swap area in the fstab"},
			configArg,
		},
	},
	{
		Name: "unmounted", State: unmounted, VarKw: true, Src: "states/mount.py unmounted",
		Doc: "Unmount a file system.",
		Args: []fun.Arg{
			nameArg,
			{Name: "device", Type: fun.Str, Doc: "device of the entry of the fstab"},
			configArg,
			{Name: "persist", Type: fun.Bool, Default: false, Doc: "remove the entry from the fstab too"},
			userArg,
		},
	},
}
