package kept

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// launch starts a process that is the run until its stdin ends, or a signal ends it.
func launch(t *testing.T, r *Run, lock *os.File) *exec.Cmd {
	t.Helper()
	log, err := r.Log()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	defer log.Close()
	c := exec.Command("sleep", "600")
	c.Stdin, c.Stdout = lock, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	if err := (&Process{Run: r}).Note(c.Process.Pid); err != nil {
		t.Fatal(err)
	}
	return c
}

func create(t *testing.T, s *Store) (*Run, *os.File) {
	t.Helper()
	r, lock, err := s.Create(Spec{Kind: "chains", Name: "friday", User: "ann"}, []byte("{}"), func(r *Run) []string { return []string{"chain", r.Answers()} })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	return r, lock
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := New(dir, time.Now)
	r, lock := create(t, s)
	c := launch(t, r, lock)
	if r, err := New(dir, time.Now).Open(r.Spec.JID); err != nil || r.State() != Active || r.Spec.User != "ann" || r.Spec.Args[1] != r.Answers() {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := r.Ask(Kill); err != nil || r.Asked() != Kill {
		t.Errorf("asked %q, %v", r.Asked(), err)
	}
	if err := r.Ask(Stop); err != nil || r.Asked() != Kill {
		t.Errorf("a stop took a kill back: %q, %v", r.Asked(), err)
	}
	if err := r.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	_ = c.Wait()
	// A process that another test is just starting holds the lock as well.
	for deadline := time.Now().Add(time.Minute); r.State() == Active && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if r.State() != Lost {
		t.Error("what was killed is not lost")
	}
	r.Forget()
	if _, err := os.Stat(r.Answers()); !errors.Is(err, os.ErrNotExist) {
		t.Error("the answers of a run that is lost stay")
	}
	if err := r.Signal(syscall.SIGTERM); err != nil { // its process is another's by now
		t.Error(err)
	}
	if err := (&Process{Run: r}).End(3, time.Now()); err != nil {
		t.Fatal(err)
	}
	if e, err := r.End(); err != nil || e.Status != 3 || r.State() != Ended {
		t.Errorf("end %v, %v", e, err)
	}
}

// TestHostile has files of a run be what somebody else made of them.
func TestHostile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := New(dir, time.Now)
	for name, do := range map[string]func(r *Run) error{
		"of another run": func(r *Run) error { return os.Rename(r.dir, filepath.Join(filepath.Dir(r.dir), r.Spec.JID[:19]+"x")) },
		"no JSON":        func(r *Run) error { return os.WriteFile(filepath.Join(r.dir, specFile), []byte("{"), 0o600) },
		"another version": func(r *Run) error {
			return os.WriteFile(filepath.Join(r.dir, specFile), []byte(`{"version": 99}`), 0o600)
		},
		"another's jid": func(r *Run) error {
			return os.WriteFile(filepath.Join(r.dir, specFile), []byte(`{"version": 1, "jid": "20200101000000000000"}`), 0o600)
		},
		"open to others": func(r *Run) error { return os.Chmod(r.dir, 0o777) },
		"a link":         func(r *Run) error { return errors.Join(os.RemoveAll(r.dir), os.Symlink("/", r.dir)) },
	} {
		r, _ := create(t, s)
		if err := do(r); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Open(r.Spec.JID); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for _, id := range []string{"", "..", "../jobs", "2020010100000000000x"} {
		if _, err := s.Open(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if err := os.Chmod(s.dir, 0o770); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Create(Spec{}, nil, func(*Run) []string { return nil }); err == nil || !strings.Contains(err.Error(), "only its owner") {
		t.Errorf("a directory that others can change: %v", err)
	}
}

// TestClean keeps the newest runs that ended, and all that are under way.
func TestClean(t *testing.T) {
	t.Parallel()
	s := New(t.TempDir(), time.Now)
	first, lock := create(t, s)
	launch(t, first, lock)
	var second *Run
	for i := range keeps + 5 {
		r, lock := create(t, s)
		_ = flock(lock, syscall.LOCK_UN) // a process that is just being started holds it, too
		if i == 0 {
			second = r
		}
	}
	all, err := s.List()
	if err != nil || len(all) != keeps+1 {
		t.Fatalf("%d runs, %v", len(all), err)
	}
	if _, err := s.Open(first.Spec.JID); err != nil {
		t.Errorf("a run under way was removed: %v", err)
	}
	if _, err := s.Open(second.Spec.JID); !errors.Is(err, ErrNotFound) {
		t.Errorf("the oldest one is there: %v", err)
	}
	for i := 1; i < len(all); i++ {
		if all[i] > all[i-1] {
			t.Fatal("the runs are not in order")
		}
	}
}

// TestAdopt refuses to be a run that nobody handed over.
func TestAdopt(t *testing.T) {
	t.Parallel()
	r, lock := create(t, New(t.TempDir(), time.Now))
	other, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := Adopt(r.dir, other); err == nil {
		t.Error("any stdin is the lock")
	}
	p, err := Adopt(r.dir, lock)
	if err != nil {
		t.Fatal(err)
	}
	lock.Close()
	if r.State() != Active {
		t.Error("the lock went with stdin")
	}
	if text, err := os.ReadFile(filepath.Join(r.dir, pidFile)); err != nil || string(text) != fmt.Sprint(os.Getpid()) {
		t.Errorf("pid %s, %v", text, err)
	}
	if err := p.End(0, time.Now()); err != nil {
		t.Error(err)
	}
	_ = flock(p.lock, syscall.LOCK_UN)
	if r.State() != Ended {
		t.Error("the run has not ended")
	}
}
