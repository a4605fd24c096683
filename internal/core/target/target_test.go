package target_test

import (
	"os"
	"strings"
	"testing"

	"brine/internal/core/target"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

func yaml(t testing.TB, s string) *value.Map {
	t.Helper()
	v, err := yamlsalt.LoadString(s)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := v.(*value.Map)
	return m
}

const grains = `
id: web1
role: web
dc: north
os: Debian
num: 7
flag: true
none: null
tags: [blue, canary, 5]
rack: {row: 7, name: R2, deep: {er: x}}
"a:b": colon
a: {b: nested}
mixed: [{k: v}, plain]
empty: {}
ports: {80: http}
url: "http://x/y"
ipv4: [127.0.0.1, 10.1.2.3, junk]
ipv6: ["::1", "fe80::5", "2001:db8::1"]
`

const pillar = `
tier: front1
a: {b: c1}
users: {bob: {shell: bash, groups: [wheel, adm]}, amy: {shell: zsh}}
`

const groups = `
webs: G@role:web
pair: L@web1,db1
bare: web1,db1
names: [web1, db1]
regex: ['web[12]']
globs: ['web*', or, 'db*']
either: web* or db*
nested: N@webs and not N@dbs
dbs: G@role:db
deep: [N@nested, or, N@pair]
loop: N@loop2 or web*
loop2: N@loop
typo: N@wbes
number: 5
`

func minion(t testing.TB) target.Minion {
	g, p := yaml(t, grains), yaml(t, pillar)
	return target.Minion{
		ID: "web1", Grains: func() value.Mapping { return g }, Pillar: func() value.Mapping { return p },
		Data: func(k string) (value.Value, bool) { return yaml(t, "k: v\nl: [a, B]\nm: {x: 1}").Get(k) },
	}
}

func TestMatch(t *testing.T) {
	m := minion(t)
	ng := yaml(t, groups)
	for _, tt := range []struct {
		tgtType, expr string
		want          bool
	}{
		{"", "*", true},
		{"glob", "web?", true},
		{"glob", "w[!a]b1", true},
		{"glob", "web", false},
		{"glob", "WEB1", false},
		{"glob", "", false},
		{"pcre", "web", true},
		{"pcre", "(web|db)1", true},
		{"pcre", "eb", false},
		{"pcre", `web\d$`, true},
		{"pcre", "(?=web)w(?!x)", true},
		{"pcre", "w.*[2]$", false},
		{"list", "web1", true},
		{"list", "db1,web1", true},
		{"list", "db1, web1", false},
		{"list", "web", false},
		{"list", "", false},
		{"grain", "role:web", true},
		{"grain", "role:w*", true},
		{"grain", "role:WEB", true},
		{"grain", "os:debian", true},
		{"grain", "role:db", false},
		{"grain", "nope:x", false},
		{"grain", "num:7", true},
		{"grain", "flag:true", true},
		{"grain", "flag:True", true},
		{"grain", "none:none", true},
		{"grain", "none:*", true},
		{"grain", "tags:blue", true},
		{"grain", "tags:can*", true},
		{"grain", "tags:5", true},
		{"grain", "tags:red", false},
		{"grain", "rack:row:7", true},
		{"grain", "rack:row:8", false},
		{"grain", "rack:*", true},
		{"grain", "rack:row", true},
		{"grain", "rack:deep:er:x", true},
		{"grain", "rack:deep:*", true},
		{"grain", "rack:*:7", true},
		{"grain", "rack:*:r?", true},
		{"grain", "rack:*:nope", false},
		{"grain", "*:web", true},
		{"grain", "*:nowhere", false},
		{"grain", "*:*:x", false},
		{"grain", "a:b:colon", false},
		{"grain", "a:b:nested", true},
		{"grain", "mixed:k:v", true},
		{"grain", "mixed:plain", true},
		{"grain", "mixed:k", true},
		{"grain", "empty:*", false},
		{"grain", "empty:x", false},
		{"grain", "ports:80:http", true},
		{"grain", "url:http://x/*", true},
		{"grain", "ipv6:2001:db8::1", true},
		{"grain_pcre", "role:^w.b$", true},
		{"grain_pcre", "role:W", true},
		{"grain_pcre", "role:eb", false},
		{"grain_pcre", "role:(w|d)\\S+", true},
		{"grain_pcre", "rack:row:[0-9]", true},
		{"grain_pcre", "tags:b.+e", true},
		{"pillar", "tier:front*", true},
		{"pillar", "a:b:c*", true},
		{"pillar", "users:bob:groups:wheel", true},
		{"pillar", "users:*:shell:zsh", true},
		{"pillar", "users:*:shell:fish", false},
		{"pillar", "users:bob", true},
		{"pillar", "users:eve", false},
		{"pillar_exact", "tier:front1", true},
		{"pillar_exact", "tier:front*", false},
		{"pillar_exact", "tier:FRONT1", true},
		{"pillar_pcre", "a:b:^c", true},
		{"pillar_pcre", "a:b:^d", false},
		{"ipcidr", "10.1.2.3", true},
		{"ipcidr", "10.0.0.0/8", true},
		{"ipcidr", "10.1.2.4", false},
		{"ipcidr", "198.51.100.0/24", false},
		{"ipcidr", "127.0.0.0/255.0.0.0", true},
		{"ipcidr", "10.1.2.0/0.0.0.255", true},
		{"ipcidr", "::1", true},
		{"ipcidr", "2001:DB8::/32", true},
		{"ipcidr", "2001:db9::/32", false},
		{"ipcidr", "0.0.0.0/0", true},
		{"nodegroup", "webs", true},
		{"nodegroup", "dbs", false},
		{"nodegroup", "pair", true},
		{"nodegroup", "bare", true},
		{"nodegroup", "names", true},
		{"nodegroup", "regex", true},
		{"nodegroup", "globs", true},
		{"nodegroup", "nested", true},
		{"nodegroup", "deep", true},
		{"compound", "G@role:web and not L@a,b", true},
		{"compound", "G@role:db or I@a:b:c1", true},
		{"compound", "( web* and G@role:db ) or E@zzz", false},
		{"compound", "not web1", false},
		{"compound", "not db1", true},
		{"compound", "J@a:b:^c", true},
		{"compound", "S@198.51.100.0/24", false},
		{"compound", "S@10.0.0.0/8 and P@role:w.*", true},
		{"compound", "web* not db*", true},
		{"compound", "N@webs and N@pair", true},
		{"compound", "not N@dbs", true},
		{"compound", "G|@rack|row|7", true},
		{"compound", "G;@role;web", true},
		{"compound", "J|@a|b|^c", true},
		{"compound", "E@we[a-c]1", true},
		{"compound", "L@web1,db1", true},
		{"compound", "web1", true},
		{"compound", "db1 or web*", true},
		// To Salt what has no value, or is no address, matches nothing.
		{"compound", "G@role or web1", true},
		{"compound", "S@1.2.3 or web1", true},
		{"compound", "not G@role", true},
		{"compound", "P@role:( or web1", true},
		{"compound", "Z@x or web1", true},
		// The words of a group are put in place without parentheses.
		{"compound", "N@either and nope", true},
		{"compound", "nope and N@either", false},
		{"compound_pillar_exact", "I@tier:front*", false},
		{"compound_pillar_exact", "I@tier:front1", true},
		{"compound_pillar_exact", "G@role:w*", true},
		{"data", "k:v", true},
		{"data", "k:x", false},
		{"data", "l:b", true},
		{"data", "m:x", true},
		{"data", "zz:x", false},
	} {
		c, err := target.Compile(tt.expr, tt.tgtType, ng)
		if err != nil {
			t.Errorf("Compile(%q, %s): %v", tt.expr, tt.tgtType, err)
			continue
		}
		if got, err := c.Match(m); got != tt.want || err != nil {
			t.Errorf("%s %q = %v, %v, want %v", tt.tgtType, tt.expr, got, err, tt.want)
		}
		if _, err := c.Match(target.Minion{ID: "x"}); err != nil {
			t.Errorf("%s %q on a bare minion: %v", tt.tgtType, tt.expr, err)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	ng := yaml(t, groups)
	for _, tt := range []struct{ tgtType, expr, want string }{
		{"grian", "x", `unknown target type "grian" (did you mean "grain"?)`},
		{"pcre", "(", `target "(" is not a regular expression`},
		{"grain", "role", `target "role" of type grain needs KEY:VALUE`},
		{"pillar_pcre", "a:(", `target "a:(" of type pillar_pcre`},
		{"ipcidr", "10.0.0.1/8", `Invalid IP/CIDR target: 10.0.0.1/8 has host bits set (did you mean "10.0.0.0/8"?)`},
		{"ipcidr", "300.1.1.1", "Invalid IP/CIDR target: 300.1.1.1 is neither an address nor a network (10.0.0.5, 10.0.0.0/24)"},
		{"ipcidr", "10.0.0.0/33", `"33" is not a valid netmask`},
		{"nodegroup", "wbes", `unknown nodegroup "wbes" (did you mean "webs"?)`},
		{"nodegroup", "loop", `nodegroup "loop" contains itself: loop → loop2 → loop`},
		{"nodegroup", "typo", `in nodegroup "typo": unknown nodegroup "wbes"`},
		{"nodegroup", "number", "Nodegroup 'number' (5) is neither a string, list nor tuple"},
		{"compound", "N@zzz", `unknown nodegroup "zzz"; there are bare, `},
		{"compound", "and web1", "Invalid beginning operator: and"},
		{"compound", "( or web1 )", `Invalid beginning operator after "(": or`},
		{"compound", "web1 web2", `unexpected "web2": there is no "and" or "or" before it`},
		{"compound", "web1 AND web2", `unexpected "AND" (did you mean "and"?)`},
		{"compound", "web1 and", "unexpected end of expression"},
		{"compound", "( web1", "a parenthesis is not closed"},
		{"compound", "web1 )", `unexpected ")"`},
		{"compound", "", "unexpected end of expression"},
		{"compound", "E@(", `in "E@(": target "(" is not a regular expression`},
		{"compound", "R@%x", `Unrecognized target engine "R" for target expression "R@%x"`},
		{"range", "%x", "Range matcher unavailable (unable to import seco.range, module most likely not installed)"},
		{"data", "k", "needs KEY:VALUE"},
	} {
		_, err := target.Compile(tt.expr, tt.tgtType, ng)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Compile(%q, %s) = %v, want %s", tt.expr, tt.tgtType, err, tt.want)
		}
	}
	if _, err := target.Compile(value.NewList("a"), "glob", nil); err == nil || err.Error() != "a target of type glob is text, not a list" {
		t.Errorf("Compile of a list as glob = %v", err)
	}
	if _, err := target.Compile("N@x", "compound", nil); err == nil || !strings.Contains(err.Error(), "there are no nodegroups") {
		t.Errorf("Compile without groups = %v", err)
	}
}

func TestMatcher(t *testing.T) {
	c, err := target.Compile(value.NewList("web1", "db1"), "list", nil)
	if err != nil {
		t.Fatal(err)
	}
	if ok, _ := c.Match(minion(t)); !ok {
		t.Error("a list does not match")
	}
	c, err = target.Compile(value.NewList("web1", "and", "G@role:web"), "compound", nil)
	if err != nil {
		t.Fatal(err)
	}
	if g, p := c.Needs(); !g || p {
		t.Errorf("Needs() = %v, %v", g, p)
	}
	c, err = target.Compile("I@a:b or L@x,y", "compound", nil)
	if err != nil {
		t.Fatal(err)
	}
	if g, p := c.Needs(); g || !p {
		t.Errorf("Needs() = %v, %v", g, p)
	}
	for expr, want := range map[string]string{"D@a:b or web*": `there is no engine "D@"`, "(web* or db*)": "parentheses need blanks", "G@role or x": "needs KEY:VALUE"} {
		c, err := target.Compile(expr, "compound", nil)
		if err != nil || !strings.Contains(strings.Join(c.Warnings(), "\n"), want) {
			t.Errorf("Compile(%q) warns %v, %v", expr, c.Warnings(), err)
		}
	}
	o := target.Options{Delimiter: "|"}
	c, err = o.Compile("rack|row|7", "grain")
	if err != nil {
		t.Fatal(err)
	}
	if ok, _ := c.Match(minion(t)); !ok {
		t.Error("a delimiter does not match")
	}
}

func recorded(t testing.TB) [][2]value.Value {
	b, err := os.ReadFile("testdata/compound.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.ParseJSON(string(b))
	if err != nil {
		t.Fatal(err)
	}
	var out [][2]value.Value
	for _, x := range v.(*value.List).Items {
		out = append(out, [2]value.Value(x.(*value.List).Items))
	}
	return out
}

// TestCompoundAsPython compares with Python's evaluation of the expressions.
func TestCompoundAsPython(t *testing.T) {
	m := target.Minion{ID: "A"}
	for _, c := range recorded(t) {
		got := false
		if tgt, err := target.Compile(c[0], "compound", nil); err == nil {
			got, _ = tgt.Match(m)
		}
		if got != c[1].(bool) {
			t.Errorf("%q = %v, want %v", c[0], got, c[1])
		}
	}
}

func TestGroupsThatExplode(t *testing.T) {
	m := value.NewMap(0)
	m.Set("g0", "web1 or db1")
	last := "g0"
	for n := range strings.SplitSeq("abcdefghijklmnopqrstuvwxyz", "") {
		m.Set(n, "N@"+last+" or N@"+last+" or N@"+last)
		last = n
	}
	if _, err := target.Compile(last, "nodegroup", m); err == nil || !strings.Contains(err.Error(), "words") {
		t.Errorf("Compile = %v", err)
	}
}

func FuzzCompound(f *testing.F) {
	for _, c := range recorded(f) {
		f.Add(c[0].(string))
	}
	for _, s := range []string{"G@role:web and not L@a,b", "G|@a|b", "P@a:(", "J@a:*:b", "I@*:x", "N@deep", "S@10.0.0.0/8", "E@(?P<a>x)(?P=a)", "Z@x", "(a or b)"} {
		f.Add(s)
	}
	m := minion(f)
	ng := yaml(f, groups)
	f.Fuzz(func(t *testing.T, s string) {
		for _, tgtType := range []string{"compound", "nodegroup", "ipcidr", "grain", "pillar_pcre"} {
			c, err := target.Compile(s, tgtType, ng)
			if err != nil {
				continue
			}
			a, err1 := c.Match(m)
			b, err2 := c.Match(m)
			if a != b || (err1 == nil) != (err2 == nil) {
				t.Fatalf("%s %q is not stable", tgtType, s)
			}
			if tgtType != "compound" || err1 != nil {
				continue
			}
			n, err := target.Compile("not ( "+s+" )", "compound", ng)
			if err != nil {
				t.Fatalf("%q compiles, in parentheses not: %v", s, err)
			}
			if got, err := n.Match(m); err == nil && got == a {
				t.Fatalf("%q is %v, and so is its opposite", s, a)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	c, err := target.Compile("G@role:web and not G@dc:south or L@db1", "compound", nil)
	if err != nil {
		b.Fatal(err)
	}
	m := minion(b)
	for b.Loop() {
		if ok, err := c.Match(m); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
