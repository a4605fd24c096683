package jinja

import (
	"slices"
	"unicode/utf8"

	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/value"
)

// A cursor goes over the items of a value as a Python iterator does: a list
// may grow meanwhile, a dict may not.
type cursor struct {
	list  *value.List
	items []value.Value
	m     *value.Map
	kind  value.ViewKind
	text  string
	it    value.Iterator
	rng   value.Range
	i, n  int
	what  uint8
}

const (
	overItems uint8 = iota
	overList
	overMap
	overText
	overIterator
	overRange
)

// init starts the cursor over v.
func (c *cursor) init(v value.Value) error {
	switch x := v.(type) {
	case *value.List:
		c.what, c.list = overList, x
		return nil
	case *value.Map:
		c.what, c.m, c.n, c.kind = overMap, x, x.Len(), value.Keys
		return nil
	case *value.View:
		m, ok := x.Of.(*value.Map)
		if l, lazy := x.Of.(interface{ Map() *value.Map }); lazy {
			m, ok = l.Map(), true
		}
		if ok {
			c.what, c.m, c.n, c.kind = overMap, m, m.Len(), x.Kind
			return nil
		}
	case value.Tuple:
		c.items = x
		return nil
	case value.Range:
		c.what, c.rng, c.n = overRange, x, x.Len()
		return nil
	case value.Iterator:
		c.what, c.it = overIterator, x
		return nil
	case Unpacker:
		c.items = slices.Collect(x.Iterate())
		return nil
	}
	if s, ok := value.AsText(v); ok {
		c.what, c.text = overText, s
		return nil
	}
	items, err := value.Items(v)
	c.items = items
	return err
}

// size returns the number of items, and false for what has no length.
func (c *cursor) size() (int, bool) {
	switch c.what {
	case overList:
		return len(c.list.Items), true
	case overMap, overRange:
		return c.n, true
	case overText:
		return utf8.RuneCountInString(c.text), true
	case overIterator:
		return 0, false
	}
	return len(c.items), true
}

// next returns the next item, or false at the end.
func (c *cursor) next() (value.Value, bool, error) {
	switch c.what {
	case overItems:
		if c.i < len(c.items) {
			c.i++
			return c.items[c.i-1], true, nil
		}
	case overList:
		if c.i < len(c.list.Items) {
			c.i++
			return c.list.Items[c.i-1], true, nil
		}
	case overMap:
		if c.m.Len() != c.n {
			c.n = -1
			return nil, false, value.Raise("RuntimeError", "dictionary changed size during iteration")
		}
		if c.i < c.n {
			k, v := c.m.Entry(c.i)
			c.i++
			switch c.kind {
			case value.Keys:
				return k, true, nil
			case value.Values:
				return v, true, nil
			default: // pairs follow
			}
			return value.Tuple{k, v}, true, nil
		}
	case overText:
		if c.i < len(c.text) {
			_, n := utf8.DecodeRuneInString(c.text[c.i:])
			c.i += n
			return c.text[c.i-n : c.i], true, nil
		}
	case overRange:
		if c.i < c.n {
			c.i++
			return c.rng.At(c.i - 1), true, nil
		}
	case overIterator:
		return c.it.Next()
	}
	return nil, false, nil
}

// Each calls f for the items of v in turn, as a for loop sees them.
func (s *State) Each(v value.Value, f func(value.Value) error) error {
	var c cursor
	if err := c.init(v); err != nil {
		return err
	}
	for {
		if err := s.run.tick(); err != nil {
			return err
		}
		x, ok, err := c.next()
		if err != nil || !ok {
			return err
		}
		if err := f(x); err != nil {
			return err
		}
	}
}

// Iterate returns the items of v one at a time, as iter(v) does.
func (s *State) Iterate(v value.Value) (value.Iterator, error) {
	c := &cursor{}
	if err := c.init(v); err != nil {
		return nil, err
	}
	return NewGenerator("iterator", c.next), nil
}

// unpack returns the n items of v, as an assignment to n targets needs them.
func (s *State) unpack(v value.Value, n int) ([]value.Value, error) {
	var items []value.Value
	switch x := v.(type) {
	case value.Tuple:
		items = x
	case *value.List:
		items = x.Items
	case Unpacker:
		items = x.Unpack(n)
	default:
		var c cursor
		if err := c.init(v); err != nil {
			if pymethod.Raised(err, "TypeError") {
				return nil, value.Raise("TypeError", "cannot unpack non-iterable %s object", value.TypeName(v))
			}
			return nil, err
		}
		for len(items) <= n {
			x, ok, err := c.next()
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			items = append(items, x)
		}
	}
	switch {
	case len(items) < n:
		return nil, value.Raise("ValueError", "not enough values to unpack (expected %d, got %d)", n, len(items))
	case len(items) > n:
		return nil, value.Raise("ValueError", "too many values to unpack (expected %d)", n)
	}
	return items, nil
}

// A LoopContext is the loop variable of a for loop.
type LoopContext struct {
	cur    cursor
	next   func() (value.Value, bool, error) // nil: those of cur
	index0 int
	length int
	sized  bool // length is known
	rec    *recursion
	st     *State

	ahead    []value.Value // drawn before their turn
	drained  bool          // there are no more
	before   value.Value
	current  value.Value
	changing value.Tuple
	changed  bool
}

// advance goes to the next item.
func (l *LoopContext) advance() (value.Value, bool, error) {
	v, ok, err := l.draw()
	if err != nil || !ok {
		return nil, false, err
	}
	l.index0++
	l.before, l.current = l.current, v
	return v, true, nil
}

func (l *LoopContext) draw() (value.Value, bool, error) {
	if len(l.ahead) > 0 {
		v := l.ahead[0]
		l.ahead = l.ahead[1:]
		return v, true, nil
	}
	if l.drained {
		return nil, false, nil
	}
	v, ok, err := l.source()
	l.drained = !ok
	return v, ok, err
}

// source returns the next item of what the loop goes over.
func (l *LoopContext) source() (value.Value, bool, error) {
	if l.next == nil {
		return l.cur.next()
	}
	return l.next()
}

// peek returns the item after this one, if there is one.
func (l *LoopContext) peek() (value.Value, bool, error) {
	if len(l.ahead) == 0 {
		v, ok, err := l.draw()
		if err != nil || !ok {
			return nil, false, err
		}
		l.ahead = append(l.ahead, v)
	}
	return l.ahead[0], true, nil
}

// size returns the number of items; what has no length is drawn to its end.
func (l *LoopContext) size() (int64, error) {
	if !l.sized && l.next == nil {
		l.length, l.sized = l.cur.size()
	}
	for !l.sized {
		if l.drained {
			l.length, l.sized = l.index0+1+len(l.ahead), true
			break
		}
		if err := l.st.run.tick(); err != nil {
			return 0, err
		}
		v, ok, err := l.source()
		if err != nil {
			return 0, err
		}
		if l.drained = !ok; ok {
			l.ahead = append(l.ahead, v)
			if err := value.CheckItems(len(l.ahead)); err != nil {
				return 0, err
			}
		}
	}
	return int64(l.length), nil
}

// GetAttr returns index, first, cycle and the others.
func (l *LoopContext) GetAttr(_ *State, name string) (value.Value, bool, error) {
	i := int64(l.index0)
	depth := int64(0)
	if l.rec != nil {
		depth = int64(l.rec.depth)
	}
	switch name {
	case "index":
		return i + 1, true, nil
	case "index0":
		return i, true, nil
	case "first":
		return i == 0, true, nil
	case "depth":
		return depth + 1, true, nil
	case "depth0":
		return depth, true, nil
	case "last":
		_, ok, err := l.peek()
		return !ok, true, err
	case "length", "revindex", "revindex0":
		n, err := l.size()
		switch name {
		case "revindex":
			n -= i
		case "revindex0":
			n -= i + 1
		}
		return n, true, err
	case "previtem":
		if i == 0 {
			return l.st.Undefined("", "there is no previous item"), true, nil
		}
		return l.before, true, nil
	case "nextitem":
		v, ok, err := l.peek()
		if err == nil && !ok {
			v = l.st.Undefined("", "there is no next item")
		}
		return v, true, err
	case "cycle":
		return &Callable{Name: "cycle", Fn: l.cycle}, true, nil
	case "changed":
		return &Callable{Name: "changed", Fn: l.change}, true, nil
	}
	return nil, false, nil
}

func (l *LoopContext) cycle(c *Call) (value.Value, error) {
	if c.Kw.Len() > 0 {
		k, _ := c.Kw.Entry(0)
		return nil, value.Raise("TypeError", "LoopContext.cycle() got an unexpected keyword argument %s", value.Repr(k))
	}
	if len(c.Args) == 0 {
		return nil, value.Raise("TypeError", "no items for cycling given")
	}
	return c.Args[l.index0%len(c.Args)], nil
}

func (l *LoopContext) change(c *Call) (value.Value, error) {
	now := value.Tuple(c.Args)
	if l.changed && value.Equal(l.changing, now) {
		return false, nil
	}
	l.changed, l.changing = true, now
	return true, nil
}

// Call renders the body of a recursive loop over the argument.
func (l *LoopContext) Call(c *Call) (value.Value, error) {
	args, err := c.Params("LoopContext.__call__", 1, "iterable")
	if err != nil {
		return nil, err
	}
	if l.rec == nil {
		return nil, value.Raise("TypeError", "The loop must have the 'recursive' marker to be called recursively.")
	}
	return l.rec.loop.recurse(l.rec.up, args[0], l.rec.depth+1)
}

// Len returns the number of items, as far as it can be known.
func (l *LoopContext) Len() int {
	n, _ := l.size()
	return int(n)
}

// Truth is that of the length.
func (l *LoopContext) Truth() bool { return l.Len() > 0 }

// Repr prints place and length.
func (l *LoopContext) Repr() string {
	n, _ := l.size()
	return "<LoopContext " + value.Repr(int64(l.index0+1)) + "/" + value.Repr(n) + ">"
}

// TypeName is "LoopContext".
func (l *LoopContext) TypeName() string { return "LoopContext" }

// ObjectTypeRepr names the type as undefined messages do.
func (l *LoopContext) ObjectTypeRepr() string { return "jinja2.runtime.LoopContext object" }
