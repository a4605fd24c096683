package servertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A CA signs the certificates of servers and clients of a test.
type CA struct {
	File string // its own certificate

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewCA returns a CA whose certificate is below the test's directory.
func NewCA(t testing.TB) *CA {
	t.Helper()
	ca := &CA{File: filepath.Join(t.TempDir(), "ca.pem")}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "brine test CA"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	ca.key = newKey(t)
	der := sign(t, tmpl, tmpl, ca.key, ca.key)
	var err error
	if ca.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	writePEM(t, ca.File, "CERTIFICATE", der, nil)
	return ca
}

// Issue writes a certificate for names and addresses, and its key, into dir.
func (ca *CA) Issue(t testing.TB, dir, as string, names ...string) (cert, key string) {
	t.Helper()
	return ca.issue(t, dir, nil, as, names, time.Now().Add(time.Hour))
}

// IssueExpired is [CA.Issue] of a certificate that has expired.
func (ca *CA) IssueExpired(t testing.TB, dir, as string, names ...string) (cert, key string) {
	t.Helper()
	return ca.issue(t, dir, nil, as, names, time.Now().Add(-time.Minute))
}

func (ca *CA) issue(t testing.TB, dir string, owner *syscall.Credential, as string, names []string, until time.Time) (cert, key string) {
	t.Helper()
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: as}, NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			tmpl.IPAddresses = append(tmpl.IPAddresses, ip)
		} else {
			tmpl.DNSNames = append(tmpl.DNSNames, n)
		}
	}
	k := newKey(t)
	cert, key = filepath.Join(dir, as+".pem"), filepath.Join(dir, as+".key")
	writePEM(t, cert, "CERTIFICATE", sign(t, tmpl, ca.cert, k, ca.key), owner)
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, key, "PRIVATE KEY", der, owner)
	return cert, key
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sign(t testing.TB, tmpl, parent *x509.Certificate, of, by *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, &of.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func writePEM(t testing.TB, path, kind string, der []byte, owner *syscall.Credential) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	if owner != nil {
		if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

// tlsFiles puts what a server of TLS reads into its directory: a certificate
// for localhost, not for its address.
func (ca *CA) tlsFiles(t testing.TB, dir string, owner *syscall.Credential) (own, cert, key string) {
	t.Helper()
	cert, key = ca.issue(t, dir, owner, "server", []string{"localhost"}, time.Now().Add(time.Hour))
	own = filepath.Join(dir, "ca.pem")
	writePEM(t, own, "CERTIFICATE", ca.cert.Raw, owner)
	return own, cert, key
}
