package form_test

import (
	"strings"
	"testing"

	"brine/internal/py/value"
	"brine/internal/view/form"
)

const kinds = `
text: {$optional: true}
preset: {$default: 'sdb://vault/preset'}
secret: {$type: password, $optional: true}
link: {$type: url, $optional: true}
mail: {$type: email, $optional: true}
colour: {$type: select, $values: [red, 'salt://blue'], $default: red}
inner:
  $type: group
  text: {$optional: true}
plain:
  $type: edit-group
  $optional: true
  $prototype: {$type: text}
users:
  $type: edit-group
  $optional: true
  $prototype:
    $key: {$type: text}
    shell: {$optional: true}
`

// TestForeign has each kind of text that is more than data in each place of a form.
func TestForeign(t *testing.T) {
	t.Parallel()
	f := parse(t, kinds)
	bad := map[string]string{
		"sdb://vault/password": "sdb://", " sdb://vault/password": "sdb://", "salt://secret/file": "salt://", "a\nb: c": "one line", "a\rb": "one line", "a\x00b": "one line",
		"a\u0085b": "one line", "a\u2028b": "one line", "-----BEGIN PGP MESSAGE-----": "PGP",
	}
	places := map[string]func(v value.Value) *value.Map{
		"text":       func(v value.Value) *value.Map { return value.MapOf("text", v) },
		"secret":     func(v value.Value) *value.Map { return value.MapOf("secret", v) },
		"inner:text": func(v value.Value) *value.Map { return value.MapOf("inner", value.MapOf("text", v)) },
		"plain:0":    func(v value.Value) *value.Map { return value.MapOf("plain", value.NewList(v)) },
		"users:ann:shell": func(v value.Value) *value.Map {
			return value.MapOf("users", value.MapOf("ann", value.MapOf("shell", v)))
		},
		"preset":           func(v value.Value) *value.Map { return value.MapOf("preset", v) },
		"text:0 of a list": func(v value.Value) *value.Map { return value.MapOf("text", value.NewList(v)) },
	}
	for text, want := range bad {
		for place, at := range places {
			faults := f.Foreign(at(text))
			if len(faults) != 1 || !strings.Contains(faults[0].Text, want) || !strings.HasPrefix(place, faults[0].Path) {
				t.Errorf("%q at %s: %v", text, place, faults)
			}
		}
		if faults := f.Foreign(value.MapOf("users", value.MapOf(text, value.MapOf("shell", "x")))); len(faults) != 1 {
			t.Errorf("%q as a key: %v", text, faults)
		}
	}
	for _, good := range []*value.Map{
		value.MapOf("link", "salt://file"), value.MapOf("preset", "sdb://vault/preset"), value.MapOf("colour", "salt://blue"), value.MapOf("text", "{{ 7 * 7 }} {% raw %}"),
		value.MapOf("text", "http://sdb://x"), value.MapOf("text", int64(5)), value.MapOf("users", value.MapOf("é", value.MapOf("shell", "日本 - ' \""))), value.NewMap(0),
	} {
		if faults := f.Foreign(good); len(faults) > 0 {
			t.Errorf("%s: %v", value.Repr(good), faults)
		}
	}
	if faults := f.Kept(value.MapOf("text", "a\nb", "secret", "salt://x", "preset", "sdb://vault/preset")); len(faults) > 0 {
		t.Errorf("kept: %v", faults)
	}
	if faults := f.Kept(value.MapOf("users", value.MapOf("ann", value.MapOf("shell", "sdb://x/y")))); len(faults) != 1 || faults[0].Path != "users:ann:shell" {
		t.Errorf("kept: %v", faults)
	}
	if faults := f.Foreign(value.MapOf("link", "sdb://vault/x")); len(faults) != 1 {
		t.Errorf("a URL: %v", faults)
	}
}

// TestSlots has text that a state would call as a function, whoever gives it.
func TestSlots(t *testing.T) {
	t.Parallel()
	f := parse(t, kinds)
	const slot = "__slot__:salt:cmd.run(id)"
	for _, m := range []*value.Map{
		value.MapOf("text", slot), value.MapOf("text", "x"+slot), value.MapOf("secret", slot), value.MapOf("mail", slot+"@x"), value.MapOf("link", "http://x/"+slot),
		value.MapOf("inner", value.MapOf("text", slot)), value.MapOf("plain", value.NewList(slot)), value.MapOf("users", value.MapOf("ann", value.MapOf("shell", slot))),
		value.MapOf("users", value.MapOf(slot, value.MapOf("shell", "x"))),
	} {
		_, faults := f.Check(m)
		if len(faults) != 1 || !strings.Contains(faults[0].Text, "__slot__:") || faults[0].Quotes {
			t.Errorf("%s: %v", value.Repr(m), faults)
		}
	}
	if _, errs := form.Parse(load(t, "x: {$default: '"+slot+"'}")); len(errs) != 0 {
		t.Errorf("the author of a form may use slots: %v", errs)
	}
}
