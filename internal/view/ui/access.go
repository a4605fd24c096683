package ui

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
)

// How long a browser stays logged in, and bounds of log-ins.
const (
	idleSession   = 12 * time.Hour
	maxSession    = 7 * 24 * time.Hour
	tokenLife     = 24 * time.Hour
	maxSessions   = 1000
	loginWindow   = time.Minute
	maxFailures   = 10 // of one address, and of one user, in a window
	maxRemembered = 10000
	maxHashing    = 2 // passwords that are checked at once
)

// A visit is a browser that has logged in, or a user of a proxy.
type visit struct {
	name    string
	role    Role
	csrf    string
	began   time.Time
	seen    time.Time
	session [sha256.Size]byte
	hash    string   // of the password that was given
	token   *Token   // of a program; nil: it is a browser
	scope   Scope    // what a user is limited to
	groups  []string // that a provider or a proxy says the user is in
	line    *visit   // the visit with the role of the line; nil: this one
}

// access knows who has logged in.
type access struct {
	now    func() time.Time
	cookie string
	secure bool
	// hashing bounds the memory that log-ins take.
	hashing chan struct{}

	mu       sync.Mutex
	tokens   map[[sha256.Size]byte]time.Time // hashes of tokens, and when they end
	visits   map[[sha256.Size]byte]*visit    // by the hash of the cookie's value; behind a proxy, of the user's role and name
	failures map[string][]time.Time
	salt     map[[sha256.Size]byte]*visit // of salt-api, by the hash of the token
}

func newAccess(now func() time.Time, secure bool, port string) *access {
	a := &access{
		now: now, secure: secure, hashing: make(chan struct{}, maxHashing),
		tokens: map[[sha256.Size]byte]time.Time{}, visits: map[[sha256.Size]byte]*visit{}, failures: map[string][]time.Time{}, salt: map[[sha256.Size]byte]*visit{},
	}
	// Cookies are not kept apart by port: the name does it.
	a.cookie = "brine-ui-" + port
	if secure {
		a.cookie = "__Host-" + a.cookie
	}
	return a
}

// secret returns text that cannot be guessed.
func secret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

func (a *access) token() string {
	t := secret()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tokens[sha256.Sum256([]byte(t))] = a.now().Add(tokenLife)
	return t
}

// redeem reports whether a token logs in, which it does once, and whether it is one
// that would have done so earlier.
func (a *access) redeem(token string) (valid, expired bool) {
	key := sha256.Sum256([]byte(token))
	a.mu.Lock()
	defer a.mu.Unlock()
	until, ok := a.tokens[key]
	delete(a.tokens, key)
	valid = ok && a.now().Before(until)
	return valid, ok && !valid
}

// enter logs a browser in.
func (a *access) enter(w http.ResponseWriter, u user) {
	id := secret()
	v := &visit{name: u.name, role: u.role, scope: u.scope, groups: u.groups, hash: u.hash, csrf: secret(), began: a.now(), seen: a.now(), session: sha256.Sum256([]byte(id))}
	a.mu.Lock()
	if len(a.visits) >= maxSessions {
		a.forgetOldest()
	}
	a.visits[v.session] = v
	a.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: a.cookie, Value: id, Path: "/", HttpOnly: true, Secure: a.secure, SameSite: http.SameSiteStrictMode})
}

func (a *access) forgetOldest() {
	var oldest *visit
	for _, v := range a.visits {
		if oldest == nil || v.seen.Before(oldest.seen) {
			oldest = v
		}
	}
	if oldest != nil {
		delete(a.visits, oldest.session)
	}
}

func (a *access) leave(w http.ResponseWriter, v *visit) {
	a.mu.Lock()
	delete(a.visits, v.session)
	a.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: a.cookie, Path: "/", MaxAge: -1, HttpOnly: true, Secure: a.secure, SameSite: http.SameSiteStrictMode})
}

// visitor returns the visit of a request.
func (a *access) visitor(r *http.Request) *visit {
	c, err := r.Cookie(a.cookie)
	if err != nil {
		return nil
	}
	key := sha256.Sum256([]byte(c.Value))
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.visits[key]
	if v == nil {
		return nil
	}
	now := a.now()
	if v.expired(now) {
		delete(a.visits, key)
		return nil
	}
	v.seen = now
	return v
}

// proxied returns the visit of a user of a proxy. There is one for all of the user's
// browsers, without a cookie: requests that bring none, such as those that other
// sites or monitoring send, must not end the visits of others.
func (a *access) proxied(u user) *visit {
	key := sha256.Sum256([]byte(u.role.String() + " " + u.name + " " + u.scope.String() + "\n" + strings.Join(u.groups, ","))) // other rights are another visit
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.visits[key]
	if v == nil || v.expired(now) {
		v = &visit{name: u.name, role: u.role, scope: u.scope, groups: u.groups, csrf: secret(), began: now, session: key}
		a.visits[key] = v
	}
	v.seen = now
	return v
}

func (v *visit) expired(now time.Time) bool {
	return now.Sub(v.seen) > idleSession || now.Sub(v.began) > maxSession
}

// valid reports whether a visit has not expired. The check does not count as
// use of the visit.
func (a *access) valid(v *visit) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.visits[v.session] == v && !v.expired(a.now())
}

// slowDown reports whether there were too many failed log-ins.
func (a *access) slowDown(keys ...string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range keys {
		recent := a.failures[k][:0]
		for _, t := range a.failures[k] {
			if a.now().Sub(t) < loginWindow {
				recent = append(recent, t)
			}
		}
		if len(recent) == 0 {
			delete(a.failures, k)
			continue
		}
		a.failures[k] = recent
		if len(recent) >= maxFailures {
			return true
		}
	}
	return false
}

func (a *access) failed(keys ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.failures) >= maxRemembered {
		clear(a.failures)
	}
	for _, k := range keys {
		a.failures[k] = append(a.failures[k], a.now())
	}
}

type visitKey struct{}

func visitOf(r *http.Request) (*visit, bool) {
	v, ok := r.Context().Value(visitKey{}).(*visit)
	return v, ok
}

// who returns the visit of a request; nil: nobody has logged in. Behind a proxy,
// each request says whose it is. A visit ends when its user is not among the users
// any more, or has another role or password. If nobody knows the users, nobody is let
// in.
func (s *Server) who(r *http.Request) *visit {
	if p := s.opts.Proxy; p != nil {
		users, err := s.opts.Users()
		if err != nil {
			return nil
		}
		if u, ok := users.admit(p.user(r), p.groups(r)); ok {
			return s.access.proxied(u)
		}
		return nil
	}
	v := s.access.visitor(r)
	if v == nil || !s.current(v) {
		return nil
	}
	return v
}

// current reports whether the user of a visit is as at its beginning.
func (s *Server) current(v *visit) bool {
	v = v.own()
	if s.opts.Users == nil {
		return true
	}
	users, err := s.opts.Users()
	if err != nil {
		return false
	}
	u, ok := users.admit(v.name, v.groups)
	return ok && u.role == v.role && u.scope.String() == v.scope.String() && (s.opts.Proxy != nil || u.hash == v.hash)
}

// valid reports whether a visit has not ended.
func (s *Server) valid(v *visit) bool { return s.access.valid(v.own()) && s.current(v) }

// look answers requests that change nothing.
func (s *Server) look(x route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := s.who(r)
		switch {
		case v == nil && s.opts.Proxy != nil:
			s.fail(w, r, http.StatusForbidden, "Not allowed", "You are not among the users of brine ui.")
			return
		case v == nil:
			toLogin(w, r)
			return
		}
		v = x.with(s, r, v)
		r = x.grant(r, v)
		if !isSafe(r.Method) {
			s.fail(w, r, http.StatusMethodNotAllowed, "Not allowed", "This page takes no data.")
			return
		}
		if why := x.refuses(s, r, v); why != nil {
			s.fault(w, r, why)
			return
		}
		x.do(s, w, r, v)
	}
}

// act answers requests that change something. They need a role and the CSRF token
// of the visit. Each is in the audit record, refused ones too.
func (s *Server) act(x route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := s.who(r)
		if v == nil && s.opts.Proxy != nil {
			s.fail(w, r, http.StatusForbidden, "Not allowed", "You are not among the users of brine ui.")
			return
		}
		if v != nil {
			r = x.grant(r, v) // for what is answered before the form is known
		}
		if err := r.ParseForm(); err != nil {
			s.fail(w, r, http.StatusRequestEntityTooLarge, "This did not work", "The form is too large or cannot be read.")
			return
		}
		if v == nil || subtle.ConstantTimeCompare([]byte(r.PostForm.Get("csrf")), []byte(v.csrf)) != 1 {
			s.notSent(w, r, v)
			return
		}
		v = x.with(s, r, v)
		s.perform(x, w, x.grant(r, v), v)
	}
}

// notSent answers a form that is not of a valid log-in: nothing is done, and what was typed is
// there to be sent again, without passwords. Forms of other sites do not get here.
func (s *Server) notSent(w http.ResponseWriter, r *http.Request, v *visit) {
	f := maps.Clone(r.PostForm)
	delete(f, "csrf")
	delete(f, "once")
	if v == nil && len(f) == 0 { // a button: there is nothing to lose
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	}
	for _, name := range f["password"] {
		delete(f, name)
	}
	var fields []typedField
	for _, name := range slices.Sorted(maps.Keys(f)) {
		for _, text := range f[name] {
			fields = append(fields, typedField{name, text})
		}
	}
	render(w, r, http.StatusForbidden, notSentPage(page{Title: "This was not done", Who: v}, r.URL.RequestURI(), fields))
}

// A typedField is one of a form that was sent.
type typedField struct{ name, text string }

// perform records a request that changes something, and does what it asks for if that
// is allowed.
func (s *Server) perform(x route, w http.ResponseWriter, r *http.Request, v *visit) {
	why, err := s.admit(x, r, v)
	switch {
	case err != nil:
		s.fail(w, r, http.StatusInternalServerError, "This did not work", err.Error())
	case why != nil:
		s.fault(w, r, why)
	default:
		x.do(s, w, r, v)
	}
}

// admit says why a visitor may not have what a request asks for; nil: it is allowed. What
// changes something is recorded, or nothing is done.
func (s *Server) admit(x route, r *http.Request, v *visit) (why, err error) {
	why = x.refuses(s, r, v)
	if x.action == "" {
		return why, nil
	}
	entry := Action{User: v.name, Name: x.action, On: r.URL.Path, OK: why == nil}
	if x.name != nil {
		entry.Name = x.name(r.PostForm)
	}
	if why == nil { // else who may not read a definition could have it recorded, and read it there
		entry.Details = s.details(entry.Name, forRecord(r))
		entry.Defined = onChain(r) && (v.role >= Editor || entry.Name == "run")
	}
	if err := s.opts.Backend.Record(r.Context(), entry); err != nil {
		return why, fmt.Errorf("Nothing was done, since the audit record cannot be written: %w", err)
	}
	return why, nil
}

// onChain reports whether a request is about a chain.
func onChain(r *http.Request) bool {
	return strings.HasPrefix(strings.TrimPrefix(r.URL.Path, apiBase), "/chains/")
}

// forRecord is a request with what the audit record says of it, whoever sent it.
func forRecord(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), powersKey{}, readSteps|readText|readRuns))
}

// toLogin has somebody log in, and come back to the page.
func toLogin(w http.ResponseWriter, r *http.Request) {
	to := "/login"
	if next := r.URL.RequestURI(); isSafe(r.Method) && next != "/" {
		to += "?" + url.Values{"next": {next}}.Encode()
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// nextOf is the page that somebody wanted before the log-in: one of this server, or the
// first one.
func nextOf(form url.Values) string {
	next := form.Get("next")
	u, err := url.Parse(next)
	if err != nil || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsFunc(next, func(c rune) bool { return c == '\\' || c < ' ' }) || u.Path == "/login" {
		return "/"
	}
	return next
}

// loginForm is the page that asks who somebody is, in the ways that are set up.
func (s *Server) loginForm(next, name, problem string) templ.Component {
	sso, passwords := "", s.opts.Users != nil
	if s.opts.SSO != nil {
		sso = s.opts.SSO.Name
		users, err := s.opts.Users()
		passwords = err == nil && users.Passwords()
	}
	return loginForm(page{Title: "Log in"}, passwords, sso, next, name, problem)
}

// loginPage takes the one-time token of the URL, or asks for a password. Behind a
// proxy, it says who does.
func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) {
	if s.opts.Proxy != nil {
		s.fail(w, r, http.StatusOK, "Log in", "The proxy of brine ui logs you in and out.")
		return
	}
	token := r.URL.Query().Get("token")
	if token == "" || s.opts.Users != nil || r.Method == http.MethodHead { // previews of links ask for the head alone
		render(w, r, http.StatusOK, s.loginForm(nextOf(r.URL.Query()), "", ""))
		return
	}
	from := "address " + addressOf(r)
	valid, expired := s.access.redeem(token)
	if !valid {
		// Guesses are slowed down for the sake of the record alone: a token cannot be
		// guessed, and others at this address must not lock its owner out.
		if s.access.slowDown(from) {
			s.tooMany(w, r)
			return
		}
		s.access.failed(from)
		s.note(r, s.opts.Owner, false)
		if expired && s.opts.OnToken != nil {
			s.opts.OnToken()
		}
		render(w, r, http.StatusForbidden, s.loginForm("/", "", "This link was used before, or it is not valid any more."))
		return
	}
	s.access.enter(w, user{name: s.opts.Owner, role: Editor})
	s.note(r, s.opts.Owner, true)
	if s.opts.OnToken != nil {
		s.opts.OnToken()
	}
	render(w, r, http.StatusOK, entered("/"))
}

// login takes a name and a password.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	if s.opts.Users == nil || s.opts.Proxy != nil {
		s.fail(w, r, http.StatusForbidden, "Not allowed", "Logins with a password are not set up here.")
		return
	}
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, http.StatusRequestEntityTooLarge, "This did not work", "The form is too large or cannot be read.")
		return
	}
	name, password := r.PostForm.Get("name"), r.PostForm.Get("password")
	u, err := s.checkPassword(r, name, password)
	if err != nil {
		switch e := problemOf(err); {
		case errors.Is(err, errPassword):
			render(w, r, http.StatusForbidden, s.loginForm(nextOf(r.PostForm), name, e.detail))
		case e.kind == tooMany:
			s.tooMany(w, r)
		case r.Context().Err() == nil:
			s.fail(w, r, http.StatusServiceUnavailable, "This did not work", e.detail)
		}
		return
	}
	s.access.enter(w, u)
	s.note(r, u.name, true)
	http.Redirect(w, r, nextOf(r.PostForm), http.StatusSeeOther)
}

func (s *Server) tooMany(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "60")
	s.fail(w, r, http.StatusTooManyRequests, "Wait a minute", "There were too many failed log-ins.")
}

// note records a log-in, even if the browser does not wait for the answer; one that
// cannot be recorded is possible all the same, and changes nothing.
func (s *Server) note(r *http.Request, user string, ok bool) {
	_ = s.opts.Backend.Record(context.WithoutCancel(r.Context()), Action{User: user, Name: "login", On: addressOf(r), OK: ok})
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request, v *visit) {
	s.access.leave(w, v)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// record puts what a hook did, or was refused, into the audit record.
func (s *Server) record(ctx context.Context, a Action) error { return s.opts.Backend.Record(ctx, a) }
