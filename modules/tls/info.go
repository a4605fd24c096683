package tls

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"hash"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/x509/pki"
)

// newDigest returns a hash by its name.
func newDigest(name string) (hash.Hash, error) {
	switch strings.ToLower(name) {
	case "md5":
		return md5.New(), nil
	case "sha1":
		return sha1.New(), nil
	case "sha224":
		return sha256.New224(), nil
	case "sha256":
		return sha256.New(), nil
	case "sha384":
		return sha512.New384(), nil
	case "sha512":
		return sha512.New(), nil
	}
	return nil, fun.Errorf("unknown digest %s", name)
}

// Load reads the certificate in a file, or in a text of PEM.
func Load(h host.Host, cert string) (*x509.Certificate, error) {
	data := []byte(cert)
	if !strings.Contains(cert, "-----BEGIN") {
		var err error
		if data, err = h.ReadFile(cert); err != nil {
			return nil, err
		}
	}
	b := pki.Block(data, "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE")
	if b == nil {
		return nil, pki.ErrCertPEM
	}
	c, err := x509.ParseCertificate(b.Bytes)
	if err != nil {
		return nil, pki.ErrCertPEM
	}
	return c, nil
}

type certInfoArgs struct {
	_      fun.Arguments
	Cert   string `arg:"cert,required" doc:"file of a certificate, or PEM text"`
	Digest string `arg:"digest" default:"sha256" doc:"digest: md5, sha1, sha224, sha256, sha384 or sha512"`
}

func certInfo(_ context.Context, c *fun.Call, a *certInfoArgs) (fun.Result, error) {
	cert, err := Load(c.Env.Host, a.Cert)
	if err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
	}
	d, err := newDigest(a.Digest)
	if err != nil {
		return fun.Result{}, err
	}
	d.Write(cert.Raw)
	signed, err := pki.ParseSigned(cert.Raw)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	names := func(der []byte) *value.Map {
		out := value.NewMap(6)
		if n, err := pki.ParseName(der); err == nil {
			for _, kv := range n.Parts() {
				out.Set(kv[0], kv[1])
			}
		}
		return out
	}
	var serial value.Value = cert.SerialNumber
	if cert.SerialNumber.IsInt64() {
		serial = cert.SerialNumber.Int64()
	}
	exts := value.NewMap(len(cert.Extensions))
	for _, e := range pki.Extensions(cert) {
		name, text := e.Text()
		exts.Set(name, strings.TrimSpace(text))
	}
	out := value.MapOf("fingerprint", pki.PrettyHex(d.Sum(nil)), "subject", names(cert.RawSubject), "issuer", names(cert.RawIssuer), "serial_number", serial,
		"not_before", cert.NotBefore.Unix(), "not_after", cert.NotAfter.Unix(), "extensions", exts)
	if san, ok := exts.At("subjectAltName").(string); ok {
		alt := value.NewList()
		for part := range strings.SplitSeq(san, ", ") {
			for _, kind := range []string{"DNS:", "IP Address:"} {
				if name, ok := strings.CutPrefix(part, kind); ok {
					alt.Append(name)
				}
			}
		}
		out.Set("subject_alt_names", alt)
	}
	out.Set("signature_algorithm", signed.AlgorithmName())
	return fun.Value(out)
}
