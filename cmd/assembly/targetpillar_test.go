//go:build !slim

package assembly

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/internal/core/config"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// pillarTree is a controller with a pillar of the size that a team has: a top
// file with a dozen targets, of which five fit, templates, imports, an include.
func pillarTree(t testing.TB, targets int, files map[string]string) *targetPillars {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ros := ""
	for i := range targets {
		ros += fmt.Sprintf("web%d:\n  host: 127.0.0.1\n", i)
	}
	ros += "other:\n  host: 127.0.0.1\n  minion_opts: {pillar_roots: {base: [" + dir + "/pillar2]}}\n"
	write("conf/roster", ros)
	write("conf/master", "pillar_roots: {base: ["+dir+"/pillar]}\nfile_roots: {base: ["+dir+"/salt]}\ncachedir: "+dir+"/cache\n")
	for name, text := range files {
		write(name, text)
	}
	h := host.NewLocal()
	cfg, err := config.Load(config.Options{Kind: config.Master, Host: h, Dir: filepath.Join(dir, "conf")})
	if err != nil {
		t.Fatal(err)
	}
	o := EnvOptions{Host: h, Config: cfg, Table: Table(), Bus: event.NewRing(0, time.Now), JID: "20260102030405000000", Warn: func(w fun.Warning) { t.Error(w) }}
	ctl := NewEnv(t.Context(), o)
	r, err := Roster(t.Context(), ctl, cfg, SSHOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return newTargetPillars(o, r)
}

func usualPillar() map[string]string {
	files := map[string]string{
		"pillar/top.sls": `base:
  '*': [common, users]
  'web*': [web]
  'db*': [db]
  'os:Debian': [{match: grain}, debian]
  'G@os_family:RedHat': [redhat]
  'role:web and not web1000*': [{match: compound}, web]
  'E@web\d+': [numbered]
`,
		"pillar/common.sls":   "{% from 'map.jinja' import ports with context %}\nports: {{ ports | tojson }}\nid: {{ grains.id }}\nos: {{ grains['os'] }}\n",
		"pillar/map.jinja":    "{% set ports = {'http': 80, 'https': 443, 'of': grains.id} %}\n",
		"pillar/web.sls":      "include: [tls]\nweb:\n{% for i in range(20) %}\n  site{{ i }}:\n    port: {{ 8000 + i }}\n    root: /srv/{{ i }}\n{% endfor %}\n",
		"pillar/tls.sls":      "tls:\n  cert: /etc/ssl/{{ grains.id }}.pem\n",
		"pillar/debian.sls":   "pkg: apt\n",
		"pillar/numbered.sls": "n: {{ grains.id[3:] }}\n",
		"pillar/users.sls":    "users:\n",
	}
	for i := range 20 {
		files["pillar/users.sls"] += fmt.Sprintf("  user%d: {uid: %d, shell: /bin/bash, groups: [a, b, c]}\n", i, 1000+i)
	}
	for i := range 200 { // states, and what they need
		files[fmt.Sprintf("salt/s%d/init.sls", i)] = "x:\n  test.nop\n"
	}
	return files
}

// BenchmarkTargetPillar is the pillar of one of 1,000 targets.
func BenchmarkTargetPillar(b *testing.B) {
	const n = 1000
	p := pillarTree(b, n, usualPillar())
	g := value.MapOf("os", "Debian", "os_family", "Debian", "role", "web")
	b.ReportAllocs()
	i := 0
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	for b.Loop() {
		id := fmt.Sprintf("web%d", i%n)
		g.Set("id", id)
		m, err := p.render(b.Context(), id, g, fun.PillarRequest{})
		if err != nil || m.Map("tls").Str("cert") != "/etc/ssl/"+id+".pem" || m.Str("pkg") != "apt" {
			b.Fatal(value.Repr(m), err)
		}
		i++
	}
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	b.ReportMetric(float64(used)/float64(i), "cpu-ns/op")
}

// TestTargetPillarsShare renders pillars of many targets out of the same files,
// at once: each is its own target's, and files that change count at once.
func TestTargetPillarsShare(t *testing.T) {
	t.Parallel()
	files := usualPillar()
	files["pillar2/top.sls"] = "base: {'*': [common]}\n"
	files["pillar2/common.sls"] = "other: [{{ grains.id }}]\n"
	p := pillarTree(t, 20, files)
	grains := func(id, os string) *value.Map {
		return value.MapOf("id", id, "os", os, "os_family", os, "role", "x")
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for n := range 4 {
				id, os := fmt.Sprintf("web%d", i), []string{"Debian", "RedHat"}[(i+n)%2]
				m, err := p.render(t.Context(), id, grains(id, os), fun.PillarRequest{})
				want := "apt"
				if os == "RedHat" {
					want = "" // its SLS is not there: the error is the target's own
				}
				if err != nil || m.Str("id") != id || m.Map("ports").Str("of") != id || m.Str("pkg") != want || m.Has("_errors") != (want == "") {
					t.Errorf("%s as %s: %s, %v", id, os, value.Repr(m), err)
				}
				users := m.Map("users")
				users.Map("user1").Set("uid", "changed") // what one has is not another's
			}
		})
	}
	wg.Wait()
	m, err := p.render(t.Context(), "other", grains("other", "Debian"), fun.PillarRequest{})
	if err != nil || value.Repr(m) != "{'other': ['other']}" {
		t.Errorf("with other roots: %s, %v", value.Repr(m), err)
	}
	m, err = p.render(t.Context(), "web1", grains("web1", "Debian"), fun.PillarRequest{})
	if err != nil || m.Map("users").Map("user1").At("uid") != int64(1001) {
		t.Errorf("what one target's pillar was changed to is another's: %v", err)
	}
	abs := filepath.Dir(p.o.Config.Opts.Map("pillar_roots").List("base").Items[0].(string))
	if err := os.WriteFile(filepath.Join(abs, "pillar/debian.sls"), []byte("pkg: dpkg\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(abs, "pillar/map.jinja"), []byte("{% set ports = {'of': 'new', 'http': 1} %}"), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err = p.render(t.Context(), "web1", grains("web1", "Debian"), fun.PillarRequest{})
	if err != nil || m.Str("pkg") != "dpkg" || m.Map("ports").Str("of") != "new" {
		t.Errorf("after the files changed: %s, %v", value.Repr(m), err)
	}
}

func TestNamesOfGrains(t *testing.T) {
	t.Parallel()
	got := namesOfGrains(nil, `{{ grains.id }} {{ grains['fqdn'] }} {{ grains.get("role", 1) }} {{ salt['grains.get']('virtual') }}
{{ salt.grains.get('ip4:x') }} {% if 'x' in grains %} {{ grains.items() }} 'G@os:Debian or P@roles:web.*': x mygrains.y
{{ salt['grains.filter_by']({}, grain='os_family') }} {{ grains["fqdn"] }}`)
	want := []string{"id", "fqdn", "role", "virtual", "ip4", "os", "roles"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
