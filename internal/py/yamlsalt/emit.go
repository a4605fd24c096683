package yamlsalt

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// An emitter writes nodes as libyaml's emitter does.
type emitter struct {
	o      DumpOptions
	buf    []byte
	indent int // of the current container; -1 outside of all
	step   int // blanks a level
	width  int
	col    int
	flow   int // depth of [ and {
	// whitespace: the last character was a blank, so no other is due;
	// indention: only blanks, "-", "?" and ":" are on the line so far.
	whitespace, indention bool
	openEnded             bool // the end of the document is not to be seen from its text
	lineBreak             string
}

// place says where a node stands.
type place struct{ root, mapping, simpleKey bool }

func newEmitter(o DumpOptions) *emitter {
	e := &emitter{o: o, indent: -1, step: o.Indent, width: o.Width, whitespace: true, indention: true, lineBreak: o.LineBreak}
	if e.step < 2 || e.step > 9 {
		e.step = 2
	}
	switch {
	case e.width < 0:
		e.width = int(^uint(0) >> 1)
	case e.width <= 2*e.step:
		e.width = 80
	}
	if e.lineBreak == "" {
		e.lineBreak = "\n"
	}
	return e
}

func (e *emitter) document(root *rnode) {
	if e.o.ExplicitStart || e.o.Canonical {
		e.writeIndent()
		e.indicator("---", true, false, false)
		if e.o.Canonical {
			e.writeIndent()
		}
	}
	e.node(root, place{root: true})
	e.writeIndent()
	if e.o.ExplicitEnd {
		e.indicator("...", true, false, false)
		e.openEnded = false
		e.writeIndent()
	}
	if e.openEnded {
		e.indicator("...", true, false, false)
		e.writeIndent()
	}
}

// Writing.

func (e *emitter) put(s string) {
	e.buf = append(e.buf, s...)
	e.col += utf8.RuneCountInString(s)
}

func (e *emitter) putBreak() {
	e.buf = append(e.buf, e.lineBreak...)
	e.col = 0
}

// writeBreak writes the break at the start of s and returns its length.
func (e *emitter) writeBreak(s string) int {
	if s[0] == '\n' {
		e.putBreak()
		return 1
	}
	n := breakAt(s, 0)
	e.buf = append(e.buf, s[:n]...)
	e.col = 0
	return n
}

func (e *emitter) writeIndent() {
	indent := max(e.indent, 0)
	if !e.indention || e.col > indent || e.col == indent && !e.whitespace {
		e.putBreak()
	}
	for e.col < indent {
		e.buf = append(e.buf, ' ')
		e.col++
	}
	e.whitespace, e.indention = true, true
}

func (e *emitter) indicator(s string, needBlank, isBlank, isIndention bool) {
	if needBlank && !e.whitespace {
		e.put(" ")
	}
	e.put(s)
	e.whitespace = isBlank
	e.indention = e.indention && isIndention
}

// deeper goes a level down and returns the indent to come back to.
func (e *emitter) deeper(flow, indentless bool) int {
	old := e.indent
	switch {
	case e.indent < 0 && flow:
		e.indent = e.step
	case e.indent < 0:
		e.indent = 0
	case !indentless:
		e.indent += e.step
	}
	return old
}

// Nodes.

func (e *emitter) node(n *rnode, at place) {
	if n.anchor != "" {
		if n.began {
			e.indicator("*", true, false, false)
			e.put(n.anchor)
			e.whitespace, e.indention = false, false
			return
		}
		n.began = true
	}
	if n.kind == scalarNode {
		e.scalar(n, at)
		return
	}
	e.anchor(n)
	if t := n.shownTag(e.o.Canonical); t != "" {
		e.tag(t)
	}
	flow := e.flow > 0 || e.o.Canonical || n.flow || len(n.items) == 0
	switch {
	case n.kind == sequenceNode && flow:
		e.flowSequence(n)
	case n.kind == sequenceNode:
		e.blockSequence(n, at)
	case flow:
		e.flowMapping(n)
	default:
		e.blockMapping(n)
	}
}

func (e *emitter) anchor(n *rnode) {
	if n.anchor == "" {
		return
	}
	e.indicator("&", true, false, false)
	e.put(n.anchor)
	e.whitespace, e.indention = false, false
}

// implicit says whether the tag of a scalar follows from its text: where it is
// plain, and where it is quoted. Containers have one answer for both.
func (n *rnode) implicit() (plain, quoted bool) {
	switch n.kind {
	case sequenceNode:
		return n.tag == tagSeq, n.tag == tagSeq
	case mappingNode:
		return n.tag == tagMap, n.tag == tagMap
	default:
		return resolve(n.text) == n.tag, n.tag == tagStr
	}
}

// shownTag returns the tag as it is written, or "" where it is not.
func (n *rnode) shownTag(always bool) string {
	if plain, quoted := n.implicit(); !always && (plain || quoted) {
		return ""
	}
	if rest, ok := strings.CutPrefix(n.tag, tagPrefix); ok && rest != "" {
		return "!!" + rest
	}
	if strings.HasPrefix(n.tag, "!") {
		return n.tag
	}
	return "!<" + n.tag + ">"
}

func (e *emitter) tag(t string) {
	if !e.whitespace {
		e.put(" ")
	}
	e.put(t)
	e.whitespace, e.indention = false, false
}

func (e *emitter) blockSequence(n *rnode, at place) {
	old := e.deeper(false, at.mapping && !e.indention)
	for _, x := range n.items {
		e.writeIndent()
		e.indicator("-", true, false, true)
		e.node(x, place{})
	}
	e.indent = old
}

func (e *emitter) blockMapping(n *rnode) {
	old := e.deeper(false, false)
	for i := 0; i+1 < len(n.items); i += 2 {
		e.writeIndent()
		if e.isSimpleKey(n.items[i]) {
			e.node(n.items[i], place{mapping: true, simpleKey: true})
			e.indicator(":", false, false, false)
		} else {
			e.indicator("?", true, false, true)
			e.node(n.items[i], place{mapping: true})
			e.writeIndent()
			e.indicator(":", true, false, true)
		}
		e.node(n.items[i+1], place{mapping: true})
	}
	e.indent = old
}

func (e *emitter) flowSequence(n *rnode) {
	e.indicator("[", true, true, false)
	old := e.deeper(true, false)
	e.flow++
	for i, x := range n.items {
		if i > 0 {
			e.indicator(",", false, false, false)
		}
		if e.o.Canonical || e.col > e.width {
			e.writeIndent()
		}
		e.node(x, place{})
	}
	e.endFlow(n, old, "]")
}

func (e *emitter) flowMapping(n *rnode) {
	e.indicator("{", true, true, false)
	old := e.deeper(true, false)
	e.flow++
	for i := 0; i+1 < len(n.items); i += 2 {
		if i > 0 {
			e.indicator(",", false, false, false)
		}
		if e.o.Canonical || e.col > e.width {
			e.writeIndent()
		}
		if !e.o.Canonical && e.isSimpleKey(n.items[i]) {
			e.node(n.items[i], place{mapping: true, simpleKey: true})
			e.indicator(":", false, false, false)
		} else {
			e.indicator("?", true, false, false)
			e.node(n.items[i], place{mapping: true})
			if e.o.Canonical || e.col > e.width {
				e.writeIndent()
			}
			e.indicator(":", true, false, false)
		}
		e.node(n.items[i+1], place{mapping: true})
	}
	e.endFlow(n, old, "}")
}

func (e *emitter) endFlow(n *rnode, indent int, bracket string) {
	e.flow--
	e.indent = indent
	if e.o.Canonical && len(n.items) > 0 {
		e.indicator(",", false, false, false)
		e.writeIndent()
	}
	e.indicator(bracket, false, false, false)
}

// maxKeyLength is the length in bytes up to which a key goes without "?".
const maxKeyLength = 128

// isSimpleKey reports whether n can be a key without "?": short, on one line.
func (e *emitter) isSimpleKey(n *rnode) bool {
	length := len(n.anchor)
	switch {
	case n.began && n.anchor != "": // an alias
		return length <= maxKeyLength
	case n.kind == scalarNode:
		if strings.ContainsFunc(n.text, isBreakRune) {
			return false
		}
		length += len(n.text)
	case len(n.items) > 0:
		return false
	}
	return length+len(n.shownTag(e.o.Canonical)) <= maxKeyLength
}

func isBreakRune(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// breakAt returns the length of the line break at s[i:], or 0.
func breakAt(s string, i int) int {
	switch {
	case i >= len(s):
		return 0
	case s[i] == '\n' || s[i] == '\r':
		return 1
	case s[i] == 0xc2 && i+1 < len(s) && s[i+1] == 0x85:
		return 2
	case s[i] == 0xe2 && i+2 < len(s) && s[i+1] == 0x80 && (s[i+2] == 0xa8 || s[i+2] == 0xa9):
		return 3
	}
	return 0
}

func (e *emitter) scalar(n *rnode, at place) {
	a := analyze(n.text, e.o.AllowUnicode)
	tag := n.shownTag(e.o.Canonical)
	style := e.style(n, a, tag == "", at)
	if _, quoted := n.implicit(); tag == "" && !quoted && style != 0 {
		tag = "!"
	}
	e.anchor(n)
	if tag != "" {
		e.tag(tag)
	}
	old := e.deeper(true, false)
	switch style {
	case '\'':
		e.singleQuoted(n.text, !at.simpleKey)
	case '"':
		e.doubleQuoted(n.text, !at.simpleKey)
	case '|':
		e.literal(n.text)
	case '>':
		e.folded(n.text)
	default:
		e.plain(n.text, !at.simpleKey)
	}
	e.indent = old
}

// style chooses how a scalar is written: 0 is plain.
func (e *emitter) style(n *rnode, a analysis, noTag bool, at place) byte {
	plain, _ := n.implicit()
	style := n.style
	if e.o.Canonical || at.simpleKey && a.multiline {
		style = '"'
	}
	if style == 0 {
		if e.flow > 0 && !a.flowPlain || e.flow == 0 && !a.blockPlain ||
			n.text == "" && (e.flow > 0 || at.simpleKey) ||
			noTag && !plain {
			style = '\''
		}
	}
	if style == '\'' && !a.singleQuoted {
		style = '"'
	}
	if (style == '|' || style == '>') && (!a.block || e.flow > 0 || at.simpleKey) {
		style = '"'
	}
	return style
}

func (e *emitter) plain(s string, breaks bool) {
	if !e.whitespace && s != "" {
		e.put(" ")
	}
	e.foldWords(s, breaks, false)
	e.whitespace, e.indention = false, false
}

func (e *emitter) singleQuoted(s string, breaks bool) {
	e.indicator("'", true, false, false)
	e.foldWords(s, breaks, true)
	e.indicator("'", false, false, false)
	e.whitespace, e.indention = false, false
}

// foldWords writes the text of a plain or single-quoted scalar, folded at single
// blanks beyond the width.
func (e *emitter) foldWords(s string, breaks, quoted bool) {
	wasBlank, wasBreak := false, false
	for i := 0; i < len(s); {
		if s[i] == ' ' {
			inner := !quoted || i > 0 && i < len(s)-1
			if breaks && !wasBlank && e.col > e.width && inner && (i+1 >= len(s) || s[i+1] != ' ') {
				e.writeIndent()
			} else {
				e.put(" ")
			}
			i++
			wasBlank = true
			continue
		}
		if n := breakAt(s, i); n > 0 {
			if !wasBreak && s[i] == '\n' {
				e.putBreak()
			}
			i += e.writeBreak(s[i:])
			e.indention = true
			wasBreak = true
			continue
		}
		if wasBreak {
			e.writeIndent()
		}
		j := i + 1
		for j < len(s) && s[j] != ' ' && s[j] != '\'' && breakAt(s, j) == 0 {
			j++
		}
		if quoted && s[i] == '\'' {
			e.put("'")
		}
		e.put(s[i:j])
		i = j
		e.indention = false
		wasBlank, wasBreak = false, false
	}
	if wasBreak && quoted {
		e.writeIndent()
	}
}

func (e *emitter) doubleQuoted(s string, breaks bool) {
	e.indicator(`"`, true, false, false)
	wasBlank := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case !isPrintable(r) || !e.o.AllowUnicode && r >= utf8.RuneSelf || isBreakRune(r) || r == '"' || r == '\\':
			e.put(escapeRune(r))
			wasBlank = false
		case r == ' ':
			if breaks && !wasBlank && e.col > e.width && i > 0 && i < len(s)-1 {
				e.writeIndent()
				if s[i+1] == ' ' {
					e.put(`\`)
				}
			} else {
				e.put(" ")
			}
			wasBlank = true
		default:
			e.put(s[i : i+n])
			wasBlank = false
		}
		i += n
	}
	e.indicator(`"`, false, false, false)
	e.whitespace, e.indention = false, false
}

// escapeRune returns r escaped for a double-quoted scalar.
func escapeRune(r rune) string {
	switch r {
	case 0:
		return `\0`
	case 7:
		return `\a`
	case 8:
		return `\b`
	case 9:
		return `\t`
	case 10:
		return `\n`
	case 11:
		return `\v`
	case 12:
		return `\f`
	case 13:
		return `\r`
	case 27:
		return `\e`
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case 0x85:
		return `\N`
	case 0xa0:
		return `\_`
	case 0x2028:
		return `\L`
	case 0x2029:
		return `\P`
	}
	hex := strings.ToUpper(strconv.FormatInt(int64(r), 16))
	switch {
	case r <= 0xff:
		return `\x` + strings.Repeat("0", 2-len(hex)) + hex
	case r <= 0xffff:
		return `\u` + strings.Repeat("0", 4-len(hex)) + hex
	}
	return `\U` + strings.Repeat("0", 8-len(hex)) + hex
}

// blockHints writes what stands behind | and >: the indentation where the text
// begins with blanks, and what becomes of the breaks at its end.
func (e *emitter) blockHints(s string) {
	if s != "" && (s[0] == ' ' || breakAt(s, 0) > 0) {
		e.indicator(strconv.Itoa(e.step), false, false, false)
	}
	e.openEnded = false
	last, n := utf8.DecodeLastRuneInString(s)
	switch before, _ := utf8.DecodeLastRuneInString(s[:len(s)-n]); {
	case s == "" || !isBreakRune(last):
		e.indicator("-", false, false, false)
	case n == len(s) || isBreakRune(before):
		e.indicator("+", false, false, false)
		e.openEnded = true
	}
}

func (e *emitter) literal(s string) {
	e.indicator("|", true, false, false)
	e.blockHints(s)
	e.putBreak()
	e.indention, e.whitespace = true, true
	wasBreak := true
	for i := 0; i < len(s); {
		if breakAt(s, i) > 0 {
			i += e.writeBreak(s[i:])
			e.indention = true
			wasBreak = true
			continue
		}
		if wasBreak {
			e.writeIndent()
		}
		j := i
		for j < len(s) && breakAt(s, j) == 0 {
			j++
		}
		e.put(s[i:j])
		i = j
		e.indention = false
		wasBreak = false
	}
}

func (e *emitter) folded(s string) {
	e.indicator(">", true, false, false)
	e.blockHints(s)
	e.putBreak()
	e.indention, e.whitespace = true, true
	wasBreak, leadingBlank := true, true
	for i := 0; i < len(s); {
		if breakAt(s, i) > 0 {
			if !wasBreak && !leadingBlank && s[i] == '\n' {
				k := i
				for n := breakAt(s, k); n > 0; n = breakAt(s, k) {
					k += n
				}
				if k < len(s) && s[k] != ' ' && s[k] != '\t' {
					e.putBreak()
				}
			}
			i += e.writeBreak(s[i:])
			e.indention = true
			wasBreak = true
			continue
		}
		if wasBreak {
			e.writeIndent()
			leadingBlank = s[i] == ' ' || s[i] == '\t'
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		if !wasBreak && s[i] == ' ' && (i+1 >= len(s) || s[i+1] != ' ') && e.col > e.width {
			e.writeIndent()
		} else {
			e.put(s[i : i+n])
		}
		i += n
		e.indention = false
		wasBreak = false
	}
}
