package progress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clipperhouse/displaywidth"

	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/py/value"
	"brine/internal/testkit"
	"brine/internal/testkit/termtest"
)

// schemaFile is the schema of the events.
const schemaFile = "../../../docs/progress.schema.json"

func chunk(id string) *fun.Chunk {
	return &fun.Chunk{State: "salt", ID: id, Fun: "state", Low: value.MapOf("state", "salt", "__id__", id, "name", id, "fun", "state")}
}

func stateRet(result value.Value, comment string) *value.Map {
	return value.MapOf("result", result, "comment", comment, "changes", value.NewMap(0))
}

// A story is a model with a clock of its own.
type story struct {
	*model
	at time.Time
}

func newStory() *story {
	s := &story{model: newModel("orch.deploy"), at: time.Unix(0, 0).UTC()}
	s.now = func() time.Time { return s.at }
	return s
}

// pass has time pass.
func (s *story) pass(d time.Duration) { s.at = s.at.Add(d) }

// deploy tells of an orchestration of steps, of which the first two are done and
// the third works on hosts.
func (s *story) deploy(steps, hosts int) {
	var chunks []*fun.Chunk
	for i := range steps {
		chunks = append(chunks, chunk(fmt.Sprintf("step%d", i+1)))
	}
	s.RunBegins("1", chunks)
	s.StateBegins(chunks[0])
	s.pass(1200 * time.Millisecond)
	s.StateEnds(chunks[0], stateRet(true, "fine"))
	s.StateBegins(chunks[1])
	s.Begin(fun.Job{JID: "2", Fun: "cmd.run", Step: "step2"}, []string{"db1", "db2"})
	s.At("2", "db1", fleet.Connecting)
	s.pass(4 * time.Second)
	s.Done(fun.Return{ID: "db1", JID: "2", Stage: fun.Unreachable, Err: errors.New("connection refused\n\x1b[2Jby db1")})
	s.Done(fun.Return{ID: "db2", JID: "2"})
	s.End("2")
	s.StateEnds(chunks[1], stateRet(false, "Run failed on minions: db1"))
	s.StateBegins(chunks[2])
	ids := make([]string, hosts)
	for i := range ids {
		ids[i] = fmt.Sprintf("web%d", i+1)
	}
	s.Begin(fun.Job{JID: "3", Fun: "state.apply", Step: "step3"}, ids)
	for i, id := range ids {
		s.At("3", id, fleet.Connecting)
		if i%3 > 0 {
			s.At("3", id, fleet.Running)
		}
		s.pass(10 * time.Millisecond)
	}
	s.pass(8 * time.Second)
	s.Done(fun.Return{ID: "web2", JID: "3"})
}

func TestViewOfSteps(t *testing.T) {
	t.Parallel()
	s := newStory()
	s.deploy(12, 100)
	v := &view{m: s.model, look: look{utf8: true}}
	for _, tt := range []struct {
		width, height int
		want          string
	}{
		{79, 24, `
orch.deploy: 2 of 12 steps done, 1 failed, 1 running, 9 waiting  14s
✓ step1  1.2s
✗ step2  1 of 2 hosts failed  4.0s
▸ step3: 1/100 done, 34 connecting, 65 running  9s
· next: step4, step5, step6, step7, step8, step9, step10, step11, step12
waiting for step3: web1 (connecting 9s), web3 (running 8s) and 97 more
`}, {199, 50, `
orch.deploy: 2 of 12 steps done, 1 failed, 1 running, 9 waiting  14s
✓ step1  1.2s
✗ step2  1 of 2 hosts failed  4.0s
▸ step3: 1/100 done, 34 connecting, 65 running  9s
· next: step4, step5, step6, step7, step8, step9, step10, step11, step12
waiting for step3: web1 (connecting 9s), web3 (running 8s), web4 (connecting 8s), web5 (running 8s), web6 (running 8s) and 94 more
`}, {39, 24, `
orch.deploy: 2 of 12 steps done
✓ step1  1.2s
✗ step2  1 of 2 hosts failed  4.0s
▸ step3: 1/100 done, 34 connecting
· next: step4, step5, step6 and 6 more
waiting for step3: web1 (connecting 9s…
`}, {79, 6, `
orch.deploy: 2 of 12 steps done, 1 failed, 1 running, 9 waiting  14s
▸ step3: 1/100 done, 34 connecting, 65 running  9s
· next: step4, step5, step6, step7, step8, step9, step10, step11, step12
waiting for step3: web1 (connecting 9s), web3 (running 8s) and 97 more
`}, {79, 5, `
orch.deploy: 2 of 12 steps done, 1 failed, 1 running, 9 waiting  14s
waiting for step3: web1 (connecting 9s), web3 (running 8s) and 97 more
`}, {79, 3, `
orch.deploy: 2 of 12 steps done, 1 failed, 1 running, 9 waiting  14s
`},
	} {
		lines, columns := v.frame(tt.width, tt.height)
		if got := "\n" + strings.Join(lines, "\n") + "\n"; got != tt.want {
			t.Errorf("%dx%d:%s\nwant:%s", tt.width, tt.height, got, tt.want)
		}
		for i, l := range lines {
			if n := displaywidth.String(l); n > tt.width || n != columns[i] {
				t.Errorf("%dx%d: %q has %d columns, said to have %d", tt.width, tt.height, l, n, columns[i])
			}
		}
		if len(lines) >= tt.height {
			t.Errorf("%dx%d: %d lines", tt.width, tt.height, len(lines))
		}
	}
	for width := range 200 {
		lines, _ := v.frame(width, 24)
		for _, l := range lines {
			if n := displaywidth.String(l); n > width {
				t.Errorf("%d columns on a terminal of %d: %q", n, width, l)
			}
		}
	}
	s.RunEnds()
	s.End("3")
	if lines, _ := v.frame(80, 24); lines != nil {
		t.Errorf("all is over: %q", lines)
	}
}

// TestViewOfManySteps: of steps at once those that have room, and the number of
// the others; of 1,000 hosts counts and the slowest.
func TestViewOfManySteps(t *testing.T) {
	t.Parallel()
	s := newStory()
	var chunks []*fun.Chunk
	for i := range 20 {
		chunks = append(chunks, chunk(fmt.Sprintf("s%d", i)))
	}
	s.RunBegins("1", chunks)
	for _, c := range chunks {
		s.StateBegins(c)
	}
	v := &view{m: s.model, look: look{utf8: true}}
	lines, _ := v.frame(79, 24)
	if len(lines) != maxBody+2 || lines[maxBody] != "▸ 11 more are running" {
		t.Errorf("%d lines: %s", len(lines), strings.Join(lines, "\n"))
	}
	s = newStory()
	s.deploy(200, 1000)
	lines, _ = (&view{m: s.model, look: look{utf8: true}}).frame(79, 24)
	if got := strings.Join(lines, "\n"); len(lines) != 6 || !strings.Contains(got, "1/1000 done, 334 connecting, 665 running") || !strings.Contains(got, "and 997 more") {
		t.Errorf("1,000 hosts:\n%s", got)
	}
}

// someProgress is a job on 50 targets that is under way.
func someProgress(s *story) {
	s.Begin(fun.Job{JID: "1", Fun: "state.sls", Step: "deploy"}, make([]string, 50))
	at := func(ph fleet.Phase, ids ...string) {
		for _, id := range ids {
			s.At("1", id, ph)
		}
	}
	at(fleet.Connecting, "web7")
	s.pass(9 * time.Second)
	at(fleet.Connecting, "web1", "web2", "web3", "web4")
	at(fleet.Pushing, "web4")
	at(fleet.Running, "web7", "web1")
	s.pass(3 * time.Second)
	s.Done(fun.Return{ID: "web1", JID: "1"})
	s.Done(fun.Return{ID: "web9", JID: "1", Stage: fun.Unreachable})
	s.Done(fun.Return{ID: "web10", JID: "1", Retcode: 2})
}

func TestViewOfAJob(t *testing.T) {
	t.Parallel()
	s := newStory()
	someProgress(s)
	v := &view{m: s.model}
	for _, tt := range []struct {
		width int
		want  string
	}{
		{200, "deploy: 3/50 done, 2 failed, 2 connecting, 1 pushing, 1 running  12s|waiting for web7 (running 12s), web2 (connecting 3s), web3 (connecting 3s), web4 (pushing 3s)"},
		{62, "deploy: 3/50 done, 2 failed, 2 connecting, 1 pushing|waiting for web7 (running 12s) and 3 more"},
		{40, "deploy: 3/50 done, 2 failed|waiting for web7 (running 12s) and 3 mo."},
		{26, "deploy: 3/50 done|waiting for web7 (running."},
		{16, "3/50 done|waiting for web."},
		{9, "3/50 done|waiting ."},
		{8, ""},
		{-1, ""},
	} {
		lines, _ := v.frame(tt.width, 24)
		if got := strings.Join(lines, "|"); got != tt.want {
			t.Errorf("%d columns: %q, want %q", tt.width, got, tt.want)
		}
	}
	if got, want := s.status(), "deploy: 3/50 done, 2 failed, 2 connecting, 1 pushing, 1 running, slowest web7 12s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Begin(fun.Job{JID: "2", Fun: "test.ping"}, make([]string, 2))
	if got, want := s.status(), "2 jobs: 3/52 done, 2 failed, "; !strings.HasPrefix(got, want) {
		t.Errorf("two jobs: %q, want %q", got, want)
	}
	s.End("1")
	if got, want := s.status(), "test.ping: 0/2 done"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.At("1", "web1", fleet.Running) // too late
	s.End("2")
	if got := s.status(); got != "" {
		t.Errorf("nothing is under way: %q", got)
	}
	s.Begin(fun.Job{JID: "3", Shell: "uptime"}, make([]string, 1))
	if got, want := s.status(), "raw command: 0/1 done"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPushes: how much of the agents has arrived, how fast, and how long it takes
// with those that wait. What an earlier run sent does not make it fast.
func TestPushes(t *testing.T) {
	t.Parallel()
	s := newStory()
	want := func(want string) {
		t.Helper()
		if got := s.status(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	s.Begin(fun.Job{JID: "1", Fun: "test.ping"}, make([]string, 3))
	s.Sent("2", "web1", 1, 2) // of no job
	s.At("1", "web1", fleet.Pushing)
	s.At("1", "web2", fleet.Queued)
	s.At("1", "web3", fleet.Queued)
	want("test.ping: 0/3 done, 2 waiting for the agent, 1 pushing, slowest web1 0s")
	s.Sent("1", "web1", 1e6, 4e6)
	s.pass(2 * time.Second)
	s.Sent("1", "web1", 2e6, 4e6)
	want("test.ping: 0/3 done, 2 waiting for the agent, 1 pushing (2.0 of 12.0 MB, 0.5 MB/s, 20s left), slowest web1 2s")
	s.At("1", "web1", fleet.Running)
	s.Done(fun.Return{ID: "web2", JID: "1"})
	s.Done(fun.Return{ID: "web3", JID: "1"})
	want("test.ping: 2/3 done, 1 running, slowest web1 2s")
}

// TestHostileTexts: what names and reasons say acts on no terminal, is masked, and
// has the width that it takes.
// TestNotRun: a step that did not run since what it requires failed has neither failed
// nor is it done.
func TestNotRun(t *testing.T) {
	t.Parallel()
	s := newStory()
	v := &view{m: s.model, look: look{utf8: true}}
	var notes, said []string
	var end event
	s.show = func(e event) {
		if n := v.note(e); n != "" {
			notes = append(notes, n)
		}
		if l := lineOf(e); l != "" {
			said = append(said, l)
		}
		end = e
	}
	one, two := chunk("one"), chunk("two")
	s.RunBegins("1", []*fun.Chunk{one, two, chunk("three")})
	s.StateBegins(one)
	s.StateEnds(one, stateRet(false, "no"))
	s.StateEnds(two, stateRet(false, "One or more requisite failed: x.one"))
	if got, want := strings.Join(s.stepParts(), ", "), "1 of 3 steps done, 1 failed, 1 not run, 1 waiting"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if len(notes) != 1 || len(said) != 2 || said[1] != "two: not run: One or more requisite failed: x.one" {
		t.Errorf("notes %q, lines %q", notes, said)
	}
	s.RunEnds()
	if *end.Done != 1 || *end.Failed != 1 || *end.Never != 2 {
		t.Errorf("done %d, failed %d, never ran %d", *end.Done, *end.Failed, *end.Never)
	}
}

// TestCauseOfStep: what stays on the terminal of a state that failed says why its
// program failed, also of a secret and of a step with hosts.
func TestCauseOfStep(t *testing.T) {
	t.Parallel()
	s := newStory()
	s.mask = func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	v := &view{m: s.model, look: look{utf8: true}}
	var notes []string
	s.show = func(e event) {
		if n := v.note(e); n != "" {
			notes = append(notes, n)
		}
	}
	ran := value.MapOf("result", false, "comment", `Command "x" run`, "changes", value.MapOf("retcode", int64(3), "stdout", "", "stderr", strings.Repeat("y", 1<<20)+" hunter2: disk is on fire"))
	step := value.MapOf("result", false, "comment", "Run failed on minions: web1", "changes", value.MapOf("ret", value.MapOf("web1", value.MapOf("cmd_|-bad_|-x_|-run", ran))))
	one, two := chunk("one"), chunk("two")
	s.RunBegins("1", []*fun.Chunk{one, two})
	s.StateBegins(one)
	s.StateEnds(one, ran)
	s.StateBegins(two)
	s.StateEnds(two, step)
	if len(notes) != 2 {
		t.Fatalf("notes %q", notes)
	}
	for i, want := range []string{"✗ one (", "✗ two ("} {
		n := notes[i]
		if !strings.HasPrefix(n, want) || !strings.HasSuffix(n, " ***: disk is on fire") || !strings.Contains(n, "exit status 3: ...yyy") || len(n) > 400 {
			t.Errorf("note %q", n)
		}
	}
	if !strings.Contains(notes[1], "Run failed on minions: web1; web1: ") || !strings.Contains(notes[1], "bad (cmd.run): ") {
		t.Errorf("note %q", notes[1])
	}
}

func TestHostileTexts(t *testing.T) {
	t.Parallel()
	s := newStory()
	s.mask = func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	v := &view{m: s.model, look: look{utf8: true}}
	var notes []string
	s.show = func(e event) {
		if n := v.note(e); n != "" {
			notes = append(notes, n)
		}
		notes = append(notes, lineOf(e))
	}
	evil := "a\n\x1b[2J\u009b\u202ex"
	s.title = evil
	c := chunk(evil)
	s.RunBegins("1", []*fun.Chunk{c, chunk("部署")})
	s.StateBegins(c)
	s.Begin(fun.Job{JID: "2", Fun: evil, Step: evil}, []string{evil})
	s.At("2", evil, fleet.Running)
	lines, columns := v.frame(200, 24)
	s.Done(fun.Return{ID: evil, JID: "2", Stage: fun.Lost, Err: errors.New(evil + " hunter2")})
	s.StateEnds(c, stateRet(false, evil+" hunter2"))
	for i, l := range append(lines, notes...) {
		if strings.ContainsAny(l, "\n\x1b\u009b\u202e") || strings.Contains(l, "hunter2") {
			t.Errorf("line %q", l)
		}
		if i < len(lines) && columns[i] != displaywidth.String(l) {
			t.Errorf("line %q: %d columns", l, columns[i])
		}
	}
	if got := strings.Join(lines, "\n"); !strings.Contains(got, `a \x1b[2J\u009b`) && !strings.Contains(got, `a \x1b[2J\x9b`) {
		t.Errorf("the frame:\n%s", got)
	}
	ascii := look{}
	if got, n := ascii.draw(line{mark: &laterMark, text: "next: 部署é"}, 40); got != "- next: ???" || n != len(got) {
		t.Errorf("without UTF-8: %q, %d columns", got, n)
	}
	if got, want := (look{color: true, utf8: true}).paint("x", red), "\x1b[31mx\x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env     string
		noColor bool
		want    look
	}{
		{"", false, look{color: true}},
		{"LANG=de_DE.UTF-8", false, look{color: true, utf8: true}},
		{"LANG=de_DE.UTF-8 LC_ALL=C", false, look{color: true}},
		{"LC_CTYPE=C.utf8", true, look{utf8: true}},
		{"NO_COLOR=1 LANG=C.UTF-8", false, look{utf8: true}},
	} {
		if got := newLook(env(tt.env), tt.noColor); got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.env, got, tt.want)
		}
	}
}

// env is an environment as "NAME=value NAME=value".
func env(text string) func(string) string {
	m := map[string]string{}
	for f := range strings.FieldsSeq(text) {
		name, v, _ := strings.Cut(f, "=")
		m[name] = v
	}
	return func(name string) string { return m[name] }
}

func TestMode(t *testing.T) {
	t.Parallel()
	_, tty := termtest.Open(t, 80, 24)
	for _, tt := range []struct {
		flag, env string
		tty, salt bool
		want      mode
		late      bool
	}{
		{"", "TERM=xterm", true, false, live, false},
		{"", "TERM=xterm NO_COLOR=1", true, false, live, false},
		{"", "TERM=xterm", true, true, live, false},
		{"", "TERM=xterm", false, false, plain, true},
		{"", "TERM=xterm", false, true, none, false},
		{"", "TERM=dumb", true, false, plain, true},
		{"", "", true, false, plain, true},
		{"", "TERM=xterm CI=true", true, false, plain, true},
		{"", "TERM=xterm BRINE_PROGRESS=json", true, false, document, false},
		{"", "TERM=xterm BRINE_PROGRESS=bad", true, false, live, false},
		{"live", "TERM=xterm CI=true", true, false, live, false},
		{"live", "TERM=xterm", false, false, plain, false},
		{"on", "TERM=xterm", false, false, plain, false},
		{"on", "TERM=xterm", false, true, plain, false},
		{"on", "TERM=xterm", true, false, live, false},
		{"plain", "TERM=xterm", true, false, plain, false},
		{"none", "TERM=xterm BRINE_PROGRESS=json", true, false, none, false},
		{"json", "TERM=dumb", false, true, document, false},
		{"False", "TERM=xterm", true, false, none, false},
	} {
		o := Options{Getenv: env(tt.env), Salt: tt.salt, Stderr: &bytes.Buffer{}}
		if tt.tty {
			o.Stderr = tty
		}
		if tt.flag != "" {
			if err := (*flagValue)(&o.Flags).Set(tt.flag); err != nil {
				t.Fatal(err)
			}
		}
		if got, late := o.choose(); got != tt.want || late != tt.late {
			t.Errorf("%+v: mode %d, late %v", tt, got, late)
		}
	}
	var f Flags
	if err := (*flagValue)(&f).Set("plian"); err == nil || !strings.Contains(err.Error(), `did you mean "plain"`) {
		t.Errorf("error %v", err)
	}
}

// TestLines: lines that were asked for come at once, others only of a run that
// takes long, and then all of them.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			m := newModel("orch.deploy")
			l := &lines{w: &out, m: m, mute: late}
			m.show = l.event
			stop := l.start(late)
			a, b := chunk("one"), chunk("two")
			m.RunBegins("1", []*fun.Chunk{a, b})
			m.StateBegins(a)
			m.Begin(fun.Job{JID: "2", Fun: "test.ping", Step: "one"}, make([]string, 2))
			time.Sleep(2 * time.Second)
			m.Done(fun.Return{ID: "web1", JID: "2", Stage: fun.Lost, Err: errors.New("gone")})
			m.End("2")
			m.StateEnds(a, stateRet(false, "Run failed on minions: web1"))
			m.StateBegins(b)
			if late != (out.Len() == 0) {
				t.Errorf("late %v: %q", late, out.String())
			}
			time.Sleep(9 * time.Second)
			m.StateEnds(b, stateRet(true, "fine"))
			m.RunEnds()
			stop()
			want := "brine: one: web1 failed: lost: gone\nbrine: one: failed after 2.0s: Run failed on minions: web1\n" +
				"brine: orch.deploy: 1 of 2 steps done, 1 failed, 1 running; two 8s\n" +
				"brine: two: done, 9.0s (2 of 2 steps)\n"
			if out.String() != want && !late {
				t.Errorf("got %q, want %q", out.String(), want)
			}
			for line := range strings.Lines(want) {
				if !strings.Contains(line, "1 running") && !strings.Contains(out.String(), line) {
					t.Errorf("late %v: no %q in %q", late, line, out.String())
				}
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // a short run has no lines that nobody asked for
		var out bytes.Buffer
		p := Start(Options{Stderr: &out, Getenv: env("")})
		p.m.RunBegins("1", []*fun.Chunk{chunk("one")})
		time.Sleep(9 * time.Second)
		p.Stop()
		if out.Len() > 0 {
			t.Errorf("got %q", out.String())
		}
	})
}

type brokenBody struct{}

func (brokenBody) Size() int64                  { return 1 }
func (brokenBody) Open() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("{")), nil }

// TestHostResults: the event of a host that did not fail says what became of its states, so
// that what would change, or was not looked at, is not taken for good.
func TestHostResults(t *testing.T) {
	t.Parallel()
	state := func(result value.Value, changes *value.Map) *value.Map {
		return value.MapOf("result", result, "changes", changes, "comment", "", "duration", 1.0, "__run_num__", int64(0))
	}
	run := func(s *value.Map) *value.Map {
		return value.MapOf("test_|-a_|-a_|-nop", state(true, value.NewMap(0)), "test_|-b_|-b_|-nop", s)
	}
	due := run(state(nil, value.MapOf("x", "y")))
	for _, x := range []struct {
		name, fun string
		ret       fun.Return
		v         value.Value
		want      string
	}{
		{"nothing to do", "state.apply", fun.Return{}, run(state(true, value.NewMap(0))), ok},
		{"changed", "state.apply", fun.Return{}, run(state(true, value.MapOf("x", "y"))), changed},
		{"would change", "state.apply", fun.Return{}, due, would},
		{"by its outputter", "other.function", fun.Return{Out: "highstate"}, due, would},
		{"of several functions", "test.ping,state.apply", fun.Return{}, value.MapOf("test.ping", true, "state.apply", due), would},
		{"failed", "state.apply", fun.Return{Retcode: 2}, run(state(false, value.NewMap(0))), failed},
		{"no states", "test.ping", fun.Return{}, true, ok},
		{"too large", "state.apply", fun.Return{}, run(state(true, value.MapOf("x", strings.Repeat("y", maxReason+1)))), unknown},
		{"not JSON", "state.apply", fun.Return{Body: brokenBody{}}, nil, unknown},
	} {
		var out bytes.Buffer
		s := newStory()
		s.show, s.results = (&events{w: &out}).write, true
		s.Begin(fun.Job{JID: "1", Fun: x.fun}, []string{"web1"})
		x.ret.ID, x.ret.JID = "web1", "1"
		if x.ret.Body == nil {
			x.ret.Body = fun.ValueBody{V: x.v}
		}
		out.Reset()
		s.Done(x.ret)
		testkit.CheckSchema(t, schemaFile, out.Bytes())
		var e event
		if err := json.Unmarshal(out.Bytes(), &e); err != nil || e.Result != x.want || (e.Comment != "") != (x.want == unknown || x.want == failed) {
			t.Errorf("%s: %s, want %s: %v", x.name, out.String(), x.want, err)
		}
	}
}

// TestEvents: each event satisfies the schema, and each kind occurs.
func TestEvents(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newStory()
	s.show = (&events{w: &out}).write
	s.deploy(4, 3)
	s.End("3")
	s.finish()
	kinds := map[string]int{}
	for line := range strings.Lines(out.String()) {
		testkit.CheckSchema(t, schemaFile, []byte(line))
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		kinds[e.Event]++
	}
	if got, want := fmt.Sprint(kinds), "map[host_end:3 host_phase:6 job_end:2 job_start:2 run_end:1 run_start:1 step_end:2 step_start:3]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if want := `"event":"run_end","title":"orch.deploy","unit":"step","done":2,"failed":1,"never_ran":1,"total":4,`; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in:\n%s", want, out.String())
	}
	raw, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	for kind := range kinds {
		if !strings.Contains(string(raw), `"`+kind+`"`) {
			t.Errorf("the schema has no %s", kind)
		}
	}
}

// TestAtOnce: jobs, targets and frames at once.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	m := newModel("x")
	v := &view{m: m}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			jid := fmt.Sprint(i)
			m.Begin(fun.Job{JID: jid, Fun: "test.ping"}, make([]string, 20))
			for n := range 20 {
				id := fmt.Sprint(n)
				m.At(jid, id, fleet.Running)
				_, _ = v.frame(80, 24)
				m.Done(fun.Return{ID: id, JID: jid, Err: errors.New("x")})
			}
			m.End(jid)
		})
	}
	wg.Wait()
	if got := m.status(); got != "" {
		t.Errorf("all is over: %q", got)
	}
}

// A nil Progress shows nothing.
func TestNothing(t *testing.T) {
	t.Parallel()
	f := Flags{off: true}
	p := Start(Options{Flags: f, Stderr: os.Stderr, Getenv: env("TERM=xterm")})
	if p != nil || p.Screen() != nil || p.Fleet() != nil || p.Run("x", true) != nil {
		t.Error("--no-progress shows something")
	}
	p.Mask(nil)
	p.Reported()
	p.Stop()
}

// BenchmarkFrame is what a redraw costs of a run of 200 steps on 100 hosts.
func BenchmarkFrame(b *testing.B) {
	s := newStory()
	s.deploy(200, 100)
	v := &view{m: s.model, look: look{utf8: true, color: true}}
	for b.Loop() {
		_, _ = v.frame(199, 50)
	}
}
