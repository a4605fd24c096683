package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/fleet/jobs"
)

// soakCount is how many of a kind a test has: few, unless BRINE_SOAK asks for
// full counts.
func soakCount(few, full int) int {
	if os.Getenv("BRINE_SOAK") != "" {
		return full
	}
	return few
}

// A loadTree is a controller whose targets are this machine.
type loadTree struct{ dir string }

func newLoadTree(t *testing.T, targets int, files map[string]string) loadTree {
	t.Helper()
	d := loadTree{t.TempDir()}
	var roster strings.Builder
	for i := range targets {
		fmt.Fprintf(&roster, "t%d: {connection: local}\n", i)
	}
	all := map[string]string{
		"roster": roster.String(),
		"master": fmt.Sprintf("id: ctl\ncachedir: %s/cache\nfile_roots: {base: [%s]}\nsqlite3: {database: %s/x.db, timeout: 120}\n", d.dir, d.dir, d.dir),
	}
	maps.Copy(all, files)
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// brine runs one command on the tree and returns how long it took, and how much
// of the processors.
func (d loadTree) brine(t *testing.T, args ...string) (wall, cpu time.Duration) {
	t.Helper()
	c := d.command(t, args...)
	begin := time.Now()
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("brine %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return time.Since(begin), c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// command returns a run of brine on the tree.
func (d loadTree) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe := brineProgram()
	c := exec.Command(exe, append(args, "-c", d.dir, "--out=quiet")...)
	c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "HOME="+d.dir, "XDG_RUNTIME_DIR="+d.dir, "BRINE_RUN_DIR="+d.dir+"/events", "TMPDIR="+d.dir)
	return c
}

// rows counts what a query of the tree's SQLite file gives.
func (d loadTree) rows(t *testing.T, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(d.dir, "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (d loadTree) cache() *jobs.Files {
	return jobs.NewFiles(filepath.Join(d.dir, "cache"), 0, time.Now)
}

// A run whose returns go to a returner stores them all. How much slower it is
// than one without is logged: the middle one of the rounds, which take turns.
func TestLoadReturns(t *testing.T) {
	targets, rounds := soakCount(50, 1000), soakCount(1, 5)
	d := newLoadTree(t, targets, nil)
	d.brine(t, "ssh", "t0", "test.ping", "--return", "sqlite3") // makes the file
	want := 1
	for _, call := range [][]string{{"ssh", "*", "test.ping"}, {"ssh", "*", "cmd.run", "exit 0"}} {
		var walls, cpus [2][]time.Duration
		for range rounds {
			for i, args := range [][]string{call, append(slices.Clone(call), "--return", "sqlite3")} {
				wall, cpu := d.brine(t, args...)
				walls[i], cpus[i] = append(walls[i], wall), append(cpus[i], cpu)
			}
			want += targets
		}
		say := func(what string, all [2][]time.Duration) {
			for _, l := range all {
				slices.Sort(l)
			}
			p, w := all[0][rounds/2], all[1][rounds/2]
			t.Logf("%s on %d targets, %s: %s, with --return sqlite3 %s (%+.1f %%); least %s, %s", call[2], targets, what, p, w, 100*(w.Seconds()/p.Seconds()-1), all[0][0], all[1][0])
		}
		say("time", walls)
		say("processors", cpus)
	}
	if n := d.rows(t, "SELECT COUNT(*) FROM salt_returns"); n != want {
		t.Errorf("%d returns are stored, want %d", n, want)
	}
}

// Processes that run at once share a job cache and a database.
func TestLoadProcesses(t *testing.T) {
	n := soakCount(8, 50)
	d := newLoadTree(t, 2, nil)
	d.brine(t, "ssh", "t0", "test.ping", "--return", "sqlite3")
	begin := time.Now()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { d.brine(t, "ssh", "*", "test.ping", "--return", "sqlite3") })
	}
	wg.Wait()
	t.Logf("%d processes: %s", n, time.Since(begin))
	list, err := d.cache().Jobs(context.Background(), "", "")
	if err != nil || len(list) != n+1 {
		t.Errorf("%d jobs are recorded, want %d: %v", len(list), n+1, err)
	}
	for _, e := range list[1:] {
		j, err := d.cache().Job(context.Background(), e.JID)
		if err != nil || j.Returns.Len() != 2 || j.State != jobs.Complete {
			t.Errorf("job %s = %+v, %v", e.JID, j, err)
		}
	}
	if got, want := d.rows(t, "SELECT COUNT(*) FROM salt_returns"), 2*n+1; got != want {
		t.Errorf("%d returns are stored, want %d", got, want)
	}
}

// Orchestrations that run at once all end well, each with all its steps.
func TestLoadOrchestrations(t *testing.T) {
	n, steps := soakCount(6, 100), soakCount(5, 20)
	var sls strings.Builder
	for i := range steps {
		fmt.Fprintf(&sls, "step%d:\n  salt.function:\n    - name: test.echo\n    - tgt: t%d\n    - arg: [%d]\n", i, i%2, i)
	}
	d := newLoadTree(t, 2, map[string]string{"orch.sls": sls.String()})
	begin := time.Now()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { d.brine(t, "orchestrate", "orch") })
	}
	wg.Wait()
	t.Logf("%d orchestrations of %d steps: %s", n, steps, time.Since(begin))
	list, err := d.cache().Jobs(context.Background(), "", "")
	if err != nil || len(list) != n*(steps+1) {
		t.Errorf("%d jobs are recorded, want %d: %v", len(list), n*(steps+1), err)
	}
	orchestrations := 0
	for _, e := range list {
		if e.Load.Str("fun") != "runner.state.orchestrate" {
			continue
		}
		orchestrations++
		j, err := d.cache().Job(context.Background(), e.JID)
		if err != nil || len(j.Steps) != steps || j.State != jobs.Complete {
			t.Errorf("job %s: %v", e.JID, err)
			continue
		}
		for _, s := range j.Steps {
			if s.Map("return").At("result") != true {
				t.Errorf("job %s: a step did not succeed", e.JID)
			}
		}
	}
	if orchestrations != n {
		t.Errorf("%d orchestrations are recorded, want %d", orchestrations, n)
	}
}

// Runs that live at the same time store each event once: the one that sent it
// does. A masterless call stores none.
func TestEventsAreStoredOnce(t *testing.T) {
	d := newLoadTree(t, 1, nil)
	f, err := os.OpenFile(filepath.Join(d.dir, "master"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("event_return: [sqlite3]\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.WriteFile(filepath.Join(d.dir, "minion"), []byte("id: box\nfile_client: local\nevent_return: [sqlite3]\nsqlite3.database: "+d.dir+"/x.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := filepath.Join(d.dir, "stop")
	const runs, events = 3, 4
	var wg sync.WaitGroup
	for range runs {
		wg.Go(func() {
			d.brine(t, "ssh", "t0", "cmd.run", fmt.Sprintf("touch %s-$$; n=0; until [ -e %s ] || [ $n -gt 600 ]; do n=$((n+1)); sleep 0.1; done", stop, stop))
		})
	}
	for range 600 {
		if up, _ := filepath.Glob(stop + "-*"); len(up) == runs {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for i := range events {
		d.brine(t, "run", "event.send", fmt.Sprintf("deploy/%d", i))
	}
	d.brine(t, "call", "event.send", "masterless")
	if err := os.WriteFile(stop, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	for _, tt := range []struct {
		like string
		want int
	}{{"deploy/%", events}, {"salt/job/%/new", runs}, {"salt/job/%/ret/t0", runs}, {"salt/run/%/new", events}, {"masterless", 0}} {
		if n := d.rows(t, "SELECT COUNT(*) FROM salt_events WHERE tag LIKE '"+tt.like+"'"); n != tt.want {
			t.Errorf("%d events %s are stored, want %d", n, tt.like, tt.want)
		}
	}
}
