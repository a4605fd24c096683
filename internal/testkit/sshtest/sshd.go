// Package sshtest gives tests machines to reach over SSH: a real OpenSSH server
// that answers on all of 127.0.0.0/8, so that many hosts cost one server, and
// an in-process server that has every fault a network and a host can have.
//
// Start at [Start], [NewFake] and, for a machine that reboots, [NewMachine].
package sshtest

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"brine/internal/testkit/porttest"
)

// Options say how a server is set up.
type Options struct {
	// Config are further lines of sshd_config; they come first and so win.
	Config []string
	// Env are variables of the sessions, NAME=value without blanks.
	Env []string
	// Stock leaves MaxStartups and the penalties as OpenSSH has them.
	Stock bool
	// Shell is given each command as sshd gives it to the shell of an account:
	// SHELL -c COMMAND. "" is the account's own.
	Shell string
	// Prepare is a script of sh that is run as root in a mount namespace of the
	// server's own, before it: what it mounts is seen by the sessions alone. DIR
	// and SESSION_HOME are the server's Dir and Home. A test with it is skipped
	// where it cannot be run.
	Prepare string
}

// Private reports whether a script can mount what nobody else sees; see
// Options.Prepare.
func Private() bool {
	return os.Geteuid() == 0 && exec.Command("unshare", "-m", "--propagation", "private", "mount", "-t", "tmpfs", "tmpfs", "/mnt").Run() == nil
}

// A Server is a running sshd. Every address of 127.0.0.0/8 is one of its hosts.
type Server struct {
	Port       int
	PID        int    // of the listening sshd; each connection is a child of it
	User       string // the account that logs in: who runs the test
	Dir        string // configuration, keys and log
	Home       string // HOME of the sessions, not that of the account
	Key        string // private key that may log in
	KnownHosts string // known_hosts file with the server's key for all hosts
	HostKey    ssh.PublicKey
	log        string
}

// Require skips the test where a program is missing, unless
// BRINE_TEST_REQUIRE (a comma list) names it: then the test fails. It returns
// the program's path.
func Require(t testing.TB, name string) string {
	t.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/sbin", "/usr/local/sbin") {
		p := filepath.Join(dir, name)
		if st, err := os.Stat(p); err == nil && !st.IsDir() && st.Mode()&0o111 != 0 {
			return p
		}
	}
	for want := range strings.SplitSeq(os.Getenv("BRINE_TEST_REQUIRE"), ",") {
		if want == name {
			t.Fatalf("%s is required and not installed", name)
		}
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// Start starts an sshd that ends with the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	sshd := Require(t, "sshd")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if o.Prepare != "" && !Private() {
		t.Skip("no file systems can be mounted for the test alone")
	}
	s := &Server{User: me.Username, Dir: t.TempDir()}
	s.Home = filepath.Join(s.Dir, "home")
	if err := os.Mkdir(s.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	// The directories above may be open to the test's user alone, which is what
	// sshd wants to see; StrictModes is off for those that are not.
	host := WriteKey(t, filepath.Join(s.Dir, "host_key"), "")
	s.HostKey = host.PublicKey()
	s.Key = filepath.Join(s.Dir, "id_ed25519")
	client := WriteKey(t, s.Key, "")
	write := func(name, text string) string {
		p := filepath.Join(s.Dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	auth := write("authorized_keys", string(ssh.MarshalAuthorizedKey(client.PublicKey())))
	s.log = filepath.Join(s.Dir, "log")
	if os.Geteuid() == 0 {
		// The privilege separation directory of a system whose sshd never ran.
		_ = os.MkdirAll("/run/sshd", 0o755)
	}
	if o.Shell != "" {
		o.Config = append(o.Config, "ForceCommand "+s.shell(t, o.Shell))
	}
	for try := 0; ; try++ {
		s.Port = porttest.Port(t)
		conf := append([]string(nil), o.Config...)
		conf = append(conf,
			fmt.Sprintf("Port %d", s.Port),
			"ListenAddress 0.0.0.0",
			"AllowUsers *@127.0.0.0/8",
			"HostKey "+filepath.Join(s.Dir, "host_key"),
			"PidFile none",
			"AuthorizedKeysFile "+auth,
			"StrictModes no",
			"PubkeyAuthentication yes",
			"PasswordAuthentication no",
			"KbdInteractiveAuthentication no",
			"PermitRootLogin yes",
			"UsePAM no",
			"UseDNS no",
			"PrintMotd no",
			"PrintLastLog no",
			"AcceptEnv LANG LC_*",
			"SetEnv HOME="+s.Home+" BRINE_CACHE_DIR="+filepath.Join(s.Home, ".cache", "brine")+" "+strings.Join(o.Env, " "), // one line: sshd reads the first only
			"Subsystem sftp internal-sftp -d "+s.Home, // not the home of who runs the tests
			"LogLevel VERBOSE",
		)
		if !o.Stock {
			conf = append(conf, "MaxStartups 1000", "MaxSessions 100")
			if penalties(sshd) {
				conf = append(conf, "PerSourcePenalties no")
			}
		}
		path := write("sshd_config", strings.Join(conf, "\n")+"\n")
		if s.run(t, sshd, path, o.Prepare) {
			break
		}
		if try == 4 {
			b, _ := os.ReadFile(s.log)
			t.Fatalf("sshd does not start:\n%s", b)
		}
	}
	s.KnownHosts = write("known_hosts", fmt.Sprintf("[127.*]:%d,[localhost]:%d %s", s.Port, s.Port, ssh.MarshalAuthorizedKey(s.HostKey)))
	return s
}

// shell writes the program that stands for an account's shell.
func (s *Server) shell(t testing.TB, shell string) string {
	t.Helper()
	sftp := "exit 1"
	for _, p := range []string{"/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server", "/usr/libexec/sftp-server", "/usr/lib/ssh/sftp-server"} {
		if _, err := os.Stat(p); err == nil {
			sftp = "exec " + p + " -d " + s.Home
		}
	}
	path := filepath.Join(s.Dir, "shell")
	text := "#!/bin/sh\ncase $SSH_ORIGINAL_COMMAND in internal-sftp*) " + sftp + ";; esac\nexec " + shell + " -c \"$SSH_ORIGINAL_COMMAND\"\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// run starts the server and reports whether it answers.
func (s *Server) run(t testing.TB, sshd, conf, prepare string) bool {
	t.Helper()
	c := exec.Command(sshd, "-D", "-f", conf, "-E", s.log)
	if prepare != "" {
		c = exec.Command("unshare", "-m", "--propagation", "private", "sh", "-ec", prepare+"\nexec \"$0\" \"$@\"", sshd, "-D", "-f", conf, "-E", s.log)
		c.Env = append(os.Environ(), "DIR="+s.Dir, "SESSION_HOME="+s.Home)
		said, err := os.Create(filepath.Join(s.Dir, "prepare.log"))
		if err != nil {
			t.Fatal(err)
		}
		defer said.Close()
		c.Stderr = said
		defer func() {
			if b, _ := os.ReadFile(said.Name()); len(b) > 0 {
				t.Logf("the server's preparation says: %s", b)
			}
		}()
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.PID = c.Process.Pid
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		<-ended
		s.settle()
	})
	for range 500 {
		conn, err := net.DialTimeout("tcp", s.Addr("127.0.0.1"), time.Second)
		if err == nil {
			// A port that a client has at this moment can answer, too.
			var banner [4]byte
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, err = io.ReadFull(conn, banner[:])
			conn.Close()
			if err == nil && string(banner[:]) == "SSH-" {
				return true
			}
		}
		select {
		case <-ended:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// settle waits until what ran for the server's clients has ended, and ends what does
// not: an agent that still writes to its directory would keep a test from removing it.
func (s *Server) settle() {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		left := s.sessions()
		if len(left) == 0 {
			return
		}
		if time.Until(end) < 7*time.Second {
			for _, pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// sessions are the processes whose home is that of the server's accounts; none where
// there is no /proc.
func (s *Server) sessions() (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !strings.Contains("\x00"+string(env), "\x00HOME="+s.Home+"\x00") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Addr returns host:port.
func (s *Server) Addr(host string) string { return fmt.Sprintf("%s:%d", host, s.Port) }

// Log returns what the server logged.
func (s *Server) Log() string {
	b, _ := os.ReadFile(s.log)
	return string(b)
}

// Hosts returns n addresses of the server.
func (s *Server) Hosts(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("127.0.%d.%d", 10+i/250, 1+i%250)
	}
	return out
}

// penalties reports whether this sshd knows PerSourcePenalties.
func penalties(sshd string) bool {
	out, _ := exec.Command(sshd, "-T", "-f", "/dev/null", "-o", "PerSourcePenalties=no", "-o", "HostKey=/dev/null").CombinedOutput()
	return !strings.Contains(strings.ToLower(string(out)), "bad configuration option")
}

// WriteKey makes an ed25519 key, writes it to path (encrypted where there is a
// passphrase, the public one beside it) and returns it.
func WriteKey(t testing.TB, path, passphrase string) ssh.Signer {
	t.Helper()
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var block *pem.Block
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(priv, "test")
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(priv, "test", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".pub", ssh.MarshalAuthorizedKey(signer.PublicKey()), 0o644); err != nil {
		t.Fatal(err)
	}
	return signer
}

// Master starts an ssh that holds a connection to a host of the server open, and
// listens at a socket. It ends with the test. options are further options, each as for
// ssh -o. It returns the process ID.
func (s *Server) Master(t testing.TB, host, socket string, options ...string) int {
	t.Helper()
	args := []string{"-F", "/dev/null", "-N", "-o", "ControlMaster=yes", "-o", "ControlPath=" + socket, "-o", "UserKnownHostsFile=" + s.KnownHosts, "-o", "BatchMode=yes", "-i", s.Key, "-p", strconv.Itoa(s.Port), "-l", s.User}
	for _, o := range options {
		args = append(args, "-o", o)
	}
	c := exec.Command(Require(t, "ssh"), append(args, host)...)
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
	})
	for range 3000 {
		if _, err := os.Stat(socket); err == nil {
			return c.Process.Pid
		}
		select {
		case <-ended:
			t.Fatalf("no master: %s", said.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatal("no master listens")
	return 0
}
