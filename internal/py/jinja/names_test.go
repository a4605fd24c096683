package jinja

import "testing"

// TestNames finds everything that is listed.
func TestNames(t *testing.T) {
	t.Parallel()
	env := New(Options{}, nil)
	for _, name := range env.FilterNames() {
		if _, ok := env.filter(name); !ok {
			t.Errorf("filter %q is listed but not there", name)
		}
	}
	for _, name := range env.TestNames() {
		if _, ok := env.test(name); !ok {
			t.Errorf("test %q is listed but not there", name)
		}
	}
	for _, name := range env.GlobalNames() {
		if _, ok := env.global(name); !ok {
			t.Errorf("global %q is listed but not there", name)
		}
	}
}
