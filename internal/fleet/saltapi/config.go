// Package saltapi reaches the minions of Salt masters through salt-api.
//
// Start at [Provider], which is what the fleet sees: it finds the minions of a
// target, publishes each job once for all of them, and follows the events of the
// master for the returns. client.go speaks HTTP, stream.go reads the events.
// Nothing that a master sends is trusted: sizes are bounded, and returns of
// minions that were not targeted are refused.
package saltapi

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/fleet"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Type is the type of an entry of the option fleets that this package serves.
const Type = "salt-api"

// Defaults of a [Config].
const (
	DefaultTimeout   = 60 * time.Second
	DefaultReconnect = 5 * time.Minute
	// DefaultMinions is how many minions a target may mean: each takes about 10 KB
	// while a job runs.
	DefaultMinions = 100_000
)

// A Config is an entry of the option fleets.
type Config struct {
	Name  string
	URL   *url.URL // without a trailing slash
	EAuth string
	User  string
	// Password and Token are secrets. A token is used as it is and never renewed.
	Password, Token string
	CA              string // file of certificates, "" is the system's
	Fingerprint     string // SHA-256 of the server's certificate, hexadecimal
	Cert, Key       string // files of the client certificate
	Prefix          string // of the ids of the minions
	SSH             bool   // the hosts of salt-ssh are meant, not minions
	Timeout         time.Duration
	Reconnect       time.Duration // how long a master that went away is waited for
	Minions         int           // how many a target may mean; 0 is DefaultMinions
}

// maxMinions bounds max_minions: an answer has no room for many more ids.
const maxMinions = 10_000_000

// keys are those of an entry.
var keys = []string{
	"type", "url", "eauth", "user", "password", "password_env", "password_file", "token", "token_env", "token_file", "ca", "fingerprint",
	"client", "client_cert", "client_key", "prefix", "timeout", "reconnect", "insecure_http", "max_minions",
}

// Parse reads the option fleets: a mapping of names to entries. dir is where
// relative paths start, getenv reads the environment.
func Parse(opt value.Value, dir string, getenv func(string) string) ([]Config, error) {
	if opt == nil {
		return nil, nil
	}
	m, ok := opt.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("the option fleets must be a mapping of names to entries, not %s", value.TypeName(opt))
	}
	out := make([]Config, 0, m.Len())
	for k, v := range m.All() {
		name := value.Str(k)
		e, ok := v.(*value.Map)
		if !ok {
			return nil, fmt.Errorf("fleets: %s must be a mapping with type, url and credentials, not %s", name, value.TypeName(v))
		}
		c, err := entry(name, e, dir, getenv)
		if err != nil {
			return nil, fmt.Errorf("fleets: %s: %w", name, err)
		}
		out = append(out, c)
	}
	return out, nil
}

var fleetName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) })

func entry(name string, e *value.Map, dir string, getenv func(string) string) (Config, error) {
	c := Config{Name: name, EAuth: "pam", Timeout: DefaultTimeout, Reconnect: DefaultReconnect}
	if !fleetName().MatchString(name) || len(name) > 100 {
		return c, errors.New("a name has letters, digits, dots, dashes and underscores")
	}
	if name == fleet.RosterFleet {
		return c, errors.New("this name stands for the machines of the roster; choose another one")
	}
	for k, v := range e.All() {
		key := value.Str(k)
		if !slices.Contains(keys, key) {
			return c, fmt.Errorf("unknown key %q%s", key, source.DidYouMean(key, keys))
		}
		if _, nested := v.(value.Mapping); nested {
			return c, fmt.Errorf("%s must not be a mapping", key)
		}
	}
	if typ := e.Str("type"); typ != Type {
		return c, fmt.Errorf("type must be %s, not %q", Type, typ)
	}
	if err := c.setURL(e); err != nil {
		return c, err
	}
	if err := c.setClient(e.At("client")); err != nil {
		return c, err
	}
	for key, at := range map[string]*string{"eauth": &c.EAuth, "user": &c.User, "prefix": &c.Prefix} {
		if v := e.At(key); v != nil {
			*at = value.Str(v)
		}
	}
	for key, at := range map[string]*string{"ca": &c.CA, "client_cert": &c.Cert, "client_key": &c.Key} {
		if p := value.Str(e.At(key)); e.At(key) != nil && p != "" {
			*at = Absolute(dir, p)
		}
	}
	if err := c.setNumbers(e); err != nil {
		return c, err
	}
	if v := e.At("fingerprint"); v != nil {
		c.Fingerprint = strings.ToLower(strings.NewReplacer(":", "", "SHA256:", "", "sha256:", "").Replace(value.Str(v)))
		if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(c.Fingerprint) {
			return c, errors.New("fingerprint must be the SHA-256 of the server's certificate: 64 hexadecimal digits, with or without colons")
		}
	}
	if (c.Cert == "") != (c.Key == "") {
		return c, errors.New("client_cert and client_key belong together")
	}
	return c, c.secrets(e, dir, getenv)
}

// setNumbers reads the times and the number of minions.
func (c *Config) setNumbers(e *value.Map) error {
	for _, d := range []struct {
		key string
		at  *time.Duration
	}{{"timeout", &c.Timeout}, {"reconnect", &c.Reconnect}} {
		if v := e.At(d.key); v != nil {
			n, err := value.ToFloat(v)
			if err != nil || n <= 0 || n > 86400 {
				return fmt.Errorf("%s must be a number of seconds, not %s", d.key, value.Repr(v))
			}
			*d.at = time.Duration(n * float64(time.Second))
		}
	}
	if v := e.At("max_minions"); v != nil {
		n, ok := v.(int64)
		if !ok || n < 1 || n > maxMinions {
			return fmt.Errorf("max_minions must be a number from 1 to %d, not %s", maxMinions, value.Repr(v))
		}
		c.Minions = int(n)
	}
	return nil
}

func (c *Config) setClient(v value.Value) error {
	switch name := value.Str(v); {
	case v == nil, name == clientLocal:
	case name == clientSSH:
		c.SSH = true
	default:
		return fmt.Errorf("client must be %s (minions) or %s (the hosts of salt-ssh), not %q", clientLocal, clientSSH, name)
	}
	return nil
}

// Absolute is a path of the configuration in dir.
func Absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// setURL reads url. Credentials do not go over a network in the clear, unless
// insecure_http says so.
func (c *Config) setURL(e *value.Map) error {
	text := value.Str(e.At("url"))
	if e.At("url") == nil || text == "" {
		return errors.New("url is missing: https://HOST:PORT of salt-api")
	}
	u, err := url.Parse(strings.TrimRight(text, "/"))
	switch {
	case err != nil:
		return errors.New("url cannot be read: it is https://HOST:PORT")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return fmt.Errorf("url must be https://HOST:PORT, not %q", u.Redacted())
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("url must have no user, query or fragment; user and password are keys of their own")
	case u.Scheme == "http" && !loopback(u.Hostname()) && !value.Truth(e.At("insecure_http")):
		return errors.New("url is not https: the password and all returns would cross the network in the clear; insecure_http: True allows that")
	}
	c.URL = u
	return nil
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// secrets reads password and token: as they are (which sdb:// URIs have become),
// from the environment, or from a file that nobody else may read.
func (c *Config) secrets(e *value.Map, dir string, getenv func(string) string) error {
	for _, s := range []struct {
		name string
		at   *string
	}{{"password", &c.Password}, {"token", &c.Token}} {
		name, given := s.name, ""
		for _, key := range []string{name, name + "_env", name + "_file"} {
			v := e.At(key)
			if v == nil {
				continue
			}
			if given != "" {
				return fmt.Errorf("%s and %s both say what the %s is; give one of them", given, key, name)
			}
			given = key
			text, err := Secret(key, value.Str(v), name, dir, getenv)
			if err != nil {
				return err
			}
			*s.at = text
		}
	}
	switch {
	case c.Token != "" && c.Password != "":
		return errors.New("password and token are both given; give one of them")
	case c.Token == "" && c.User == "":
		return errors.New("user is missing: the name to log in with by eauth, or give a token")
	case c.Token == "" && c.Password == "" && c.Cert == "":
		return errors.New("password is missing: give password (an sdb:// URI), password_env, password_file, a token, or client_cert and client_key")
	case strings.ContainsAny(c.Token, "\r\n"):
		return errors.New("token must be one line")
	}
	return nil
}

// Secret returns the secret name of an entry whose key is name (v is the secret),
// name_env (v is a variable of the environment) or name_file: a file below dir that
// nobody else may read.
func Secret(key, v, name, dir string, getenv func(string) string) (string, error) {
	switch key {
	case name + "_env":
		text := getenv(v)
		if text == "" {
			return "", fmt.Errorf("%s: the environment variable %s is not set", key, v)
		}
		return text, nil
	case name + "_file":
		path := Absolute(dir, v)
		st, err := os.Stat(path)
		if err != nil {
			return "", fmt.Errorf("%s: %w", key, err)
		}
		if st.Mode().Perm()&0o077 != 0 {
			return "", fmt.Errorf("%s: %s can be read by others (mode %04o); chmod 600 it", key, path, st.Mode().Perm())
		}
		if !st.Mode().IsRegular() || st.Size() > 64<<10 {
			return "", fmt.Errorf("%s: %s is not a small file", key, path)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("%s: %w", key, err)
		}
		return strings.TrimRight(string(b), "\r\n"), nil
	}
	return v, nil
}
