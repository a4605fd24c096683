package session

import (
	"context"
	"errors"
	"testing"

	"brine/internal/fleet/jobs"
)

// TestStoreDownOnce: two sinks of one store that is down are one warning.
func TestStoreDownOnce(t *testing.T) {
	t.Parallel()
	s := &Session{}
	var said []error
	for _, store := range []string{"a", "a", "b"} {
		sink := &jobs.Sink{
			Name: "x", Spool: t.TempDir(), Down: "/nonexistent/" + store,
			Open: func(context.Context) (jobs.Returner, error) { return nil, errors.New("refused") },
		}
		sink.Warn = s.once(func(err error) { said = append(said, err) })
		sink.Load(jobs.Load{JID: "20261121090807000001"})
		_ = sink.Close()
	}
	if len(said) != 2 {
		t.Errorf("said %v, want a line for each of two stores", said)
	}
}
