// Package digest names hash functions as Python's hashlib does, which is how
// Salt's arguments and settings (hash_type, source_hash, algorithm) name them.
package digest

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"hash"
)

// Names are the hash functions that files are checked by, the shortest first.
func Names() []string {
	return []string{"md5", "sha1", "sha224", "sha256", "sha384", "sha512"}
}

// New returns the hash function of a name: one of [Names], or sha3_224,
// sha3_256, sha3_384, sha3_512. It is nil where there is none of that name.
func New(name string) hash.Hash {
	switch name {
	case "md5":
		return md5.New()
	case "sha1":
		return sha1.New()
	case "sha224":
		return sha256.New224()
	case "sha256":
		return sha256.New()
	case "sha384":
		return sha512.New384()
	case "sha512":
		return sha512.New()
	case "sha3_224":
		return sha3.New224()
	case "sha3_256":
		return sha3.New256()
	case "sha3_384":
		return sha3.New384()
	case "sha3_512":
		return sha3.New512()
	}
	return nil
}
