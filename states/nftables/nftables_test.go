package nftables_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	nftablesmod "brine/modules/nftables"
	"brine/states/nftables"
)

// machine returns a machine whose nft has the table t with the chain c and its rules.
func machine() *host.Fake {
	h := host.NewFake()
	h.PutExe("/usr/sbin/nft")
	tables, chains, policy := []string{"t"}, []string{"c"}, "accept"
	var rules []string
	h.HandleCommand("nft *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		line := c.Argv[len(c.Argv)-1]
		var b strings.Builder
		verb, rest, _ := strings.Cut(line, " ip ")
		name, rule, _ := strings.Cut(strings.TrimPrefix(rest, "t "), " ")
		switch {
		case strings.Contains(strings.Join(c.Argv, " "), "--check"), strings.HasSuffix(line, "NOSUCH"):
			return host.Output{Status: 1, Stderr: []byte("Error: no\n")}, nil
		case line == "list tables ip" && c.Argv[1] == "--json":
			b.WriteString(`{"nftables": [{"table": {"name": "t"}}]}`)
		case line == "list tables ip":
			for _, t := range tables {
				b.WriteString("table ip " + t + "\n")
			}
		case line == "list ruleset ip":
			b.WriteString(`{"nftables": [{"chain": {"table": "t", "name": "c", "type": "filter", "hook": "input", "prio": 0, "policy": "` + policy + `"}}]}`)
		case verb == "list table":
			for _, c := range chains {
				b.WriteString("\tchain " + c + " {\n")
			}
		case verb == "list chain":
			for i, r := range rules {
				b.WriteString("\t\t" + r + " # handle " + string(rune('1'+i)) + "\n")
			}
		case verb == "add table":
			tables = append(tables, name)
		case verb == "delete table":
			tables = slices.DeleteFunc(tables, func(t string) bool { return t == name })
		case verb == "add chain" && strings.Contains(rule, "policy"):
			policy = "drop"
		case verb == "add chain":
			chains = append(chains, name)
		case verb == "delete chain":
			chains = slices.DeleteFunc(chains, func(t string) bool { return t == name })
		case verb == "add rule", verb == "insert rule":
			rules = append(rules, rule)
		case verb == "delete rule":
			i := int(rule[len(rule)-1] - '1')
			rules = slices.Delete(rules, i, i+1)
		}
		return host.Output{Stdout: []byte(b.String())}, nil
	})
	return h
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "nftables", Load: nftablesmod.Module}, fun.Entry{Kind: fun.State, Name: "nftables", Load: nftables.States})
}

func TestStates(t *testing.T) {
	t.Parallel()
	h := machine()
	rig(h).Steps(t, []calltest.Step{
		{"test nftables.append {name: a, table: t, chain: c, jump: drop}", "None: nftables rule for a needs to be set (drop) for ipv4 {}"},
		{"state nftables.append {name: a, table: t, chain: c, jump: drop, save: true}", "True: Set and Saved nftables rule for a to: drop for ipv4 {'locale': 'a'}"},
		{"state nftables.append {name: a, table: t, chain: c, jump: drop}", "True: nftables rule for a already set (drop) for ipv4 {}"},
		{"state nftables.append {name: a, table: t, chain: c, jump: NOSUCH}", "False: Failed to set nftables rule for a.\nAttempted rule was NOSUCH for ipv4.\nFailed to add rule \"NOSUCH\" chain c in table t in family ipv4. {}"},
		{"state nftables.append {name: a, table: t, chain: x, jump: drop}", "False: Failed to set nftables rule for a.\nAttempted rule was drop for ipv4.\nChain x in table t in family ipv4 does not exist {}"},
		{"test nftables.insert {name: i, table: t, chain: c, jump: accept}", "None: nftables rule for i needs to be set for ipv4 (accept) {}"},
		{"state nftables.insert {name: i, table: t, chain: c, jump: accept}", "True: Set nftables rule for i to: accept for ipv4 {'locale': 'i'}"},
		{"state nftables.insert {name: i, table: t, chain: c, jump: accept}", "True: nftables rule for i already set for ipv4 (accept) {}"},
		{"state nftables.insert {name: i, table: t, chain: c, jump: NOSUCH}", "False: Failed to set nftables rule for i.\nAttempted rule was NOSUCH {}"},
		{"test nftables.delete {name: d, table: t, chain: c, jump: accept}", "None: nftables rule for d needs to be deleted for ipv4 (accept) {}"},
		{"state nftables.delete {name: d, table: t, chain: c, jump: accept}", "True: Delete nftables rule for d accept {'locale': 'd'}"},
		{"state nftables.delete {name: d, table: t, chain: c, jump: accept}", "True: nftables rule for d already absent for ipv4 (accept) {}"},
		{"state nftables.delete {name: d, table: t, chain: c, position: 1}", "True: Delete nftables rule for d  {'locale': 'd'}"},
		{"state nftables.delete {name: d, table: t, chain: c, position: 1}", "True: nftables rule for d already absent for ipv4 () {}"},
		{"test nftables.flush {name: f, table: t}", "None: nftables flush not performed in test mode. {}"},
		{"state nftables.flush {name: f, table: t, chain: c}", "True: Flush nftables rules in t table c chain ipv4 family {'locale': 'f'}"},
		{"state nftables.flush {name: f, table: t, chain: x}", "False: Failed to flush chain x in table t in family ipv4, chain does not exist. {}"},
		{"state nftables.flush {name: f, table: x}", "False: Failed to flush table x in family ipv4, table does not exist. {}"},
		{"state nftables.flush {name: f, table: x, ignore_absence: true}", "True: Flush nftables rules in x table  chain ipv4 family {}"},
		{"test nftables.set_policy {name: p, table: t, chain: c, policy: DROP}", "None: nftables default policy for chain c on table t for ipv4 needs to be set to DROP {}"},
		{"state nftables.set_policy {name: p, table: t, chain: c, policy: DROP}", "True: Set default policy for c to DROP family ipv4 {'locale': 'p'}"},
		{"state nftables.set_policy {name: p, table: t, chain: c, policy: DROP}", "True: nftables default policy for chain c on table t for ipv4 already set to DROP {}"},
		{"state nftables.set_policy {name: p, table: t, chain: x, policy: DROP}", "False: Failed to set nftables default policy {}"},
		{"test nftables.chain_present {name: n, table: t}", "None: nftables chain n would be created in table t for family ipv4 {}"},
		{"state nftables.chain_present {name: n, table: t}", "True: nftables n chain in t table create success for ipv4 {'locale': 'n'}"},
		{"state nftables.chain_present {name: n, table: t}", "True: nftables n chain is already exist in t table for ipv4 {}"},
		{"state nftables.chain_present {name: o, table: t, hook: input}", "False: Failed to create o chain in t table: Table_type, hook, and priority required. for ipv4 {}"},
		{"test nftables.chain_absent {name: n, table: t}", "None: nftables chain n would be deleted from table t for family ipv4 {}"},
		{"state nftables.chain_absent {name: n, table: t}", "True: nftables n chain in t table delete success for ipv4 {'locale': 'n'}"},
		{"state nftables.chain_absent {name: n, table: t}", "True: nftables n chain is already absent in t table for ipv4 {}"},
		{"test nftables.table_present {name: u}", "None: nftables table u would be created in family ipv4 {}"},
		{"state nftables.table_present {name: u}", "True: nftables table u successfully created in family ipv4 {'locale': 'u'}"},
		{"state nftables.table_present {name: u}", "True: nftables table u already exists in family ipv4 {}"},
		{"test nftables.table_absent {name: u}", "None: nftables table u would be deleted from family ipv4 {}"},
		{"state nftables.table_absent {name: u}", "True: nftables table u successfully deleted from family ipv4 {'locale': 'u'}"},
		{"state nftables.table_absent {name: u}", "True: nftables table u is already absent from family ipv4 {}"},
	})
	if got := h.Text("/etc/nftables"); !strings.HasPrefix(got, "#! nft -f\n") {
		t.Errorf("saved %q", got)
	}
}
