package target

import (
	"fmt"
	"strings"
	"sync"

	"brine/internal/py/pyre"
	"brine/internal/py/value"
)

// A dataNode matches a path and a pattern in grains or pillar.
type dataNode struct {
	pillar bool
	expr   string
	delim  string
	exact  bool
	regexp bool
	// The text of an expression can be cut into path and pattern at each
	// delimiter, so the patterns to compile are known as they are tried.
	compiled *sync.Map // pattern → *pyre.Regexp, or nil for one that is none
}

func (c *compiler) dataNode(s, tgtType, delim string) (node, error) {
	what, kind, _ := strings.Cut(tgtType, "_")
	n := &dataNode{pillar: what == "pillar", expr: s, delim: delim, exact: kind == "exact", regexp: kind == "pcre"}
	if n.pillar {
		c.m.pillar = true
	} else {
		c.m.grains = true
	}
	if !strings.Contains(s, delim) {
		return nil, fmt.Errorf("target %q of type %s needs KEY%sVALUE", s, tgtType, delim)
	}
	if n.regexp {
		n.compiled = &sync.Map{}
		var bad error
		parts := strings.Split(s, delim)
		for i := len(parts) - 1; i > 0; i-- {
			_, err := n.pattern(strings.Join(parts[i:], delim))
			if err == nil {
				return n, nil
			}
			if bad == nil {
				bad = err
			}
		}
		return nil, fmt.Errorf("target %q of type %s: %w", s, tgtType, bad)
	}
	return n, nil
}

func (n *dataNode) pattern(s string) (*pyre.Regexp, error) {
	if v, ok := n.compiled.Load(s); ok {
		re, _ := v.(*pyre.Regexp)
		return re, nil
	}
	// Salt makes pattern and text lower case, which spoils \S and the like;
	// a pattern that is blind to case is what is meant.
	re, err := pyre.Compile(s, pyre.IgnoreCase)
	if err != nil {
		re = nil
	}
	n.compiled.Store(s, re)
	return re, err
}

func (n *dataNode) match(m *Minion) (bool, error) {
	f := m.Grains
	if n.pillar {
		f = m.Pillar
	}
	if f == nil {
		return false, nil
	}
	data := f()
	if data == nil {
		return false, nil
	}
	return n.within(data, n.expr, n.delim, 0)
}

// maxDepth bounds the walk through data that contains itself.
const maxDepth = 100

// within reports whether data has what expr says: the path before a delimiter
// leads to what the pattern behind it means. Longer paths go first.
// Salt: salt/utils/data.py subdict_match.
func (n *dataNode) within(data value.Mapping, expr, delim string, depth int) (bool, error) {
	parts := strings.Split(expr, delim)
	for i := len(parts) - 1; i > 0; i-- {
		path, pattern := strings.Join(parts[:i], delim), strings.Join(parts[i:], delim)
		var found value.Value = data
		if path == "*" {
			pattern = expr
		} else {
			var ok bool
			if found, ok = value.Traverse(data, path, delim); !ok {
				continue
			}
		}
		hit, err := n.at(found, pattern, depth)
		if hit || err != nil {
			return hit, err
		}
	}
	return false, nil
}

// at reports whether pattern means v, or a part of it.
func (n *dataNode) at(v value.Value, pattern string, depth int) (bool, error) {
	var items []value.Value
	switch v := v.(type) {
	case value.Mapping:
		if v.Len() == 0 {
			return false, nil
		}
		return n.dict(v, pattern, depth)
	case *value.List:
		items = v.Items
	case value.Tuple:
		items = v
	default:
		return n.scalar(v, pattern)
	}
	for _, x := range items {
		if m, ok := x.(value.Mapping); ok {
			if hit, err := n.dict(m, pattern, depth); hit || err != nil {
				return hit, err
			}
		}
		if hit, err := n.scalar(x, pattern); hit || err != nil {
			return hit, err
		}
	}
	return false, nil
}

func (n *dataNode) dict(m value.Mapping, pattern string, depth int) (bool, error) {
	if depth > maxDepth {
		return false, nil
	}
	pattern, wild := strings.CutPrefix(pattern, "*:")
	if pattern == "*" {
		return true, nil
	}
	if _, ok := m.Get(pattern); ok {
		return true, nil
	}
	if hit, err := n.within(m, pattern, value.DefaultDelim, depth+1); hit || err != nil || !wild {
		return hit, err
	}
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		var hit bool
		var err error
		switch v := v.(type) {
		case value.Mapping:
			hit, err = n.dict(v, pattern, depth+1)
		case *value.List:
			for _, x := range v.Items {
				if hit, err = n.scalar(x, pattern); hit || err != nil {
					break
				}
			}
		default:
			hit, err = n.scalar(v, pattern)
		}
		if hit || err != nil {
			return hit, err
		}
	}
	return false, nil
}

// scalar matches without regard to case.
func (n *dataNode) scalar(v value.Value, pattern string) (bool, error) {
	s := value.Str(v)
	if n.regexp {
		re, _ := n.pattern(pattern)
		if re == nil {
			return false, nil
		}
		hit, err := re.Match(s)
		return hit != nil, err
	}
	s, pattern = strings.ToLower(s), strings.ToLower(pattern)
	if n.exact {
		return s == pattern, nil
	}
	return value.Fnmatch(pattern, s), nil
}
