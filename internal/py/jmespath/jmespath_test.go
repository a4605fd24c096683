package jmespath

import (
	"errors"
	"testing"

	gojmespath "github.com/jmespath/go-jmespath"

	"brine/internal/py/value"
)

const document = `{"people": [{"name": "ann", "age": 30, "tags": ["x", "y"], "pet": {"kind": "cat"}},
	{"name": "bob", "age": 25, "tags": [], "pet": null}, {"name": "cy", "age": 41.5, "tags": ["z"]}],
	"deep": [[1, 2], [3, [4, 5]], 6], "text": "hello", "empty": "", "zero": 0, "no": false, "nil": null,
	"one": {"k": {"v": 1}}, "quo ted": {"a.b": 2}, "nums": [3, 1, 2]}`

func parse(t *testing.T) value.Value {
	t.Helper()
	v, err := value.ParseJSON(document)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestAsLibrary compares with the library of jmespath.org for Go where that
// keeps what it should: results without order of keys.
func TestAsLibrary(t *testing.T) {
	t.Parallel()
	data := parse(t)
	for _, expr := range []string{
		"text", "people[0]", "people[-1].name", "people[5]", "people[*].name", "people[].tags", "people[].tags[]", "people[*].tags[0]",
		"deep[]", "deep[][]", "deep[][][]", "deep[*][0]", "deep[1][1][0]", "people[1:]", "people[::2].name", "people[::-1].name", "nums[:-1]",
		"people[?age > `28`].name", "people[?age<`28`||name=='cy'].name", "people[?pet].name", "people[?!pet].name", "people[?pet.kind=='cat'] | [0].age",
		"people[?contains(tags, 'x')]", "one.*.v", "one.*", `"quo ted"."a.b"`, "people[*].[name, age]", "people[0].{n: name, t: tags[0]}",
		"people[?tags == `[]`].name", "length(people)", "length(text)", "sort(nums)", "reverse(nums)", "max(nums)", "min(nums)", "sum(nums)", "avg(nums)",
		"sort_by(people, &age)[*].name", "max_by(people, &age).name", "min_by(people, &age).name", "map(&name, people)", "join('-', people[*].name)",
		"to_string(nums)", "to_number('3.5')", "to_number('x')", "to_array(text)", "type(@)", "type(nil)", "not_null(nil, empty)", "starts_with(text, 'he')",
		"ends_with(text, 'x')", "abs(`-2.5`)", "ceil(`1.2`)", "floor(`1.8`)", "keys(one)", "values(one)", "merge(one, {z: text})", "empty || text", "text && zero", "no || nil",
		"!text", "!nil", "zero == `0`", "no == `0`", "text < 'z'", "`\"lit\"`", "'raw\\'s'", "@", "people | length(@)", "nope.x[0].y", "nil.x", "text.x", "text[0]", "nums.*",
		"people[*].pet.kind", "people[?age >= `25` && age <= `30`].name", "(people[0] || people[1]).name", "[text, nums[0]]", "{a: text}", "people[].name | [1]",
		"length(@, @)", "nope(@)", "length(`5`)", "sort_by(people, &pet)", "sum(people)", "people[", "people[?", "a b", "", "foo.", "[0", "{a}", "f(", "'x", "\"a", "#", "a[b]", "a.1", "people[::0]", "&", "a ||", "[1 2]",
	} {
		var got, want value.Value
		q, err := Compile(expr)
		if err == nil {
			got, err = q.Search(data)
		}
		w, wantErr := gojmespath.Search(expr, toGo(data)) // its sort_by sorts the data itself
		if wantErr == nil {
			want = value.From(w)
		}
		if expr == "text < 'z'" {
			want = true // jmespath.py compares text, as Salt's users rely on
		}
		switch {
		case (err == nil) != (wantErr == nil):
			t.Errorf("%s: error %v, want %v", expr, err, wantErr)
		case err == nil && !value.Equal(got, want):
			t.Errorf("%s = %s, want %s", expr, value.Repr(got), value.Repr(want))
		}
		if p := new(value.PyError); err != nil && !errors.As(err, &p) {
			t.Errorf("%s: no Python error: %v", expr, err)
		}
	}
}

func toGo(v value.Value) any {
	switch x := v.(type) {
	case *value.List:
		out := make([]any, len(x.Items))
		for i, e := range x.Items {
			out[i] = toGo(e)
		}
		return out
	case *value.Map:
		m := map[string]any{}
		for k, e := range x.All() {
			m[k.(string)] = toGo(e)
		}
		return m
	case int64:
		return float64(x)
	}
	return v
}

// TestOrder checks what the library does not keep: the order of keys, and ints.
func TestOrder(t *testing.T) {
	t.Parallel()
	data := value.MapOf("z", int64(1), "a", int64(2), "m", 2.0, "b", value.NewList(int64(3)))
	for expr, want := range map[string]string{
		"*": "[1, 2, 2.0, [3]]", "keys(@)": "['z', 'a', 'm', 'b']", "values(@)": "[1, 2, 2.0, [3]]", "{y: z, x: a}": "{'y': 1, 'x': 2}",
		"merge(@, {a: `9`})": "{'z': 1, 'a': 9, 'm': 2.0, 'b': [3]}", "sum([z, a])": "3", "avg([z, a])": "1.5", "b[0]": "3", "length(@)": "4",
	} {
		q, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		got, err := q.Search(data)
		if err != nil || value.Repr(got) != want {
			t.Errorf("%s = %s, %v, want %s", expr, value.Repr(got), err, want)
		}
	}
}

func FuzzSearch(f *testing.F) {
	for _, s := range []string{"a.b[0].*[?x=='y'] | sort_by(@, &z)[::-1]", "{a: b, c: [d, `1`]}", "!(a || b && c) != 'x'", "a[].b[*]", "map(&length(@), x)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		q, err := Compile(expr)
		if err == nil {
			_, err = q.Search(parse(t))
		}
		if p := new(value.PyError); err != nil && !errors.As(err, &p) {
			t.Fatalf("%q: no Python error: %v", expr, err)
		}
	})
}
