package link_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// publisher keeps the requests that it gets.
type publisher struct{ got []fun.PublishRequest }

func (p *publisher) Publish(_ context.Context, req fun.PublishRequest) (value.Value, error) {
	p.got = append(p.got, req)
	return "called", nil
}

// TestPublishInTheTargetsName sends requests that name another target, another job,
// and no arguments.
func TestPublishInTheTargetsName(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	p := &publisher{}
	s.opts.Publisher = p
	_, mux := s.hostile(nil)
	v, err := ask(t, mux, "publish", "id", "db1", "jid", "20260101000000000000", "fun", "test.ping", "args", value.NewList(), "tgt", "*", "timeout", int64(1<<40))
	if err != nil || v != "called" {
		t.Errorf("publish: %s, %v", value.Repr(v), err)
	}
	if len(p.got) != 1 || p.got[0].ID != "web1" || p.got[0].JID != "" || p.got[0].Timeout != 24*time.Hour {
		t.Errorf("requests %+v", p.got)
	}
	for _, args := range []value.Value{nil, "x", value.NewMap(0)} {
		var re *wire.RemoteError
		if _, err := ask(t, mux, "publish", "fun", "test.ping", "args", args); !errors.As(err, &re) || re.Code != wire.CodeRefused {
			t.Errorf("args %s: %v, want a refusal", value.Repr(args), err)
		}
	}
}
