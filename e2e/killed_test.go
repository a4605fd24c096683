//go:build linux

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/jobs"
)

// orchSteps is how many steps an orchestration that is killed has.
const orchSteps = 5

// TestKilledOrchestrations kills controllers at random moments of an orchestration,
// each step of which adds a line to a log of its run. The record says the truth: a
// step that it has as done has its line, and at most the step that was under way
// has a line without being in the record. No step runs twice, neither before nor
// after the orchestration is resumed, but for that one. BRINE_TEST_KILLS is how
// many are killed.
func TestKilledOrchestrations(t *testing.T) {
	t.Parallel()
	kills := 8
	if n, err := strconv.Atoi(os.Getenv("BRINE_TEST_KILLS")); err == nil {
		kills = n
	}
	var sls strings.Builder
	for i := range orchSteps {
		fmt.Fprintf(&sls, "step%d:\n  salt.function: [{name: cmd.run, tgt: t0, arg: ['echo step%d >>{{ pillar.log }}; sleep 0.02']}]\n", i, i)
	}
	d := newLoadTree(t, 1, map[string]string{"orch.sls": sls.String()})
	whole, _ := d.brine(t, "orchestrate", "orch", "pillar="+logOf(d, "whole"))
	d.lines(t, "whole", orchSteps)
	var seen outcomes
	for k := range kills {
		d.killed(t, strconv.Itoa(k), time.Duration(rand.Int64N(int64(whole*5/4))), &seen)
	}
	t.Logf("%d orchestrations were killed: %d before their record, %d with steps to do, %d after their end; %d steps were under way and not in the record; %d were resumed",
		kills, seen.none, seen.interrupted, seen.complete, seen.between, seen.resumed)
}

// outcomes counts what killed orchestrations left.
type outcomes struct{ none, interrupted, complete, between, resumed int }

func logOf(d loadTree, run string) string {
	return fmt.Sprintf(`{"log": %q}`, filepath.Join(d.dir, "log-"+run))
}

// lines returns how often each step ran, by the log of a run. want is how many
// are to have run, once each; negative is not checked.
func (d loadTree) lines(t *testing.T, run string, want int) map[string]int {
	t.Helper()
	b, _ := os.ReadFile(filepath.Join(d.dir, "log-"+run))
	out := map[string]int{}
	for name := range strings.FieldsSeq(string(b)) {
		out[name]++
	}
	if want >= 0 && (len(out) != want || len(strings.Fields(string(b))) != want) {
		t.Errorf("run %s did %v, want %d steps once each", run, out, want)
	}
	return out
}

// killed runs an orchestration, kills it after a while, compares its record with
// what was done, and resumes it.
func (d loadTree) killed(t *testing.T, run string, after time.Duration, seen *outcomes) {
	t.Helper()
	cache := filepath.Join(d.dir, "cache-"+run)
	c := d.command(t, "orchestrate", "orch", "pillar="+logOf(d, run), "--cachedir", cache)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	_ = c.Process.Kill()
	_ = c.Wait()
	d.settle(run)
	done := d.lines(t, run, -1)
	for name, n := range done {
		if n != 1 {
			t.Errorf("run %s: %s ran %d times", run, name, n)
		}
	}
	j := orchestration(t, cache)
	if j == nil {
		seen.none++
		if len(done) > 0 {
			t.Errorf("run %s has no record and did %v", run, done)
		}
		return
	}
	recorded := map[string]bool{}
	for _, s := range j.Steps {
		name := s.Map("return").Str("__id__")
		recorded[name] = true
		if s.Map("return").At("result") == true && done[name] != 1 {
			t.Errorf("run %s: the record has %s as done, the log %v", run, name, done)
		}
	}
	between := ""
	for name := range done {
		if !recorded[name] {
			if between != "" {
				t.Errorf("run %s: neither %s nor %s is in the record", run, between, name)
			}
			between = name
			seen.between++
		}
	}
	if j.State == jobs.Complete {
		seen.complete++
		d.lines(t, run, orchSteps)
		return
	}
	seen.interrupted++
	if j.State != jobs.Interrupted {
		t.Errorf("run %s: the job is %v", run, j.State)
	}
	if j.Definition == nil {
		return // killed before its steps were known: it cannot be resumed
	}
	d.brine(t, "orchestrate", "--resume", j.Load.Str("jid"), "pillar="+logOf(d, run), "--cachedir", cache)
	seen.resumed++
	for name, n := range d.lines(t, run, -1) {
		if n != 1 && (name != between || n != 2) {
			t.Errorf("run %s: %s ran %d times after it was resumed", run, name, n)
		}
	}
	if n := len(d.lines(t, run, -1)); n != orchSteps {
		t.Errorf("run %s: %d steps of %d are done after it was resumed", run, n, orchSteps)
	}
}

// orchestration returns the job of the only orchestration of a cache; nil where
// there is none.
func orchestration(t *testing.T, cache string) *jobs.Job {
	t.Helper()
	f := jobs.NewFiles(cache, 0, time.Now)
	list, err := f.Jobs(context.Background(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Load.Str("fun") == "runner.state.orchestrate" {
			j, err := f.Job(context.Background(), e.JID)
			if err != nil {
				t.Fatal(err)
			}
			return j
		}
	}
	return nil
}

// settle waits until no command that a killed run left is at work, and none of its
// children that is still to become one: such a child has the lock of the job.
func (d loadTree) settle(run string) {
	file := filepath.Join(d.dir, "log-"+run)
	// A process that is being replaced by its program has no command line for a
	// moment: one look is not enough.
	for quiet, looks := 0, 0; quiet < 3 && looks < 1000; looks++ {
		procs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		left := false
		for _, p := range procs {
			b, _ := os.ReadFile(p)
			left = left || strings.Contains(string(b), file+";") || strings.Contains(string(b), file+`"`)
		}
		if quiet++; left {
			quiet = 0
		}
		time.Sleep(10 * time.Millisecond)
	}
}
