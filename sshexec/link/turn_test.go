package link_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/sshexec/link"
)

// TestTurns: two controllers run states on one target.
func TestTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	started, over := filepath.Join(dir, "started"), filepath.Join(dir, "over")
	s := newSite(t, map[string]string{
		"long.sls":  fmt.Sprintf("long:\n  cmd.run:\n    - name: touch %s; until [ -e %s ]; do sleep 0.05; done\n", started, over),
		"short.sls": "short:\n  test.nop\n",
	})
	a, _ := s.connect()
	b, _ := s.connect()
	long := job("state.apply", "long")
	first := make(chan fun.Return, 1)
	go func() { first <- a.Invoke(t.Context(), long) }()
	waitFor(t, started)

	for _, c := range []*link.Conn{b, a} { // of another controller, and of the same one
		ret := c.Invoke(t.Context(), job("state.apply", "short"))
		v, err := ret.Value()
		if err != nil || ret.Retcode != 1 {
			t.Fatalf("retcode %d, %v, want 1", ret.Retcode, err)
		}
		want := fmt.Sprintf(`^\['The function "state.apply" is running as PID %d and was started at 2026, .* with jid %s'\]$`, os.Getpid(), long.JID)
		if got := value.Repr(v); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("the return is %s", got)
		}
	}
	// What only looks is not refused, nor what is to go beside it.
	if got := call(t, b, job("state.show_sls", "short")); !strings.Contains(value.Repr(got), "nop") {
		t.Errorf("state.show_sls: %s", value.Repr(got))
	}
	if got := call(t, b, job("test.ping")); got != true {
		t.Errorf("test.ping: %v", got)
	}
	results(t, call(t, b, job("state.apply", "short", value.MapOf("concurrent", true))))

	queued := make(chan fun.Return, 1)
	go func() { queued <- b.Invoke(t.Context(), job("state.apply", "short", value.MapOf("queue", true))) }()
	select {
	case ret := <-queued:
		t.Fatalf("a queued run does not wait: %+v", ret)
	case <-time.After(300 * time.Millisecond):
	}
	if err := os.WriteFile(over, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]chan fun.Return{"first": first, "queued": queued} {
		if ret := <-c; ret.Stage != fun.Returned || ret.Retcode != 0 {
			t.Errorf("the %s run: %s, retcode %d, %v", what, ret.Stage, ret.Retcode, ret.Err)
		}
	}
	results(t, call(t, b, job("state.apply", "short")))
}

// waitFor waits until a file is there.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 2000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not come", path)
}
