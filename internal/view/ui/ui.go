// Package ui is the pages of brine ui, a web server for people who do not type
// commands, and its API for programs. Start at [New]; [Backend] is what it needs of the command line.
//
// guard.go decides which requests are answered at all, access.go who asks. routes.go is
// the table of what is answered, and of what each role may have done by it; powers.go
// refuses a handler what its row does not say. Everything that changes something passes
// [Server.act], which checks the role and the CSRF token and writes the audit record.
// The .templ files are the pages; they escape all text. apiroutes.go has the rows of
// the API for programs, which api.go answers: the same rules, for tokens instead of
// browsers.
package ui

import (
	"cmp"
	"context"
	"crypto/tls"
	"embed"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
)

//go:generate go run ./generate
//go:generate go test . -run ^TestDocument$ -update

// assets are the style sheet and the script of the pages.
//
//go:embed assets
var assets embed.FS

// Options are what a [Server] is made of.
type Options struct {
	Backend Backend
	// Origins are the addresses under which browsers may reach the pages, such as
	// http://127.0.0.1:8080. Requests for other hosts and from other origins are
	// refused.
	Origins []string
	// Users returns who may log in with a password, at this moment; nil: one person
	// may, who has the token. It is safe for concurrent use.
	Users func() (*Users, error)
	// Tokens returns the tokens of the API, at this moment; nil: there is no API. It is
	// safe for concurrent use.
	Tokens func() (*Tokens, error)
	// Hooks returns the hooks of other programs, at this moment; nil: there are none. It is
	// safe for concurrent use.
	Hooks func() (*Hooks, error)
	// SaltAPI says that the paths of Salt's salt-api are served, below /salt-api.
	SaltAPI bool
	// OnUse is called with the name of a token that is used.
	OnUse func(name string)
	// OpenMetrics says that /healthz, /readyz and /metrics need no token.
	OpenMetrics bool
	// Proxy authenticates users; nil: there is none.
	Proxy *Proxy
	// SSO logs users in beside their passwords; nil: there is none. It needs Users.
	SSO *SSO
	// Owner is the name under which who has the token is recorded.
	Owner string
	// OnToken is called when a token was used or has expired: another one is
	// needed.
	OnToken func()
	// OnPanic is called with the text of a bug.
	OnPanic func(string)
	Now     func() time.Time
}

// A Server is the pages.
type Server struct {
	opts   Options
	access *access
	runs   *runs
	keys   *keys
	stats  stats
	mux    *http.ServeMux
	secure bool              // browsers use https
	hosts  map[string]string // the origin of the pages, by the host of a request
	// saltStreams bounds how many programs watch the events of salt-api.
	saltStreams chan struct{}
}

// New returns a server for the pages. Origins must have at least one address.
func New(o Options) (*Server, error) {
	s := &Server{opts: o, hosts: map[string]string{}, saltStreams: make(chan struct{}, maxSaltStreams)}
	for _, x := range o.Origins {
		u, err := url.Parse(x)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return nil, errors.New(x + " is not an address such as https://brine.example.com")
		}
		// Browsers leave the usual port out, in the host and in the origin; some
		// proxies add it to the host.
		host, usual := strings.ToLower(u.Host), ":443"
		if u.Scheme == "http" {
			usual = ":80"
		}
		if host = strings.TrimSuffix(host, usual); u.Port() == "" || ":"+u.Port() == usual {
			s.hosts[host+usual] = u.Scheme + "://" + host
		}
		s.hosts[host] = u.Scheme + "://" + host
		s.secure = s.secure || u.Scheme == "https"
	}
	if len(s.hosts) == 0 {
		return nil, errors.New("no address was given under which browsers reach the pages")
	}
	port := "443"
	if u, err := url.Parse(o.Origins[0]); err == nil {
		port = cmp.Or(u.Port(), port)
	}
	s.access = newAccess(o.Now, s.secure, port)
	s.runs = newRuns(o.Backend, o.Now)
	s.keys = newKeys(o.Now)
	return s, nil
}

// Token returns a token that logs one browser in, once.
func (s *Server) Token() string { return s.access.token() }

// Limits of the server. A page that is kept up to date has no limit on its whole
// time, but on each write.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 2 * time.Minute
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
	maxBody       = 1 << 20
)

// Serve answers requests until ctx ends; cfg, if it is not nil, is for TLS. Runs
// that were started go on: see [Server.Stop].
func (s *Server) Serve(ctx context.Context, l net.Listener, cfg *tls.Config) error {
	h := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, TLSConfig: cfg,
		ErrorLog:    log.New(io.Discard, "", 0), // browsers close connections all the time
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = h.Close() })
	defer stop()
	var err error
	if cfg != nil {
		err = h.ServeTLS(l, "", "")
	} else {
		err = h.Serve(l)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Handler answers the requests of browsers, and of programs that use the API.
func (s *Server) Handler() http.Handler {
	s.mux = http.NewServeMux()
	rows := slices.Concat(routes(), apiRoutes())
	if s.opts.SaltAPI {
		rows = append(rows, saltRoutes()...)
	}
	for _, x := range rows {
		s.mux.HandleFunc(x.pattern, s.handler(x))
	}
	return s.stats.count(s.guard(s.mux))
}

func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, r, assets, "assets/"+r.PathValue("file"))
}

// render writes a page, whole or not at all.
func render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	var b strings.Builder
	if err := c.Render(r.Context(), &b); err != nil {
		http.Error(w, "the page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(b.String()))
}

// A page is what all pages show besides their content.
type page struct {
	Title string
	At    string // the part of the site: start, history, jobs, hosts, states, audit
	Who   *visit // nil: nobody has logged in
	// Refresh has browsers without scripts load the page again.
	Refresh bool
	Bad     *rejected // a form of the page that was not taken; nil: none
}

func (p page) may(r Role) bool { return p.Who != nil && p.Who.role >= r }

func (p page) csrf() string {
	if p.Who == nil {
		return ""
	}
	return p.Who.csrf
}

// fail shows an error as a page; to a program, as a problem.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	if forAPI(r) {
		writeProblem(w, &apiError{kind: kindOfStatus(status), detail: text})
		return
	}
	p := page{Title: title}
	if v, ok := visitOf(r); ok {
		p.Who = v
	}
	render(w, r, status, errorPage(p, text))
}

// fault shows what the backend answered instead of what was asked for.
func (s *Server) fault(w http.ResponseWriter, r *http.Request, err error) {
	if forAPI(r) {
		writeProblem(w, problemOf(err))
		return
	}
	text := err.Error()
	if e, ok := errors.AsType[*apiError](err); ok && e.kind == outOfScope {
		text = strings.Replace(e.detail, "The token is", "You are", 1)
	}
	status, title := faultOf(err)
	s.fail(w, r, status, title, text)
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request, _ *visit) {
	s.fail(w, r, http.StatusNotFound, "Not found", "There is no such page.")
}

// see sends the browser to another page after an action.
func see(w http.ResponseWriter, r *http.Request, parts ...string) {
	http.Redirect(w, r, path(parts...), http.StatusSeeOther)
}

// path joins parts to the path of a page.
func path(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + url.PathEscape(p))
	}
	return b.String()
}
