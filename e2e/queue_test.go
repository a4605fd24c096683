//go:build linux

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/queue"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/returner/sqldb"
	"brine/internal/fleet/shared"
	"brine/internal/py/value"
	"brine/internal/testkit/natstest"
	"brine/internal/testkit/servertest"
	"brine/internal/testkit/turn"
)

// A queueTree is a controller with a queue in a database.
type queueTree struct {
	loadTree
	name string // of the queue
	q    *queue.Store
	ids  jobs.JIDs
	env  []string // of the workers that start, besides the usual
}

// newQueueTree makes a controller with a queue of a name, which is in a database.
func newQueueTree(t *testing.T, name, store string, port int, sls string) *queueTree {
	t.Helper()
	d := &queueTree{name: name, loadTree: newLoadTree(t, 1, map[string]string{"orch.sls": sls})}
	set := value.MapOf("host", "127.0.0.1", "user", "salt", "pass", "salt", "db", "salt", "port", int64(port))
	if store == "sqlite3" {
		set = value.MapOf("database", filepath.Join(d.dir, "queue.db"), "timeout", int64(60))
	}
	opts := set.Copy()
	opts.Set("store", store)
	f, err := os.OpenFile(filepath.Join(d.dir, "master"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(f, "queue: %s\n", value.EncodeJSON(opts)); err != nil {
		t.Fatal(err)
	}
	f.Close()
	spec, _ := returner.Find(sqldb.Specs(), store)
	r, err := spec.New(t.Context(), returner.Settings{Spec: spec, Kwargs: set, Env: &fun.Env{Data: fun.Data{Opts: value.NewMap(0)}}})
	if err != nil {
		t.Fatal(err)
	}
	d.q = r.(interface{ Queue() *queue.Store }).Queue()
	t.Cleanup(func() { _ = d.q.Close() })
	if err := d.q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// put queues n orchestrations, whose pillar has their number.
func (d *queueTree) put(t *testing.T, n int) []string {
	t.Helper()
	var out []string
	for i := range n {
		e := &queue.Entry{
			JID: d.ids.Next(time.Now()), Queue: d.name, User: "zoe", Controller: "ctl",
			Work: &queue.Work{Args: []value.Value{"orch"}, Kwargs: value.MapOf("pillar", value.MapOf("n", int64(i)))},
		}
		if err := d.q.Put(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e.JID)
	}
	return out
}

// A queueWorker is a process of brine worker.
type queueWorker struct {
	cmd   *exec.Cmd
	said  string // file of what it printed
	ended chan struct{}
}

func (d *queueTree) worker(t *testing.T, args ...string) *queueWorker {
	t.Helper()
	return d.workerIn(t, "", args...)
}

// workerIn starts a worker whose sockets are in a directory; "": in that of the tree.
func (d *queueTree) workerIn(t *testing.T, runDir string, args ...string) *queueWorker {
	t.Helper()
	c := d.command(t)
	if c.Env = append(c.Env, d.env...); len(d.env) > 0 {
		c.Path = self() // which reads them
	}
	if runDir != "" {
		c.Env = append(c.Env, "BRINE_RUN_DIR="+runDir)
	}
	c.Args = append([]string{c.Args[0], "worker", "--queue", d.name, "-c", d.dir, "--poll", "0.1", "--lease", "10"}, args...)
	said, err := os.CreateTemp(d.dir, "worker-")
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	w := &queueWorker{cmd: c, said: said.Name(), ended: make(chan struct{})}
	c.Stderr = said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.ended)
		_ = c.Wait()
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-w.ended
		if t.Failed() {
			t.Logf("worker %d: %v\n%s", c.Process.Pid, c.ProcessState, w.says())
		}
	})
	return w
}

func (w *queueWorker) says() string {
	b, _ := os.ReadFile(w.said)
	return string(b)
}

// until waits until a condition of the queue holds.
func (d *queueTree) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			counts, err := d.q.Stats(context.Background(), "")
			t.Fatalf("waited in vain until %s; the queue has %v, %v", what, counts, err)
		}
	}
}

// count returns how many entries have a state.
func (d *queueTree) count(t *testing.T, state string) (n int) {
	t.Helper()
	counts, err := d.q.Stats(t.Context(), d.name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counts {
		if c.State == state {
			n = c.N
		}
	}
	return n
}

// log returns how often each line is in the log of the steps.
func (d *queueTree) log(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	b, _ := os.ReadFile(filepath.Join(d.dir, "log"))
	for line := range strings.Lines(string(b)) {
		out[strings.TrimSpace(line)]++
	}
	return out
}

// Workers share a queue evenly, and each orchestration runs once.
func testQueueShared(t *testing.T, store string, port int) {
	t.Helper()
	const workers = 4
	runs := soakCount(40, 1000)
	d := newQueueTree(t, "shared", store, port, "one:\n  cmd.run: [{name: 'echo one-{{ pillar.n }} >>{{ opts.config_dir }}/log'}]\n")
	var all []*queueWorker
	for range workers {
		all = append(all, d.worker(t))
	}
	for _, w := range all { // nobody begins before the others
		d.until(t, "a worker is ready", func() bool { return strings.Contains(w.says(), "takes orchestrations") })
	}
	begin := time.Now()
	want := d.put(t, runs)
	d.until(t, "all ran", func() bool { return d.count(t, queue.Done) == runs })
	took := time.Since(begin)
	shares := map[string]int{}
	for _, jid := range want {
		e, err := d.q.Entry(t.Context(), jid)
		if err != nil {
			t.Fatal(err)
		}
		shares[e.Worker]++
	}
	t.Logf("%s: %d workers ran %d orchestrations in %s: %v", store, workers, runs, took, shares)
	least := runs
	for _, n := range shares {
		least = min(least, n)
	}
	if len(shares) != workers || least < runs/workers/3 {
		t.Errorf("the shares of %d workers are %v", workers, shares)
	}
	log := d.log(t)
	for i := range runs {
		if n := log[fmt.Sprint("one-", i)]; n != 1 {
			t.Errorf("orchestration %d ran %d times", i, n)
		}
	}
}

// A worker that is killed loses no orchestration, and a step that succeeded does
// not run again. At most the step that was under way does.
func testQueueKilled(t *testing.T, store string, port int) {
	t.Helper()
	kills := soakCount(3, 50)
	runs := kills * 3
	d := newQueueTree(t, "killed", store, port, `
one:
  cmd.run: [{name: 'echo one-{{ pillar.n }} >>{{ opts.config_dir }}/log'}]
two:
  cmd.run: [{name: 'sleep 0.4; echo two-{{ pillar.n }} >>{{ opts.config_dir }}/log'}]
`)
	want := d.put(t, runs)
	byPID := map[int]*queueWorker{}
	start := func() {
		w := d.worker(t, "--max-crashes", "100")
		byPID[w.cmd.Process.Pid] = w
	}
	for range 3 {
		start()
	}
	for range kills {
		var w *queueWorker
		d.until(t, "a worker has an orchestration", func() bool {
			busy, err := d.q.Workers(t.Context(), d.name)
			if err != nil {
				t.Fatal(err)
			}
			for name := range busy {
				pid, _ := strconv.Atoi(strings.Split(name, "/")[1])
				if w = byPID[pid]; w != nil {
					return true
				}
			}
			return d.count(t, queue.Done) == runs
		})
		if w == nil {
			break
		}
		time.Sleep(time.Duration(rand.Int64N(int64(300 * time.Millisecond)))) // anywhere in the run
		_ = w.cmd.Process.Kill()
		delete(byPID, w.cmd.Process.Pid)
		start()
	}
	d.until(t, "all ran", func() bool { return d.count(t, queue.Done) == runs })
	again, resumed := 0, 0
	log := d.log(t)
	for i, jid := range want {
		e, err := d.q.Entry(t.Context(), jid)
		if err != nil {
			t.Fatal(err)
		}
		if e.Tries > 1 {
			resumed++
		}
		for _, step := range []string{"one-", "two-"} {
			n := log[fmt.Sprint(step, i)]
			if n == 0 || n > e.Tries {
				t.Errorf("orchestration %s was tried %d times, and its step %s ran %d times", jid, e.Tries, step, n)
			}
			again += max(0, n-1)
		}
	}
	if again > kills {
		t.Errorf("%d steps ran twice, with %d kills", again, kills)
	}
	t.Logf("%s: %d kills: %d orchestrations of %d were taken up by another worker, %d steps that were under way ran twice", store, kills, resumed, runs, again)
}

func TestQueuePostgres(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	srv := servertest.Postgres(t, "")
	testQueueShared(t, "postgres", srv.Port)
	testEventBus(t, fmt.Sprintf("{host: 127.0.0.1, port: %d, user: salt, db: salt}", srv.Port))
	testReactPostgres(t, srv)
	if os.Getenv("BRINE_SOAK") != "" {
		testQueueKilled(t, "postgres", srv.Port)
	}
}

func TestQueueMySQL(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	spec, _ := returner.Find(sqldb.Specs(), "mysql")
	srv := servertest.MariaDB(t, spec.Schema)
	testQueueKilled(t, "mysql", srv.Port)
	testReactKilled(t, "mysql", srv.Port)
	if os.Getenv("BRINE_SOAK") != "" {
		testQueueShared(t, "mysql", srv.Port)
	}
}

// The first signal has a worker finish its run, and the second ends the run, which
// goes back into the queue and is gone on with by the next worker.
func TestQueueDrain(t *testing.T) {
	t.Parallel()
	d := newQueueTree(t, "drain", "sqlite3", 0, `
one:
  cmd.run: [{name: 'echo one-{{ pillar.n }} >>{{ opts.config_dir }}/log'}]
two:
  cmd.run: [{name: 'echo $$ >{{ opts.config_dir }}/pid; until test -e {{ opts.config_dir }}/go; do sleep 0.05; done; echo two-{{ pillar.n }} >>{{ opts.config_dir }}/log'}]
`)
	jids := d.put(t, 2)
	running := func() bool {
		b, err := os.ReadFile(filepath.Join(d.dir, "pid"))
		return err == nil && len(b) > 0
	}
	stopped := d.worker(t)
	d.until(t, "a run is under way", running)
	_ = stopped.cmd.Process.Signal(syscall.SIGTERM)
	d.until(t, "the worker drains", func() bool { return strings.Contains(stopped.says(), "interrupted") })
	_ = stopped.cmd.Process.Signal(syscall.SIGTERM)
	<-stopped.ended
	if code := stopped.cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("after the second signal the exit status is %d\n%s", code, stopped.says())
	}
	e, err := d.q.Entry(t.Context(), jids[0])
	if err != nil || e.State != queue.Queued || e.Tries != 0 || len(e.Runs) != 1 {
		t.Fatalf("after the second signal: %+v, %v\n%s", e, err, stopped.says())
	}
	pid, _ := os.ReadFile(filepath.Join(d.dir, "pid"))
	if n, _ := strconv.Atoi(strings.TrimSpace(string(pid))); n <= 1 || syscall.Kill(n, 0) == nil {
		t.Errorf("the command %d of the run is left", n)
	}
	_ = os.Remove(filepath.Join(d.dir, "pid"))
	drained := d.worker(t)
	d.until(t, "a run is under way", running)
	_ = drained.cmd.Process.Signal(syscall.SIGTERM)
	d.until(t, "the worker drains", func() bool { return strings.Contains(drained.says(), "interrupted") })
	if err := os.WriteFile(filepath.Join(d.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-drained.ended
	if code := drained.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("after the first signal the exit status is %d\n%s", code, drained.says())
	}
	if n, q := d.count(t, queue.Done), d.count(t, queue.Queued); n != 1 || q != 1 {
		t.Errorf("%d are done and %d wait, want 1 and 1\n%s", n, q, drained.says())
	}
	last := d.worker(t, "--drain-empty")
	<-last.ended
	if log := d.log(t); log["one-0"] != 1 || log["two-0"] != 1 || log["one-1"] != 1 || log["two-1"] != 1 {
		t.Errorf("the steps ran %v\n%s", log, last.says())
	}
}

// An orchestration that another run has locked is no attempt: it waits for its turn.
func TestQueueLocked(t *testing.T) {
	t.Parallel()
	d := newQueueTree(t, "locked", "sqlite3", 0, "one:\n  cmd.run: [{name: 'echo one-{{ pillar.n }} >>{{ opts.config_dir }}/log'}]\n")
	locks, err := shared.Open(t.Context(), shared.Path(filepath.Join(d.dir, "cache")))
	if err != nil {
		t.Fatal(err)
	}
	defer locks.Close()
	held := shared.Lock{Name: "orch", JID: d.ids.Next(time.Now()), Owner: "zoe@ctl2", Controller: "ctl2", Lease: time.Hour}
	if err := locks.Take(t.Context(), held, nil); err != nil {
		t.Fatal(err)
	}
	jid := d.put(t, 1)[0]
	w := d.worker(t, "--once", "--lock", "--backoff", "0")
	<-w.ended
	e, err := d.q.Entry(t.Context(), jid)
	if err != nil || e.State != queue.Queued || e.Tries != 0 || e.Failures != 0 || !strings.Contains(e.Error, "orch is locked: job "+held.JID) {
		t.Fatalf("while it is locked: %+v, %v\n%s", e, err, w.says())
	}
	if err := locks.Drop(t.Context(), held.Name, held.JID); err != nil {
		t.Fatal(err)
	}
	w = d.worker(t, "--drain-empty", "--lock", "--backoff", "0")
	<-w.ended
	if log := d.log(t); log["one-0"] != 1 {
		t.Errorf("the steps ran %v\n%s", log, w.says())
	}
}

// A person can cancel a run, and a run ends with its worker, even if that is
// killed.
func TestQueueOrphan(t *testing.T) {
	t.Parallel()
	d := newQueueTree(t, "orphan", "sqlite3", 0, `
one:
  cmd.run: [{name: 'echo $$ >{{ opts.config_dir }}/pid; sleep 300'}]
`)
	jid := d.put(t, 1)[0]
	w := d.worker(t)
	var pid int
	d.until(t, "a run is under way", func() bool {
		b, _ := os.ReadFile(filepath.Join(d.dir, "pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return pid > 1
	})
	if state, err := d.q.Cancel(t.Context(), jid); err != nil || state != queue.Running {
		t.Fatalf("Cancel = %s, %v", state, err)
	}
	d.until(t, "the worker heard of it", func() bool { return strings.Contains(w.says(), "it was cancelled, and ends before its next step") })
	_ = w.cmd.Process.Kill()
	d.until(t, "the run ended with its worker", func() bool { return syscall.Kill(pid, 0) != nil })
}

func TestEventBusNATS(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t, func(o *server.Options) { o.Authorization = "t0ken" })
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("t0ken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	testEventBus(t, fmt.Sprintf("{url: '%s', token_file: %s}", srv.URL(), file))
}

// A controller hears the events of another one: those that are sent, and those of
// its runs, each once.
func testEventBus(t *testing.T, bus string) {
	t.Helper()
	var ctl [2]loadTree
	for i := range ctl {
		ctl[i] = newLoadTree(t, 1, map[string]string{"wait.sls": "wait:\n  salt.wait_for_event:\n    - name: deploy/go\n    - id_list: [a]\n    - event_id: who\n    - timeout: 120\n"})
		f, err := os.OpenFile(filepath.Join(ctl[i].dir, "master"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.WriteString("event_bus: " + bus + "\n")
		f.Close()
	}
	watch := ctl[0].command(t, "run", "state.event", "deploy/*", "count=2", "timeout=120")
	var out, errs strings.Builder
	watch.Stdout, watch.Stderr = &out, &errs
	wait := ctl[0].command(t, "orchestrate", "wait")
	for _, c := range []*exec.Cmd{watch, wait} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan error, 2)
	for _, c := range []*exec.Cmd{watch, wait} {
		go func() { ended <- c.Wait() }()
	}
	// They may not listen yet, so the event is sent until both have ended.
	for left := 2; left > 0; {
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%v\n%s%s", err, out.String(), errs.String())
			}
			left--
		default:
			ctl[1].brine(t, "run", "event.send", "deploy/go", `{"who": "a"}`)
		}
	}
	if got := out.String(); strings.Count(got, "deploy/go\t") != 2 || !strings.Contains(got, `"who": "a"`) {
		t.Errorf("the watcher printed %q", got)
	}
}
