package pymethod

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"brine/internal/py/jinja/pytext"
	"brine/internal/py/value"
)

// bytesMethod returns a method of bytes.
func bytesMethod(b, name string) Func {
	switch name {
	case "decode":
		return func(c Call) (value.Value, error) {
			a, err := c.clinic("decode", "encoding", "errors")
			if err != nil {
				return nil, err
			}
			return decodeText(b, a[0], a[1])
		}
	case "hex":
		return func(c Call) (value.Value, error) {
			a, err := c.clinic("hex", "sep", "bytes_per_sep")
			if err != nil {
				return nil, err
			}
			return bytesHex(b, a[0], a[1])
		}
	case "upper", "lower", "capitalize", "title", "swapcase":
		return func(c Call) (value.Value, error) {
			if _, err := c.Builtin("bytes", name, 0, 0); err != nil {
				return nil, err
			}
			return value.Bytes(bytesCase(b, name)), nil
		}
	case "isalnum", "isalpha", "isascii", "isdigit", "islower", "isspace", "istitle", "isupper":
		return func(c Call) (value.Value, error) {
			if _, err := c.Builtin("bytes", name, 0, 0); err != nil {
				return nil, err
			}
			if name != "isascii" && !value.IsASCII(b) {
				return false, nil
			}
			return strTest(b, name)(c)
		}
	case "strip", "lstrip", "rstrip":
		return bytesStrip(b, name)
	case "split", "rsplit", "splitlines", "partition", "rpartition":
		return bytesSplit(b, name)
	case "find", "index", "rfind", "rindex", "count", "startswith", "endswith":
		return bytesFind(b, name)
	case "replace", "removeprefix", "removesuffix", "join":
		return bytesChange(b, name)
	case "center", "ljust", "rjust", "zfill":
		return bytesPad(b, name)
	}
	return nil
}

// bytesPad is center, ljust, rjust and zfill of bytes.
func bytesPad(b, name string) Func {
	return func(c Call) (value.Value, error) {
		call := Call{In: c.In, Kw: c.Kw, Args: append([]value.Value(nil), c.Args...)}
		if len(call.Args) == 2 {
			fill, err := wantBytes(call.Args[1])
			if err != nil {
				return nil, err
			}
			call.Args[1] = latin1(fill)
		}
		v, err := strPad(latin1(b), false, name)(call)
		if err != nil {
			return nil, err
		}
		return value.Bytes(fromLatin1(v.(string))), nil
	}
}

// bytesStrip is strip, lstrip and rstrip of bytes.
func bytesStrip(b, name string) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin("bytes", name, 0, 1)
		if err != nil {
			return nil, err
		}
		cut := " \t\n\r\v\f"
		if v := OrNil(a[0]); v != nil {
			if cut, err = wantBytes(v); err != nil {
				return nil, err
			}
		}
		lo, hi := 0, len(b)
		for name != "rstrip" && lo < hi && strings.IndexByte(cut, b[lo]) >= 0 {
			lo++
		}
		for name != "lstrip" && lo < hi && strings.IndexByte(cut, b[hi-1]) >= 0 {
			hi--
		}
		return value.Bytes(b[lo:hi]), nil
	}
}

// latin1 makes text of bytes, a character each, so that what counts characters
// counts bytes.
func latin1(b string) string {
	if value.IsASCII(b) {
		return b
	}
	var s strings.Builder
	for i := range len(b) {
		s.WriteRune(rune(b[i]))
	}
	return s.String()
}

func fromLatin1(s string) string {
	if value.IsASCII(s) {
		return s
	}
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

func wantBytes(v value.Value) (string, error) {
	b, ok := v.(value.Bytes)
	if !ok {
		return "", value.Raise("TypeError", "a bytes-like object is required, not '%s'", value.TypeName(v))
	}
	return string(b), nil
}

func bytesCase(b, name string) string {
	out := []byte(b)
	prev := false
	for i, c := range out {
		up, low := c, c
		if c >= 'a' && c <= 'z' {
			up = c - 32
		}
		if c >= 'A' && c <= 'Z' {
			low = c + 32
		}
		switch name {
		case "upper":
			out[i] = up
		case "lower":
			out[i] = low
		case "swapcase":
			if out[i] = up; up == c {
				out[i] = low
			}
		case "capitalize":
			if out[i] = low; i == 0 {
				out[i] = up
			}
		default:
			if out[i] = up; prev {
				out[i] = low
			}
			prev = up != low
		}
	}
	return string(out)
}

func bytesHex(b string, sep, group value.Value) (value.Value, error) {
	s := hex.EncodeToString([]byte(b))
	if !Given(sep) {
		return s, nil
	}
	t, ok := value.AsText(sep)
	if !ok || len(t) != 1 {
		return nil, value.Raise("ValueError", "sep must be length 1.")
	}
	n, err := IntArg(group, 1)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return s, nil
	}
	var parts []string
	step := 2 * min(max(n, -n), len(b)+1)
	if n > 0 { // groups are counted from the right
		if first := len(s) % step; first > 0 {
			parts, s = append(parts, s[:first]), s[first:]
		}
	}
	for len(s) > step {
		parts, s = append(parts, s[:step]), s[step:]
	}
	if s != "" {
		parts = append(parts, s)
	}
	return strings.Join(parts, t), nil
}

func bytesSplit(b, name string) Func {
	switch name {
	case "splitlines":
		return func(c Call) (value.Value, error) { return bytesLines(c, b) }
	case "partition", "rpartition":
		return func(c Call) (value.Value, error) { return bytesPartition(c, b, name) }
	}
	return func(c Call) (value.Value, error) {
		a, err := c.clinic(name, "sep", "maxsplit")
		if err != nil {
			return nil, err
		}
		limit, err := IntArg(a[1], -1)
		if err != nil {
			return nil, err
		}
		if v := OrNil(a[0]); v != nil {
			sep, err := wantBytes(v)
			if err != nil {
				return nil, err
			}
			if sep == "" {
				return nil, value.Raise("ValueError", "empty separator")
			}
			if name == "split" {
				return bytesList(pytext.SplitSep(b, sep, limit)), nil
			}
			return bytesList(pytext.RsplitSep(b, sep, limit)), nil
		}
		parts := pytext.SplitBlank(latin1(b), limit)
		if name == "rsplit" {
			parts = pytext.RsplitBlank(latin1(b), limit)
		}
		for i := range parts {
			parts[i] = fromLatin1(parts[i])
		}
		return bytesList(parts), nil
	}
}

// bytesLines is bytes.splitlines.
func bytesLines(c Call, b string) (value.Value, error) {
	a, err := c.clinic("splitlines", "keepends")
	if err != nil {
		return nil, err
	}
	keep, err := IntArg(a[0], 0)
	if err != nil {
		return nil, err
	}
	var parts []string
	for rest := b; rest != ""; {
		i := strings.IndexAny(rest, "\r\n")
		if i < 0 {
			parts = append(parts, rest)
			break
		}
		end := i + 1
		if strings.HasPrefix(rest[i:], "\r\n") {
			end++
		}
		if keep != 0 {
			i = end
		}
		parts, rest = append(parts, rest[:i]), rest[end:]
	}
	return bytesList(parts), nil
}

// bytesPartition is partition and rpartition of bytes.
func bytesPartition(c Call, b, name string) (value.Value, error) {
	a, err := c.Builtin("bytes", name, 1, 1)
	if err != nil {
		return nil, err
	}
	sep, err := wantBytes(a[0])
	if err != nil {
		return nil, err
	}
	v, err := strSplit(b, false, name)(Call{In: c.In, Args: []value.Value{sep}})
	if err != nil {
		return nil, err
	}
	t := v.(value.Tuple)
	for i := range t {
		t[i] = value.Bytes(t[i].(string))
	}
	return t, nil
}

func bytesList(parts []string) value.Value {
	l := &value.List{}
	for _, p := range parts {
		l.Append(value.Bytes(p))
	}
	return l
}

func bytesFind(b, name string) Func {
	return func(c Call) (value.Value, error) {
		call := Call{In: c.In, Kw: c.Kw, Args: append([]value.Value(nil), c.Args...)}
		if len(call.Args) > 0 {
			var err error
			if call.Args[0], err = bytesWanted(call.Args[0], name); err != nil {
				return nil, err
			}
		}
		if strings.HasSuffix(name, "with") {
			return strEnds(latin1(b), name)(call)
		}
		v, err := strFind(latin1(b), name)(call)
		if Raised(err, "ValueError") && strings.HasSuffix(name, "index") {
			err = value.Raise("ValueError", "subsection not found")
		}
		return v, err
	}
}

// bytesWanted returns what a method of bytes looks for as text, a character for
// a byte: bytes or a number, or for startswith and endswith bytes or a tuple.
func bytesWanted(v value.Value, name string) (value.Value, error) {
	atEnd := strings.HasSuffix(name, "with")
	if t, ok := value.AsTuple(v); ok && atEnd {
		conv := make(value.Tuple, len(t))
		for i, v := range t {
			if _, nested := value.AsTuple(v); nested {
				return nil, value.Raise("TypeError", "%s first arg must be bytes or a tuple of bytes, not %s", name, value.TypeName(v))
			}
			x, err := bytesWanted(v, name)
			if err != nil {
				return nil, err
			}
			conv[i] = x
		}
		return conv, nil
	}
	if i, ok := value.AsInt(v); ok && !atEnd {
		if i < 0 || i > 255 {
			return nil, value.Raise("ValueError", "byte must be in range(0, 256)")
		}
		return string(rune(i)), nil
	}
	x, ok := v.(value.Bytes)
	switch {
	case ok:
		return latin1(string(x)), nil
	case atEnd:
		return nil, value.Raise("TypeError", "%s first arg must be bytes or a tuple of bytes, not %s", name, value.TypeName(v))
	}
	return nil, value.Raise("TypeError", "argument should be integer or bytes-like object, not '%s'", value.TypeName(v))
}

func bytesChange(b, name string) Func {
	return func(c Call) (value.Value, error) {
		if name == "join" {
			a, err := c.Builtin("bytes", "join", 1, 1)
			if err != nil {
				return nil, err
			}
			items, err := value.Items(a[0])
			if err != nil {
				return nil, err
			}
			parts := make([]string, len(items))
			for i, v := range items {
				x, ok := v.(value.Bytes)
				if !ok {
					return nil, value.Raise("TypeError", "sequence item %d: expected a bytes-like object, %s found", i, value.TypeName(v))
				}
				parts[i] = string(x)
			}
			s, err := pytext.Join(parts, b)
			return value.Bytes(s), err
		}
		low, high := 1, 1
		if name == "replace" {
			low, high = 2, 3
		}
		a, err := c.Builtin("bytes", name, low, high)
		if err != nil {
			return nil, err
		}
		x, err := wantBytes(a[0])
		if err != nil {
			return nil, err
		}
		switch name {
		case "removeprefix":
			return value.Bytes(strings.TrimPrefix(b, x)), nil
		case "removesuffix":
			return value.Bytes(strings.TrimSuffix(b, x)), nil
		}
		y, err := wantBytes(a[1])
		if err != nil {
			return nil, err
		}
		n, err := IntArg(a[2], -1)
		if err != nil {
			return nil, err
		}
		s, err := pytext.Replace(latin1(b), latin1(x), latin1(y), n)
		return value.Bytes(fromLatin1(s)), err
	}
}

// codec returns the name of an encoding that [EncodeText] knows, or "".
func codec(v value.Value) (string, error) {
	name := "utf-8"
	if Given(v) {
		s, ok := value.AsText(v)
		if !ok {
			return "", value.Raise("TypeError", "encode() argument 'encoding' must be str, not %s", noneName(v))
		}
		name = s
	}
	switch strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(name), "_", "-"), " ", "-") {
	case "utf-8", "utf8", "u8", "cp65001":
		return "utf-8", nil
	case "ascii", "us-ascii", "646":
		return "ascii", nil
	case "latin-1", "latin1", "iso-8859-1", "iso8859-1", "8859", "cp819", "l1":
		return "latin-1", nil
	case "utf-16", "utf16", "u16":
		return "utf-16", nil
	case "utf-16-le", "utf-16le":
		return "utf-16-le", nil
	case "utf-16-be", "utf-16be":
		return "utf-16-be", nil
	}
	return "", value.Raise("LookupError", "unknown encoding: %s", name)
}

func errorsMode(v value.Value) string {
	if s, ok := value.AsText(v); ok {
		return s
	}
	return "strict"
}

// EncodeText returns s.encode(encoding, errs).
func EncodeText(s string, encoding, errs value.Value) (value.Value, error) {
	name, err := codec(encoding)
	if err != nil {
		return nil, err
	}
	switch name {
	case "utf-8":
		return value.Bytes(s), nil
	case "utf-16", "utf-16-le", "utf-16-be":
		var b []byte
		units := utf16.Encode([]rune(s))
		if name == "utf-16" {
			units = append([]uint16{0xfeff}, units...)
		}
		for _, u := range units {
			if name == "utf-16-be" {
				b = append(b, byte(u>>8), byte(u))
			} else {
				b = append(b, byte(u), byte(u>>8))
			}
		}
		return value.Bytes(b), nil
	}
	limit := rune(128)
	if name == "latin-1" {
		limit = 256
	}
	var b []byte
	at := 0
	for _, r := range s {
		if r < limit {
			b = append(b, byte(r))
			at++
			continue
		}
		switch mode := errorsMode(errs); mode {
		case "ignore":
		case "replace":
			b = append(b, '?')
		case "xmlcharrefreplace":
			b = fmt.Appendf(b, "&#%d;", r)
		case "backslashreplace":
			q := value.ASCII(string(r))
			b = append(b, q...)
		case "strict":
			return nil, value.Raise("UnicodeEncodeError", "'%s' codec can't encode character '%s' in position %d: ordinal not in range(%d)", name, value.ASCII(string(r)), at, limit)
		default:
			return nil, value.Raise("LookupError", "unknown error handler name '%s'", mode)
		}
		at++
	}
	return value.Bytes(b), nil
}

// decodeText is bytes.decode.
func decodeText(b string, encoding, errs value.Value) (value.Value, error) {
	name, err := codec(encoding)
	if err != nil {
		return nil, err
	}
	switch name {
	case "latin-1":
		return latin1(b), nil
	case "utf-16", "utf-16-le", "utf-16-be":
		return decodeUTF16(b, name)
	}
	var s strings.Builder
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRuneInString(b[i:])
		if name == "ascii" && b[i] >= utf8.RuneSelf {
			r, n = utf8.RuneError, 1
		}
		if r != utf8.RuneError || n > 1 {
			s.WriteString(b[i : i+n])
			i += n
			continue
		}
		switch mode := errorsMode(errs); mode {
		case "ignore":
		case "replace":
			s.WriteRune(utf8.RuneError)
		case "backslashreplace":
			fmt.Fprintf(&s, `\x%02x`, b[i])
		case "surrogateescape":
			s.WriteByte(b[i])
		case "strict":
			return nil, value.Raise("UnicodeDecodeError", "'%s' codec can't decode byte 0x%02x in position %d: %s", name, b[i], i, undecodable(name, b[i:]))
		default:
			return nil, value.Raise("LookupError", "unknown error handler name '%s'", mode)
		}
		i++
	}
	return s.String(), nil
}

func decodeUTF16(b, name string) (value.Value, error) {
	bigEndian := name == "utf-16-be"
	if name == "utf-16" && len(b) >= 2 {
		switch {
		case b[0] == 0xfe && b[1] == 0xff:
			bigEndian, b = true, b[2:]
		case b[0] == 0xff && b[1] == 0xfe:
			b = b[2:]
		}
	}
	if len(b)%2 != 0 {
		return nil, value.Raise("UnicodeDecodeError", "'%s' codec can't decode byte 0x%02x in position %d: truncated data", name, b[len(b)-1], len(b)-1)
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		lo, hi := b[2*i], b[2*i+1]
		if bigEndian {
			lo, hi = hi, lo
		}
		units[i] = uint16(hi)<<8 | uint16(lo)
	}
	return string(utf16.Decode(units)), nil
}

// undecodable says why a codec cannot decode the first byte of b.
func undecodable(name, b string) string {
	switch {
	case name == "ascii":
		return "ordinal not in range(128)"
	case b[0] < 0xc2 || b[0] > 0xf4:
		return "invalid start byte"
	case !utf8.FullRuneInString(b):
		return "unexpected end of data"
	}
	return "invalid continuation byte"
}
