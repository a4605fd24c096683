package jobs

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// TestSucceeded: rows of this version, of earlier ones and of Salt.
func TestSucceeded(t *testing.T) {
	t.Parallel()
	const (
		bad  = "{outputter: highstate, retcode: 1, data: {ctl: {}}}"
		good = "{outputter: highstate, retcode: 0, data: {ctl: {}}}"
	)
	runner := func(success, ret string) string {
		return "{jid: '1', fun: runner.x.y, id: ctl, tgt: ctl, user: root, return: {fun_args: [a], jid: '1', return: " + ret + ", " + success + " user: root, fun: runner.x.y, _stamp: s}}"
	}
	for row, want := range map[string]bool{
		// of a target, as Salt's minions and brine write them
		"{return: true, retcode: 0, success: true}":       true,
		"{return: true, retcode: 2, success: false}":      false,
		"{return: true, retcode: 2, success: true}":       false,
		"{return: true, retcode: 0, success: false}":      false,
		"{return: false, retcode: 0, success: true}":      true,
		"{return: '', retcode: 0}":                        true,
		"{return: {a: {result: false}}, success: true}":   true, // sqlite3 has no return code
		"{success: false}":                                false,
		"{success: {a: true, b: false}, retcode: {a: 0}}": false,
		"{success: [true, true], retcode: [0, 0]}":        true,
		"{retcode: text}":                                 false,
		// of a runner: this version, then earlier ones and Salt
		strings.Replace(runner("success: true,", good), "id: ctl", "id: ctl, retcode: 1, success: false", 1): false,
		runner("success: true,", good):   true,
		runner("success: false,", bad):   false,
		runner("success: true,", bad):    false,
		runner("", bad):                  false,
		runner("", good):                 true,
		runner("success: false,", "abc"): false,
		runner("success: true,", "{}"):   true,
		// without any of them
		"{return: hi}": true,
		"{return: {}}": false,
		"{}":           false,
	} {
		v, err := yamlsalt.LoadString(row)
		if err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		if got := Succeeded(v.(*value.Map)); got != want {
			t.Errorf("Succeeded(%s) = %v, want %v", row, got, want)
		}
	}
}

// A keeper is a returner that keeps what it is given.
type keeper struct {
	mu   sync.Mutex
	rows []string
}

func (s *keeper) Return(_ context.Context, rets []*value.Map) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rets {
		s.rows = append(s.rows, r.Str("id"))
	}
	return nil
}

func (s *keeper) SaveLoad(_ context.Context, loads []*value.Map) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range loads {
		s.rows = append(s.rows, "load "+l.Str("jid")[18:])
	}
	return nil
}

func (s *keeper) Close() error { return nil }

// TestFailedOnly: what return_on keeps from a returner it keeps from no job cache, and
// from no other returner.
func TestFailedOnly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		asked, caches []string
		failed        []string
		want          map[string]string
	}{
		{"none", []string{"mail"}, []string{"sql"}, nil, map[string]string{"mail": "load 01 ok bad load 02 ok", "sql": "load 01 ok bad load 02 ok"}},
		{"all of --return", []string{"mail", "log"}, []string{"sql"}, []string{"mail", "log", "sql"}, map[string]string{"mail": "load 01 bad", "log": "load 01 bad", "sql": "load 01 ok bad load 02 ok"}},
		{"one", []string{"mail", "log"}, []string{"sql"}, []string{"mail"}, map[string]string{"mail": "load 01 bad", "log": "load 01 ok bad load 02 ok", "sql": "load 01 ok bad load 02 ok"}},
		{"a cache that is asked for, too", []string{"sql"}, []string{"sql"}, []string{"sql"}, map[string]string{"sql": "load 01 ok bad load 02 ok"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			keepers, sinks := map[string]*keeper{}, map[string]*Sink{}
			for _, n := range slices.Concat(tt.asked, tt.caches) {
				s := &keeper{}
				keepers[n] = s
				sinks[n] = &Sink{Name: n, Spool: filepath.Join(dir, n), Batch: 1, Open: func(context.Context) (Returner, error) { return s, nil }}
			}
			l := &Log{
				Files: NewFiles(dir, 0, time.Now), Asked: tt.asked, Caches: tt.caches, Now: time.Now, Expand: func(n []string) []string { return n },
				Sink:       func(name, _ string, _ *value.Map) (*Sink, error) { return sinks[name], nil },
				FailedOnly: func(name string) bool { return slices.Contains(tt.failed, name) },
			}
			for i, ids := range [][]string{{"ok", "bad", "left"}, {"ok"}} {
				jid := "2026112109080700000" + string(rune('1'+i))
				r, err := l.Begin(Load{JID: jid, Fun: "test.ping", Minions: ids})
				for _, id := range ids {
					ret := fun.Return{ID: id, JID: jid, Body: fun.ValueBody{V: true}}
					switch id {
					case "bad":
						ret.Retcode = 1
					case "left": // is no failure of this target
						ret.Stage, ret.Err = fun.Refused, fun.ErrStopped
					}
					err = errors.Join(err, r.Return(ret))
				}
				if err = errors.Join(err, r.End()); err != nil {
					t.Fatal(err)
				}
			}
			for name, s := range sinks {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(keepers[name].rows, " "); got != tt.want[name] {
					t.Errorf("%s has %q, want %q", name, got, tt.want[name])
				}
			}
		})
	}
}
