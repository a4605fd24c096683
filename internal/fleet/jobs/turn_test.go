package jobs

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// jidAt is a job id that is later the larger n is.
func jidAt(n int) string { return "202611210908" + strconv.Itoa(10000000+n) }

func runsAt(h host.Host, dir, id string) *Runs {
	env := &fun.Env{}
	env.Host, env.ProcDir, env.ID = h, dir, id
	return RunsOf(env)
}

func enter(t *testing.T, r *Runs, e TurnRequest) (*Turn, []*value.Map) {
	t.Helper()
	turn, others, err := r.Enter(e)
	if err != nil {
		t.Fatal(err)
	}
	return turn, others
}

func TestTurns(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]host.Host{"local": host.NewLocal(), "fake": host.NewFake()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := "/turns"
			if name == "local" {
				dir = t.TempDir()
			}
			web1, web2 := runsAt(h, dir, "web1"), runsAt(h, dir, "web2")
			first, _ := enter(t, web1, TurnRequest{JID: jidAt(1), Fun: "state.apply"})
			if first == nil {
				t.Fatal("the first run is refused")
			}
			turn, others := enter(t, web1, TurnRequest{JID: jidAt(2), Fun: "state.sls"})
			if turn != nil || len(others) != 1 || others[0].Str("jid") != jidAt(1) || others[0].Str("fun") != "state.apply" {
				t.Fatalf("the second run: turn %v, others %v", turn, others)
			}
			// Another machine's, one within the first, and one that goes beside it.
			for what, c := range map[string]struct {
				r *Runs
				e TurnRequest
			}{
				"web2":   {web2, TurnRequest{JID: jidAt(2), Fun: "state.sls"}},
				"within": {web1, TurnRequest{JID: jidAt(1), Fun: "state.sls"}},
				"beside": {web1, TurnRequest{JID: jidAt(3), Fun: "state.sls", Beside: true}},
			} {
				turn, others := enter(t, c.r, c.e)
				if turn == nil {
					t.Fatalf("%s is refused: %v", what, others)
				}
				if before, err := turn.Before(); before != nil || err != nil {
					t.Errorf("%s waits for %v, %v", what, before, err)
				}
				turn.End()
			}
			// The one within has not ended the turn of the whole.
			wait, _ := enter(t, web1, TurnRequest{JID: jidAt(4), Fun: "state.sls", Queue: true})
			if before, _ := wait.Before(); before.Str("jid") != jidAt(1) {
				t.Fatalf("the fourth run waits for %v", before)
			}
			if turn, others := enter(t, web1, TurnRequest{JID: jidAt(5), Fun: "state.sls", Queue: true, Max: 2}); turn != nil || len(others) != 2 {
				t.Errorf("queue=2 with two there: turn %v, others %v", turn, others)
			}
			last, _ := enter(t, web1, TurnRequest{JID: jidAt(5), Fun: "state.sls", Queue: true, Max: 3})
			first.End()
			if before, _ := last.Before(); before.Str("jid") != jidAt(4) {
				t.Errorf("the last run waits for %v", before)
			}
			if before, _ := wait.Before(); before != nil {
				t.Errorf("the fourth run waits for %v", before)
			}
			wait.End()
			if before, _ := last.Before(); before != nil {
				t.Errorf("the last run waits for %v", before)
			}
			last.End()
		})
	}
}

// Of runs that begin at once, one begins and each other one is told of it.
func TestTurnsAtOnce(t *testing.T) {
	t.Parallel()
	h, dir := host.NewLocal(), t.TempDir()
	for round := range 20 {
		var wg sync.WaitGroup
		turns := make([]*Turn, 8)
		for i := range turns {
			wg.Go(func() {
				turns[i], _, _ = runsAt(h, dir, "web1").Enter(TurnRequest{JID: jidAt(round*10 + i), Fun: "state.apply"})
			})
		}
		wg.Wait()
		began := 0
		for _, turn := range turns {
			if turn != nil {
				began++
				turn.End()
			}
		}
		if began != 1 {
			t.Fatalf("%d runs began, want 1", began)
		}
	}
}

// What a killed process left behind holds nobody up.
func TestTurnOfTheDead(t *testing.T) {
	t.Parallel()
	h, dir := host.NewLocal(), t.TempDir()
	dead := sleep(t)
	r := runsAt(h, dir, "web1")
	turn, _ := enter(t, r, TurnRequest{JID: jidAt(1), Fun: "state.apply"})
	turn.claim.Set("pid", int64(dead.Process.Pid))
	if _, err := r.p.begin(turn.claim, turn.path); err != nil {
		t.Fatal(err)
	}
	if turn, _ := enter(t, r, TurnRequest{JID: jidAt(2), Fun: "state.apply"}); turn != nil {
		t.Fatal("a run of a process that lives is passed over")
	}
	_ = dead.Process.Kill()
	_ = dead.Wait()
	if turn, others := enter(t, r, TurnRequest{JID: jidAt(2), Fun: "state.apply"}); turn == nil {
		t.Fatalf("refused for %v, whose process is gone", others)
	}
	if _, err := os.Stat(turn.path); err == nil {
		t.Error("the claim of the dead stays")
	}
	// Nor does what is no claim.
	if err := os.WriteFile(filepath.Join(r.p.dir, jidAt(3)), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, others := enter(t, r, TurnRequest{JID: jidAt(4), Fun: "state.apply"}); len(others) != 1 {
		t.Errorf("others %v", others)
	}
}
