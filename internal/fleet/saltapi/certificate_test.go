package saltapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/saltapi"
	"brine/internal/testkit/saltapitest"
)

// certificate writes a certificate of a client and its key, and returns it.
func certificate(t *testing.T, dir string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "brine"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
	}, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "brine"}}, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"client.crt": {Type: "CERTIFICATE", Bytes: der}, "client.key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// A proxy in front of salt-api that wants a certificate of the client gets it, for
// requests and events; without it, or with another one, nothing passes.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a")
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	dir, other := t.TempDir(), t.TempDir()
	pool := x509.NewCertPool()
	pool.AddCert(certificate(t, dir))
	certificate(t, other)
	forward := httputil.NewSingleHostReverseProxy(to)
	forward.FlushInterval = -1
	forward.ErrorLog = log.New(io.Discard, "", 0)
	front := httptest.NewUnstartedServer(forward)
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	front.StartTLS()
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections)
	sum := sha256.Sum256(front.Certificate().Raw)
	c := conf(t, front.URL)
	c.Fingerprint = hex.EncodeToString(sum[:])
	for name, at := range map[string]string{"without": "", "another": other} {
		if c.Cert, c.Key = "", ""; at != "" {
			c.Cert, c.Key = filepath.Join(at, "client.crt"), filepath.Join(at, "client.key")
		}
		r := with(t, c)
		if _, err := r.try(t.Context(), fun.Job{Tgt: "*", Fun: "test.ping"}); err == nil || !strings.Contains(err.Error(), "client_cert") {
			t.Errorf("%s certificate: %v", name, err)
		}
	}
	if s.Logins() != 0 {
		t.Errorf("%d log-ins without the certificate", s.Logins())
	}
	c.Cert, c.Key = filepath.Join(dir, "client.crt"), filepath.Join(dir, "client.key")
	r := with(t, c)
	if got := r.run(t, fun.Job{Tgt: "*", Fun: "test.echo"}); got != "a=True" || s.Streams() != 1 {
		t.Errorf("with the certificate: %s, %d streams of events", got, s.Streams())
	}
	c.Key = filepath.Join(other, "client.key")
	if _, err := saltapi.New(saltapi.Options{Config: c}); err == nil || !strings.Contains(err.Error(), "client_cert: ") {
		t.Errorf("a key of another certificate: %v", err)
	}
}
