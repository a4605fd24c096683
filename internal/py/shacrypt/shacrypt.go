// Package shacrypt makes the password hashes $5$ and $6$ of crypt(3), $1$, and
// $apr1$ of the Apache server.
//
// The method is Ulrich Drepper's "Unix crypt using SHA-256 and SHA-512".
package shacrypt

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"
)

// ErrAlgorithm is returned where a method is not sha256, sha512 or md5.
var ErrAlgorithm = errors.New("not a method of this package")

const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const (
	defaultRounds = 5000
	minRounds     = 1000
	maxRounds     = 999999999
	maxSalt       = 16
)

// Salt returns sixteen random characters of those that salts are made of.
func Salt() string {
	b := make([]byte, maxSalt)
	_, _ = rand.Read(b) // does not fail
	for i := range b {
		b[i] = alphabet[b[i]%byte(len(alphabet))]
	}
	return string(b)
}

// Hash returns the hash of a password. algorithm is sha256, sha512 or md5; salt
// counts to its first $ or sixteen characters (of md5 eight), and may begin with
// rounds=N$ for the first two.
// It returns ErrAlgorithm (wrapped) for another algorithm.
func Hash(algorithm, password, salt string) (string, error) {
	var newHash func() hash.Hash
	var prefix string
	var order [][3]int
	switch algorithm {
	case "sha256":
		newHash, prefix, order = sha256.New, "$5$", order256()
	case "sha512":
		newHash, prefix, order = sha512.New, "$6$", order512()
	case "md5":
		return hashMD5("$1$", password, salt), nil
	default:
		return "", fmt.Errorf("%q: %w", algorithm, ErrAlgorithm)
	}
	rounds, custom := defaultRounds, false
	if rest, ok := strings.CutPrefix(salt, "rounds="); ok {
		if num, s, ok := strings.Cut(rest, "$"); ok {
			if n, err := strconv.Atoi(num); err == nil {
				rounds, custom, salt = min(max(n, minRounds), maxRounds), true, s
			}
		}
	}
	salt, _, _ = strings.Cut(salt, "$")
	if len(salt) > maxSalt {
		salt = salt[:maxSalt]
	}
	sum := digest(newHash, []byte(password), []byte(salt), rounds)
	var b strings.Builder
	b.WriteString(prefix)
	if custom {
		fmt.Fprintf(&b, "rounds=%d$", rounds)
	}
	b.WriteString(salt + "$")
	for _, o := range order {
		encode(&b, sum, o)
	}
	return b.String(), nil
}

// digest is steps 1 to 21 of the method.
func digest(newHash func() hash.Hash, password, salt []byte, rounds int) []byte {
	sumOf := func(parts ...[]byte) []byte {
		h := newHash()
		for _, p := range parts {
			h.Write(p)
		}
		return h.Sum(nil)
	}
	alt := sumOf(password, salt, password)
	h := newHash()
	h.Write(password)
	h.Write(salt)
	h.Write(stretch(alt, len(password)))
	for n := len(password); n > 0; n >>= 1 {
		if n&1 != 0 {
			h.Write(alt)
		} else {
			h.Write(password)
		}
	}
	a := h.Sum(nil)

	h = newHash()
	for range password {
		h.Write(password)
	}
	p := stretch(h.Sum(nil), len(password))
	h = newHash()
	for range 16 + int(a[0]) {
		h.Write(salt)
	}
	s := stretch(h.Sum(nil), len(salt))

	for i := range rounds {
		h = newHash()
		if i&1 != 0 {
			h.Write(p)
		} else {
			h.Write(a)
		}
		if i%3 != 0 {
			h.Write(s)
		}
		if i%7 != 0 {
			h.Write(p)
		}
		if i&1 != 0 {
			h.Write(a)
		} else {
			h.Write(p)
		}
		a = h.Sum(nil)
	}
	return a
}

// stretch repeats b to n bytes.
func stretch(b []byte, n int) []byte {
	out := make([]byte, 0, n+len(b))
	for len(out) < n {
		out = append(out, b...)
	}
	return out[:n]
}

// encode writes the bytes of sum that o names, -1 being none.
func encode(b *strings.Builder, sum []byte, o [3]int) {
	v, chars := 0, 4
	for _, i := range o {
		v <<= 8
		if i < 0 {
			chars--
			continue
		}
		v |= int(sum[i])
	}
	for range chars {
		b.WriteByte(alphabet[v&63])
		v >>= 6
	}
}

// order256 is the order in which the bytes of a SHA-256 hash are written.
func order256() [][3]int {
	var o [][3]int
	x := [3]int{0, 10, 20}
	for range 10 {
		o = append(o, x)
		x = [3]int{x[2] + 1, x[0] + 1, x[1] + 1}
	}
	return append(o, [3]int{-1, 31, 30})
}

// order512 is the order in which the bytes of a SHA-512 hash are written.
func order512() [][3]int {
	var o [][3]int
	x := [3]int{0, 21, 42}
	for range 21 {
		o = append(o, x)
		x = [3]int{x[1] + 1, x[2] + 1, x[0] + 1}
	}
	return append(o, [3]int{-1, -1, 63})
}
