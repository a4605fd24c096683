package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/internal/py/value"
)

// TestDownOnce: that a returner is down is one warning of a run, also where the errors
// differ, as those of connections do in their ports.
func TestDownOnce(t *testing.T) {
	t.Parallel()
	var said []string
	s := &Sink{Name: "db", Spool: t.TempDir(), Down: "mark", Warn: func(err error) {
		said = append(said, err.Error())
		if down, ok := errors.AsType[*DownError](err); !ok || down.Store != "mark" {
			t.Errorf("%v does not say which store is down", err)
		}
	}}
	w := &writer{sink: s}
	for port := range 3 {
		w.keep([]item{{kind: returnItem, data: value.MapOf("id", "web1"), n: 1}}, fmt.Errorf("read tcp 127.0.0.1:4000%d: reset", port))
	}
	if len(said) != 1 || !strings.Contains(said[0], "returner db is down: read tcp 127.0.0.1:40000: reset; what it did not take is kept in") {
		t.Errorf("said %q", said)
	}
}

// A choosy returner takes loads, and refuses every return.
type choosy struct{ keeper }

func (p *choosy) Return(context.Context, []*value.Map) error { return Refused(errors.New("no")) }

// TestLargeRowAlone: a large row that a store refuses is put aside at once where the
// store took the load of its job, and not kept for another try in the next run. A small
// one may be refused because of wrong settings.
func TestLargeRowAlone(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{largeRow: "put aside in ", 100: "kept in "} {
		var said []string
		p := &choosy{}
		s := &Sink{Name: "db", Spool: t.TempDir(), Open: func(context.Context) (Returner, error) { return p, nil }, Warn: func(err error) { said = append(said, err.Error()) }}
		s.Load(Load{JID: "20261121090807000001", Fun: "test.ping"})
		s.Return(value.MapOf("id", "web1", "jid", "20261121090807000001", "return", strings.Repeat("x", size)))
		if err := s.Close(); err == nil {
			t.Error("Close returns no error")
		}
		if len(said) != 1 || !strings.Contains(said[0], want) {
			t.Errorf("a row of %d bytes: said %q, want %q", size, said, want)
		}
	}
}
