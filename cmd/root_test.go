package cmd

import "testing"

func TestAsksJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want bool
	}{
		{[]string{"call", "--out=json", "test.ping"}, true},
		{[]string{"call", "--out", "json", "test.ping"}, true},
		{[]string{"call", "test.ping", "--output=json"}, true},
		{[]string{"call", "test.echo", "--", "--out=json"}, false},
		{[]string{"call", "--out"}, false},
		{[]string{"call", "--out=json", "--out=yaml", "test.ping"}, false},
		{[]string{"call", "--out=yaml", "--out", "json", "test.ping"}, true},
		{[]string{"call", "test.ping"}, false},
	} {
		if got := asksJSON(tt.args); got != tt.want {
			t.Errorf("asksJSON(%q) = %v", tt.args, got)
		}
	}
}
