//go:build !slim

package ldap_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"brine/internal/core/ldap"
	"brine/internal/testkit/ldaptest"
)

const base = "dc=example,dc=com"

func entries() map[string]ldaptest.Entry {
	return map[string]ldaptest.Entry{
		base:             {"dc": {"example"}, "objectClass": {"top"}},
		"cn=web," + base: {"cn": {"web"}, "member": {"a", "b"}, "photo": {"\xff\x00"}},
	}
}

func show(es []ldap.Entry, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%q", es)
}

func TestSearch(t *testing.T) {
	t.Parallel()
	srv := ldaptest.New(t, nil, entries())
	c, err := ldap.Dial(t.Context(), ldap.Server{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, tt := range []struct {
		q    ldap.Query
		want string
	}{
		{ldap.Query{Base: base, Filter: "cn=web", Scope: 2, Attrs: []string{"member"}}, `[{"cn=web,dc=example,dc=com" [{"member" ["a" "b"]}]}]`},
		{ldap.Query{Base: base, Filter: "(cn=web)", Scope: 1, Attrs: []string{"photo"}}, `[{"cn=web,dc=example,dc=com" [{"photo" ["\xff\x00"]}]}]`},
		{ldap.Query{Base: base, Filter: "(dc=*)", Attrs: []string{"dc"}, NamesOnly: true}, `[{"dc=example,dc=com" [{"dc" []}]}]`},
		{ldap.Query{Base: base, Filter: `(cn=\2a)`, Scope: 2}, `[]`},
		{ldap.Query{Base: "dc=none", Filter: "(cn=*)"}, `error: the server answered with 32 (No Such Object): no\x1b[31m`},
		{ldap.Query{Base: base, Filter: "(cn=web"}, `error: the filter "(cn=web": LDAP Result Code 201 "Filter Compile Error": ldap: unexpected end of filter`},
	} {
		if got := show(c.Search(tt.q)); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.q, got, tt.want)
		}
	}
	if err := c.Delete("cn=web," + base); err == nil || !strings.Contains(err.Error(), "50 (Insufficient Access Rights)") {
		t.Errorf("anonymous delete: %v", err)
	}
}

func TestDial(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(nil) // for its certificate, of 127.0.0.1
	defer web.Close()
	trust := x509.NewCertPool()
	trust.AddCert(web.Certificate())
	srv := ldaptest.New(t, &tls.Config{Certificates: web.TLS.Certificates}, entries())
	plain := ldaptest.New(t, nil, entries())
	for _, tt := range []struct {
		s    ldap.Server
		want string
	}{
		{ldap.Server{URL: srv.URL}, ""},
		{ldap.Server{URL: srv.URL, DN: ldaptest.Admin, Password: ldaptest.Password}, ""},
		{ldap.Server{URL: srv.URL, DN: ldaptest.Admin, Password: "wr0ng"}, "49 (Invalid Credentials)"},
		{ldap.Server{URL: srv.URL, DN: ldaptest.Admin}, "the bind as cn=admin,dc=example,dc=com has no password"},
		{ldap.Server{URL: srv.URL, StartTLS: true, TLS: &tls.Config{RootCAs: trust}}, ""},
		{ldap.Server{URL: srv.URL, StartTLS: true}, "certificate signed by unknown authority"},
		{ldap.Server{URL: strings.Replace(srv.URL, "127.0.0.1", "localhost", 1), StartTLS: true, TLS: &tls.Config{RootCAs: trust}}, "certificate is valid for"},
		{ldap.Server{URL: plain.URL, StartTLS: true}, "53 (Unwilling To Perform)"},
		{ldap.Server{URL: strings.Replace(web.URL, "https", "ldaps", 1), StartTLS: true, TLS: &tls.Config{RootCAs: trust}}, "starttls is for ldap://"},
		{ldap.Server{URL: strings.Replace(web.URL, "https", "ldaps", 1)}, "certificate signed by unknown authority"},
		{ldap.Server{URL: "http://127.0.0.1"}, "the URL of the server must be ldap://HOST:PORT"},
		{ldap.Server{URL: "ldap://u:plugh@h"}, "the URL of the server must be ldap://HOST:PORT"},
		{ldap.Server{URL: "ldap://a ldap://b"}, "the URL of the server must be ldap://HOST:PORT"},
		{ldap.Server{URL: "ldapi://run/x"}, "is not one like ldapi://%2Frun%2Fldapi"},
		{ldap.Server{URL: "ldapi://%2fnone%2fsock"}, "connect to ldapi://%2fnone%2fsock: dial unix /none/sock"},
	} {
		c, err := ldap.Dial(t.Context(), tt.s)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			_, err := c.Search(ldap.Query{Base: base, Filter: "(cn=*)"})
			if err != nil {
				t.Errorf("%+v: %v", tt.s, err)
			}
			c.Close()
		}
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || strings.Contains(got, "plugh") || strings.Contains(got, "wr0ng") {
			t.Errorf("%+v: %q, want %q", tt.s, got, tt.want)
		}
	}
}

// TestCancelled: whoever cancels does not wait for a server that is silent.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	srv := ldaptest.New(t, nil, entries())
	srv.Answer = func(int64) []byte { cancel(); return nil }
	c, err := ldap.Dial(ctx, ldap.Server{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Search(ldap.Query{Base: base, Filter: "(cn=*)"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestHostileAnswers: a server cannot take more memory than an answer may have, and what
// is not LDAP is an error.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	big := ldaptest.Entry{"x": {strings.Repeat("x", 3<<20)}}
	deep := []byte{0x30, 0x80}
	for range 100 {
		deep = append(deep, 0x30, 0x80)
	}
	for name, tt := range map[string]struct {
		answer func(id int64) []byte
		want   string
	}{
		"endless": {func(id int64) []byte {
			done := []byte{0x30, 0x0c, 0x02, 0x01, byte(id), 0x65, 0x07, 0x0a, 0x01, 0x00, 0x04, 0x00, 0x04, 0x00}
			return append([]byte(strings.Repeat(string(ldaptest.Found(id, "cn=x", big)), 8)), done...)
		}, "the answer has more than 16 MiB"},
		"long":  {func(int64) []byte { return []byte{0x30, 0x84, 0x7f, 0xff, 0xff, 0xff} }, "greater than maximum"},
		"deep":  {func(int64) []byte { return deep }, "nesting depth"},
		"empty": {func(int64) []byte { return []byte{0x30, 0x00} }, ""},
		"entry": {func(id int64) []byte { return []byte{0x30, 0x05, 0x02, 0x01, byte(id), 0x64, 0x00} }, ""},
		"done":  {func(id int64) []byte { return []byte{0x30, 0x05, 0x02, 0x01, byte(id), 0x65, 0x00} }, ""},
	} {
		srv := ldaptest.New(t, nil, entries())
		srv.Answer = tt.answer
		c, err := ldap.Dial(t.Context(), ldap.Server{URL: srv.URL})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Search(ldap.Query{Base: base, Filter: "(cn=*)", Scope: 2})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
		c.Close()
	}
}

// TestHostileSilence: a server that does not answer is given up, while the connection is
// made and later.
func TestHostileSilence(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts, nobody reads
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const wait = 100 * time.Millisecond
	at := ldap.Server{URL: "ldap://" + l.Addr().String(), Wait: wait}
	bind, start, secure := at, at, at
	bind.DN, bind.Password, start.StartTLS, secure.URL = "cn=x", "x", true, strings.Replace(at.URL, "ldap", "ldaps", 1)
	for _, s := range []ldap.Server{bind, start, secure} {
		if _, err := ldap.Dial(t.Context(), s); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
	srv := ldaptest.New(t, nil, entries())
	srv.Answer = func(int64) []byte { return nil }
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := ldap.Dial(ctx, ldap.Server{URL: srv.URL, Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Search(ldap.Query{Base: base, Filter: "(cn=*)"}); err == nil || !strings.Contains(err.Error(), "timed out") {
		t.Error(err)
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"web-1.example.com": "web-1.example.com",
		"a b":               "a b",
		" a ":               `\20a\20`,
		"*)(|(cn=*":         `\2a\29\28\7c\28cn\3d\2a`,
		"a'\n\"\\ #,":       `a\27\0a\22\5c \23\2c`,
		"é\xff":             `\c3\a9\ff`,
	} {
		if got := ldap.Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
}
