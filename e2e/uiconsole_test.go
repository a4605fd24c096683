package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"brine/internal/core/version"
	"brine/internal/testkit/browsertest"
	"brine/internal/testkit/sshtest"
)

// pagesOverSSH are pages of hosts web0, web1 and so on that SSH reaches, atOnce of them at once. The
// state once has each add a line to the file ran, and go on when it can read a line of the
// gate; those that fail say why. More is for the file of the controller's configuration.
func pagesOverSSH(t *testing.T, dir string, hosts, atOnce int, more string, failing ...string) (*pages, *sshtest.Server, *os.File) {
	t.Helper()
	sshd := sshtest.Start(t, sshtest.Options{Env: []string{"BRINE_TEST_RUN=1"}})
	var roster strings.Builder
	for i, addr := range sshd.Hosts(hosts) {
		fmt.Fprintf(&roster, "web%d: {host: %s}\n", i, addr)
	}
	p := pagesOf(t, dir, map[string]string{
		"roster":           roster.String(),
		".ssh/known_hosts": read(t, sshd.KnownHosts),
		"master": "id: ctl\ncachedir: " + dir + "/cache\nfile_roots: {base: [" + dir + "/tree]}\nqueue: {store: sqlite3, database: " + dir + "/queue.db}\nchains_dir: " + dir + "/chains\n" + more +
			fmt.Sprintf("ssh_user: %s\nssh_priv: %s\nssh_port: %d\nssh_max_procs: %d\n", sshd.User, sshd.Key, sshd.Port, atOnce),
		"tree/once.sls": "once:\n  cmd.run:\n    - name: echo {{ grains.id }} >> " + dir + "/ran; read go < " + dir + "/gate; echo done{% if grains.id in ['" + strings.Join(failing, "', '") + "'] %}; echo disk is full >&2; exit 1{% endif %}\n",
	})
	p.env = append(p.env, "SSH_AUTH_SOCK=")
	return p, sshd, fifo(t, dir+"/gate")
}

// TestUIConsole has two people with different roles build, check, approve, schedule and run a
// chain over many SSH hosts, two of which fail, while the server is killed, restarted and
// upgraded; a webhook starts it, and a receiver is told of it. Nothing is lost or run twice.
// BRINE_SOAK has 100 hosts.
func TestUIConsole(t *testing.T) {
	t.Parallel()
	hosts, atOnce := 40, 10
	if os.Getenv("BRINE_SOAK") != "" {
		hosts, atOnce = 100, 20
	}
	rcv := newHookReceiver(t, loopback(t, "127.0.0.1:0"))
	dir := t.TempDir()
	p, sshd, gate := pagesOverSSH(t, dir, hosts, atOnce,
		"notify: {all: {kind: webhook, url: '"+rcv.URL+"', events: [succeeded, failed, waiting], allow_private: 127.0.0.1}}\n", "web7", "web32")
	p.exe = installed(t, dir)
	ran := func() []string {
		text, _ := os.ReadFile(dir + "/ran")
		out := strings.Fields(string(text))
		slices.Sort(out)
		return out
	}
	users, hooks := dir+"/ui.users", dir+"/ui.hooks"
	for name, role := range map[string]string{"ann": "editor", "ben": "operator"} {
		c := p.brineTo("ui", "passwd", name, "--users", users, "--role", role)
		c.Stdin = strings.NewReader("the password of " + name + "\n")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	key, err := p.brineTo("ui", "hook", "add", "push", "--hooks", hooks, "--kind", "github", "--queue", "ops", "chain", "friday").Output()
	if err != nil {
		t.Fatal(err)
	}
	p.serve("--users", users, "--hooks", hooks)
	login := func(tab *browsertest.Tab, name string) {
		tab.Do(t, visible("#name"), typed("#name", name), typed("#password", "the password of "+name), click("main form button"))
	}
	ann, ben := browsertest.Open(t, 1100, 900), browsertest.Open(t, 1100, 900)
	ann.Do(t, p.at("/hosts"))
	login(ann, "ann")
	// Ann makes a chain of all hosts that match, and has a second person approve it.
	ann.Do(t, visible("#hosts"), click("[value=all][name=scope]"), click("#act-heading ~ details:last-of-type summary"), typed("#act-name", "friday"), click("[formaction='/hosts/chain']"),
		visible("#sls"), typed("#sls", "once"), click("main form button"), visible("#check [role=status]"))
	if text := browsertest.Get(t, ann, chromedp.TextContent("#check")); !strings.Contains(text, "1 step: no fault was found.") {
		t.Errorf("check: %s", text)
	}
	editor := p.account("ann")
	edited := func() string {
		_, text, _ := editor.get("/chains/friday")
		_, rest, _ := strings.Cut(text, `name="version" value="`)
		out, _, _ := strings.Cut(rest, `"`)
		return out
	}
	for _, form := range [][]string{{"/chains/friday/approve", "step", "", "who", "any"}, {"/chains/friday/schedule", "at", "2099-12-01T04:00", "confirm", "yes"}} {
		if code, text, _ := editor.post(form[0], append(form[1:], "version", edited())...); code != http.StatusSeeOther {
			t.Fatalf("%s: %d: %s", form[0], code, text)
		}
	}
	ann.Do(t, p.at("/chains/friday"), visible("#run-heading"), click("[name=confirm]"), click("section .buttons button"), visible("#run-state.is-waiting"))
	run := browsertest.Get(t, ann, chromedp.Evaluate[string](`location.pathname`))
	if text := browsertest.Get(t, ann, chromedp.TextContent("main")); strings.Contains(text, "Approve it") {
		t.Error("who started the run may approve it")
	}
	// Ben follows a link to the run, approves it, and watches.
	ben.Do(t, p.at(run))
	login(ben, "ben")
	ben.Do(t, visible("#run-state.is-waiting"), click("form[action$='/approve'] button"), visible("#run-state"))
	wait(t, "the run to begin", func() bool { return len(ran()) > 0 })
	ben.Do(t, p.at(run), visible("#run-state.is-running"))
	// The server is killed, told to end, and upgraded, while the hosts work.
	for _, how := range []string{"kill", "restart", "upgrade"} {
		sig := syscall.SIGTERM
		if how == "kill" {
			sig = syscall.SIGKILL
		}
		_ = p.cmd.Process.Signal(sig)
		_ = p.cmd.Wait()
		if how == "upgrade" {
			upgrade(t, p.exe)
		}
		ben.Do(t, visible("#run > .problem"))
		p.serve("--users", users, "--hooks", hooks, "--listen", strings.TrimPrefix(p.base, "http://"))
		ben.Do(t, visible("#run > .problem a"), click("#run > .problem a"))
		login(ben, "ben")
		ben.Do(t, visible("#run-state.is-running"))
		if at := browsertest.Get(t, ben, chromedp.Evaluate[string](`location.pathname`)); at != run {
			t.Errorf("%s: the log-in leads to %s, not to %s", how, at, run)
		}
	}
	if out, err := p.brineTo("version").Output(); err != nil || strings.Contains(string(out), version.Number()) {
		t.Errorf("the program after its upgrade is %s: %v", out, err)
	}
	wait(t, "as many hosts as work at a time", func() bool { return len(ran()) == atOnce })
	if _, err := gate.WriteString(strings.Repeat("\n", 2*hosts)); err != nil {
		t.Fatal(err)
	}
	ben.Do(t, visible("#run-state.is-failed"))
	sum := strconv.Itoa(hosts) + " of " + strconv.Itoa(hosts) + " hosts done, 2 failed"
	if text := browsertest.Get(t, ben, chromedp.TextContent("#steps")); !strings.Contains(text, sum) || !strings.Contains(text, "web7  failed") || !strings.Contains(text, "web32  failed") {
		t.Errorf("no %q: %.2000s", sum, text)
	}
	once := ran()
	if all := slices.Compact(slices.Clone(once)); len(all) != hosts || len(once) != hosts {
		t.Errorf("the step ran %d times on %d of %d hosts", len(once), len(all), hosts)
	}
	told := func() (events []string) {
		for _, m := range rcv.take() {
			events = append(events, m.Event+" "+m.JID)
		}
		return events
	}
	jid := filepath.Base(run)
	if got := told(); !slices.Contains(got, "failed "+jid) || !slices.Contains(got, "waiting "+jid) {
		t.Errorf("told %v", got)
	}
	for _, fault := range ben.Axe(t, false) {
		t.Error(fault)
	}
	t.Logf("%d log-ins by SSH for %d hosts", strings.Count(sshd.Log(), "Accepted publickey"), hosts)
	// A webhook starts it, once, when it needs no approval any more, and has fewer hosts.
	editor = p.account("ann")
	if code, text, _ := editor.post("/chains/friday/targets", "step", "1", "targets", "web3*", "version", edited()); code != http.StatusSeeOther {
		t.Fatalf("targets: %d: %s", code, text)
	}
	if code, text, _ := editor.post("/chains/friday/approve", "step", "", "who", "nobody", "version", edited()); code != http.StatusSeeOther {
		t.Fatalf("approve: %d: %s", code, text)
	}
	for _, want := range []int{http.StatusAccepted, http.StatusConflict} {
		m := hmac.New(sha256.New, []byte(strings.TrimSpace(string(key))))
		m.Write([]byte("{}"))
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.base+"/api/v1/hooks/push", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("X-GitHub-Delivery", "4711")
		q.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(m.Sum(nil)))
		resp, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("delivery: %s, want %d", resp.Status, want)
		}
	}
	if out, err := p.brine("worker", "--queue", "ops", "--drain-empty").CombinedOutput(); err != nil {
		t.Logf("worker: %v: %s", err, out) // two hosts fail
	}
	again := 0
	for i := range hosts {
		if strings.HasPrefix(strconv.Itoa(i), "3") {
			again++
		}
	}
	if n := len(ran()); n != hosts+again {
		t.Errorf("the step ran %d times, want %d", n, hosts+again)
	}
	if got := told(); len(got) != 1 || !strings.HasPrefix(got[0], "failed ") || got[0] == "failed "+jid {
		t.Errorf("told %v of the webhook", got)
	}
}
