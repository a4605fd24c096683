package assembly

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// systemHost is a machine with the usual directories, a user in each of some, and
// links to /etc and / in a directory of the user's.
func systemHost() *host.Fake {
	f := fakeHost()
	for _, d := range []string{"/boot", "/dev", "/opt", "/proc", "/run", "/srv", "/sys", "/usr/lib", "/usr/sbin", "/var/lib", "/data/work", "/data/home"} {
		f.PutDir(d, 0o755)
	}
	for link, to := range map[string]string{"/lib": "usr/lib", "/sbin": "/usr/sbin", "/data/app/etc": "/etc", "/data/app/all": "/"} {
		f.PutLink(link, to)
	}
	for _, file := range []string{"/etc/passwd", "/usr/lib/libc.so", "/home/a/.profile", "/data/app/file", "/data/app/dir/file"} {
		f.PutFile(file, "x\n", 0o644)
	}
	for i, home := range []string{"/", "/home", "/bin", "/data/app/etc"} {
		f.PutUser(host.Account{Name: fmt.Sprintf("user%d", i), UID: 2000 + i, Home: home, Shell: "/bin/sh"})
	}
	for _, p := range []string{"rsync", "setfacl", "getfacl", "git", "virtualenv", "userdel", "usermod"} {
		f.PutExe("/usr/bin/" + p)
	}
	return f
}

// A destroyer is a call that removes its path, or changes all that is in it.
type destroyer struct {
	kind   fun.Kind
	name   string
	follow bool // what a link at the path leads to
	args   func(path string) fun.Args
}

func pos(args ...value.Value) func(string) fun.Args {
	return func(path string) fun.Args {
		all := slices.Clone(args)
		for i, a := range all {
			if a == "@" {
				all[i] = path
			}
		}
		return fun.Args{Pos: all, Kw: value.NewMap(0)}
	}
}

func kw(args ...value.Value) func(string) fun.Args {
	return func(path string) fun.Args {
		all := pos(args...)(path).Pos
		return fun.Args{Kw: value.MapOf(all...)}
	}
}

var destroyers = []destroyer{
	{fun.Exec, "file.remove", false, pos("@")},
	{fun.Exec, "file.rename", false, pos("@", "/data/gone")},
	{fun.Exec, "file.rename", false, pos("/data/app/dir", "@")},
	{fun.Exec, "file.move", false, pos("@", "/data/gone")},
	{fun.Exec, "file.rmdir", true, pos("@")},
	{fun.Exec, "file.rmdir", true, kw("path", "@", "recurse", true)},
	{fun.Exec, "file.symlink", false, kw("src", "/data/app/file", "path", "@", "force", true)},
	{fun.Exec, "file.copy", false, kw("src", "/data/app/dir", "dst", "@", "recurse", true, "remove_existing", true)},
	{fun.Exec, "file.find", true, kw("path", "@", "delete", "f", "name", "nothing-at-all")},
	{fun.Exec, "acl.modfacl", true, func(p string) fun.Args {
		return fun.Args{Pos: []value.Value{"user", "nobody", "rwx", p}, Kw: value.MapOf("recursive", true)}
	}},
	{fun.Exec, "acl.wipefacls", true, func(p string) fun.Args { return fun.Args{Pos: []value.Value{p}, Kw: value.MapOf("recursive", true)} }},
	{fun.Exec, "rsync.rsync", true, kw("src", "/data/app/", "dst", "@", "delete", true)},
	{fun.Exec, "virtualenv.create", true, kw("path", "@", "clear", true)},
	{fun.State, "file.absent", false, kw("name", "@")},
	{fun.State, "file.directory", true, kw("name", "@", "clean", true)},
	{fun.State, "file.directory", true, kw("name", "@", "user", "nobody", "recurse", value.Strings("user"))},
	{fun.State, "file.directory", true, kw("name", "@", "mode", "0700", "recurse", value.Strings("mode"), "max_depth", int64(1))},
	{fun.State, "file.recurse", true, kw("name", "@", "source", "salt://tree", "clean", true)},
	{fun.State, "file.tidied", true, kw("name", "@", "age", int64(1))},
	{fun.State, "file.pruned", true, kw("name", "@", "recurse", true)},
	{fun.State, "file.rename", false, kw("name", "/data/gone", "source", "@")},
	{fun.State, "file.rename", false, kw("name", "@", "source", "/data/app/dir", "force", true)},
	{fun.State, "file.copy", false, kw("name", "@", "source", "/data/app/dir", "force", true)},
	{fun.State, "file.symlink", false, kw("name", "@", "target", "/data/app/file", "force", true)},
	{fun.State, "file.retention_schedule", true, kw("name", "@", "retain", value.MapOf("most_recent", int64(1)))},
	{fun.State, "acl.present", true, kw("name", "@", "acl_type", "user", "acl_name", "nobody", "perms", "rwx", "recurse", true)},
	{fun.State, "git.present", true, kw("name", "@", "force", true)},
	{fun.State, "git.latest", true, kw("name", "/data/repo", "target", "@", "force_clone", true)},
	{fun.State, "rsync.synchronized", true, kw("name", "@", "source", "/data/work", "delete", true)},
}

// spellings are ways to write a directory of the system.
var spellings = []string{
	"/", "//", "/.", "/etc/..", "/data/app/../..", "/etc", "/etc/", "//etc", "/./etc", "/etc/.", "/etc/../etc", "/data/app/all/etc",
	"/data/app/all/usr/", "/usr", "/usr/lib", "/lib", "/var", "/home", "/bin", "/sbin", "/root", "/srv", "/tmp", "/boot", "/opt", "/run", "/sys", "/proc", "/dev",
}

// said returns how a call ended, as one text, and whether it succeeded.
func said(env *fun.Env, d destroyer, args fun.Args) (text string, ok bool) {
	res, err := env.Invoker.Invoke(context.Background(), d.kind, d.name, args)
	if err != nil {
		return err.Error(), false
	}
	if m, is := res.Value.(*value.Map); is && d.kind == fun.State {
		return value.Str(m.At("comment")), m.At("result") != false
	}
	return value.Repr(res.Value), true
}

// Whatever removes a system directory, or changes all that is in it, is refused
// before anything is touched, in test mode too.
func TestSystemDirectoriesAreSpared(t *testing.T) {
	t.Parallel()
	for _, d := range destroyers {
		paths := slices.Clone(spellings)
		if d.follow {
			paths = append(paths, "/data/app/etc", "/data/app/all", "/data/app/all/")
		}
		for _, path := range paths {
			for _, test := range []bool{true, false} {
				f := systemHost()
				env, _ := fakeEnv(f)
				env.Opts.Set("test", test)
				text, ok := said(env, d, d.args(path))
				if ok || !strings.Contains(text, "is a system directory (force_system_path: True allows it)") && text != `Refusing to make "/" absent` {
					t.Errorf("%s %s, test=%v: %v %q", d.name, path, test, ok, text)
				}
				if w := f.Writes(); len(w) > 0 {
					t.Errorf("%s %s, test=%v: wrote %v", d.name, path, test, w)
				}
				for _, c := range f.Calls() {
					if !slices.Contains([]string{"getfacl", "git"}, filepath.Base(c.Argv[0])) {
						t.Errorf("%s %s, test=%v: ran %v", d.name, path, test, c.Argv)
					}
				}
			}
		}
	}
}

// Other paths, links to system directories, and calls that are not recursive are
// not refused.
func TestOtherPathsAreNotSpared(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		d    destroyer
		path string
	}{
		{destroyer{fun.Exec, "file.remove", false, pos("@")}, "/data/app/etc"},
		{destroyer{fun.Exec, "file.remove", false, pos("@")}, "/data/work"},
		{destroyer{fun.Exec, "file.remove", false, pos("@")}, "/etc/passwd"},
		{destroyer{fun.Exec, "file.remove", false, pos("@")}, "/var/lib"},
		{destroyer{fun.State, "file.absent", false, kw("name", "@")}, "/home/a"},
		{destroyer{fun.State, "file.directory", false, kw("name", "@", "mode", "1777")}, "/tmp"},
		{destroyer{fun.State, "file.directory", false, kw("name", "@", "user", "nobody", "recurse", value.Strings("user"))}, "/home/a"},
		{destroyer{fun.Exec, "file.chown", false, pos("@", "root", "root")}, "/srv"},
		{destroyer{fun.State, "file.symlink", false, kw("name", "@", "target", "usr/lib", "force", true)}, "/lib"},
	} {
		env, _ := fakeEnv(systemHost())
		env.Opts.Set("test", false)
		if text, ok := said(env, tt.d, tt.d.args(tt.path)); !ok {
			t.Errorf("%s %s: %q", tt.d.name, tt.path, text)
		}
	}
}

// force_system_path is the way round, for that call alone.
func TestForceSystemPath(t *testing.T) {
	t.Parallel()
	for _, d := range destroyers {
		f := systemHost()
		env, _ := fakeEnv(f)
		env.Opts.Set("test", false)
		args := d.args("/srv")
		args.Kw.Set("force_system_path", true)
		if text, _ := said(env, d, args); strings.Contains(text, "system directory") {
			t.Errorf("%s: %q", d.name, text)
		}
		if err := env.Host.RemoveAll("/etc"); !errors.As(err, new(*host.SystemPathError)) {
			t.Errorf("%s: afterwards RemoveAll(/etc) = %v", d.name, err)
		}
	}
}

// A user whose home directory is a system directory is not removed with it.
func TestHomeDirectoriesOfTheSystemAreSpared(t *testing.T) {
	t.Parallel()
	for _, d := range []destroyer{
		{fun.Exec, "user.delete", false, kw("name", "@", "remove", true)},
		{fun.Exec, "user.chhome", false, kw("name", "@", "home", "/data/home/x", "persist", true)},
		{fun.State, "user.absent", false, kw("name", "@", "purge", true)},
	} {
		for i := range 4 {
			f := systemHost()
			env, _ := fakeEnv(f)
			env.Opts.Set("test", false)
			text, ok := said(env, d, d.args(fmt.Sprintf("user%d", i)))
			if ok || !strings.Contains(text, "system directory") {
				t.Errorf("%s user%d: %v %q", d.name, i, ok, text)
			}
			if calls := f.Calls(); len(calls) > 0 {
				t.Errorf("%s user%d: ran %v", d.name, i, calls)
			}
		}
	}
}
