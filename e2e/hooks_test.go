package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/view/ui"
)

// TestUIHook has a signed request start an orchestration by a queue, once, whose end a
// receiver is told of.
func TestUIHook(t *testing.T) {
	t.Parallel()
	r := newHookReceiver(t, loopback(t, "127.0.0.1:0"))
	dir := t.TempDir()
	p := pagesOf(t, dir, map[string]string{
		"master": "id: ctl\ncachedir: " + dir + "/cache\nfile_roots: {base: [" + dir + "/tree]}\nqueue: {store: sqlite3, database: " + dir + "/queue.db}\n" +
			"notify: {all: {kind: webhook, url: '" + r.URL + "', events: [succeeded, failed], allow_private: 127.0.0.1}}\n",
		"tree/deploy.sls": "commit:\n  file.managed:\n    - name: " + dir + "/commit\n    - contents: {{ pillar['hook']['commit'] | yaml_dquote }}\n",
	})
	file := filepath.Join(dir, "ui.hooks")
	key, err := p.brineTo("ui", "hook", "add", "push", "--hooks", file, "--kind", "github", "--queue", "ops", "--pillar", "commit:after", "orchestration", "deploy").Output()
	if err != nil {
		t.Fatal(err)
	}
	p.serve("--hooks", file)
	deliver := func(key string) (int, string) {
		const body = `{"after": "c0ffee"}`
		m := hmac.New(sha256.New, []byte(strings.TrimSpace(key)))
		m.Write([]byte(body))
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.base+"/api/v1/hooks/push", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("X-GitHub-Delivery", "4711")
		q.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(m.Sum(nil)))
		resp, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	if status, text := deliver("another"); status != http.StatusUnauthorized {
		t.Errorf("another key: %d: %s", status, text)
	}
	status, text := deliver(string(key))
	var got ui.HookAnswer
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusAccepted || got.State != "queued" {
		t.Fatalf("%d: %s", status, text)
	}
	if status, text := deliver(string(key)); status != http.StatusConflict || !strings.Contains(text, got.JID) {
		t.Errorf("again: %d: %s", status, text)
	}
	if out, err := p.brine("worker", "--queue", "ops", "--drain-empty").CombinedOutput(); err != nil {
		t.Fatalf("worker: %v: %s", err, out)
	}
	if made, err := os.ReadFile(filepath.Join(dir, "commit")); err != nil || string(made) != "c0ffee\n" {
		t.Errorf("the run made %q, %v", made, err)
	}
	told := r.take()
	if len(told) != 1 || told[0].Event != "succeeded" || told[0].JID != got.JID || told[0].User != "hook:push" {
		t.Errorf("told %+v", told)
	}
	audit, err := p.brine("run", "jobs.list_jobs", "search_function=runner.ui.hook", "--out=json").Output()
	if err != nil || strings.Count(string(audit), `"User": "hook:push"`) != 4 {
		t.Errorf("audit: %v: %s", err, audit)
	}
}
