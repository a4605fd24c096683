package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// faulty is a host of the in-process server whose commands run here, in the
// home of the site's sshd, where an agent is placed.
func (s *site) faulty(set func(f *sshtest.Fake)) *sshtest.Fake {
	s.t.Helper()
	f := sshtest.NewFake(s.t)
	f.Exec = func(x *sshtest.Session) int {
		c := exec.Command("sh", "-c", x.Command)
		c.Env = []string{"HOME=" + s.sshd.Home, "PATH=" + os.Getenv("PATH"), "BRINE_TEST_RUN=1"}
		stdin, err := c.StdinPipe()
		if err != nil {
			return 255
		}
		c.Stdout, c.Stderr = x, x.Stderr()
		if err := c.Start(); err != nil {
			return 127
		}
		go func() {
			_, _ = io.Copy(stdin, x)
			stdin.Close()
		}()
		_ = c.Wait()
		return c.ProcessState.ExitCode()
	}
	set(f)
	return f.Start()
}

// TestFaults: each way in which a host fails is one line with its name, its
// address, how far it came and what to do; the others are not held up.
func TestFaults(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(1)
	s.want(s.brine("ssh", "web1", "test.ping"), 0) // the agent is placed

	type fault struct {
		stages string // any of these, with bars between; "" is success
		text   string
		set    func(f *sshtest.Fake)
	}
	hang := func(p sshtest.Point) func(*sshtest.Fake) { return func(f *sshtest.Fake) { f.Hang = p } }
	reset := func(p sshtest.Point) func(*sshtest.Fake) { return func(f *sshtest.Fake) { f.Reset = p } }
	answer := func(status int, text string) func(*sshtest.Fake) {
		return func(f *sshtest.Fake) {
			f.Exec = func(x *sshtest.Session) int {
				fmt.Fprint(x, text)
				return status
			}
		}
	}
	faults := map[string]fault{
		"hang-accept":   {"handshake", "no answer within 3s", hang(sshtest.AtAccept)},
		"hang-version":  {"handshake", "no answer within 3s", hang(sshtest.AtVersion)},
		"hang-auth":     {"authentication", "no answer within 3s; sshd answers and does not let in", hang(sshtest.AtAuth)},
		"hang-channel":  {"shell", "no answer in time", hang(sshtest.AtChannel)},
		"hang-exec":     {"shell", "no answer in time", hang(sshtest.AtExec)},
		"reset-accept":  {"connect|handshake", "MaxStartups", reset(sshtest.AtAccept)},
		"reset-version": {"connect|handshake", "the host closed the connection; see its sshd's log and MaxStartups", reset(sshtest.AtVersion)},
		"reset-auth":    {"authentication", "the host closed the connection; see its sshd's log", reset(sshtest.AtAuth)},
		"reset-channel": {"shell", "the host closed the connection; check that the host is up", reset(sshtest.AtChannel)},
		"reset-exec":    {"shell", "the host closed the connection; check that the host is up", reset(sshtest.AtExec)},
		"wrong-key":     {"host key", "the host's key is not the known one", func(f *sshtest.Fake) {}},
		"unknown-key":   {"host key", "ssh-keyscan", func(f *sshtest.Fake) {}},
		"nologin":       {"shell", "This account is currently not available.", answer(1, "This account is currently not available.\n")},
		"bin-false":     {"shell", "ended with status 1 and ran nothing, as /bin/false does", answer(1, "")},
		"router":        {"shell", "% Unknown command", answer(0, "% Unknown command\n")},
		"says-nothing":  {"agent", "no hello from the remote program", answer(0, "")},
		"slow": {"", "", func(f *sshtest.Fake) {
			f.Latency, f.Rate = 20*time.Millisecond, 400<<10
		}},
		"flaky": {"", "", func(f *sshtest.Fake) { f.Flaky = 2 }},
	}
	// The connection breaks at every part of its life, and each that follows it too.
	// The return is a megabyte.
	for _, n := range []int64{1, 30, 200, 700, 1200, 1500, 1800, 2100, 2400, 2800, 3200, 3600, 4000, 5000, 7000, 20000, 100001, 500001, 900007} {
		stages := "connect|handshake|authentication|shell|agent"
		if n > 100000 {
			stages = "" // each connection brings a part of the return
		}
		faults[fmt.Sprintf("drop-%06d", n)] = fault{stages, "", func(f *sshtest.Fake) { f.DropAfter = n }}
	}
	var roster, known strings.Builder
	addr := map[string]string{}
	for id, x := range faults {
		f := s.faulty(x.set)
		addr[id] = f.Addr
		key := f.HostKey.PublicKey()
		if id == "wrong-key" {
			key = s.sshd.HostKey
		}
		if id != "unknown-key" {
			fmt.Fprintf(&known, "[127.0.0.1]:%d %s", f.Port(), ssh.MarshalAuthorizedKey(key))
		}
		wait := 60 // this machine may have much to do
		if strings.HasPrefix(id, "hang") {
			wait = 3
		}
		fmt.Fprintf(&roster, "%s: {host: 127.0.0.1, port: %d, timeout: %d}\n", id, f.Port(), wait)
	}
	s.write("home/.ssh/known_hosts", read(t, s.sshd.KnownHosts)+known.String())
	s.roster(1, "refused: {host: 127.0.0.1, port: 1}", roster.String())
	faults["refused"], addr["refused"] = fault{stages: "connect", text: "connection refused; check that sshd is listening"}, "127.0.0.1:1"
	faults["web1"] = fault{}

	// A connection that always breaks is not made again for minutes.
	s.write("master", read(t, s.path("master"))+"ssh_reconnect: 25\n")
	r := s.brine("ssh", "*", "cmd.run", "head -c 1000000 /dev/zero | tr '\\0' x", "--out=json", "--max-procs=100")
	s.want(r, 20)
	doc := s.decode(r)
	if len(doc) != len(faults) {
		t.Errorf("%d results of %d targets", len(doc), len(faults))
	}
	for id, x := range faults {
		if text, ok := doc[id].(string); ok {
			// Where this machine has much to do, the host is asked for its job, and given up.
			gaveUp := x.stages != "" && strings.HasPrefix(text, "Minion did not return. [No response]\n")
			if !gaveUp && (x.stages != "" || len(text) != 1000000) {
				t.Errorf("%s: returned %d bytes: %.200s", id, len(text), text)
			}
			continue
		}
		m, _ := doc[id].(map[string]any)
		got := fmt.Sprint(m["stderr"])
		ok := regexp.MustCompile(`^` + id + ` \(` + regexp.QuoteMeta(addr[id]) + `\): (` + x.stages + `): [^;]+; .*[a-z]`).MatchString(got)
		if x.stages == "" || !ok || !strings.Contains(got, x.text) || strings.Contains(got, "\n") {
			t.Errorf("%s: %s; want stage %s, %q and what to do", id, got, x.stages, x.text)
		} else {
			t.Log(got)
		}
	}
}
