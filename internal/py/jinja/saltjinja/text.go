package saltjinja

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

	"brine/internal/py/digest"
	"brine/internal/py/jinja"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/jinja/pytext"
	"brine/internal/py/pyre"
	"brine/internal/py/serial"
	"brine/internal/py/value"
)

// textFilters returns Salt's filters on text.
func textFilters() map[string]jinja.Func {
	return map[string]jinja.Func{
		"base64_decode":             filterBase64Decode,
		"base64_encode":             filterBase64Encode,
		"check_whitelist_blacklist": filterWhitelist,
		"contains_whitespace":       filterHasBlank,
		"hmac":                      filterHmac,
		"hmac_compute":              filterHmacCompute,
		"human_to_bytes":            filterHumanToBytes,
		"is_hex":                    filterIsHex,
		"md5":                       filterDigest("md5"),
		"path_join":                 filterPathJoin,
		"quote":                     filterQuote,
		"rand_str":                  filterRandomHash,
		"random_hash":               filterRandomHash,
		"random_str":                filterRandomStr,
		"regex_escape":              filterRegexEscape,
		"regex_match":               filterRegexFind("regex_match"),
		"regex_replace":             filterRegexReplace,
		"regex_search":              filterRegexFind("regex_search"),
		"sha1":                      filterDigest("sha1"),
		"sha256":                    filterDigest("sha256"),
		"sha512":                    filterDigest("sha512"),
		"str_to_num":                filterToNum,
		"to_bytes":                  filterToBytes,
		"to_camelcase":              filterCamel,
		"to_num":                    filterToNum,
		"to_snake_case":             filterSnake,
		"uuid":                      filterUUID,
	}
}

// wantText returns the text of an argument that Python takes only as str.
func wantText(v value.Value, format string) (string, error) {
	if err := jinja.Defined(v); err != nil {
		return "", err
	}
	s, ok := value.AsText(v)
	if !ok {
		return "", value.Raise("TypeError", format, value.TypeName(v))
	}
	return s, nil
}

// filterQuote quotes text for a shell, as Python's shlex.quote.
func filterQuote(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("quote", 0, "txt")
	if err != nil {
		return nil, err
	}
	if err := jinja.Defined(a[0]); err != nil {
		return nil, err
	}
	return serial.Quote(a[0])
}

func filterRegexEscape(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("regex_escape", 0, "value")
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
func regex(c *jinja.Call, pattern, ignorecase, multiline value.Value) (*pyre.Regexp, error) {
	p, err := wantText(pattern, "first argument must be string or compiled pattern")
	if err != nil {
		if jinja.Defined(pattern) == nil {
			err = value.Raise("TypeError", "first argument must be string or compiled pattern")
		}
		return nil, err
	}
	var flags pyre.Flags
	fold, err := c.BoolArg(ignorecase, false)
	if err != nil {
		return nil, err
	}
	if fold {
		flags |= pyre.IgnoreCase
	}
	multi, err := c.BoolArg(multiline, false)
	if err != nil {
		return nil, err
	}
	if multi {
		flags |= pyre.Multiline
	}
	return c.State.Shared(regexpsKey{}, newRegexps).(*regexps).get(p, flags)
}

// regexps keeps the patterns that a rendering compiled.
type regexps map[regexpKey]*pyre.Regexp

type regexpsKey struct{}

func newRegexps() any { return &regexps{} }

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
	if len(*r) > 200 {
		*r = regexps{}
	}
	(*r)[k] = re
	return re, nil
}

func filterRegexFind(name string) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		a, err := c.Params(name, 0, "txt", "rgx", "ignorecase?", "multiline?")
		if err != nil {
			return nil, err
		}
		re, err := regex(c, a[1], a[2], a[3])
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

func filterRegexReplace(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("regex_replace", 0, "txt", "rgx", "val", "ignorecase?", "multiline?")
	if err != nil {
		return nil, err
	}
	re, err := regex(c, a[1], a[3], a[4])
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
func testMatch(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("test_match", 0, "txt", "rgx", "ignorecase?", "multiline?")
	if err != nil {
		return nil, err
	}
	re, err := regex(c, a[1], a[2], a[3])
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
	if err := jinja.Defined(v); err != nil {
		return nil, err
	}
	if s, ok := value.AsText(v); ok {
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

// filterUUID makes a version 5 UUID of text in Salt's own name space.
func filterUUID(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("uuid_", 0, "val")
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

func filterDigest(name string) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		a, err := c.Params(name+"_digest", 0, "instr")
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

// filterHmac reports whether a base64 HMAC-SHA256 of text is the one given.
func filterHmac(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("hmac_signature", 0, "string", "shared_secret", "challenge_hmac")
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

func filterHmacCompute(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("hmac_compute", 0, "string", "shared_secret")
	if err != nil {
		return nil, err
	}
	sum, err := hmacSum(a[0], a[1])
	return hex.EncodeToString(sum), err
}

func filterBase64Encode(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("base64_b64encode", 0, "instr")
	if err != nil {
		return nil, err
	}
	b, err := toBytes(a[0])
	return base64.StdEncoding.EncodeToString(b), err
}

// filterBase64Decode decodes as Python's base64.b64decode: it skips characters
// that are not in the alphabet.
func filterBase64Decode(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("base64_b64decode", 0, "instr")
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

// filterRandomHash hashes a random number of 0 to size.
func filterRandomHash(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("random_hash", 0, "size?", "hash_type?")
	if err != nil {
		return nil, err
	}
	size := big.NewInt(9999999999)
	if pymethod.Given(a[0]) {
		if err := jinja.Defined(a[0]); err != nil {
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
	if v := pymethod.OrNil(a[1]); v != nil && value.Truth(v) {
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

// filterRandomStr returns size random characters of the base64 alphabet.
func filterRandomStr(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("random", 0, "size?")
	if err != nil {
		return nil, err
	}
	n, err := pymethod.IntArg(a[0], 32)
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

func filterToBytes(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("to_bytes", 0, "s", "encoding?", "errors?")
	if err != nil {
		return nil, err
	}
	b, err := toBytes(a[0])
	if err != nil {
		return nil, err
	}
	s, isText := value.AsText(a[0])
	if enc := pymethod.OrNil(a[1]); enc != nil && isText {
		return pymethod.EncodeText(s, enc, a[2])
	}
	return value.Bytes(b), nil
}

// filterToNum reads an int, else a float, else returns the text.
func filterToNum(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("to_num", 0, "text")
	if err != nil {
		return nil, err
	}
	return toNum(a[0])
}

func toNum(v value.Value) (value.Value, error) {
	n, err := value.ToInt(v)
	if !pymethod.Raised(err, "ValueError") {
		return n, err
	}
	f, err := value.ToFloat(v)
	if pymethod.Raised(err, "ValueError") {
		return v, nil
	}
	return f, err
}

func filterIsHex(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("is_hex", 0, "value")
	if err != nil {
		return nil, err
	}
	s, ok := value.AsText(a[0])
	if !ok {
		return false, nil
	}
	_, err = value.ParseInt(s, 16)
	return err == nil, nil
}

func filterHasBlank(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("contains_whitespace", 0, "text")
	if err != nil {
		return nil, err
	}
	seq, err := value.Iter(a[0])
	if err != nil {
		return nil, err
	}
	for v := range seq {
		s, ok := value.AsText(v)
		if !ok {
			return nil, value.Raise("AttributeError", "'%s' object has no attribute 'isspace'", value.TypeName(v))
		}
		if pytext.Every(s, value.IsSpace) {
			return true, nil
		}
	}
	return false, nil
}

// filterWhitelist checks text against lists of globs and patterns.
// Salt: salt/utils/stringutils.py check_whitelist_blacklist.
func filterWhitelist(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("check_whitelist_blacklist", 0, "value", "whitelist?", "blacklist?")
	if err != nil {
		return nil, err
	}
	// hits reports whether a list was given and whether the text is in it.
	hits := func(v value.Value, what string) (given, hit bool, err error) {
		v = pymethod.OrNil(v)
		t, err := c.State.Truth(v)
		if err != nil || !t {
			return false, false, err
		}
		if _, ok := value.AsText(v); ok {
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
	return (!black || !inBlack) && (!white || inWhite), nil
}

// exprMatch reports whether text matches a glob, or wholly a pattern.
func exprMatch(line, expr value.Value) (bool, error) {
	s, ok := value.AsText(line)
	p, ok2 := value.AsText(expr)
	if !ok || !ok2 {
		return false, nil
	}
	return pyre.Expr(p, s)
}

// filterSnake turns camelCase into snake_case.
func filterSnake(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("camel_to_snake_case", 0, "camel_input")
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
	return pytext.Lower(b.String()), nil
}

// filterCamel turns snake_case into camelCase, or UpperCamelCase.
func filterCamel(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("snake_to_camel_case", 0, "snake_input", "uppercamel?")
	if err != nil {
		return nil, err
	}
	if err := jinja.Defined(a[0]); err != nil {
		return nil, err
	}
	s, ok := value.AsText(a[0])
	if !ok {
		return nil, value.Raise("AttributeError", "'%s' object has no attribute 'split'", value.TypeName(a[0]))
	}
	up, err := c.BoolArg(a[1], false)
	if err != nil {
		return nil, err
	}
	words := strings.Split(s, "_")
	for i, w := range words {
		if i > 0 || up {
			words[i] = pytext.Capitalize(w)
		}
	}
	return strings.Join(words, ""), nil
}

// filterHumanToBytes reads a size such as 2G, 30 MB or 64KiB; what it cannot
// read is 0. Units are of 1024, but kB, MB and so on of 1000 where
// handle_metric is set. Salt: salt/utils/stringutils.py human_to_bytes.
func filterHumanToBytes(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("human_to_bytes", 0, "size", "default_unit?", "handle_metric?")
	if err != nil {
		return nil, err
	}
	s, err := c.State.Str(a[0])
	if err != nil {
		return nil, err
	}
	s = value.TrimSpace(s)
	i := 0
	for i < len(s) && (s[i] == '.' || s[i] >= '0' && s[i] <= '9') {
		i++
	}
	number, unit := s[:i], pytext.Lower(strings.TrimLeftFunc(s[i:], value.IsSpace))
	if strings.Contains(unit, "\n") {
		return int64(0), nil
	}
	if unit == "" {
		unit = "b"
		if pymethod.Given(a[1]) {
			u, err := c.State.Str(a[1])
			if err != nil {
				return nil, err
			}
			unit = pytext.Lower(u)
		}
	}
	metric, err := c.BoolArg(a[2], false)
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
