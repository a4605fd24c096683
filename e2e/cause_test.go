//go:build linux

package e2e

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"brine/internal/testkit/porttest"
)

// causeTree has a command that fails for each way to say why.
var causeTree = map[string]string{
	"stderr": "bad:\n  cmd.run:\n    - name: echo all is well; echo disk is on fire >&2; exit 3\n",
	"stdout": "bad:\n  cmd.run:\n    - name: echo disk is on fire; exit 3\n",
	"secret": "bad:\n  cmd.run:\n    - name: echo \"$TOP disk is on fire\" >&2; exit 3\n    - env: [{TOP: origin-secretpass}]\n",
	"huge":   "bad:\n  cmd.run:\n    - name: head -c 10000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo disk is on fire >&2; exit 3\n",
	"evil":   "bad:\n  cmd.run:\n    - name: printf '\\033]0;t\\007\\033[2J\\342\\200\\256disk is on fire' >&2; exit 3\n",
}

// A medium is what a run leaves that tells people or programs of a failure.
type medium struct {
	name string
	text string
	most int // bytes that it has of a failure with much output
}

// causesIn runs a state that fails by each way that shows it, and returns what each
// medium has.
func causesIn(s sharer, name string) []medium {
	t := s.t
	t.Helper()
	run := func(status int, args ...string) (stdout, stderr string) {
		var out, err strings.Builder
		c := s.command(args...)
		c.Stdout, c.Stderr = &out, &err
		_ = c.Run()
		if got := c.ProcessState.ExitCode(); got != status {
			t.Errorf("brine %s exits with %d, want %d\n%.2000s", strings.Join(args, " "), got, status, out.String()+err.String())
		}
		return out.String(), err.String()
	}
	file := func(name string) string {
		b, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}
	var reports []string
	for _, ext := range []string{"xml", "md", "html", "ndjson"} {
		reports = append(reports, filepath.Join(s.dir, "r."+ext))
	}
	summary, lines := run(20, "ssh", "web1", "state.apply", name, "--summary", "--progress=plain", "--return=highstate", "--out=quiet", "--report", strings.Join(reports, ","))
	_, events := run(20, "ssh", "web1", "state.apply", name, "--progress=json", "--out=quiet")
	lined, _ := run(20, "ssh", "web1", "state.apply", name, "--out=ndjson")
	_, terse := run(20, "ssh", "web1", "state.apply", name, "--state-output=terse")
	_, steps := run(1, "orchestrate", "orch", "pillar={sls: "+name+"}", "--progress=plain", "--out=quiet")
	_, orch := run(1, "orchestrate", "orch", "pillar={sls: "+name+"}", "--state-output=terse")
	junit := failureOf(t, file("r.xml"))
	return []medium{
		{"the summary", summary, 2000},
		{"lines of progress", lines, 4000},
		{"events of progress", events, 8000},
		{"the terse output's lines on stderr", terse, 4000},
		{"lines of progress of steps", steps, 4000},
		{"the terse output of steps", orch, 4000},
		{"JUnit's message", junit.Suites[0].Name + junit.Suites[0].Cases[0].Name + junit.Suites[0].Cases[0].Failure.Message, 2000},
		{"JUnit's failure", junit.Suites[0].Name + junit.Suites[0].Cases[0].Name + junit.Suites[0].Cases[0].Failure.Text, 20_000},
		{"JUnit", file("r.xml"), 1 << 20},
		{"Markdown", part(file("r.md"), "### Failures", "### Changes"), 20_000},
		{"HTML", part(file("r.html"), "<h2 id=\"failures\">", "<h2 id=\"timeline\">"), 20_000},
		{"HTML's results", file("r.html"), 2 << 20},
		{"NDJSON's error", errorOf(t, file("r.ndjson")), 20_000},
		{"NDJSON of targets", errorOf(t, lined), 20_000},
		{"the mail of highstate", file("mail.yaml"), 20_000},
	}
}

type junitDoc struct {
	Suites []struct {
		Name  string `xml:"hostname,attr"`
		Cases []struct {
			Name    string `xml:"name,attr"`
			Failure struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
			Err string `xml:"system-err"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func failureOf(t *testing.T, text string) junitDoc {
	t.Helper()
	var doc junitDoc
	if err := xml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Suites) != 1 || len(doc.Suites[0].Cases) != 1 {
		t.Fatalf("%v in %.1000s", err, text)
	}
	return doc
}

// errorOf returns what a line of NDJSON says of a failure, without its changes.
func errorOf(t *testing.T, line string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%v in %.1000s", err, line)
	}
	if n, ok := m["exit_status"].(float64); !ok || n != 3 {
		t.Errorf("exit_status is %v", m["exit_status"])
	}
	delete(m, "changes")
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func part(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

// TestCauseEverywhere: whatever shows a failure shows the host, the state, the exit
// status and the end of what the program wrote; masked, bounded and harmless.
func TestCauseEverywhere(t *testing.T) {
	t.Parallel()
	status := regexp.MustCompile(`(exit status|retcode\W*) ?3`)
	for name := range causeTree {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := sharer{t, dir, dir}
			conf := "id: ctl\ncachedir: DIR/cache\nfile_roots: {base: [DIR/tree]}\nfile_client: local\nkeep_jobs_seconds: 0\nhighstate.file_output: DIR/mail.yaml\nhighstate.report_format: yaml\n"
			for _, f := range []string{"master", "minion"} {
				s.write(filepath.Join(dir, f), strings.ReplaceAll(conf, "DIR", dir))
			}
			s.write(filepath.Join(dir, "roster"), "web1: {connection: local}\n")
			s.write(filepath.Join(dir, "tree", "orch.sls"), "step:\n  salt.state:\n    - tgt: web1\n    - sls: {{ pillar.sls }}\n")
			for sls, text := range causeTree {
				s.write(filepath.Join(dir, "tree", sls+".sls"), text)
			}
			for _, m := range causesIn(s, name) {
				// What else the output has of the state is not its cause.
				shown := m.text
				for _, want := range []string{"web1", "bad", "disk is on fire"} {
					if !strings.Contains(shown, want) {
						t.Errorf("%s has no %q:\n%.3000s", m.name, want, shown)
					}
				}
				if !status.MatchString(shown) {
					t.Errorf("%s has no status:\n%.3000s", m.name, shown)
				}
				if strings.Contains(m.text, "secretpass") {
					t.Errorf("%s has the secret:\n%.3000s", m.name, m.text)
				}
				if len(m.text) > m.most {
					t.Errorf("%s has %d bytes, at most %d are to be there", m.name, len(m.text), m.most)
				}
				if strings.ContainsAny(m.text, "\x07\x1b") || !utf8.ValidString(m.text) {
					t.Errorf("%s has control characters: %.3000q", m.name, m.text)
				}
				if strings.Contains(m.text, "\u202e") && m.name != "JUnit" && m.name != "HTML's results" {
					t.Errorf("%s turns text around: %.3000q", m.name, m.text)
				}
			}
		})
	}
}

// TestHostsInReports: reports say why a host did not answer, and how long each host took
// itself.
func TestHostsInReports(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := sharer{t, dir, dir}
	conf := strings.ReplaceAll("id: ctl\ncachedir: DIR/cache\nfile_roots: {base: [DIR/tree]}\nfile_client: local\nkeep_jobs_seconds: 0\nssh_retries: 0\n", "DIR", dir)
	s.write(filepath.Join(dir, "master"), conf)
	s.write(filepath.Join(dir, "roster"), fmt.Sprintf("slow: {connection: local}\nquick: {connection: local}\ngone: {host: 127.0.0.1, port: %d, user: root, priv: /dev/null}\n", porttest.Port(t)))
	s.write(filepath.Join(dir, "tree", "nop.sls"), "a: {test.nop: []}\n")
	// One of two hosts gets the directory, and takes its time.
	s.write(filepath.Join(dir, "tree", "orch.sls"), "run:\n  salt.function:\n    - name: cmd.run\n    - tgt: 'slow,quick'\n    - tgt_type: list\n    - arg: ['mkdir "+dir+"/first 2>/dev/null && sleep 2; true']\n"+
		"states:\n  salt.state:\n    - tgt: 'quick,gone'\n    - tgt_type: list\n    - sls: nop\n")
	s.ends(1, "orchestrate", "orch", "--out=quiet", "--report", dir+"/r.xml,"+dir+"/r.md,"+dir+"/r.html")
	var doc struct {
		Suites []struct {
			Name  string  `xml:"name,attr"`
			Time  float64 `xml:"time,attr"`
			Cases []struct {
				Failure string `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	b, err := os.ReadFile(dir + "/r.xml")
	if err == nil {
		err = xml.Unmarshal(b, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	times, why := map[string]float64{}, map[string]string{}
	for _, x := range doc.Suites {
		times[x.Name] = x.Time
		for _, c := range x.Cases {
			why[x.Name] += c.Failure
		}
	}
	long, short := times["run / slow"], times["run / quick"]
	if long < short {
		long, short = short, long
	}
	if long < 2 || short > long-1 {
		t.Errorf("times are not each host's own: %v", times)
	}
	if !strings.Contains(why["states / gone"], "unreachable: gone (127.0.0.1:") || why["states / quick"] != "" {
		t.Errorf("reasons are %q", why)
	}
	for _, name := range []string{"r.md", "r.html"} {
		if text := read(t, dir+"/"+name); !strings.Contains(text, "unreachable: gone (127.0.0.1:") || strings.Contains(text, "\n  False\n") || strings.Contains(text, "<pre>False") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}
