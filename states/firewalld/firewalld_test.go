package firewalld_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/states/firewalld"
)

// machine returns a machine whose firewall-cmd keeps lists: "--zone=work ports" and
// so on.
func machine() *host.Fake {
	h := host.NewFake()
	h.PutExe("/usr/bin/firewall-cmd")
	lists := map[string][]string{
		"zones": {"public"}, "services": {"ssh"}, "icmptypes": {"echo-reply"},
		"--zone=public ports": {"22/tcp"}, "--zone=public rich-rules": {`rule service name="ssh" accept`},
		"--service=ssh ports": {"22/tcp"},
	}
	masquerade, def := map[string]string{"--zone=public ": "yes"}, "public"
	h.HandleCommand("firewall-cmd *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		scope, option := "", c.Argv[1]
		if strings.HasPrefix(option, "--zone=") || strings.HasPrefix(option, "--service=") {
			scope, option = option+" ", c.Argv[2]
		}
		verb, item, _ := strings.Cut(strings.TrimPrefix(option, "--"), "=")
		action, what, _ := strings.Cut(verb, "-")
		say := func(s string) (host.Output, error) { return host.Output{Stdout: []byte(s + "\n")}, nil }
		switch {
		case verb == "get-default-zone":
			return say(def)
		case verb == "set-default-zone":
			def = item
		case verb == "list-all":
			return say("work\n  masquerade: " + cmp.Or(masquerade[scope], "no"))
		case verb == "add-masquerade":
			masquerade[scope] = "yes"
		case verb == "remove-masquerade":
			masquerade[scope] = "no"
		case strings.Contains(item, "bad"):
			return host.Output{Status: 1, Stderr: []byte("Error: INVALID\n")}, nil
		case action == "list" && (what == "rich-rules" || what == "forward-ports"):
			return say(strings.Join(lists[scope+what], "\n"))
		case action == "list", action == "get":
			return say(strings.Join(lists[scope+what], " "))
		case action == "add", action == "new", action == "change":
			lists[scope+what+"s"] = append(lists[scope+what+"s"], item)
		case action == "remove":
			lists[scope+what+"s"] = slices.DeleteFunc(lists[scope+what+"s"], func(s string) bool { return s == item })
		}
		return say("success")
	})
	return h
}

func TestStates(t *testing.T) {
	t.Parallel()
	h := machine()
	r := calltest.New(h, fun.Entry{Kind: fun.State, Name: "firewalld", Load: firewalld.States})
	const zone = `{name: work, block_icmp: [echo-reply, bogus], default: true, masquerade: true, ports: [80/tcp], port_fwd: ['22:2222:tcp', '23:2323:udp:fd00::1'], services: [ssh], interfaces: [eth1], sources: [10.0.0.0/8], rich_rules: ["rule service name='snmp' port port=\"1\" accept"]}`
	const changes = `{'work': {'old': ['public'], 'new': 'work'}, 'icmp_types': {'old': [], 'new': ['echo-reply']}, 'default': {'old': 'public', 'new': 'work'}, 'masquerade': {'old': '', 'new': 'Masquerading successfully set.'}, 'ports': {'old': [], 'new': ['80/tcp']}, ` +
		`'port_fwd': {'old': [], 'new': [{'Source port': '22', 'Destination port': '2222', 'Protocol': 'tcp', 'Destination address': ''}, {'Source port': '23', 'Destination port': '2323', 'Protocol': 'udp', 'Destination address': 'fd00::1'}]}, ` +
		`'services': {'old': [], 'new': ['ssh']}, 'interfaces': {'old': [], 'new': ['eth1']}, 'sources': {'old': [], 'new': ['10.0.0.0/8']}, 'rich_rules': {'old': [], 'new': ['rule service name="snmp" port port="1" accept']}}`
	if got := r.State(t, "firewalld.present", zone, true); !strings.HasPrefix(got, "None: Configuration for 'work' will change:\ndefault:\n") || !strings.HasSuffix(got, " {}") {
		t.Error(got)
	}
	if got := calltest.Commands(h); strings.Contains(got, "--new") || strings.Contains(got, "--add") || strings.Contains(got, "--reload") {
		t.Errorf("a dry run acts: %s", got)
	}
	r.Steps(t, []calltest.Step{
		{"state firewalld.present " + zone, "True: 'work' was configured. " + changes},
		{"state firewalld.present " + zone, "True: 'work' is already in the desired state. {}"},
		{"state firewalld.present {name: public, masquerade: true, ports: [80/tcp], rich_rules: ['rule service name=ssh accept']}", "True: 'public' was configured. {'ports': {'old': ['22/tcp'], 'new': ['22/tcp', '80/tcp']}}"},
		{"state firewalld.present {name: public, masquerade: true, ports: [80/tcp], prune_ports: true, prune_rich_rules: true}", "True: 'public' was configured. {'ports': {'old': ['22/tcp', '80/tcp'], 'new': ['80/tcp']}, 'rich_rules': {'old': ['rule service name=\"ssh\" accept'], 'new': []}}"},
		{"state firewalld.present {name: public, masquerade: true, ports: [bad/tcp]}", "False: Error: firewall-cmd failed: Error: INVALID {}"},
		{"state firewalld.present {name: public, masquerade: true, port_fwd: ['1']}", "False: Error: invalid port_fwd '1': it is PORT:TOPORT:PROTOCOL or PORT:TOPORT:PROTOCOL:ADDRESS {}"},
		{"test firewalld.service {name: web, ports: [80/tcp]}", "None: Configuration for 'web' will change. {'ports': {'old': [], 'new': ['80/tcp']}}"},
		{"state firewalld.service {name: web, ports: [80/tcp], protocols: [sctp]}", "True: 'web' was configured. {'ports': {'old': [], 'new': ['80/tcp']}, 'protocols': {'old': [], 'new': ['sctp']}}"},
		{"state firewalld.service {name: web, ports: [80/tcp], protocols: [sctp]}", "True: 'web' is already in the desired state. {}"},
		{"state firewalld.service {name: ssh}", "True: 'ssh' was configured. {'ports': {'old': ['22/tcp'], 'new': []}}"},
		{"state firewalld.service {name: bare}", "True: 'bare' was configured. {'service': {'old': None, 'new': 'bare'}}"},
	})
}

// TestPlan tests states on what those before them leave, and runs the same ones on another
// machine: what a plan says of each is what it does.
func TestPlan(t *testing.T) {
	t.Parallel()
	real, planned := machine(), machine()
	over, err := host.NewOverlay(planned)
	if err != nil {
		t.Fatal(err)
	}
	entry := fun.Entry{Kind: fun.State, Name: "firewalld", Load: firewalld.States}
	does, says, leaves := calltest.New(real, entry), calltest.New(over.Looking(), entry), calltest.New(over, entry)
	for _, step := range [][2]string{
		{"present", "{name: work, ports: [80/tcp], services: [ssh], masquerade: true, rich_rules: ['rule service name=ssh accept']}"},
		{"present", "{name: work, ports: [80/tcp], services: [ssh], masquerade: true, rich_rules: ['rule service name=ssh accept']}"},
		{"present", "{name: work, ports: [81/tcp], prune_ports: true}"},
		{"present", "{name: work, ports: [80/tcp], prune_ports: true, masquerade: false}"},
		{"present", "{name: work, default: true, block_icmp: [echo-reply], port_fwd: ['22:2222:tcp'], sources: [10.0.0.0/8]}"},
		{"present", "{name: work, default: true, block_icmp: [echo-reply], port_fwd: ['22:2222:tcp'], sources: [10.0.0.0/8]}"},
		{"present", "{name: public, default: true}"},
		{"present", "{name: public, masquerade: false, ports: [22/tcp]}"},
		{"service", "{name: web, ports: [80/tcp]}"},
		{"service", "{name: web, ports: [80/tcp]}"},
		{"service", "{name: web, ports: [80/tcp], protocols: [sctp]}"},
		{"service", "{name: ssh, ports: [22/tcp]}"},
	} {
		said := says.State(t, "firewalld."+step[0], step[1], true)
		did := does.State(t, "firewalld."+step[0], step[1], false)
		if strings.HasPrefix(said, "None:") == strings.HasSuffix(did, " {}") || !strings.HasPrefix(did, "True:") {
			t.Errorf("%s: the plan says %s, the run %s", step, said, did)
		}
		mod, spec, _ := leaves.Env.Table.Lookup(fun.State, "firewalld."+step[0])
		c, err := leaves.Env.Invoker.Bind(mod, spec, fun.Args{Kw: calltest.YAML(t, step[1]).(*value.Map)})
		if err != nil {
			t.Fatal(err)
		}
		if err := spec.Leaves(t.Context(), c, over); err != nil {
			t.Errorf("%s: %v", step, err)
		}
	}
	if got := calltest.Commands(planned); strings.Contains(got, "--new") || strings.Contains(got, "--add") || strings.Contains(got, "--set") || strings.Contains(got, "--reload") {
		t.Errorf("a plan acts: %s", got)
	}
}
