package pillar_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/pillar"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
)

const cipher = "-----BEGIN PGP MESSAGE-----\n\nabc\n-----END PGP MESSAGE-----"

// TestDecrypt runs a gpg that turns each message into its middle line, and
// refuses those that say so. What is expected is that of
// salt/pillar/__init__.py decrypt_pillar.
func TestDecrypt(t *testing.T) {
	block := func(s string) string {
		return "|\n    " + strings.ReplaceAll(strings.ReplaceAll(cipher, "abc", s), "\n", "\n    ") + "\n"
	}
	sls := "a: " + block("one") + "b:\n  c: " + strings.ReplaceAll(block("two"), "\n    ", "\n      ") + "  d: [x, 1]\ne: " + block("bad") + "f: " + block("three")
	for _, tt := range []struct{ name, conf, want, errors string }{
		{"keys", "decrypt_pillar: [a, 'b:c', nope]", "{'a': 'one', 'c': 'two', 'f': False}", "None"},
		{"dicts", "decrypt_pillar: [{a: gpg}, b]", "{'a': 'one', 'c': 'two', 'f': False}", "None"},
		{"delimiter", "decrypt_pillar: {'b/c': null}\ndecrypt_pillar_delimiter: /", "{'a': False, 'c': 'two', 'f': False}", "None"},
		{"renderer", "decrypt_pillar: [{a: yaml}]", "{'a': False, 'c': False, 'f': False}", `["Failed to decrypt pillar key 'a': 'yaml' is not a valid decryption renderer. Valid choices are: gpg"]`},
		{"absent", "decrypt_pillar: [{a: nacl}]\ndecrypt_pillar_renderers: [gpg, nacl]", "{'a': False, 'c': False, 'f': False}", `["Failed to decrypt pillar key 'a': 'nacl' renderer is not available"]`},
		{"malformed", "decrypt_pillar: 5", "{'a': False, 'c': False, 'f': False}", "['decrypt_pillar config option is malformed']"},
		{"refused", "decrypt_pillar: [e, f]", "{'a': False, 'c': False, 'f': 'three'}", "None"},
		{"must", "decrypt_pillar: [e, f]\ngpg_decrypt_must_succeed: true", "{'a': False, 'c': False, 'f': 'three'}", `["Failed to decrypt pillar key 'e': Could not decrypt cipher: no key"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := fake(t, map[string]string{"top.sls": "base: {'*': [s]}\n", "s.sls": sls}, tt.conf)
			f := r.env.Host.(*host.Fake)
			f.PutFile("/usr/bin/gpg", "", 0o755)
			f.HandleCommand("*gpg *", func(_ context.Context, c host.Cmd) (host.Output, error) {
				raw, err := io.ReadAll(c.Stdin)
				if err != nil {
					t.Error(err)
				}
				if bytes.Contains(raw, []byte("bad")) {
					return host.Output{Status: 2, Stderr: []byte("[GNUPG:] NO_SECKEY\nno key\n")}, nil
				}
				return host.Output{Stdout: append(bytes.Split(raw, []byte("\n"))[2], '\n')}, nil
			})
			p, err := r.comp.Render(t.Context(), fun.PillarRequest{})
			if err != nil {
				t.Fatal(err)
			}
			got := value.NewMap(0)
			for name, v := range map[string]value.Value{"a": p.At("a"), "c": p.Map("b").At("c"), "f": p.At("f")} {
				if s, ok := v.(string); ok && strings.Contains(s, "PGP") {
					v = false
				}
				got.Set(name, v)
			}
			sorted := value.MapOf("a", got.At("a"), "c", got.At("c"), "f", got.At("f"))
			if value.Repr(sorted) != tt.want {
				t.Errorf("pillar = %s, want %s", value.Repr(sorted), tt.want)
			}
			if e := value.Repr(p.At("_errors")); e != tt.errors {
				t.Errorf("_errors = %s, want %s", e, tt.errors)
			}
		})
	}
}

// TestGiven decrypts what pillar= gave, by the gpg of TestDecrypt.
// Salt: salt/state.py State._gather_pillar.
func TestGiven(t *testing.T) {
	message := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(cipher, "abc", s), "\n", `\n`) }
	for _, tt := range []struct {
		name string
		v    value.Value
		enc  string
		want string // or the error
	}{
		{"values", value.MapOf("a", message("one"), "b", value.NewList(message("two"), int64(1))), "gpg", "{'a': 'one', 'b': ['two', 1]}"},
		{"text", message("x: {y: 1}"), "GPG", "{'x': {'y': 1}}"},
		{"no dict", message("five"), "gpg", "Pillar override was not passed as a dictionary, but as a str"},
		{"no YAML", message("x: ["), "gpg", "Failed to load CLI pillar override: "},
		{"renderer", value.NewMap(0), "nacl", "Failed to decrypt pillar override: 'nacl' is not a valid decryption renderer. Valid choices are: gpg"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := fake(t, nil, "")
			f := r.env.Host.(*host.Fake)
			f.PutFile("/usr/bin/gpg", "", 0o755)
			f.HandleCommand("*gpg *", func(_ context.Context, c host.Cmd) (host.Output, error) {
				raw, err := io.ReadAll(c.Stdin)
				if err != nil {
					t.Error(err)
				}
				return host.Output{Stdout: append(bytes.Split(raw, []byte("\n"))[2], '\n')}, nil
			})
			before := value.Repr(tt.v)
			m, err := pillar.Given(t.Context(), r.env, tt.v, tt.enc)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = calltest.Plain(m)
			}
			if !strings.HasPrefix(got, tt.want) || err == nil && got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if after := value.Repr(tt.v); after != before {
				t.Errorf("what was given is now %s", after)
			}
		})
	}
}
