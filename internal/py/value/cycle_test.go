package value_test

import (
	"strings"
	"testing"

	"brine/internal/py/value"
)

// ring is a dict that contains itself twice, so that a walk which does not look
// for that would not end.
func ring() *value.Map {
	m := value.MapOf("n", int64(1))
	m.Set("a", m)
	m.Set("b", value.NewList(m, value.Tuple{m}))
	return m
}

// nest is a list that lies in itself n deep.
func nest(n int) value.Value {
	var v value.Value = value.NewList()
	for range n {
		v = value.NewList(v)
	}
	return v
}

// TestCycles copies, merges and prints what contains itself.
func TestCycles(t *testing.T) {
	t.Parallel()
	m := ring()
	c := value.Clone(m).(*value.Map)
	for i, at := 0, c; i < 300; i++ {
		if at == m || at.At("n") != int64(1) {
			t.Fatalf("level %d is not a copy: %v", i, at.At("n"))
		}
		at = at.At("b").(*value.List).Items[1].(value.Tuple)[0].(*value.Map)
	}
	c.Set("n", int64(2))
	if m.At("n") != int64(1) {
		t.Error("the copy shares entries")
	}
	a, b := ring(), ring()
	b.Set("z", int64(3))
	value.Update(a, b, true, true)
	if a.At("z") != int64(3) {
		t.Error("update lost an entry")
	}
	value.Update(a, a, true, false)
	if got := value.Merge(m, value.MapOf("x", int64(1)), value.Recurse, "", false); got.At("x") != int64(1) || m.Has("x") {
		t.Error("merge did not copy")
	}
	if got := value.MergeAggregate(m, ring()); got.(*value.Map).Len() != 3 {
		t.Error("aggregate lost an entry")
	}
	if s := value.Repr(m); s != "{'n': 1, 'a': {...}, 'b': [{...}, ({...},)]}" {
		t.Error(s)
	}
	d := value.MapOf("a", int64(1))
	d.Set("v", &value.View{Of: d, Kind: value.Values})
	if s := value.Repr(d); s != "{'a': 1, 'v': dict_values([1, ...])}" {
		t.Error(s)
	}
	deep := nest(100000)
	if s := value.Repr(deep); len(s) != 200002 || strings.Trim(s, "[]") != "" {
		t.Errorf("%d bytes", len(s))
	}
	if s := value.Repr(value.Clone(deep)); len(s) != 200002 {
		t.Errorf("%d bytes", len(s))
	}
}

// TestTooDeep walks data that is deeper than a walk may go: each ends.
func TestTooDeep(t *testing.T) {
	t.Parallel()
	var tuple value.Value = value.Tuple{}
	list := value.NewList()
	for range 200_000 {
		tuple, list = value.Tuple{tuple}, value.NewList(list)
	}
	for _, v := range []value.Value{tuple, list} {
		if s := value.Repr(v); !strings.Contains(s, "...") {
			t.Errorf("%d bytes", len(s))
		}
		if _, err := value.AppendJSON(nil, v, value.JSONOptions{}); err == nil {
			t.Error("no error")
		}
		value.EncodeJSON(v)
		if err := value.CheckHash(v); err == nil {
			t.Error("no error")
		}
		if value.Hashable(v) {
			t.Error("is hashable")
		}
	}
}
