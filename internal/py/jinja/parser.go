package jinja

import (
	"slices"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// maxNesting bounds how deep the parts of a template may nest, and how long a
// chain of operators may be.
const (
	maxNesting = 200
	maxChain   = 500
)

// A parser makes the tree of one template. It stops by a panic with an *Error,
// which parse recovers.
type parser struct {
	env  *Env
	name string
	src  string
	toks []token
	i    int
	cur  *token

	depth    int
	idents   int
	tags     []string   // the open tags
	endStack [][]string // the tags that are looked for
}

// parse returns the statements of a template whose text is normalized.
func parse(env *Env, name, src string) (body []node, err error) {
	p := &parser{env: env, name: name, src: src, toks: lex(&env.opts, src), i: -1}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			body, err = nil, e
		}
	}()
	p.next()
	body = p.subparse(nil)
	p.cur = nil
	giveTokens(p.toks) // no node holds one
	return body, nil
}

// next goes on by one token and returns the one that was current.
func (p *parser) next() *token {
	old := p.cur
	if p.i+1 < len(p.toks) {
		p.i++
	}
	p.cur = &p.toks[p.i]
	if p.cur.kind == tError {
		p.failAt(p.cur.off, p.cur.line, "TemplateSyntaxError", p.cur.text, "")
	}
	return old
}

// look returns the token after the current one.
func (p *parser) look() *token {
	if p.i+1 >= len(p.toks) {
		return p.cur
	}
	t := &p.toks[p.i+1]
	if t.kind == tError {
		p.failAt(t.off, t.line, "TemplateSyntaxError", t.text, "")
	}
	return t
}

func (p *parser) failAt(off, line int32, typ, msg, hint string) {
	panic(newError(p.name, p.src, off, line, typ, msg, hint))
}

// fail stops at the place of the current token.
func (p *parser) fail(msg string) {
	p.failAt(p.cur.off, p.cur.line, "TemplateSyntaxError", msg, "")
}

// newError makes the error of a fault at off, which Jinja2 counts to line.
func newError(name, src string, off, line int32, typ, msg, hint string) *Error {
	kind := Runtime
	if typ == "TemplateSyntaxError" || typ == "TemplateAssertionError" || typ == "SyntaxError" {
		kind = Syntax
	}
	at := place(name, src, off)
	if kind == Syntax {
		if at.Line != int(line) {
			at = source.Pos{File: name, Line: int(line)}
		}
	}
	return &Error{
		Kind: kind, PyType: typ, Msg: msg, Hint: hint, Source: src,
		Pos: at, At: source.Pos{File: name, Line: int(line)},
	}
}

// place returns line and column of an offset.
func place(name, src string, off int32) source.Pos {
	before := src[:min(int(off), len(src))]
	col := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
	return source.Pos{File: name, Line: strings.Count(before, "\n") + 1, Col: col}
}

func (p *parser) here() pos { return pos{p.cur.off, p.cur.line} }

// deeper counts a level of nesting; the caller ends it by p.depth--.
func (p *parser) deeper() {
	if p.depth++; p.depth > maxNesting {
		p.fail("the template nests too deep")
	}
}

func (p *parser) isName(name string) bool { return p.cur.kind == tName && p.cur.text == name }

func (p *parser) skipName(name string) bool {
	if p.isName(name) {
		p.next()
		return true
	}
	return false
}

func (p *parser) skip(k tokKind) bool {
	if p.cur.kind == k {
		p.next()
		return true
	}
	return false
}

func (p *parser) expected(what string) {
	if p.cur.kind == tEOF {
		p.fail("unexpected end of template, expected " + value.QuoteStr(what) + ".")
	}
	p.fail("expected token " + value.QuoteStr(what) + ", got " + value.QuoteStr(p.cur.describe()))
}

func (p *parser) expect(k tokKind) *token {
	if p.cur.kind != k {
		p.expected(k.describe())
	}
	return p.next()
}

func (p *parser) expectName(name string) {
	if !p.isName(name) {
		p.expected(name)
	}
	p.next()
}

// subparse reads up to one of the end tags, which becomes the current token,
// or with none to the end of the template.
func (p *parser) subparse(ends []string) []node {
	var body, out []node
	flush := func() {
		if len(out) > 0 {
			body = append(body, &sOutput{out[0].at(), out})
			out = nil
		}
	}
	if ends != nil {
		p.endStack = append(p.endStack, ends)
		defer func() { p.endStack = p.endStack[:len(p.endStack)-1] }()
	}
	p.deeper()
	defer func() { p.depth-- }()
	for p.cur.kind != tEOF {
		switch p.cur.kind {
		case tData:
			out = append(out, &sData{p.here(), p.cur.text})
			p.next()
		case tVarBegin:
			p.next()
			out = append(out, p.tuple(false, true, nil, false))
			p.expect(tVarEnd)
		case tBlockBegin:
			flush()
			p.next()
			if p.cur.kind == tName && slices.Contains(ends, p.cur.text) {
				return body
			}
			body = append(body, p.statement()...)
			p.expect(tBlockEnd)
		default:
			p.fail("internal parsing error")
		}
	}
	flush()
	return body
}

// statements reads the body of a statement up to one of the end tags, whose
// name becomes the current token.
func (p *parser) statements(ends ...string) []node {
	p.skip(tColon)
	p.expect(tBlockEnd)
	body := p.subparse(ends)
	if p.cur.kind == tEOF {
		p.endStack = append(p.endStack, ends)
		p.unexpected("", p.here())
	}
	return body
}

// body reads a body that ends with the tag end.
func (p *parser) body(end string) []node {
	b := p.statements(end)
	p.next()
	return b
}

// unexpected stops at an unknown tag, or at the end of the template where name
// is empty.
func (p *parser) unexpected(name string, at pos) {
	msg := "Unexpected end of template."
	if name != "" {
		msg = "Encountered unknown tag " + value.QuoteStr(name) + "."
	}
	hint := ""
	if n := len(p.endStack); n > 0 {
		var quoted []string
		for _, e := range p.endStack[n-1] {
			quoted = append(quoted, value.QuoteStr(e))
		}
		looking := strings.Join(quoted, " or ")
		expected := false
		for _, ends := range p.endStack {
			expected = expected || name != "" && slices.Contains(ends, name)
		}
		if expected {
			msg += " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for " + looking + "."
		} else {
			msg += " Jinja was looking for the following tags: " + looking + "."
		}
	}
	if n := len(p.tags); n > 0 {
		msg += " The innermost block that needs to be closed is " + value.QuoteStr(p.tags[n-1]) + "."
	}
	if name != "" {
		known := p.env.TagNames()
		for _, ends := range p.endStack {
			known = append(known, ends...)
		}
		hint = didYouMean(name, known)
	}
	p.failAt(at.off, at.line, "TemplateSyntaxError", msg, hint)
}

// statement reads one statement up to its block end.
func (p *parser) statement() []node {
	if p.cur.kind != tName {
		p.fail("tag name expected")
	}
	tag, at := p.cur.text, p.here()
	p.tags = append(p.tags, tag)
	defer func() { p.tags = p.tags[:max(len(p.tags)-1, 0)] }()
	one := func(n node) []node { return []node{n} }
	switch tag {
	case "for":
		return one(p.forLoop())
	case "if":
		return one(p.ifElse())
	case "block":
		return one(p.block())
	case "extends":
		p.next()
		return one(&sExtends{at, p.expr()})
	case "print":
		p.next()
		n := &sOutput{pos: at}
		for p.cur.kind != tBlockEnd {
			if len(n.nodes) > 0 {
				p.expect(tComma)
			}
			n.nodes = append(n.nodes, p.expr())
		}
		return one(n)
	case "macro":
		p.next()
		n := &sMacro{pos: at, name: p.nameTarget().name}
		p.signature(&n.signature)
		n.body = p.body("endmacro")
		return one(n)
	case "include":
		p.next()
		n := &sInclude{pos: at, x: p.expr()}
		if t := p.look(); p.isName("ignore") && t.kind == tName && t.text == "missing" {
			p.next()
			p.next()
			n.ignoreMissing = true
		}
		n.withContext = p.importContext(true)
		return one(n)
	case "from":
		return one(p.fromImport())
	case "import":
		return one(p.importAs())
	case "set":
		return one(p.set())
	case "with":
		return one(p.with())
	case "autoescape":
		p.next()
		n := &sAutoescape{pos: at, x: p.expr()}
		n.body = p.body("endautoescape")
		return one(n)
	case "call":
		return one(p.callBlock())
	case "filter":
		p.next()
		n := &sFilterBlock{pos: at, filter: p.filter(nil, true).(*nFilter)}
		n.body = p.body("endfilter")
		return one(n)
	case "do":
		p.next()
		return one(&sDo{at, p.tuple(false, true, nil, false)})
	case "break":
		p.next()
		return one(&sBreak{at})
	case "continue":
		p.next()
		return one(&sContinue{at})
	case "debug":
		if p.env.opts.Debug {
			p.next()
			return one(&sDebug{at})
		}
	default:
		if added, ok := p.env.opts.Extension.Tags[tag]; ok {
			return p.addedTag(tag, added, at)
		}
	}
	p.tags = p.tags[:len(p.tags)-1]
	p.unexpected(tag, at)
	return nil
}

func (p *parser) set() node {
	at := p.here()
	p.next()
	target := p.target(nil, true)
	if p.skip(tAssign) {
		return &sAssign{at, target, p.tuple(false, true, nil, false)}
	}
	n := &sAssignBlock{pos: at, target: target}
	if f := p.filter(nil, false); f != nil {
		n.filter = f.(*nFilter)
	}
	n.body = p.body("endset")
	return n
}

func (p *parser) forLoop() node {
	n := &sFor{pos: p.here()}
	p.next()
	n.target = p.target([]string{"in"}, false)
	p.expectName("in")
	n.iter = p.tuple(false, false, []string{"recursive"}, false)
	if p.skipName("if") {
		n.test = p.expr()
	}
	n.recursive = p.skipName("recursive")
	n.body = p.statements("endfor", "else")
	if p.next().text != "endfor" {
		n.els = p.body("endfor")
	}
	return n
}

func (p *parser) ifElse() node {
	result := &sIf{pos: p.here()}
	p.next()
	n := result
	for {
		n.test = p.tuple(false, false, nil, false)
		n.body = p.statements("elif", "else", "endif")
		switch p.next().text {
		case "elif":
			n = &sIf{pos: p.here()}
			result.elifs = append(result.elifs, n)
			continue
		case "else":
			result.elsAt = p.here()
			result.els = p.body("endif")
		}
		return result
	}
}

func (p *parser) with() node {
	n := &sWith{pos: p.here()}
	p.next()
	for p.cur.kind != tBlockEnd {
		if len(n.targets) > 0 {
			p.expect(tComma)
		}
		t := p.target(nil, false)
		setCtx(t, param)
		n.targets = append(n.targets, t)
		p.expect(tAssign)
		n.values = append(n.values, p.expr())
	}
	n.body = p.body("endwith")
	return n
}

func (p *parser) block() node {
	n := &sBlock{pos: p.here()}
	p.next()
	n.name = p.expect(tName).text
	n.scoped = p.skipName("scoped")
	n.required = p.skipName("required")
	if p.cur.kind == tSub {
		p.fail("Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.")
	}
	n.body = p.body("endblock")
	if n.required && !onlySpace(n.body) {
		p.fail("Required blocks can only contain comments or whitespace")
	}
	p.skipName(n.name)
	return n
}

func onlySpace(body []node) bool {
	for _, n := range body {
		out, ok := n.(*sOutput)
		if !ok {
			return false
		}
		for _, x := range out.nodes {
			d, ok := x.(*sData)
			if !ok || strings.TrimFunc(d.text, value.IsSpace) != "" {
				return false
			}
		}
	}
	return true
}

func (p *parser) importContext(def bool) bool {
	if p.isName("with") || p.isName("without") {
		if t := p.look(); t.kind == tName && t.text == "context" {
			def = p.next().text == "with"
			p.next()
		}
	}
	return def
}

func (p *parser) importAs() *sImport {
	n := &sImport{pos: p.here()}
	p.next()
	n.x = p.expr()
	p.expectName("as")
	n.target = p.nameTarget().name
	n.withContext = p.importContext(false)
	return n
}

func (p *parser) fromImport() node {
	n := &sFromImport{pos: p.here()}
	p.next()
	n.x = p.expr()
	p.expectName("import")
	contextEnd := func() bool {
		if !p.isName("with") && !p.isName("without") {
			return false
		}
		if t := p.look(); t.kind != tName || t.text != "context" {
			return false
		}
		n.withContext = p.next().text == "with"
		p.next()
		return true
	}
	for {
		if len(n.names) > 0 {
			p.expect(tComma)
		}
		if p.cur.kind != tName {
			p.expect(tName)
		}
		if contextEnd() {
			return n
		}
		t := p.nameTarget()
		if strings.HasPrefix(t.name, "_") {
			p.failAt(t.off, t.line, "TemplateAssertionError", "names starting with an underline can not be imported", "")
		}
		as := t.name
		if p.skipName("as") {
			as = p.nameTarget().name
		}
		n.names = append(n.names, importName{t.name, as})
		if contextEnd() || p.cur.kind != tComma {
			return n
		}
	}
}

func (p *parser) signature(s *signature) {
	p.expect(tLParen)
	for p.cur.kind != tRParen {
		if len(s.params) > 0 {
			p.expect(tComma)
		}
		a := p.nameTarget()
		a.ctx = param
		if p.skip(tAssign) {
			s.defaults = append(s.defaults, p.expr())
		} else if len(s.defaults) > 0 {
			p.fail("non-default argument follows default argument")
		}
		s.params = append(s.params, a)
	}
	p.expect(tRParen)
}

func (p *parser) callBlock() node {
	n := &sCallBlock{pos: p.here()}
	p.next()
	if p.cur.kind == tLParen {
		p.signature(&n.signature)
	}
	call, ok := p.expr().(*nCall)
	if !ok {
		p.failAt(n.off, n.line, "TemplateSyntaxError", "expected call", "")
	}
	n.call = call
	n.body = p.body("endcall")
	return n
}

// addedTag reads a tag of the extension.
func (p *parser) addedTag(name string, tag Tag, at pos) []node {
	switch tag.Kind {
	case ImportTag:
		return p.importData(name, tag, at)
	case ProfileTag:
		p.next()
		p.expectName("as")
		n := &sProfile{pos: at, label: p.expr(), source: name + " block"}
		n.body = p.body(tag.End)
		return []node{n}
	default:
		return p.captureTag(tag, at)
	}
}

// captureTag reads a [CaptureTag]: the body is a macro whose result goes
// through the filter.
func (p *parser) captureTag(tag Tag, at pos) []node {
	p.next()
	p.expectName("as")
	target := p.target(nil, false)
	p.idents++
	name := "_fi" + value.Str(int64(p.idents))
	body := p.body(tag.End)
	call := &nCall{pos: at, fn: &nName{at, name, load}}
	return []node{
		&sMacro{pos: at, name: name, body: body},
		&sAssign{at, target, &nFilter{pos: at, x: call, name: tag.Filter}},
	}
}

// importData reads an [ImportTag]: an import that goes through the filter.
func (p *parser) importData(name string, tag Tag, at pos) []node {
	imp := p.importAs()
	data := &nFilter{pos: at, x: &nName{at, imp.target, load}, name: tag.Filter}
	return []node{&sProfile{pos: at, label: imp.x, source: name, body: []node{
		imp,
		&sAssign{at, &nName{at, imp.target, store}, data},
	}}}
}

// nameTarget reads a name that is assigned to.
func (p *parser) nameTarget() *nName {
	t := p.expect(tName)
	n := &nName{pos{t.off, t.line}, t.text, store}
	if !canAssign(n) {
		p.failAt(n.off, n.line, "TemplateSyntaxError", "can't assign to 'name'", "")
	}
	return n
}

// target reads what is assigned to: names, tuples of them, or with namespace
// an attribute of one.
func (p *parser) target(ends []string, namespace bool) node {
	if namespace && p.look().kind == tDot {
		t := p.expect(tName)
		p.next()
		return &nNSRef{pos{t.off, t.line}, t.text, p.expect(tName).text}
	}
	n := p.tuple(true, true, ends, false)
	setCtx(n, store)
	if !canAssign(n) {
		at := n.at()
		p.failAt(at.off, at.line, "TemplateSyntaxError", "can't assign to "+value.QuoteStr(className(n)), "")
	}
	return n
}

func setCtx(n node, c nameCtx) {
	if name, ok := n.(*nName); ok {
		name.ctx = c
	}
	children(n, func(n node) { setCtx(n, c) })
}

func canAssign(n node) bool {
	switch n := n.(type) {
	case *nName:
		switch n.name {
		case "true", "false", "none", "True", "False", "None":
			return false
		}
		return true
	case *nTuple:
		for _, x := range n.items {
			if !canAssign(x) {
				return false
			}
		}
		return true
	}
	return false
}
