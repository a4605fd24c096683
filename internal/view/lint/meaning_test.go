package lint

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/target"
	"brine/internal/py/value"
)

// TestMeaning: what is said of two targets holds for all IDs that were tried, and most of what
// holds is said.
func TestMeaning(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(29, 1))
	ids := []string{""}
	for at := 0; len(ids[at]) < 5; at++ {
		for _, c := range "ab-" {
			ids = append(ids, ids[at]+string(c))
		}
	}
	word := func() string {
		var b strings.Builder
		for range 1 + rnd.IntN(4) {
			b.WriteString([]string{"a", "b", "-", "*", "?", "[ab]", "[!a]", "["}[rnd.IntN(8)])
		}
		switch w := b.String(); rnd.IntN(6) {
		case 0:
			return "L@a" + strings.NewReplacer("*", ",", "[", "").Replace(w) + ",b"
		case 1:
			return "E@" + strings.NewReplacer("*", ".*", "?", ".", "[", "a").Replace(strings.NewReplacer("[ab]", "b", "[!a]", "-").Replace(w))
		default:
			return w
		}
	}
	compound := func() string {
		w := word()
		for rnd.IntN(3) == 0 {
			w += []string{" and ", " or ", " and not "}[rnd.IntN(3)] + word()
		}
		return w
	}
	matches := func(w string) (out []string) {
		m, err := target.Compile(w, "compound", nil)
		if err != nil {
			t.Fatalf("%s: %v", w, err)
		}
		for _, id := range ids {
			if ok, err := m.Match(target.Minion{ID: id}); err == nil && ok {
				out = append(out, id)
			}
		}
		return out
	}
	said, holds := 0, 0
	for range 3000 {
		a, b := compound(), compound()
		if rnd.IntN(2) == 0 {
			a += " and " + b
		}
		in, of := meaningOf(value.NewMap(0), "", nil, a, "compound"), meaningOf(value.NewMap(0), "", nil, b, "compound")
		inner, outer := matches(a), matches(b)
		within := !slices.ContainsFunc(inner, func(id string) bool { return !slices.Contains(outer, id) })
		both := slices.ContainsFunc(inner, func(id string) bool { return slices.Contains(outer, id) })
		if in.implies(of) {
			said++
			if !within {
				t.Errorf("%q is not within %q", a, b)
			}
		}
		if within {
			holds++
		}
		if !in.meets(of) && both {
			t.Errorf("%q and %q meet", a, b)
		}
		if len(in.possible()) == 0 && len(inner) > 0 {
			t.Errorf("%q matches %q", a, inner)
		}
	}
	if said < holds*8/10 {
		t.Errorf("said %d of %d", said, holds)
	}
}
