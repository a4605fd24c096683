package ui

import (
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"brine/internal/testkit/oidctest"
	"brine/internal/view/ui/oidc"
)

// ssoSite is a site where the provider f logs in who is in the file of users.
func ssoSite(t *testing.T, f *oidctest.Provider, users string, faults *[]string) *site {
	t.Helper()
	p, err := oidc.New(oidc.Config{
		Issuer: f.URL, ClientID: oidctest.ClientID, Secret: func() (string, error) { return oidctest.Secret, nil },
		UserClaim: "email", Redirect: origin + SSOCallback, Authorities: authority(f), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return newSite(t, func(o *Options) {
		o.Users = func() (*Users, error) { return ParseUsers("users", []byte(users)) }
		o.SSO = &SSO{Provider: p, Name: "sso.example.com", OnFault: func(err error) { *faults = append(*faults, err.Error()) }}
	})
}

// goTo asks for a page with the cookies of a browser.
func goTo(s *site, path string, cookies []*http.Cookie) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return s.do(r)
}

// begin goes to the provider, and returns the way back and the cookies.
func begin(t *testing.T, s *site, f *oidctest.Provider, next string) (string, []*http.Cookie) {
	t.Helper()
	w := goTo(s, origin+"/login/oidc?"+url.Values{"next": {next}}.Encode(), nil)
	status(t, "to the provider", w, http.StatusSeeOther)
	c := w.Result().Cookies()
	if len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteLaxMode {
		t.Fatalf("cookies %v", c)
	}
	client := f.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Get(w.Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.Header.Get("Location"), c
}

func TestSSO(t *testing.T) {
	t.Parallel()
	f, faults := oidctest.New(t), []string{}
	s := ssoSite(t, f, "ann@example.com:operator:-\n", &faults)
	w := goTo(s, origin+"/login?next=%2Fjobs", nil)
	if body := w.Body.String(); !strings.Contains(body, "Log in with sso.example.com") || strings.Contains(body, "password") || !strings.Contains(body, "/login/oidc?next=%2Fjobs") {
		t.Errorf("the page: %s", body)
	}
	back, cookies := begin(t, s, f, "/jobs")
	w = goTo(s, back, cookies)
	status(t, "back", w, http.StatusOK)
	if !strings.Contains(w.Body.String(), `url=/jobs"`) {
		t.Errorf("it goes to another page: %s", w.Body)
	}
	var visit *http.Cookie
	for _, c := range w.Result().Cookies() {
		if c.Name == s.access.cookie {
			visit = c
		}
	}
	if visit == nil || visit.SameSite != http.SameSiteStrictMode {
		t.Fatalf("cookies %v", w.Result().Cookies())
	}
	b := &browser{s, visit}
	status(t, "logged in", b.get("/jobs"), http.StatusOK)
	if !s.did(Action{User: "ann@example.com", Name: "login", On: "192.0.2.1", OK: true}) {
		t.Errorf("record: %v", s.actions)
	}
	status(t, "once more", goTo(s, back, cookies), http.StatusForbidden)
	if len(faults) != 1 || !strings.Contains(faults[0], "not known") {
		t.Errorf("faults: %q", faults)
	}
}

// TestHostileSSO has others come back from the provider than who went there, and people
// whom the file of users does not have.
func TestHostileSSO(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		what, users, text string
		do                func(f *oidctest.Provider, back *string, cookies *[]*http.Cookie)
		status            int
	}{
		{what: "not a user", users: "bob@example.com:editor:-\n", text: "You are not among the users of brine ui", status: 403},
		{what: "a name that differs in case", users: "Ann@example.com:editor:-\n", text: "You are not among the users", status: 403},
		{what: "another browser", users: "ann@example.com:editor:-\n", text: "This log-in is not known", status: 403, do: func(_ *oidctest.Provider, _ *string, c *[]*http.Cookie) { *c = nil }},
		{what: "the provider says no", users: "ann@example.com:editor:-\n", text: "The provider did not log you in", status: 403, do: func(_ *oidctest.Provider, back *string, _ *[]*http.Cookie) {
			*back += "&error=access_denied%3Cscript%3E"
		}},
		{what: "no users", users: "broken\n", text: "The file of users cannot be read", status: 503},
		{what: "an ID token of others", users: "ann@example.com:editor:-\n", text: "The answer of the provider is not valid", status: 403, do: func(f *oidctest.Provider, _ *string, _ *[]*http.Cookie) { f.Claims["aud"] = "other" }},
	} {
		t.Run(x.what, func(t *testing.T) {
			t.Parallel()
			f, faults := oidctest.New(t), []string{}
			s := ssoSite(t, f, x.users, &faults)
			back, cookies := begin(t, s, f, "https://evil.example.com/")
			if x.do != nil {
				x.do(f, &back, &cookies)
			}
			w := goTo(s, back, cookies)
			status(t, x.what, w, x.status)
			body := w.Body.String()
			if !strings.Contains(body, x.text) || strings.Contains(body, "<script>") || strings.Contains(body, "evil") {
				t.Errorf("%s", body)
			}
			for _, c := range w.Result().Cookies() {
				if c.Name == s.access.cookie {
					t.Error("somebody is logged in")
				}
			}
		})
	}
	// Without single sign-on there is none.
	s := newSite(t, nil)
	for _, path := range []string{"/login/oidc", SSOCallback + "?code=a&state=b"} {
		status(t, path, goTo(s, origin+path, nil), http.StatusNotFound)
	}
	// A provider that is away is told, and the log-in can be tried again.
	f, faults := oidctest.New(t), []string{}
	s = ssoSite(t, f, "ann@example.com:editor:-\n", &faults)
	f.Close()
	w := goTo(s, origin+"/login/oidc", nil)
	status(t, "away", w, http.StatusBadGateway)
	if !strings.Contains(w.Body.String(), "The provider cannot be asked") || len(faults) != 1 {
		t.Errorf("%s %q", w.Body, faults)
	}
}

// TestSSOServerFault has something of the server be wrong: the page does not tell where it is.
func TestSSOServerFault(t *testing.T) {
	t.Parallel()
	f, faults := oidctest.New(t), []string{}
	s := ssoSite(t, f, "ann@example.com:editor:-\n", &faults)
	p, err := oidc.New(oidc.Config{
		Issuer: f.URL, ClientID: oidctest.ClientID, UserClaim: "email", Now: time.Now, Authorities: authority(f),
		Secret: func() (string, error) { return "", errors.New("/etc/brine/oidc.secret: permission denied") },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.opts.SSO.Provider = p
	w := goTo(s, origin+"/login/oidc", nil)
	status(t, "a secret that cannot be read", w, http.StatusForbidden)
	if body := w.Body.String(); !strings.Contains(body, "Single sign-on does not work at the moment") || strings.Contains(body, "/etc") || len(faults) != 1 || !strings.Contains(faults[0], "/etc/brine/oidc.secret") {
		t.Errorf("%s %q", body, faults)
	}
}

// authority is who has signed the provider's certificate.
func authority(f *oidctest.Provider) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(f.Certificate())
	return pool
}
