package jobs

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// TestSeveralFunctions: a job that is several functions succeeded where each did.
func TestSeveralFunctions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		each value.Value
		row  string
		want bool
	}{
		{nil, "'retcode': 0, 'success': True", true},
		{value.MapOf("a.b", int64(0), "c.d", int64(0)), "'retcode': {'a.b': 0, 'c.d': 0}, 'success': {'a.b': True, 'c.d': True}", true},
		{value.MapOf("a.b", int64(0), "c.d", int64(2)), "'retcode': {'a.b': 0, 'c.d': 2}, 'success': {'a.b': True, 'c.d': False}", false},
		{value.MapOf("a.b", nil), "'retcode': {}, 'success': {'a.b': False}", false},
		{value.NewList(nil, int64(0)), "'retcode': [None, 0], 'success': [False, True]", false},
		{value.NewList(int64(0), int64(0)), "'retcode': [0, 0], 'success': [True, True]", true},
	} {
		row, err := FullReturn(Load{JID: "20260102030405000000", Fun: "a.b,c.d"}, fun.Return{ID: "web1", Each: tt.each, Body: fun.ValueBody{V: true}}, "now")
		if err != nil {
			t.Fatal(err)
		}
		if got := value.Repr(value.MapOf("retcode", row.At("retcode"), "success", row.At("success"))); got != "{"+tt.row+"}" || Succeeded(row) != tt.want {
			t.Errorf("%s: %v, want %s: %v", got, Succeeded(row), tt.row, tt.want)
		}
	}
}

// TestEachOfIsChecked: what another process sends in the place of return codes is
// not taken.
func TestEachOfIsChecked(t *testing.T) {
	t.Parallel()
	for _, v := range []value.Value{nil, "x", int64(1), value.MapOf("a", "x"), value.MapOf(int64(1), int64(1)), value.NewList(int64(0), value.NewMap(0)), value.NewList(true)} {
		if got := fun.EachOf(v); got != nil {
			t.Errorf("%s is taken", value.Repr(v))
		}
	}
}
