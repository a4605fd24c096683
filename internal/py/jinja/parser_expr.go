package jinja

import (
	"slices"
	"strings"

	"brine/internal/py/value"
)

func (p *parser) expr() node { return p.expression(true) }

func (p *parser) expression(withCond bool) node {
	p.deeper()
	defer func() { p.depth-- }()
	if withCond {
		return p.cond()
	}
	return p.or()
}

// chain counts the links of a chain of operators.
func (p *parser) chain(n *int) {
	if *n++; *n > maxChain {
		p.fail("the expression is too long")
	}
}

func (p *parser) cond() node {
	at := p.here()
	n := p.or()
	links := 0
	for p.skipName("if") {
		p.chain(&links)
		c := &nCond{pos: at, test: p.or(), yes: n}
		if p.skipName("else") {
			p.deeper()
			c.no = p.cond()
			p.depth--
		}
		n = c
		at.line = p.cur.line
	}
	return n
}

func (p *parser) or() node {
	at := p.here()
	n := p.and()
	links := 0
	for p.skipName("or") {
		p.chain(&links)
		n = &nLogic{at, true, n, p.and()}
		at.line = p.cur.line
	}
	return n
}

func (p *parser) and() node {
	at := p.here()
	n := p.not()
	links := 0
	for p.skipName("and") {
		p.chain(&links)
		n = &nLogic{at, false, n, p.not()}
		at.line = p.cur.line
	}
	return n
}

func (p *parser) not() node {
	if p.isName("not") {
		at := p.here()
		p.next()
		p.deeper()
		defer func() { p.depth-- }()
		return &nNot{at, p.not()}
	}
	return p.compare()
}

func (p *parser) compare() node {
	at := p.here()
	n := p.math1()
	var ops []operand
	links := 0
	for {
		op := ""
		switch k := p.cur.kind; {
		case k == tEq || k == tNe || k == tLt || k == tLtEq || k == tGt || k == tGtEq:
			op = k.describe()
			p.next()
		case p.isName("in"):
			op = "in"
			p.next()
		case p.isName("not"):
			if t := p.look(); t.kind == tName && t.text == "in" {
				op = "not in"
				p.next()
				p.next()
			}
		}
		if op == "" {
			break
		}
		p.chain(&links)
		ops = append(ops, operand{op, p.math1()})
		at.line = p.cur.line
	}
	if ops == nil {
		return n
	}
	return &nCompare{at, n, ops}
}

func (p *parser) math1() node {
	at := p.here()
	n := p.concat()
	links := 0
	for p.cur.kind == tAdd || p.cur.kind == tSub {
		p.chain(&links)
		op := p.next().kind
		n = &nBin{at, op, n, p.concat()}
		at.line = p.cur.line
	}
	return n
}

func (p *parser) concat() node {
	at := p.here()
	items := []node{p.math2()}
	for p.skip(tTilde) {
		items = append(items, p.math2())
	}
	if len(items) == 1 {
		return items[0]
	}
	return &nConcat{at, items}
}

func (p *parser) math2() node {
	at := p.here()
	n := p.pow()
	links := 0
	for p.cur.kind == tMul || p.cur.kind == tDiv || p.cur.kind == tFloorDiv || p.cur.kind == tMod {
		p.chain(&links)
		op := p.next().kind
		n = &nBin{at, op, n, p.pow()}
		at.line = p.cur.line
	}
	return n
}

func (p *parser) pow() node {
	at := p.here()
	n := p.unary(true)
	links := 0
	for p.skip(tPow) {
		p.chain(&links)
		n = &nBin{at, tPow, n, p.unary(true)}
		at.line = p.cur.line
	}
	return n
}

func (p *parser) unary(withFilter bool) node {
	at := p.here()
	var n node
	switch k := p.cur.kind; k {
	case tSub, tAdd:
		p.next()
		p.deeper()
		n = &nUnary{at, k == tSub, p.unary(false)}
		p.depth--
	default:
		n = p.primary()
	}
	n = p.postfix(n)
	if withFilter {
		n = p.filterExpr(n)
	}
	return n
}

func (p *parser) primary() node {
	t, at := p.cur, p.here()
	switch t.kind {
	case tName:
		p.next()
		switch t.text {
		case "true", "True":
			return &nConst{at, true}
		case "false", "False":
			return &nConst{at, false}
		case "none", "None":
			return &nConst{at, nil}
		}
		return &nName{at, t.text, load}
	case tString:
		p.next()
		text := t.text
		if p.cur.kind == tString {
			parts := []string{text}
			for p.cur.kind == tString {
				parts = append(parts, p.next().text)
			}
			text = strings.Join(parts, "")
		}
		return &nConst{at, text}
	case tInteger, tFloat:
		p.next()
		return &nConst{at, t.num}
	case tLParen:
		p.next()
		n := p.tuple(false, true, nil, true)
		p.expect(tRParen)
		return n
	case tLBracket:
		p.next()
		n := &nList{pos: at}
		for p.cur.kind != tRBracket {
			if len(n.items) > 0 {
				p.expect(tComma)
			}
			if p.cur.kind == tRBracket {
				break
			}
			n.items = append(n.items, p.expr())
		}
		p.expect(tRBracket)
		return n
	case tLBrace:
		p.next()
		n := &nDict{pos: at}
		for p.cur.kind != tRBrace {
			if len(n.keys) > 0 {
				p.expect(tComma)
			}
			if p.cur.kind == tRBrace {
				break
			}
			n.keys = append(n.keys, p.expr())
			p.expect(tColon)
			n.vals = append(n.vals, p.expr())
		}
		p.expect(tRBrace)
		return n
	default:
		p.fail("unexpected " + value.QuoteStr(t.describe()))
		return nil
	}
}

// tuple reads expressions with commas between them, or one without. A simple
// one has only names and literals; ends are names that end it.
func (p *parser) tuple(simple, withCond bool, ends []string, parentheses bool) node {
	at := p.here()
	var items []node
	isTuple := false
	p.deeper()
	defer func() { p.depth-- }()
	for {
		if len(items) > 0 {
			p.expect(tComma)
		}
		if p.tupleEnd(ends) {
			break
		}
		if simple {
			items = append(items, p.primary())
		} else {
			items = append(items, p.expression(withCond))
		}
		if p.cur.kind != tComma {
			break
		}
		isTuple = true
		at.line = p.cur.line
	}
	if !isTuple {
		if len(items) > 0 {
			return items[0]
		}
		if !parentheses {
			p.fail("Expected an expression, got " + value.QuoteStr(p.cur.describe()))
		}
	}
	return &nTuple{at, items}
}

func (p *parser) tupleEnd(ends []string) bool {
	switch p.cur.kind {
	case tVarEnd, tBlockEnd, tRParen:
		return true
	case tName:
		return slices.Contains(ends, p.cur.text)
	default:
		return false
	}
}

func (p *parser) postfix(n node) node {
	links := 0
	for {
		switch p.cur.kind {
		case tDot, tLBracket:
			n = p.subscript(n)
		case tLParen:
			n = p.call(n)
		default:
			return n
		}
		p.chain(&links)
	}
}

func (p *parser) filterExpr(n node) node {
	links := 0
	for {
		switch {
		case p.cur.kind == tPipe:
			n = p.filter(n, false)
		case p.isName("is"):
			n = p.test(n)
		case p.cur.kind == tLParen:
			n = p.call(n)
		default:
			return n
		}
		p.chain(&links)
	}
}

func (p *parser) subscript(n node) node {
	at := p.here()
	if p.next().kind == tDot {
		t := p.cur
		p.next()
		switch t.kind {
		case tName:
			return &nGetattr{pos{t.off, at.line}, n, t.text}
		case tInteger:
			return &nGetitem{at, n, &nConst{pos{t.off, t.line}, t.num}}
		default:
			p.failAt(t.off, t.line, "TemplateSyntaxError", "expected name or number", "")
		}
	}
	var items []node
	for p.cur.kind != tRBracket {
		if len(items) > 0 {
			p.expect(tComma)
		}
		items = append(items, p.subscribed())
	}
	p.expect(tRBracket)
	if len(items) == 1 {
		return &nGetitem{at, n, items[0]}
	}
	return &nGetitem{at, n, &nTuple{at, items}}
}

func (p *parser) subscribed() node {
	at := p.here()
	s := &nSlice{pos: at}
	if p.cur.kind != tColon {
		s.lo = p.expr()
		if p.cur.kind != tColon {
			return s.lo
		}
	}
	p.next()
	end := func() bool { return p.cur.kind == tRBracket || p.cur.kind == tComma }
	if p.cur.kind != tColon && !end() {
		s.hi = p.expr()
	}
	if p.skip(tColon) && !end() {
		s.step = p.expr()
	}
	return s
}

func (p *parser) callArgs() (a args) {
	open := p.expect(tLParen)
	ensure := func(ok bool) {
		if !ok {
			p.failAt(p.cur.off, open.line, "TemplateSyntaxError", "invalid syntax for function call expression", "")
		}
	}
	comma := false
	for p.cur.kind != tRParen {
		if comma {
			p.expect(tComma)
			if p.cur.kind == tRParen {
				break
			}
		}
		switch {
		case p.cur.kind == tMul:
			ensure(a.dyn == nil && a.dynKw == nil)
			p.next()
			a.dyn = p.expr()
		case p.cur.kind == tPow:
			ensure(a.dynKw == nil)
			p.next()
			a.dynKw = p.expr()
		case p.cur.kind == tName && p.look().kind == tAssign:
			ensure(a.dynKw == nil)
			t := p.next()
			p.next()
			for _, k := range a.kw {
				if k.name == t.text {
					p.failAt(t.off, t.line, "SyntaxError", "keyword argument repeated: "+t.text, "")
				}
			}
			a.kw = append(a.kw, keyword{t.text, p.expr()})
		default:
			ensure(a.dyn == nil && a.dynKw == nil && len(a.kw) == 0)
			a.pos = append(a.pos, p.expr())
		}
		comma = true
	}
	p.expect(tRParen)
	return a
}

func (p *parser) call(n node) node {
	at := p.here()
	return &nCall{at, n, p.callArgs()}
}

// filter reads filters on n; inline says that the first comes without a pipe.
// It returns n where there is none.
func (p *parser) filter(n node, inline bool) node {
	links := 0
	for p.cur.kind == tPipe || inline {
		p.chain(&links)
		if !inline {
			p.next()
		}
		f := &nFilter{pos: p.here(), x: n}
		f.name = p.dotted()
		if p.cur.kind == tLParen {
			f.args = p.callArgs()
		}
		n = f
		inline = false
	}
	return n
}

// dotted reads the name of a filter or a test.
func (p *parser) dotted() string {
	var name strings.Builder
	name.WriteString(p.expect(tName).text)
	for p.skip(tDot) {
		name.WriteString("." + p.expect(tName).text)
	}
	return name.String()
}

func (p *parser) test(n node) node {
	at := p.here()
	p.next()
	negated := p.skipName("not")
	nameAt := p.cur.off
	t := &nTest{pos: pos{nameAt, at.line}, x: n, name: p.dotted()}
	switch p.cur.kind {
	case tLParen:
		t.args = p.callArgs()
	case tName, tString, tInteger, tFloat, tLBracket, tLBrace:
		if p.isName("else") || p.isName("or") || p.isName("and") {
			break
		}
		if p.isName("is") {
			p.fail("You cannot chain multiple tests with is")
		}
		t.args.pos = []node{p.postfix(p.primary())}
	default: // the test has no arguments
	}
	if negated {
		return &nNot{at, t}
	}
	return t
}
