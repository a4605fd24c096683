package e2e

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
	"brine/sshexec"
)

// A site is a controller's directory and an sshd to work on.
type site struct {
	t    *testing.T
	sshd *sshtest.Server
	dir  string // configuration and trees
	home string // of who runs brine
	env  []string
	// limit is how many descriptors a brine may have; 0 is as many as the test.
	limit int
	exe   string // of brine; "" is the test's own
}

// newSite starts an sshd and lays out a controller that knows its host key.
func newSite(t *testing.T, o sshtest.Options) *site {
	t.Helper()
	o.Env = append(o.Env, "BRINE_TEST_RUN=1")
	s := &site{t: t, sshd: sshtest.Start(t, o), dir: t.TempDir()}
	s.home = filepath.Join(s.dir, "home")
	s.write("home/.ssh/known_hosts", read(t, s.sshd.KnownHosts))
	s.placeAgent()
	s.write("master", fmt.Sprintf("file_roots: {base: [%s]}\npillar_roots: {base: [%s]}\ncachedir: %s\nssh_user: %s\nssh_priv: %s\nssh_port: %d\ntimeout: 5\n",
		s.path("salt"), s.path("pillar"), s.path("cache"), s.sshd.User, s.sshd.Key, s.sshd.Port))
	s.write("salt/.keep", "")
	s.write("pillar/.keep", "")
	return s
}

// builtAgent is the agent that BRINE_TEST_SLIM names: a directory for agents with it, and one for
// the cache in which it is packed. Both are empty where none was built.
var builtAgent = sync.OnceValues(func() (agents, packed string) {
	text, err := os.ReadFile(os.Getenv("BRINE_TEST_SLIM"))
	if err != nil {
		return "", ""
	}
	dir, err := os.MkdirTemp("", "brine-agents-")
	if err != nil {
		return "", ""
	}
	atExit = append(atExit, func() { _ = os.RemoveAll(dir) })
	agents, packed = filepath.Join(dir, "agents"), filepath.Join(dir, "packed")
	var zst bytes.Buffer
	sum := sha256.Sum256(text)
	for _, err := range []error{
		os.Mkdir(agents, 0o755), os.Mkdir(packed, 0o755),
		os.WriteFile(filepath.Join(agents, "brine-"+runtime.GOOS+"-"+runtime.GOARCH), text, 0o755),
		sshexec.Compress(&zst, bytes.NewReader(text), zstd.SpeedDefault),
		os.WriteFile(filepath.Join(packed, "agent-"+hex.EncodeToString(sum[:8])+".zst"), zst.Bytes(), 0o600),
	} {
		if err != nil {
			panic(err)
		}
	}
	return agents, packed
})

// placeAgent has the hosts of a site get the agent that releases have, where one was built,
// else the test itself, which has three times its bytes. It is packed already.
func (s *site) placeAgent() {
	s.t.Helper()
	agents, packed := builtAgent()
	if agents == "" {
		return
	}
	data := filepath.Join(s.home, ".local/share/brine")
	must(s.t, os.MkdirAll(data, 0o700))
	must(s.t, os.Symlink(agents, filepath.Join(data, "agents")))
	cache := s.path("cache/ssh")
	must(s.t, os.MkdirAll(cache, 0o700))
	files, err := os.ReadDir(packed)
	must(s.t, err)
	for _, f := range files {
		must(s.t, os.Link(filepath.Join(packed, f.Name()), filepath.Join(cache, f.Name())))
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(name, text string) {
	s.t.Helper()
	p := s.path(name)
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// roster writes a roster of n hosts web1..webN, each an address of the sshd.
func (s *site) roster(n int, more ...string) {
	var b strings.Builder
	for i, addr := range s.sshd.Hosts(n) {
		fmt.Fprintf(&b, "web%d: {host: %s, grains: {role: web}}\n", i+1, addr)
	}
	s.write("roster", b.String()+strings.Join(more, "\n")+"\n")
}

// result is how a brine ended.
type result struct {
	stdout, stderr string
	exit           int
}

func (s *site) brine(args ...string) result {
	s.t.Helper()
	return s.program("brine", append(args[:1:1], append([]string{"-c", s.dir}, args[1:]...)...)...)
}

func (s *site) program(name string, args ...string) result {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	self := brineProgram()
	c := exec.CommandContext(ctx, cmp.Or(s.exe, self))
	c.Args = append([]string{name}, args...)
	if s.limit > 0 {
		link := s.path(name)
		if err := os.Symlink(self, link); err != nil && !errors.Is(err, fs.ErrExist) {
			s.t.Fatal(err)
		}
		c = exec.CommandContext(ctx, "sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, s.limit), link}, args...)...)
	}
	c.Dir = s.dir
	c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "HOME="+s.home, "XDG_CACHE_HOME="+s.path("xdg"), "XDG_RUNTIME_DIR="+s.path("cache"), "BRINE_RUN_DIR="+s.path("cache")+"/events", "SSH_AUTH_SOCK=", "NO_COLOR=1")
	c.Env = append(c.Env, s.env...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	c.WaitDelay = 10 * time.Second
	err := c.Run()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		s.t.Fatalf("%v: %v", c.Args, err)
	}
	return result{out.String(), errs.String(), c.ProcessState.ExitCode()}
}

// want fails the test where the exit status is another one, or one of texts is
// in neither stdout nor stderr.
func (s *site) want(r result, exit int, texts ...string) {
	s.t.Helper()
	if r.exit != exit {
		s.t.Errorf("exit status %d, want %d\nstdout: %s\nstderr: %s\nsshd: %s", r.exit, exit, r.stdout, r.stderr, lastLines(s.sshd.Log(), 5))
	}
	for _, text := range texts {
		if !strings.Contains(r.stdout+r.stderr, text) {
			s.t.Errorf("no %q in\nstdout: %s\nstderr: %s", text, r.stdout, r.stderr)
		}
	}
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// decode reads the JSON document of stdout.
func (s *site) decode(r result) map[string]any {
	s.t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		s.t.Fatalf("stdout is no JSON document: %v: %s\nstderr: %s", err, r.stdout, r.stderr)
	}
	return doc
}

func TestSSHManyTargets(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(20)
	// Four targets of one home find no agent at the same time.
	s.want(s.brine("ssh", "web[1-4]", "test.ping", "--out=json"), 0)
	r := s.brine("ssh", "*", "test.ping", "--out=json")
	s.want(r, 0)
	if doc := s.decode(r); len(doc) != 20 || doc["web20"] != true {
		t.Errorf("got %v", doc)
	}
	// The agents came at once and one file is left of them.
	names, _ := os.ReadDir(filepath.Join(s.sshd.Home, ".cache/brine/agent"))
	var left []string
	for _, n := range names {
		if n.Name() != "cache" {
			left = append(left, n.Name())
		}
	}
	if len(left) != 1 || !strings.HasPrefix(left[0], "brine-") {
		t.Errorf("left in the agent's directory: %v", left)
	}
	r = s.brine("ssh", "web1*", "cmd.run", "echo $((1+1))", "--static", "--group=never")
	s.want(r, 0, "web19:\n    2")
	s.want(s.brine("ssh", "web1*", "cmd.run", "echo $((1+1))"), 0, "web1,web[10-19]:\n    2")
	s.want(s.brine("ssh", "*", "test.ping", "--summary", "--out=quiet"), 0, "web[1-20]: True", "# of targets: 20, failed: 0")
	s.want(s.brine("ssh", "web[1-3]", "test.ping", "-v"), 0, "Executing job with jid ")
	s.want(s.brine("ssh", "*", "test.ping", "--wipe", "--out=quiet"), 0)
	if _, err := os.Stat(filepath.Join(s.sshd.Home, ".cache/brine")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("--wipe left something: %v", err)
	}
}

func TestSSHStates(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(3)
	out := t.TempDir()
	s.write("salt/web/init.sls", `
{% from "web/map.jinja" import port with context %}
include: [web.base]
conf:
  file.managed:
    - name: `+out+`/{{ grains.id }}.conf
    - source: salt://web/files/conf.j2
    - template: jinja
    - context: {port: {{ port }}}
    - require: [{sls: web.base}]
`)
	s.write("salt/web/map.jinja", "{% set port = pillar.get('port', 80) %}\n")
	s.write("salt/web/base.sls", "tree:\n  file.recurse:\n    - name: "+out+"/{{ grains.id }}\n    - source: salt://web/files/tree\n")
	s.write("salt/web/files/conf.j2", "{{ grains.role }} {{ port }} {{ pillar.secret }}\n")
	s.write("salt/web/files/tree/a/b", strings.Repeat("x", 1<<20))
	s.write("salt/bad.sls", "x:\n  test.fail_without_changes: []\n")
	s.write("salt/orch.sls", `
deploy:
  salt.state:
    - tgt: 'role:web'
    - tgt_type: grain
    - sls: web
ids:
  salt.function:
    - name: grains.get
    - tgt: '*'
    - arg: [id]
    - require: [{salt: deploy}]
`)
	s.write("pillar/top.sls", "base:\n  'web1': [one]\n  'kernel:*': [{match: grain}, all]\n")
	s.write("pillar/one.sls", "port: 8080\n")
	s.write("pillar/all.sls", "secret: of-{{ grains.id }}\n")

	s.want(s.brine("ssh", "web*", "state.apply", "web", "test=True", "--static"), 0, "The file "+out+"/web2.conf is set to be changed")
	if _, err := os.Stat(out + "/web1.conf"); err == nil {
		t.Error("test=True wrote a file")
	}
	s.want(s.brine("ssh", "web*", "state.apply", "web"), 0, "New file", "Succeeded: 2 (changed=2)")
	for id, want := range map[string]string{"web1": "web 8080 of-web1\n", "web3": "web 80 of-web3\n"} {
		if got := read(t, out+"/"+id+".conf"); got != want {
			t.Errorf("%s.conf is %q, want %q", id, got, want)
		}
	}
	if st, err := os.Stat(out + "/web2/a/b"); err != nil || st.Size() != 1<<20 {
		t.Errorf("file.recurse: %v", err)
	}
	s.want(s.brine("ssh", "web*", "state.apply", "web", "--static"), 0, "Succeeded: 2\n")
	s.want(s.brine("ssh", "web1", "state.apply", "web", `pillar={"port": 1}`, "--out=json"), 0, "+web 1 of-web1")
	s.want(s.brine("ssh", "web1", "state.apply", "bad"), 20, "Failure!")
	s.want(s.program("salt", "-c", s.dir, "web1", "state.apply,state.show_sls", "bad", ",", "web"), 1, "Failure!", "web.base")
	s.want(s.program("salt", "-c", s.dir, "web1", "test.ping,state.show_sls", ",", "web"), 0, "test.ping:\n        True", "web.base")
	s.want(s.brine("ssh", "web1", "state.apply", "nothere"), 20, "No matching sls found for 'nothere' in env 'base'")
	s.want(s.brine("ssh", "web1", "pillar.items", "--out=json"), 0, "of-web1")
	s.want(s.brine("ssh", "-I", "secret:of-web2", "test.ping", "--out=json"), 0, "{\n    \"web2\": true\n}")
	s.want(s.brine("ssh", "-C", "G@kernel:* and not web2", "test.ping", "--static"), 0, "web1:\n    True\nweb3:\n    True")
	s.write("salt/broken.sls", "{% set x = 1 %}\n{{ nope.x }}\n")
	s.want(s.brine("ssh", "web*", "state.apply", "broken", "--out=sarif"), 20, `"ruleId": "undefined-variable"`, `/broken.sls"`, `"startLine": 2`, `"web1",
              "web2",
              "web3"`)
	s.want(s.brine("ssh", "web1", "state.apply", "web", "--out=profile"), 0, "authenticating      1 ", "starting the agent  1 ", "preparing           1 ")
	s.want(s.brine("orchestrate", "orch"), 0, "States ran successfully.", "Function grains.get ran on web1, web2, web3.")
	s.write("salt/again.sls", `
kill:
  salt.function:
    - name: cmd.run
    - tgt: 'web[12]'
    - arg: ['kill -9 $PPID; sleep 20']
again:
  salt.function:
    - name: test.ping
    - tgt: '*'
    - onfail: [{salt: kill}]
`)
	s.want(s.brine("orchestrate", "again"), 1, "Function test.ping ran on web1, web2, web3.", "lost while the call was under way")
	s.write("nobody", "# no targets yet\n")
	s.want(s.brine("ssh", "*", "test.ping", "--roster-file", s.path("nobody")), 1, "the roster has no targets", s.path("nobody"))
	s.want(s.brine("ssh", "nobody*", "test.ping"), 1, `no target of the roster matches "nobody*"`)
	s.want(s.brine("ssh", "web1", "nope.fun"), 20, "'nope.fun' is not available.")
}

func TestSSHFailures(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	other := sshtest.NewFake(t).Start()
	hung := sshtest.NewFake(t)
	hung.Hang = sshtest.AtVersion
	hung.Start()
	wrong := filepath.Join(s.dir, "wrong")
	sshtest.WriteKey(t, wrong, "")
	locked := filepath.Join(s.dir, "locked")
	sshtest.WriteKey(t, locked, "passphrase")
	s.write("home/.ssh/known_hosts", read(t, s.sshd.KnownHosts)+
		fmt.Sprintf("[127.0.0.1]:%d %s", other.Port(), ssh.MarshalAuthorizedKey(s.sshd.HostKey))+
		fmt.Sprintf("[127.0.0.1]:%d %s", hung.Port(), ssh.MarshalAuthorizedKey(hung.HostKey.PublicKey())))
	s.roster(2,
		"dead: {host: 127.0.0.1, port: 1}",
		"noname: {host: no-such-host.invalid}",
		fmt.Sprintf("changed: {host: 127.0.0.1, port: %d}", other.Port()),
		fmt.Sprintf("unknown: {host: localhost.localdomain.invalid, ssh_options: ['HostName=127.0.0.1', 'HostKeyAlias=unheard'], port: %d}", s.sshd.Port),
		"wrongkey: {host: 127.0.0.9, priv: "+wrong+"}",
		"lockedkey: {host: 127.0.0.9, priv: "+locked+"}",
		fmt.Sprintf("hung: {host: 127.0.0.1, port: %d, timeout: 1}", hung.Port()),
		"badopt: {host: 127.0.0.9, ssh_options: ['nonsense']}",
		"nosudo: {host: 127.0.0.9, sudo: True, sudo_user: no-such-user}",
		"nopath: {host: 127.0.0.9, set_path: /nonexistent}",
	)
	r := s.brine("ssh", "*", "test.ping", "--out=json", "--failed-file", s.path("failed"))
	s.want(r, 20)
	doc := s.decode(r)
	for id, want := range map[string]string{
		"dead":      "dead (127.0.0.1:1): connect: connection refused; check that sshd is listening",
		"noname":    "noname (no-such-host.invalid:",
		"changed":   fmt.Sprintf("changed (127.0.0.1:%d): host key: the host's key is not the known one (%s/.ssh/known_hosts:2)", other.Port(), s.home),
		"unknown":   "host key: the host's key is not known: ssh-ed25519 SHA256:",
		"wrongkey":  ": authentication: ",
		"lockedkey": ": authentication: key " + locked + ": the key is encrypted and its passphrase is not known; add it to ssh-agent",
		"hung":      ": handshake: no answer within 1s",
		"badopt":    `ssh option "nonsense" is not <keyword>=<value>`,
		"nosudo":    ": shell: sudo: ",
		"nopath":    "uname should be, and set_path in the roster",
	} {
		m, _ := doc[id].(map[string]any)
		if got := fmt.Sprint(m["stderr"]); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if doc["web1"] != true || doc["web2"] != true {
		t.Errorf("the others: %v %v", doc["web1"], doc["web2"])
	}
	failed := strings.Fields(read(t, s.path("failed")))
	if len(failed) != 10 || !slices.IsSorted(failed) {
		t.Errorf("failed: %v", failed)
	}
	r = s.brine("ssh", "*", "test.ping", "--limit", "@"+s.path("failed"), "--out=json", "--failed-file", s.path("failed2"))
	if s.want(r, 20); len(s.decode(r)) != 10 {
		t.Errorf("limited to %v", s.decode(r))
	}
	s.want(s.brine("ssh", "unknown", "test.ping", "--host-keys=accept-new"), 0, "True")
	s.want(s.brine("ssh", "unknown", "test.ping"), 0, "True")
	s.want(s.brine("ssh", "changed", "-r", "true", "-i"), 0, "host keys are not checked")
	s.want(s.brine("ssh", "web1", "test.ping", "--passwd", "x"), 64, "--askpass")
	s.want(s.brine("ssh", "web1", "test.ping", "--priv-passwd=x"), 64, "ssh-agent")
	s.want(s.brine("ssh", "web1", "test.ping", "--jid", "x"), 64, "is not a jid")
	s.want(s.brine("ssh", "web1", "test.ping", "--ssh-option", "Ciphers=aes256-ctr"), 0, "True")
	s.want(s.brine("ssh", "web1", "test.ping", "--ssh-option", "Ciphers"), 20, "is not <keyword>=<value>")
	s.want(s.program("salt-ssh", "-c", s.dir, "-t", "-W", "--jid", "20200102030405000000", "-v", "web1", "test.ping"), 0, "jid 20200102030405000000")
	s.want(s.program("salt", "-c", s.dir, "-t", "30", "dead", "test.ping"), 1, "Minion did not return. [dead (127.0.0.1:1): connect")
	s.want(s.brine("ssh", "web1", "test.ping", "--askpass"), 64, "needs a terminal")
	s.want(s.brine("ssh", "-L", "-E", "web1", "test.ping"), 64, "-L and -E")
	s.want(s.brine("ssh", "-L", "web1,ghost", "test.ping"), 20, "ghost is not in the roster")
}

// TestSSHBadEntries: an entry that cannot be used is a target that failed, not
// one that is left out.
func TestSSHBadEntries(t *testing.T) {
	t.Parallel()
	s := &site{t: t, sshd: &sshtest.Server{}, dir: t.TempDir()}
	s.home = s.path("home")
	s.write("master", "cachedir: cache\n")
	s.write("roster", "good: {connection: local}\nbad: {host: 192.0.2.1, port: 99999, cmd_umask: 9, connection: local}\nworse: {host: -x}\nbehind: {host: 192.0.2.2, relay: godo}\n")
	r := s.brine("ssh", "*", "test.ping", "--static", "--out=json")
	s.want(r, 20, `"good": true`,
		`bad (192.0.2.1): resolve: `+s.path("roster")+`:2:24: roster entry \"bad\": port: 99999 is not a port; `,
		`roster entry \"worse\": \"-x\" is not the name of a host`,
		`behind (192.0.2.2): resolve: `+s.path("roster")+`:4:27: roster entry \"behind\": relay: there is no entry \"godo\" in the roster (did you mean \"good\"?)`)
	s.want(s.brine("ssh", "web1", "--hosts"), 0, "--hosts lists all of the roster: web1 is not looked at")
	r = s.brine("ssh", "--hosts", "--out=json")
	s.want(r, 0)
	if got, want := fmt.Sprint(s.decode(r)), fmt.Sprintf("map[%s:map[bad:192.0.2.1 behind:192.0.2.2 good:good worse:-x]]", s.path("roster")); got != want {
		t.Errorf("--hosts: %s, want %s", got, want)
	}
	s.want(s.program("salt-ssh", "-c", s.dir, "-H"), 0, s.path("roster")+":", "    good:\n        good")
	s.want(s.brine("ssh", "good", "test.ping", "--failed-file", s.path("no/file")), 64, "--failed-file: open "+s.path("no/file"))
	s.want(s.brine("ssh", "good", "test.ping", "--subset", "-1"), 64, "cannot be negative")
	s.write("none/master", "cachedir: cache\n")
	s.want(s.program("brine", "ssh", "*", "test.ping", "-c", s.path("none")), 1, "-c . takes the configuration and the roster of this directory")
	r = s.brine("run", "manage.status", "--out=json")
	s.want(r, 0)
	if got := fmt.Sprint(s.decode(r)); got != "map[down:[bad behind worse] up:[good]]" {
		t.Errorf("manage.status: %s", got)
	}
}

// TestSSHNoise: what the account's start files print does not disturb.
func TestSSHNoise(t *testing.T) {
	t.Parallel()
	banner := filepath.Join(t.TempDir(), "banner")
	if err := os.WriteFile(banner, []byte("*** authorised use only ***\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, sshtest.Options{Config: []string{"Banner " + banner}})
	s.roster(1)
	noise := "echo welcome to this machine; echo 'brine-need-x Linux x86_64 gzip' >&2; printf 'no newline'\n"
	for _, f := range []string{".bashrc", ".profile", ".zshenv"} {
		if err := os.WriteFile(filepath.Join(s.sshd.Home, f), []byte(noise), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.want(s.brine("ssh", "web1", "test.ping", "--out=json"), 0, "{\n    \"web1\": true\n}")
	s.want(s.brine("ssh", "web1", "test.ping", "--out=json"), 0, "{\n    \"web1\": true\n}")
}

// TestSSHOneSession: a host that allows one session at a time gets the agent, and works.
func TestSSHOneSession(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{Config: []string{"MaxSessions 1"}})
	s.roster(1)
	for range 3 {
		s.want(s.brine("ssh", "web1", "test.ping", "--wipe"), 0, "True")
	}
	s.want(s.brine("ssh", "web1", "test.ping"), 0, "True")
}

// sudoScript is a sudo that wants a password once, as sudoers would have it.
const sudoScript = `#!/bin/sh
prompt= user= stdin= never=
while [ $# -gt 0 ]; do case $1 in
-n) never=1;; -S) stdin=1;; -H) ;; -p) prompt=$2; shift;; -u) user=$2; shift;; --) shift; break;; esac; shift; done
echo "$user" >>"$SUDO_LOG"
if [ ! -e "$SUDO_LOG.free" ]; then
[ -n "$never" ] && { echo "sudo: a password is required" >&2; exit 1; }
for i in 1 2; do
printf %s "$prompt" >&2
IFS= read -r p || exit 1
[ "$p" = "the pass'word" ] && break
echo "Sorry, try again." >&2
[ $i = 2 ] && exit 1
done
fi
exec "$@"
`

func TestSSHSudo(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	log := filepath.Join(bin, "log")
	if err := os.WriteFile(filepath.Join(bin, "sudo"), []byte(sudoScript), 0o755); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, sshtest.Options{Env: []string{"PATH=" + bin + ":/usr/bin:/bin:/usr/sbin:/sbin", "SUDO_LOG=" + log}})
	s.roster(1,
		`with: {host: 127.0.0.5, sudo: True, passwd: "the pass'word"}`,
		`other: {host: 127.0.0.5, sudo: True, sudo_user: "nobody", passwd: "the pass'word"}`,
		`wrong: {host: 127.0.0.5, sudo: True, passwd: wrong}`,
		`without: {host: 127.0.0.5, sudo: True}`,
		`terminal: {host: 127.0.0.5, sudo: True, tty: True, passwd: "the pass'word"}`,
	)
	s.want(s.brine("ssh", "with", "test.ping"), 0, "True")
	s.want(s.brine("ssh", "other", "test.ping"), 0, "True")
	if got := strings.Fields(read(t, log)); !slices.Contains(got, "root") || !slices.Contains(got, "nobody") {
		t.Errorf("sudo was asked for %v", got)
	}
	s.want(s.brine("ssh", "with", "-r", "cat; echo done"), 0, "done")
	s.want(s.brine("ssh", "wrong", "test.ping"), 20, "shell: sudo does not take the password")
	s.want(s.brine("ssh", "without", "test.ping"), 20, "shell: sudo: a password is required")
	if os.Geteuid() == 0 { // an sshd that is not root's gives no terminals
		s.want(s.brine("ssh", "terminal", "test.ping"), 0, "True")
		s.want(s.brine("ssh", "terminal", "test.ping", "--wipe"), 0, "True")
		s.want(s.brine("ssh", "terminal", "test.ping"), 0, "True")
	}
	// A sudo that does not ask is not sent the password.
	if err := os.WriteFile(log+".free", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.want(s.brine("ssh", "with", "cmd.run", "cat"), 0, "with:")
	s.want(s.brine("ssh", "without", "test.ping"), 0, "True")
}

// TestSSHAgentForwarding: the ssh-agent is lent to machines whose roster entry
// says so, and to no others.
func TestSSHAgentForwarding(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	key, err := ssh.ParseRawPrivateKey([]byte(read(t, s.sshd.Key)))
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "SSH_AUTH_SOCK="+sshtest.ListenAgent(t, ring))
	s.roster(1, `lent: {host: 127.0.0.1, priv: agent-forwarding}`, `option: {host: 127.0.0.1, ssh_options: [ForwardAgent=yes]}`)
	s.write("home/.ssh/config", "ForwardAgent yes\n")
	const look = `[ -S "$SSH_AUTH_SOCK" ] && echo lent || echo not lent`
	for _, args := range [][]string{{"ssh", "*", "-r", look, "--out=json"}, {"ssh", "*", "cmd.run", look, "--out=json"}} {
		r := s.brine(args...)
		s.want(r, 0)
		for id, want := range map[string]string{"web1": "not lent", "lent": "lent", "option": "lent"} {
			got := s.decode(r)[id]
			if m, ok := got.(map[string]any); ok {
				got = m["stdout"]
			}
			if text, _ := got.(string); strings.TrimSpace(text) != want {
				t.Errorf("%s: %v, want %s", id, got, want)
			}
		}
	}
	s.env[len(s.env)-1] = "SSH_AUTH_SOCK=" + filepath.Join(t.TempDir(), "none")
	s.want(s.brine("ssh", "option", "test.ping"), 20, "the ssh-agent cannot be lent")
}

// TestSSHStockLimits: sshd as it comes drops connections of the many.
func TestSSHStockLimits(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{Stock: true})
	s.roster(30)
	r := s.brine("ssh", "*", "test.ping", "--out=json", "--retries", "6")
	s.want(r, 0)
	if doc := s.decode(r); len(doc) != 30 {
		t.Errorf("got %v", doc)
	}
}

func TestSSHRaw(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(2, "here: {connection: local}")
	r := s.brine("ssh", "web1", "-r", `echo "a b" 'c'; echo err >&2; exit 3`, "--out=json")
	s.want(r, 20)
	if m, _ := s.decode(r)["web1"].(map[string]any); m["stdout"] != "a b c\n" || m["stderr"] != "err\n" || m["retcode"] != 3.0 {
		t.Errorf("got %v", m)
	}
	s.want(s.brine("ssh", "here", "-r", "echo $((40+2))"), 0, "42")
	s.want(s.brine("ssh", "*", "-r", "true", "--summary", "--out=quiet"), 0, "# of targets: 3, failed: 0")
	if _, err := os.Stat(filepath.Join(s.sshd.Home, ".cache")); err == nil {
		t.Error("a raw command left an agent")
	}
}

// TestSSHAddress: a target that the command line names by its address, which the
// roster gets once it has answered.
func TestSSHAddress(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(0, "far: {host: 127.0.0.1, port: 1}")
	host := s.sshd.Hosts(1)[0]
	at := fmt.Sprintf("%s@%s:%d", s.sshd.User, host, s.sshd.Port)
	s.want(s.brine("ssh", at, "test.ping"), 0, host+":\n    True\n")
	if strings.Contains(read(t, s.path("roster")), host+":") {
		t.Error("the roster was changed unasked")
	}
	for range 2 { // which writes it once
		s.want(s.brine("ssh", "-L", at+",far,nobody@127.0.0.77:1", "test.ping", "--update-roster"), 20)
	}
	text := read(t, s.path("roster"))
	if want := fmt.Sprintf("'%s':\n  host: '%s'\n  user: %s\n  port: %d\n", host, host, s.sshd.User, s.sshd.Port); strings.Count(text, want) != 1 || strings.Contains(text, "127.0.0.77") {
		t.Errorf("the roster is %q, want it to have %q", text, want)
	}
	s.want(s.brine("ssh", host, "test.ping"), 0, "True")
	// A roster that cannot have more entries is told before anything runs.
	r := s.brine("ssh", at, "test.ping", "--update-roster", "--roster-file", "-")
	s.want(r, 64, "--update-roster: /dev/stdin is not a file")
	if strings.Contains(r.stdout, "True") {
		t.Error("the function ran all the same")
	}
	// An id of the roster is that id, whatever it looks like, and globs match it.
	s.roster(0, "web@prod: {host: "+host+"}")
	for _, tgt := range []string{"web@prod", "web[@]prod", "w*@*"} {
		s.want(s.brine("ssh", tgt, "test.ping"), 0, "web@prod:\n    True\n")
	}
}

// TestSSHPlaces: where the first directory cannot be used, the next one is.
func TestSSHPlaces(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	thin := filepath.Join(t.TempDir(), "with blank", "it's")
	open := t.TempDir()
	if err := os.Mkdir(filepath.Join(open, "agent"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(open, "agent"), 0o777); err != nil {
		t.Fatal(err)
	}
	link := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(link, "agent")); err != nil {
		t.Fatal(err)
	}
	pre := filepath.Join(s.dir, "pre.sh")
	s.write("pre.sh", "#!/bin/sh\necho \"$1\" >>"+s.path("pre.log")+"\n")
	s.roster(0,
		"thin: {host: 127.0.0.5, thin_dir: \""+thin+"\"}",
		"open: {host: 127.0.0.5, thin_dir: "+open+"}",
		"link: {host: 127.0.0.5, thin_dir: "+link+"}",
		"path: {host: 127.0.0.5, set_path: '/x y:$PATH', cmd_umask: 027, ssh_pre_flight: "+pre+", ssh_pre_flight_args: [\"it's $HOME\"]}",
		"broken: {host: 127.0.0.5, thin_dir: "+filepath.Join(s.dir, "thin")+", ssh_pre_flight: "+s.path("broken.sh")+"}",
	)
	s.write("broken.sh", "#!/bin/sh\nexit 3\n")
	s.want(s.brine("ssh", "broken", "test.ping", "--out=json"), 20, "broken.sh ended with status 3\"")
	s.want(s.brine("ssh", "path", "cmd.run", "umask; echo $PATH"), 0, "0027", "/x y:/")
	// A thin_dir counts more than an agent that is elsewhere already.
	s.want(s.brine("ssh", "thin", "test.ping"), 0, "True")
	if names, _ := filepath.Glob(filepath.Join(thin, "agent", "brine-*")); len(names) != 1 {
		t.Errorf("thin_dir has %v", names)
	}
	if got := read(t, s.path("pre.log")); got != "it's $HOME\n" {
		t.Errorf("ssh_pre_flight was given %q", got)
	}
	s.want(s.brine("ssh", "*", "test.ping", "--out=json", "--limit", "open,link,path,thin", "--wipe"), 0)
	if names, _ := filepath.Glob(filepath.Join(thin, "*")); len(names) != 0 {
		t.Errorf("--wipe left %v", names)
	}
	s.want(s.brine("ssh", "-L", "open,link", "test.ping", "--out=json"), 0)
	for _, dir := range []string{open, link} {
		if names, _ := filepath.Glob(filepath.Join(dir, "agent", "*")); len(names) != 0 {
			t.Errorf("a directory that others can write to was used: %v", names)
		}
	}
	s.want(s.brine("ssh", "path", "test.ping", "--agent-dir", s.dir), 0)
}

// TestSSHPatience: past the timeout the agent is asked, and what still runs is
// waited for; one that is frozen, lost or hung holds nobody else.
func TestSSHPatience(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	hung := sshtest.NewFake(t)
	hung.Hang = sshtest.AtExec
	hung.Start()
	s.write("home/.ssh/known_hosts", read(t, s.sshd.KnownHosts)+fmt.Sprintf("[127.0.0.1]:%d %s", hung.Port(), ssh.MarshalAuthorizedKey(hung.HostKey.PublicKey())))
	s.roster(3, fmt.Sprintf("hung: {host: 127.0.0.1, port: %d, timeout: 4}", hung.Port()))
	s.want(s.brine("ssh", "web1", "test.ping"), 0)
	s.want(s.brine("ssh", "web1", "cmd.run", "sleep 3; echo back", "--timeout", "1"), 0, "back")
	r := s.brine("ssh", "*", "test.ping", "--out=json")
	s.want(r, 20, ": shell: no answer in time; see the load", `"web3": true`)
	// The shell of the call is the agent's child.
	r = s.brine("ssh", "-L", "web1,web2", "cmd.run", "mkdir "+s.path("first")+" 2>/dev/null && { kill -9 $PPID; sleep 20; }; sleep 1; echo lived", "--out=json")
	s.want(r, 20, "lived")
	lost := 0
	for id, v := range s.decode(r) {
		if m, ok := v.(map[string]any); ok {
			lost++
			t.Logf("%s: %v", id, m["stderr"])
		}
	}
	if lost != 1 {
		t.Errorf("%d targets were lost, want 1: %s", lost, r.stdout)
	}
	s.write("master", read(t, s.path("master"))+"gather_job_timeout: 1\n")
	t.Cleanup(func() { // a frozen agent does not see that its channel is closed
		var pid int
		if _, err := fmt.Sscan(read(t, s.path("pid")), &pid); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	r = s.brine("ssh", "web1", "cmd.run", "echo $PPID >"+s.path("pid")+"; sleep 3; kill -STOP $PPID; sleep 30", "--timeout", "1", "--out=json")
	s.want(r, 20, "Minion did not return. [No response]", "did not say within 1s")
}
