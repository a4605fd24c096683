package value

import "testing"

// Expected values are what Python 3.11's pprint.pformat returns.
func TestPformat(t *testing.T) {
	long := "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
	for _, tt := range []struct {
		name string
		v    Value
		want string
	}{
		{"short dict is sorted", MapOf("b", int64(1), "a", "x"), "{'a': 'x', 'b': 1}"},
		{"list of strings", Strings("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccccc"),
			"['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',\n 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',\n 'cccccccccccccccccccccc']"},
		{"text alone", long, "('one two three four five six seven eight nine ten eleven twelve thirteen '\n 'fourteen fifteen')"},
		{"text in a dict", MapOf("k", long), "{'k': 'one two three four five six seven eight nine ten eleven twelve thirteen '\n      'fourteen fifteen'}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Pformat(tt.v, 80); got != tt.want {
				t.Errorf("Pformat = %s\nwant %s", got, tt.want)
			}
		})
	}
}
