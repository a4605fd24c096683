// Package oidctest is a provider of OpenID Connect for tests, which logs everybody in.
package oidctest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// The client that the provider knows.
const (
	ClientID = "pages"
	Secret   = "hush"
)

// A Provider tells the truth, but for what a test has it change.
type Provider struct {
	*httptest.Server
	Key    *ecdsa.PrivateKey
	Claims map[string]any                     // that replace the true ones; nil values are left out
	Sign   func(claims map[string]any) string // makes the ID token
	Status int                                // of the token endpoint; 0: it answers
	Moved  string                             // the description redirects there
	Pad    int                                // bytes more in the description
	Issuer string                             // as the description says it

	mu    sync.Mutex
	codes map[string]url.Values // the question of each code
}

// New starts a provider, for as long as the test lasts.
func New(t testing.TB) *Provider {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	f := &Provider{Key: key, codes: map[string]url.Values{}, Claims: map[string]any{}}
	mux := http.NewServeMux()
	f.Server = httptest.NewTLSServer(mux)
	t.Cleanup(f.Close)
	f.Issuer = f.URL
	f.Sign = func(claims map[string]any) string { return Signed(t, jose.ES256, f.Key, claims) }
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	describe := func(w http.ResponseWriter, r *http.Request) {
		if f.Moved != "" && r.URL.Path != "/moved" {
			http.Redirect(w, r, f.Moved, http.StatusFound)
			return
		}
		answer(w, map[string]any{
			"x": strings.Repeat("x", f.Pad), "issuer": f.Issuer, "authorization_endpoint": f.URL + "/auth", "token_endpoint": f.URL + "/token", "jwks_uri": f.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"ES256", "HS256", "none"},
		})
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", describe)
	mux.HandleFunc("GET /moved", describe)
	// Whoever comes is logged in at once.
	mux.HandleFunc("GET /auth", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		back := url.Values{"code": {f.Code(q)}, "state": {q.Get("state")}}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &f.Key.PublicKey, KeyID: "k", Algorithm: "ES256", Use: "sig"}}})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		asked, ok := f.codes[r.FormValue("code")]
		delete(f.codes, r.FormValue("code"))
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		id, secret, _ := r.BasicAuth()
		if f.Status != 0 || !ok || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || id != ClientID || secret != Secret {
			w.WriteHeader(max(f.Status, http.StatusBadRequest))
			answer(w, map[string]any{"error": "invalid_grant", "error_description": "hush-hush"})
			return
		}
		claims := map[string]any{
			"iss": f.URL, "sub": "4711", "aud": ClientID, "exp": time.Now().Add(time.Minute).Unix(), "iat": time.Now().Unix(), "nonce": asked.Get("nonce"),
			"email": "ann@example.com", "email_verified": true,
		}
		for k, v := range f.Claims {
			if claims[k] = v; v == nil {
				delete(claims, k)
			}
		}
		out := map[string]any{"access_token": "a", "token_type": "Bearer"}
		if text := f.Sign(claims); text != "" {
			out["id_token"] = text
		}
		answer(w, out)
	})
	return f
}

// Signed returns claims as a token.
func Signed(t testing.TB, alg jose.SignatureAlgorithm, key any, claims map[string]any) string {
	t.Helper()
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, (&jose.SignerOptions{}).WithHeader("kid", "k"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(s).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Code returns a code for the question that a browser came with.
func (f *Provider) Code(asked url.Values) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	code := "code" + strconv.Itoa(len(f.codes))
	f.codes[code] = asked
	return code
}

// Authority returns the certificate of the provider in PEM.
func (f *Provider) Authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.Certificate().Raw})
}
