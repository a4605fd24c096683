package jinja_test

import (
	"errors"
	"strings"
	"testing"

	"brine/internal/py/jinja"
	"brine/internal/py/value"
	"brine/internal/testkit/jinjatest"
)

// TestMemory gives templates that hold more and more, each in another way,
// little memory: all end with an error at the line that went too far. The test
// is not parallel, for the memory that counts is the process's.
func TestMemory(t *testing.T) {
	holds := "the template holds more than 64 MiB of data"
	for _, tt := range []struct{ name, text string }{
		{"texts", "{% set l = [] %}\n{% for i in range(1000) %}\n{% do l.append('x' * 1000000 ~ i) %}{% endfor %}"},
		{"formatted", "{% set l = [] %}\n{% for i in range(1000) %}\n{% do l.append('%1000000d' % i) %}{% endfor %}"},
		{"filtered", "{% set l = [] %}\n{% for i in range(1000) %}\n{% do l.append(i|string|center(1000000)) %}{% endfor %}"},
		{"mapped", "\n\n{% set l = range(1000)|map('string')|map('center', 1000000)|list %}"},
		{"copied", "{% set all, one = [], range(100000)|list %}\n{% for i in range(1000) %}\n{% do all.append(one.copy()) %}{% endfor %}"},
		{"extended", "{% set l, one = [], range(100000)|list %}{% set ns = namespace(a=[]) %}\n{% for i in range(1000) %}{% set l = [] %}\n{% do l.extend(one) %}{% do ns.a.append(l) %}{% endfor %}"},
		{"sliced", "{% set all, one = [], range(100000)|list %}\n{% for i in range(1000) %}\n{% do all.append(one[1:]) %}{% endfor %}"},
		{"captured", "{% set all = [] %}\n{% for i in range(1000) %}\n{% set x %}{{ i }}{{ 'x' * 1000000 }}{% endset %}{% do all.append(x) %}{% endfor %}"},
		{"one by one", "{% set all = [] %}\n{% for i in range(100000) %}{% for j in range(100) %}\n{% do all.append([i, j]) %}{% endfor %}{% endfor %}"},
		{"by key", "{% set all = {} %}\n{% for i in range(100000) %}{% for j in range(100) %}\n{% do all.update({(i, j): 1.5}) %}{% endfor %}{% endfor %}"},
		{"concatenated", "{% set ns = namespace(l=[]) %}\n{% for i in range(1000) %}\n{% set ns.l = ns.l + ['x' * 1000000 + '.'] %}{% endfor %}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := jinjatest.Render(jinja.New(jinja.Options{MaxMemory: 64 << 20}, nil), "t.sls", tt.text, value.NewMap(0))
			var e *jinja.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want one with a place", err)
			}
			if e.PyType != "MemoryError" || e.Msg != holds || e.Pos.Line != 3 {
				t.Errorf("%s %q at line %d, want MemoryError %q at line 3", e.PyType, e.Msg, e.Pos.Line, holds)
			}
		})
	}
	// What is made and dropped is nothing that is held.
	out, err := jinjatest.Render(jinja.New(jinja.Options{MaxMemory: 128 << 20}, nil), "t.sls", "{% set ns = namespace(s='') %}{% for i in range(1000) %}{% set ns.s = 'x' * 1000000 ~ i %}{% endfor %}{{ ns.s|length }}", value.NewMap(0))
	if err != nil || strings.TrimSpace(out) != "1000003" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestManyParts splits texts into more parts than a list may have items.
func TestManyParts(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{"s.split()", "s.rsplit()", "s.split(' ')", "s.rsplit('x')", "s.replace(' ', '\\n').splitlines()", "s.replace(' ', '\\r').splitlines()", "s|wordwrap(3)", "('\\n' * 4500000)|wordwrap"} {
		_, err := jinjatest.Render(jinja.New(jinja.Options{}, nil), "t.sls", "{% set s = 'x ' * 4500000 %}\n{{ ("+expr+")|length }}", value.NewMap(0))
		var e *jinja.Error
		if !errors.As(err, &e) || e.PyType != "MemoryError" || e.Msg != "a list of more than 4194304 items is refused" || e.Pos.Line != 2 {
			t.Errorf("%s: %v", expr, err)
		}
	}
	got, err := jinjatest.Render(jinja.New(jinja.Options{}, nil), "t.sls", "{% set s = 'x ' * 4500000 %}{{ s.split(none, 2)|length }}{{ s.rsplit(' ', 1)|length }}{{ ('\\r\\n' * 4000000).splitlines()|length }}", value.NewMap(0))
	if err != nil || got != "324000000" {
		t.Errorf("%s, %v", got, err)
	}
}
