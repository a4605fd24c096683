package supervisord

import "testing"

func FuzzParse(f *testing.F) {
	for _, s := range []string{"web RUNNING pid 1", "  x  Y", "[a]\nb=%(b)s\n c\n[", "[DEFAULT]\n=\n:\n%(", "\x00 \x85 \u00a0x"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		_ = parse(s)
		for _, sec := range parseConfig(s) {
			for _, k := range sec.keys {
				_ = expand(sec.vals[k], func(n string) (string, bool) { v, ok := sec.vals[n]; return v, ok }, 0)
			}
		}
	})
}
