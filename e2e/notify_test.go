package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/fleet/history"
	"brine/internal/fleet/notify"
)

// A hookReceiver keeps the messages that it gets.
type hookReceiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []notify.Message
}

func newHookReceiver(t *testing.T, l net.Listener) *hookReceiver {
	t.Helper()
	r := &hookReceiver{}
	r.Server = &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		var m notify.Message
		text, err := io.ReadAll(q.Body)
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			t.Errorf("%v: %s", err, text)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, m)
	})}}
	r.Start()
	t.Cleanup(r.Close)
	return r
}

// take returns what came since the last time.
func (r *hookReceiver) take() []notify.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.got
	r.got = nil
	return out
}

// loopback returns a free port.
func loopback(t *testing.T, at string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A notifyTree is a tree with destinations of notifications.
type notifyTree struct {
	t   *testing.T
	dir string
}

func newNotifyTree(t *testing.T, destinations string) notifyTree {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"master":             fmt.Sprintf("id: ctl\ncachedir: %[1]s/cache\nfile_roots: {base: [%[1]s/tree]}\n%[2]s", dir, destinations),
		"minion":             fmt.Sprintf("id: ctl\ncachedir: %[1]s/cache\nfile_roots: {base: [%[1]s/tree]}\n%[2]s", dir, destinations),
		"tree/good.sls":      "fine:\n  test.succeed_without_changes: []\n",
		"tree/bad.sls":       "before:\n  test.succeed_without_changes: []\nbroken:\n  cmd.run:\n    - name: echo no such package >&2; exit 7\n    - require: [{test: before}]\n",
		"tree/unwritten.sls": "{% if %}\n",
		"chains/deploy.yml":  "description: deploy\nnotify: [named]\nsteps:\n- {id: 1, action: orchestrate, sls: [bad]}\n",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return notifyTree{t, dir}
}

// brine runs brine, and returns what it printed.
func (n notifyTree) brine(args ...string) string {
	n.t.Helper()
	c := exec.CommandContext(n.t.Context(), "brine", append(args, "-c", n.dir)...)
	c.Env = append(os.Environ(), "HOME="+n.dir, "BRINE_PROGRESS=none")
	out, err := c.CombinedOutput()
	if err != nil && len(out) == 0 {
		n.t.Fatal(err)
	}
	return string(out)
}

// due makes all notifications due.
func (n notifyTree) due() {
	n.t.Helper()
	h, err := history.Open(n.t.Context(), history.Path(filepath.Join(n.dir, "cache")), nil)
	if err != nil {
		n.t.Fatal(err)
	}
	defer h.Close()
	db, _ := h.Database()
	if _, err := db.ExecContext(n.t.Context(), "UPDATE brine_notices SET due = 1"); err != nil {
		n.t.Fatal(err)
	}
}

// TestNotifications has runs told of, with why they failed.
func TestNotifications(t *testing.T) {
	t.Parallel()
	r := newHookReceiver(t, loopback(t, "127.0.0.1:0"))
	n := newNotifyTree(t, "notify:\n"+
		"  all: {kind: webhook, url: '"+r.URL+"/geheim', events: [failed, succeeded], runs: ['orchestration/*'], allow_private: 127.0.0.1}\n"+
		"  named: {kind: webhook, url: '"+r.URL+"/geheim', runs: [], link: 'https://brine.example.com', allow_private: 127.0.0.1}\n")
	var said strings.Builder
	for _, tt := range []struct {
		args                           []string
		event, kind, name, step, cause string
	}{
		{[]string{"orchestrate", "good"}, "succeeded", "orchestration", "good", "", ""},
		{[]string{"orchestrate", "bad"}, "failed", "orchestration", "bad", "broken", "no such package"},
		{[]string{"orchestrate", "unwritten"}, "failed", "orchestration", "unwritten", "", "unwritten"},
		{[]string{"chain", "run", "deploy", "--yes"}, "failed", "chain", "deploy", "run the orchestration bad", "state.orchestrate"},
	} {
		said.WriteString(n.brine(tt.args...))
		got := r.take()
		if len(got) != 1 || got[0].Event != tt.event || got[0].Kind != tt.kind || got[0].Name != tt.name || got[0].Step != tt.step || !strings.Contains(got[0].Cause, tt.cause) || got[0].Controller != "ctl" || got[0].JID == "" {
			t.Errorf("%v: %+v, want %s of %s %s, %q", tt.args, got, tt.event, tt.kind, tt.name, tt.cause)
			continue
		}
		if tt.kind == "chain" && got[0].Link != "https://brine.example.com/history/"+got[0].JID {
			t.Errorf("link %s", got[0].Link)
		}
	}
	n.brine("orchestrate", "bad", "test=True")
	if got := r.take(); len(got) != 0 {
		t.Errorf("a preview is told of: %+v", got)
	}
	said.WriteString(n.brine("notify", "list") + n.brine("notify", "destinations") + n.brine("notify", "test", "all"))
	if got := r.take(); len(got) != 1 || got[0].Event != "test" {
		t.Errorf("notify test: %+v", got)
	}
	if s := said.String(); strings.Contains(s, "geheim") || strings.Count(s, notify.Delivered) != 4 {
		t.Errorf("%s", s)
	}
	if out := n.brine("notify", "test", "name"); !strings.Contains(out, `there is no destination "name" (did you mean "named"?)`) {
		t.Errorf("notify test name: %s", out)
	}
	err := filepath.WalkDir(filepath.Join(n.dir, "cache"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), "geheim") {
			t.Errorf("%s has the address", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestNotificationsLater has what did not arrive sent by another process, and what may not
// be sent given up.
func TestNotificationsLater(t *testing.T) {
	t.Parallel()
	l := loopback(t, "127.0.0.1:0")
	at := l.Addr().String()
	_ = l.Close()
	n := newNotifyTree(t, "notify:\n"+
		"  hook: {kind: webhook, url: 'http://"+at+"/geheim', allow_private: 127.0.0.1}\n"+
		"  inside: {kind: webhook, url: 'http://"+at+"/geheim'}\n")
	out := n.brine("orchestrate", "bad")
	if !strings.Contains(out, `did not reach hook: dial tcp `) || !strings.Contains(out, "allow_private permits it; 'brine notify retry") || strings.Contains(out, "geheim") {
		t.Errorf("the run printed: %s", out)
	}
	if out := n.brine("notify", "send"); !strings.Contains(out, "0 sent, 0 not") {
		t.Errorf("it does not wait: %s", out)
	}
	r := newHookReceiver(t, loopback(t, at))
	n.due()
	if out := n.brine("notify", "send"); !strings.Contains(out, "1 sent, 0 not") {
		t.Errorf("notify send: %s", out)
	}
	if got := r.take(); len(got) != 1 || !strings.Contains(got[0].Cause, "no such package") {
		t.Errorf("%+v", got)
	}
	given := n.brine("notify", "list", "--state", notify.GivenUp)
	if !strings.Contains(given, "inside") || !strings.Contains(given, "allow_private") || strings.Contains(given, "hook ") {
		t.Errorf("notify list: %s", given)
	}
	if out := n.brine("notify", "list", "--state", "givenup"); !strings.Contains(out, `"givenup" is none of delivered, given up, pending (did you mean "given up"?)`) {
		t.Errorf("a wrong state: %s", out)
	}
	if out := n.brine("notify", "retry", "x"); !strings.Contains(out, "there is no such notification") {
		t.Errorf("notify retry x: %s", out)
	}
}

// TestNotifyDrift has a host told of once when it begins to deviate.
func TestNotifyDrift(t *testing.T) {
	t.Parallel()
	r := newHookReceiver(t, loopback(t, "127.0.0.1:0"))
	n := newNotifyTree(t, "notify: {hook: {kind: webhook, url: '"+r.URL+"', allow_private: 127.0.0.1}}\n")
	if err := os.WriteFile(filepath.Join(n.dir, "tree", "file.sls"), []byte("there:\n  file.managed:\n    - name: "+n.dir+"/made\n    - contents: x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 0} {
		out := n.brine("plan", "--call", "--record", "state.apply", "file")
		got := r.take()
		if len(got) != want || want == 1 && (got[0].Event != notify.Drift || !strings.Contains(got[0].Cause, "there (file.managed)")) {
			t.Errorf("plan %d: %+v: %s", i+1, got, out)
		}
	}
}

// TestNotifyWaiting has people told that a run waits for them, and of its end.
func TestNotifyWaiting(t *testing.T) {
	t.Parallel()
	r := newHookReceiver(t, loopback(t, "127.0.0.1:0"))
	n := newNotifyTree(t, "notify: {hook: {kind: webhook, url: '"+r.URL+"', events: [waiting, succeeded], allow_private: 127.0.0.1}}\n")
	sls := "first:\n  cmd.run:\n    - name: until [ -e " + n.dir + "/go ]; do sleep 0.05; done\nsecond:\n  test.succeed_without_changes:\n    - require: [{cmd: first}]\n"
	if err := os.WriteFile(filepath.Join(n.dir, "tree", "slow.sls"), []byte(sls), 0o644); err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	go func() { ended <- n.brine("orchestrate", "slow") }()
	active := regexp.MustCompile(`"(20\d{18})": \{`)
	jid := ""
	for jid == "" {
		select {
		case out := <-ended:
			t.Fatalf("it ended: %s", out)
		default:
		}
		if m := active.FindStringSubmatch(n.brine("run", "jobs.active", "--out=json")); m != nil {
			jid = m[1]
		}
	}
	n.brine("run", "state.pause", jid, "second")
	if err := os.WriteFile(filepath.Join(n.dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var got []notify.Message
	for len(got) == 0 && t.Context().Err() == nil {
		got = r.take()
		time.Sleep(20 * time.Millisecond)
	}
	if len(got) != 1 || got[0].Event != notify.Waiting || got[0].JID != jid || got[0].Step != "second" || !strings.Contains(got[0].Cause, "brine run state.resume "+jid) {
		t.Errorf("while it waits: %+v", got)
	}
	n.brine("run", "state.resume", jid, "second")
	out := <-ended
	if got := r.take(); len(got) != 1 || got[0].Event != notify.Succeeded {
		t.Errorf("at its end: %+v: %s", got, out)
	}
}
