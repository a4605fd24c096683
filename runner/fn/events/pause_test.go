package events

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// told is a fleet that keeps what its targets are to run.
type told struct {
	fun.Fleet
	got string
}

func (f *told) Run(_ context.Context, job fun.Job, _ func(fun.Return) error) (fun.Summary, error) {
	f.got = job.Fun + " " + value.Repr(value.NewList(job.Args.Pos...)) + " " + value.Repr(job.Args.Kw)
	return fun.Summary{}, nil
}

// The targets of a job without a process here are told of a wish with its arguments.
func TestTellAway(t *testing.T) {
	t.Parallel()
	const jid = "20261121090807123456"
	dir := t.TempDir()
	r, err := jobs.NewFiles(dir, 0, time.Now).Begin(jobs.Load{JID: jid, Fun: "state.apply", Tgt: "*", Minions: []string{"web1"}, Detached: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.End() })
	fleet := &told{}
	env := &fun.Env{
		Machine: fun.Machine{CacheDir: dir, Host: host.NewFake()},
		UI:      fun.UI{Logger: slog.New(slog.DiscardHandler), OnWarn: func(fun.Warning) {}},
		Functions: fun.Functions{Table: fun.NewTable([]fun.Entry{{Kind: fun.Runner, Name: "state", Load: func() fun.Module {
			return fun.Module{Name: "state", Kind: fun.Runner, Specs: PauseRunners()}
		}}})},
	}
	env.Fleet = fleet
	for _, tt := range []struct {
		name string
		args *value.Map
		want string
	}{
		{"pause", value.MapOf("jid", jid), "state.pause ['" + jid + "'] {}"},
		{"pause", value.MapOf("jid", jid, "state_id", "second", "duration", int64(60)), "state.pause ['" + jid + "'] {'state_id': 'second', 'duration': 60}"},
		{"resume", value.MapOf("jid", jid, "state_id", "second"), "state.resume ['" + jid + "'] {'state_id': 'second'}"},
		{"soft_kill", value.MapOf("jid", jid, "state_id", "third"), "state.soft_kill ['" + jid + "'] {'state_id': 'third'}"},
	} {
		fleet.got = ""
		if _, err := dispatch.New(env).Invoke(t.Context(), fun.Runner, "state."+tt.name, fun.Args{Kw: tt.args}); err != nil || fleet.got != tt.want {
			t.Errorf("%s: targets run %q, %v, want %q", tt.name, fleet.got, err, tt.want)
		}
	}
}
