package saltjinja

import (
	"brine/internal/py/jinja"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/value"
)

// filterCombine is itertools.combinations and its like.
func filterCombine(name string) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		names := []string{"iterable", "r"}
		if name == "permutations" {
			names[1] = "r?"
		}
		a, err := c.Params(name, 0, names...)
		if err != nil {
			return nil, err
		}
		pool, err := value.Items(a[0])
		if err != nil {
			return nil, err
		}
		r := len(pool)
		if v := pymethod.OrNil(a[1]); v != nil {
			if r, err = pymethod.AsIndex(v); err != nil {
				return nil, err
			}
		}
		if r < 0 {
			return nil, value.Raise("ValueError", "r must be non-negative")
		}
		if err := value.CheckItems(r); err != nil {
			return nil, err
		}
		var next func() []int
		switch name {
		case "permutations":
			next = permutations(len(pool), r)
		case "combinations":
			next = combinations(len(pool), r)
		default:
			next = combinationsAgain(len(pool), r)
		}
		return tuples(c, "itertools."+name, func() (value.Tuple, bool) {
			at := next()
			if at == nil {
				return nil, false
			}
			t := make(value.Tuple, len(at))
			for i, j := range at {
				t[i] = pool[j]
			}
			return t, true
		}), nil
	}
}

// tuples is an iterator of tuples that prints as an object of typ.
func tuples(c *jinja.Call, typ string, next func() (value.Tuple, bool)) value.Value {
	return jinja.NewIterator(typ, func() (value.Value, bool, error) {
		if err := c.State.Tick(); err != nil {
			return nil, false, err
		}
		t, ok := next()
		return t, ok, c.State.Made(24 + 16*len(t))
	})
}

// combinations returns the places of r of n in order, one choice a call, then
// nil.
func combinations(n, r int) func() []int {
	var at []int
	done := r > n
	return func() []int {
		if done {
			return nil
		}
		if at == nil {
			at = make([]int, r)
			for i := range at {
				at[i] = i
			}
			done = r == 0
			return at
		}
		i := r - 1
		for i >= 0 && at[i] == i+n-r {
			i--
		}
		if i < 0 {
			done = true
			return nil
		}
		at[i]++
		for j := i + 1; j < r; j++ {
			at[j] = at[j-1] + 1
		}
		return at
	}
}

// combinationsAgain is combinations where a place may be chosen again.
func combinationsAgain(n, r int) func() []int {
	var at []int
	done := n == 0 && r > 0
	return func() []int {
		if done {
			return nil
		}
		if at == nil {
			at = make([]int, r)
			done = r == 0
			return at
		}
		i := r - 1
		for i >= 0 && at[i] == n-1 {
			i--
		}
		if i < 0 {
			done = true
			return nil
		}
		v := at[i] + 1
		for j := i; j < r; j++ {
			at[j] = v
		}
		return at
	}
}

// permutations returns the ordered choices of r of n.
func permutations(n, r int) func() []int {
	if r > n {
		return func() []int { return nil }
	}
	idx := make([]int, n)
	for i := range idx {
		idx[i] = i
	}
	cycles := make([]int, r)
	for i := range cycles {
		cycles[i] = n - i
	}
	first, done := true, false
	return func() []int {
		if done {
			return nil
		}
		if first {
			first, done = false, r == 0
			return idx[:r]
		}
		for i := r - 1; i >= 0; i-- {
			if cycles[i]--; cycles[i] > 0 {
				j := n - cycles[i]
				idx[i], idx[j] = idx[j], idx[i]
				return idx[:r]
			}
			moved := idx[i]
			copy(idx[i:], idx[i+1:])
			idx[n-1] = moved
			cycles[i] = n - i
		}
		done = true
		return nil
	}
}

func filterCompress(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("compress", 0, "data", "selectors")
	if err != nil {
		return nil, err
	}
	data, err := jinja.Pull(a[0])
	if err != nil {
		return nil, err
	}
	selectors, err := jinja.Pull(a[1])
	if err != nil {
		return nil, err
	}
	return jinja.NewIterator("itertools.compress", func() (value.Value, bool, error) {
		for {
			v, ok, err := data()
			if err != nil || !ok {
				return nil, false, err
			}
			s, ok, err := selectors()
			if err != nil || !ok {
				return nil, false, err
			}
			t, err := c.State.Truth(s)
			if err != nil || t {
				return v, err == nil, err
			}
		}
	}), nil
}

func filterProduct(c *jinja.Call) (value.Value, error) {
	repeat := 1
	if c.Kw != nil {
		for k, v := range c.Kw.All() {
			if k != "repeat" {
				return nil, value.Raise("TypeError", "%s is an invalid keyword argument for product()", value.Repr(k))
			}
			n, err := pymethod.AsIndex(v)
			if err != nil {
				return nil, err
			}
			if n < 0 {
				return nil, value.Raise("ValueError", "repeat argument cannot be negative")
			}
			repeat = n
		}
	}
	if err := value.CheckItems(repeat * max(len(c.Args), 1)); err != nil {
		return nil, err
	}
	var pools [][]value.Value
	for _, arg := range c.Args {
		items, err := value.Items(arg)
		if err != nil {
			return nil, err
		}
		pools = append(pools, items)
	}
	once := pools
	pools = nil
	for range repeat {
		pools = append(pools, once...)
	}
	at := make([]int, len(pools))
	done := false
	for _, p := range pools {
		done = done || len(p) == 0
	}
	return tuples(c, "itertools.product", func() (value.Tuple, bool) {
		if done {
			return nil, false
		}
		t := make(value.Tuple, len(pools))
		for i, p := range pools {
			t[i] = p[at[i]]
		}
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < len(pools[i]) {
				break
			}
			at[i] = 0
		}
		done = i < 0
		return t, true
	}), nil
}

func filterZip(name string) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		var fill value.Value
		strict := false
		if c.Kw != nil {
			for k, v := range c.Kw.All() {
				switch {
				case name == "zip_longest" && k == "fillvalue":
					fill = v
				case name == "zip" && k == "strict":
					var err error
					if strict, err = c.State.Truth(v); err != nil {
						return nil, err
					}
				case name == "zip":
					return nil, value.Raise("TypeError", "%s is an invalid keyword argument for zip()", value.Repr(k))
				default:
					return nil, value.Raise("TypeError", "zip_longest() got an unexpected keyword argument")
				}
			}
		}
		nexts := make([]func() (value.Value, bool, error), len(c.Args))
		for i, arg := range c.Args {
			next, err := jinja.Pull(arg)
			if err != nil {
				if pymethod.Raised(err, "TypeError") && name == "zip" {
					err = value.Raise("TypeError", "zip argument #%d must support iteration", i+1)
				}
				return nil, err
			}
			nexts[i] = next
		}
		typ := "zip"
		if name == "zip_longest" {
			typ = "itertools.zip_longest"
		}
		z := zipper{nexts: nexts, longest: name == "zip_longest", strict: strict, fill: fill}
		return jinja.NewIterator(typ, z.next), nil
	}
}

type zipper struct {
	nexts           []func() (value.Value, bool, error)
	longest, strict bool
	fill            value.Value
}

func (z *zipper) next() (value.Value, bool, error) {
	t := make(value.Tuple, len(z.nexts))
	ended := 0
	for i, next := range z.nexts {
		if next == nil {
			t[i] = z.fill
			ended++
			continue
		}
		v, ok, err := next()
		switch {
		case err != nil:
			return nil, false, err
		case ok:
			t[i] = v
		case z.longest:
			t[i], z.nexts[i] = z.fill, nil
			ended++
		case z.strict && i > 0:
			return nil, false, value.Raise("ValueError", "zip() argument %d is shorter than argument%s", i+1, upTo(i))
		case z.strict:
			return nil, false, z.checkEnds()
		default:
			return nil, false, nil
		}
	}
	return t, ended < len(z.nexts), nil
}

// upTo names the arguments before the one that differs.
func upTo(n int) string {
	if n == 1 {
		return " 1"
	}
	return "s 1-" + value.Str(int64(n))
}

// checkEnds is an error where another argument goes on after the first ended.
func (z *zipper) checkEnds() error {
	for i, next := range z.nexts[1:] {
		_, ok, err := next()
		if err != nil {
			return err
		}
		if ok {
			return value.Raise("ValueError", "zip() argument %d is longer than argument%s", i+2, upTo(i+1))
		}
	}
	return nil
}
