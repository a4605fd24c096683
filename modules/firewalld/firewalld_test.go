package firewalld_test

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/firewalld"
)

const zone = "public (active)\n  target: default\n  ports: 80/tcp 443/tcp\n  masquerade: no\n  rich rules: \n\trule a\n\trule b\n\n"

func TestFunctions(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutExe("/usr/bin/firewall-cmd")
	out := func(pattern, text string) {
		h.OnCommand("firewall-cmd "+pattern, host.Output{Stdout: []byte(text + "\n")})
	}
	out("*", "success")
	out("--version", "1.3.3")
	out("--get-default-zone", "public")
	out("*--list-all --permanent", zone)
	out("--list-all-zones", zone+"work\n  masquerade: yes\n")
	out("--get-zones --permanent", "public work")
	out("--get-services --permanent", "ssh http")
	out("--get-icmptypes", "echo-reply echo-request")
	out("--zone=work --list-icmp-blocks", "echo-reply")
	out("--zone=work --list-forward-ports --permanent", "port=22:proto=tcp:toport=2222:toaddr=fd00::1")
	out("--zone=work --list-rich-rules --permanent", "rule a\nrule b")
	h.OnCommand("firewall-cmd --zone=none *", host.Output{Status: 112, Stderr: []byte("Error: INVALID_ZONE: none\n")})
	calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "firewalld", Load: firewalld.Module}).Steps(t, []calltest.Step{
		{"call firewalld.version []", "'1.3.3'"},
		{"call firewalld.reload_rules []", "'success'"},
		{"call firewalld.default_zone []", "'public'"},
		{"call firewalld.list_all []", "{'public (active)': {'target': ['default'], 'ports': ['80/tcp 443/tcp'], 'masquerade': ['no'], 'rich rules': ['', 'rule a', 'rule b']}}"},
		{"call firewalld.list_zones [false]", "{'public (active)': {'target': ['default'], 'ports': ['80/tcp 443/tcp'], 'masquerade': ['no'], 'rich rules': ['', 'rule a', 'rule b']}, 'work': {'masquerade': ['yes']}}"},
		{"call firewalld.get_zones []", "['public', 'work']"},
		{"call firewalld.new_zone [x]", "'success'"},
		{"call firewalld.delete_zone [x, false]", "'success'"},
		{"call firewalld.set_default_zone [work]", "'success'"},
		{"call firewalld.new_service [x]", "'success'"},
		{"call firewalld.delete_service [x]", "'success'"},
		{"call firewalld.add_service [ssh]", "'success'"},
		{"call firewalld.remove_service [ssh, work, false]", "'success'"},
		{"call firewalld.add_service_port [ssh, 22/tcp]", "'success'"},
		{"call firewalld.remove_service_port [none, 22/tcp]", "error: The service does not exist."},
		{"call firewalld.get_masquerade [public]", "False"},
		{"call firewalld.add_port {zone: public, port: 80/tcp, force_masquerade: true}", "'success'"},
		{"call firewalld.add_port_fwd [work, 80, 8080]", "'success'"},
		{"call firewalld.remove_port_fwd [work, 80, 8080, udp, 10.0.0.1]", "'success'"},
		{"call firewalld.list_port_fwd [work]", "[{'Source port': '22', 'Protocol': 'tcp', 'Destination port': '2222', 'Destination address': 'fd00::1'}]"},
		{"call firewalld.block_icmp [work, echo-reply, false]", "'success'"},
		{"call firewalld.block_icmp [work, bogus, false]", "False"},
		{"call firewalld.allow_icmp [work, echo-reply, false]", "'success'"},
		{"call firewalld.get_rich_rules [work]", "['rule a', 'rule b']"},
		{"call firewalld.add_rich_rule [work, rule c d]", "'success'"},
		{"call firewalld.list_ports [none]", "error: firewall-cmd failed: Error: INVALID_ZONE: none"},
		{`call firewalld.add_rich_rule [work, "a\nb"]`, `error: invalid option of firewall-cmd: '--add-rich-rule=a\nb'`},
	})
	got := calltest.Commands(h) + ";"
	for _, want := range []string{
		"firewall-cmd --new-zone=x --permanent; firewall-cmd --reload; firewall-cmd --delete-zone=x --permanent; firewall-cmd --set-default",
		"firewall-cmd --add-service=ssh --permanent;",
		"firewall-cmd --zone=work --remove-service=ssh;",
		"firewall-cmd --permanent --service=ssh --add-port=22/tcp;",
		"firewall-cmd --zone=public --add-masquerade --permanent; firewall-cmd --zone=public --add-port=80/tcp --permanent;",
		"firewall-cmd --zone=work --add-forward-port=port=80:proto=tcp:toport=8080:toaddr= --permanent;",
		"firewall-cmd --zone=work --remove-forward-port=port=80:proto=udp:toport=8080:toaddr=10.0.0.1 --permanent;",
		"firewall-cmd --zone=work --remove-icmp-block=echo-reply;",
		"firewall-cmd --zone=work --add-rich-rule=rule c d --permanent;",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q did not run: %s", want, got)
		}
	}
}
