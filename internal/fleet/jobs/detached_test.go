package jobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

func detachedLoad(jid string, ids ...string) Load {
	return Load{JID: jid, Fun: "cmd.run", Arg: value.NewList("x"), Tgt: "*", TgtType: "glob", User: "root", Minions: ids, PID: 1, Detached: true}
}

func answered(id string, v value.Value) fun.Return {
	return fun.Return{ID: id, JID: jobID, Body: fun.ValueBody{V: v}}
}

// TestDetachedRecord: the record of a job that goes on elsewhere is left open,
// gone on with by several processes at once, and ended by the last return.
func TestDetachedRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := func() *Files { return NewFiles(dir, 0, time.Now) }
	read := func() *Job {
		t.Helper()
		j, err := files().Job(t.Context(), jobID)
		if err != nil || j == nil {
			t.Fatalf("%v, %v", j, err)
		}
		return j
	}
	ids := []string{"gone"}
	for i := range 50 {
		ids = append(ids, fmt.Sprintf("web%02d", i))
	}
	rec, err := files().Begin(detachedLoad(jobID, ids...))
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.Return(fun.Return{ID: "gone", Stage: fun.Unreachable, Err: errors.New("no route")}); err != nil {
		t.Fatal(err)
	}
	if j := read(); j.State != Active {
		t.Errorf("while it is begun it is %s", j.State)
	}
	if err := rec.Leave(); err != nil {
		t.Fatal(err)
	}
	// Who leaves a job keeps its lock for those who were given the file, so a
	// process that another test is just starting has it for a moment, too.
	for i := 0; files().active(jobID) && i < 1000; i++ {
		time.Sleep(10 * time.Millisecond)
	}
	j := read()
	if j.State != Detached || len(j.Outstanding()) != 50 || j.Missing["gone"] != "unreachable: no route" {
		t.Errorf("%s, %d outstanding, missing %v", j.State, len(j.Outstanding()), j.Missing)
	}
	if _, list, err := files().UnderWay(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("Detached: %v, %v", list, err)
	}
	// A crash has left half a line.
	path := files().path(jobID)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString(`{"id": "web00", "ret`)
	f.Close()
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			r, err := files().Reopen(j)
			if err == nil {
				err = errors.Join(r.Return(answered(fmt.Sprintf("web%02d", i), int64(i))), r.Leave())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	j = read()
	if len(j.Outstanding()) != 0 || j.Returns.Len() != 50 || j.State != Detached {
		t.Errorf("%d outstanding, %d returns, %s", len(j.Outstanding()), j.Returns.Len(), j.State)
	}
	r, err := files().Reopen(j)
	if err != nil || r.End() != nil || read().State != Complete {
		t.Errorf("the job does not end: %v", err)
	}
	if _, list, _ := files().UnderWay(t.Context()); len(list) != 0 {
		t.Errorf("what has ended is still listed: %v", list)
	}
	if _, err := files().Reopen(&Job{JID: "20200101000000000000"}); err == nil {
		t.Error("a job that is not there was reopened")
	}
	if _, err := files().Reopen(&Job{JID: "../../x"}); err == nil {
		t.Error("what is no jid was reopened")
	}
}

// TestAdopt: another process goes on with the record, under the same lock.
func TestAdopt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rec, err := NewFiles(dir, 0, time.Now).Begin(detachedLoad(jobID, "web1", "web2"))
	if err != nil {
		t.Fatal(err)
	}
	other := NewFiles(dir, 0, time.Now)
	other.Adopt(jobID, FileOf(rec))
	l := detachedLoad(jobID, "web2")
	l.Continued = true
	on, err := other.Begin(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := on.Return(answered("web1", true)); err != nil {
		t.Fatal(err)
	}
	j, err := other.Job(t.Context(), jobID)
	if err != nil || j.State != Active || j.PID() != os.Getpid() {
		t.Fatalf("%+v, %v", j, err)
	}
	if d := cmp.Diff([]string{"web2"}, j.Outstanding()); d != "" {
		t.Error(d)
	}
	if err := on.End(); err != nil {
		t.Fatal(err)
	}
	if j, _ := other.Job(t.Context(), jobID); j.State != Complete {
		t.Errorf("ended, it is %s", j.State)
	}
}

// TestSweepKeepsDetached: a record that waits for returns outlives keep_jobs.
func TestSweepKeepsDetached(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at, _ := Time(jobID)
	now := at
	f := NewFiles(dir, time.Hour, func() time.Time { return now })
	for _, l := range []Load{detachedLoad(jobID, "web1"), {JID: "20261121090807000000", Fun: "test.ping", Minions: []string{"web1"}}} {
		rec, err := f.Begin(l)
		if err != nil {
			t.Fatal(err)
		}
		_ = rec.Leave()
	}
	left := func() string {
		names, _ := filepath.Glob(filepath.Join(dir, "jobs", "*", "*"+suffix))
		for i := range names {
			names[i] = strings.TrimSuffix(filepath.Base(names[i]), suffix)
		}
		return strings.Join(names, " ")
	}
	// A process that another test is just starting holds the locks of records as well, so
	// that they look as if their jobs were under way.
	sweep := func(want string) {
		t.Helper()
		f.sweep()
		for deadline := time.Now().Add(time.Minute); left() != want && time.Now().Before(deadline); f.sweep() {
			time.Sleep(time.Millisecond)
		}
		if got := left(); got != want {
			t.Errorf("left %q, want %q", got, want)
		}
	}
	now = at.Add(3 * time.Hour)
	sweep(jobID)
	now = at.Add(keepLeft + 2*time.Hour)
	sweep("")
}

// TestKeptAs: a lost target of a Salt master keeps its return under the jid that the
// master gave its part of the job, until the return is there.
func TestKeptAs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := NewFiles(dir, 0, time.Now)
	rec, err := f.Begin(Load{JID: jobID, Fun: "test.sleep", Tgt: "*", TgtType: "glob", Minions: []string{"own", "part"}, PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	const other = "20200101000000000009"
	for id, jid := range map[string]string{"own": "", "part": other} {
		if err := rec.Return(fun.Return{ID: id, Stage: fun.Lost, Err: errors.New("gone"), Away: true, Fleet: "lab", FleetJID: jid}); err != nil {
			t.Fatal(err)
		}
	}
	j, err := f.Job(t.Context(), jobID)
	if err != nil || j.KeptAs("own") != jobID || j.KeptAs("part") != other || j.KeptAs("x") != jobID || len(j.Owed()) != 2 {
		t.Errorf("%+v, %v", j, err)
	}
	if err := rec.Return(answered("part", true)); err != nil {
		t.Fatal(err)
	}
	if j, err = f.Job(t.Context(), jobID); err != nil || j.KeptAs("part") != jobID || len(j.Owed()) != 1 {
		t.Errorf("with the return: %+v, %v", j, err)
	}
	if err := rec.End(); err != nil {
		t.Fatal(err)
	}
}
