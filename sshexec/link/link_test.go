package link_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

func TestCalls(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	c, _ := s.connect()
	if f := c.Facts(); f.Version != "test" || f.PID != os.Getpid() || f.UID != os.Getuid() {
		t.Errorf("facts = %+v", f)
	}
	if v := call(t, c, job("test.ping")); v != true {
		t.Errorf("test.ping = %v", v)
	}
	if v := call(t, c, job("grains.get", "role")); v != "web" {
		t.Errorf("grains.get role = %v", v)
	}
	if v := call(t, c, job("grains.get", "id")); v != "web1" {
		t.Errorf("grains.get id = %v", v)
	}
	if v := call(t, c, job("pillar.get", "port")); v != int64(8080) {
		t.Errorf("pillar.get port = %v", v)
	}
	if v := call(t, c, job("pillar.get", "kernel")); v != "Linux" {
		t.Errorf("the pillar does not follow the target's grains: %v", v)
	}
	ret := c.Invoke(t.Context(), job("no.such"))
	if v, _ := ret.Value(); ret.Stage != fun.Returned || ret.Retcode == 0 || v != "'no.such' is not available." {
		t.Errorf("no.such = %+v, %v", ret, v)
	}
	g, err := c.Grains(t.Context(), []string{"role", "id", "missing"}, false)
	if err != nil || !value.Equal(g, value.MapOf("role", "web", "id", "web1")) {
		t.Errorf("Grains = %s, %v", value.Repr(g), err)
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newSite(t, map[string]string{
		"top.sls":             "base:\n  '*':\n    - web\n",
		"web/init.sls":        "include:\n  - .conf\n{% from 'web/map.jinja' import web with context %}\nroot:\n  file.directory:\n    - name: " + dir + "/{{ web.name }}\n",
		"web/conf.sls":        "conf:\n  file.managed:\n    - name: " + dir + "/conf\n    - source: salt://web/files/conf.tmpl\n    - template: jinja\n    - require:\n      - file: root\n",
		"web/map.jinja":       "{% import_yaml 'web/defaults.yaml' as web %}",
		"web/defaults.yaml":   "name: site\n",
		"web/files/conf.tmpl": "port {{ pillar['port'] }} of {{ grains['id'] }} {{ pillar[7] }}\n",
	})
	c, _ := s.connect()
	got := results(t, call(t, c, job("state.apply", "web")))
	want := map[string]string{
		"root": "True ",
		"conf": "True File " + dir + "/conf updated",
	}
	got["root"] = got["root"][:5]
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	b, err := os.ReadFile(filepath.Join(dir, "conf"))
	if err != nil || string(b) != "port 8080 of web1 seven\n" {
		t.Errorf("conf = %q, %v", b, err)
	}
	got = results(t, call(t, c, job("state.highstate")))
	if got["conf"] != "True File "+dir+"/conf is in the correct state" {
		t.Errorf("second run: %v", got)
	}
	for _, p := range []string{"web/init.sls", "web/conf.sls", "web/files/conf.tmpl"} {
		if n := s.files.count(p); n > 3 {
			t.Errorf("%s was opened %d times", p, n)
		}
	}
}
