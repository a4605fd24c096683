package history

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/app"
	"brine/internal/testkit/cmdtest"
)

// TestUsage has command lines that are refused before a history is opened.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, New, map[string]string{
		"history":               "no command was given",
		"history export x":      "export takes no arguments: > FILE or --save FILE names the file",
		"history export --naem": "unknown flag: --naem (did you mean --name?)",
		"history import":        "give the file of an export, or - for stdin",
		"history import a b":    `"b" is one argument too many: give the file of an export, or - for stdin`,
		"history backup":        "give the name of one file",
	})
}

// A history of a newer brine is refused by all commands, and no file is made.
func TestNewer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmdtest.Write(t, dir+"/master", "cachedir: "+dir+"/cache\n", 0o644)
	run := func(args ...string) (int, string, string) {
		return cmdtest.Run(t, map[string]string{"HOME": dir, "PWD": dir}, New, append([]string{"history"}, args...)...)
	}
	file := filepath.Join(dir, "x.ndjson")
	if status, out, errs := run("export", "-c", dir, "--save", file); status != 0 || out != file+": 0 executions\n" || errs != "" {
		t.Fatalf("export: %d, %q, %q", status, out, errs)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("stat = %v, %v", st, err)
	}
	newer(t, filepath.Join(dir, "cache", "history", "history.db"))
	for _, args := range [][]string{{"export", "--save", dir + "/y"}, {"import", file}, {"backup", dir + "/y"}} {
		status, out, errs := run(append(args, "-c", dir)...)
		if status != app.ExitGeneric || out != "" || !strings.Contains(errs, "the history cannot be opened: ") || !strings.Contains(errs, "the history has tables of version 99, and this brine knows them up to version ") {
			t.Errorf("%q: %d, %q, %q", args, status, out, errs)
		}
	}
	if _, err := os.Stat(dir + "/y"); err == nil {
		t.Error("a file was made")
	}
}

// newer gives the tables of a SQLite file the version of a newer brine.
func newer(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err == nil {
		_, err = db.Exec("UPDATE brine_versions SET version = 99 WHERE name = 'history'")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
