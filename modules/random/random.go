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

	"brine/internal/core/fun"
	"brine/internal/py/digest"
	"brine/internal/py/shacrypt"
	"brine/internal/py/value"
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

type shadowHashArgs struct {
	_         fun.Arguments
	CryptSalt value.Value `arg:"crypt_salt,str" doc:"at most sixteen characters; default: random"`
	Password  value.Value `arg:"password,secret,str" doc:"the password; default: random"`
	Algorithm string      `arg:"algorithm" default:"sha512" doc:"sha512, sha256 or md5, which is insecure"`
}

// shadowHash hashes a password. Salt: salt/modules/mod_random.py shadow_hash.
// Difference: there are sha512, sha256 and md5 only.
func shadowHash(_ context.Context, c *fun.Call, a *shadowHashArgs) (fun.Result, error) {
	salt, password := shacrypt.Salt(), shacrypt.Salt()
	if v := a.CryptSalt; value.Truth(v) {
		salt = value.Str(v)
	}
	if v := a.Password; v != nil {
		password = value.Str(v)
	}
	h, err := shacrypt.Hash(a.Algorithm, password, salt)
	if err != nil {
		return fun.Result{}, fun.Errorf("Algorithm '%s' is not supported; supported are sha512, sha256 and md5", a.Algorithm)
	}
	return fun.Value(h)
}

// maxLength bounds random text, in characters.
const maxLength = 1 << 24

type getStrArgs struct {
	_           fun.Arguments
	Length      int64  `arg:"length" default:"20" unit:"characters" doc:"length of the text"`
	Chars       string `arg:"chars" doc:"the characters to choose from, instead of the classes below"`
	Lowercase   bool   `arg:"lowercase" default:"True" doc:"use a to z"`
	Uppercase   bool   `arg:"uppercase" default:"True" doc:"use A to Z"`
	Digits      bool   `arg:"digits" default:"True" doc:"use 0 to 9"`
	Punctuation bool   `arg:"punctuation" default:"True" doc:"use ASCII punctuation"`
	Whitespace  bool   `arg:"whitespace" default:"False" doc:"use ASCII white space"`
	Printable   bool   `arg:"printable" default:"False" doc:"use all of these classes"`
}

func getStr(_ context.Context, c *fun.Call, a *getStrArgs) (fun.Result, error) {
	length := a.Length
	if length > maxLength {
		return fun.Result{}, fun.Errorf("length %d is too large: at most %d", length, maxLength)
	}
	from := []rune(alphabet(a))
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

func alphabet(a *getStrArgs) string {
	if s := a.Chars; s != "" {
		return s
	}
	if a.Printable {
		return printable
	}
	var s strings.Builder
	for _, class := range [...]struct {
		is    bool
		chars string
	}{
		{a.Lowercase, lowercase},
		{a.Uppercase, uppercase},
		{a.Digits, digits},
		{a.Punctuation, punctuation},
		{a.Whitespace, whitespace},
	} {
		if class.is {
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

type digestOfArgs struct {
	valueArg
	Algorithm string `arg:"algorithm" default:"sha512" doc:"md5, sha1, sha224, sha256, sha384, sha512, sha3_224, sha3_256, sha3_384 or sha3_512"`
}

func digestOf(_ context.Context, c *fun.Call, a *digestOfArgs) (fun.Result, error) {
	s, err := hexDigest(a.Value, a.Algorithm)
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

type strEncodeArgs struct {
	valueArg
	Encoder string `arg:"encoder" default:"base64" doc:"base64; Salt supports no other"`
}

func strEncode(_ context.Context, c *fun.Call, a *strEncodeArgs) (fun.Result, error) {
	b, ok := bytesOf(a.Value)
	// Salt encodes the text to bytes before it asks for another encoder, which
	// bytes do not have.
	if !ok || a.Encoder != "base64" {
		return fun.Result{}, fun.Errorf("Value must be an encode-able string")
	}
	return fun.Value(base64.StdEncoding.EncodeToString(b))
}

type randIntArgs struct {
	Start int64 `arg:"start" default:"1" doc:"the smallest"`
	End   int64 `arg:"end" default:"10" doc:"the largest"`
	seedArg
}

func randInt(_ context.Context, c *fun.Call, a *randIntArgs) (fun.Result, error) {
	r, err := value.NewRandom(a.Seed)
	if err != nil {
		return fun.Result{}, err
	}
	n, err := r.RandRange(a.Start, a.End+1)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(n)
}

type seededArgs struct {
	_     fun.Arguments
	Range int64       `arg:"range" default:"10" doc:"how many numbers there are"`
	Hash  value.Value `arg:"hash" doc:"what to derive it from; default: the minion ID"`
}

func seeded(_ context.Context, c *fun.Call, a *seededArgs) (fun.Result, error) {
	n := a.Range
	if n <= 0 {
		return fun.Result{}, value.Raise("ValueError", "empty range for randrange()")
	}
	by := a.Hash
	if by == nil {
		by = c.Env.ID
	}
	r, err := value.NewRandom(by)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(r.Below(n))
}

type sampleArgs struct {
	listArg
	Size int64 `arg:"size,required" doc:"how many"`
	seedArg
}

func sample(_ context.Context, c *fun.Call, a *sampleArgs) (fun.Result, error) {
	return pick(a.Seed, a.Value, func(int) int { return int(a.Size) })
}

type shuffleArgs struct {
	listArg
	seedArg
}

func shuffle(_ context.Context, c *fun.Call, a *shuffleArgs) (fun.Result, error) {
	return pick(a.Seed, a.Value, func(all int) int { return all })
}

// pick takes some of the list. A seed counts by its SHA-512.
// Salt: salt/utils/data.py sample, shuffle.
func pick(seed value.Value, argValue value.Value, size func(all int) int) (fun.Result, error) {
	var items []value.Value
	switch v := argValue.(type) {
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
	if s := seed; s != nil {
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
