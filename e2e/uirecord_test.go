package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"brine/internal/testkit/browsertest"
	"brine/internal/testkit/turn"
)

// TestUIRecord looks at what ran: retries the hosts that failed, resumes from the
// history, compares, asks hosts for an answer, and adds a state to a chain, which is
// to run later.
func TestUIRecord(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	p := startUI(t)
	if err := errors.Join(os.Mkdir(p.dir+"/files", 0o755), os.WriteFile(p.dir+"/files/web1", []byte("</pre><img src=x onerror=pwned=1>\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Navigate(p.link), visible("#orchestrations"),
		p.at("/orchestrations/orch.deploy"), visible("#run-heading"), click("[name=confirm]"), click("section .buttons button"), visible("#run-state.is-failed"), visible("#steps form button"))
	if err := os.WriteFile(p.dir+"/flag", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.do(click("#steps form button"), visible("#run-state.is-succeeded"))
	if text := p.text("#steps"); !strings.Contains(text, "cmd.run") || !strings.Contains(text, "2 of 2 hosts done") {
		t.Errorf("retried: %s", text)
	}
	p.sound("retry")

	p.do(p.at("/history?status=failed"), visible("table"))
	p.do(click("tbody a"), visible(".timeline"))
	if text := p.text("main"); !strings.Contains(text, "probe <img") || !strings.Contains(text, "<script>window.pwned=1</script>") || !strings.Contains(text, "2 failed") {
		t.Errorf("execution: %s", text)
	}
	if !browsertest.Get(t, p.tab, chromedp.Evaluate[bool](`(() => {
		const bars = [...document.querySelectorAll(".timeline > li > svg rect")].map(r => r.getBoundingClientRect());
		return bars.length >= 2 && bars.every(b => b.width >= 1) && bars[1].left >= bars[0].right - 2;
	})()`)) {
		t.Error("the bars of the timeline do not follow each other")
	}
	p.sound("execution")
	p.do(click("form[action$='/resume'] button"), visible("#run-state.is-succeeded"))
	p.do(p.at("/history"), visible("table"))
	p.sound("history")
	// By the keyboard alone: the two check boxes, and the button.
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("[name=jid]").focus()`), chromedp.KeyEvent(" "))
	for range 2 {
		p.do(chromedp.KeyEvent("\t"))
	}
	p.do(chromedp.KeyEvent(" "))
	for range 2 {
		p.do(chromedp.KeyEvent("\t"))
	}
	p.do(chromedp.KeyEvent("\r"), visible(".steps"))
	if text := p.text("main"); !strings.Contains(text, "Both ran the same definition.") || !strings.Contains(text, "then: failed") {
		t.Errorf("compared: %s", text)
	}
	p.sound("compare")

	p.do(p.at("/hosts"), visible("#hosts"))
	if text := p.text("#hosts"); !strings.Contains(text, "test.ping") || !strings.Contains(text, "cmd.run") {
		t.Errorf("hosts: %s", text)
	}
	p.do(click("#hosts tbody a"), visible("main > h2"))
	p.sound("host")
	p.do(click("form[action='/hosts/ping'] button"), visible("#run-state.is-succeeded"))
	p.later()
	p.chain()
}

// chain runs the chain of later with a step that fails, resumes it, and looks at its
// executions.
func (p *pages) chain() {
	t := p.t
	t.Helper()
	if out, err := p.brine("chain", "add", "friday", "cmd", "test -e "+p.dir+"/ready", "--on", "web2").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.do(p.at("/chains/friday"), visible("#run-heading"), click("#run-heading ~ form [name=confirm]"), click("#run-heading ~ form button"), visible("#run-state.is-failed"))
	if err := os.WriteFile(p.dir+"/ready", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.do(click("#run-controls button"), visible("#run-state.is-succeeded"), click("#run-controls a[href^='/history?']"), visible("tbody"))
	if text := p.text("tbody"); strings.Count(text, "friday") != 2 || !strings.Contains(text, "succeeded") || !strings.Contains(text, "failed") {
		t.Errorf("executions: %s", text)
	}
}

// later adds a state of the catalogue to a chain, and has it run later.
func (p *pages) later() {
	t := p.t
	t.Helper()
	if out, err := p.brine("chain", "new", "friday").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.do(p.at("/states?text=hel"), visible(".list"))
	p.sound("states")
	p.do(click(".list a"), visible("#chain"))
	if text := p.text("table"); !strings.Contains(text, "file.managed") {
		t.Errorf("state: %s", text)
	}
	p.sound("state")
	p.do(click("#add ~ form button"), visible("#sls"), typed("#targets", "web1"), click("main form button"), visible("#at"))
	p.do(chromedp.SetValue("#at", "2099-12-01T02:00"), click("#later ~ form [name=confirm]"), click("#later ~ form button"), visible("#later ~ ul button"))
	if text := p.text("#later ~ ul"); !strings.Contains(text, "2099-12-01 02:00:00") {
		t.Errorf("scheduled: %s", text)
	}
	p.sound("schedule")
	if out, err := p.brine("chain", "schedule", "--list").CombinedOutput(); err != nil || !strings.Contains(string(out), "2099-12-01 02:00:00  friday") {
		t.Errorf("%v: %s", err, out)
	}
	p.do(click("#later ~ ul button"), chromedp.WaitNotPresent("#later ~ ul li"), visible("#at"))
	if text := p.text("main"); strings.Contains(text, "2099-12-01 02:00:00") {
		t.Errorf("canceled: %s", text)
	}
}

// TestUIUpdateSalt fills in the wizard of the example of the RFC, as it is written
// there, and has it show what it would do.
func TestUIUpdateSalt(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	p := newPages(t)
	if err := os.CopyFS(filepath.Join(p.dir, "salt", "orchestration"), os.DirFS("testdata/rfc/salt/orchestration")); err != nil {
		t.Fatal(err)
	}
	p.serve()
	p.tab = browsertest.Open(t, 1100, 900)
	p.do(chromedp.Navigate(p.link), visible("#templates"), p.at("/templates/update_salt"), visible("#fields"))
	if text := p.text("main"); !strings.Contains(text, "Systems to perform upgrade and reboot") || !strings.Contains(text, "Reboot systems after upgrade") {
		t.Errorf("wizard: %s", text)
	}
	p.do(typed(`[id="t:target1"]`, "web*"), visible(`[id="t:target1-matched"] .hint`), click("[name=test]"), click("[value=run]"), visible("#run-state.is-succeeded"))
	if text := p.text("#steps"); !strings.Contains(text, "orch_entry1_upgrade_salt") || !strings.Contains(text, "no targets") || !strings.Contains(text, "orch_entry_2_wait_for_reboots") {
		t.Errorf("steps: %s", text)
	}
	p.sound("update-salt")
	p.do(click("#run-controls a"), visible(".facts"))
	if text := p.text("main"); !strings.Contains(text, "upgrade_to_latest_salt") || !strings.Contains(text, "reboot_system") {
		t.Errorf("job: %s", text)
	}
}

// TestUIOpen has the desktop open the pages: by a file that only the user can read,
// and that is gone at the end.
func TestUIOpen(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	p.serve("--open")
	wait(t, "the browser to be opened", func() bool { text, err := os.ReadFile(p.dir + "/opened"); return err == nil && len(text) > 0 })
	text, err := os.ReadFile(p.dir + "/opened")
	link := regexp.MustCompile(`url=(http://[^"]+)"`).FindStringSubmatch(string(text))
	if err != nil || link == nil || link[1] != p.link {
		t.Errorf("opened %s, %v, want %s", text, err, p.link)
	}
	if st, err := os.Stat(p.dir + "/opened"); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	_ = p.cmd.Process.Signal(os.Interrupt)
	_ = p.cmd.Wait()
	if code := p.cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit status %d: %s", code, p.errs)
	}
}

// TestUITLS serves users over TLS, whose roles change meanwhile.
func TestUITLS(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	roots := p.certificate()
	users := p.dir + "/users"
	passwd := func(args ...string) {
		t.Helper()
		c := p.brine(append([]string{"ui", "passwd", "ann", "--users", users}, args...)...)
		c.Args = c.Args[:len(c.Args)-2] // without -c
		c.Stdin = strings.NewReader("correct horse\n")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	passwd("--role", "viewer")
	p.serve("--tls-cert", p.dir+"/cert.pem", "--tls-key", p.dir+"/key.pem", "--users", users)
	if !strings.HasPrefix(p.base, "https://127.0.0.1:") || strings.Contains(p.link, "token") {
		t.Fatalf("address %s", p.link)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	ask := p.asker(client)
	if text := ask(http.MethodGet, "/history", nil); !strings.Contains(text, `type="password"`) {
		t.Errorf("no password is asked for: %s", text)
	}
	login := url.Values{"name": {"ann"}, "password": {"correct horse"}}
	if text := ask(http.MethodPost, "/login", login); !strings.Contains(text, "ann (viewer)") {
		t.Errorf("page: %s", text)
	}
	at, _ := url.Parse(p.base)
	for _, c := range client.Jar.Cookies(at) {
		if !strings.HasPrefix(c.Name, "__Host-brine-ui-") {
			t.Errorf("cookie %s", c.Name)
		}
	}
	passwd("--role", "operator")
	if text := ask(http.MethodGet, "/", nil); !strings.Contains(text, `type="password"`) {
		t.Errorf("a visit goes on with another role: %s", text)
	}
	if text := ask(http.MethodPost, "/login", login); !strings.Contains(text, "ann (operator)") {
		t.Errorf("page: %s", text)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "evil.example"
	if res, err := client.Do(r); err != nil || res.StatusCode != http.StatusMisdirectedRequest || res.Body.Close() != nil {
		t.Errorf("another host: %v, %v", res, err)
	}
	// Somebody who speaks no TLS gets nothing.
	plain, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(p.base, "https:", "http:", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := http.DefaultClient.Do(plain); err == nil && (res.StatusCode != http.StatusBadRequest || res.Body.Close() != nil) {
		t.Errorf("without TLS: %s", res.Status)
	}
}

// certificate writes a certificate of 127.0.0.1 that signs itself, and its key.
func (p *pages) certificate() *x509.CertPool {
	t := p.t
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(p.dir, name), pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool
}
