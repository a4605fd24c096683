package sqldb

import (
	"fmt"
	"testing"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

// inner returns the tables behind a returner.
func inner(r jobs.Returner) *store {
	if l, ok := r.(*lite); ok {
		return l.store
	}
	return r.(*store)
}

// testClean tries what a clean-up removes and what it leaves.
func testClean(t *testing.T, s returner.Settings) {
	t.Helper()
	ctx := t.Context()
	r, err := s.Spec.New(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	db := inner(r)
	count := func(table string) (n int) {
		t.Helper()
		if err := db.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, table := range []string{"jids", "salt_returns", "salt_events"} {
		if _, err := db.db.ExecContext(ctx, "DELETE FROM "+table); err != nil {
			t.Fatal(err)
		}
	}
	const days = 24 * time.Hour
	old, fresh, none := jobs.JIDAt(time.Now().Add(-9*days)), jobs.JIDAt(time.Now()), jobs.JIDAt(time.Now().Add(-10*days))
	fill := func() {
		t.Helper()
		var loads, rets []*value.Map
		for _, jid := range []string{old, fresh, none} {
			loads = append(loads, jobs.Load{JID: jid, Fun: "test.ping", Tgt: "*"}.Map())
		}
		for i := range chunk + 20 { // more than one transaction takes
			rets = append(rets, ret(old, fmt.Sprintf("web%d", i), true))
		}
		rets = append(rets, ret(fresh, "web1", true))
		var events []jobs.EventRow
		for i := range 3 {
			events = append(events, jobs.EventRow{Tag: fmt.Sprintf("tag/%d", i), Data: value.NewMap(0), Master: "ctl"})
		}
		if err := r.(jobs.LoadSaver).SaveLoad(ctx, loads); err != nil {
			t.Fatal(err)
		}
		if err := r.Return(ctx, rets); err != nil {
			t.Fatal(err)
		}
		if err := r.(jobs.EventSaver).SaveEvents(ctx, events); err != nil {
			t.Fatal(err)
		}
		moment, args := db.d.old(9 * days)
		for _, q := range []string{
			"UPDATE salt_returns SET " + db.d.written + " = " + moment + " WHERE jid = '" + old + "'",
			"UPDATE salt_events SET alter_time = " + moment + " WHERE tag = 'tag/0'",
		} {
			if _, err := db.db.ExecContext(ctx, q, args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := func(what string, jids, rets, events int, suffix string) {
		t.Helper()
		if j, r, e := count("jids"+suffix), count("salt_returns"+suffix), count("salt_events"+suffix); j != jids || r != rets || e != events {
			t.Errorf("%s: %s: jids%s %d, salt_returns%s %d, salt_events%s %d; want %d, %d, %d", s.Spec.Name, what, suffix, j, suffix, r, suffix, e, jids, rets, events)
		}
	}
	clean := func(keep time.Duration, archive bool) {
		t.Helper()
		if err := r.(jobs.Cleaner).Clean(ctx, keep, archive); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	clean(20*days, false)
	want("nothing is old enough", 3, chunk+21, 3, "")
	clean(7*days, false)
	want("old rows go", 1, 1, 2, "")
	fill()
	clean(7*days, true)
	want("rows were archived", 1, 2, 4, "")
	want("the archive", 2, chunk+20, 1, "_archive")

	failed := ret(fresh, "web1", false) // of a target that was lost, before its return came
	failed.Set("success", false)
	if left, err := r.(jobs.Unstorer).Unstored(ctx, []*value.Map{failed}); err != nil || len(left) != 1 {
		t.Errorf("Unstored of another answer = %v, %v", left, err)
	}
	left, err := r.(jobs.Unstorer).Unstored(ctx, []*value.Map{ret(fresh, "web1", true), ret(fresh, "web2", true), ret(none, "web1", true)})
	if err != nil || len(left) != 2 || left[0].Str("id") != "web2" {
		t.Errorf("Unstored = %v, %v", left, err)
	}
}
