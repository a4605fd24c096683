package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/testkit/oidctest"
)

// TestUISSO logs in by a provider of OpenID Connect, who is trusted by the file of --oidc.
func TestUISSO(t *testing.T) {
	t.Parallel()
	f := oidctest.New(t)
	p := newPages(t)
	for name, text := range map[string]string{
		"ui.users":    "ann@example.com:viewer:-\n",
		"oidc.secret": oidctest.Secret + "\n",
		"oidc.pem":    string(f.Authority()),
		"oidc.yml":    "issuer: " + f.URL + "\nclient_id: " + oidctest.ClientID + "\nclient_secret_file: " + filepath.Join(p.dir, "oidc.secret") + "\nca_file: " + filepath.Join(p.dir, "oidc.pem") + "\nname: the office\n",
	} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.serve("--users", filepath.Join(p.dir, "ui.users"), "--oidc", filepath.Join(p.dir, "oidc.yml"))
	ann := p.account("")
	_, text, _ := ann.get("/login?next=%2Fjobs")
	if !strings.Contains(text, "Log in with the office") {
		t.Fatal(text)
	}
	begin := func() (back string) {
		code, _, to := ann.get("/login/oidc?next=%2Fjobs")
		if code != http.StatusSeeOther || !strings.HasPrefix(to, f.URL+"/auth?") {
			t.Fatalf("%d, %s", code, to)
		}
		at := f.Client()
		at.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, err := at.Get(to)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return strings.TrimPrefix(resp.Header.Get("Location"), p.base)
	}
	back := begin()
	if !strings.HasPrefix(back, "/login/oidc/callback?") {
		t.Fatalf("it comes back to %s", back)
	}
	if code, text, _ := ann.get(back); code != http.StatusOK || !strings.Contains(text, "/jobs") {
		t.Fatalf("%d: %s", code, text)
	}
	if code, text, _ := ann.get("/jobs"); code != http.StatusOK || !strings.Contains(text, "ann@example.com") {
		t.Errorf("%d: %s", code, text)
	}
	// Who is not among the users is not let in, and the terminal says what was wrong.
	f.Claims["email"] = "eve@example.com"
	ann = p.account("")
	if code, text, _ := ann.get(begin()); code != http.StatusForbidden || !strings.Contains(text, "not among the users") {
		t.Errorf("%d: %s", code, text)
	}
	f.Claims["aud"] = "others"
	if code, text, _ := ann.get(begin()); code != http.StatusForbidden || !strings.Contains(text, "is not valid") || strings.Contains(text, "others") {
		t.Errorf("%d: %s", code, text)
	}
	if said := p.errs.String(); !strings.Contains(said, "brine: single sign-on: ") || !strings.Contains(said, `expected audience "pages"`) || strings.Contains(said, oidctest.Secret) {
		t.Errorf("the terminal: %s", said)
	}
}
