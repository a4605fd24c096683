package selinux_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	selinuxmod "brine/modules/selinux"
	"brine/states/selinux"
)

const (
	fcontexts = "SELinux fcontext    type     Context\n\n" +
		"/srv/web(/.*)?      all files          system_u:object_r:var_t:s0 \n" +
		"/srv/web(/.*)?      directory          system_u:object_r:dir_t:s0 \n" +
		"/srv/x = /srv/web\n"
	portList = "SELinux Port Type   Proto   Port Number\n\nhttp_port_t      tcp      8181, 80, 9000-9010\nhttp_port_t      udp      80\n"
)

// machine returns a machine with SELinux whose tools remember what they did.
func machine() *host.Fake {
	h := host.NewFake()
	for _, p := range []string{"semanage", "setsebool", "semodule", "restorecon", "setenforce"} {
		h.PutExe("/usr/sbin/" + p)
	}
	h.PutFile("/sys/fs/selinux/enforce", "0", 0o644)
	h.PutFile("/etc/selinux/config", "# SELINUX= is\nSELINUX=permissive\nSELINUXTYPE=targeted\n", 0o644)
	local, ports, mods, bools := "", portList, "100 web pp\n100 old pp disabled\n", "(off  ,  off)"
	wouldRelabel := "Would relabel /srv/a b from u:r:old_t:s0 to u:r:new_t:s0:c1\n"
	h.Handle(func(host.Cmd) bool { return true }, func(_ context.Context, c host.Cmd) (host.Output, error) {
		line := strings.Join(c.Argv, " ")
		out := ""
		switch {
		case strings.Contains(line, "NOSUCH"):
			return host.Output{Status: 1, Stderr: []byte("ValueError: no\n")}, nil
		case line == "semanage fcontext -l":
			out = fcontexts + local
		case strings.HasPrefix(line, "semanage fcontext --add"):
			local = "/srv/web(/.*)?      all files          system_u:object_r:web_t:s0 \n"
		case strings.HasPrefix(line, "semanage fcontext --delete"):
			local = "gone"
		case line == "semanage port -l":
			out = ports
		case strings.HasPrefix(line, "semanage port --add"):
			ports = strings.Replace(ports, "8181", "8282, 8181", 1)
		case strings.HasPrefix(line, "semanage port --delete"):
			ports = strings.Replace(ports, "8282, ", "", 1)
		case line == "semanage boolean -l":
			out = "SELinux boolean   State  Default Description\n\nhttpd_net    " + bools + "  Allow httpd net\n"
		case line == "setsebool -P httpd_net on":
			bools = "(on   ,   on)"
		case line == "semodule -h":
			out = "  -l,--list-modules=[KIND]\n      KIND:\n        full      list all modules\n"
		case line == "semodule -lfull":
			out = mods
		case line == "semodule -d web":
			mods = strings.Replace(mods, "web pp", "web pp disabled", 1)
		case line == "semodule -i /m/new.pp":
			mods += "400 new pp\n"
		case line == "semodule -r new":
			mods = strings.Replace(mods, "400 new pp\n", "", 1)
		case strings.HasPrefix(line, "restorecon -n -v"):
			out = wouldRelabel
		case strings.HasPrefix(line, "restorecon -v -F"):
			wouldRelabel = ""
		case c.Argv[0] == "setenforce":
			h.PutFile("/sys/fs/selinux/enforce", c.Argv[1], 0o644)
		}
		return host.Output{Stdout: []byte(out)}, nil
	})
	return h
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "selinux", Load: selinuxmod.Module}, fun.Entry{Kind: fun.State, Name: "selinux", Load: selinux.States})
}

func TestStates(t *testing.T) {
	t.Parallel()
	h := machine()
	r := rig(h)
	r.Steps(t, []calltest.Step{
		{"test selinux.mode {name: enforcing}", "None: SELinux mode is set to be changed to Enforcing {'old': 'Permissive', 'new': 'Enforcing'}"},
		{"state selinux.mode {name: enforcing}", "True: SELinux has been set to Enforcing mode {'old': 'Permissive', 'new': 'Enforcing'}"},
		{"state selinux.mode {name: enforcing}", "True: SELinux is already in Enforcing mode {}"},
		{"state selinux.mode {name: disabled}", "True: SELinux will be in Disabled mode after a reboot {'old': 'Enforcing', 'new': 'Disabled'}"},
		{"state selinux.mode {name: disabled}", "True: SELinux will be in Disabled mode after a reboot {}"},
		{"state selinux.mode {name: sometimes}", "False: sometimes is not an accepted mode {}"},
		{"test selinux.boolean {name: httpd_net, value: true, persist: true}", "None: Boolean httpd_net is set to be changed to on {}"},
		{"state selinux.boolean {name: httpd_net, value: true, persist: true}", "True: Boolean httpd_net has been set to on {'State': {'old': 'off', 'new': 'on'}, 'Default': {'old': 'off', 'new': 'on'}}"},
		{"state selinux.boolean {name: httpd_net, value: 'on', persist: true}", "True: Boolean is in the correct state {}"},
		{"state selinux.boolean {name: httpd_net, value: maybe}", "False: maybe is not a valid value for the boolean {}"},
		{"state selinux.boolean {name: none, value: 'on'}", "False: Boolean none is not available {}"},
		{"test selinux.module {name: web, module_state: disabled}", "None: Module web is set to be toggled to disabled {}"},
		{"state selinux.module {name: web, module_state: disabled}", "True: Module web has been set to disabled {'web': {'old': 'enabled', 'new': 'disabled'}}"},
		{"state selinux.module {name: web, module_state: false}", "True: Module web is in the desired state {}"},
		{"state selinux.module {name: old, module_state: odd}", "False: odd is not a valid state for the old module. {}"},
		{"state selinux.module {name: old, version: '1'}", "False: Module version is None and does not match the desired version of 1 or you are using semodule >= 2.4 {}"},
		{"state selinux.module {name: x, install: true, remove: true}", "False: Cannot install and remove at the same time {}"},
		{"test selinux.module_install {name: /m/new.pp}", "None: Module /m/new.pp is set to be installed {}"},
		{"state selinux.module {name: new, install: true, source: /m/new.pp}", "True: Module new is in the desired state {'new': {'old': '', 'new': 'installed'}}"},
		{"state selinux.module_install {name: /m/new.pp}", "True: Module /m/new.pp has been installed {}"},
		{"state selinux.module_install {name: NOSUCH}", "False: Failed to install module NOSUCH {}"},
		{"state selinux.module {name: new, remove: true}", "True: Module new has been removed {'new': {'old': 'installed', 'new': ''}}"},
	})
	if got, want := h.Text("/etc/selinux/config"), "# SELINUX= is\nSELINUX=Disabled\nSELINUXTYPE=targeted\n"; got != want {
		t.Errorf("config: %q", got)
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	h := machine()
	rig(h).Steps(t, []calltest.Step{
		{"test selinux.fcontext_policy_present {name: '/srv/web(/.*)?', sel_type: web_t}", `None: SELinux policy for "/srv/web(/.*)?" is set to be added with filetype "all files" and sel_type "web_t". {'old': {'/srv/web(/.*)?': {'sel_type': 'var_t'}}, 'new': {'/srv/web(/.*)?': {'sel_type': 'web_t'}}}`},
		{"state selinux.fcontext_policy_present {name: '/srv/web(/.*)?', sel_type: web_t}", `True:  {'old': {'/srv/web(/.*)?': {'sel_type': 'var_t'}}, 'new': {'/srv/web(/.*)?': {'sel_type': 'web_t'}}}`},
		{"state selinux.fcontext_policy_present {name: '/srv/web(/.*)?', sel_type: web_t}", `True: SELinux policy for "/srv/web(/.*)?" already present with specified filetype "all files" and sel_type "web_t". {}`},
		{"state selinux.fcontext_policy_present {name: '/srv/new', sel_type: NOSUCH, filetype: f}", "False: Error adding new rule: ValueError: no {}"},
		{"test selinux.fcontext_policy_present {name: '/srv/new', sel_type: x_t, filetype: f}", `None: SELinux policy for "/srv/new" is set to be added with filetype "regular file" and sel_type "x_t". {'old': {}, 'new': {'/srv/new': {'filetype': 'regular file', 'sel_type': 'x_t'}}}`},
		{"state selinux.fcontext_policy_absent {name: '/srv/web(/.*)?', sel_type: web_t}", `True:  {'old': {'/srv/web(/.*)?': {'filespec': '/srv/web(/.*)?', 'filetype': 'all files', 'sel_user': 'system_u', 'sel_role': 'object_r', 'sel_type': 'web_t', 'sel_level': 's0'}}, 'new': {}}`},
		{"state selinux.fcontext_policy_absent {name: '/srv/web(/.*)?', sel_type: web_t}", `True: SELinux policy for "/srv/web(/.*)?" already absent with specified filetype "a" and sel_type "web_t". {}`},
		{"test selinux.fcontext_policy_applied {name: /srv, recursive: true}", "None:  {'/srv/a b': {'old': {'sel_type': 'old_t', 'sel_level': 's0'}, 'new': {'sel_type': 'new_t', 'sel_level': 's0:c1'}}}"},
		{"state selinux.fcontext_policy_applied {name: /srv, recursive: true}", "True:  {'/srv/a b': {'old': {'sel_type': 'old_t', 'sel_level': 's0'}, 'new': {'sel_type': 'new_t', 'sel_level': 's0:c1'}}}"},
		{"state selinux.fcontext_policy_applied {name: /srv}", `True: SElinux policies are already applied for filespec "/srv" {}`},
		{"test selinux.port_policy_present {name: tcp/8282, sel_type: http_port_t}", "None:  {'old': None, 'new': {'sel_type': 'http_port_t', 'protocol': 'tcp', 'port': '8282'}}"},
		{"state selinux.port_policy_present {name: web, protocol: tcp, port: 8282, sel_type: http_port_t}", "True:  {'old': None, 'new': {'sel_type': 'http_port_t', 'protocol': 'tcp', 'port': '8282, 8181, 80, 9000-9010'}}"},
		{"state selinux.port_policy_present {name: tcp/8282, sel_type: http_port_t}", `True: SELinux policy for "tcp/8282" already present with specified sel_type "http_port_t", protocol "None" and port "None". {}`},
		{"state selinux.port_policy_absent {name: tcp/8282}", "True:  {'old': {'sel_type': 'http_port_t', 'protocol': 'tcp', 'port': '8282, 8181, 80, 9000-9010'}, 'new': None}"},
		{"state selinux.port_policy_absent {name: tcp/8282}", `True: SELinux policy for "tcp/8282" already absent with specified sel_type "None", protocol "None" and port "None". {}`},
		{"state selinux.port_policy_present {name: web, sel_type: x}", `error: Invalid name "web" format and protocol and port not provided or invalid: "" "".`},
		{"call selinux.fcontext_get_policy ['/srv/web(/.*)?', d]", "{'filespec': '/srv/web(/.*)?', 'filetype': 'directory', 'sel_user': 'system_u', 'sel_role': 'object_r', 'sel_type': 'dir_t', 'sel_level': 's0'}"},
		{"call selinux.fcontext_get_policy [/srv/x]", "None"},
		{"call selinux.port_get_policy [tcp/80]", "{'sel_type': 'http_port_t', 'protocol': 'tcp', 'port': '8181, 80, 9000-9010'}"},
		{"call selinux.port_get_policy [tcp/8]", "None"},
		{"call selinux.filetype_id_to_string [p]", "'named pipe'"},
		{"call selinux.filetype_id_to_string [x]", "error: Invalid filetype given: x"},
		{"call selinux.getenforce []", "'Permissive'"},
		{"call selinux.getconfig []", "'Permissive'"},
		{"call selinux.setenforce [1]", "'Enforcing'"},
		{"call selinux.setenforce [odd]", "'Invalid mode odd'"},
		{"call selinux.selinux_fs_path []", "'/sys/fs/selinux'"},
		{"call selinux.list_semod []", "{'web': {'Enabled': True, 'Version': None}, 'old': {'Enabled': False, 'Version': None}}"},
		{"call selinux.getsemod [none]", "{}"},
		{"call selinux.getsebool [httpd_net]", "{'State': 'off', 'Default': 'off', 'Description': 'Allow httpd net'}"},
		{"call selinux.setsebools {pairs: {httpd_net: 1, b: 0}}", "True"},
		{"call selinux.setsebool [-P, 'on']", "error: invalid boolean: '-P'"},
		{"call selinux.setsemod [web, odd]", "error: invalid state of a module: 'odd': it is Enabled or Disabled"},
	})
	if got := calltest.Commands(h); !strings.Contains(got, "setsebool httpd_net=1 b=0") || !strings.Contains(got, "semanage port --delete --proto tcp 8282") {
		t.Errorf("commands: %s", got)
	}
}

// Old versions of the tools print other texts.
func TestOldTools(t *testing.T) {
	t.Parallel()
	changes, err := selinuxmod.Relabelled("restorecon reset /srv/a context u:r:a_t:s0->u:r:b_t:s0\n")
	if err != nil || changes.Len() != 1 {
		t.Errorf("%v, %v", changes, err)
	}
	if _, err := selinuxmod.Relabelled("hm"); err == nil {
		t.Error("an unknown text has no error")
	}
}
