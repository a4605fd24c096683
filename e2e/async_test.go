package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

var jidRE = regexp.MustCompile(`\b[0-9]{20}\b`)

// async starts a job without waiting and returns its jid.
func (s *site) async(args ...string) string {
	s.t.Helper()
	r := s.brine(append([]string{"ssh"}, append(args, "--async")...)...)
	s.want(r, 0)
	jid := jidRE.FindString(r.stdout)
	if r.stdout != "Executed command with job ID: "+jid+"\n" {
		s.t.Fatalf("--async printed %q %s", r.stdout, r.stderr)
	}
	return jid
}

// until runs brine until its output has a text.
func (s *site) until(text string, args ...string) result {
	s.t.Helper()
	var r result
	for end := time.Now().Add(100 * time.Second); time.Now().Before(end); {
		if r = s.brine(args...); strings.Contains(r.stdout+r.stderr, text) {
			return r
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("brine %q never says %q: %s%s", args, text, r.stdout, r.stderr)
	return r
}

// left lists what detached jobs left on the target's side.
func (s *site) left() []string {
	var out []string
	for _, pat := range []string{"proc", "returns"} {
		names, _ := filepath.Glob(filepath.Join(s.path("thin"), "agent", "cache", pat, "*"))
		out = append(out, names...)
	}
	return out
}

// asyncSite is a site whose agents lie in a directory of the test.
func asyncSite(t *testing.T, n int) *site {
	s := newSite(t, sshtest.Options{})
	s.roster(n)
	s.write("master", read(t, s.path("master"))+"roster_defaults: {thin_dir: "+s.path("thin")+"}\n")
	return s
}

// TestTextsSession is the session that the texts show: a job that sleeps is left,
// found from another terminal, killed, and looked up.
func TestTextsSession(t *testing.T) {
	t.Parallel()
	s := asyncSite(t, 2)
	jid := s.async("*", "cmd.run", "sleep 1000;echo hehe")
	r := s.brine("ssh", "web1", "saltutil.find_job", jid, "--out=json")
	s.want(r, 0)
	var found map[string]map[string]any
	if err := json.Unmarshal([]byte(r.stdout), &found); err != nil {
		t.Fatal(err)
	}
	pid, _ := found["web1"]["pid"].(float64)
	for k, want := range map[string]string{"jid": jid, "fun": "cmd.run", "tgt": "*", "tgt_type": "glob", "ret": "", "user": s.sshd.User} {
		if got, _ := found["web1"][k].(string); got != want && k != "user" {
			t.Errorf("find_job: %s is %q, want %q", k, got, want)
		}
	}
	if len(found["web1"]) != 8 || pid <= 1 {
		t.Errorf("find_job: %v", found["web1"])
	}
	s.want(s.brine("ssh", "web1", "saltutil.running"), 0, "- sleep 1000;echo hehe")
	s.want(s.brine("ssh", "web1", "saltutil.is_running", "cmd.*"), 0, jid)
	s.want(s.brine("ssh", "web1", "saltutil.is_running", "state.*", "--out=json"), 0, `"web1": []`)
	s.want(s.brine("run", "jobs.active"), 0, jid, "cmd.run", "web1:", "web2:")
	s.want(s.brine("run", "jobs.lookup_jid", jid), 0, "still running", "target web1 still works on the job, as pid "+strconv.Itoa(int(pid)))
	s.want(s.brine("run", "jobs.print_job", jid), 0, "Status", "running")
	s.want(s.brine("ssh", "web1", "saltutil.kill_job", jid), 0, "Signal 9 sent to job "+jid+" at pid "+strconv.Itoa(int(pid)))
	s.until("the job was ended by a signal 9", "run", "jobs.lookup_jid", jid)
	s.want(s.brine("run", "jobs.lookup_jid", jid, "missing=True", "--out=json"), 0, `"web1": "Minion did not return"`)
	s.want(s.brine("ssh", "web2", "saltutil.signal_job", jid, "10"), 0, "Signal 10 sent") // SIGUSR1 ends sh
	s.until("web2:", "run", "jobs.lookup_jid", jid)
	s.want(s.brine("run", "jobs.exit_success", jid, "--out=json"), 1, `"web1": false`, `"web2": false`)
	if r := s.brine("run", "jobs.active", "--out=json"); strings.TrimSpace(r.stdout) != "{}" {
		t.Errorf("something is still active: %s", r.stdout)
	}
	if left := s.left(); len(left) > 0 {
		t.Errorf("what was fetched is still there: %v", left)
	}
	s.want(s.brine("ssh", "web1", "saltutil.find_job", jid, "--out=json"), 0, `"web1": {}`)
	s.want(s.brine("ssh", "web1", "saltutil.term_job", jid, "--out=json"), 0, `"web1": ""`)
}

// TestAsyncStates: what a state run needs goes with it, its events come when it
// is looked up, and its return is the run's.
func TestAsyncStates(t *testing.T) {
	t.Parallel()
	s := asyncSite(t, 1)
	s.write("salt/web/init.sls", `
{% set files = ['a', 'b'] %}
{% for f in files %}
`+s.path("out-")+`{{ f }}:
  file.managed:
    - source: salt://web/files/{{ f }}.txt
    - template: jinja
{% endfor %}
slow:
  cmd.run:
    - name: while [ ! -e `+s.path("go")+` ]; do sleep 0.1; done
tell:
  event.send:
    - name: my/async
    - data: {k: v}
show:
  test.configurable_test_state:
    - changes: true
    - result: true
    - comment: {{ pillar['release'] }} {{ pillar['port'] }} {{ grains['id'] }}
`)
	s.write("salt/web/files/a.txt", "a of {{ pillar['release'] }}\n")
	s.write("salt/web/files/b.txt", "b\n")
	s.write("pillar/top.sls", "base: {'*': [p]}\n")
	s.write("pillar/p.sls", "port: 8080\nrelease: none\n")
	jid := s.async("web1", "state.apply", "web", "pillar={\"release\": \"1.4\"}")
	s.until("still running", "run", "jobs.lookup_jid", jid)
	s.write("go", "")
	out := s.until("Succeeded: 5", "run", "jobs.lookup_jid", jid)
	if !strings.Contains(out.stdout, "1.4 8080 web1") || read(t, s.path("out-a")) != "a of 1.4\n" || read(t, s.path("out-b")) != "b\n" {
		t.Errorf("the run came out wrong: %s", out.stdout)
	}
	// A second look-up reads the cache: the target has forgotten it.
	if again := s.brine("run", "jobs.lookup_jid", jid); again.stdout != out.stdout {
		t.Errorf("looked up again: %s", again.stdout)
	}
	s.want(s.brine("run", "jobs.exit_success", jid, "--out=json"), 0, `"web1": true`)
	s.want(s.brine("run", "jobs.last_run", "function=state.apply", "--out=json"), 0, jid, `"retcode": 0`)
}

// TestAsyncLost: a job whose process was killed, or whose target is gone, is told
// for what it is.
func TestAsyncLost(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := asyncSite(t, 2)
	jid := s.async("*", "cmd.run", "sleep 300")
	r := s.brine("ssh", "web1", "saltutil.find_job", jid, "--out=json")
	var found map[string]map[string]any
	if err := json.Unmarshal([]byte(r.stdout), &found); err != nil {
		t.Fatal(err)
	}
	pid, _ := found["web1"]["pid"].(float64)
	if pid <= 1 {
		t.Fatalf("no pid: %s", r.stdout)
	}
	out, _ := exec.Command("pgrep", "-P", strconv.Itoa(int(pid))).Output()
	_ = syscall.Kill(int(pid), syscall.SIGKILL)
	for f := range strings.FieldsSeq(string(out)) {
		if n, err := strconv.Atoi(f); err == nil {
			_ = syscall.Kill(-n, syscall.SIGKILL)
		}
	}
	s.until("its process is gone and left no return", "run", "jobs.lookup_jid", jid)
	s.want(s.brine("run", "jobs.lookup_jid", jid), 0, "target web1 did not return: lost", "target web2 still works")
	// A target that cannot be asked keeps its return for later.
	roster := read(t, s.path("roster"))
	s.write("roster", "web1: {host: 127.0.0.1}\nweb2: {host: 127.0.0.1, port: 1}\n")
	s.want(s.brine("run", "jobs.lookup_jid", jid), 0, "target web2 cannot be asked for its return", "connect")
	s.write("roster", "web1: {host: 127.0.0.1}\n")
	s.want(s.brine("run", "jobs.lookup_jid", jid), 0, "target web2 cannot be asked for its return: it is not in the roster")
	s.write("roster", roster)
	s.want(s.brine("ssh", "web2", "saltutil.term_job", jid), 0, "Signal 15 sent")
	s.until("web2 did not return: lost: the job was ended by a signal 15", "run", "jobs.lookup_jid", jid)
	// A directory that was removed has taken the job along.
	jid = s.async("web1", "cmd.run", "true")
	s.until(`"web1": {}`, "ssh", "web1", "saltutil.find_job", jid, "--out=json")
	for i := 0; os.RemoveAll(s.path("thin")) != nil && i < 100; i++ { // the job may write there
		time.Sleep(10 * time.Millisecond)
	}
	s.until("knows nothing of the job", "run", "jobs.lookup_jid", jid)
}

// TestAsyncRefused: what cannot be done without waiting is refused.
func TestAsyncRefused(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := asyncSite(t, 1)
	s.write("roster", read(t, s.path("roster"))+"gone: {host: 127.0.0.1, port: 1}\n")
	for _, args := range [][]string{{"-r"}, {"-b", "2"}, {"--wipe"}, {"--summary"}, {"--failed-file", "x"}} {
		s.want(s.brine(append([]string{"ssh", "*", "test.ping", "--async"}, args...)...), 64, "--async")
	}
	s.want(s.brine("ssh", "nobody", "test.ping", "--async"), 1, "no target of the roster matches")
	r := s.brine("ssh", "*", "test.ping", "--async")
	s.want(r, 20, "Executed command with job ID:", "target gone: unreachable")
	jid := jidRE.FindString(r.stdout)
	s.until("web1:\n    True", "run", "jobs.lookup_jid", jid)
	s.want(s.brine("run", "jobs.lookup_jid", jid, "missing=True", "--out=json"), 0, `"gone": "Minion did not return"`, `"web1": true`)
	for _, f := range []string{"lookup_jid", "print_job", "list_job", "exit_success", "get_jid"} {
		s.want(s.brine("run", "jobs."+f, "12345"), 1, `"12345" is not a jid`)
		s.brine("run", "jobs."+f, "20201121093205123456")
	}
	s.want(s.brine("run", "jobs.lookup_jid", "20201121093205123456"), 1, "no job 20201121093205123456")
	jid = s.async("web1", "no.such", "x")
	s.until("'no.such' is not available.", "run", "jobs.lookup_jid", jid)
}

// TestFindJobOfOthers: a job that another terminal waits for is found and ended,
// and the terminal is told.
func TestFindJobOfOthers(t *testing.T) {
	t.Parallel()
	s := asyncSite(t, 2)
	s.want(s.brine("ssh", "*", "test.ping"), 0)
	jid := "20261121093205123456"
	done := make(chan result, 1)
	go func() {
		done <- s.brine("ssh", "*", "cmd.run", "echo $$ >>"+s.path("pids")+"; sleep 300", "--jid", jid, "--out=json")
	}()
	s.until(jid, "ssh", "web1", "saltutil.find_job", jid)
	s.until(jid, "ssh", "web2", "saltutil.find_job", jid)
	s.want(s.brine("run", "jobs.active"), 0, jid)
	s.want(s.brine("ssh", "web1", "saltutil.kill_job", jid), 0, "Signal 9 sent to job "+jid)
	// The other target's call lives on until it is ended, too.
	s.until(`"web1": {}`, "ssh", "web1", "saltutil.find_job", jid, "--out=json")
	s.want(s.brine("ssh", "web2", "saltutil.term_job", jid), 0, "Signal 15 sent to job "+jid)
	r := <-done
	s.want(r, 20, "the job was ended by a signal 9", "the job was ended by a signal 15")
	for f := range strings.FieldsSeq(read(t, s.path("pids"))) {
		n, _ := strconv.Atoi(f)
		for i := 0; syscall.Kill(-n, 0) == nil && i < 500; i++ {
			time.Sleep(10 * time.Millisecond)
		}
		if syscall.Kill(-n, 0) == nil {
			t.Errorf("process group %d of the call lives on", n)
		}
	}
	if left := s.left(); len(left) > 0 {
		t.Errorf("notes are left: %v", left)
	}
}

// TestInterruptedIsLookedUp: Ctrl-C tells the jid, and later look-up the truth.
func TestInterruptedIsLookedUp(t *testing.T) {
	t.Parallel()
	s := asyncSite(t, 2)
	s.want(s.brine("ssh", "*", "test.ping"), 0)
	for _, times := range []string{"1", "2"} {
		started := s.path("started" + times)
		p := s.start("ssh", "*", "cmd.run", ": >"+started+".$$; while [ ! -e "+s.path("go"+times)+" ]; do sleep 0.1; done; echo back", "--out=json")
		for i := 0; ; i++ { // both targets have begun
			if names, _ := filepath.Glob(started + ".*"); len(names) == 2 || i > 6000 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		_ = p.Process.Signal(syscall.SIGINT)
		for i := 0; i < 3000 && !strings.Contains(p.errs.String(), "jobs.lookup_jid"); i++ {
			time.Sleep(10 * time.Millisecond)
		}
		if times == "1" {
			s.write("go1", "")
		} else {
			_ = p.Process.Signal(syscall.SIGINT)
		}
		r := p.end(t)
		jid := jidRE.FindString(r.stderr)
		if jid == "" || !strings.Contains(r.stderr, "brine run jobs.lookup_jid "+jid) {
			t.Fatalf("Ctrl-C tells no jid: %s", r.stderr)
		}
		r = s.brine("run", "jobs.lookup_jid", jid)
		if times == "1" && !strings.Contains(r.stdout, "web1:\n    back") {
			t.Errorf("after one Ctrl-C: %s%s", r.stdout, r.stderr)
		}
		if times == "2" && (strings.Contains(r.stdout, "back") || !strings.Contains(r.stderr, "did not return")) {
			t.Errorf("after two Ctrl-C: %s%s", r.stdout, r.stderr)
		}
		s.until(`"web1": {}`, "ssh", "web1", "saltutil.find_job", jid, "--out=json")
	}
}

// awaitFile waits until a file is there.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for range 6000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s is never written", path)
}

// TestAsyncHere: the process that goes on with a job on this machine is given the
// function's arguments as they were, one that reads as a flag among them.
func TestAsyncHere(t *testing.T) {
	t.Parallel()
	s := asyncSite(t, 1)
	s.write("roster", "here: {connection: local}\n")
	r := s.brine("ssh", "here", "--async", "test.echo", "--", "--async")
	s.want(r, 0)
	s.until("here:\n    --async", "run", "jobs.lookup_jid", jidRE.FindString(r.stdout))
}

// TestAsyncSteps: a step of an orchestration that nobody waits for.
func TestAsyncSteps(t *testing.T) {
	t.Parallel()
	s := asyncSite(t, 2)
	s.write("roster", read(t, s.path("roster"))+"here: {connection: local}\n")
	s.write("salt/slow.sls", "sleepy:\n  cmd.run:\n    - name: sleep 3\n")
	s.write("salt/orch.sls", `
apply:
  salt.state:
    - tgt: 'web*'
    - sls: slow
    - asynchronous: True
call:
  salt.function:
    - name: test.echo
    - arg: [hello]
    - tgt: web1
    - asynchronous: True
both:
  salt.function:
    - name: test.ping
    - tgt: web1
    - asynchronous: True
    - batch: 1
local:
  salt.function:
    - name: cmd.run
    - tgt: '*'
    - arg: ['while [ ! -e `+s.path("after")+` ]; do sleep 0.1; done; echo it goes on']
    - asynchronous: True
after:
  file.managed:
    - name: `+s.path("after")+`
`)
	r := s.brine("orchestrate", "orch", "--out=json")
	s.want(r, 1, `"State submitted successfully."`, `"Function submitted successfully."`, "asynchronous conflicts with batch: they cannot be used at the same time")
	if strings.Contains(r.stdout, "It was not started on") {
		t.Errorf("stdout: %s", r.stdout)
	}
	jid := jidRE.FindString(r.stdout[strings.Index(r.stdout, "salt_|-local"):])
	for _, id := range []string{"here", "web1", "web2"} {
		s.until(`"`+id+`": "it goes on"`, "run", "jobs.lookup_jid", jid, "--out=json")
	}
	for step, want := range map[string]string{"salt_|-apply": "Succeeded: 1", "salt_|-call": "hello"} {
		jid := jidRE.FindString(r.stdout[strings.Index(r.stdout, step):])
		s.until(want, "run", "jobs.lookup_jid", jid)
	}
}

// TestPauseStatesOfAgents: a run that goes on inside agents waits and ends where
// the controller, or somebody on the target, says so.
func TestPauseStatesOfAgents(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := asyncSite(t, 2)
	s.write("salt/long.sls", `
first:
  cmd.run:
    - name: while [ ! -e `+s.path("go")+` ]; do sleep 0.1; done
second:
  cmd.run:
    - name: touch `+s.path("second")+`-{{ grains['id'] }}
third:
  cmd.run:
    - name: touch `+s.path("third")+`-{{ grains['id'] }}
`)
	s.want(s.brine("ssh", "*", "test.ping"), 0)
	jid := "20261121093205123450"
	p := s.start("ssh", "*", "state.apply", "long", "--jid", jid, "--static")
	s.until(jid, "ssh", "web2", "saltutil.find_job", jid)
	// The controller knows of the first wish, the target alone of the second.
	s.want(s.brine("run", "state.pause", jid, "second"), 0)
	s.want(s.brine("ssh", "web1", "state.soft_kill", jid, "third"), 0)
	time.Sleep(6 * time.Second) // the agents are told of it by the way
	s.write("go", "")
	time.Sleep(time.Second)
	if names, _ := filepath.Glob(s.path("second-*")); len(names) > 0 {
		t.Errorf("a state that was to wait ran: %v", names)
	}
	s.want(s.brine("run", "state.resume", jid, "second"), 0)
	s.want(p.end(t), 20, "second")
	for f, want := range map[string]int{"second-*": 2, "third-*": 0} {
		if names, _ := filepath.Glob(s.path(f)); len(names) != want {
			t.Errorf("%s: %v, want %d", f, names, want)
		}
	}
}

// TestFindJobIsSeen: the question to a silent target is an event that other
// terminals see.
func TestFindJobIsSeen(t *testing.T) {
	t.Parallel()
	s := asyncSite(t, 1)
	s.want(s.brine("ssh", "web1", "test.ping"), 0)
	jid := "20261121093205123451"
	// Other tests of this user fire events, too.
	w := s.start("run", "state.event", "salt/job/*", "timeout=100")
	heard := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(w.out.String()) }
	for i := 0; i < 100 && !heard("salt/job/probe-"+jid); i++ {
		s.want(s.brine("run", "event.send", "salt/job/probe-"+jid), 0)
	}
	command := "while [ ! -e " + s.path("go") + " ]; do sleep 0.1; done; echo back"
	p := s.start("ssh", "web1", "cmd.run", command, "--timeout", "1", "--jid", jid)
	for i := 0; i < 3000 && !heard(`/ret/web1.*saltutil\.find_job.*`+jid); i++ {
		time.Sleep(10 * time.Millisecond)
	}
	s.write("go", "")
	s.want(p.end(t), 0, "back")
	for i := 0; i < 3000 && !heard(jid+`/ret/web1.*"return": "back"`); i++ {
		time.Sleep(10 * time.Millisecond)
	}
	_ = w.Process.Signal(syscall.SIGINT)
	r := w.end(t)
	var lines []string
	for line := range strings.SplitSeq(r.stdout, "\n") {
		if strings.Contains(line, jid) && !strings.Contains(line, "probe-") {
			lines = append(lines, line)
		}
	}
	if len(lines) < 4 {
		t.Fatalf("%d events: %s%s", len(lines), r.stdout, r.stderr)
	}
	lines = append(lines[:3:3], lines[len(lines)-1]) // a slow machine was asked again
	for i, want := range [][]string{
		{"salt/job/" + jid + "/new", `"fun": "cmd.run"`},
		{"/new", `"fun": "saltutil.find_job"`, `"tgt_type": "list"`, `"arg": ["` + jid + `"]`, `"minions": ["web1"]`},
		{"/ret/web1", `"fun": "saltutil.find_job"`, `"return": {"jid": "` + jid + `", "fun": "cmd.run", "arg": ["` + command + `"], "tgt": "web1"`, `"pid": `},
		{"salt/job/" + jid + "/ret/web1", `"return": "back"`},
	} {
		for _, text := range want {
			if !strings.Contains(lines[i], text) {
				t.Errorf("event %d has no %q: %s", i, text, lines[i])
			}
		}
	}
	if r := s.brine("run", "jobs.list_jobs", "--out=json"); strings.Contains(r.stdout, "find_job") {
		t.Errorf("the question is among the jobs: %s", r.stdout)
	}
}

// TestAsyncLookedUpAtOnce: many look-ups of one job lose no return, and none says
// that one was lost.
func TestAsyncLookedUpAtOnce(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := asyncSite(t, 12)
	jid := s.async("*", "test.echo", "hello")
	lookups := make([]*process, 6)
	for i := range lookups {
		lookups[i] = s.start("run", "jobs.lookup_jid", jid, "--out=json")
	}
	for _, p := range lookups {
		if r := p.end(t); r.exit != 0 || strings.Contains(r.stderr, "lost") || strings.Contains(r.stderr, "cannot be asked") {
			t.Errorf("exit status %d: %s%s", r.exit, r.stdout, r.stderr)
		}
	}
	s.until(`"web12": true`, "run", "jobs.exit_success", jid, "--out=json")
	r := s.brine("run", "jobs.print_job", jid, "--out=json")
	if n := strings.Count(r.stdout, `"return": "hello"`); n != 12 || strings.Contains(r.stdout, "Status") {
		t.Errorf("%d returns, want 12: %s%s", n, r.stdout, r.stderr)
	}
	if left := s.left(); len(left) > 0 {
		t.Errorf("what was fetched is still there: %v", left)
	}
}

// TestInterruptedStatesOfAgents: after the first Ctrl-C an agent begins no
// further state, and what was done is reported.
func TestInterruptedStatesOfAgents(t *testing.T) {
	t.Parallel()
	s := asyncSite(t, 1)
	s.write("salt/two.sls", `
first:
  cmd.run:
    - name: touch `+s.path("begun")+`; while [ ! -e `+s.path("go")+` ]; do sleep 0.1; done
second:
  cmd.run:
    - name: touch `+s.path("second")+`
`)
	s.want(s.brine("ssh", "web1", "test.ping"), 0)
	p := s.start("ssh", "web1", "state.apply", "two")
	awaitFile(t, s.path("begun"))
	_ = p.Process.Signal(syscall.SIGINT)
	for i := 0; i < 3000 && !strings.Contains(p.errs.String(), "jobs.lookup_jid"); i++ {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(6 * time.Second) // the agent is told of it by the way
	s.write("go", "")
	r := p.end(t)
	if r.exit == 0 || !strings.Contains(r.stdout, "first") {
		t.Errorf("exit status %d: %s%s", r.exit, r.stdout, r.stderr)
	}
	if _, err := os.Stat(s.path("second")); err == nil {
		t.Error("a state began after Ctrl-C")
	}
}

// TestAsyncReturns: what a job that nobody waits for returned reaches the
// returner that it was begun with, once, when it is fetched.
func TestAsyncReturns(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := asyncSite(t, 2)
	s.write("master", read(t, s.path("master"))+
		"rawfile_json.filename: "+s.path("main.log")+"\nother.rawfile_json: {filename: "+s.path("other.log")+"}\n")
	lines := func(name string) []string {
		b, _ := os.ReadFile(s.path(name))
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
	for _, tt := range []struct {
		file string
		args []string
	}{
		{"main.log", nil},
		{"other.log", []string{"--return_config", "other"}},
		{"kw.log", []string{"--return_kwargs", "{filename: " + s.path("kw.log") + "}"}},
	} {
		jid := s.async(append([]string{"*", "cmd.run", "echo said", "--return", "rawfile_json"}, tt.args...)...)
		for range 2 {
			s.until("web2:\n    said", "run", "jobs.lookup_jid", jid)
			s.until("web1:\n    said", "run", "jobs.lookup_jid", jid)
		}
		got := lines(tt.file)
		if len(got) != 2 || !strings.Contains(got[0], jid) || !strings.Contains(got[1], `"return":"said"`) {
			t.Errorf("%s: %q", tt.file, got)
		}
	}
	// In an orchestration the step's own.
	s.write("salt/orch.sls", "go:\n  salt.function:\n    - name: cmd.run\n    - tgt: web1\n    - arg: [echo step]\n    - asynchronous: True\n    - ret: rawfile_json\n    - ret_kwargs: {filename: "+s.path("step.log")+"}\n")
	r := s.brine("orchestrate", "orch", "--out=json")
	s.want(r, 0)
	jid := regexp.MustCompile(`"jid": "([0-9]{20})"`).FindStringSubmatch(r.stdout)
	if jid == nil {
		t.Fatalf("no jid: %s", r.stdout)
	}
	s.until("step", "run", "jobs.lookup_jid", jid[1])
	if got := lines("step.log"); len(got) != 1 || !strings.Contains(got[0], `"return":"step"`) {
		t.Errorf("step.log: %q", got)
	}
	// A secret is not written down, so who fetches the return cannot know it.
	r = s.brine("ssh", "web1", "test.ping", "--async", "--return", "redis", "--return_kwargs", "{host: 127.0.0.1, password: s3cr3t}")
	s.want(r, 0, "what the job returns does not reach redis: ret_kwargs has a secret")
	if r := s.until("True", "run", "jobs.lookup_jid", jidRE.FindString(r.stdout)); strings.Contains(r.stderr, "redis") {
		t.Errorf("it was sent somewhere: %s", r.stderr)
	}
	if out, err := exec.Command("grep", "-r", "s3cr3t", s.path("cache")).CombinedOutput(); err == nil {
		t.Errorf("the secret is in the cache: %s", out)
	}
}

// TestPauseDetached: the controller reaches a job that nobody waits for.
func TestPauseDetached(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := asyncSite(t, 2)
	s.write("salt/long.sls", `
first:
  cmd.run:
    - name: while [ ! -e `+s.path("go")+` ]; do sleep 0.1; done
second:
  cmd.run:
    - name: touch `+s.path("second")+`-{{ grains['id'] }}
third:
  cmd.run:
    - name: touch `+s.path("third")+`-{{ grains['id'] }}
`)
	jid := s.async("*", "state.apply", "long")
	for _, id := range []string{"web1", "web2"} {
		s.until(jid, "ssh", id, "saltutil.find_job", jid)
	}
	s.want(s.brine("run", "state.pause", jid, "second"), 0, "None")
	s.want(s.brine("run", "state.soft_kill", jid, "third"), 0, "None")
	s.write("go", "")
	time.Sleep(time.Second)
	if names, _ := filepath.Glob(s.path("second-*")); len(names) > 0 {
		t.Errorf("a state that was to wait ran: %v", names)
	}
	s.want(s.brine("run", "state.resume", jid, "second"), 0, "None")
	for _, id := range []string{"web1", "web2"} {
		s.until(id+":", "run", "jobs.lookup_jid", jid)
	}
	for f, want := range map[string]int{"second-*": 2, "third-*": 0} {
		if names, _ := filepath.Glob(s.path(f)); len(names) != want {
			t.Errorf("%s: %v, want %d", f, names, want)
		}
	}
	if names, _ := filepath.Glob(filepath.Join(s.path("cache"), "state_pause", "*")); len(names) > 0 {
		t.Errorf("wishes are left: %v", names)
	}
	s.want(s.brine("run", "state.pause", jid), 0, "job "+jid+" has ended")
	s.want(s.brine("run", "state.pause", "20200101000000000000"), 0, "there is no job 20200101000000000000")
}
