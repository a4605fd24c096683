package ui

import (
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
)

// contentPolicy allows only what the server itself delivers, and no inline scripts
// and styles.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard refuses requests that do not come from a page of the server: for other
// hosts (a name that an attacker points at this address), from other origins, and
// around the proxy. It bounds what is read and tells browsers to be strict.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		// Not no-referrer: browsers would send the origin "null" with forms.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Cache-Control", "no-store")
		if s.secure && !strings.HasPrefix(strings.ToLower(r.Host), "localhost:") { // there, others serve http
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if s.hosts[strings.ToLower(r.Host)] == "" {
			s.bar(w, r, http.StatusMisdirectedRequest, "brine ui is not served for this host name")
			return
		}
		if p := s.opts.Proxy; p != nil && !p.trusts(r.RemoteAddr) {
			s.bar(w, r, http.StatusForbidden, "brine ui is reached only through its proxy")
			return
		}
		// No cookie counts for the API: what other sites send has no token.
		if !isSafe(r.Method) && !forAPI(r) && !s.sameOrigin(r) {
			http.Error(w, "the request did not come from a page of brine ui", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		defer s.rescue(w, r)
		next.ServeHTTP(w, r)
	})
}

// bar refuses a request before anything else is looked at.
func (s *Server) bar(w http.ResponseWriter, r *http.Request, status int, text string) {
	if forAPI(r) {
		writeProblem(w, &apiError{kind: kindOfStatus(status), detail: text})
		return
	}
	http.Error(w, text, status)
}

// rescue answers a request whose handler panicked.
func (s *Server) rescue(w http.ResponseWriter, r *http.Request) {
	x := recover()
	if x == nil {
		return
	}
	if s.opts.OnPanic != nil {
		s.opts.OnPanic(fmt.Sprintf("%v\n%s", x, debug.Stack()))
	}
	s.bar(w, r, http.StatusInternalServerError, "this is a bug of brine; the terminal of brine ui has the details")
}

func isSafe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// sameOrigin reports whether a request that changes something was sent by a page
// of the server. Browsers send Origin with these; what sends neither that nor
// Sec-Fetch-Site is not a browser and has no business here.
func (s *Server) sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origins := r.Header.Values("Origin")
	if len(origins) != 1 {
		return false
	}
	// A page of one address may not send to another one.
	own := s.hosts[strings.ToLower(r.Host)]
	return own != "" && strings.EqualFold(own, origins[0])
}

// A Proxy stands in front of the server and says who asks.
type Proxy struct {
	// From are the addresses that the proxy connects from. Requests from others
	// are refused.
	From []netip.Prefix
	// Header has the name of the user. The proxy must remove it from the requests
	// of browsers.
	Header string
	// Groups is the header with the groups of the user, separated by commas; "": none is
	// believed.
	Groups string
}

func (p *Proxy) trusts(remote string) bool {
	a, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	addr := a.Addr().Unmap()
	return slices.ContainsFunc(p.From, func(x netip.Prefix) bool { return x.Contains(addr) })
}

// user returns the name that the proxy gives, "" where it gives none or several.
func (p *Proxy) user(r *http.Request) string {
	if v := r.Header.Values(p.Header); len(v) == 1 {
		return v[0]
	}
	return ""
}

// groups returns the groups that the proxy gives, none where it gives them twice: one of the
// headers may be the browser's.
func (p *Proxy) groups(r *http.Request) (out []string) {
	v := r.Header.Values(p.Groups)
	if p.Groups == "" || len(v) != 1 {
		return nil
	}
	for g := range strings.SplitSeq(v[0], ",") {
		if g = strings.TrimSpace(g); g != "" {
			out = append(out, g)
		}
	}
	return out
}
