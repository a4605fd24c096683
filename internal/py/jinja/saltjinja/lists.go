package saltjinja

import (
	"brine/internal/py/jinja"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/jinja/pytext"
	"brine/internal/py/value"
)

// listFilters returns Salt's filters on lists and other iterables.
func listFilters() map[string]jinja.Func {
	return map[string]jinja.Func{
		"avg":                           filterAvg,
		"combinations":                  filterCombine("combinations"),
		"combinations_with_replacement": filterCombine("combinations_with_replacement"),
		"compare_lists":                 filterCompareLists,
		"compress":                      filterCompress,
		"difference":                    filterSetMath("difference"),
		"exactly_n_true":                filterExactly("exactly_n_true"),
		"exactly_one_true":              filterExactly("exactly_one_true"),
		"flatten":                       filterFlatten,
		"intersect":                     filterSetMath("intersect"),
		"is_iter":                       filterIsIter,
		"is_list":                       filterIsList,
		"is_sorted":                     filterIsSorted,
		"max":                           filterExtreme("max"),
		"min":                           filterExtreme("min"),
		"permutations":                  filterCombine("permutations"),
		"product":                       filterProduct,
		"random_sample":                 filterRandom("random_sample"),
		"random_shuffle":                filterRandom("random_shuffle"),
		"sorted_ignorecase":             filterSortedIgnorecase,
		"substring_in_list":             filterSubstring,
		"symmetric_difference":          filterSetMath("symmetric_difference"),
		"union":                         filterSetMath("union"),
		"unique":                        filterUnique,
		"zip":                           filterZip("zip"),
		"zip_longest":                   filterZip("zip_longest"),
	}
}

// hashable is isinstance(v, collections.abc.Hashable), which asks the type
// only: a tuple always is.
func hashable(v value.Value) bool {
	if _, ok := value.AsTuple(v); ok {
		return true
	}
	if view, ok := v.(*value.View); ok {
		return view.Kind == value.Values // the only views that are
	}
	return value.Hashable(v)
}

// distinct returns the items that equal no earlier one.
func distinct(items []value.Value) []value.Value {
	var out []value.Value
	seen := value.NewSet()
	for _, v := range items {
		if value.CheckHash(v) == nil {
			if seen.Has(v) {
				continue
			}
			seen.Add(v)
		} else if has(out, v) {
			continue
		}
		out = append(out, v)
	}
	return out
}

func has(items []value.Value, v value.Value) bool {
	for _, x := range items {
		if value.Equal(x, v) {
			return true
		}
	}
	return false
}

// filterUnique returns the distinct items as a list, of what is hashable (a
// tuple, text) as a set. Salt: salt/utils/jinja.py unique.
func filterUnique(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("unique", 0, "values")
	if err != nil {
		return nil, err
	}
	if hashable(a[0]) {
		return value.ToSet(a[0])
	}
	items, err := value.Items(a[0])
	if err != nil {
		return nil, err
	}
	return &value.List{Items: distinct(items)}, nil
}

func filterExtreme(name string) jinja.Func {
	op := map[string]string{"min": "<", "max": ">"}[name]
	return func(c *jinja.Call) (value.Value, error) {
		a, err := c.Params("lst_"+name, 0, "obj")
		if err != nil {
			return nil, err
		}
		items, err := value.Items(a[0])
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			return nil, value.Raise("ValueError", "%s() arg is an empty sequence", name)
		}
		return jinja.Best(items, op, func(v value.Value) (value.Value, error) { return v, nil })
	}
}

func filterAvg(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("lst_avg", 0, "lst")
	if err != nil {
		return nil, err
	}
	if hashable(a[0]) {
		return toFloat(a[0])
	}
	items, err := value.Items(a[0])
	if err != nil {
		return nil, err
	}
	var sum value.Value = int64(0)
	for _, v := range items {
		if sum, err = value.Add(sum, v); err != nil {
			return nil, err
		}
	}
	n, err := value.Len(a[0])
	if err != nil {
		return nil, err
	}
	mean, err := value.TrueDiv(sum, int64(n))
	if err != nil {
		return nil, err
	}
	return toFloat(mean)
}

func toFloat(v value.Value) (value.Value, error) {
	f, err := value.ToFloat(v)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// filterSetMath does sets of tuples and texts, and lists in their order.
// Salt: salt/utils/jinja.py union and its like.
func filterSetMath(name string) jinja.Func {
	op := map[string]string{"union": "|", "intersect": "&", "difference": "-", "symmetric_difference": "^"}[name]
	return func(c *jinja.Call) (value.Value, error) {
		a, err := c.Params(name, 0, "lst1", "lst2")
		if err != nil {
			return nil, err
		}
		if hashable(a[0]) && hashable(a[1]) {
			x, err := value.ToSet(a[0])
			if err != nil {
				return nil, err
			}
			y, err := value.ToSet(a[1])
			if err != nil {
				return nil, err
			}
			return value.SetOp(op, x, y), nil
		}
		if name == "union" || name == "symmetric_difference" {
			both, err := value.Add(a[0], a[1])
			if err != nil {
				return nil, err
			}
			if name == "union" {
				items, err := value.Items(both)
				return &value.List{Items: distinct(items)}, err
			}
		}
		return listMath(name, a[0], a[1])
	}
}

// listMath is set arithmetic of lists whose items cannot be in a set.
func listMath(name string, a, b value.Value) (value.Value, error) {
	x, err := value.Items(a)
	if err != nil {
		return nil, err
	}
	y, err := value.Items(b)
	if err != nil {
		return nil, err
	}
	inX, inY := newLookup(x), newLookup(y)
	var out []value.Value
	for _, v := range x {
		if inY.has(v) == (name == "intersect") {
			out = append(out, v)
		}
	}
	if name == "symmetric_difference" {
		for _, v := range y {
			if !inX.has(v) {
				out = append(out, v)
			}
		}
	}
	return &value.List{Items: distinct(out)}, nil
}

// lookup finds items, by hash where they have one.
type lookup struct {
	set  *value.Set
	rest []value.Value
}

func newLookup(items []value.Value) *lookup {
	l := &lookup{set: value.NewSet()}
	for _, v := range items {
		if value.CheckHash(v) == nil {
			l.set.Add(v)
		} else {
			l.rest = append(l.rest, v)
		}
	}
	return l
}

func (l *lookup) has(v value.Value) bool {
	if value.CheckHash(v) == nil {
		return l.set.Has(v)
	}
	return has(l.rest, v)
}

func filterIsList(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("is_list", 0, "value")
	if err != nil {
		return nil, err
	}
	_, ok := a[0].(*value.List)
	return ok, nil
}

// isIter is salt.utils.data.is_iter: an iterable that is not a string.
func isIter(v value.Value) bool {
	if _, ok := value.AsText(v); ok {
		return false
	}
	return value.IsIterable(v)
}

func filterIsIter(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("is_iter", 0, "thing", "ignore?")
	if err != nil {
		return nil, err
	}
	if err := jinja.NotStrict(a[0]); err != nil {
		return nil, err
	}
	if pymethod.Given(a[1]) && !value.Truth(a[1]) {
		return value.IsIterable(a[0]), nil
	}
	return isIter(a[0]), nil
}

func filterIsSorted(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("is_sorted", 0, "iterable", "key?", "reverse?")
	if err != nil {
		return nil, err
	}
	items, err := value.Items(a[0])
	if err != nil {
		return nil, err
	}
	reverse, err := c.BoolArg(a[2], false)
	if err != nil {
		return nil, err
	}
	if key := pymethod.KeyFunc(c.State, a[1]); key != nil {
		for i := range items {
			if items[i], err = key(items[i]); err != nil {
				return nil, err
			}
		}
	}
	for i := 1; i < len(items); i++ {
		lo, hi := items[i-1], items[i]
		if reverse {
			lo, hi = hi, lo
		}
		less, err := value.Compare("<", hi, lo)
		if err != nil {
			return nil, err
		}
		if less {
			return false, nil
		}
	}
	return true, nil
}

func filterSortedIgnorecase(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("sorted_ignorecase", 0, "to_sort")
	if err != nil {
		return nil, err
	}
	items, err := value.Items(a[0])
	if err != nil {
		return nil, err
	}
	err = value.SortValues(items, func(v value.Value) (value.Value, error) {
		s, ok := value.AsText(v)
		if !ok {
			return nil, value.Raise("AttributeError", "'%s' object has no attribute 'lower'", value.TypeName(v))
		}
		return pytext.Lower(s), nil
	}, false)
	if err != nil {
		return nil, err
	}
	return &value.List{Items: items}, nil
}

func filterExactly(name string) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		names := []string{"iterable", "amount?"}
		fname := "exactly_n"
		if name == "exactly_one_true" {
			names, fname = names[:1], "exactly_one"
		}
		a, err := c.Params(fname, 0, names...)
		if err != nil {
			return nil, err
		}
		want := 1
		if len(a) == 2 {
			if want, err = pymethod.IntArg(a[1], 1); err != nil {
				return nil, err
			}
		}
		items, err := value.Items(a[0])
		if err != nil {
			return nil, err
		}
		n := 0
		for _, v := range items {
			t, err := c.State.Truth(v)
			if err != nil {
				return nil, err
			}
			if t {
				n++
			}
		}
		return n == max(want, 0), nil
	}
}

// filterFlatten makes one list of nested ones, without None and the texts None
// and null unless preserve_nulls is set. Salt: salt/utils/data.py flatten.
func filterFlatten(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("flatten", 0, "data", "levels?", "preserve_nulls?")
	if err != nil {
		return nil, err
	}
	levels := -1
	if v := pymethod.OrNil(a[1]); v != nil {
		if levels, err = pymethod.AsIndex(v); err != nil {
			return nil, err
		}
		levels = max(levels, 0)
	}
	keep, err := c.BoolArg(a[2], false)
	if err != nil {
		return nil, err
	}
	f := flattener{nulls: keep}
	if err := f.add(a[0], levels, 0); err != nil {
		return nil, err
	}
	return &value.List{Items: f.out}, nil
}

type flattener struct {
	nulls bool
	out   []value.Value
}

func (f *flattener) add(v value.Value, levels, depth int) error {
	if depth > 300 {
		return value.Raise("RecursionError", "Reference cycle detected. Check input list.")
	}
	seq, err := value.Iter(v)
	if err != nil {
		return err
	}
	for x := range seq {
		if !f.nulls && (x == nil || x == "None" || x == "null") {
			continue
		}
		if err := jinja.NotStrict(x); err != nil {
			return err
		}
		if levels == 0 || !isIter(x) {
			f.out = append(f.out, x)
			if err := value.CheckItems(len(f.out)); err != nil {
				return err
			}
			continue
		}
		if err := f.add(x, levels-1, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func filterSubstring(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("substr_in_list", 0, "string_to_search_for", "list_to_search")
	if err != nil {
		return nil, err
	}
	seq, err := value.Iter(a[1])
	if err != nil {
		return nil, err
	}
	for v := range seq {
		if in, err := value.Contains(v, a[0]); in || err != nil {
			return in, err
		}
	}
	return false, nil
}

func filterCompareLists(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("compare_lists", 0, "old?", "new?")
	if err != nil {
		return nil, err
	}
	before, err := value.Items(pymethod.OrNil(a[0]))
	if err != nil {
		return nil, err
	}
	after, err := value.Items(pymethod.OrNil(a[1]))
	if err != nil {
		return nil, err
	}
	inBefore, inAfter := newLookup(before), newLookup(after)
	m := value.NewMap(2)
	note := func(key string, items []value.Value, other *lookup) {
		l := &value.List{}
		for _, v := range items {
			if !other.has(v) {
				l.Append(v)
			}
		}
		if l.Len() > 0 {
			m.Set(key, l)
		}
	}
	note("new", after, inBefore)
	note("old", before, inAfter)
	return m, nil
}

// sequenceItems are the items of what Python's random.sample takes.
func sequenceItems(v value.Value) ([]value.Value, error) {
	if err := jinja.Defined(v); err != nil {
		return nil, err
	}
	if _, ok := v.(value.Mapping); ok || !jinja.IsSequence(v) {
		return nil, value.Raise("TypeError", "Population must be a sequence.  For dicts or sets, use sorted(d).")
	}
	return value.Items(v)
}

// filterRandom takes a sample of a list; random_shuffle takes all. A seed makes
// it the same each time, and the same as in Python.
// Salt: salt/utils/data.py sample, shuffle.
func filterRandom(name string) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		names, fname := []string{"value", "size", "seed?"}, "sample"
		if name == "random_shuffle" {
			names, fname = []string{"value", "seed?"}, "shuffle"
		}
		a, err := c.Params(fname, 0, names...)
		if err != nil {
			return nil, err
		}
		items, err := sequenceItems(a[0])
		if err != nil {
			return nil, err
		}
		k := len(items)
		if fname == "sample" {
			if k, err = pymethod.AsIndex(a[1]); err != nil {
				return nil, err
			}
		}
		if k < 0 || k > len(items) {
			return nil, value.Raise("ValueError", "Sample larger than population or is negative")
		}
		var by value.Value // None: by chance
		if seed := pymethod.OrNil(a[len(a)-1]); seed != nil {
			if by, err = seedText(seed); err != nil {
				return nil, err
			}
		}
		r, err := value.NewRandom(by)
		if err != nil {
			return nil, err
		}
		out, err := r.Sample(items, k)
		if err != nil {
			return nil, err
		}
		return &value.List{Items: out}, nil
	}
}
