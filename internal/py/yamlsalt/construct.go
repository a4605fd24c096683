package yamlsalt

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"brine/internal/py/value"
)

// maxMerged bounds what merge keys may bring into a document.
const maxMerged = 1_000_000

// A builder makes values of nodes. As PyYAML does, it makes a container empty
// first and fills it after all of its level, so that the first fault found is
// the one that PyYAML finds first.
type builder struct {
	o      *LoadOptions
	queue  []unfilled
	merged int
	// memo has what nodes became, so that an alias is the same object as its
	// anchor; nil in a document without aliases.
	memo map[*node]value.Value
}

// An unfilled container is one whose node is still to be gone through.
type unfilled struct {
	n *node
	v value.Value
}

func newBuilder(o *LoadOptions, aliased bool) *builder {
	b := &builder{o: o}
	if aliased {
		b.memo = map[*node]value.Value{}
	}
	return b
}

// later fills v from n after the containers of its level.
func (b *builder) later(n *node, v value.Value) value.Value {
	b.queue = append(b.queue, unfilled{n, v})
	return v
}

func (b *builder) document(root *node) (value.Value, *SyntaxError) {
	v, f := b.value(root)
	if f == nil {
		f = b.fillAll()
	}
	return v, f
}

// fillAll fills the containers that wait for it, level by level.
func (b *builder) fillAll() *SyntaxError {
	var f *SyntaxError
	for f == nil && len(b.queue) > 0 {
		level := b.queue
		b.queue = nil
		for _, u := range level {
			if f = b.fill(u.n, u.v); f != nil {
				break
			}
		}
	}
	return f
}

// at returns a constructor's fault at n; context began at n0, nil is none.
func (n *node) fault(context string, n0 *node, format string, args ...any) *SyntaxError {
	f := &SyntaxError{Class: "ConstructorError", Context: context, Problem: fmt.Sprintf(format, args...), Line: int(n.line) + 1, Col: int(n.col) + 1}
	if n0 != nil {
		f.ContextLine, f.ContextCol = int(n0.line)+1, int(n0.col)+1
	}
	return f
}

// raise returns an exception of Python's own at n.
func (n *node) raise(class, format string, args ...any) *SyntaxError {
	return &SyntaxError{Class: class, Problem: fmt.Sprintf(format, args...), Line: int(n.line) + 1, Col: int(n.col) + 1}
}

// value returns the value of n, with containers still to be filled.
func (b *builder) value(n *node) (value.Value, *SyntaxError) {
	if b.memo == nil {
		return b.build(n)
	}
	if v, ok := b.memo[n]; ok {
		return v, nil
	}
	v, f := b.build(n)
	if f == nil {
		b.memo[n] = v
	}
	return v, f
}

func (b *builder) build(n *node) (value.Value, *SyntaxError) {
	switch n.tag {
	case tagMap:
		return b.later(n, b.newMap(n)), nil
	case tagSeq, tagPairs:
		return b.later(n, &value.List{}), nil
	case tagOmap:
		if b.o.Ordered {
			return b.later(n, b.newMap(n)), nil
		}
		return b.later(n, &value.List{}), nil
	case tagSet:
		return b.later(n, value.NewSet()), nil
	case tagPyUnicode:
		if n.kind != scalarNode {
			return nil, n.fault("", nil, "expected a scalar node, but found %s", n.kind)
		}
		return n.text, nil
	case tagStr, tagTimestamp, tagNull, tagBool, tagInt, tagFloat, tagBinary:
	default:
		if b.o.Tag != nil && n.kind == scalarNode {
			if v, ok := b.o.Tag(n.tag, n.text); ok {
				return v, nil
			}
		}
		return nil, n.fault("", nil, "could not determine a constructor for the tag %s", value.QuoteStr(n.tag))
	}
	text, f := b.scalar(n)
	if f != nil {
		return nil, f
	}
	switch n.tag {
	case tagNull:
		return nil, nil
	case tagBool:
		switch strings.ToLower(text) {
		case "yes", "true", "on":
			return true, nil
		case "no", "false", "off":
			return false, nil
		}
		return nil, n.raise("KeyError", "%s", value.QuoteStr(strings.ToLower(text)))
	case tagInt:
		return n.int(text)
	case tagFloat:
		return n.float(text)
	case tagBinary:
		return n.binary(text)
	}
	return text, nil
}

func (b *builder) newMap(n *node) *value.Map {
	m := value.NewMap(len(n.items) / 2)
	m.Ordered = b.o.Ordered
	return m
}

// scalar returns the text of n. Of a mapping it is that of its key "=".
func (b *builder) scalar(n *node) (string, *SyntaxError) {
	if n.kind == mappingNode {
		for i := 0; i < len(n.items); i += 2 {
			if n.items[i].tag == tagValue {
				return b.scalar(n.items[i+1])
			}
		}
	}
	if n.kind != scalarNode {
		return "", n.fault("", nil, "expected a scalar node, but found %s", n.kind)
	}
	return n.text, nil
}

// fill fills the container v that n became.
func (b *builder) fill(n *node, v value.Value) *SyntaxError {
	switch n.tag {
	case tagMap:
		return b.fillMap(n, v.(*value.Map))
	case tagSet:
		m := value.NewMap(0)
		if f := b.fillMap(n, m); f != nil {
			return f
		}
		for _, k := range m.Keys() {
			v.(*value.Set).Add(k)
		}
		return nil
	case tagOmap, tagPairs:
		if m, ok := v.(*value.Map); ok {
			return b.fillMap(n, m)
		}
		return b.fillPairs(n, v.(*value.List))
	}
	if n.kind != sequenceNode {
		return n.fault("", nil, "expected a sequence node, but found %s", n.kind)
	}
	l := v.(*value.List)
	l.Items = make([]value.Value, 0, len(n.items))
	for i, x := range n.items {
		v, f := b.value(x)
		if f != nil {
			return f
		}
		l.Items = append(l.Items, v)
		l.SetPosAt(i, b.o.pos(int(x.line)+1, int(x.col)+1))
	}
	return nil
}

func (b *builder) fillPairs(n *node, l *value.List) *SyntaxError {
	context := "while constructing an ordered map"
	if n.tag == tagPairs {
		context = "while constructing pairs"
	}
	if n.kind != sequenceNode {
		return n.fault(context, n, "expected a sequence, but found %s", n.kind)
	}
	for i, x := range n.items {
		if x.kind != mappingNode {
			return x.fault(context, n, "expected a mapping of length 1, but found %s", x.kind)
		}
		if len(x.items) != 2 {
			return x.fault(context, n, "expected a single mapping item, but found %d items", len(x.items)/2)
		}
		k, f := b.value(x.items[0])
		if f != nil {
			return f
		}
		v, f := b.value(x.items[1])
		if f != nil {
			return f
		}
		l.Append(value.Tuple{k, v})
		l.SetPosAt(i, b.o.pos(int(x.line)+1, int(x.col)+1))
	}
	return nil
}

const mapContext = "while constructing a mapping"

func (b *builder) fillMap(n *node, m *value.Map) *SyntaxError {
	if n.kind != mappingNode {
		return n.fault("", nil, "expected a mapping node, but found %s", n.kind)
	}
	if f := b.flatten(n, 0); f != nil {
		return f
	}
	for i := 0; i+1 < len(n.items); i += 2 {
		key := n.items[i]
		k, f := b.value(key)
		if f != nil {
			return f
		}
		if !value.Hashable(k) {
			return key.fault(mapContext, n, "found unacceptable key %s", key.reprValue())
		}
		v, f := b.value(n.items[i+1])
		if f != nil {
			return f
		}
		if !m.Add(k, v, b.o.pos(int(key.line)+1, int(key.col)+1)) {
			return key.fault(mapContext, n, "found conflicting ID '%s'", value.Str(k))
		}
	}
	return nil
}

// flatten replaces the merge keys of n by what they merge: entries go before
// those of n, and those whose key n has are left out.
func (b *builder) flatten(n *node, depth int) *SyntaxError {
	simple := true
	for i := 0; i < len(n.items); i += 2 {
		if t := n.items[i].tag; t == tagMerge || t == tagValue {
			simple = false
		}
	}
	if simple {
		return nil
	}
	if depth > maxDepth {
		return n.raise("RecursionError", "maximum recursion depth exceeded")
	}
	var merge []*node
	items := n.items
	n.items = make([]*node, 0, len(items))
	for i := 0; i < len(items); i += 2 {
		key, val := items[i], items[i+1]
		switch key.tag {
		case tagMerge:
		case tagValue:
			key.tag = tagStr
			fallthrough
		default:
			n.items = append(n.items, key, val)
			continue
		}
		more, f := b.mergedFrom(n, val, depth)
		if f != nil {
			return f
		}
		merge = append(merge, more...)
		if len(merge)+b.merged > maxMerged {
			return n.raise("RecursionError", "found merge keys that stand for too much: more than %d entries", maxMerged)
		}
	}
	b.merged += len(merge)
	own := make(map[string]bool, len(n.items)/2)
	for i := 0; i < len(n.items); i += 2 {
		own[n.items[i].mergeKey()] = true
	}
	merged := make([]*node, 0, len(merge)+len(n.items))
	for i := 0; i < len(merge); i += 2 {
		if !own[merge[i].mergeKey()] {
			merged = append(merged, merge[i], merge[i+1])
		}
	}
	n.items = append(merged, n.items...)
	return nil
}

// mergedFrom returns the entries of a value of << in the mapping n: a mapping,
// or a sequence of mappings, of which the first has precedence.
func (b *builder) mergedFrom(n, val *node, depth int) ([]*node, *SyntaxError) {
	switch val.kind {
	case mappingNode:
		f := b.flatten(val, depth+1)
		return val.items, f
	case sequenceNode:
		for _, x := range val.items {
			if x.kind != mappingNode {
				return nil, x.fault(mapContext, n, "expected a mapping for merging, but found %s", x.kind)
			}
			if f := b.flatten(x, depth+1); f != nil {
				return nil, f
			}
		}
		var merge []*node
		for _, v := range slices.Backward(val.items) {
			merge = append(merge, v.items...)
		}
		return merge, nil
	default:
		return nil, val.fault(mapContext, n, "expected a mapping or list of mappings for merging, but found %s", val.kind)
	}
}

// mergeKey is what says whether two keys are the same to a merge: the text of
// scalars, whatever their tags.
func (n *node) mergeKey() string {
	if n.kind == scalarNode {
		return "s" + n.text
	}
	return n.reprValue()
}

// reprValue returns what Python's str prints for the value of PyYAML's node.
func (n *node) reprValue() string {
	if n.kind == scalarNode {
		return n.text
	}
	var s strings.Builder
	n.writeValue(&s)
	return s.String()
}

func (n *node) writeValue(s *strings.Builder) {
	switch n.kind {
	case scalarNode:
		s.WriteString(value.QuoteStr(n.text))
		return
	case sequenceNode:
		s.WriteByte('[')
		for i, x := range n.items {
			if i > 0 {
				s.WriteString(", ")
			}
			x.writeRepr(s)
		}
		s.WriteByte(']')
	case mappingNode:
		s.WriteByte('[')
		for i := 0; i+1 < len(n.items); i += 2 {
			if i > 0 {
				s.WriteString(", ")
			}
			s.WriteByte('(')
			n.items[i].writeRepr(s)
			s.WriteString(", ")
			n.items[i+1].writeRepr(s)
			s.WriteByte(')')
		}
		s.WriteByte(']')
	}
}

func (n *node) writeRepr(s *strings.Builder) {
	s.WriteString([...]string{"ScalarNode", "SequenceNode", "MappingNode"}[n.kind])
	s.WriteString("(tag=")
	s.WriteString(value.QuoteStr(n.tag))
	s.WriteString(", value=")
	n.writeValue(s)
	s.WriteByte(')')
}

// Scalars.

// int reads an int as Salt's loader and then PyYAML does: leading zeros are
// dropped, so that a file mode stays as it was written.
func (n *node) int(text string) (value.Value, *SyntaxError) {
	if text != "0" && strings.HasPrefix(text, "0") && !strings.HasPrefix(text, "0b") && !strings.HasPrefix(text, "0x") {
		if text = strings.TrimLeft(text, "0"); text == "" {
			text = "0"
		}
	}
	text = strings.ReplaceAll(text, "_", "")
	sign := ""
	if text != "" && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			sign = "-"
		}
		text = text[1:]
	}
	if text == "" {
		return nil, n.raise("IndexError", "string index out of range")
	}
	switch {
	case text == "0":
		return int64(0), nil
	case strings.HasPrefix(text, "0b"):
		return n.parseInt(sign, text[2:], 2)
	case strings.HasPrefix(text, "0x"):
		return n.parseInt(sign, text[2:], 16)
	case text[0] == '0':
		return n.parseInt(sign, text, 8)
	case strings.Contains(text, ":"):
		total := new(big.Int)
		for part := range strings.SplitSeq(text, ":") {
			v, f := n.parseInt("", part, 10)
			if f != nil {
				return nil, f
			}
			d, _ := value.AsBig(v)
			total.Mul(total, big.NewInt(60)).Add(total, d)
		}
		if sign == "-" {
			total.Neg(total)
		}
		return value.NormInt(total), nil
	}
	return n.parseInt(sign, text, 10)
}

// maxIntDigits is Python's limit of digits of an int in text.
const maxIntDigits = 4300

func (n *node) parseInt(sign, text string, base int) (value.Value, *SyntaxError) {
	t := strings.TrimSpace(text)
	if len(t) > 2 && (base == 8 && (t[:2] == "0o" || t[:2] == "0O")) {
		t = t[2:]
	}
	if len(t) > maxIntDigits && base == 10 {
		return nil, n.raise("ValueError", "Exceeds the limit (%d digits) for integer string conversion: value has %d digits; use sys.set_int_max_str_digits() to increase the limit", maxIntDigits, len(t))
	}
	if i, err := strconv.ParseInt(sign+t, base, 64); err == nil && t != "" {
		return i, nil
	}
	if t != "" && isAlnum(t) {
		if i, ok := new(big.Int).SetString(sign+t, base); ok {
			return value.NormInt(i), nil
		}
	}
	return nil, n.raise("ValueError", "invalid literal for int() with base %d: %s", base, value.QuoteStr(text))
}

func isAlnum(s string) bool {
	for i := range len(s) {
		if c := s[i]; c == '_' || c == '-' || c == '+' || !isAlpha(c) {
			return false
		}
	}
	return true
}

func (n *node) float(text string) (value.Value, *SyntaxError) {
	text = strings.ToLower(strings.ReplaceAll(text, "_", ""))
	sign := 1.0
	if text != "" && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	} else if text == "" {
		return nil, n.raise("IndexError", "string index out of range")
	}
	switch {
	case text == ".inf":
		return sign * math.Inf(1), nil
	case text == ".nan":
		return math.NaN(), nil
	case strings.Contains(text, ":"):
		parts := strings.Split(text, ":")
		total, base := 0.0, 1.0
		for _, part := range slices.Backward(parts) {
			v, f := n.parseFloat(part)
			if f != nil {
				return nil, f
			}
			total += v * base
			base *= 60
		}
		return sign * total, nil
	}
	v, f := n.parseFloat(text)
	if f != nil {
		return nil, f
	}
	return sign * v, nil
}

func (n *node) parseFloat(text string) (float64, *SyntaxError) {
	t := strings.TrimSpace(text)
	if !strings.ContainsAny(t, "xXpP_") {
		// Out of range is an infinity in Python too.
		if v, err := strconv.ParseFloat(t, 64); err == nil || math.IsInf(v, 0) {
			return v, nil
		}
	}
	return 0, n.raise("ValueError", "could not convert string to float: %s", value.QuoteStr(text))
}

// binary decodes base64 as Python's base64.decodebytes: what is not of its
// alphabet is skipped.
func (n *node) binary(text string) (value.Value, *SyntaxError) {
	for i, r := range text {
		if r >= utf8.RuneSelf {
			return nil, n.fault("", nil, "failed to convert base64 data into ascii: 'ascii' codec can't encode character %s in position %d: ordinal not in range(128)",
				strings.Trim(asciiRepr(r), "\""), utf8.RuneCountInString(text[:i]))
		}
	}
	kept := make([]byte, 0, len(text))
	pads, ended := 0, false
	for i := 0; i < len(text) && !ended; i++ {
		switch c := text[i]; {
		case c == '=':
			if q := len(kept) % 4; q >= 2 {
				pads++
				ended = q+pads >= 4
			}
		case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || isDigit(c) || c == '+' || c == '/':
			kept = append(kept, c)
			pads = 0
		}
	}
	if q := len(kept) % 4; q == 1 {
		return nil, n.fault("", nil, "failed to decode base64 data: Invalid base64-encoded string: number of data characters (%d) cannot be 1 more than a multiple of 4", len(kept))
	} else if q > 0 && !ended {
		return nil, n.fault("", nil, "failed to decode base64 data: Incorrect padding")
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(kept)))
	m, err := base64.RawStdEncoding.Decode(out, kept)
	if err != nil {
		return nil, n.fault("", nil, "failed to decode base64 data: %s", err)
	}
	return value.Bytes(out[:m]), nil
}

// asciiRepr is Python's ascii() of one character, in double quotes.
func asciiRepr(r rune) string {
	switch {
	case r <= 0xff:
		return fmt.Sprintf(`"'\x%02x'"`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`"'\u%04x'"`, r)
	}
	return fmt.Sprintf(`"'\U%08x'"`, r)
}
