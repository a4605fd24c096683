package sshexec

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des" // of keys that exist, to read only
	"crypto/pbkdf2"
	"crypto/sha1" // the default of PBKDF2 in older files
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"hash"
	"slices"

	"golang.org/x/crypto/scrypt"
)

// encryptedPKCS8 returns the content of an encrypted PKCS#8 file, as openssl and
// ssh-keygen -m PKCS8 write it; nil where text is none. Neither crypto/x509 nor
// golang.org/x/crypto reads it.
func encryptedPKCS8(text []byte) []byte {
	if block, _ := pem.Decode(text); block != nil && block.Type == "ENCRYPTED PRIVATE KEY" {
		return block.Bytes
	}
	return nil
}

var (
	oidPBES2      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidScrypt     = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11591, 4, 11}
	pkcs8Hashes   = map[string]func() hash.Hash{"1.2.840.113549.2.7": sha1.New, "1.2.840.113549.2.9": sha256.New, "1.2.840.113549.2.10": sha512.New384, "1.2.840.113549.2.11": sha512.New}
	pkcs8Ciphers  = map[string]int{"2.16.840.1.101.3.4.1.2": 16, "2.16.840.1.101.3.4.1.22": 24, "2.16.840.1.101.3.4.1.42": 32, "1.2.840.113549.3.7": 24}
	errPassphrase = x509.IncorrectPasswordError
)

// maxDerive bounds what a file may ask for to derive a key, in rounds.
const maxDerive = 100_000_000

// decryptPKCS8 returns the private key of an encrypted PKCS#8 file (RFC 8018,
// PBES2).
func decryptPKCS8(der, passphrase []byte) (any, error) {
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		return nil, fmt.Errorf("PKCS#8: %w", err)
	}
	if !info.Algorithm.Algorithm.Equal(oidPBES2) {
		return nil, fmt.Errorf("PKCS#8: encryption %s is not supported; ssh-keygen -p -f FILE writes the file in ssh's own format", info.Algorithm.Algorithm)
	}
	var params struct{ Derive, Cipher pkix.AlgorithmIdentifier }
	if _, err := asn1.Unmarshal(info.Algorithm.Parameters.FullBytes, &params); err != nil {
		return nil, fmt.Errorf("PKCS#8: %w", err)
	}
	size, ok := pkcs8Ciphers[params.Cipher.Algorithm.String()]
	if !ok {
		return nil, fmt.Errorf("PKCS#8: cipher %s is not supported; ssh-keygen -p -f FILE writes the file in ssh's own format", params.Cipher.Algorithm)
	}
	key, err := derive(params.Derive, passphrase, size)
	if err != nil {
		return nil, fmt.Errorf("PKCS#8: %w", err)
	}
	var iv []byte
	if _, err := asn1.Unmarshal(params.Cipher.Parameters.FullBytes, &iv); err != nil {
		return nil, fmt.Errorf("PKCS#8: %w", err)
	}
	newCipher := aes.NewCipher
	if params.Cipher.Algorithm.Equal(asn1.ObjectIdentifier{1, 2, 840, 113549, 3, 7}) {
		newCipher = des.NewTripleDESCipher
	}
	block, err := newCipher(key)
	if err != nil || len(iv) != block.BlockSize() || len(info.Data) == 0 || len(info.Data)%block.BlockSize() != 0 {
		return nil, errors.New("PKCS#8: the file is damaged")
	}
	plain := slices.Clone(info.Data)
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, plain)
	pad := int(plain[len(plain)-1])
	if pad == 0 || pad > block.BlockSize() {
		return nil, errPassphrase
	}
	raw, err := x509.ParsePKCS8PrivateKey(plain[:len(plain)-pad])
	if err != nil {
		return nil, errPassphrase
	}
	return raw, nil
}

// derive makes a key of a passphrase.
func derive(alg pkix.AlgorithmIdentifier, passphrase []byte, size int) ([]byte, error) {
	switch {
	case alg.Algorithm.Equal(oidPBKDF2):
		var p struct {
			Salt   []byte
			Rounds int
			Size   int                      `asn1:"optional"`
			PRF    pkix.AlgorithmIdentifier `asn1:"optional"`
		}
		if _, err := asn1.Unmarshal(alg.Parameters.FullBytes, &p); err != nil {
			return nil, err
		}
		h := sha1.New
		if len(p.PRF.Algorithm) > 0 {
			if h = pkcs8Hashes[p.PRF.Algorithm.String()]; h == nil {
				return nil, fmt.Errorf("key derivation %s is not supported", p.PRF.Algorithm)
			}
		}
		if p.Rounds < 1 || p.Rounds > maxDerive {
			return nil, errors.New("the file is damaged")
		}
		return pbkdf2.Key(h, string(passphrase), p.Salt, p.Rounds, size)
	case alg.Algorithm.Equal(oidScrypt):
		var p struct {
			Salt    []byte
			N, R, P int
			Size    int `asn1:"optional"`
		}
		if _, err := asn1.Unmarshal(alg.Parameters.FullBytes, &p); err != nil {
			return nil, err
		}
		if p.N < 2 || p.R < 1 || p.P < 1 || p.N > 1<<20 || p.R > 32 || p.P > 16 {
			return nil, errors.New("the file is damaged")
		}
		return scrypt.Key(passphrase, p.Salt, p.N, p.R, p.P, size)
	}
	return nil, fmt.Errorf("key derivation %s is not supported", alg.Algorithm)
}
