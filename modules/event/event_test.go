package event

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// peers are other runs that take events.
type peers struct {
	runs int
	sent []string
}

func (p *peers) Send(tag string, data *value.Map) event.Delivered {
	p.sent = append(p.sent, tag+" "+value.Repr(data.At("data")))
	return event.Delivered{Runs: p.runs}
}

func (p *peers) Post(tag string, data *value.Map) { p.Send(tag, data) }

func call(t *testing.T, env *fun.Env, name string, kw *value.Map) value.Value {
	t.Helper()
	mod := Module().Loaded()
	for i := range mod.Specs {
		spec := &mod.Specs[i]
		if spec.Name != name {
			continue
		}
		c := &fun.Call{Mod: &mod, Spec: spec, Args: value.NewMap(8), Kw: value.NewMap(4), Env: env}
		for _, a := range spec.Args {
			c.Args.Set(a.Name, a.Default)
		}
		for k, v := range kw.All() {
			if c.Args.Has(k) {
				c.Args.Set(k, v)
			} else {
				c.Kw.Set(k, v)
			}
		}
		res, err := spec.Fn(t.Context(), c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return res.Value
	}
	t.Fatalf("no function %s", name)
	return nil
}

func newEnv(p *peers) *fun.Env {
	f := host.NewFake()
	f.Env = []string{"A=1", "B=x=y"}
	return &fun.Env{
		Identity: fun.Identity{ID: "web1"},
		Machine:  fun.Machine{Host: f},
		Network:  fun.Network{Peers: p, Bus: event.NewRing(8, func() time.Time { return time.Unix(0, 0) })},
		Data:     fun.Data{Opts: value.NewMap(0), Grains: value.MapOf("os", "Debian", "role", "web"), Pillar: value.MapOf("k", "v")},
	}
}

func TestSendData(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kw   *value.Map
		want string
	}{
		{value.MapOf("tag", "t"), "t {}"},
		{value.MapOf("tag", "t", "data", value.MapOf("a", int64(1))), "t {'a': 1}"},
		{value.MapOf("tag", "t", "data", "text"), "t {'data': 'text'}"},
		{value.MapOf("tag", "t", "more", "x", "__pub_jid", "1", "data", value.MapOf("a", int64(1))), "t {'more': 'x', 'a': 1}"},
		{value.MapOf("tag", "t", "with_env", value.Strings("B")), "t {'environ': {'B': 'x=y'}}"},
		{value.MapOf("tag", "t", "with_grains", value.Strings("role"), "with_pillar", true), "t {'grains': {'role': 'web'}, 'pillar': {'k': 'v'}}"},
	} {
		p := &peers{}
		if got := call(t, newEnv(p), "send", tt.kw); got != true {
			t.Errorf("send(%s) = %v", value.Repr(tt.kw), got)
		}
		if d := cmp.Diff([]string{tt.want}, p.sent); d != "" {
			t.Errorf("send(%s) (-want +got):\n%s", value.Repr(tt.kw), d)
		}
	}
}

// Without a controller there is nobody to send to, unless another run listens.
func TestMasterless(t *testing.T) {
	t.Parallel()
	alone := value.MapOf("__cli", "salt-call", "file_client", "local")
	with := func(k string, v value.Value) *value.Map {
		m := alone.Copy()
		m.Set(k, v)
		return m
	}
	for _, tt := range []struct {
		name string
		opts *value.Map
		orch string
		runs int
		want bool
	}{
		{"alone", alone, "", 0, false},
		{"another run listens", alone, "", 1, true},
		{"a step of an orchestration", alone, "20240102030405000006", 0, true},
		{"a controller", with("__cli", "salt-run"), "", 0, true},
		{"a master is asked", with("use_master_when_local", true), "", 0, true},
	} {
		env := newEnv(&peers{runs: tt.runs})
		env.Opts, env.OrchJID = tt.opts, tt.orch
		for _, fn := range []string{"send", "fire_master"} {
			if got := call(t, env, fn, value.MapOf("tag", "t", "data", value.NewMap(0))); got != tt.want {
				t.Errorf("%s: %s = %v, want %v", tt.name, fn, got, tt.want)
			}
		}
		if got := call(t, env, "fire", value.MapOf("tag", "t", "data", value.NewMap(0))); got != true {
			t.Errorf("%s: fire = %v", tt.name, got)
		}
		if got := call(t, env, "fire", value.MapOf("tag", "t", "data", "text")); got != false {
			t.Errorf("%s: fire of a text = %v", tt.name, got)
		}
	}
}
