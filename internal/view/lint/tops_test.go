package lint_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/target"
	"brine/internal/py/value"
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
		"an ID as well":        {top("'G@os:Debian and web*'", "'G@os:Debian'"), "base", ""},
		"an ID or grains":      {top("'G@os:Debian or web*'", "'G@os:Debian'"), "base", "missing-requisite warning [alpine arch rhel suse ubuntu]"},
		"part of a glob":       {top("'web1*'", "'web*'"), "base", ""},
		"a glob within":        {top("'web-*-[ab]'", "'web-*'"), "base", ""},
		"only overlap":         {top("'*1'", "'web*'"), "base", "missing-requisite error []"},
		"a list":               {top("'L@web1,web2'", "'E@web[0-9]'"), "base", ""},
		"a list beyond":        {top("'L@web1,db1'", "'E@web[0-9]'"), "base", "missing-requisite error []"},
		"a regular expression": {top("'E@web\\-.*'", "'web*'"), "base", ""},
		"one of two":           {top("'web1 or web2'", "'web* and not db*'"), "base", ""},
		"denied":               {top("'web* and not web1'", "'not web1'"), "base", ""},
		"not denied":           {top("'web*'", "'not web1'"), "base", "missing-requisite error []"},
		"parentheses":          {top("'web* and ( I@a:b or J@c:d )'", "'J@c:d or ( web* and I@a:b )'"), "base", ""},
		"the same pillar":      {top("'I@role:web and db*'", "'I@role:web'"), "base", ""},
		"another pillar":       {top("'I@role:web'", "'I@role:db'"), "base", "missing-requisite error []"},
		"everyone else":        {top("'I@role:web'", "'* or I@role:db'"), "base", ""},
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

// TestTopParts: an SLS that the top file gives to several targets is judged with what each of them
// has for sure; a fault of one is shown, unless another target may bring what is missing.
func TestTopParts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ top, want string }{
		"of one of two": {"base: {'web*': [app, base], 'db*': [app]}", `require of app names no state: test: base, in what the top file has for "db*"`},
		"may be both":   {"base: {'web*': [app, base], '*1': [app]}", ""},
		"of both":       {"base: {'web*': [app, base], 'db*': [app, base]}", ""},
		"within":        {"base: {'web*': [app, base], 'web1': [app]}", ""},
		"group":         {"base: {'web*': [app, base], edge: [{match: nodegroup}, app]}", ""},
		"group apart":   {"base: {'web*': [app, base], edges: [{match: nodegroup}, app]}", `require of app names no state: test: base, in what the top file has for "edges"`},
		"environments":  {"base: {'*': [base]}\ndev: {'web*': [there]}", ""},
		"other IDs":     {"base: {'db*': [base]}\ndev: {'web*': [there]}", "require of there names no state: test: base"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const app = "%s:\n  test.nop:\n    - require:\n      - test: base\n"
			files := map[string]string{"salt/top.sls": tt.top + "\n", "salt/base.sls": "base:\n  test.nop: []\n"}
			dev := strings.Contains(tt.top, "dev:")
			if dev {
				files["dev/there.sls"] = fmt.Sprintf(app, "there")
			} else {
				files["salt/app.sls"] = fmt.Sprintf(app, "app")
			}
			dir, o := write(t, files)
			if roots, _ := o.Opts.At("file_roots").(*value.Map); dev {
				roots.Set("dev", value.NewList(dir+"/dev"))
			}
			o.Opts.Set("nodegroups", value.MapOf("edge", "web1 or G@os:none", "edges", "edge1,edge2 or L@db1,db2"))
			r, err := lint.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range r.Findings {
				got += f.Message
			}
			if got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// TestTopsByForce: what lint calls a missing requisite is missing on some machine of some system;
// what is missing on all machines of a target is found. The tops are random ones.
func TestTopsByForce(t *testing.T) {
	t.Parallel()
	words := []string{"*", "web*", "web1", "*1", "db*", "w?b*", "[wd]*", "G@os:Debian", "G@os_family:RedHat", "L@web1,db1", "E@web.*", "E@(db|x).*", "I@role:web", "N@edge", "not web*", "not G@os:Debian"}
	groups := value.MapOf("edge", "web1 or db*")
	ids := []string{"web1", "web2", "web", "web11", "db1", "db2", "x", "x1", "web-x", "wub1", "wub2", "d", "w", "1", "xx-1"}
	systems := slices.DeleteFunc(lint.Systems(), func(s lint.System) bool { return s.Name != "debian" && s.Name != "rhel" })
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 29))
		targets := map[string][]string{}
		var order []string
		for range 2 + rnd.IntN(3) {
			w := words[rnd.IntN(len(words))]
			for rnd.IntN(3) == 0 {
				w += []string{" and ", " or "}[rnd.IntN(2)] + words[rnd.IntN(len(words))]
			}
			if targets[w] == nil {
				order = append(order, w)
			}
			targets[w] = []string{"base", "app"}[rnd.IntN(2):]
			if rnd.IntN(3) == 0 {
				targets[w] = []string{"base"}
			}
		}
		top := "base:\n"
		for _, w := range order {
			top += "  '" + w + "': [{match: compound}, " + strings.Join(targets[w], ", ") + "]\n"
		}
		_, o := write(t, map[string]string{"salt/top.sls": top, "salt/base.sls": "base: {test.nop: []}\n", "salt/app.sls": "app: {test.nop: [{require: [{test: base}]}]}\n"})
		o.Systems = systems
		o.Opts.Set("nodegroups", groups)
		r, err := lint.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		found := len(r.Findings) > 0
		// On which machines app runs without base, and whether all of some target do.
		some, all := false, false
		for _, s := range systems {
			lone, met := map[string]bool{}, map[string]bool{}
			for _, id := range ids {
				for _, pillar := range []*value.Map{value.NewMap(0), value.MapOf("role", "web")} {
					var has, hit []string
					for _, w := range order {
						m, err := target.Compile(w, "compound", groups)
						if err != nil {
							t.Fatal(err)
						}
						ok, err := m.Match(target.Minion{ID: id, Grains: func() value.Mapping { return s.Grains }, Pillar: func() value.Mapping { return pillar }})
						if err != nil {
							t.Fatal(err)
						}
						if ok {
							has, hit = append(has, targets[w]...), append(hit, w)
						}
					}
					for _, w := range hit {
						if slices.Contains(targets[w], "app") {
							miss := !slices.Contains(has, "base")
							lone[w], met[w], some = lone[w] || miss, met[w] || !miss, some || miss
						}
					}
				}
			}
			for w := range lone {
				all = all || lone[w] && !met[w]
			}
		}
		given := slices.ContainsFunc(order, func(w string) bool { return slices.Contains(targets[w], "app") })
		if found && !some && given {
			t.Errorf("seed %d: found %v, and nothing is missing\n%s", seed, r.Findings, top)
		}
		if !found && all {
			t.Errorf("seed %d: nothing found, and all machines of a target miss base\n%s", seed, top)
		}
	}
}
