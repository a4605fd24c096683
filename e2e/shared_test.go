//go:build linux

package e2e

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/returner/sqldb"
	"brine/internal/fleet/shared"
	"brine/internal/testkit/servertest"
	"brine/internal/testkit/turn"
)

// A sharer is one of several controllers that share a database: a configuration and
// a cache of its own.
type sharer struct {
	t   *testing.T
	dir string // of all: the tree and the log
	own string
}

// A safeBuffer is what a process says while it runs.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds to it.
func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s sharer) command(args ...string) *exec.Cmd {
	s.t.Helper()
	exe := brineProgram()
	c := exec.Command(exe, append(args, "-c", s.own)...)
	c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "HOME="+s.own, "XDG_RUNTIME_DIR="+s.own, "BRINE_RUN_DIR="+s.own+"/events", "TMPDIR="+s.own)
	return c
}

// ends runs a command that has to end with a status, and returns what it said.
func (s sharer) ends(status int, args ...string) string {
	s.t.Helper()
	c := s.command(args...)
	out, _ := c.CombinedOutput()
	if got := c.ProcessState.ExitCode(); got != status {
		s.t.Errorf("brine %s exits with %d, want %d\n%s", strings.Join(args, " "), got, status, out)
	}
	return string(out)
}

// says runs a command whose words have to be among what it says.
func (s sharer) says(status int, words []string, args ...string) {
	s.t.Helper()
	out := s.ends(status, args...)
	for _, w := range words {
		if !strings.Contains(out, w) {
			s.t.Errorf("brine %s does not say %q:\n%s", strings.Join(args, " "), w, out)
		}
	}
}

// begun starts an orchestration and waits until a step of it has begun.
func (s sharer) begun(step string, args ...string) (*exec.Cmd, *safeBuffer) {
	s.t.Helper()
	c := s.command(args...)
	said := &safeBuffer{}
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Process.Kill() })
	s.wait("step "+step, func() bool { return s.log()[step] > 0 }, said)
	return c, said
}

func (s sharer) wait(what string, is func() bool, said *safeBuffer) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%s does not come:\n%s", what, said)
		}
	}
}

// log counts the steps that began.
func (s sharer) log() map[string]int {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	out := map[string]int{}
	for name := range strings.FieldsSeq(string(b)) {
		out[name]++
	}
	return out
}

func (s sharer) write(path, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// sharers returns two controllers whose job cache has the settings. Their
// orchestration is four steps, the third of which waits for a file.
func sharers(t *testing.T, settings string) (one, two sharer) {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() { awaitGone(t, dir) })
	var sls strings.Builder
	for i := 1; i <= 4; i++ {
		wait := ""
		if i == 3 {
			wait = "; while [ ! -e " + dir + "/gate ]; do sleep 0.02; done"
		}
		fmt.Fprintf(&sls, "step%d:\n  salt.function: [{name: cmd.run, tgt: web*, arg: ['echo step%d >>%s/log%s']}]\n", i, i, dir, wait)
	}
	one, two = sharer{t, dir, filepath.Join(dir, "ctl1")}, sharer{t, dir, filepath.Join(dir, "ctl2")}
	for _, s := range []sharer{one, two} {
		s.write(filepath.Join(s.own, "roster"), "web1: {connection: local}\n")
		s.write(filepath.Join(s.own, "master"), fmt.Sprintf("id: %s\ncachedir: %s/cache\nfile_roots: {base: [%s/tree]}\norchestrate_lock: True\ncontroller_lease: 10\n%s", filepath.Base(s.own), s.own, dir, settings))
	}
	one.write(filepath.Join(dir, "tree", "orch.sls"), sls.String())
	one.write(filepath.Join(dir, "tree", "other.sls"), "nothing: test.nop\n")
	return one, two
}

// awaitGone waits until no process is left whose environment names a directory: what a
// killed worker ran ends by itself a moment later, and writes there until then.
func awaitGone(t *testing.T, dir string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := 0
		names, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, name := range names {
			if env, err := os.ReadFile(name); err == nil && bytes.Contains(env, []byte(dir+"/")) {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(end) {
			t.Logf("%d processes still work in %s", left, dir)
			return
		}
	}
}

var jidOf = regexp.MustCompile(`\b[0-9]{20}\b`)

// testShared kills a controller in the midst of an orchestration, and has another one
// that shares its database see that and go on with it.
func testShared(t *testing.T, settings string, older func()) {
	one, two := sharers(t, settings)
	run, said := one.begun("step3", "orchestrate", "orch")
	// The lock holds for the other controller, for the same targets.
	refusal := two.ends(1, "orchestrate", "orch")
	if !strings.Contains(refusal, "orch is locked: job ") || !strings.Contains(refusal, "controller ctl1) has run it on web1 for") || !strings.Contains(refusal, "brine run lock.break orch") {
		t.Errorf("a second run says\n%s", refusal)
	}
	two.says(1, []string{"waited 1s without success"}, "orchestrate", "orch", "--lock-wait", "1")
	two.says(0, nil, "orchestrate", "other")
	jid := jidOf.FindString(refusal)
	two.says(0, []string{"orch:", jid, "controller:", "- web1"}, "run", "lock.list")
	two.says(0, []string{jid, "controller ctl1 (pid "}, "run", "jobs.active")
	two.says(0, []string{jid, "running"}, "run", "history.list")
	two.says(1, []string{"still running on controller ctl1"}, "orchestrate", "--resume", jid)

	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	// Its own controller knows at once.
	one.says(0, []string{jid, "Status:", "interrupted"}, "run", "jobs.list_jobs")
	one.write(filepath.Join(one.dir, "gate"), "")
	older()
	two.says(0, []string{"job " + jid + " was interrupted: controller ctl1", "'brine orchestrate --resume " + jid + "' goes on with it"}, "run", "jobs.active")
	two.says(0, []string{jid, "Status:", "interrupted"}, "run", "jobs.list_jobs")
	two.says(1, []string{"job " + jid + " was interrupted: controller ctl1", "step2"}, "run", "jobs.lookup_jid", jid)
	two.says(0, []string{jid, "interrupted"}, "run", "history.list")
	two.says(0, []string{"step4"}, "orchestrate", "--resume", jid)
	got := one.log()
	if got["step1"] != 1 || got["step2"] != 1 || got["step3"] != 2 || got["step4"] != 1 {
		t.Errorf("steps ran %v: those that were recorded run once, and the one that was under way again\n%s", got, said)
	}
	// Its own controller does not go on with it as well.
	one.says(1, []string{"job " + jid + " was resumed already"}, "orchestrate", "--resume", jid)
	two.says(1, []string{"there is no job 20200101000000000000 in the cache of this machine and in the database"}, "orchestrate", "--resume", "20200101000000000000")

	// A run whose lock is broken begins no new step.
	for _, name := range []string{"gate", "log"} {
		if err := os.Remove(filepath.Join(one.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	run, said = two.begun("step3", "orchestrate", "orch")
	one.says(1, []string{`there is no lock "orhc" (did you mean "orch"?)`}, "run", "lock.break", "orhc")
	one.says(0, []string{"orch:", "controller:\n            ctl2"}, "run", "lock.break", "orch")
	one.says(1, []string{"no orchestration is locked"}, "run", "lock.break", "orch")
	two.wait("the loss of the lock", func() bool { return strings.Contains(said.String(), "IS LOST") }, said)
	one.write(filepath.Join(one.dir, "gate"), "")
	if err := run.Wait(); err == nil {
		t.Error("a run that lost its lock succeeds")
	}
	if got := one.log(); got["step4"] != 0 || !strings.Contains(said.String(), "the lock orch was lost before state step4") || !strings.Contains(said.String(), "--resume") {
		t.Errorf("steps ran %v after the loss of the lock\n%s", got, said)
	}
	one.says(0, []string{"step4"}, "orchestrate", "orch")
}

// dbSettings returns the configuration of a job cache in a server, and what makes
// all heartbeats in it old.
func dbSettings(t *testing.T, name string, port int) (settings string, older func()) {
	t.Helper()
	return cacheIn(name, port), func() {
		t.Helper()
		db, _, err := sqldb.Open(t.Context(), name, returner.Settings{Env: &fun.Env{Data: fun.Data{Opts: serverOpts(name, port)}}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		age(t, db)
	}
}

func schemaOf(name string) string {
	spec, _ := returner.Find(sqldb.Specs(), name)
	return spec.Schema
}

// Two controllers share a PostgreSQL: locks hold for both, and the one goes on with
// what the other one did not end.
func TestSharedPostgres(t *testing.T) {
	t.Parallel()
	srv := servertest.Postgres(t, schemaOf("postgres"))
	settings, older := dbSettings(t, "postgres", srv.Port)
	testShared(t, settings, older)
	testQueueElsewhere(t, settings)
}

// testQueueElsewhere kills a worker in the midst of an orchestration. The worker of
// another controller, which has nothing of it but the database, goes on with it.
func testQueueElsewhere(t *testing.T, settings string) {
	one, two := sharers(t, settings)
	jid := jidOf.FindString(one.ends(0, "orchestrate", "orch", "--queue", "elsewhere"))
	args := []string{"worker", "--queue", "elsewhere", "--lease", "10", "--poll", "0.1", "--max-runs", "1"}
	worker, said := one.begun("step3", args...)
	if err := worker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = worker.Wait()
	one.write(filepath.Join(one.dir, "gate"), "")
	two.says(0, []string{jid + ": state.orchestrate orch, queued by ", "try 2", "orch is done"}, args...) // once the lease is over
	if got := one.log(); got["step1"] != 1 || got["step2"] != 1 || got["step3"] != 2 || got["step4"] != 1 {
		t.Errorf("steps ran %v: those that succeeded run once, and the one that was under way again\n%s", got, said)
	}
	for _, s := range []sharer{one, two} {
		s.says(0, []string{"done", "ctl2/"}, "run", "queue.show", jid)
	}
	one.says(1, []string{"job " + jid + " was resumed already"}, "orchestrate", "--resume", jid)
}

// The same in a MariaDB.
func TestSharedMariaDB(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	srv := servertest.MariaDB(t, schemaOf("mysql"))
	settings, older := dbSettings(t, "mysql", srv.Port)
	testShared(t, settings, older)
}

// Two controllers share a SQLite file: what needs no server.
func TestSharedSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	testShared(t, "master_job_cache: sqlite3\nsqlite3: {database: "+path+", timeout: 120}\n", func() { ageSQLite(t, path) })
}

// ageSQLite makes all heartbeats in a SQLite file old.
func ageSQLite(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(60000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	age(t, db)
}

// age makes all heartbeats in a database old.
func age(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, table := range []string{"brine_runs", "brine_locks"} {
		if _, err := db.Exec("UPDATE " + table + " SET beat = beat - 100"); err != nil {
			t.Fatal(err)
		}
	}
}

// Without a database, the lock holds for the runs of one cache. That of a run which
// was killed is free at once.
func TestLockOfThisMachine(t *testing.T) {
	t.Parallel()
	one, _ := sharers(t, "")
	run, said := one.begun("step3", "orchestrate", "orch")
	one.says(1, []string{"orch is locked: job ", "controller ctl1) has run it on web1"}, "orchestrate", "orch")
	one.says(0, []string{"orch:", "ctl1"}, "run", "lock.list")
	// A run in test mode takes no lock.
	one.says(0, nil, "orchestrate", "orch", "test=True")
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	one.says(0, []string{"lapsed: the next run takes it"}, "run", "lock.list")
	one.write(filepath.Join(one.dir, "gate"), "")
	one.says(0, []string{"step4"}, "orchestrate", "orch")
	if got := one.log(); got["step1"] != 2 {
		t.Errorf("steps ran %v\n%s", got, said)
	}
	one.says(0, nil, "run", "lock.list")

	// A run that waits for the lock begins when it is free.
	for _, name := range []string{"gate", "log"} {
		if err := os.Remove(filepath.Join(one.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	run, said = one.begun("step3", "orchestrate", "orch")
	next, waits := one.command("orchestrate", "orch", "--lock-wait", "1000"), &safeBuffer{}
	next.Stdout, next.Stderr = waits, waits
	if err := next.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = next.Process.Kill() })
	one.wait("the wait", func() bool {
		return strings.Contains(waits.String(), "waiting up to 16m40s for the lock orch, which job ")
	}, waits)
	one.write(filepath.Join(one.dir, "gate"), "")
	if err := errors.Join(run.Wait(), next.Wait()); err != nil {
		t.Errorf("%v\n%s\n%s", err, said, waits)
	}
	if got := one.log(); got["step1"] != 2 || got["step4"] != 2 {
		t.Errorf("steps ran %v", got)
	}
}

// TestKilledControllers kills controllers at random moments of an orchestration, and
// has another one go on with it: no step that was recorded runs twice, and at most
// the one that was under way does. BRINE_TEST_KILLS is how many are killed.
func TestKilledControllers(t *testing.T) {
	t.Parallel()
	kills := 4
	if n, err := strconv.Atoi(os.Getenv("BRINE_TEST_KILLS")); err == nil {
		kills = n
	}
	path := filepath.Join(t.TempDir(), "x.db")
	one, two := sharers(t, "master_job_cache: sqlite3\nsqlite3: {database: "+path+", timeout: 120}\n")
	var sls strings.Builder
	for i := range orchSteps {
		fmt.Fprintf(&sls, "step%d:\n  salt.function: [{name: cmd.run, tgt: web1, arg: ['echo step%d >>{{ pillar.log }}; sleep 0.02']}]\n", i, i)
	}
	one.write(filepath.Join(one.dir, "tree", "kills.sls"), sls.String())
	d := loadTree{one.dir}
	began := time.Now()
	two.ends(0, "orchestrate", "kills", "pillar="+logOf(d, "whole"))
	whole := time.Since(began)
	d.lines(t, "whole", orchSteps)
	store, err := shared.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	resumed := 0
	for k := range kills {
		run := strconv.Itoa(k)
		c := one.command("orchestrate", "kills", "pillar="+logOf(d, run))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(whole * 5 / 4))))
		_ = c.Process.Kill()
		_ = c.Wait()
		d.settle(run)
		done := d.lines(t, run, -1)
		jid, recorded := orphan(t, store)
		if jid == "" {
			if len(done) != 0 && len(done) != orchSteps {
				t.Errorf("run %s did %v, and the store has nothing to go on with", run, done)
			}
			continue
		}
		resumed++
		ageSQLite(t, path)
		two.ends(0, "orchestrate", "--resume", jid, "pillar="+logOf(d, run))
		twice := 0
		for name, n := range d.lines(t, run, -1) {
			switch {
			case n > 1 && recorded[name]:
				t.Errorf("run %s: %s was recorded and ran %d times", run, name, n)
			case n > 1:
				twice += n - 1
			}
		}
		if twice > 1 || len(d.lines(t, run, -1)) != orchSteps {
			t.Errorf("run %s did %v, of which %v was recorded", run, d.lines(t, run, -1), recorded)
		}
	}
	t.Logf("%d controllers were killed, and another one went on with %d orchestrations", kills, resumed)
}

// orphan returns the orchestration whose controller died, and its steps that
// succeeded; "" where there is none.
func orphan(t *testing.T, store *shared.Store) (jid string, recorded map[string]bool) {
	t.Helper()
	open, err := store.Open(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range open {
		if r.Load.Str("fun") != "runner.state.orchestrate" || r.ResumedBy != "" {
			continue
		}
		j, err := store.Job(t.Context(), r.JID)
		if err != nil || j == nil {
			t.Fatalf("Job = %v, %v", j, err)
		}
		if j.Definition == nil {
			continue // no step of it began
		}
		recorded = map[string]bool{}
		for _, s := range j.Steps {
			if s.Map("return").At("result") == true {
				recorded[s.Map("return").Str("__id__")] = true
			}
		}
		return r.JID, recorded
	}
	return "", nil
}
