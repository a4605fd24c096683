package session

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// TestSaid: a message is shown once, and at the end who else has it.
func TestSaid(t *testing.T) {
	var w bytes.Buffer
	s := &Session{App: &app.App{Err: &w}, Flags: &app.RunFlags{}, Cfg: &config.Config{Opts: value.NewMap(0)}}
	slow := fun.Warning{Where: "a.sls:1:1", Text: "is slow"}
	for _, id := range []string{"web1", "web2", "web1", "web3", "web2"} {
		s.warnOf(id, slow)
		s.Fault(&assembly.FaultError{ID: id, Text: "b.sls:2:1: no such state\nhint: look"})
	}
	s.Warn(fun.Warning{Text: "of the controller"})
	s.Warn(fun.Warning{Text: "of the controller"})
	s.Fault(errors.New("is slow"))
	s.Fault(errors.New("is slow"))
	s.warnOf("db1", fun.Warning{Text: "alone"})
	if s.warned != 5 {
		t.Errorf("%d warnings, want that of three targets, of the controller and of db1", s.warned)
	}
	s.End()
	want := `brine: warning: a.sls:1:1: web1: is slow
brine: web1: b.sls:2:1: no such state
	hint: look
brine: warning: of the controller
brine: is slow
brine: warning: db1: alone
brine: warning: a.sls:1:1: also on web[2-3]: is slow
brine: also on web[2-3]: b.sls:2:1: no such state
`
	if got := w.String(); strings.ReplaceAll(got, "\t", "") != strings.ReplaceAll(want, "\t", "") {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	// Where warnings are hidden, so are those of further targets; faults are not.
	w.Reset()
	s = &Session{App: &app.App{Err: &w}, Flags: &app.RunFlags{}, Cfg: s.Cfg, Level: slog.LevelError}
	for _, id := range []string{"web1", "web2"} {
		s.warnOf(id, slow)
		s.Fault(&assembly.FaultError{ID: id, Text: "x"})
	}
	s.End()
	if got, want := w.String(), "brine: web1: x\nbrine: also on web2: x\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
