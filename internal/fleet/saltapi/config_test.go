package saltapi_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/saltapi"
	"brine/internal/py/value"
)

func TestParse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"secret": 0o600, "open": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("from file\n"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	env := func(k string) string { return map[string]string{"PW": "from env"}[k] }
	entry := func(kv ...any) value.Value {
		m := value.MapOf("type", "salt-api", "url", "https://salt.example.com:8000/", "user", "brine")
		m.Update(value.MapOf(kv...))
		return value.MapOf("dc1", m)
	}
	for _, tt := range []struct {
		name string
		opt  value.Value
		want string // of the error; "" and a password else
		pass string
	}{
		{"environment", entry("password_env", "PW"), "", "from env"},
		{"file", entry("password_file", "secret"), "", "from file"},
		{"as it is", entry("password", "x"), "", "x"},
		{"loopback in the clear", entry("password", "x", "url", "http://127.0.0.1:8000"), "", "x"},
		{"in the clear", entry("password", "x", "url", "http://salt:8000"), "insecure_http", ""},
		{"in the clear, allowed", entry("password", "x", "url", "http://salt:8000", "insecure_http", true), "", "x"},
		{"not set", entry("password_env", "NO"), "environment variable NO is not set", ""},
		{"open file", entry("password_file", "open"), "chmod 600", ""},
		{"no file", entry("password_file", "none"), "no such file", ""},
		{"two passwords", entry("password", "x", "password_env", "PW"), "give one of them", ""},
		{"both", entry("password", "x", "token", "y"), "give one of them", ""},
		{"none", entry(), "password is missing", ""},
		{"misspelt", entry("pasword", "x"), `unknown key "pasword" (did you mean "password"?)`, ""},
		{"type", entry("type", "ssh"), "type must be salt-api", ""},
		{"timeout", entry("password", "x", "timeout", "soon"), "timeout must be a number of seconds, not 'soon'", ""},
		{"no minions", entry("password", "x", "max_minions", int64(0)), "max_minions must be a number from 1 to 10000000, not 0", ""},
		{"some minions", entry("password", "x", "max_minions", "many"), "max_minions must be a number from 1", ""},
		{"as many minions as there may be", entry("password", "x", "max_minions", int64(10_000_000)), "", "x"},
		{"fingerprint", entry("password", "x", "fingerprint", "ab:cd"), "64 hexadecimal digits", ""},
		{"client", entry("password", "x", "client", "shh"), "client must be local (minions) or ssh", ""},
		{"client ssh", entry("password", "x", "client", "ssh"), "", "x"},
		{"half a certificate", entry("client_cert", "c.pem"), "belong together", ""},
		{"user in url", entry("password", "x", "url", "https://a:b@salt"), "url must have no user", ""},
		{"no url", value.MapOf("dc1", value.MapOf("type", "salt-api")), "url is missing", ""},
		{"name", value.MapOf("roster", value.MapOf("type", "salt-api")), "this name stands for", ""},
		{"list", value.NewList("dc1"), "must be a mapping of names", ""},
		{"text", value.MapOf("dc1", "https://x"), "must be a mapping with type", ""},
	} {
		got, err := saltapi.Parse(tt.opt, dir, env)
		switch {
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v; want %s", tt.name, err, tt.want)
		case tt.want == "" && (err != nil || got[0].Password != tt.pass):
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		case err != nil && strings.Contains(err.Error(), "a:b"):
			t.Errorf("%s: the error shows the password: %v", tt.name, err)
		}
	}
	for range 20 { // of several faults, always the same one is told
		for want, e := range map[string]value.Value{
			"timeout must be":        entry("password", "x", "reconnect", "x", "timeout", "x"),
			"password and password_": entry("token", "x", "token_env", "x", "password", "x", "password_env", "x"),
		} {
			if _, err := saltapi.Parse(e, dir, env); err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("%v; want %s", err, want)
			}
		}
	}
	got, err := saltapi.Parse(entry("password", "x", "timeout", int64(9), "prefix", "dc1-", "fingerprint", "SHA256:"+strings.Repeat("AB:", 31)+"AB"), dir, env)
	if err != nil || got[0].Timeout != 9*time.Second || got[0].Prefix != "dc1-" || got[0].Fingerprint != strings.Repeat("ab", 32) || got[0].URL.String() != "https://salt.example.com:8000" {
		t.Errorf("%+v, %v", got, err)
	}
}
