package file_test

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/grains"
	"brine/modules/pillar"
	"brine/states/file"
)

// TestMain sets the usual umask: it decides the modes of new files.
func TestMain(m *testing.M) {
	syscall.Umask(0o022)
	os.Exit(m.Run())
}

// A rig is a machine to try states on: one in memory, or this one below a
// temporary directory.
type rig struct {
	t    *testing.T
	env  *fun.Env
	fake *host.Fake // nil on this machine
	dir  string     // where the test's files are
	low  []*fun.Chunk
}

// each runs a test on a machine in memory and on this one.
func each(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Run("fake", func(t *testing.T) {
		t.Parallel()
		test(t, fakeRig(t))
	})
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		test(t, localRig(t))
	})
}

func fakeRig(t *testing.T) *rig {
	f := host.NewFake()
	for _, d := range []string{"/testdir", "/salt", "/cache"} {
		f.PutDir(d, 0o755)
	}
	f.Handle(func(c host.Cmd) bool { return filepath.Base(c.Argv[0]) == "grep" }, func(_ context.Context, c host.Cmd) (host.Output, error) {
		status := 1
		if strings.Contains(f.Text(c.Argv[len(c.Argv)-1]), c.Argv[len(c.Argv)-2]) {
			status = 0
		}
		return host.Output{Status: status}, nil
	})
	f.PutExe("/usr/bin/grep")
	r := &rig{t: t, fake: f, dir: "/testdir"}
	r.start(f, "/salt", "/cache")
	return r
}

func localRig(t *testing.T) *rig {
	base := t.TempDir()
	for _, d := range []string{"t", "salt", "cache"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{t: t, dir: filepath.Join(base, "t")}
	r.start(host.NewLocal(), filepath.Join(base, "salt"), filepath.Join(base, "cache"))
	return r
}

func (r *rig) start(h host.Host, root, cache string) {
	opts := value.MapOf("cachedir", cache, "hash_type", "sha256", "file_roots", value.MapOf("base", value.Strings(root)))
	r.env = &fun.Env{
		Identity: fun.Identity{ID: "minion1", SaltEnv: "base"},
		Data:     fun.Data{Opts: opts, Memo: &fun.Memo{}, Grains: value.MapOf("id", "minion1", "banner", "from grain"), Pillar: value.MapOf("text", "from\npillar\n", "nothing", nil, "data", value.MapOf("x", value.NewList(int64(1), int64(2))))},
		Machine:  fun.Machine{Host: h, CacheDir: cache},
		UI:       fun.UI{Logger: slog.New(slog.DiscardHandler)},
		Functions: fun.Functions{Table: fun.NewTable([]fun.Entry{
			{Kind: fun.State, Name: "file", Load: file.States},
			{Kind: fun.Exec, Name: "cmd", Load: cmd.Module},
			{Kind: fun.Exec, Name: "pillar", Load: pillar.Module},
			{Kind: fun.Exec, Name: "grains", Load: grains.Module},
		})},
	}
	r.env.Up = &fileserver.Local{Server: fileserver.New(h, fileserver.RootsOf(opts, "file_roots"))}
	r.env.Invoker = dispatch.New(r.env)
	r.env.Run = r
}

// dirs makes directories.
func (r *rig) dirs(paths ...string) {
	r.t.Helper()
	for _, p := range paths {
		if err := r.env.Host.MkdirAll(r.at(p).(string), 0o755); err != nil {
			r.t.Fatal(err)
		}
	}
}

// tools gives a machine in memory mknod(1) for pipes, and a patch(1) that
// knows one patch: old becomes new.
func (r *rig) tools() {
	if r.fake == nil {
		for _, tool := range []string{"mknod", "patch"} {
			if _, err := exec.LookPath(tool); err != nil {
				r.t.Skip(err)
			}
		}
		return
	}
	f := r.fake
	f.HandleCommand("mknod -m *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		f.PutSpecial(c.Argv[3], fs.ModeNamedPipe|0o600)
		return host.Output{}, nil
	})
	f.PutExe("/usr/bin/patch")
	f.HandleCommand("/usr/bin/patch *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		target := c.Argv[len(c.Argv)-1]
		from, to := "old", "new"
		if slices.Contains(c.Argv, "-R") {
			from, to = to, from
		}
		fits := strings.Contains(f.Text(target), from)
		if i := slices.Index(c.Argv, "-r"); i > 0 && !fits {
			f.PutFile(c.Argv[i+1], "rejected", 0o600)
		}
		if !fits {
			return host.Output{Status: 1, Stdout: []byte("Hunk #1 FAILED at 1.\n")}, nil
		}
		if !slices.Contains(c.Argv, "-o") && !slices.Contains(c.Argv, "--dry-run") {
			f.PutFile(target, strings.ReplaceAll(f.Text(target), from, to), 0o644)
		}
		return host.Output{Stdout: []byte("patching file f\n")}, nil
	})
}

// Low and the others make a rig the view of a run.
func (r *rig) Low() []*fun.Chunk        { return r.low }
func (r *rig) Running() *value.Map      { return value.NewMap(0) }
func (r *rig) Return(string) *value.Map { return nil }
func (r *rig) path(names ...string) string {
	return filepath.Join(append([]string{r.dir}, names...)...)
}

// at replaces @ in text by the test's directory, in data too.
func (r *rig) at(v value.Value) value.Value {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "@", r.dir)
	case *value.List:
		l := &value.List{}
		for _, x := range v.Items {
			l.Append(r.at(x))
		}
		return l
	}
	return v
}

func (r *rig) back(s string) string { return strings.ReplaceAll(s, r.dir, "@") }

// put writes a file, whose path begins with @ or salt://.
func (r *rig) put(path, text string, mode os.FileMode) {
	r.t.Helper()
	p := r.at(path).(string)
	if rel, ok := strings.CutPrefix(path, "salt://"); ok {
		p = filepath.Join(filepath.Dir(r.env.CacheDir), "salt", rel)
	}
	h := r.env.Host
	if err := h.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := h.WriteFile(p, strings.NewReader(text), host.WriteOptions{Mode: &mode}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) link(target, path string) {
	r.t.Helper()
	if err := r.env.Host.Symlink(r.at(target).(string), r.at(path).(string)); err != nil {
		r.t.Fatal(err)
	}
}

// text returns the content of a file, or that it is missing.
func (r *rig) text(path string) string {
	b, err := r.env.Host.ReadFile(r.at(path).(string))
	if err != nil {
		return "(missing)"
	}
	return string(b)
}

// mode returns the permissions of a file in octal.
func (r *rig) mode(path string) string {
	st, err := r.env.Host.Lstat(r.at(path).(string))
	if err != nil {
		return "(missing)"
	}
	return value.Str(int64(st.Perm()>>6&7)) + value.Str(int64(st.Perm()>>3&7)) + value.Str(int64(st.Perm()&7))
}

// call binds and calls a state as a run does.
func (r *rig) call(ctx context.Context, fn string, test bool, kv ...value.Value) fun.Ret {
	r.t.Helper()
	mod, spec, ok := r.env.Table.Lookup(fun.State, "file."+fn)
	if !ok {
		r.t.Fatalf("no function %q", fn)
	}
	low := value.NewMap(len(kv))
	for i := 0; i+1 < len(kv); i += 2 {
		low.Set(kv[i], r.at(kv[i+1]))
	}
	c, err := r.env.Invoker.Bind(mod, spec, fun.Args{Kw: low})
	if err != nil {
		return fun.Raise(err)
	}
	c.Name, c.Test, c.Env = value.Str(low.At("name")), test, r.env
	c.Low = &fun.Chunk{State: "file", Fun: fn, ID: "id", Name: c.Name, SLS: "s", SaltEnv: "base", Low: low}
	return spec.State(ctx, c)
}

// run calls a state and shows its return: result, comment, changes.
func (r *rig) run(fn string, test bool, kv ...value.Value) string {
	r.t.Helper()
	return r.show(r.call(context.Background(), fn, test, kv...))
}

func (r *rig) show(ret fun.Ret) string {
	if ret.Err != nil {
		return r.back("raises " + ret.Err.Error())
	}
	s := value.Str(ret.Result.Value()) + " " + value.Str(ret.Comment)
	if m, ok := ret.Changes.(*value.Map); ok && m.Len() > 0 {
		s += " " + value.Repr(m)
	}
	return r.back(s)
}

// owner returns user and group that the rig runs as.
func (r *rig) owner() string {
	h := r.env.Host
	a, err := h.LookupUID(h.Geteuid())
	if err != nil {
		r.t.Skip("the user has no name: ", err)
	}
	g, err := h.LookupGID(a.GID)
	if err != nil {
		r.t.Skip("the group has no name: ", err)
	}
	return a.Name + ":" + g.Name
}
