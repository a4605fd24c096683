package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// What the operator sees when hosts fail.

// process is a brine under way.
type process struct {
	*exec.Cmd
	out, errs lockedBuffer
}

// lockedBuffer can be read while it is written to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// command returns the command of a brine that was not started.
func (s *site) command(args ...string) *exec.Cmd {
	s.t.Helper()
	self := brineProgram()
	c := exec.CommandContext(s.t.Context(), self)
	c.Args = append([]string{"brine", args[0], "-c", s.dir}, args[1:]...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "HOME="+s.home, "XDG_CACHE_HOME="+s.path("xdg"), "XDG_RUNTIME_DIR="+s.path("cache"), "BRINE_RUN_DIR="+s.path("cache")+"/events", "SSH_AUTH_SOCK=", "NO_COLOR=1")
	c.Env = append(c.Env, s.env...)
	c.WaitDelay = 10 * time.Second
	return c
}

// start starts a brine.
func (s *site) start(args ...string) *process {
	s.t.Helper()
	p := &process{Cmd: s.command(args...)}
	p.Stdout, p.Stderr = &p.out, &p.errs
	if err := p.Start(); err != nil {
		s.t.Fatal(err)
	}
	return p
}

// end waits for it and returns how it ended.
func (p *process) end(t *testing.T) result {
	t.Helper()
	err := p.Wait()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		t.Fatal(err)
	}
	return result{p.out.String(), p.errs.String(), p.ProcessState.ExitCode()}
}

// await waits, for long if need be, until a condition holds.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); {
		if time.Now().After(end) {
			t.Fatalf("in vain waited for: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// jids returns the jobs that ran a function, newest last.
func (s *site) jids(function string) []string {
	s.t.Helper()
	r := s.brine("run", "jobs.list_jobs", "search_function="+function, "--out=json")
	var doc map[string]any
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		s.t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^    "(\d{20})"`).FindAllStringSubmatch(r.stdout, -1) {
		out = append(out, m[1])
	}
	return out
}

func (s *site) lastJID(function string) string {
	s.t.Helper()
	all := s.jids(function)
	if len(all) == 0 {
		s.t.Fatalf("no job of %s", function)
	}
	return all[len(all)-1]
}

func TestSSHRetryFailed(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(3, "dead: {host: 127.0.0.1, port: 1}")
	out := t.TempDir()
	s.write("salt/want.sls", "want:\n  file.exists:\n    - name: "+out+"/{{ grains.id }}\n")
	for _, id := range []string{"web1", "web3"} {
		if err := os.WriteFile(filepath.Join(out, id), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.want(s.brine("ssh", "*", "state.apply", "want", "--out=json"), 20)
	jid := s.lastJID("state.apply")

	// The function and the target of the record, then those of the command line.
	r := s.brine("ssh", "--retry-failed", jid, "--out=json")
	s.want(r, 20)
	if doc := s.decode(r); len(doc) != 2 || doc["web2"] == nil || doc["dead"] == nil {
		t.Errorf("run again on %v", doc)
	}
	if err := os.WriteFile(filepath.Join(out, "web2"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.roster(3) // dead is gone
	r = s.brine("ssh", "web*", "state.apply", "want", "--retry-failed", jid, "--out=json")
	if s.want(r, 0); len(s.decode(r)) != 1 {
		t.Errorf("run again on %s", r.stdout)
	}
	s.want(s.brine("ssh", "--retry-failed", jid), 20, "dead is not in the roster")
	s.want(s.brine("ssh", "web*", "test.ping", "--retry-failed", jid), 0, "job "+jid+" ran state.apply", "web2:\n    True")
	s.want(s.brine("ssh", "web1", "test.ping", "--retry-failed", jid), 1, "no target that failed in job "+jid+` matches "web1"`)

	ping := s.lastJID("test.ping")
	r = s.brine("ssh", "--retry-failed", ping)
	if s.want(r, 0, "no target failed in job "+ping); r.stdout != "" {
		t.Errorf("nothing to do printed %q", r.stdout)
	}
	if r = s.brine("ssh", "*", "test.ping", "--retry-failed", ping, "--out=json"); strings.TrimSpace(r.stdout) != "{}" {
		t.Errorf("nothing to do printed %q as JSON", r.stdout)
	}

	// Arguments come back as they were; a raw command does, too. Values of env are
	// secret, so they are not recorded.
	s.want(s.brine("ssh", "web1", "cmd.run", "echo $((2+3)); pwd; exit 3", "cwd=/", "--out=json"), 20)
	s.want(s.brine("ssh", "--retry-failed", s.lastJID("cmd.run")), 20, "web1:\n    5\n    /\n")
	s.want(s.brine("ssh", "web1", "cmd.run", "exit 3", "env={X: 5}", "--out=json"), 20)
	s.want(s.brine("ssh", "--retry-failed", s.lastJID("cmd.run")), 64, "was given env=, which is not kept", "hint: give the target")
	s.want(s.brine("ssh", "web1", "-r", "echo raw; exit 3"), 20)
	s.want(s.brine("ssh", "--retry-failed", s.lastJID("ssh._raw")), 20, "raw")

	// What cannot be run again says why.
	s.want(s.brine("ssh", "web1", "state.apply", "nothere", "pillar={a: secret}"), 20)
	secret := s.lastJID("state.apply")
	if r = s.brine("ssh", "--retry-failed", secret); r.exit != 64 || strings.Contains(r.stderr, "secret}") {
		t.Errorf("exit %d: %s", r.exit, r.stderr)
	}
	s.want(r, 64, "was given pillar=, which is not kept", "hint: give the target")
	s.want(s.brine("ssh", "--retry-failed", "20200102030405000000"), 1, "there is no job 20200102030405000000", "jobs.list_jobs")
	s.want(s.brine("ssh", "--retry-failed", "yesterday"), 64, `"yesterday" is not a jid`)
	s.want(s.brine("ssh", "web*", "--retry-failed", jid), 64, "no function was given")
	s.want(s.brine("ssh", "-E", "--retry-failed", jid), 64, "takes target and function from the job")
	s.write("salt/orch.sls", "p:\n  salt.function:\n    - name: test.ping\n    - tgt: web1\n")
	s.want(s.brine("orchestrate", "orch"), 0)
	s.want(s.brine("ssh", "--retry-failed", s.lastJID("runner.state.orchestrate")), 1, "runner.state.orchestrate, on this controller", "--resume")

	// A job under way is not run a second time.
	p := s.start("ssh", "web1", "cmd.run", "touch "+s.path("began")+"; while ! test -e "+s.path("go")+"; do sleep 0.1; done")
	await(t, "the job to begin", func() bool { return exists(s.path("began")) })
	s.want(s.brine("ssh", "--retry-failed", s.lastJID("cmd.run")), 1, "is still running", "jobs.active")
	s.write("go", "")
	s.want(p.end(t), 0)
}

// TestSSHLost: the states that were done before a machine was lost are shown,
// recorded and counted.
func TestSSHLost(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(3)
	out := t.TempDir()
	s.write("salt/five.sls", `
one:
  file.managed: [{name: `+out+`/{{ grains.id }}, contents: x}]
two:
  test.nop: []
three:
  cmd.run:
    - name: {% if grains.id == 'web2' %}kill -9 $PPID; sleep 60{% else %}'true'{% endif %}
four:
  test.nop: []
five:
  test.nop: []
`)
	s.write("salt/orch.sls", `
deploy:
  salt.state: [{tgt: '*', sls: five}]
tolerant:
  salt.state: [{tgt: '*', sls: five, fail_minions: web2}]
allowed:
  salt.state: [{tgt: '*', sls: five, allow_fail: 1}]
`)
	r := s.brine("ssh", "*", "state.apply", "five", "--out=json", "--summary", "--failed-file", s.path("failed"))
	s.want(r, 20, "FAILED web2: lost: agent: lost after state 2 of 5: ", "(after state 2 of 5: ok=2 changed=1)", "# of targets: 3, failed: 1")
	states, _ := s.decode(r)["web2"].(map[string]any)
	if len(states) != 3 {
		t.Fatalf("web2: %v", states)
	}
	lost, _ := states["no_|-return_|-return_|-None"].(map[string]any)
	if text := fmt.Sprint(lost["comment"]); lost["result"] != false || !strings.Contains(text, "web2 (127.") || !strings.Contains(text, "agent: lost after state 2 of 5: ") {
		t.Errorf("what was lost: %v", lost)
	}
	if got := read(t, s.path("failed")); got != "web2\n" {
		t.Errorf("failed: %q", got)
	}
	s.want(s.brine("ssh", "web2", "state.apply", "five"), 20, "Succeeded: 2", "Failed:    1", "lost after state 2 of 5")

	// The job cache has them, and they are shown as the run showed them.
	jid := s.lastJID("state.apply")
	s.want(s.brine("run", "jobs.lookup_jid", jid), 0, "lost after state 2 of 5", "Function: file.managed", "Failed:    1")
	s.want(s.brine("run", "jobs.exit_success", jid), 1, "web2:\n    False")

	r = s.brine("orchestrate", "orch", "--out=json")
	s.want(r, 1)
	for tag, want := range map[string]struct {
		result  bool
		comment string
	}{
		"salt_|-deploy_|-deploy_|-state":     {false, "Run failed on minions: web2\nweb2 lost after state 2 of 5"},
		"salt_|-tolerant_|-tolerant_|-state": {true, "States ran successfully. Updating web1, web2, web3.\nweb2 lost after state 2 of 5"},
		"salt_|-allowed_|-allowed_|-state":   {true, "States ran successfully. Updating web1, web2, web3.\nweb2 lost after state 2 of 5"},
	} {
		step := dig(s.decode(r), "data", "", tag)
		if step["result"] != want.result || step["comment"] != want.comment {
			t.Errorf("%s: %v, %q; want %v, %q", tag, step["result"], step["comment"], want.result, want.comment)
		}
		if n := len(dig(step, "changes", "ret", "web2")); n != 3 {
			t.Errorf("%s: %d states of web2", tag, n)
		}
	}
	s.want(s.brine("orchestrate", "orch"), 1, "lost after state 2 of 5")
}

// dig returns the dict at a path; "" is the only key there is.
func dig(m map[string]any, path ...string) map[string]any {
	for _, k := range path {
		if k == "" {
			for k = range m {
				break
			}
		}
		m, _ = m[k].(map[string]any)
	}
	return m
}

// TestSSHStreams: results are printed when they come, as the outputter has them;
// with --static, and as JSON, at the end.
func TestSSHStreams(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(2)
	s.want(s.brine("ssh", "web1", "test.ping"), 0)
	s.write("salt/go.sls", "go:\n  cmd.run:\n    - name: {% if grains.id == 'web1' %}while ! test -e "+s.dir+"/go; do sleep 0.1; done{% else %}touch "+s.dir+"/began{% endif %}\n")
	for _, tt := range []struct {
		out          string
		first, whole string // what comes before web1 is done; how all of it looks
		args         []string
	}{
		{"highstate", "web2:\n----------\n          ID: go\n", "", nil},
		{"nested", "web2:\n    ----------\n    cmd_|-go_|-", "", []string{"--out=nested"}},
		{"yaml", "web2:\n  cmd_|-go_|-", "", []string{"--out=yaml"}},
		{"raw", "{'web2': {'cmd_|-go_|-", "", []string{"--out=raw"}},
		{"txt", "web2: {'cmd_|-go_|-", "", []string{"--out=txt"}},
		{"static", "", "web1:\n", []string{"--static"}},
		{"json", "", "{\n    \"web1\": {", []string{"--out=json"}},
	} {
		t.Run(tt.out, func(t *testing.T) { // one after the other: they share the marks
			_ = os.Remove(s.path("go"))
			_ = os.Remove(s.path("began"))
			p := s.start(append([]string{"ssh", "*", "state.apply", "go"}, tt.args...)...)
			if tt.first != "" {
				await(t, "the first result", func() bool { return strings.HasPrefix(p.out.String(), tt.first) })
				if strings.Contains(p.out.String(), "web1") {
					t.Errorf("web1 is not done: %s", p.out.String())
				}
			} else {
				await(t, "the first result", func() bool { return exists(s.path("began")) })
				time.Sleep(300 * time.Millisecond)
				if got := p.out.String(); got != "" {
					t.Errorf("printed before the end: %s", got)
				}
			}
			s.write("go", "")
			r := p.end(t)
			if r.exit != 0 || !strings.Contains(r.stdout, "web1") || !strings.HasPrefix(r.stdout, tt.first+tt.whole) {
				t.Errorf("exit status %d: %s%s", r.exit, r.stdout, r.stderr)
			}
			if tt.out == "json" && !json.Valid([]byte(r.stdout)) {
				t.Errorf("no JSON: %s", r.stdout)
			}
		})
	}
}

// TestInterruptConnecting: the first Ctrl-C waits for what has begun, and not
// for a machine that is being connected to.
func TestInterruptConnecting(t *testing.T) {
	t.Parallel()
	hung := sshtest.NewFake(t)
	hung.Hang = sshtest.AtVersion
	hung.Start()
	s := newSite(t, sshtest.Options{})
	s.roster(1, fmt.Sprintf("hung: {host: 127.0.0.1, port: %d}", hung.Port()))
	p := s.start("ssh", "*", "cmd.run", "touch "+s.path("began")+"; while [ ! -e "+s.path("go-on")+" ]; do sleep 0.1; done; echo it is done")
	await(t, "work on web1 and the other machine", func() bool { return exists(s.path("began")) && hung.Dials.Load() > 0 })
	_ = p.Process.Signal(syscall.SIGINT)
	await(t, "the machine that hangs", func() bool { return strings.Contains(p.out.String(), "not begun: the run was stopped") })
	s.write("go-on", "")
	s.want(p.end(t), 130, "it is done")
}

// TestInterrupt: a second Ctrl-C prints what was done until then.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(2, "here: {connection: local}")
	s.write("salt/slow.sls", `
first:
  test.succeed_with_changes: []
second:
  cmd.run:
    - name: touch `+s.dir+`/began-{{ grains.id }}; sleep 300
third:
  test.nop: []
`)
	s.write("salt/orch.sls", `
quick:
  salt.function: [{name: test.ping, tgt: 'web*'}]
slow:
  salt.state: [{tgt: 'web*', sls: slow}]
never:
  salt.function: [{name: test.ping, tgt: 'web*'}]
`)
	s.write("salt/beside.sls", `
one:
  salt.state: [{tgt: web1, sls: slow, parallel: True}]
two:
  salt.state: [{tgt: here, sls: slow, parallel: True}]
`)
	for _, tt := range []struct {
		name string
		args []string
		ids  []string
		has  []string
		not  string
	}{
		{"orchestrate", []string{"orchestrate", "orch"}, []string{"web1", "web2"}, []string{"Function test.ping ran on web1, web2.", "Run failed on minions: web1, web2", "lost after state 1 of 3", "Succeeded: 1", "Failed:    1"}, "never"},
		{"orchestrate as JSON", []string{"orchestrate", "orch", "--out=json"}, []string{"web1", "web2"}, []string{`"outputter": "highstate"`, `"salt_|-quick_|-test.ping_|-function"`, "lost after state 1 of 3"}, "never"},
		{"ssh", []string{"ssh", "web*", "state.apply", "slow", "--summary"}, []string{"web1", "web2"}, []string{"Succeeded: 1 (changed=1)", "after state 1 of 3: interrupted", "FAILED web[1-2]: lost: interrupted (after state 1 of 3: ok=1 changed=1)"}, "third"},
		{"on this machine", []string{"ssh", "here", "state.apply", "slow", "--out=json"}, []string{"here"}, []string{`"test_|-first_|-first_|-succeed_with_changes"`, "lost after state 2 of 3: interrupted"}, "third"},
		{"parallel steps", []string{"orchestrate", "beside"}, []string{"web1", "here"}, []string{"web1 lost after state 1 of 3", "here lost after state 2 of 3", "Failed:    2"}, "third"},
		{"call", []string{"call", "state.apply", "slow", "--id", "here"}, []string{"here"}, []string{"ID: first", "Succeeded: 1", "Failed:    1"}, "third"},
	} {
		t.Run(tt.name, func(t *testing.T) { // one after the other: they share the marks
			for _, id := range tt.ids {
				_ = os.Remove(s.path("began-" + id))
			}
			p := s.start(tt.args...)
			for _, id := range tt.ids {
				await(t, "work on "+id, func() bool { return exists(s.path("began-" + id)) })
			}
			_ = p.Process.Signal(syscall.SIGINT)
			await(t, "word of the first interrupt", func() bool { return strings.Contains(p.errs.String(), "Ctrl-C again ends them") })
			_ = p.Process.Signal(syscall.SIGINT)
			r := p.end(t)
			(&site{t: t, sshd: s.sshd}).want(r, 130, append(tt.has, "ending the running steps")...)
			if strings.Contains(r.stdout, tt.not) {
				t.Errorf("%q was reported: %s", tt.not, r.stdout)
			}
			if strings.Contains(tt.name, "JSON") && !json.Valid([]byte(r.stdout)) {
				t.Errorf("no JSON: %s", r.stdout)
			}
		})
	}
	// What was printed can be looked up.
	s.want(s.brine("run", "jobs.lookup_jid", s.lastJID("runner.state.orchestrate")), 1, "Run failed on minions: here", "lost after state 1 of 3")
	await(t, "the ends of the sleeps", func() bool {
		out, _ := exec.Command("pgrep", "-f", s.dir+"/began-").Output()
		return len(out) == 0
	})
}
