package pyre

import (
	"fmt"
	"strconv"
	"strings"

	"brine/internal/py/value"
)

// A translator writes a Python pattern in the syntax of regexp2.
type translator struct {
	src     []rune
	at      int
	out     strings.Builder
	ascii   bool // \w, \d, \s and \b know ASCII alone
	verbose bool
	groups  int
	names   map[string]int
	open    []int // where the groups that are open began
}

func bad(at int, format string, args ...any) error {
	return &value.PyError{Type: "re.error", Msg: fmt.Sprintf(format, args...) + fmt.Sprintf(" at position %d", at)}
}

const (
	asciiWord  = `a-zA-Z0-9_`
	asciiSpace = ` \t\n\r\f\v`
)

func (t *translator) translate() (string, error) {
	for t.at < len(t.src) {
		var err error
		switch c := t.src[t.at]; c {
		case '\\':
			err = t.escape(false)
		case '[':
			err = t.class()
		case '(':
			err = t.group()
		case ')':
			if len(t.open) == 0 {
				return "", bad(t.at, "unbalanced parenthesis")
			}
			t.open = t.open[:len(t.open)-1]
			t.out.WriteByte(')')
			t.at++
		case '{':
			t.repeat()
		case '#':
			if t.verbose {
				t.comment()
			} else {
				t.out.WriteString(`\#`)
				t.at++
			}
		default:
			t.out.WriteRune(c)
			t.at++
		}
		if err != nil {
			return "", err
		}
	}
	if n := len(t.open); n > 0 {
		return "", bad(t.open[n-1], "missing ), unterminated subpattern")
	}
	return t.out.String(), nil
}

// comment leaves out a comment of a verbose pattern.
func (t *translator) comment() {
	for t.at < len(t.src) && t.src[t.at] != '\n' {
		t.at++
	}
}

// repeat reads a brace: {,n} is {0,n}; a brace that does not begin a repetition
// is a literal.
func (t *translator) repeat() {
	end := t.at + 1
	for end < len(t.src) && (t.src[end] >= '0' && t.src[end] <= '9' || t.src[end] == ',') {
		end++
	}
	body := string(t.src[t.at+1 : min(end, len(t.src))])
	if end >= len(t.src) || t.src[end] != '}' || body == "" || strings.Count(body, ",") > 1 {
		t.out.WriteString(`\{`)
		t.at++
		return
	}
	if body[0] == ',' {
		body = "0" + body
	}
	t.out.WriteString("{" + body + "}")
	t.at = end + 1
}

// escape reads a backslash and what follows; in a class where inClass.
func (t *translator) escape(inClass bool) error {
	start := t.at
	if t.at+1 >= len(t.src) {
		return bad(start, "bad escape (end of pattern)")
	}
	c := t.src[t.at+1]
	t.at += 2
	switch {
	case c >= '0' && c <= '9':
		return t.digits(c, start, inClass)
	case c == 'd' && t.ascii:
		t.set("0-9", false, inClass)
	case c == 'D' && t.ascii && !inClass:
		t.set("0-9", true, inClass)
	case c == 'w' && t.ascii:
		t.set(asciiWord, false, inClass)
	case c == 'W' && t.ascii && !inClass:
		t.set(asciiWord, true, inClass)
	case c == 's' && t.ascii:
		t.set(asciiSpace, false, inClass)
	case c == 'S' && t.ascii && !inClass:
		t.set(asciiSpace, true, inClass)
	case c == 'b' && !inClass && t.ascii:
		t.out.WriteString(`(?:(?<=[a-zA-Z0-9_])(?![a-zA-Z0-9_])|(?<![a-zA-Z0-9_])(?=[a-zA-Z0-9_]))`)
	case c == 'B' && !inClass && t.ascii:
		t.out.WriteString(`(?:(?<=[a-zA-Z0-9_])(?=[a-zA-Z0-9_])|(?<![a-zA-Z0-9_])(?![a-zA-Z0-9_]))`)
	case strings.ContainsRune("dDwWsS", c):
		t.out.WriteRune('\\')
		t.out.WriteRune(c)
	case c == 'Z' && !inClass:
		t.out.WriteString(`\z`)
	case strings.ContainsRune("ABb", c) && !inClass:
		t.out.WriteRune('\\')
		t.out.WriteRune(c)
	case c == 'b': // a backspace in a class
		t.out.WriteString(`\x08`)
	case strings.ContainsRune("afnrtv", c):
		t.out.WriteRune('\\')
		t.out.WriteRune(c)
	case c == 'x':
		return t.hex(2, start)
	case c == 'u':
		return t.hex(4, start)
	case c == 'U':
		return t.hex(8, start)
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return bad(start, `bad escape \%c`, c)
	case c == '_' || c == '"' || c == '\'' || c > 127 || c == '<' || c == '>':
		// Escapes that mean something, or nothing, to regexp2 alone.
		t.out.WriteRune(c)
	default:
		t.out.WriteRune('\\')
		t.out.WriteRune(c)
	}
	return nil
}

// set writes a set of characters, as part of the class that is open or as one
// of its own.
func (t *translator) set(chars string, not, inClass bool) {
	switch {
	case inClass:
		t.out.WriteString(chars)
	case not:
		t.out.WriteString("[^" + chars + "]")
	default:
		t.out.WriteString("[" + chars + "]")
	}
}

// digits reads a reference to a group, or an octal character.
func (t *translator) digits(c rune, start int, inClass bool) error {
	s := string(c)
	for len(s) < 3 && t.at < len(t.src) && t.src[t.at] >= '0' && t.src[t.at] <= '9' {
		s += string(t.src[t.at])
		t.at++
	}
	octal := func(s string) bool {
		return strings.Trim(s, "01234567") == ""
	}
	if c == '0' || inClass || len(s) == 3 && octal(s) && s[0] <= '3' {
		for !octal(s) {
			s = s[:len(s)-1]
			t.at--
		}
		if s == "" {
			return bad(start, `bad escape \%c`, c)
		}
		n, _ := strconv.ParseInt(s, 8, 32)
		fmt.Fprintf(&t.out, `\x%02x`, n)
		return nil
	}
	if len(s) == 3 {
		s = s[:2]
		t.at--
	}
	n, _ := strconv.Atoi(s)
	if n > t.groups {
		return bad(start+1, "invalid group reference %d", n)
	}
	fmt.Fprintf(&t.out, `(?:\%d)`, n)
	return nil
}

func (t *translator) hex(n, start int) error {
	end := t.at + n
	if end > len(t.src) {
		return bad(start, "incomplete escape %s", string(t.src[start:]))
	}
	v, err := strconv.ParseUint(string(t.src[t.at:end]), 16, 32)
	if err != nil || v > 0x10ffff {
		return bad(start, "bad escape %s", string(t.src[start:end]))
	}
	t.at = end
	if v <= 0xffff {
		fmt.Fprintf(&t.out, `\u%04x`, v)
	} else {
		t.out.WriteRune(rune(v))
	}
	return nil
}

// class reads [...]. Within it regexp2 gives meaning to a further bracket,
// Python does not.
func (t *translator) class() error {
	start := t.at
	t.at++
	t.out.WriteByte('[')
	if t.at < len(t.src) && t.src[t.at] == '^' {
		t.out.WriteByte('^')
		t.at++
	}
	for first := true; ; first = false {
		if t.at >= len(t.src) {
			return bad(start, "unterminated character set")
		}
		switch c := t.src[t.at]; {
		case c == ']' && !first:
			t.out.WriteByte(']')
			t.at++
			return nil
		case c == '\\':
			if err := t.escape(true); err != nil {
				return err
			}
		case c == ']' || c == '[':
			t.out.WriteString(`\` + string(c))
			t.at++
		default:
			t.out.WriteRune(c)
			t.at++
		}
	}
}

// group reads what follows an opening parenthesis.
func (t *translator) group() error {
	start := t.at
	t.open = append(t.open, start)
	if t.at+1 >= len(t.src) || t.src[t.at+1] != '?' {
		t.groups++
		t.out.WriteByte('(')
		t.at++
		return nil
	}
	rest := string(t.src[t.at+2:])
	switch {
	case strings.HasPrefix(rest, "P<"):
		name, ok := t.name(t.at+4, '>')
		if !ok {
			return bad(start+1, "missing >, unterminated name")
		}
		if _, dup := t.names[name]; dup {
			return bad(start+4, "redefinition of group name %s as group %d; was group %d", value.QuoteStr(name), t.groups+1, t.names[name])
		}
		t.groups++
		if t.names == nil {
			t.names = map[string]int{}
		}
		t.names[name] = t.groups
		t.out.WriteByte('(')
	case strings.HasPrefix(rest, "P="):
		name, ok := t.name(t.at+4, ')')
		if !ok {
			return bad(start+1, "missing ), unterminated name")
		}
		n, ok := t.names[name]
		if !ok {
			return bad(start+4, "unknown group name %s", value.QuoteStr(name))
		}
		fmt.Fprintf(&t.out, `(?:\%d)`, n)
		t.close()
	case strings.HasPrefix(rest, "P"):
		return bad(start+1, "unknown extension ?P%s", string([]rune(rest + " ")[1]))
	case strings.HasPrefix(rest, "#"):
		for t.at < len(t.src) && t.src[t.at] != ')' {
			t.at++
		}
		if t.at == len(t.src) {
			return bad(start, "missing ), unterminated comment")
		}
		t.at++
		t.close()
	case strings.HasPrefix(rest, "("):
		name, ok := t.name(t.at+3, ')')
		if !ok {
			return bad(start+1, "missing ), unterminated name")
		}
		n, named := t.names[name]
		if !named {
			var err error
			if n, err = strconv.Atoi(name); err != nil {
				return bad(start+3, "unknown group name %s", value.QuoteStr(name))
			}
		}
		fmt.Fprintf(&t.out, "(?(%d)", n)
	case strings.HasPrefix(rest, "<="), strings.HasPrefix(rest, "<!"):
		t.out.WriteString("(?" + rest[:2])
		t.at += 4
	case rest != "" && strings.ContainsRune(":=!>", rune(rest[0])):
		t.out.WriteString("(?" + rest[:1])
		t.at += 3
	default:
		return t.flags(start)
	}
	return nil
}

// close forgets the group that was opened last.
func (t *translator) close() { t.open = t.open[:len(t.open)-1] }

// name reads a name that begins at from up to end, and goes past end.
func (t *translator) name(from int, end rune) (string, bool) {
	for i := from; i < len(t.src); i++ {
		if t.src[i] == end {
			t.at = i + 1
			return string(t.src[from:i]), i > from
		}
	}
	return "", false
}

// flags reads (?imsx) and (?i-s:...). Flags that regexp2 does not have are
// left out: its text is always Unicode.
func (t *translator) flags(start int) error {
	t.at += 2
	var on, off strings.Builder
	to := &on
	for ; t.at < len(t.src); t.at++ {
		switch c := t.src[t.at]; c {
		case 'i', 'm', 's', 'x':
			to.WriteRune(c)
			if c == 'x' && to == &on {
				t.verbose = true
			}
		case 'a':
			t.ascii = true
		case 'L', 'u':
		case '-':
			to = &off
		case ':', ')':
			t.at++
			fl := on.String()
			if off.Len() > 0 {
				fl += "-" + off.String()
			}
			if c == ':' {
				t.out.WriteString("(?" + fl + ":")
				return nil
			}
			if fl != "" {
				t.out.WriteString("(?" + fl + ")")
			}
			t.close()
			return nil
		default:
			return bad(start+1, "unknown extension ?%c", c)
		}
	}
	return bad(start+1, "missing -, : or )")
}

// A part of a replacement template is text, or a group where group >= 0.
type part struct {
	text  string
	group int
}

// template reads a replacement template: \1, \g<1>, \g<name> and escapes.
func (r *Regexp) template(repl string) ([]part, error) {
	var parts []part
	var text strings.Builder
	group := func(n, at int) error {
		if n > r.n {
			return bad(at, "invalid group reference %d", n)
		}
		parts = append(parts, part{text: text.String(), group: -1}, part{group: n})
		text.Reset()
		return nil
	}
	for i := 0; i < len(repl); i++ {
		if repl[i] != '\\' {
			text.WriteByte(repl[i])
			continue
		}
		i++
		if i == len(repl) {
			return nil, bad(i-1, "bad escape (end of pattern)")
		}
		switch c := repl[i]; {
		case c == 'g':
			n, size, err := r.groupName(repl, i)
			if err != nil {
				return nil, err
			}
			if err := group(n, i+2); err != nil {
				return nil, err
			}
			i += size
		case c == '0' || c >= '1' && c <= '3' && octalAt(repl, i, 3):
			code, n := octal(repl[i:])
			text.WriteRune(code)
			i += n - 1
		case c >= '1' && c <= '9':
			n, k := int(c-'0'), 1
			if i+1 < len(repl) && repl[i+1] >= '0' && repl[i+1] <= '9' {
				n, k = n*10+int(repl[i+1]-'0'), 2
			}
			if err := group(n, i); err != nil {
				return nil, err
			}
			i += k - 1
		case strings.IndexByte("abfnrtv", c) >= 0:
			text.WriteByte("\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)])
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			return nil, bad(i-1, `bad escape \%c`, c)
		case c == '\\':
			text.WriteByte('\\')
		default:
			text.WriteByte('\\')
			text.WriteByte(c)
		}
	}
	return append(parts, part{text: text.String(), group: -1}), nil
}

// octal reads up to three octal digits.
func octal(s string) (r rune, n int) {
	for ; n < 3 && n < len(s) && s[n] >= '0' && s[n] <= '7'; n++ {
		r = r*8 + rune(s[n]-'0')
	}
	return r, n
}

// groupName reads <1> or <name> behind the g at repl[i]: which group that is, and
// how long the text is.
func (r *Regexp) groupName(repl string, i int) (n, size int, err error) {
	if i+1 >= len(repl) || repl[i+1] != '<' {
		return 0, 0, bad(i+1, "missing <")
	}
	end := strings.IndexByte(repl[i:], '>')
	if end < 0 {
		return 0, 0, bad(i+2, "missing >, unterminated name")
	}
	name := repl[i+2 : i+end]
	n, named := r.names[name]
	if !named {
		if n, err = strconv.Atoi(name); err != nil {
			return 0, 0, &value.PyError{Type: "IndexError", Msg: "unknown group name " + value.QuoteStr(name)}
		}
	}
	return n, end, nil
}

// octalAt reports whether n octal digits stand at i of s.
func octalAt(s string, i, n int) bool {
	if i+n > len(s) {
		return false
	}
	for _, c := range s[i : i+n] {
		if c < '0' || c > '7' {
			return false
		}
	}
	return true
}
