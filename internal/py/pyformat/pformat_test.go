package pyformat

import (
	"strings"
	"testing"

	"brine/internal/py/value"
)

// Expected values are what Python 3.11's pprint.pformat returns.
func TestPformat(t *testing.T) {
	long := "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
	for _, tt := range []struct {
		name string
		v    value.Value
		want string
	}{
		{"short dict is sorted", value.MapOf("b", int64(1), "a", "x"), "{'a': 'x', 'b': 1}"},
		{
			"list of strings", value.Strings("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccccc"),
			"['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',\n 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',\n 'cccccccccccccccccccccc']",
		},
		{"set is sorted", value.NewSet("b", "a", int64(2), int64(1)), "{1, 2, 'a', 'b'}"},
		{"mixed keys", value.MapOf("a", int64(3), int64(2), int64(1), int64(1), int64(2)), "{1: 2, 2: 1, 'a': 3}"},
		{"text alone", long, "('one two three four five six seven eight nine ten eleven twelve thirteen '\n 'fourteen fifteen')"},
		{"no text where there is no room", value.MapOf(strings.Repeat("k", 80), ""), "{'" + strings.Repeat("k", 80) + "': ''}"},
		{"text in a dict", value.MapOf("k", long), "{'k': 'one two three four five six seven eight nine ten eleven twelve thirteen '\n      'fourteen fifteen'}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Pformat(tt.v, 80); got != tt.want {
				t.Errorf("Pformat = %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestPformatRecursion(t *testing.T) {
	l := value.NewList(int64(1))
	l.Append(l)
	m := value.MapOf("k", l)
	m.Set("m", m)
	want := "{'k': [1, <Recursion on list with id=139637976727552>],\n 'm': <Recursion on dict with id=139637976727552>}"
	if got := Pformat(m, 80); got != want {
		t.Errorf("Pformat = %s\nwant %s", got, want)
	}
}
