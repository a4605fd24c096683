package pymethod

import (
	"slices"

	"brine/internal/py/value"
)

// listMethod returns a method of list.
func listMethod(l *value.List, name string) Func {
	switch name {
	case "append":
		return listAppend(l)
	case "extend":
		return listExtend(l)
	case "insert":
		return listInsert(l)
	case "pop":
		return listPop(l)
	case "remove":
		return listRemove(l)
	case "clear":
		return func(c Call) (value.Value, error) {
			_, err := c.Builtin("list", "clear", 0, 0)
			if err == nil {
				l.Items = nil
			}
			return nil, err
		}
	case "copy":
		return func(c Call) (value.Value, error) {
			_, err := c.Builtin("list", "copy", 0, 0)
			return value.Clone1(l), err
		}
	case "reverse":
		return func(c Call) (value.Value, error) {
			_, err := c.Builtin("list", "reverse", 0, 0)
			if err == nil {
				slices.Reverse(l.Items)
			}
			return nil, err
		}
	case "sort":
		return listSort(l)
	}
	return seqMethod("list", func() []value.Value { return l.Items }, name)
}

// listAppend is list.append.
func listAppend(l *value.List) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin("list", "append", 1, 1)
		if err != nil {
			return nil, err
		}
		if err := grow(len(l.Items)); err != nil {
			return nil, err
		}
		l.Append(a[0])
		return nil, nil
	}
}

// listExtend is list.extend.
func listExtend(l *value.List) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin("list", "extend", 1, 1)
		if err != nil {
			return nil, err
		}
		items, err := value.Items(a[0])
		if err != nil {
			return nil, err
		}
		if err := value.CheckItems(len(l.Items) + len(items)); err != nil {
			return nil, err
		}
		l.Append(items...)
		return nil, nil
	}
}

// listInsert is list.insert.
func listInsert(l *value.List) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin("list", "insert", 2, 2)
		if err != nil {
			return nil, err
		}
		i, err := AsIndex(a[0])
		if err != nil {
			return nil, err
		}
		if err := grow(len(l.Items)); err != nil {
			return nil, err
		}
		n := len(l.Items)
		if i < 0 {
			i += n
		}
		i = min(max(i, 0), n)
		l.Items = append(l.Items, nil)
		copy(l.Items[i+1:], l.Items[i:])
		l.Items[i] = a[1]
		return nil, nil
	}
}

// listPop is list.pop.
func listPop(l *value.List) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin("list", "pop", 0, 1)
		if err != nil {
			return nil, err
		}
		i, err := IntArg(a[0], -1)
		if err != nil {
			return nil, err
		}
		n := len(l.Items)
		if n == 0 {
			return nil, value.Raise("IndexError", "pop from empty list")
		}
		if i < 0 {
			i += n
		}
		if i < 0 || i >= n {
			return nil, value.Raise("IndexError", "pop index out of range")
		}
		v := l.Items[i]
		removeAt(l, i)
		return v, nil
	}
}

// listRemove is list.remove.
func listRemove(l *value.List) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin("list", "remove", 1, 1)
		if err != nil {
			return nil, err
		}
		for i, x := range l.Items {
			if eq, err := c.In.EqualItem(x, a[0]); err != nil {
				return nil, err
			} else if eq {
				removeAt(l, i)
				return nil, nil
			}
		}
		return nil, value.Raise("ValueError", "list.remove(x): x not in list")
	}
}

// listSort is list.sort.
func listSort(l *value.List) Func {
	return func(c Call) (value.Value, error) {
		if len(c.Args) > 0 {
			return nil, value.Raise("TypeError", "sort() takes no positional arguments")
		}
		a, err := c.clinic("sort", "key", "reverse")
		if err != nil {
			return nil, err
		}
		reverse, err := c.boolArg(a[1], false)
		if err != nil {
			return nil, err
		}
		return nil, value.SortValues(l.Items, KeyFunc(c.In, a[0]), reverse)
	}
}

// KeyFunc returns the key function of a sort, whose argument key is v; nil where
// v was not given or is None.
func KeyFunc(in Interp, v value.Value) func(value.Value) (value.Value, error) {
	if OrNil(v) == nil {
		return nil
	}
	return func(x value.Value) (value.Value, error) { return in.CallValue(v, []value.Value{x}, nil) }
}

func removeAt(l *value.List, i int) {
	copy(l.Items[i:], l.Items[i+1:])
	l.Items[len(l.Items)-1] = nil
	l.Items = l.Items[:len(l.Items)-1]
}

// tupleMethod returns a method of tuple.
func tupleMethod(t value.Tuple, name string) Func {
	return seqMethod("tuple", func() []value.Value { return t }, name)
}

// seqMethod returns the methods that list and tuple share.
func seqMethod(typ string, items func() []value.Value, name string) Func {
	switch name {
	case "count":
		return seqCount(typ, items)
	case "index":
		return seqIndex(typ, items)
	}
	return nil
}

// seqCount is count of a list or tuple.
func seqCount(typ string, items func() []value.Value) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin(typ, "count", 1, 1)
		if err != nil {
			return nil, err
		}
		n := int64(0)
		for _, x := range items() {
			if eq, err := c.In.EqualItem(x, a[0]); err != nil {
				return nil, err
			} else if eq {
				n++
			}
		}
		return n, nil
	}
}

// seqIndex is index of a list or tuple.
func seqIndex(typ string, items func() []value.Value) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin(typ, "index", 1, 3)
		if err != nil {
			return nil, err
		}
		its := items()
		lo, err := IntArg(a[1], 0)
		if err != nil {
			return nil, err
		}
		hi, err := IntArg(a[2], len(its))
		if err != nil {
			return nil, err
		}
		if lo < 0 {
			lo = max(lo+len(its), 0)
		}
		if hi < 0 {
			hi += len(its)
		}
		for i := lo; i < min(hi, len(its)); i++ {
			if eq, err := c.In.EqualItem(its[i], a[0]); err != nil {
				return nil, err
			} else if eq {
				return int64(i), nil
			}
		}
		if typ == "list" {
			return nil, value.Raise("ValueError", "%s is not in list", value.Repr(a[0]))
		}
		return nil, value.Raise("ValueError", "tuple.index(x): x not in tuple")
	}
}

// setMethod returns a method of set.
func setMethod(s *value.Set, name string) Func {
	switch name {
	case "union":
		return setCombine(s, name, "|", false)
	case "intersection":
		return setCombine(s, name, "&", false)
	case "difference":
		return setCombine(s, name, "-", false)
	case "symmetric_difference":
		return setCombine(s, name, "^", false)
	case "update":
		return setCombine(s, name, "|", true)
	case "intersection_update":
		return setCombine(s, name, "&", true)
	case "difference_update":
		return setCombine(s, name, "-", true)
	case "symmetric_difference_update":
		return setCombine(s, name, "^", true)
	case "issubset":
		return setRelation(s, name, "<=")
	case "issuperset":
		return setRelation(s, name, ">=")
	case "isdisjoint":
		return func(c Call) (value.Value, error) {
			a, err := c.Builtin("set", name, 1, 1)
			if err != nil {
				return nil, err
			}
			return disjoint(s, a[0])
		}
	case "copy":
		return func(c Call) (value.Value, error) {
			if _, err := c.Builtin("set", name, 0, 0); err != nil {
				return nil, err
			}
			return value.ToSet(s)
		}
	case "clear":
		return func(c Call) (value.Value, error) {
			_, err := c.Builtin("set", name, 0, 0)
			if err == nil {
				setBecome(s, value.NewSet())
			}
			return nil, err
		}
	case "pop":
		return setPop(s)
	case "add", "remove", "discard":
		return setChange(s, name)
	}
	return nil
}

// setCombine is a method that combines the set with others by an operator: in
// place, or to a new set.
func setCombine(s *value.Set, name, op string, inPlace bool) Func {
	return func(c Call) (value.Value, error) {
		if op == "^" {
			if _, err := c.Builtin("set", name, 1, 1); err != nil {
				return nil, err
			}
		}
		if c.Kw.Len() > 0 {
			return nil, value.Raise("TypeError", "set.%s() takes no keyword arguments", name)
		}
		others := make([]*value.Set, len(c.Args))
		for i, a := range c.Args {
			var err error
			if others[i], err = value.ToSet(a); err != nil {
				return nil, err
			}
		}
		out, _ := value.ToSet(s)
		for _, o := range others {
			out = value.SetOp(op, out, o)
		}
		if inPlace {
			setBecome(s, out)
			return nil, nil
		}
		return out, nil
	}
}

// setRelation is a method that compares the set with another.
func setRelation(s *value.Set, name, op string) Func {
	return func(c Call) (value.Value, error) {
		if _, err := c.Builtin("set", name, 1, 1); err != nil {
			return nil, err
		}
		o, err := value.ToSet(c.Args[0])
		if err != nil {
			return nil, err
		}
		return value.Compare(op, s, o)
	}
}

// setBecome gives s the items of n, in the order that it has them.
func setBecome(s, n *value.Set) {
	for _, x := range s.Items() {
		if !n.Has(x) {
			s.Remove(x)
		}
	}
	for _, x := range n.Items() {
		s.Add(x)
	}
}

// setChange is add, remove and discard of a set.
func setChange(s *value.Set, name string) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin("set", name, 1, 1)
		if err != nil {
			return nil, err
		}
		if err := value.CheckHash(a[0]); err != nil {
			return nil, err
		}
		if name == "add" {
			if err := grow(s.Len()); err != nil {
				return nil, err
			}
			s.Add(a[0])
			return nil, nil
		}
		if !s.Remove(a[0]) && name == "remove" {
			return nil, value.Raise("KeyError", "%s", value.Repr(a[0]))
		}
		return nil, nil
	}
}

// setPop is set.pop.
func setPop(s *value.Set) Func {
	return func(c Call) (value.Value, error) {
		if _, err := c.Builtin("set", "pop", 0, 0); err != nil {
			return nil, err
		}
		items := s.Items()
		if len(items) == 0 {
			return nil, value.Raise("KeyError", "'pop from an empty set'")
		}
		s.Remove(items[0])
		return items[0], nil
	}
}
