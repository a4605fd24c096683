package ui

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"brine/cmd/app"
	"brine/internal/core/printable"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/ui"
	"brine/internal/view/ui/oidc"
)

// An oidcFile is the file of --oidc: how a provider of OpenID Connect logs users in.
type oidcFile struct {
	issuer, clientID, secretFile         string
	userClaim, groupsClaim, caFile, name string
	scopes                               []string
}

// oidcKeys are the keys of the file.
var oidcKeys = []string{"issuer", "client_id", "client_secret_file", "scopes", "user_claim", "groups_claim", "ca_file", "name"}

func parseOIDC(file string, text []byte) (*oidcFile, error) {
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: file}, text)
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("%s: it has to be a mapping, such as issuer: https://sso.example.com", file)
	}
	o := &oidcFile{userClaim: "email", scopes: []string{"email", "profile"}}
	texts := map[string]*string{
		"issuer": &o.issuer, "client_id": &o.clientID, "client_secret_file": &o.secretFile,
		"user_claim": &o.userClaim, "groups_claim": &o.groupsClaim, "ca_file": &o.caFile, "name": &o.name,
	}
	for k, x := range m.All() {
		key := value.Str(k)
		if key == "scopes" {
			list, ok := x.(*value.List)
			if !ok {
				return nil, fmt.Errorf("%s: scopes has to be a list, such as [email, profile]", file)
			}
			o.scopes = nil
			for _, s := range list.Items {
				o.scopes = append(o.scopes, value.Str(s))
			}
			continue
		}
		to := texts[key]
		if to == nil {
			return nil, fmt.Errorf("%s: unknown key %q%s; there are %s", file, key, source.DidYouMean(key, oidcKeys), strings.Join(oidcKeys, ", "))
		}
		if *to, ok = x.(string); !ok {
			return nil, fmt.Errorf("%s: %s has to be text", file, key)
		}
	}
	if slices.Contains(o.scopes, "openid") {
		o.scopes = slices.DeleteFunc(o.scopes, func(s string) bool { return s == "openid" })
	}
	return o, nil
}

// sso returns the single sign-on of --oidc, whose callback is at origin.
func (o *options) sso(a *app.App, origin string) (*ui.SSO, error) {
	f := &watched[oidcFile]{app: a, path: o.oidc, option: "--oidc", closed: "nobody can log in by single sign-on", parse: parseOIDC}
	cfg, err := f.read()
	if err != nil {
		return nil, err
	}
	c := oidc.Config{
		Issuer: cfg.issuer, ClientID: cfg.clientID, Scopes: cfg.scopes, UserClaim: cfg.userClaim, GroupsClaim: cfg.groupsClaim,
		Redirect: origin + ui.SSOCallback, Now: time.Now,
	}
	if cfg.secretFile != "" {
		secret := &watched[string]{app: a, path: cfg.secretFile, option: "--oidc: client_secret_file", keys: true, closed: "nobody can log in by single sign-on", parse: func(file string, text []byte) (*string, error) {
			s := strings.TrimSpace(string(text))
			if s == "" {
				return nil, fmt.Errorf("%s is empty", file)
			}
			return &s, nil
		}}
		if _, err := secret.read(); err != nil {
			return nil, err
		}
		c.Secret = func() (string, error) {
			s, err := secret.now()
			if err != nil {
				return "", err
			}
			return *s, nil
		}
	}
	if cfg.caFile != "" {
		text, err := a.Host.ReadFile(cfg.caFile)
		if err != nil {
			return nil, fmt.Errorf("--oidc: ca_file: %w", err)
		}
		c.Authorities = x509.NewCertPool()
		if !c.Authorities.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--oidc: ca_file: %s has no certificate", cfg.caFile)
		}
	}
	p, err := oidc.New(c)
	if err != nil {
		return nil, fmt.Errorf("--oidc %s: %w", o.oidc, err)
	}
	name := cfg.name
	if u, err := url.Parse(cfg.issuer); name == "" && err == nil {
		name = u.Host
	}
	return &ui.SSO{Provider: p, Name: name, OnFault: func(err error) {
		if !errors.Is(err, oidc.ErrUnknown) { // anybody can make these
			fmt.Fprintf(a.Err, "brine: single sign-on: %s\n", printable.Text(err.Error()))
		}
	}}, nil
}
