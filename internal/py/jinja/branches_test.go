package jinja_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/jinja"
	"brine/internal/py/value"
)

// branchText is a template with each kind of branch.
const branchText = `{% if a %}
yes
{% elif b -%}
  other
{% else %}
neither
{% endif %}
{%- if a %}x{% endif %}
{% for k,
   v in items %}{{ 'one' if v else 'two' }}{% else %}none{% endfor %}
{% macro m(x) %}{{ x if x == 'y' }}{% endmacro %}
{{ m('n') if a }}
{% set c = 1 if a else 2 if b else 3 %}`

// TestBranches: each branch is listed with its place, and a rendering reports exactly those
// that it takes.
func TestBranches(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		vars   *value.Map
		missed []string
	}{
		{"nothing holds", value.MapOf("a", false, "b", false, "items", value.NewMap(0)), []string{
			"1:4: {% if a %} is never true",
			"3:9: {% elif b -%} is never true",
			"8:5: {%- if a %} is never true",
			"9:4: {% for k, v in items %} never has an item",
			"10:29: the condition in {{ 'one' if v else 'two' }} is never true",
			"10:29: the condition in {{ 'one' if v else 'two' }} is never false",
			"11:4: the macro m is never called",
			"11:25: the condition in {{ x if x == 'y' }} is never true",
			"11:25: the condition in {{ x if x == 'y' }} is never false",
			"12:14: the condition in {{ m('n') if a }} is never true",
			"13:17: the condition in {% set c = 1 if a else 2 if b else 3 %} is never true",
			"13:29: the condition in {% set c = 1 if a else 2 if b else 3 %} is never true",
		}},
		{"all holds", value.MapOf("a", true, "b", true, "items", value.NewList(value.Tuple{"k", true})), []string{
			"3:9: {% elif b -%} is never true",
			"5:9: the else of {% if a %} is never reached",
			"8:5: {%- if a %} is never false",
			"9:4: the else of {% for k, v in items %} is never reached",
			"10:29: the condition in {{ 'one' if v else 'two' }} is never false",
			"11:25: the condition in {{ x if x == 'y' }} is never true",
			"12:14: the condition in {{ m('n') if a }} is never false",
			"13:17: the condition in {% set c = 1 if a else 2 if b else 3 %} is never false",
			"13:29: the condition in {% set c = 1 if a else 2 if b else 3 %} is never true",
			"13:29: the condition in {% set c = 1 if a else 2 if b else 3 %} is never false",
		}},
	} {
		var mu sync.Mutex
		taken := map[string]bool{}
		env := jinja.New(jinja.Options{Branch: func(name string, off int32, yes bool) {
			mu.Lock()
			defer mu.Unlock()
			taken[fmt.Sprintf("%s %d %v", name, off, yes)] = true
		}}, nil)
		tmpl, err := env.Parse("t", branchText)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tmpl.Render(t.Context(), tt.vars); err != nil {
			t.Fatal(err)
		}
		all, err := env.Branches("t", branchText)
		if err != nil {
			t.Fatal(err)
		}
		keys := map[string]bool{"t -1 true": true}
		var missed []string
		for _, b := range all {
			key := fmt.Sprintf("t %d %v", b.Off, b.Yes)
			if keys[key] {
				t.Errorf("%s: two branches have the key %s", tt.name, key)
			}
			keys[key] = true
			if !taken[key] {
				missed = append(missed, strings.TrimPrefix(b.Pos.String(), "t:")+": "+b.Text)
			}
		}
		if d := cmp.Diff(tt.missed, missed); d != "" {
			t.Errorf("%s: branches that were not taken (-want +got):\n%s", tt.name, d)
		}
		for key := range taken {
			if !keys[key] {
				t.Errorf("%s: the rendering took a branch that is not listed: %s", tt.name, key)
			}
		}
	}
	if _, err := jinja.New(jinja.Options{}, nil).Branches("t", "{% if %}"); err == nil {
		t.Error("Branches found no fault in a template that has one")
	}
}
