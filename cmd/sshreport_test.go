package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/fun"
	"brine/internal/value"
)

func TestFoldIDs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ ids, want string }{
		{"web1", "web1"},
		{"web2 web1 web3", "web[1-3]"},
		{"web9 web10 web11 web8", "web[8-11]"},
		{"web01 web02 web04", "web[01-02],web04"},
		{"web1.example web2.example db", "db,web[1-2].example"},
		{"web1.a web2.b", "web1.a,web2.b"},
		{"a b", "a,b"},
		{"n99999999999999999999 n99999999999999999998", "n99999999999999999998,n99999999999999999999"},
		{"web1 web01", "web01,web1"},
	} {
		ids := strings.Fields(tt.ids)
		slices.SortStableFunc(ids, compareIDs)
		if got := foldIDs(ids); got != tt.want {
			t.Errorf("foldIDs(%q) = %q, want %q", tt.ids, got, tt.want)
		}
	}
}

func FuzzFoldIDs(f *testing.F) {
	f.Add("web1 web2 db")
	f.Add("0 00 1 a1b2")
	f.Fuzz(func(t *testing.T, s string) {
		ids := strings.Fields(s)
		slices.SortStableFunc(ids, compareIDs)
		_ = foldIDs(ids)
		for _, id := range ids {
			if h, n, tail := splitID(id); h+n+tail != id {
				t.Errorf("splitID(%q) = %q %q %q", id, h, n, tail)
			}
		}
	})
}

func TestSummary(t *testing.T) {
	t.Parallel()
	state := func(result value.Value, changes *value.Map) *value.Map {
		return value.MapOf("result", result, "changes", changes, "__run_num__", int64(0), "comment", "")
	}
	run := value.MapOf("a", state(true, value.MapOf("x", int64(1))), "b", state(true, value.NewMap(0)), "c", state(nil, value.MapOf("y", int64(1))))
	bad := value.MapOf("a", state(true, value.NewMap(0)), "b", state(false, value.NewMap(0)))
	out := func(id string, v value.Value, code int, stage fun.Stage) outcome {
		ret := fun.Return{ID: id, Retcode: code, Stage: stage}
		return outcome{id: id, text: outcomeText(ret, v), failed: failedReturn(ret)}
	}
	var b strings.Builder
	printSummary(&b, []outcome{
		out("web2", run, 0, fun.Returned), out("db1", bad, 2, fun.Returned), out("web1", run, 0, fun.Returned),
		out("old", nil, 0, fun.Unreachable), out("x", "a\n  text", 0, fun.Returned), out("y", "no", 3, fun.Returned),
	})
	want := `Summary
-------
web[1-2]: ok=3 changed=2
x: a text
FAILED db1: ok=1 changed=0 failed=1
FAILED old: unreachable
FAILED y: retcode=3 no
# of targets: 6, failed: 3
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestReadLimit(t *testing.T) {
	t.Parallel()
	p := filepath.Join(t.TempDir(), "failed")
	if err := os.WriteFile(p, []byte("web1\r\n# a note\n\n web 2 \nweb3"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ in, want string }{
		{"web1,web2", "web1|web2"}, {" a , b,", "a|b"}, {"@" + p, "web1|web 2|web3"}, {"", ""},
	} {
		got, err := readLimit(tt.in)
		if err != nil || strings.Join(got, "|") != tt.want || got == nil {
			t.Errorf("readLimit(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
	if _, err := readLimit("@/nonexistent/file"); err == nil {
		t.Error("a missing file is no fault")
	}
}
