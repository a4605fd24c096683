package manage_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/runner/fn/manage"
)

// fleet has machines of which some do not respond.
type fleet struct {
	answers map[string]map[string]value.Value // by function, by id
	ids     []string                          // sorted
	outside []string
}

func (fleet) Match(context.Context, value.Value, string) ([]string, error) { return nil, nil }

// Run has the machines of a list, or all, answer.
func (f fleet) Run(_ context.Context, job fun.Job, each func(fun.Return) error) (fun.Summary, error) {
	sum := fun.Summary{Outside: f.outside}
	named, _ := job.Tgt.(*value.List)
	for _, id := range f.ids {
		if named != nil && !slices.Contains(named.Strs(), id) {
			continue
		}
		sum.Targets = append(sum.Targets, id)
		r := fun.Return{ID: id, Stage: fun.Unreachable, Err: errors.New("no route to host")}
		if v, ok := f.answers[job.Fun][id]; ok {
			r = fun.Return{ID: id, Body: fun.ValueBody{V: v}}
			if v == "fails" {
				r.Retcode = 1
			}
		} else {
			sum.Missing = append(sum.Missing, id)
		}
		if err := each(r); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func grainsOf(v4, v6 value.Value) value.Value { return value.MapOf("ipv4", v4, "ipv6", v6) }

// tester has test.version on the controller.
func tester() fun.Module {
	return fun.Module{Name: "test", Kind: fun.Exec, Specs: []fun.Spec{
		{Name: "version", Fn: func(context.Context, *fun.Call) (fun.Result, error) { return fun.Value("3006.0") }},
	}}
}

func newEnv() *fun.Env {
	env := calltest.Env(host.NewFake(), value.NewMap(0),
		fun.Entry{Kind: fun.Runner, Name: "manage", Load: manage.Runners}, fun.Entry{Kind: fun.Exec, Name: "test", Load: tester})
	env.Fleet = fleet{
		ids: []string{"db1", "dead", "junk", "lo", "old", "web1"}, outside: []string{"zz9"},
		answers: map[string]map[string]value.Value{
			"test.ping": {"db1": true, "junk": true, "lo": true, "old": true, "web1": true},
			"grains.item": {
				"db1":  grainsOf(value.Strings("127.0.0.1", "10.0.1.5", "192.168.0.5"), value.Strings("::1", "fd00::5")),
				"junk": grainsOf("10.0.0.1", value.NewList(value.NewMap(0), "../../etc", int64(7))),
				"lo":   grainsOf(value.Strings("127.0.0.1"), nil),
				"old":  "no grains",
				"web1": grainsOf(value.Strings("127.0.0.1", "10.0.0.9"), nil),
			},
			"test.version": {"db1": "3007.1", "junk": value.Strings("3006.0"), "lo": "fails", "old": "2019.2.8", "web1": "3006.0"},
		},
	}
	return env
}

func TestRunners(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, args, want string }{
		{"status", "{}", "{'up': ['db1', 'junk', 'lo', 'old', 'web1'], 'down': ['dead']}"},
		{"up", "{}", "['db1', 'junk', 'lo', 'old', 'web1']"},
		{"down", "{}", "['dead']"},
		{"present", "{}", "['db1', 'junk', 'lo', 'old', 'web1']"},
		{"joined", "{}", "['db1', 'junk', 'lo', 'old', 'web1']"},
		{"alived", "{subset: 'web1, dead'}", "['web1']"},
		{"alived", "{subset: [web1, zz9]}", "['web1']"},
		{"list_state", "{show_ip: true}", "{'db1': '10.0.1.5', 'junk': None, 'lo': '127.0.0.1', 'old': None, 'web1': '10.0.0.9'}"},
		{"list_state", "{show_ip: true, subset: 10.0.0.0/24}", "{'web1': '10.0.0.9'}"},
		{"list_state", "{subset: '192.168.0.5,fd01::/16'}", "['db1']"},
		{"list_state", "{show_ip: true, subset: 'fd00::7/64,lo'}", "{'db1': 'fd00::5', 'lo': '127.0.0.1'}"},
		{"not_present", "{}", "['dead']"},
		{"list_not_state", "{subset: web1}", "[]"},
		{"not_alived", "{subset: [web1, dead], show_ip: true}", "['dead']"},
		{"versions", "{}", "{'Minion offline': {'dead': False}, 'Unknown version': {'junk': False, 'lo': False}, " +
			"'Minion requires update': {'old': '2019.2.8'}, 'Up to date': {'web1': '3006.0'}, 'Minion newer than master': {'db1': '3007.1'}, 'Master': '3006.0'}"},
		{"present", "{subset: nosuch}", `error: subset: no target has the ID "nosuch"`},
		{"present", "{subset: 10.0.0.0/33}", `error: subset: "10.0.0.0/33" is not a network such as 10.0.0.0/24`},
		{"present", "{subset: 'web1,,db1'}", "error: subset 'web1,,db1' has an empty element; name targets or networks, as in web1,10.0.0.0/24"},
		{"present", "{subset: []}", "error: subset is empty; leave it out to ask all targets"},
		{"not_present", "{subset: 10.0.0.0/8}", "error: subset: 10.0.0.0/8 is a network or an address, and those of a target that does not respond are not known; name targets by ID"},
	} {
		if got := call(t, newEnv(), tt.name, tt.args); got != tt.want {
			t.Errorf("manage.%s %s\ngot  %s\nwant %s", tt.name, tt.args, got, tt.want)
		}
	}
	env := newEnv()
	env.Fleet = nil
	if got := call(t, env, "present", "{}"); got != "error: there is no roster to ask: use 'brine run'" {
		t.Error(got)
	}
}

func call(t *testing.T, env *fun.Env, name, args string) string {
	t.Helper()
	kw, _ := calltest.YAML(t, args).(*value.Map)
	res, err := env.Invoker.Invoke(t.Context(), fun.Runner, "manage."+name, fun.Args{Kw: kw})
	if err != nil {
		return "error: " + err.Error()
	}
	return value.Repr(res.Value)
}
