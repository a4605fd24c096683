package aptpkg

import (
	"testing"

	"brine/internal/py/value"
)

// The answers are those of apt 2.6.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, got, want string }{
		{"policy", value.Repr(pairs(policies("a:\n  Installed: 1\n  Candidate: 2\n  Version table:\n *** 1 100\nb:\n  Candidate: (none)\n"))), "['a=2', 'b=']"},
		{"policy of nothing", value.Repr(pairs(policies("Candidate: 1\n\n:\n"))), "[]"},
		{"removals", value.Repr(value.Strings(removable("x\nThe following packages will be REMOVED:\n  b a\n  c*\n0 upgraded\n  z\n")...)), "['a', 'b', 'c*']"},
		{"simulation", value.Repr(simulated("Remv b [1.0] [a:amd64 ]\nRemv a [2.0]\nPurg c [1]\nInst d\nRemv\n")), "{'b': {'new': '', 'old': '1.0'}, 'a': {'new': '', 'old': '2.0'}, 'c': {'new': '', 'old': '1'}}"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, tt.got, tt.want)
		}
	}
}

func pairs(list [][2]string) *value.List {
	l := value.NewList()
	for _, p := range list {
		l.Append(p[0] + "=" + p[1])
	}
	return l
}

// FuzzParse looks for answers of apt that cannot be read.
func FuzzParse(f *testing.F) {
	f.Add("a:\n  Candidate: 2\nThe following packages will be REMOVED:\n  b\nRemv b [1.0]\n")
	f.Add(" :\nCandidate: \nRemv [] []\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range policies(text) {
			if p[0] == "" || p[1] == "(none)" {
				t.Errorf("policy %q", p)
			}
		}
		for _, n := range removable(text) {
			if n == "" {
				t.Error("a package without name")
			}
		}
		simulated(text)
	})
}
