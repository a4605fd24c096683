package render_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/render"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
)

// bigTree is a formula of the usual make: a map file, a macro library and an
// SLS of 350 lines with loops and imports.
func bigTree() map[string]string {
	var b strings.Builder
	b.WriteString("{%- set tplroot = tpldir.split('/')[0] %}\n{%- from tplroot ~ '/map.jinja' import web with context %}\n{%- from tplroot ~ '/macros.jinja' import site, option with context %}\n")
	for i := range 22 {
		fmt.Fprintf(&b, `
{%%- if web.enabled and '%[1]d' not in web.skip %%}
web-package-%[1]d:
  pkg.installed:
    - name: {{ web.pkg }}-%[1]d
    - version: {{ web.versions.get('%[1]d', web.version) | yaml_dquote }}
    - pkgs: {{ web.extras | map('upper') | list | json }}
{%%-   for name, user in web.users | dictsort %%}
web-user-%[1]d-{{ name }}:
  user.present:
    - name: {{ name ~ '-%[1]d' }}
    - uid: {{ user.uid + %[1]d }}
    - require:
      - pkg: web-package-%[1]d
{{ option('shell', user.get('shell', '/bin/sh')) }}
{%%-   endfor %%}
{%%- endif %%}
`, i)
	}
	return map[string]string{
		"web/init.sls": b.String(),
		"web/map.jinja": "{% import_yaml 'web/defaults.yaml' as defaults %}\n{% import_yaml 'web/osmap.yaml' as osmap %}\n" +
			"{% set web = defaults.web %}\n{% do web.update(osmap.get(grains.os, {})) %}\n",
		"web/defaults.yaml": "web:\n  enabled: true\n  pkg: webd\n  version: '1.2'\n  versions: {'3': '1.3'}\n  skip: []\n  extras: [a, b, c]\n  users:\n    zoe: {uid: 100}\n    adam: {uid: 200, shell: /bin/bash}\n    bob: {uid: 300}\n",
		"web/osmap.yaml":    "Debian: {pkg: webd-deb}\nRedHat: {pkg: webd-el}\n",
		"web/macros.jinja":  "{% macro option(k, v) -%}\n{{ '    - ' ~ k ~ ': ' ~ v }}\n{%- endmacro %}\n{% macro site(n) %}{{ n }}{% endmacro %}\n",
	}
}

func BenchmarkFirst(b *testing.B) {
	e := tree(b, bigTree())
	in := input(b, e, "web")
	if n := strings.Count(string(in.Text), "\n"); n < 340 || n > 400 {
		b.Fatalf("the SLS has %d lines", n)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := render.New(e, e.Up).SLS(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAgain(b *testing.B) {
	e := tree(b, bigTree())
	in := input(b, e, "web")
	r := render.New(e, e.Up)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.SLS(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFormulas(b *testing.B) {
	machines := readJSON(b, "testdata/formulas/machines.json")
	e := machine(b, "testdata/formulas/salt", machines.Map("deb1"))
	for _, name := range []string{"webd.config.file", "tofsd", "stackd"} {
		in := input(b, e, name)
		b.Run(name, func(b *testing.B) {
			r := render.New(e, e.Up)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.SLS(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStates renders SLS of many states, each with five requisites.
func BenchmarkStates(b *testing.B) {
	for _, n := range []int{2_000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var text strings.Builder
			for i := range n {
				fmt.Fprintf(&text, "state-%d:\n  test.nop:\n    - name: value {{ %d }}\n    - require:\n", i, i)
				for k := 1; k <= 5; k++ {
					fmt.Fprintf(&text, "      - test: state-%d\n", max(0, i-k))
				}
			}
			e := tree(b, map[string]string{"a.sls": text.String()})
			in := input(b, e, "a")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := render.New(e, e.Up).SLS(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// counted counts how often files are opened.
type counted struct {
	fun.Upstream
	mu    sync.Mutex
	opens map[string]int
}

func (c *counted) Open(ctx context.Context, saltenv, path string) (io.ReadCloser, error) {
	c.mu.Lock()
	c.opens[path]++
	c.mu.Unlock()
	return c.Upstream.Open(ctx, saltenv, path)
}

// TestReadOnce imports a map file from 200 SLS files: it is read once, until it
// changes.
func TestReadOnce(t *testing.T) {
	files := map[string]string{"map.jinja": "{% import_yaml 'd.yaml' as d %}{% set m = d %}", "d.yaml": "a: 1\n"}
	for i := range 200 {
		files[fmt.Sprintf("s%d.sls", i)] = fmt.Sprintf("{%% from 'map.jinja' import m %s%%}\nx%d: {{ m.a }}\n", []string{"", "with context "}[i%2], i)
	}
	e := tree(t, files)
	up := &counted{Upstream: e.Up, opens: map[string]int{}}
	e.Up = up
	for i := range 200 {
		if v, err := sls(t, e, fmt.Sprintf("s%d", i)); err != nil || calltest.Plain(v) != fmt.Sprintf("{'x%d': 1}", i) {
			t.Fatalf("%s, %v", value.Repr(v), err)
		}
	}
	for _, name := range []string{"map.jinja", "d.yaml"} {
		if n := up.opens[name]; n != 1 {
			t.Errorf("%s was opened %d times, want 1", name, n)
		}
	}
	h := e.Host.(*host.Fake)
	h.PutFile("/srv/salt/d.yaml", "a: 22\n", 0o644)
	if v, err := sls(t, e, "s0"); err != nil || calltest.Plain(v) != "{'x0': 22}" {
		t.Errorf("after a change: %s, %v", value.Repr(v), err)
	}
}

var _ fun.Files = (*fileserver.Server)(nil)
