package progress

import (
	"bytes"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/testkit"
)

// TestWaves: the wave of a job is shown, and of the hosts that are left out one
// line.
func TestWaves(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var said []string
	s := newModel("x")
	v := &view{m: s, look: look{}}
	var notes []string
	s.show = func(e event) {
		(&events{w: &out}).write(e)
		if text := lineOf(e); text != "" {
			said = append(said, text)
		}
		if text := v.note(e); text != "" {
			notes = append(notes, text)
		}
	}
	s.Begin(fun.Job{JID: "1", Fun: "test.ping"}, make([]string, 9))
	s.Wave("1", 1, 3, 2)
	s.Done(fun.Return{ID: "a", JID: "1"})
	s.Done(fun.Return{ID: "b", JID: "1", Retcode: 1})
	s.Wave("1", 2, 3, 3)
	if got, want := s.status(), "test.ping: wave 2 of 3, 2/9 done, 1 failed"; got != want {
		t.Errorf("status %q, want %q", got, want)
	}
	why := &fun.NotBegunError{Wave: 2, Of: 3, Why: fun.Errorf("no")}
	for _, id := range []string{"c", "d", "e"} {
		s.Done(fun.Return{ID: id, JID: "1", Stage: fun.Refused, Err: why})
	}
	s.Wave("none", 1, 2, 3)
	s.End("1")
	want := "test.ping: wave 1 of 3, 2 hosts|test.ping: b failed: return code 1|test.ping: wave 2 of 3, 3 hosts|" +
		"test.ping: hosts are left out: refused: not begun: stopped in wave 2 of 3: no"
	if got := strings.Join(said, "|"); got != want {
		t.Errorf("lines %s\nwant %s", got, want)
	}
	if want := "x test.ping: b: return code 1|x test.ping: hosts are left out: refused: not begun: stopped in wave 2 of 3: no"; strings.Join(notes, "|") != want {
		t.Errorf("notes %q, want %s", notes, want)
	}
	for line := range strings.Lines(out.String()) {
		testkit.CheckSchema(t, schemaFile, []byte(line))
	}
	if want := `"event":"wave_start","jid":"1","wave":2,"waves":3,"hosts":3,"done":2,"failed":1}`; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in:\n%s", want, out.String())
	}
}
