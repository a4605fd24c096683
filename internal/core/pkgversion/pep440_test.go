package pkgversion

import "testing"

// The order of the versions is that of PEP 440.
func TestPEP440Order(t *testing.T) {
	t.Parallel()
	chain := []string{
		"nonsense", "1.0.dev456", "1.0a1", "1.0a2.dev456", "1.0a12.dev456", "1.0a12", "1.0b1.dev456", "1.0b2", "1.0b2.post345.dev456", "1.0b2.post345",
		"1.0rc1.dev456", "1.0rc1", "1.0", "1.0+abc.5", "1.0+abc.7", "1.0+5", "1.0.post456.dev34", "1.0.post456", "1.0.15", "1.1.dev1", "1.10", "1!0.1",
	}
	for i, a := range chain {
		for j, b := range chain {
			if got, want := PEP440(a, b), order(i, j); got != want {
				t.Errorf("PEP440(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
	for _, same := range [][2]string{{"1.0", "1"}, {"v1.0-1", "1.post1"}, {"1.0-ALPHA.1", "1.0a1"}, {"1.0c1", "1.0rc1"}, {"1.0.post", "1.0.post0"}, {"0!1", "1"}, {"1.0+a-b", "1.0+a.b"}, {"1.0_r2", "1.0.post2"}} {
		if PEP440(same[0], same[1]) != 0 {
			t.Errorf("%q and %q differ", same[0], same[1])
		}
	}
}

func TestMatchPEP440(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		version, oper, want string
		is                  bool
	}{
		{"1.0", "==", "1.0.0", true},
		{"1.0+cpu", "==", "1.0", true},
		{"1.0+cpu", "==", "1.0+gpu", false},
		{"1.4.2", "==", "1.4.*", true},
		{"1.5", "==", "1.4.*", false},
		{"1.5", "!=", "1.4.*", true},
		{"1.0", "!=", "1", false},
		{"2.2.post3", "~=", "2.2", true},
		{"3.0", "~=", "2.2", false},
		{"2.3", "~=", "2.2.0", false},
		{"2.3", "~=", "2", false},
		{"1.10", ">=", "1.9", true},
		{"1.10", "<", "1.9", false},
		{"1.0", "===", "1.0", true},
		{"1.0", "===", "1.0.0", false},
		{"x", ">=", "0", false},
		{"1", "=>", "1", false},
	} {
		if got := MatchPEP440(tt.version, tt.oper, tt.want); got != tt.is {
			t.Errorf("%s %s %s = %v", tt.version, tt.oper, tt.want, got)
		}
	}
}

func FuzzPEP440(f *testing.F) {
	f.Add("1.0a1", "1!2.post3+x")
	f.Fuzz(func(t *testing.T, a, b string) {
		if PEP440(a, b) != -PEP440(b, a) || PEP440(a, a) != 0 {
			t.Errorf("the order of %q and %q", a, b)
		}
		_ = MatchPEP440(a, "~=", b)
	})
}
