//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// The chaos run: while an orchestration works on fifty targets, sshd's
// children, agents and connections are killed at random. Afterwards each target
// has one result for each step, what was reported done is done and was done
// once, and nothing is left behind.
//
// BRINE_CHAOS_SEED repeats the choices of a run (not their moments), and
// BRINE_CHAOS_ROUNDS asks for more than one: see make soak.

// chaosTargets and chaosKills are the size of a round.
const (
	chaosTargets = 50
	chaosKills   = 50
	chaosLimit   = 110 * time.Second // of a round; it takes a few seconds
)

// cutter is the way to the sshd: a proxy whose connections can be cut.
type cutter struct {
	ln net.Listener
	to int

	mu    sync.Mutex
	conns []*net.TCPConn
	wg    sync.WaitGroup
}

// newCutter returns a proxy to a port of the host that was dialled.
func newCutter(t *testing.T, to int) *cutter {
	t.Helper()
	ln, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{ln: ln, to: to}
	c.wg.Add(1)
	go c.accept()
	t.Cleanup(func() {
		ln.Close()
		for c.cut(0) {
		}
		c.wg.Wait()
	})
	return c
}

func (c *cutter) port() int { return c.ln.Addr().(*net.TCPAddr).Port }

func (c *cutter) accept() {
	defer c.wg.Done()
	for {
		in, err := c.ln.Accept()
		if err != nil {
			return
		}
		host := in.LocalAddr().(*net.TCPAddr).IP.String()
		out, err := net.Dial("tcp4", net.JoinHostPort(host, strconv.Itoa(c.to)))
		if err != nil {
			in.Close()
			continue
		}
		a, b := in.(*net.TCPConn), out.(*net.TCPConn)
		c.mu.Lock()
		c.conns = append(c.conns, a)
		c.mu.Unlock()
		c.wg.Add(2)
		pipe := func(to, from *net.TCPConn) {
			defer c.wg.Done()
			_, _ = io.Copy(to, from)
			to.Close()
			from.Close()
			c.forget(a)
		}
		go pipe(a, b)
		go pipe(b, a)
	}
}

func (c *cutter) forget(a *net.TCPConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = slices.DeleteFunc(c.conns, func(x *net.TCPConn) bool { return x == a })
}

// cut resets the n-th of the connections; false where there are none.
func (c *cutter) cut(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.conns) == 0 {
		return false
	}
	i := n % len(c.conns)
	_ = c.conns[i].SetLinger(0)
	c.conns[i].Close()
	c.conns = slices.Delete(c.conns, i, i+1)
	return true
}

// proc is a process of this machine.
type proc struct {
	pid, ppid int
	args      string
}

// processes returns those whose environment has a variable, NAME=value, or
// whose parent is a pid.
func processes(env string, parent int) (with, children []proc) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		stat, err := os.ReadFile(d + "/stat")
		if err != nil {
			continue
		}
		// The name may have blanks and parentheses.
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) < 2 || f[0] == "Z" {
			continue
		}
		p := proc{}
		p.pid, _ = strconv.Atoi(filepath.Base(d))
		p.ppid, _ = strconv.Atoi(f[1])
		args, _ := os.ReadFile(d + "/cmdline")
		p.args = strings.TrimSpace(strings.ReplaceAll(string(args), "\x00", " "))
		if p.ppid == parent {
			children = append(children, p)
		}
		vars, _ := os.ReadFile(d + "/environ")
		if slices.Contains(strings.Split(string(vars), "\x00"), env) {
			with = append(with, p)
		}
	}
	return with, children
}

func isAgent(p proc) bool {
	return strings.Contains(p.args, "/brine-") && strings.HasSuffix(p.args, " agent")
}

// A monkey kills.
type monkey struct {
	s     *site
	c     *cutter
	rnd   *rand.Rand
	kills map[string]int
}

// once kills something, where there is something to kill.
func (m *monkey) once() {
	what, n := m.rnd.IntN(3), m.rnd.IntN(1<<20)
	with, children := processes("HOME="+m.s.sshd.Home, m.s.sshd.PID)
	kill := func(name string, ps []proc) {
		if len(ps) > 0 && syscall.Kill(ps[n%len(ps)].pid, syscall.SIGKILL) == nil {
			m.kills[name]++
		}
	}
	switch what {
	case 0:
		kill("sshd's children", children)
	case 1:
		kill("agents", slices.DeleteFunc(with, func(p proc) bool { return !isAgent(p) }))
	case 2:
		if m.c.cut(n) {
			m.kills["connections"]++
		}
	}
}

// run kills, one after the other, until stop is closed.
func (m *monkey) run(stop <-chan struct{}) {
	for range chaosKills {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(20+m.rnd.IntN(120)) * time.Millisecond):
		}
		m.once()
	}
}

const chaosSLS = `
{% set d = pillar.out ~ '/' ~ grains.id %}
first:
  file.managed: [{name: {{ d }}/first-{{ pillar.step }}, contents: 'first {{ pillar.step }}', makedirs: True}]
count:
  cmd.run: [{name: 'echo {{ pillar.step }} >>{{ d }}/count; sleep 0.{{ range(1, 9) | random }}'}]
log:
  file.append: [{name: {{ d }}/log, text: 'log {{ pillar.step }}'}]
wait:
  cmd.run: [{name: 'sleep 0.{{ range(1, 9) | random }}'}]
last:
  file.managed: [{name: {{ d }}/last-{{ pillar.step }}, contents: '{{ 'x' * 20000 }}'}]
`

func TestChaos(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	rounds := 1
	if n, err := strconv.Atoi(os.Getenv("BRINE_CHAOS_ROUNDS")); err == nil {
		rounds = n
	}
	seed := rand.Uint64()
	if n, err := strconv.ParseUint(os.Getenv("BRINE_CHAOS_SEED"), 10, 64); err == nil {
		seed = n
	}
	for i := range rounds {
		seed := seed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { chaos(t, seed) })
	}
}

func chaos(t *testing.T, seed uint64) {
	t.Logf("BRINE_CHAOS_SEED=%d repeats this run", seed)
	s := newSite(t, sshtest.Options{})
	cut := newCutter(t, s.sshd.Port)
	out := t.TempDir()
	s.write("home/.ssh/known_hosts", read(t, s.sshd.KnownHosts)+
		fmt.Sprintf("[127.*]:%d %s", cut.port(), ssh.MarshalAuthorizedKey(s.sshd.HostKey)))
	var roster strings.Builder
	ids := make([]string, chaosTargets)
	for i, addr := range s.sshd.Hosts(chaosTargets) {
		ids[i] = fmt.Sprintf("web%02d", i+1)
		fmt.Fprintf(&roster, "%s: {host: %s, port: %d}\n", ids[i], addr, cut.port())
	}
	s.write("roster", roster.String())
	s.write("salt/chaos.sls", chaosSLS)
	steps := []string{"one", "two", "three"}
	orch := ""
	for _, step := range steps {
		orch += fmt.Sprintf("%s:\n  salt.state: [{tgt: '*', sls: chaos, pillar: {step: %s, out: %s}}]\n", step, step, out)
		orch += fmt.Sprintf("ping-%s:\n  salt.function: [{name: test.ping, tgt: '*'}]\n", step)
	}
	s.write("salt/orch.sls", orch)
	s.want(s.brine("ssh", ids[0], "test.ping"), 0) // the agent is placed, in the home of all

	// The end of an agent that lost its controller is waited for below.
	s.write("master", read(t, s.path("master"))+"ssh_reconnect: 25\n")
	m := &monkey{s: s, c: cut, rnd: rand.New(rand.NewPCG(seed, 0)), kills: map[string]int{}}
	p := s.start("orchestrate", "orch", "--out=json")
	bound := time.AfterFunc(chaosLimit, func() { _ = p.Process.Signal(syscall.SIGQUIT) })
	defer bound.Stop()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		m.run(stop)
	}()
	r := p.end(t)
	close(stop)
	<-stopped
	t.Logf("killed %v", m.kills)
	if r.exit != 0 && r.exit != 1 {
		t.Fatalf("exit status %d\n%s", r.exit, lastLines(r.stderr, 60))
	}

	doc := s.decode(r)
	lost := 0
	for _, step := range steps {
		ret := dig(doc, "data", "", "salt_|-"+step+"_|-"+step+"_|-state", "changes", "ret")
		pings := dig(doc, "data", "", "salt_|-ping-"+step+"_|-test.ping_|-function", "changes", "ret")
		if len(ret) != len(ids) || len(pings) != len(ids) {
			t.Errorf("step %s: results of %d and %d targets, want %d", step, len(ret), len(pings), len(ids))
		}
		for _, id := range ids {
			states, ok := ret[id].(map[string]any)
			if !ok && ret[id] != false {
				t.Errorf("step %s: %s: %v", step, id, ret[id])
			}
			if !ok || states["no_|-return_|-return_|-None"] != nil {
				lost++
			}
			checkDone(t, out, step, id, states)
		}
	}
	t.Logf("%d of %d runs were lost", lost, len(steps)*len(ids))
	s.checkRecords(ids)
	s.checkNothingLeft(out, m.kills["agents"])
}

// checkDone checks that what was reported done is done, and done once.
func checkDone(t *testing.T, out, step, id string, states map[string]any) {
	t.Helper()
	done := func(name string) bool {
		for tag, v := range states {
			if st, ok := v.(map[string]any); ok && strings.Contains(tag, "_|-"+name+"_|-") {
				if st["result"] == false {
					t.Errorf("step %s: %s: state %s failed: %v", step, id, name, st["comment"])
				}
				return st["result"] == true
			}
		}
		return false
	}
	text := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(out, id, name))
		return string(b)
	}
	times := func(name, line string) int {
		return strings.Count("\n"+text(name), "\n"+line+"\n")
	}
	if done("first") && text("first-"+step) != "first "+step+"\n" {
		t.Errorf("step %s: %s: the first file is %q", step, id, text("first-"+step))
	}
	if done("last") && text("last-"+step) != strings.Repeat("x", 20000)+"\n" {
		t.Errorf("step %s: %s: the last file has %d bytes", step, id, len(text("last-"+step)))
	}
	for _, x := range [][3]string{{"count", "count", step}, {"log", "log", "log " + step}} {
		n := times(x[1], x[2])
		if n > 1 || n == 0 && done(x[0]) {
			t.Errorf("step %s: %s: %s was done %d times", step, id, x[0], n)
		}
	}
}

// checkRecords checks that each job on targets has one record for each.
func (s *site) checkRecords(ids []string) {
	s.t.Helper()
	files, _ := filepath.Glob(s.path("cache/jobs/*/*.job"))
	jobs := 0
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			s.t.Fatal(err)
		}
		defer f.Close()
		records, ended, ours := map[string]int{}, false, false
		sc := bufio.NewScanner(f)
		sc.Buffer(nil, 64<<20)
		for sc.Scan() {
			var line struct {
				ID   string
				End  string
				Load struct{ Minions []string }
			}
			if err := json.Unmarshal(sc.Bytes(), &line); err != nil {
				s.t.Errorf("%s: %v", path, err)
			}
			ours = ours || len(line.Load.Minions) == len(ids)
			ended = ended || line.End != ""
			if line.ID != "" {
				records[line.ID]++
			}
		}
		if !ours {
			continue
		}
		jobs++
		for _, id := range ids {
			if records[id] != 1 {
				s.t.Errorf("job %s has %d records of %s", filepath.Base(path), records[id], id)
			}
		}
		if len(records) != len(ids) || !ended {
			s.t.Errorf("job %s: records of %d targets, ended: %v", filepath.Base(path), len(records), ended)
		}
	}
	if jobs != 6 {
		s.t.Errorf("%d jobs on all targets are recorded, want 6", jobs)
	}
}

// checkNothingLeft checks that no process and no file but the agent's own is
// left on the targets. Agents that were killed could not tidy up: each may have
// left a file that it was about to put in place, or, where the file system has
// no files without a name, that it had begun to write.
func (s *site) checkNothingLeft(out string, killed int) {
	s.t.Helper()
	var with, children []proc
	for end := time.Now().Add(time.Minute); ; {
		with, children = processes("HOME="+s.sshd.Home, s.sshd.PID)
		if len(with)+len(children) == 0 {
			break
		}
		if time.Now().After(end) {
			s.t.Errorf("processes are left: %v %v", with, children)
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	allowed := map[string]bool{"count": true, "log": true}
	for _, step := range []string{"one", "two", "three"} {
		allowed["first-"+step], allowed["last-"+step] = true, true
	}
	begun := 0
	_ = filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir() || allowed[d.Name()]:
		case strings.HasPrefix(d.Name(), ".brine-") && begun < killed:
			begun++
			s.t.Logf("a killed agent left %s", path)
		default:
			s.t.Errorf("left among the targets' files: %s", path)
		}
		return err
	})
	_ = filepath.WalkDir(s.sshd.Home, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(s.sshd.Home, path)
		dir := ".cache/brine/agent"
		switch {
		case err != nil:
			return err
		case d.IsDir() && (rel == "." || strings.HasPrefix(dir, rel)):
		case d.IsDir() && rel == dir+"/cache":
			return filepath.SkipDir // files that later runs need not fetch
		case strings.HasPrefix(rel, dir+"/brine-"):
		default:
			s.t.Errorf("left in the home: %s", rel)
		}
		return nil
	})
}
