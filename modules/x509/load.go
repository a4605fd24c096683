package x509

import (
	"crypto"
	"crypto/x509"
	"errors"
	"math/big"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/x509/pki"
)

// invalid is Salt's SaltInvocationError.
func invalid(err error) error {
	if err == nil {
		return nil
	}
	if ie := (*fun.InvocationError)(nil); errors.As(err, &ie) {
		return err
	}
	if ce := (*fun.CommandError)(nil); errors.As(err, &ce) {
		return err
	}
	return &fun.InvocationError{Msg: err.Error()}
}

func invalidf(text string) error { return &fun.InvocationError{Msg: text} }

// IsFile reports whether a value is the path of a file.
func IsFile(h host.Host, v value.Value) bool {
	path, ok := v.(string)
	if !ok || path == "" || path[0] != '/' || len(path) > 4096 {
		return false
	}
	st, err := h.Stat(path)
	return err == nil && st.Mode.IsRegular()
}

// Source returns the bytes that a value stands for: the content of a file, PEM,
// hexadecimal digits, base64 or bytes.
func Source(h host.Host, v value.Value) ([]byte, error) {
	switch x := v.(type) {
	case value.Bytes:
		return []byte(x), nil
	case string:
		if IsFile(h, x) {
			b, err := h.ReadFile(x)
			if err != nil {
				return nil, fun.Errorf("%s", host.OSError(err))
			}
			return b, nil
		}
		if b, ok := pki.FromText(x); ok {
			return b, nil
		}
	}
	return nil, invalidf("Could not load provided source. You need to pass an existing file, (PEM|hex|base64)-encoded string or raw bytes.")
}

// Pass returns a passphrase; nil where the value is None.
func Pass(v value.Value) *string {
	if v == nil {
		return nil
	}
	s := value.Str(v)
	if b, ok := v.(value.Bytes); ok {
		s = string(b)
	}
	return &s
}

// LoadKey reads a private key.
func LoadKey(h host.Host, v value.Value, pass *string) (*pki.Key, error) {
	data, err := Source(h, v)
	if err != nil {
		return nil, err
	}
	k, _, err := pki.LoadKey(data, pass)
	return k, invalid(err)
}

// LoadCert reads a certificate.
func LoadCert(h host.Host, v value.Value, pass *string) (*x509.Certificate, error) {
	data, err := Source(h, v)
	if err != nil {
		return nil, err
	}
	l, err := pki.LoadCert(data, pass)
	if err != nil {
		return nil, invalid(err)
	}
	return l.Cert, nil
}

func loadCSR(h host.Host, v value.Value) (*x509.CertificateRequest, error) {
	data, err := Source(h, v)
	if err != nil {
		return nil, err
	}
	r, _, err := pki.LoadCSR(data)
	return r, invalid(err)
}

func loadCRL(h host.Host, v value.Value) (*pki.CRL, error) {
	data, err := Source(h, v)
	if err != nil {
		return nil, err
	}
	r, _, err := pki.LoadCRL(data)
	return r, invalid(err)
}

func loadPublic(h host.Host, v value.Value) (crypto.PublicKey, error) {
	data, err := Source(h, v)
	if err != nil {
		return nil, err
	}
	pub, err := pki.LoadPublic(data)
	return pub, invalid(err)
}

// PublicOf returns the public key of a public key, certificate, private key or
// request.
func PublicOf(h host.Host, v value.Value, pass *string) (crypto.PublicKey, error) {
	if pub, err := loadPublic(h, v); err == nil {
		return pub, nil
	}
	if c, err := LoadCert(h, v, pass); err == nil {
		if pki.KeyType(c.PublicKey) == "" {
			return nil, invalidf("Did not recognize key type")
		}
		return c.PublicKey, nil
	}
	if k, err := LoadKey(h, v, pass); err == nil {
		return k.Public(), nil
	}
	if r, err := loadCSR(h, v); err == nil {
		return r.PublicKey, nil
	}
	return nil, fun.Errorf("Could not load key as certificate, public key, private key, CSR or CRL")
}

// publicPEM returns a public key in PEM.
func publicPEM(pub crypto.PublicKey) (string, error) {
	der, err := pki.MarshalPublic(pub)
	if err != nil {
		return "", invalid(err)
	}
	return pki.EncodePEM("PUBLIC KEY", der), nil
}

// CAInfo returns what extensions take of the certificate of an issuer.
func CAInfo(c *x509.Certificate) *pki.CAInfo {
	if c == nil {
		return nil
	}
	return &pki.CAInfo{Issuer: c.RawIssuer, Serial: pki.Integer(c.SerialNumber), PublicKey: c.RawSubjectPublicKeyInfo, Exts: pki.Extensions(c)}
}

// serialOf reads a serial number: a number, or hexadecimal digits with colons; a
// random one for None.
func serialOf(v value.Value) (*big.Int, error) {
	switch x := v.(type) {
	case nil:
		return pki.RandomSerial(159), nil
	case *big.Int:
		return x, nil
	case value.Bytes:
		return new(big.Int).SetBytes([]byte(x)), nil
	case string:
		n, err := pki.ParseSerial(x)
		if err != nil {
			return nil, fun.Errorf("%v", err)
		}
		return n, nil
	}
	n, ok := value.AsInt(v)
	if !ok || n < 0 {
		return nil, fun.Errorf("Could not parse serial number %s", value.Str(v))
	}
	return big.NewInt(n), nil
}

// timeOf reads a time in Salt's format.
func timeOf(v value.Value) (time.Time, error) {
	t, err := time.Parse(pki.TimeFormat, value.Str(v))
	if err != nil {
		return t, invalidf("time data '" + value.Str(v) + "' does not match format '%Y-%m-%d %H:%M:%S'")
	}
	return t, nil
}

// after returns now and some days.
func after(now time.Time, days value.Value) (time.Time, error) {
	f, err := value.ToFloat(days)
	if err != nil || f < -1e6 || f > 1e6 {
		return now, invalidf("days must be a number of days, not " + value.Str(days))
	}
	return now.Add(time.Duration(f * float64(24*time.Hour))), nil
}
