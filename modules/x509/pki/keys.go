package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"strings"

	_ "crypto/md5" // digests of signatures
	_ "crypto/sha1"
	_ "crypto/sha256"
	_ "crypto/sha3"
	_ "crypto/sha512"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// Errors about private keys, in Salt's words.
var (
	// ErrBadDecrypt is returned where a passphrase does not open what it is for.
	ErrBadDecrypt = errors.New("Bad decrypt - is the password correct?")
	// ErrEncrypted is returned where a passphrase is needed and there is none.
	ErrEncrypted = errors.New("Private key is encrypted. Please provide a password.")
	// ErrUnencrypted is returned where there is a passphrase and nothing to open.
	ErrUnencrypted = errors.New("Private key is unencrypted")

	errKey = errors.New("malformed private key")
)

// A Key is a private key: RSA, of the curves P-224 to P-521, or Ed25519.
type Key struct{ crypto.Signer }

// GenerateRSA makes an RSA key.
func GenerateRSA(bits int) (*Key, error) {
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return nil, err
	}
	return &Key{k}, nil
}

// GenerateEC makes a key of the curve P-256, P-384 or P-521.
func GenerateEC(bits int) (*Key, error) {
	var curve elliptic.Curve
	switch bits {
	case 256:
		curve = elliptic.P256()
	case 384:
		curve = elliptic.P384()
	case 521:
		curve = elliptic.P521()
	default:
		return nil, errors.New("EC key size must be either 256, 384, 521 bits.")
	}
	k, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		return nil, err
	}
	return &Key{k}, nil
}

// GenerateEd25519 makes an Ed25519 key.
func GenerateEd25519() (*Key, error) {
	_, k, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return &Key{k}, nil
}

// KeyType returns "rsa", "ec" or "ed25519"; "" for another kind.
func KeyType(pub crypto.PublicKey) string {
	switch pub.(type) {
	case *rsa.PublicKey:
		return "rsa"
	case *ecdsa.PublicKey:
		return "ec"
	case ed25519.PublicKey:
		return "ed25519"
	}
	return ""
}

// KeySize returns the size of a public key in bits; ok is false for kinds that
// have only one.
func KeySize(pub crypto.PublicKey) (bits int, ok bool) {
	switch k := pub.(type) {
	case *rsa.PublicKey:
		return k.N.BitLen(), true
	case *ecdsa.PublicKey:
		return k.Curve.Params().BitSize, true
	}
	return 0, false
}

// MarshalPublic returns the SubjectPublicKeyInfo of a public key.
func MarshalPublic(pub crypto.PublicKey) ([]byte, error) { return x509.MarshalPKIXPublicKey(pub) }

// ParsePublic reads a SubjectPublicKeyInfo, or a public key of PKCS #1.
func ParsePublic(der []byte) (crypto.PublicKey, error) {
	pub, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		if pk, err1 := x509.ParsePKCS1PublicKey(der); err1 == nil {
			return pk, nil
		}
		return nil, err
	}
	if KeyType(pub) == "" {
		return nil, errors.New("Did not recognize key type")
	}
	return pub, nil
}

// SamePublic reports whether two public keys are one.
func SamePublic(a, b crypto.PublicKey) bool {
	x, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && x.Equal(b)
}

// ParseKey reads a private key in DER: PKCS #8, plain or encrypted, PKCS #1 or
// SEC 1. pass is nil for none.
func ParseKey(der []byte, pass *string) (*Key, error) {
	if k, err := plainKey(der); err == nil {
		if pass != nil {
			return nil, ErrUnencrypted
		}
		return k, nil
	}
	alg, data, ok := encryptedInfo(der)
	if !ok {
		return nil, errKey
	}
	if pass == nil {
		return nil, ErrEncrypted
	}
	plain, err := decryptPBE(alg, data, *pass)
	if err != nil {
		return nil, err
	}
	k, err := plainKey(plain)
	if err != nil {
		return nil, ErrBadDecrypt
	}
	return k, nil
}

func plainKey(der []byte) (*Key, error) {
	if k, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		switch k := k.(type) {
		case *rsa.PrivateKey:
			return &Key{k}, nil
		case *ecdsa.PrivateKey:
			return &Key{k}, nil
		case ed25519.PrivateKey:
			return &Key{k}, nil
		}
		return nil, errKey
	}
	if k, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return &Key{k}, nil
	}
	if k, err := x509.ParseECPrivateKey(der); err == nil {
		return &Key{k}, nil
	}
	return nil, errKey
}

// PKCS8 returns the key in PKCS #8, encrypted by PBES2 with AES-256 where there is
// a passphrase.
func (k *Key) PKCS8(pass *string) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.Signer)
	if err != nil || pass == nil {
		return der, err
	}
	return encryptInfo(der, *pass, false)
}

// PEM returns the key in PKCS #8 as PEM.
func (k *Key) PEM(pass *string) (string, error) {
	der, err := k.PKCS8(pass)
	if err != nil {
		return "", err
	}
	if pass != nil {
		return EncodePEM("ENCRYPTED PRIVATE KEY", der), nil
	}
	return EncodePEM("PRIVATE KEY", der), nil
}

// PKCS1 returns an RSA key in PKCS #1.
func (k *Key) PKCS1() ([]byte, error) {
	r, ok := k.Signer.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("not an RSA key")
	}
	return x509.MarshalPKCS1PrivateKey(r), nil
}

// A sigAlg is how something is signed.
type sigAlg struct {
	hash crypto.Hash
	der  []byte // AlgorithmIdentifier
}

// A signature is the object identifier of a way of signing.
type signature struct {
	kind string // kind of key
	name string // digest
	hash crypto.Hash
	id   asn1.ObjectIdentifier
	text string // as OpenSSL prints it
}

var signatures = []signature{
	{"rsa", "md5", crypto.MD5, oid{1, 2, 840, 113549, 1, 1, 4}, "md5WithRSAEncryption"},
	{"rsa", "sha1", crypto.SHA1, oid{1, 2, 840, 113549, 1, 1, 5}, "sha1WithRSAEncryption"},
	{"rsa", "sha224", crypto.SHA224, oid{1, 2, 840, 113549, 1, 1, 14}, "sha224WithRSAEncryption"},
	{"rsa", "sha256", crypto.SHA256, oid{1, 2, 840, 113549, 1, 1, 11}, "sha256WithRSAEncryption"},
	{"rsa", "sha384", crypto.SHA384, oid{1, 2, 840, 113549, 1, 1, 12}, "sha384WithRSAEncryption"},
	{"rsa", "sha512", crypto.SHA512, oid{1, 2, 840, 113549, 1, 1, 13}, "sha512WithRSAEncryption"},
	{"rsa", "sha512_224", crypto.SHA512_224, oid{1, 2, 840, 113549, 1, 1, 15}, "sha512-224WithRSAEncryption"},
	{"rsa", "sha512_256", crypto.SHA512_256, oid{1, 2, 840, 113549, 1, 1, 16}, "sha512-256WithRSAEncryption"},
	{"rsa", "sha3_224", crypto.SHA3_224, oid{2, 16, 840, 1, 101, 3, 4, 3, 13}, "RSA-SHA3-224"},
	{"rsa", "sha3_256", crypto.SHA3_256, oid{2, 16, 840, 1, 101, 3, 4, 3, 14}, "RSA-SHA3-256"},
	{"rsa", "sha3_384", crypto.SHA3_384, oid{2, 16, 840, 1, 101, 3, 4, 3, 15}, "RSA-SHA3-384"},
	{"rsa", "sha3_512", crypto.SHA3_512, oid{2, 16, 840, 1, 101, 3, 4, 3, 16}, "RSA-SHA3-512"},
	{"ec", "sha1", crypto.SHA1, oid{1, 2, 840, 10045, 4, 1}, "ecdsa-with-SHA1"},
	{"ec", "sha224", crypto.SHA224, oid{1, 2, 840, 10045, 4, 3, 1}, "ecdsa-with-SHA224"},
	{"ec", "sha256", crypto.SHA256, oid{1, 2, 840, 10045, 4, 3, 2}, "ecdsa-with-SHA256"},
	{"ec", "sha384", crypto.SHA384, oid{1, 2, 840, 10045, 4, 3, 3}, "ecdsa-with-SHA384"},
	{"ec", "sha512", crypto.SHA512, oid{1, 2, 840, 10045, 4, 3, 4}, "ecdsa-with-SHA512"},
	{"ec", "sha3_224", crypto.SHA3_224, oid{2, 16, 840, 1, 101, 3, 4, 3, 9}, "ecdsa_with_SHA3-224"},
	{"ec", "sha3_256", crypto.SHA3_256, oid{2, 16, 840, 1, 101, 3, 4, 3, 10}, "ecdsa_with_SHA3-256"},
	{"ec", "sha3_384", crypto.SHA3_384, oid{2, 16, 840, 1, 101, 3, 4, 3, 11}, "ecdsa_with_SHA3-384"},
	{"ec", "sha3_512", crypto.SHA3_512, oid{2, 16, 840, 1, 101, 3, 4, 3, 12}, "ecdsa_with_SHA3-512"},
	{"ed25519", "", 0, oid{1, 3, 101, 112}, "ED25519"},
}

// algorithm returns how the key signs with a digest. Ed25519 has one of its own.
func (k *Key) algorithm(digest string) (sigAlg, error) {
	kind := KeyType(k.Public())
	digest = strings.ToLower(digest)
	if kind == "ed25519" {
		digest = ""
	}
	for _, s := range signatures {
		if s.kind != kind || s.name != digest {
			continue
		}
		var b cryptobyte.Builder
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(s.id)
			if kind == "rsa" {
				b.AddASN1NULL()
			}
		})
		der, err := b.Bytes()
		return sigAlg{s.hash, der}, err
	}
	return sigAlg{}, fmt.Errorf("the digest %s cannot sign with a key of type %s", digest, kind)
}

// signed returns the SEQUENCE of tbs, the algorithm and the signature.
func (k *Key) signed(tbs []byte, alg sigAlg) ([]byte, error) {
	data := tbs
	if alg.hash != 0 {
		h := alg.hash.New()
		h.Write(tbs)
		data = h.Sum(nil)
	}
	sig, err := k.Sign(rand.Reader, data, alg.hash)
	if err != nil {
		return nil, err
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddBytes(tbs)
		b.AddBytes(alg.der)
		b.AddASN1BitString(sig)
	})
	return b.Bytes()
}

// A Signed is what was signed, and how.
type Signed struct {
	TBS       []byte // with its header
	Algorithm asn1.ObjectIdentifier
	Signature []byte
	params    []byte
}

// ParseSigned takes a signed object apart.
func ParseSigned(der []byte) (*Signed, error) {
	s := cryptobyte.String(der)
	var seq, tbs, alg cryptobyte.String
	out := &Signed{}
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) || !s.Empty() || !seq.ReadASN1Element(&tbs, cbasn1.SEQUENCE) ||
		!seq.ReadASN1(&alg, cbasn1.SEQUENCE) || !alg.ReadASN1ObjectIdentifier(&out.Algorithm) || !seq.ReadASN1BitStringAsBytes(&out.Signature) || !seq.Empty() {
		return nil, errors.New("malformed signed object")
	}
	out.TBS, out.params = []byte(tbs), []byte(alg)
	return out, nil
}

var oidPSS = oid{1, 2, 840, 113549, 1, 1, 10}

// Digest returns the digest of the signature by Salt's name; "" where the
// algorithm has its own or is not known.
func (s *Signed) Digest() string {
	if s.Algorithm.Equal(oidPSS) {
		return pssDigest(s.params).name
	}
	for _, x := range signatures {
		if x.id.Equal(s.Algorithm) {
			return x.name
		}
	}
	return ""
}

// AlgorithmName returns the algorithm as OpenSSL prints it.
func (s *Signed) AlgorithmName() string {
	if s.Algorithm.Equal(oidPSS) {
		return "rsassaPss"
	}
	for _, x := range signatures {
		if x.id.Equal(s.Algorithm) {
			return x.text
		}
	}
	return s.Algorithm.String()
}

// pssDigest returns the digest of the parameters of RSASSA-PSS; SHA-1 is their
// default.
func pssDigest(params []byte) signature {
	fallback := signatures[1]
	s := cryptobyte.String(params)
	var seq, hash, alg cryptobyte.String
	var id asn1.ObjectIdentifier
	tag := cbasn1.Tag(0).ContextSpecific().Constructed()
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) || !seq.ReadASN1(&hash, tag) || !hash.ReadASN1(&alg, cbasn1.SEQUENCE) || !alg.ReadASN1ObjectIdentifier(&id) {
		return fallback
	}
	for i, name := range []string{"sha256", "sha384", "sha512", "sha224"} {
		if id.Equal(oid{2, 16, 840, 1, 101, 3, 4, 2, i + 1}) {
			for _, x := range signatures {
				if x.kind == "rsa" && x.name == name {
					return x
				}
			}
		}
	}
	return fallback
}

// VerifiedBy reports whether the signature was made by the private key of pub.
func (s *Signed) VerifiedBy(pub crypto.PublicKey) bool {
	kind := KeyType(pub)
	if rk, ok := pub.(*rsa.PublicKey); ok && s.Algorithm.Equal(oidPSS) {
		d := pssDigest(s.params)
		return rsa.VerifyPSS(rk, d.hash, sum(d.hash, s.TBS), s.Signature, nil) == nil
	}
	for _, x := range signatures {
		if !x.id.Equal(s.Algorithm) || x.kind != kind {
			continue
		}
		switch k := pub.(type) {
		case *rsa.PublicKey:
			return rsa.VerifyPKCS1v15(k, x.hash, sum(x.hash, s.TBS), s.Signature) == nil
		case *ecdsa.PublicKey:
			return ecdsa.VerifyASN1(k, sum(x.hash, s.TBS), s.Signature)
		case ed25519.PublicKey:
			return ed25519.Verify(k, s.TBS, s.Signature)
		}
	}
	return false
}

func sum(h crypto.Hash, data []byte) []byte {
	w := h.New()
	w.Write(data)
	return w.Sum(nil)
}

// Modulus returns the modulus of an RSA key in hexadecimal digits.
func Modulus(pub crypto.PublicKey) (string, bool) {
	k, ok := pub.(*rsa.PublicKey)
	if !ok {
		return "", false
	}
	return fmt.Sprintf("%X", k.N.Bytes()), true
}
