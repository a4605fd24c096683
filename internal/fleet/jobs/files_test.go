package jobs

import (
	"context"
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

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

func returned(id string, v value.Value, code int) fun.Return {
	return fun.Return{ID: id, Retcode: code, Body: fun.ValueBody{V: v}}
}

func load(jid string, ids ...string) Load {
	return Load{JID: jid, Fun: "test.ping", Tgt: "*", TgtType: "glob", User: "zoe", Minions: ids}
}

// TestMain lets the test binary be a process that records jobs.
func TestMain(m *testing.M) {
	if dir := os.Getenv("BRINE_JOBS_WRITER"); dir != "" {
		writeJobs(dir)
		return
	}
	os.Exit(m.Run())
}

// writeJobs records jobs for ever, or BRINE_JOBS_COUNT of them, and prints
// "JID ID" when a return is recorded.
func writeJobs(dir string) {
	count, err := strconv.Atoi(os.Getenv("BRINE_JOBS_COUNT"))
	if err != nil {
		count = 1 << 30
	}
	f := NewFiles(dir, time.Hour, time.Now)
	var j JIDs
	for range count {
		jid := f.Reserve(func() string { return j.Next(time.Now()) })
		r, err := f.Begin(load(jid, "a", "b", "c"))
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		for _, id := range []string{"a", "b", "c"} {
			if err := r.Return(returned(id, strings.Repeat(id, 100), 0)); err != nil {
				fmt.Println("error", err)
				os.Exit(1)
			}
			fmt.Println(jid, id)
		}
		if err := r.End(); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
}

func writerProcess(t *testing.T, dir, count string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe)
	c.Env = append(os.Environ(), "BRINE_JOBS_WRITER="+dir, "BRINE_JOBS_COUNT="+count)
	return c
}

// check sees that every return that was reported is in the cache.
func check(t *testing.T, f *Files, reported string) int {
	t.Helper()
	n := 0
	for line := range strings.Lines(reported) {
		jid, id, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || !strings.HasSuffix(line, "\n") {
			continue
		}
		if jid == "error" {
			t.Fatalf("a writer failed: %s", line)
		}
		j, err := f.Job(t.Context(), jid)
		if err != nil || j == nil {
			t.Fatalf("job %s: %v, %v", jid, j, err)
		}
		if got := j.Returns.Map(id).At("return"); got != strings.Repeat(id, 100) {
			t.Fatalf("job %s: return of %s = %v", jid, id, got)
		}
		n++
	}
	return n
}

func TestKilledAtAnyMomentNothingIsLost(t *testing.T) {
	t.Parallel()
	f := NewFiles(t.TempDir(), 0, time.Now)
	cache := filepath.Dir(f.dir)
	rounds, interrupted := 20, 0
	if n, err := strconv.Atoi(os.Getenv("BRINE_TEST_KILLS")); err == nil {
		rounds = n
	}
	for i := range rounds {
		c := writerProcess(t, cache, "")
		var out strings.Builder
		c.Stdout = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(5+i*7%40) * time.Millisecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		check(t, f, out.String())
	}
	list, err := f.Jobs(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		j, err := f.Job(t.Context(), e.JID)
		if err != nil || j == nil {
			t.Fatalf("job %s: %v, %v", e.JID, j, err)
		}
		switch j.State {
		case Interrupted:
			interrupted++
		case Active:
			t.Errorf("job %s looks active", e.JID)
		}
	}
	if interrupted > rounds {
		t.Errorf("%d jobs interrupted by %d kills", interrupted, rounds)
	}
}

func TestManyProcessesWriteOneCache(t *testing.T) {
	t.Parallel()
	f := NewFiles(t.TempDir(), 0, time.Now)
	const procs, each = 20, 5
	outs := make([]string, procs)
	var wg sync.WaitGroup
	for i := range procs {
		c := writerProcess(t, filepath.Dir(f.dir), strconv.Itoa(each))
		wg.Go(func() {
			b, err := c.Output()
			if err != nil {
				t.Error(err)
			}
			outs[i] = string(b)
		})
	}
	wg.Wait()
	n := 0
	for _, o := range outs {
		n += check(t, f, o)
	}
	if n != procs*each*3 {
		t.Errorf("%d returns reported, want %d", n, procs*each*3)
	}
	list, err := f.Jobs(t.Context(), "", "")
	if err != nil || len(list) != procs*each {
		t.Errorf("%d jobs, %v", len(list), err)
	}
}

func TestFilesTellHowFarAJobCame(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 8, 7, 123456000, time.UTC)
	dir := t.TempDir()
	f := NewFiles(dir, time.Hour, func() time.Time { return now })
	var ids JIDs
	jid := f.Reserve(func() string { return ids.Next(now) })
	r, err := f.Begin(load(jid, "web1", "web2", "web3"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Return(returned("web1", true, 0)); err != nil {
		t.Fatal(err)
	}
	if err := r.Return(fun.Return{ID: "web2", Stage: fun.Unreachable, Err: os.ErrPermission}); err != nil {
		t.Fatal(err)
	}
	if err := r.Return(returned("web3", false, 1)); err != nil {
		t.Fatal(err)
	}
	other := NewFiles(dir, time.Hour, func() time.Time { return now })
	j, err := other.Job(t.Context(), jid)
	if err != nil || j.State != Active || j.Returns.Map("web1").At("return") != true || j.Missing["web2"] != "unreachable: permission denied" {
		t.Fatalf("job = %+v, %v", j, err)
	}
	if act, _, err := other.UnderWay(t.Context()); err != nil || len(act) != 1 {
		t.Errorf("Active = %v, %v", act, err)
	}
	if got := strings.Join(j.Failed(), " "); got != "web2 web3" {
		t.Errorf("Failed = %q", got)
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	j, err = other.Job(t.Context(), jid)
	if err != nil || j.State != Complete || j.EndTime != "2026, Nov 21 09:08:07.123456" {
		t.Errorf("job = %+v, %v", j, err)
	}
	if got := value.Repr(Format(jid, j.Load)); got != "{'Function': 'test.ping', 'Arguments': [], 'Target': '*', 'Target-type': 'glob', 'User': 'zoe', 'StartTime': '2026, Nov 21 09:08:07.123456'}" {
		t.Errorf("Format = %s", got)
	}
	// What is readable of a line that was cut short counts; one that is no JSON is
	// a fault of the record.
	file, err := os.OpenFile(f.path(jid), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(file, "{]\n{\"id\":\"web9\",\"return\":1}\n{\"id\":\"web2\",\"ret")
	file.Close()
	j, err = other.Job(t.Context(), jid)
	if err != nil || intact(j) != 3 || j.Returns.Map("web9").At("return") != int64(1) || !j.Returns.Map("web2").Has("damaged") || j.Damage != "line 6 is not readable" {
		t.Errorf("job = %+v, %v", j, err)
	}
	// Past its time a job goes.
	now = now.Add(2 * time.Hour)
	late := NewFiles(dir, time.Hour, func() time.Time { return now })
	r, err = late.Begin(load(ids.Next(now), "web1"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.End()
	if j, err := late.Job(t.Context(), jid); j != nil || err != nil {
		t.Errorf("an old job is still there: %v, %v", j, err)
	}
}

// A child process that is being started has a copy of every open file for the
// moment until it becomes another program; a lock must not outlive its job so.
func TestAnEndedJobIsNotLocked(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 8, 7, 123456000, time.UTC)
	f := NewFiles(t.TempDir(), time.Hour, func() time.Time { return now })
	var ids JIDs
	jid := f.Reserve(func() string { return ids.Next(now) })
	r, err := f.Begin(load(jid, "web1"))
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Dup(int(FileOf(r).Fd()))
	if err != nil {
		t.Fatal(err)
	}
	child := os.NewFile(uintptr(fd), "child")
	defer child.Close()
	if !f.active(jid) {
		t.Error("a job under way is not active")
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	if f.active(jid) {
		t.Error("an ended job is active")
	}
}

func TestReserveNeverGivesAnIDTwice(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 8, 7, 0, time.UTC)
	dir := t.TempDir()
	var seen sync.Map
	var wg sync.WaitGroup
	var caches []*Files
	for range 4 {
		f := NewFiles(dir, 0, time.Now)
		caches = append(caches, f)
		wg.Go(func() {
			var ids JIDs
			for range 20 {
				jid := f.Reserve(func() string { return ids.Next(now) })
				if _, twice := seen.LoadOrStore(jid, true); twice {
					t.Errorf("%s twice", jid)
				}
			}
		})
	}
	wg.Wait()
	for _, f := range caches {
		f.Close()
	}
	if list, _ := NewFiles(dir, 0, time.Now).Jobs(t.Context(), "", ""); len(list) != 0 {
		t.Errorf("ids that were not used are listed: %v", list)
	}
}

// A shelf is a Returner in memory that can be down.
type shelf struct {
	mu    sync.Mutex
	down  bool
	rows  []string
	loads int
}

func (s *shelf) Return(_ context.Context, rets []*value.Map) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return os.ErrDeadlineExceeded
	}
	for _, r := range rets {
		s.rows = append(s.rows, r.Str("id"))
	}
	return nil
}

func (s *shelf) SaveLoad(_ context.Context, loads []*value.Map) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return os.ErrDeadlineExceeded
	}
	s.loads += len(loads)
	return nil
}

func (s *shelf) Close() error { return nil }

func (s *shelf) set(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

func TestASinkThatIsDownLosesNothing(t *testing.T) {
	t.Parallel()
	up := &shelf{down: true}
	dir := t.TempDir()
	var said []string
	sink := func() *Sink {
		return &Sink{
			Name: "shelf", Spool: dir, Retries: []time.Duration{time.Millisecond}, Warn: func(err error) { said = append(said, err.Error()) },
			Open: func(context.Context) (Returner, error) { return up, nil },
		}
	}
	s := sink()
	s.Load(load("20261121090807123456", "web1"))
	for i := range 10 {
		s.Return(value.MapOf("id", fmt.Sprint("web", i)))
	}
	if err := s.Close(); err == nil {
		t.Error("Close of a sink that is down = nil")
	}
	if len(said) == 0 || !strings.Contains(said[0], "sent by the next run") {
		t.Errorf("said %q", said)
	}
	// The next run sends what was kept, then its own.
	up.set(false)
	s = sink()
	s.Return(value.MapOf("id", "last"))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := strings.Join(up.rows, " "); got != "web0 web1 web2 web3 web4 web5 web6 web7 web8 web9 last" || up.loads != 1 {
		t.Errorf("rows %q, %d loads", got, up.loads)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left in the spool: %v", left)
	}
}

func BenchmarkReturn(b *testing.B) {
	f := NewFiles(b.TempDir(), 0, time.Now)
	var ids JIDs
	r, err := f.Begin(load(ids.Next(time.Now()), "web1"))
	if err != nil {
		b.Fatal(err)
	}
	ret := returned("web1", strings.Repeat("x", 300), 0)
	b.SetParallelism(32) // as many targets at once as a fleet has
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := r.Return(ret); err != nil {
				b.Error(err)
			}
		}
	})
	_ = r.End()
}
