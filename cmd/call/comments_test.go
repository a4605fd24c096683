package call

import (
	"bytes"
	"testing"

	"brine/cmd/app"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

func TestWithoutMasterLog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want value.Value }{
		{value.Strings("Rendering SLS 'x' failed. Please see master log for details."), value.Strings("Rendering SLS 'x' failed.")},
		{
			value.MapOf("a", value.MapOf("result", false, "comment", "Nothing matches. Please see master log for details."), "b", value.MapOf("comment", "done")),
			value.MapOf("a", value.MapOf("result", false, "comment", "Nothing matches."), "b", value.MapOf("comment", "done")),
		},
		{"text", "text"},
		{int64(1), int64(1)},
	} {
		if got := withoutMasterLog(tt.in); value.Repr(got) != value.Repr(tt.want) {
			t.Errorf("withoutMasterLog(%s) = %s, want %s", value.Repr(tt.in), value.Repr(got), value.Repr(tt.want))
		}
	}
}

func TestSayDenied(t *testing.T) {
	t.Parallel()
	ret := func(result bool, comment string) value.Value {
		return value.MapOf("x", value.MapOf("result", result, "comment", comment))
	}
	const denied = "Unable to manage file: [Errno 13] Permission denied: '/root/x'\nmore"
	for _, tt := range []struct {
		uid  int
		in   value.Value
		want string
	}{
		{1000, ret(false, denied), "brine: this user has no permission for '/root/x'\nhint: run brine with sudo\n"},
		{1000, ret(true, denied), ""},
		{0, ret(false, denied), ""},
		{1000, ret(false, "failed"), ""},
		{1000, "text", ""},
	} {
		var errs bytes.Buffer
		h := host.NewFake()
		h.UID = tt.uid
		sayDenied(&app.App{Err: &errs, Host: h}, tt.in)
		if errs.String() != tt.want {
			t.Errorf("uid %d, %s: %q, want %q", tt.uid, value.Repr(tt.in), errs.String(), tt.want)
		}
	}
}
