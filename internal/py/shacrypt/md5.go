package shacrypt

import (
	"crypto/md5" // the method $1$ is defined by it
	"strings"
)

const (
	maxSaltMD5 = 8
	roundsMD5  = 1000
)

// Apache returns the hash $apr1$ of a password. salt counts to its first $ or eight
// characters.
func Apache(password, salt string) string { return hashMD5("$apr1$", password, salt) }

// hashMD5 returns the hash of a password by the method of Poul-Henning Kamp, which
// differs by the prefix: $1$ of crypt(3), for machines that have such hashes still,
// and $apr1$ of the Apache server.
func hashMD5(prefix, password, salt string) string {
	salt, _, _ = strings.Cut(salt, "$")
	if len(salt) > maxSaltMD5 {
		salt = salt[:maxSaltMD5]
	}
	p, s := []byte(password), []byte(salt)
	sumOf := func(parts ...[]byte) []byte {
		h := md5.New() // see above
		for _, part := range parts {
			h.Write(part)
		}
		return h.Sum(nil)
	}
	odd := make([]byte, 0, 8)
	for n := len(p); n > 0; n >>= 1 {
		if n&1 != 0 {
			odd = append(odd, 0)
		} else {
			odd = append(odd, p[0])
		}
	}
	sum := sumOf(p, []byte(prefix), s, stretch(sumOf(p, s, p), len(p)), odd)
	for i := range roundsMD5 {
		var parts [][]byte
		if i&1 != 0 {
			parts = append(parts, p)
		} else {
			parts = append(parts, sum)
		}
		if i%3 != 0 {
			parts = append(parts, s)
		}
		if i%7 != 0 {
			parts = append(parts, p)
		}
		if i&1 != 0 {
			parts = append(parts, sum)
		} else {
			parts = append(parts, p)
		}
		sum = sumOf(parts...)
	}
	var b strings.Builder
	b.WriteString(prefix + salt + "$")
	for _, o := range [...][3]int{{0, 6, 12}, {1, 7, 13}, {2, 8, 14}, {3, 9, 15}, {4, 10, 5}, {-1, -1, 11}} {
		encode(&b, sum, o)
	}
	return b.String()
}
