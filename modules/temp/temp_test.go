package temp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/temp"
)

// What is made has a new name, is the owner's alone, and nothing else is left beside it.
func TestTemp(t *testing.T) {
	t.Parallel()
	env := calltest.Env(host.NewLocal(), value.NewMap(0), fun.Entry{Kind: fun.Exec, Name: "temp", Load: temp.Module})
	parent := t.TempDir()
	made := map[string]bool{}
	for name, mode := range map[string]string{"file": "-rw-------", "dir": "drwx------"} {
		for range 2 {
			text := calltest.Call(t, env, "temp."+name, "{parent: "+parent+", prefix: 'a*-', suffix: .x}")
			at := strings.Trim(text, "'")
			st, err := os.Lstat(at)
			if err != nil || st.Mode().String() != mode || filepath.Dir(at) != parent || !strings.HasPrefix(st.Name(), "a*-") || !strings.HasSuffix(st.Name(), ".x") {
				t.Fatalf("%s: %s, %v", name, text, err)
			}
			made[st.Name()] = true
		}
	}
	// Without a parent it is where the system has temporary files.
	fake := calltest.Env(host.NewFake(), value.NewMap(0), fun.Entry{Kind: fun.Exec, Name: "temp", Load: temp.Module})
	for _, args := range []string{"{}", "{parent: null}"} {
		if got := calltest.Call(t, fake, "temp.file", args); !strings.HasPrefix(got, "'/tmp/tmp") {
			t.Errorf("%s: %s", args, got)
		}
	}
	all, err := os.ReadDir(parent)
	if err != nil || len(all) != 4 || len(made) != 4 {
		t.Errorf("%v, %v; made %v", all, err, made)
	}
}

func TestBad(t *testing.T) {
	t.Parallel()
	env := calltest.Env(host.NewFake(), value.NewMap(0), fun.Entry{Kind: fun.Exec, Name: "temp", Load: temp.Module})
	for args, want := range map[string]string{
		"{prefix: ../../etc/x}": "cannot have a slash",
		"{suffix: a/b}":         "cannot have a slash",
		"{suffix: '*'}":         "a suffix no asterisk",
		"{parent: /not/there}":  "not/there",
	} {
		for _, name := range []string{"temp.file", "temp.dir"} {
			if got := calltest.Call(t, env, name, args); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, want) {
				t.Errorf("%s %s: %s, want an error with %q", name, args, got, want)
			}
		}
	}
}
