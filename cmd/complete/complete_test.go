package complete_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/call"
	"brine/cmd/run"
	"brine/cmd/ssh"
	"brine/internal/testkit/cmdtest"
)

// TestWords: what a shell offers for a command line of a tree, the last word of which is
// not complete.
func TestWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) { cmdtest.Write(t, filepath.Join(dir, name), text, 0o644) }
	roots := "cachedir: " + dir + "/cache\nfile_roots: {base: [" + dir + "/salt]}\npillar_roots: {base: [" + dir + "/pillar]}\n"
	write("minion", roots+"id: here\n")
	write("master", roots+"nodegroups: {web: 'web*', work: 'L@db1', all: '*'}\n")
	write("roster", "web1: {host: 127.0.0.1, grains: {role: [web, proxy], os: {name: a}}}\nweb2: {host: 127.0.0.2, grains: {role: web}}\ndb1: {host: 127.0.0.3}\n")
	write("salt/web.sls", "{}\n")
	write("salt/work/init.sls", "{}\n")
	write("salt/work/db.sls", "{}\n")
	write("pillar/top.sls", "base: {'*': [app]}\n")
	write("pillar/app.sls", "app: {port: 80, peers: [a], tls: {cert: x}}\nother: 1\n")
	for _, tt := range []struct{ line, want string }{
		{"call state.apply w", "web work work.db"},
		{"call state.apply web,w", "web,work web,work.db"},
		{"call state.apply web ", ""},
		{"call state.show_s", "state.show_sls state.show_state_usage state.show_states"},
		{"call jobs.list", ""},
		{"run jobs.list_jobs_", "jobs.list_jobs_filter"},
		{"call pillar.get a", "app"},
		{"call pillar.get app:", "app:port app:peers app:tls"},
		{"call pillar.get app:tls:c", "app:tls:cert"},
		{"call pillar.get app:port:", ""},
		{"call pillar.get app x", ""},
		{"call test.ping x", ""},
		{"ssh w", "web1 web2"},
		{"ssh -L web1,", "web1,db1 web1,web2"},
		{"ssh -N w", "web work"},
		{"ssh -G role:", "role:proxy role:web"},
		{"ssh -G o", "os:name:a"},
		{"ssh -C w", ""},
		{"ssh web1 state.apply wo", "work work.db"},
		{"call --out js", "json"},
		{"call --state-verbose T", "True"},
		{"call --log-level war", "warning"},
	} {
		words := strings.Split(tt.line, " ")
		args := append([]string{"__complete", words[0], "-c", dir}, words[1:]...)
		makes := map[string]func(*app.App) *cobra.Command{
			"call": func(a *app.App) *cobra.Command { return call.New(a, app.AsBrine, nil) },
			"run":  func(a *app.App) *cobra.Command { return run.New(a, app.AsBrine, nil) },
			"ssh":  func(a *app.App) *cobra.Command { return ssh.New(a, app.AsBrine, nil) },
		}[words[0]]
		status, out, errs := cmdtest.Run(t, map[string]string{"HOME": dir, "PWD": dir}, makes, args...)
		offered, _, _ := strings.Cut(out, ":4\n") // no names of files
		if status != 0 || strings.Join(strings.Fields(offered), " ") != tt.want || offered == out {
			t.Errorf("%s: status %d, %q, want %q\n%s", tt.line, status, out, tt.want, errs)
		}
	}
}
