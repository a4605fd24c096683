package iptables_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	iptablesmod "brine/modules/iptables"
	"brine/states/iptables"
)

// machine returns a machine whose iptables keeps the rules of the chain INPUT.
func machine() *host.Fake {
	h := host.NewFake()
	h.PutExe("/usr/sbin/iptables")
	var rules []string
	policy := "ACCEPT"
	custom := false
	h.HandleCommand("/usr/sbin/iptables*", func(_ context.Context, c host.Cmd) (host.Output, error) {
		line := strings.Join(c.Argv[1:], " ")
		no := host.Output{Status: 1, Stderr: []byte("iptables: no\n")}
		switch {
		case strings.HasSuffix(c.Argv[0], "-save"):
			text := "*filter\n:INPUT " + policy + " [0:0]\n"
			if custom {
				text += ":CUSTOM - [0:0]\n"
			}
			for _, r := range rules {
				text += "-A INPUT " + r + "\n"
			}
			return host.Output{Stdout: []byte(text + "COMMIT\n")}, nil
		case line == "--help":
			return host.Output{Stdout: []byte("--wait --check")}, nil
		}
		_, line, _ = strings.Cut(line, "-t filter ")
		command, line, _ := strings.Cut(line, " ")
		chain, rule, _ := strings.Cut(line, " ")
		if chain == "CUSTOM" {
			custom = command != "-X"
			return host.Output{}, nil
		}
		if strings.Contains(rule, "NOSUCH") {
			return no, nil
		}
		at := slices.Index(rules, rule)
		switch command {
		case "-C":
			if at < 0 {
				return no, nil
			}
		case "-A":
			rules = append(rules, rule)
		case "-I":
			_, rule, _ = strings.Cut(rule, " ")
			rules = slices.Insert(rules, 0, rule)
		case "-D":
			if rule == "1" {
				at = 0
			}
			rules = slices.Delete(rules, at, at+1)
		case "-F":
			rules = nil
		case "-P":
			policy = rule
		}
		return host.Output{}, nil
	})
	return h
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "iptables", Load: iptablesmod.Module}, fun.Entry{Kind: fun.State, Name: "iptables", Load: iptables.States})
}

const line = "/usr/sbin/iptables --wait -t filter "

func TestRules(t *testing.T) {
	t.Parallel()
	h := machine()
	rig(h).Steps(t, []calltest.Step{
		{"test iptables.append {name: a, chain: INPUT, jump: DROP}", "None: iptables rule for a needs to be set (" + line + "-A INPUT  --jump DROP) for ipv4 {}"},
		{"state iptables.append {name: a, chain: INPUT, jump: DROP}", "True: Set iptables rule for a to: " + line + "-A INPUT  --jump DROP for ipv4 {'locale': 'a'}"},
		{"state iptables.append {name: a, chain: INPUT, jump: DROP}", "True: iptables rule for a already set (" + line + "-A INPUT  --jump DROP) for ipv4 {}"},
		{"test iptables.append {name: a, chain: INPUT, jump: DROP, save: true}", "None: iptables rule for a already set (" + line + "-A INPUT  --jump DROP) for ipv4\nThe rules need to be saved {}"},
		{"state iptables.append {name: a, chain: INPUT, jump: DROP, save: true}", "True: iptables rule for a already set (" + line + "-A INPUT  --jump DROP) for ipv4\nSaved iptables rule a for ipv4\n" + line + "-A INPUT  --jump DROP\nWrote 1 lines to \"/etc/iptables/rules.v4\" {}"},
		{"state iptables.append {name: a, chain: INPUT, jump: DROP, save: true}", "True: iptables rule for a already set (" + line + "-A INPUT  --jump DROP) for ipv4 {}"},
		{"state iptables.append {name: b, chain: INPUT, jump: NOSUCH}", "False: Failed to set iptables rule for b.\nAttempted rule was " + line + "-A INPUT  --jump NOSUCH for ipv4 {}"},
		{"test iptables.append {name: b, chain: INPUT, dports: [80]}", "False: Failed to set iptables rule for b.\nAttempted rule was Error: protocol must be specified for ipv4 {}"},
		{"test iptables.insert {name: i, chain: INPUT, jump: X, position: 1}", "None: iptables rule for i needs to be set for ipv4 (" + line + "-I INPUT 1 --jump X) {}"},
		{"state iptables.insert {name: i, chain: INPUT, jump: X, position: 1, save: /x/rules}", "True: Set and saved iptables rule i for ipv4\n" + line + "-I INPUT 1 --jump X\nWrote 1 lines to \"/x/rules\" {'locale': 'i'}"},
		{"state iptables.insert {name: i, chain: INPUT, jump: X, position: 1}", "True: iptables rule for i already set for ipv4 (" + line + "-I INPUT 1 --jump X) {}"},
		{"test iptables.insert {name: i, chain: INPUT, jump: Y}", "False: Failed to set iptables rule for i.\nAttempted rule was " + line + "-I INPUT  --jump Y\nError: Position needs to be specified or use append (-A) {}"},
		{"test iptables.delete {name: d, chain: INPUT, jump: X}", "None: iptables rule for d needs to be deleted for ipv4 (" + line + "-D INPUT  --jump X) {}"},
		{"state iptables.delete {name: d, chain: INPUT, jump: X}", "True: Delete iptables rule for d " + line + "-D INPUT  --jump X {'locale': 'd'}"},
		{"state iptables.delete {name: d, chain: INPUT, jump: X}", "True: iptables rule for d already absent for ipv4 (" + line + "-D INPUT  --jump X) {}"},
		{"state iptables.delete {name: d, chain: INPUT, position: 1, save: true}", "True: Deleted and saved iptables rule d for ipv4\n" + line + "-D INPUT 1\nWrote 1 lines to \"/etc/iptables/rules.v4\" {'locale': 'd'}"},
	})
	if got := h.Text("/etc/iptables/rules.v4"); got != "*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n" {
		t.Errorf("saved %q", got)
	}
}

func TestChains(t *testing.T) {
	t.Parallel()
	rig(machine()).Steps(t, []calltest.Step{
		{"test iptables.chain_present {name: CUSTOM}", "None: iptables CUSTOM chain in filter table needs to be set for ipv4 {}"},
		{"state iptables.chain_present {name: CUSTOM}", "True: iptables CUSTOM chain in filter table create success for ipv4 {'locale': 'CUSTOM'}"},
		{"state iptables.chain_present {name: CUSTOM}", "True: iptables CUSTOM chain is already exist in filter table for ipv4 {}"},
		{"test iptables.chain_absent {name: CUSTOM}", "None: iptables CUSTOM chain in filter table needs to be removed ipv4 {}"},
		{"state iptables.chain_absent {name: CUSTOM}", "True: iptables CUSTOM chain in filter table delete success for ipv4 {'locale': 'CUSTOM'}"},
		{"state iptables.chain_absent {name: CUSTOM}", "True: iptables CUSTOM chain is already absent in filter table for ipv4 {}"},
		{"state iptables.chain_present {name: '-F'}", "False: Failed to create -F chain in filter table: invalid name of a chain: '-F' for ipv4 {}"},
		{"test iptables.set_policy {name: p, chain: INPUT, policy: DROP}", "None: iptables default policy for chain INPUT on table filter for ipv4 needs to be set to DROP {}"},
		{"state iptables.set_policy {name: p, chain: INPUT, policy: DROP, save: true}", "True: Set and saved default policy for INPUT to DROP family ipv4 {'locale': 'p'}"},
		{"state iptables.set_policy {name: p, chain: INPUT, policy: DROP}", "True: iptables default policy for chain INPUT on table filter for ipv4 already set to DROP {}"},
		{"state iptables.set_policy {name: p, chain: INPUT, policy: NOSUCH}", "False: Failed to set iptables default policy {}"},
		{"test iptables.flush {name: f, chain: INPUT}", "None: iptables rules in f table filter chain ipv4 family needs to be flushed {}"},
		{"state iptables.flush {name: f, chain: INPUT}", "True: Flush iptables rules in filter table INPUT chain ipv4 family {'locale': 'f'}"},
		{"state iptables.append {name: a, chain: INPUT, jump: X, family: ipv6}", "error: ip6tables is not installed"},
	})
}

// The rules of other states are set by the first one, in order; those that have run
// stay apart.
func TestAggregate(t *testing.T) {
	t.Parallel()
	r := rig(machine())
	chunk := func(id, args string) *fun.Chunk {
		low := calltest.YAML(t, args).(*value.Map)
		low.Set("name", id)
		return &fun.Chunk{State: "iptables", Fun: "append", ID: id, Name: id, Low: low}
	}
	a := chunk("a", "{chain: INPUT, jump: A, save: true, __id__: a}")
	b := chunk("b", "{chain: INPUT, jump: B}")
	c := chunk("c", "{chain: INPUT, jump: C}")
	mod, spec, _ := r.Env.Table.Lookup(fun.State, "iptables.append")
	call, err := r.Env.Invoker.Bind(mod, spec, fun.Args{Kw: calltest.YAML(t, "{name: a, chain: INPUT, jump: A, save: true}").(*value.Map)})
	if err != nil {
		t.Fatal(err)
	}
	call.Low = a
	joined := mod.Aggregate(t.Context(), call, []*fun.Chunk{a, b, c}, value.MapOf(c.Tag(), true))
	if joined == nil || joined.Low.List("rules").Len() != 2 || b.Low.At("__agg__") != true || c.Low.Has("__agg__") {
		t.Fatalf("joined: %v", joined)
	}
	call, err = r.Env.Invoker.Bind(mod, spec, fun.Args{Kw: value.MapOf("name", "a", "chain", "INPUT", "rules", joined.Low.List("rules"))})
	if err != nil {
		t.Fatal(err)
	}
	ret := spec.State(t.Context(), call)
	if got := value.Repr(ret.Changes); got != "{'locale': ['a', 'b']}" || ret.Result != fun.OK {
		t.Errorf("changes %s, comment %v", got, ret.Comment)
	}
	if text, err := r.Env.Host.ReadFile("/etc/iptables/rules.v4"); err != nil || !strings.Contains(string(text), "--jump B") {
		t.Errorf("saved %q, %v", text, err)
	}
}
