package e2e

import (
	"encoding/base64"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/redact"
)

// secretSLS has a secret of each origin that is not a pillar, and shows it in output, in
// a comment, in a diff and in a failure.
const secretSLS = `
env:
  cmd.run:
    - name: echo "$TOP" "$SHORT"; echo "$TOP" | base64; echo "$TOP" >&2; exit 3
    - env: [{TOP: 'origin-env "quoted"'}, {SHORT: origin-envshort}]
stdin:
  cmd.run:
    - name: cat
    - stdin: "origin-stdin one\norigin-stdin two\n"
declared:
  cmd.run:
    - name: echo {{ salt['random.hash']('origin-declared', 'sha256') | length }} origin-urlpass
    - password: origin-declared
url:
  test.fail_without_changes:
    - name: git clone https://anna:origin-urlpass@example.invalid/x
    - comment: 'it is {{ 'origin-' }}{{ 'urlpass' }}'
file:
  file.managed:
    - name: @DIR@/out-{{ grains.id }}
    - contents: |
        a = origin-envshort
        b = origin-urlpass
`

// TestSecretsByOrigin: what arguments, environments, input and URLs have of secrets is
// not in what a run leaves: job cache, history, returners, events, logs at every level,
// reports, progress. It is so on this machine, over SSH, in an orchestration and where
// nobody waited for the return.
func TestSecretsByOrigin(t *testing.T) {
	t.Parallel()
	s := asyncSite(t, 2)
	s.write("master", read(t, s.path("master"))+`
file_recv: True
history: sqlite3
event_return: [rawfile_json]
rawfile_json.filename: `+s.path("rows.log")+`
sqlite3.database: `+s.path("x.db")+`
cache_jobs: True
file_client: local
id: ctl
`)
	s.write("minion", read(t, s.path("master")))
	s.write("salt/secret.sls", strings.ReplaceAll(secretSLS, "@DIR@", t.TempDir()))
	s.write("salt/orch.sls", "step:\n  salt.state:\n    - tgt: 'web*'\n    - sls: secret\nfun:\n  salt.function:\n    - name: cmd.run\n    - tgt: web1\n    - arg: ['echo $TOP; exit 1']\n    - kwarg: {env: {TOP: origin-orchenv}, stdin: origin-orchstdin}\n")
	reports := func(name string) string {
		var all []string
		for _, ext := range []string{"xml", "html", "md", "ndjson", "prom"} {
			all = append(all, s.path("left/"+name+"."+ext))
		}
		return "--report=" + strings.Join(all, ",")
	}
	if err := os.Mkdir(s.path("left"), 0o700); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	run := func(name string, args ...string) result {
		r := s.brine(append(args, "-l", "trace", "--log-file", s.path("left/"+name+".log"), "--return", "sqlite3,rawfile_json")...)
		shown.WriteString("\n== " + name + "\n" + r.stderr)
		return r
	}
	state := func(name string, args ...string) {
		r := run(name, append(args, "--out=json", "--progress=plain", reports(name))...)
		if r.exit == 0 || !strings.Contains(r.stdout, "origin-envshort") {
			t.Errorf("%s: exit %d, stdout %s\nstderr %s", name, r.exit, r.stdout, r.stderr)
		}
	}
	state("call", "call", "state.apply", "secret")
	state("ssh", "ssh", "web*", "state.apply", "secret")
	state("orch", "orchestrate", "orch")
	run("function", "ssh", "web1", "cmd.run", "echo $TOP; cat; exit 1", `env={TOP: origin-cmdenv}`, "stdin=origin-cmdstdin", "--out=quiet")
	run("local", "call", "cmd.run", "echo $TOP; cat; exit 1", `env={TOP: origin-cmdenv}`, "stdin=origin-cmdstdin", "--out=quiet")
	jid := s.async("web1", "state.apply", "secret")
	s.until("Succeeded", "run", "jobs.print_job", jid, "--out=highstate")

	// The pages of the documentation name these places; the trees and the agent's own
	// directory are not among them.
	found := map[string]bool{}
	texts := map[string]string{"stderr": shown.String()}
	for _, dir := range []string{"left", "cache", "rows.log", "x.db", "x.db-wal", "home"} {
		err := filepath.WalkDir(s.path(dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				texts[path] = read(t, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	secret := regexp.MustCompile(`origin-[a-z]+.{0,8}`)
	var encoded []string
	for _, v := range []string{`origin-env "quoted"`, "origin-envshort", "origin-urlpass", "origin-cmdenv"} {
		encoded = append(encoded, base64.StdEncoding.EncodeToString([]byte(v+"\n")))
	}
	for path, text := range texts {
		if strings.Contains(text, redact.Hidden) {
			found[filepath.Ext(path)] = true
		}
		for _, at := range secret.FindAllStringIndex(text, 3) {
			t.Errorf("%s has %q", path, text[max(0, at[0]-120):at[1]])
		}
		for _, v := range encoded {
			if strings.Contains(text, v) {
				t.Errorf("%s has %q in base64", path, v)
			}
		}
	}
	for _, ext := range []string{"", ".log", ".db", ".xml", ".html", ".md", ".ndjson"} {
		if !found[ext] {
			t.Errorf("nothing was hidden in files %q: %v", ext, slices.Sorted(maps.Keys(texts)))
		}
	}
	for _, name := range []string{"call.xml", "ssh.html"} {
		if st, err := os.Stat(s.path("left/" + name)); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, st.Mode(), err)
		}
	}
}
