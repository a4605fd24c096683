package render_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/render"
	"brine/internal/py/source"
)

// TestFaultPlaces says for faults in trees of templates what the user is told:
// the place, the chain of tags that led there and the nearest name; and the
// line of the template that Salt marks.
func TestFaultPlaces(t *testing.T) {
	lib := map[string]string{
		"web/bad.yaml":  "a: 1\nb: [\nc: 2\n",
		"web/base.sls":  "{% block one %}\na: 1\n{% endblock %}\n",
		"web/dup.sls":   "k: 1\n{% for i in [1,2] %}\nq: {{ i }}\n{% endfor %}\n",
		"web/inc.sls":   "{% set y %}\na\n{% include 'web/inc2.sls' %}\n{% endset %}\n{{ y }}\n",
		"web/inc2.sls":  "\n{% for k, v in grains.items() %}\n{% endfor %}\n{{ pilar.x }}\n",
		"web/lib.jinja": "{% macro user(name) %}\n\n{%- set block %}\n  {{ inner(name) }}\n{% endset %}\n{{ block }}\n{% endmacro %}\n{% macro inner(n) %}\n  {{ nme }}\n{% endmacro %}\n",
		"web/st.jinja":  "{% macro wrap(n) %}\n{{ n }}:\n  test.nop:\n{{ caller() }}\n{% endmacro %}\n",
	}
	for _, tt := range []struct{ name, text, trace, marked string }{
		{
			"a macro within a macro",
			"{% from 'web/lib.jinja' import user with context %}\n{% set x = 1 %}\n\na:\n  {{ user('bob') }}\n",
			"web/lib.jinja:9:6: 'nme' is undefined\n	included from web/lib.jinja:4:6\n	included from a.sls:5:6",
			"{{ nme }}",
		},
		{
			"an include within a set block",
			"{# c\n #}\n{% include 'web/inc.sls' %}\n",
			"web/inc2.sls:4:4: 'pilar' is undefined\n	included from web/inc.sls:3:4\n	included from a.sls:3:4\nhint: did you mean \"pillar\"?",
			"{{ pilar.x }}",
		},
		{
			"a macro that is not there",
			"{% set settings = {'port': 1} %}\n{% call(x) m() %}{% endcall %}\n",
			"a.sls:2:12: 'm' is undefined",
			"{% call(x) m() %}{% endcall %}",
		},
		{
			"an attribute",
			"{% set settings = {'port': 1, 'host': 2} %}\nx: {{ settings.prot }}\n",
			"a.sls:2:16: 'dict object' has no attribute 'prot'\nhint: did you mean \"port\"?",
			"x: {{ settings.prot }}",
		},
		{
			"a function",
			"x:\n  {{ salt['test.ecoh']('x') }}\n",
			"a.sls:2:10: there is no execution function 'test.ecoh'\nhint: did you mean \"test.echo\"?",
			"{{ salt['test.ecoh']('x') }}",
		},
		{
			"a function that only Salt has",
			"x:\n  {{ salt['mine.get']('x') }}\n",
			"a.sls:2:10: there is no execution function 'mine.get'\nhint: Salt 3006 has mine.get, brine does not: see 'brine docs compatibility'",
			"{{ salt['mine.get']('x') }}",
		},
		{
			"a runner of Salt",
			"x:\n  {{ salt['cache.grains']('x') }}\n",
			"a.sls:2:10: there is no execution function 'cache.grains'\nhint: cache.grains is a runner function of Salt 3006, which brine does not have",
			"{{ salt['cache.grains']('x') }}",
		},
		{
			"a method",
			"x: {{ 'a'.uper() }}\n",
			"a.sls:1:11: 'str object' has no attribute 'uper'\nhint: did you mean \"upper\"?",
			"x: {{ 'a'.uper() }}",
		},
		{
			"a method of a dict",
			"{% set d = {'a': 1} %}\n{% for k, v in d.itmes() %}{{ k }}{% endfor %}\n",
			"a.sls:2:18: 'dict object' has no attribute 'itmes'\nhint: did you mean \"items\"?",
			"{% for k, v in d.itmes() %}{{ k }}{% endfor %}",
		},
		{
			"a module",
			"x:\n  {{ salt.tset.echo('x') }}\n",
			"a.sls:2:11: there is no execution module 'tset'\nhint: did you mean \"test\"?",
			"{{ salt.tset.echo('x') }}",
		},
		{
			"a function by attribute",
			"x:\n  {{ salt.test.ecoh('x') }}\n",
			"a.sls:2:16: 'salt.loader.lazy.LoadedMod object' has no attribute 'ecoh'\nhint: did you mean \"echo\"?",
			"{{ salt.test.ecoh('x') }}",
		},
		{
			"a filter",
			"x: {{ 'a' | uper }}\n",
			"a.sls:1:13: No filter named 'uper'.\nhint: did you mean \"upper\"?",
			"x: {{ 'a' | uper }}",
		},
		{
			"a test",
			"x: {{ 'a' is defned }}\n",
			"a.sls:1:14: No test named 'defned'.\nhint: did you mean \"defined\"?",
			"x: {{ 'a' is defned }}",
		},
		{
			"a block of a child",
			"{% extends 'web/base.sls' %}\n{% block one %}\n{{ super() }}\nx: {{ oops }}\n{% endblock %}\n",
			"a.sls:4:7: 'oops' is undefined\n	included from web/base.sls:1:4\n	included from a.sls:1:4",
			"{% block one %}",
		},
		{
			"data that is imported",
			"{% import_yaml 'web/bad.yaml' as b %}\nx: {{ b }}\n",
			"web/bad.yaml:3: Encountered error loading yaml: did not find expected ',' or ']'\n	included from a.sls:1:4",
			"{% import_yaml 'web/bad.yaml' as b %}",
		},
		{
			"a tag that does not fit",
			"a: 1\n{% if x %}\nb: 1\n{% endfor %}\n",
			"a.sls:4:4: Encountered unknown tag 'endfor'. Jinja was looking for the following tags: 'elif' or 'else' or 'endif'. The innermost block that needs to be closed is 'if'.",
			"{% endfor %}",
		},
		{
			"YAML of a set block",
			"{% set m %}\na:\n  b: 1\nc\n{% endset %}\n{% include 'web/dup.sls' %}\n{{ m }}\n",
			"a.sls:6:1: could not find expected ':' (while scanning a simple key from a.sls:4)\n	included from a.sls:7",
			"",
		},
		{
			"data in the template",
			"{% load_yaml as y %}\na: 1\n b: 2\n{% endload %}\n",
			"a.sls:3: Encountered error loading yaml: mapping values are not allowed in this context\n	included from a.sls:1:4",
			"{% load_yaml as y %}",
		},
		{
			"an operator",
			"x:\n  test.nop:\n    - name: {{ 1 + 'a' }}\n",
			"a.sls:3:16: unsupported operand type(s) for +: 'int' and 'str'",
			"- name: {{ 1 + 'a' }}",
		},
		{
			"a template that is not there",
			"{% import 'web/lib.jnja' as l %}\n",
			"a.sls:1:4: template \"web/lib.jnja\" is not in the fileserver\nhint: did you mean \"web/lib.jinja\"?",
			"{% import 'web/lib.jnja' as l %}",
		},
		{
			"raise",
			"{{ raise('custom') }}\n",
			"a.sls:1:4: custom",
			"{{ raise('custom') }}",
		},
		{
			"a function of another module",
			"x: {{ salt['boom.comand']('ls') }}\n",
			"a.sls:1:11: there is no execution function 'boom.comand'\nhint: did you mean \"boom.command\"?",
			"x: {{ salt['boom.comand']('ls') }}",
		},
		{
			"a name that is not exported",
			"{% from 'web/lib.jinja' import usr %}\nx: {{ usr(1) }}\n",
			"a.sls:2:7: the template 'web/lib.jinja' (imported on line 1) does not export the requested name 'usr'\nhint: did you mean \"user\"?",
			"x: {{ usr(1) }}",
		},
		{
			"YAML of a macro",
			"{% macro st(n) %}\n{{ n }}:\n  test.nop:\n    - name: x\n{% endmacro %}\n{{ st('a') }}\nb:\n  test.nop: []\n{{ st('a') }}\n",
			"a.sls:2:1: found conflicting ID 'a' (while constructing a mapping from a.sls:2)\n	included from a.sls:9\nhint: a mapping may have a key only once",
			"",
		},
		{
			"a key of a set block",
			"{% set txt %}\na:\n  test.nop: []\nc: 1\na:\n  test.nop: []\n{% endset %}\n{{ txt }}\n",
			"a.sls:5:1: found conflicting ID 'a' (while constructing a mapping from a.sls:2)\n	included from a.sls:8\nhint: a mapping may have a key only once",
			"",
		},
		{
			"YAML of a caller",
			"{% import 'web/st.jinja' as st with context %}\n{% call st.wrap('z') %}\n    - q: 1\n   - bad: 1\n{% endcall %}\n",
			"a.sls:4:4: did not find expected key (while parsing a block mapping from web/st.jinja:3)\n	included from web/st.jinja:4\n	included from a.sls:2",
			"",
		},
		{
			"YAML of a filter block",
			"{% filter indent(2) %}\na: 1\na: 2\n{% endfilter %}\n",
			"a.sls:1:3: found conflicting ID 'a' (while constructing a mapping from a.sls:1)\nhint: a mapping may have a key only once",
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"a.sls": tt.text}
			maps.Copy(files, lib)
			e := tree(t, files)
			_, err := render.For(e).SLS(t.Context(), input(t, e, "a"))
			var se *source.Error
			if !errors.As(err, &se) {
				t.Fatalf("err = %v, want a placed one", err)
			}
			if d := cmp.Diff(tt.trace, se.Trace()); d != "" {
				t.Error(d)
			}
			marked := ""
			for line := range strings.Lines(se.SaltText()) {
				if before, _, ok := strings.Cut(line, "    <======================"); ok {
					marked = strings.TrimSpace(before)
				}
			}
			if marked != tt.marked {
				t.Errorf("Salt's text marks %q, want %q:\n%s", marked, tt.marked, se.SaltText())
			}
		})
	}
}
