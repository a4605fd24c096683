package e2e

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"brine/internal/testkit/browsertest"
	"brine/internal/testkit/turn"
)

// uiTree is a tree with an orchestration, a template and hosts whose text is
// hostile: nothing of it may run in a browser.
var uiTree = map[string]string{
	"master":         "file_roots: {base: [salt]}\npillar_roots: {base: [pillar]}\ncachedir: cache\nnodegroups: {web: 'web*'}\n",
	"pillar/top.sls": "{}\n",
	"roster":         "web1: {connection: local}\nweb2: {connection: local}\ndb1: {connection: local, grains: {role: '<img src=x onerror=pwned=1>'}}\n",
	"salt/orch/deploy.sls": `# Deploys <script>window.pwned=1</script> the site.
hello:
  salt.state:
    - tgt: '*'
    - sls: [hello]
probe <img src=x onerror=pwned=1>:
  salt.function:
    - name: cmd.run
    - tgt: 'web*'
    - arg: ['echo "<script>window.pwned=1</script>"; test -e FLAG']
    - require: [{salt: hello}]
last:
  salt.function:
    - name: test.ping
    - tgt: db1
    - require: [{salt: 'probe <img src=x onerror=pwned=1>'}]
`,
	"salt/orch/slow.sls": "wait:\n  salt.function: [{name: cmd.run}, {tgt: web1}, {arg: ['touch BEGUN; sleep 300']}]\nlater:\n  salt.function: [{name: test.ping}, {tgt: web1}, {require: [{salt: wait}]}]\n",
	"salt/hello.sls":     "FILES/{{ grains.id }}:\n  file.managed:\n    - makedirs: True\n    - contents: |\n        <script>window.pwned=1</script>\n        hello {{ grains.id }}\n",
	"salt/orchestration/states/site/init.sls": `site_ping:
  salt.function:
    - name: cmd.run
    - tgt: {{ pillar['targets']['servers'] }}
    - tgt_type: list
    - arg: ['echo {{ pillar['colour'] }} {{ pillar['users'] | length }}']
`,
	"salt/orchestration/metadata/site/metadata.yml": `description: The site <script>window.pwned=1</script>
targets:
  servers: {description: 'Servers <b>bold</b>', default: 'web*'}
steps:
  one: {description: Ask them, ids: site_ping}
pillar:
  colour: {$type: select, $values: [red, blue], $default: red, $name: Colour}
  shade: {$visibleIf: '.colour == blue', $default: dark, $help: '<img src=x onerror=pwned=1>'}
  token: {$type: password, $name: Token}
  users:
    $type: edit-group
    $minItems: 1
    $prototype:
      name: {$default: ann}
      admin: {$type: boolean, $default: False}
`,
}

// A pages is a brine ui under way, and a browser.
type pages struct {
	t    *testing.T
	dir  string
	base string
	tab  *browsertest.Tab
	cmd  *exec.Cmd
	out  io.ReadCloser
	errs *lockedBuffer
	link string
	env  []string // of brine, beside the usual
	exe  string   // of brine; "" is the test's own
}

// startUI starts brine ui and a browser.
func startUI(t *testing.T) *pages {
	t.Helper()
	p := serveUI(t)
	p.tab = browsertest.Open(t, 1100, 900)
	return p
}

// uiPrograms stand for programs that would change the machine: they keep what they
// are told.
var uiPrograms = map[string]string{
	"xdg-open":    `cp -p "$1" DIR/opened`,
	"systemd-run": `for a; do case $a in --unit=*) u=${a#*=};; --description=*) d=${a#*=};; esac; done; echo "$u.timer loaded active waiting $d" > DIR/timer`,
	"systemctl":   `case "$*" in *list-units*) cat DIR/timer 2> /dev/null || :;; *stop*) rm DIR/timer;; esac`,
	"at":          `if [ "$1" = -c ]; then cat "DIR/at.$2"; else cat > DIR/at.1; fi`,
	"atq":         `! [ -e DIR/at.1 ] || printf '1\tTue Dec  1 02:00:00 2099 a root\n'`,
	"atrm":        `rm "DIR/at.$1"`,
	"apt-get":     `:`,
	"apt-cache":   `for p in salt salt-minion; do printf '%s:\n  Installed: (none)\n  Candidate: 3006\n  Version table:\n     3006 500\n        500 file:/srv ./ Packages\n' $p; done`,
}

// serveUI starts brine ui with more arguments.
func serveUI(t *testing.T, args ...string) *pages {
	t.Helper()
	p := newPages(t)
	p.serve(args...)
	return p
}

// newPages makes the tree.
func newPages(t *testing.T) *pages {
	t.Helper()
	return pagesOf(t, t.TempDir(), uiTree)
}

// pagesOf writes the files of a tree to a directory.
func pagesOf(t *testing.T, dir string, tree map[string]string) *pages {
	t.Helper()
	p := &pages{t: t, dir: dir, errs: &lockedBuffer{}}
	for name, text := range uiPrograms {
		path := filepath.Join(p.dir, "bin", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("#!/bin/sh\n"+strings.ReplaceAll(text, "DIR", p.dir)+"\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range tree {
		path := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text = strings.NewReplacer("FLAG", p.dir+"/flag", "BEGUN", p.dir+"/begun", "FILES", p.dir+"/files").Replace(text)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// serve starts brine ui.
func (p *pages) serve(args ...string) {
	t := p.t
	t.Helper()
	p.cmd = p.brine(append([]string{"ui"}, args...)...)
	p.cmd.Stderr = p.errs
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	p.out = out
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("brine ui: %v: %s", err, p.errs)
	}
	p.link = strings.TrimSpace(line)
	p.base, _, _ = strings.Cut(p.link, "/login")
	p.base = strings.TrimSuffix(p.base, "/")
}

func (p *pages) brine(args ...string) *exec.Cmd { return p.brineTo(append(args, "-c", p.dir)...) }

// brineTo is brine without the tree.
func (p *pages) brineTo(args ...string) *exec.Cmd {
	self := brineProgram()
	c := exec.CommandContext(p.t.Context(), cmp.Or(p.exe, self))
	c.Args = append([]string{"brine"}, args...)
	c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "BRINE_RUN_DIR="+p.dir+"/run", "HOME="+p.dir, "TMPDIR="+p.dir, "PATH="+p.dir+"/bin:"+os.Getenv("PATH"))
	c.Env = append(c.Env, p.env...)
	return c
}

// do runs actions on the page; go to a path first.
func (p *pages) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	p.tab.Do(p.t, actions...)
}

func (p *pages) at(path string) chromedp.Action[chromedp.Void] {
	return chromedp.Navigate(p.base + path)
}

func click(sel string) chromedp.Action[chromedp.Void] { return chromedp.Click(sel) }

func visible(sel string) chromedp.Action[chromedp.Void] { return chromedp.WaitVisible(sel) }

func typed(sel, text string) chromedp.Action[chromedp.Void] { return chromedp.SendKeys(sel, text) }

func (p *pages) text(sel string) string {
	p.t.Helper()
	return browsertest.Get(p.t, p.tab, chromedp.TextContent(sel))
}

// sound looks at a page in light and dark and as wide as a phone, has axe look at
// it, and keeps a picture where BRINE_TEST_SHOTS says.
func (p *pages) sound(name string) {
	p.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		p.tab.Scheme(p.t, scheme)
		for _, fault := range p.tab.Axe(p.t, scheme == "dark") {
			p.t.Errorf("%s, %s: %s", name, scheme, fault)
		}
		p.shot(name + "-" + scheme)
	}
	p.tab.Scheme(p.t, "light")
	p.do(chromedp.EmulateViewport(375, 800, chromedp.EmulateMobile))
	if p.tab.Wider(p.t) {
		p.t.Errorf("%s: wider than a phone", name)
	}
	p.shot(name + "-phone")
	p.do(chromedp.EmulateViewport(1100, 900))
	if browsertest.Get(p.t, p.tab, chromedp.Evaluate[bool](`window.pwned !== undefined || document.querySelector("main script, main img:not(.graph), main b") !== null`)) {
		p.t.Errorf("%s: text became a part of the page", name)
	}
	for _, fault := range p.tab.Faults() {
		if !strings.Contains(fault, "409 (Conflict)") { // asked for
			p.t.Fatalf("%s: on the console: %s", name, fault)
		}
	}
}

func (p *pages) shot(name string) {
	dir := os.Getenv("BRINE_TEST_SHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), browsertest.Get(p.t, p.tab, chromedp.FullScreenshot(100)), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// TestUI works with the pages as a person does: runs an orchestration that fails,
// resumes it, makes a chain, fills in a wizard.
func TestUI(t *testing.T) {
	t.Parallel()
	p := startUI(t)
	p.do(chromedp.Navigate(p.link), visible("#orchestrations"))
	p.sound("start")

	p.do(p.at("/orchestrations/orch.deploy"), visible("#run-heading"), click("summary"), visible("img.graph"))
	p.sound("orchestration")
	p.do(click("[name=confirm]"), click("section .buttons button"), visible("#run-state.is-failed"))
	if text := p.text("#steps"); !strings.Contains(text, "probe <img") || !strings.Contains(text, "2 failed") {
		t.Errorf("steps: %s", text)
	}
	p.sound("run")
	p.do(click("#run-controls a[href$='/output']"), visible(".window a"))
	if text := p.text(".window"); !strings.Contains(text, "web1") || !strings.Contains(text, "web2") {
		t.Errorf("hosts with output: %s", text)
	}
	p.sound("output")
	p.do(click(".window a"), visible("#lines li"))
	p.sound("output-host")
	p.do(typed("#q", "zzz"), click("form[role=search] button"), visible("p[role=status]"), click(".links a"), visible("#run-state.is-failed"))
	if err := os.WriteFile(p.dir+"/flag", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.do(click("#run-controls button"), visible("#run-state.is-succeeded"), click("#run-controls a"), visible(".facts"))
	if text := p.text(".steps"); !strings.Contains(text, "<script>window.pwned=1</script>") {
		t.Errorf("job: %s", text)
	}
	p.sound("job")

	p.do(p.at("/"), visible("#chains"), click("#chains ~ details summary"), typed("#chain-name", "friday"), typed("#chain-description", "<script>window.pwned=1</script>"), click("#chains ~ details button"), visible("#change"),
		chromedp.SetValue("#action", "state"), click("form[action$='/step'] button"), visible("#sls"), typed("#sls", "hello"), typed("#targets", "N@web"), visible("#targets-matched .hint"))
	if text := p.text("#targets-matched"); !strings.Contains(text, "2 hosts: web1, web2") {
		t.Errorf("preview: %s", text)
	}
	p.sound("step")
	p.do(click("main form button"), visible(".steps li"))
	p.do(click(".steps summary"), visible("#targets-1-matched .hint"), chromedp.SetValue("#targets-1", "web1,db1"), chromedp.SetValue("#targets-1-kind", "L"))
	browsertest.Get(t, p.tab, chromedp.Evaluate[bool](`document.querySelector("#targets-1-kind").dispatchEvent(new Event("change"))`))
	wait(t, "the preview", func() bool { return strings.Contains(p.text("#targets-1-matched"), "2 hosts: db1, web1") })
	p.sound("chain")
	p.do(click(".steps details button"), chromedp.WaitNotPresent(".steps details[open]"), visible(".steps li"))
	if text := p.text(".steps"); !strings.Contains(text, "apply hello on L@web1,db1") {
		t.Errorf("targets: %s", text)
	}
	p.do(visible("#check [role=status]")) // without a click: the chain was changed
	if text := p.text("#check"); !strings.Contains(text, "1 step: no fault was found.") {
		t.Errorf("check: %s", text)
	}
	p.sound("check")
	// Somebody else changes the chain while its step is edited here.
	p.do(click(".steps .button"), visible("#sls"))
	if out, err := p.brine("chain", "add", "friday", "cmd", "uptime", "--on", "db1").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.do(typed("#sls", ",other"), click("main form button"), visible("#problem"))
	if text := p.text("#problem"); !strings.Contains(text, "Somebody else changed this chain") {
		t.Errorf("conflict: %s", text)
	}
	p.do(p.at("/chains/friday"), visible("#run-heading"), click("[name=test]"), visible("#run-state.is-succeeded"))

	p.do(p.at("/templates/site"), visible("#fields"), chromedp.SetValue(`[id="f-colour"]`, "blue"))
	browsertest.Get(t, p.tab, chromedp.Evaluate[bool](`document.getElementById("f-colour").dispatchEvent(new Event("change", {bubbles: true}))`))
	p.do(visible(`[id="f-shade"]`))
	// The fields may be shown again at any time: nothing may come between the search
	// for the button and the click.
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[value="add users"]').click()`), visible(`[id="f-users:1:name"]`), typed(`[id="f-token"]`, "0123456789"))
	p.sound("wizard")
	p.do(click("[name=confirm]"), click("[value=run]"), visible("#run-state.is-succeeded"))

	p.do(p.at("/hosts"), visible("#hosts"), click("[value=web1][name=id]"), click("[formaction='/hosts/facts']"), visible("#run-state.is-succeeded"))
	p.do(p.at("/hosts?expr=C@web*+and+G@kernel:Linux&by=facts"), visible("#hosts"), click("#act-heading ~ details summary"))
	if text := p.text("main"); !strings.Contains(text, "no host was asked") || !strings.Contains(text, "2 hosts") || !strings.Contains(text, "read less than a minute ago") {
		t.Errorf("hosts by facts: %s", text)
	}
	p.sound("hosts")
	p.do(typed("#function", "test.arg"), typed("#arguments", "--help"), click("[value=all][name=scope]"), click("details[open] [name=confirm]"), click("[formaction='/hosts/run']"), visible("#run-state.is-succeeded"))
	if text := p.text("main"); !strings.Contains(text, "test.arg on 2 hosts") || !strings.Contains(text, "--help") {
		t.Errorf("function on hosts: %s", text)
	}
	p.do(p.at("/jobs?all=yes"), visible("table"))
	if text := p.text("table"); !strings.Contains(text, "runner.ui.chain.step") || !strings.Contains(text, "runner.ui.login") {
		t.Errorf("jobs: %s", text)
	}
	p.sound("jobs")
	p.do(p.at("/audit?text=targets"), visible("table"))
	if text := p.text("table"); !strings.Contains(text, "apply hello on N@web -> apply hello on L@web1,db1") || strings.Contains(text, "login") {
		t.Errorf("audit: %s", text)
	}
	p.sound("audit")
}

// TestUIEnds has Ctrl-C, the end of the terminal, or a kill end the server. The run goes
// on: the next server shows it, and stops it. Nobody reads the next links meanwhile.
func TestUIEnds(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"Ctrl-C": syscall.SIGINT, "terminal": syscall.SIGHUP, "systemd": syscall.SIGTERM, "kill": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			uiEnds(t, sig)
		})
	}
}

func uiEnds(t *testing.T, sig syscall.Signal) {
	p := serveUI(t)
	_ = p.out.Close()
	ask := p.asker(&http.Client{})
	ask(http.MethodGet, strings.TrimPrefix(p.link, p.base), nil)
	text := ask(http.MethodPost, "/orchestrations/orch.slow/run", url.Values{"confirm": {"yes"}})
	m := regexp.MustCompile(`action="(/runs/[0-9]{20})/kill"`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("page: %s", text)
	}
	wait(t, "the step to begin", func() bool { _, err := os.Stat(p.dir + "/begun"); return err == nil })
	_ = p.cmd.Process.Signal(sig)
	_ = p.cmd.Wait()
	if code := p.cmd.ProcessState.ExitCode(); sig != syscall.SIGKILL && (code != 130 || !strings.Contains(p.errs.String(), "go on without the pages: orch.slow ("+m[1][len("/runs/"):]+")")) {
		t.Errorf("exit status %d: %s", code, p.errs)
	}
	p.serve()
	ask = p.asker(&http.Client{})
	ask(http.MethodGet, strings.TrimPrefix(p.link, p.base), nil)
	if text := ask(http.MethodGet, m[1], nil); !strings.Contains(text, "is under way: 0 of 2 steps done") {
		t.Errorf("page: %s", text)
	}
	ask(http.MethodPost, m[1]+"/kill", url.Values{})
	wait(t, "the end of the run", func() bool { return strings.Contains(ask(http.MethodGet, m[1], nil), "was stopped") })
	out, err := p.brine("run", "jobs.list_job", m[1][len("/runs/"):], "--out=json").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "state.orchestrate") || !strings.Contains(string(out), "the run was ended") {
		t.Errorf("record: %v: %s", err, out)
	}
}

// TestUITyped has the pages show, stop and end what somebody typed, as they do with their
// own runs.
func TestUITyped(t *testing.T) {
	t.Parallel()
	p := serveUI(t)
	ask := p.asker(&http.Client{})
	ask(http.MethodGet, strings.TrimPrefix(p.link, p.base), nil)
	link := regexp.MustCompile(`href="(/runs/[0-9]{20})"`)
	typed := func(args ...string) (cmd *exec.Cmd, page string) {
		t.Helper()
		_ = os.Remove(p.dir + "/begun")
		cmd = p.brine(args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		wait(t, "the run to begin", func() bool { _, err := os.Stat(p.dir + "/begun"); return err == nil })
		m := link.FindStringSubmatch(ask(http.MethodGet, "/", nil))
		if m == nil {
			t.Fatal("the first page has no run")
		}
		return cmd, m[1]
	}
	cmd, page := typed("orchestrate", "orch.slow", "--out=quiet")
	text := ask(http.MethodGet, page, nil)
	for _, want := range []string{"orch.slow", "on the command line", "is under way: 0 of 2 steps done", "0 of 1 hosts done"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q: %s", want, text)
		}
	}
	ask(http.MethodPost, page+"/stop", url.Values{})
	if text := ask(http.MethodGet, page, nil); !strings.Contains(text, "is being stopped") {
		t.Errorf("page: %s", text)
	}
	ask(http.MethodPost, page+"/kill", url.Values{})
	_ = cmd.Wait()
	if text := ask(http.MethodGet, page, nil); cmd.ProcessState.ExitCode() != 130 || !strings.Contains(text, "was stopped: 1 of 2 steps done, 1 failed") {
		t.Errorf("exit status %d: %s", cmd.ProcessState.ExitCode(), text)
	}
	cmd, page = typed("ssh", "web*", "cmd.run", "touch "+p.dir+"/begun; while test -e "+p.dir+"/begun; do sleep 0.1; echo tick; done; echo secret", "--out=quiet")
	if text := ask(http.MethodGet, page, nil); !strings.Contains(text, "cmd.run on web*") || !strings.Contains(text, "0 of 2 hosts done") || strings.Contains(text, "secret") {
		t.Errorf("page: %s", text)
	}
	// Who looks at the output of what was typed gets it from then on.
	if text := ask(http.MethodGet, page+"/output", nil); !strings.Contains(text, "Output is shown from ") {
		t.Errorf("output: %s", text)
	}
	wait(t, "the output of the hosts", func() bool {
		return strings.Contains(ask(http.MethodGet, page+"/output?host=web1", nil), "<pre>tick\n</pre>")
	})
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	_ = os.Remove(p.dir + "/begun") // ends what the hosts run
	if text := ask(http.MethodGet, page, nil); !strings.Contains(text, "did not say how it ended") {
		t.Errorf("page: %s", text)
	}
}

// asker returns what sends requests as a browser does, with a cookie and, after it has
// asked for a page, its CSRF token, and returns the text of the answer.
func (p *pages) asker(client *http.Client) func(method, path string, form url.Values) string {
	t := p.t
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client.Jar = jar
	token := regexp.MustCompile(`name="csrf" value="([^"]+)"`)
	var ask func(method, path string, form url.Values) string
	ask = func(method, path string, form url.Values) string {
		if method == http.MethodPost && path != "/login" {
			m := token.FindStringSubmatch(ask(http.MethodGet, "/", nil))
			if m == nil {
				t.Fatal("the page has no CSRF token")
			}
			form.Set("csrf", m[1])
		}
		r, err := http.NewRequestWithContext(t.Context(), method, p.base+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", p.base)
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s: %s, %v", path, res.Status, text, err)
		}
		return string(text)
	}
	return ask
}

// wait waits for a condition.
func wait(t *testing.T, what string, met func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !met(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestUILost has the page of a run say that its server is gone, and that the log-in has
// expired with it, and go on when it is back. Tabs that nobody sees hold no connection.
func TestUILost(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	p := startUI(t)
	p.do(chromedp.Navigate(p.link), visible("#orchestrations"),
		p.at("/orchestrations/orch.slow"), visible("#run-heading"), click("[name=confirm]"), click("section .buttons button"), visible("#run-state.is-running"))
	title := func() string {
		return browsertest.Get(t, p.tab, chromedp.Evaluate[string](`document.title + " " + document.querySelector("link[rel=icon]").getAttribute("href")`))
	}
	wait(t, "the title", func() bool {
		return strings.HasPrefix(title(), "▶ Run of orch.slow") && strings.HasSuffix(title(), "/assets/icon-work.svg")
	})
	// Ten tabs look at the run, and do not keep another one from its page.
	page := browsertest.Get(t, p.tab, chromedp.Evaluate[string](`location.href`))
	for range 10 {
		p.tab.Another(t).Do(t, chromedp.Navigate(page), visible("#run-state.is-running"))
	}
	p.tab.Another(t).Do(t, p.at("/hosts"), visible("#hosts"))
	lost := func(text string) func() bool {
		return func() bool {
			return strings.Contains(browsertest.Get(t, p.tab, chromedp.Evaluate[string](`document.querySelector("#run > .problem")?.textContent ?? ""`)), text)
		}
	}
	// A server that hangs ends no connection.
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	browsertest.Get(t, p.tab, chromedp.Evaluate[float64](`(() => { const now = Date.now; Date.now = () => now() + 100000; return now() })()`))
	wait(t, "the page to say that the server is silent", lost("Connection lost since "))
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	wait(t, "the page to go on", func() bool { return !lost("since")() })
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	wait(t, "the page to say that the server is gone", lost("Connection lost since "))
	for _, fault := range p.tab.Axe(t, false) {
		t.Error(fault)
	}
	p.shot("lost")
	p.serve("--listen", strings.TrimPrefix(p.base, "http://"))
	wait(t, "the page to say that the log-in is gone", lost("Your log-in has expired."))
	if next := browsertest.Get(t, p.tab, chromedp.Evaluate[string](`document.querySelector("#run > .problem a").getAttribute("href")`)); !strings.HasPrefix(next, "/login?next=%2Fruns%2F") {
		t.Errorf("the log-in leads back to %s", next)
	}
	run := browsertest.Get(t, p.tab, chromedp.Evaluate[string](`location.pathname`))
	p.do(chromedp.Navigate(p.link), visible("#orchestrations"), p.at(run), visible("#run-state.is-running"))
	p.do(click("#run-controls form[action$='/kill'] button"), visible("#run-state.is-stopped"))
	stopped := func() bool {
		return strings.HasPrefix(title(), "✗ Run of") && strings.HasSuffix(title(), "/assets/icon-bad.svg")
	}
	wait(t, "the title", stopped)
	p.do(p.at(run), visible("#run-state.is-stopped"))
	wait(t, "the title of a run that was over", stopped)
}
