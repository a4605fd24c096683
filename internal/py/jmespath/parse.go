package jmespath

import (
	"strings"

	"brine/internal/py/value"
)

type kind int

const (
	kIdentity kind = iota
	kField
	kLiteral
	kSub
	kPipe
	kIndex
	kSlice
	kFlatten
	kProject // [*]
	kValues  // .*
	kFilter  // [?...]
	kOr
	kAnd
	kNot
	kCompare
	kList
	kHash
	kExpref
	kCall
)

type node struct {
	kind  kind
	kids  []*node
	text  string // of a field, a comparison, a call
	val   value.Value
	index int
	slice [3]value.Value
	keys  []string
}

// A token's kind is its text for punctuation, else one of "name", "quoted",
// "literal", "number", "eof".
type token struct {
	kind string
	text string
	val  value.Value
	at   int
}

// power is how strongly a token binds to what is on its left.
func power(kind string) int {
	switch kind {
	case "|":
		return 1
	case "||":
		return 2
	case "&&":
		return 3
	case "==", "!=", "<", "<=", ">", ">=":
		return 5
	case "[]":
		return 9
	case "*":
		return 20
	case "[?":
		return 21
	case ".":
		return 40
	case "!":
		return 45
	case "{":
		return 50
	case "[":
		return 55
	case "(":
		return 60
	}
	return 0
}

// stopPower is where a projection ends: what binds less asks the whole list.
const stopPower = 10

type parser struct {
	src   string
	toks  []token
	i     int
	depth int
}

func (p *parser) cur() token { return p.peek(0) }

func (p *parser) peek(n int) token { return p.toks[min(p.i+n, len(p.toks)-1)] }

func (p *parser) next() token {
	t := p.cur()
	p.i++
	return t
}

func (p *parser) fault(t token, what string) error {
	if t.kind == "eof" {
		return value.Raise("IncompleteExpressionError", "Invalid jmespath expression: Incomplete expression:\n\"%s\"\n%s^", p.src, strings.Repeat(" ", t.at+1))
	}
	return value.Raise("ParserError", "%s: Parse error at column %d, token \"%s\" for expression:\n\"%s\"\n%s^", what, t.at, t.text, p.src, strings.Repeat(" ", t.at+1))
}

func (p *parser) match(kind string) error {
	if t := p.cur(); t.kind != kind {
		return p.fault(t, "Expecting: "+kind)
	}
	p.i++
	return nil
}

func (p *parser) parseAll() (*node, error) {
	n, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	if t := p.cur(); t.kind != "eof" {
		return nil, p.fault(t, "Unexpected token: "+t.text)
	}
	return n, nil
}

func (p *parser) expr(bind int) (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, value.Raise("RecursionError", "maximum recursion depth exceeded")
	}
	defer func() { p.depth-- }()
	left, err := p.prefix(p.next())
	for err == nil && bind < power(p.cur().kind) {
		left, err = p.infix(p.next(), left)
	}
	return left, err
}

func identity() *node { return &node{kind: kIdentity} }

// pair makes a node of a part and what expr gives for the other.
func pair(k kind, left *node, right *node, err error) (*node, error) {
	if err != nil {
		return nil, err
	}
	return &node{kind: k, kids: []*node{left, right}}, nil
}

func (p *parser) prefix(t token) (*node, error) {
	switch t.kind {
	case "literal":
		return &node{kind: kLiteral, val: t.val}, nil
	case "name":
		return &node{kind: kField, text: t.text}, nil
	case "quoted":
		if p.cur().kind == "(" {
			return nil, p.fault(t, "Quoted identifier not allowed for function names.")
		}
		return &node{kind: kField, text: t.text}, nil
	case "*":
		if p.cur().kind == "]" {
			return pair(kValues, identity(), identity(), nil)
		}
		right, err := p.projected(power("*"))
		return pair(kValues, identity(), right, err)
	case "[?":
		return p.infix(t, identity())
	case "[]":
		return p.infix(t, identity())
	case "{":
		return p.hash()
	case "(":
		n, err := p.expr(0)
		if err == nil {
			err = p.match(")")
		}
		return n, err
	case "!":
		n, err := p.expr(power("!"))
		return &node{kind: kNot, kids: []*node{n}}, err
	case "[":
		switch c := p.cur().kind; {
		case c == "number" || c == ":":
			return p.infix(t, identity())
		case c == "*" && p.peek(1).kind == "]":
			return p.infix(t, identity())
		}
		return p.list()
	case "@":
		return identity(), nil
	case "&":
		n, err := p.expr(0)
		return &node{kind: kExpref, kids: []*node{n}}, err
	}
	return nil, p.fault(t, "Invalid token.")
}

func (p *parser) infix(t token, left *node) (*node, error) {
	switch t.kind {
	case ".":
		if p.cur().kind == "*" {
			p.i++
			right, err := p.projected(power("."))
			return pair(kValues, left, right, err)
		}
		right, err := p.afterDot(power("."))
		return pair(kSub, left, right, err)
	case "|", "||", "&&":
		right, err := p.expr(power(t.kind))
		return pair(map[string]kind{"|": kPipe, "||": kOr, "&&": kAnd}[t.kind], left, right, err)
	case "==", "!=", "<", "<=", ">", ">=":
		right, err := p.expr(power(t.kind))
		n, err := pair(kCompare, left, right, err)
		if err == nil {
			n.text = t.kind
		}
		return n, err
	case "(":
		return p.call(t, left)
	case "[?":
		cond, err := p.expr(0)
		if err == nil {
			err = p.match("]")
		}
		if err != nil {
			return nil, err
		}
		right := identity()
		if p.cur().kind != "[]" {
			right, err = p.projected(power("[?"))
		}
		return &node{kind: kFilter, kids: []*node{left, right, cond}}, err
	case "[]":
		right, err := p.projected(power("[]"))
		return pair(kProject, &node{kind: kFlatten, kids: []*node{left}}, right, err)
	case "[":
		if c := p.cur().kind; c == "number" || c == ":" {
			return p.index(left)
		}
		if err := p.match("*"); err != nil {
			return nil, err
		}
		if err := p.match("]"); err != nil {
			return nil, err
		}
		right, err := p.projected(power("*"))
		return pair(kProject, left, right, err)
	}
	return nil, p.fault(t, "Invalid token")
}

func (p *parser) call(t token, left *node) (*node, error) {
	if left.kind != kField {
		return nil, p.fault(t, "Invalid function name")
	}
	n := &node{kind: kCall, text: left.text}
	for p.cur().kind != ")" {
		arg, err := p.expr(0)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, arg)
		if p.cur().kind == "," {
			p.i++
		} else if p.cur().kind != ")" {
			return nil, p.fault(p.cur(), "Expecting: )")
		}
	}
	return n, p.match(")")
}

// index reads [n] or a slice behind left; a slice is a projection.
func (p *parser) index(left *node) (*node, error) {
	if p.cur().kind != ":" && p.peek(1).kind != ":" {
		t := p.next()
		i, _ := value.AsInt(t.val)
		return &node{kind: kIndex, kids: []*node{left}, index: int(i)}, p.match("]")
	}
	n := &node{kind: kSlice, kids: []*node{left}}
	for part := 0; p.cur().kind != "]"; {
		switch t := p.cur(); t.kind {
		case ":":
			if part++; part == 3 {
				return nil, p.fault(t, "syntax error")
			}
		case "number":
			n.slice[part] = t.val
		default:
			return nil, p.fault(t, "syntax error")
		}
		p.i++
	}
	p.i++
	if n.slice[2] == int64(0) {
		return nil, value.Raise("ValueError", "slice step cannot be zero")
	}
	right, err := p.projected(power("*"))
	return pair(kProject, n, right, err)
}

// projected reads what a projection asks of each item.
func (p *parser) projected(bind int) (*node, error) {
	switch t := p.cur(); {
	case power(t.kind) < stopPower:
		return identity(), nil
	case t.kind == "[" || t.kind == "[?":
		return p.expr(bind)
	case t.kind == ".":
		p.i++
		return p.afterDot(bind)
	default:
		return nil, p.fault(t, "syntax error")
	}
}

func (p *parser) afterDot(bind int) (*node, error) {
	switch t := p.cur(); t.kind {
	case "name", "quoted", "*":
		return p.expr(bind)
	case "[":
		p.i++
		return p.list()
	case "{":
		p.i++
		return p.hash()
	default:
		return nil, p.fault(t, "Expecting: ['quoted_identifier', 'unquoted_identifier', 'lbracket', 'lbrace']")
	}
}

func (p *parser) list() (*node, error) {
	n := &node{kind: kList}
	for {
		kid, err := p.expr(0)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, kid)
		if p.cur().kind == "]" {
			p.i++
			return n, nil
		}
		if err := p.match(","); err != nil {
			return nil, err
		}
	}
}

func (p *parser) hash() (*node, error) {
	n := &node{kind: kHash}
	for {
		key := p.next()
		if key.kind != "name" && key.kind != "quoted" {
			return nil, p.fault(key, "Expecting: ['quoted_identifier', 'unquoted_identifier']")
		}
		if err := p.match(":"); err != nil {
			return nil, err
		}
		kid, err := p.expr(0)
		if err != nil {
			return nil, err
		}
		n.keys, n.kids = append(n.keys, key.text), append(n.kids, kid)
		switch t := p.next(); t.kind {
		case ",":
		case "}":
			return n, nil
		default:
			return nil, p.fault(t, "Expecting: }")
		}
	}
}
