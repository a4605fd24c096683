package yamlsalt

import (
	"fmt"

	"brine/internal/py/value"
)

// Tags of yamlex.
const (
	tagAggregate = "!aggregate"
	tagReset     = "!reset"
)

// extendedDocument returns the value of a yamlex document. Its root is marked
// as !aggregate.
//
// Salt: salt/serializers/yamlex.py Loader.
func (b *builder) extendedDocument(root *node) (value.Value, *SyntaxError) {
	if root.kind == scalarNode && root.tag == tagNull {
		return nil, nil
	}
	return b.aggregate(root)
}

// extended returns the value of n, filled.
func (b *builder) extended(n *node) (value.Value, *SyntaxError) {
	if v, ok := b.memo[n]; ok {
		return v, nil
	}
	var (
		v value.Value
		f *SyntaxError
	)
	switch n.tag {
	case tagAggregate:
		v, f = b.aggregate(n)
	case tagReset:
		n.untag()
		return b.extended(n)
	case tagMap, tagOmap:
		v, f = b.extendedMap(n)
	case tagSeq:
		v, f = b.extendedList(n)
	default:
		if v, f = b.value(n); f == nil {
			f = b.fillAll()
		}
		return v, f
	}
	if f != nil {
		return nil, f
	}
	if b.memo != nil {
		b.memo[n] = v
	}
	return v, nil
}

// aggregate returns the value of n, marked; anything but a container becomes a
// list with one item.
func (b *builder) aggregate(n *node) (value.Value, *SyntaxError) {
	n.untag()
	v, f := b.extended(n)
	if f != nil {
		return nil, f
	}
	switch v := v.(type) {
	case nil:
		return value.NewAggregate(), nil
	case *value.Map:
		m := v.Copy()
		m.Aggregate = true
		return m, nil
	case *value.List:
		l := value.NewAggregate(v.Items...)
		for i := range v.Items {
			l.SetPosAt(i, v.PosAt(i))
		}
		return l, nil
	}
	l := value.NewAggregate(v)
	l.SetPosAt(0, b.o.pos(int(n.line)+1, int(n.col)+1))
	return l, nil
}

// untag gives n the tag that it has without !aggregate or !reset.
func (n *node) untag() {
	switch n.kind {
	case sequenceNode:
		n.tag = tagSeq
	case mappingNode:
		n.tag = tagMap
	default:
		n.tag = resolve(n.text)
	}
}

func (b *builder) extendedList(n *node) (value.Value, *SyntaxError) {
	if n.kind != sequenceNode {
		return nil, n.fault("", nil, "expected a sequence node, but found %s", n.kind)
	}
	l := &value.List{Items: make([]value.Value, 0, len(n.items))}
	for i, x := range n.items {
		v, f := b.extended(x)
		if f != nil {
			return nil, f
		}
		l.Append(v)
		l.SetPosAt(i, b.o.pos(int(x.line)+1, int(x.col)+1))
	}
	return l, nil
}

func (b *builder) extendedMap(n *node) (value.Value, *SyntaxError) {
	if n.kind != mappingNode {
		return nil, n.fault("", nil, "expected a mapping node, but found %s", n.kind)
	}
	if f := b.flatten(n, 0); f != nil {
		return nil, f
	}
	m := b.newMap(n)
	for i := 0; i+1 < len(n.items); i += 2 {
		key, val := n.items[i], n.items[i+1]
		reset := key.tag == tagReset
		if key.tag == tagAggregate {
			// Written at the key, it is meant for the value.
			key.untag()
			val.tag = tagAggregate
		}
		k, f := b.extended(key)
		if f != nil {
			return nil, f
		}
		pos := b.o.pos(int(key.line)+1, int(key.col)+1)
		if !value.Hashable(k) {
			return nil, &SyntaxError{
				Class: "ConstructorError", Line: int(key.line) + 1, Col: int(key.col) + 1,
				Problem: fmt.Sprintf("While constructing a mapping found unacceptable key %s", key.reprValue()),
			}
		}
		v, f := b.extended(val)
		if f != nil {
			return nil, f
		}
		if m.Add(k, v, pos) {
			continue
		}
		if !reset {
			v = value.MergeAggregate(m.At(k), v)
		}
		m.Set(k, v)
		m.SetPos(k, pos)
	}
	return m, nil
}
