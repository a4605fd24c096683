package jinja

import (
	"math/rand/v2"
	"slices"
	"strings"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/jinja/pytext"
	"brine/internal/py/value"
)

// Pull returns a function that returns the items of v one by one, and false at
// the end. It takes the items of a generator when they are asked for.
func Pull(v value.Value) (func() (value.Value, bool, error), error) {
	switch x := v.(type) {
	case value.Iterator:
		return x.Next, nil
	case *value.List:
		i := 0
		return func() (value.Value, bool, error) {
			if i >= len(x.Items) {
				return nil, false, nil
			}
			i++
			return x.Items[i-1], true, nil
		}, nil
	}
	items, err := value.Items(v)
	if err != nil {
		return nil, err
	}
	return sliceNext(items), nil
}

func sliceNext(items []value.Value) func() (value.Value, bool, error) {
	return func() (value.Value, bool, error) {
		if len(items) == 0 {
			return nil, false, nil
		}
		v := items[0]
		items = items[1:]
		return v, true, nil
	}
}

// generator returns a generator that makes its source at the first item, as a
// Python function with yield does: errors come when it is used.
func generator(name string, open func() (func() (value.Value, bool, error), error)) *Generator {
	var next func() (value.Value, bool, error)
	return NewGenerator(name, func() (value.Value, bool, error) {
		if next == nil {
			var err error
			if next, err = open(); err != nil {
				return nil, false, err
			}
		}
		return next()
	})
}

// getter is Jinja2's make_attrgetter for one path.
func (c *Call) getter(attr value.Value, dflt value.Value, fold bool) func(value.Value) (value.Value, error) {
	parts := attrParts(attr)
	return func(item value.Value) (value.Value, error) {
		for _, p := range parts {
			v, err := c.State.GetItem(item, p)
			if err != nil {
				return nil, err
			}
			if _, undef := v.(*Undefined); undef && dflt != nil {
				v = dflt
			}
			item = v
		}
		return foldCase(item, fold), nil
	}
}

// foldCase is the key for sorting and grouping without regard to case.
func foldCase(v value.Value, fold bool) value.Value {
	if s, ok := value.AsText(v); ok && fold {
		return pytext.Lower(s)
	}
	return v
}

func attrParts(attr value.Value) []value.Value {
	s, ok := value.AsText(attr)
	if !ok {
		if attr == nil {
			return nil
		}
		return []value.Value{attr}
	}
	var parts []value.Value
	for p := range strings.SplitSeq(s, ".") {
		var part value.Value = p
		if pytext.Every(p, pytext.IsDigit) {
			if n, err := value.ParseInt(p, 10); err == nil {
				part = n
			}
		}
		parts = append(parts, part)
	}
	return parts
}

// multiGetter is make_multi_attrgetter: a key of several paths.
func (c *Call) multiGetter(attr value.Value, fold bool) func(value.Value) (value.Value, error) {
	paths := []value.Value{attr}
	if s, ok := value.AsText(attr); ok {
		paths = nil
		for p := range strings.SplitSeq(s, ",") {
			paths = append(paths, p)
		}
	}
	getters := make([]func(value.Value) (value.Value, error), len(paths))
	for i, p := range paths {
		getters[i] = c.getter(p, nil, fold)
	}
	return func(item value.Value) (value.Value, error) {
		key := &value.List{Items: make([]value.Value, len(getters))}
		for i, g := range getters {
			v, err := g(item)
			if err != nil {
				return nil, err
			}
			key.Items[i] = v
		}
		return key, nil
	}
}

func filterList(c *Call) (value.Value, error) {
	a, err := c.Params("sync_do_list", 0, "value")
	if err != nil {
		return nil, err
	}
	items, err := value.Items(a[0])
	if err != nil {
		return nil, err
	}
	return &value.List{Items: items}, nil
}

func filterFirst(c *Call) (value.Value, error) {
	a, err := c.Params("sync_do_first", 1, "seq")
	if err != nil {
		return nil, err
	}
	next, err := Pull(a[0])
	if err != nil {
		return nil, err
	}
	v, ok, err := next()
	if err != nil {
		return nil, err
	}
	if !ok {
		return c.State.Undefined("", "No first item, sequence was empty."), nil
	}
	return v, nil
}

func filterLast(c *Call) (value.Value, error) {
	a, err := c.Params("do_last", 1, "seq")
	if err != nil {
		return nil, err
	}
	items, err := reversible(a[0])
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return c.State.Undefined("", "No last item, sequence was empty."), nil
	}
	return items[len(items)-1], nil
}

// reversible returns the items of what Python's reversed takes.
func reversible(v value.Value) ([]value.Value, error) {
	switch v.(type) {
	case *value.Set, value.Iterator:
		return nil, value.Raise("TypeError", "'%s' object is not reversible", value.TypeName(v))
	}
	if !value.IsIterable(v) {
		return nil, value.Raise("TypeError", "'%s' object is not reversible", value.TypeName(v))
	}
	return value.Items(v)
}

func filterRandom(c *Call) (value.Value, error) {
	a, err := c.Params("do_random", 1, "seq")
	if err != nil {
		return nil, err
	}
	n, err := value.Len(a[0])
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return c.State.Undefined("", "No random item, sequence was empty."), nil
	}
	return value.GetItem(a[0], int64(rand.IntN(n)))
}

func filterReverse(c *Call) (value.Value, error) {
	a, err := c.Params("do_reverse", 0, "value")
	if err != nil {
		return nil, err
	}
	if s, ok := value.AsText(a[0]); ok {
		chars := value.Chars(s)
		slices.Reverse(chars)
		_, markup := a[0].(markupsafe.Markup)
		return pymethod.SameText(strings.Join(chars, ""), markup), nil
	}
	if err := Defined(a[0]); err != nil {
		return nil, err
	}
	items, err := reversible(a[0])
	if err != nil {
		if items, err = value.Items(a[0]); err != nil {
			if pymethod.Raised(err, "TypeError") {
				return nil, errFilterArgument("argument must be iterable")
			}
			return nil, err
		}
		slices.Reverse(items)
		return &value.List{Items: items}, nil
	}
	slices.Reverse(items)
	return NewIterator(reversedName(a[0]), sliceNext(items)), nil
}

func reversedName(v value.Value) string {
	switch v := v.(type) {
	case *value.List:
		return "list_reverseiterator"
	case value.Range:
		return "range_iterator"
	case *value.View:
		return [...]string{"dict_reversekeyiterator", "dict_reversevalueiterator", "dict_reverseitemiterator"}[v.Kind]
	case value.Mapping:
		return "dict_reversekeyiterator"
	}
	return "reversed"
}

func filterItems(c *Call) (value.Value, error) {
	a, err := c.Params("do_items", 0, "value")
	if err != nil {
		return nil, err
	}
	return generator("do_items", func() (func() (value.Value, bool, error), error) {
		if _, undef := a[0].(*Undefined); undef {
			return sliceNext(nil), nil
		}
		m, ok := a[0].(value.Mapping)
		if !ok {
			return nil, value.Raise("TypeError", "Can only get item pairs from a mapping.")
		}
		return Pull(&value.View{Of: m, Kind: value.Pairs})
	}), nil
}

func filterBatch(c *Call) (value.Value, error) {
	a, err := c.Params("do_batch", 0, "value", "linecount", "fill_with?")
	if err != nil {
		return nil, err
	}
	return generator("do_batch", func() (func() (value.Value, bool, error), error) {
		items, err := value.Items(a[0])
		if err != nil {
			return nil, err
		}
		n, err := pymethod.AsIndex(a[1])
		if err != nil {
			n = -1 // Python only compares it: nothing is ever equal
		}
		var out []value.Value
		var line []value.Value
		for _, it := range items {
			if len(line) == n {
				out = append(out, &value.List{Items: line})
				line = nil
			}
			line = append(line, it)
		}
		if len(line) > 0 {
			if fill := pymethod.OrNil(a[2]); fill != nil && len(line) < n {
				if err := value.CheckItems(n); err != nil {
					return nil, err
				}
				for len(line) < n {
					line = append(line, fill)
				}
			}
			out = append(out, &value.List{Items: line})
		}
		return sliceNext(out), nil
	}), nil
}

func filterSlice(c *Call) (value.Value, error) {
	a, err := c.Params("sync_do_slice", 0, "value", "slices", "fill_with?")
	if err != nil {
		return nil, err
	}
	return generator("sync_do_slice", func() (func() (value.Value, bool, error), error) {
		items, err := value.Items(a[0])
		if err != nil {
			return nil, err
		}
		if _, err := value.FloorDiv(int64(len(items)), a[1]); err != nil {
			return nil, err
		}
		n, err := pymethod.AsIndex(a[1])
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return sliceNext(nil), nil
		}
		if err := value.CheckItems(n); err != nil {
			return nil, err
		}
		each, extra := len(items)/n, len(items)%n
		out := make([]value.Value, n)
		for i := range out {
			size := each
			if i < extra {
				size++
			}
			part := append([]value.Value(nil), items[:size]...)
			items = items[size:]
			if fill := pymethod.OrNil(a[2]); fill != nil && i >= extra {
				part = append(part, fill)
			}
			out[i] = &value.List{Items: part}
		}
		return sliceNext(out), nil
	}), nil
}

func filterSum(c *Call) (value.Value, error) {
	a, err := c.Params("sync_do_sum", 1, "iterable", "attribute?", "start?")
	if err != nil {
		return nil, err
	}
	items, err := value.Items(a[0])
	if err != nil {
		return nil, err
	}
	var total value.Value = int64(0)
	if pymethod.Given(a[2]) {
		total = a[2]
		switch total.(type) {
		case string, markupsafe.Markup:
			return nil, value.Raise("TypeError", "sum() can't sum strings [use ''.join(seq) instead]")
		case value.Bytes:
			return nil, value.Raise("TypeError", "sum() can't sum bytes [use b''.join(seq) instead]")
		}
	}
	get := c.getter(pymethod.OrNil(a[1]), nil, false)
	for _, it := range items {
		v, err := get(it)
		if err != nil {
			return nil, err
		}
		if total, err = value.Add(total, v); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func filterSort(c *Call) (value.Value, error) {
	a, err := c.Params("do_sort", 1, "value", "reverse?", "case_sensitive?", "attribute?")
	if err != nil {
		return nil, err
	}
	sensitive, err := c.BoolArg(a[2], false)
	if err != nil {
		return nil, err
	}
	items, err := value.Items(a[0])
	if err != nil {
		return nil, err
	}
	// sorted() wants a number here, so that sort('name') does not pass for
	// sort(attribute='name').
	down, err := pymethod.IntArg(a[1], 0)
	if err != nil {
		return nil, err
	}
	reverse := down != 0
	if err := value.SortValues(items, c.multiGetter(pymethod.OrNil(a[3]), !sensitive), reverse); err != nil {
		return nil, err
	}
	return &value.List{Items: items}, nil
}

func filterDictsort(c *Call) (value.Value, error) {
	a, err := c.Params("do_dictsort", 0, "value", "case_sensitive?", "by?", "reverse?")
	if err != nil {
		return nil, err
	}
	at := 0
	if pymethod.Given(a[2]) {
		switch by, _ := value.AsText(a[2]); by {
		case "key":
		case "value":
			at = 1
		default:
			return nil, errFilterArgument(`You can only sort by either "key" or "value"`)
		}
	}
	if err := Defined(a[0]); err != nil {
		return nil, err
	}
	sensitive, err := c.BoolArg(a[1], false)
	if err != nil {
		return nil, err
	}
	reverse, err := c.BoolArg(a[3], false)
	if err != nil {
		return nil, err
	}
	m, ok := a[0].(value.Mapping)
	if !ok {
		return nil, pymethod.NoItems(a[0])
	}
	items, err := value.Items(&value.View{Of: m, Kind: value.Pairs})
	if err != nil {
		return nil, err
	}
	key := func(v value.Value) (value.Value, error) { return foldCase(v.(value.Tuple)[at], !sensitive), nil }
	if err := value.SortValues(items, key, reverse); err != nil {
		return nil, err
	}
	return &value.List{Items: items}, nil
}

func filterUnique(c *Call) (value.Value, error) {
	a, err := c.Params("do_unique", 1, "value", "case_sensitive?", "attribute?")
	if err != nil {
		return nil, err
	}
	sensitive, err := c.BoolArg(a[1], false)
	if err != nil {
		return nil, err
	}
	return generator("do_unique", func() (func() (value.Value, bool, error), error) {
		next, err := Pull(a[0])
		if err != nil {
			return nil, err
		}
		get := c.getter(pymethod.OrNil(a[2]), nil, !sensitive)
		seen := value.NewSet()
		return func() (value.Value, bool, error) {
			for {
				v, ok, err := next()
				if err != nil || !ok {
					return nil, false, err
				}
				k, err := get(v)
				if err == nil {
					err = value.CheckHash(k)
				}
				if err != nil {
					return nil, false, err
				}
				if !seen.Has(k) {
					seen.Add(k)
					return v, true, nil
				}
			}
		}, nil
	}), nil
}

func filterMin(c *Call) (value.Value, error) { return c.extreme("do_min", "<") }

func filterMax(c *Call) (value.Value, error) { return c.extreme("do_max", ">") }

func (c *Call) extreme(fname, op string) (value.Value, error) {
	a, err := c.Params(fname, 1, "value", "case_sensitive?", "attribute?")
	if err != nil {
		return nil, err
	}
	sensitive, err := c.BoolArg(a[1], false)
	if err != nil {
		return nil, err
	}
	items, err := value.Items(a[0])
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return c.State.Undefined("", "No aggregated item, sequence was empty."), nil
	}
	return Best(items, op, c.getter(pymethod.OrNil(a[2]), nil, !sensitive))
}

// Best returns the least item by key (op "<") or the greatest (op ">"), the first
// of equal ones.
func Best(items []value.Value, op string, key func(value.Value) (value.Value, error)) (value.Value, error) {
	at := items[0]
	atKey, err := key(at)
	if err != nil {
		return nil, err
	}
	for _, it := range items[1:] {
		k, err := key(it)
		if err != nil {
			return nil, err
		}
		better, err := value.Compare(op, k, atKey)
		if err != nil {
			return nil, err
		}
		if better {
			at, atKey = it, k
		}
	}
	return at, nil
}

func filterJoin(c *Call) (value.Value, error) {
	a, err := c.Params("sync_do_join", 1, "value", "d?", "attribute?")
	if err != nil {
		return nil, err
	}
	items, err := value.Items(a[0])
	if err != nil {
		return nil, err
	}
	get := c.getter(pymethod.OrNil(a[2]), nil, false)
	var sep value.Value = ""
	if pymethod.Given(a[1]) {
		sep = a[1]
	}
	parts := make([]string, len(items))
	safe := make([]bool, len(items))
	anySafe := false
	for i, it := range items {
		v, err := get(it)
		if err != nil {
			return nil, err
		}
		if parts[i], safe[i], err = c.softStr(v); err != nil {
			return nil, err
		}
		anySafe = anySafe || safe[i]
	}
	sepText, sepSafe, err := c.softStr(sep)
	if err != nil {
		return nil, err
	}
	if c.State.Autoescape() && (anySafe || sepSafe) {
		for i := range parts {
			if !safe[i] {
				parts[i] = markupsafe.Escape(parts[i])
			}
		}
		if !sepSafe {
			sepText = markupsafe.Escape(sepText)
		}
		out, err := pytext.Join(parts, sepText)
		return markupsafe.Markup(out), err
	}
	return pytext.Join(parts, sepText)
}

// A Group is what groupby gives for each group: a pair with names.
type Group struct {
	grouper value.Value
	list    *value.List
}

// AsTuple returns the pair.
func (g *Group) AsTuple() value.Tuple { return value.Tuple{g.grouper, g.list} }

// Len is 2.
func (g *Group) Len() int { return 2 }

// ReprParts prints as a plain tuple.
func (g *Group) ReprParts(repr func(value.Value) string) string { return repr(g.AsTuple()) }

// TypeName is the class in Jinja2.
func (g *Group) TypeName() string { return "_GroupTuple" }

// EqualValue compares as a tuple.
func (g *Group) EqualValue(v value.Value) bool {
	t, ok := value.AsTuple(v)
	return ok && value.Equal(g.AsTuple(), t)
}

// GetAttr gives the parts by name, and the methods of a tuple.
func (g *Group) GetAttr(_ *State, name string) (value.Value, bool, error) {
	switch name {
	case "grouper":
		return g.grouper, true, nil
	case "list":
		return g.list, true, nil
	}
	return pythonMethod(g.AsTuple(), name)
}

func filterGroupby(c *Call) (value.Value, error) {
	a, err := c.Params("sync_do_groupby", 1, "value", "attribute", "default?", "case_sensitive?")
	if err != nil {
		return nil, err
	}
	sensitive, err := c.BoolArg(a[3], false)
	if err != nil {
		return nil, err
	}
	items, err := value.Items(a[0])
	if err != nil {
		return nil, err
	}
	key := c.getter(a[1], pymethod.OrNil(a[2]), !sensitive)
	if err := value.SortValues(items, key, false); err != nil {
		return nil, err
	}
	shown := c.getter(a[1], pymethod.OrNil(a[2]), false)
	out := &value.List{}
	var last value.Value
	for i, it := range items {
		k, err := key(it)
		if err != nil {
			return nil, err
		}
		same := false
		if i > 0 {
			if same, err = c.State.Equal(last, k); err != nil {
				return nil, err
			}
		} else if u, ok := k.(*Undefined); ok && u.Kind == Strict {
			return nil, u.Err()
		}
		if same {
			g := out.Items[len(out.Items)-1].(*Group)
			g.list.Append(it)
			continue
		}
		last = k
		if k, err = shown(it); err != nil {
			return nil, err
		}
		out.Append(&Group{k, value.NewList(it)})
	}
	return out, nil
}

func filterMap(c *Call) (value.Value, error) {
	if len(c.Args) == 0 {
		return nil, value.Raise("TypeError", "sync_do_map() missing 1 required positional argument: 'value'")
	}
	return c.lazily("sync_do_map", func() (func(value.Value) (value.Value, bool, error), error) {
		do, err := c.mapper()
		return func(v value.Value) (value.Value, bool, error) {
			out, err := do(v)
			return out, true, err
		}, err
	}), nil
}

// lazily returns the generator of a filter that looks at each item of its
// first argument; each says for an item what comes out, and whether any does.
func (c *Call) lazily(name string, prepare func() (func(value.Value) (value.Value, bool, error), error)) *Generator {
	return generator(name, func() (func() (value.Value, bool, error), error) {
		some, err := c.State.Truth(c.Args[0])
		if err != nil || !some {
			return sliceNext(nil), err
		}
		each, err := prepare()
		if err != nil {
			return nil, err
		}
		next, err := Pull(c.Args[0])
		if err != nil {
			return nil, err
		}
		return func() (value.Value, bool, error) {
			for {
				v, ok, err := next()
				if err != nil || !ok {
					return nil, false, err
				}
				out, keep, err := each(v)
				if err == nil {
					err = c.State.run.tick()
				}
				if err != nil || keep {
					return out, err == nil, err
				}
			}
		}, nil
	})
}

func (c *Call) mapper() (func(value.Value) (value.Value, error), error) {
	args := c.Args[1:]
	if len(args) == 0 && c.Kw.Has("attribute") {
		for _, k := range c.Kw.Keys() {
			if k != "attribute" && k != "default" {
				return nil, errFilterArgument("Unexpected keyword argument %s", value.Repr(k))
			}
		}
		return c.getter(c.Kw.At("attribute"), c.Kw.At("default"), false), nil
	}
	if len(args) == 0 {
		return nil, errFilterArgument("map requires a filter argument")
	}
	name, ok := value.AsText(args[0])
	if !ok {
		return nil, value.Raise("TemplateRuntimeError", "No filter named %s.", value.Repr(args[0]))
	}
	return func(v value.Value) (value.Value, error) {
		return c.State.Filter(name, append([]value.Value{v}, args[1:]...), c.Kw)
	}, nil
}

func filterSelect(name string) Func {
	byAttr := strings.HasSuffix(name, "attr")
	want := strings.HasPrefix(name, "select")
	return func(c *Call) (value.Value, error) {
		if len(c.Args) == 0 {
			return nil, value.Raise("TypeError", "sync_do_%s() missing 1 required positional argument: 'value'", name)
		}
		return c.lazily("select_or_reject", func() (func(value.Value) (value.Value, bool, error), error) {
			args := c.Args[1:]
			get := func(v value.Value) (value.Value, error) { return v, nil }
			if byAttr {
				if len(args) == 0 {
					return nil, errFilterArgument("Missing parameter for attribute name")
				}
				get = c.getter(args[0], nil, false)
				args = args[1:]
			}
			holds := c.State.Truth
			if len(args) > 0 {
				test, ok := value.AsText(args[0])
				if !ok {
					return nil, value.Raise("TemplateRuntimeError", "No test named %s.", value.Repr(args[0]))
				}
				rest := args[1:]
				holds = func(v value.Value) (bool, error) {
					return c.State.Test(test, append([]value.Value{v}, rest...), c.Kw)
				}
			}
			return func(v value.Value) (value.Value, bool, error) {
				x, err := get(v)
				if err != nil {
					return nil, false, err
				}
				hit, err := holds(x)
				return v, hit == want, err
			}, nil
		}), nil
	}
}
