package fun_test

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	marked := func() *value.Map { return value.MapOf("__kwarg__", true, "a", int64(1)) }
	arg := value.NewList("x", value.NewList(marked()), marked())
	for name, want := range map[string]string{
		"test.arg":          `['x', [{'__kwarg__': True, 'a': 1}], {'a': 1}]`,
		"test.arg,test.arg": `['x', [{'a': 1}], {'a': 1}]`,
	} {
		if got := value.Str(fun.Plain(name, arg)); got != want {
			t.Errorf("Plain(%s) = %s, want %s", name, got, want)
		}
	}
	if got := value.Str(arg); got != `['x', [{'__kwarg__': True, 'a': 1}], {'__kwarg__': True, 'a': 1}]` {
		t.Errorf("Plain changed its argument: %s", got)
	}
	if got := fun.Plain("test.ping", nil); got.Len() != 0 {
		t.Errorf("of nil: %v", got)
	}
}
