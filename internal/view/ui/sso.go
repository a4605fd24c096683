package ui

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"brine/internal/view/ui/oidc"
)

// SSO logs users in elsewhere: by single sign-on.
type SSO struct {
	// Provider asks who somebody is.
	Provider *oidc.Provider
	// Name is how the link to it is called, such as the provider's host.
	Name string
	// OnFault is called with what is wrong with a log-in; the browser gets less of it.
	OnFault func(error)
}

// SSOCallback is the path that the provider sends browsers back to.
const SSOCallback = "/login/oidc/callback"

// ssoCookie is the name of the cookie that ties a log-in to its browser.
func (a *access) ssoCookie() string { return a.cookie + "-oidc" }

// keep puts a cookie for a log-in that has begun into the browser. It comes back with a
// visit from the provider, which is another site.
func (a *access) keep(w http.ResponseWriter, value string) {
	c := &http.Cookie{Name: a.ssoCookie(), Value: value, Path: "/", HttpOnly: true, Secure: a.secure, SameSite: http.SameSiteLaxMode, MaxAge: int(oidc.Life.Seconds())}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// toSSO sends a browser to the provider.
func (s *Server) toSSO(w http.ResponseWriter, r *http.Request) {
	if s.opts.SSO == nil {
		s.fail(w, r, http.StatusNotFound, "Not found", "Single sign-on is not set up here.")
		return
	}
	if s.access.slowDown("address " + addressOf(r)) {
		s.tooMany(w, r)
		return
	}
	address, cookie, err := s.opts.SSO.Provider.Begin(r.Context(), nextOf(r.URL.Query()))
	if err != nil {
		s.noSSO(w, r, "", err)
		return
	}
	s.access.keep(w, cookie)
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// fromSSO logs in whom the provider sends back.
func (s *Server) fromSSO(w http.ResponseWriter, r *http.Request) {
	if s.opts.SSO == nil {
		s.fail(w, r, http.StatusNotFound, "Not found", "Single sign-on is not set up here.")
		return
	}
	from := "address " + addressOf(r)
	if s.access.slowDown(from) {
		s.tooMany(w, r)
		return
	}
	cookie := ""
	if c, err := r.Cookie(s.access.ssoCookie()); err == nil {
		cookie = c.Value
	}
	s.access.keep(w, "")
	name, groups, next, err := s.opts.SSO.Provider.Finish(r.Context(), r.URL.Query(), cookie)
	if err != nil {
		s.access.failed(from)
		s.noSSO(w, r, "", err)
		return
	}
	users, err := s.opts.Users()
	if err != nil {
		s.fail(w, r, http.StatusServiceUnavailable, "This did not work", "The file of users cannot be read; the terminal of brine ui has the details.")
		return
	}
	u, ok := users.admit(name, groups)
	if !ok {
		s.access.failed(from)
		s.noSSO(w, r, name, errNotAUser)
		return
	}
	s.access.enter(w, u)
	s.note(r, u.name, true)
	render(w, r, http.StatusOK, entered(nextOf(url.Values{"next": {next}})))
}

// errNotAUser is somebody whom the provider knows, and the file of users does not.
var errNotAUser = errors.New("you are not among the users of brine ui")

// noSSO says that a log-in did not work. What the provider answered is for the terminal.
func (s *Server) noSSO(w http.ResponseWriter, r *http.Request, user string, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	// What else is wrong is of this server, such as a file that it cannot read.
	status, text := http.StatusForbidden, errors.New("single sign-on does not work at the moment; the terminal of brine ui has the details")
	for _, known := range []error{oidc.ErrUnknown, oidc.ErrRefused, oidc.ErrUnreachable, oidc.ErrInvalid, errNotAUser} {
		if errors.Is(err, known) {
			text = known
		}
	}
	if errors.Is(err, oidc.ErrUnreachable) {
		status = http.StatusBadGateway
	}
	if s.opts.SSO.OnFault != nil {
		s.opts.SSO.OnFault(err)
	}
	if user == "" {
		user = "(unknown)"
	}
	s.note(r, user, false)
	render(w, r, status, s.loginForm("/", "", upper(text.Error())+"."))
}

// upper is text that begins a sentence.
func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
