package apache

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/apache"
)

func rig() (*calltest.Rig, *host.Fake) {
	h := host.NewFake()
	for _, p := range []string{"apache2ctl", "a2ensite", "a2enconf", "htpasswd"} {
		h.PutFile("/usr/bin/"+p, "", 0o755)
	}
	h.PutDir("/etc/apache2/sites-available", 0o755)
	h.PutLink("/etc/apache2/mods-enabled/status.load", "../mods-available/status.load")
	h.PutLink("/etc/apache2/sites-enabled/000-default.conf", "../sites-available/000-default.conf")
	h.PutFile("/etc/apache2/conf-enabled/file.conf", "", 0o644)
	h.OnCommand("a2*", host.Output{})
	h.OnCommand("a2* none", host.Output{Status: 1})
	h.OnCommand("a2dismod status", host.Output{Status: 1})
	h.OnCommand("apache2ctl -v", host.Output{Stdout: []byte("Server version: Apache/2.4.57 (Debian)\nServer built:   x\n")})
	h.OnCommand("apache2ctl -V", host.Output{Stdout: []byte("Server version: Apache/2.4.57 (Debian)\nServer MPM:     event\n -D APR_HAS_SENDFILE\n -D HTTPD_ROOT=\"/etc/apache2\"\n")})
	h.OnCommand("apache2ctl -M", host.Output{Stdout: []byte("Loaded Modules:\n core_module (static)\n alias_module (shared)\n")})
	h.OnCommand("apache2ctl -l", host.Output{Stdout: []byte("Compiled in modules:\n  core.c\n  mod_so.c\n")})
	h.OnCommand("apache2ctl -L", host.Output{Stdout: []byte("<Directory (core.c)\n\tContainer for directives\n\tAllowed in *.conf\nx\n")})
	h.OnCommand("apache2ctl -S", host.Output{Stdout: []byte("VirtualHost configuration:\n*:80 is a NameVirtualHost\n default server a.example (/etc/a.conf:1)\n port 80 namevhost b.example (/etc/b.conf:1)\n port\n")})
	h.OnCommand("apache2ctl -k restart", host.Output{})
	h.OnCommand("apache2ctl configtest", host.Output{Stderr: []byte("Syntax OK\n")})
	h.OnCommand("htpasswd *", host.Output{Stderr: []byte("Adding password for user larry\n")})
	return calltest.New(h,
		fun.Entry{Kind: fun.Exec, Name: "deb_apache", Virtual: "apache", Load: apache.Debian},
		fun.Entry{Kind: fun.Exec, Name: "apache", Virtual: "apache", Load: apache.Module},
		fun.Entry{Kind: fun.State, Name: "apache", Load: States},
		fun.Entry{Kind: fun.State, Name: "apache_conf", Load: Conf},
		fun.Entry{Kind: fun.State, Name: "apache_module", Load: Modules},
		fun.Entry{Kind: fun.State, Name: "apache_site", Load: Sites}), h
}

func TestStates(t *testing.T) {
	const vhost = "{name: /etc/apache2/sites-available/w.conf, config: [{VirtualHost: {this: '*:80', ServerName: w, Timeout: 5, ErrorDocument: [404 /a, 500 /b], Directory: {this: /w, Order: [x]}}}, {Listen: 81}, {Location: [{this: /s}, {Require: local}]}]}"
	const text = "<VirtualHost *:80>\\nServerName w\\nTimeout 5\\nErrorDocument 404 /a\\nErrorDocument 500 /b\\n\\n<Directory /w>\\nOrder x\\n\\n</Directory>\\n\\n</VirtualHost>\\n\\nListen 81\\n<Location /s>\\nRequire local\\n</Location>\\n"
	r, h := rig()
	r.Steps(t, []calltest.Step{
		{"state apache_module.enabled {name: status}", "True: status already enabled. {}"},
		{"test apache_module.enabled {name: rewrite}", "None: Apache module rewrite is set to be enabled. {'old': None, 'new': 'rewrite'}"},
		{"state apache_module.enabled {name: rewrite}", "True:  {'old': None, 'new': 'rewrite'}"},
		{"state apache_module.enabled {name: none}", "False: Failed to enable none Apache module (Mod none Not found) {}"},
		{"state apache_module.disabled {name: status}", "False: Failed to disable status Apache module {}"},
		{"state apache_module.disabled {name: rewrite}", "True: rewrite already disabled. {}"},
		{"state apache_site.enabled {name: default}", "True: default already enabled. {}"},
		{"test apache_site.disabled {name: default}", "None: Apache site default is set to be disabled. {'old': 'default', 'new': None}"},
		{"state apache_site.disabled {name: 000-default.conf}", "True:  {'old': '000-default.conf', 'new': None}"},
		{"state apache_site.enabled {name: none}", "False: Failed to enable none Apache site (Site none Not found) {}"},
		{"state apache_conf.enabled {name: file}", "True:  {'old': None, 'new': 'file'}"},
		{"state apache_conf.disabled {name: file}", "True: file already disabled. {}"},
		{"state apache_conf.enabled {name: -x}", "error: invalid name: \"-x\""},
		{"test apache.configfile " + vhost, "None: Configuration will update. {'old': '', 'new': '" + text + "'}"},
		{"state apache.configfile " + vhost, "True: Successfully created configuration. {'old': '', 'new': '" + text + "'}"},
		{"state apache.configfile " + vhost, "True: Configuration is up to date. {}"},
		{"state apache.configfile {name: /x, config: [{Directory: {Order: x}}]}", "error: Apache section container \"<Directory>\" expects attribute. Specify it using key \"this\"."},
		{"call apache.version []", "'Apache/2.4.57 (Debian)'"},
		{"call apache.fullversion []", "{'compiled_with': ['APR_HAS_SENDFILE', 'HTTPD_ROOT=\"/etc/apache2\"'], 'server_version': 'Apache/2.4.57 (Debian)', 'server_mpm': 'event'}"},
		{"call apache.modules []", "{'static': ['core_module'], 'shared': ['alias_module']}"},
		{"call apache.servermods []", "['core.c', 'mod_so.c']"},
		{"call apache.directives []", "{'<Directory (core.c)': 'Container for directives\\nAllowed in *.conf', 'x': ''}"},
		{"call apache.vhosts []", "{'*:80': {'default': {'vhost': 'a.example', 'conf': '/etc/a.conf:1'}, 'b.example': {'vhost': 'b.example', 'conf': '/etc/b.conf:1', 'port': '80'}}}"},
		{"call apache.signal [restart]", "'Command: \"apache2ctl -k restart\" completed successfully!'"},
		{"call apache.signal [configtest]", "'Syntax OK'"},
		{"call apache.signal [nonsense]", "None"},
		{"call apache.a2ensite [w]", "{'Name': 'Apache2 Enable Site', 'Site': 'w', 'Status': 'Site w enabled'}"},
		{"call apache.a2dissite [none]", "{'Name': 'Apache2 Disable Site', 'Site': 'none', 'Status': 1}"},
		{"call apache.check_mod_enabled [status]", "True"},
		{"call apache.check_mod_enabled [status.conf]", "False"},
		{"call apache.userdel [/etc/none, x]", "'Error: The specified htpasswd file does not exist'"},
	})
	if got := r.Fn(t, "apache.useradd", "[/etc/pw, larry, secret, B]"); !strings.HasSuffix(got, "'retcode': 0, 'stdout': '', 'stderr': 'Adding password for user larry'}") {
		t.Errorf("useradd = %s", got)
	}
	calls := h.Calls()
	if argv := calls[len(calls)-1].Argv; len(argv) != 4 || argv[1] != "-iBc" {
		t.Errorf("useradd ran %q", argv)
	}
}
