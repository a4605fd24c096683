package cmd_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// owners notes in which order files are given away, and whether the program that
// is run may still be replaced by its new owner.
type owners struct {
	host.Host
	given []string
}

func (o *owners) Chown(path string, _, _ int) error {
	o.given = append(o.given, "followed "+path)
	return nil
}

func (o *owners) Lchown(path string, _, _ int) error {
	if st, err := o.Lstat(path); err != nil || st.UID != 0 {
		o.given = append(o.given, "gone "+path)
	}
	o.given = append(o.given, path)
	return nil
}

// TestHostileScript has root hand scripts to an account, which may put a link in
// the place of the file as soon as it owns the directory: the file goes first,
// the directory last, and no link is followed.
func TestHostileScript(t *testing.T) {
	t.Parallel()
	for _, fn := range []string{"script", "exec_code_all"} {
		f := host.NewFake()
		f.PutUser(host.Account{Name: "mallory", UID: 61234, GID: 61234, Home: "/home/mallory"})
		f.PutFile("/s.sh", "#!/bin/sh\n", 0o755)
		f.PutDir("/tmp", 0o777)
		f.PutExe("/bin/sh")
		f.Handle(func(host.Cmd) bool { return true }, func(context.Context, host.Cmd) (host.Output, error) { return host.Output{}, nil })
		h := &owners{Host: f}
		e := env(h)
		kw := value.MapOf("runas", "mallory")
		pos := []value.Value{"/s.sh"}
		if fn == "exec_code_all" {
			pos = []value.Value{"sh", "true"}
		}
		_, err := call(t.Context(), e, fn, kw, pos...)
		if len(h.given) != 2 || !filepath.IsAbs(h.given[0]) || filepath.Dir(h.given[0]) != h.given[1] || !strings.Contains(h.given[1], "brine-script-") {
			t.Errorf("%s gave away %q, %v; want the file, then its directory", fn, h.given, err)
		}
	}
}
