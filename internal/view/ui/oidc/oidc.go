// Package oidc logs users of the pages in by a provider of OpenID Connect, with the code
// flow and PKCE. Who somebody is comes from the provider's signed ID token alone.
package oidc

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Config is how a provider is used.
type Config struct {
	Issuer   string // such as https://sso.example.com/realms/ops
	ClientID string
	// Secret returns the client secret, at this moment; "" is that of a public client.
	Secret func() (string, error)
	// Scopes are asked for beside openid.
	Scopes []string
	// UserClaim is the claim that names the user. The claim email counts only where the
	// provider has verified it.
	UserClaim string
	// GroupsClaim is the claim with the groups of the user; "": none is believed.
	GroupsClaim string
	// Redirect is the address of the callback, which the provider has to know.
	Redirect string
	// Authorities are trusted beside those of the system; nil: none.
	Authorities *x509.CertPool
	Now         func() time.Time
}

// A Provider logs users in. It is safe for concurrent use.
type Provider struct {
	cfg    Config
	client *http.Client

	mu      sync.Mutex
	found   *oidc.Provider // nil: it was not reached yet
	pending map[[sha256.Size]byte]*login
}

// A login is one that has begun: the browser is at the provider.
type login struct {
	state, nonce, verifier string
	next                   string
	began                  time.Time
}

// Bounds of log-ins that have begun.
const (
	// Life is how long somebody may take at the provider.
	Life       = 10 * time.Minute
	maxPending = 1000
	askTimeout = 15 * time.Second
	maxAnswer  = 1 << 20
)

// Errors of log-ins that a person may see.
var (
	// ErrUnknown is a callback that belongs to no log-in of this browser: it took too
	// long, was used before, or began elsewhere.
	ErrUnknown = errors.New("this log-in is not known: it took too long, or was begun in another browser")
	// ErrRefused is the provider's no.
	ErrRefused = errors.New("the provider did not log you in")
	// ErrUnreachable is a provider that does not answer as one.
	ErrUnreachable = errors.New("the provider cannot be asked")
	// ErrInvalid is an answer that does not prove who somebody is.
	ErrInvalid = errors.New("the answer of the provider is not valid")
)

// New returns a provider. It is asked for the first time when somebody logs in.
func New(c Config) (*Provider, error) {
	u, err := url.Parse(c.Issuer)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("issuer %q is not an address such as https://sso.example.com", c.Issuer)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return nil, fmt.Errorf("issuer %s: it has to be reached by https, or be on this machine", c.Issuer)
	}
	if c.ClientID == "" {
		return nil, errors.New("client_id is missing: the name under which the provider knows these pages")
	}
	if c.UserClaim == "" {
		return nil, errors.New("user_claim is missing: the claim that names the user, such as email or preferred_username")
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Authorities}
	return &Provider{
		cfg: c, pending: map[[sha256.Size]byte]*login{},
		client: &http.Client{Transport: bounded{t}, Timeout: askTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("it redirects") // a secret is sent to the address that was given alone
		}},
	}, nil
}

func loopback(name string) bool { return name == "localhost" || name == "127.0.0.1" || name == "::1" }

// discover returns the provider as it describes itself.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	// Keys are fetched later, too, so the context must not end with this request.
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.cfg.Issuer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	p.found = found
	return found, nil
}

func (p *Provider) oauth(found *oidc.Provider) (*oauth2.Config, error) {
	c := &oauth2.Config{ClientID: p.cfg.ClientID, Endpoint: found.Endpoint(), RedirectURL: p.cfg.Redirect, Scopes: append([]string{oidc.ScopeOpenID}, p.cfg.Scopes...)}
	if p.cfg.Secret != nil {
		secret, err := p.cfg.Secret()
		if err != nil {
			return nil, err
		}
		c.ClientSecret = secret
	}
	return c, nil
}

// Begin starts a log-in: where the browser goes, and what it keeps in a cookie until it
// comes back. next is what [Provider.Finish] returns.
func (p *Provider) Begin(ctx context.Context, next string) (address, cookie string, err error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", "", err
	}
	c, err := p.oauth(found)
	if err != nil {
		return "", "", err
	}
	l := &login{state: random(), nonce: random(), verifier: oauth2.GenerateVerifier(), next: next, began: p.cfg.Now()}
	cookie = random()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	p.pending[sha256.Sum256([]byte(cookie))] = l
	return c.AuthCodeURL(l.state, oidc.Nonce(l.nonce), oauth2.S256ChallengeOption(l.verifier)), cookie, nil
}

// forget drops log-ins that took too long, and the oldest ones of too many. mu is held.
func (p *Provider) forget() {
	now := p.cfg.Now()
	for k, l := range p.pending {
		if now.Sub(l.began) > Life {
			delete(p.pending, k)
		}
	}
	for len(p.pending) >= maxPending {
		var oldest [sha256.Size]byte
		var of *login
		for k, l := range p.pending {
			if of == nil || l.began.Before(of.began) {
				oldest, of = k, l
			}
		}
		delete(p.pending, oldest)
	}
}

// Finish ends a log-in with what the provider sent the browser back with, and the cookie
// of the browser: the name of the user, with the groups, and the next of [Provider.Begin]. A
// log-in ends once.
func (p *Provider) Finish(ctx context.Context, query url.Values, cookie string) (user string, groups []string, next string, err error) {
	key := sha256.Sum256([]byte(cookie))
	p.mu.Lock()
	p.forget()
	l := p.pending[key]
	delete(p.pending, key)
	p.mu.Unlock()
	if l == nil || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(l.state)) != 1 {
		return "", nil, "", ErrUnknown
	}
	if said := query.Get("error"); said != "" {
		return "", nil, l.next, fmt.Errorf("%w: %s", ErrRefused, said)
	}
	// A provider that mixes up several says whose answer it is (RFC 9207).
	if iss := query.Get("iss"); iss != "" && iss != p.cfg.Issuer {
		return "", nil, l.next, fmt.Errorf("%w: it is of %s", ErrInvalid, iss)
	}
	found, err := p.discover(ctx)
	if err != nil {
		return "", nil, l.next, err
	}
	c, err := p.oauth(found)
	if err != nil {
		return "", nil, l.next, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client), askTimeout)
	defer cancel()
	token, err := c.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(l.verifier))
	if err != nil {
		return "", nil, l.next, fmt.Errorf("%w: %w", ErrRefused, withoutBody(err))
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return "", nil, l.next, fmt.Errorf("%w: it has no ID token", ErrInvalid)
	}
	got, err := found.Verifier(&oidc.Config{ClientID: p.cfg.ClientID, Now: p.cfg.Now}).Verify(ctx, raw)
	if err != nil {
		return "", nil, l.next, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if subtle.ConstantTimeCompare([]byte(got.Nonce), []byte(l.nonce)) != 1 {
		return "", nil, l.next, fmt.Errorf("%w: the ID token is of another log-in", ErrInvalid)
	}
	var claims map[string]any
	if err := got.Claims(&claims); err != nil {
		return "", nil, l.next, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	user, err = p.userOf(claims)
	return user, p.groupsOf(claims), l.next, err
}

// userOf is who somebody is by the claims of a token that was verified.
func (p *Provider) userOf(claims map[string]any) (string, error) {
	name, _ := claims[p.cfg.UserClaim].(string)
	if name == "" {
		return "", fmt.Errorf("%w: the ID token has no claim %s", ErrInvalid, p.cfg.UserClaim)
	}
	if verified, has := claims["email_verified"]; p.cfg.UserClaim == "email" && (!has || verified != true && verified != "true") {
		return "", fmt.Errorf("%w: the provider has not verified the address %s", ErrInvalid, name)
	}
	return name, nil
}

// groupsOf are the groups that somebody is in, by the claims of a token that was verified: a
// list of texts, or one text.
func (p *Provider) groupsOf(claims map[string]any) (out []string) {
	if p.cfg.GroupsClaim == "" {
		return nil
	}
	switch x := claims[p.cfg.GroupsClaim].(type) {
	case string:
		return []string{x}
	case []any:
		for _, g := range x {
			if text, ok := g.(string); ok {
				out = append(out, text)
			}
		}
	}
	return out
}

// withoutBody leaves out what the token endpoint answered in full: it may hold secrets.
func withoutBody(err error) error {
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if e.ErrorCode != "" {
			return errors.New(e.ErrorCode)
		}
		return fmt.Errorf("it answers %s", e.Response.Status)
	}
	return err
}

func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
