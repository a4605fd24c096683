package host

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAccountFile changes a file of accounts in ways that leave its size or its time as
// it was: each reading has to see the file as it is.
func TestAccountFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "passwd")
	parsed := 0
	a := &accountFile[Account]{path: path, parse: func(text string) []Account { parsed++; return ParsePasswd(text) }}
	line := func(uid string) []byte { return []byte("ann:x:" + uid + ":100::/home/ann:/bin/sh\n") }
	want := func(what string, uids ...int) {
		t.Helper()
		rows, err := a.read()
		if err != nil || len(rows) != len(uids) {
			t.Fatalf("%s: %v, %v", what, rows, err)
		}
		for i, uid := range uids {
			if rows[i].UID != uid {
				t.Errorf("%s: %v", what, rows)
			}
		}
	}
	write := func(uid string) {
		t.Helper()
		if err := os.WriteFile(path, line(uid), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want("no file")
	// A file of just now may change again at the same time: it is read each time.
	for _, uid := range []string{"1001", "1002", "1003"} {
		write(uid)
		want("changed at once", 1000+int(uid[3]-'0'))
	}
	before := parsed
	want("read again", 1003)
	if parsed == before {
		t.Error("a file of just now was kept")
	}
	// One that is older is kept: here as if it were, with the times that it has.
	now, _ := (*Local)(nil).Stat(path)
	a.of, a.rows = &now, ParsePasswd(string(line("1003")))
	before = parsed
	want("unchanged", 1003)
	if parsed != before {
		t.Error("an unchanged file was read again")
	}
	old := now.Mtime.Add(-time.Hour)
	for same := now; same.Unchanged(now); same, _ = (*Local)(nil).Stat(path) { // until the clock of the file system ticks
		write("1004")
		if err := os.Chtimes(path, now.Mtime, now.Mtime); err != nil {
			t.Fatal(err)
		}
	}
	want("the same size and time", 1004)
	other := path + "+"
	if err := os.WriteFile(other, line("1005"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(other, old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	want("replaced", 1005)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want("removed")
}
