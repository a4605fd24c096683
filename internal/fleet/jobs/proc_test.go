package jobs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

const jobID = "20261121090807123456"

func procData(jid string, pid int) *value.Map {
	return value.MapOf("jid", jid, "fun", "cmd.run", "arg", value.Strings("sleep 1000"), "tgt", "*", "tgt_type", "glob", "ret", "", "user", "root", "pid", int64(pid))
}

// sleep starts a program that sleeps, in a group of its own, and ends it with
// the test.
func sleep(t *testing.T) *exec.Cmd {
	t.Helper()
	c := exec.Command("sleep", "300")
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c
}

func TestProcNotes(t *testing.T) {
	t.Parallel()
	h, dir := host.NewLocal(), t.TempDir()
	web1, web2, machine := ProcAt(h, dir, "web1"), ProcAt(h, dir, "web2"), NewProc(h, dir)
	other := strings.TrimSuffix(jobID, "6") + "7"
	end1, err := web1.BeginAgent(procData(jobID, os.Getpid()), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := web2.BeginAgent(procData(jobID, os.Getpid()), false); err != nil {
		t.Fatal(err)
	}
	endM, err := machine.Begin(procData(other, os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	entries := 0
	err = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		if fi, err := d.Info(); err != nil || fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o, %v: arguments are not for others", p, fi.Mode().Perm(), err)
		} else if fi.Mode().IsRegular() {
			entries++
		}
		return nil
	})
	if err != nil || entries < 3 {
		t.Errorf("%d entries, %v", entries, err)
	}
	// Each minion sees its own jobs and those of the machine, as Salt shows them.
	if d := cmp.Diff(string(value.EncodeJSON(procData(jobID, os.Getpid()))), string(value.EncodeJSON(web1.Find(jobID)))); d != "" {
		t.Error(d)
	}
	if n := len(web1.List()); n != 2 {
		t.Errorf("web1 has %d jobs, want 2", n)
	}
	end1()
	endM()
	if web1.Find(jobID) != nil || len(web1.List()) != 0 || web2.Find(jobID) == nil {
		t.Error("a note stays after its job, or another one's is gone")
	}
	for _, bad := range []string{"", "x", "../../etc/passwd", jobID + "/.."} {
		if web1.Find(bad) != nil {
			t.Errorf("Find(%q) found something", bad)
		}
		if _, err := machine.Begin(procData(bad, 1)); err == nil {
			t.Errorf("a job %q was noted", bad)
		}
	}
}

// TestProcDead: a process that is gone is not believed, nor is another one that
// has its number.
func TestProcDead(t *testing.T) {
	t.Parallel()
	h, dir := host.NewLocal(), t.TempDir()
	p := ProcAt(h, dir, "web1")
	c := sleep(t)
	if _, err := p.BeginAgent(procData(jobID, c.Process.Pid), false); err != nil {
		t.Fatal(err)
	}
	if p.Find(jobID) == nil {
		t.Fatal("a process that lives is not found")
	}
	_ = c.Process.Kill()
	for range 1000 { // it is a zombie until it is waited for, which is dead enough
		if birth(h, c.Process.Pid) == "gone" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if p.Find(jobID) != nil {
		t.Error("a zombie is believed to work")
	}
	if names, _ := os.ReadDir(filepath.Join(dir, "proc")); len(names) != 0 {
		t.Errorf("its note is still there: %v", names)
	}
	// The number of a process that began at another time.
	path := p.path(jobID, "web1")
	if _, err := p.BeginAgent(procData(jobID, os.Getpid()), false); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	m := decodeLine(b)
	if err != nil || m.Str(keyStart) == "" {
		t.Skip("this machine does not tell when a process began")
	}
	m.Set(keyStart, "another boot 17")
	if err := os.WriteFile(path, value.EncodeJSON(m), 0o600); err != nil {
		t.Fatal(err)
	}
	if p.Find(jobID) != nil {
		t.Error("another process of the number is believed to be the job")
	}
}

func TestProcSignal(t *testing.T) {
	t.Parallel()
	h, dir := host.NewLocal(), t.TempDir()
	c := sleep(t)
	machine := NewProc(h, dir)
	if _, err := machine.Begin(procData(jobID, c.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	if pid, _, err := machine.Signal(t.Context(), "20261121090807000000", 15); pid != 0 || err != nil {
		t.Errorf("a job that is not there was signalled: %d, %v", pid, err)
	}
	if pid, whole, err := machine.Signal(t.Context(), jobID, 15); !whole || pid != c.Process.Pid || err != nil {
		t.Errorf("Signal = %d, %v", pid, err)
	}
	if err := c.Wait(); err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("the process ended with %v", err)
	}
	// An agent takes wishes; one that is stopped is killed with its programs.
	sh := exec.Command("sh", "-c", "sleep 300 & echo $! >"+filepath.Join(dir, "child")+"; kill -STOP $$")
	if err := sh.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = sh.Process.Kill() })
	p := ProcAt(h, dir, "web1")
	if _, err := p.BeginAgent(procData(jobID, sh.Process.Pid), false); err != nil {
		t.Fatal(err)
	}
	child := 0
	for range 1000 {
		b, _ := os.ReadFile(filepath.Join(dir, "child"))
		st, _ := h.ReadFile("/proc/" + strconv.Itoa(sh.Process.Pid) + "/stat")
		if child, _ = strconv.Atoi(strings.TrimSpace(string(b))); child > 0 && (len(st) == 0 || strings.Contains(string(st), ") T ")) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if pid, whole, err := p.Signal(t.Context(), jobID, 9); whole || pid != sh.Process.Pid || err != nil {
		t.Errorf("Signal = %d, %v", pid, err)
	}
	_ = sh.Wait()
	for range 1000 {
		if b := birth(h, child); h.Signal(child, 0) != nil || b == "gone" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if h.Signal(child, 0) == nil && birth(h, child) != "gone" {
		t.Errorf("what the killed process ran lives on as %d", child)
	}
}

func TestProcHeed(t *testing.T) {
	t.Parallel()
	h, dir := host.NewLocal(), t.TempDir()
	p := ProcAt(h, dir, "web1")
	if _, err := p.BeginAgent(procData(jobID, os.Getpid()), false); err != nil {
		t.Fatal(err)
	}
	wish := filepath.Join(dir, "proc", signalName(noteName(jobID, "web1"), 15))
	if err := os.WriteFile(wish, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := 0
	p.ApplySignals(os.Getpid()+1, func(string, int) bool { got = -1; return true })
	p.ApplySignals(os.Getpid(), func(jid string, sig int) bool { got = sig; return jid == jobID })
	if _, err := os.Lstat(wish); got != 15 || err == nil {
		t.Errorf("heeded %d; the wish: %v", got, err)
	}
}

func TestLeaving(t *testing.T) {
	t.Parallel()
	h, dir := host.NewLocal(), t.TempDir()
	p := ProcAt(h, dir, "web1")
	l, err := p.Leaving(jobID)
	if err != nil {
		t.Fatal(err)
	}
	want := func(w Left, text string) {
		t.Helper()
		s, _, doc, err := l.State()
		if s != w || string(doc) != text || err != nil {
			t.Errorf("%s %q %v, want %s %q", s, doc, err, w, text)
		}
	}
	want(LeftUnknown, "")
	c := sleep(t)
	end, err := l.Begin(procData(jobID, c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	want(LeftRunning, "")
	if _, err := l.Begin(procData(jobID, c.Process.Pid)); err == nil {
		t.Error("a job was begun twice")
	}
	if err := l.Forget(); err == nil {
		t.Error("a job that runs was forgotten")
	}
	if err := l.Put([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	want(LeftReturn, "{}")
	end()
	want(LeftReturn, "{}")
	if err := l.Forget(); err != nil {
		t.Error(err)
	}
	want(LeftUnknown, "")
	// One that was killed is lost, until that is fetched too.
	if _, err := l.Begin(procData(jobID, c.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if p.Find(jobID) != nil || len(p.List()) != 0 {
		t.Error("a lost job is said to run")
	}
	want(LeftLost, "")
	if other, _ := ProcAt(h, dir, "web2").Leaving(jobID); other != nil {
		if s, _, _, _ := other.State(); s != LeftUnknown {
			t.Errorf("another minion has it: %s", s)
		}
	}
	if err := l.Forget(); err != nil {
		t.Error(err)
	}
	want(LeftUnknown, "")
	// What nobody comes for is removed when it is old.
	if err := l.Put([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-keepLeft - time.Hour)
	if err := os.Chtimes(l.path, old, old); err != nil {
		t.Fatal(err)
	}
	p.sweep()
	want(LeftUnknown, "")

	// So are wishes, save those for a job that runs: it would go on.
	c = sleep(t)
	if end, err = l.Begin(procData(jobID, c.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	defer end()
	pauses := NewPauses(dir)
	const gone = "20261121090807000000"
	for _, jid := range []string{jobID, gone} {
		if err := pauses.Pause(jid, AllStates, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, pauseDir, jid), old, old); err != nil {
			t.Fatal(err)
		}
	}
	p.sweep()
	if pauses.For(jobID) == nil || pauses.For(gone) != nil {
		t.Errorf("left: %v, %v", pauses.For(jobID), pauses.For(gone))
	}
}
