package lint_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"brine/internal/view/lint"
)

// shown returns findings as one text each.
func shown(dir string, r *lint.Report) []string {
	var out []string
	for _, f := range r.Findings {
		f.Pos.File = strings.TrimPrefix(f.Pos.File, dir+"/")
		out = append(out, fmt.Sprintf("%s %s %s %v %s", f.Pos, f.Rule, f.Severity, f.Systems, f.Message))
	}
	return out
}

// siteFiles is a tree whose files depend on each other.
func siteFiles() map[string]string {
	return map[string]string{
		"salt/top.sls":   "base:\n  '*':\n    - web\n    - base\n",
		"salt/base.sls":  "base:\n  test.nop: []\n",
		"salt/web.sls":   "include:\n  - lib\n{% from 'map.jinja' import port %}\nweb:\n  test.nop:\n    - name: {{ port }}\n    - require:\n      - test: base\n      - test: lib\n",
		"salt/lib.sls":   "lib:\n  test.nop:\n    - name: {{ pillar.get('app', {}).get('name', 'x') }}\n",
		"salt/map.jinja": "{% set port = 80 %}\n",
		"pillar/top.sls": "base:\n  '*':\n    - app\n",
		"pillar/app.sls": "app:\n  name: web\n",
	}
}

// TestSession: after each change, checking what depends on it finds what checking
// the whole tree finds; nearby alone finds the faults of the changed file.
func TestSession(t *testing.T) {
	t.Parallel()
	dir, o := write(t, siteFiles())
	over := lint.NewOverlay(o.Disk)
	o.Disk = over
	s, err := lint.NewSession(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Check(t.Context(), lint.Everything); err != nil || len(r.Findings) != 0 {
		t.Fatalf("clean tree: %v, %v", r, err)
	}
	for _, tt := range []struct {
		file, text string
		near       string // a rule that is found at once; "" for none
		want       string // what everything finds; "" for nothing
	}{
		{"salt/web.sls", "\n\n" + siteFiles()["salt/web.sls"], "", ""},
		{"salt/web.sls", strings.Replace(siteFiles()["salt/web.sls"], "test: lib", "test: lob", 1), "", "salt/web.sls:9:9 missing-requisite"},
		{"salt/web.sls", strings.Replace(siteFiles()["salt/web.sls"], "test.nop", "test.nopp", 1), "unknown-state", "salt/web.sls:4:1 unknown-state"},
		{"salt/web.sls", siteFiles()["salt/web.sls"], "", ""},
		{"salt/map.jinja", "{% set prot = 80 %}\n", "undefined-variable", "salt/web.sls:6:16 undefined-variable"},
		{"salt/map.jinja", siteFiles()["salt/map.jinja"], "", ""},
		{"salt/lib.sls", "lub:\n  test.nop: []\n", "", "missing-requisite"},
		{"salt/lib.sls", "", "", "unused-include"},
		{"salt/lib.sls", siteFiles()["salt/lib.sls"], "", ""},
		{"salt/base.sls", "other:\n  test.nop: []\n", "", "salt/web.sls:8:9 missing-requisite"},
		{"salt/base.sls", siteFiles()["salt/base.sls"], "", ""},
		{"salt/top.sls", "base:\n  '*':\n    - wep\n", "missing-include", "salt/top.sls:3:7 missing-include"},
		{"salt/top.sls", siteFiles()["salt/top.sls"], "", ""},
		{"pillar/app.sls", "app: [\n", "render-error", "pillar/app.sls"},
		{"pillar/app.sls", "app: 1\n", "", "salt/lib.sls"},
		{"pillar/app.sls", "app:\n  name: y\nspare: 1\n", "unused-pillar", "unused-pillar"},
		{"pillar/app.sls", siteFiles()["pillar/app.sls"], "", ""},
		{"salt/new.sls", "n:\n  test.nap: []\n", "unknown-state", "salt/new.sls:1:1 unknown-state"},
	} {
		abs := filepath.Join(dir, tt.file)
		fresh := !s.Has(abs)
		over.Set(abs, []byte(tt.text))
		if s.Touch(abs); fresh {
			s.Relist()
		}
		near, err := s.Check(t.Context(), lint.Nearby, abs)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(shown(dir, near), "\n"); !strings.Contains(got, tt.near) || tt.want == "" && got != "" && tt.file != "salt/top.sls" {
			t.Errorf("%s %q: nearby found\n%s\nwant %s", tt.file, tt.text, got, tt.near)
		}
		all, err := s.Check(t.Context(), lint.Everything)
		if err != nil || s.Due() {
			t.Fatalf("everything: %v, due %t", err, s.Due())
		}
		got := shown(dir, all)
		if text := strings.Join(got, "\n"); !strings.Contains(text, tt.want) || tt.want == "" && text != "" {
			t.Errorf("%s %q: found\n%s\nwant %s", tt.file, tt.text, text, tt.want)
		}
		whole, err := lint.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if want := shown(dir, whole); !slices.Equal(got, want) {
			t.Errorf("%s %q: found\n%s\nthe whole tree has\n%s", tt.file, tt.text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestSessionBelow: a template that is added below a directory of file.recurse is checked,
// and so is one that changes.
func TestSessionBelow(t *testing.T) {
	t.Parallel()
	dir, o := write(t, map[string]string{
		"salt/a.sls":   "/etc/app:\n  file.recurse:\n    - source: salt://app\n    - template: jinja\n",
		"salt/app/one": "{{ name }}\n",
	})
	over := lint.NewOverlay(o.Disk)
	o.Disk = over
	s, err := lint.NewSession(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		file, text string
		want       int
	}{{"", "", 0}, {"salt/app/two", "{{ nope }}\n", 1}, {"salt/app/one", "{{ neither }}\n", 2}, {"salt/app/two", "\n", 1}} {
		if abs := filepath.Join(dir, tt.file); tt.file != "" {
			fresh := !s.Has(abs)
			over.Set(abs, []byte(tt.text))
			if s.Touch(abs); fresh {
				s.Relist()
			}
		}
		r, err := s.Check(t.Context(), lint.Everything)
		if err != nil {
			t.Fatal(err)
		}
		if got := shown(dir, r); len(got) != tt.want {
			t.Errorf("after %q in %s: found %q, want %d", tt.text, tt.file, got, tt.want)
		}
	}
}

// TestSessionCancelled: a check that was cancelled is completed by the next.
func TestSessionCancelled(t *testing.T) {
	t.Parallel()
	dir, o := write(t, map[string]string{"salt/a.sls": "a:\n  test.nopp: []\n"})
	s, err := lint.NewSession(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Check(ctx, lint.Everything); err == nil || !s.Due() {
		t.Errorf("cancelled check: %v, due %t", err, s.Due())
	}
	r, err := s.Check(t.Context(), lint.Everything)
	if err != nil || len(r.Findings) != 1 {
		t.Errorf("after it: %v, %v", shown(dir, r), err)
	}
}

// TestSessionCancelledAnywhere: a check may be cancelled at any step of the pillar
// and of the states.
func TestSessionCancelledAnywhere(t *testing.T) {
	t.Parallel()
	files := siteFiles()
	files["pillar/app.sls"] = "app: {{ nope }}\n"
	dir, o := write(t, files)
	want, err := lint.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for steps := range 60 {
		s, err := lint.NewSession(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.Check(&countdown{Context: t.Context(), left: int64(steps)}, lint.Everything)
		r, err := s.Check(t.Context(), lint.Everything)
		if err != nil || !slices.Equal(shown(dir, r), shown(dir, want)) {
			t.Fatalf("cancelled after %d steps: %v, %q", steps, err, shown(dir, r))
		}
	}
}

// A countdown is a context that ends after it was asked a number of times.
type countdown struct {
	context.Context
	left int64
}

func (c *countdown) Err() error {
	if atomic.AddInt64(&c.left, -1) < 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

// BenchmarkSessionChange changes one of 1,000 SLS files, of which 10 include it.
func BenchmarkSessionChange(b *testing.B) {
	files := map[string]string{"salt/top.sls": "base:\n"}
	for i := range 1000 {
		text := fmt.Sprintf("include:\n  - m%d.s%d\n", i/100, i/10*10%100)
		if i%10 == 0 {
			text = ""
		}
		text += "{% from 'map.jinja' import port with context %}\n"
		for j := range 8 {
			text += fmt.Sprintf("id_%d_%d:\n  file.managed:\n    - name: /srv/%d/%d/{{ port }}\n    - contents: {{ grains['os'] }} {{ pillar.get('app', 1) }}\n    - mode: '0644'\n", i, j, i, j)
		}
		files[fmt.Sprintf("salt/m%d/s%d.sls", i/100, i%100)] = text
		if i%20 == 0 {
			files["salt/top.sls"] += fmt.Sprintf("  'web%d*':\n    - m%d.s%d\n    - m%d.s1\n", i, i/100, i%100, (i/100+1)%10)
		}
	}
	files["salt/map.jinja"] = "{% set port = 80 %}\n"
	for i := range 50 {
		files[fmt.Sprintf("pillar/p%d.sls", i)] = fmt.Sprintf("app%d:\n  name: web\n  list: [1, 2, 3]\n", i)
	}
	dir, o := write(b, files)
	over := lint.NewOverlay(o.Disk)
	o.Disk = over
	start, startCPU := time.Now(), cpuTime()
	s, err := lint.NewSession(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Check(b.Context(), lint.Everything); err != nil {
		b.Fatal(err)
	}
	b.Logf("the whole tree: %v, CPU %v", time.Since(start), cpuTime()-startCPU)
	for _, name := range []string{"salt/m5/s55.sls", "salt/m5/s50.sls", "salt/map.jinja", "pillar/p3.sls"} {
		b.Run(strings.ReplaceAll(name, "/", "_"), func(b *testing.B) {
			n := 0
			before := cpuTime()
			for b.Loop() {
				n++
				abs := filepath.Join(dir, name)
				over.Set(abs, []byte(files[name]+fmt.Sprintf("# %d\n", n)))
				s.Touch(abs)
				if _, err := s.Check(b.Context(), lint.Nearby, abs); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime()-before).Milliseconds())/float64(n), "cpu-ms/op")
		})
	}
}

// cpuTime returns the processor time of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
