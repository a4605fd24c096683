package lint_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/internal/view/lint"
)

// TestServed: a fault that only some of the built-in systems have is a warning, unless the
// tree leaves these systems out; then the last line counts it. One on a system that the user
// named is an error.
func TestServed(t *testing.T) {
	t.Parallel()
	const byMap = "{% set m = salt['grains.filter_by']({'Debian': {'n': 'x'}, 'RedHat': {'n': 'y'}}) %}\na:\n  test.nop:\n    - name: {{ m.n }}\n"
	for name, tt := range map[string]struct {
		files  map[string]string
		chosen []string
		want   string // rule, severity and systems
	}{
		"a map leaves systems out":       {map[string]string{"salt/web/init.sls": byMap}, nil, "undefined-variable info [alpine arch suse]"},
		"chosen":                         {map[string]string{"salt/web/init.sls": byMap}, []string{"debian", "suse"}, "undefined-variable error [suse]"},
		"other formulas serve more":      {map[string]string{"salt/web/init.sls": byMap, "salt/db/osmap.yaml": "Suse: {}\n"}, nil, "undefined-variable info [alpine arch suse]"},
		"the formula serves more":        {map[string]string{"salt/web/init.sls": byMap, "salt/web/osmap.yaml": "Suse: {}\n"}, nil, "undefined-variable warning [alpine arch suse]"},
		"a path of the formula":          {map[string]string{"salt/web/init.sls": byMap, "salt/web/files/arch/a.yaml": ""}, nil, "undefined-variable warning [alpine arch suse]"},
		"a word that is no system":       {map[string]string{"salt/web/init.sls": byMap, "salt/web/a.yaml": "deb: 'deb [arch=amd64] x'\n"}, nil, "undefined-variable info [alpine arch suse]"},
		"a relative":                     {map[string]string{"salt/a.sls": "{% if grains.os_family != 'RedHat' %}{% set p = 1 %}{% endif %}\n# CentOS\na:\n  test.nop:\n    - name: {{ p }}\n"}, nil, "undefined-variable warning [rhel]"},
		"no name at all":                 {map[string]string{"salt/a.sls": "{% if grains.init == 'systemd' %}{% set p = 1 %}{% endif %}\na:\n  test.nop:\n    - name: {{ p }}\n"}, nil, "undefined-variable warning [alpine]"},
		"for one system":                 {map[string]string{"salt/a.sls": "{% if grains.os == 'Ubuntu' %}\ninclude:\n  - nope\n{% endif %}\n"}, nil, "missing-include warning [ubuntu]"},
		"for all others":                 {map[string]string{"salt/a.sls": "{% if grains.os_family == 'Debian' %}\na:\n  test.nop: []\n{% else %}\ninclude:\n  - nope\n{% endif %}\n"}, nil, "missing-include warning [alpine arch rhel suse]"},
		"denied":                         {map[string]string{"salt/a.sls": "{% if grains.os != 'Ubuntu' %}\ninclude:\n  - nope\n{% endif %}\n"}, nil, "missing-include warning [alpine arch debian rhel suse]"},
		"after a block":                  {map[string]string{"salt/a.sls": "{% if grains.os_family == 'Debian' %}{% set p = 1 %}{% else %}{% set q = 2 %}{% endif %}\na:\n  test.nop:\n    - name: {{ p }}\n"}, nil, "undefined-variable info [alpine arch rhel suse]"},
		"a state of one system":          {map[string]string{"salt/a.sls": "{% if grains.os_family == 'Debian' %}\nb:\n  test.nop: []\n{% endif %}\na:\n  test.nop:\n    - require:\n      - test: b\n", "salt/b.sls": "# for Suse\n"}, nil, "missing-requisite warning [alpine arch rhel suse]"},
		"another message on each system": {map[string]string{"salt/a.sls": "# Debian\ninclude:\n  - web.{{ grains.os_family | lower }}\n"}, nil, "missing-include warning [alpine]"},
		"a condition names the system":   {map[string]string{"salt/a.sls": "# Debian\n{% if grains.os_family == 'Arch' and not_there %}{% endif %}\na:\n  test.nop: []\n"}, nil, "undefined-variable warning [arch]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, o := write(t, tt.files)
			for _, s := range lint.Systems() {
				if slices.Contains(tt.chosen, s.Name) {
					o.Systems, o.Chosen = append(o.Systems, s), true
				}
			}
			r, err := lint.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i, f := range r.Findings {
				if got = fmt.Sprint(f.Rule, " ", f.Severity, " ", f.Systems); i == 0 {
					break
				}
			}
			if got != tt.want {
				t.Errorf("found %q, want %q: %v", got, tt.want, r.Findings)
			}
			var b bytes.Buffer
			if err := r.Write(&b, lint.Output{Format: "text", Name: func(p string) string { return p }, Least: lint.Warning}); err != nil {
				t.Fatal(err)
			}
			if counted := strings.Contains(b.String(), "faults on "); counted != strings.Contains(tt.want, " info ") {
				t.Errorf("the summary:\n%s", b.String())
			}
			if shown := strings.Contains(b.String(), "(on "); shown != (tt.want != "" && !strings.Contains(tt.want, " info ")) {
				t.Errorf("what is shown:\n%s", b.String())
			}
		})
	}
}
