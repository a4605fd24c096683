package lint_test

import (
	"fmt"
	"testing"

	"brine/internal/view/lint"
)

// TestTopGrains: SLS files are judged with those that the top file gives to all machines of a
// system by grains, and not on systems that it gives them to none of.
func TestTopGrains(t *testing.T) {
	t.Parallel()
	const app = "app:\n  test.nop:\n    - require:\n      - test: base\n"
	top := func(one, two string) string {
		return "base:\n  " + one + ":\n    - match: compound\n    - app\n  " + two + ":\n    - match: compound\n    - base\n"
	}
	for name, tt := range map[string]struct{ top, base, want string }{
		"of one system":        {top("'web*'", "'G@os:Debian'"), "base", "missing-requisite warning [alpine arch rhel suse ubuntu]"},
		"an ID as well":        {top("'G@os:Debian and web*'", "'G@os:Debian'"), "base", "missing-requisite warning [alpine arch rhel suse ubuntu]"},
		"by grains alone":      {top("'G@os:Debian'", "'G@os_family:Debian'"), "base", ""},
		"on others":            {top("'G@os_family:Debian'", "'G@os:Debian'"), "base", "missing-requisite warning [ubuntu]"},
		"of no system":         {top("'G@os:Windows'", "'G@os:Debian'"), "base", "missing-requisite warning [alpine arch rhel suse ubuntu]"},
		"unknown grains":       {top("'web*'", "'G@role:web'"), "base", "missing-requisite error []"},
		"conflict of two":      {top("'web*'", "'G@os:Debian'"), "app", "duplicate-id error [debian]"},
		"no conflict of other": {top("'G@os:Alpine'", "'G@os:Debian'"), "app", "missing-requisite warning [alpine]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, o := write(t, map[string]string{"salt/top.sls": tt.top, "salt/app.sls": app, "salt/base.sls": tt.base + ":\n  test.nop: []\n"})
			r, err := lint.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			got, all := "", ""
			for _, f := range r.Findings {
				s := fmt.Sprint(f.Rule, " ", f.Severity, " ", f.Systems)
				if all += s + "; "; s == tt.want {
					got = s
				}
			}
			if got != tt.want || tt.want == "" && all != "" {
				t.Errorf("found %q, want %q", all, tt.want)
			}
		})
	}
}
