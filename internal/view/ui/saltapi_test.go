package ui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"brine/internal/py/value"
)

// saltSite is a site that serves salt-api.
func saltSite(t *testing.T) (*site, *spy) {
	t.Helper()
	s, sp := apiSite(t)
	s.opts.SaltAPI = true
	s.h = s.Handler()
	return s, sp
}

// salt sends a request as programs that speak to salt-api do; a body that begins with a
// brace or a bracket is JSON, others are forms.
func (s *site) salt(method, path, token, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, origin+saltBase+path, strings.NewReader(body))
	r.Header.Set("Accept", "application/json")
	r.Header.Set("X-Requested-With", "XMLHttpRequest")
	r.Header.Set("Content-Type", "application/json")
	if body != "" && !strings.ContainsAny(body[:1], "[{") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if token != "" {
		r.Header.Set("X-Auth-Token", token)
	}
	return s.do(r)
}

// saltLogin logs in with a token of the API.
func (s *site) saltLogin(secret string) string {
	s.t.Helper()
	w := s.salt(http.MethodPost, "/login", "", fmt.Sprintf(`{"username": "ci", "password": %q, "eauth": "brine"}`, secret))
	var in struct {
		Return []struct {
			Token, User, Eauth string
			Start, Expire      float64
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &in); err != nil || w.Code != http.StatusOK || len(in.Return) != 1 || in.Return[0].User != "token:ci" || in.Return[0].Expire-in.Return[0].Start != saltLife.Seconds() {
		s.t.Fatalf("login: %d, %v: %s", w.Code, err, w.Body)
	}
	return in.Return[0].Token
}

// lowSamples are chunks of each row of lows; those of runs do not wait.
func lowSamples() map[string]string {
	return map[string]string{
		"salt-api local, local_async, ssh FUNCTION":       `{"client": "local_async", "tgt": "web*", "fun": "test.echo", "arg": ["x"]}`,
		"salt-api runner, runner_async state.orchestrate": `{"client": "runner_async", "fun": "state.orchestrate", "arg": ["orch.deploy"]}`,
		"salt-api runner, runner_async state.orch":        `{"client": "runner_async", "fun": "state.orch", "mods": "orch.deploy"}`,
		"salt-api runner jobs.lookup_jid":                 `{"client": "runner", "fun": "jobs.lookup_jid", "kwarg": {"jid": "` + pingJID + `"}}`,
		"salt-api runner jobs.list_job":                   `{"client": "runner", "fun": "jobs.list_job", "jid": "` + pingJID + `"}`,
		"salt-api runner jobs.print_job":                  `{"client": "runner", "fun": "jobs.print_job", "arg": ["` + pingJID + `"]}`,
		"salt-api runner jobs.list_jobs":                  `{"client": "runner", "fun": "jobs.list_jobs"}`,
		"salt-api wheel key.list_all":                     `{"client": "wheel", "fun": "key.list_all"}`,
	}
}

// TestSaltAPIHostile sends chunks of each row as each role: they are allowed and recorded
// as the row says, and use no more than it grants. A token with limits gets nothing of
// what concerns all.
func TestSaltAPIHostile(t *testing.T) {
	t.Parallel()
	for _, x := range lows() {
		t.Run(x.pattern, func(t *testing.T) {
			t.Parallel()
			body, ok := lowSamples()[x.pattern]
			if !ok {
				t.Fatal("the test has no chunk of this row")
			}
			for role := Viewer; role <= Editor; role++ {
				for _, limited := range []bool{false, true} {
					scope := Scope{}
					if limited {
						scope.Chains = []string{"friday"}
					}
					s, sp := saltSite(t)
					token := s.saltLogin(s.withToken(role, scope))
					recorded := len(s.actions)
					sp.took()
					w := s.salt(http.MethodPost, "/", token, "["+body+"]")
					filtered := x.pattern == "salt-api runner jobs.list_jobs" // lists leave out what is of others
					allowed := role >= x.least && (!limited || filtered)
					want := http.StatusForbidden
					if allowed {
						want = http.StatusOK
					}
					status(t, fmt.Sprintf("%s, limited %v", role, limited), w, want)
					if filtered && limited == strings.Contains(w.Body.String(), pingJID) || filtered && !strings.Contains(w.Body.String(), "chains.friday") {
						t.Errorf("%s, limited %v: %s", role, limited, w.Body)
					}
					if allowed && x.action != "" {
						<-s.ran
					}
					if n := len(s.actions) - recorded; x.action != "" && (n != 1 || role >= x.least && x.fun == "" && s.actions[recorded].OK != allowed || s.actions[recorded].Name != x.action) || x.action == "" && n != 0 {
						t.Errorf("%s: record: %v", role, s.actions[recorded:])
					}
					used := sp.took()
					if !allowed {
						used &^= readNames | readSteps | readRecords
					}
					if bad := used &^ seen(x.may[role]); bad != 0 {
						t.Errorf("%s, limited %v: used %v", role, limited, bad.describe())
					}
					if len(s.ran) > 0 {
						t.Errorf("%s: something ran", role)
					}
				}
			}
		})
	}
}

// TestSaltAPIRefused: what is not served, and what is not honoured, is refused by its name,
// and nothing of the request runs.
func TestSaltAPIRefused(t *testing.T) {
	t.Parallel()
	s, _ := saltSite(t)
	secret := s.withToken(Editor, Scope{})
	token := s.saltLogin(secret)
	good := `{"client": "local_async", "tgt": "*", "fun": "test.ping"}`
	for _, tt := range []struct {
		body string
		code int
		text string
	}{
		{`[]`, 400, "1 to 100 chunks"},
		{`[1]`, 400, "a list of mappings"},
		{`[{`, 400, "not JSON"},
		{`{"client": "local_batch", "tgt": "*", "fun": "test.ping"}`, 400, `\"local_batch\" is not served here`},
		{`{"client": "runner", "fun": "jobs.lookup_jib"}`, 400, `did you mean \"jobs.lookup_jid\"?`},
		{`{"client": "runner", "fun": "salt.cmd", "arg": ["cmd.run", "id"]}`, 400, `\"salt.cmd\" of the client runner is not served here`},
		{`{"client": "wheel", "fun": "key.accept", "match": "*"}`, 400, "not served here"},
		{`{"client": "local", "tgt": "*", "fun": "test.ping", "ret": "mysql"}`, 400, `\"ret\" of a chunk of the client local is not honoured`},
		{`{"client": "local", "tgt": "*", "fun": "test.ping", "batch": "10%"}`, 400, `\"batch\"`},
		{`{"client": "local", "tgt": "*", "fun": "test.ping;id"}`, 400, "not the name of an execution function"},
		{`{"client": "local", "fun": "test.ping"}`, 400, "tgt, the target, is missing"},
		{`{"client": "local", "tgt": "a,b", "fun": "test.ping"}`, 400, "is not served here"},
		{`{"client": "local", "tgt": "G@x:y", "tgt_type": "glob", "fun": "test.ping"}`, 400, "is not served here"},
		{`{"client": "local", "tgt": "x", "tgt_type": "datacenter", "fun": "test.ping"}`, 400, "is not served here"},
		{`{"client": "local", "tgt": "*", "fun": "test.echo", "arg": ["__slot__:salt:cmd.run(id)"]}`, 400, "would be called as a function on the controller"},
		{`{"client": "local", "tgt": "*", "fun": "test.echo", "arg": ["text=sdb://kv/x"]}`, 400, "names a secret of the controller"},
		{`{"client": "local", "tgt": "none", "fun": "test.ping"}`, 422, "nothing matches none"},
		{`{"client": "runner", "fun": "state.orchestrate", "arg": ["orch.deploy"], "kwarg": {"pillar": {}}}`, 400, "runs as it is defined"},
		{`{"client": "runner", "fun": "state.orchestrate", "arg": ["orch.deploy", "x"]}`, 400, "one name of an SLS"},
		{`{"client": "runner", "fun": "jobs.lookup_jid", "arg": ["x"]}`, 404, "is not a job id"},
		{"[" + good + `, {"client": "local", "tgt": "*", "fun": "x"}]`, 400, "not the name"},
	} {
		w := s.salt(http.MethodPost, "/", token, tt.body)
		if w.Code != tt.code || !strings.Contains(w.Body.String(), tt.text) || !strings.Contains(w.Body.String(), fmt.Sprintf(`"status":%d`, tt.code)) {
			t.Errorf("%s: %d: %s", tt.body, w.Code, w.Body)
		}
	}
	for _, tt := range []struct{ method, path, token, body string }{
		{"POST", "/", "", good},
		{"POST", "/", "x", good},
		{"POST", "/", secret, good}, // a token of the API is none of salt-api
		{"GET", "/jobs", "", ""},
		{"POST", "/logout", "x", ""},
		{"POST", "/login", "", `{"username": "x", "password": "y", "eauth": "pam"}`},
		{"POST", "/login", "", `{"username": "x", "password": "y", "eauth": "brine"}`},
		{"POST", "/login", "", `{"username": "x", "password": "brine_y", "eauth": "brine"}`},
		{"POST", "/run", "", `{"client": "local", "tgt": "*", "fun": "test.ping", "username": "x", "password": "brine_y", "eauth": "brine"}`},
		{"POST", "/run", "", `{"client": "local", "tgt": "*", "fun": "test.ping", "token": "x"}`},
	} {
		if w := s.salt(tt.method, tt.path, tt.token, tt.body); w.Code != http.StatusUnauthorized {
			t.Errorf("%s %s with %s: %d: %s", tt.method, tt.path, tt.body, w.Code, w.Body)
		}
	}
	// The token of salt-api logs in to nothing else.
	r := httptest.NewRequest(http.MethodGet, origin+"/", nil)
	r.AddCookie(&http.Cookie{Name: s.access.cookie, Value: token})
	if w := s.do(r); w.Code != http.StatusSeeOther {
		t.Errorf("as a cookie, the token gets %d", w.Code)
	}
	if w := s.ask(http.MethodGet, apiBase+"/runs", token, ""); w.Code != http.StatusUnauthorized {
		t.Errorf("as a token of the API, it gets %d", w.Code)
	}
	status(t, "keys", s.salt(http.MethodGet, "/keys", token, ""), http.StatusNotFound)
	status(t, "logout", s.salt(http.MethodPost, "/logout", token, ""), http.StatusOK)
	status(t, "after the logout", s.salt(http.MethodGet, "/jobs", token, ""), http.StatusUnauthorized)
	token = s.saltLogin(secret)
	s.opts.Tokens = func() (*Tokens, error) { return &Tokens{}, nil }
	status(t, "a token that was revoked", s.salt(http.MethodGet, "/jobs", token, ""), http.StatusUnauthorized)
	if len(s.ran) != 0 {
		t.Error("something ran")
	}
	off := newSite(t, nil)
	if w := off.salt(http.MethodPost, "/login", "", good); w.Code == http.StatusOK || strings.Contains(w.Body.String(), "token\":") {
		t.Errorf("it is served where nobody wished it: %d", w.Code)
	}
}

// TestSaltAPIRequests: the requests of Salt's own client, as it sends them.
func TestSaltAPIRequests(t *testing.T) {
	t.Parallel()
	s, _ := saltSite(t)
	secret := s.withToken(Editor, Scope{})
	token := s.saltLogin(secret)
	type started struct {
		Return []struct {
			JID     string
			Minions []string
		}
	}
	start := func(path, token, body string) started {
		t.Helper()
		w := s.salt(http.MethodPost, path, token, body)
		var out started
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK || len(out.Return) != 1 || out.Return[0].JID == "" {
			t.Fatalf("%s: %d: %s", body, w.Code, w.Body)
		}
		return out
	}
	for _, tt := range []struct{ path, body, args string }{
		{"/", `[{"client": "local_async", "tgt": "*", "fun": "test.arg", "arg": ["1", "x=[2]", "y"], "tgt_type": "glob"}]`, `{"arg":[1,"y"],"kwarg":{"x":[2]}}`},
		{"/", `{"client": "local_async", "tgt": ["web1", "web2"], "fun": "test.arg", "arg": [1, "two"], "kwarg": {"three": 3}}`, `{"arg":[1,"two"],"kwarg":{"three":3}}`},
		{"/", url.Values{"client": {"local_async"}, "tgt": {"*"}, "fun": {"test.arg"}, "arg": {"a b", "c=d"}}.Encode(), `{"arg":["a b"],"kwarg":{"c":"d"}}`},
		{"/minions", `[{"tgt": "*", "fun": "test.arg", "arg": "one"}]`, `{"arg":["one"],"kwarg":{}}`},
	} {
		if out := start(tt.path, token, tt.body); len(out.Return[0].Minions) == 0 {
			t.Errorf("%s: %+v", tt.body, out)
		}
		ran := <-s.ran
		if ran.Args[0] != "ssh" || ran.User != "token:ci" {
			t.Errorf("%s: %v", tt.body, ran)
		}
		if got := string(value.EncodeJSON(ran.Answers)); got != tt.args {
			t.Errorf("%s: the arguments are %s, want %s", tt.body, got, tt.args)
		}
	}
	start("/run", "", fmt.Sprintf(`[{"client": "local_async", "tgt": "*", "fun": "test.ping", "username": "ci", "password": %q, "eauth": "brine"}]`, secret))
	<-s.ran
	// A job whose record is not there yet has no returns so far.
	w := s.salt(http.MethodPost, "/", token, `[{"client": "runner", "fun": "jobs.lookup_jid", "kwarg": {"jid": "20991231000000000000"}}]`)
	if text := strings.TrimSpace(w.Body.String()); text != `{"return":[{}]}` {
		t.Errorf("a job without a record: %d: %s", w.Code, text)
	}
	for _, path := range []string{"/", "/jobs", "/jobs/" + pingJID} {
		if w := s.salt(http.MethodGet, path, token, ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"return"`) {
			t.Errorf("GET %s: %d: %s", path, w.Code, w.Body)
		}
	}
	s.opts.Now = func() time.Time { return time.Now().Add(saltLife + time.Minute) }
	s.access.now = s.opts.Now
	status(t, "a token that has expired", s.salt(http.MethodGet, "/jobs", token, ""), http.StatusUnauthorized)
}
