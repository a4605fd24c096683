package ui

import (
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/kept"
)

// TestParseTokens reads lines that are right, and those that are not.
func TestParseTokens(t *testing.T) {
	t.Parallel()
	text, hash := NewToken()
	const created = " created=2026-11-29T12:00:00Z"
	good := "ci role=operator" + created + " expires=2026-12-29T12:00:00Z chains=friday,web-* sha256=" + hash
	all, err := ParseTokens("f", []byte("# comment\n\n"+good+"\nx role=viewer"+created+" sha256="+strings.Repeat("0", 64)+"\n"))
	if err != nil || len(all.All()) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	x := all.of(text)
	if x == nil || x.String() != good || all.of(text+"x") != nil || all.of("") != nil {
		t.Errorf("found %v", x)
	}
	if x.Expired(x.Expires.Add(-time.Second)) || !x.Expired(x.Expires) || all.Find("x").Expired(x.Expires.Add(1e6*time.Hour)) {
		t.Error("when it expires")
	}
	for _, tt := range [][2]string{
		{"ci role=operator" + created, "role, created and sha256 are required"},
		{"ci sha256=" + hash + created, "role, created and sha256 are required"},
		{"ci role=root", `unknown role "root"`},
		{"ci role=nobody" + created + " sha256=" + hash, `unknown role "nobody"`},
		{"ci chain=x", `unknown word "chain=x" (did you mean "chains"?)`},
		{"ci role", `unknown word "role"`},
		{"ci role=viewer role=editor", "role is given twice"},
		{"ci created=now", `created: "now" is not a time`},
		{"ci expires=", `expires: "" is not a time`},
		{"ci sha256=abc", "sha256 must have 64 hexadecimal digits"},
		{"ci chains=", `invalid glob ""`},
		{"ci chains=[", `invalid glob "["`},
		{"ci:x role=viewer", `invalid token name "ci:x"`},
		{good + "\n" + good, `f:2: token "ci" is in the file twice`},
	} {
		if _, err := ParseTokens("f", []byte(tt[0])); err == nil || !strings.Contains(err.Error(), tt[1]) {
			t.Errorf("%s: %v, want %s", tt[0], err, tt[1])
		}
	}
}

// TestScope has what tokens with and without limits may see.
func TestScope(t *testing.T) {
	t.Parallel()
	none, some := Scope{}, Scope{Chains: []string{"friday", "web-*"}}
	for _, tt := range []struct {
		x          Scope
		kind, name string
		want       bool
	}{
		{none, kept.Chains, "x", true},
		{none, kept.Jobs, "x", true},
		{some, kept.Chains, "friday", true},
		{some, kept.Chains, "web-1", true},
		{some, kept.Chains, "friday2", false},
		{some, kept.Orchestrations, "friday", false},
		{some, kept.Templates, "friday", false},
		{some, kept.Jobs, "friday", false},
		{some, kept.Hosts, "friday", false},
	} {
		if got := tt.x.allows(tt.kind, tt.name); got != tt.want {
			t.Errorf("%v: %s %s: %v", tt.x, tt.kind, tt.name, got)
		}
	}
}

// TestTokenUses forgets what was used before a token was made.
func TestTokenUses(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	all := &Tokens{all: []*Token{{Name: "a", Created: made}, {Name: "b", Created: made}}}
	u := ParseTokenUses([]byte("a 2026-11-29T12:00:00Z\nb 2026-11-29T11:59:59Z\ngone 2026-11-30T00:00:00Z\nx\n\nb never\n"))
	if got := string(u.Text(all)); got != "a 2026-11-29T12:00:00Z\n" {
		t.Errorf("uses:\n%s", got)
	}
}
