//go:build !slim

package ldap3

import (
	"crypto/tls"
	"crypto/x509"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/ldap"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

var (
	specKeys = []string{"backend", "bind", "opts", "tls", "url"}
	bindKeys = []string{"credentials", "dn", "mechanism", "method", "password"}
	// Those of Salt that have no effect here are among the known, to be refused by name.
	tlsKeys = []string{"cacertdir", "cacertfile", "certfile", "keyfile", "newctx", "protocol_min", "require_cert", "starttls"}
)

// part returns a mapping of a connect_spec whose keys are all known.
func part(spec value.Value, name string, known []string) (*value.Map, error) {
	m, ok := spec.(*value.Map)
	if !ok {
		if spec != nil {
			return nil, fun.Errorf("%s must be a mapping, not %s", name, value.Kind(spec))
		}
		return value.NewMap(0), nil
	}
	for _, k := range m.Keys() {
		if key := value.Str(k); !slices.Contains(known, key) {
			return nil, fun.Errorf("%s: %q is not supported%s", name, key, source.DidYouMean(key, known))
		}
	}
	return m, nil
}

// serverOf reads a connect_spec. What it has and brine cannot do is an error.
func serverOf(env *fun.Env, spec *value.Map) (s ldap.Server, err error) {
	if spec == nil {
		spec = value.NewMap(0)
	}
	m, err := part(spec, "connect_spec", specKeys)
	if err != nil {
		return s, err
	}
	if b := m.At("backend"); b != nil && b != "ldap" {
		return s, fun.Errorf("connect_spec: unsupported backend %s; there is ldap", value.Repr(b))
	}
	if s.URL = "ldapi:///"; m.At("url") != nil {
		s.URL = value.Str(m.At("url"))
	}
	if err := bindOf(m.At("bind"), &s); err != nil {
		return s, err
	}
	if err := tlsOf(env, m.At("tls"), &s); err != nil {
		return s, err
	}
	opts, err := part(m.At("opts"), "connect_spec:opts", []string{"network_timeout", "referrals", "timeout"})
	if err != nil {
		return s, err
	}
	if value.Truth(opts.At("referrals")) {
		return s, fun.Errorf("connect_spec:opts: referrals are not followed: the password is for this server alone")
	}
	for _, name := range []string{"network_timeout", "timeout"} {
		if v := opts.At(name); v != nil {
			n, err := strconv.ParseFloat(value.Str(v), 64)
			if err != nil || !(n > 0 && n <= 600) {
				return s, fun.Errorf("connect_spec:opts: %s must be seconds, up to 600, not %s", name, value.Repr(v))
			}
			s.Wait = max(s.Wait, time.Duration(n*float64(time.Second)))
		}
	}
	return s, nil
}

// bindOf reads how to log in.
func bindOf(v value.Value, s *ldap.Server) error {
	m, err := part(v, "connect_spec:bind", bindKeys)
	if err != nil || m.Len() == 0 {
		return err
	}
	method := value.Value("simple")
	if x, ok := m.Get("method"); ok {
		method = x
	}
	text := func(key string) string {
		if m.At(key) == nil {
			return ""
		}
		return value.Str(m.At(key))
	}
	switch method {
	case nil:
	case "simple":
		s.DN, s.Password = text("dn"), text("password")
	case "sasl":
		if how := m.At("mechanism"); how != nil && !strings.EqualFold(value.Str(how), "EXTERNAL") {
			return fun.Errorf("connect_spec:bind: the mechanism %s is not supported; there is EXTERNAL", value.Repr(how))
		}
		if value.Truth(m.At("credentials")) || text("dn") != "" {
			return fun.Errorf("connect_spec:bind: with EXTERNAL, credentials and dn are not supported: the user of the socket or the certificate counts")
		}
		s.External = true
	default:
		return fun.Errorf("unsupported bind method %s; supported bind methods: simple sasl", value.Repr(method))
	}
	return nil
}

// tlsOf reads the settings of TLS.
func tlsOf(env *fun.Env, v value.Value, s *ldap.Server) error {
	m, err := part(v, "connect_spec:tls", tlsKeys)
	if err != nil {
		return err
	}
	s.StartTLS = m.Has("starttls")
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	read := func(file string) ([]byte, error) {
		b, err := env.Host.ReadFile(file)
		if err != nil {
			return nil, fun.Errorf("connect_spec:tls: %s", host.OSError(err))
		}
		return b, nil
	}
	if m.Has("cacertfile") || m.Has("cacertdir") {
		if s.TLS.RootCAs, err = rootsOf(env, m, read); err != nil {
			return err
		}
	}
	cert, key := m.Str("certfile"), m.Str("keyfile")
	if (cert == "") != (key == "") {
		return fun.Errorf("connect_spec:tls: certfile and keyfile belong together")
	}
	if cert != "" {
		c, err := read(cert)
		if err != nil {
			return err
		}
		k, err := read(key)
		if err != nil {
			return err
		}
		pair, err := tls.X509KeyPair(c, k)
		if err != nil {
			return fun.Errorf("connect_spec:tls: certfile and keyfile: %v", err)
		}
		s.TLS.Certificates = []tls.Certificate{pair}
	}
	switch how := m.At("require_cert"); how {
	case nil, "demand", "hard", "try":
	case "never":
		s.TLS.InsecureSkipVerify = true
	default:
		return fun.Errorf("connect_spec:tls: require_cert %s is not supported; there are demand, hard, try and never", value.Repr(how))
	}
	if v := m.At("protocol_min"); v != nil {
		n, ok := value.AsInt(v)
		if !ok || n < tls.VersionTLS10 || n > tls.VersionTLS13 {
			return fun.Errorf("connect_spec:tls: protocol_min must be 769 (TLS 1.0) to 772 (TLS 1.3), not %s", value.Repr(v))
		}
		s.TLS.MinVersion = uint16(n)
	}
	return nil
}

// rootsOf returns the certificates of cacertfile and cacertdir.
func rootsOf(env *fun.Env, m *value.Map, read func(string) ([]byte, error)) (*x509.CertPool, error) {
	var files []string
	if f := m.Str("cacertfile"); f != "" {
		files = append(files, f)
	}
	if dir := m.Str("cacertdir"); dir != "" {
		names, err := env.Host.ReadDir(dir)
		if err != nil {
			return nil, fun.Errorf("connect_spec:tls: %s", host.OSError(err))
		}
		for _, name := range names {
			files = append(files, path.Join(dir, name))
		}
	}
	roots, found := x509.NewCertPool(), false
	for _, f := range files {
		b, err := read(f)
		if err != nil && f == m.Str("cacertfile") { // a directory has others than files, too
			return nil, err
		}
		found = roots.AppendCertsFromPEM(b) || found
	}
	if !found {
		return nil, fun.Errorf("connect_spec:tls: cacertfile and cacertdir have no certificate")
	}
	return roots, nil
}
