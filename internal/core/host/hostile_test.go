package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A user who may write to a directory on the way to a path has root's work led
// elsewhere by links. mallory is that user.
const mallory = 61234

// victims are the operations that root does on a path below a directory of
// mallory's.
func victims(h Host) map[string]func(p string) error {
	uid, gid := 0, 0
	mode := fs.FileMode(0o644)
	return map[string]func(p string) error{
		"Chown":   func(p string) error { return h.Chown(p, mallory, mallory) },
		"Lchown":  func(p string) error { return h.Lchown(p, mallory, mallory) },
		"Chmod":   func(p string) error { return h.Chmod(p, 0o666) },
		"Chtimes": func(p string) error { return h.Chtimes(p, time.Unix(1, 0), time.Unix(1, 0)) },
		"Append":  func(p string) error { return h.AppendFile(p, []byte("evil"), 0o600) },
		"Write":   func(p string) error { return h.WriteFile(p, strings.NewReader("evil"), WriteOptions{}) },
		"WriteThru": func(p string) error {
			return h.WriteFile(p, strings.NewReader("evil"), WriteOptions{FollowLinks: true})
		},
		"WriteAs": func(p string) error {
			return h.WriteFile(p, strings.NewReader("evil"), WriteOptions{UID: &uid, GID: &gid, Mode: &mode, FollowLinks: true})
		},
		"Remove":    h.Remove,
		"RemoveAll": h.RemoveAll,
		"Mkdir":     func(p string) error { return h.Mkdir(p+".new", 0o755) },
		"MkdirAll":  func(p string) error { return h.MkdirAll(p+".all/x/y", 0o755) },
		"Symlink":   func(p string) error { return h.Symlink("/", p+".link") },
		"Link":      func(p string) error { return h.Link(p, p+".hard") },
		"RenameTo":  func(p string) error { return h.Rename(filepath.Join(filepath.Dir(filepath.Dir(p)), "own"), p) },
		"RenameOf":  func(p string) error { return h.Rename(p, filepath.Join(filepath.Dir(filepath.Dir(p)), "own2")) },
	}
}

// onLast are those of victims that follow a link at the path itself.
var onLast = []string{"Chown", "Chmod", "Chtimes", "Append", "WriteThru", "WriteAs"}

// lair makes home (mallory's), etc (root's, with a file "shadow") and open (root's,
// like /tmp) in dir.
func lair(t *testing.T, dir string) {
	t.Helper()
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "home"), 0o755), os.Mkdir(filepath.Join(dir, "etc"), 0o755), os.Mkdir(filepath.Join(dir, "open"), 0o755),
		os.Chmod(filepath.Join(dir, "open"), 0o777|os.ModeSticky),
		os.WriteFile(filepath.Join(dir, "etc/shadow"), []byte("root"), 0o600),
		os.WriteFile(filepath.Join(dir, "home/own"), []byte("own"), 0o644),
		os.Symlink("../etc", filepath.Join(dir, "home/dir")),
		os.Symlink(filepath.Join(dir, "etc/shadow"), filepath.Join(dir, "home/file")),
		os.Symlink(filepath.Join(dir, "etc/new"), filepath.Join(dir, "home/nowhere")),
		os.Symlink("../etc", filepath.Join(dir, "open/dir")),
		os.WriteFile(filepath.Join(dir, "open/own"), []byte("own"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []string{"home", "home/own", "home/dir", "home/file", "home/nowhere", "open/own", "open/dir"} {
		if err := os.Lchown(filepath.Join(dir, n), mallory, mallory); err != nil {
			t.Fatal(err)
		}
	}
}

func fakeLair() *Fake {
	f := NewFake()
	f.PutFile("/t/etc/shadow", "root", 0o600)
	f.PutFile("/t/home/own", "own", 0o644)
	f.PutLink("/t/home/dir", "../etc")
	f.PutLink("/t/home/file", "/t/etc/shadow")
	f.PutLink("/t/home/nowhere", "/t/etc/new")
	f.PutDir("/t/open", 0o777|fs.ModeSticky)
	f.PutFile("/t/open/own", "own", 0o644)
	f.PutLink("/t/open/dir", "../etc")
	for _, n := range []string{"home", "home/own", "home/dir", "home/file", "home/nowhere", "open/own", "open/dir"} {
		f.PutOwner("/t/"+n, mallory, mallory)
	}
	return f
}

// TestHostileLinks has root work on paths that a link of another user leads
// out of that user's directories.
func TestHostileLinks(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, h Host, dir string) {
		t.Helper()
		before := treeOf(t, h, filepath.Join(dir, "etc"))
		refused := func(name, p string, do func(string) error) {
			err := do(p)
			var unsafe *UnsafeLinkError
			if !errors.As(err, &unsafe) || !errors.Is(err, fs.ErrPermission) || unsafe.UID != mallory {
				t.Errorf("%s %s: %v, want an UnsafeLinkError", name, p, err)
			}
			if after := treeOf(t, h, filepath.Join(dir, "etc")); after != before {
				t.Fatalf("%s %s changed\n%sto\n%s", name, p, before, after)
			}
		}
		for name, do := range victims(h) {
			refused(name, filepath.Join(dir, "home/dir/shadow"), do)
			refused(name, filepath.Join(dir, "open/dir/shadow"), do)
		}
		for _, name := range onLast {
			refused(name, filepath.Join(dir, "home/file"), victims(h)[name])
			refused(name, filepath.Join(dir, "home/nowhere"), victims(h)[name])
		}
	}
	t.Run("fake", func(t *testing.T) {
		t.Parallel()
		check(t, fakeLair(), "/t")
	})
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() != 0 {
			t.Skip("only root can give files away")
		}
		dir := t.TempDir()
		lair(t, dir)
		check(t, NewLocal(), dir)
	})
}

// TestHostileLinkText replaces a link of root's by one of another user between the
// look at its owner and the reading of its text.
func TestHostileLinkText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	w, base, err := parent(link, false, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	was, err := w.lookup(base)
	if err != nil {
		t.Fatal(err)
	}
	if text, same, err := w.read(base, &was); text != "a" || !same || err != nil {
		t.Errorf("read = %q, %v, %v", text, same, err)
	}
	for name, change := range map[string]func() error{
		"another link": func() error { return errors.Join(os.Symlink("b", link+".new"), os.Rename(link+".new", link)) },
		"a file":       func() error { return errors.Join(os.Remove(link), os.WriteFile(link, nil, 0o600)) },
		"nothing":      func() error { return os.Remove(link) },
	} {
		if err := errors.Join(os.RemoveAll(link), os.Symlink("a", link)); err != nil {
			t.Fatal(err)
		}
		if was, err = w.lookup(base); err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if text, same, err := w.read(base, &was); same || err != nil {
			t.Errorf("%s: read = %q, %v, %v", name, text, same, err)
		}
	}
}

// TestHostileBetween replaces what a walk has looked at before the walk opens it:
// a directory and a file by links, and the directory that it is at by another one.
// A race rarely hits these moments.
func TestHostileBetween(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(p string) string { return filepath.Join(dir, p) }
	if err := errors.Join(os.MkdirAll(at("home/sub"), 0o755), os.MkdirAll(at("etc"), 0o755), os.WriteFile(at("etc/shadow"), []byte("root"), 0o600),
		os.Symlink("../etc", at("home/dir")), os.Symlink("../etc/shadow", at("home/file"))); err != nil {
		t.Fatal(err)
	}
	walk := func(p string) (*walker, string) {
		w, base, err := parent(at(p), false, true)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.close)
		return w, base
	}
	w, base := walk("home/dir")
	if err := w.enter(base); err == nil {
		t.Errorf("a directory that is a link by now is entered, as %s", w.path)
	}
	w, base = walk("home/file")
	if f, moved, err := w.open(at("home/file"), base, os.O_RDONLY); f != nil || !moved || err != nil {
		t.Errorf("a file that is a link by now is opened: %v, %v, %v", f, moved, err)
	}
	w, _ = walk("home/sub/x")
	if err := errors.Join(os.Rename(at("home/sub"), at("home/aside")), os.Symlink("../etc", at("home/sub"))); err != nil {
		t.Fatal(err)
	}
	if root, err := w.root(); err == nil {
		t.Errorf("the directory that is at the path by now is worked in: %s", root.Name())
		root.Close()
	}
}

// treeOf lists a directory with modes, owners and content.
func treeOf(t *testing.T, h Host, dir string) string {
	t.Helper()
	names, err := h.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, n := range names {
		p := filepath.Join(dir, n)
		st, err := h.Lstat(p)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := h.ReadFile(p)
		b.WriteString(strings.Join([]string{n, st.Mode.String(), st.Mtime.String(), string(text)}, " "))
		b.WriteString(" " + string(rune('0'+min(st.UID, 9))) + "\n")
	}
	return b.String()
}

// TestFollowedLinks shows the links that are followed: those of root, of who
// runs brine, of the user to what is that user's, and of a directory to which
// only root can write.
func TestFollowedLinks(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, h Host, dir string) {
		t.Helper()
		for link, to := range map[string]string{"byroot": "etc/shadow", "home/mine": "home/own", "etc/given": "etc/shadow"} {
			if err := h.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
			if link != "byroot" {
				if err := h.Lchown(filepath.Join(dir, link), mallory, mallory); err != nil {
					t.Fatal(err)
				}
			}
			if err := h.Chmod(filepath.Join(dir, link), 0o611); err != nil {
				t.Errorf("%s: %v", link, err)
			}
			if st, err := h.Stat(filepath.Join(dir, to)); err != nil || st.Perm() != 0o611 {
				t.Errorf("%s: the mode of %s is %o, %v", link, to, st.Perm(), err)
			}
		}
	}
	check(t, fakeLair(), "/t")
	if os.Geteuid() == 0 {
		dir := t.TempDir()
		lair(t, dir)
		check(t, NewLocal(), dir)
	}
}

// TestHostileRace swaps a directory for a link, over and over, while root works
// below it.
func TestHostileRace(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	lair(t, dir)
	h := NewLocal()
	before := treeOf(t, h, filepath.Join(dir, "etc"))
	sub, link, aside := filepath.Join(dir, "home/sub"), filepath.Join(dir, "home/evil"), filepath.Join(dir, "home/aside")
	if err := errors.Join(os.Mkdir(sub, 0o755), os.Symlink("../etc", link), os.Lchown(sub, mallory, mallory), os.Lchown(link, mallory, mallory)); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	ended := make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			select {
			case <-stop:
				ended <- n
				return
			default:
			}
			_ = os.Rename(sub, aside)
			_ = os.Rename(link, sub)
			_ = os.Rename(sub, link)
			_ = os.Rename(aside, sub)
		}
	}()
	file := filepath.Join(dir, "home/sub/shadow")
	end := time.Now().Add(2 * time.Second)
	tries := 0
	for ; time.Now().Before(end); tries++ {
		_ = h.WriteFile(file, strings.NewReader("x"), WriteOptions{})
		for _, do := range victims(h) {
			_ = do(file)
		}
	}
	close(stop)
	n := <-ended
	if after := treeOf(t, h, filepath.Join(dir, "etc")); after != before {
		t.Fatalf("after %d rounds and %d swaps:\n%sbefore:\n%s", tries, n, after, before)
	}
	if n < 1000 || tries < 10 {
		t.Errorf("%d rounds and %d swaps are no race", tries, n)
	}
}

// TestHostileNames has names leave an open directory.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, h Host, dir string) {
		t.Helper()
		for _, err := range []error{
			h.MkdirAll(filepath.Join(dir, "root/sub"), 0o755), h.MkdirAll(filepath.Join(dir, "out/d"), 0o755),
			h.WriteFile(filepath.Join(dir, "out/f"), strings.NewReader("out"), WriteOptions{}),
			h.Symlink("../out", filepath.Join(dir, "root/up")), h.Symlink(filepath.Join(dir, "out"), filepath.Join(dir, "root/abs")),
			h.Symlink("../out/f", filepath.Join(dir, "root/file")),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		r, err := h.OpenRoot(filepath.Join(dir, "root"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		ops := map[string]func(n string) error{
			"Mkdir": func(n string) error { return r.Mkdir(n, 0o755) }, "MkdirAll": func(n string) error { return r.MkdirAll(n+"/x", 0o755) },
			"WriteFile": func(n string) error {
				return r.WriteFile(n, strings.NewReader("evil"), WriteOptions{FollowLinks: true})
			},
			"Symlink": func(n string) error { return r.Symlink("x", n) }, "Link": func(n string) error { return r.Link(n, "sub/l") },
			"LinkTo": func(n string) error { return r.Link("file", n) },
			"Chmod":  func(n string) error { return r.Chmod(n, 0o777) }, "Lchown": func(n string) error { return r.Lchown(n, 1, 1) },
			"Chtimes": func(n string) error { return r.Chtimes(n, time.Unix(1, 0), time.Unix(1, 0)) }, "RemoveAll": r.RemoveAll, "Remove": r.Remove,
		}
		before := treeOf(t, h, filepath.Join(dir, "out"))
		for op, do := range ops {
			for _, n := range []string{"../out/f", "/out/f", filepath.Join(dir, "out/f"), "sub/../../out/f", "up/f", "abs/f", "up/new", "abs/new", "..", "../out/new"} {
				if err := do(n); err == nil {
					t.Errorf("%s %s is done", op, n)
				}
			}
		}
		for _, op := range []string{"Chmod", "Chtimes"} { // links are never followed
			_ = ops[op]("file")
		}
		if after := treeOf(t, h, filepath.Join(dir, "out")); after != before {
			t.Errorf("%sbefore:\n%s", after, before)
		}
	}
	t.Run("fake", func(t *testing.T) {
		t.Parallel()
		check(t, NewFake(), "/t")
	})
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		check(t, NewLocal(), t.TempDir())
	})
}

// TestHostileTerminal runs a program as another account: it has neither the
// session nor the terminal of who runs brine, so it cannot type into that.
func TestHostileTerminal(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can run programs as another account")
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc")
	}
	other, err := NewLocal().LookupUser("nobody")
	if err != nil {
		t.Skip("there is no other account")
	}
	out, err := NewLocal().Run(t.Context(), Cmd{
		Argv: []string{"/bin/sh", "-c", "read -r line </proc/self/stat; echo \"$$ $line\"; (: </dev/tty) 2>/dev/null && echo terminal; true"},
		User: &other, Dir: "/",
	})
	if err != nil {
		t.Fatal(err)
	}
	text := string(out.Stdout)
	pid, stat, _ := strings.Cut(strings.TrimSpace(text), " ")
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // state ppid pgrp session tty_nr
	if len(f) < 5 || f[3] != pid || f[4] != "0" || strings.Contains(text, "terminal") {
		t.Errorf("the program's session is not its own: %s", text)
	}
}
