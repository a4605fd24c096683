package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// rootedHash is that of "the pass'word".
const rootedHash = `$6$brine$Q/PF9sKSnCl3Dti6PEStS0YO3DU/FujhkWx18OTXHP2c3rHEkaolCraHVV8LlIEgKVIQFs08gybTDmaNGCChH1`

// exeOf returns where the agent of a target runs.
func (s *site) exeOf(id string) string {
	s.t.Helper()
	r := s.brine("ssh", id, "cmd.run", "readlink /proc/$PPID/exe", "--out=newline_values_only")
	s.want(r, 0)
	return strings.TrimSpace(r.stdout)
}

// TestSSHShells: whatever the account's shell is, and whatever its start files
// print, the agent is placed and found again.
func TestSSHShells(t *testing.T) {
	t.Parallel()
	noise := map[string]string{
		"dash": ".profile", "bash": ".bashrc", "rbash": ".bashrc", "zsh": ".zshenv", "mksh": ".mkshrc", "tcsh": ".tcshrc", "csh": ".cshrc", "fish": ".config/fish/config.fish",
	}
	for _, shell := range []string{"dash", "bash", "rbash", "zsh", "mksh", "csh", "tcsh", "fish", "busybox sh"} {
		t.Run(shell, func(t *testing.T) {
			turn.Skip(t)
			t.Parallel()
			name, arg, _ := strings.Cut(shell, " ")
			path := strings.TrimSpace(sshtest.Require(t, name) + " " + arg)
			s := newSite(t, sshtest.Options{Shell: path})
			s.roster(1)
			if f := filepath.Join(s.sshd.Home, noise[name]); noise[name] != "" {
				if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(f, []byte("echo welcome to this machine\nprintf 'and no newline'\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s.want(s.brine("ssh", "web1", "cmd.run", `echo "it's $((6*7))!"; printf '%s\n' 'a\b'`, "--out=json"), 0, `"it's 42!\na\\b"`)
			exe := s.exeOf("web1")
			if filepath.Dir(exe) != filepath.Join(s.sshd.Home, ".cache/brine/agent") {
				t.Errorf("the agent runs at %s", exe)
			}
			s.want(s.brine("ssh", "web1", "test.ping", "--wipe"), 0, "True")
			if _, err := os.Stat(filepath.Join(s.sshd.Home, ".cache/brine")); err == nil {
				t.Error("--wipe left something")
			}
		})
	}
}

// only makes a directory of links to programs, for a PATH that has no others.
func only(t *testing.T, programs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, p := range programs {
		if err := os.Symlink(sshtest.Require(t, p), filepath.Join(dir, p)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSSHNoSh: a host without sh is given the agent by SFTP.
func TestSSHNoSh(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	bin := only(t, "uname")
	s := newSite(t, sshtest.Options{Shell: sshtest.Require(t, "bash"), Env: []string{"PATH=" + bin}})
	// SFTP begins in the account's home and not in the sessions' HOME.
	thin, next := filepath.Join(s.sshd.Home, "thin"), filepath.Join(s.sshd.Home, "next")
	s.roster(0,
		"web1: {host: 127.0.0.6, thin_dir: "+thin+"}",
		"web2: {host: 127.0.0.7, thin_dir: "+next+"}",
		"quote: {host: 127.0.0.7, thin_dir: \"/it's\"}",
		"sudo: {host: 127.0.0.7, sudo: True}",
	)
	s.want(s.brine("ssh", "web1", "test.ping"), 0, "True")
	dir := filepath.Join(thin, "agent")
	names, _ := filepath.Glob(filepath.Join(dir, "brine-*"))
	if len(names) != 1 {
		t.Fatalf("placed: %v", names)
	}
	st, _ := os.Stat(names[0])
	s.want(s.brine("ssh", "web1", "test.ping"), 0, "True")
	if again, err := os.Stat(names[0]); err != nil || !again.ModTime().Equal(st.ModTime()) {
		t.Errorf("it was placed again: %v", err)
	}
	// Half of one is not run.
	halve(t, names[0], "\x7fELF")
	s.want(s.brine("ssh", "web1", "test.ping"), 0, "True")
	if left, _ := filepath.Glob(filepath.Join(dir, ".new-*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	s.want(s.brine("ssh", "sudo", "test.ping"), 20, "shell: no command can be run there", "sh in its PATH")
	s.want(s.brine("ssh", "web2", "test.ping", "--wipe"), 0, "True")
	until(t, "the agent removes itself", func() bool {
		_, err := os.Stat(filepath.Join(next, "agent"))
		return err != nil
	})
	// A directory that others can enter is not used, nor a name that is no plain
	// word.
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for id, text := range map[string]string{"web1": dir + ": it is not a directory of the account with mode 0700", "quote": "/it's/agent: not every shell takes its name for one word"} {
		if r := s.brine("ssh", id, "test.ping", "--wipe"); r.exit != 0 { // in the account's home, where that can be written
			s.want(r, 20, text)
		}
		if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) > 2 {
			t.Errorf("%s: placed: %v", id, names)
		}
	}
}

// TestSSHRestricted: a restricted shell without sh in its PATH runs nothing, and
// nothing is left there.
func TestSSHRestricted(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{Shell: sshtest.Require(t, "rbash"), Env: []string{"PATH=" + only(t, "uname")}})
	s.roster(1)
	s.want(s.brine("ssh", "web1", "test.ping"), 20, "shell: there is no sh", "an agent placed by SFTP does not run", "restricted", "brine ssh -r works without")
	if names, _ := filepath.Glob(filepath.Join(s.sshd.Home, ".cache/brine/agent/.new*")); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
	s.want(s.brine("ssh", "web1", "-r", "uname"), 0, "web1:")
}

// TestSSHStartFiles: start files that read standard input, where the agent's script comes,
// are what the error names; and so is a shell that runs nothing, although sshd takes
// requests for SFTP.
func TestSSHStartFiles(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	for name, tt := range map[string]struct{ shell, want string }{
		"cat":   {"cat >/dev/null\nexec /bin/sh \"$@\"", "shell: the account's shell start files read standard input"},
		"lines": {"read a; read b; read c\nexec /bin/sh \"$@\"", "shell: the account's shell start files read standard input"},
		"false": {"exit 1", "shell: the account's shell ended with status 1 and ran nothing, as /bin/false does"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shell := filepath.Join(t.TempDir(), "shell")
			if err := os.WriteFile(shell, []byte("#!/bin/sh\n"+tt.shell+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			s := newSite(t, sshtest.Options{Shell: shell})
			s.roster(1)
			s.write("roster", strings.ReplaceAll(read(t, s.path("roster")), "grains:", "timeout: 4, grains:"))
			s.want(s.brine("ssh", "web1", "test.ping"), 20, tt.want)
		})
	}
}

// TestSSHOnlySFTP: an account for SFTP alone runs no agent, and is told so.
func TestSSHOnlySFTP(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{Config: []string{"ForceCommand internal-sftp"}})
	s.roster(1)
	s.want(s.brine("ssh", "web1", "test.ping"), 20, "shell: the account is limited to SFTP, so no command can be run there, and no agent", "ForceCommand")
}

// TestSSHMangled: a host whose shell gives no bytes whole has the agent staged
// by SFTP.
func TestSSHMangled(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	bin := t.TempDir()
	for _, name := range []string{"cat", "gzip", "xz", "zstd"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nexec head -c 4000\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := newSite(t, sshtest.Options{Env: []string{"PATH=" + bin + ":/usr/bin:/bin:/usr/sbin:/sbin"}})
	s.roster(1)
	s.want(s.brine("ssh", "web1", "test.ping"), 0, "True")
	if names, _ := filepath.Glob(filepath.Join(s.sshd.Home, ".cache/brine/agent/brine-*")); len(names) != 1 {
		t.Errorf("placed: %v", names)
	}
	for _, dir := range []string{"/tmp", "/var/tmp", s.sshd.Home} {
		names, _ := filepath.Glob(filepath.Join(dir, ".brine-stage-*"))
		for _, n := range names { // another test's go by themselves
			for i := 0; ; i++ {
				if _, err := os.Lstat(n); err != nil {
					break
				}
				if i == 300 {
					t.Errorf("left: %s", n)
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
		}
	}
}

// TestSSHFewPrograms: hosts that lack what most have.
func TestSSHFewPrograms(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	base := []string{"sh", "id", "ls", "uname", "mkdir", "chmod", "mv", "rm", "rmdir", "tail", "grep", "find", "sleep", "readlink"}
	for name, more := range map[string][]string{
		"no gzip":              {"cat", "sha256sum"},
		"zstd":                 {"cat", "zstd", "sha256sum"},
		"no cat":               {"gzip", "sha256sum"},
		"no sha256sum":         {"cat", "gzip"},
		"neither cat nor gzip": {"cp", "sha256sum"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, sshtest.Options{Env: []string{"PATH=" + only(t, append(base, more...)...)}})
			s.roster(1)
			s.want(s.brine("ssh", "web1", "test.ping"), 0, "True")
			s.want(s.brine("ssh", "web1", "test.ping", "--wipe"), 0, "True")
			if _, err := os.Stat(filepath.Join(s.sshd.Home, ".cache/brine")); err == nil {
				t.Error("--wipe left something")
			}
		})
	}
}

// TestSSHFileSystems: where one directory cannot be used, the next one is, and
// where none can, it is said why.
func TestSSHFileSystems(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	elsewhere := "mount -t tmpfs -o size=300m,mode=1777 t /var/tmp\n"
	tmp := "mount --bind $DIR /mnt; mount -t tmpfs -o size=300m,mode=1777 t /tmp; mkdir -p $DIR; mount --bind /mnt $DIR\n"
	for _, tt := range []struct {
		name, prepare string
		dir           string // the agent's, below SESSION_HOME where it is relative
		text          string // of the error
	}{
		{"noexec home", elsewhere + "mount -t tmpfs -o noexec,mode=700 t $SESSION_HOME", "/var/tmp/.brine-0", ""},
		{"read-only home", elsewhere + "mount -t tmpfs -o ro,mode=700 t $SESSION_HOME", "/var/tmp/.brine-0", ""},
		{"small home", elsewhere + "mount -t tmpfs -o size=1m,mode=700 t $SESSION_HOME", "/var/tmp/.brine-0", ""},
		{
			"another's directory and a link",
			elsewhere + tmp + "mount -t tmpfs -o ro,mode=700 t $SESSION_HOME; mount -t tmpfs -o size=300m,mode=1777 t /dev/shm\n" +
				"mkdir -m 700 /var/tmp/.brine-0 /dev/shm/mine; chown 65534 /var/tmp/.brine-0; ln -s mine /dev/shm/.brine-0",
			"/tmp/.brine-0", "",
		},
		{
			"small disks",
			tmp + "for d in $SESSION_HOME /var/tmp /dev/shm; do mount -t tmpfs -o size=1m,mode=700 t $d; done; mkdir /tmp/.brine-0; mount -t tmpfs -o ro,mode=755 t /tmp/.brine-0",
			"", "push: it could not be written whole to ",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, sshtest.Options{Prepare: tt.prepare})
			s.roster(1)
			if tt.text != "" {
				s.want(s.brine("ssh", "web1", "test.ping"), 11, tt.text, "see the room on the host's disks")
				return
			}
			s.want(s.brine("ssh", "web1", "test.ping"), 0, "True")
			if exe := s.exeOf("web1"); filepath.Dir(exe) != tt.dir {
				t.Errorf("the agent runs at %s, want it in %s", exe, tt.dir)
			}
			s.want(s.brine("ssh", "web1", "test.ping", "--wipe"), 0, "True")
			s.want(s.brine("ssh", "web1", "-r", "ls -d "+tt.dir+"/brine-* 2>/dev/null || echo gone", "--out=json"), 0, "gone")
		})
	}
}

// TestSSHAccounts: real accounts with shells of their own, and a real sudo, seen
// by the server's sessions alone.
func TestSSHAccounts(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	sshtest.Require(t, "sudo")
	tcsh := "/bin/sh"
	if p, err := exec.LookPath("tcsh"); err == nil {
		tcsh = p
	}
	prepare := `mount -t tmpfs -o mode=755 t /mnt
cp -a /etc /mnt/etc
mount --bind /mnt/etc /etc
mkdir -p /home
mount -t tmpfs -o mode=755,size=600m t /home
cat $DIR/authorized_keys >/etc/ssh/brine_keys
chmod 644 /etc/ssh/brine_keys
n=64001
for u in ann:` + tcsh + ` bob:/bin/sh cat:/bin/bash; do
name=${u%%:*}
echo "$name:x:$n:$n::/home/$name:${u#*:}" >>/etc/passwd
echo "$name:x:$n:" >>/etc/group
echo "$name:` + strings.ReplaceAll(rootedHash, "$", `\$`) + `:19000:0:99999:7:::" >>/etc/shadow
mkdir -m 700 /home/$name
chown $n:$n /home/$name
n=$((n+1))
done
printf '%s\n' 'Defaults !lecture,!syslog' 'Defaults:cat requiretty' 'root ALL=(ALL) ALL' 'ann ALL=(ALL) ALL' 'bob ALL=(ALL) NOPASSWD: ALL' 'cat ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers
chmod 440 /etc/sudoers
rm -f /etc/sudoers.d/*
`
	s := newSite(t, sshtest.Options{Prepare: prepare, Config: []string{"AuthorizedKeysFile /etc/ssh/brine_keys", "SetEnv BRINE_TEST_RUN=1"}})
	s.roster(0,
		"ann: {host: 127.0.0.5, user: ann}",
		`annroot: {host: 127.0.0.5, user: ann, sudo: True, passwd: "the pass'word"}`,
		`annbob: {host: 127.0.0.5, user: ann, sudo: True, sudo_user: bob, passwd: "the pass'word"}`,
		`annwrong: {host: 127.0.0.5, user: ann, sudo: True, passwd: "another"}`,
		"annnone: {host: 127.0.0.5, user: ann, sudo: True}",
		"bobann: {host: 127.0.0.5, user: bob, sudo: True, sudo_user: ann}",
		"cattty: {host: 127.0.0.5, user: cat, sudo: True, tty: True}",
		"catno: {host: 127.0.0.5, user: cat, sudo: True}",
	)
	for id, want := range map[string]string{
		"ann": "ann /home/ann/.cache/brine/agent", "annroot": "root /root/.cache/brine/agent", "annbob": "bob /home/bob/.cache/brine/agent",
		"bobann": "ann /home/ann/.cache/brine/agent", "cattty": "root /root/.cache/brine/agent",
	} {
		r := s.brine("ssh", id, "cmd.run", `echo $(id -un) $(dirname $(readlink /proc/$PPID/exe)); pwd`, "shell=/bin/sh", "--out=json")
		s.want(r, 0, want)
	}
	s.want(s.brine("ssh", "annwrong", "test.ping"), 20, "shell: sudo does not take the password")
	s.want(s.brine("ssh", "annnone", "test.ping"), 20, "shell: sudo: a password is required", "set passwd for it in the roster")
	s.want(s.brine("ssh", "catno", "test.ping"), 20, "you must have a tty to run sudo", "set tty: True")
	// What sudo was given is nobody's to see: not in the arguments of a process,
	// nor in what the agent's children inherit.
	r := s.brine("ssh", "annroot", "cmd.run", `cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -c "the pass[^a-z]word" || true`, "--out=newline_values_only")
	s.want(r, 0)
	if got := strings.TrimSpace(r.stdout); got != "0" {
		t.Errorf("the password is seen in %s places", got)
	}
	s.want(s.brine("ssh", "*", "test.ping", "--wipe", "--out=quiet"), 20)
	s.want(s.brine("ssh", "-L", "annroot,bobann", "-r", "ls -d /root/.cache/brine ~ann/.cache/brine 2>/dev/null; true", "--static"), 0)
}

// spawned is a brine that runs.
type spawned struct {
	cmd *exec.Cmd
	out *output
}

// output is what a program wrote, also while it runs.
type output struct {
	mu sync.Mutex
	b  strings.Builder
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func (s *site) spawn(args ...string) *spawned {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	c := exec.Command(self, append(args[:1:1], append([]string{"-c", s.dir}, args[1:]...)...)...)
	c.Args[0] = "brine"
	c.Dir = s.dir
	c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "HOME="+s.home, "XDG_CACHE_HOME="+s.path("xdg"), "XDG_RUNTIME_DIR="+s.path("cache"), "BRINE_RUN_DIR="+s.path("cache")+"/events", "SSH_AUTH_SOCK=", "NO_COLOR=1")
	c.Env = append(c.Env, s.env...)
	p := &spawned{cmd: c, out: &output{}}
	c.Stdout, c.Stderr = p.out, p.out
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Process.Kill() })
	return p
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 6000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("it does not come to it that %s", what)
}

func pidIn(path string) int {
	b, _ := os.ReadFile(path)
	n := 0
	_, _ = fmt.Sscan(string(b), &n)
	return n
}

func lives(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) == nil }

// TestSSHControllerDies: when the controller is interrupted, or killed where agents
// are not to wait for it (ssh_reconnect: 0), the programs of running calls end, with
// what they started, temporary files are gone, and with --wipe the agent is.
func TestSSHControllerDies(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	for _, tt := range []struct {
		name    string
		signals []syscall.Signal
		wipe    bool
	}{
		{"killed", []syscall.Signal{syscall.SIGKILL}, false},
		{"killed to wipe", []syscall.Signal{syscall.SIGKILL}, true},
		{"interrupted twice", []syscall.Signal{syscall.SIGINT, syscall.SIGINT}, false},
		{"interrupted twice to wipe", []syscall.Signal{syscall.SIGINT, syscall.SIGINT}, true},
		{"terminated twice to wipe", []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			s := newSite(t, sshtest.Options{Env: []string{"TMPDIR=" + tmp}})
			s.roster(1)
			if tt.signals[0] == syscall.SIGKILL {
				s.write("master", read(t, s.path("master"))+"ssh_reconnect: 0\n")
			}
			s.write("salt/slow.sls", "slow:\n  cmd.run:\n    - name: 'echo $$ >"+s.path("call")+"; sleep 300 & echo $! >"+s.path("child")+"; echo $PPID >"+s.path("agent")+"; wait'\n")
			s.want(s.brine("ssh", "web1", "test.ping"), 0)
			args := []string{"ssh", "web1", "state.apply", "slow"}
			if tt.wipe {
				args = append(args, "--wipe")
			}
			p := s.spawn(args...)
			until(t, "the call runs", func() bool { return lives(pidIn(s.path("agent"))) && lives(pidIn(s.path("child"))) })
			call, child, agent := pidIn(s.path("call")), pidIn(s.path("child")), pidIn(s.path("agent"))
			start := time.Now()
			for i, sig := range tt.signals {
				if i > 0 {
					time.Sleep(300 * time.Millisecond)
				}
				_ = p.cmd.Process.Signal(sig)
			}
			until(t, "the programs of the call end", func() bool { return !lives(call) && !lives(child) })
			until(t, "the agent ends", func() bool { return !lives(agent) })
			t.Logf("all ended within %s", time.Since(start).Round(time.Millisecond))
			_ = p.cmd.Wait()
			if want := 130; tt.signals[0] != syscall.SIGKILL && p.cmd.ProcessState.ExitCode() != want {
				t.Errorf("exit status %d, want %d: %s", p.cmd.ProcessState.ExitCode(), want, p.out)
			}
			until(t, "no temporary file is left", func() bool {
				names, _ := os.ReadDir(tmp)
				return len(names) == 0
			})
			_, err := os.Stat(filepath.Join(s.sshd.Home, ".cache/brine"))
			if tt.wipe {
				until(t, "the agent is removed", func() bool {
					_, err := os.Stat(filepath.Join(s.sshd.Home, ".cache/brine"))
					return err != nil
				})
			} else if err != nil {
				t.Errorf("the agent is not kept for the next run: %v", err)
			}
		})
	}
}

// halve leaves of an agent no more than text.
func halve(t *testing.T, path, text string) {
	t.Helper()
	_ = os.Remove(path) // it may still run
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestSSHTwoControllers: two that come to a host at once both have an agent, and
// one file is left of it.
func TestSSHTwoControllers(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(1)
	var all []*spawned
	for range 3 {
		all = append(all, s.spawn("ssh", "web1", "test.ping", "--static"))
	}
	for _, p := range all {
		if err := p.cmd.Wait(); err != nil || !strings.Contains(p.out.String(), "web1:\n    True") {
			t.Errorf("%v: %s", err, p.out)
		}
	}
	names, _ := filepath.Glob(filepath.Join(s.sshd.Home, ".cache/brine/agent/.*"))
	more, _ := filepath.Glob(filepath.Join(s.sshd.Home, ".cache/brine/agent/brine-*"))
	if len(names) != 0 || len(more) != 1 {
		t.Errorf("left: %v %v", names, more)
	}
	// A file that a crash of the host left empty is not taken for the agent.
	halve(t, more[0], "")
	s.want(s.brine("ssh", "web1", "test.ping"), 0, "True")
}

// TestSSHStopped: an agent that is stopped and has lost its controller is ended by
// the next one, whose states need not wait for it.
func TestSSHStopped(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(1)
	s.write("salt/long.sls", "long:\n  cmd.run:\n    - name: echo $$ >"+s.path("pid")+"; sleep 300\n")
	s.write("salt/short.sls", "short: test.nop\n")
	c := s.command("ssh", "web1", "state.apply", "long")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	program := waitPID(t, s.path("pid"))
	claims, err := filepath.Glob(filepath.Join(s.sshd.Home, ".cache/brine/agent/cache/states/2*"))
	if err != nil || len(claims) != 1 {
		t.Fatalf("claims %v, %v", claims, err)
	}
	var claim struct{ PID int }
	if err := json.Unmarshal([]byte(read(t, claims[0])), &claim); err != nil || claim.PID == 0 {
		t.Fatalf("%+v, %v", claim, err)
	}
	if r := s.brine("ssh", "web1", "state.apply", "short"); r.exit != 20 || !strings.Contains(r.stdout, "is running as PID "+strconv.Itoa(claim.PID)) {
		t.Errorf("beside it: %+v", r)
	}
	if err := syscall.Kill(claim.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(claim.PID, syscall.SIGKILL) }()
	_ = c.Process.Kill()
	_ = c.Wait()
	stat := func(pid int) []string {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := strings.Cut(string(b), ") ")
		return strings.Fields(rest)
	}
	for range 1000 { // sshd ends what served the connection
		if f := stat(claim.PID); len(f) < 2 || f[1] == "1" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if f := stat(claim.PID); len(f) < 2 || f[1] != "1" {
		t.Skipf("orphans are not adopted by process 1 here: %v", f)
	}
	s.want(s.brine("ssh", "web1", "state.apply", "short"), 0)
	for _, pid := range []int{claim.PID, program} {
		f := stat(pid)
		for range 1000 { // one that was killed ends when it is its turn
			if len(f) == 0 || f[0] == "Z" {
				break
			}
			time.Sleep(10 * time.Millisecond)
			f = stat(pid)
		}
		if len(f) > 0 && f[0] != "Z" {
			t.Errorf("process %d is there: %v", pid, f)
		}
	}
}

// waitPID waits for a file with the id of a process.
func waitPID(t *testing.T, path string) int {
	t.Helper()
	for range 3000 {
		b, _ := os.ReadFile(path)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not come", path)
	return 0
}
