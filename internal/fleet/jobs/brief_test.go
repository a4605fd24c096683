package jobs

import (
	"fmt"
	"testing"

	"brine/internal/py/value"
)

func TestDecodeBrief(t *testing.T) {
	jid := "20261121090807000000"
	load := value.MapOf(
		"jid", jid, "fun", "cmd.run", "arg", value.NewList(`a "b" {[,:\`, value.MapOf("__kwarg__", true, "x:y", "}")), "tgt", value.Strings("web1", "wéb2"), "tgt_type", "list",
		"user", "o'\"k", "ret", "", "Minions", value.Strings("web1", "web]2"), "metadata", value.MapOf("k", value.NewList(int64(1), nil, 1.5, true)), "pid", int64(42),
	)
	b := &Brief{JID: jid, Load: load, State: Interrupted, Killed: 9, Targets: 2, Bad: value.MapOf("web]2", `no "return"`), Damage: `line 3 is {cut`}
	for _, whole := range []bool{true, false} {
		got := decodeBrief(jid, string(b.encode()), whole)
		if got == nil {
			t.Fatalf("decodeBrief(whole=%v) = nil", whole)
		}
		want := load.Copy()
		if !whole {
			want.Delete("Minions")
		} else if !value.Equal(got.Bad, b.Bad) {
			t.Errorf("Bad = %v, want %v", got.Bad, b.Bad)
		}
		if !value.Equal(got.Load, want) {
			t.Errorf("Load = %s, want %s", value.Repr(got.Load), value.Repr(want))
		}
		if got.JID != jid || got.State != b.State || got.Killed != 9 || got.Targets != 2 || got.Damage != b.Damage {
			t.Errorf("decodeBrief(whole=%v) = %+v", whole, got)
		}
	}
	// Of a job with many targets, a listing needs no more than the line has.
	many := value.NewMap(0)
	for i := range 200 {
		many.Set(fmt.Sprintf("web%d.example.com", i), "no return")
	}
	b.Bad = many
	text := string(b.encode())
	if got := decodeBrief(jid, text, true); got != nil {
		t.Errorf("decodeBrief has all targets of a line without them: %v", got.Bad)
	}
	if got := decodeBrief(jid, text, false); got == nil || got.Load.Str("fun") != "cmd.run" {
		t.Errorf("decodeBrief = %+v", got)
	}
	for _, text := range []string{"", "{", "{}", `{"fun":"x"}`, `{"load":{}}`, `{"load":{"fun`, `{"load"`, `{"fun":"x","load":7}`, `[1]`, `{"load":{"fun":"x"`, `"\`} {
		for _, whole := range []bool{true, false} {
			_ = decodeBrief(jid, text, whole) // it returns
		}
	}
}
