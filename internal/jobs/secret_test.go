package jobs

import (
	"slices"
	"testing"

	"brine/internal/fun"
	"brine/internal/value"
)

func TestSecretsAreNotRecorded(t *testing.T) {
	t.Parallel()
	spec := &fun.Spec{Args: []fun.Arg{{Name: "name"}, {Name: "password"}}}
	tuple := value.Tuple{"a", "b"}
	pos := []value.Value{"root", "$6$x", tuple}
	kw := value.MapOf(
		"pillar", value.MapOf("a", int64(1)), "db_password", "x", "Api-Key", "y", "enforce_password", true, "hash_password", false, "passwd", nil, "token", "",
		"tokens", "kept", "nested", value.MapOf("list", value.NewList(value.MapOf("passphrase", "z", "ok", tuple))), "secret", int64(7),
	)
	got := value.Repr(SafeArgs(spec, pos, kw))
	want := value.Repr(value.NewList("root", Hidden, tuple, value.MapOf(
		"__kwarg__", true, "db_password", Hidden, "Api-Key", Hidden, "enforce_password", true, "hash_password", false, "passwd", nil, "token", "",
		"tokens", "kept", "nested", value.MapOf("list", value.NewList(value.MapOf("passphrase", Hidden, "ok", tuple))), "secret", Hidden,
	)))
	if got != want {
		t.Errorf("SafeArgs =\n%s, want\n%s", got, want)
	}
	if kw.Str("db_password") != "x" || pos[1] != "$6$x" || kw.Map("nested").List("list").Items[0].(*value.Map).Str("passphrase") != "z" {
		t.Error("the call's own arguments were changed")
	}
	if got, want := LeftOut(spec, pos, kw), []string{"password", "pillar", "db_password", "Api-Key", "nested", "secret"}; !slices.Equal(got, want) {
		t.Errorf("LeftOut = %q, want %q", got, want)
	}
	if got := value.Repr(SafeArgs(nil, []value.Value{"x"}, nil)); got != "['x']" {
		t.Errorf("SafeArgs of a function that is not known = %s", got)
	}
	low := value.MapOf("state", "salt", "kwarg", value.MapOf("password", "x"), "pillar", value.MapOf("p", "q"))
	if got := withoutSecrets(low); got.Map("kwarg").Str("password") != Hidden || len(got.Str("pillar")) != 71 || low.Map("kwarg").Str("password") != "x" {
		t.Errorf("withoutSecrets = %s", value.Repr(got))
	}
}
