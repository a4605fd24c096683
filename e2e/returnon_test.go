//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"brine/internal/testkit/servertest"
	"brine/internal/testkit/turn"
)

// A mailbox is a mail server that keeps the subjects of what it is sent.
type mailbox struct {
	port int
	mu   sync.Mutex
	got  []string
}

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	m := &mailbox{port: l.Addr().(*net.TCPAddr).Port}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go m.serve(c)
		}
	}()
	return m
}

func (m *mailbox) serve(c net.Conn) {
	defer c.Close()
	fmt.Fprint(c, "220 mail\r\n")
	data := false
	for lines := bufio.NewScanner(c); lines.Scan(); {
		line := lines.Text()
		subject, isSubject := strings.CutPrefix(line, "Subject: ")
		switch {
		case data && line != ".":
			if isSubject {
				m.mu.Lock()
				m.got = append(m.got, subject)
				m.mu.Unlock()
			}
		case line == "DATA":
			data = true
			fmt.Fprint(c, "354 go on\r\n")
		case line == "QUIT":
			fmt.Fprint(c, "221 bye\r\n")
			return
		default:
			data = false
			fmt.Fprint(c, "250 ok\r\n")
		}
	}
}

// take returns the subjects of the mails since it was last called.
func (m *mailbox) take() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	got := strings.Join(m.got, ", ")
	m.got = nil
	return got
}

// TestReturnOn: a database has the record of everything, and mails come of failures
// alone, as docs/returners.md shows it.
func TestReturnOn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mysql", "postgres"} {
		t.Run(name, func(t *testing.T) {
			turn.Skip(t)
			t.Parallel()
			port := 0
			if name == "mysql" {
				port = servertest.MariaDB(t, schemaOf(name)).Port
			} else {
				port = servertest.Postgres(t, schemaOf(name)).Port
			}
			settings, _ := dbSettings(t, name, port)
			box := newMailbox(t)
			s := sharer{t: t, dir: t.TempDir()}
			s.own = s.dir
			s.write(filepath.Join(s.dir, "roster"), "web1: {connection: local}\n")
			s.write(filepath.Join(s.dir, "tree", "orch.sls"), "good: {salt.function: [{name: test.ping}, {tgt: web1}]}\nbad: {salt.function: [{name: cmd.run}, {arg: ['exit 3']}, {tgt: web1}]}\n")
			conf := fmt.Sprintf("id: ctl\ncachedir: %[1]s/cache\nfile_roots: {base: [%[1]s/tree]}\nkeep_jobs_seconds: 0\n%[2]sreturn: [smtp]\n"+
				"smtp: {from: a@example.org, to: b@example.org, host: 127.0.0.1, port: %[3]d, subject: '{{ fun }} on {{ id }}: {{ success }}'}\n", s.dir, settings, box.port)
			configure := func(more string) { s.write(filepath.Join(s.dir, "master"), conf+more) }
			all := 0 // jobs that the database has to have
			for _, x := range []struct{ returnOn, mails string }{
				{"", "test.ping on web1: True, cmd.run on web1: False, test.ping on web1: True, cmd.run on web1: False"},
				{"return_on: all\n", "test.ping on web1: True, cmd.run on web1: False, test.ping on web1: True, cmd.run on web1: False"},
				{"return_on: failed\n", "cmd.run on web1: False, cmd.run on web1: False"},
				{"return_on: {smtp: failed}\n", "cmd.run on web1: False, cmd.run on web1: False"},
				{"return_on: {smtp: all}\n", "test.ping on web1: True, cmd.run on web1: False, test.ping on web1: True, cmd.run on web1: False"},
			} {
				configure(x.returnOn)
				s.ends(0, "ssh", "web1", "test.ping", "--out=quiet")
				s.ends(20, "ssh", "web1", "cmd.run", "exit 3", "--out=quiet")
				s.ends(1, "orchestrate", "orch", "--out=quiet")
				if got := box.take(); got != x.mails {
					t.Errorf("%q: mails %q, want %q", x.returnOn, got, x.mails)
				}
				all += 5 // two, and an orchestration of two steps
				var listed struct{ Failed, Succeeded []struct{ Function string } }
				text := s.ends(0, "run", "audit.report", "ext_source="+name, "--out=json")
				if err := json.Unmarshal([]byte(text), &listed); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if good, bad := len(listed.Succeeded), len(listed.Failed); good != all/5*2 || bad != all/5*3 {
					t.Errorf("%q: the database has %d jobs that succeeded and %d that failed, want %d and %d", x.returnOn, good, bad, all/5*2, all/5*3)
				}
			}
			var runs map[string]any
			if text := s.ends(0, "run", "history.list", "--out=json"); json.Unmarshal([]byte(text), &runs) != nil || len(runs) != all/5 {
				t.Errorf("the history has %s", text)
			}
			for returnOn, want := range map[string]string{
				"return_on: fail\n":                   "return_on must be failed or all, not 'fail'",
				"return_on: [smtp]\n":                 "return_on must be failed or all, not ['smtp']",
				"return_on: {smtp: yes}\n":            "return_on: smtp must be failed or all, not True",
				"return_on: {smpt: failed}\n":         `there is no returner "smpt" (did you mean "smtp"?)`,
				"return_on: {" + name + ": failed}\n": "return_on: " + name + " is a job cache",
			} {
				configure(returnOn)
				s.says(64, []string{want}, "ssh", "web1", "test.ping")
			}
			if got := box.take(); got != "" {
				t.Errorf("what was refused mails %q", got)
			}
		})
	}
}
