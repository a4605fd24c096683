package jobs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A fragile returner breaks on some rows, and takes none that are too large.
type fragile struct {
	breaks func(id string) bool
	large  func(id string) bool
	rows   []string
	calls  int
}

func (f *fragile) Return(_ context.Context, rets []*value.Map) error {
	f.calls++
	unfit := map[int]error{}
	for i, r := range rets {
		if f.large != nil && f.large(r.Str("id")) {
			unfit[i] = fmt.Errorf("%s is too large", r.Str("id"))
		}
	}
	if len(unfit) > 0 {
		return &UnfitError{unfit}
	}
	for _, r := range rets {
		if f.breaks != nil && f.breaks(r.Str("id")) {
			return errors.New("broken pipe")
		}
	}
	for _, r := range rets {
		f.rows = append(f.rows, r.Str("id"))
	}
	return nil
}

func (f *fragile) Close() error { return nil }

func ids(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint("web", i)
	}
	return out
}

func names(t *testing.T, dir string) string {
	t.Helper()
	rows, err := Aside(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range rows {
		out = append(out, r.Kind+" "+r.Name)
	}
	return strings.Join(out, ", ")
}

func TestARowThatBreaksTheReturnerIsPutAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &fragile{breaks: func(id string) bool { return id == "web3" || id == "web40" || id == "web59" }}
	said, err := feed(t, dir, f, ids(60)...)
	if err == nil || err.Error() != "returner picky did not take 3 rows" || len(f.rows) != 57 {
		t.Errorf("Close = %v, %d rows", err, len(f.rows))
	}
	if len(said) != 1 || !strings.Contains(said[0], "the return of web40 to job 20261121090807123456: broken pipe") || !strings.Contains(said[0], "put aside in") {
		t.Errorf("said %q", said)
	}
	if d := cmp.Diff("return 20261121090807123456/web3, return 20261121090807123456/web40, return 20261121090807123456/web59", names(t, dir)); d != "" {
		t.Errorf("aside (-want +got):\n%s", d)
	}
	f.calls = 0
	if said, err := feed(t, dir, f); err != nil || len(said) > 0 || f.calls > 0 {
		t.Errorf("the next run: %q, %v, %d calls", said, err, f.calls)
	}
}

// A row that nobody knows to be at fault stays, and what comes with a later run
// does not wait behind it.
func TestABreakingRowOfAnEarlierRunHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &fragile{breaks: func(id string) bool { return id == "big" }}
	for range 2 {
		if said, err := feed(t, dir, f, "big"); err == nil || len(said) != 1 || !strings.Contains(said[0], "sent by the next run") || names(t, dir) != "" || !Spooled(dir) {
			t.Errorf("said %q, %v", said, err)
		}
	}
	said, _ := feed(t, dir, f, "web1", "web2")
	if got := strings.Join(f.rows, " "); got != "web1 web2" {
		t.Errorf("rows %q, said %q", got, said)
	}
	const big = "return 20261121090807123456/big"
	if got := names(t, dir); got != big+", "+big || Spooled(dir) {
		t.Errorf("aside %q, said %q", got, said)
	}
}

// A server may break in the midst of a run: the last rows that it fails on are not
// their own fault as long as nothing passes after them.
func TestAServerThatBreaksInTheMidstKeepsRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := false
	f := &fragile{}
	f.breaks = func(id string) bool {
		broken = broken || id == "web55"
		return broken
	}
	said, err := feed(t, dir, f, ids(60)...)
	if err == nil || names(t, dir) != "" || !Spooled(dir) {
		t.Errorf("aside %q, said %q, %v", names(t, dir), said, err)
	}
	f.breaks = nil
	if said, err := feed(t, dir, f); err != nil || len(said) > 0 || len(f.rows) != 60 {
		t.Errorf("said %q, %v, %d rows", said, err, len(f.rows))
	}
}

// A returner that takes nothing is down, whatever it says: nothing is put aside.
func TestAReturnerThatBreaksOnAllRowsKeepsAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &fragile{breaks: func(string) bool { return true }}
	said, err := feed(t, dir, f, ids(300)...)
	if err == nil || err.Error() != "returner picky did not take 300 rows" || names(t, dir) != "" {
		t.Errorf("Close = %v, aside %q", err, names(t, dir))
	}
	if f.calls > 40 || len(said) != 1 || !strings.Contains(said[0], "is down: broken pipe") {
		t.Errorf("%d calls, said %q", f.calls, said)
	}
	f.breaks = nil
	if said, err := feed(t, dir, f); err != nil || len(said) > 0 || len(f.rows) != 300 {
		t.Errorf("said %q, %v, %d rows", said, err, len(f.rows))
	}
}

func TestRowsThatAreTooLargeArePutAsideAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &fragile{large: func(id string) bool { return strings.HasPrefix(id, "big") }}
	said, err := feed(t, dir, f, "big1")
	if err == nil || len(said) != 1 || !strings.Contains(said[0], "big1 is too large; put aside") || Spooled(dir) {
		t.Errorf("said %q, %v", said, err)
	}
	said, _ = feed(t, dir, f, "web1", "big2", "web2", "big3")
	if got := strings.Join(f.rows, " "); got != "web1 web2" || len(said) != 1 || f.calls > 6 {
		t.Errorf("rows %q, %d calls, said %q", got, f.calls, said)
	}

	// What is sent again goes if it can, what is dropped does not come back.
	pick := func(id string) func(AsideRow) bool {
		return func(r AsideRow) bool { return r.Name == "20261121090807123456/"+id }
	}
	gone, err := DropAside(dir, false, pick("big3"))
	if err != nil || len(gone) != 1 || gone[0].Data.Str("id") != "big3" || !strings.Contains(gone[0].Why, "too large") || gone[0].Size == 0 || gone[0].At == "" {
		t.Errorf("dropped %+v, %v", gone, err)
	}
	f.large = func(id string) bool { return id == "big2" }
	if gone, err := DropAside(dir, true, func(AsideRow) bool { return true }); err != nil || len(gone) != 2 || !Spooled(dir) {
		t.Errorf("again %+v, %v", gone, err)
	}
	if said, _ := feed(t, dir, f); len(said) != 1 || strings.Join(f.rows, " ") != "web1 web2 big1" {
		t.Errorf("said %q, rows %q", said, f.rows)
	}
	if got := names(t, dir); got != "return 20261121090807123456/big2" || Spooled(dir) {
		t.Errorf("aside %q", got)
	}
	if gone, err := DropAside(t.TempDir(), true, pick("x")); err != nil || gone != nil {
		t.Errorf("of an empty directory: %v, %v", gone, err)
	}
}

func TestTargetsWithoutReturnHaveRows(t *testing.T) {
	t.Parallel()
	l := Load{JID: "20261121090807123456", Fun: "state.apply"}
	states := value.MapOf("test_|-a_|-a_|-nop", value.MapOf("result", true, "__run_num__", int64(0)))
	for _, tt := range []struct {
		ret  fun.Return
		want string // return, retcode, success, stage, reason
	}{
		{fun.Return{ID: "web1", Body: fun.ValueBody{V: "hi"}}, "'hi', 0, True, None, None"},
		{fun.Return{ID: "web1", Retcode: 3, Body: fun.ValueBody{V: "no"}}, "'no', 3, False, None, None"},
		{fun.Return{ID: "web1", Stage: fun.Unreachable, Err: errors.New("no route")}, "'unreachable: no route', 255, False, 'unreachable', 'unreachable: no route'"},
		{fun.Return{ID: "web1", Stage: fun.TimedOut}, "'timed out', 255, False, 'timed out', 'timed out'"},
		{fun.Return{ID: "web1", Stage: fun.Lost, Err: errors.New("EOF"), Partial: states, Total: 3}, "dict, 255, False, 'lost', 'lost: EOF'"},
		{fun.Return{ID: "web1", Stage: fun.Refused, Err: fun.ErrNotBegun}, ""},
		{fun.Return{ID: "web1", Stage: fun.Refused, Err: fun.ErrStopped}, ""},
		{fun.Return{ID: "web1", Stage: fun.Refused, Err: context.Canceled}, ""},
	} {
		m, err := FullReturn(l, tt.ret, "stamp")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if m != nil {
			v := value.Repr(m.At("return"))
			if m.Map("return") != nil {
				v = "dict"
			}
			got = v
			for _, k := range []string{"retcode", "success", "stage", "reason"} {
				got += ", " + value.Repr(m.At(k))
			}
		}
		if got != tt.want {
			t.Errorf("%v: %s, want %s", tt.ret.Stage, got, tt.want)
		}
		if m == nil {
			continue
		}
		// A store gives it back as it was; a return outranks that there is none.
		j := NewJob(l.JID, nil)
		j.Got("web1", m)
		none := tt.ret.Stage != fun.Returned
		if (j.Missing["web1"] != "") != none || j.Returns.Has("web1") == none || (j.Partial.Len() > 0) != (tt.ret.Partial != nil) {
			t.Errorf("%v: read back %+v", tt.ret.Stage, j)
		}
		real := value.MapOf("return", true, "success", true)
		j.Got("web1", real)
		j.Got("web1", m)
		if none && (j.Returns.Map("web1") != real || len(j.Missing) > 0 || j.Partial.Len() > 0) {
			t.Errorf("%v: a return does not outrank it: %+v", tt.ret.Stage, j)
		}
	}
}

// Many processes put rows aside while others take them out: none is lost.
func TestAsideIsSharedByProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const n = 50
	done := make(chan error)
	for _, id := range ids(n) {
		go func() {
			done <- appendAside(filepath.Join(dir, asideFile), []failedRow{{item: item{kind: returnItem, data: value.MapOf("jid", "1", "id", id)}, why: errors.New("x")}})
		}()
	}
	got := map[string]int{}
	for left := n; left > 0 || len(got) < n; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			left--
		case <-time.After(time.Millisecond):
		}
		first := true
		gone, err := DropAside(dir, false, func(AsideRow) bool { one := first; first = false; return one })
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range gone {
			got[r.Name]++
		}
		if left == 0 && len(gone) == 0 {
			break
		}
	}
	if len(got) != n {
		t.Errorf("%d rows of %d", len(got), n)
	}
}
