package yamlsalt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

type nodeKind uint8

const (
	scalarNode nodeKind = iota
	sequenceNode
	mappingNode
)

// String names the kind as PyYAML's errors do.
func (k nodeKind) String() string { return [...]string{"scalar", "sequence", "mapping"}[k] }

// A node is a part of a document. An alias is the node that it stands for.
type node struct {
	kind  nodeKind
	line  int32 // of its start, from 0
	col   int32
	tag   string
	text  string  // of a scalar
	items []*node // of a sequence; keys and values in turn, of a mapping
}

// Common tags.
const (
	tagPrefix    = "tag:yaml.org,2002:"
	tagNull      = tagPrefix + "null"
	tagBool      = tagPrefix + "bool"
	tagInt       = tagPrefix + "int"
	tagFloat     = tagPrefix + "float"
	tagStr       = tagPrefix + "str"
	tagBinary    = tagPrefix + "binary"
	tagTimestamp = tagPrefix + "timestamp"
	tagMerge     = tagPrefix + "merge"
	tagValue     = tagPrefix + "value"
	tagSeq       = tagPrefix + "seq"
	tagMap       = tagPrefix + "map"
	tagSet       = tagPrefix + "set"
	tagOmap      = tagPrefix + "omap"
	tagPairs     = tagPrefix + "pairs"
	tagPyUnicode = tagPrefix + "python/unicode"
	tagPyTuple   = tagPrefix + "python/tuple"
)

// maxDepth is how deep a document may be nested: Python's recursion limit.
const maxDepth = 1000

// A parser makes the tree of the one document of a text.
type parser struct {
	*scanner
	anchors  map[string]*node
	handles  map[string]string // of %TAG directives
	aliased  bool
	depth    int
	nodes    []node // storage
	count    int
	children []*node // items of the containers being read
}

// parse returns the root of the document in text, or nil where there is none,
// and whether it has aliases.
func parse(text string) (root *node, aliased bool, f *SyntaxError) {
	if f := checkReadable(text); f != nil {
		return nil, false, f
	}
	p := &parser{scanner: newScanner(strings.TrimPrefix(text, "\ufeff"))}
	root, f = p.single()
	return root, p.aliased, f
}

// checkReadable finds what the reader lets into no text.
func checkReadable(text string) *SyntaxError {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
				return unreadable(text, i, rune(c), "control characters are not allowed")
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			problem := "invalid leading UTF-8 octet"
			if c := text[i]; c >= 0xc2 && c < 0xf5 {
				if problem = "invalid trailing UTF-8 octet"; !utf8.FullRuneInString(text[i:]) {
					problem = "incomplete UTF-8 octet sequence"
				}
			}
			return unreadable(text, i, rune(text[i]), problem)
		}
		if r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff {
			return unreadable(text, i, r, "control characters are not allowed")
		}
		i += n
	}
	return nil
}

func unreadable(text string, at int, r rune, problem string) *SyntaxError {
	before := text[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	return &SyntaxError{
		Class: "ReaderError", Problem: fmt.Sprintf("unacceptable character #x%04x: %s", r, problem), offset: at,
		Line: strings.Count(before, "\n") + 1, Col: utf8.RuneCountInString(before[start:]) + 1,
	}
}

func (p *parser) fault(context string, start mark, problem string, at mark) *SyntaxError {
	f := &SyntaxError{Class: "ParserError", Context: context, Problem: problem, Line: at.line + 1, Col: at.col + 1}
	if context != "" {
		f.ContextLine, f.ContextCol = start.line+1, start.col+1
	}
	return f
}

func (p *parser) single() (*node, *SyntaxError) {
	t, f := p.peek()
	if f != nil {
		return nil, f
	}
	var root *node
	switch t.kind {
	case streamEnd:
		return nil, nil
	case versionDirective, tagDirective, documentStart:
		root, f = p.explicitDocument()
	default:
		root, f = p.node(true, false)
	}
	if f != nil {
		return nil, f
	}
	if t, f = p.peek(); f != nil {
		return nil, f
	}
	for t.kind == documentEnd {
		p.take()
		if t, f = p.peek(); f != nil {
			return nil, f
		}
	}
	if t.kind == streamEnd {
		return root, nil
	}
	at := t.start
	if f := p.directives(); f != nil {
		return nil, f
	}
	return nil, &SyntaxError{
		Class: "ComposerError", Context: "expected a single document in the stream", ContextLine: int(root.line) + 1, ContextCol: int(root.col) + 1,
		Problem: "but found another document", Line: at.line + 1, Col: at.col + 1,
	}
}

func (p *parser) explicitDocument() (*node, *SyntaxError) {
	if f := p.directives(); f != nil {
		return nil, f
	}
	t, f := p.peek()
	if f != nil {
		return nil, f
	}
	switch t.kind {
	case versionDirective, tagDirective, documentStart, documentEnd, streamEnd:
		return p.empty(t.start), nil
	default:
		return p.node(true, false)
	}
}

// directives takes directives and the --- that must follow.
func (p *parser) directives() *SyntaxError {
	version := false
	p.handles = nil
	for {
		t, f := p.peek()
		if f != nil {
			return f
		}
		switch t.kind {
		case versionDirective:
			if version {
				return p.fault("", mark{}, "found duplicate %YAML directive", t.start)
			}
			if t.major != 1 || t.minor != 1 && t.minor != 2 {
				return p.fault("", mark{}, "found incompatible YAML document", t.start)
			}
			version = true
		case tagDirective:
			if _, ok := p.handles[t.handle]; ok {
				return p.fault("", mark{}, "found duplicate %TAG directive", t.start)
			}
			if p.handles == nil {
				p.handles = map[string]string{}
			}
			p.handles[t.handle] = t.value
		case documentStart:
			p.take()
			return nil
		default:
			return p.fault("", mark{}, "did not find expected <document start>", t.start)
		}
		p.take()
	}
}

func (p *parser) newNode(kind nodeKind, at mark) *node {
	if len(p.nodes) == 0 {
		p.nodes = make([]node, min(max(8, p.count), 128))
	}
	n := &p.nodes[0]
	p.nodes = p.nodes[1:]
	p.count++
	n.kind, n.line, n.col = kind, int32(at.line), int32(at.col)
	return n
}

func (p *parser) empty(at mark) *node {
	n := p.newNode(scalarNode, at)
	n.tag = tagNull
	return n
}

// node parses a node: an alias, or properties and content. block says that
// block collections are allowed, indentless that a sequence may be indented
// like its key.
func (p *parser) node(block, indentless bool) (*node, *SyntaxError) {
	t, f := p.peek()
	if f != nil {
		return nil, f
	}
	if t.kind == aliasToken {
		n := p.anchors[t.value]
		if n == nil {
			return nil, &SyntaxError{Class: "ComposerError", Problem: "found undefined alias", Line: t.start.line + 1, Col: t.start.col + 1}
		}
		p.take()
		p.aliased = true
		return n, nil
	}
	if p.depth++; p.depth > maxDepth {
		return nil, &SyntaxError{Class: "RecursionError", Problem: "maximum recursion depth exceeded", Line: t.start.line + 1, Col: t.start.col + 1}
	}
	defer func() { p.depth-- }()

	start := t.start
	props, t, f := p.properties(t)
	if f != nil {
		return nil, f
	}
	anchored, tagged, tag := props.anchored, props.tagged, props.tag

	var n *node
	if anchored || tagged {
		n = p.newNode(scalarNode, start)
	} else {
		n = p.newNode(scalarNode, t.start)
	}
	if anchored {
		if f := p.anchor(props.anchor, n, start); f != nil {
			return nil, f
		}
	}
	specific := tag != "" && tag != "!"
	n.tag = tag
	switch {
	case indentless && t.kind == blockEntry:
		n.kind = sequenceNode
		f = p.indentlessSequence(n)
	case t.kind == scalarToken:
		n.text = t.value
		switch {
		case specific:
		case t.plain || tag == "!":
			n.tag = resolve(n.text)
		default:
			n.tag = tagStr
		}
		p.take()
		return n, nil
	case t.kind == flowSequenceStart:
		n.kind = sequenceNode
		f = p.flowSequence(n)
	case t.kind == flowMappingStart:
		n.kind = mappingNode
		f = p.flowMapping(n)
	case block && t.kind == blockSequenceStart:
		n.kind = sequenceNode
		f = p.blockSequence(n)
	case block && t.kind == blockMappingStart:
		n.kind = mappingNode
		f = p.blockMapping(n)
	case anchored || tagged:
		switch {
		case specific:
		case tag == "!":
			n.tag = tagStr
		default:
			n.tag = tagNull
		}
		return n, nil
	default:
		context := "while parsing a flow node"
		if block {
			context = "while parsing a block node"
		}
		return nil, p.fault(context, start, "did not find expected node content", t.start)
	}
	if f != nil {
		return nil, f
	}
	if !specific {
		if n.tag = tagSeq; n.kind == mappingNode {
			n.tag = tagMap
		}
	}
	return n, nil
}

// nodeProperties are what stands before a node.
type nodeProperties struct {
	anchored, tagged bool
	anchor, tag      string
}

// properties takes an anchor and a tag, in any order, and returns the token
// that follows.
func (p *parser) properties(t *token) (props nodeProperties, next *token, f *SyntaxError) {
	start := t.start
	var handle string
	var tagAt mark
	for {
		if t.kind == anchorToken && !props.anchored {
			props.anchored, props.anchor = true, t.value
		} else if t.kind == tagToken && !props.tagged {
			props.tagged, handle, props.tag, tagAt = true, t.handle, t.value, t.start
		} else {
			break
		}
		p.take()
		if t, f = p.peek(); f != nil {
			return props, nil, f
		}
	}
	if handle != "" {
		prefix, ok := p.handles[handle]
		switch {
		case ok:
		case handle == "!":
			prefix = "!"
		case handle == "!!":
			prefix = tagPrefix
		default:
			return props, nil, p.fault("while parsing a node", start, "found undefined tag handle", tagAt)
		}
		props.tag = prefix + props.tag
	}
	return props, t, nil
}

// anchor gives a node a name, which no other may have.
func (p *parser) anchor(name string, n *node, start mark) *SyntaxError {
	if first := p.anchors[name]; first != nil {
		return &SyntaxError{
			Class: "ComposerError", Context: "found duplicate anchor; first occurrence",
			ContextLine: int(first.line) + 1, ContextCol: int(first.col) + 1,
			Problem: "second occurrence", Line: start.line + 1, Col: start.col + 1,
		}
	}
	if p.anchors == nil {
		p.anchors = map[string]*node{}
	}
	p.anchors[name] = n
	return nil
}

// collect ends the reading of a container that began when mark children were
// there.
func (p *parser) collect(n *node, from int) {
	if len(p.children) > from {
		n.items = append(make([]*node, 0, len(p.children)-from), p.children[from:]...)
	}
	p.children = p.children[:from]
}

// child parses a node, or an empty one where one of ends is ahead.
func (p *parser) child(block, indentless bool, at mark, ends ...tokenKind) *SyntaxError {
	t, f := p.peek()
	if f != nil {
		return f
	}
	if slices.Contains(ends, t.kind) {
		p.children = append(p.children, p.empty(at))
		return nil
	}
	n, f := p.node(block, indentless)
	if f != nil {
		return f
	}
	p.children = append(p.children, n)
	return nil
}

func (p *parser) blockSequence(n *node) *SyntaxError {
	from := len(p.children)
	t, _ := p.peek()
	start := t.start
	p.take()
	for {
		t, f := p.peek()
		if f != nil {
			return f
		}
		switch t.kind {
		case blockEntry:
			at := t.end
			p.take()
			if f := p.child(true, false, at, blockEntry, blockEnd); f != nil {
				return f
			}
			continue
		case blockEnd:
			p.take()
		default:
			return p.fault("while parsing a block collection", start, "did not find expected '-' indicator", t.start)
		}
		p.collect(n, from)
		return nil
	}
}

func (p *parser) indentlessSequence(n *node) *SyntaxError {
	from := len(p.children)
	for {
		t, f := p.peek()
		if f != nil {
			return f
		}
		if t.kind != blockEntry {
			p.collect(n, from)
			return nil
		}
		at := t.end
		p.take()
		if f := p.child(true, false, at, blockEntry, keyToken, valueToken, blockEnd); f != nil {
			return f
		}
	}
}

func (p *parser) blockMapping(n *node) *SyntaxError {
	from := len(p.children)
	t, _ := p.peek()
	start := t.start
	p.take()
	for {
		t, f := p.peek()
		if f != nil {
			return f
		}
		switch t.kind {
		case keyToken:
			at := t.end
			p.take()
			if f := p.child(true, true, at, keyToken, valueToken, blockEnd); f != nil {
				return f
			}
		case blockEnd:
			p.take()
			p.collect(n, from)
			return nil
		default:
			return p.fault("while parsing a block mapping", start, "did not find expected key", t.start)
		}
		if t, f = p.peek(); f != nil {
			return f
		}
		at := t.start
		if t.kind != valueToken {
			p.children = append(p.children, p.empty(at))
			continue
		}
		at = t.end
		p.take()
		if f := p.child(true, true, at, keyToken, valueToken, blockEnd); f != nil {
			return f
		}
	}
}

// flowItem returns the token that the next item of a flow collection begins
// with, behind the comma unless it is the first, or the one of kind end. A
// missing comma is the fault.
func (p *parser) flowItem(first bool, end tokenKind, context string, start mark, problem string) (*token, *SyntaxError) {
	t, f := p.peek()
	if f != nil || first || t.kind == end {
		return t, f
	}
	if t.kind != flowEntry {
		return nil, p.fault(context, start, problem, t.start)
	}
	p.take()
	return p.peek()
}

func (p *parser) flowSequence(n *node) *SyntaxError {
	from := len(p.children)
	t, _ := p.peek()
	start := t.start
	p.take()
	for first := true; ; first = false {
		t, f := p.flowItem(first, flowSequenceEnd, "while parsing a flow sequence", start, "did not find expected ',' or ']'")
		if f != nil {
			return f
		}
		switch t.kind {
		case flowSequenceEnd:
			p.take()
			p.collect(n, from)
			return nil
		case keyToken:
			if f := p.pair(); f != nil {
				return f
			}
		default:
			if f := p.child(false, false, mark{}); f != nil {
				return f
			}
		}
	}
}

// pair parses the single pair of a mapping without braces, an item of a flow
// sequence.
func (p *parser) pair() *SyntaxError {
	t, _ := p.peek()
	n := p.newNode(mappingNode, t.start)
	n.tag = tagMap
	from := len(p.children)
	at := t.end
	p.take()
	t, f := p.peek()
	if f != nil {
		return f
	}
	switch t.kind {
	case valueToken, flowEntry, flowSequenceEnd:
		// libyaml loses the token after a "?" without a key, so that "[? ]"
		// is not closed.
		p.take()
		p.children = append(p.children, p.empty(at))
	default:
		if f := p.child(false, false, at); f != nil {
			return f
		}
	}
	if t, f = p.peek(); f != nil {
		return f
	}
	if t.kind != valueToken {
		p.children = append(p.children, p.empty(t.start))
	} else {
		p.take()
		if t, f = p.peek(); f != nil {
			return f
		}
		if f := p.child(false, false, t.start, flowEntry, flowSequenceEnd); f != nil {
			return f
		}
	}
	p.collect(n, from)
	p.children = append(p.children, n)
	return nil
}

func (p *parser) flowMapping(n *node) *SyntaxError {
	from := len(p.children)
	t, _ := p.peek()
	start := t.start
	p.take()
	for first := true; ; first = false {
		t, f := p.flowItem(first, flowMappingEnd, "while parsing a flow mapping", start, "did not find expected ',' or '}'")
		if f != nil {
			return f
		}
		switch t.kind {
		case flowMappingEnd:
			p.take()
			p.collect(n, from)
			return nil
		case keyToken:
			p.take()
			if t, f = p.peek(); f != nil {
				return f
			}
			if f := p.child(false, false, t.start, valueToken, flowEntry, flowMappingEnd); f != nil {
				return f
			}
		default:
			if f := p.child(false, false, mark{}); f != nil {
				return f
			}
			if t, f = p.peek(); f != nil {
				return f
			}
			p.children = append(p.children, p.empty(t.start))
			continue
		}
		if t, f = p.peek(); f != nil {
			return f
		}
		if t.kind != valueToken {
			p.children = append(p.children, p.empty(t.start))
			continue
		}
		p.take()
		if t, f = p.peek(); f != nil {
			return f
		}
		if f := p.child(false, false, t.start, flowEntry, flowMappingEnd); f != nil {
			return f
		}
	}
}
