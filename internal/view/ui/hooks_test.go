package ui

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/notify"
	"brine/internal/py/value"
)

const hookKey = "0123456789abcdefghij"

// hookFile has a hook of each kind.
const hookFile = `
push kind=github queue=ops orchestration=orch.deploy only=@event:push,ref:refs/heads/main pillar=commit:after,who:commits.0.author created=2026-11-29T12:00:00Z key=` + hookKey + `
lab kind=gitlab queue=ops chain=friday created=2026-11-29T12:00:00Z key=` + hookKey + `
other kind=hmac queue=ops chain=friday created=2026-11-29T12:00:00Z key=` + hookKey + "\n"

// withHooks lets the hooks of a file in.
func (s *site) withHooks(t *testing.T) {
	t.Helper()
	all, err := ParseHooks("ui.hooks", []byte(hookFile))
	if err != nil {
		t.Fatal(err)
	}
	s.opts.Hooks = func() (*Hooks, error) { return all, nil }
}

func githubSignature(key, body string) string {
	m := hmac.New(sha256.New, []byte(key))
	m.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(m.Sum(nil))
}

const push = `{"ref": "refs/heads/main", "after": "c0ffee", "commits": [{"author": "anna", "secret": "s3cret"}]}`

// deliver sends a delivery to a hook.
func (s *site) deliver(name, body string, headers ...string) *httptest.ResponseRecorder {
	return s.ask(http.MethodPost, "/api/v1/hooks/"+name, "", body, headers...)
}

func TestHookGitHub(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.withHooks(t)
	send := func(body, id string) *httptest.ResponseRecorder {
		return s.deliver("push", body, "X-Hub-Signature-256", githubSignature(hookKey, body), "X-GitHub-Delivery", id, "X-GitHub-Event", "push")
	}
	w := send(push, "one")
	var got HookAnswer
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusAccepted || got.State != "queued" || got.JID == "" {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	checkSchema(t, "HookAnswer", w.Body.Bytes())
	d := s.delivered[0]
	if d.Queue != "ops" || d.Orchestration != "orch.deploy" || d.Chain != "" || d.User != "hook:push" || value.Repr(d.Pillar) != "{'commit': 'c0ffee', 'who': 'anna'}" {
		t.Errorf("delivered %+v, pillar %s", d, value.Repr(d.Pillar))
	}
	a := s.actions[len(s.actions)-1]
	if a.User != "hook:push" || a.Name != "hook" || !a.OK || a.Details != "orchestration orch.deploy\nqueue ops\npillar commit, who" {
		t.Errorf("audit %+v", a)
	}
	for what, w := range map[string]*httptest.ResponseRecorder{
		"the same delivery":         send(push, "one"),
		"the same body, another id": send(push, "two"),
		"the same id, another body": send(strings.Replace(push, "c0ffee", "beef", 1), "one"),
	} {
		if w.Code != http.StatusConflict || problemIn(t, what, w) != conflict {
			t.Errorf("%s: %d", what, w.Code)
		}
	}
	other := strings.Replace(push, "main", "test", 1)
	if w := send(other, "three"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"ignored"`) {
		t.Errorf("another branch: %d: %s", w.Code, w.Body)
	}
	if n := len(s.delivered); n != 1 {
		t.Errorf("%d deliveries", n)
	}
}

func TestHookGitLab(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.withHooks(t)
	if w := s.deliver("lab", "{}", "X-Gitlab-Token", hookKey, "X-Gitlab-Event-UUID", "u1"); w.Code != http.StatusAccepted || s.delivered[0].Chain != "friday" {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	if w := s.deliver("lab", "{}", "X-Gitlab-Token", hookKey, "X-Gitlab-Event-UUID", "u1"); w.Code != http.StatusConflict {
		t.Errorf("again: %d: %s", w.Code, w.Body)
	}
	if w := s.deliver("lab", "{}", "X-Gitlab-Token", hookKey); w.Code != http.StatusBadRequest || problemIn(t, "no id", w) != badParameter {
		t.Errorf("no id: %d: %s", w.Code, w.Body)
	}
}

// TestHookHMAC has brine's own notifications start something.
func TestHookHMAC(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.withHooks(t)
	now := s.opts.Now()
	send := func(at time.Time) int {
		stamp := strconv.FormatInt(at.Unix(), 10)
		return s.deliver("other", "{}", notify.TimestampHeader, stamp, notify.SignatureHeader, notify.Sign(hookKey, stamp, []byte("{}")), notify.DeliveryHeader, stamp).Code
	}
	for _, tt := range []struct {
		at   time.Time
		want int
	}{
		{now, http.StatusAccepted},
		{now, http.StatusConflict},
		{now.Add(4 * time.Minute), http.StatusAccepted},
		{now.Add(-4 * time.Minute), http.StatusAccepted},
		{now.Add(6 * time.Minute), http.StatusUnauthorized},
		{now.Add(-6 * time.Minute), http.StatusUnauthorized},
	} {
		if got := send(tt.at); got != tt.want {
			t.Errorf("signed %s after now: %d, want %d", tt.at.Sub(now), got, tt.want)
		}
	}
}

func TestHooksHostile(t *testing.T) {
	t.Parallel()
	good := githubSignature(hookKey, push)
	for _, tt := range []struct {
		what, hook, body string
		headers          []string
		want             int
	}{
		{"no signature", "push", push, nil, 401},
		{"an empty signature", "push", push, []string{"X-Hub-Signature-256", ""}, 401},
		{"another key", "push", push, []string{"X-Hub-Signature-256", githubSignature("another", push)}, 401},
		{"the older hash", "push", push, []string{"X-Hub-Signature", good}, 401},
		{"another body", "push", push + " ", []string{"X-Hub-Signature-256", good}, 401},
		{"no such hook", "pull", push, []string{"X-Hub-Signature-256", good}, 401},
		{"another kind", "lab", push, []string{"X-Hub-Signature-256", good}, 401},
		{"a path", "..%2fpush", push, []string{"X-Hub-Signature-256", good}, 401},
		{"no id", "push", push, []string{"X-Hub-Signature-256", good}, 400},
		{"no object", "push", "[]", []string{"X-Hub-Signature-256", githubSignature(hookKey, "[]"), "X-GitHub-Delivery", "1"}, 400},
		{"no JSON", "push", "{", []string{"X-Hub-Signature-256", githubSignature(hookKey, "{"), "X-GitHub-Delivery", "1"}, 400},
		{"no such type", "push", push, []string{"X-Hub-Signature-256", good, "X-GitHub-Delivery", "1", "Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"a field that is an object", "push", `{"ref": "refs/heads/main", "after": {}}`, []string{"X-Hub-Signature-256", githubSignature(hookKey, `{"ref": "refs/heads/main", "after": {}}`), "X-GitHub-Delivery", "1", "X-GitHub-Event", "push"}, 422},
		{"a huge body", "push", strings.Repeat(" ", maxBody+1), []string{"X-Hub-Signature-256", good, "X-GitHub-Delivery", "1"}, 413},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			s.withHooks(t)
			if w := s.deliver(tt.hook, tt.body, tt.headers...); w.Code != tt.want {
				t.Errorf("%d, want %d: %s", w.Code, tt.want, w.Body)
			}
			if len(s.delivered) > 0 {
				t.Errorf("it started %+v", s.delivered)
			}
		})
	}
	s := newSite(t, nil)
	if w := s.deliver("push", push, "X-Hub-Signature-256", good); w.Code != http.StatusNotFound || problemIn(t, "off", w) != apiOff {
		t.Errorf("without hooks: %d: %s", w.Code, w.Body)
	}
}

// TestHookAudit has refused deliveries recorded, but not without end.
func TestHookAudit(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.withHooks(t)
	for range 100 {
		s.deliver("push", push, "X-Hub-Signature-256", "sha256=00")
	}
	n := len(s.actions)
	if n == 0 || n == 100 || s.actions[0].OK || s.actions[0].User != "hook:push" {
		t.Errorf("%d records", n)
	}
	s.full = http.ErrBodyNotAllowed
	if w := s.deliver("lab", "{}", "X-Gitlab-Token", hookKey, "X-Gitlab-Event-UUID", "u1"); w.Code != http.StatusUnprocessableEntity || len(s.delivered) != 0 {
		t.Errorf("without an audit record: %d: %s", w.Code, w.Body)
	}
}

func TestParseHooks(t *testing.T) {
	t.Parallel()
	const rest = " queue=q chain=c key=" + hookKey
	for line, want := range map[string]string{
		"a kind=githb" + rest:                          `kind: "githb" is none of github, gitlab, hmac (did you mean "github"?)`,
		"a kind=github knd=x" + rest:                   `unknown word "knd" (did you mean "kind"?)`,
		"a kind=github kind=github" + rest:             "kind is given twice",
		"a/b kind=github" + rest:                       `invalid hook name "a/b"`,
		"a kind=github orchestration=o" + rest:         "a hook starts one chain, one orchestration or one template",
		"a kind=github pillar=x:y" + rest:              "pillar: a chain or a template takes no values",
		"a kind=github only=x" + rest:                  `only: "x" is not two words with a colon`,
		"a kind=github created=x" + rest:               `created: "x" is not a time`,
		"a kind=github queue=q chain=c key=short":      "key: a key has at least 16",
		"a kind=github queue=/ chain=c key=" + hookKey: "queue: invalid name",
		"a kind=hmac" + rest + "\na kind=hmac" + rest:  `hook "a" is in the file twice`,
	} {
		_, err := ParseHooks("ui.hooks", []byte(line))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), hookKey) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	all, err := ParseHooks("ui.hooks", []byte(hookFile))
	if err != nil || len(all.All()) != 3 || all.Find("push").String() != strings.Split(hookFile, "\n")[1] {
		t.Errorf("%v, %v", all, err)
	}
}
