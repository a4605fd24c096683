//go:build linux

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/queue"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/returner/sqldb"
	"brine/internal/py/value"
	"brine/internal/testkit/proxytest"
	"brine/internal/testkit/servertest"
	"brine/internal/testkit/turn"
)

// Two controllers work on one queue, and go on with what the other one did not end.
func TestQueueAcrossPostgres(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	testQueueAcross(t, "postgres", servertest.Postgres(t, schemaOf("postgres")))
}

// The same in a MariaDB.
func TestQueueAcrossMariaDB(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	testQueueAcross(t, "mysql", servertest.MariaDB(t, schemaOf("mysql")))
}

func testQueueAcross(t *testing.T, name string, srv *servertest.Server) {
	t.Run("chain", func(t *testing.T) { testQueueChain(t, name, srv) })
	t.Run("outage", func(t *testing.T) { testQueueOutage(t, name, srv) })
	t.Run("connections", func(t *testing.T) { testConnections(t, name, srv) })
	t.Run("turmoil", func(t *testing.T) { testQueueTurmoil(t, name, srv) })
}

// serverOpts is the configuration of a returner for a server of the tests.
func serverOpts(name string, port int) *value.Map {
	prefix := name + "."
	if name != "mysql" {
		prefix = "returner." + name + "."
	}
	return value.MapOf(prefix+"host", "127.0.0.1", prefix+"port", int64(port))
}

// cacheIn returns the configuration of a job cache in a server.
func cacheIn(name string, port int) string {
	settings := "master_job_cache: " + name + "\n"
	for k, v := range serverOpts(name, port).All() {
		settings += fmt.Sprintf("%s: %v\n", value.Str(k), v)
	}
	return settings
}

// queueIn opens the queue in the job cache of a server.
func queueIn(t *testing.T, name string, port int) *queue.Store {
	t.Helper()
	spec, _ := returner.Find(sqldb.Specs(), name)
	r, err := spec.New(t.Context(), returner.Settings{Spec: spec, Env: &fun.Env{Data: fun.Data{Opts: serverOpts(name, port)}}})
	if err != nil {
		t.Fatal(err)
	}
	q := r.(interface{ Queue() *queue.Store }).Queue()
	t.Cleanup(func() { _ = q.Close() })
	if err := q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return q
}

// expire ends the leases and makes the heartbeats old of all that died.
func expire(t *testing.T, name string, port int) {
	t.Helper()
	db, _, err := sqldb.Open(t.Context(), name, returner.Settings{Env: &fun.Env{Data: fun.Data{Opts: serverOpts(name, port)}}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	age(t, db)
	if _, err := db.Exec("UPDATE brine_queue SET due = 1 WHERE state = 'running'"); err != nil {
		t.Fatal(err)
	}
}

// unlocked has the controller take no locks: entries of one orchestration run at once.
func (s sharer) unlocked() {
	s.t.Helper()
	path := filepath.Join(s.own, "master")
	b, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(path, strings.Replace(string(b), "orchestrate_lock: True\n", "", 1))
}

// testQueueChain has one controller lose its database in the midst of a run and die,
// another one go on and die, and the first one take the entry again. Its own record has
// a step more than what the other one began with, and is not to be gone on with: that
// other run is. The entry ends, and no step runs again that none of the three was at.
func testQueueChain(t *testing.T, name string, srv *servertest.Server) {
	net := proxytest.Start(t, fmt.Sprintf("127.0.0.1:%d", srv.Port), proxytest.Options{})
	one, _ := sharers(t, cacheIn(name, net.Port()))
	_, two := sharers(t, cacheIn(name, srv.Port))
	var sls strings.Builder
	for i := 1; i <= 4; i++ {
		fmt.Fprintf(&sls, "step%d:\n  cmd.run:\n    - name: 'echo step%d >>%s/log; until test -e %s/gate%d; do sleep 0.02; done'\n", i, i, one.dir, one.dir, i)
	}
	for _, s := range []sharer{one, two} {
		s.write(filepath.Join(s.dir, "tree", "chain.sls"), sls.String())
		s.unlocked()
	}
	two.dir = one.dir
	gate := func(n int, open bool) {
		path := filepath.Join(one.dir, fmt.Sprint("gate", n))
		if open {
			one.write(path, "")
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	jid := jidOf.FindString(one.ends(0, "orchestrate", "chain", "--queue", "chain"))
	args := []string{"worker", "--queue", "chain", "--lease", "600", "--poll", "0.1", "--max-runs", "1"}
	begun := func(s sharer, step string, times int) (*exec.Cmd, *safeBuffer) {
		c, said := s.command(args...), &safeBuffer{}
		c.Stderr = said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill() })
		s.wait(step, func() bool { return one.log()[step] == times }, said)
		return c, said
	}
	kill := func(c *exec.Cmd) {
		_ = c.Process.Kill()
		_ = c.Wait()
	}

	gate(1, true)
	worker, said := begun(one, "step2", 1)
	net.Refuse(true)
	net.Reset()
	gate(2, true)
	gate(3, true)
	own := jobs.NewFiles(filepath.Join(one.own, "cache"), 0, time.Now)
	one.wait("the step in the record of its machine", func() bool {
		j, err := own.Job(t.Context(), jid)
		return err == nil && j != nil && j.Prefix() >= 2
	}, said)
	one.wait("the loss of the database", func() bool {
		return strings.Contains(said.String(), "the database that controllers share cannot be reached")
	}, said)
	kill(worker)
	gate(2, false)
	if got := one.log(); got["step3"] != 0 {
		t.Errorf("a step began whose predecessor no other controller knows: %v\n%s", got, said)
	}

	expire(t, name, srv.Port)
	worker, said = begun(two, "step2", 2)
	runs := childrenOf(t, worker.Process.Pid)
	kill(worker)
	// Else it may come to the end of its step, which then need not run again.
	two.wait("the end of its run", func() bool { return !slices.ContainsFunc(runs, aliveProcess) }, said)

	net.Refuse(false)
	gate(2, true)
	gate(4, true)
	expire(t, name, srv.Port)
	args[len(args)-1] = "3" // should a run have to wait for another one to end
	args = append(args, "--drain-empty")
	one.says(0, []string{jid + ": state.orchestrate chain, queued by ", "chain is done"}, args...)
	if got := one.log(); got["step1"] != 1 || got["step2"] != 3 || got["step3"] != 1 || got["step4"] != 1 {
		t.Errorf("steps ran %v: the one that was under way each time runs again, and no other", got)
	}
	two.says(0, []string{"done", "ctl1/"}, "run", "queue.show", jid)
	two.says(0, nil, "run", "jobs.active")
	if out := two.ends(0, "run", "jobs.active"); strings.Contains(out, "interrupted") {
		t.Errorf("what was gone on with is told of as interrupted:\n%s", out)
	}
}

// childrenOf returns the pids of the children of a process.
func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, file := range files {
		for word := range strings.FieldsSeq(read(t, file)) {
			n, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		t.Fatalf("process %d has no children", pid)
	}
	return out
}

// aliveProcess reports whether a process runs. One that nobody has waited for does not.
func aliveProcess(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// A turmoil is two controllers with workers of a queue in a server, all of which are
// killed at random.
type turmoil struct {
	t     *testing.T
	name  string
	srv   *servertest.Server
	rnd   *rand.Rand
	ctl   [2]sharer
	procs [4]*exec.Cmd
	said  [4]*safeBuffer
	q     *queue.Store
}

// start starts a worker; two belong to each controller.
func (x *turmoil) start(i int) {
	x.t.Helper()
	c := x.ctl[i%2].command("worker", "--queue", "turmoil", "--lease", "10", "--poll", "0.1", "--max-crashes", "1000")
	if x.said[i] == nil {
		x.said[i] = &safeBuffer{}
	}
	c.Stderr = x.said[i]
	if err := c.Start(); err != nil {
		x.t.Fatal(err)
	}
	x.procs[i] = c
}

// kill kills a worker.
func (x *turmoil) kill(i int) {
	_ = x.procs[i].Process.Kill()
	_ = x.procs[i].Wait()
}

// ended returns how many entries are done, and which ended otherwise. Nothing is known
// while the server is away.
func (x *turmoil) ended() (done int, bad []string) {
	all, err := x.q.List(x.t.Context(), queue.Query{Queue: "turmoil"})
	if err != nil {
		return 0, nil
	}
	for _, e := range all {
		switch e.State {
		case queue.Done:
			done++
		case queue.Queued, queue.Running:
		default:
			bad = append(bad, fmt.Sprintf("%s is %s: %s", e.JID, e.State, e.Error))
		}
	}
	return done, bad
}

const turmoilSteps = 4

// testQueueTurmoil kills workers of two controllers and their database at random while
// they run the entries of a queue. Each entry ends, none is failed, and no step runs
// again but the one that a run was at when it ended.
func testQueueTurmoil(t *testing.T, name string, srv *servertest.Server) {
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("BRINE_TEST_SEED"), 10, 64); err == nil {
		seed = n
	}
	runs := soakCount(8, 200)
	t.Logf("%s: BRINE_TEST_SEED=%d", name, seed)
	x := &turmoil{t: t, name: name, srv: srv, rnd: rand.New(rand.NewPCG(seed, 0)), q: queueIn(t, name, srv.Port)}
	x.ctl[0], x.ctl[1] = sharers(t, cacheIn(name, srv.Port))
	dir := x.ctl[0].dir
	var sls strings.Builder
	for i := range turmoilSteps {
		fmt.Fprintf(&sls, "step%d:\n  cmd.run: [{name: 'sleep 0.2; echo {{ pillar.n }} %d $PPID >>%s/log'}]\n", i, i, dir)
	}
	x.ctl[0].write(filepath.Join(dir, "tree", "turmoil.sls"), sls.String())
	for _, s := range x.ctl {
		s.unlocked()
	}
	var ids jobs.JIDs
	for n := range runs {
		e := &queue.Entry{
			JID: ids.Next(time.Now()), Queue: "turmoil", User: "zoe", Controller: "ctl",
			Work: &queue.Work{Args: []value.Value{"turmoil"}, Kwargs: value.MapOf("pillar", value.MapOf("n", int64(n)))},
		}
		if err := x.q.Put(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for i := range x.procs {
			x.kill(i)
			if t.Failed() {
				t.Logf("worker %d of %s:\n%s", i, x.ctl[i%2].own, x.said[i])
			}
		}
	})
	for i := range x.procs {
		x.start(i)
	}
	begin := time.Now()
	kills, outages, long := 0, 0, 0
	most := runs/2 + 2 // of each, so that what is left can end
	pause := func(least, most time.Duration) { time.Sleep(least + time.Duration(x.rnd.Int64N(int64(most-least)))) }
	for {
		done, bad := x.ended()
		if len(bad) > 0 {
			t.Fatalf("entries that nobody runs again: %s", strings.Join(bad, "; "))
		}
		if done == runs {
			break
		}
		if time.Since(begin) > 5*time.Minute+time.Duration(runs)*15*time.Second {
			t.Fatalf("%d of %d entries have ended after %s", done, runs, time.Since(begin))
		}
		pause(100*time.Millisecond, 1500*time.Millisecond)
		switch p := x.rnd.IntN(10); {
		case p < 5 && kills < most:
			i := x.rnd.IntN(len(x.procs))
			x.kill(i)
			kills++
			x.start(i)
		case p < 8 && outages < most:
			x.srv.Stop()
			outages++
			down := 2 * time.Second
			if x.rnd.IntN(4) == 0 { // long enough for runs to be ended by their workers
				down = 12 * time.Second
				long++
			}
			pause(down/10, down)
			if x.rnd.IntN(2) == 0 && kills < most {
				i := x.rnd.IntN(len(x.procs))
				x.kill(i)
				kills++
				x.start(i)
			}
			pause(down/10, down)
			x.srv.Start(t)
		}
	}
	took := time.Since(begin).Round(time.Second)
	twice := x.judge(runs)
	t.Logf("%s: %d entries of %d steps ended in %s, with %d kills of workers and %d of the database, %d of them for long: %d steps that were under way ran twice", name, runs, turmoilSteps, took, kills, outages, long, twice)
	if twice > kills+len(x.procs)*outages {
		t.Errorf("%d steps ran twice", twice)
	}
}

// judge looks at the log of the steps, and returns how many ran again because a run was
// at them when it ended.
func (x *turmoil) judge(runs int) (twice int) {
	x.t.Helper()
	type line struct{ step, run int }
	log := make([][]line, runs)
	b, err := os.ReadFile(filepath.Join(x.ctl[0].dir, "log"))
	if err != nil {
		x.t.Fatal(err)
	}
	for text := range strings.Lines(string(b)) {
		var n int
		var l line
		if _, err := fmt.Sscan(text, &n, &l.step, &l.run); err != nil || n >= runs {
			x.t.Fatalf("a line of the log is %q", text)
		}
		log[n] = append(log[n], l)
	}
	for n, lines := range log {
		next := 0
		for i, l := range lines {
			again := i > 0 && l.step == next-1 && l.run != lines[i-1].run
			if again {
				twice++
			}
			if l.step != next && !again {
				x.t.Errorf("entry %d ran its steps in the order %v (step, process)", n, lines)
				break
			}
			next = l.step + 1
		}
		if next != turmoilSteps {
			x.t.Errorf("entry %d is done and ran %v", n, lines)
		}
	}
	return twice
}
