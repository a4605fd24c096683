package rpm

import "brine/internal/core/fun"

type rootArg struct {
	_    fun.Arguments
	Root string `arg:"root,kw,path" doc:"directory of another system"`
}

type keyArg struct {
	_   fun.Arguments
	Key string `arg:"key,required" doc:"name of the key, as list_gpg_keys returns it"`
}

type dirArg struct {
	_    fun.Arguments
	Root string `arg:"root,path" doc:"directory of another system"`
}

var specs = []fun.Spec{
	{
		Name: "bin_pkg_info", Doc: "Return name, version and architecture of a package file.\nIt is None where rpm cannot read the file.", Src: "modules/rpm_lowpkg.py bin_pkg_info", Do: binPkgInfo,
	},
	{
		Name: "checksum", Doc: "Report whether the checksums and signatures of package files are valid.", Src: "modules/rpm_lowpkg.py checksum", Do: checksum,
	},
	{
		Name: "diff", Doc: "Compare an installed file with the one in a package file.\nReturns a unified diff, empty where both are the same. This needs rpm2cpio, cpio and diff.", Src: "modules/rpm_lowpkg.py diff", Do: diff,
	},
	{
		Name: "file_dict", Doc: "List the files of packages, by package.\nWithout a name, all packages are listed.", Src: "modules/rpm_lowpkg.py file_dict", Do: fileDict,
	},
	{
		Name: "file_list", Doc: "List the files of packages.\nWithout a name, the files of all packages are listed.", Src: "modules/rpm_lowpkg.py file_list", Do: fileList,
	},
	{
		Name: "import_gpg_key", Doc: "Have rpm trust a key.", Src: "modules/rpm_lowpkg.py import_gpg_key", Do: importGPGKey,
	},
	{
		Name: "info", Doc: "Describe installed packages.\nWithout a name, all packages are described.", Src: "modules/rpm_lowpkg.py info", Do: info,
	},
	{
		Name: "info_gpg_key", Doc: "Describe a key that rpm trusts.", Src: "modules/rpm_lowpkg.py info_gpg_key", Do: infoGPGKey,
	},
	{
		Name: "list_gpg_keys", Doc: "List the keys that rpm trusts.", Src: "modules/rpm_lowpkg.py list_gpg_keys", Do: listGPGKeys,
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions, without epoch and release.\nWithout a name, all are listed.", Src: "modules/rpm_lowpkg.py list_pkgs", Do: listPkgs,
	},
	{
		Name: "modified", Doc: "List installed files that were changed, and which of their attributes differ.\nWithout a name, the files of all packages are compared.", Src: "modules/rpm_lowpkg.py modified", Do: modified,
	},
	{
		Name: "owner", Doc: "Return the package that a file belongs to, or an empty string.\nFor several files, a mapping is returned.", Src: "modules/rpm_lowpkg.py owner", Do: owner,
	},
	{
		Name: "remove_gpg_key", Doc: "Have rpm no longer trust a key.", Src: "modules/rpm_lowpkg.py remove_gpg_key", Do: removeGPGKey,
	},
	{
		Name: "verify", Doc: "Compare installed files with rpm's database.\nReturns by path what differs. Without a name, the files of all packages are compared.", Src: "modules/rpm_lowpkg.py verify", Do: verify,
	},
	{
		Name: "version_cmp", Doc: "Compare two versions as rpm does: -1, 0 or 1.\nA release that only one of them has is ignored.", Src: "modules/rpm_lowpkg.py version_cmp", Do: VersionCmp,
	},
}
