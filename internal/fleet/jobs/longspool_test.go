package jobs

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// A spool that is longer than what is read of it at once is sent to its end: that rows
// were taken is noted in the file while it is read.
func TestALongSpoolIsSentToItsEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ids := make([]string, 3000)
	for i := range ids {
		ids[i] = fmt.Sprintf("web%04d", i)
	}
	down := &tired{after: time.Hour}
	if _, err := feed(t, dir, down, ids[:1]...); err == nil {
		t.Fatal("a returner that is down took a row")
	}
	// What a killed run leaves: rows that nobody gave to a returner.
	p := spool{dir: dir}
	for _, id := range ids[1:] {
		if p.add(returnItem, fmt.Appendf(nil, `{"id":%q,"jid":"20261121090807123456","return":"some text that makes the file long"}`, id)) == 0 {
			t.Fatal(p.fault())
		}
	}
	unlock(p.file)
	if err := p.file.Close(); err != nil {
		t.Fatal(err)
	}
	r := &picky{bad: func(string) bool { return false }}
	if said, err := feed(t, dir, r); err != nil || len(said) > 0 {
		t.Errorf("said %q, %v", said, err)
	}
	got := map[string]int{}
	for _, id := range r.rows {
		got[id]++
	}
	var why error
	for _, id := range ids {
		if got[id] != 1 {
			why = errors.Join(why, fmt.Errorf("%s was sent %d times", id, got[id]))
		}
	}
	if why != nil {
		t.Errorf("%d of %d rows were sent: %.300v", len(got), len(ids), why)
	}
	if l := left(t, dir); len(l) > 0 {
		t.Errorf("in the spool: %v", l)
	}
}
