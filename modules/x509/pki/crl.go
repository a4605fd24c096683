package pki

import (
	"encoding/hex"
	"errors"
	"math/big"
	"strings"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// A Revoked is an entry of a revocation list.
type Revoked struct {
	Serial *big.Int
	Date   time.Time
	Exts   []Extension
}

// A CRL is a revocation list, to be signed or read.
type CRL struct {
	Raw        []byte // of one that was read
	Version    int    // 1 or 2
	Issuer     []byte // DER
	LastUpdate time.Time
	NextUpdate time.Time // zero: none
	Revoked    []Revoked
	Exts       []Extension
	Signed     *Signed
}

// Sign returns the list in DER. It has version 2 where it has extensions.
func (c *CRL) Sign(key *Key, digest string) ([]byte, error) {
	alg, err := key.algorithm(digest)
	if err != nil {
		return nil, err
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		if c.Version > 1 {
			b.AddASN1Int64(int64(c.Version - 1))
		}
		b.AddBytes(alg.der)
		b.AddBytes(c.Issuer)
		addTime(b, c.LastUpdate)
		addTime(b, c.NextUpdate)
		if len(c.Revoked) > 0 {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				for _, r := range c.Revoked {
					addRevoked(b, r)
				}
			})
		}
		if len(c.Exts) > 0 {
			b.AddASN1(cbasn1.Tag(0).ContextSpecific().Constructed(), func(b *cryptobyte.Builder) { addExtensions(b, c.Exts) })
		}
	})
	tbs, err := b.Bytes()
	if err != nil {
		return nil, err
	}
	return key.signed(tbs, alg)
}

func addRevoked(b *cryptobyte.Builder, r Revoked) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1BigInt(r.Serial)
		addTime(b, r.Date)
		if len(r.Exts) > 0 {
			addExtensions(b, r.Exts)
		}
	})
}

var errCRL = errors.New("malformed certificate revocation list")

// ParseCRL reads a revocation list.
func ParseCRL(der []byte) (*CRL, error) {
	signed, err := ParseSigned(der)
	if err != nil {
		return nil, err
	}
	out := &CRL{Raw: der, Version: 1, Signed: signed}
	whole := cryptobyte.String(signed.TBS)
	var tbs, issuer cryptobyte.String
	if !whole.ReadASN1(&tbs, cbasn1.SEQUENCE) {
		return nil, errCRL
	}
	if tbs.PeekASN1Tag(cbasn1.INTEGER) {
		var v int
		if !tbs.ReadASN1Integer(&v) || v < 0 || v > 1 {
			return nil, errCRL
		}
		out.Version = v + 1
	}
	if !tbs.SkipASN1(cbasn1.SEQUENCE) || !tbs.ReadASN1Element(&issuer, cbasn1.SEQUENCE) || !readTime(&tbs, &out.LastUpdate) {
		return nil, errCRL
	}
	out.Issuer = []byte(issuer)
	if tbs.PeekASN1Tag(cbasn1.UTCTime) || tbs.PeekASN1Tag(cbasn1.GeneralizedTime) {
		if !readTime(&tbs, &out.NextUpdate) {
			return nil, errCRL
		}
	}
	if tbs.PeekASN1Tag(cbasn1.SEQUENCE) {
		var list cryptobyte.String
		if !tbs.ReadASN1(&list, cbasn1.SEQUENCE) {
			return nil, errCRL
		}
		for !list.Empty() {
			r, err := readRevoked(&list)
			if err != nil {
				return nil, err
			}
			out.Revoked = append(out.Revoked, r)
		}
	}
	tag := cbasn1.Tag(0).ContextSpecific().Constructed()
	if tbs.PeekASN1Tag(tag) {
		var exts cryptobyte.String
		var ok bool
		if !tbs.ReadASN1(&exts, tag) {
			return nil, errCRL
		}
		if out.Exts, ok = readExtensions(&exts); !ok {
			return nil, errCRL
		}
	}
	if !tbs.Empty() {
		return nil, errCRL
	}
	if _, err := ParseName(out.Issuer); err != nil {
		return nil, err
	}
	return out, nil
}

func readRevoked(list *cryptobyte.String) (Revoked, error) {
	var one cryptobyte.String
	r := Revoked{Serial: new(big.Int)}
	if !list.ReadASN1(&one, cbasn1.SEQUENCE) || !one.ReadASN1Integer(r.Serial) || !readTime(&one, &r.Date) {
		return r, errCRL
	}
	if one.Empty() {
		return r, nil
	}
	var ok bool
	if r.Exts, ok = readExtensions(&one); !ok || !one.Empty() {
		return r, errCRL
	}
	return r, nil
}

// hexBytes decodes hexadecimal digits; blanks between bytes are allowed.
func hexBytes(s string) ([]byte, error) {
	return hex.DecodeString(strings.Join(strings.Fields(s), ""))
}
