package form

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A condition says when a field is shown, disabled or required: an expression
// over the values of the form. It is a part of the language JEXL: paths that
// begin with formValues or this, strings, numbers, true, false and null, lists,
// == != < <= > >= in, !, &&, || and parentheses.
type condition struct {
	root expr
	text string
	key  string // the attribute, at pos
	pos  source.Pos
}

// A node is a value of the form and what it is within.
type node struct {
	parent *node
	value  value.Value
}

// holds reports whether the condition is true for the field at n.
func (c *condition) holds(form value.Value, n *node) bool { return truth(c.root.eval(form, n)) }

// truth is JavaScript's: empty lists and dicts are true.
func truth(v value.Value) bool {
	if isContainer(v) {
		return true
	}
	return value.Truth(v)
}

type expr interface {
	eval(form value.Value, n *node) value.Value
}

type (
	literal struct{ v value.Value }
	list    []expr
	not     struct{ x expr }
	binary  struct {
		op   string
		a, b expr
	}
	// A path is a value of the form: of the whole, or of the node up levels above
	// the field.
	path struct {
		absolute bool
		up       int
		keys     []string
	}
)

func (l literal) eval(value.Value, *node) value.Value { return l.v }

func (l list) eval(form value.Value, n *node) value.Value {
	out := value.NewList()
	for _, x := range l {
		out.Append(x.eval(form, n))
	}
	return out
}

func (x not) eval(form value.Value, n *node) value.Value { return !truth(x.x.eval(form, n)) }

func (p path) eval(form value.Value, n *node) value.Value {
	v := form
	if !p.absolute {
		for range p.up {
			if n == nil {
				return nil
			}
			n = n.parent
		}
		if n == nil {
			return nil
		}
		v = n.value
	}
	for _, k := range p.keys {
		switch x := v.(type) {
		case *value.Map:
			v = x.At(k)
		case *value.List:
			i, err := strconv.Atoi(k)
			if err != nil || i < 0 || i >= x.Len() {
				return nil
			}
			v = x.Items[i]
		default:
			return nil
		}
	}
	return v
}

func (b binary) eval(form value.Value, n *node) value.Value {
	x := b.a.eval(form, n)
	switch b.op {
	case "&&":
		if !truth(x) {
			return x
		}
		return b.b.eval(form, n)
	case "||":
		if truth(x) {
			return x
		}
		return b.b.eval(form, n)
	}
	y := b.b.eval(form, n)
	switch b.op {
	case "==":
		return same(x, y)
	case "!=":
		return !same(x, y)
	case "in":
		if s, ok := y.(string); ok {
			t, ok := x.(string)
			return ok && strings.Contains(s, t)
		}
		l, ok := y.(*value.List)
		if !ok {
			return false
		}
		for _, v := range l.Items {
			if same(x, v) {
				return true
			}
		}
		return false
	}
	ok, err := value.Compare(b.op, x, y)
	return ok && err == nil
}

// same compares as JavaScript's == does where forms need it: a number and its
// text are the same, an absent value and an empty one are not.
func same(x, y value.Value) bool {
	if x == nil || y == nil {
		return x == nil && y == nil
	}
	if value.Equal(x, y) {
		_, a := x.(bool)
		_, b := y.(bool)
		return a == b
	}
	_, xs := x.(string)
	_, ys := y.(string)
	if xs == ys || isContainer(x) || isContainer(y) {
		return false
	}
	return strings.EqualFold(value.Str(x), value.Str(y))
}

// parseIf reads the older form of conditions: a path, == or !=, and a value. The
// parts of a path are separated by # or $; a leading dot is a sibling, each
// further one a level above.
func parseIf(text string) (*condition, error) {
	left, op, right := text, "", ""
	for _, o := range []string{"==", "!="} {
		if l, r, ok := strings.Cut(text, o); ok && len(l) < len(left) {
			left, op, right = l, o, r
		}
	}
	left = strings.TrimSpace(left)
	rest := strings.TrimLeft(left, ".")
	p := path{up: len(left) - len(rest), absolute: len(left) == len(rest)}
	p.keys = strings.FieldsFunc(rest, func(r rune) bool { return r == '#' || r == '$' })
	if len(p.keys) == 0 || strings.ContainsAny(rest, " ()!<>&|") {
		return nil, errors.New(`a condition is a path, == or !=, and a value, as in "group#field == 'yes'"`)
	}
	if op == "" {
		return &condition{root: p, text: text}, nil
	}
	right = strings.TrimSpace(right)
	v, err := parseCondition(right)
	if err != nil || !isLiteral(v.root) {
		return &condition{root: binary{op, p, literal{right}}, text: text}, nil // a bare word is text
	}
	return &condition{root: binary{op, p, v.root}, text: text}, nil
}

func isLiteral(x expr) bool {
	_, ok := x.(literal)
	return ok
}

// parseCondition reads an expression.
func parseCondition(text string) (*condition, error) {
	p := &exprParser{text: text}
	if err := p.next(); err != nil {
		return nil, err
	}
	x, err := p.or(0)
	if err != nil {
		return nil, err
	}
	if p.tok != "" {
		return nil, fmt.Errorf("unexpected %q at character %d", p.tok, p.at+1)
	}
	return &condition{root: x, text: text}, nil
}

// An exprParser reads one token ahead. The kind of a token is its first
// character: a quote is a string.
type exprParser struct {
	text string
	pos  int
	tok  string // "" at the end
	at   int    // of tok
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func (p *exprParser) next() error {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
	p.at, p.tok = p.pos, ""
	if p.pos == len(p.text) {
		return nil
	}
	rest := p.text[p.pos:]
	switch c := rest[0]; {
	case c == '\'' || c == '"':
		end := 1
		for ; end < len(rest) && rest[end] != c; end++ {
			if rest[end] == '\\' {
				end++
			}
		}
		if end >= len(rest) {
			return fmt.Errorf("the string at character %d has no end", p.at+1)
		}
		p.tok = rest[:end+1]
	case isWord(c):
		end := 1
		for end < len(rest) && (isWord(rest[end]) || rest[end] == '.' && c >= '0' && c <= '9') {
			end++
		}
		p.tok = rest[:end]
	default:
		p.tok = rest[:1]
		for _, op := range []string{"==", "!=", "<=", ">=", "&&", "||"} {
			if strings.HasPrefix(rest, op) {
				p.tok = op
			}
		}
		if !strings.Contains("== != <= >= && || < > ! ( ) [ ] . , -", p.tok) {
			return fmt.Errorf("%q at character %d is not understood", p.tok, p.at+1)
		}
	}
	p.pos += len(p.tok)
	return nil
}

// left reads operands that are joined by operators of one strength.
func (p *exprParser) left(depth int, operand func(int) (expr, error), ops ...string) (expr, error) {
	x, err := operand(depth)
	for err == nil && p.tok != "" {
		op := ""
		for _, o := range ops {
			if o == p.tok {
				op = o
			}
		}
		if op == "" {
			break
		}
		if err = p.next(); err != nil {
			break
		}
		var y expr
		if y, err = operand(depth); err == nil {
			x = binary{op, x, y}
		}
	}
	return x, err
}

func (p *exprParser) or(depth int) (expr, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("parentheses are nested more than %d deep", maxDepth)
	}
	return p.left(depth, p.and, "||")
}

func (p *exprParser) and(depth int) (expr, error) { return p.left(depth, p.compare, "&&") }

func (p *exprParser) compare(depth int) (expr, error) {
	return p.left(depth, p.unary, "==", "!=", "<", "<=", ">", ">=", "in")
}

func (p *exprParser) unary(depth int) (expr, error) {
	if p.tok != "!" {
		return p.primary(depth)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("! is repeated more than %d times", maxDepth)
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	x, err := p.unary(depth + 1)
	return not{x}, err
}

func (p *exprParser) primary(depth int) (expr, error) {
	tok := p.tok
	if tok == "" {
		return nil, errors.New("the condition ends where a value is expected")
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	switch c := tok[0]; {
	case tok == "(":
		x, err := p.or(depth + 1)
		if err != nil {
			return nil, err
		}
		return x, p.expect(")")
	case tok == "[":
		return p.list(depth)
	case tok == "-":
		n := p.tok
		if err := p.next(); err != nil {
			return nil, err
		}
		return number("-" + n)
	case c == '\'' || c == '"':
		return literal{unquote(tok)}, nil
	case c >= '0' && c <= '9':
		return number(tok)
	case tok == "true", tok == "True":
		return literal{true}, nil
	case tok == "false", tok == "False":
		return literal{false}, nil
	case tok == "null", tok == "undefined", tok == "None":
		return literal{nil}, nil
	case tok == "formValues", tok == "this":
		return p.path(tok)
	case isWord(c):
		return nil, fmt.Errorf("%q: a path begins with formValues or this, and text is in quotes", tok)
	}
	return nil, fmt.Errorf("unexpected %q at character %d", tok, p.at)
}

func (p *exprParser) expect(tok string) error {
	if p.tok != tok {
		return fmt.Errorf("%q is missing at character %d", tok, p.at+1)
	}
	return p.next()
}

func (p *exprParser) list(depth int) (expr, error) {
	var l list
	for p.tok != "]" {
		x, err := p.or(depth + 1)
		if err != nil {
			return nil, err
		}
		l = append(l, x)
		if p.tok != "," {
			break
		}
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	return l, p.expect("]")
}

// path reads what follows formValues or this: keys after dots, or in brackets.
// After this there are any number of "parent", then "value".
func (p *exprParser) path(root string) (expr, error) {
	out := path{absolute: root == "formValues"}
	var keys []string
	for p.tok == "." || p.tok == "[" {
		bracket := p.tok == "["
		if err := p.next(); err != nil {
			return nil, err
		}
		k := p.tok
		switch {
		case bracket && k != "" && (k[0] == '\'' || k[0] == '"'):
			k = unquote(k)
		case k == "" || !isWord(k[0]):
			return nil, fmt.Errorf("a key is missing at character %d", p.at+1)
		}
		if err := p.next(); err != nil {
			return nil, err
		}
		if bracket {
			if err := p.expect("]"); err != nil {
				return nil, err
			}
		}
		keys = append(keys, k)
	}
	if !out.absolute {
		for out.up < len(keys) && keys[out.up] == "parent" {
			out.up++
		}
		if out.up == len(keys) || keys[out.up] != "value" {
			return nil, errors.New(`"this" is followed by .parent for each level above, and then by .value`)
		}
		keys = keys[out.up+1:]
	}
	out.keys = keys
	return out, nil
}

func number(text string) (expr, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return literal{n}, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is not a number", text)
	}
	return literal{f}, nil
}

func unquote(tok string) string {
	var b strings.Builder
	for i := 1; i < len(tok)-1; i++ {
		if tok[i] == '\\' && i+1 < len(tok)-1 {
			i++
		}
		b.WriteByte(tok[i])
	}
	return b.String()
}
