//go:build !slim

package assembly

import (
	"testing"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// A lock is for the machines that a step names, if they are chosen by their ids alone.
func TestTargetsByID(t *testing.T) {
	t.Parallel()
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "master"}, []byte("nodegroups:\n"+
		"  ids: 'L@web1,web2 or E@db[0-9]+'\n  words: [web1, or, 'N@ids']\n  grains: 'G@os:Debian and web*'\n  mixed: 'web1 or N@grains'\n  self: 'N@self'\n"))
	if err != nil {
		t.Fatal(err)
	}
	opts := v.(*value.Map)
	for _, tt := range []struct {
		kind string
		tgt  value.Value
		want bool
	}{
		{"", "web*", true},
		{"list", value.Strings("web1"), true},
		{"grain", "os:Debian", false},
		{"ipcidr", "10.0.0.0/8", false},
		{"compound", "web* and not ( L@web1,web2 or E@db.* )", true},
		{"compound", value.Strings("web*", "or", "db1"), true},
		{"compound", "web* and G@os:Debian", false},
		{"compound", "web* or (G@os:Debian )", false},
		{"compound", "I@role:web", false},
		{"compound", "J@role:web", false},
		{"compound", "G|@os|Debian", false},
		{"compound", "N@ids or web1", true},
		{"compound", "N@none", false},
		{"nodegroup", "ids", true},
		{"nodegroup", "words", true},
		{"nodegroup", "grains", false},
		{"nodegroup", "mixed", false},
		{"nodegroup", "self", false},
		{"nodegroup", "none", false},
	} {
		if got := byID(opts, tt.kind, tt.tgt, 0); got != tt.want {
			t.Errorf("byID(%s, %s) = %v, want %v", tt.kind, value.Str(tt.tgt), got, tt.want)
		}
	}
	if byID(value.NewMap(0), "nodegroup", "ids", 0) {
		t.Error("a nodegroup that nobody defined is known")
	}
}
