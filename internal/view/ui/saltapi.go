package ui

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"brine/internal/py/value"
)

// Programs that speak to Salt's salt-api may go on with the same requests: its paths are
// below saltBase, where that is wished. What a request asks for is a list of lowstate
// chunks; each is a row of the table lows, as the other routes are.

// saltBase begins the paths of salt-api.
const saltBase = "/salt-api"

// saltEauth is the name of the only way to log in.
const saltEauth = "brine"

// saltLife is how long the token of a login is valid, and maxSaltTokens how many there are.
const (
	saltLife      = 12 * time.Hour
	maxSaltTokens = 1000
	maxLows       = 100
)

// saltRoutes are the rows of salt-api. Who asks is looked at by lowHandler, for each chunk
// by its own row.
func saltRoutes() []route {
	row := func(pattern string, do func(*Server, http.ResponseWriter, *http.Request)) route {
		method, path, _ := strings.Cut(pattern, " ")
		return route{pattern: method + " " + saltBase + path, public: do}
	}
	login := row("POST /login", (*Server).saltLogin)
	token := row("POST /token", (*Server).saltToken)
	login.action, token.action = "login", "login"
	return []route{
		login, token,
		row("GET /{$}", (*Server).saltWelcome),
		row("POST /logout", (*Server).saltLogout),
		row("POST /{$}", lowHandler(sentLows)),
		row("POST /run", lowHandler(sentLows)),
		row("GET /events", (*Server).saltEvents),
		row("GET /jobs", lowHandler(lowOf("runner", "jobs.list_jobs", ""))),
		row("GET /jobs/{jid}", lowHandler(lowOf("runner", "jobs.list_job", "jid"))),
		row("GET /minions", lowHandler(grainsOf)),
		row("GET /minions/{id}", lowHandler(grainsOf)),
		row("POST /minions", lowHandler(func(r *http.Request) ([]*value.Map, error) {
			all, err := sentLows(r)
			for _, m := range all {
				m.Set("client", "local_async")
			}
			return all, err
		})),
		{pattern: saltBase + "/", public: (*Server).otherSalt},
	}
}

// saltClients are the clients that are served.
var saltClients = []string{"local", "local_async", "ssh", "runner", "runner_async", "wheel"}

func (s *Server) saltWelcome(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, "application/json", http.StatusOK, map[string]any{"return": "Welcome", "clients": saltClients})
}

// otherSalt answers paths that are not served.
func (s *Server) otherSalt(w http.ResponseWriter, r *http.Request) {
	writeSaltError(w, &apiError{kind: noSuch, detail: fmt.Sprintf("%s %s of salt-api is not served here.", r.Method, strings.TrimPrefix(r.URL.Path, saltBase))})
}

// writeSaltError answers as salt-api does: with the status and a text.
func writeSaltError(w http.ResponseWriter, err error) {
	e := problemOf(err)
	status := e.problem().Status
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "60")
	}
	texts := []string{e.detail}
	for _, f := range e.fields {
		texts = append(texts, f.Path+": "+f.Detail)
	}
	writeJSON(w, "application/json", status, map[string]any{"status": status, "return": strings.TrimSpace(strings.Join(append(texts, e.hint), " "))})
}

// sentLows reads the chunks of a request: JSON, or the form of one chunk.
func sentLows(r *http.Request) ([]*value.Map, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, &apiError{kind: tooLarge, detail: fmt.Sprintf("A body has at most %d bytes.", maxBody)}
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "application/x-www-form-urlencoded":
		return lowForm(string(text))
	case err != nil || kind != "application/json":
		return nil, &apiError{kind: wrongType, detail: fmt.Sprintf("The body has the type %q.", r.Header.Get("Content-Type")), hint: "Send JSON or a form."}
	}
	v, _, err := value.ParseJSONWithin(string(text), 32*maxBody)
	if err != nil {
		return nil, &apiError{kind: badBody, detail: "The body is not JSON: " + err.Error() + "."}
	}
	l, ok := v.(*value.List)
	if !ok {
		l = value.NewList(v)
	}
	var out []*value.Map
	for _, x := range l.Items {
		m, ok := x.(*value.Map)
		if !ok {
			return nil, &apiError{kind: badBody, detail: "The body must be a mapping, or a list of mappings."}
		}
		out = append(out, m)
	}
	return out, nil
}

// lowForm is the chunk of a form: a field that is given more than once is a list, and so is
// arg.
func lowForm(text string) ([]*value.Map, error) {
	f, err := url.ParseQuery(text)
	if err != nil {
		return nil, &apiError{kind: badBody, detail: "The form cannot be read: " + err.Error() + "."}
	}
	m := value.NewMap(len(f))
	for key, all := range f {
		if len(all) == 1 && key != "arg" {
			m.Set(key, all[0])
			continue
		}
		m.Set(key, value.Strings(all...))
	}
	return []*value.Map{m}, nil
}

// lowOf is the chunk of a path; name is the part of the path that is an argument.
func lowOf(client, fun, name string) func(*http.Request) ([]*value.Map, error) {
	return func(r *http.Request) ([]*value.Map, error) {
		m := value.MapOf("client", client, "fun", fun)
		if name != "" {
			m.Set(name, r.PathValue(name))
		}
		return []*value.Map{m}, nil
	}
}

// grainsOf asks hosts for their grains.
func grainsOf(r *http.Request) ([]*value.Map, error) {
	return []*value.Map{value.MapOf("client", "local", "fun", "grains.items", "tgt", cmp.Or(r.PathValue("id"), "*"))}, nil
}

// lowHandler answers with what the chunks of a request return. All of them are checked
// before the first one runs.
func lowHandler(read func(*http.Request) ([]*value.Map, error)) func(*Server, http.ResponseWriter, *http.Request) {
	return func(s *Server, w http.ResponseWriter, r *http.Request) {
		all, err := read(r)
		if err == nil && (len(all) == 0 || len(all) > maxLows) {
			err = &apiError{kind: badBody, detail: fmt.Sprintf("A request has 1 to %d chunks.", maxLows)}
		}
		if err != nil {
			writeSaltError(w, err)
			return
		}
		calls := make([]*lowCall, len(all))
		for i, m := range all {
			v, err := s.saltVisit(r, m)
			if err == nil {
				calls[i], err = parseLow(m)
			}
			if err != nil {
				writeSaltError(w, err)
				return
			}
			form := r.Clone(r.Context())
			form.PostForm = url.Values{"function": {calls[i].fun}, "expr": {calls[i].expr}, "jid": {calls[i].jid()}}
			v = calls[i].row.with(s, form, v)
			calls[i].s, calls[i].w, calls[i].v = s, w, v
			calls[i].r = calls[i].row.grant(form, v)
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a run takes as long as it takes
		out := make([]json.RawMessage, len(calls))
		for i, c := range calls {
			why, err := s.admit(c.row.route, c.r, c.v)
			var ret value.Value
			if err == nil {
				err = why
			}
			if err == nil {
				ret, err = c.row.call(c)
			}
			if err != nil {
				writeSaltError(w, err)
				return
			}
			out[i] = value.EncodeJSON(ret)
		}
		answer := map[string]any{"return": out}
		if r.PathValue("jid") != "" {
			answer["info"] = out
		}
		writeJSON(w, "application/json", http.StatusOK, answer)
	}
}

// saltVisit is whose request it is: by the token of a login, or by what a chunk of /run
// has.
func (s *Server) saltVisit(r *http.Request, m *value.Map) (*visit, error) {
	token := r.Header.Get("X-Auth-Token")
	if t := m.Str("token"); t != "" {
		token = t
	}
	m.Delete("token")
	if token != "" {
		v := s.access.saltVisitor(token)
		if v == nil || !s.saltValid(v) {
			return nil, &apiError{kind: noToken, detail: "The token of the request is not valid, or not any more.", hint: "POST " + saltBase + "/login again."}
		}
		return v, nil
	}
	if !m.Has("eauth") && !m.Has("username") {
		return nil, &apiError{kind: noToken, detail: "The request has no token.", hint: "Send what POST " + saltBase + "/login returned in the header X-Auth-Token."}
	}
	v, err := s.saltUser(r, m)
	for _, key := range []string{"eauth", "username", "password"} {
		m.Delete(key)
	}
	return v, err
}

// saltUser is the user or the token of the API that a request names.
func (s *Server) saltUser(r *http.Request, m *value.Map) (*visit, error) {
	if eauth := m.Str("eauth"); eauth != saltEauth {
		return nil, &apiError{kind: noToken, detail: fmt.Sprintf("eauth %q is not served.", eauth), hint: "Use eauth " + saltEauth + " with a user and the password, or any user name and a token of the API as the password."}
	}
	name, password := m.Str("username"), m.Str("password")
	if strings.HasPrefix(password, tokenPrefix) && s.opts.Tokens != nil {
		bare := &http.Request{Header: http.Header{"Authorization": {"Bearer " + password}}, RemoteAddr: r.RemoteAddr}
		return s.bearer(bare.WithContext(r.Context()))
	}
	if s.opts.Users == nil || s.opts.Proxy != nil {
		return nil, &apiError{kind: noToken, detail: "Logins with a password are not set up here.", hint: "Send a token of the API as the password."}
	}
	u, err := s.checkPassword(r, name, password)
	if err != nil {
		return nil, err
	}
	now := s.opts.Now()
	return &visit{name: u.name, role: u.role, scope: u.scope, hash: u.hash, began: now, seen: now}, nil
}

// saltLogin answers with a token.
func (s *Server) saltLogin(w http.ResponseWriter, r *http.Request) {
	s.saltEntered(w, r, func(x map[string]any) any { return map[string]any{"return": []any{x}} })
}

// saltEntered logs somebody in, and answers in some shape.
func (s *Server) saltEntered(w http.ResponseWriter, r *http.Request, shape func(map[string]any) any) {
	all, err := sentLows(r)
	if err == nil && len(all) != 1 {
		err = &apiError{kind: badBody, detail: "A login has one user."}
	}
	var v *visit
	if err == nil {
		v, err = s.saltUser(r, all[0])
	}
	if err != nil {
		writeSaltError(w, err)
		return
	}
	s.note(r, v.name, true)
	text, from := s.access.saltEnter(v)
	w.Header().Set("X-Auth-Token", text)
	http.SetCookie(w, &http.Cookie{Name: saltCookie, Value: text, Path: saltBase + "/events", HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteStrictMode, MaxAge: int(saltLife.Seconds())})
	writeJSON(w, "application/json", http.StatusOK, shape(map[string]any{
		"token": text, "start": float64(from.UnixMilli()) / 1000, "expire": float64(from.Add(saltLife).UnixMilli()) / 1000, "user": v.name, "eauth": saltEauth, "perms": []string{"@" + v.role.String()},
	}))
}

// saltToken answers as saltLogin does, for /run: a token of Salt's own is a token of a log-in.
func (s *Server) saltToken(w http.ResponseWriter, r *http.Request) {
	s.saltEntered(w, r, func(x map[string]any) any {
		x["name"] = x["user"]
		return []any{x}
	})
}

// saltLogout ends the token of a request.
func (s *Server) saltLogout(w http.ResponseWriter, r *http.Request) {
	if _, err := s.saltVisit(r, value.NewMap(0)); err != nil {
		writeSaltError(w, err)
		return
	}
	s.access.saltLeave(r.Header.Get("X-Auth-Token"))
	writeJSON(w, "application/json", http.StatusOK, map[string]any{"return": "Your token has been cleared"})
}

// saltEnter keeps a visit for a token, which it returns with the time from which it is
// valid.
func (a *access) saltEnter(v *visit) (text string, from time.Time) {
	text = secret()
	a.mu.Lock()
	defer a.mu.Unlock()
	x := *v
	x.began = a.now()
	var oldest [sha256.Size]byte
	for key, old := range a.salt {
		if a.now().Sub(old.began) > saltLife {
			delete(a.salt, key)
		} else if o := a.salt[oldest]; o == nil || old.began.Before(o.began) {
			oldest = key
		}
	}
	if len(a.salt) >= maxSaltTokens {
		delete(a.salt, oldest)
	}
	a.salt[sha256.Sum256([]byte(text))] = &x
	return text, x.began
}

// saltVisitor returns the visit of a token; nil: there is none.
func (a *access) saltVisitor(text string) *visit {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.salt[sha256.Sum256([]byte(text))]
	if v == nil || a.now().Sub(v.began) > saltLife {
		return nil
	}
	return v
}

func (a *access) saltLeave(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.salt, sha256.Sum256([]byte(text)))
}

// checkPassword returns the user whose password was given. Those who guess are slowed down.
func (s *Server) checkPassword(r *http.Request, name, password string) (user, error) {
	tooOften := &apiError{kind: tooMany, detail: "There were too many failed log-ins."}
	keys := []string{"address " + addressOf(r), "user " + name[:min(64, len(name))]}
	if s.access.slowDown(keys...) {
		return user{}, tooOften
	}
	select {
	case s.access.hashing <- struct{}{}:
		defer func() { <-s.access.hashing }()
	case <-r.Context().Done():
		return user{}, r.Context().Err()
	}
	if s.access.slowDown(keys...) { // those that failed while this one waited count, too
		return user{}, tooOften
	}
	users, err := s.opts.Users()
	if err != nil {
		return user{}, &apiError{kind: unavailable, detail: "The file of users cannot be read; the terminal of brine ui has the details."}
	}
	u, ok := users.check(name, password)
	if ok {
		return u, nil
	}
	s.access.failed(keys...)
	if _, known := users.find(name); !known {
		name = "(unknown)" // it may be a password that was typed in the wrong place
	}
	s.note(r, name, false)
	return user{}, errPassword
}

// errPassword is the answer to a wrong name or password.
var errPassword = &apiError{kind: noToken, detail: "The name or the password is wrong."}
