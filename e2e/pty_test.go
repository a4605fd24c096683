package e2e

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// A terminal is a pseudo-terminal and what was printed on it.
type terminal struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	screen output
	seen   int           // how much of the screen was waited for
	also   func() string // what else a failure shows
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	tt := &terminal{t: t, master: master, slave: slave}
	t.Cleanup(func() {
		slave.Close()
		master.Close()
	})
	go func() { _, _ = io.Copy(&tt.screen, master) }()
	return tt
}

// expect waits for text on the screen, behind that which was waited for before.
func (tt *terminal) expect(text string) {
	tt.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		if i := strings.Index(tt.screen.String()[tt.seen:], text); i >= 0 {
			tt.seen += i + len(text)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	tt.t.Fatalf("no %q on the screen, which shows %q%s", text, tt.screen.String(), tt.also())
}

// types types a line once echo is as it should be for it: the program has set the
// terminal by then.
func (tt *terminal) types(text string, echo bool) {
	tt.t.Helper()
	until(tt.t, "the terminal is set", func() bool {
		a, err := unix.IoctlGetTermios(int(tt.slave.Fd()), unix.TCGETS)
		return err == nil && (a.Lflag&unix.ECHO != 0) == echo
	})
	if _, err := tt.master.WriteString(text + "\n"); err != nil {
		tt.t.Fatal(err)
	}
}

// TestSSHPromptsOnTerminal: the questions of a log-in come on the controlling
// terminal, also if stdin, stdout and stderr are others, and secrets are not
// echoed.
func TestSSHPromptsOnTerminal(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	type step struct {
		prompt, answer string
		echo           bool
	}
	const hostKey = "key fingerprint is "
	sure := step{"(yes/no/[fingerprint])? ", "yes", true}
	for _, tt := range []struct {
		name    string
		set     func(f *sshtest.Fake, key ssh.PublicKey)
		key     bool
		onStdin bool // stdin is the terminal
		args    []string
		steps   []step
		exit    int
		says    string
	}{
		{
			"host key, passphrase and code", func(f *sshtest.Fake, key ssh.PublicKey) { f.Keys, f.Code = []ssh.PublicKey{key}, "424242" }, true, false, nil,
			[]step{{"Passphrase of ", "wrong", false}, {"Passphrase of ", "open sesame", false}, {hostKey, "", true}, {sure.prompt, "maybe", true}, {"or the fingerprint: ", "yes", true}, {"Verification code: ", "424242", true}},
			0, "it is me",
		},
		{
			"password, at the third try", func(f *sshtest.Fake, _ ssh.PublicKey) { f.Password = "s3cret" }, false, false, nil,
			[]step{sure, {"'s password: ", "a", false}, {"'s password: ", "b", false}, {"'s password: ", "s3cret", false}},
			0, "it is me",
		},
		{
			"password, never right", func(f *sshtest.Fake, _ ssh.PublicKey) { f.Password = "s3cret" }, false, false, nil,
			[]step{sure, {"'s password: ", "a", false}, {"'s password: ", "b", false}, {"'s password: ", "c", false}},
			20, "unable to authenticate",
		},
		{
			"keyboard-interactive, stdin is the terminal", func(f *sshtest.Fake, _ ssh.PublicKey) { f.Interactive = "s3cret" }, false, true, nil,
			[]step{sure, {") Password: ", "s3cret", false}},
			0, "it is me",
		},
		{
			"a password for all targets", func(f *sshtest.Fake, _ ssh.PublicKey) { f.Password = "s3cret" }, false, false,
			[]string{"--ask-pass"},
			[]step{{"Password: ", "s3cret", false}, sure},
			0, "it is me",
		},
		{"the key is not taken", func(*sshtest.Fake, ssh.PublicKey) {}, false, false, nil, []step{{sure.prompt, "no", true}}, 20, "it was not accepted at the prompt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &site{t: t, dir: t.TempDir()}
			s.home = s.path("home")
			s.write("home/.ssh/known_hosts", "")
			s.write("master", fmt.Sprintf("cachedir: %s\n", s.path("cache")))
			f := sshtest.NewFake(t)
			f.Exec = func(s *sshtest.Session) int {
				fmt.Fprintln(s, "it is me")
				return 0
			}
			key := sshtest.WriteKey(t, s.path("key"), "open sesame")
			tt.set(f, key.PublicKey())
			f.Start()
			host, port, _ := net.SplitHostPort(f.Addr)
			entry := fmt.Sprintf("box: {host: %s, port: %s, user: adm", host, port)
			if tt.key {
				entry += fmt.Sprintf(", priv: %q", s.path("key"))
			}
			s.write("roster", entry+"}\n")
			term := newTerminal(t)
			self := brineProgram()
			c := exec.Command(self)
			c.Args = append([]string{"brine", "-c", s.dir, "ssh", "box", "-r", "true"}, tt.args...)
			c.Dir = s.dir
			c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "HOME="+s.home, "XDG_CACHE_HOME="+s.path("xdg"), "XDG_RUNTIME_DIR="+s.path("cache"),
				"BRINE_RUN_DIR="+s.path("cache")+"/events", "SSH_AUTH_SOCK=", "NO_COLOR=1", "SSH_ASKPASS_REQUIRE=never")
			var out, errs output
			c.Stdout, c.Stderr = &out, &errs
			term.also = func() string { return "\nstdout: " + out.String() + "\nstderr: " + errs.String() }
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
			c.ExtraFiles = []*os.File{term.slave}
			if tt.onStdin {
				c.Stdin, c.Stderr = term.slave, term.slave
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Process.Kill() })
			for _, st := range tt.steps {
				term.expect(st.prompt)
				if st.answer != "" {
					term.types(st.answer, st.echo)
				}
			}
			_ = c.Wait()
			screen := term.screen.String()
			if got := c.ProcessState.ExitCode(); got != tt.exit || !strings.Contains(out.String()+errs.String(), tt.says) {
				t.Errorf("exit status %d, want %d and %q\nstdout: %s\nstderr: %s\nscreen: %q", got, tt.exit, tt.says, out.String(), errs.String(), screen)
			}
			if text := out.String() + errs.String(); strings.Contains(text, "assword: ") || strings.Contains(text, "(yes/no") {
				t.Errorf("prompts are not only on the terminal: %s", text)
			}
			for _, secret := range []string{"s3cret", "open sesame"} {
				if strings.Contains(screen, secret) {
					t.Errorf("%q is on the screen: %q", secret, screen)
				}
			}
			known := read(t, s.path("home/.ssh/known_hosts"))
			if taken := strings.Contains(known, "ssh-ed25519 "); taken != (tt.says != "it was not accepted at the prompt") {
				t.Errorf("known_hosts is %q", known)
			}
		})
	}
}
