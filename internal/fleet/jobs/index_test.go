package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// walked goes through a cache and shows each job in a line.
func walked(t *testing.T, f *Files) []string {
	t.Helper()
	var out []string
	err := f.Walk(t.Context(), "", "", func(r *Row) bool {
		b := r.Brief(true)
		out = append(out, fmt.Sprintf("%s %s %d %s %s good=%t open=%t %s", r.JID[12:], b.Load.Str("fun"), b.Targets, b.Status(), value.Repr(b.Bad), r.Succeeded(), r.Open(), b.Damage))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// jobOf records a job that ends as its last letter says.
func jobOf(t *testing.T, f *Files, jid, how string) {
	t.Helper()
	l := load(jid, "web1", "web2")
	l.Detached = how == "detached"
	r, err := f.Begin(l)
	if err != nil {
		t.Fatal(err)
	}
	code := 0
	if how == "failed" {
		code = 3
	}
	if err := r.Return(returned("web1", strings.Repeat("x", 100), code)); err != nil {
		t.Fatal(err)
	}
	switch how {
	case "failed", "good":
		if err := r.Return(returned("web2", true, 0)); err != nil {
			t.Fatal(err)
		}
		err = r.End()
	case "lost":
		if err := r.Return(fun.Return{ID: "web2", Stage: fun.Unreachable, Err: os.ErrPermission}); err != nil {
			t.Fatal(err)
		}
		err = r.End()
	case "running":
		t.Cleanup(func() { _ = r.End() })
	default:
		err = r.Leave()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func indexed(t *testing.T, now time.Time) (*Files, []string) {
	t.Helper()
	f := NewFiles(t.TempDir(), 0, func() time.Time { return now })
	for i, how := range []string{"good", "failed", "lost", "interrupted", "detached", "running"} {
		jobOf(t, f, fmt.Sprintf("202611210908070000%02d", i), how)
	}
	return f, []string{
		"07000005 test.ping 2 running {'web2': ''} good=false open=true ",
		"07000004 test.ping 2 detached {'web2': ''} good=false open=true ",
		"07000003 test.ping 2 interrupted {'web2': ''} good=false open=false ",
		"07000002 test.ping 2 complete {'web2': 'unreachable: permission denied'} good=false open=false ",
		"07000001 test.ping 2 complete {'web1': 'failed'} good=false open=false ",
		"07000000 test.ping 2 complete {} good=true open=false ",
	}
}

func TestWalkWithAnyIndex(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 8, 9, 0, time.UTC)
	f, want := indexed(t, now)
	path := filepath.Join(f.dir, "2026112109", indexName)
	check := func(name string) {
		t.Helper()
		for range 2 {
			if d := cmp.Diff(want, walked(t, f)); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
		}
	}
	check("as it is")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(whole), "\n"); n != 5 {
		t.Errorf("the index has %d lines:\n%s", n, whole)
	}
	check("again")
	if again, _ := os.ReadFile(path); string(again) != string(whole) {
		t.Errorf("a second walk wrote:\n%s", again)
	}
	damage := map[string][]byte{
		"missing": nil, "empty": {}, "cut short": whole[:len(whole)/2], "zeros": make([]byte, len(whole)), "no line": []byte(strings.Repeat("x", 200_000)),
		"a bit": append([]byte(strings.Replace(string(whole), "test.ping", "test.pong", 1)), whole[:10]...),
		"stale": []byte(strings.ReplaceAll(string(whole), " g {", " b {")),
	}
	for name, b := range damage {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if b != nil {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		check(name)
	}
	// What is added to a record shows, whoever adds it.
	if err := f.Kill("20261121090807000003", 9); err != nil {
		t.Fatal(err)
	}
	want[2] = strings.Replace(want[2], "interrupted", "killed", 1)
	check("killed")
	// A job that was removed is not there, whatever the index says.
	if err := os.Remove(f.path("20261121090807000000")); err != nil {
		t.Fatal(err)
	}
	want = want[:5]
	check("removed")
	if _, _, err := f.Check(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); strings.Count(string(b), "\n") != 4 {
		t.Errorf("after a check, the index has\n%s", b)
	}
	check("checked")
}

func TestWalkBounds(t *testing.T) {
	t.Parallel()
	f := NewFiles(t.TempDir(), 0, time.Now)
	var all []string
	for i := range 6 {
		jid := fmt.Sprintf("20261121%02d0807000000", i+9)
		jobOf(t, f, jid, "good")
		all = append(all, jid)
	}
	for _, tt := range []struct {
		from, to string
		most     int
		want     []string
	}{
		{"", "", 9, all}, {"", "", 2, all[4:]}, {all[2], "", 9, all[2:]}, {"", all[2], 9, all[:3]}, {all[1], all[3], 9, all[1:4]}, {all[1], all[3], 1, all[3:4]},
	} {
		var got []string
		err := f.Walk(t.Context(), tt.from, tt.to, func(r *Row) bool {
			got = append(got, r.JID)
			return len(got) < tt.most
		})
		slices.Reverse(got)
		if d := cmp.Diff(tt.want, got); err != nil || d != "" {
			t.Errorf("%s to %s: %v\n%s", tt.from, tt.to, err, d)
		}
	}
}

// TestWalkUnreadable: jobs in a directory that cannot be read are not taken for gone.
func TestWalkUnreadable(t *testing.T) {
	t.Parallel()
	f := NewFiles(t.TempDir(), time.Hour, time.Now)
	const hour = "2026112210"
	path := filepath.Join(f.dir, hour)
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, live, err := f.refresh(t.Context(), hour, []uint64{1}); err != nil || len(live) != 1 {
		t.Errorf("without a directory: %v, %v", live, err)
	}
	if err := os.Symlink(hour, path); err != nil { // to itself
		t.Fatal(err)
	}
	if _, live, err := f.refresh(t.Context(), hour, []uint64{1}); err == nil {
		t.Errorf("with a directory that cannot be opened: %v, and no error", live)
	}
}

// A job whose load and failures are large is read from its own record.
func TestLargeBriefs(t *testing.T) {
	t.Parallel()
	f := NewFiles(t.TempDir(), 0, time.Now)
	var ids []string
	for i := range 1000 {
		ids = append(ids, fmt.Sprintf("web%d.example.com", i))
	}
	for i, arg := range []string{"", strings.Repeat("x", 2*maxBrief)} {
		l := load(fmt.Sprintf("2026112109080700000%d", i), ids...)
		l.Arg = value.NewList(arg)
		r, err := f.Begin(l)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Return(returned(ids[7], true, 0)); err != nil {
			t.Fatal(err)
		}
		if err := r.End(); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := os.Stat(filepath.Join(f.dir, "2026112109", indexName)); err != nil || st.Size() > maxBrief {
		t.Errorf("the index: %v, %v", st, err)
	}
	n := 0
	err := f.Walk(t.Context(), "", "", func(r *Row) bool {
		b := r.Brief(true)
		if n++; b.Targets != 1000 || b.Bad.Len() != 999 || b.Load.List("Minions").Len() != 1000 || len(b.Load.List("arg").Items) != 1 {
			t.Errorf("%s: %d targets, %d bad", r.JID, b.Targets, b.Bad.Len())
		}
		return true
	})
	if err != nil || n != 2 {
		t.Errorf("%d jobs, %v", n, err)
	}
}

// Records that are damaged are listed, with what can be read of them, and a
// check makes up for it.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	const jid = "20261121090807123456"
	pristine := NewFiles(t.TempDir(), 0, time.Now)
	jobOf(t, pristine, jid, "good")
	whole, err := os.ReadFile(pristine.path(jid))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.SplitAfter(string(whole), "\n")
	for _, tt := range []struct {
		name, text string
		damage     string
		fun        string
		returns    []string
	}{
		{"the load is noise", "\x00\x00noise\n" + strings.Join(line[1:], ""), "line 1 is not readable", "", []string{"web1", "web2"}},
		{"the load is cut short", line[0][:60] + "\n" + strings.Join(line[1:], ""), "line 1, what the job was asked to do, is readable in part", "test.ping", []string{"web1", "web2"}},
		{"a return is cut short", line[0] + line[1][:120] + "\n" + line[2] + line[3], "line 2, the return of web1, is not readable", "test.ping", []string{"web2"}},
		{"a return is noise", line[0] + strings.Repeat("?", 50) + "\n" + line[2] + line[3], "line 2 is not readable", "test.ping", []string{"web2"}},
		{"nothing but a return", line[2], "what the job was asked to do is missing", "", []string{"web2"}},
	} {
		f := NewFiles(t.TempDir(), 0, time.Now)
		jobOf(t, f, jid, "good") // and its index
		if err := os.WriteFile(f.path(jid), []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var b *Brief
		if err := f.Walk(t.Context(), "", "", func(r *Row) bool { b = r.Brief(true); return true }); err != nil || b == nil {
			t.Fatalf("%s: it is not listed: %v", tt.name, err)
		}
		row := FormatBrief(b)
		if row.Str("Status") != "damaged" || row.Str("Damage") != tt.damage || b.Load.Str("fun") != tt.fun {
			t.Errorf("%s: %s", tt.name, value.Repr(row))
		}
		n, found, err := f.Check(t.Context(), false)
		want := []Finding{{JID: jid, Damage: tt.damage, Returns: tt.returns}}
		if d := cmp.Diff(want, found); err != nil || n != 1 || d != "" {
			t.Errorf("%s: %d, %v\n%s", tt.name, n, err, d)
		}
		if _, found, err = f.Check(t.Context(), true); err != nil || !found[0].Repaired {
			t.Errorf("%s: repair: %+v, %v", tt.name, found, err)
		}
		if _, found, err = f.Check(t.Context(), true); err != nil || len(found) != 0 {
			t.Errorf("%s: it is still damaged: %+v, %v", tt.name, found, err)
		}
		j, err := f.Job(t.Context(), jid)
		if err != nil || j.Damage != "" || j.Repaired != tt.damage || intact(j) != len(tt.returns) {
			t.Errorf("%s: after the repair: %+v, %v", tt.name, j, err)
		}
	}
}

// An empty record is one of a job id that was reserved, or nothing reached the
// disk; a check removes it when no process can be about to write it.
func TestEmptyRecord(t *testing.T) {
	t.Parallel()
	const jid = "20261121090807123456"
	f := NewFiles(t.TempDir(), 0, time.Now)
	if err := os.MkdirAll(filepath.Dir(f.path(jid)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.path(jid), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(f.path(jid), later, later); err != nil {
		t.Fatal(err)
	}
	if got := walked(t, f); len(got) != 0 {
		t.Errorf("a new one is listed: %q", got)
	}
	for _, tt := range []struct {
		age     time.Duration
		removed bool
	}{{time.Minute, false}, {2 * time.Hour, true}} {
		then := time.Now().Add(-tt.age)
		if err := os.Chtimes(f.path(jid), then, then); err != nil {
			t.Fatal(err)
		}
		if got := walked(t, f); len(got) != 1 || !strings.HasSuffix(got[0], "it is empty") {
			t.Errorf("listed: %q", got)
		}
		if _, found, err := f.Check(t.Context(), true); err != nil || len(found) != 1 || found[0].Removed != tt.removed {
			t.Errorf("check after %s: %+v, %v", tt.age, found, err)
		}
	}
}

// On a full disk, the record has who returned as soon as there is room for that.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	const jid = "20261121090807123456"
	f := NewFiles(t.TempDir(), 0, time.Now)
	r, err := f.Begin(load(jid, "web1", "web2", "web3"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.ballastPath()); err != nil {
		t.Fatal(err)
	}
	if err := r.Return(returned("web1", "kept", 0)); err != nil {
		t.Fatal(err)
	}
	rec, _ := r.(*fileRecord)
	file := rec.file
	if rec.file, err = os.OpenFile("/dev/full", os.O_WRONLY, 0); err != nil {
		t.Skip(err)
	}
	if err := r.Return(returned("web2", strings.Repeat("x", 1000), 5)); err == nil || !strings.Contains(err.Error(), "the return of web2 is not kept, only that it returned") {
		t.Errorf("Return on a full disk: %v", err)
	}
	if _, err := os.Stat(f.ballastPath()); err == nil {
		t.Error("no room was made")
	}
	rec.file.Close()
	rec.file = file
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	j, err := f.Job(t.Context(), jid)
	if err != nil || j.State != Complete || j.Returns.Map("web1").At("return") != "kept" {
		t.Fatalf("%+v, %v", j, err)
	}
	web2 := j.Returns.Map("web2")
	if web2.Str("return") != "The return is not in the record: no space left on device" || web2.At("retcode") != int64(5) || Succeeded(web2) {
		t.Errorf("web2: %s", value.Repr(web2))
	}
	if j.Damage != "the return of web2 could not be recorded: no space left on device" || !slices.Equal(j.Failed(), []string{"web2", "web3"}) {
		t.Errorf("damage %q, failed %q", j.Damage, j.Failed())
	}
}

// A clean-up removes what is old in slices, none of which is longer than it may
// be, until nothing is left.
func TestSweepInSlices(t *testing.T) {
	t.Parallel()
	f := fill(t, t.TempDir(), 300)
	left := func() int {
		n := 0
		hours, _ := f.hours("", "")
		for _, h := range hours {
			keys, _ := f.keys(h)
			n += len(keys)
		}
		return n
	}
	walked(t, f) // makes the indexes
	for slices, before := 0, 300; before > 0; slices++ {
		steps := 0
		done := f.sweepOld("20270101000000000000", func() bool { steps++; return steps <= 100 })
		after := left()
		if before-after > 100 || before == after || done != (after == 0) || slices > 5 {
			t.Fatalf("a slice left %d of %d, done %t", after, before, done)
		}
		before = after
	}
	if hours, _ := f.hours("", ""); len(hours) != 0 {
		t.Errorf("directories are left: %v", hours)
	}
}

func TestSalvage(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"id":"a","n":1,"return":{"x":[1,2,{"y":"z`: `{'id': 'a', 'n': 1, 'return': {'x': [1, 2]}}`,
		`{"id":"a","n":1`:                     `{'id': 'a'}`,
		`{"id":"a\",","n":1,`:                 `{'id': 'a",', 'n': 1}`,
		`{"id":"a","b":[]`:                    `{'id': 'a', 'b': []}`,
		`{"id":"a","b":"` + "\x00\x00" + `"}`: `{'id': 'a'}`,
		`{"id":"a"]}`:                         `{}`,
		`[1,2,3`:                              `{}`,
		`}`:                                   `{}`,
		``:                                    `{}`,
		strings.Repeat("[", 1e5):              `{}`,
	} {
		m := salvage([]byte(in))
		if m == nil {
			m = value.NewMap(0)
		}
		if got := value.Repr(m); got != want {
			t.Errorf("salvage(%.60q) = %s, want %s", in, got, want)
		}
	}
}
