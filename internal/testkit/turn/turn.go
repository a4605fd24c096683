// Package turn shares costly tests out among commits: the CI of a commit runs a part of
// them, and names those that it did not run. Everything else runs all of them.
package turn

import (
	"fmt"
	"hash/fnv"
	"os"
	"testing"
)

// Variable names the part that runs: "0/3" is the first third; "" or unset is all.
const Variable = "BRINE_TEST_TURN"

// Skip skips a test that is not in the part that runs now. A test is always in the same
// part, by its name.
func Skip(t testing.TB) {
	t.Helper()
	text := os.Getenv(Variable)
	in, err := in(text, t.Name())
	if err != nil {
		t.Fatal(err)
	}
	if !in {
		t.Skipf("not its turn: %s is %s", Variable, text)
	}
}

// in reports whether a test is in a part.
func in(part, name string) (bool, error) {
	if part == "" {
		return true, nil
	}
	var k, n uint32
	if c, err := fmt.Sscanf(part+"\n", "%d/%d\n", &k, &n); c != 2 || err != nil || k >= n {
		return false, fmt.Errorf("%s is %q: want K/N, the part K of N, counted from 0", Variable, part)
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()%n == k, nil
}
