package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/history"
	"brine/internal/testkit/historytest"
)

func TestTransfer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	historytest.Transfers(t, open(t, filepath.Join(dir, "a.db")), open(t, filepath.Join(dir, "b.db")))
}

// What brine 0.1.0 wrote is exported and comes back, too.
func TestTransferOld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	exec(t, raw(t, filepath.Join(dir, "old.db")), historytest.Version1(t, history.SQLite)...)
	text := historytest.Export(t, open(t, filepath.Join(dir, "old.db")), history.Query{})
	to := open(t, filepath.Join(dir, "new.db"))
	if got, err := (&history.Importer{Store: to}).Import(t.Context(), strings.NewReader(text)); err != nil || got.Executions != 4 || got.Definitions != 3 {
		t.Errorf("Import = %+v, %v", got, err)
	}
	if back := historytest.Export(t, to, history.Query{}); back != text || !strings.Contains(text, `"detail":{"changed":["file.directory: hello_directory"`) {
		t.Errorf("it comes back as %s", back)
	}
}

// An export that is not right names the line; what it has before that is stored only
// where a whole transaction came before.
func TestImportRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from := open(t, filepath.Join(dir, "a.db"))
	if err := from.Return(t.Context(), historytest.Rows("20261121090807000001", "web", 1, 1, nil)); err != nil {
		t.Fatal(err)
	}
	text := historytest.Export(t, from, history.Query{})
	to := open(t, filepath.Join(dir, "b.db"))
	lines := strings.SplitAfter(text, "\n")
	if len(lines) != 7 {
		t.Fatalf("%d lines", len(lines)-1)
	}
	replace := func(old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("no %s in %s", old, text)
		}
		return strings.Replace(text, old, new, 1)
	}
	for _, tt := range []struct{ text, want string }{
		{"", "x.ndjson:1:1: the export ends without its last line"},
		{"\n", "x.ndjson:1:1: the line is not JSON"},
		{"{}\n", `x.ndjson:1:1: this is not an export of a history: its first line is not {"format":"brine-history","version":1}`},
		{"[]\n", "x.ndjson:1:1: a line is a mapping, not a list"},
		{replace(`"version":1`, `"version":2`), "x.ndjson:1:1: the export has version 2, and this brine reads version 1: a newer brine wrote it"},
		{strings.Join(lines[:5], ""), "x.ndjson:6:1: the export ends without its last line: it was cut off"},
		{text[:len(text)-20], "x.ndjson:6:1: the line is not JSON"},
		{text + lines[1], "x.ndjson:7:1: nothing may follow the last line"},
		{lines[0] + lines[2], "x.ndjson:2:1: execution 20261121090807000001: its definition "},
		{lines[0] + lines[1] + lines[3], "x.ndjson:3:1: it belongs to execution 20261121090807000001, whose line does not come before it"},
		{lines[0] + lines[1] + lines[2] + lines[5], "x.ndjson:4:1: the last line says {"},
		{replace(`{"host":`, `{"hots":`), `x.ndjson:5:1: a line has one of the keys definition, execution, step, host, end, not "hots" (did you mean "host"?)`},
		{replace(`"user_name"`, `"user_nmae"`), "x.ndjson:3:1: the key user_name is missing"},
		{replace(`"user_name"`, `"id":"x","user_name"`), `x.ndjson:3:1: unknown key "id"`},
		{replace(`"status":"succeeded"`, `"status":"suceeded"`), `x.ndjson:3:1: status: "suceeded" is none of failed,`},
		{replace(`"jid":"20261121090807000001"`, `"jid":"../../x"`), `x.ndjson:3:1: jid: invalid jid "../../x"`},
		{replace(`"pid":1`, `"pid":1e99`), "x.ndjson:3:1: pid: 1e+99 is not a number that fits into 32 bits"},
		{replace(`"pid":1`, `"pid":"1"`), "x.ndjson:3:1: pid: '1' is not a number"},
		{replace(`"duration":0.5`, `"duration":NaN`), "x.ndjson:5:1: duration: nan is not a number of seconds"},
		{replace(`"user_name":"zoe"`, `"user_name":null`), "x.ndjson:3:1: user_name: None is not a string"},
		{replace(`"name":"web"`, `"name":"`+strings.Repeat("x", 300)+`"`), "x.ndjson:2:1: name: \"xxx"},
		{replace(`"started":"2026-`, `"started":"soon-`), "x.ndjson:3:1: started: \"soon-"},
		{replace(`"hash":"`, `"hash":"zz`), "x.ndjson:2:1: hash: invalid hash"},
		{replace("é", "\xff"), "x.ndjson:2:1: the line is not UTF-8"},
		{replace(`"steps":[{`, `"steps":[1,{`), "x.ndjson:2:1: definition: a step is a mapping, not"},
		{lines[0] + "{\"end\":{\"definitions\":0}}\n", "x.ndjson:2:1: the last line says"},
	} {
		for _, store := range []*history.Store{nil, to} {
			got, err := (&history.Importer{Store: store, Name: "x.ndjson"}).Import(t.Context(), strings.NewReader(tt.text))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || got != (history.Imported{}) {
				t.Errorf("%.60q: %+v, %v, want %q", tt.text, got, err, tt.want)
			}
		}
	}
	if l, err := to.Executions(t.Context(), history.Query{}); err != nil || len(l) != 0 {
		t.Errorf("%d executions were stored, %v", len(l), err)
	}
	if got, err := (&history.Importer{Store: to}).Import(t.Context(), strings.NewReader(text)); err != nil || got.Executions != 1 {
		t.Errorf("Import = %+v, %v", got, err)
	}
}

// A backup and an export have whole executions, as they were at one moment, while others
// write, and hold nobody up.
func TestBackupWhileWriting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "history.db")
	w, s := open(t, path), open(t, path)
	ctx, stop := context.WithCancel(t.Context())
	written := make(chan error, 1)
	began := make(chan struct{})
	go func() {
		var err error
		for n := 0; err == nil && ctx.Err() == nil; n++ {
			// An execution comes by one transaction: none may be seen in part.
			err = w.Return(context.Background(), historytest.Rows(fmt.Sprintf("20261121%012d", n), "web", 2, 3, nil))
			if n == 5 {
				close(began)
			}
		}
		written <- err
	}()
	<-began
	var sizes []int64
	for i := range 5 {
		to := filepath.Join(dir, fmt.Sprintf("copy%d.db", i))
		n, err := s.Backup(t.Context(), to, false)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, n)
		if st, err := os.Stat(to); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("stat = %v, %v", st, err)
		}
		for _, text := range []string{historytest.Export(t, open(t, to), history.Query{}), historytest.Export(t, s, history.Query{})} {
			if e, h := strings.Count(text, `{"execution":`), strings.Count(text, `{"host":`); e < int(n) || h != 6*e || strings.Contains(text, history.Running) {
				t.Errorf("%d executions with %d targets, after a copy with %d", e, h, n)
			}
		}
	}
	stop()
	if err := <-written; err != nil {
		t.Errorf("a writer was held up: %v", err)
	}
	if sizes[0] < 6 || sizes[4] < sizes[0] {
		t.Errorf("copies have %d executions", sizes)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".brine-*")); len(left) != 0 {
		t.Errorf("left %q", left)
	}
	// A copy is not put in the place of another file unless that is wished.
	if _, err := s.Backup(t.Context(), filepath.Join(dir, "copy0.db"), false); !errors.Is(err, os.ErrExist) {
		t.Errorf("Backup to a file that exists = %v", err)
	}
	if _, err := s.Backup(t.Context(), filepath.Join(dir, "copy0.db"), true); err != nil {
		t.Errorf("Backup in the place of a file = %v", err)
	}
	if _, err := s.Backup(t.Context(), filepath.Join(dir, "none", "copy.db"), false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Backup to a directory that is not there = %v", err)
	}
	if _, err := history.New(nil, history.Postgres, nil).Backup(t.Context(), path, false); err == nil || !strings.Contains(err.Error(), "'pg_dump' backs up") {
		t.Errorf("Backup of PostgreSQL = %v", err)
	}
}

// BenchmarkTransfer exports and imports 2,000 executions with 30,000 results.
func BenchmarkTransfer(b *testing.B) {
	dir := b.TempDir()
	s := open(b, filepath.Join(dir, "history.db"))
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range 2000 {
		if err := s.Return(b.Context(), historytest.Rows(began.Add(time.Duration(n)*time.Minute).Format("20060102150405")+"000001", "web", 3, 5, nil)); err != nil {
			b.Fatal(err)
		}
	}
	var text bytes.Buffer
	b.Run("export", func(b *testing.B) {
		for b.Loop() {
			text.Reset()
			if _, err := s.Export(b.Context(), &text, history.Query{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	n := 0
	b.Run("import", func(b *testing.B) {
		for b.Loop() {
			n++
			to := open(b, filepath.Join(dir, fmt.Sprintf("to%d.db", n)))
			if _, err := (&history.Importer{Store: to}).Import(b.Context(), bytes.NewReader(text.Bytes())); err != nil {
				b.Fatal(err)
			}
		}
	})
}
