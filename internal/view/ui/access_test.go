package ui

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/internal/py/source"
)

func TestTokenWorksOnce(t *testing.T) {
	t.Parallel()
	next := 0
	s := newSite(t, func(o *Options) { o.OnToken = func() { next++ } })
	token := s.Token()
	get := func(token string) *httptest.ResponseRecorder {
		return s.do(httptest.NewRequest(http.MethodGet, origin+"/login?token="+url.QueryEscape(token), nil))
	}
	w := get(token)
	status(t, "first use", w, 200)
	c := w.Result().Cookies()
	if len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || c[0].Path != "/" {
		t.Fatalf("cookies %v", c)
	}
	b := &browser{s, c[0]}
	status(t, "logged in", b.get("/"), 200)
	w = get(token)
	status(t, "second use", w, 403)
	if len(w.Result().Cookies()) > 0 || next != 1 {
		t.Errorf("a token that was used logs in, or asks for a next one: %d", next)
	}
	status(t, "without a cookie", s.do(httptest.NewRequest(http.MethodGet, origin+"/jobs", nil)), 303)
	for range maxFailures {
		get("guess")
	}
	status(t, "after many guesses", get("guess"), 429)
	status(t, "a link after many guesses", get(s.Token()), 200)
	if !s.did(Action{User: "owner", Name: "login", On: "192.0.2.1", OK: true}) || !s.did(Action{User: "owner", Name: "login", On: "192.0.2.1"}) {
		t.Errorf("record: %v", s.actions)
	}
	status(t, "log out", b.post("/logout"), 303)
	status(t, "after it", b.get("/"), 303)
}

// TestOldToken has the terminal show another link if somebody uses one that is too
// old: there is no other way to log in.
func TestOldToken(t *testing.T) {
	t.Parallel()
	now, next := time.Now(), 0
	s := newSite(t, func(o *Options) {
		o.Now = func() time.Time { return now }
		o.OnToken = func() { next++ }
	})
	token := s.Token()
	now = now.Add(tokenLife)
	for range 2 {
		status(t, "too old", s.do(httptest.NewRequest(http.MethodGet, origin+"/login?token="+token, nil)), 403)
	}
	if next != 1 {
		t.Errorf("%d links are shown", next)
	}
}

// TestGuessIsRecorded has somebody not wait for the answer to a guess.
func TestGuessIsRecorded(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.do(httptest.NewRequest(http.MethodGet, origin+"/login?token=guess", nil).WithContext(ctx))
	if !s.did(Action{User: "owner", Name: "login", On: "192.0.2.1"}) {
		t.Errorf("record: %v", s.actions)
	}
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccess(time.Now, true, "443")
		w := httptest.NewRecorder()
		a.enter(w, user{name: "ann", role: Viewer})
		c := w.Result().Cookies()[0]
		if !c.Secure || c.Name != "__Host-brine-ui-443" {
			t.Errorf("cookie %v", c)
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.AddCookie(c)
		for n := 1; time.Duration(n)*idleSession/2 < maxSession; n++ {
			time.Sleep(idleSession / 2)
			if a.visitor(r) == nil {
				t.Fatal("a session that is used ends")
			}
		}
		time.Sleep(idleSession/2 + 1)
		if a.visitor(r) != nil {
			t.Error("a session lasts for longer than its whole time")
		}
		a.enter(w, user{name: "ann", role: Viewer})
		w = httptest.NewRecorder()
		a.enter(w, user{name: "ann", role: Viewer})
		r = httptest.NewRequest(http.MethodGet, "/", nil)
		r.AddCookie(w.Result().Cookies()[0])
		time.Sleep(idleSession + 1)
		if a.visitor(r) != nil {
			t.Error("a session lasts that is not used")
		}
		token := a.token()
		time.Sleep(tokenLife)
		if valid, expired := a.redeem(token); valid || !expired {
			t.Error("an old token logs in, or is not known")
		}
		if valid, expired := a.redeem(token); valid || expired {
			t.Error("an old token is known twice")
		}
		for range maxSessions + 5 {
			a.enter(httptest.NewRecorder(), user{name: "ann", role: Viewer})
		}
		if len(a.visits) != maxSessions {
			t.Errorf("%d sessions are kept", len(a.visits))
		}
	})
}

// TestNoRecord: nothing is done while the audit record cannot be written, but log-ins.
func TestNoRecord(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Editor)
	status(t, "a chain", b.post("/chains", "name", "friday"), 303)
	s.mu.Lock()
	s.full = errors.New("no space left on device")
	s.mu.Unlock()
	w := b.post("/chains", "name", "monday")
	if status(t, "another chain", w, 500); !strings.Contains(w.Body.String(), "Nothing was done, since the audit record cannot be written") {
		t.Errorf("page: %s", w.Body)
	}
	status(t, "a run", b.post("/orchestrations/orch.deploy/run", "confirm", "yes"), 500)
	if text := b.get("/chains/monday"); text.Code != 404 {
		t.Errorf("the chain is there: status %d", text.Code)
	}
	select {
	case c := <-s.ran:
		t.Errorf("ran %v", c.Args)
	default:
	}
	status(t, "a log-in", s.do(httptest.NewRequest(http.MethodGet, origin+"/login?token="+s.Token(), nil)), 200)
}

// TestRefused has requests that do not come from a page of the server.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Editor)
	run := url.Values{"csrf": {b.csrf()}, "confirm": {"yes"}}
	for _, tt := range []struct {
		name   string
		change func(*http.Request)
		want   int
	}{
		{"rebinding", func(r *http.Request) { r.Host = "evil.example:8080" }, 421},
		{"other port", func(r *http.Request) { r.Host = "127.0.0.1:8081" }, 421},
		{"other origin", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		{"origin null", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"two origins", func(r *http.Request) { r.Header.Add("Origin", origin) }, 403},
		{"no origin", func(r *http.Request) { r.Header.Del("Origin") }, 403},
		{"origin of the other name", func(r *http.Request) { r.Host = "localhost:8080" }, 403},
		{"cross-site", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"other site of the domain", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		{"no cookie", func(r *http.Request) { r.Header.Del("Cookie") }, 403},
		{"PUT", func(r *http.Request) { r.Method = http.MethodPut }, 405},
	} {
		r := b.request(http.MethodPost, "/orchestrations/orch.deploy/run", run)
		tt.change(r)
		status(t, tt.name, s.do(r), tt.want)
	}
	for name, form := range map[string]url.Values{
		"no CSRF token": {"confirm": {"yes"}}, "wrong CSRF token": {"confirm": {"yes"}, "csrf": {"guess"}},
		"CSRF token of another session": {"confirm": {"yes"}, "csrf": {s.browser(Editor).csrf()}},
	} {
		status(t, name, b.do(b.request(http.MethodPost, "/orchestrations/orch.deploy/run", form)), 403)
	}
	status(t, "CSRF token in the address", b.do(b.request(http.MethodPost, "/orchestrations/orch.deploy/run?csrf="+b.csrf(), url.Values{"confirm": {"yes"}})), 403)
	status(t, "large body", b.post("/chains", "name", strings.Repeat("x", maxBody)), 413)
	status(t, "not confirmed", b.post("/orchestrations/orch.deploy/run"), 422)
	if len(s.ran) != 0 || len(s.runs.known) != 0 {
		t.Error("something ran")
	}
}

// TestUsualPort has browsers leave out the port that is usual for the scheme.
func TestUsualPort(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		given, host, origin string
		want                int
	}{
		{"http://127.0.0.1:80", "127.0.0.1", "http://127.0.0.1", 303},
		{"https://brine.example.com:443", "brine.example.com", "https://brine.example.com", 303},
		{"https://Brine.example.com", "brine.example.com:443", "https://brine.example.com", 303},
		{"https://[2001:db8::1]:443", "[2001:db8::1]", "https://[2001:db8::1]", 303},
		{"https://brine.example.com", "brine.example.com:80", "https://brine.example.com", 421},
		{"https://brine.example.com:8443", "brine.example.com", "https://brine.example.com", 421},
		{"https://brine.example.com:443", "brine.example.com", "http://brine.example.com", 403},
	} {
		s := newSite(t, func(o *Options) { o.Origins = []string{tt.given} })
		b := s.browser(Viewer)
		r := b.request(http.MethodPost, "/logout", url.Values{"csrf": {b.csrf()}})
		r.Host = tt.host
		r.Header.Set("Origin", tt.origin)
		status(t, tt.given+" for "+tt.host, s.do(r), tt.want)
	}
	for _, bad := range []string{"brine.example.com", "https://", "ftp://x", "https://x/ui", "https://me@x", "https://x?y"} {
		if _, err := New(Options{Origins: []string{bad}, Now: time.Now}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	h := s.do(httptest.NewRequest(http.MethodGet, origin+"/login", nil)).Header()
	if p := h.Get("Content-Security-Policy"); strings.Contains(p, "unsafe") || !strings.HasPrefix(p, "default-src 'none'") || !strings.Contains(p, "frame-ancestors 'none'") {
		t.Errorf("policy %q", p)
	}
	if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", h)
	}
	s = newSite(t, func(o *Options) { o.Origins = []string{"https://127.0.0.1:8080", "https://localhost:8080"} })
	for host, want := range map[string]string{"127.0.0.1:8080": "max-age=31536000", "localhost:8080": ""} {
		r := httptest.NewRequest(http.MethodGet, origin+"/login", nil)
		r.Host = host
		if got := s.do(r).Header().Get("Strict-Transport-Security"); got != want {
			t.Errorf("%s: Strict-Transport-Security: %q", host, got)
		}
	}
}

// TestTraversal asks for files and names that are none of the pages.
func TestTraversal(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Editor)
	for _, path := range []string{
		"/assets/..%2fui.go", "/assets/%2e%2e/ui.go", "/assets/", "/assets/none", "/chains/..%2f..%2fetc%2fpasswd", "/chains/%2fetc%2fpasswd/text",
		"/chains/.lock", "/templates/..%2fsite", "/orchestrations/..%2f..%2fetc", "/jobs/..%2f..%2fetc%2fpasswd", "/jobs/20260101000000000000", "/runs/x", "/nothing",
		"/history/..%2f..%2fetc%2fpasswd", "/history/20260101000000000000", "/states/..%2f..%2fetc%2fpasswd", "/states/web/step?chain=..%2f..%2fx", "/states/web/step", "/orchestrations/orch.deploy/step?chain=..%2fx",
		"/hosts/none",
	} {
		if w := b.get(path); w.Code != 404 && w.Code != 400 && w.Code != 301 && w.Code != 307 {
			t.Errorf("%s: status %d: %s", path, w.Code, w.Body)
		}
	}
	for _, name := range []string{"../x", "a/b", "", ".x", "x\ny"} {
		status(t, name, b.post("/chains", "name", name), 422)
	}
}

// TestRoles has what each role may do, and what is refused is in the record.
func TestRoles(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	status(t, "a chain", s.browser(Editor).post("/chains", "name", "friday"), 303)
	for _, tt := range []struct {
		role Role
		path string
		want int
	}{
		{Viewer, "/orchestrations/orch.deploy/run", 403},
		{Viewer, "/chains/friday/run", 403},
		{Viewer, "/templates/site", 403},
		{Viewer, "/runs/x/stop", 403},
		{Viewer, "/runs/x/kill", 403},
		{Viewer, "/runs/x/resume", 403},
		{Viewer, "/jobs/20260101000000000000/resume", 403},
		{Viewer, "/jobs/20260101000000000000/retry", 403},
		{Viewer, "/hosts/ping", 403},
		{Viewer, "/chains/friday/schedule", 403},
		{Viewer, "/chains/friday/unschedule", 403},
		{Operator, "/chains", 403},
		{Operator, "/chains/friday/clone", 403},
		{Operator, "/chains/friday/delete", 403},
		{Operator, "/chains/friday/move", 403},
		{Operator, "/chains/friday/remove", 403},
		{Operator, "/chains/friday/text", 403},
		{Operator, "/chains/friday/step", 403},
		{Operator, "/chains/friday/targets", 403},
		{Operator, "/chains/friday/about", 403},
		{Operator, "/orchestrations/orch.deploy/run", 303},
	} {
		status(t, tt.role.String()+" "+tt.path, s.browser(tt.role).post(tt.path, "confirm", "yes", "name", "x"), tt.want)
	}
	if c := <-s.ran; c.User != "operator" || strings.Join(c.Args, " ") != "orchestrate orch.deploy --progress=json --out=quiet --log-level=warning" {
		t.Errorf("ran %v", c)
	}
	if !s.did(Action{User: "viewer", Name: "run", On: "/chains/friday/run"}) || !s.did(Action{User: "operator", Name: "run", On: "/orchestrations/orch.deploy/run", OK: true}) {
		t.Errorf("record: %v", s.actions)
	}
	for _, role := range []Role{Viewer, Operator} {
		text := s.browser(role).get("/chains/friday").Body.String()
		if strings.Contains(text, "/chains/friday/delete") {
			t.Errorf("%s is shown what only editors may do", role)
		}
	}
}

func TestUsersLogIn(t *testing.T) {
	t.Parallel()
	hash, err := Hash("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	users, err := ParseUsers("users", SetUser(SetUser(nil, "ann", "operator", hash), "bob", "", noPassword))
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(o *Options) { o.Users = always(users) })
	login := func(name, password string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, origin+"/login", strings.NewReader(url.Values{"name": {name}, "password": {password}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		return s.do(r)
	}
	w := login("ann", "correct horse")
	status(t, "right password", w, 303)
	b := &browser{s, w.Result().Cookies()[0]}
	if text := b.get("/").Body.String(); !strings.Contains(text, "ann (operator)") {
		t.Errorf("page: %s", text)
	}
	status(t, "token", s.do(httptest.NewRequest(http.MethodGet, origin+"/login?token="+s.Token(), nil)), 200)
	for _, x := range [][2]string{{"ann", "wrong"}, {"ann", ""}, {"bob", ""}, {"bob", noPassword}, {"carl", "correct horse"}, {"", ""}, {hostile, hostile}} {
		w := login(x[0], x[1])
		status(t, x[0], w, 403)
		if len(w.Result().Cookies()) > 0 || strings.Contains(w.Body.String(), "<script>alert") {
			t.Errorf("%q: cookie, or unescaped text: %s", x, w.Body)
		}
	}
	if !s.did(Action{User: "ann", Name: "login", On: "192.0.2.1"}) || !s.did(Action{User: "(unknown)", Name: "login", On: "192.0.2.1"}) || s.did(Action{User: "carl", Name: "login", On: "192.0.2.1"}) {
		t.Errorf("record: %v", s.actions)
	}
	for range maxFailures {
		s.access.failed("user ann")
	}
	status(t, "too many", login("ann", "correct horse"), 429)
}

// TestGuessesAtOnce sends more guesses than are allowed before the first one is
// checked.
func TestGuessesAtOnce(t *testing.T) {
	t.Parallel()
	users, err := ParseUsers("users", []byte("ann:editor:$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(o *Options) { o.Users = always(users) })
	for range maxHashing {
		s.access.hashing <- struct{}{}
	}
	codes := make(chan int)
	const guesses = 3 * maxFailures
	for range guesses {
		go func() {
			r := httptest.NewRequest(http.MethodPost, origin+"/login", strings.NewReader("name=ann&password=guess"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", origin)
			codes <- s.do(r).Code
		}()
	}
	time.Sleep(50 * time.Millisecond) // all wait
	for range maxHashing {
		<-s.access.hashing
	}
	checked := 0
	for range guesses {
		if <-codes == http.StatusForbidden {
			checked++
		}
	}
	if checked > maxFailures+maxHashing {
		t.Errorf("%d guesses were checked", checked)
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	users, err := ParseUsers("users", []byte("# users\nann:operator:-\nbob:viewer:-\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(o *Options) {
		o.Users, o.Proxy = always(users), &Proxy{From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Header: "X-Remote-User"}
	})
	get := func(from string, names ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, origin+"/", nil)
		r.RemoteAddr = from
		for _, n := range names {
			r.Header.Add("X-Remote-User", n)
		}
		return s.do(r)
	}
	w := get("10.1.2.3:1000", "ann")
	status(t, "a user", w, 200)
	status(t, "nobody", get("10.1.2.3:1000"), 403)
	status(t, "unknown", get("10.1.2.3:1000", "carl"), 403)
	status(t, "two names", get("10.1.2.3:1000", "ann", "bob"), 403)
	status(t, "past the proxy", get("192.0.2.1:1000", "ann"), 403)
	login := httptest.NewRequest(http.MethodGet, origin+"/login", nil)
	login.RemoteAddr = "10.1.2.3:1000"
	if text := s.do(login).Body.String(); strings.Contains(text, "password") {
		t.Errorf("a password is asked for behind a proxy: %s", text)
	}
	// A session is not that of another user.
	if text := get("10.1.2.3:1000", "bob").Body.String(); !strings.Contains(text, "bob (viewer)") {
		t.Errorf("page: %s", text)
	}
	csrf := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(w.Body.String())
	if csrf == nil {
		t.Fatalf("the page has no CSRF token: %s", w.Body)
	}
	for range maxSessions { // they do not end the visit
		get("10.9.9.9:1000", "bob")
	}
	if len(s.access.visits) != 2 {
		t.Errorf("%d visits", len(s.access.visits))
	}
	for name, want := range map[string]int{"ann": 303, "bob": 403} {
		r := httptest.NewRequest(http.MethodPost, origin+"/logout", strings.NewReader(url.Values{"csrf": csrf[1:]}.Encode()))
		r.RemoteAddr = "10.1.2.3:1000"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		r.Header.Set("X-Remote-User", name)
		status(t, "the token of ann, as "+name, s.do(r), want)
	}
}

func TestUsersFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ann":                        "users:1: a line must be NAME:ROLE:HASH",
		"\nann:admin:-":              "users:2: unknown role \"admin\"",
		"ann:viewer:-\nann:editor:-": "users:2: user \"ann\" is in the file twice",
		"a b:viewer:-":               "users:1: invalid user name",
		"ann:viewer:secret":          "users:1: the hash is not one of argon2id",
		"ann:viewer:$argon2id$v=19$m=99999999,t=3,p=4$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": "users:1: the hash asks for too much",
	} {
		_, err := ParseUsers("users", []byte(text))
		var es source.Errors
		if !errors.As(err, &es) || !strings.HasPrefix(es[0].Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := Hash("short"); err == nil {
		t.Error("a short password is taken")
	}
	if got := string(SetUser([]byte("# a\nann:editor:-\nbob:viewer:-\n"), "ann", "", "x")); got != "# a\nann:editor:x\nbob:viewer:-\n" {
		t.Errorf("changed: %q", got)
	}
}

// TestNext has a log-in lead back to the page that somebody wanted, and nowhere else.
func TestNext(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	w := s.do(httptest.NewRequest(http.MethodGet, origin+"/jobs?text=a&all=yes", nil))
	where := w.Header().Get("Location")
	if where != "/login?next=%2Fjobs%3Ftext%3Da%26all%3Dyes" {
		t.Errorf("asked to log in at %s", where)
	}
	if w := s.do(httptest.NewRequest(http.MethodGet, origin+"/", nil)); w.Header().Get("Location") != "/login" {
		t.Errorf("asked to log in at %s", w.Header().Get("Location"))
	}
	for next, want := range map[string]string{
		"/jobs?text=a": "/jobs?text=a", "": "/", "jobs": "/", "//evil.example/": "/", "/\\evil.example": "/", "https://evil.example/": "/",
		"/a\r\nSet-Cookie: x": "/", "/\tevil": "/", "/login?token=x": "/", "/%zz": "/",
	} {
		if got := nextOf(url.Values{"next": {next}}); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

// TestExpiredFormsHostile: a form that is sent after the log-in has expired does nothing, and
// what was typed is not lost: who logs in again sends it, but for passwords. What other sites
// send is not shown.
func TestExpiredFormsHostile(t *testing.T) {
	t.Parallel()
	s, _ := sampleSite(t)
	form := url.Values{
		"csrf": {"of the earlier log-in"}, "name": {"friday-2"}, "description": {hostile + "\nline 2"}, "confirm": {"yes"},
		"v:key": {"hunter2"}, "password": {"v:key"},
	}
	send := func(b *browser, f url.Values) *httptest.ResponseRecorder {
		return b.do(b.request(http.MethodPost, "/chains", f))
	}
	before := chainsOf(t, s)
	nobody := &browser{s, &http.Cookie{Name: s.access.cookie, Value: "none"}}
	expired := send(nobody, form)
	status(t, "no log-in", expired, http.StatusForbidden)
	b := s.guest(Scope{})
	stale := send(b, form)
	status(t, "an earlier log-in", stale, http.StatusForbidden)
	for what, w := range map[string]*httptest.ResponseRecorder{"Your log-in has expired": expired, "The form is from an earlier log-in": stale} {
		page := w.Body.String()
		for _, text := range []string{what, `action="/chains"`, `name="name" value="friday-2"`, `name="confirm" value="yes"`, "line 2"} {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page lacks %s: %s", what, text, page)
			}
		}
		if strings.Contains(page, "hunter2") || strings.Contains(page, form.Get("csrf")) || strings.Contains(page, hostile) {
			t.Errorf("%s: the page has a password, or text of others as it is: %s", what, page)
		}
	}
	if strings.Contains(expired.Body.String(), b.csrf()) || !strings.Contains(stale.Body.String(), b.csrf()) {
		t.Error("the page for who is logged in alone has what lets the form be sent")
	}
	r := b.request(http.MethodPost, "/chains", form)
	r.Header.Set("Origin", "https://other.example")
	if w := b.do(r); strings.Contains(w.Body.String(), "friday-2") {
		t.Errorf("the form of another site comes back: %s", w.Body)
	}
	if now := chainsOf(t, s); now != before {
		t.Errorf("something was done: %s", now)
	}
	form.Set("csrf", b.csrf())
	status(t, "sent again", send(b, form), http.StatusSeeOther)
	if w := nobody.do(nobody.request(http.MethodPost, "/runs/x/stop", url.Values{"csrf": {"x"}})); w.Header().Get("Location") != "/login" {
		t.Errorf("a button: %d", w.Code)
	}
}
