package redact

import (
	"slices"
	"testing"

	"brine/internal/py/value"
)

func TestArgs(t *testing.T) {
	t.Parallel()
	names := []string{"name", "password"}
	tuple := value.Tuple{"a", "b"}
	pos := []value.Value{"root", "$6$x", tuple}
	kw := value.MapOf(
		"pillar", value.MapOf("a", int64(1)), "db_password", "x", "Api-Key", "y", "enforce_password", true, "hash_password", false, "passwd", nil, "token", "",
		"tokens", "kept", "nested", value.MapOf("list", value.NewList(value.MapOf("passphrase", "z", "ok", tuple))), "secret", int64(7),
	)
	got := value.Repr(Args(names, pos, kw))
	want := value.Repr(value.NewList("root", Hidden, tuple, value.MapOf(
		"__kwarg__", true, "db_password", Hidden, "Api-Key", Hidden, "enforce_password", true, "hash_password", false, "passwd", nil, "token", "",
		"tokens", "kept", "nested", value.MapOf("list", value.NewList(value.MapOf("passphrase", Hidden, "ok", tuple))), "secret", Hidden,
	)))
	if got != want {
		t.Errorf("Args =\n%s, want\n%s", got, want)
	}
	if kw.Str("db_password") != "x" || pos[1] != "$6$x" || kw.Map("nested").List("list").Items[0].(*value.Map).Str("passphrase") != "z" {
		t.Error("the call's own arguments were changed")
	}
	if got, want := LeftOut(names, pos, kw), []string{"password", "pillar", "db_password", "Api-Key", "nested", "secret"}; !slices.Equal(got, want) {
		t.Errorf("LeftOut = %q, want %q", got, want)
	}
	declared := value.Repr(Args([]string{"name", "answer"}, []value.Value{"a", "x"}, value.MapOf("stdin", "y", "word", "z"), "answer", "word"))
	if want := value.Repr(value.NewList("a", Hidden, value.MapOf("__kwarg__", true, "stdin", Hidden, "word", Hidden))); declared != want {
		t.Errorf("Args with declared secrets = %s, want %s", declared, want)
	}
	if got := value.Repr(Args(nil, []value.Value{"x"}, nil)); got != "['x']" {
		t.Errorf("Args of a function that is not known = %s", got)
	}
}
