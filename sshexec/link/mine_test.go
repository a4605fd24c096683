package link_test

import (
	"context"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// mine keeps the requests that it gets.
type mine struct{ got []fun.MineRequest }

func (m *mine) Mine(_ context.Context, req fun.MineRequest) (*value.Map, error) {
	m.got = append(m.got, req)
	if req.Op == fun.MineGet {
		return value.MapOf("f", value.MapOf("db1", "data")), nil
	}
	return nil, nil
}

// TestMineIsAskedInTheTargetsName sends requests that name another target and
// another job.
func TestMineIsAskedInTheTargetsName(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	m := &mine{}
	s.opts.Mine = m
	_, mux := s.hostile(nil)
	v, err := ask(t, mux, "mine", "op", "get", "id", "db1", "jid", "20260101000000000000", "tgt", "*", "funs", value.Strings("f"))
	if err != nil || !value.Equal(v, value.MapOf("f", value.MapOf("db1", "data"))) {
		t.Errorf("get: %s, %v", value.Repr(v), err)
	}
	if _, err := ask(t, mux, "mine", "op", "store", "id", "db1", "data", value.MapOf("f", 1)); err != nil {
		t.Error(err)
	}
	for _, req := range m.got {
		if req.ID != "web1" || req.JID != "" {
			t.Errorf("the request has the id %q and the job %q", req.ID, req.JID)
		}
	}
	if len(m.got) != 2 {
		t.Errorf("%d requests arrived", len(m.got))
	}
	if _, err := ask(t, mux, "mine", "op", "get", "funs", value.Strings(make([]string, 1001)...)); err == nil {
		t.Error("1001 functions at once are served")
	}
	if _, err := ask(t, mux, "mine", "op", "get", "funs", value.NewList(int64(1))); err == nil {
		t.Error("a function that is a number is served")
	}
}
