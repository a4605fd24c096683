//go:build linux

package e2e

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/internal/testkit/servertest"
)

// An eventMachine sends events to the API of a controller.
type eventMachine struct {
	t     *testing.T
	dir   string
	token string
}

// brine makes a command.
func (m *eventMachine) brine(args ...string) *exec.Cmd {
	self := brineProgram()
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "HOME="+m.dir, "BRINE_RUN_DIR="+m.dir+"/events")
	return c
}

// send sends an event to a controller whose certificate one of the authorities of a file is to
// have signed. It returns what the command printed, and checks that nothing shows the token.
func (m *eventMachine) send(url, ca string, during *atomic.Pointer[exec.Cmd]) (text string, ok bool) {
	m.t.Helper()
	conf := filepath.Join(m.dir, "minion")
	setting := "event_api: {url: '" + url + "', token_file: '" + m.dir + "/token'"
	if ca != "" {
		setting += ", ca: '" + ca + "'"
	}
	if err := os.WriteFile(conf, []byte("id: box\nfile_client: local\ncachedir: "+m.dir+"/cache\nlog_file: "+m.dir+"/log\nlog_level_logfile: all\n"+setting+"}\n"), 0o600); err != nil {
		m.t.Fatal(err)
	}
	c := m.brine("call", "event.send", "deploy/web1/done", `{"n": 1}`, "-c", m.dir, "-l", "all", "--log-file", m.dir+"/log", "--log-file-level", "all")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		m.t.Fatal(err)
	}
	if during != nil {
		during.Store(c)
	}
	err := c.Wait()
	_ = filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path == m.dir+"/token" {
			return nil
		}
		if b, _ := os.ReadFile(path); bytes.Contains(b, []byte(m.token)) {
			m.t.Errorf("the token is in %s", path)
		}
		return nil
	})
	if strings.Contains(out.String(), m.token) {
		m.t.Errorf("the token is shown: %s", &out)
	}
	return out.String(), err == nil
}

// TestEventAPITLS has a machine send events to brine ui by TLS, and to servers that must not get
// the token: one that others signed for, one whose certificate has expired or is of another
// name, and one that leads elsewhere.
func TestEventAPITLS(t *testing.T) {
	t.Parallel()
	m := &eventMachine{t: t, dir: t.TempDir()}
	tree := t.TempDir() // of the controller
	if err := os.WriteFile(filepath.Join(tree, "master"), []byte("id: ctl\nfile_roots: {base: ["+tree+"/salt]}\ncachedir: "+tree+"/cache\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := m.brine("ui", "token", "add", "web1", "--tokens", tree+"/tokens", "--role", "operator", "--events", "deploy/web1").Output()
	if m.token = strings.TrimSpace(string(out)); err != nil || len(m.token) < 20 {
		t.Fatalf("%v: %q", err, out)
	}
	if err := os.WriteFile(filepath.Join(m.dir, "token"), out, 0o600); err != nil {
		t.Fatal(err)
	}
	ca, other := servertest.NewCA(t), servertest.NewCA(t)
	cert, key := ca.Issue(t, tree, "ctl", "127.0.0.1")

	ui := m.brine("ui", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--tokens", tree+"/tokens", "-c", tree)
	said := &lockedBuffer{}
	ui.Stdout, ui.Stderr = said, said
	if err := ui.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = ui.Process.Signal(os.Interrupt)
		_ = ui.Wait()
		if strings.Contains(said.String(), m.token) {
			t.Errorf("the token is in the log of the controller: %s", said.String())
		}
	})
	address := regexp.MustCompile(`https://127\.0\.0\.1:[0-9]+`)
	until(t, "brine ui listens", func() bool { return address.MatchString(said.String()) })
	url := address.FindString(said.String())
	watcher := m.brine("run", "state.event", "deploy/*", "count=1", "timeout=60", "-c", tree)
	heard, listening := &lockedBuffer{}, &lockedBuffer{}
	watcher.Stdout, watcher.Stderr = heard, listening
	if err := watcher.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "a run listens", func() bool { return strings.Contains(listening.String(), "listening") })
	if text, ok := m.send(url, ca.File, nil); !ok {
		t.Errorf("the controller of this authority gets no event: %s", text)
	}
	if err := watcher.Wait(); err != nil || !strings.Contains(heard.String(), `deploy/web1/done`) || !strings.Contains(heard.String(), `"id": "web1"`) {
		t.Errorf("the controller heard %q: %v %s", heard.String(), err, listening.String())
	}

	// What must not get the token.
	var asked atomic.Int64
	serve := func(cert, key string, answer http.HandlerFunc) string {
		t.Helper()
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewUnstartedServer(answer)
		s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		s.Config.ErrorLog = nil
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL
	}
	takes := func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, "{}")
	}
	good := serve(cert, key, takes)
	oldCert, oldKey := ca.IssueExpired(t, tree, "old", "127.0.0.1")
	nameCert, nameKey := ca.Issue(t, tree, "named", "localhost")
	plain := httptest.NewServer(http.HandlerFunc(takes))
	t.Cleanup(plain.Close)
	for _, tt := range []struct{ what, url, ca, want string }{
		{"another authority", good, other.File, "certificate"},
		{"none that this machine trusts", good, "", "certificate"},
		{"expired", serve(oldCert, oldKey, takes), ca.File, "expired"},
		{"another name", serve(nameCert, nameKey, takes), ca.File, "127.0.0.1"},
		{"without TLS", strings.Replace(plain.URL, "http://", "https://", 1), ca.File, "HTTPS"},
	} {
		if text, ok := m.send(tt.url, tt.ca, nil); ok || !strings.Contains(text, tt.want) || !strings.Contains(text, "event_api") {
			t.Errorf("%s: %v, %s", tt.what, ok, text)
		}
	}
	for _, to := range []string{good + "/api/v1/events", plain.URL + "/api/v1/events", "/elsewhere"} {
		for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			led := serve(cert, key, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/elsewhere" {
					asked.Add(1)
				}
				http.Redirect(w, r, to, status)
			})
			if text, ok := m.send(led, ca.File, nil); ok || !strings.Contains(text, "it leads elsewhere, and the token stays here") {
				t.Errorf("%d to %s: %v, %s", status, to, ok, text)
			}
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests came to who must not get the token", n)
	}

	// A server that says the token back, while the process can be looked at.
	var sender atomic.Pointer[exec.Cmd]
	echo := serve(cert, key, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+m.token {
			t.Errorf("the authorization is %q", r.Header.Get("Authorization"))
		}
		for end := time.Now().Add(time.Minute); sender.Load() == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		for _, file := range []string{"cmdline", "environ"} {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", sender.Load().Process.Pid, file))
			if err != nil || len(b) == 0 || bytes.Contains(b, []byte(m.token)) {
				t.Errorf("%s: %v %q", file, err, b)
			}
		}
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"detail": "no event with %s"}`, r.Header.Get("Authorization"))
	})
	if text, ok := m.send(echo, ca.File, &sender); ok || !strings.Contains(text, "no event with Bearer") {
		t.Errorf("a refusal: %v, %s", ok, text)
	}
}
