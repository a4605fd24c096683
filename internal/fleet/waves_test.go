//go:build !slim

package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

func wavesOf(t *testing.T, text string) []fun.Wave {
	t.Helper()
	if text == "" {
		return nil
	}
	w, err := fun.ParseWaves(text)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func shareOf(t *testing.T, text string) *fun.Share {
	t.Helper()
	if text == "" {
		return nil
	}
	s, err := fun.ParseShare(text)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func TestWaves(t *testing.T) {
	t.Parallel()
	ten := []string{"db1", "db2", "web1", "web2", "web3", "web4", "web5", "web6", "web7", "web8"}
	for _, tt := range []struct {
		waves string
		ids   []string
		want  string
	}{
		{"", ten[:3], "db1 db2 web1"},
		{"1,3", ten[:4], "db1|db2 web1|web2"},
		{"1,100%", ten[:3], "db1|db2 web1"},
		{"1,50%,100%", ten[:5], "db1|db2|web1 web2 web3"},
		{"1,10%,50%,100%", ten[:3], "db1|db2 web1"}, // of three, 10% and 50% are one
		{"10%,20%", ten[:1], "db1"},
		{"2,50", ten[:4], "db1 db2|web1 web2"},
		{"G@role:web", ten[:4], "web1 web2|db1 db2"},
		{"1,G@role:web,100%", ten[:5], "web1|web2 web3|db1 db2"},
		{"L@web2,L@web1 or L@web2", ten[:4], "web2|web1|db1 db2"},
		{"G@role:web,50%", ten[:5], "web1 web2 web3|db1 db2"},
		{"1", nil, ""},
		{"N@canaries", ten[:4], "db2 web1|db1 web2"},
	} {
		f := fleetOf(&machines{ids: tt.ids})
		f.Nodegroups = value.MapOf("canaries", "L@db2,web1")
		got, err := f.Waves(t.Context(), fun.Job{Tgt: "*", Waves: wavesOf(t, tt.waves)})
		if err != nil {
			t.Errorf("waves %s: %v", tt.waves, err)
			continue
		}
		if tt.waves == "" {
			if got != nil {
				t.Errorf("no waves: %v", got)
			}
			continue
		}
		parts := make([]string, len(got))
		for i, ids := range got {
			parts[i] = strings.Join(ids, " ")
		}
		if got := strings.Join(parts, "|"); got != tt.want {
			t.Errorf("waves %s of %v: %s, want %s", tt.waves, tt.ids, got, tt.want)
		}
	}
	f := fleetOf(&machines{ids: ten})
	for _, tt := range []struct {
		job  fun.Job
		want string
	}{
		{fun.Job{Waves: wavesOf(t, "G@role:nobody,50%")}, "none of the 10 targets is in the group G@role:nobody"},
		{fun.Job{Waves: []fun.Wave{{Tgt: "x", TgtType: "globb"}}}, `unknown target type "globb"`},
		{fun.Job{Waves: wavesOf(t, "1"), Async: true}, "cannot go in waves"},
	} {
		tt.job.Tgt = "*"
		if _, err := f.Run(t.Context(), tt.job, func(fun.Return) error { return nil }); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %s", tt.job.Waves, err, tt.want)
		}
	}
}

// begun runs a job and returns the targets that were begun, in order, those that
// were left out, and why.
func begun(t *testing.T, f *Fleet, job fun.Job) (ran, left []string, why error) {
	t.Helper()
	if _, err := f.Run(t.Context(), job, func(r fun.Return) error {
		if errors.Is(r.Err, fun.ErrNotBegun) {
			if why != nil && why.Error() != r.Err.Error() {
				t.Errorf("two reasons: %v, %v", why, r.Err)
			}
			left, why = append(left, r.ID), r.Err
			return nil
		}
		ran = append(ran, r.ID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return ran, left, why
}

func TestMaxFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ids, waves, max, batch string
		judge                  func(fun.Return) (failed, good bool)
		ran                    int
		why                    string
	}{
		{ids: "a1 bad1 c1 d1", batch: "1", ran: 4},
		{ids: "a1 bad1 c1 d1", batch: "1", max: "0", ran: 2, why: "not begun: 1 target failed (max_failures: 0)"},
		{ids: "a1 bad1 bad2 d1", batch: "1", max: "1", ran: 3, why: "not begun: 2 targets failed (max_failures: 1)"},
		{ids: "a1 bad1 bad2 d1", batch: "1", max: "50%", ran: 4},
		{ids: "a1 bad1 c1 d1", batch: "1", max: "25%", ran: 4},
		{ids: "a1 bad1 c1 d1", batch: "1", max: "24%", ran: 2, why: "not begun: 1 target failed (max_failures: 24%)"},
		{ids: "bad1 c1 d1 e1", waves: "1,50%", ran: 1, why: "not begun: stopped in wave 1 of 3: 1 target failed (max_failures: 0)"},
		{ids: "a1 bad1 c1 d1 e1 f1", waves: "1,3", ran: 3, why: "not begun: stopped in wave 2 of 3: 1 target failed (max_failures: 0)"},
		{ids: "a1 dead1 z1", waves: "1,2", ran: 2, why: "not begun: stopped in wave 2 of 3: 1 target failed (max_failures: 0)"},
		// a percentage is one of the targets that have begun: a bad canary stops it
		{ids: "bad1 c1 d1 e1", waves: "1,100%", max: "50%", ran: 1, why: "not begun: stopped in wave 1 of 2: 1 target failed (max_failures: 50%)"},
		{ids: "a1 bad1 c1 d1", waves: "2,100%", max: "50%", ran: 4},
		{ids: "bad1 c1 d1 e1", waves: "1,100%", max: "1", ran: 4},
		// what the step says is a failure
		{ids: "bad1 c1 d1 e1", waves: "1,100%", judge: func(fun.Return) (failed, good bool) { return false, false }, ran: 4},
		{ids: "a1 c1 d1 e1", waves: "1,100%", judge: func(fun.Return) (failed, good bool) { return true, false }, ran: 1, why: "not begun: stopped in wave 1 of 2: 1 target failed (max_failures: 0)"},
	} {
		f := fleetOf(&machines{ids: strings.Fields(tt.ids)})
		job := fun.Job{Tgt: "*", Batch: tt.batch, Waves: wavesOf(t, tt.waves), MaxFailures: shareOf(t, tt.max), Judge: tt.judge}
		ran, left, why := begun(t, f, job)
		text := ""
		if why != nil {
			text = why.Error()
		}
		if len(ran) != tt.ran || len(ran)+len(left) != len(f.Providers[0].(*machines).ids) || text != tt.why {
			t.Errorf("%+v: ran %v, left out %v: %v", tt, ran, left, why)
		}
	}
}

// TestMaxFailuresWithin: nothing further begins within a wave, either.
func TestMaxFailuresWithin(t *testing.T) {
	t.Parallel()
	p := &machines{ids: []string{"a1", "bad1", "bad2", "c1", "d1", "e1"}}
	ran, left, why := begun(t, fleetOf(p), fun.Job{Tgt: "*", Batch: "1", Waves: wavesOf(t, "1,5,100%"), MaxFailures: shareOf(t, "1")})
	if strings.Join(ran, " ") != "a1 bad1 bad2" || len(left) != 3 || why.Error() != "not begun: stopped in wave 2 of 3: 2 targets failed (max_failures: 1)" {
		t.Errorf("ran %v, left out %v: %v", ran, left, why)
	}
}

// TestUnlistedFirst: targets that nobody has failed before the first wave.
func TestUnlistedFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		max string
		ran int
	}{{"", 1}, {"1", 4}, {"30%", 1}, {"50%", 4}} {
		f := fleetOf(&machines{ids: []string{"a", "b", "c"}})
		ran, _, _ := begun(t, f, fun.Job{Tgt: "a,b,c,ghost", TgtType: "list", Waves: wavesOf(t, "1,100%"), MaxFailures: shareOf(t, tt.max)})
		if len(ran) != tt.ran { // ghost is one
			t.Errorf("max_failures %q: ran %v", tt.max, ran)
		}
	}
}

// TestWaveTolerated: a target whose failure is tolerated stops nothing, and is not
// checked.
func TestWaveTolerated(t *testing.T) {
	t.Parallel()
	checked := ""
	ran, left, why := begun(t, fleetOf(&machines{ids: []string{"a1", "bad1", "c1"}}), fun.Job{
		Tgt: "*", Waves: wavesOf(t, "2,100%"),
		Judge: func(r fun.Return) (failed, good bool) { return false, r.Success() },
		WaveCheck: func(_ context.Context, w fun.WaveDone) error {
			checked = strings.Join(w.Good, " ")
			return nil
		},
	})
	if len(ran) != 3 || len(left) > 0 || checked != "a1" {
		t.Errorf("ran %v, left out %v (%v), checked %q", ran, left, why, checked)
	}
}

// TestWaveCheck: what comes between waves, and the events.
func TestWaveCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name   string
			faults []error // of the checks
			passed []string
			ran    string
			checks string
			why    string
			took   time.Duration
			events string
		}{
			{
				name: "good", ran: "a b c d", checks: "1/3 a;2/3 b c", took: 20 * time.Second,
				events: "1 started a,1 ended a,2 started b c,2 ended b c,3 started d,3 ended d",
			},
			{
				name: "second is bad", faults: []error{nil, errors.New("it is slow")}, ran: "a b c", checks: "1/3 a;2/3 b c", took: 20 * time.Second,
				why:    "not begun: stopped in wave 2 of 3: its check failed: it is slow",
				events: "1 started a,1 ended a,2 started b c,2 ended b c,2 stopped ",
			},
			{name: "first passed", passed: []string{"a"}, ran: "b c d", checks: "1/3 a;2/3 b c", took: 10 * time.Second, events: "2 started b c,2 ended b c,3 started d,3 ended d"},
			{name: "two passed", passed: []string{"a", "b", "c"}, ran: "d", checks: "2/3 b c", events: "3 started d,3 ended d"},
			{
				name: "passed, and the check is bad again", passed: []string{"a"}, faults: []error{errors.New("no")}, checks: "1/3 a",
				why: "not begun: stopped in wave 1 of 3: its check failed: no", events: "1 stopped ",
			},
			{name: "passed in part", passed: []string{"a", "c"}, ran: "b d", checks: "1/3 a;2/3 b c", took: 10 * time.Second, events: "2 started b,2 ended b,3 started d,3 ended d"},
			{name: "all passed", passed: []string{"a", "b", "c", "d"}},
		} {
			f := fleetOf(&machines{ids: []string{"a", "b", "c", "d"}})
			bus := event.NewRing(100, time.Now)
			f.Bus = bus
			var events []string
			bus.Tap(func(e event.Event) { events = append(events, waveEvent(e)...) })
			var checks []string
			faults := tt.faults
			begin := time.Now()
			ran, left, why := begun(t, f, fun.Job{
				Tgt: "*", Waves: wavesOf(t, "1,3,100%"), WaveWait: 10 * time.Second, Passed: tt.passed,
				WaveCheck: func(_ context.Context, w fun.WaveDone) error {
					checks = append(checks, fmt.Sprintf("%d/%d %s", w.Number, w.Of, strings.Join(w.Good, " ")))
					if len(faults) == 0 {
						return nil
					}
					err := faults[0]
					faults = faults[1:]
					return err
				},
			})
			slices.Sort(ran)
			text := ""
			if why != nil {
				text = why.Error()
			}
			took := time.Since(begin).Round(time.Second)
			if strings.Join(ran, " ") != tt.ran || strings.Join(checks, ";") != tt.checks || text != tt.why || took != tt.took || len(ran)+len(left)+len(tt.passed) != 4 {
				t.Errorf("%s: ran %v, left out %v: %v; checks %v, took %s", tt.name, ran, left, why, checks, took)
			}
			if got := strings.Join(events, ","); got != tt.events {
				t.Errorf("%s: events %s, want %s", tt.name, got, tt.events)
			}
		}
	})
}

// waveEvent returns the event of a wave as text, nil where it is another one.
func waveEvent(e event.Event) []string {
	if !strings.HasSuffix(e.Tag, "/wave") {
		return nil
	}
	var ids []string
	l := e.Data.List("targets")
	for i := range l.Len() {
		ids = append(ids, value.Str(l.Items[i]))
	}
	return []string{fmt.Sprintf("%v %s %s", e.Data.At("number"), e.Data.Str("state"), strings.Join(ids, " "))}
}

// TestWaveStops: the end of the run cuts the wait between waves short.
func TestWaveStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := fleetOf(&machines{ids: []string{"a", "b"}})
		begin := time.Now()
		f.Gate = func(context.Context, *fun.Chunk) bool { return time.Since(begin) < 3*time.Second }
		got := map[string]error{}
		if _, err := f.Run(t.Context(), fun.Job{Tgt: "*", Waves: wavesOf(t, "1"), WaveWait: time.Hour}, func(r fun.Return) error {
			got[r.ID] = r.Err
			return nil
		}); err != nil || got["a"] != nil || !errors.Is(got["b"], fun.ErrStopped) || time.Since(begin) > 4*time.Second {
			t.Errorf("%v, %v after %s", got, err, time.Since(begin))
		}
	})
}

// publishing are minions that are told of jobs many at once.
type publishing struct {
	masters
	mu        sync.Mutex
	published []string
}

func (p *publishing) Publish(_ context.Context, _ fun.Job, ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.published = append(p.published, strings.Join(ids, " "))
}

// TestWavesOfMaster: a master publishes each wave at once.
func TestWavesOfMaster(t *testing.T) {
	t.Parallel()
	p := &publishing{masters: masters{machines: machines{ids: []string{"a", "b", "bad1", "c", "d"}}}}
	f := fleetOf(&machines{ids: []string{"ssh1"}})
	f.Providers = append(f.Providers, p)
	ran, left, _ := begun(t, f, fun.Job{Tgt: "*", Waves: wavesOf(t, "2,4,100%")})
	if got := strings.Join(p.published, "|"); got != "a b|bad1 c" || len(ran) != 4 || len(left) != 2 {
		t.Errorf("published %s; ran %v, left out %v", got, ran, left)
	}
}

// TestWavesOfMany: 10,000 targets.
func TestWavesOfMany(t *testing.T) {
	t.Parallel()
	p := &machines{}
	for i := range 10_000 {
		p.ids = append(p.ids, fmt.Sprintf("web%05d", i))
	}
	n := 0
	sum, err := fleetOf(p).Run(t.Context(), fun.Job{Tgt: "*", Waves: wavesOf(t, "1,10%,50%,100%"), Passed: p.ids[:1000]}, func(fun.Return) error { n++; return nil })
	if err != nil || n != 9000 || len(sum.Targets) != 9000 || len(sum.Passed) != 1000 {
		t.Errorf("%d returns, %d targets, %d passed, %v", n, len(sum.Targets), len(sum.Passed), err)
	}
}
