package pki

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"hash"
	"unicode/utf16"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

var (
	oidData          = oid{1, 2, 840, 113549, 1, 7, 1}
	oidSignedData    = oid{1, 2, 840, 113549, 1, 7, 2}
	oidEncryptedData = oid{1, 2, 840, 113549, 1, 7, 6}
	oidKeyBag        = oid{1, 2, 840, 113549, 1, 12, 10, 1, 1}
	oidShroudedBag   = oid{1, 2, 840, 113549, 1, 12, 10, 1, 2}
	oidCertBag       = oid{1, 2, 840, 113549, 1, 12, 10, 1, 3}
	oidX509Cert      = oid{1, 2, 840, 113549, 1, 9, 22, 1}
	oidFriendlyName  = oid{1, 2, 840, 113549, 1, 9, 20}
	oidLocalKeyID    = oid{1, 2, 840, 113549, 1, 9, 21}
	oidSHA1          = oid{1, 3, 14, 3, 2, 26}
	oidSHA256        = oid{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidSHA384        = oid{2, 16, 840, 1, 101, 3, 4, 2, 2}
	oidSHA512        = oid{2, 16, 840, 1, 101, 3, 4, 2, 3}

	errPFX   = errors.New("not a PKCS #12 archive that can be read")
	errPKCS7 = errors.New("not PKCS #7 with certificates")

	explicit0 = cbasn1.Tag(0).ContextSpecific().Constructed()
)

// PKCS7 returns certificates as PKCS #7 in DER.
func PKCS7(certs []*x509.Certificate) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidSignedData)
		b.AddASN1(explicit0, func(b *cryptobyte.Builder) {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1Int64(1)
				b.AddASN1(cbasn1.SET, func(*cryptobyte.Builder) {})
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(oidData) })
				b.AddASN1(explicit0, func(b *cryptobyte.Builder) {
					for _, c := range certs {
						b.AddBytes(c.Raw)
					}
				})
				b.AddASN1(cbasn1.SET, func(*cryptobyte.Builder) {})
			})
		})
	})
	return b.Bytes()
}

// ParsePKCS7 returns the certificates of PKCS #7 in DER.
func ParsePKCS7(der []byte) ([]*x509.Certificate, error) {
	s := cryptobyte.String(der)
	var info, content, signed, list cryptobyte.String
	var id asn1.ObjectIdentifier
	var has bool
	if !s.ReadASN1(&info, cbasn1.SEQUENCE) || !info.ReadASN1ObjectIdentifier(&id) || !id.Equal(oidSignedData) ||
		!info.ReadASN1(&content, explicit0) || !content.ReadASN1(&signed, cbasn1.SEQUENCE) || !signed.SkipASN1(cbasn1.INTEGER) ||
		!signed.SkipASN1(cbasn1.SET) || !signed.SkipASN1(cbasn1.SEQUENCE) || !signed.ReadOptionalASN1(&list, &has, explicit0) || !has {
		return nil, errPKCS7
	}
	certs, err := x509.ParseCertificates(list)
	if err != nil {
		return nil, errPKCS7
	}
	return certs, nil
}

// A PKCS12 is an archive of a key and certificates.
type PKCS12 struct {
	Key          *Key
	Cert         *x509.Certificate // the certificate of the key, else the first
	Chain        []*x509.Certificate
	FriendlyName string
}

// Encode returns the archive. Without a passphrase nothing in it is encrypted; compat
// is for programs that know only triple DES and SHA-1.
func (p *PKCS12) Encode(pass *string, compat bool) ([]byte, error) {
	var keyID []byte
	if p.Cert != nil {
		sum := sha1.Sum(p.Cert.Raw)
		keyID = sum[:]
	}
	var safes []cryptobyte.BuilderContinuation
	if p.Cert != nil || len(p.Chain) > 0 {
		certs, err := p.certBags(keyID)
		if err != nil {
			return nil, err
		}
		safe, err := safeOf(certs, pass, compat)
		if err != nil {
			return nil, err
		}
		safes = append(safes, safe)
	}
	if p.Key != nil {
		bag, err := p.keyBag(keyID, pass, compat)
		if err != nil {
			return nil, err
		}
		safe, err := safeOf(bag, nil, compat)
		if err != nil {
			return nil, err
		}
		safes = append(safes, safe)
	}
	var auth cryptobyte.Builder
	auth.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for _, s := range safes {
			s(b)
		}
	})
	content, err := auth.Bytes()
	if err != nil {
		return nil, err
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Int64(3)
		addData(b, content)
		if pass != nil {
			addMAC(b, content, *pass, compat)
		}
	})
	return b.Bytes()
}

func addData(b *cryptobyte.Builder, content []byte) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidData)
		b.AddASN1(explicit0, func(b *cryptobyte.Builder) { b.AddASN1OctetString(content) })
	})
}

func addMAC(b *cryptobyte.Builder, content []byte, pass string, compat bool) {
	id, newHash, n := oidSHA256, sha256.New, rounds
	if compat {
		id, newHash, n = oidSHA1, sha1.New, compatRounds
	}
	salt := randomBytes(8)
	m := hmac.New(newHash, pkcs12KDFWith(newHash, 64, salt, pass, n, 3, newHash().Size()))
	m.Write(content)
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(id)
				b.AddASN1NULL()
			})
			b.AddASN1OctetString(m.Sum(nil))
		})
		b.AddASN1OctetString(salt)
		b.AddASN1Int64(int64(n))
	})
}

// safeOf returns the ContentInfo of bags, encrypted where there is a passphrase.
func safeOf(bags []byte, pass *string, compat bool) (cryptobyte.BuilderContinuation, error) {
	if pass == nil {
		return func(b *cryptobyte.Builder) { addData(b, bags) }, nil
	}
	alg, enc, err := encryptPBE(bags, *pass, compat)
	if err != nil {
		return nil, err
	}
	return func(b *cryptobyte.Builder) {
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(oidEncryptedData)
			b.AddASN1(explicit0, func(b *cryptobyte.Builder) {
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1Int64(0)
					b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
						b.AddASN1ObjectIdentifier(oidData)
						b.AddBytes(alg)
						b.AddASN1(cbasn1.Tag(0).ContextSpecific(), func(b *cryptobyte.Builder) { b.AddBytes(enc) })
					})
				})
			})
		})
	}, nil
}

func (p *PKCS12) certBags(keyID []byte) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		if p.Cert != nil {
			addCertBag(b, p.Cert, p.FriendlyName, keyID)
		}
		for _, c := range p.Chain {
			addCertBag(b, c, "", nil)
		}
	})
	return b.Bytes()
}

func addCertBag(b *cryptobyte.Builder, c *x509.Certificate, name string, keyID []byte) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidCertBag)
		b.AddASN1(explicit0, func(b *cryptobyte.Builder) {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(oidX509Cert)
				b.AddASN1(explicit0, func(b *cryptobyte.Builder) { b.AddASN1OctetString(c.Raw) })
			})
		})
		addBagAttrs(b, name, keyID)
	})
}

func addBagAttrs(b *cryptobyte.Builder, name string, keyID []byte) {
	if name == "" && keyID == nil {
		return
	}
	b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) {
		if name != "" {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(oidFriendlyName)
				b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) {
					b.AddASN1(cbasn1.Tag(30), func(b *cryptobyte.Builder) {
						for _, u := range utf16.Encode([]rune(name)) {
							b.AddUint16(u)
						}
					})
				})
			})
		}
		if keyID != nil {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(oidLocalKeyID)
				b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) { b.AddASN1OctetString(keyID) })
			})
		}
	})
}

func (p *PKCS12) keyBag(keyID []byte, pass *string, compat bool) ([]byte, error) {
	der, err := p.Key.PKCS8(nil)
	if err != nil {
		return nil, err
	}
	id := oidKeyBag
	if pass != nil {
		id = oidShroudedBag
		if der, err = encryptInfo(der, *pass, compat); err != nil {
			return nil, err
		}
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(id)
			b.AddASN1(explicit0, func(b *cryptobyte.Builder) { b.AddBytes(der) })
			addBagAttrs(b, p.FriendlyName, keyID)
		})
	})
	return b.Bytes()
}

// ParsePKCS12 reads an archive. What is encrypted and does not open is
// ErrBadDecrypt, or ErrEncrypted without a passphrase.
func ParsePKCS12(der []byte, pass *string) (*PKCS12, error) {
	s := cryptobyte.String(der)
	var pfx, info cryptobyte.String
	var version int
	if !s.ReadASN1(&pfx, cbasn1.SEQUENCE) || !pfx.ReadASN1Integer(&version) || version != 3 || !pfx.ReadASN1(&info, cbasn1.SEQUENCE) {
		return nil, errPFX
	}
	content, ok := readData(info)
	if !ok {
		return nil, errPFX
	}
	if !pfx.Empty() {
		if err := checkMAC(pfx, content, pass); err != nil {
			return nil, err
		}
	}
	out := &pkcs12Reader{pass: pass}
	auth := cryptobyte.String(content)
	var safes cryptobyte.String
	if !auth.ReadASN1(&safes, cbasn1.SEQUENCE) {
		return nil, errPFX
	}
	for !safes.Empty() {
		var one cryptobyte.String
		if !safes.ReadASN1(&one, cbasn1.SEQUENCE) {
			return nil, errPFX
		}
		if err := out.safe(one); err != nil {
			return nil, err
		}
	}
	return out.result(), nil
}

func readData(info cryptobyte.String) ([]byte, bool) {
	var id asn1.ObjectIdentifier
	var wrapped, oct cryptobyte.String
	if !info.ReadASN1ObjectIdentifier(&id) || !id.Equal(oidData) || !info.ReadASN1(&wrapped, explicit0) || !wrapped.ReadASN1(&oct, cbasn1.OCTET_STRING) {
		return nil, false
	}
	return oct, true
}

func checkMAC(pfx cryptobyte.String, content []byte, pass *string) error {
	var mac, digest, alg, want, salt cryptobyte.String
	var id asn1.ObjectIdentifier
	n := 1
	if !pfx.ReadASN1(&mac, cbasn1.SEQUENCE) || !mac.ReadASN1(&digest, cbasn1.SEQUENCE) || !digest.ReadASN1(&alg, cbasn1.SEQUENCE) ||
		!alg.ReadASN1ObjectIdentifier(&id) || !digest.ReadASN1(&want, cbasn1.OCTET_STRING) || !mac.ReadASN1(&salt, cbasn1.OCTET_STRING) {
		return errPFX
	}
	if !mac.Empty() && (!mac.ReadASN1Integer(&n) || n < 1 || n > maxRounds) {
		return errPFX
	}
	var newHash func() hash.Hash
	block := 64
	switch {
	case id.Equal(oidSHA1):
		newHash = sha1.New
	case id.Equal(oidSHA256):
		newHash = sha256.New
	case id.Equal(oidSHA384):
		newHash, block = sha512.New384, 128
	case id.Equal(oidSHA512):
		newHash, block = sha512.New, 128
	default:
		return errPFX
	}
	text := ""
	if pass != nil {
		text = *pass
	}
	m := hmac.New(newHash, pkcs12KDFWith(newHash, block, salt, text, n, 3, newHash().Size()))
	m.Write(content)
	if hmac.Equal(m.Sum(nil), want) {
		return nil
	}
	if pass == nil {
		return ErrEncrypted
	}
	return ErrBadDecrypt
}

type pkcs12Cert struct {
	cert  *x509.Certificate
	name  string
	keyID string
}

type pkcs12Reader struct {
	pass  *string
	key   *Key
	keyID string
	name  string
	certs []pkcs12Cert
}

func (r *pkcs12Reader) safe(info cryptobyte.String) error {
	if content, ok := readData(info); ok {
		return r.bags(content)
	}
	var id asn1.ObjectIdentifier
	var wrapped, seq, enc, alg, data cryptobyte.String
	if !info.ReadASN1ObjectIdentifier(&id) || !id.Equal(oidEncryptedData) || !info.ReadASN1(&wrapped, explicit0) || !wrapped.ReadASN1(&seq, cbasn1.SEQUENCE) ||
		!seq.SkipASN1(cbasn1.INTEGER) || !seq.ReadASN1(&enc, cbasn1.SEQUENCE) || !enc.SkipASN1(cbasn1.OBJECT_IDENTIFIER) || !enc.ReadASN1(&alg, cbasn1.SEQUENCE) ||
		!enc.ReadASN1(&data, cbasn1.Tag(0).ContextSpecific()) {
		return errPFX
	}
	plain, err := decryptPBE(alg, data, r.text())
	if err != nil {
		return pfxErr(err)
	}
	return r.bags(plain)
}

func (r *pkcs12Reader) text() string {
	if r.pass == nil {
		return ""
	}
	return *r.pass
}

func pfxErr(err error) error {
	if errors.Is(err, ErrBadDecrypt) {
		return err
	}
	return errPFX
}

func (r *pkcs12Reader) bags(content []byte) error {
	s := cryptobyte.String(content)
	var list cryptobyte.String
	if !s.ReadASN1(&list, cbasn1.SEQUENCE) {
		return errPFX
	}
	for !list.Empty() {
		var bag, val cryptobyte.String
		var id asn1.ObjectIdentifier
		if !list.ReadASN1(&bag, cbasn1.SEQUENCE) || !bag.ReadASN1ObjectIdentifier(&id) || !bag.ReadASN1(&val, explicit0) {
			return errPFX
		}
		name, keyID := bagAttrs(bag)
		switch {
		case id.Equal(oidKeyBag), id.Equal(oidShroudedBag):
			pass := r.text()
			ptr := &pass
			if id.Equal(oidKeyBag) {
				ptr = nil
			}
			k, err := ParseKey(val, ptr)
			if err != nil {
				return pfxErr(err)
			}
			r.key, r.keyID, r.name = k, keyID, name
		case id.Equal(oidCertBag):
			c, err := bagCert(val)
			if err != nil {
				return err
			}
			r.certs = append(r.certs, pkcs12Cert{c, name, keyID})
		}
	}
	return nil
}

func bagCert(val cryptobyte.String) (*x509.Certificate, error) {
	var seq, wrapped, oct cryptobyte.String
	var id asn1.ObjectIdentifier
	if !val.ReadASN1(&seq, cbasn1.SEQUENCE) || !seq.ReadASN1ObjectIdentifier(&id) || !id.Equal(oidX509Cert) || !seq.ReadASN1(&wrapped, explicit0) || !wrapped.ReadASN1(&oct, cbasn1.OCTET_STRING) {
		return nil, errPFX
	}
	c, err := x509.ParseCertificate(oct)
	if err != nil {
		return nil, errPFX
	}
	return c, nil
}

// bagAttrs returns the friendly name and the local key id of a bag.
func bagAttrs(bag cryptobyte.String) (name, keyID string) {
	var set cryptobyte.String
	if bag.Empty() || !bag.ReadASN1(&set, cbasn1.SET) {
		return "", ""
	}
	for !set.Empty() {
		var attr, vals, val cryptobyte.String
		var id asn1.ObjectIdentifier
		var tag cbasn1.Tag
		if !set.ReadASN1(&attr, cbasn1.SEQUENCE) || !attr.ReadASN1ObjectIdentifier(&id) || !attr.ReadASN1(&vals, cbasn1.SET) || !vals.ReadAnyASN1(&val, &tag) {
			return name, keyID
		}
		switch {
		case id.Equal(oidFriendlyName):
			name = textOf(tag, val)
		case id.Equal(oidLocalKeyID):
			keyID = string(val)
		}
	}
	return name, keyID
}

func (r *pkcs12Reader) result() *PKCS12 {
	out := &PKCS12{Key: r.key, FriendlyName: r.name}
	own := 0
	for i, c := range r.certs {
		if r.key != nil && SamePublic(r.key.Public(), c.cert.PublicKey) {
			own = i
			break
		}
	}
	for i, c := range r.certs {
		if i == own {
			out.Cert, out.FriendlyName = c.cert, c.name
			continue
		}
		out.Chain = append(out.Chain, c.cert)
	}
	return out
}
