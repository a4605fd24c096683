package beacon

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// notifyDays is how many days before a certificate expires cert_info tells of it.
const notifyDays = 45

// certInfo tells of certificates that expire soon.
// Salt: salt/beacons/cert_info.py. Difference: the data of extensions other than names and
// basic constraints is in hexadecimal digits.
var certInfo = Kind{
	Name: "cert_info", Doc: "certificates that expire soon",
	keys: []key{
		{name: "files", required: true, check: isCertFiles},
		{name: "notify_days", check: (*checking).isInt},
	},
	look: lookCerts,
}

// A certFile is a file of cert_info.
type certFile struct {
	path string
	days int64
}

// certFiles reads the files of cert_info.
func certFiles(v value.Value, days int64) (files []certFile, err error) {
	l, ok := v.(*value.List)
	if !ok {
		return nil, fmt.Errorf("it must be a list, not %s", value.Kind(v))
	}
	for _, x := range l.Items {
		f := certFile{days: days}
		switch x := x.(type) {
		case string:
			f.path = x
		case *value.Map:
			if x.Len() != 1 {
				return nil, fmt.Errorf("%s is not one file with its notify_days", value.Repr(x))
			}
			k, o := x.Entry(0)
			f.path = value.Str(k)
			m, _ := o.(*value.Map)
			if f.days, ok = m.At("notify_days").(int64); !ok || m.Len() != 1 {
				return nil, fmt.Errorf("%s must have notify_days, a whole number, and nothing else", f.path)
			}
		default:
			return nil, fmt.Errorf("%s is not a path", value.Repr(x))
		}
		if !strings.HasPrefix(f.path, "/") {
			return nil, fmt.Errorf("%q is not an absolute path", f.path)
		}
		files = append(files, f)
	}
	return files, nil
}

// isCertFiles checks the files of cert_info.
func isCertFiles(c *checking, at source.Pos, name string, v value.Value) {
	if _, err := certFiles(v, 0); err != nil {
		c.fault(at, "write '- files: [/etc/ssl/a.pem, {/etc/ssl/b.pem: {notify_days: 15}}]'", "%s: %v", name, err)
	}
}

func lookCerts(_ context.Context, l *look) ([]*value.Map, error) {
	days := int64(notifyDays)
	if n, ok := l.option("notify_days").(int64); ok {
		days = n
	}
	files, err := certFiles(l.option("files"), days)
	if err != nil {
		return nil, err
	}
	certs := value.NewList()
	var errs []error
	now := l.env.Host.Now()
	for _, f := range files {
		cert, err := readCert(l.env.Host, f.path)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.path, err))
			continue
		}
		left := int64(cert.NotAfter.Sub(now) / (24 * time.Hour))
		if f.days < 0 || left <= f.days {
			certs.Append(describe(f.path, cert, now))
		}
	}
	if certs.Len() == 0 {
		return nil, errors.Join(errs...)
	}
	return []*value.Map{value.MapOf("certificates", certs)}, errors.Join(errs...)
}

// readCert reads the first certificate of a file.
func readCert(h host.Host, path string) (*x509.Certificate, error) {
	const large = 1 << 20
	st, err := h.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode.IsRegular() || st.Size > large {
		return nil, errors.New("it is not a file of a certificate")
	}
	text, err := h.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("it has no certificate in the format PEM")
		}
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
	}
}

// describe returns what an event has of a certificate.
func describe(path string, cert *x509.Certificate, now time.Time) *value.Map {
	const raw, shown = "20060102150405Z", "2006-01-02 15:04:05Z"
	issuer, issuerDict := nameOf(cert.Issuer)
	subject, subjectDict := nameOf(cert.Subject)
	extensions := value.NewList()
	for _, x := range cert.Extensions {
		name, ok := extensionNames[x.Id.String()]
		if !ok {
			name = x.Id.String()
		}
		extensions.Append(value.MapOf("ext_name", name, "ext_data", extensionText(name, cert, x.Value)))
	}
	return value.MapOf(
		"cert_path", path, "issuer", issuer, "issuer_dict", issuerDict,
		"notAfter_raw", cert.NotAfter.UTC().Format(raw), "notAfter", cert.NotAfter.UTC().Format(shown),
		"notBefore_raw", cert.NotBefore.UTC().Format(raw), "notBefore", cert.NotBefore.UTC().Format(shown),
		"serial_number", cert.SerialNumber, "signature_algorithm", signatureName(cert.SignatureAlgorithm),
		"subject", subject, "subject_dict", subjectDict, "version", int64(cert.Version-1), "extensions", extensions,
		"has_expired", now.After(cert.NotAfter),
	)
}

// attributeNames are the short names of the parts of a name, extensionNames those of
// extensions, as in OpenSSL.
var (
	attributeNames = map[string]string{
		"2.5.4.3": "CN", "2.5.4.5": "serialNumber", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "street", "2.5.4.10": "O", "2.5.4.11": "OU",
		"1.2.840.113549.1.9.1": "emailAddress", "0.9.2342.19200300.100.1.25": "DC", "0.9.2342.19200300.100.1.1": "UID",
	}
	extensionNames = map[string]string{
		"2.5.29.14": "subjectKeyIdentifier", "2.5.29.15": "keyUsage", "2.5.29.17": "subjectAltName", "2.5.29.18": "issuerAltName", "2.5.29.19": "basicConstraints",
		"2.5.29.31": "crlDistributionPoints", "2.5.29.32": "certificatePolicies", "2.5.29.35": "authorityKeyIdentifier", "2.5.29.37": "extendedKeyUsage",
		"1.3.6.1.5.5.7.1.1": "authorityInfoAccess", "1.3.6.1.4.1.11129.2.4.2": "ct_precert_scts",
	}
)

// nameOf returns a name as text and as a mapping.
func nameOf(name pkix.Name) (string, *value.Map) {
	m := value.NewMap(len(name.Names))
	var parts []string
	for _, a := range name.Names {
		k, ok := attributeNames[a.Type.String()]
		if !ok {
			k = a.Type.String()
		}
		v := fmt.Sprint(a.Value)
		parts = append(parts, k+`="`+v+`"`)
		m.Set(k, v)
	}
	return strings.Join(parts, ","), m
}

// extensionText returns the data of an extension.
func extensionText(name string, cert *x509.Certificate, der []byte) string {
	var parts []string
	switch name {
	case "basicConstraints":
		parts = append(parts, "CA:"+strings.ToUpper(fmt.Sprint(cert.IsCA)))
		if cert.MaxPathLen > 0 || cert.MaxPathLenZero {
			parts = append(parts, fmt.Sprintf("pathlen:%d", cert.MaxPathLen))
		}
	case "subjectAltName":
		for _, x := range cert.DNSNames {
			parts = append(parts, "DNS:"+x)
		}
		for _, x := range cert.IPAddresses {
			parts = append(parts, "IP Address:"+x.String())
		}
		for _, x := range cert.EmailAddresses {
			parts = append(parts, "email:"+x)
		}
		for _, x := range cert.URIs {
			parts = append(parts, "URI:"+x.String())
		}
	case "subjectKeyIdentifier":
		var id []byte
		if _, err := asn1.Unmarshal(der, &id); err == nil {
			der = id
		}
	}
	if len(parts) == 0 {
		return strings.ToUpper(hex.EncodeToString(der))
	}
	return strings.Join(parts, ", ")
}

// signatureName returns the name of an algorithm as in OpenSSL.
func signatureName(a x509.SignatureAlgorithm) string {
	text := a.String()
	hash, kind, _ := strings.Cut(text, "-")
	switch {
	case kind == "RSA":
		return strings.ToLower(hash) + "WithRSAEncryption"
	case hash == "ECDSA":
		return "ecdsa-with-" + kind
	}
	return text
}
