package dpkg

import "brine/internal/fun"

var specs = []fun.Spec{
	{
		Name: "bin_pkg_info", Doc: "Return name, version and architecture of a package file.", Src: "modules/dpkg_lowpkg.py bin_pkg_info", Fn: binPkgInfo,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Required: true, Doc: "path or URL of the file; salt:// is a file of the file server"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment of a salt:// URL"},
		},
	},
	{
		Name: "file_dict", Doc: "List the files of packages, by package.\nWithout a name, all packages are listed.", Src: "modules/dpkg_lowpkg.py file_dict", Fn: fileDict,
		VarArg: true, VarKw: true,
	},
	{
		Name: "file_list", Doc: "List the files of packages.\nWithout a name, the files of all packages are listed.", Src: "modules/dpkg_lowpkg.py file_list", Fn: fileList,
		VarArg: true, VarKw: true,
	},
	{
		Name: "info", Doc: "Describe packages.\nWithout a name, all packages are described.", Src: "modules/dpkg_lowpkg.py info", Fn: info,
		VarArg: true, VarKw: true,
		Args: []fun.Arg{
			{Name: "failhard", Type: fun.Bool, Default: true, KwOnly: true, Doc: "fail if a package is not known, rather than return nothing"},
			{Name: "attr", Type: fun.Str, KwOnly: true, Doc: "names of what to return, with commas between them; default: all"},
		},
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions.\nWithout a name, all are listed.", Src: "modules/dpkg_lowpkg.py list_pkgs", Fn: listPkgs,
		VarArg: true, VarKw: true,
	},
	{
		Name: "unpurge", Doc: "Select packages for installation that are selected to be purged.", Src: "modules/dpkg_lowpkg.py unpurge", Fn: unpurge,
		VarArg: true,
	},
}
