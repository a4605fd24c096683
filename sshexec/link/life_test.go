package link_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/sshexec/link"
)

func TestEventsCarryTheTargetsID(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"ev.sls": "ev:\n  test.succeed_with_changes:\n    - fire_event: deploy/done\n"})
	c, _ := s.connect()
	call(t, c, job("event.send", "my/tag", value.MapOf("data", value.MapOf("id", "db1", "x", int64(1)))))
	call(t, c, job("event.send", "salt/minion/db1/start"))
	call(t, c, job("event.fire", value.MapOf("data", value.MapOf("id", "db1"), "tag", "plain")))
	call(t, c, job("state.apply", "ev"))
	var tags []string
	for seq := s.bus.Seq(); seq > 0; seq-- {
		e, _, err := s.bus.Next(t.Context(), seq-1, nil)
		if err != nil {
			t.Fatal(err)
		}
		tags = append([]string{e.Tag}, tags...)
		if e.Data.Str("id") != "web1" {
			t.Errorf("%s: id = %q, want web1", e.Tag, e.Data.Str("id"))
		}
	}
	got := strings.Join(tags, " ")
	if !strings.HasPrefix(got, "my/tag plain salt/state_result/") || !strings.HasSuffix(got, "/web1/deploy/done") || len(tags) != 3 {
		t.Errorf("tags = %q", got)
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	c, _ := s.connect()
	slow := make(chan fun.Return, 1)
	go func() { slow <- c.Invoke(t.Context(), job("cmd.run", "echo done; sleep 1")) }()
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			text := strings.Repeat(strconv.Itoa(i), 3000)
			ret := c.Invoke(t.Context(), job("test.echo", text))
			if v, err := ret.Value(); v != text || err != nil {
				t.Errorf("call %d: %s %v %v", i, ret.Stage, ret.Err, err)
			}
		})
	}
	wg.Wait()
	jobs, err := c.Running(t.Context())
	if err != nil || len(jobs) != 1 || jobs[0].Fun != "cmd.run" || jobs[0].JID == "" {
		t.Errorf("Running = %+v, %v", jobs, err)
	}
	if ret := <-slow; ret.Stage != fun.Returned {
		t.Errorf("cmd.run: %s, %v", ret.Stage, ret.Err)
	}
}

// sleeper is a command that notes its pid and sleeps.
func sleeper(file string) string { return fmt.Sprintf("echo $$ > %s; sleep 300; echo", file) }

// pid waits for the pid in a file.
func pid(t *testing.T, file string) int {
	t.Helper()
	for range 1000 {
		b, _ := os.ReadFile(file)
		if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
			return n
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s was not written", file)
	return 0
}

// gone waits until no process of a group lives, for ten seconds at most.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 1000 {
		if !alive(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process group %d lives on", pid)
}

func TestCancelEndsTheCallAndItsPrograms(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	c, _ := s.connect()
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan fun.Return, 1)
	go func() { got <- c.Invoke(ctx, job("cmd.run", sleeper(file))) }()
	n := pid(t, file)
	cancel()
	if ret := <-got; ret.Stage != fun.Lost || !errors.Is(ret.Err, context.Canceled) || ret.Body != nil {
		t.Errorf("Invoke = %+v", ret)
	}
	gone(t, n)
	if v := call(t, c, job("test.ping")); v != true {
		t.Errorf("after the cancel test.ping = %v", v)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if ret := c.Invoke(ctx, job("test.sleep", int64(300))); ret.Stage != fun.TimedOut {
		t.Errorf("past its deadline: %s, %v", ret.Stage, ret.Err)
	}
}

func TestSignalEndsAJob(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	c, _ := s.connect()
	file := filepath.Join(t.TempDir(), "pid")
	j := job("cmd.run", sleeper(file))
	got := make(chan fun.Return, 1)
	go func() { got <- c.Invoke(t.Context(), j) }()
	n := pid(t, file)
	if err := c.Signal(t.Context(), "20200101000000000000", 15); err == nil {
		t.Error("a signal to a job that does not run is no error")
	}
	if err := c.Signal(t.Context(), j.JID, 10); err == nil {
		t.Error("signal 10 is no error")
	}
	if err := c.Signal(t.Context(), j.JID, 15); err != nil {
		t.Error(err)
	}
	<-got
	gone(t, n)
}

func TestEndOfInputEndsThePrograms(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	c, e := s.connect()
	dir := t.TempDir()
	go c.Invoke(t.Context(), job("cmd.run", sleeper(dir+"/fg")))
	call(t, c, job("cmd.run_bg", sleeper(dir+"/bg")))
	fg, bg := pid(t, dir+"/fg"), pid(t, dir+"/bg")
	start := time.Now()
	c.Close() // the controller vanishes
	<-e.done
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("the agent took %v to end", d)
	}
	gone(t, fg)
	if !alive(bg) {
		t.Error("what was left in the background on purpose is gone")
	}
	kill(bg)
	if ret := c.Invoke(t.Context(), job("test.ping")); ret.Stage != fun.Unreachable {
		t.Errorf("Invoke after Close: %s, %v", ret.Stage, ret.Err)
	}
	if c.Err() != nil {
		t.Errorf("Err after Close = %v", c.Err())
	}
}

func TestAgentThatDiesMidCall(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	a, b := pipe()
	e := s.serve(b)
	c := s.attach(a)
	file := filepath.Join(t.TempDir(), "pid")
	got := make(chan fun.Return, 1)
	go func() { got <- c.Invoke(t.Context(), job("cmd.run", sleeper(file))) }()
	pid(t, file)
	b.Close() // as the kernel does for a process that was killed
	ret := <-got
	if ret.Stage != fun.Lost || ret.Err == nil {
		t.Errorf("Invoke = %s, %v", ret.Stage, ret.Err)
	}
	<-c.Done()
	if c.Err() == nil {
		t.Error("Err = nil")
	}
	e.stop()
	<-e.done
}

func TestALaterCallSeesWhatAnEarlierOneSet(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	c, _ := s.connect()
	call(t, c, job("grains.setval", "tier", "gold"))
	if v := call(t, c, job("grains.get", "tier")); v != "gold" {
		t.Errorf("grains.get = %v", v)
	}
	if g, err := c.Grains(t.Context(), []string{"tier"}, false); err != nil || g.Str("tier") != "gold" {
		t.Errorf("Grains = %s, %v", value.Repr(g), err)
	}
	call(t, c, job("environ.setval", "BRINE_TEST_X", "1"))
	if v := call(t, c, job("environ.get", "BRINE_TEST_X")); v != "" {
		t.Errorf("the environment of one call is seen by the next: %v", v)
	}
}

func TestALostRunKeepsWhatWasDone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	s := newSite(t, map[string]string{"a.sls": "one:\n  test.nop\ntwo:\n  test.succeed_with_changes\nthree:\n  cmd.run:\n    - name: " + sleeper(file) + "\nfour:\n  test.nop\n"})
	a, b := pipe()
	e := s.serve(b)
	c := s.attach(a)
	got := make(chan fun.Return, 1)
	go func() { got <- c.Invoke(t.Context(), job("state.apply", "a")) }()
	pid(t, file)
	if _, err := c.Running(t.Context()); err != nil { // its answer comes behind what was told before
		t.Fatal(err)
	}
	b.Close()
	ret := <-got
	<-e.done
	if ret.Stage != fun.Lost || ret.Total != 4 || ret.Partial.Len() != 2 || ret.Progress() != "after state 2 of 4" {
		t.Fatalf("%s, %v, %d of %d", ret.Stage, ret.Err, ret.Partial.Len(), ret.Total)
	}
	if r := results(t, ret.Partial); r["two"] != "True Success!" {
		t.Errorf("partial = %v", r)
	}
}

// sparse is a file of zeros that takes no room.
func sparse(t *testing.T, path string, size int64) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	if _, err := io.CopyN(h, zeros{}, size); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestABigFileIsStreamedOnce(t *testing.T) { // not parallel: it looks at memory
	const size = 64 << 20
	dst := filepath.Join(t.TempDir(), "big")
	s := newSite(t, map[string]string{"big.sls": "big:\n  file.managed:\n    - name: " + dst + "\n    - source: salt://big.bin\n    - show_changes: False\n"})
	want := sparse(t, filepath.Join(s.root, "big.bin"), size)
	c, _ := s.connect()
	call(t, c, job("grains.get", "os"))
	stop, peak := watchMemory()
	got := results(t, call(t, c, job("state.apply", "big")))
	stop()
	if got["big"] != "True File "+dst+" updated" {
		t.Errorf("result = %v", got)
	}
	if sum := fileSum(t, dst); sum != want {
		t.Errorf("sum = %s, want %s", sum, want)
	}
	if n := s.files.count("big.bin"); n != 1 {
		t.Errorf("the file was sent %d times", n)
	}
	if p := *peak >> 20; p > 24 {
		t.Errorf("%d MiB were held for a file of %d MiB", p, size>>20)
	}
	call(t, c, job("state.apply", "big"))
	if n := s.files.count("big.bin"); n != 1 {
		t.Errorf("after a second run the file was sent %d times", n)
	}
}

func fileSum(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// watchMemory samples the growth of the heap until stop.
func watchMemory() (stop func(), peak *uint64) {
	peak = new(uint64)
	var before, now runtime.MemStats
	percent := debug.SetGCPercent(10) // garbage is not what is looked for
	runtime.GC()
	runtime.ReadMemStats(&before)
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			runtime.ReadMemStats(&now)
			if now.HeapInuse > before.HeapInuse {
				*peak = max(*peak, now.HeapInuse-before.HeapInuse)
			}
			select {
			case <-quit:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
		debug.SetGCPercent(percent)
	}, peak
}

func TestFilesWithoutACache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newSite(t, map[string]string{
		"a.sls": "a:\n  file.managed:\n    - name: " + dir + "/a\n    - source: salt://a.txt\nb:\n  file.managed:\n    - name: " + dir + "/b\n    - source: salt://b.bin\n    - show_changes: False\n",
		"a.txt": "small\n",
	})
	want := sparse(t, filepath.Join(s.root, "b.bin"), 20<<20)
	s.cache = "" // a home that cannot be written
	c, _ := s.connect()
	got := results(t, call(t, c, job("state.apply", "a")))
	if !strings.HasPrefix(got["a"], "True") || !strings.HasPrefix(got["b"], "True") {
		t.Errorf("results = %v", got)
	}
	if sum := fileSum(t, dir+"/b"); sum != want {
		t.Errorf("sum = %s, want %s", sum, want)
	}
}

func TestTreeFollowsChangesFromJobToJob(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"a.sls": "one:\n  test.nop\n"})
	c, _ := s.connect()
	if got := results(t, call(t, c, job("state.apply", "a"))); len(got) != 1 || got["one"] == "" {
		t.Errorf("results = %v", got)
	}
	s.write("a.sls", "two:\n  test.nop\n")
	s.write("b.sls", "three:\n  test.nop\n")
	if got := results(t, call(t, c, job("state.apply", "a,b"))); len(got) != 2 || got["two"] == "" || got["three"] == "" {
		t.Errorf("results = %v", got)
	}
}

func TestLargeReturnsGoToAFileWithoutAName(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.opts.MaxReturn = 4 << 20
	c, _ := s.connect()
	text := strings.Repeat("0123456789abcdef", 64<<10)
	ret := c.Invoke(t.Context(), job("test.echo", text))
	if ret.Stage != fun.Returned || ret.Body.Size() != int64(len(text)+2) {
		t.Fatalf("%s, %v", ret.Stage, ret.Err)
	}
	if names, _ := os.ReadDir(s.opts.SpillDir); len(names) != 0 {
		t.Errorf("files are left in the directory: %v", names)
	}
	for range 2 {
		if v, err := ret.Value(); v != text || err != nil {
			t.Errorf("the value is another one: %v", err)
		}
	}
	ret = c.Invoke(t.Context(), job("cmd.run", "head -c 5000000 /dev/zero | tr '\\0' x"))
	if ret.Stage != fun.Lost || !strings.Contains(ret.Err.Error(), "too large") {
		t.Errorf("a return beyond the limit: %s, %v", ret.Stage, ret.Err)
	}
	if v := call(t, c, job("test.ping")); v != true {
		t.Errorf("test.ping = %v", v)
	}
}

func TestPush(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	var sent []string
	s.opts.Push = func(_ context.Context, id, path string, r io.Reader) error {
		if path == "refused" {
			return errors.New("not wanted")
		}
		n, err := io.Copy(io.Discard, r)
		sent = append(sent, fmt.Sprintf("%s %s %d", id, path, n))
		return err
	}
	c, _ := s.connect()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"/a/one.log", "/a/b/two.log", "/a/three.txt"} {
		if err := os.MkdirAll(filepath.Dir(dir+p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+p, bytes.Repeat([]byte("x"), 1<<20), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		job  fun.Job
		want bool
		sent string
	}{
		{job("cp.push", dir+"/a/one.log"), true, "web1 " + dir[1:] + "/a/one.log 1048576"},
		{job("cp.push", dir+"/a/one.log", value.MapOf("upload_path", "/up/x", "remove_source", true)), true, "web1 up/x 1048576"},
		{job("cp.push", dir+"/a/one.log"), false, ""},
		{job("cp.push", "relative"), false, ""},
		{job("cp.push", dir+"/a/../a/three.txt"), false, ""},
		{job("cp.push", dir+"/a/three.txt", value.MapOf("upload_path", "/x/../../y")), false, ""},
		{job("cp.push", dir+"/a/three.txt", value.MapOf("upload_path", "/refused")), false, ""},
		{job("cp.push_dir", dir+"/a", value.MapOf("upload_path", "/logs", "glob", "*.log")), true, "web1 logs/b/two.log 1048576"},
		{job("cp.push_dir", dir+"/a"), true, "web1 " + dir[1:] + "/a/b/two.log 1048576 web1 " + dir[1:] + "/a/three.txt 1048576"},
		{job("cp.push_dir", dir+"/a", value.MapOf("glob", "*.none")), false, ""},
	} {
		sent = nil
		if v := call(t, c, tt.job); v != tt.want || strings.Join(sent, " ") != tt.sent {
			t.Errorf("%s %v = %v, sent %q, want %v, %q", tt.job.Fun, tt.job.Args, v, sent, tt.want, tt.sent)
		}
	}
}

func TestOpenTwiceIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	c, _ := s.connect()
	if err := c.Open(t.Context(), link.Target{ID: "other"}); err == nil {
		t.Error("a second Open is no error")
	}
}
