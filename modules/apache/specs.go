package apache

import "brine/internal/fun"

// Arguments that several functions have.
var (
	siteArg = fun.Arg{Name: "site", Type: fun.Str, Required: true, Doc: "file in /etc/apache2/sites-available, with or without .conf"}
	modArg  = fun.Arg{Name: "mod", Type: fun.Str, Required: true, Doc: "module in /etc/apache2/mods-available"}
	confArg = fun.Arg{Name: "conf", Type: fun.Str, Required: true, Doc: "file in /etc/apache2/conf-available, with or without .conf"}
	fileArg = fun.Arg{Name: "pwfile", Type: fun.Path, Required: true, Doc: "file of htpasswd"}
	userArg = fun.Arg{Name: "user", Type: fun.Str, Required: true, Doc: "name of the user"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "config", Doc: "Return a configuration as text, and write it to a file.", Src: "modules/apache.py config", Fn: config,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "file to write"},
			{Name: "config", Type: fun.List, Required: true, Doc: "directives and sections, a mapping each; the key this is the argument of a section"},
			{Name: "edit", Type: fun.Bool, Default: true, Doc: "write the file"},
		},
	},
	{Name: "directives", Doc: "Return the directives that the server knows.", Src: "modules/apache.py directives", Fn: directives},
	{Name: "fullversion", Doc: "Return the version of the server and how it was built.", Src: "modules/apache.py fullversion", Fn: fullversion},
	{Name: "modules", Doc: "Return the modules that are loaded: static and shared.", Src: "modules/apache.py modules", Fn: modules},
	{
		Name: "server_status", Doc: "Return what mod_status tells. Its URL is configured by apache.server-status.", Src: "modules/apache.py server_status", Fn: serverStatus,
		Args: []fun.Arg{{Name: "profile", Type: fun.Str, Default: "default", Doc: "profile in the configuration"}},
	},
	{Name: "servermods", Doc: "Return the modules that are compiled in.", Src: "modules/apache.py servermods", Fn: servermods},
	{
		Name: "signal", Doc: "Send a signal to the server.", Src: "modules/apache.py signal", Fn: signal,
		Args: []fun.Arg{{Name: "signal", Type: fun.Str, Doc: "start, stop, restart, graceful, graceful-stop, configtest, status or fullstatus"}},
	},
	{
		Name: "useradd", Doc: "Set the password of a user in a file of htpasswd.", Src: "modules/apache.py useradd", Fn: useradd,
		Args: []fun.Arg{
			fileArg, userArg,
			{Name: "password", Type: fun.Str, Required: true, Doc: "the password", Secret: true},
			{Name: "opts", Type: fun.Str, Default: "", Doc: "options of htpasswd: m for MD5, B for bcrypt, s for SHA"},
		},
	},
	{Name: "userdel", Doc: "Remove a user from a file of htpasswd.", Src: "modules/apache.py userdel", Fn: userdel, Args: []fun.Arg{fileArg, userArg}},
	{Name: "version", Doc: "Return the version of the server.", Src: "modules/apache.py version", Fn: version},
	{Name: "vhosts", Doc: "Return the virtual hosts.", Src: "modules/apache.py vhosts", Fn: vhosts},
}

// debianSpecs are the functions that only Debian has, alphabetically.
var debianSpecs = []fun.Spec{
	{Name: "a2disconf", Doc: "Disable a configuration.", Src: "modules/deb_apache.py a2disconf", Fn: a2disconf, Args: []fun.Arg{confArg}},
	{Name: "a2dismod", Doc: "Disable a module.", Src: "modules/deb_apache.py a2dismod", Fn: a2dismod, Args: []fun.Arg{modArg}},
	{Name: "a2dissite", Doc: "Disable a site.", Src: "modules/deb_apache.py a2dissite", Fn: a2dissite, Args: []fun.Arg{siteArg}},
	{Name: "a2enconf", Doc: "Enable a configuration.", Src: "modules/deb_apache.py a2enconf", Fn: a2enconf, Args: []fun.Arg{confArg}},
	{Name: "a2enmod", Doc: "Enable a module.", Src: "modules/deb_apache.py a2enmod", Fn: a2enmod, Args: []fun.Arg{modArg}},
	{Name: "a2ensite", Doc: "Enable a site.", Src: "modules/deb_apache.py a2ensite", Fn: a2ensite, Args: []fun.Arg{siteArg}},
	{Name: "check_conf_enabled", Doc: "Report whether a configuration is enabled.", Src: "modules/deb_apache.py check_conf_enabled", Fn: checkConf, Args: []fun.Arg{confArg}},
	{Name: "check_mod_enabled", Doc: "Report whether a module is enabled.", Src: "modules/deb_apache.py check_mod_enabled", Fn: checkMod, Args: []fun.Arg{modArg}},
	{Name: "check_site_enabled", Doc: "Report whether a site is enabled.", Src: "modules/deb_apache.py check_site_enabled", Fn: checkSite, Args: []fun.Arg{siteArg}},
}
