package target

import (
	"strings"
	"testing"

	"brine/internal/py/value"
)

func TestWords(t *testing.T) {
	t.Parallel()
	groups := value.MapOf("front", "web* and not web9", "all", "N@front or G@role:db", "ids", value.Strings("a1", "a2"))
	for _, tt := range []struct {
		expr value.Value
		typ  string
		want string
	}{
		{"G@os:Debian and web*", "compound", "G@os:Debian and web*"},
		{"N@front or db1", "compound", "web* and not web9 or db1"},
		{"not N@all", "compound", "not ( ( web* and not web9 ) or G@role:db )"},
		{"front", "nodegroup", "web* and not web9"},
		{"ids", "nodegroup", "L@a1,a2"},
		{value.Strings("a*", "or", "E@b.*"), "compound", "a* or E@b.*"},
	} {
		got, err := Words(tt.expr, tt.typ, groups)
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("Words(%v) = %s, %v; want %s", tt.expr, strings.Join(got, " "), err, tt.want)
		}
	}
	for _, bad := range []string{"and x", "N@none"} {
		if _, err := Words(bad, "compound", groups); err == nil {
			t.Errorf("Words(%q) succeeds", bad)
		}
	}
	for word, want := range map[string]string{"web*": "glob web*", "E@a": "pcre a", "L@a,b": "list a,b", "G@x:y": " ", "and": " ", "(": " "} {
		typ, pattern, _ := IDWord(word)
		if typ+" "+pattern != want {
			t.Errorf("IDWord(%q) = %s %s, want %s", word, typ, pattern, want)
		}
	}
}
