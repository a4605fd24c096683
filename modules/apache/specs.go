package apache

import "brine/internal/core/fun"

type siteArg struct {
	_    fun.Arguments
	Site string `arg:"site,required" doc:"file in /etc/apache2/sites-available, with or without .conf"`
}

type modArg struct {
	_   fun.Arguments
	Mod string `arg:"mod,required" doc:"module in /etc/apache2/mods-available"`
}

type confArg struct {
	_    fun.Arguments
	Conf string `arg:"conf,required" doc:"file in /etc/apache2/conf-available, with or without .conf"`
}

type fileArg struct {
	_      fun.Arguments
	Pwfile string `arg:"pwfile,required,path" doc:"file of htpasswd"`
}

type userArg struct {
	_    fun.Arguments
	User string `arg:"user,required" doc:"name of the user"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "config", Doc: "Return a configuration as text, and write it to a file.", Src: "modules/apache.py config", Do: config,
	},
	{Name: "directives", Doc: "Return the directives that the server knows.", Src: "modules/apache.py directives", Do: directives},
	{Name: "fullversion", Doc: "Return the version of the server and how it was built.", Src: "modules/apache.py fullversion", Do: fullversion},
	{Name: "modules", Doc: "Return the modules that are loaded: static and shared.", Src: "modules/apache.py modules", Do: modules},
	{
		Name: "server_status", Doc: "Return what mod_status tells. Its URL is configured by apache.server-status.", Src: "modules/apache.py server_status", Do: serverStatus,
	},
	{Name: "servermods", Doc: "Return the modules that are compiled in.", Src: "modules/apache.py servermods", Do: servermods},
	{
		Name: "signal", Doc: "Send a signal to the server.", Src: "modules/apache.py signal", Do: signal,
	},
	{
		Name: "useradd", Doc: "Set the password of a user in a file of htpasswd.", Src: "modules/apache.py useradd", Do: useradd,
	},
	{Name: "userdel", Doc: "Remove a user from a file of htpasswd.", Src: "modules/apache.py userdel", Do: userdel},
	{Name: "version", Doc: "Return the version of the server.", Src: "modules/apache.py version", Do: version},
	{Name: "vhosts", Doc: "Return the virtual hosts.", Src: "modules/apache.py vhosts", Do: vhosts},
}

// debianSpecs are the functions that only Debian has, alphabetically.
var debianSpecs = []fun.Spec{
	{Name: "a2disconf", Doc: "Disable a configuration.", Src: "modules/deb_apache.py a2disconf", Do: a2disconf},
	{Name: "a2dismod", Doc: "Disable a module.", Src: "modules/deb_apache.py a2dismod", Do: a2dismod},
	{Name: "a2dissite", Doc: "Disable a site.", Src: "modules/deb_apache.py a2dissite", Do: a2dissite},
	{Name: "a2enconf", Doc: "Enable a configuration.", Src: "modules/deb_apache.py a2enconf", Do: a2enconf},
	{Name: "a2enmod", Doc: "Enable a module.", Src: "modules/deb_apache.py a2enmod", Do: a2enmod},
	{Name: "a2ensite", Doc: "Enable a site.", Src: "modules/deb_apache.py a2ensite", Do: a2ensite},
	{Name: "check_conf_enabled", Doc: "Report whether a configuration is enabled.", Src: "modules/deb_apache.py check_conf_enabled", Do: checkConf},
	{Name: "check_mod_enabled", Doc: "Report whether a module is enabled.", Src: "modules/deb_apache.py check_mod_enabled", Do: checkMod},
	{Name: "check_site_enabled", Doc: "Report whether a site is enabled.", Src: "modules/deb_apache.py check_site_enabled", Do: checkSite},
}
