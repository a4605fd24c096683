package jobs

import (
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// TestTrimmedJob: what targets returned is trimmed, and nothing else of a record.
func TestTrimmedJob(t *testing.T) {
	t.Parallel()
	f := NewFiles(t.TempDir(), 0, time.Now)
	large := strings.Repeat("x", 1<<20)
	const jid = "20260101000000000000"
	rec, err := f.Begin(Load{JID: jid, Fun: "cmd.run", Arg: value.Strings(large), Tgt: "*", Minions: []string{"web1", "web2"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		rec.Return(fun.Return{ID: "web1", JID: jid, Body: fun.ValueBody{V: large}}),
		rec.Return(fun.Return{ID: "web2", JID: jid, Body: fun.ValueBody{V: value.MapOf("a", value.NewList(large, int64(1)))}}),
		rec.Note("step", value.MapOf("tag", "x", "return", value.MapOf("comment", large))), rec.Note("definition", value.MapOf("low", large)), rec.End(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	three := func(text string) string { return text[:min(3, len(text))] }
	j, err := f.TrimmedJob(t.Context(), jid, &Trim{Text: three, Large: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]value.Value{"text": j.Returns.Map("web1").At("return"), "step": j.Steps[0].Map("return").At("comment")} {
		if got != "xxx" {
			t.Errorf("%s: %.40v", what, got)
		}
	}
	if got := value.Repr(j.Returns.Map("web2").At("return")); got != "{'a': ['xxx', 1]}" {
		t.Errorf("list: %.80s", got)
	}
	if j.Definition.Str("low") != large || value.Str(j.Load.List("arg").Items[0]) != large {
		t.Error("what was asked for is trimmed")
	}
	// Of what is too much for all, one target is read.
	for only, want := range map[string]bool{"": false, "web1": true, "web2": false} {
		j, err := f.TrimmedJob(t.Context(), jid, &Trim{Text: three, Large: 1 << 10, Only: only})
		if err != nil {
			t.Fatal(err)
		}
		if r := j.Returns.Map("web1"); (r.At("return") == "xxx") != want || r.At("success") != true {
			t.Errorf("only %q: %.80v", only, r)
		}
	}
}
