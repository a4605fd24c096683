package link_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/sshexec/link"
	"brine/sshexec/wire"
)

// TestHostilePillarRequests: whatever a target says of a request for its pillar, it
// is marked as one that a target made, which is what keeps the controller from
// running the external pillars of its choice; and only the fields that a target may
// fill come from it.
func TestHostilePillarRequests(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	var got []fun.PillarRequest
	var ids []string
	s.opts.Pillar = func(_ context.Context, id string, _ value.Mapping, req fun.PillarRequest) (*value.Map, error) {
		ids, got = append(ids, id), append(got, req)
		return value.NewMap(0), nil
	}
	_, m := s.hostile(func(context.Context, *wire.Stream) error { return nil })
	command := value.MapOf("cmd_json", "id")
	for _, head := range [][]value.Value{
		{"ext", command},
		{"ext", command, "foreign", false, "Foreign", false},
		{"ext", command, "named", value.Strings("prod"), "Named", value.Strings("prod"), "pillarenv", "prod"},
		{"ext", command, "id", "db1", "base", value.MapOf("a", int64(1)), "Base", value.MapOf("a", int64(1))},
		{"tops", true, "saltenv", "dev", "override", value.MapOf("a", "b")},
	} {
		if _, err := ask(t, m, "pillar", head...); err != nil {
			t.Fatalf("%v: %v", head, err)
		}
	}
	// A field that is new is looked at here before a target may fill it.
	targets := []string{"SaltEnv", "PillarEnv", "Override", "Grains", "Ext", "Tops"}
	for i, req := range got {
		if !req.Foreign {
			t.Errorf("request %d is not marked as that of a target: %+v", i, req)
		}
		if ids[i] != "web1" {
			t.Errorf("request %d is for %q", i, ids[i])
		}
		v := reflect.ValueOf(req)
		for k := range v.NumField() {
			name := v.Type().Field(k).Name
			if name != "Foreign" && !slices.Contains(targets, name) && !v.Field(k).IsZero() {
				t.Errorf("request %d: a target filled %s: %v", i, name, v.Field(k))
			}
		}
	}
}

// endless gives zeros, as many as there are, and counts what was taken.
type endless struct {
	left, taken atomic.Int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := min(int64(len(p)), e.left.Load())
	if n == 0 {
		return 0, io.EOF
	}
	e.left.Add(-n)
	e.taken.Add(n)
	clear(p[:n])
	return int(n), nil
}

func (e *endless) Write(p []byte) (int, error) { return len(p), nil }
func (e *endless) Close() error                { return nil }

// TestHostileNoise: a program that answers in place of the agent, and writes without
// end, is given up after 64 KiB.
func TestHostileNoise(t *testing.T) {
	t.Parallel()
	e := &endless{}
	e.left.Store(16 << 20)
	s := newSite(t, nil)
	_, err := link.Connect(t.Context(), e, s.opts)
	var nh *wire.NoHelloError
	if !errors.As(err, &nh) || !strings.Contains(err.Error(), "more than 65536 bytes") {
		t.Errorf("Connect: %v", err)
	}
	if n := e.taken.Load(); n > 256<<10 {
		t.Errorf("%d bytes were read before it was given up", n)
	}
}
