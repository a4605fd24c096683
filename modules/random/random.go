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

// Module returns the rows of the execution module "random".
func Module() fun.Module {
	flag := func(name string, def bool, doc string) fun.Arg {
		return fun.Arg{Name: name, Type: fun.Bool, Default: def, Doc: doc}
	}
	seed := fun.Arg{Name: "seed", Doc: "what makes the outcome the same each time; None is by chance"}
	return fun.Module{
		Name: "random", Kind: fun.Exec, Doc: "Random numbers, text and picks.",
		Specs: []fun.Spec{
			{
				Name: "get_str", Doc: "Return random text.", Src: "modules/mod_random.py get_str", Fn: getStr,
				Args: []fun.Arg{
					{Name: "length", Type: fun.Int, Default: int64(20), Unit: "characters", Doc: "how long"},
					{Name: "chars", Type: fun.Str, Doc: "the characters to pick from, instead of the classes below"},
					flag("lowercase", true, "pick from a to z"),
					flag("uppercase", true, "pick from A to Z"),
					flag("digits", true, "pick from 0 to 9"),
					flag("punctuation", true, "pick from ASCII punctuation"),
					flag("whitespace", false, "pick from ASCII white space"),
					flag("printable", false, "pick from all of these classes"),
				},
			},
			{
				Name: "hash", Doc: "Return the digest of a text as hexadecimal.", Src: "modules/mod_random.py hash", Fn: digestOf,
				Args: []fun.Arg{
					{Name: "value", Required: true, Doc: "the text"},
					{Name: "algorithm", Type: fun.Str, Default: "sha512", Doc: "md5, sha1, sha224, sha256, sha384, sha512, sha3_224, sha3_256, sha3_384 or sha3_512"},
				},
			},
			{
				Name: "rand_int", Doc: "Return a random whole number.", Src: "modules/mod_random.py rand_int", Fn: randInt,
				Args: []fun.Arg{
					{Name: "start", Type: fun.Int, Default: int64(1), Doc: "the least"},
					{Name: "end", Type: fun.Int, Default: int64(10), Doc: "the greatest"},
					seed,
				},
			},
			{
				Name: "sample", Doc: "Pick items of a list, each at most once.", Src: "modules/mod_random.py sample", Fn: sample,
				Args: []fun.Arg{
					{Name: "value", Type: fun.List, Required: true, Doc: "the list"},
					{Name: "size", Type: fun.Int, Required: true, Doc: "how many"},
					seed,
				},
			},
			{
				Name: "seed", Doc: "Return a number of 0 up to range that is always the same for one minion.", Src: "modules/mod_random.py seed", Fn: seeded,
				Args: []fun.Arg{
					{Name: "range", Type: fun.Int, Default: int64(10), Doc: "how many numbers there are"},
					{Name: "hash", Doc: "what to make it of; default: the minion's id"},
				},
			},
			{
				Name: "shadow_hash", Doc: "Return the hash of a password as shadow(5) has it.", Src: "modules/mod_random.py shadow_hash", Fn: shadowHash,
				Args: []fun.Arg{
					{Name: "crypt_salt", Doc: "at most sixteen characters; None: random ones"},
					{Name: "password", Doc: "the password; None: a random one"},
					{Name: "algorithm", Type: fun.Str, Default: "sha512", Doc: "sha256 or sha512"},
				},
			},
			{
				Name: "shuffle", Doc: "Return a list in random order.", Src: "modules/mod_random.py shuffle", Fn: shuffle,
				Args: []fun.Arg{{Name: "value", Type: fun.List, Required: true, Doc: "the list"}, seed},
			},
			{
				Name: "str_encode", Doc: "Encode a text as Base64.", Src: "modules/mod_random.py str_encode", Fn: strEncode,
				Args: []fun.Arg{
					{Name: "value", Required: true, Doc: "the text"},
					{Name: "encoder", Type: fun.Str, Default: "base64", Doc: "base64; Salt knows no other that works"},
				},
			},
		},
	}
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
// Difference: there are sha256 and sha512 alone.
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
		return fun.Result{}, fun.Errorf("Algorithm '%s' is not supported: sha256 and sha512 are", c.Str("algorithm"))
	}
	return fun.Value(h)
}

// maxLength bounds random text, in characters.
const maxLength = 1 << 24

func getStr(_ context.Context, c *fun.Call) (fun.Result, error) {
	n, err := value.ToInt(c.Value("length"))
	if err != nil {
		return fun.Result{}, err
	}
	length, ok := value.AsInt(n)
	if !ok || length > maxLength {
		return fun.Result{}, fun.Errorf("length %s is too large: at most %d", value.Str(n), maxLength)
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
	s := ""
	for _, class := range [...]struct{ name, chars string }{
		{"lowercase", lowercase},
		{"uppercase", uppercase},
		{"digits", digits},
		{"punctuation", punctuation},
		{"whitespace", whitespace},
	} {
		if c.Bool(class.name) {
			s += class.chars
		}
	}
	return s
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

// whole returns an argument that has to be a whole number.
func whole(c *fun.Call, name string) (int64, error) {
	v := c.Value(name)
	n, ok := value.AsInt(v)
	if !ok {
		return 0, value.Raise("TypeError", "'%s' object cannot be interpreted as an integer", value.TypeName(v))
	}
	return n, nil
}

func randInt(_ context.Context, c *fun.Call) (fun.Result, error) {
	lo, err := whole(c, "start")
	if err != nil {
		return fun.Result{}, err
	}
	hi, err := whole(c, "end")
	if err != nil {
		return fun.Result{}, err
	}
	r, err := value.NewRandom(c.Value("seed"))
	if err != nil {
		return fun.Result{}, err
	}
	n, err := r.RandRange(lo, hi+1)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(n)
}

func seeded(_ context.Context, c *fun.Call) (fun.Result, error) {
	n, err := whole(c, "range")
	if err != nil {
		return fun.Result{}, err
	}
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
	n, err := whole(c, "size")
	if err != nil {
		return fun.Result{}, err
	}
	return pick(c, func(int) int { return int(n) })
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
