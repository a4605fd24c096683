package jinja

import (
	"crypto/hmac"
	crand "crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"strings"
	"unicode/utf8"

	"brine/internal/digest"
	"brine/internal/pyre"
	"brine/internal/value"
)

// saltTextFilter returns Salt's filters on text.
func saltTextFilter(name string) Func {
	switch name {
	case "quote":
		return saltQuote
	case "regex_escape":
		return saltRegexEscape
	case "regex_search", "regex_match":
		return saltRegexFind(name)
	case "regex_replace":
		return saltRegexReplace
	case "uuid":
		return saltUUID
	case "md5", "sha1", "sha256", "sha512":
		return saltDigest(name)
	case "hmac":
		return saltHmac
	case "hmac_compute":
		return saltHmacCompute
	case "base64_encode":
		return saltBase64Encode
	case "base64_decode":
		return saltBase64Decode
	case "random_hash", "rand_str":
		return saltRandomHash
	case "random_str":
		return saltRandomStr
	case "to_bytes":
		return saltToBytes
	case "to_num", "str_to_num":
		return saltToNum
	case "is_hex":
		return saltIsHex
	case "contains_whitespace":
		return saltHasBlank
	case "check_whitelist_blacklist":
		return saltWhitelist
	case "to_snake_case":
		return saltSnake
	case "to_camelcase":
		return saltCamel
	case "human_to_bytes":
		return saltHumanToBytes
	}
	return nil
}

// wantText returns the text of an argument that Python takes only as str.
func wantText(v value.Value, format string) (string, error) {
	if err := defined(v); err != nil {
		return "", err
	}
	s, ok := Text(v)
	if !ok {
		return "", value.Raise("TypeError", format, value.TypeName(v))
	}
	return s, nil
}

// saltQuote quotes text for a shell, as Python's shlex.quote.
func saltQuote(c *Call) (value.Value, error) {
	a, err := c.bind("quote", 0, "txt")
	if err != nil {
		return nil, err
	}
	s, err := wantText(a[0], "expected string or bytes-like object, got '%s'")
	if err != nil {
		return nil, err
	}
	if s == "" {
		return "''", nil
	}
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (isAlnum(r) || strings.ContainsRune("_@%+=:,./-", r))
	}
	if every(s, plain) {
		return s, nil
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'", nil
}

func saltRegexEscape(c *Call) (value.Value, error) {
	a, err := c.bind("regex_escape", 0, "value")
	if err != nil {
		return nil, err
	}
	s, err := wantText(a[0], "expected string or bytes-like object, got '%s'")
	if err != nil {
		return nil, err
	}
	return pyre.Escape(s), nil
}

// regex compiles a pattern once in a rendering.
func (c *Call) regex(pattern, ignorecase, multiline value.Value) (*pyre.Regexp, error) {
	p, err := wantText(pattern, "first argument must be string or compiled pattern")
	if err != nil {
		if defined(pattern) == nil {
			err = value.Raise("TypeError", "first argument must be string or compiled pattern")
		}
		return nil, err
	}
	var flags pyre.Flags
	fold, err := c.boolArg(ignorecase, false)
	if err != nil {
		return nil, err
	}
	if fold {
		flags |= pyre.IgnoreCase
	}
	multi, err := c.boolArg(multiline, false)
	if err != nil {
		return nil, err
	}
	if multi {
		flags |= pyre.Multiline
	}
	return c.S.run.regexps.get(p, flags)
}

// regexps keeps the patterns that a rendering compiled.
type regexps map[regexpKey]*pyre.Regexp

type regexpKey struct {
	pattern string
	flags   pyre.Flags
}

func (r *regexps) get(pattern string, flags pyre.Flags) (*pyre.Regexp, error) {
	k := regexpKey{pattern, flags}
	if re := (*r)[k]; re != nil {
		return re, nil
	}
	re, err := pyre.Compile(pattern, flags)
	if err != nil {
		return nil, err
	}
	if *r == nil || len(*r) > 200 {
		*r = regexps{}
	}
	(*r)[k] = re
	return re, nil
}

func saltRegexFind(name string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.bind(name, 0, "txt", "rgx", "ignorecase?", "multiline?")
		if err != nil {
			return nil, err
		}
		re, err := c.regex(a[1], a[2], a[3])
		if err != nil {
			return nil, err
		}
		s, err := wantText(a[0], "expected string or bytes-like object, got '%s'")
		if err != nil {
			return nil, err
		}
		find := re.Search
		if name == "regex_match" {
			find = re.Match
		}
		m, err := find(s)
		if m == nil || err != nil {
			return nil, err
		}
		groups := make(value.Tuple, re.Groups())
		for i := range groups {
			if g, ok := m.Group(i + 1); ok {
				groups[i] = g
			}
		}
		return groups, nil
	}
}

func saltRegexReplace(c *Call) (value.Value, error) {
	a, err := c.bind("regex_replace", 0, "txt", "rgx", "val", "ignorecase?", "multiline?")
	if err != nil {
		return nil, err
	}
	re, err := c.regex(a[1], a[3], a[4])
	if err != nil {
		return nil, err
	}
	repl, err := wantText(a[2], "decoding to str: need a bytes-like object, %s found")
	if err != nil {
		return nil, err
	}
	s, err := wantText(a[0], "expected string or bytes-like object, got '%s'")
	if err != nil {
		return nil, err
	}
	// Every match adds at most the replacement and what its groups hold.
	if err := value.CheckSize((len(s) + 1) * (len(repl) + 1) / 64); err != nil {
		return nil, err
	}
	out, _, err := re.Sub(repl, s, 0)
	if err != nil {
		return nil, err
	}
	return out, value.CheckSize(len(out))
}

// testMatch is Salt's test match: whether a pattern matches at the start.
func testMatch(c *Call) (value.Value, error) {
	a, err := c.bind("test_match", 0, "txt", "rgx", "ignorecase?", "multiline?")
	if err != nil {
		return nil, err
	}
	re, err := c.regex(a[1], a[2], a[3])
	if err != nil {
		return nil, err
	}
	s, err := wantText(a[0], "expected string or bytes-like object, got '%s'")
	if err != nil {
		return nil, err
	}
	m, err := re.Match(s)
	return m != nil, err
}

// toBytes is salt.utils.stringutils.to_bytes.
func toBytes(v value.Value) ([]byte, error) {
	if err := defined(v); err != nil {
		return nil, err
	}
	if s, ok := Text(v); ok {
		return []byte(s), nil
	}
	if b, ok := v.(value.Bytes); ok {
		return []byte(b), nil
	}
	return nil, notText(v)
}

func notText(v value.Value) error {
	return value.Raise("TypeError", "expected str, bytes, or bytearray not <class '%s'>", value.TypeName(v))
}

// fromBytes is text where b is UTF-8, else bytes.
func fromBytes(b []byte) value.Value {
	if utf8.Valid(b) {
		return string(b)
	}
	return value.Bytes(b)
}

// saltUUID makes a version 5 UUID of text in Salt's own name space.
func saltUUID(c *Call) (value.Value, error) {
	a, err := c.bind("uuid_", 0, "val")
	if err != nil {
		return nil, err
	}
	b, err := toBytes(a[0])
	if err != nil {
		return nil, err
	}
	space := []byte{0x91, 0x63, 0x3e, 0xbf, 0x1c, 0x86, 0x5e, 0x33, 0x93, 0x5a, 0x28, 0x06, 0x1f, 0x4b, 0x48, 0x0e}
	sum := sha1.Sum(append(space, b...))
	sum[6] = sum[6]&0x0f | 0x50
	sum[8] = sum[8]&0x3f | 0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
}

func saltDigest(name string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.bind(name+"_digest", 0, "instr")
		if err != nil {
			return nil, err
		}
		b, err := toBytes(a[0])
		if err != nil {
			return nil, err
		}
		h := digest.New(name)
		h.Write(b)
		return hex.EncodeToString(h.Sum(nil)), nil
	}
}

func hmacSum(text, secret value.Value) ([]byte, error) {
	msg, err := toBytes(text)
	if err != nil {
		return nil, err
	}
	key, err := toBytes(secret)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, key)
	h.Write(msg)
	return h.Sum(nil), nil
}

// saltHmac reports whether a base64 HMAC-SHA256 of text is the one given.
func saltHmac(c *Call) (value.Value, error) {
	a, err := c.bind("hmac_signature", 0, "string", "shared_secret", "challenge_hmac")
	if err != nil {
		return nil, err
	}
	sum, err := hmacSum(a[0], a[1])
	if err != nil {
		return nil, err
	}
	challenge, err := toBytes(a[2])
	if err != nil {
		return nil, err
	}
	return hmac.Equal(challenge, []byte(base64.StdEncoding.EncodeToString(sum))), nil
}

func saltHmacCompute(c *Call) (value.Value, error) {
	a, err := c.bind("hmac_compute", 0, "string", "shared_secret")
	if err != nil {
		return nil, err
	}
	sum, err := hmacSum(a[0], a[1])
	return hex.EncodeToString(sum), err
}

func saltBase64Encode(c *Call) (value.Value, error) {
	a, err := c.bind("base64_b64encode", 0, "instr")
	if err != nil {
		return nil, err
	}
	b, err := toBytes(a[0])
	return base64.StdEncoding.EncodeToString(b), err
}

// saltBase64Decode decodes as Python's base64.b64decode: what is no letter of
// the alphabet is passed over.
func saltBase64Decode(c *Call) (value.Value, error) {
	a, err := c.bind("base64_b64decode", 0, "instr")
	if err != nil {
		return nil, err
	}
	b, err := toBytes(a[0])
	if err != nil {
		return nil, err
	}
	out, err := decodeBase64(b)
	if err != nil {
		return nil, err
	}
	return fromBytes(out), nil
}

func decodeBase64(in []byte) ([]byte, error) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var out []byte
	quad, left, pads := 0, 0, 0
	for _, ch := range in {
		if ch == '=' {
			if quad >= 2 {
				if pads++; quad+pads >= 4 {
					return out, nil
				}
			}
			continue
		}
		v := strings.IndexByte(alphabet, ch)
		if v < 0 {
			continue
		}
		pads = 0
		switch quad {
		case 0:
			left = v
		case 1:
			out = append(out, byte(left<<2|v>>4))
			left = v & 0x0f
		case 2:
			out = append(out, byte(left<<4|v>>2))
			left = v & 0x03
		case 3:
			out = append(out, byte(left<<6|v))
		}
		quad = (quad + 1) % 4
	}
	switch quad {
	case 0:
		return out, nil
	case 1:
		return nil, value.Raise("Error", "Invalid base64-encoded string: number of data characters (%d) cannot be 1 more than a multiple of 4", len(out)/3*4+1)
	}
	return nil, value.Raise("Error", "Incorrect padding")
}

// saltRandomHash hashes a random number of 0 to size.
func saltRandomHash(c *Call) (value.Value, error) {
	a, err := c.bind("random_hash", 0, "size?", "hash_type?")
	if err != nil {
		return nil, err
	}
	size := big.NewInt(9999999999)
	if given(a[0]) {
		if err := defined(a[0]); err != nil {
			return nil, err
		}
		i, ok := value.AsBig(a[0])
		if !ok {
			return nil, value.Raise("TypeError", "can only concatenate %s (not \"int\") to %s", value.TypeName(a[0]), value.TypeName(a[0]))
		}
		size = i
	}
	if size.Sign() < 0 {
		return nil, value.Raise("ValueError", "empty range for randrange() (0, %s, %s)", new(big.Int).Add(size, big.NewInt(1)), new(big.Int).Add(size, big.NewInt(1)))
	}
	name := "md5"
	if v := orNil(a[1]); v != nil && value.Truth(v) {
		if name, err = wantText(v, "attribute name must be string, not '%s'"); err != nil {
			return nil, err
		}
	}
	h := digest.New(name)
	if h == nil {
		return nil, value.Raise("AttributeError", "module 'hashlib' has no attribute %s", value.QuoteStr(name))
	}
	n, err := crand.Int(crand.Reader, new(big.Int).Add(size, big.NewInt(1)))
	if err != nil {
		return nil, err
	}
	h.Write([]byte(n.String()))
	return hex.EncodeToString(h.Sum(nil)), nil
}

// saltRandomStr returns size random characters of the base64 alphabet.
func saltRandomStr(c *Call) (value.Value, error) {
	a, err := c.bind("random", 0, "size?")
	if err != nil {
		return nil, err
	}
	n, err := intArg(a[0], 32)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, value.Raise("ValueError", "negative argument not allowed")
	}
	if err := value.CheckSize(n); err != nil {
		return nil, err
	}
	key := make([]byte, n)
	if _, err := crand.Read(key); err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString(key)[:n], nil
}

func saltToBytes(c *Call) (value.Value, error) {
	a, err := c.bind("to_bytes", 0, "s", "encoding?", "errors?")
	if err != nil {
		return nil, err
	}
	b, err := toBytes(a[0])
	if err != nil {
		return nil, err
	}
	s, isText := Text(a[0])
	if enc := orNil(a[1]); enc != nil && isText {
		return encodeText(s, enc, a[2])
	}
	return value.Bytes(b), nil
}

// saltToNum reads an int, else a float, else returns the text.
func saltToNum(c *Call) (value.Value, error) {
	a, err := c.bind("to_num", 0, "text")
	if err != nil {
		return nil, err
	}
	return toNum(a[0])
}

func toNum(v value.Value) (value.Value, error) {
	n, err := value.ToInt(v)
	if !isPy(err, "ValueError") {
		return n, err
	}
	f, err := value.ToFloat(v)
	if isPy(err, "ValueError") {
		return v, nil
	}
	return f, err
}

func saltIsHex(c *Call) (value.Value, error) {
	a, err := c.bind("is_hex", 0, "value")
	if err != nil {
		return nil, err
	}
	s, ok := Text(a[0])
	if !ok {
		return false, nil
	}
	_, err = value.ParseInt(s, 16)
	return err == nil, nil
}

func saltHasBlank(c *Call) (value.Value, error) {
	a, err := c.bind("contains_whitespace", 0, "text")
	if err != nil {
		return nil, err
	}
	seq, err := value.Iter(a[0])
	if err != nil {
		return nil, err
	}
	for v := range seq {
		s, ok := Text(v)
		if !ok {
			return nil, value.Raise("AttributeError", "'%s' object has no attribute 'isspace'", value.TypeName(v))
		}
		if every(s, value.IsSpace) {
			return true, nil
		}
	}
	return false, nil
}

// saltWhitelist checks text against lists of globs and patterns.
// Salt: salt/utils/stringutils.py check_whitelist_blacklist.
func saltWhitelist(c *Call) (value.Value, error) {
	a, err := c.bind("check_whitelist_blacklist", 0, "value", "whitelist?", "blacklist?")
	if err != nil {
		return nil, err
	}
	if err := defined(a[0]); err != nil {
		return nil, err
	}
	// hits reports whether a list was given and whether the text is in it.
	hits := func(v value.Value, what string) (given, hit bool, err error) {
		v = orNil(v)
		t, err := c.S.Truth(v)
		if err != nil || !t {
			return false, false, err
		}
		if _, ok := Text(v); ok {
			v = value.NewList(v)
		}
		if !value.IsIterable(v) {
			return true, false, value.Raise("TypeError", "Expecting iterable %s, but got %s (%s)", what, value.TypeName(v), value.Str(v))
		}
		items, err := value.Items(v)
		if err != nil {
			return true, false, err
		}
		for _, it := range items {
			ok, err := exprMatch(a[0], it)
			if ok || err != nil {
				return true, ok, err
			}
		}
		return true, false, nil
	}
	black, inBlack, err := hits(a[2], "blacklist")
	if err != nil {
		return nil, err
	}
	white, inWhite, err := hits(a[1], "whitelist")
	if err != nil {
		return nil, err
	}
	return !(black && inBlack) && (!white || inWhite), nil
}

// exprMatch reports whether text matches a glob, or wholly a pattern.
func exprMatch(line, expr value.Value) (bool, error) {
	s, ok := Text(line)
	p, ok2 := Text(expr)
	if !ok || !ok2 {
		return false, nil
	}
	return pyre.Expr(p, s)
}

// saltSnake turns camelCase into snake_case.
func saltSnake(c *Call) (value.Value, error) {
	a, err := c.bind("camel_to_snake_case", 0, "camel_input")
	if err != nil {
		return nil, err
	}
	s, err := wantText(a[0], "expected string or bytes-like object, got '%s'")
	if err != nil {
		return nil, err
	}
	isUp := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	isLow := func(c byte) bool { return c >= 'a' && c <= 'z' }
	// First a capital with small letters behind it starts a word, then a
	// capital behind a small letter or a digit.
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if i > 0 && s[i-1] != '\n' && isUp(s[i]) && i+1 < len(s) && isLow(s[i+1]) {
			b.WriteByte('_')
			for b.WriteByte(s[i]); i+1 < len(s) && isLow(s[i+1]); i++ {
				b.WriteByte(s[i+1])
			}
			// What follows at once has its first character taken by the
			// pattern, so it is not looked at again.
			if i+1 < len(s) {
				i++
				b.WriteByte(s[i])
			}
			continue
		}
		b.WriteByte(s[i])
	}
	s = b.String()
	b.Reset()
	for i := range len(s) {
		if i > 0 && isUp(s[i]) && (isLow(s[i-1]) || s[i-1] >= '0' && s[i-1] <= '9') {
			b.WriteByte('_')
		}
		b.WriteByte(s[i])
	}
	return lower(b.String()), nil
}

// saltCamel turns snake_case into camelCase, or UpperCamelCase.
func saltCamel(c *Call) (value.Value, error) {
	a, err := c.bind("snake_to_camel_case", 0, "snake_input", "uppercamel?")
	if err != nil {
		return nil, err
	}
	if err := defined(a[0]); err != nil {
		return nil, err
	}
	s, ok := Text(a[0])
	if !ok {
		return nil, value.Raise("AttributeError", "'%s' object has no attribute 'split'", value.TypeName(a[0]))
	}
	up, err := c.boolArg(a[1], false)
	if err != nil {
		return nil, err
	}
	words := strings.Split(s, "_")
	for i, w := range words {
		if i > 0 || up {
			words[i] = capitalize(w)
		}
	}
	return strings.Join(words, ""), nil
}

// saltHumanToBytes reads a size such as 2G, 30 MB or 64KiB; what it cannot
// read is 0. Units are of 1024, but kB, MB and so on of 1000 where
// handle_metric is set. Salt: salt/utils/stringutils.py human_to_bytes.
func saltHumanToBytes(c *Call) (value.Value, error) {
	a, err := c.bind("human_to_bytes", 0, "size", "default_unit?", "handle_metric?")
	if err != nil {
		return nil, err
	}
	s, err := c.S.Str(a[0])
	if err != nil {
		return nil, err
	}
	s = value.TrimSpace(s)
	i := 0
	for i < len(s) && (s[i] == '.' || s[i] >= '0' && s[i] <= '9') {
		i++
	}
	number, unit := s[:i], lower(strings.TrimLeftFunc(s[i:], value.IsSpace))
	if strings.Contains(unit, "\n") {
		return int64(0), nil
	}
	if unit == "" {
		unit = "b"
		if given(a[1]) {
			u, err := c.S.Str(a[1])
			if err != nil {
				return nil, err
			}
			unit = lower(u)
		}
	}
	metric, err := c.boolArg(a[2], false)
	if err != nil {
		return nil, err
	}
	n, err := toNum(number)
	if err != nil {
		return nil, err
	}
	if _, isText := n.(string); isText || unit == "" {
		return int64(0), nil
	}
	p := strings.IndexByte("bkmgtpezy", unit[0])
	decimal := false
	switch {
	case p < 0:
		return int64(0), nil
	case p > 0 && unit[1:] == "b":
		decimal = metric
	case unit[1:] == "" || p > 0 && unit[1:] == "ib":
	default:
		return int64(0), nil
	}
	factor := new(big.Int).Lsh(big.NewInt(1), uint(10*p))
	if decimal {
		factor = new(big.Int).Exp(big.NewInt(1000), big.NewInt(int64(p)), nil)
	}
	product, err := value.Mul(n, value.NormInt(factor))
	if err != nil {
		return nil, err
	}
	return value.ToInt(product)
}
