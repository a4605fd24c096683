package controller_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	networkmod "brine/modules/network"
	"brine/runner/fn/controller"
)

// fleet notes the job that it is given.
type fleet struct{ job fun.Job }

func (*fleet) Match(context.Context, value.Value, string) ([]string, error) { return nil, nil }

func (f *fleet) Run(_ context.Context, job fun.Job, each func(fun.Return) error) (fun.Summary, error) {
	f.job = job
	for _, r := range []fun.Return{{ID: "web1", Body: fun.ValueBody{V: true}}, {ID: "web2", Stage: fun.Unreachable, Err: fun.Errorf("no route to host")}} {
		if err := each(r); err != nil {
			return fun.Summary{}, err
		}
	}
	return fun.Summary{}, nil
}

// mine has data of two machines, and notes what it is asked for.
type mine struct{ asked []string }

func (m *mine) Mine(_ context.Context, req fun.MineRequest) (*value.Map, error) {
	m.asked = append(m.asked, strings.TrimSpace(req.Op+" "+req.ID+value.Str(req.Tgt)+" "+strings.Join(req.Funs, ",")))
	if req.Op != fun.MineKept {
		return nil, nil
	}
	return value.MapOf("db1", value.MapOf("who", "db1"), "web1", value.MapOf("who", "web1", "addr", "10.0.0.9")), nil
}

func newEnv(h *host.Fake) *fun.Env {
	return calltest.Env(h, value.NewMap(0),
		fun.Entry{Kind: fun.Runner, Name: "cache", Load: controller.Cache},
		fun.Entry{Kind: fun.Runner, Name: "doc", Load: controller.Doc},
		fun.Entry{Kind: fun.Runner, Name: "network", Load: controller.Network},
		fun.Entry{Kind: fun.Runner, Name: "ssh", Load: controller.SSH},
		fun.Entry{Kind: fun.Exec, Name: "network", Load: networkmod.Module},
	)
}

func call(t *testing.T, env *fun.Env, name, args string) string {
	t.Helper()
	kw, _ := calltest.YAML(t, args).(*value.Map)
	res, err := env.Invoker.Invoke(t.Context(), fun.Runner, name, fun.Args{Kw: kw})
	if err != nil {
		return "error: " + err.Error()
	}
	return value.Repr(res.Value)
}

func TestSSH(t *testing.T) {
	t.Parallel()
	env, f := newEnv(host.NewFake()), &fleet{}
	if got := call(t, env, "ssh.cmd", "{tgt: '*', fun: test.ping}"); got != "error: there is no roster to run on: use 'brine run'" {
		t.Error(got)
	}
	env.Fleet = f
	if got := call(t, env, "ssh.cmd", "{tgt: 'web*', fun: test.arg, arg: [1], kwarg: {a: 2}, tgt_type: compound}"); got != "{'web1': True, 'web2': 'no route to host'}" {
		t.Error(got)
	}
	if got := value.Repr(value.NewList(f.job.Tgt, f.job.TgtType, f.job.Fun, value.NewList(f.job.Args.Pos...), f.job.Args.Kw, f.job.Fleet)); got != "['web*', 'compound', 'test.arg', [1], {'a': 2}, 'roster']" {
		t.Errorf("the job is %s", got)
	}
}

func TestDoc(t *testing.T) {
	t.Parallel()
	env := newEnv(host.NewFake())
	if got := call(t, env, "doc.runner", "{}"); !strings.Contains(got, "'ssh.cmd': 'Run an execution function on targets") || strings.Contains(got, "network.ping") {
		t.Error(got)
	}
	if got := call(t, env, "doc.execution", "{}"); !strings.Contains(got, "'network.ping': ") || strings.Contains(got, "ssh.cmd") {
		t.Error(got)
	}
	if got := call(t, env, "doc.wheel", "{}"); got != "{}" {
		t.Error(got)
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, args, want, asked string }{
		{"cache.mine", "{}", "{'db1': {'who': 'db1'}, 'web1': {'who': 'web1', 'addr': '10.0.0.9'}}", "kept *"},
		{"cache.clear_mine", "{tgt: 'x*'}", "['db1', 'web1']", "kept x*; flush db1None; flush web1None"},
		{"cache.clear_mine_func", "{tgt: '*', clear_mine_func_flag: addr}", "['web1']", "kept *; delete web1None addr"},
		{"cache.clear_mine", "{}", "error: clear_mine() missing 1 required positional argument: 'tgt'", ""},
	} {
		env, m := newEnv(host.NewFake()), &mine{}
		env.Mine = m
		if got := call(t, env, tt.name, tt.args); got != tt.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", tt.name, tt.args, got, tt.want)
		}
		if got := strings.Join(m.asked, "; "); got != tt.asked {
			t.Errorf("%s %s asked %s, want %s", tt.name, tt.args, got, tt.asked)
		}
	}
	if got := call(t, newEnv(host.NewFake()), "cache.mine", "{}"); got != "error: there is no mine here: use 'brine run'" {
		t.Error(got)
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ list, want string }{
		{"08:00:27:13:69:77\n\n 0800271369ff \n", "['08:00:27:13:69:77', '0800271369ff']"},
		{"08:00:27:13:69:77\n08:00:27:13:69\n", "error: /macs:2: \"08:00:27:13:69\" is not a hardware address such as 08:00:27:13:69:77"},
		{"08:00:27:13:69:zz", "error: /macs:1: \"08:00:27:13:69:zz\" is not a hardware address such as 08:00:27:13:69:77"},
		{"", "[]"},
	} {
		h := host.NewFake()
		h.PutFile("/macs", tt.list, 0o644)
		if got := call(t, newEnv(h), "network.wollist", "{maclist: /macs, bcast: 10.0.0.255}"); got != tt.want {
			t.Errorf("%q\ngot  %s\nwant %s", tt.list, got, tt.want)
		}
	}
	env := newEnv(host.NewFake())
	for args, want := range map[string]string{
		"{mac: '08-00-27-13-69-77'}": "True",
		"{mac: '08'}":                "error: Invalid MAC address",
	} {
		if got := call(t, env, "network.wol", args); got != want {
			t.Errorf("network.wol %s: %s, want %s", args, got, want)
		}
	}
	if got := call(t, env, "network.wollist", "{maclist: /nowhere}"); !strings.HasPrefix(got, "error: maclist: ") {
		t.Error(got)
	}
}
