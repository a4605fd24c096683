package sshexec

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/core/roster"
	"brine/internal/py/proc"
)

// shell runs a script as a host's account would, by each shell that is here.
func shell(t *testing.T, login, script, stdin string) string {
	t.Helper()
	c := exec.Command(login, "-c", bootstrap)
	c.Stdin = strings.NewReader(encode(script) + stdin)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v: %s", login, err, errs.String())
	}
	return out.String()
}

func shells() (out []string) {
	for _, s := range []string{"sh", "dash", "bash", "rbash", "ksh", "mksh", "zsh", "csh", "tcsh", "fish"} {
		if p, err := exec.LookPath(s); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func TestBootstrapIsHarmless(t *testing.T) {
	t.Parallel()
	// What shells read in different ways has no place in it.
	inner := strings.TrimSuffix(strings.TrimPrefix(bootstrap, "sh -c '"), "'")
	if inner == bootstrap || strings.ContainsAny(inner, "'!\\\n`") {
		t.Errorf("%q has characters that shells differ on", bootstrap)
	}
	for _, sh := range shells() {
		if got := shell(t, sh, "echo \"$((1+1))\"\ncat", "the rest\nof stdin"); got != "2\nthe rest\nof stdin" {
			t.Errorf("%s: %q", sh, got)
		}
	}
}

func FuzzQuoting(f *testing.F) {
	for _, s := range []string{"", "plain", "it's", "$HOME `id` $(id)", "a\nb\\n\\\\", "!history", "-rf", "\x7f\x01\t", "é世", `"`, "%s %b \\c", "*?[a]~"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsRune(s, 0) || len(s) > 2000 {
			t.Skip("no argument of a program")
		}
		// dash and bash treat bytes as bytes.
		for _, sh := range []string{"sh", "bash"} {
			p, err := exec.LookPath(sh)
			if err != nil {
				continue
			}
			if got := shell(t, p, "printf '%s.' "+proc.Quote(s), ""); got != s+"." {
				t.Errorf("%s: %q came back as %q", sh, s, got)
			}
		}
	})
}

// FuzzRosterWords: nothing that a roster says becomes a word of a command.
func FuzzRosterWords(f *testing.F) {
	f.Add("/opt/brine", "$PATH:/x", "022")
	f.Add("~/it's; touch $CANARY", "$(touch $CANARY)$PATH`touch $CANARY`", "0; touch $CANARY")
	f.Add("-rf /", "\n touch $CANARY", "\"")
	f.Fuzz(func(t *testing.T, thin, path, umask string) {
		if strings.ContainsRune(thin+path+umask, 0) || len(thin)+len(path)+len(umask) > 1000 {
			t.Skip("no roster has it")
		}
		e := &roster.Entry{ThinDir: thin, SetPath: path, CmdUmask: umask}
		canary := filepath.Join(t.TempDir(), "canary")
		script := "CANARY=" + proc.Quote(canary) + "; i=0\n" + strings.Replace(setup(e), "umask ", ": ", 1) +
			"for d in " + strings.Join(candidates(e), " ") + "; do :; done\n[ ! -e \"$CANARY\" ] && echo unharmed"
		p, err := exec.LookPath("/bin/sh")
		if err != nil {
			t.Skip(err)
		}
		c := exec.Command(p, "-c", bootstrap)
		c.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}
		c.Stdin = strings.NewReader(encode(script))
		out, _ := c.CombinedOutput()
		if !strings.Contains(string(out), "unharmed") {
			t.Errorf("thin_dir %q, set_path %q, cmd_umask %q: %s", thin, path, umask, out)
		}
	})
}

// FuzzProxyCommand: what a roster says of a host is nothing to the shell that a
// ProxyCommand is run by, quoted there or not.
func FuzzProxyCommand(f *testing.F) {
	f.Add("web1.example.com", "admin", "web1")
	f.Add("x;touch $CANARY", "$(touch $CANARY)", "`touch $CANARY`")
	f.Add("-oProxyCommand=x", "a b", "it's")
	f.Add("2001:db8::1%eth0", "DOMAIN+me", "é")
	d := NewDialer(Options{Host: host.NewLocal(), Config: []string{}})
	f.Fuzz(func(t *testing.T, name, user, id string) {
		if strings.ContainsRune(name+user+id, 0) || len(name)+len(user)+len(id) > 1000 {
			t.Skip("no roster has it")
		}
		to := &dest{id: "x", name: id, host: name, user: user, port: 22, proxy: `printf '%%s.' %h "%r" '%n' %p`}
		line, err := d.proxyLine(to)
		if err != nil {
			return
		}
		c := exec.Command("/bin/sh", "-c", "exec "+line)
		c.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "CANARY=" + filepath.Join(t.TempDir(), "canary")}
		out, err := c.Output()
		if want := name + "." + user + "." + id + ".22."; err != nil || string(out) != want {
			t.Errorf("host %q, user %q, id %q: %q, %v", name, user, id, out, err)
		}
	})
}

// FuzzSudoUser: the names that sudo and a script's arguments are made of stay
// words of their own.
func FuzzSudoUser(f *testing.F) {
	f.Add("root", "arg", "/opt/x")
	f.Add("-u;touch $CANARY", "it's $(touch $CANARY)", "\n`touch $CANARY`")
	f.Fuzz(func(t *testing.T, user, arg, dir string) {
		if strings.ContainsRune(user+arg+dir, 0) || len(user)+len(arg)+len(dir) > 1000 || user == "" {
			t.Skip("no roster has it")
		}
		canary := filepath.Join(t.TempDir(), "canary")
		// A function stands for sudo: it prints its arguments as they come.
		script := "sudo() { printf '%s.' \"$@\"; }\n" + strings.Replace(strings.SplitN(sudoLine(user), "exec ", 2)[1], " -- "+bootstrap, " -- x", 1) +
			"\nprintf '%s.' " + proc.Quote(arg) + " " + proc.Quote(dir)
		c := exec.Command("/bin/sh", "-c", bootstrap)
		c.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "CANARY=" + canary}
		c.Stdin = strings.NewReader(encode(script))
		out, _ := c.CombinedOutput()
		if want := "-n.-H.-u." + user + ".--.x." + arg + "." + dir + "."; string(out) != want {
			t.Errorf("sudo_user %q: %q, want %q", user, out, want)
		}
	})
}

// The expected values are what ssh -G -o ControlPath=... says of such a machine
// and user; %j, and %C with it, is of OpenSSH 9.6 and later.
func TestTokens(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.Name = "laptop.example.net"
	d := NewDialer(Options{Host: h, Home: "/home/me", Me: "me", Config: []string{}})
	to := &dest{id: "id of the roster", name: "web", host: "10.0.0.1", port: 2222, user: "admin", jumps: "gate"}
	for p, want := range map[string]string{
		"~/.ssh/%n_%h":     "/home/me/.ssh/web_10.0.0.1",
		"%d/%r@%k:%p%%":    "/home/me/admin@web:2222%",
		"/k/%u-%L-%l-%j-x": "/k/me-laptop-laptop.example.net-gate-x",
		"/c/%C":            "/c/f599e8157f8d0a19ec243b8b30612d9ad67c6acb",
	} {
		if got, err := d.expand(p, to); got != want || err != nil {
			t.Errorf("%s is %s, %v, want %s", p, got, err, want)
		}
	}
	for name, want := range map[string]string{"[::1]": "[::1]:22", "fe80::1%eth0": "[fe80::1%eth0]:22", "10.0.0.1": "10.0.0.1:22"} {
		if to, err := d.dest(t.Context(), &roster.Entry{Host: name}); err != nil || to.addr() != want {
			t.Errorf("%s is %+v, %v, want %s", name, to, err, want)
		}
	}
	to.alias = "shared"
	if got, err := d.expand("%k", to); got != "shared" || err != nil {
		t.Errorf("%%k is %s, %v", got, err)
	}
}

func FuzzSSHConfig(f *testing.F) {
	f.Add("Host *\n User x\n", "ProxyJump=a,b", "web1")
	f.Add("Match user x\n", "-oCiphers=+aes*", "db")
	f.Add("Include /etc/passwd\nHost !a b\n", "Port 1 2", "h")
	f.Fuzz(func(t *testing.T, text, option, alias string) {
		h := host.NewFake()
		if err := h.WriteFile("/c", strings.NewReader(text), host.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		d := NewDialer(Options{Host: h, Config: []string{"/c"}})
		_, _ = d.dest(t.Context(), &roster.Entry{ID: "x", Host: alias, SSHOptions: []string{option}})
		_, _ = d.hop(t.Context(), option)
	})
}

func TestPlatforms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ sys, machine, want string }{
		{"Linux", "x86_64", "linux-amd64"},
		{"Linux", "aarch64", "linux-arm64"},
		{"Linux", "armv7l", "linux-arm"},
		{"Linux", "armv6l", "linux-armv6"},
		{"FreeBSD", "amd64", "freebsd-amd64"},
		{"Darwin", "arm64", "darwin-arm64"},
		{"Linux", "i686", "linux-386"},
		{"SunOS", "sun4v", ""},
		{"", "", ""},
	} {
		if got := uname(tt.sys, tt.machine); got != tt.want {
			t.Errorf("uname(%q, %q) = %q, want %q", tt.sys, tt.machine, got, tt.want)
		}
	}
	if got := strings.Join(unames("linux-386"), ","); got != "Linux i386,Linux i486,Linux i586,Linux i686" {
		t.Errorf("unames = %s", got)
	}
}

// TestWithoutMarks: the words of the sudo prompt do not reach errors.
func TestWithoutMarks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{promptMark + token() + ":sudo: 1 incorrect password attempt\n", "sudo: 1 incorrect password attempt"},
		{promptMark + token() + ":Sorry, try again.\n" + promptMark + token() + ":\nsudo: no password was provided\n", "sudo: no password was provided"},
		{"adm is not in the sudoers file.\n", "adm is not in the sudoers file."},
		{promptMark + token() + ":" + begunMark + token() + "\n", ""},
		{"sh: " + promptMark, ""},
		{"sudo: unable to resolve host web1: Name or service not known\nsudo: a password is required\n", "sudo: a password is required"},
		{"sudo: setrlimit(RLIMIT_CORE): Operation not permitted\nsudo: unable to resolve host web1\nadm is not in the sudoers file.\n", "adm is not in the sudoers file."},
		{"sudo: unable to resolve host web1: Name or service not known\n", ""},
		{"sudo: unable to resolve host web1\nsh: 1: sudo: not found\n", "sh: 1: sudo: not found"},
		{"sudo: /etc/sudoers is owned by uid 1000, should be 0\nsudo: no valid sudoers sources found, quitting\n", "sudo: /etc/sudoers is owned by uid 1000, should be 0"},
	} {
		if got := sudoText(tt.in); got != tt.want {
			t.Errorf("sudoText(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestQuickScript: the agent is started by one program where it is as it was placed,
// and the script that follows runs where it is not.
func TestQuickScript(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/sys/kernel/arch"); err != nil {
		t.Skip(err)
	}
	const program = "#!/bin/sh\necho agent $2; cat; echo\n"
	for _, tt := range []struct {
		name    string
		mode    os.FileMode // of the directory
		file    os.FileMode
		size    int
		machine string
		want    string
	}{
		{"placed", 0o700, 0o700, len(program), "*", "agent 5\necho slow $(cat)\nrest"},
		{"of others, too", 0o750, 0o700, len(program), "*", "slow rest"},
		{"that others may write to", 0o777, 0o700, len(program), "*", "slow rest"},
		{"cut off", 0o700, 0o700, len(program) + 1, "*", "slow rest"},
		{"without mode", 0o700, 0o600, len(program), "*", "slow rest"},
		{"another kind of host", 0o700, 0o700, len(program), "vax", "slow rest"},
	} {
		cache := t.TempDir()
		dir := filepath.Join(cache, "brine", "agent")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "brine-00"), []byte(program), tt.file); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, tt.mode); err != nil {
			t.Fatal(err)
		}
		kinds := fmt.Sprintf("%s) h=brine-00 n=%d;; ", tt.machine, tt.size)
		for _, umask := range []string{"", "022"} { // one line and several
			l := launch{script: "echo slow $(cat)", quick: quickScript(&roster.Entry{CmdUmask: umask}, kinds, "--skip 5")}
			for _, sh := range shells() {
				c := exec.Command(sh, "-c", bootstrap)
				c.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
				c.Stdin = strings.NewReader(l.input() + "rest")
				out, err := c.Output()
				if err != nil || string(out) != tt.want+"\n" {
					t.Errorf("%s, %s: %q, %v, want %q", tt.name, sh, out, err, tt.want)
				}
			}
		}
	}
}
