package star

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"brine/internal/core/python/wire"
	"brine/internal/py/value"
)

// FuzzConvert takes values into Starlark and out again: they are the same.
func FuzzConvert(f *testing.F) {
	for _, s := range []string{
		`null`, `true`, `-5`, `123456789012345678901234567890`, `1.5`, `1e400`, `"é\u0000"`, `[1,[2,{"a":{}}]]`,
		`{"!b":"AP8="}`, `{"!t":[1,"a"]}`, `{"!s":[1,"a",{"!t":[]}]}`, `{"!d":[[1,2],[{"!t":[1]},[]]]}`, `{"!m":"2024-02-29T01:02:03.000004"}`,
		`{"!s":[[1]]}`, `{"!d":[[{"!s":[]},1]]}`, `"\ud800"`, `NaN`, `-Infinity`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := value.ParseJSON(s)
		if err != nil {
			return
		}
		if v, err = wire.Unpack(v); err != nil {
			return
		}
		x, err := toStarlark(v)
		if err != nil {
			return
		}
		got, err := fromStarlark(x)
		if err != nil {
			t.Fatalf("%s goes in, but does not come out: %v", value.Repr(v), err)
		}
		again, err := toStarlark(got)
		if err != nil {
			t.Fatalf("%s does not go in again: %v", value.Repr(got), err)
		}
		if again.String() != x.String() {
			t.Errorf("%s became %s", x, again)
		}
		if _, err := wire.Frame(value.MapOf("value", got)); err != nil && !strings.Contains(err.Error(), "nested") {
			t.Errorf("%s cannot be sent: %v", value.Repr(got), err)
		}
	})
}

// TestConvertBounds: what is too large or endless is an error, and takes no time.
func TestConvertBounds(t *testing.T) {
	t.Parallel()
	loop := starlark.NewList(nil)
	if err := loop.Append(loop); err != nil {
		t.Fatal(err)
	}
	var tree starlark.Value = starlark.String("x")
	for range 40 {
		tree = starlark.Tuple{tree, tree}
	}
	set := starlark.NewSet(1)
	if err := set.Insert(starlarkstruct.FromStringDict(starlarkstruct.Default, starlark.StringDict{"a": starlark.None})); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		v    starlark.Value
		want string
	}{
		{set, "unhashable type: dict, item 0 of a set"},
		{starlark.MakeInt(1).Lsh(1 << 20), "the integer is too large: more than 4300 digits"},
		{loop, "holds itself"},
		{tree, "more than 1048576 items"},
		{starlark.Universe["len"], "a value of the type builtin_function_or_method cannot leave Starlark"},
	} {
		if _, err := fromStarlark(tt.v); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("the error is %v, want %q", err, tt.want)
		}
	}
}

// TestClean checks docstrings against what inspect.cleandoc of Python returns.
func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "one": "one", "  one\n\n    two\n      three\n  ": "one\n\ntwo\n  three",
		"\n    one\n    two\n": "one\ntwo", "one\n\ttwo": "one\ntwo",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}
