// Package pki makes and reads certificates, requests, revocation lists and keys
// as Salt's x509 and tls modules do. It expresses what crypto/x509 cannot: any
// extension in Salt's textual forms, names in a given order, all digests, PKCS #7
// and PKCS #12.
//
// It does not touch the machine. Its input may be hostile: every parser returns
// an error on malformed data.
package pki

import (
	"crypto/sha1"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// TimeFormat is how Salt writes times: "%Y-%m-%d %H:%M:%S", in UTC.
const TimeFormat = "2006-01-02 15:04:05"

// An Extension is an extension of a certificate, request or revocation list.
type Extension struct {
	ID       asn1.ObjectIdentifier
	Critical bool
	Value    []byte
}

// PrettyHex writes bytes as "DE:AD:BE:EF".
func PrettyHex(b []byte) string {
	s := strings.ToUpper(hex.EncodeToString(b))
	var out strings.Builder
	for i := 0; i+2 <= len(s); i += 2 {
		if i > 0 {
			out.WriteByte(':')
		}
		out.WriteString(s[i : i+2])
	}
	return out.String()
}

// PrettySerial writes a serial number as PrettyHex.
func PrettySerial(n *big.Int) string {
	b := n.Bytes()
	if len(b) == 0 {
		b = []byte{0}
	}
	if n.Sign() < 0 {
		return "-" + PrettyHex(b)
	}
	return PrettyHex(b)
}

// ParseSerial reads a serial number in hexadecimal digits, with or without colons.
func ParseSerial(s string) (*big.Int, error) {
	digits := strings.ReplaceAll(s, ":", "")
	if len(digits) == 0 || len(digits) > 128 {
		return nil, fmt.Errorf("Could not parse serial number %s", s)
	}
	for _, c := range digits {
		if !strings.ContainsRune("0123456789abcdefABCDEF", c) {
			return nil, fmt.Errorf("Could not parse serial number %s", s)
		}
	}
	n, ok := new(big.Int).SetString(digits, 16)
	if !ok {
		return nil, fmt.Errorf("Could not parse serial number %s", s)
	}
	return n, nil
}

// A Template is a certificate that is to be signed.
type Template struct {
	Version   int // 1 or 3
	Serial    *big.Int
	Subject   []byte // DER
	Issuer    []byte // DER
	NotBefore time.Time
	NotAfter  time.Time
	PublicKey []byte // SubjectPublicKeyInfo
	Exts      []Extension
}

// Sign returns the certificate in DER.
func (t *Template) Sign(key *Key, digest string) ([]byte, error) {
	alg, err := key.algorithm(digest)
	if err != nil {
		return nil, err
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		if t.Version > 1 {
			b.AddASN1(cbasn1.Tag(0).ContextSpecific().Constructed(), func(b *cryptobyte.Builder) { b.AddASN1Int64(int64(t.Version - 1)) })
		}
		b.AddASN1BigInt(t.Serial)
		b.AddBytes(alg.der)
		b.AddBytes(t.Issuer)
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			addTime(b, t.NotBefore)
			addTime(b, t.NotAfter)
		})
		b.AddBytes(t.Subject)
		b.AddBytes(t.PublicKey)
		if len(t.Exts) > 0 && t.Version > 2 {
			b.AddASN1(cbasn1.Tag(3).ContextSpecific().Constructed(), func(b *cryptobyte.Builder) { addExtensions(b, t.Exts) })
		}
	})
	tbs, err := b.Bytes()
	if err != nil {
		return nil, err
	}
	return key.signed(tbs, alg)
}

// A Request is a certificate signing request that is to be signed.
type Request struct {
	Version int // the number in the field: 0 is version 1
	Subject []byte
	Exts    []Extension
}

// Sign returns the request in DER; its public key is that of pub, or of key
// where that is nil.
func (r *Request) Sign(key *Key, pub []byte, digest string) ([]byte, error) {
	alg, err := key.algorithm(digest)
	if err != nil {
		return nil, err
	}
	if pub == nil {
		if pub, err = MarshalPublic(key.Public()); err != nil {
			return nil, err
		}
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Int64(int64(r.Version))
		b.AddBytes(r.Subject)
		b.AddBytes(pub)
		b.AddASN1(cbasn1.Tag(0).ContextSpecific().Constructed(), func(b *cryptobyte.Builder) {
			if len(r.Exts) == 0 {
				return
			}
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(oidExtensionRequest)
				b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) { addExtensions(b, r.Exts) })
			})
		})
	})
	tbs, err := b.Bytes()
	if err != nil {
		return nil, err
	}
	return key.signed(tbs, alg)
}

func addExtensions(b *cryptobyte.Builder, exts []Extension) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for _, e := range exts {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(e.ID)
				if e.Critical {
					b.AddASN1Boolean(true)
				}
				b.AddASN1OctetString(e.Value)
			})
		}
	})
}

// addTime writes a time as RFC 5280 wants it: UTCTime until 2049.
func addTime(b *cryptobyte.Builder, t time.Time) {
	t = t.UTC()
	if y := t.Year(); y >= 1950 && y < 2050 {
		b.AddASN1UTCTime(t)
		return
	}
	b.AddASN1GeneralizedTime(t)
}

func readTime(s *cryptobyte.String, out *time.Time) bool {
	if s.PeekASN1Tag(cbasn1.UTCTime) {
		return s.ReadASN1UTCTime(out)
	}
	return s.ReadASN1GeneralizedTime(out)
}

// readExtensions reads a SEQUENCE OF Extension.
func readExtensions(s *cryptobyte.String) ([]Extension, bool) {
	var list cryptobyte.String
	if !s.ReadASN1(&list, cbasn1.SEQUENCE) {
		return nil, false
	}
	var out []Extension
	for !list.Empty() {
		var e Extension
		var one, val cryptobyte.String
		if !list.ReadASN1(&one, cbasn1.SEQUENCE) || !one.ReadASN1ObjectIdentifier(&e.ID) {
			return nil, false
		}
		if one.PeekASN1Tag(cbasn1.BOOLEAN) && !one.ReadASN1Boolean(&e.Critical) {
			return nil, false
		}
		if !one.ReadASN1(&val, cbasn1.OCTET_STRING) || !one.Empty() {
			return nil, false
		}
		e.Value = []byte(val)
		out = append(out, e)
	}
	return out, true
}

// Extensions returns the extensions of a parsed certificate.
func Extensions(c *x509.Certificate) []Extension {
	out := make([]Extension, len(c.Extensions))
	for i, e := range c.Extensions {
		out[i] = Extension{e.Id, e.Critical, e.Value}
	}
	return out
}

// RequestExtensions returns the extensions that a request asks for.
func RequestExtensions(r *x509.CertificateRequest) []Extension {
	out := make([]Extension, len(r.Extensions))
	for i, e := range r.Extensions {
		out[i] = Extension{e.Id, e.Critical, e.Value}
	}
	return out
}

// Find returns the extension with an object identifier.
func Find(exts []Extension, id asn1.ObjectIdentifier) (Extension, bool) {
	for _, e := range exts {
		if e.ID.Equal(id) {
			return e, true
		}
	}
	return Extension{}, false
}

// KeyID returns the identifier of a public key by RFC 5280: the SHA-1 of its bits.
func KeyID(spki []byte) ([]byte, error) {
	s := cryptobyte.String(spki)
	var seq cryptobyte.String
	var bits []byte
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) || !seq.SkipASN1(cbasn1.SEQUENCE) || !seq.ReadASN1BitStringAsBytes(&bits) {
		return nil, fmt.Errorf("malformed public key")
	}
	sum := sha1.Sum(bits)
	return sum[:], nil
}

// Integer returns a number as INTEGER.
func Integer(n *big.Int) []byte {
	var b cryptobyte.Builder
	b.AddASN1BigInt(n)
	der, err := b.Bytes()
	if err != nil {
		return nil
	}
	return der
}

// RandomSerial returns a random number above 0 of at most some bits.
func RandomSerial(bits int) *big.Int {
	b := randomBytes((bits + 7) / 8)
	n := new(big.Int).SetBytes(b)
	n.Rsh(n, uint(len(b)*8-bits))
	if n.Sign() == 0 {
		n.SetInt64(1)
	}
	return n
}
