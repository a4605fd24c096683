package turn

import (
	"fmt"
	"testing"
)

// Each test is in one part, and no part has nothing to do.
func TestParts(t *testing.T) {
	t.Parallel()
	const n = 3
	var sizes [n]int
	for i := range 300 {
		parts := 0
		for k := range n {
			ok, err := in(fmt.Sprintf("%d/%d", k, n), fmt.Sprintf("TestMachines/case/m-%d", i))
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				parts++
				sizes[k]++
			}
		}
		if parts != 1 {
			t.Errorf("test %d is in %d parts", i, parts)
		}
	}
	for k, size := range sizes {
		if size < 70 {
			t.Errorf("part %d has %d tests of 300", k, size)
		}
	}
}

func TestBadParts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"3/3", "1", "a/b", "-1/3", "1/3x", "1/0", "/"} {
		if _, err := in(text, "TestX"); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	if ok, err := in("", "TestX"); !ok || err != nil {
		t.Errorf("all: %t, %v", ok, err)
	}
}
