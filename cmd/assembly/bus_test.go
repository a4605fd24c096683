//go:build !slim

package assembly

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/fleet/bus"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/testkit/servertest"
)

// What is wrong with event_bus is a fault that says what to write, and never has a
// secret in it.
func TestBusFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"open": 0o644, "own": 0o600} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("s3cret\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for conf, want := range map[string]string{
		"[nats]":                            "event_bus: ['nats'] is not a store such as postgres, a URL such as nats://nats1:4222, or a mapping",
		"nat":                               `event_bus: "nat" is neither postgres nor pgjsonb, nor a URL such as nats://nats1:4222 (did you mean "nats"?)`,
		"nats":                              "url is missing: nats://HOST:4222",
		"http://nats1":                      `url must be nats://HOST:4222 or tls://HOST:4222, not "http://nats1"`,
		"nats://zoe:s3cret@nats1":           "url must have no user and password",
		"nats://":                           "url must be nats://HOST",
		"{url: []}":                         "url is missing",
		"{url: nats://a, pasword: s3cret}":  `nats has no setting "pasword" (did you mean "password"?)`,
		"{url: nats://a, tags: 7}":          "tags: 7 is not a list of globs",
		"{url: nats://a, subject: 'a b'}":   `subject: "a b" is not a subject`,
		"{url: nats://a, subject: 'a.>'}":   `subject: "a.>" is not a subject`,
		"{url: nats://a, stream: a.b}":      `stream: "a.b" is not a name`,
		"{url: nats://a, user: zoe}":        "user has no password",
		"{url: nats://a, password: s3cret}": "password has no user",
		"{url: nats://a, user: zoe, password_file: none}":       "password_file: stat ",
		"{url: nats://a, user: zoe, password_file: open}":       "can be read by others (mode 0644); chmod 600 it",
		"{url: nats://a, password: s3cret, password_file: own}": "password and password_file both say what the password is",
		"{url: nats://a, token: s3cret, nkey_file: own}":        "token and nkey_file are both given",
		"{url: nats://a, nkey_file: own}":                       "nkey: the file has no seed",
		"{url: nats://a, credentials_file: own}":                "credentials: the file has no JWT and seed",
		"{url: nats://a, token: ''}":                            "token is empty",
		"{url: nats://a, token: [s3cret]}":                      "token must not be a list",
		"{url: nats://a, ca: none}":                             "ca, client_cert, client_key: open ",
		"{url: nats://a, ca: own, tls: False}":                  "are for TLS, and tls is False",
		"{url: nats://a, tls: maybe}":                           "tls must be True or False, not 'maybe'",
		"{store: nats, url: 'nats://a/x'}":                      "url must be nats://HOST",
		"{store: postgres, hots: a}":                            "hots",
	} {
		v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "master"}, []byte("event_bus: "+conf))
		if err != nil {
			t.Fatal(err)
		}
		opts := v.(*value.Map)
		opts.Set("config_dir", dir)
		_, err = OpenBus(t.Context(), &fun.Env{Data: fun.Data{Opts: opts}}, bus.Options{Warn: func(err error) { t.Error(err) }})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, want %q", conf, err, want)
		}
	}
}

// TLS is a must over a network, unless the configuration says otherwise.
func TestBusIsEncrypted(t *testing.T) {
	t.Parallel()
	ca := servertest.NewCA(t)
	for conf, want := range map[string]bool{
		"{url: nats://localhost}":                        false,
		"{url: 'nats://127.0.0.1:4222'}":                 false,
		"{url: tls://localhost}":                         true,
		"{url: nats://localhost, tls: True}":             true,
		"{url: nats://localhost, ca: '" + ca.File + "'}": true,
		"{url: nats://nats1}":                            true,
		"{url: [nats://localhost, nats://nats1]}":        true,
		"{url: nats://nats1, tls: False}":                false,
	} {
		v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "master"}, []byte(conf))
		if err != nil {
			t.Fatal(err)
		}
		o, err := natsOptions(v.(*value.Map), "/")
		if err != nil || (o.TLS != nil) != want {
			t.Errorf("%s: TLS %v, want %v (%v)", conf, o.TLS != nil, want, err)
		}
	}
}
