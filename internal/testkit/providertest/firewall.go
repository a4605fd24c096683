package providertest

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Firewall is what the states of a firewall with tables and chains are tried with.
type Firewall struct {
	New func(t *testing.T) Machine
	// Module is the name of the module. Chain is a chain without rules in Table, and Custom
	// one that can be made.
	Module, Table, Chain, Custom string
	// Rule and Other are the arguments of two rules, and First what puts a rule first.
	Rule, Other, First []value.Value
	// Looks and Without are those of Pkg.
	Looks   func(command string) bool
	Without map[string]string
}

// in returns the arguments of a rule in the chain.
func (p *Firewall) in(rule []value.Value) []value.Value {
	return append([]value.Value{"table", p.Table, "chain", p.Chain}, rule...)
}

var firewallPromises = []struct {
	name string
	test func(p *Firewall, m *run)
}{
	{"append and insert have nothing to do the second time", func(p *Firewall, m *run) {
		m.twice(p.Module+".append", "a", p.in(p.Rule)...)
		m.twice(p.Module+".insert", "b", append(p.in(p.Other), p.First...)...)
	}},
	{"delete removes what append added, once", func(p *Firewall, m *run) {
		m.twice(p.Module+".append", "a", p.in(p.Rule)...)
		m.twice(p.Module+".delete", "a", p.in(p.Rule)...)
		m.twice(p.Module+".append", "a", p.in(p.Rule)...)
	}},
	{"chain_present and chain_absent have nothing to do the second time", func(p *Firewall, m *run) {
		m.twice(p.Module+".chain_present", p.Custom, "table", p.Table)
		m.twice(p.Module+".chain_absent", p.Custom, "table", p.Table)
	}},
	{"test mode changes nothing", func(p *Firewall, m *run) {
		for name, kw := range map[string][]value.Value{
			"append": p.in(p.Rule), "insert": append(p.in(p.Rule), p.First...), "chain_present": {"table", p.Table},
		} {
			if ret := m.state(true, p.Module+"."+name, p.Custom, kw...); ret.Result != fun.WouldChange || ret.Err != nil {
				m.t.Errorf("%s.%s: %v %v, %v", p.Module, name, ret.Result.Value(), ret.Comment, ret.Err)
			}
		}
		m.kept("test mode")
	}},
	{"what a program refuses is a failure", func(p *Firewall, m *run) {
		m.breaks()
		for name, kw := range map[string][]value.Value{
			"append": p.in(p.Rule), "insert": append(p.in(p.Rule), p.First...), "chain_present": {"table", p.Table},
		} {
			if ret := m.state(false, p.Module+"."+name, p.Custom, kw...); ret.Result != fun.Failed && ret.Err == nil {
				m.t.Errorf("%s.%s: %v %v", p.Module, name, ret.Result.Value(), ret.Comment)
			}
		}
	}},
	{"names that begin with a dash reach no program", func(p *Firewall, m *run) {
		for _, name := range odd {
			if ret := m.state(false, p.Module+".chain_present", name, "table", p.Table); ret.Result == fun.OK {
				m.t.Errorf("chain_present %s: %v", name, ret.Comment)
			}
			for _, c := range m.changes() {
				if strings.Contains(c+" ", " "+name+" ") {
					m.t.Errorf("%q has the name %s", c, name)
				}
			}
		}
	}},
}

// Test runs the suite.
func (p *Firewall) Test(t *testing.T) {
	var names []string
	for _, q := range firewallPromises {
		names = append(names, q.name)
		check(t, q.name, p.Without, func(t *testing.T) {
			q.test(p, newRun(t, p.New(t), p.Looks))
		})
	}
	unknown(t, p.Without, names)
}
