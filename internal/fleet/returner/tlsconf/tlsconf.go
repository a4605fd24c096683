// Package tlsconf makes TLS settings of the settings of returners.
package tlsconf

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
)

// Files are the files of a client of TLS; "" is none.
type Files struct {
	CA        string // certificates that are trusted, in place of the machine's
	Cert, Key string // the client's own; a Cert without Key has both in it
}

// Given reports whether a file is named.
func (f Files) Given() bool { return f != Files{} }

// Config reads the files. server is the name that the server's certificate must
// have; "" leaves that to who dials.
func (f Files) Config(server string) (*tls.Config, error) {
	c := &tls.Config{ServerName: server, MinVersion: tls.VersionTLS12}
	if f.CA != "" {
		pem, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate", f.CA)
		}
	}
	if f.Cert == "" && f.Key != "" {
		return nil, fmt.Errorf("there is a key (%s) and no certificate of it", f.Key)
	}
	if f.Cert != "" {
		key := f.Key
		if key == "" {
			key = f.Cert
		}
		pair, err := tls.LoadX509KeyPair(f.Cert, key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Local reports whether a host is this machine: a socket, a loopback address or
// the name of one.
func Local(host string) bool {
	if host == "" || strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") {
		return true
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}

// Untrusted reports whether err is that a server's certificate was not accepted.
func Untrusted(err error) bool {
	var v *tls.CertificateVerificationError
	var h x509.HostnameError
	var u x509.UnknownAuthorityError
	return errors.As(err, &v) || errors.As(err, &h) || errors.As(err, &u)
}
