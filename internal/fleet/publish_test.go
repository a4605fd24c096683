package fleet

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// masters are minions of a master that has found them for an earlier job.
type masters struct {
	machines
	asked bool
}

func (m *masters) FleetName() string { return "lab" }

func (m *masters) Resolve(context.Context, value.Value, string, *value.Map) ([]string, map[string]error, error) {
	m.asked = true
	return m.ids, nil, nil
}

// TestPeers calls functions as machines may, and as they may not.
func TestPeers(t *testing.T) {
	t.Parallel()
	m := &masters{machines: machines{ids: []string{"web9"}}}
	f := fleetOf(&machines{ids: []string{"web1", "web2", "db1"}})
	f.Providers = append(f.Providers, m)
	n := 0
	f.NewJID = func() string { n++; return fmt.Sprintf("202001020304050000%02d", n) }
	p := &Peers{
		Fleet:   f,
		Peer:    value.MapOf("lb1", value.NewList("test.p.*", "a|b", value.MapOf("G@role:web", "web.*")), "lb2|lb3", value.NewList("test.ping")),
		PeerRun: value.MapOf("lb1", value.NewList("manage.up")),
		Runner: func(_ context.Context, name string, _ fun.Args) (fun.Result, error) {
			return fun.Result{Value: name}, nil
		},
	}
	all := "{'db1': 'db1', 'web1': 'web1', 'web2': 'web2'}"
	for _, tt := range []struct {
		name, want string
		req        fun.PublishRequest
	}{
		{"allowed", all, fun.PublishRequest{ID: "lb1", Fun: "test.ping", Tgt: "*"}},
		{"alternatives of ids", all, fun.PublishRequest{ID: "lb3", Fun: "test.ping", Tgt: "*"}},
		{"minions of a master", "{}", fun.PublishRequest{ID: "lb1", Fun: "test.ping", Tgt: "web9"}},
		{"minions of a master in a list", "{'web1': 'web1'}", fun.PublishRequest{ID: "lb1", Fun: "test.ping", Tgt: "web1,web9", TgtType: "list"}},
		{"more than the id", "does not allow", fun.PublishRequest{ID: "lb11", Fun: "test.ping", Tgt: "*"}},
		{"more than an alternative", "does not allow", fun.PublishRequest{ID: "xlb3", Fun: "test.ping", Tgt: "*"}},
		{"less than the function", "does not allow", fun.PublishRequest{ID: "lb1", Fun: "xtest.ping", Tgt: "*"}},
		{"more than the function", "does not allow", fun.PublishRequest{ID: "lb2", Fun: "test.pings", Tgt: "*"}},
		{"a line behind it", "does not allow", fun.PublishRequest{ID: "lb2", Fun: "test.ping\n", Tgt: "*"}},
		{"more than an alternative of a function", "does not allow", fun.PublishRequest{ID: "lb1", Fun: "bcd", Tgt: "*"}},
		{"several functions", "not the name of one function", fun.PublishRequest{ID: "lb1", Fun: "test.ping,cmd.run", Tgt: "*"}},
		{"publish", "cannot be called on other machines", fun.PublishRequest{ID: "lb1", Fun: "publish.publish", Tgt: "*"}},
		{"on a compound target", "{'web1': 'web1', 'web2': 'web2'}", fun.PublishRequest{ID: "lb1", Fun: "web.status", Tgt: "web*"}},
		{"beyond the compound target", "on all of these machines", fun.PublishRequest{ID: "lb1", Fun: "web.status", Tgt: "*"}},
		{"pillars by patterns", "does not search pillars", fun.PublishRequest{ID: "lb1", Fun: "test.ping", Tgt: "a:b", TgtType: "pillar_pcre"}},
		{"whole values of pillars", "{'web1': 'web1'}", fun.PublishRequest{ID: "lb1", Fun: "test.ping", Tgt: "key:key of web1", TgtType: "pillar"}},
		{"parts of values of pillars", "{}", fun.PublishRequest{ID: "lb1", Fun: "test.ping", Tgt: "key:key of w*", TgtType: "pillar"}},
		{"parts of values of pillars in an expression", "{}", fun.PublishRequest{ID: "lb1", Fun: "test.ping", Tgt: "I@key:key?of?w*", TgtType: "compound"}},
		{"runner", "manage.up", fun.PublishRequest{ID: "lb1", Fun: "manage.up", Runner: true}},
		{"another runner", "a runner: the option peer_run", fun.PublishRequest{ID: "lb1", Fun: "manage.down", Runner: true}},
		{"no job", "by jobs of a run only", fun.PublishRequest{ID: "lb1", Fun: "test.ping", Tgt: "*", JID: "none"}},
	} {
		switch tt.req.JID {
		case "":
			tt.req.JID = "20200101000000000000"
		case "none":
			tt.req.JID = ""
		}
		v, err := p.Publish(t.Context(), tt.req)
		got := value.Str(v)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
			t.Errorf("%s: %s; want %s", tt.name, got, tt.want)
		}
	}
	for name, none := range map[string]*Peers{"no option": {Fleet: f, Runner: p.Runner}, "an empty one": {Fleet: f, Runner: p.Runner, Peer: value.NewMap(0), PeerRun: value.NewMap(0)}} {
		for _, runner := range []bool{false, true} {
			if v, err := none.Publish(t.Context(), fun.PublishRequest{ID: "lb1", JID: "1", Fun: "test.ping", Tgt: "*", Runner: runner}); err == nil || !strings.Contains(err.Error(), "does not allow") {
				t.Errorf("%s: %s, %v", name, value.Str(v), err)
			}
		}
	}
	if m.asked {
		t.Error("a master was asked for a machine")
	}
	for jid := range p.jids {
		if _, err := p.Publish(t.Context(), fun.PublishRequest{ID: "lb1", JID: jid, Fun: "test.ping", Tgt: "*"}); err == nil {
			t.Errorf("a job that a machine called calls further: %s", jid)
		}
	}
}

// A machine that a target names is not a minion of the same id that was found before.
func TestNamedBesideMaster(t *testing.T) {
	t.Parallel()
	m := &masters{machines: machines{ids: []string{"web1"}}}
	f := &Fleet{Providers: []Provider{m, &machines{ids: []string{"web1"}}}, NewJID: func() string { return "20200102030405000000" }}
	f.Name = func(context.Context, string, []string) ([]string, bool, error) { return []string{"web1"}, true, nil }
	found, err := f.targets(t.Context(), fun.Job{Tgt: "web1"})
	if err != nil || len(found.ids) != 1 || found.owner["web1"] == Provider(m) {
		t.Errorf("%+v, %v", found, err)
	}
}

// Minions keep their mine at their master: reading that of the roster asks them
// nothing.
func TestMineLeavesMinions(t *testing.T) {
	t.Parallel()
	m, _, _ := newMine("web1")
	minions := &masters{machines: machines{ids: []string{"web9"}, most: -1}}
	m.Fleet.Providers = append(m.Fleet.Providers, minions)
	m.works([]string{"web1", "web9"})
	if got, want := read(t, m, fun.MineRequest{ID: "web1", JID: "1"}), "{'who': {'web1': 'web1'}}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if minions.most != -1 {
		t.Error("a minion was asked")
	}
}
