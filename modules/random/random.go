// Package random is Salt's execution module "random": random numbers, text and
// picks.
//
// Salt: salt/modules/mod_random.py.
package random

import (
	"context"
	crand "crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"strings"

	"brine/internal/digest"
	"brine/internal/fun"
	"brine/internal/shacrypt"
	"brine/internal/value"
)

// Module returns the execution module "random".
func Module() fun.Module {
	return fun.Module{Name: "random", Kind: fun.Exec, Doc: "Random numbers, text and choices.", Specs: specs}
}

// The classes of characters, as Python's module string has them.
const (
	lowercase   = "abcdefghijklmnopqrstuvwxyz"
	uppercase   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits      = "0123456789"
	punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	whitespace  = " \t\n\r\v\f"
	printable   = digits + lowercase + uppercase + punctuation + whitespace
)

// shadowHash hashes a password. Salt: salt/modules/mod_random.py shadow_hash.
// Difference: there are sha512, sha256 and md5 only.
func shadowHash(_ context.Context, c *fun.Call) (fun.Result, error) {
	salt, password := shacrypt.Salt(), shacrypt.Salt()
	if v := c.Value("crypt_salt"); value.Truth(v) {
		salt = value.Str(v)
	}
	if v := c.Value("password"); v != nil {
		password = value.Str(v)
	}
	h, err := shacrypt.Hash(c.Str("algorithm"), password, salt)
	if err != nil {
		return fun.Result{}, fun.Errorf("Algorithm '%s' is not supported; supported are sha512, sha256 and md5", c.Str("algorithm"))
	}
	return fun.Value(h)
}

// maxLength bounds random text, in characters.
const maxLength = 1 << 24

func getStr(_ context.Context, c *fun.Call) (fun.Result, error) {
	length := c.Int("length")
	if length > maxLength {
		return fun.Result{}, fun.Errorf("length %d is too large: at most %d", length, maxLength)
	}
	from := []rune(alphabet(c))
	if len(from) == 0 {
		return fun.Result{}, fun.Errorf("no characters to pick from: every class is off")
	}
	var b strings.Builder
	for range length {
		i, err := crand.Int(crand.Reader, big.NewInt(int64(len(from))))
		if err != nil {
			return fun.Result{}, err
		}
		b.WriteRune(from[i.Int64()])
	}
	return fun.Value(b.String())
}

func alphabet(c *fun.Call) string {
	if s := c.Str("chars"); s != "" {
		return s
	}
	if c.Bool("printable") {
		return printable
	}
	var s strings.Builder
	for _, class := range [...]struct{ name, chars string }{
		{"lowercase", lowercase},
		{"uppercase", uppercase},
		{"digits", digits},
		{"punctuation", punctuation},
		{"whitespace", whitespace},
	} {
		if c.Bool(class.name) {
			s.WriteString(class.chars)
		}
	}
	return s.String()
}

// bytesOf returns the bytes of text; numbers and the like have none.
func bytesOf(v value.Value) ([]byte, bool) {
	switch v := v.(type) {
	case string:
		return []byte(v), true
	case value.Bytes:
		return []byte(v), true
	}
	return nil, false
}

func digestOf(_ context.Context, c *fun.Call) (fun.Result, error) {
	s, err := hexDigest(c.Value("value"), c.Str("algorithm"))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(s)
}

// hexDigest returns the digest of text as hexadecimal.
// Salt: salt/utils/data.py hash.
func hexDigest(v value.Value, algorithm string) (string, error) {
	b, ok := bytesOf(v)
	if !ok {
		return "", value.Raise("TypeError", "object supporting the buffer API required")
	}
	h := digest.New(algorithm)
	if h == nil {
		return "", fun.Errorf("You must specify a valid algorithm.")
	}
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)), nil
}

func strEncode(_ context.Context, c *fun.Call) (fun.Result, error) {
	b, ok := bytesOf(c.Value("value"))
	// Salt encodes the text to bytes before it asks for another encoder, which
	// bytes do not have.
	if !ok || c.Str("encoder") != "base64" {
		return fun.Result{}, fun.Errorf("Value must be an encode-able string")
	}
	return fun.Value(base64.StdEncoding.EncodeToString(b))
}

func randInt(_ context.Context, c *fun.Call) (fun.Result, error) {
	r, err := value.NewRandom(c.Value("seed"))
	if err != nil {
		return fun.Result{}, err
	}
	n, err := r.RandRange(c.Int("start"), c.Int("end")+1)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(n)
}

func seeded(_ context.Context, c *fun.Call) (fun.Result, error) {
	n := c.Int("range")
	if n <= 0 {
		return fun.Result{}, value.Raise("ValueError", "empty range for randrange()")
	}
	by := c.Value("hash")
	if by == nil {
		by = c.Env.ID
	}
	r, err := value.NewRandom(by)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(r.Below(n))
}

func sample(_ context.Context, c *fun.Call) (fun.Result, error) {
	return pick(c, func(int) int { return int(c.Int("size")) })
}

func shuffle(_ context.Context, c *fun.Call) (fun.Result, error) {
	return pick(c, func(all int) int { return all })
}

// pick takes some of the list. A seed counts by its SHA-512.
// Salt: salt/utils/data.py sample, shuffle.
func pick(c *fun.Call, size func(all int) int) (fun.Result, error) {
	var items []value.Value
	switch v := c.Value("value").(type) {
	case *value.List:
		items = v.Items
	case value.Tuple:
		items = v
	case string:
		for _, r := range v {
			items = append(items, string(r))
		}
	default:
		return fun.Result{}, value.Raise("TypeError", "Population must be a sequence.  For dicts or sets, use sorted(d).")
	}
	var by value.Value
	if s := c.Value("seed"); s != nil {
		d, err := hexDigest(s, "sha512")
		if err != nil {
			return fun.Result{}, err
		}
		by = d
	}
	r, err := value.NewRandom(by)
	if err != nil {
		return fun.Result{}, err
	}
	out, err := r.Sample(items, size(len(items)))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.NewList(out...))
}
