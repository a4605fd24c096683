package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"brine/internal/py/value"
	"brine/internal/view/graph"
)

// state is a state's return.
func state(id string, num int, result value.Value, changes *value.Map, comment, start string, ms float64) *value.Map {
	return value.MapOf("name", id, "changes", changes, "result", result, "comment", comment, "__sls__", "web", "__run_num__", int64(num),
		"start_time", start, "duration", ms, "__id__", id)
}

func tag(id, fun string) string {
	mod, name, _ := strings.Cut(fun, ".")
	return mod + "_|-" + id + "_|-" + id + "_|-" + name
}

// evil is what somebody else may have written anywhere.
const evil = "</script><script>alert(1)</script>]]>\x1b[2J\x00\u2028```\n| <b>\xff"

// host is the return of one machine.
func host(bad bool) *value.Map {
	m := value.MapOf(
		tag("pkg", "pkg.installed"), state("pkg", 0, true, value.MapOf("nginx", value.MapOf("old", "", "new", "1.24")), "1 targeted package was installed/updated.", "23:59:59.500000", 700),
		tag("conf", "file.managed"), state("conf", 1, true, value.MapOf("diff", "--- \n+++ \n@@ -1 +1 @@\n-old\n+new\n"), "File /etc/x updated", "00:00:00.300000", 20),
		tag("same", "file.managed"), state("same", 2, true, value.NewMap(0), "File is in the correct state", "00:00:00.400000", 2),
	)
	if bad {
		m.Set(tag("svc", "service.running"), state("svc", 3, false, value.NewMap(0), evil, "00:00:00.500000", 90))
	}
	return m
}

// orchestration is a run of one step over hosts, the first of which fails.
func orchestration(n int) *value.Map {
	ret := value.NewMap(n)
	for i := range n {
		ret.Set(fmt.Sprintf("web%04d", i), host(i == 0))
	}
	step := state("deploy", 0, false, value.MapOf("out", "highstate", "ret", ret), "Run failed on minions: web0000", "10:00:00.000000", 1500)
	step.Set("__jid__", "20261122100000000001")
	ping := state("check", 1, true, value.MapOf("ret", value.MapOf("web0000", true)), "Function ran successfully.", "10:00:01.600000", 30)
	ping.Set("__jid__", "20261122100000000002")
	ping.Set("name", "test.ping")
	later := state("later", 2, nil, value.MapOf("x", "would change"), "would run", "10:00:01.700000", 1)
	return value.MapOf("data", value.MapOf("ctl_master", value.MapOf(tag("deploy", "salt.state"), step, tag("check", "salt.function"), ping, tag("later", "salt.wheel"), later)), "outputter", "highstate", "retcode", int64(1))
}

var when = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

func info() Info {
	return Info{JID: "20261122100000000000", Fun: "state.orchestrate", Args: []string{"orch.deploy"}, Start: when, End: when.Add(2 * time.Second), Retcode: 1, Version: "1.0"}
}

// drawn is info with a graph of the steps of orchestration, and of n more in a row.
func drawn(n int) Info {
	low := value.NewList(
		value.MapOf("state", "salt", "fun", "state", "__id__", "deploy", "name", "deploy"),
		value.MapOf("state", "salt", "fun", "function", "__id__", "check", "name", "test.ping", "require", value.NewList(value.MapOf("salt", "deploy"))),
		value.MapOf("state", "salt", "fun", "wheel", "__id__", "later", "name", evil, "watch", value.NewList(value.MapOf("salt", "check"))),
		value.MapOf("state", "salt", "fun", "runner", "__id__", "alone", "name", "alone"),
	)
	last := "later"
	for i := range n {
		id := fmt.Sprint("step", i)
		low.Append(value.MapOf("state", "salt", "fun", "state", "__id__", id, "name", id, "require", value.NewList(value.MapOf("salt", last))))
		last = id
	}
	in := info()
	in.Graph = graph.Of(low)
	return in
}

// TestHTMLGraph holds the graph to its bound and to states with requisites.
func TestHTMLGraph(t *testing.T) {
	t.Parallel()
	small := write(t, "html", Build(orchestration(2), drawn(2)))
	for _, want := range []string{`<g class="failed"><title>salt.state: deploy</title>`, `<g class="ok"><title>salt.function: check`, "Not shown: 1 state without requisites", ">step1<"} {
		if !strings.Contains(small, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(small, "<script>alert") || strings.Contains(small, "salt.runner: alone") {
		t.Error("text became markup, or a state without requisites is drawn")
	}
	large := write(t, "html", Build(orchestration(2), drawn(maxNodes)))
	if strings.Contains(large, "<svg") || !strings.Contains(large, "The graph is too large for this page: 303 states with 302 requisites.") {
		t.Error("a large graph is not bounded")
	}
	if strings.Contains(write(t, "html", Build(orchestration(2), info())), "Requisites") {
		t.Error("a graph out of nothing")
	}
}

func TestBuild(t *testing.T) {
	r := Build(orchestration(2), info())
	var got []string
	for _, s := range r.Suites {
		for _, c := range s.Cases {
			got = append(got, fmt.Sprintf("%s %s %s %v %v+%v", s.Name(), c.Title(), c.Fun, c.Status, s.Begin+c.Begin, c.Length))
		}
	}
	want := []string{
		"ctl_master deploy salt.state failed 0s+1.5s",
		"ctl_master check (test.ping) salt.function ok 1.6s+30ms",
		"ctl_master later salt.wheel pending 1.7s+1ms",
		"deploy / web0000 pkg pkg.installed changed 0s+700ms",
		"deploy / web0000 conf file.managed changed 800ms+20ms", // over midnight
		"deploy / web0000 same file.managed ok 900ms+2ms",
		"deploy / web0000 svc service.running failed 1s+90ms",
		"deploy / web0001 pkg pkg.installed changed 0s+700ms",
		"deploy / web0001 conf file.managed changed 800ms+20ms",
		"deploy / web0001 same file.managed ok 900ms+2ms",
		"check / web0000 test.ping test.ping ok 1.6s+30ms",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := r.Total(); n.All() != 11 || n.Failed() != 2 {
		t.Errorf("total %+v", n)
	}
	if h := strings.Join(r.Hosts(), " "); h != "web0000 web0001" {
		t.Errorf("hosts %q", h)
	}
	if g := r.failures(); len(g) != 1 || g[0].Case.ID != "svc" || g[0].Step != "deploy" {
		t.Errorf("failures %+v", g)
	}
}

func TestBuildShapes(t *testing.T) {
	for _, tt := range []struct {
		name string
		data value.Value
		info Info
		want string // host: id status comment
	}{
		{"function", value.MapOf("web1", true), Info{Fun: "test.ping"}, "web1: test.ping ok True"},
		{"a list is a return", value.MapOf("web1", value.Strings("a", "b")), Info{Fun: "grains.ls"}, "web1: grains.ls ok a\nb"},
		{"an SLS that does not compile", value.MapOf("web1", value.Strings("bad SLS")), Info{Fun: "state.apply", Retcode: 1}, "web1: compile 1 failed bad SLS"},
		{"a list that a state function shows", value.MapOf("web1", value.Strings("low")), Info{Fun: "state.show_low_sls"}, "web1: state.show_low_sls ok low"},
		{"a code that does not count", value.MapOf("web1", value.MapOf("stdout", "", "stderr", "no route", "retcode", int64(255))), Info{Fun: "cmd.run_all"}, "web1: cmd.run_all ok no route"},
		{
			"states that are all well of a host that failed", value.MapOf("ctl", value.MapOf(tag("s", "salt.state"), value.MapOf("result", false, "comment", "x", "__jid__", "7", "changes", value.MapOf("ret", value.MapOf("web1", value.MapOf(tag("a", "x.y"), value.MapOf("result", true, "changes", value.NewMap(0), "comment", ""))))))),
			Info{StepFailed: func(jid, host string) bool { return jid == "7" && host == "web1" }},
			"ctl: s failed x web1: a ok  web1: host failed the host failed, and none of its states did",
		},
		{"a run that failed, and nothing in it", value.MapOf("ctl", value.MapOf(tag("a", "x.y"), value.MapOf("result", true, "changes", value.NewMap(0), "comment", ""))), Info{Fun: "state.orchestrate", Retcode: 1}, "ctl: a ok  ctl: run failed exit status 1"},
		{"a command's outcome", value.MapOf("web1", value.MapOf("stdout", "", "stderr", "no route", "retcode", int64(255))), Info{Fun: "test.ping", Failed: map[string]string{"web1": "unreachable"}}, "web1: test.ping failed no route"},
		{"a failure by return code", value.MapOf("web1", ""), Info{Fun: "cmd.run", Failed: map[string]string{"web1": "return code 3"}}, "web1: cmd.run failed return code 3"},
		{"a host without return", value.NewMap(0), Info{Fun: "test.ping", Failed: map[string]string{"web2": "unreachable"}}, "web2: host failed unreachable"},
		{"a command that failed before it ran", nil, Info{Fun: "state.apply", Failed: map[string]string{"ctl": "no such SLS"}}, "local: state.apply ok  ctl: host failed no such SLS"},
		{"an empty highstate", value.MapOf("web1", value.NewMap(0)), Info{Fun: "state.apply"}, "web1: state.apply ok {}"},
		{"onlyif", value.MapOf("web1", value.MapOf(tag("a", "cmd.run"), value.MapOf("result", true, "changes", value.NewMap(0), "comment", "unless condition is true", "skip_watch", true))), Info{}, "web1: a skipped unless condition is true"},
		{"no jid, no step", value.MapOf("web1", value.MapOf(tag("a", "x.y"), value.MapOf("result", true, "changes", value.MapOf("ret", value.MapOf("p", "q")), "comment", ""))), Info{}, "web1: a changed "},
		{"nonsense in a state", value.MapOf("web1", value.MapOf(tag("a", "x.y"), value.MapOf("result", "yes", "changes", int64(3), "comment", nil, "duration", "long", "start_time", value.NewList()))), Info{}, "web1: a changed "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range Build(tt.data, tt.info).Suites {
				for _, c := range s.Cases {
					got = append(got, fmt.Sprintf("%s: %s %v %s", s.Host, c.ID, c.Status, c.Comment))
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
}

// TestUnreachable: of a host that gave no return every report says why, and its time is
// its own.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	step := func(id, function string, num int, rets, lost *value.Map) *value.Map {
		m := state(id, num, false, value.MapOf("ret", rets), "Run failed on minions: web2, web3", "10:00:00.000000", 9000)
		m.Set("__jid__", "7")
		m.Set("no_return", lost)
		if function == "salt.function" {
			m.Set("name", "cmd.run")
		}
		return m
	}
	ping := value.MapOf(tag("a", "test.nop"), state("a", 0, true, value.NewMap(0), "", "10:00:01.000000", 5))
	lost := value.MapOf("web2", "unreachable: web2 (web2:22): connect: connection refused", "web3", "lost: gone by now")
	data := value.MapOf("ctl", value.MapOf(
		tag("deploy", "salt.state"), step("deploy", "salt.state", 0, value.MapOf("web1", ping, "web2", false, "web3", ping, "web4", false), lost),
		tag("run", "salt.function"), step("run", "salt.function", 1, value.MapOf("web1", "ok", "web2", false), lost),
	))
	took := map[string]time.Duration{"web1": time.Second, "web2": 2 * time.Second}
	r := Build(data, Info{
		Fun: "state.orchestrate", Retcode: 1,
		StepFailed: func(_, host string) bool { return host != "web1" },
		Took:       func(_, host string) (time.Duration, bool) { d, ok := took[host]; return d, ok },
	})
	var got []string
	for _, s := range r.Suites[1:] {
		for _, c := range s.Cases {
			got = append(got, fmt.Sprintf("%s: %s %v %v %s", s.Name(), c.ID, c.Status, c.Length, c.whyLine()))
		}
	}
	const refused = "unreachable: web2 (web2:22): connect: connection refused"
	want := []string{
		"deploy / web1: a ok 5ms ", "deploy / web2: host failed 2s " + refused,
		"deploy / web3: a ok 5ms ", "deploy / web3: host failed 0s lost: gone by now", "deploy / web4: host failed 0s no return",
		"run / web1: cmd.run ok 1s ok", "run / web2: cmd.run failed 2s " + refused,
	}
	for i, w := range want {
		if i >= len(got) || got[i] != w {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, format := range []string{"junit", "markdown", "html", "ndjson"} {
		text := write(t, format, r)
		if !strings.Contains(text, refused) || strings.Contains(text, ">False<") || strings.Contains(text, "  False\n") || strings.Contains(text, `"comment":"False"`) {
			t.Errorf("%s:\n%s", format, text)
		}
	}
	// A host without a return in a run without steps has its time, too.
	r = Build(value.NewMap(0), Info{Fun: "test.ping", Failed: map[string]string{"web2": "unreachable"}, Took: func(_, host string) (time.Duration, bool) { return took[host], true }})
	if s := r.Suites[0]; s.Length != 2*time.Second || s.Cases[0].Length != 2*time.Second {
		t.Errorf("%+v", s)
	}
}

// TestNotRun: what did not run because something failed is not a failure of its own, and
// is not counted as good. The one that failed says how many they are.
func TestNotRun(t *testing.T) {
	t.Parallel()
	unmet := func(id string, num int, of string) *value.Map {
		return state(id, num, false, value.NewMap(0), "One or more requisite failed: "+of, "00:00:01.000000", 0)
	}
	states := value.MapOf(
		tag("early", "test.nop"), unmet("early", 0, "web.later"), // listed before what it waits for
		tag("bad", "cmd.run"), state("bad", 1, false, value.MapOf("retcode", int64(3), "stdout", "", "stderr", "disk is on fire"), `Command "x" run`, "00:00:00.000000", 5),
		tag("after", "test.nop"), unmet("after", 2, "web.bad"),
		tag("last", "test.nop"), unmet("last", 3, "web.after"),
		tag("later", "test.fail"), state("later", 4, false, value.NewMap(0), "no", "00:00:02.000000", 5),
		tag("circle", "test.nop"), unmet("circle", 5, "web.circle"),
	)
	r := Build(value.MapOf("web1", states), Info{Fun: "state.apply", Retcode: 2})
	if n := r.Total(); n.Failed() != 2 || n.ByStatus[NotRun] != 4 || n.ByStatus[OK]+n.ByStatus[Skipped] != 0 {
		t.Errorf("total %+v", n)
	}
	var got []string
	for _, g := range r.failures() {
		got = append(got, g.Case.ID+" "+unmetText(g.Case))
	}
	if want := "bad 2 states that required it did not run|later 1 state that required it did not run"; strings.Join(got, "|") != want {
		t.Errorf("failures %q, want %q", got, want)
	}
	for format, want := range map[string]string{
		"junit":      `tests="6" failures="2" errors="0" skipped="4"`,
		"markdown":   "| **failed** | 0 | 0 | 2 | 4 |",
		"html":       "<b>4</b> not run",
		"ndjson":     `"id":"last","fun":"test.nop","sls":"web","status":"not_run"`,
		"prometheus": `status="not_run"} 4`,
	} {
		if text := write(t, format, r); !strings.Contains(text, want) {
			t.Errorf("%s has no %s:\n%s", format, want, text)
		}
	}
	if s := r.sentence(); !strings.HasPrefix(s, "2 failed, 4 not run ") {
		t.Errorf("%q", s)
	}
}

func write(t *testing.T, name string, r *Run) string {
	t.Helper()
	f, ok := Lookup(name)
	if !ok {
		t.Fatalf("no format %s", name)
	}
	var b bytes.Buffer
	if err := f.Fn(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestJUnit holds JUnit reports to the schema that Jenkins publishes, where there
// is a validator, and to well-formed XML everywhere.
func TestJUnit(t *testing.T) {
	for _, data := range []value.Value{orchestration(3), value.MapOf("web1", host(true)), value.MapOf("web1", evil), nil} {
		doc := write(t, "junit", Build(data, info()))
		for d := xml.NewDecoder(strings.NewReader(doc)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, doc)
			}
		}
		lint, err := exec.LookPath("xmllint")
		if err != nil {
			if strings.Contains(os.Getenv("BRINE_TEST_REQUIRE"), "xmllint") {
				t.Fatal(err)
			}
			t.Skip("no xmllint: the schema is not checked")
		}
		file := filepath.Join(t.TempDir(), "report.xml")
		if err := os.WriteFile(file, []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(lint, "--nonet", "--noout", "--schema", "testdata/junit-10.xsd", file).CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, out, doc)
		}
	}
}

// TestWouldChange: in no format has what test mode did not do passed or changed something.
func TestWouldChange(t *testing.T) {
	m := value.MapOf(
		tag("conf", "file.managed"), state("conf", 0, nil, value.MapOf("newfile", "/etc/x"), "It is set to be changed", "10:00:00.000000", 1),
		tag("same", "test.nop"), state("same", 1, true, value.NewMap(0), "", "10:00:00.100000", 1),
	)
	in := info()
	in.Retcode = 0
	run := Build(value.MapOf("web1", m), in)
	for format, want := range map[string]string{
		"junit":    `(?s)failures="0" errors="0" skipped="1".*<testcase name="conf file.managed"[^>]*>\s*<skipped message="would change: It is set to be changed">`,
		"markdown": `(?s)\| OK \| Would change \| Changed \|.*\| \x60web1\x60 \| would change \| 1 \| 1 \| 0 \| 0 \| 0 \|.*### What would change`,
		"html":     `(?s)<li class=""><b>0</b> changed</li>\s*<li class="pending"><b>1</b> would change</li>`,
	} {
		if got := write(t, format, run); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s does not match %s:\n%.3000s", format, want, got)
		}
	}
}

func TestNDJSON(t *testing.T) {
	r := Build(orchestration(2), info())
	lines := strings.Split(strings.TrimSuffix(write(t, "ndjson", r), "\n"), "\n")
	if len(lines) != r.Total().All() {
		t.Fatalf("%d lines, want %d", len(lines), r.Total().All())
	}
	for _, l := range lines {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Errorf("%v: %s", err, l)
		}
	}
	for _, want := range []string{`"step":"deploy","host":"web0000","id":"svc"`, `"status":"failed"`, `"changes":{"nginx":{"old":"","new":"1.24"}}`, `"jid":"20261122100000000001"`} {
		if !strings.Contains(strings.Join(lines, "\n"), want) {
			t.Errorf("nowhere: %s", want)
		}
	}
}

// TestNumbersOfNDJSON: a line is valid JSON also where a change is not a number that
// JSON has.
func TestNumbersOfNDJSON(t *testing.T) {
	t.Parallel()
	ret := value.MapOf("local", value.MapOf("test_|-a_|-a_|-x", value.MapOf("__id__", "a", "result", true, "comment", "", "changes",
		value.MapOf("load", value.NewList(math.NaN(), math.Inf(1), math.Inf(-1), 1.5)), "duration", 1.0, "__run_num__", int64(0))))
	i := info()
	i.Retcode = 0 // a run that failed has a line of its own
	text := write(t, "ndjson", Build(ret, i))
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil || !strings.Contains(text, `{"load":["NaN","Infinity","-Infinity",1.5]}`) {
		t.Errorf("%v: %s", err, text)
	}
}

// TestForeignText puts what others wrote into every field, and looks for it
// where it would be markup.
func TestForeignText(t *testing.T) {
	m := value.MapOf(tag(evil, "file.managed"), state(evil, 0, false, value.MapOf(evil, evil, "diff", evil), evil, evil, 1))
	i := info()
	i.Args, i.Tgt = []string{evil}, evil
	r := Build(value.MapOf(evil, m), i)
	page := write(t, "html", r)
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("the page has %d scripts", n)
	}
	if strings.Contains(page, "alert(1)</script>") {
		t.Error("a script of others is in the page")
	}
	md := write(t, "markdown", r)
	for _, bad := range []string{"\x1b", "\x00"} {
		if strings.Contains(md, bad) {
			t.Errorf("%q is in the Markdown", bad)
		}
	}
	fence := ""
	for l := range strings.Lines(md) {
		l = strings.TrimRight(l, "\n")
		switch s := strings.TrimLeft(l, " "); {
		case fence == "" && strings.HasPrefix(s, "```"):
			fence = s[:len(s)-len(strings.TrimLeft(s, "`"))]
		case fence != "" && s == fence:
			fence = ""
		case fence == "" && strings.Contains(strings.ReplaceAll(l, "`", ""), "<script>") && !strings.Contains(l, "`"):
			t.Errorf("markup outside of a code span: %s", l)
		}
	}
	if fence != "" {
		t.Error("a fence is open at the end")
	}
	prom := write(t, "prometheus", r)
	for l := range strings.Lines(prom) {
		if !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "brine_") {
			t.Errorf("a line that is no metric: %q", l)
		}
	}
}

func TestForFile(t *testing.T) {
	for _, tt := range []struct{ path, want string }{
		{"a.html", "html"},
		{"A.XML", "junit"},
		{"x/y.md", "markdown"},
		{"r.ndjson", "ndjson"},
		{"r.prom", "prometheus"},
		{"r.sarif", "sarif"},
		{"r", "r: the end of the name decides the format of a report: one of .html, .htm, .xml, .md, .markdown, .ndjson, .jsonl, .prom, .sarif"},
		{"r.htlm", `r.htlm: no report has the suffix ".htlm" (did you mean ".html"?); known suffixes are .html, .htm, .xml, .md, .markdown, .ndjson, .jsonl, .prom, .sarif`},
	} {
		f, err := ForFile(tt.path)
		got := f.Name
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("ForFile(%q) = %s, want %s", tt.path, got, tt.want)
		}
	}
}

// TestHTMLSize holds what a page of a large run may take: 1,000 hosts and 20,000
// results in 15 MB.
func TestHTMLSize(t *testing.T) {
	page := write(t, "html", Build(large(), info()))
	if len(page) > 15<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
	t.Logf("%d bytes", len(page))
}

// large is a run of 1,000 hosts with 20 results each, of which one in five has
// text of its own.
func large() *value.Map {
	all := value.NewMap(1000)
	for h := range 1000 {
		m := value.NewMap(20)
		for i := range 20 {
			id := fmt.Sprintf("state %d", i)
			changes, comment := value.NewMap(0), "File is in the correct state"
			if i%5 == 0 {
				changes = value.MapOf("diff", strings.Repeat(fmt.Sprintf("+line of host %d\n", h), 20))
			}
			m.Set(tag(id, "file.managed"), state(id, i, h%100 != 0 || i != 3, changes, comment, "10:00:00.000000", float64(i)))
		}
		all.Set(fmt.Sprintf("web%04d.example.com", h), m)
	}
	return all
}

func BenchmarkHTML(b *testing.B) {
	data := large()
	for b.Loop() {
		if err := HTML(io.Discard, Build(data, info())); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzBuild(f *testing.F) {
	f.Add("web1", "file_|-a_|-a_|-managed", "text", "10:00:00.1", 1.5)
	f.Add("", evil, evil, "24:61:00", -1.0)
	f.Fuzz(func(t *testing.T, id, tag, text, start string, ms float64) {
		s := value.MapOf("result", true, "comment", text, "changes", value.MapOf(text, text, "diff", text, "ret", value.MapOf(id, value.MapOf(tag, value.MapOf("result", text)))), "start_time", start, "duration", ms, "__jid__", text)
		r := Build(value.MapOf(id, value.MapOf(tag, s, text, s)), info())
		for _, format := range Formats() {
			if err := format.Fn(io.Discard, r); err != nil {
				t.Fatalf("%s: %v", format.Name, err)
			}
		}
	})
}

// TestFailedReturn: the only return of a function that failed is a failure, whatever it
// says itself.
func TestFailedReturn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		data    value.Value
		retcode int
		failed  int
		comment string
	}{
		"worked":     {value.MapOf("web1", "done"), 0, 0, "done"},
		"failed":     {value.MapOf("web1", "no such file"), 3, 1, "no such file"},
		"without":    {value.MapOf("web1", ""), 3, 1, "exit status 3"},
		"of several": {value.MapOf("web1", "done", "web2", "done"), 3, 1, "done"},
	} {
		r := Build(tt.data, Info{Fun: "cmd.run", Retcode: tt.retcode})
		if got := r.Total().Failed(); got != tt.failed || r.Suites[0].Cases[0].Comment != tt.comment {
			t.Errorf("%s: %d failed, want %d; the comment is %q", name, got, tt.failed, r.Suites[0].Cases[0].Comment)
		}
	}
}
