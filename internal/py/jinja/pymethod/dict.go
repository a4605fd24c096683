package pymethod

import (
	"brine/internal/py/value"
)

// dictMethod returns a method of dict that only reads.
func dictMethod(m value.Mapping, name string) Func {
	switch name {
	case "keys", "values", "items":
		kind := map[string]value.ViewKind{"keys": value.Keys, "values": value.Values, "items": value.Pairs}[name]
		return func(c Call) (value.Value, error) {
			if _, err := c.Builtin("dict", name, 0, 0); err != nil {
				return nil, err
			}
			return &value.View{Of: m, Kind: kind}, nil
		}
	case "get":
		return func(c Call) (value.Value, error) {
			a, err := c.Builtin("dict", "get", 1, 2)
			if err != nil {
				return nil, err
			}
			if err := value.CheckHash(a[0]); err != nil {
				return nil, err
			}
			if v, ok := m.Get(a[0]); ok {
				return v, nil
			}
			return OrNil(a[1]), nil
		}
	case "copy":
		return func(c Call) (value.Value, error) {
			if _, err := c.Builtin("dict", "copy", 0, 0); err != nil {
				return nil, err
			}
			return value.Clone1(m), nil
		}
	case "fromkeys":
		return dictFromkeys(m)
	}
	return nil
}

// dictFromkeys is dict.fromkeys.
func dictFromkeys(m value.Mapping) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin("dict", "fromkeys", 1, 2)
		if err != nil {
			return nil, err
		}
		seq, err := value.Iter(a[0])
		if err != nil {
			return nil, err
		}
		d := value.NewMap(8)
		if o, ok := m.(*value.Map); ok {
			d.Ordered = o.Ordered
		}
		for k := range seq {
			if err := value.CheckHash(k); err != nil {
				return nil, err
			}
			d.Set(k, OrNil(a[1]))
		}
		return d, nil
	}
}

// dictMutator returns a method of dict that writes.
func dictMutator(m *value.Map, name string) Func {
	switch name {
	case "clear":
		return func(c Call) (value.Value, error) {
			if _, err := c.Builtin("dict", "clear", 0, 0); err != nil {
				return nil, err
			}
			for _, k := range m.Keys() {
				m.Delete(k)
			}
			return nil, nil
		}
	case "pop":
		return dictPop(m)
	case "popitem":
		return dictPopitem(m)
	case "setdefault":
		return dictSetdefault(m)
	case "update":
		return dictUpdate(m)
	case "move_to_end":
		if !m.Ordered {
			return nil
		}
		return dictMoveToEnd(m)
	}
	return nil
}

// dictPop is pop of a dict.
func dictPop(m *value.Map) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin("dict", "pop", 1, 2)
		if err != nil {
			return nil, err
		}
		if err := value.CheckHash(a[0]); err != nil {
			return nil, err
		}
		if v, ok := m.Get(a[0]); ok {
			m.Delete(a[0])
			return v, nil
		}
		if Given(a[1]) {
			return a[1], nil
		}
		return nil, value.Raise("KeyError", "%s", value.Repr(a[0]))
	}
}

// dictPopitem is popitem of a dict.
func dictPopitem(m *value.Map) Func {
	return func(c Call) (value.Value, error) {
		last := true
		if m.Ordered {
			a, err := c.clinic("popitem", "last")
			if err != nil {
				return nil, err
			}
			if last, err = c.boolArg(a[0], true); err != nil {
				return nil, err
			}
		} else if _, err := c.Builtin("dict", "popitem", 0, 0); err != nil {
			return nil, err
		}
		if m.Len() == 0 {
			what := "'popitem(): dictionary is empty'"
			if m.Ordered {
				what = "'dictionary is empty'"
			}
			return nil, value.Raise("KeyError", "%s", what)
		}
		at := 0
		if last {
			at = m.Len() - 1
		}
		k, v := m.Entry(at)
		m.Delete(k)
		return value.Tuple{k, v}, nil
	}
}

// dictSetdefault is setdefault of a dict.
func dictSetdefault(m *value.Map) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin("dict", "setdefault", 1, 2)
		if err != nil {
			return nil, err
		}
		if err := value.CheckHash(a[0]); err != nil {
			return nil, err
		}
		if v, ok := m.Get(a[0]); ok {
			return v, nil
		}
		v := OrNil(a[1])
		if err := grow(m.Len()); err != nil {
			return nil, err
		}
		m.Set(a[0], v)
		return v, nil
	}
}

// dictUpdate is update of a dict.
func dictUpdate(m *value.Map) Func {
	return func(c Call) (value.Value, error) {
		if len(c.Args) > 1 {
			return nil, value.Raise("TypeError", "update expected at most 1 argument, got %d", len(c.Args))
		}
		if len(c.Args) == 1 {
			if err := UpdateMap(m, c.Args[0]); err != nil {
				return nil, err
			}
		}
		if c.Kw != nil {
			m.Update(c.Kw)
		}
		return nil, nil
	}
}

// dictMoveToEnd is move_to_end of an OrderedDict.
func dictMoveToEnd(m *value.Map) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Bind("move_to_end", 0, "key", "last?")
		if err != nil {
			return nil, err
		}
		last, err := c.boolArg(a[1], true)
		if err != nil {
			return nil, err
		}
		v, ok := m.Get(a[0])
		if !ok {
			return nil, value.Raise("KeyError", "%s", value.Repr(a[0]))
		}
		m.Delete(a[0])
		if last {
			m.Set(a[0], v)
			return nil, nil
		}
		rest := m.Copy()
		for _, k := range rest.Keys() {
			m.Delete(k)
		}
		m.Set(a[0], v)
		m.Update(rest)
		return nil, nil
	}
}

// A settableMap is a mapping that is not a dict but takes new entries.
type settableMap interface {
	value.Mapping
	Set(name string, v value.Value)
	Delete(name string)
}

// setterMethod returns a method of dict that writes.
func setterMethod(m settableMap, name string) Func {
	// What the method does to a dict of the entry that it is for, the mapping
	// gets too.
	through := func(c Call, d *value.Map) (value.Value, error) {
		before := d.Copy()
		v, err := dictMutator(d, name)(c)
		if err != nil {
			return nil, err
		}
		for k := range d.All() {
			if _, ok := k.(string); !ok {
				return nil, value.Raise("TypeError", "keys must be str, not %s", value.TypeName(k))
			}
		}
		for k, x := range d.All() {
			m.Set(k.(string), x)
		}
		for k := range before.All() {
			if !d.Has(k) {
				m.Delete(value.Str(k))
			}
		}
		return v, nil
	}
	switch name {
	case "update":
		return func(c Call) (value.Value, error) { return through(c, value.NewMap(8)) }
	case "setdefault", "pop":
		return func(c Call) (value.Value, error) {
			d := value.NewMap(1)
			if len(c.Args) > 0 {
				key, ok := value.AsText(c.Args[0])
				if v, has := m.Get(key); ok && has {
					d.Set(key, v)
				}
			}
			return through(c, d)
		}
	}
	return nil
}

// grow is the check before a container of n items gets another.
func grow(n int) error { return value.CheckItems(n + 1) }

// UpdateMap does what m.update(from) does: from is a dict, or has pairs.
func UpdateMap(m *value.Map, from value.Value) error {
	if src, ok := from.(value.Mapping); ok {
		if err := value.CheckItems(m.Len() + src.Len()); err != nil {
			return err
		}
		m.Update(src)
		return nil
	}
	items, err := value.Items(from)
	if err != nil {
		return err
	}
	for i, it := range items {
		if !value.IsIterable(it) {
			return value.Raise("TypeError", "cannot convert dictionary update sequence element #%d to a sequence", i)
		}
		pair, err := value.Items(it)
		if err != nil {
			return err
		}
		if len(pair) != 2 {
			return value.Raise("ValueError", "dictionary update sequence element #%d has length %d; 2 is required", i, len(pair))
		}
		if err := value.CheckHash(pair[0]); err != nil {
			return err
		}
		m.Set(pair[0], pair[1])
	}
	return nil
}

// NewDict returns dict(...) or, where ordered is set, OrderedDict(...).
func NewDict(args []value.Value, kw *value.Map, ordered bool) (value.Value, error) {
	m := value.NewMap(8)
	m.Ordered = ordered
	if len(args) > 1 {
		name := "dict"
		if ordered {
			name = "OrderedDict"
		}
		return nil, value.Raise("TypeError", "%s expected at most 1 argument, got %d", name, len(args))
	}
	if len(args) == 1 {
		if err := UpdateMap(m, args[0]); err != nil {
			return nil, err
		}
	}
	if kw != nil {
		m.Update(kw)
	}
	return m, nil
}

// viewMethod returns a method of dict_keys and the like.
func viewMethod(v *value.View, name string) Func {
	if name != "isdisjoint" || v.Kind == value.Values {
		return nil
	}
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin(v.TypeName(), name, 1, 1)
		if err != nil {
			return nil, err
		}
		return disjoint(v, a[0])
	}
}

func disjoint(a, b value.Value) (value.Value, error) {
	seq, err := value.Iter(b)
	if err != nil {
		return nil, err
	}
	for x := range seq {
		if in, err := value.Contains(a, x); in || err != nil {
			return false, err
		}
	}
	return true, nil
}
