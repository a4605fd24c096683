package fileserver

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

func TestPushed(t *testing.T) {
	cache := t.TempDir()
	push := func(name, text string) {
		p := filepath.Join(cache, "minions", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	server := func(opts ...any) *Server {
		o := value.MapOf(opts...)
		if !o.Has("file_recv") {
			o.Set("file_recv", true)
		}
		return Over(host.NewLocal(), &Roots{}, NewPushed(host.NewLocal(), cache, o))
	}
	list := func(s *Server, env string) string {
		t.Helper()
		files, err := s.List(t.Context(), env, "")
		if err != nil {
			return "error: " + err.Error()
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Path)
		}
		return strings.Join(names, " ")
	}
	live := server()
	if got := list(live, "base"); got != "" {
		t.Errorf("before the first file: %s", got)
	}
	push("web1/files/etc/hosts", "of web1")
	push("web1/files/srv/top.sls", "x")
	push("web1/data.p", "not a file that was pushed")
	push("web2/files/etc/hosts", "of web2")
	push("db1/files/etc/hosts", "of db1")
	if err := os.Symlink("/etc/passwd", filepath.Join(cache, "minions/db1/files/etc/out")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		opts      []any
		env, want string
	}{
		{nil, "base", "db1/etc/hosts db1/etc/out web1/etc/hosts web2/etc/hosts"},
		{nil, "dev", ""},
		{[]any{"minionfs_env", "dev"}, "dev", "db1/etc/hosts db1/etc/out web1/etc/hosts web2/etc/hosts"},
		{[]any{"minionfs_env", "dev"}, "base", ""},
		{[]any{"minionfs_mountpoint", "salt://pushed/here"}, "base", "pushed/here/db1/etc/hosts pushed/here/db1/etc/out pushed/here/web1/etc/hosts pushed/here/web2/etc/hosts"},
		{[]any{"minionfs_whitelist", value.Strings("web*")}, "base", "web1/etc/hosts web2/etc/hosts"},
		{[]any{"minionfs_whitelist", value.Strings(`web\d`), "minionfs_blacklist", "web2"}, "base", "web1/etc/hosts"},
		{[]any{"minionfs_blacklist", value.Strings("web*", "db1")}, "base", ""},
		{[]any{"file_recv", false}, "base", "error: fileserver_backend minionfs needs file_recv: True, without which no target can push files"},
		{[]any{"minionfs_mountpoint", "../x"}, "base", `error: minionfs_mountpoint "../x" leads out of the tree`},
	} {
		if got := list(server(tt.opts...), tt.env); got != tt.want {
			t.Errorf("%v: %s\nwant: %s", tt.opts, got, tt.want)
		}
	}

	// Files that are pushed during a run are seen at once, where they are asked for by name.
	push("new/files/a", "just now")
	for name, want := range map[string]error{
		"new/a": nil, "web1/etc/hosts": nil, "web1/srv/top.sls": fs.ErrNotExist, "db1/etc/out": fs.ErrPermission,
		"web1/../../data.p": fs.ErrPermission, "web1/../web1/etc/hosts": nil, "data.p": fs.ErrNotExist, "web1": nil,
	} {
		if _, err := live.Stat(t.Context(), "base", name); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if envs, err := live.Envs(t.Context()); err != nil || !slices.Equal(envs, []string{"base"}) {
		t.Errorf("saltenvs: %v %v", envs, err)
	}
}
