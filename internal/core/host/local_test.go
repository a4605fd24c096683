package host

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"
)

func sh(script string) Cmd { return Cmd{Argv: []string{"sh", "-c", script}} }

func TestRun(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	umask := 0o027
	with := func(c Cmd, f func(*Cmd)) Cmd { f(&c); return c }
	for _, tt := range []struct {
		name   string
		cmd    Cmd
		out    string
		errOut string
		status int
	}{
		{"output", sh("echo out; echo err >&2; exit 3"), "out\n", "err\n", 3},
		{"merge", with(sh("echo a; echo b >&2; echo c"), func(c *Cmd) { c.Merge = true }), "a\nb\nc\n", "", 0},
		{"signal", sh("kill -9 $$"), "", "", -9},
		{"stdin is empty", sh("cat"), "", "", 0},
		{"stdin", with(sh("cat"), func(c *Cmd) { c.Stdin = strings.NewReader("hello") }), "hello", "", 0},
		{"stdin not read", with(sh("exit 0"), func(c *Cmd) { c.Stdin = strings.NewReader(strings.Repeat("x", 1<<20)) }), "", "", 0},
		{"dir", with(sh("pwd"), func(c *Cmd) { c.Dir = dir }), dir + "\n", "", 0},
		{"env", with(sh("echo $A"), func(c *Cmd) { c.Env = []string{"A=b", "PATH=" + os.Getenv("PATH")} }), "b\n", "", 0},
		{"umask", with(sh("umask"), func(c *Cmd) { c.Umask = &umask }), "0027\n", "", 0},
		{"group leader", sh(`test $$ = $(ps -o pgid= -p $$) && echo leads`), "leads\n", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := l.Run(t.Context(), tt.cmd)
			if err != nil {
				t.Fatal(err)
			}
			if string(out.Stdout) != tt.out || string(out.Stderr) != tt.errOut || out.Status != tt.status {
				t.Errorf("Run(%q) = %q, %q, %d, want %q, %q, %d", tt.cmd.Argv, out.Stdout, out.Stderr, out.Status, tt.out, tt.errOut, tt.status)
			}
		})
	}
}

func TestRunKeepsOwnUmask(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	before, err := l.Run(t.Context(), sh("umask"))
	if err != nil {
		t.Fatal(err)
	}
	u := 0o777
	for range 20 {
		if _, err := l.Run(t.Context(), Cmd{Argv: []string{"true"}, Umask: &u}); err != nil {
			t.Fatal(err)
		}
	}
	after, err := l.Run(t.Context(), sh("umask"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before.Stdout, after.Stdout) {
		t.Errorf("umask was %s, is %s", before.Stdout, after.Stdout)
	}
}

func TestRunFaults(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		cmd  Cmd
		want error
	}{
		{"nothing", Cmd{}, fs.ErrInvalid},
		{"missing", Cmd{Argv: []string{"no-such-program-here"}}, fs.ErrNotExist},
		{"missing path", Cmd{Argv: []string{"/no/such/program"}}, fs.ErrNotExist},
		{"not executable", Cmd{Argv: []string{plain}}, fs.ErrPermission},
		{"directory", Cmd{Argv: []string{"/etc"}}, fs.ErrPermission},
		{"missing dir", Cmd{Argv: []string{"true"}, Dir: "/no/such/dir"}, fs.ErrNotExist},
	} {
		if _, err := l.Run(t.Context(), tt.cmd); !errors.Is(err, tt.want) {
			t.Errorf("%s: Run = %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestRunEnds(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	c := sh("echo begun; sleep 1000 & wait")
	c.Timeout = 3 * time.Second // a shell has begun by then
	out, err := l.Run(t.Context(), c)
	if err != nil || !out.TimedOut || out.Status != -int(syscall.SIGTERM) || string(out.Stdout) != "begun\n" {
		t.Errorf("timed out: %+v, %v", out, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { time.Sleep(100 * time.Millisecond); cancel() }()
	if _, err := l.Run(ctx, sh("sleep 1000 & wait")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestRunOutputs(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	c := sh("printf 0123456789; printf abcdefghij >&2")
	c.MaxOutput = 4
	out, err := l.Run(t.Context(), c)
	if err != nil || string(out.Stdout) != "0123" || string(out.Stderr) != "abcd" || !out.Truncated {
		t.Errorf("bounded: %+v, %v", out, err)
	}
	var b bytes.Buffer
	c = sh("echo out; echo err >&2")
	c.Stdout = &b
	if out, err = l.Run(t.Context(), c); err != nil || b.String() != "out\n" || len(out.Stdout) > 0 || string(out.Stderr) != "err\n" {
		t.Errorf("passed on: %q, %+v, %v", b.String(), out, err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c.Stdout = f
	if out, err = l.Run(t.Context(), c); err != nil || string(out.Stderr) != "err\n" {
		t.Errorf("to a file: %+v, %v", out, err)
	}
	if got, _ := os.ReadFile(f.Name()); string(got) != "out\n" {
		t.Errorf("the file has %q", got)
	}
}

func TestCloseAll(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	done := make(chan Output, 2)
	for _, script := range []string{"sleep 1000", `trap "" TERM; sleep 1000 & wait; sleep 1000`} {
		go func() {
			out, _ := l.Run(context.Background(), sh(script))
			done <- out
		}()
	}
	for { // until both run
		l.mu.Lock()
		n := len(l.groups)
		l.mu.Unlock()
		if n == 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	l.CloseAll(ctx)
	for range 2 {
		if out := <-done; out.Status >= 0 {
			t.Errorf("ended with %d", out.Status)
		}
	}
	if _, err := l.Run(t.Context(), sh("true")); !errors.Is(err, ErrClosed) {
		t.Errorf("Run after CloseAll: %v", err)
	}
	if _, err := l.Start(sh("true")); !errors.Is(err, ErrClosed) {
		t.Errorf("Start after CloseAll: %v", err)
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	mark := filepath.Join(t.TempDir(), "mark")
	pid, err := l.Start(sh(`ps -o sid= -p $$ >` + mark + `.tmp; mv ` + mark + `.tmp ` + mark))
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, err := os.ReadFile(mark)
		if err == nil {
			if got := strings.TrimSpace(string(b)); got != strconv.Itoa(pid) {
				t.Errorf("session %s, pid %d", got, pid)
			}
			break
		}
		time.Sleep(time.Millisecond)
	}
}

func TestRunAsUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may become another user")
	}
	l := NewLocal()
	a, err := l.LookupUser("nobody")
	if err != nil {
		t.Skip(err)
	}
	c := Cmd{Argv: []string{"id", "-u"}, User: &a, Dir: "/"}
	if out, err := l.Run(t.Context(), c); err != nil || strings.TrimSpace(string(out.Stdout)) != strconv.Itoa(a.UID) {
		t.Errorf("id -u as %s: %+v, %v", a.Name, out, err)
	}
	gid := 12345
	c = Cmd{Argv: []string{"id", "-g"}, User: &a, Group: &gid, Dir: "/"}
	if out, err := l.Run(t.Context(), c); err != nil || strings.TrimSpace(string(out.Stdout)) != "12345" {
		t.Errorf("id -g: %+v, %v", out, err)
	}
	// A directory that only root may enter, as with su.
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Getwd()
	for _, mask := range []*int{nil, new(0o077)} {
		c = Cmd{Argv: []string{"sh", "-c", "pwd -P; ls . || id -u"}, User: &a, Umask: mask, Dir: dir}
		if out, err := l.Run(t.Context(), c); err != nil || string(out.Stdout) != dir+"\n"+strconv.Itoa(a.UID)+"\n" {
			t.Errorf("in %s: %q, %q, %v", dir, out.Stdout, out.Stderr, err)
		}
	}
	c = Cmd{Argv: []string{"pwd"}, User: &a, Dir: dir + "/none"}
	if out, err := l.Run(t.Context(), c); err == nil {
		t.Errorf("no such directory: %+v", out)
	}
	if now, _ := os.Getwd(); now != before {
		t.Errorf("brine itself is in %s, not in %s", now, before)
	}
	u := 0o077
	c = Cmd{Argv: []string{"sh", "-c", "umask; id -u"}, User: &a, Umask: &u, Dir: "/"}
	if out, err := l.Run(t.Context(), c); err != nil || string(out.Stdout) != "0077\n"+strconv.Itoa(a.UID)+"\n" {
		t.Errorf("umask as %s: %+v, %v", a.Name, out, err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	n, err := NewLocal().ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	dir, tmp := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	mode := func(m fs.FileMode) *fs.FileMode { return &m }
	write := func(name, text string, opts WriteOptions) {
		t.Helper()
		if err := l.WriteFile(at(name), strings.NewReader(text), opts); err != nil {
			t.Fatalf("WriteFile(%s): %v", name, err)
		}
	}
	check := func(name, text string, m fs.FileMode) {
		t.Helper()
		b, err := os.ReadFile(at(name))
		st, err2 := l.Lstat(at(name))
		if err != nil || err2 != nil || string(b) != text || st.Mode != m {
			t.Errorf("%s is %q, %v, want %q, %v (%v, %v)", name, b, st.Mode, text, m, err, err2)
		}
	}
	write("a", "one", WriteOptions{Mode: mode(0o640)})
	check("a", "one", 0o640)
	write("a", "two", WriteOptions{})
	check("a", "two", 0o640)
	write("a", "three", WriteOptions{Mode: mode(0o755 | fs.ModeSetuid), Sync: true})
	check("a", "three", 0o755|fs.ModeSetuid)
	write("b", "via", WriteOptions{TmpDir: tmp, Mode: mode(0o600)})
	check("b", "via", 0o600)

	if err := os.Symlink("b", at("link")); err != nil {
		t.Fatal(err)
	}
	write("link", "through", WriteOptions{FollowLinks: true})
	check("b", "through", 0o600)
	if to, err := os.Readlink(at("link")); err != nil || to != "b" {
		t.Errorf("link: %q, %v", to, err)
	}
	write("link", "instead", WriteOptions{Mode: mode(0o644)})
	check("link", "instead", 0o644)
	check("b", "through", 0o600)

	if err := os.Symlink("new", at("dangling")); err != nil {
		t.Fatal(err)
	}
	write("dangling", "x", WriteOptions{FollowLinks: true, Mode: mode(0o644)})
	check("new", "x", 0o644)

	full := errors.New("disk full")
	err := l.WriteFile(at("a"), io.MultiReader(strings.NewReader("half"), iotest.ErrReader(full)), WriteOptions{})
	if !errors.Is(err, full) {
		t.Errorf("a content that fails: %v", err)
	}
	check("a", "three", 0o755|fs.ModeSetuid)
	if err := l.WriteFile(dir, strings.NewReader(""), WriteOptions{}); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("over a directory: %v", err)
	}
	if err := l.WriteFile(at("no/file"), strings.NewReader(""), WriteOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a missing directory: %v", err)
	}
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.WriteFile(at("fifo"), strings.NewReader(""), WriteOptions{}); err == nil {
		t.Error("a pipe was replaced")
	}
	if got, want := names(t, dir), []string{"a", "b", "dangling", "fifo", "link", "new"}; !slices.Equal(got, want) {
		t.Errorf("left in %s: %v, want %v", dir, got, want)
	}
	if got := names(t, tmp); len(got) > 0 {
		t.Errorf("left in %s: %v", tmp, got)
	}
}

func TestWriteFileHere(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, opts := range []WriteOptions{{}, {FollowLinks: true}} {
		if err := NewLocal().WriteFile("f", strings.NewReader("x"), opts); err != nil {
			t.Errorf("WriteFile of a name in the working directory: %v", err)
		}
	}
}

func TestWriteFileOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	l := NewLocal()
	p := filepath.Join(t.TempDir(), "f")
	uid, gid := 1234, 4321
	for _, tt := range []struct {
		opts     WriteOptions
		uid, gid int
	}{
		{WriteOptions{UID: &uid}, 1234, os.Getegid()},
		{WriteOptions{}, 1234, os.Getegid()},
		{WriteOptions{GID: &gid}, 1234, 4321},
		{WriteOptions{}, 1234, 4321},
	} {
		if err := l.WriteFile(p, strings.NewReader("x"), tt.opts); err != nil {
			t.Fatal(err)
		}
		if st, err := l.Stat(p); err != nil || st.UID != tt.uid || st.GID != tt.gid {
			t.Errorf("owner %d:%d, want %d:%d (%v)", st.UID, st.GID, tt.uid, tt.gid, err)
		}
	}
}

func TestWriteFileAcrossDevices(t *testing.T) {
	t.Parallel()
	shm, err := os.MkdirTemp("/dev/shm", "brine-test-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(shm)
	l := NewLocal()
	dir := t.TempDir()
	a, err := l.Stat(dir)
	b, err2 := l.Stat(shm)
	if err != nil || err2 != nil || a.Dev == b.Dev {
		t.Skip("one file system")
	}
	m := fs.FileMode(0o640)
	if err := l.WriteFile(filepath.Join(dir, "f"), strings.NewReader("far"), WriteOptions{TmpDir: shm, Mode: &m}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(got) != "far" {
		t.Errorf("content %q, %v", got, err)
	}
	if got := append(names(t, shm), names(t, dir)...); !slices.Equal(got, []string{"f"}) {
		t.Errorf("left: %v", got)
	}
}

func TestRemoveAll(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	dir := t.TempDir()
	keep := filepath.Join(dir, "keep", "file")
	if err := l.MkdirAll(filepath.Dir(keep), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := l.AppendFile(keep, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, "gone")
	if err := l.MkdirAll(filepath.Join(gone, "deep", "er"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := l.Symlink(filepath.Dir(keep), filepath.Join(gone, "deep", "link")); err != nil {
		t.Fatal(err)
	}
	if err := l.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Stat(gone); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat: %v", err)
	}
	if b, err := l.ReadFile(keep); err != nil || string(b) != "x" {
		t.Errorf("behind the link: %q, %v", b, err)
	}
	if err := l.RemoveAll(gone); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestChtimes(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	p := filepath.Join(t.TempDir(), "f")
	if err := l.AppendFile(p, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	at, mt := time.Unix(1000, 123456789), time.Unix(2000, 987654321)
	if err := l.Chtimes(p, at, mt); err != nil {
		t.Fatal(err)
	}
	if err := l.Chtimes(p, time.Time{}, mt); err != nil {
		t.Fatal(err)
	}
	if st, err := l.Stat(p); err != nil || !st.Atime.Equal(at) || !st.Mtime.Equal(mt) {
		t.Errorf("times %v, %v, %v", st.Atime, st.Mtime, err)
	}
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	root, err := l.LookupUID(0)
	if err != nil || root.UID != 0 || root.Name == "" {
		t.Errorf("LookupUID(0) = %+v, %v", root, err)
	}
	if a, err := l.LookupUser(root.Name); err != nil || a != root {
		t.Errorf("LookupUser(%s) = %+v, %v", root.Name, a, err)
	}
	if _, err := l.LookupUser("no-such-user-here"); !errors.Is(err, ErrNoAccount) {
		t.Errorf("a missing user: %v", err)
	}
	if _, err := l.LookupGroup("no-such-group-here"); !errors.Is(err, ErrNoAccount) {
		t.Errorf("a missing group: %v", err)
	}
	if ids, err := l.GroupIDs(root.Name); err != nil || len(ids) == 0 || ids[0] != root.GID {
		t.Errorf("GroupIDs(%s) = %v, %v", root.Name, ids, err)
	}
}

func TestParseAccounts(t *testing.T) {
	t.Parallel()
	as := ParsePasswd("# comment\nroot:x:0:0:root:/root:/bin/bash\nbad:x:zero:0::/:\nshort:x:1\n+::::::\nu:x:1000:100:A, B:/home/u:\n")
	if len(as) != 2 || as[1] != (Account{Name: "u", Passwd: "x", UID: 1000, GID: 100, Gecos: "A, B", Home: "/home/u"}) {
		t.Errorf("ParsePasswd = %+v", as)
	}
	gs := ParseGroup("root:x:0:\nadm:x:4:a,b\nbad:x:x:\nw:*:5:a, b\n")
	if len(gs) != 3 || !slices.Equal(gs[1].Members, []string{"a", "b"}) || !slices.Equal(gs[2].Members, []string{"a", "b"}) || gs[0].Members != nil {
		t.Errorf("ParseGroup = %+v", gs)
	}
	rec := parseDscache("name: _www\nuid: 70\ngid: 70\ndir: /Library/WebServer\n\nname: root\nuid: 0\n")
	if len(rec) != 2 || rec[0]["dir"] != "/Library/WebServer" || rec[1]["name"] != "root" {
		t.Errorf("parseDscache = %v", rec)
	}
}

func TestInterfaces(t *testing.T) {
	t.Parallel()
	ifs, err := NewLocal().Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range ifs {
		if len(i.Details) != len(i.Addrs) {
			t.Errorf("%s: %d details of %d addresses", i.Name, len(i.Details), len(i.Addrs))
		}
	}
}

func TestLookPath(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	dir := t.TempDir()
	for name, mode := range map[string]fs.FileMode{"yes": 0o755, "no": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := l.LookPath("yes", "/nowhere:"+dir); err != nil || p != filepath.Join(dir, "yes") {
		t.Errorf("LookPath(yes) = %q, %v", p, err)
	}
	if _, err := l.LookPath("no", dir); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("LookPath(no): %v", err)
	}
	if _, err := l.LookPath("none", dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("LookPath(none): %v", err)
	}
}

func TestSetenv(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	echo := func(h Host) string {
		t.Helper()
		out, err := h.Run(t.Context(), sh(`echo "$BRINE_TEST_VAR"`))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out.Stdout))
	}
	if err := l.Setenv("BRINE_TEST_VAR", "one"); err != nil {
		t.Fatal(err)
	}
	f := l.Fork()
	if err := f.Setenv("BRINE_TEST_VAR", "two"); err != nil {
		t.Fatal(err)
	}
	if a, b := echo(l), echo(f); a != "one" || b != "two" {
		t.Errorf("%q and %q", a, b)
	}
	if err := f.Unsetenv("BRINE_TEST_VAR"); err != nil {
		t.Fatal(err)
	}
	if a, b := echo(l), echo(f); a != "one" || b != "" {
		t.Errorf("%q and %q", a, b)
	}
	if _, ok := os.LookupEnv("BRINE_TEST_VAR"); ok {
		t.Error("the process's own environment was changed")
	}
	for _, key := range []string{"", "A=B", "A\x00"} {
		if err := l.Setenv(key, "x"); err == nil {
			t.Errorf("Setenv(%q) succeeded", key)
		}
	}
}

func TestStatfs(t *testing.T) {
	t.Parallel()
	st, err := NewLocal().Statfs(t.TempDir())
	if err != nil || st.BlockSize <= 0 || st.Blocks == 0 || st.Avail > st.Blocks {
		t.Errorf("Statfs = %+v, %v", st, err)
	}
	if _, err := NewLocal().Statfs("/no/such/path"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Statfs of nothing: %v", err)
	}
}

func FuzzAccounts(f *testing.F) {
	f.Add("root:x:0:0:root:/root:/bin/sh\n")
	f.Add("adm:x:4:a,b\n")
	f.Add("name: _www\nuid: 70\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, a := range ParsePasswd(s) {
			if a.Name == "" {
				t.Errorf("an account without a name: %+v", a)
			}
		}
		for _, g := range ParseGroup(s) {
			if g.Name == "" {
				t.Errorf("a group without a name: %+v", g)
			}
		}
		parseDscache(s)
	})
}

// Changes counts what may have changed the machine, and nothing else.
func TestChanges(t *testing.T) {
	t.Parallel()
	l := NewLocal()
	dir := t.TempDir()
	at := l.Changes()
	_, _ = l.Stat(dir)
	_, _ = l.ReadDir(dir)
	if _, err := l.Run(t.Context(), Cmd{Argv: []string{"true"}, ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	if n := l.Changes(); n != at {
		t.Errorf("after looking: %d, before %d", n, at)
	}
	for name, do := range map[string]func() error{
		"write": func() error { return l.WriteFile(dir+"/f", strings.NewReader("x"), WriteOptions{}) },
		"link":  func() error { return l.Symlink("f", dir+"/l") },
		"run": func() error {
			_, err := l.Fork().Run(t.Context(), Cmd{Argv: []string{"true"}})
			return err
		},
	} {
		at := l.Changes()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if l.Changes() == at {
			t.Errorf("%s is not counted", name)
		}
	}
}
