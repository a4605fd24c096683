package form_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/form"
)

func load(t *testing.T, text string) *value.Map {
	t.Helper()
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "form.yml"}, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, _ := v.(*value.Map)
	if m == nil {
		m = value.NewMap(0)
	}
	return m
}

func parse(t *testing.T, text string) *form.Form {
	t.Helper()
	f, errs := form.Parse(load(t, text))
	for _, e := range errs {
		t.Errorf("%v", e)
	}
	if f == nil {
		t.FailNow()
	}
	return f
}

const web = `
web:
  $type: hidden-group
  tls:
    $type: boolean
    $default: true
  certificate:
    $visibleIf: .tls == true
    $default: /etc/ssl/web.pem
  port:
    $type: number
    $min: 1
    $max: 65535
    $default: 443
  mode: {$type: select, $values: [fast, safe], $default: safe}
  comment: {$optional: true}
  banner: {$ifEmpty: welcome}
  users:
    $type: edit-group
    $minItems: 1
    $maxItems: 2
    $prototype:
      $key: {$type: text, $match: '[a-z]+'}
      password: {$type: password}
      admin: {$type: boolean}
      shell:
        $visible: this.parent.value.admin && formValues.web.mode != "safe"
        $default: /bin/sh
        $optional: true
  names:
    $type: edit-group
    $minItems: 2
    $prototype: {$type: text, $default: localhost}
`

// TestCheck gives answers to a form: what becomes of them, or what is wrong.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, form, answers, want, problems string }{
		{
			"defaults", web, "web: {users: {ann: {password: x}}}",
			"{'web': {'tls': True, 'certificate': '/etc/ssl/web.pem', 'port': 443, 'mode': 'safe', 'banner': 'welcome', " +
				"'users': {'ann': {'password': 'x', 'admin': False, 'shell': '/bin/sh'}}, 'names': ['localhost', 'localhost']}}", "",
		},
		{"text becomes values", web, "web: {port: '80', tls: 'no', users: {ann: {password: 1, admin: yes}}, comment: hi}", "" +
			"{'web': {'tls': False, 'certificate': '/etc/ssl/web.pem', 'port': 80, 'mode': 'safe', 'comment': 'hi', 'banner': 'welcome', " +
			"'users': {'ann': {'password': '1', 'admin': True, 'shell': '/bin/sh'}}, 'names': ['localhost', 'localhost']}}", ""},
		{"nothing", web, "{}", "", "web:users: needs at least 1 item, not 0"},
		{"missing in an item", web, "web: {users: {ann: {}}}", "", "web:users:ann:password: has no value"},
		{"too many", web, "web: {users: {a: {password: x}, b: {password: x}, c: {password: x}}}", "", "web:users: takes at most 2 items, not 3"},
		{"a key", web, "web: {users: {A1: {password: x}}}", "", `web:users:A1: "A1" is not text that matches [a-z]+`},
		{"types", web, "web: {port: 70000, mode: slow, tls: perhaps, names: a, users: {a: {password: x}}}", "", `` +
			`web:tls: "perhaps" is not true or false|web:port: "70000" is not a number from 1 to 65535|` +
			`web:mode: "slow" is not one of fast, safe|web:names: must be a list of items, not text|web:names: needs at least 2 items, not 0`},
		{"unknown", web, "web: {prot: 1, users: {a: {password: x, passwrd: 1}}}", "", `` +
			`web:prot: the form has no such field (did you mean "port"?)|web:users:a:passwrd: the form has no such field (did you mean "password"?)`},
		{"a group that is text", web, "web: nginx", "", "web: must be a mapping of fields, not text|web:users: needs at least 1 item, not 0"},
		{
			"hidden is not asked for", "a: {$type: boolean}\nb: {$visible: formValues.a}\nc: {$disabledIf: a != true}\nd: {$visibleIf: a, $required: true}", "{}",
			"{'a': False, 'b': None, 'c': None, 'd': None}", "",
		},
		{"shown is", "a: {$type: boolean}\nb: {$visible: formValues.a}\nc: {$disabledIf: a != true}\nd: {$visibleIf: a, $required: true}", "a: true", "", "b: has no value|c: has no value|d: has no value"},
		{"required by a condition", "a: {$default: x}\nb: {$required: 'formValues.a == \"y\"'}", "{}", "{'a': 'x', 'b': None}", ""},
		{"required by a condition that holds", "a: {$default: x}\nb: {$required: 'formValues.a == \"y\"'}", "a: y", "", "b: has no value"},
		{"a default is no answer to what is required", "a: {$default: '', $required: true}", "{}", "", "a: has no value"},
		{"read only", "a: {$default: x, $scope: readonly}", "a: y", "", "a: cannot be changed"},
		{"dates", "a: {$type: date}\nb: {$type: time}\nc: {$type: datetime}", "a: '2026-13-01'\nb: '25:00'\nc: soon", "", "" +
			`a: "2026-13-01" is not a date such as 2026-12-01|b: "25:00" is not a time such as 02:00|c: "soon" is not a date and time such as 2026-12-01 02:00`},
		{"texts with a shape", "a: {$type: url}\nb: {$type: email}\nc: {$type: color}", "a: here\nb: me\nc: red", "", "" +
			`a: "here" is not a URL such as https://example.com/|b: "me" is not an address such as name@example.com|c: "red" is not a color such as #00aaff`},
		{"texts with the right shape", "a: {$type: url}\nb: {$type: email}\nc: {$type: color}", "a: 'http://x/'\nb: me@x\nc: '#0af'", "{'a': 'http://x/', 'b': 'me@x', 'c': '#0af'}", ""},
		{"a list of lists", "a: {$type: edit-group, $prototype: {$type: edit-group, $prototype: {}}}", "a: [[x, y], []]", "{'a': [['x', 'y'], []]}", ""},
		{"an empty item", "a: {$type: edit-group, $prototype: {}}", "a: [x, '']", "", "a:1: has no value"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, problems := parse(t, tt.form).Check(load(t, tt.answers))
			var texts []string
			for _, p := range problems {
				texts = append(texts, p.Error())
			}
			if s := strings.Join(texts, "|"); s != tt.problems {
				t.Errorf("problems\n got %s\nwant %s", s, tt.problems)
			}
			if tt.want != "" && value.Repr(got) != tt.want {
				t.Errorf("values\n got %s\nwant %s", value.Repr(got), tt.want)
			}
		})
	}
}

// TestMany holds that a small form cannot ask for a large pillar.
func TestMany(t *testing.T) {
	t.Parallel()
	text := "{$type: edit-group, $minItems: 1000, $prototype: {}}"
	for range 5 {
		text = "{$type: edit-group, $minItems: 1000, $prototype: " + text + "}"
	}
	_, problems := parse(t, "a: "+text).Check(value.NewMap(0))
	if !slices.ContainsFunc(problems, func(p form.ValueError) bool { return p.Text == "the form has more than 20000 values" }) {
		t.Errorf("%d problems, and none says that there are too many values", len(problems))
	}
}

// TestUnknownFields looks for conditions on fields that a form does not have.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	const group = "web:\n  tls: {$type: boolean}\n  cert:\n    "
	const users = "kind: {}\nusers:\n  $type: edit-group\n  $prototype:\n    name: {}\n    shell:\n      "
	const keyed = "users:\n  $type: edit-group\n  $prototype:\n    $key: {}\n    name: {}\nx:\n  "
	for _, tt := range []struct{ form, want string }{
		{group + "$visibleIf: .tls == true", ""},
		{group + "$visibleIf: web#tls == true", ""},
		{group + "$visible: this.parent.value.tls && formValues.web.tls", ""},
		{group + "$visibleIf: .tsl == true", `form.yml:4:5: field cert: $visibleIf ".tsl == true": there is no field "tsl" in web (did you mean "tls"?)`},
		{group + "$disabledIf: wep#tls == true", `form.yml:4:5: field cert: $disabledIf "wep#tls == true": there is no field "wep" in the form (did you mean "web"?)`},
		{group + "$disabledIf: web#tls#on", `field cert: $disabledIf "web#tls#on": there is no field "on" in tls`},
		{group + "$required: '!(1 in [formValues.web.tsl, 2])'", `there is no field "tsl" in web`},
		{group + "$visible: this.parent.parent.parent.value.x", "it is 3 levels above the field, and the form has fewer"},
		{users + "$visibleIf: .name == root", ""},
		{users + "$visibleIf: ...kind == x", ""},
		{users + "$visible: 'formValues.users[0].name == formValues.kind'", ""},
		{users + "$visibleIf: .nam == root", `form.yml:7:7: field shell: $visibleIf ".nam == root": there is no field "nam" in users (did you mean "name"?)`},
		{users + "$visible: formValues.users.first.name", `there is no field "first" in users`},
		{keyed + "$visible: formValues.users.root.name", ""},
		{keyed + "$visible: formValues.users.root.nam", `form.yml:7:3: field x: $visible "formValues.users.root.nam": there is no field "nam" in users (did you mean "name"?)`},
		{"a: {$visible: true}", ""},
	} {
		f, errs := form.Parse(load(t, tt.form))
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		got := f.UnknownFields()
		if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || !strings.Contains(got[0].Error(), tt.want)) {
			t.Errorf("%s\ngot  %v\nwant %s", tt.form, got, tt.want)
		}
	}
}

// TestParseFaults gives bad forms: each fault has its place.
func TestParseFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, form, want string }{
		{"type", "a: {$type: txt}", `form.yml:1:5: field a: unknown type "txt" (did you mean "text"?)`},
		{"attribute", "a:\n  $type: text\n  $defualt: 1", `form.yml:3:3: field a: unknown attribute $defualt (did you mean "$default"?)`},
		{"select", "a: {$type: select}", "form.yml:1:1: field a: a select field needs $values, a list"},
		{"prototype", "a: {$type: edit-group}", "form.yml:1:1: field a: an edit-group needs $prototype, a mapping that describes one item"},
		{"field", "a: text", "form.yml:1:1: field a must be a mapping with attributes such as $type, not text"},
		{"default", "a:\n  $type: number\n  $default: many", `form.yml:3:3: field a: $default: "many" is not a number`},
		{"several", "a: {$type: number, $default: many}\nb: {$type: boolean, $default: often}\nc: {$type: date, $default: soon}", "form.yml:1:20: field a: $default: \"many\" is not a number\nform.yml:2:21: field b: $default: \"often\" is not true or false\nform.yml:3:18: field c: $default: "},
		{"condition", "a:\n  $visible: a ==", `form.yml:2:3: field a: $visible "a ==": "a": a path begins with formValues or this, and text is in quotes`},
		{"condition, end", "a:\n  $disabled: formValues.a ==", `field a: $disabled "formValues.a ==": the condition ends where a value is expected`},
		{"old condition", "a:\n  $visibleIf: (x)", `form.yml:2:3: field a: $visibleIf "(x)": a condition is a path, == or !=, and a value, as in "group#field == 'yes'"`},
		{"two conditions", "a: {$visibleIf: b, $visible: true}", "field a: $visible has two forms here; keep one of them"},
		{"expression", "a:\n  $match: '['", "form.yml:2:3: field a: $match \"[\""},
		{"items", "a: {$type: edit-group, $minItems: 3, $maxItems: 2, $prototype: {}}", "field a: $minItems 3 is more than $maxItems 2"},
		{"count", "a: {$type: edit-group, $minItems: -1, $prototype: {}}", "field a: $minItems must be a number from 0 to 1000, not -1"},
		{"flag", "a: {$optional: maybe}", "field a: $optional must be true or false, not 'maybe'"},
		{"deep", strings.Repeat("a: {", 40) + strings.Repeat("}", 40), "groups are nested more than 32 deep"},
		{"deep condition", "a: {$visible: '" + strings.Repeat("(", 40) + "'}", "nested more than 32 deep"},
		{"many nots", "a: {$visible: '" + strings.Repeat("!", 40) + "'}", "! is repeated more than 32 times"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, errs := form.Parse(load(t, tt.form))
			if len(errs) == 0 || f != nil {
				t.Fatal("no fault was found")
			}
			var all []string
			for _, e := range errs {
				all = append(all, e.Error())
			}
			if s := strings.Join(all, "\n"); !strings.Contains(s, tt.want) {
				t.Errorf("got %s\nwant %s", s, tt.want)
			}
		})
	}
}

// TestConditions evaluates conditions over values.
func TestConditions(t *testing.T) {
	t.Parallel()
	const values = "{a: {b: 'x', n: 3, t: true, l: [p, q]}, s: ''}"
	for cond, want := range map[string]bool{
		`formValues.a.b == "x"`:                         true,
		`formValues.a.b != 'x'`:                         false,
		`formValues.a.n > 2 && formValues.a.n <= 3`:     true,
		`!formValues.a.t || formValues.s`:               false,
		`!(formValues.a.t && formValues.s)`:             true,
		`formValues.a.b in ["y", "x"]`:                  true,
		`formValues['a']['l'][1] == "q"`:                true,
		`formValues.a.none == null`:                     true,
		`formValues.none.none`:                          false,
		`this.parent.value.s == ""`:                     true,
		`this.parent.value.a.n == -3`:                   false,
		`this.parent.parent.parent.value.x == 'y'`:      false,
		`formValues.a.n == "3"`:                         true,
		`formValues.a.t == true`:                        true,
		`formValues.a.n == true`:                        false,
		`"é" == 'é' && 1.5 < 2`:                         true,
		`formValues.a.l`:                                true,
		`formValues.s || formValues.a.b == "x" && true`: true,
	} {
		f := parse(t, "a: {b: {$optional: true}, n: {$type: number, $optional: true}, t: {$type: boolean}, l: {$type: edit-group, $prototype: {}}}\n"+
			"s: {$optional: true}\nz: {$visible: "+yamlQuote(cond)+"}")
		_, problems := f.Check(load(t, values))
		if got := len(problems) == 1; got != want {
			t.Errorf("%s: %v, want %v (%v)", cond, got, want, problems)
		}
	}
}

func yamlQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// TestSet puts answers at paths.
func TestSet(t *testing.T) {
	t.Parallel()
	f := parse(t, web)
	answers := value.NewMap(0)
	for _, kv := range [][2]string{{"web:port", "80"}, {"web:users:ann:password", "x"}, {"web:names", "[a, b]"}, {"web:names:1", "c"}} {
		if err := f.Set(answers, kv[0], kv[1]); err != nil {
			t.Error(err)
		}
	}
	if got, want := value.Repr(answers), "{'web': {'port': '80', 'users': {'ann': {'password': 'x'}}, 'names': ['a', 'c']}}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for path, want := range map[string]string{
		"wbe:port":              `wbe:port: the form has no field "wbe" (did you mean "web"?)`,
		"web:prot":              `web:prot: the form has no field "prot" (did you mean "port"?)`,
		"web:port:x":            "web:port:x: port is a field of the type number, which has no fields",
		"web:names:9":           "web:names:9: item 9 is set before item 2",
		"web:names:x":           `web:names:x: "x" is not the number of an item, which are counted from 0`,
		"web:users:ann:passwrd": `web:users:ann:passwrd: the form has no field "passwrd" (did you mean "password"?)`,
		"web:users:ann:admin":   "",
	} {
		switch err := f.Set(answers, path, "v"); {
		case want == "" && err != nil, want != "" && (err == nil || err.Error() != want):
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
	if err := f.Set(answers, "web:names", "[a"); err == nil || !strings.Contains(err.Error(), "YAML or JSON") {
		t.Errorf("bad YAML: %v", err)
	}
}

// TestLabel makes labels of keys in any language.
func TestLabel(t *testing.T) {
	t.Parallel()
	f := parse(t, "über_alle-felder: {}\n日本: {}\n_: {}")
	var got []string
	for _, x := range f.Fields {
		got = append(got, x.Label)
	}
	if want := []string{"Über Alle Felder", "日本", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPublic takes passwords out of what is kept.
func TestPublic(t *testing.T) {
	t.Parallel()
	f := parse(t, "p: {$type: password}\ng: {p: {$type: password}, x: {}}\nl: {$type: edit-group, $prototype: {$type: password}}\n"+
		"d: {$type: edit-group, $prototype: {$key: {}, p: {$type: password}, x: {}}}")
	answers := load(t, "p: s1\ng: {p: s2, x: y}\nl: [s3]\nd: {k: {p: s4, x: z}}")
	if got, want := value.Repr(f.Public(answers)), "{'g': {'x': 'y'}, 'l': [], 'd': {'k': {'x': 'z'}}}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !strings.Contains(value.Repr(answers), "s4") {
		t.Error("the answers were changed")
	}
}

// FuzzParse reads any form and checks it without answers.
func FuzzParse(f *testing.F) {
	f.Add(web)
	f.Add("a: {$visible: 'formValues.a[0].b in [1, \"x\"] && !this.parent.value.c'}")
	f.Add("a: {$visibleIf: '..b#c != yes'}")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "f"}, []byte(text))
		m, ok := v.(*value.Map)
		if err != nil || !ok {
			return
		}
		if fm, errs := form.Parse(m); len(errs) == 0 {
			_, _ = fm.Check(fm.Defaults())
			_ = fm.Public(m)
		}
	})
}

func TestInactive(t *testing.T) {
	t.Parallel()
	f := parse(t, `
tls:
  $type: group
  enabled: {$type: boolean, $default: False}
  cert: {$visible: this.parent.value.enabled == true}
hosts:
  $type: edit-group
  $prototype:
    kind: {$default: a}
    size: {$disabledIf: .kind == a, $default: '1'}
`)
	for text, want := range map[string]map[string]bool{
		"{}": {"tls:cert": true},
		"{tls: {enabled: true}, hosts: [{kind: a}, {kind: b}]}": {"hosts:0:size": true},
	} {
		if got := f.Inactive(load(t, text)); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
