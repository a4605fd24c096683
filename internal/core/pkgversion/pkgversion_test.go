package pkgversion_test

import (
	"strings"
	"testing"

	"brine/internal/core/pkgversion"
)

// The tables are chains: "<" is before everything on its right, "=" is equal.
var chains = []struct {
	name string
	cmp  pkgversion.Compare
	list []string
}{
	// deb-version(7), and the rules that dpkg's own tests look at.
	{"deb", pkgversion.Deb, []string{
		"~~ < ~~a < ~ <  = 0 < a", "0 = 0:0 = 0-0 = 0- < 0.0~~ < 0.0~ < 0.0", "1.0~beta1~svn1245 < 1.0~beta1 < 1.0 = 1.0-0 < 1.0-1 < 1.0a < 1.0+b1 < 1.0.1",
		"1.2.3 < 1.2.3-1 < 1.2.3-1+b1 < 1.2.3-2 < 1.2.3+dfsg-1 < 1.2.10 < 1.10 < 2 < 1:0.1 < 2:0 < 10:0", "1.0-1~deb12u1 < 1.0-1 < 1.0-1ubuntu1",
		"1.0-a < 1.0-a-1", "1.00 = 1.0 < 1.01 = 1.1", "0:1 = 1 = 00:1", "2.0~rc1-1 < 2.0-1", "99999999999999999999 < 100000000000000000000",
		"bar < foo < foo:1", "2.30 < 2.30-a < 2.30-+", "1A < 1a",
	}},
	// The rules that rpm's tests/rpmvercmp.at looks at.
	{"rpm", pkgversion.RPM, []string{
		"1.0 < 2.0 < 2.0.1 < 2.0.1a", "5.5p1 < 5.5p2 < 5.5p10 < 5.6p1 < 6.5p1", "10xyz < 10.1xyz", "xyz10 < xyz10.1", "xyz < xyz.4 < 2 < 8",
		"6.0 < 6.0.rc1", "10a2 < 10b2", "1.0aa < 1.0aab < 1.0b", "10.0001 = 10.1 < 10.0039", "4.999.9 < 5.0",
		"20101121 < 20101122", "2_0 = 2.0 = 2+0", "1.0~rc1~git123 < 1.0~rc1 < 1.0~rc1^git1 < 1.0~rc2 < 1.0 < 1.0^ < 1.0^git1~pre < 1.0^git1 < 1.0^git2 < 1.0.1 < 1.01",
		"1.0^20160101 < 1.0^20160101^git1 < 1.0^20160102", "0:1.0 = 1.0 = :1.0 < 1:0.1", "3.2 = 3.2-1", "3.2-1 < 3.2-2 < 3.3-1", "1.1.ä1 = 1.1.1 = 1.1.ö.1",
	}},
	// The rules that pacman's test/util/vercmptest.sh looks at.
	{"pacman", pkgversion.Pacman, []string{
		"1.5.0 < 1.5.1", "1.5 < 1.5.1", "1.5.0-1 < 1.5.0-2 < 1.5.1-1", "1.5b < 1.5 < 1.5.b < 1.5.1", "1.0a < 1.0alpha < 1.0b < 1.0beta < 1.0p < 1.0pre < 1.0rc < 1.0 < 1.0.a < 1.0.1",
		"1.1 < 1..1", "0:1.0 = 1.0", "1.0-1 < 1:0.1-1 < 2:0-1", "1.5 = 1.5-1", "1.01 = 1.1 < 1.010", "1 < 1.", "2001 < 20111224012301",
	}},
	// The rules that apk-tools' test/version.data looks at.
	{"apk", pkgversion.APK, []string{
		"0.1.0_alpha < 0.1.0_alpha1 < 0.1.0_beta", "1.0_alpha < 1.0_alpha1 < 1.0_beta < 1.0_pre1 < 1.0_rc1 < 1.0 < 1.0-r1 < 1.0-r2 < 1.0_p1 < 1.0_p2 < 1.0a < 1.0b < 1.0.1",
		"1.00 < 1.0 < 1.01", "0.01 < 0.1", "1.2.03 < 1.2.1", "2.0-r9 < 2.0-r10 < 2.0.1", "1 < 1_p < 1_p1 < 1.0",
		"6.5 < 6.5_cvs < 6.5_git20200101 < 6.5_hg < 6.5_p1", "1.2a < 1.2a2 < 1.2b", "1.0_pre20-r3 < 1.0_pre20_p1 < 1.0", "1.0 < 1.0!", "4.0 < 10.0",
	}},
	{"loose", pkgversion.Loose, []string{" < 1 < 1.0 < 1.0-1 < 1.0.1 = 1..0.01 < 1.2 < 1.10 < 1.a < 1.b < 2 < a < b"}},
}

func TestChains(t *testing.T) {
	t.Parallel()
	for _, tt := range chains {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, line := range tt.list {
				groups := strings.Split(line, " < ")
				for i, g := range groups {
					for a := range strings.SplitSeq(g, " = ") {
						for j, h := range groups {
							for b := range strings.SplitSeq(h, " = ") {
								want := 0
								switch {
								case i < j:
									want = -1
								case i > j:
									want = 1
								}
								if got := tt.cmp(a, b); got != want {
									t.Errorf("%q and %q: %d, want %d", a, b, got, want)
								}
							}
						}
					}
				}
			}
		})
	}
}

func TestCheckDeb(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"": "", "1.0": "", "1:2.0-1": "", "foo": "", "1 0": "version string has embedded spaces", ":1": "epoch in version is empty",
		"a:1": "epoch in version is not number", "-1:1": "epoch in version is negative", "99999999999:1": "epoch in version is too big",
		"1:": "nothing after colon in version number", "1-": "revision number is empty", "-1": "version number is empty",
	} {
		got := ""
		if err := pkgversion.CheckDeb(s); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("CheckDeb(%q) = %q, want %q", s, got, want)
		}
	}
}

// The expected values are those of Salt's split_comparison.
func TestSplit(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][2]string{
		"1.0": {"", "1.0"}, ">=1.0": {">=", "1.0"}, ">= 1.0": {">=", "1.0"}, ">=  1": {">=", " 1"}, "<>1": {"<>", "1"}, "=1": {"=", "1"},
		"==1": {"", "==1"}, "<=>1": {"<=>", "1"}, "!=2": {"!=", "2"}, "": {"", ""}, "<": {"", "<"}, "1<2": {"", "1<2"},
	} {
		if oper, version := pkgversion.Split(s); oper != want[0] || version != want[1] {
			t.Errorf("Split(%q) = %q, %q, want %q", s, oper, version, want)
		}
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, oper, b string
		want       bool
	}{
		{"1", "==", "1.0", false},
		{"1.0", "==", "1.00", true},
		{"1", "!=", "2", true},
		{"1", "<", "2", true},
		{"2", "<=", "2", true},
		{"2", ">", "2", false},
		{"2", ">=", "2", true},
		{"2", "<>", "1", false},
		{"2", "", "2", false},
	} {
		if got := pkgversion.Holds(pkgversion.Deb, tt.a, tt.oper, tt.b); got != tt.want {
			t.Errorf("%s %s %s = %v", tt.a, tt.oper, tt.b, got)
		}
	}
	if got := pkgversion.IgnoreEpoch("1:2:3"); got != "2:3" {
		t.Errorf("IgnoreEpoch = %q", got)
	}
}

// FuzzOrder looks for versions that a comparison puts in no order.
func FuzzOrder(f *testing.F) {
	for _, c := range chains {
		for _, line := range c.list {
			v := strings.Fields(strings.NewReplacer("<", " ", " = ", " ").Replace(line))
			for i := range len(v) - 2 {
				f.Add(v[i], v[i+1], v[i+2])
			}
		}
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		for _, k := range chains {
			ab, ba := k.cmp(a, b), k.cmp(b, a)
			if ab != -ba || ab < -1 || ab > 1 {
				t.Errorf("%s: %q and %q: %d and %d", k.name, a, b, ab, ba)
			}
			if k.cmp(a, a) != 0 {
				t.Errorf("%s: %q differs from itself", k.name, a)
			}
			if k.name == "pacman" {
				continue // pacman's rules have circles
			}
			if k.name == "rpm" && (strings.Contains(a, "-") || strings.Contains(b, "-") || strings.Contains(c, "-")) {
				continue
			}
			if bc, ac := k.cmp(b, c), k.cmp(a, c); ab <= 0 && bc <= 0 && (ac > 0 || ac == 0 && (ab != 0 || bc != 0)) {
				t.Errorf("%s: %q, %q, %q: %d, %d, but %d", k.name, a, b, c, ab, bc, ac)
			}
		}
	})
}
