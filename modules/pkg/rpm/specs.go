package rpm

import "brine/internal/fun"

var (
	rootArg = fun.Arg{Name: "root", Type: fun.Path, KwOnly: true, Doc: "directory of another system"}
	keyArg  = fun.Arg{Name: "key", Type: fun.Str, Required: true, Doc: "name of the key, as list_gpg_keys returns it"}
	dirArg  = fun.Arg{Name: "root", Type: fun.Path, Doc: "directory of another system"}
	// modifiedArgs select files by what differs.
	modifiedArgs = []fun.Arg{
		{Name: "size", Type: fun.Bool, KwOnly: true, Doc: "return only files whose size differs (True) or not (False)"},
		{Name: "mode", Type: fun.Bool, KwOnly: true, Doc: "the same for the mode"},
		{Name: "checksum", Type: fun.Bool, KwOnly: true, Doc: "the same for the content"},
		{Name: "device", Type: fun.Bool, KwOnly: true, Doc: "the same for the number of a device"},
		{Name: "symlink", Type: fun.Bool, KwOnly: true, Doc: "the same for the target of a symbolic link"},
		{Name: "owner", Type: fun.Bool, KwOnly: true, Doc: "the same for the owner"},
		{Name: "group", Type: fun.Bool, KwOnly: true, Doc: "the same for the group"},
		{Name: "time", Type: fun.Bool, KwOnly: true, Doc: "the same for the time of the last change"},
		{Name: "capabilities", Type: fun.Bool, KwOnly: true, Doc: "the same for the capabilities"},
	}
)

var specs = []fun.Spec{
	{
		Name: "bin_pkg_info", Doc: "Return name, version and architecture of a package file.\nIt is None where rpm cannot read the file.", Src: "modules/rpm_lowpkg.py bin_pkg_info", Fn: binPkgInfo,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Required: true, Doc: "path or URL of the file; salt:// is a file of the file server"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of a salt:// URL"},
		},
	},
	{
		Name: "checksum", Doc: "Report whether the checksums and signatures of package files are valid.", Src: "modules/rpm_lowpkg.py checksum", Fn: checksum,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{rootArg},
	},
	{
		Name: "diff", Doc: "Compare an installed file with the one in a package file.\nReturns a unified diff, empty where both are the same. This needs rpm2cpio, cpio and diff.", Src: "modules/rpm_lowpkg.py diff", Fn: diff,
		Args: []fun.Arg{
			{Name: "package_path", Type: fun.Path, Required: true, Doc: "path of the package file"},
			{Name: "path", Type: fun.Path, Required: true, Doc: "path of the installed file"},
		},
	},
	{
		Name: "file_dict", Doc: "List the files of packages, by package.\nWithout a name, all packages are listed.", Src: "modules/rpm_lowpkg.py file_dict", Fn: fileDict,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{rootArg},
	},
	{
		Name: "file_list", Doc: "List the files of packages.\nWithout a name, the files of all packages are listed.", Src: "modules/rpm_lowpkg.py file_list", Fn: fileList,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{rootArg},
	},
	{
		Name: "import_gpg_key", Doc: "Have rpm trust a key.", Src: "modules/rpm_lowpkg.py import_gpg_key", Fn: importGPGKey,
		Args: []fun.Arg{
			{Name: "key", Type: fun.Str, Required: true, Doc: "the public key, armored"},
			dirArg,
		},
	},
	{
		Name: "info", Doc: "Describe installed packages.\nWithout a name, all packages are described.", Src: "modules/rpm_lowpkg.py info", Fn: info,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{
			{Name: "attr", Type: fun.Str, KwOnly: true, Doc: "names of what to return, with commas between them; default: all"},
			{Name: "all_versions", Type: fun.Bool, Default: false, KwOnly: true, Doc: "return a list of all installed versions of each package"},
			rootArg,
		},
	},
	{
		Name: "info_gpg_key", Doc: "Describe a key that rpm trusts.", Src: "modules/rpm_lowpkg.py info_gpg_key", Fn: infoGPGKey,
		Args: []fun.Arg{keyArg, dirArg},
	},
	{
		Name: "list_gpg_keys", Doc: "List the keys that rpm trusts.", Src: "modules/rpm_lowpkg.py list_gpg_keys", Fn: listGPGKeys,
		Args: []fun.Arg{
			{Name: "info", Type: fun.Bool, Default: false, Doc: "return a mapping of the keys to their descriptions"},
			dirArg,
		},
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions, without epoch and release.\nWithout a name, all are listed.", Src: "modules/rpm_lowpkg.py list_pkgs", Fn: listPkgs,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{rootArg},
	},
	{
		Name: "modified", Doc: "List installed files that were changed, and which of their attributes differ.\nWithout a name, the files of all packages are compared.", Src: "modules/rpm_lowpkg.py modified", Fn: modified,
		VarArg: true, VarKw: true,
		Args:   []fun.Arg{rootArg},
		Shared: [][]fun.Arg{modifiedArgs},
	},
	{
		Name: "owner", Doc: "Return the package that a file belongs to, or an empty string.\nFor several files, a mapping is returned.", Src: "modules/rpm_lowpkg.py owner", Fn: owner,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{rootArg},
	},
	{
		Name: "remove_gpg_key", Doc: "Have rpm no longer trust a key.", Src: "modules/rpm_lowpkg.py remove_gpg_key", Fn: removeGPGKey,
		Args: []fun.Arg{keyArg, dirArg},
	},
	{
		Name: "verify", Doc: "Compare installed files with rpm's database.\nReturns by path what differs. Without a name, the files of all packages are compared.", Src: "modules/rpm_lowpkg.py verify", Fn: verify,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{
			{Name: "ignore_types", Type: fun.Commas, KwOnly: true, Doc: "types of files to leave out: config, doc, ghost, license, readme"},
			{Name: "verify_options", Type: fun.Commas, KwOnly: true, Doc: "options of rpm -V without the dashes, such as nomtime"},
			rootArg,
		},
	},
	{
		Name: "version_cmp", Doc: "Compare two versions as rpm does: -1, 0 or 1.\nA release that only one of them has is ignored.", Src: "modules/rpm_lowpkg.py version_cmp", Fn: VersionCmp,
		Args: []fun.Arg{
			{Name: "ver1", Type: fun.Str | fun.None, Required: true, Doc: "a version"},
			{Name: "ver2", Type: fun.Str | fun.None, Required: true, Doc: "another version"},
			{Name: "ignore_epoch", Type: fun.Bool, Default: false, Doc: "ignore the epochs"},
		},
	},
}
