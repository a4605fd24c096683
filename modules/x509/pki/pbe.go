package pki

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"hash"
	"strings"
	"unicode/utf16"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

const (
	rounds       = 100_000    // of what is encrypted here
	maxRounds    = 10_000_000 // of what others encrypted
	compatRounds = 50_000
)

var (
	oidPBES2      = oid{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2     = oid{1, 2, 840, 113549, 1, 5, 12}
	oidHMACSHA1   = oid{1, 2, 840, 113549, 2, 7}
	oidHMACSHA224 = oid{1, 2, 840, 113549, 2, 8}
	oidHMACSHA256 = oid{1, 2, 840, 113549, 2, 9}
	oidHMACSHA384 = oid{1, 2, 840, 113549, 2, 10}
	oidHMACSHA512 = oid{1, 2, 840, 113549, 2, 11}
	oidAES128CBC  = oid{2, 16, 840, 1, 101, 3, 4, 1, 2}
	oidAES192CBC  = oid{2, 16, 840, 1, 101, 3, 4, 1, 22}
	oidAES256CBC  = oid{2, 16, 840, 1, 101, 3, 4, 1, 42}
	oid3DESCBC    = oid{1, 2, 840, 113549, 3, 7}
	oidPBE3DES    = oid{1, 2, 840, 113549, 1, 12, 1, 3} // pbeWithSHAAnd3-KeyTripleDES-CBC

	errPBE = errors.New("unsupported encryption")
)

// encryptedInfo takes EncryptedPrivateKeyInfo apart.
func encryptedInfo(der []byte) (alg cryptobyte.String, data []byte, ok bool) {
	s := cryptobyte.String(der)
	var seq, oct cryptobyte.String
	if !s.ReadASN1(&seq, cbasn1.SEQUENCE) || !s.Empty() || !seq.ReadASN1(&alg, cbasn1.SEQUENCE) || !seq.ReadASN1(&oct, cbasn1.OCTET_STRING) || !seq.Empty() {
		return nil, nil, false
	}
	var id asn1.ObjectIdentifier
	peek := alg
	if !peek.ReadASN1ObjectIdentifier(&id) {
		return nil, nil, false
	}
	return alg, []byte(oct), true
}

// decryptPBE decrypts data by an AlgorithmIdentifier of PKCS #5 or PKCS #12.
func decryptPBE(alg cryptobyte.String, data []byte, pass string) ([]byte, error) {
	var id asn1.ObjectIdentifier
	var params cryptobyte.String
	if !alg.ReadASN1ObjectIdentifier(&id) || !alg.ReadASN1(&params, cbasn1.SEQUENCE) {
		return nil, errPBE
	}
	switch {
	case id.Equal(oidPBES2):
		return decryptPBES2(params, data, pass)
	case id.Equal(oidPBE3DES):
		var salt cryptobyte.String
		var n int
		if !params.ReadASN1(&salt, cbasn1.OCTET_STRING) || !params.ReadASN1Integer(&n) || n < 1 || n > maxRounds {
			return nil, errPBE
		}
		block, err := des.NewTripleDESCipher(pkcs12KDF(salt, pass, n, 1, 24))
		if err != nil {
			return nil, err
		}
		return decryptCBC(block, pkcs12KDF(salt, pass, n, 2, 8), data)
	}
	return nil, errPBE
}

func decryptPBES2(params cryptobyte.String, data []byte, pass string) ([]byte, error) {
	var kdf, kdfParams, enc, salt, iv cryptobyte.String
	var kdfID, encID asn1.ObjectIdentifier
	var n int
	if !params.ReadASN1(&kdf, cbasn1.SEQUENCE) || !params.ReadASN1(&enc, cbasn1.SEQUENCE) ||
		!kdf.ReadASN1ObjectIdentifier(&kdfID) || !kdfID.Equal(oidPBKDF2) || !kdf.ReadASN1(&kdfParams, cbasn1.SEQUENCE) ||
		!kdfParams.ReadASN1(&salt, cbasn1.OCTET_STRING) || !kdfParams.ReadASN1Integer(&n) || n < 1 || n > maxRounds {
		return nil, errPBE
	}
	if kdfParams.PeekASN1Tag(cbasn1.INTEGER) && !kdfParams.SkipASN1(cbasn1.INTEGER) {
		return nil, errPBE
	}
	prf := sha1.New
	if !kdfParams.Empty() {
		var alg cryptobyte.String
		var id asn1.ObjectIdentifier
		if !kdfParams.ReadASN1(&alg, cbasn1.SEQUENCE) || !alg.ReadASN1ObjectIdentifier(&id) {
			return nil, errPBE
		}
		switch {
		case id.Equal(oidHMACSHA1):
		case id.Equal(oidHMACSHA224):
			prf = sha256.New224
		case id.Equal(oidHMACSHA256):
			prf = sha256.New
		case id.Equal(oidHMACSHA384):
			prf = sha512.New384
		case id.Equal(oidHMACSHA512):
			prf = sha512.New
		default:
			return nil, errPBE
		}
	}
	if !enc.ReadASN1ObjectIdentifier(&encID) || !enc.ReadASN1(&iv, cbasn1.OCTET_STRING) {
		return nil, errPBE
	}
	size, newBlock := 0, aes.NewCipher
	switch {
	case encID.Equal(oidAES128CBC):
		size = 16
	case encID.Equal(oidAES192CBC):
		size = 24
	case encID.Equal(oidAES256CBC):
		size = 32
	case encID.Equal(oid3DESCBC):
		size, newBlock = 24, des.NewTripleDESCipher
	default:
		return nil, errPBE
	}
	key, err := pbkdf2.Key(func() hash.Hash { return prf() }, pass, salt, n, size)
	if err != nil {
		return nil, err
	}
	block, err := newBlock(key)
	if err != nil {
		return nil, err
	}
	return decryptCBC(block, iv, data)
}

// decryptCBC decrypts and takes the padding off; padding that is wrong is ErrBadDecrypt.
func decryptCBC(block cipher.Block, iv, data []byte) ([]byte, error) {
	size := block.BlockSize()
	if len(iv) != size || len(data) == 0 || len(data)%size != 0 {
		return nil, ErrBadDecrypt
	}
	out := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, data)
	pad := int(out[len(out)-1])
	if pad == 0 || pad > size || !bytes.Equal(out[len(out)-pad:], bytes.Repeat([]byte{byte(pad)}, pad)) {
		return nil, ErrBadDecrypt
	}
	return out[:len(out)-pad], nil
}

func encryptCBC(block cipher.Block, iv, data []byte) []byte {
	pad := block.BlockSize() - len(data)%block.BlockSize()
	out := append(bytes.Clone(data), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, out)
	return out
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return b
}

// encryptPBE encrypts data: with PBES2, or for old programs with the triple DES
// of PKCS #12. It returns the AlgorithmIdentifier.
func encryptPBE(data []byte, pass string, compat bool) (alg, out []byte, err error) {
	var b cryptobyte.Builder
	if compat {
		salt := randomBytes(8)
		block, err := des.NewTripleDESCipher(pkcs12KDF(salt, pass, compatRounds, 1, 24))
		if err != nil {
			return nil, nil, err
		}
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(oidPBE3DES)
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1OctetString(salt)
				b.AddASN1Int64(compatRounds)
			})
		})
		alg, err = b.Bytes()
		return alg, encryptCBC(block, pkcs12KDF(salt, pass, compatRounds, 2, 8), data), err
	}
	salt, iv := randomBytes(16), randomBytes(16)
	key, err := pbkdf2.Key(sha256.New, pass, salt, rounds, 32)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidPBES2)
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(oidPBKDF2)
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1OctetString(salt)
					b.AddASN1Int64(rounds)
					b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
						b.AddASN1ObjectIdentifier(oidHMACSHA256)
						b.AddASN1NULL()
					})
				})
			})
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(oidAES256CBC)
				b.AddASN1OctetString(iv)
			})
		})
	})
	alg, err = b.Bytes()
	return alg, encryptCBC(block, iv, data), err
}

// encryptInfo returns EncryptedPrivateKeyInfo.
func encryptInfo(der []byte, pass string, compat bool) ([]byte, error) {
	alg, data, err := encryptPBE(der, pass, compat)
	if err != nil {
		return nil, err
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddBytes(alg)
		b.AddASN1OctetString(data)
	})
	return b.Bytes()
}

// pkcs12KDF derives a key (id 1), an initial vector (2) or a MAC key (3) of a
// passphrase, with SHA-1. RFC 7292, appendix B.2.
func pkcs12KDF(salt []byte, pass string, n int, id byte, size int) []byte {
	return pkcs12KDFWith(sha1.New, 64, salt, pass, n, id, size)
}

func pkcs12KDFWith(newHash func() hash.Hash, v int, salt []byte, pass string, n int, id byte, size int) []byte {
	var text []byte
	for _, u := range append(utf16.Encode([]rune(pass)), 0) {
		text = append(text, byte(u>>8), byte(u))
	}
	fill := func(b []byte) []byte {
		if len(b) == 0 {
			return nil
		}
		out := make([]byte, (len(b)+v-1)/v*v)
		for i := range out {
			out[i] = b[i%len(b)]
		}
		return out
	}
	d := bytes.Repeat([]byte{id}, v)
	i := append(fill(salt), fill(text)...)
	var out []byte
	for len(out) < size {
		h := newHash()
		h.Write(d)
		h.Write(i)
		a := h.Sum(nil)
		for range n - 1 {
			h.Reset()
			h.Write(a)
			a = h.Sum(a[:0])
		}
		out = append(out, a...)
		b := fill(a)[:v]
		for j := 0; j+v <= len(i); j += v {
			carry := 1
			for k := v - 1; k >= 0; k-- {
				carry += int(i[j+k]) + int(b[k])
				i[j+k] = byte(carry)
				carry >>= 8
			}
		}
	}
	return out[:size]
}

// A pemCipher is a cipher of the encryption of PEM blocks (RFC 1423).
type pemCipher struct {
	name string // in DEK-Info
	size int
	make func([]byte) (cipher.Block, error)
}

func pemCiphers() []pemCipher {
	return []pemCipher{
		{"AES-128-CBC", 16, aes.NewCipher},
		{"AES-192-CBC", 24, aes.NewCipher},
		{"AES-256-CBC", 32, aes.NewCipher},
		{"DES-EDE3-CBC", 24, des.NewTripleDESCipher},
		{"DES-CBC", 8, des.NewCipher},
	}
}

// EncryptPEM returns a PEM block that is encrypted in the old way, by the name of
// a cipher such as aes_128_cbc.
func EncryptPEM(kind string, der []byte, pass, name string) (string, error) {
	want := strings.ToUpper(strings.ReplaceAll(name, "_", "-"))
	for _, c := range pemCiphers() {
		if c.name != want && (want != "DES3" || c.name != "DES-EDE3-CBC") {
			continue
		}
		salt := randomBytes(8)
		block, err := c.make(pemKDF(pass, salt, c.size))
		if err != nil {
			return "", err
		}
		iv := append(salt, randomBytes(block.BlockSize()-8)...)
		return string(pem.EncodeToMemory(&pem.Block{
			Type:    kind,
			Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": c.name + "," + strings.ToUpper(hex.EncodeToString(iv))},
			Bytes:   encryptCBC(block, iv, der),
		})), nil
	}
	return "", errors.New("unknown cipher " + name)
}

// decryptPEM decrypts a PEM block with DEK-Info.
func decryptPEM(b *pem.Block, pass *string) ([]byte, error) {
	name, ivText, _ := strings.Cut(b.Headers["DEK-Info"], ",")
	if pass == nil {
		return nil, ErrEncrypted
	}
	iv, err := hex.DecodeString(strings.TrimSpace(ivText))
	if err != nil || len(iv) < 8 {
		return nil, errPBE
	}
	for _, c := range pemCiphers() {
		if c.name != name {
			continue
		}
		block, err := c.make(pemKDF(*pass, iv[:8], c.size))
		if err != nil {
			return nil, err
		}
		return decryptCBC(block, iv, b.Bytes)
	}
	return nil, errPBE
}

// pemKDF derives the key of an encrypted PEM block.
func pemKDF(pass string, salt []byte, size int) []byte {
	var out, last []byte
	for len(out) < size {
		h := md5.New()
		h.Write(last)
		h.Write([]byte(pass))
		h.Write(salt)
		last = h.Sum(nil)
		out = append(out, last...)
	}
	return out[:size]
}
