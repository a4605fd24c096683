package pillar_test

import (
	"context"
	"log/slog"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	pillarrun "brine/runner/fn/pillar"
)

// fleet has one minion, web1, of the role web.
type fleet struct{}

func (fleet) Match(_ context.Context, tgt value.Value, _ string) ([]string, error) {
	if value.Repr(tgt) == "['web1']" {
		return []string{"web1"}, nil
	}
	return nil, nil
}

func (fleet) Run(_ context.Context, job fun.Job, each func(fun.Return) error) (fun.Summary, error) {
	return fun.Summary{}, each(fun.Return{ID: "web1", Body: fun.ValueBody{V: value.MapOf("id", "web1", "role", "web")}})
}

func newEnv() *fun.Env {
	h := host.NewFake()
	h.PutFile("/srv/pillar/top.sls", "base:\n  '*': [all]\n  'role:web': [{match: grain}, web]\n", 0o644)
	h.PutFile("/srv/pillar/all.sls", "id: '{{ opts.id }}'\nfqdn: '{{ grains.get('fqdn') }}'\n", 0o644)
	h.PutFile("/srv/pillar/web.sls", "web: true\n", 0o644)
	e := &fun.Env{
		Identity:  fun.Identity{ID: "orch_master", SaltEnv: "base"},
		Machine:   fun.Machine{Host: h},
		Data:      fun.Data{Memo: &fun.Memo{}, Opts: value.MapOf("id", "orch_master", "pillar_roots", value.MapOf("base", value.Strings("/srv/pillar"))), Grains: value.MapOf("id", "orch_master", "fqdn", "orch.example.com"), Pillar: value.MapOf("of", "the controller")},
		Network:   fun.Network{Fleet: fleet{}},
		UI:        fun.UI{Logger: slog.New(slog.DiscardHandler)},
		Functions: fun.Functions{NewInvoker: func(e *fun.Env) fun.Invoker { return dispatch.New(e) }, Table: fun.NewTable([]fun.Entry{{Kind: fun.Runner, Name: "pillar", Load: pillarrun.Runners}})},
	}
	e.Up = &fileserver.Local{Server: fileserver.New(h, fileserver.RootsOf(e.Opts, "file_roots"))}
	e.Invoker = dispatch.New(e)
	return e
}

func TestRunners(t *testing.T) {
	for _, tt := range []struct {
		name string
		pos  []value.Value
		kw   *value.Map
		want string
	}{
		{"pillar.show_pillar", nil, nil, "{'id': '*', 'fqdn': '*'}"},
		{"pillar.show_pillar", []value.Value{"web1"}, nil, "{'id': 'web1', 'fqdn': 'None', 'web': True}"},
		{"pillar.show_pillar", []value.Value{"web9"}, nil, "{'id': 'web9', 'fqdn': 'web9'}"},
		{"pillar.show_pillar", []value.Value{"web9"}, value.MapOf("role", "web"), "{'id': 'web9', 'fqdn': 'web9', 'web': True}"},
		{"pillar.show_pillar", []value.Value{"orch_master"}, nil, "{'id': 'orch_master', 'fqdn': 'orch.example.com'}"},
		{"pillar.show_top", nil, nil, "{'base': {'*': ['all'], 'role:web': [OrderedDict([('match', 'grain')]), 'web']}}"},
	} {
		r, err := newEnv().Invoker.Invoke(t.Context(), fun.Runner, tt.name, fun.Args{Pos: tt.pos, Kw: tt.kw})
		if err != nil {
			t.Errorf("%s%v: %v", tt.name, tt.pos, err)
			continue
		}
		if got := value.Repr(r.Value); got != tt.want {
			t.Errorf("%s%v\ngot  %s\nwant %s", tt.name, tt.pos, got, tt.want)
		}
	}
}
