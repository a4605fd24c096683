package pip

import "brine/internal/fun"

// whereArgs are arguments that several functions have.
var whereArgs = []fun.Arg{
	{Name: "bin_env", Type: fun.Path, Doc: "a virtualenv, or the path of a Python or a pip; default: the python3 of the system"},
	{Name: "user", Type: fun.Str, Doc: "account that runs pip"},
	{Name: "cwd", Type: fun.Path, Doc: "working directory"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "freeze", Doc: "Return the lines of pip freeze.", Src: "modules/pip.py freeze", Fn: freeze,
		Args: []fun.Arg{
			{Name: "bin_env", Type: fun.Path, Doc: "a virtualenv, or the path of a Python or a pip; default: the python3 of the system"},
			{Name: "user", Type: fun.Str, Doc: "account that runs pip"},
			{Name: "cwd", Type: fun.Path, Doc: "working directory"},
			{Name: "use_vt", Type: fun.Bool, Default: false, Doc: "accepted; output is not shown while pip runs"},
			{Name: "env_vars", Type: fun.Dict, Doc: "environment variables for pip"},
		},
		VarKw: true, NearMiss: true,
	},
	{
		Name: "install", Doc: "Install packages and return what pip said.", Src: "modules/pip.py install", Fn: install,
		Args: []fun.Arg{
			{Name: "pkgs", Type: fun.Commas, Doc: "packages, with versions as for pip"},
			{Name: "requirements", Type: fun.Commas, Doc: "requirements files: paths or salt:// URLs"},
			{Name: "bin_env", Type: fun.Path, Doc: "a virtualenv, or the path of a Python or a pip; default: the python3 of the system"},
			{Name: "use_wheel", Type: fun.Bool, Default: false, Doc: "prefer wheels; pip 1.4 to 9.0.3 only"},
			{Name: "no_use_wheel", Type: fun.Bool, Default: false, Doc: "do not use wheels; pip 1.4 to 9.0.3 only"},
			{Name: "log", Type: fun.Path, Doc: "file to which pip writes its log"},
			{Name: "proxy", Type: fun.Str | fun.Bool, Secret: true, Doc: "proxy; default: the one of the configuration, False for none"},
			{Name: "timeout", Unit: "s", Doc: "how long pip waits for a connection"},
			{Name: "editable", Type: fun.Commas, Doc: "source trees or version control URLs to install in editable mode"},
			{Name: "find_links", Type: fun.Commas, Doc: "URLs or directories with packages"},
			{Name: "index_url", Type: fun.Str, Doc: "URL of the package index"},
			{Name: "extra_index_url", Type: fun.Str, Doc: "URL of a further package index"},
			{Name: "no_index", Type: fun.Bool, Default: false, Doc: "do not use a package index"},
			{Name: "mirrors", Type: fun.Commas, Doc: "refused by pip 7 and later"},
			{Name: "build", Type: fun.Path, Doc: "directory for building"},
			{Name: "target", Type: fun.Path, Doc: "directory to install to"},
			{Name: "download", Type: fun.Path, Doc: "download to this directory instead of installing; old pip only"},
			{Name: "download_cache", Type: fun.Path, Doc: "directory for pip's cache"},
			{Name: "source", Type: fun.Path, Doc: "directory for editable checkouts"},
			{Name: "upgrade", Type: fun.Bool, Default: false, Doc: "upgrade packages that are installed"},
			{Name: "force_reinstall", Type: fun.Bool, Default: false, Doc: "reinstall packages that are installed"},
			{Name: "ignore_installed", Type: fun.Bool, Default: false, Doc: "install whatever is installed"},
			{Name: "exists_action", Type: fun.Str, Doc: "what to do where a path exists: s (switch), i (ignore), w (wipe) or b (backup)"},
			{Name: "no_deps", Type: fun.Bool, Default: false, Doc: "do not install dependencies"},
			{Name: "no_install", Type: fun.Bool, Default: false, Doc: "download only; old pip only"},
			{Name: "no_download", Type: fun.Bool, Default: false, Doc: "install what was downloaded; old pip only"},
			{Name: "global_options", Type: fun.Commas, Doc: "options for setup.py, before its command"},
			{Name: "install_options", Type: fun.Commas, Doc: "options for setup.py install"},
			{Name: "user", Type: fun.Str, Doc: "account that runs pip"},
			{Name: "cwd", Type: fun.Path, Doc: "working directory"},
			{Name: "pre_releases", Type: fun.Bool, Default: false, Doc: "take pre-releases, too"},
			{Name: "cert", Type: fun.Path, Doc: "CA bundle"},
			{Name: "allow_all_external", Type: fun.Bool, Default: false, Doc: "take packages that are hosted elsewhere; old pip only"},
			{Name: "allow_external", Type: fun.Commas, Doc: "packages that may be hosted elsewhere; old pip only"},
			{Name: "allow_unverified", Type: fun.Commas, Doc: "packages that need no checksum; old pip only"},
			{Name: "process_dependency_links", Type: fun.Bool, Default: false, Doc: "follow dependency links; old pip only"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "saltenv of salt:// requirements files"},
			{Name: "env_vars", Type: fun.Dict, Doc: "environment variables for pip"},
			{Name: "use_vt", Type: fun.Bool, Default: false, Doc: "accepted; output is not shown while pip runs"},
			{Name: "trusted_host", Type: fun.Commas, Doc: "hosts that need no valid certificate"},
			{Name: "no_cache_dir", Type: fun.Bool, Default: false, Doc: "do not use pip's cache"},
			{Name: "extra_args", Type: fun.List, Doc: "further arguments: words, or mappings of an option and its value"},
			{Name: "cache_dir", Type: fun.Path, Doc: "directory for pip's cache"},
			{Name: "no_binary", Type: fun.Commas, Doc: "packages for which no wheel is used, or :all:"},
			{Name: "disable_version_check", Type: fun.Bool, Default: false, Doc: "do not look for a newer pip"},
		},
		VarKw: true, NearMiss: true,
	},
	{
		Name: "is_installed", Doc: "Return whether a package is installed.", Src: "modules/pip.py is_installed", Fn: isInstalled,
		Args: []fun.Arg{
			{Name: "pkgname", Type: fun.Str, Required: true, Doc: "name of the package"},
		},
		Shared: [][]fun.Arg{whereArgs},
	},
	{
		Name: "list", Doc: "Return the versions of the installed packages.", Src: "modules/pip.py list", Fn: list,
		Args: []fun.Arg{
			{Name: "prefix", Type: fun.Str, Doc: "only packages whose name starts with this"},
			{Name: "bin_env", Type: fun.Path, Doc: "a virtualenv, or the path of a Python or a pip; default: the python3 of the system"},
			{Name: "user", Type: fun.Str, Doc: "account that runs pip"},
			{Name: "cwd", Type: fun.Path, Doc: "working directory"},
			{Name: "env_vars", Type: fun.Dict, Doc: "environment variables for pip"},
		},
		VarKw: true, NearMiss: true,
	},
	{
		Name: "list_all_versions", Doc: "Return the versions of a package that can be installed.", Src: "modules/pip.py list_all_versions", Fn: listAllVersions,
		Args: []fun.Arg{
			{Name: "pkg", Type: fun.Str, Required: true, Doc: "name of the package"},
			{Name: "bin_env", Type: fun.Path, Doc: "a virtualenv, or the path of a Python or a pip; default: the python3 of the system"},
			{Name: "include_alpha", Type: fun.Bool, Default: false, Doc: "take alpha versions"},
			{Name: "include_beta", Type: fun.Bool, Default: false, Doc: "take beta versions"},
			{Name: "include_rc", Type: fun.Bool, Default: false, Doc: "take release candidates"},
			{Name: "user", Type: fun.Str, Doc: "account that runs pip"},
			{Name: "cwd", Type: fun.Path, Doc: "working directory"},
			{Name: "index_url", Type: fun.Str, Doc: "URL of the package index"},
			{Name: "extra_index_url", Type: fun.Str, Doc: "URL of a further package index"},
		},
	},
	{
		Name: "list_freeze_parse", Doc: "Return the versions of the installed packages as pip freeze has them.", Src: "modules/pip.py list_freeze_parse", Fn: listFreezeParse,
		Args: []fun.Arg{
			{Name: "prefix", Type: fun.Str, Doc: "only packages whose name starts with this"},
			{Name: "bin_env", Type: fun.Path, Doc: "a virtualenv, or the path of a Python or a pip; default: the python3 of the system"},
			{Name: "user", Type: fun.Str, Doc: "account that runs pip"},
			{Name: "cwd", Type: fun.Path, Doc: "working directory"},
			{Name: "env_vars", Type: fun.Dict, Doc: "environment variables for pip"},
		},
		VarKw: true, NearMiss: true,
	},
	{
		Name: "list_upgrades", Doc: "Return the packages with newer versions.", Src: "modules/pip.py list_upgrades", Fn: listUpgrades,
		Shared: [][]fun.Arg{whereArgs},
	},
	{
		Name: "uninstall", Doc: "Remove packages and return what pip said.", Src: "modules/pip.py uninstall", Fn: uninstall,
		Args: []fun.Arg{
			{Name: "pkgs", Type: fun.Commas, Doc: "packages, with versions as for pip"},
			{Name: "requirements", Type: fun.Commas, Doc: "requirements files: paths or salt:// URLs"},
			{Name: "bin_env", Type: fun.Path, Doc: "a virtualenv, or the path of a Python or a pip; default: the python3 of the system"},
			{Name: "log", Type: fun.Path, Doc: "file to which pip writes its log"},
			{Name: "proxy", Type: fun.Str | fun.Bool, Secret: true, Doc: "proxy; default: the one of the configuration, False for none"},
			{Name: "timeout", Unit: "s", Doc: "how long pip waits for a connection"},
			{Name: "user", Type: fun.Str, Doc: "account that runs pip"},
			{Name: "cwd", Type: fun.Path, Doc: "working directory"},
			{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "saltenv of salt:// requirements files"},
			{Name: "use_vt", Type: fun.Bool, Default: false, Doc: "accepted; output is not shown while pip runs"},
		},
	},
	{
		Name: "upgrade", Doc: "Upgrade all packages.", Src: "modules/pip.py upgrade", Fn: upgrade,
		Args: []fun.Arg{
			{Name: "bin_env", Type: fun.Path, Doc: "a virtualenv, or the path of a Python or a pip; default: the python3 of the system"},
			{Name: "user", Type: fun.Str, Doc: "account that runs pip"},
			{Name: "cwd", Type: fun.Path, Doc: "working directory"},
			{Name: "use_vt", Type: fun.Bool, Default: false, Doc: "accepted; output is not shown while pip runs"},
		},
	},
	{
		Name: "upgrade_available", Doc: "Return whether there is a newer version of a package.", Src: "modules/pip.py upgrade_available", Fn: upgradeAvailable,
		Args: []fun.Arg{
			{Name: "pkg", Type: fun.Str, Required: true, Doc: "name of the package"},
		},
		Shared: [][]fun.Arg{whereArgs},
	},
	{
		Name: "version", Doc: "Return the version of pip.", Src: "modules/pip.py version", Fn: version,
		Args: []fun.Arg{
			{Name: "bin_env", Type: fun.Path, Doc: "a virtualenv, or the path of a Python or a pip; default: the python3 of the system"},
			{Name: "cwd", Type: fun.Path, Doc: "working directory"},
			{Name: "user", Type: fun.Str, Doc: "account that runs pip"},
		},
	},
}
