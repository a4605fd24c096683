package jinja_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"brine/internal/py/jinja"
	"brine/internal/py/jinja/saltjinja"
	"brine/internal/py/value"
	"brine/internal/testkit/jinjatest"
)

// benchFiles are templates in the manner of public formulas: a map.jinja over
// tables of defaults, a lookup macro for files, and an SLS of about 350 lines.
func benchFiles() jinjatest.Files {
	var sls strings.Builder
	sls.WriteString(`# -*- coding: utf-8 -*-
# vim: ft=sls
{#- Get the tplroot from tplpath #}
{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ "/map.jinja" import mapdata as web with context %}
{%- from tplroot ~ "/libtofs.jinja" import files_switch with context %}

include:
  - {{ tplroot }}.install
`)
	for i := range 14 {
		fmt.Fprintf(&sls, `
{%%- if web.server.enabled and grains.os_family in ('Debian', 'RedHat') %%}
web-config-%[1]d:
  file.managed:
    - name: {{ web.dir.conf }}/site-%[1]d.conf
    - source: {{ files_switch(['site-%[1]d.conf.jinja', 'site.conf'],
                              lookup='web-config-%[1]d') }}
    - mode: '0644'
    - user: {{ web.user|default('root') }}
    - group: {{ web.rootgroup }}
    - template: jinja
    - context:
        port: {{ web.server.port + %[1]d }}
        name: {{ (web.name ~ '-%[1]d')|upper }}
{%%- endif %%}

{%%- for name, site in web.sites.items()|sort %%}
{%%-   if site.enabled and not loop.first %%}
site-{{ name }}-%[1]d:
  file.symlink:
    - name: {{ web.dir.enabled }}/{{ name }}
    - target: {{ web.dir.available }}/{{ name }}
{%%-     if site.aliases is defined %%}
    - aliases:
{%%-       for a in site.aliases %%}
      - {{ a }}{{ ',' if not loop.last else '' }}
{%%-       endfor %%}
{%%-     endif %%}
{%%-   endif %%}
{%%- endfor %%}
`, i)
	}
	return jinjatest.Files{
		"web/init.sls": sls.String(),
		"web/map.jinja": `{%- set defaults = {'name': 'nginx', 'rootgroup': 'root', 'server': {'enabled': true, 'port': 80},
    'dir': {'conf': '/etc/nginx', 'available': '/etc/nginx/sites-available', 'enabled': '/etc/nginx/sites-enabled'}} %}
{%- set osfamilymap = {'Debian': {'user': 'www-data'}, 'RedHat': {'user': 'nginx', 'name': 'nginx'}, 'FreeBSD': {'rootgroup': 'wheel'}} %}
{%- set mapdata = defaults %}
{%- do mapdata.update(osfamilymap.get(grains.os_family, {})) %}
{%- do mapdata.update({'sites': pillar.get('sites', {})}) %}
`,
		"web/libtofs.jinja": `{%- macro files_switch(source_files, lookup=None, default_files_switch=['id', 'os_family'], indent_width=6, use_subpath=False) %}
{%-   set path_prefix = tplroot ~ '/files' %}
{%-   set files_switch_list = default_files_switch %}
{%-   for fs in files_switch_list + ['default'] %}
{%-     for src_file in source_files %}
{%-       if fs == 'default' %}{%- set fs_dir = 'default' %}{%- else %}{%- set fs_dir = grains.get(fs, fs)|replace(' ', '_') %}{%- endif %}
{%-       set url = [
            '- salt:/',
            path_prefix.strip('/'),
            fs_dir.strip('/'),
            src_file.lstrip('/'),
          ]|select|join('/') %}
{{ url|indent(indent_width, true) }}
{%-     endfor %}
{%-   endfor %}
{%- endmacro %}
`,
	}
}

func benchVars() *value.Map {
	sites := value.NewMap(8)
	for i := range 6 {
		sites.Set(fmt.Sprintf("site%d", i), value.MapOf("enabled", i != 3, "aliases", value.Strings("a.example.org", "b.example.org")))
	}
	return value.MapOf(
		"grains", value.MapOf("os_family", "Debian", "os", "Debian", "id", "web1.example.org"),
		"pillar", value.MapOf("sites", sites), "tpldir", "web",
	)
}

// BenchmarkFirst parses and renders everything.
func BenchmarkFirst(b *testing.B) {
	files, vars := benchFiles(), benchVars()
	ext := saltjinja.New(saltjinja.Options{})
	b.ReportAllocs()
	for b.Loop() {
		env := jinja.New(jinja.Options{Extension: ext}, files)
		if _, err := jinjatest.Render(env, "web/init.sls", files["web/init.sls"], vars); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAgain renders what is parsed already.
func BenchmarkAgain(b *testing.B) {
	files, vars := benchFiles(), benchVars()
	env := jinja.New(jinja.Options{Extension: saltjinja.New(saltjinja.Options{})}, files)
	tmpl, err := env.Parse("web/init.sls", files["web/init.sls"])
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d lines", strings.Count(files["web/init.sls"], "\n"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tmpl.Render(context.Background(), vars); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParse parses the SLS alone.
func BenchmarkParse(b *testing.B) {
	files := benchFiles()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jinja.New(jinja.Options{}, nil).Parse("web/init.sls", files["web/init.sls"]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoop counts in a loop of 1000 turns.
func BenchmarkLoop(b *testing.B) {
	env := jinja.New(jinja.Options{}, nil)
	tmpl, err := env.Parse("loop", "{% for i in range(1000) %}{% if i % 2 == 0 %}{{ i }}: {{ loop.index }}\n{% endif %}{% endfor %}")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tmpl.Render(context.Background(), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLarge parses and renders 20,000 lines, and asks for the place of
// each.
func BenchmarkLarge(b *testing.B) {
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "{%% if x %%}{%% set v%d = 1 %%}{%% endif %%}\nid%d:\n  test.nop:\n    - name: {{ x }}\n    - order: 1\n", i%50, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		tmpl, err := jinja.New(jinja.Options{}, nil).Parse("large", text.String())
		if err != nil {
			b.Fatal(err)
		}
		out, err := tmpl.Render(context.Background(), value.MapOf("x", int64(1)))
		if err != nil {
			b.Fatal(err)
		}
		for line := range 20000 {
			if p := out.Pos(line + 1); p.Line != line+1 {
				b.Fatalf("line %d is at %v", line+1, p)
			}
		}
	}
}

// BenchmarkCalls calls methods, filters and tests in a loop of 1000 turns.
func BenchmarkCalls(b *testing.B) {
	env := jinja.New(jinja.Options{Extension: saltjinja.New(saltjinja.Options{})}, nil)
	tmpl, err := env.Parse("calls", "{% for i in range(1000) %}{{ 'a-b-c'.split('-')|join('+')|upper }}{{ d.get('x', i)|to_bool }}"+
		"{{ '{}:{}'.format(i, l.index(3)) }}{{ l is iterable }}{{ d }}{{ d.items()|list|length }}\n{% endfor %}")
	if err != nil {
		b.Fatal(err)
	}
	vars := value.MapOf("d", value.MapOf("x", int64(1), "y", "z"), "l", value.NewList(int64(1), int64(2), int64(3)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tmpl.Render(context.Background(), vars); err != nil {
			b.Fatal(err)
		}
	}
}
