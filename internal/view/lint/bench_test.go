package lint_test

import (
	"fmt"
	"testing"

	"brine/internal/view/lint"
)

// BenchmarkRun lints 1,000 SLS files for the six systems, such as large trees have: each has
// a map of its own, templates of files, a condition and a loop. It is to take at most four
// seconds of CPU.
func BenchmarkRun(b *testing.B) {
	files := map[string]string{"pillar/top.sls": "base: {'*': [site]}\n", "pillar/site.sls": "port: 80\nusers: [a, b]\n"}
	for i := range 1000 {
		files[fmt.Sprintf("salt/app%03d/init.sls", i)] = fmt.Sprintf(`{%%- from 'app%03d/map.jinja' import app with context %%}
{%%- if grains['os_family'] == 'Debian' or pillar.get('extra') %%}
app%03d-extra:
  pkg.installed:
    - name: {{ app.pkg }}-extra
{%%- endif %%}
app%03d:
  pkg.installed:
    - name: {{ app.pkg }}
  file.managed:
    - name: /etc/app%03d.conf
    - source: salt://app%03d/app.conf
    - template: jinja
    - mode: '0644'
    - context:
        port: {{ salt['pillar.get']('port', 80) }}
    - require:
      - pkg: app%03d
  service.running:
    - name: {{ app.service }}
    - watch:
      - file: app%03d
{%%- for user in pillar.get('users', []) %%}
app%03d-{{ user }}:
  user.present:
    - name: {{ user }}%03d
{%%- endfor %%}
`, i, i, i, i, i, i, i, i, i)
		files[fmt.Sprintf("salt/app%03d/map.jinja", i)] = fmt.Sprintf("{%% set app = salt['grains.filter_by']({'Debian': {'pkg': 'app%d', 'service': 'app'}, 'RedHat': {'pkg': 'app%d', 'service': 'appd'}, 'default': {'pkg': 'app', 'service': 'app'}}, default='default') %%}\n", i, i)
		files[fmt.Sprintf("salt/app%03d/app.conf", i)] = "port = {{ port }}\nhost = {{ grains['id'] }}\n"
	}
	_, o := write(b, files)
	o.Systems = lint.Systems()
	before := cpuTime()
	for b.Loop() {
		r, err := lint.Run(b.Context(), o)
		if err != nil || len(r.Findings) > 0 || r.SLS != 1000 {
			b.Fatalf("%d SLS, findings %.5v, %v", r.SLS, r.Findings, err)
		}
	}
	b.ReportMetric((cpuTime()-before).Seconds()/float64(b.N), "cpu-s/op")
}
