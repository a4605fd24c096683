// Command links measures brine over links that are slow, stall or have many hosts
// behind them: a real sshd on this machine, reached through a proxy. It prints a
// line for each measurement and passes no judgement, except that it exits with 1
// if a run that is meant to succeed does not. One whose host is silent for longer
// than a log-in may take is meant to fail, as ssh does past its ConnectTimeout.
//
//	links [-cold COUNTS] [-slow LINKS] [-relay LINKS] [-stall SECONDS] [-phases PHASES] [-many N] [-agents DIR] <path of a brine binary>
//
// A link is HOSTS:MBIT:MILLISECONDS. The lists are separated by commas; an empty
// one leaves its part out.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"brine/internal/testkit/proxytest"
)

func main() {
	var b bench
	cold := flag.String("cold", "1,10,50", "hosts without the agent, on a fast link")
	slow := flag.String("slow", "20:10:100,64:5:0", "hosts without the agent behind a slow link")
	relay := flag.String("relay", "20:10:100", "hosts without the agent behind a relay, which is behind a slow link")
	stall := flag.String("stall", "10,20,60,300", "seconds in which no byte passes")
	phases := flag.String("phases", "connect,auth,push,agent,run,return", "when the stall begins")
	many := flag.Int("many", 1000, "hosts for a run with 256 open files; 0 leaves it out")
	flag.StringVar(&b.agents, "agents", "", "directory of agents, as for ssh_agent_dir; empty: what brine has itself")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: links [flags] <path of a brine binary>")
		os.Exit(64)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b.brine = flag.Arg(0)
	err := b.run(ctx, func() error {
		for _, n := range list(*cold) {
			if err := b.push(ctx, "cold", n+":0:0", false); err != nil {
				return err
			}
		}
		for _, link := range list(*slow) {
			if err := b.push(ctx, "cold, slow link", link, false); err != nil {
				return err
			}
		}
		for _, link := range list(*relay) {
			if err := b.push(ctx, "cold, relay", link, true); err != nil {
				return err
			}
		}
		for _, phase := range list(*phases) {
			for _, s := range list(*stall) {
				if err := b.stall(ctx, phase, s); err != nil {
					return err
				}
			}
		}
		if *many > 0 {
			return b.many(ctx, *many)
		}
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "links:", err)
		os.Exit(1)
	}
	if b.failed {
		os.Exit(1)
	}
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// A bench is a server and what is measured of it.
type bench struct {
	brine  string
	agents string
	dir    string
	port   int // of sshd
	key    string
	user   string
	n      int // measurements so far: each has a directory of its own
	failed bool
}

// run starts the server, and ends it after work.
func (b *bench) run(ctx context.Context, work func() error) error {
	var err error
	if b.dir, err = os.MkdirTemp("", "brine-links-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }()
	me, err := user.Current()
	if err != nil {
		return err
	}
	b.user = me.Username
	for _, name := range []string{"host", "id"} {
		if out, err := exec.CommandContext(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", b.path(name)).CombinedOutput(); err != nil {
			return fmt.Errorf("ssh-keygen: %w: %s", err, out)
		}
	}
	pub, err := os.ReadFile(b.path("host.pub"))
	if err != nil {
		return err
	}
	b.key = strings.Join(strings.Fields(string(pub))[:2], " ")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	b.port = ln.Addr().(*net.TCPAddr).Port
	_ = ln.Close()
	conf := fmt.Sprintf(`Port %d
ListenAddress 0.0.0.0
HostKey %s
PidFile none
AuthorizedKeysFile %s
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
UsePAM no
UseDNS no
PrintMotd no
PrintLastLog no
SetEnv HOME=%s
Subsystem sftp internal-sftp
LogLevel ERROR
MaxStartups 1000
`, b.port, b.path("host"), b.path("id.pub"), b.path("home"))
	if err := errors.Join(os.WriteFile(b.path("sshd_config"), []byte(conf), 0o600), os.Mkdir(b.path("home"), 0o700)); err != nil {
		return err
	}
	_ = os.MkdirAll("/run/sshd", 0o755) // there already, or this account needs none
	sshd := exec.CommandContext(ctx, "/usr/sbin/sshd", "-D", "-f", b.path("sshd_config"), "-E", b.path("sshd.log"))
	if err := sshd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = sshd.Process.Kill()
		_ = sshd.Wait()
	}()
	for range 50 {
		if c, err := net.Dial("tcp", b.addr()); err == nil {
			_ = c.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return work()
}

func (b *bench) path(elem ...string) string {
	return filepath.Join(append([]string{b.dir}, elem...)...)
}

func (b *bench) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(b.port)) }

// A site is a configuration of brine whose hosts are behind one link.
type site struct {
	b   *bench
	dir string
	net *proxytest.Proxy
}

// site makes one for hosts without an agent.
func (b *bench) site(hosts int, o proxytest.Options) (*site, error) {
	b.n++
	s := &site{b: b, dir: b.path(strconv.Itoa(b.n))}
	if err := os.MkdirAll(filepath.Join(s.dir, "salt"), 0o700); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		return nil, err
	}
	port := ln.Addr().(*net.TCPAddr).Port
	s.net = proxytest.New(ln, b.addr(), o)
	var roster strings.Builder
	for i := range hosts {
		fmt.Fprintf(&roster, "h%04d:\n  host: 127.0.%d.%d\n  thin_dir: %s/thin%d\n", i, 10+i/250, 1+i%250, s.dir, i)
	}
	files := map[string]string{
		"roster":      roster.String(),
		"master":      fmt.Sprintf("cachedir: %s\nssh_config_file: %s/ssh_config\nfile_roots: {base: [%s/salt]}\ntimeout: 5\n", b.path("cache"), s.dir, s.dir),
		"known_hosts": "bench " + b.key + "\n",
		"ssh_config": fmt.Sprintf("Host *\n  User %s\n  Port %d\n  IdentityFile %s\n  IdentitiesOnly yes\n  HostKeyAlias bench\n  UserKnownHostsFile %s/known_hosts\n",
			b.user, port, b.path("id"), s.dir),
		// Two seconds before the stall and after it, and a return of a megabyte.
		"salt/slow.sls": fmt.Sprintf("slow:\n  cmd.run:\n    - name: 'touch %s/ran; sleep 5; head -c 1000000 /dev/zero | tr \"\\0\" x; touch %s/done'\nafter:\n  cmd.run:\n    - name: 'touch %s/after'\n    - require: [{cmd: slow}]\n", s.dir, s.dir, s.dir),
	}
	if b.agents != "" {
		files["master"] += "ssh_agent_dir: " + b.agents + "\n"
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *site) close() {
	s.net.Close()
	_ = os.RemoveAll(s.dir)
}

func (s *site) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, s.b.brine, append([]string{"ssh", "-c", s.dir}, args...)...)
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+s.b.path("xdg")) // agents are packed once
	return c
}

// measured runs a command and prints what it came to.
func (b *bench) measured(label string, c *exec.Cmd, more func() string) {
	var out bytes.Buffer
	if c.Stdout == nil {
		c.Stdout = &out
	}
	if c.Stderr == nil {
		c.Stderr = &out
	}
	begun := time.Now()
	err := c.Run()
	b.report(label, begun, err, more(), out.String())
}

func (b *bench) report(label string, begun time.Time, err error, more, out string) {
	result := "succeeded"
	if err != nil {
		result, b.failed = "failed: "+err.Error(), true
		fmt.Fprintln(os.Stderr, lastLines(out, 8))
	}
	b.line(label, begun, more, result)
}

// loginTime is how many seconds a log-in may take: brine's default ConnectTimeout.
const loginTime = 60

// line prints what a measurement came to.
func (*bench) line(label string, begun time.Time, more, result string) {
	load, _ := os.ReadFile("/proc/loadavg")
	at, _, _ := strings.Cut(string(load), " ")
	fmt.Printf("%-44s %7.1f s  load %-5s  %s%s\n", label, time.Since(begun).Seconds(), at, more, result)
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// behindRelay puts the hosts of a site behind a relay: it is behind the link, and
// reaches them without it.
func (s *site) behindRelay() error {
	p := filepath.Join(s.dir, "roster")
	roster, err := os.ReadFile(p)
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(string(roster), "\n  thin_dir", fmt.Sprintf("\n  port: %d\n  relay: relay1\n  thin_dir", s.b.port))
	return os.WriteFile(p, fmt.Appendf(nil, "%srelay1:\n  host: 127.0.9.1\n  thin_dir: %s/relay\n", text, s.dir), 0o600)
}

// push measures first contact with the hosts of a link, or of a relay behind it.
func (b *bench) push(ctx context.Context, label, link string, relay bool) error {
	f := strings.Split(link, ":")
	var v [3]float64
	for i := range v {
		var err error
		if len(f) != len(v) {
			return fmt.Errorf("%q is not HOSTS:MBIT:MILLISECONDS", link)
		}
		if v[i], err = strconv.ParseFloat(f[i], 64); err != nil || v[i] < 0 {
			return fmt.Errorf("%q is not HOSTS:MBIT:MILLISECONDS", link)
		}
	}
	s, err := b.site(int(v[0]), proxytest.Options{Rate: int(v[1] * 1e6 / 8), Delay: time.Duration(v[2] / 2 * float64(time.Millisecond))})
	if err != nil {
		return err
	}
	defer s.close()
	if relay {
		if err := s.behindRelay(); err != nil {
			return err
		}
	}
	label += ", " + f[0] + " hosts"
	if v[1] > 0 {
		label += fmt.Sprintf(", %s Mbit/s, %s ms", f[1], f[2])
	}
	b.measured(label, s.command(ctx, "h*", "test.ping", "--out=quiet"), func() string {
		up, _ := s.net.Passed()
		return fmt.Sprintf("%.1f MB sent  ", float64(up)/1e6)
	})
	return ctx.Err()
}

// many measures more hosts than there may be descriptors.
func (b *bench) many(ctx context.Context, n int) error {
	s, err := b.site(n, proxytest.Options{})
	if err != nil {
		return err
	}
	defer s.close()
	roster, err := os.ReadFile(filepath.Join(s.dir, "roster"))
	if err != nil {
		return err
	}
	// One agent for all: first contact is measured elsewhere.
	var one strings.Builder
	for line := range strings.Lines(string(roster)) {
		if strings.Contains(line, "thin_dir") {
			line = "  thin_dir: " + s.dir + "/thin\n"
		}
		one.WriteString(line)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "roster"), []byte(one.String()), 0o600); err != nil {
		return err
	}
	if out, err := s.command(ctx, "h0000", "test.ping").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	for _, args := range [][]string{{"*", "-r", "true", "--out=quiet"}, {"*", "test.ping", "--out=quiet"}} {
		c := s.command(ctx, args...)
		c.Args = append([]string{"sh", "-c", `ulimit -n 256; exec "$0" "$@"`}, append([]string{b.brine}, c.Args[1:]...)...)
		if c.Path, err = exec.LookPath("sh"); err != nil {
			return err
		}
		label := fmt.Sprintf("%d hosts, 256 open files, %s", n, strings.Join(args[1:len(args)-1], " "))
		b.measured(label, c, func() string {
			_, most, _ := s.net.Conns()
			return fmt.Sprintf("%d connections at once  ", most)
		})
	}
	return ctx.Err()
}

// moments say when the stall of a phase begins: at a line of the log, when a
// number of bytes has passed, or when a file is there.
var moments = map[string]struct {
	log  string
	sent int64
	file string
	cold bool
	// login says that the stall is part of the log-in, which has a time.
	login bool
}{
	"connect": {login: true},
	"auth":    {log: "host key", login: true},
	"push":    {sent: 1 << 20, cold: true},
	"agent":   {log: "logged in"},
	"run":     {file: "ran"},
	"return":  {file: "done"},
}

// stall measures a run of five seconds during which no byte passes for a while.
func (b *bench) stall(ctx context.Context, phase, seconds string) error {
	when, ok := moments[phase]
	if !ok {
		return fmt.Errorf("there is no phase %q", phase)
	}
	secs, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return err
	}
	o := proxytest.Options{}
	if when.cold {
		o.Rate = 1 << 20
	}
	s, err := b.site(1, o)
	if err != nil {
		return err
	}
	defer s.close()
	if !when.cold {
		if out, err := s.command(ctx, "*", "test.ping").CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	if phase == "connect" {
		s.net.Stall()
	}
	up, _ := s.net.Passed()
	c := s.command(ctx, "*", "state.apply", "slow", "--out=json", "-l", "debug")
	stderr, err := c.StderrPipe()
	if err != nil {
		return err
	}
	var stdout bytes.Buffer
	c.Stdout = &stdout
	begun := time.Now()
	if err := c.Start(); err != nil {
		return err
	}
	var (
		log  bytes.Buffer
		mu   sync.Mutex
		read sync.WaitGroup
	)
	read.Go(func() {
		lines := bufio.NewReader(stderr)
		for {
			line, err := lines.ReadString('\n')
			mu.Lock()
			log.WriteString(line)
			mu.Unlock()
			if err != nil {
				_, _ = io.Copy(io.Discard, stderr)
				return
			}
		}
	})
	come := func() bool {
		mu.Lock()
		defer mu.Unlock()
		now, _ := s.net.Passed()
		_, err := os.Stat(filepath.Join(s.dir, when.file))
		switch {
		case when.log != "":
			return strings.Contains(log.String(), when.log)
		case when.sent > 0:
			return now-up >= when.sent
		case when.file != "":
			return err == nil
		}
		return true
	}
	ended := make(chan struct{})
	go func() {
		for !come() {
			select {
			case <-ended:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
		s.net.Stall()
		select {
		case <-time.After(time.Duration(secs * float64(time.Second))):
		case <-ended:
		}
		s.net.Resume()
	}()
	read.Wait()
	err = c.Wait()
	close(ended)
	label := fmt.Sprintf("no byte for %s s while it is in: %s", seconds, phase)
	if err != nil && when.login && secs >= loginTime && strings.Contains(log.String()+stdout.String(), "no answer within") {
		b.line(label, begun, "", "given up after the time that a log-in may take, as meant")
		return ctx.Err()
	}
	if _, serr := os.Stat(filepath.Join(s.dir, "after")); err == nil {
		err = serr // the state behind it
	}
	b.report(label, begun, err, "", log.String()+stdout.String())
	return ctx.Err()
}
