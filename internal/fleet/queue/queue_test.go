package queue

import (
	"strings"
	"testing"

	"brine/internal/py/value"
)

func TestValidName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"deploy": true, "a": true, "9": true, "eu-1.web_x": true, strings.Repeat("x", 64): true,
		"": false, ".hidden": false, "-x": false, "a b": false, "a/b": false, "ä": false, "a\n": false, strings.Repeat("x", 65): false,
	} {
		if got := ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %v", name, got)
		}
	}
}

// What is queued comes back as it was, and what would not is refused.
func TestWork(t *testing.T) {
	t.Parallel()
	w := &Work{
		Args: []value.Value{"orch.a,orch.b"}, At: []string{"states=v1"}, SaltEnv: "prod", PillarEnv: "base",
		Kwargs: value.MapOf("pillar", value.MapOf("z", int64(1), "a", value.NewList(1.5, nil, true, "é\x00")), "test", true),
	}
	text, err := w.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseWork(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := back.Encode()
	if err != nil || again != text {
		t.Errorf("%s came back as %s, %v", text, again, err)
	}
	if names, err := back.SLS(); err != nil || strings.Join(names, " ") != "orch.a orch.b" {
		t.Errorf("SLS = %q, %v", names, err)
	}
	for _, tt := range []struct {
		kw   *value.Map
		want string
	}{
		{value.MapOf("pillar", value.MapOf(int64(1), "x")), "keys of mappings must be strings"},
		{value.MapOf("pillar", strings.Repeat("x", MaxPayload)), "an entry of a queue may have"},
		{value.MapOf("mods", "x"), ""},
	} {
		w := &Work{Args: []value.Value{"orch"}, Kwargs: tt.kw}
		if _, err := w.Encode(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Encode = %v, want %q", err, tt.want)
		}
	}
	if _, err := (&Work{Kwargs: value.NewMap(0)}).Encode(); err == nil {
		t.Error("work without an SLS is encoded")
	}
}

// TestHostileListing: an entry whose SLS for people is not what its arguments run is
// refused, and says both in one line.
func TestHostileListing(t *testing.T) {
	t.Parallel()
	const jid = "20261121093205123456"
	for _, tt := range []struct{ listed, payload, want string }{
		{"a", `{"args": ["a"]}`, ""},
		{"a,b", `{"args": ["a, b"]}`, ""},
		{"a,b", `{"kwargs": {"mods": ["a", "b"]}}`, ""},
		{strings.Repeat("x", 200) + ",y", `{"args": [["` + strings.Repeat("x", 200) + `", "y"]]}`, ""},
		{"a", `{"args": ["b"]}`, "it is listed as a, but its arguments run b"},
		{"", `{"args": ["b"]}`, "it is listed as , but its arguments run b"},
		{"a", `{"args": ["a,b"]}`, "it is listed as a, but its arguments run a,b"},
		{"a", `{"args": ["b"], "kwargs": {"mods": "a"}}`, "it is listed as a, but its arguments run b"},
		{"a\n\x1b[0m", `{"args": ["a"]}`, `it is listed as a\n\x1b[0m, but its arguments run a`},
	} {
		e := &Entry{JID: jid, User: "ana", SLS: tt.listed, Version: Version}
		got := ""
		if err := e.check(tt.payload, int64(len(tt.payload))); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q with %s: %q, want %q", tt.listed, tt.payload, got, tt.want)
		}
	}
}

// FuzzWork: what a database has is read or refused, and what was read is written as
// it was.
func FuzzWork(f *testing.F) {
	f.Add(`{"args": ["orch"], "kwargs": {"pillar": {"a": 1}}, "at": ["x=1"], "saltenv": "base"}`)
	f.Add(`{"kwargs": {"mods": ["a", "b"]}}`)
	f.Add(`{"args": [[[[1e999]]]]}`)
	f.Fuzz(func(t *testing.T, text string) {
		w, err := ParseWork(text)
		if err != nil {
			return
		}
		if _, err := w.SLS(); err != nil {
			t.Errorf("what was read names no SLS: %v", err)
		}
		if again, err := w.Encode(); err == nil {
			if _, err := ParseWork(again); err != nil {
				t.Errorf("%s is not read again: %v", again, err)
			}
		}
	})
}
