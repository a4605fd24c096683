package oidc

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"brine/internal/testkit/oidctest"
)

func provider(t *testing.T, f *oidctest.Provider, change func(*Config)) *Provider {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(f.Certificate())
	c := Config{
		Issuer: f.URL, ClientID: oidctest.ClientID, Secret: func() (string, error) { return oidctest.Secret, nil }, Scopes: []string{"email"},
		UserClaim: "email", Redirect: "https://brine.example.com/login/oidc/callback", Authorities: pool, Now: time.Now,
	}
	if change != nil {
		change(&c)
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// visit is a browser that goes to the provider and comes back.
func visit(t *testing.T, f *oidctest.Provider, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, f.URL+"/auth?") {
		t.Fatalf("%s, %v", address, err)
	}
	q := u.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" || q.Get("scope") != "openid email" || q.Get("redirect_uri") == "" {
		t.Errorf("asked %v", q)
	}
	return url.Values{"code": {f.Code(q)}, "state": {q.Get("state")}}
}

func TestLogin(t *testing.T) {
	f := oidctest.New(t)
	p := provider(t, f, nil)
	address, cookie, err := p.Begin(t.Context(), "/runs/7")
	if err != nil {
		t.Fatal(err)
	}
	back := visit(t, f, address)
	user, _, next, err := p.Finish(t.Context(), back, cookie)
	if err != nil || user != "ann@example.com" || next != "/runs/7" {
		t.Fatalf("%q, %q, %v", user, next, err)
	}
	if _, _, _, err := p.Finish(t.Context(), back, cookie); !errors.Is(err, ErrUnknown) {
		t.Errorf("a second time: %v", err)
	}
}

// TestHostileProvider has the provider, or who stands between, say what must not log
// anybody in.
func TestHostileProvider(t *testing.T) {
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		what string
		do   func(f *oidctest.Provider)
		back func(q url.Values, cookie *string)
		want error
		text string
	}{
		{what: "another nonce", do: func(f *oidctest.Provider) { f.Claims["nonce"] = "x" }, want: ErrInvalid, text: "another log-in"},
		{what: "no nonce", do: func(f *oidctest.Provider) { f.Claims["nonce"] = nil }, want: ErrInvalid},
		{what: "for others", do: func(f *oidctest.Provider) { f.Claims["aud"] = "other" }, want: ErrInvalid},
		{what: "of another issuer", do: func(f *oidctest.Provider) { f.Claims["iss"] = "https://evil.example.com" }, want: ErrInvalid},
		{what: "expired", do: func(f *oidctest.Provider) { f.Claims["exp"] = time.Now().Add(-time.Hour).Unix() }, want: ErrInvalid},
		{what: "no name", do: func(f *oidctest.Provider) { f.Claims["email"] = nil }, want: ErrInvalid, text: "no claim email"},
		{what: "a name that is not text", do: func(f *oidctest.Provider) { f.Claims["email"] = 7 }, want: ErrInvalid},
		{what: "an address that is not verified", do: func(f *oidctest.Provider) { f.Claims["email_verified"] = false }, want: ErrInvalid, text: "not verified"},
		{what: "an address of which nothing is said", do: func(f *oidctest.Provider) { f.Claims["email_verified"] = nil }, want: ErrInvalid, text: "not verified"},
		{what: "no ID token", do: func(f *oidctest.Provider) { f.Sign = func(map[string]any) string { return "" } }, want: ErrInvalid, text: "no ID token"},
		{what: "another key", do: func(f *oidctest.Provider) {
			f.Sign = func(c map[string]any) string { return oidctest.Signed(t, jose.ES256, other, c) }
		}, want: ErrInvalid},
		{what: "without a signature", do: func(f *oidctest.Provider) {
			f.Sign = func(c map[string]any) string {
				text, _ := json.Marshal(c)
				enc := base64.RawURLEncoding.EncodeToString
				return enc([]byte(`{"alg":"none"}`)) + "." + enc(text) + "."
			}
		}, want: ErrInvalid},
		{what: "signed with the public key as a secret", do: func(f *oidctest.Provider) {
			f.Sign = func(c map[string]any) string {
				der, _ := x509.MarshalPKIXPublicKey(&f.Key.PublicKey)
				return oidctest.Signed(t, jose.HS256, der, c)
			}
		}, want: ErrInvalid},
		{what: "a token endpoint that fails", do: func(f *oidctest.Provider) { f.Status = http.StatusInternalServerError }, want: ErrRefused, text: "it answers 500"},
		{what: "the provider says no", back: func(q url.Values, _ *string) { q.Set("error", "access_denied") }, want: ErrRefused, text: "access_denied"},
		{what: "another state", back: func(q url.Values, _ *string) { q.Set("state", "x") }, want: ErrUnknown},
		{what: "no state", back: func(q url.Values, _ *string) { q.Del("state") }, want: ErrUnknown},
		{what: "another browser", back: func(_ url.Values, cookie *string) { *cookie = "x" }, want: ErrUnknown},
		{what: "no cookie", back: func(_ url.Values, cookie *string) { *cookie = "" }, want: ErrUnknown},
		{what: "the code of another log-in", back: func(q url.Values, _ *string) { q.Set("code", "x") }, want: ErrRefused},
		{what: "the answer of another provider", back: func(q url.Values, _ *string) { q.Set("iss", "https://evil.example.com") }, want: ErrInvalid},
	} {
		t.Run(x.what, func(t *testing.T) {
			t.Parallel()
			f := oidctest.New(t)
			if x.do != nil {
				x.do(f)
			}
			p := provider(t, f, nil)
			address, cookie, err := p.Begin(t.Context(), "/")
			if err != nil {
				t.Fatal(err)
			}
			back := visit(t, f, address)
			if x.back != nil {
				x.back(back, &cookie)
			}
			user, _, _, err := p.Finish(t.Context(), back, cookie)
			if !errors.Is(err, x.want) || user != "" || !strings.Contains(fmt.Sprint(err), x.text) {
				t.Errorf("%q, %v", user, err)
			}
			if strings.Contains(fmt.Sprint(err), "hush") {
				t.Errorf("a secret in %v", err)
			}
		})
	}
}

// TestDescription has the provider describe itself in ways that are not taken.
func TestDescription(t *testing.T) {
	for what, do := range map[string]func(f *oidctest.Provider){
		"another issuer": func(f *oidctest.Provider) { f.Issuer = "https://evil.example.com" },
		"it redirects":   func(f *oidctest.Provider) { f.Moved = f.URL + "/moved" },
		"too long":       func(f *oidctest.Provider) { f.Pad = maxAnswer },
		"it is not there": func(f *oidctest.Provider) {
			f.Close()
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := oidctest.New(t)
			p := provider(t, f, nil)
			do(f)
			if _, _, err := p.Begin(t.Context(), "/"); !errors.Is(err, ErrUnreachable) {
				t.Error(err)
			}
			if what != "another issuer" {
				return
			}
			f.Issuer = f.URL // it is asked again
			if _, _, err := p.Begin(t.Context(), "/"); err != nil {
				t.Error(err)
			}
		})
	}
	f := oidctest.New(t)
	p := provider(t, f, func(c *Config) { c.Authorities = x509.NewCertPool() })
	if _, _, err := p.Begin(t.Context(), "/"); !errors.Is(err, ErrUnreachable) {
		t.Errorf("an unknown authority: %v", err)
	}
}

// TestPending bounds log-ins that have begun, in time and number.
func TestPending(t *testing.T) {
	f := oidctest.New(t)
	now := time.Now()
	p := provider(t, f, func(c *Config) { c.Now = func() time.Time { return now } })
	address, cookie, err := p.Begin(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	back := visit(t, f, address)
	now = now.Add(Life + time.Second)
	if _, _, _, err := p.Finish(t.Context(), back, cookie); !errors.Is(err, ErrUnknown) {
		t.Errorf("a late one: %v", err)
	}
	for range maxPending + 10 {
		if _, _, err := p.Begin(t.Context(), "/"); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.pending) > maxPending {
		t.Errorf("%d are pending", len(p.pending))
	}
}

func TestNew(t *testing.T) {
	good := Config{Issuer: "https://sso.example.com", ClientID: "pages", UserClaim: "email"}
	for want, change := range map[string]func(*Config){
		"":                         func(*Config) {},
		"not an address":           func(c *Config) { c.Issuer = "sso" },
		"by https":                 func(c *Config) { c.Issuer = "http://sso.example.com" },
		"client_id is missing":     func(c *Config) { c.ClientID = "" },
		"user_claim is missing":    func(c *Config) { c.UserClaim = "" },
		"is not an address such a": func(c *Config) { c.Issuer = "https://me:pw@sso.example.com" },
	} {
		c := good
		change(&c)
		if _, err := New(c); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
