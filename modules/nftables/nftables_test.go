package nftables_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/nftables"
)

const ruleset = `{"nftables": [{"metainfo": {"version": "1.0.6"}},
{"table": {"family": "ip", "name": "t", "handle": 1}},
{"chain": {"family": "ip", "table": "t", "name": "in", "handle": 1, "type": "filter", "hook": "input", "prio": 0, "policy": "accept"}},
{"chain": {"family": "ip", "table": "t", "name": "plain", "handle": 2}}]}`

// machine returns a machine whose nft has the table t with the chains in and plain.
func machine() *host.Fake {
	h := host.NewFake()
	h.PutExe("/usr/sbin/nft")
	out := func(s string) host.Output { return host.Output{Stdout: []byte(s)} }
	h.OnCommand("nft *", host.Output{})
	h.OnCommand("nft --version", out("nftables v1.0.6 (Lester Gooch #5)\n"))
	h.OnCommand("nft list tables ip", out("table ip t\ntable ip t22\n"))
	h.OnCommand("nft list tables ip6", out(""))
	h.OnCommand("nft list table ip t", out("table ip t {\n\tchain in {\n\t}\n\tchain plain {\n\t}\n}\n"))
	h.OnCommand("nft --json * list tables ip", out(`{"nftables": [{"metainfo": {}}, {"table": {"family": "ip", "name": "t", "handle": 1}}]}`))
	h.OnCommand("nft --json * list ruleset ip", out(ruleset))
	h.OnCommand("nft --numeric * list table ip t", out("table ip t {\n}\n"))
	h.OnCommand("nft --handle *list chain ip t in", out("table ip t {\n\tchain in { # handle 1\n\t\ttcp dport 22 accept # handle 4\n\t}\n}\n"))
	h.HandleCommand("nft --check *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		switch rule := c.Argv[len(c.Argv)-1]; {
		case strings.HasSuffix(rule, " bad"):
			return host.Output{Status: 1, Stderr: []byte("Error: syntax error\n")}, nil
		case strings.HasSuffix(rule, "{ 80 } accept"):
			return out("ip t in \n  [ cmp eq reg 1 0x00005000 ]\n\n"), nil
		}
		return out("ip t in \n  [ other ]\n\n"), nil
	})
	h.OnCommand("nft --handle --debug=netlink list chain ip t in", out("ip t in 7\n  [ cmp eq reg 1 0x00005000 ]\n\ntable ip t {\n}\n"))
	h.OnCommand("nft add rule * bad", host.Output{Status: 1, Stderr: []byte("Error: syntax error\n")})
	return h
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "nftables", Load: nftables.Module})
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	h := machine()
	rig(h).Steps(t, []calltest.Step{
		{"call nftables.version []", "'v1.0.6'"},
		{"call nftables.check_table [t]", "{'comment': 'Table t in family ipv4 exists', 'result': True}"},
		{"call nftables.check_table [t2]", "{'comment': 'Table t2 in family ipv4 does not exist', 'result': False}"},
		{"call nftables.check_table []", "{'comment': 'Table needs to be specified', 'result': False}"},
		{"call nftables.check_table [t, ipv6]", "{'comment': 'Table t in family ipv6 does not exist', 'result': False}"},
		{"call nftables.check_table ['t; flush ruleset']", "error: invalid name of a table: 't; flush ruleset'"},
		{"call nftables.check_chain [t, in]", "{'comment': 'Chain in in table t in family ipv4 exists', 'result': True}"},
		{"call nftables.check_chain [t, i]", "{'comment': 'Chain i in table t in family ipv4 does not exist', 'result': False}"},
		{"call nftables.check [t, in, tcp dport 22 accept]", "{'comment': 'Rule tcp dport 22 accept in chain in in table t in family ipv4 exists', 'result': True}"},
		{"call nftables.check [t, in, 'tcp dport { 80 } accept']", "{'comment': 'Rule tcp dport { 80 } accept in chain in in table t in family ipv4 exists', 'result': True}"},
		{"call nftables.check [t, in, tcp dport 23 accept]", "{'comment': 'Rule tcp dport 23 accept in chain in in table t in family ipv4 does not exist', 'result': False}"},
		{"call nftables.check [t, in]", "{'comment': 'Rule needs to be specified', 'result': False}"},
		{"call nftables.get_rule_handle [t, in, 'tcp dport { 80 } accept']", "{'result': True, 'handle': '7'}"},
		{"call nftables.new_table [t]", "{'comment': 'Table t in family ipv4 exists', 'result': True}"},
		{"call nftables.new_table [x]", "{'comment': 'Table x in family ipv4 created', 'result': True}"},
		{"call nftables.delete_table [t]", "{'comment': 'Table t in family ipv4 deleted', 'result': True}"},
		{"call nftables.new_chain [t, in]", "{'comment': 'Chain in in table t in family ipv4 already exists', 'result': False}"},
		{"call nftables.new_chain {table: t, chain: x, hook: input}", "{'comment': 'Table_type, hook, and priority required.', 'result': False}"},
		{"call nftables.new_chain [t, x, filter, input, 0]", "{'comment': 'Chain x in table t in family ipv4 created', 'result': True}"},
		{"call nftables.new_chain [t, x, filter, 'input; }', 0]", "error: invalid hook: 'input; }'"},
		{"call nftables.delete_chain [t, in]", "{'comment': 'Chain in in table t in family ipv4 deleted', 'result': True}"},
		{"call nftables.append [t, in, 'tcp dport { 80 } accept']", "{'comment': 'Rule tcp dport { 80 } accept chain in in table t in family ipv4 already exists', 'result': False}"},
		{"call nftables.append [t, in, drop]", `{'comment': 'Added rule "drop" chain in in table t in family ipv4.', 'result': True}`},
		{"call nftables.append [t, in, bad]", `{'comment': 'Failed to add rule "bad" chain in in table t in family ipv4.', 'result': False}`},
		{"call nftables.insert [t, in, 7, drop]", `{'comment': 'Added rule "drop" chain in in table t in family ipv4.', 'result': True}`},
		{"call nftables.delete {table: t, chain: in, rule: 'tcp dport { 80 } accept'}", `{'comment': 'Deleted rule "tcp dport { 80 } accept" in chain in in table t in family ipv4.', 'result': True}`},
		{"call nftables.delete {table: t, chain: in, rule: drop}", "{'comment': 'Rule drop chain in in table t in family ipv4 does not exist', 'result': False}"},
		{"call nftables.delete {table: t, chain: in, position: 4}", `{'comment': 'Deleted rule "handle 4" in chain in in table t in family ipv4.', 'result': True}`},
		{"call nftables.delete {table: t, chain: in, position: 1}", "{'comment': 'Rule handle 1 chain in in table t in family ipv4 does not exist', 'result': False}"},
		{"call nftables.flush [t, in]", "{'comment': 'Flushed rules from chain in in table t in family ipv4.', 'result': True}"},
		{"call nftables.flush [none]", "{'comment': 'Table none in family ipv4 does not exist', 'result': False}"},
		{"call nftables.get_policy [t, in]", "'accept'"},
		{"call nftables.get_policy [t, plain]", "None"},
		{"call nftables.set_policy [t, in, drop]", "True"},
		{"call nftables.set_policy [t, plain, drop]", "False"},
		{"call nftables.set_policy [t, in, 'drop; }']", "error: invalid policy: 'drop; }'"},
		{"call nftables.list_tables []", "[{'family': 'ip', 'name': 't', 'handle': 1}]"},
		{"call nftables.get_rules []", `['table ip t {\n}']`},
		{"call nftables.save []", `'#! nft -f\n\ntable ip t {\n}\n'`},
		{"call nftables.get_saved_rules []", `['table ip t {\n', '}\n']`},
	})
	for _, want := range []string{
		"nft add chain ip t x { type filter hook input priority 0; }",
		"nft insert rule ip t in position 7 drop",
		"nft delete rule ip t in handle 7",
		"nft add chain ip t in { type filter hook input priority 0; policy drop; }",
	} {
		if got := calltest.Commands(h); !strings.Contains(got, want) {
			t.Errorf("%q did not run: %s", want, got)
		}
	}
}

func TestBuildRule(t *testing.T) {
	t.Parallel()
	r := rig(machine())
	for _, tt := range []struct{ args, want string }{
		{"{match: state, connstate: 'related,established', jump: accept}", "ct state { related,established } accept"},
		{"{connstate: [new, related], jump: accept}", "ct state { new, related } accept"},
		{"{if: eth0, of: eth1, pkttype: host, counter: '', target: drop}", "meta iifname eth0 meta oifname eth1 meta pkttype { host } counter drop"},
		{"{icmp-type: echo-request, counter: false, j: accept}", "icmp type { echo-request } accept"},
		{"{source: 10.0.0.0/8, destination: 'fd00::/8', jump: drop}", "ip saddr 10.0.0.0/8 ip6 daddr fd00::/8 drop"},
		{"{proto: tcp, dport: '1000:2000', sport: 53, jump: accept}", "tcp dport { 1000-2000 } tcp sport { 53 } accept"},
		{"{proto: tcp, dports: '80,443,22', jump: accept}", "tcp dport { 443, 80, 22 } accept"},
		{"{proto: tcp, sports: [80, '1000-2000'], jump: accept}", "tcp sport { 80, 1000-2000 } accept"},
		{"{jump: reject, reject-with: tcp reset}", "reject with tcp reset"},
		{"{jump: snat to, to-source: 10.0.0.1}", "snat to 10.0.0.1"},
		{"{redirect-to: ':8080'}", "redirect to :8080"},
		{"{table: t, chain: c, command: insert, position: 3, full: true, jump: drop}", "nft insert rule ip t c position 3 drop"},
		{"{table: t, chain: c, command: delete, full: 'True', family: ipv6, jump: drop}", "nft delete rule ip6 t c drop"},
	} {
		want := "{'comment': 'Successfully built rule', 'rule': " + value.Repr(tt.want) + ", 'result': True}"
		if got := r.Fn(t, "nftables.build_rule", tt.args); got != want {
			t.Errorf("%s: %s, want %s", tt.args, got, want)
		}
	}
	if got := r.Fn(t, "nftables.build_rule", "{full: true, table: t}"); got != "{'comment': 'Chain needs to be specified', 'rule': '', 'result': False}" {
		t.Error(got)
	}
}
