package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/returner"
	"brine/internal/fleet/returner/sqldb"
	"brine/internal/testkit/servertest"
)

// docScript returns the sh block of a page below a heading.
func docScript(t *testing.T, page, heading string) string {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), "\n## "+heading+"\n")
	_, rest, ok2 := strings.Cut(rest, "\n```sh\n")
	script, _, ok3 := strings.Cut(rest, "\n```\n")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%s has no script below %q", page, heading)
	}
	return script + "\n"
}

// The script of docs/events.md writes the returns of jobs into a real MariaDB
// while they run.
func TestEventsIntoMySQL(t *testing.T) {
	spec, _ := returner.Find(sqldb.Specs(), "mysql")
	srv := servertest.MariaDB(t, spec.Schema)
	client, err := exec.LookPath("mysql")
	if err != nil {
		t.Skip("there is no program mysql")
	}
	d := newLoadTree(t, 2, nil)
	bin := filepath.Join(d.dir, "bin")
	exe := brineProgram()
	for name, text := range map[string]string{
		"brine":  fmt.Sprintf("#!/bin/sh\nBRINE_TEST_RUN=1 exec %s \"$@\" -c %s\n", exe, d.dir),
		"mysql":  fmt.Sprintf("#!/bin/sh\nexec %s --no-defaults -h 127.0.0.1 -P %d -u salt -psalt \"$@\"\n", client, srv.Port),
		"script": docScript(t, "docs/events.md", "A script"),
	} {
		if err := os.MkdirAll(bin, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	script := exec.CommandContext(ctx, filepath.Join(bin, "script"), "count=6", "timeout=100")
	script.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+d.dir, "XDG_RUNTIME_DIR="+d.dir, "BRINE_RUN_DIR="+d.dir+"/events", "TMPDIR="+d.dir)
	var said strings.Builder
	script.Stdout, script.Stderr = &said, &said
	if err := script.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- script.Wait() }()
	// The watcher may come in the middle of a job, so jobs run until it has seen
	// what it was to see.
	for running := true; running; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v\n%s", err, said.String())
			}
			running = false
		case <-time.After(50 * time.Millisecond):
			d.brine(t, "ssh", "*", "test.echo", "it's \"quoted\" \\ é")
			d.brine(t, "ssh", "t0", "saltutil.find_job", "20200101000000000001")
		}
	}
	db, err := sql.Open("mysql", fmt.Sprintf("salt:salt@tcp(127.0.0.1:%d)/salt", srv.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT fun, id, `return`, success FROM salt_returns")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var fun, id, ret, success string
		if err := rows.Scan(&fun, &id, &ret, &success); err != nil {
			t.Fatal(err)
		}
		n++
		if fun != "test.echo" || id != "t0" && id != "t1" || ret != `"it's \"quoted\" \\ é"` && ret != `"it's \"quoted\" \\ \u00e9"` || success != "1" {
			t.Errorf("row %q %q %q %q", fun, id, ret, success)
		}
	}
	if n == 0 || n > 6 {
		t.Errorf("%d rows are there\n%s", n, said.String())
	}
}
