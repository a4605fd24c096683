package saltjinja

import (
	"strings"

	"brine/internal/py/jinja"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/jmespath"
	"brine/internal/py/value"
)

// dictFilters returns Salt's filters on dicts and nested data.
func dictFilters() map[string]jinja.Func {
	return map[string]jinja.Func{
		"append_dict_key_value": filterDictKey("append_dict_key_value"),
		"compare_dicts":         filterCompareDicts,
		"extend_dict_key_value": filterDictKey("extend_dict_key_value"),
		"json_decode_dict":      filterEncode("json_decode_dict"),
		"json_decode_list":      filterEncode("json_decode_list"),
		"json_encode_dict":      filterEncode("json_encode_dict"),
		"json_encode_list":      filterEncode("json_encode_list"),
		"json_query":            filterJSONQuery,
		"mysql_to_dict":         filterMysql,
		"set_dict_key_value":    filterDictKey("set_dict_key_value"),
		"traverse":              filterTraverse,
		"update_dict_key_value": filterDictKey("update_dict_key_value"),
	}
}

func typeRepr(v value.Value) string {
	name := value.TypeName(v)
	if m, ok := v.(*value.Map); ok && m.Ordered {
		name = "collections.OrderedDict"
	}
	return "<class '" + name + "'>"
}

// filterDictKey changes the value at a path in a dict, making dicts on the way,
// and returns the dict. Salt: salt/utils/dictupdate.py.
func filterDictKey(name string) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		a, err := c.Params(name, 0, "in_dict", "keys", "value", "delimiter?", "ordered_dict?")
		if err != nil {
			return nil, err
		}
		if err := jinja.Defined(a[0]); err != nil {
			return nil, err
		}
		m, ok := a[0].(*value.Map)
		if !ok {
			return nil, value.Raise("TypeError", "'%s' object does not support item assignment", value.TypeName(a[0]))
		}
		keys, err := wantText(a[1], "argument of type '%s' is not iterable")
		if err != nil {
			return nil, err
		}
		delim := value.DefaultDelim
		if pymethod.Given(a[3]) {
			if delim, err = wantText(a[3], "'in <string>' requires string as left operand, not %s"); err != nil {
				return nil, err
			}
			if delim == "" {
				return nil, value.Raise("ValueError", "empty separator")
			}
		}
		ordered, err := c.BoolArg(a[4], false)
		if err != nil {
			return nil, err
		}
		newMap := func() *value.Map { return &value.Map{Ordered: ordered} }
		parts := strings.Split(keys, delim)
		at := m
		for _, k := range parts[:len(parts)-1] {
			next, ok := at.At(k).(*value.Map)
			if !ok {
				next = newMap()
				at.Set(k, next)
			}
			at = next
		}
		last := parts[len(parts)-1]
		return m, changeKey(name, at, last, a[2], newMap)
	}
}

func changeKey(name string, at *value.Map, key string, v value.Value, newMap func() *value.Map) error {
	old := at.At(key)
	bad := func(what string) error {
		return value.Raise("SaltInvocationError", "The last key contains a %s, which cannot %s.", typeRepr(old), what)
	}
	switch name {
	case "set_dict_key_value":
		at.Set(key, v)
	case "append_dict_key_value":
		if old == nil {
			old = value.NewList()
			at.Set(key, old)
		}
		l, ok := old.(*value.List)
		if !ok {
			return bad("append")
		}
		l.Append(v)
	case "extend_dict_key_value":
		if old == nil {
			old = value.NewList()
			at.Set(key, old)
		}
		l, ok := old.(*value.List)
		if !ok {
			return bad("extend")
		}
		items, err := value.Items(v)
		if err != nil {
			return value.Raise("SaltInvocationError", "Cannot extend %s with a %s.", typeRepr(old), typeRepr(v))
		}
		l.Append(items...)
	default:
		if old == nil {
			old = newMap()
			at.Set(key, old)
		}
		d, ok := old.(*value.Map)
		if !ok {
			return bad("update")
		}
		if err := pymethod.UpdateMap(d, v); err != nil {
			return value.Raise("SaltInvocationError", "Cannot update %s with a %s.", typeRepr(old), typeRepr(v))
		}
	}
	return nil
}

// filterTraverse returns the value at a path, or a default.
func filterTraverse(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("traverse_dict_and_list", 0, "data", "key", "default?", "delimiter?")
	if err != nil {
		return nil, err
	}
	if err := jinja.Defined(a[0]); err != nil {
		return nil, err
	}
	delim := value.DefaultDelim
	if pymethod.Given(a[3]) {
		if delim, err = wantText(a[3], "must be str or None, not %s"); err != nil {
			return nil, err
		}
	}
	key := a[1]
	if s, ok := value.AsText(key); ok {
		key = s
	}
	if v, ok := value.TraverseKey(a[0], key, delim); ok {
		return v, nil
	}
	return pymethod.OrNil(a[2]), nil
}

func filterCompareDicts(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("compare_dicts", 0, "old?", "new?")
	if err != nil {
		return nil, err
	}
	maps := make([]value.Mapping, 2)
	for i := range maps {
		v := pymethod.OrNil(a[i])
		if err := jinja.Defined(v); err != nil {
			return nil, err
		}
		m, ok := v.(value.Mapping)
		if !ok {
			if value.Truth(v) {
				return nil, value.Raise("TypeError", "'%s' object is not subscriptable", value.TypeName(v))
			}
			m = value.NewMap(0)
		}
		maps[i] = m
	}
	before, after := maps[0], maps[1]
	out := value.NewMap(4)
	for _, k := range after.Keys() {
		n, _ := after.Get(k)
		o, ok := before.Get(k)
		switch {
		case !ok:
			out.Set(k, value.MapOf("old", "", "new", n))
		case !value.Equal(o, n):
			out.Set(k, value.MapOf("old", o, "new", n))
		}
	}
	for _, k := range before.Keys() {
		if _, ok := after.Get(k); !ok {
			o, _ := before.Get(k)
			out.Set(k, value.MapOf("new", "", "old", o))
		}
	}
	return out, nil
}

// filterEncode turns all text of a list or dict to bytes.
// Salt: salt/utils/data.py encode_dict, encode_list.
func filterEncode(name string) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		fname := "encode_list"
		if strings.HasSuffix(name, "dict") {
			fname = "encode_dict"
		}
		a, err := c.Params(fname, 0, "data", "encoding?", "errors?", "keep?", "preserve_dict_class?", "preserve_tuples?")
		if err != nil {
			return nil, err
		}
		if err := jinja.Defined(a[0]); err != nil {
			return nil, err
		}
		tuples, err := c.BoolArg(a[5], false)
		if err != nil {
			return nil, err
		}
		class, err := c.BoolArg(a[4], false)
		if err != nil {
			return nil, err
		}
		e := encoder{tuples: tuples, class: class}
		if m, ok := a[0].(value.Mapping); ok && fname == "encode_dict" {
			return e.dict(m, 0), nil
		}
		if fname == "encode_dict" {
			return nil, pymethod.NoItems(a[0])
		}
		items, err := value.Items(a[0])
		if err != nil {
			return nil, err
		}
		return e.list(items, 0), nil
	}
}

type encoder struct{ tuples, class bool }

func (e encoder) value(v value.Value, depth int) value.Value {
	if depth > 300 {
		return nil // it contains itself: Salt leaves such parts out too
	}
	if s, ok := value.AsText(v); ok {
		return value.Bytes(s)
	}
	switch x := v.(type) {
	case *value.List:
		return e.list(x.Items, depth+1)
	case value.Tuple:
		l := e.list(x, depth+1)
		if e.tuples {
			return value.Tuple(l.Items)
		}
		return l
	case value.Mapping:
		return e.dict(x, depth+1)
	}
	return v
}

func (e encoder) list(items []value.Value, depth int) *value.List {
	l := &value.List{Items: make([]value.Value, len(items))}
	for i, v := range items {
		l.Items[i] = e.value(v, depth)
	}
	return l
}

func (e encoder) dict(m value.Mapping, depth int) *value.Map {
	out := value.NewMap(m.Len())
	if o, ok := m.(*value.Map); ok && e.class {
		out.Ordered = o.Ordered
	}
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		if s, ok := value.AsText(k); ok {
			k = value.Bytes(s)
		}
		out.Set(k, e.value(v, depth))
	}
	return out
}

// filterMysql reads the table that a mysql client prints: a dict of rows by the
// value of one column. Salt: salt/utils/data.py mysql_to_dict.
func filterMysql(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("mysql_to_dict", 0, "data", "key")
	if err != nil {
		return nil, err
	}
	seq, err := value.Iter(a[0])
	if err != nil {
		return nil, err
	}
	out := value.NewMap(4)
	headers := []string{""}
	for v := range seq {
		line, ok := value.AsText(v)
		if !ok {
			if !value.Truth(v) {
				continue
			}
			return nil, value.Raise("AttributeError", "'%s' object has no attribute 'startswith'", value.TypeName(v))
		}
		if line == "" || strings.HasPrefix(line, "+") {
			continue
		}
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = value.TrimSpace(cells[i])
		}
		if len(headers) < 2 {
			headers = cells
			continue
		}
		row := value.NewMap(len(headers))
		for i := 1; i < len(headers)-1; i++ {
			if i >= len(cells) {
				return nil, value.Raise("IndexError", "list index out of range")
			}
			n, err := toNum(cells[i])
			if err != nil {
				return nil, err
			}
			row.Set(headers[i], n)
		}
		k, err := value.GetItem(row, a[1])
		if err != nil {
			return nil, err
		}
		out.Set(k, row)
	}
	return out, nil
}

// filterJSONQuery queries data by JMESPath. Salt: salt/utils/data.py json_query.
func filterJSONQuery(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("json_query", 0, "data", "expr")
	if err != nil {
		return nil, err
	}
	if err := jinja.Defined(a[0]); err != nil {
		return nil, err
	}
	expr, err := wantText(a[1], "expected string, not %s")
	if err != nil {
		return nil, err
	}
	q, err := jmespath.Compile(expr)
	if err != nil {
		return nil, err
	}
	return q.Search(a[0])
}
