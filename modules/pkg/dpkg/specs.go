package dpkg

import "brine/internal/core/fun"

var specs = []fun.Spec{
	{
		Name: "bin_pkg_info", Doc: "Return name, version and architecture of a package file.", Src: "modules/dpkg_lowpkg.py bin_pkg_info", Do: binPkgInfo,
	},
	{
		Name: "file_dict", Doc: "List the files of packages, by package.\nWithout a name, all packages are listed.", Src: "modules/dpkg_lowpkg.py file_dict", Do: fileDict,
	},
	{
		Name: "file_list", Doc: "List the files of packages.\nWithout a name, the files of all packages are listed.", Src: "modules/dpkg_lowpkg.py file_list", Do: fileList,
	},
	{
		Name: "info", Doc: "Describe packages.\nWithout a name, all packages are described.", Src: "modules/dpkg_lowpkg.py info", Do: info,
	},
	{
		Name: "list_pkgs", Doc: "List installed packages and their versions.\nWithout a name, all are listed.", Src: "modules/dpkg_lowpkg.py list_pkgs", Do: listPkgs,
	},
	{
		Name: "unpurge", Doc: "Select packages for installation that are selected to be purged.", Src: "modules/dpkg_lowpkg.py unpurge", Do: unpurge,
	},
}
