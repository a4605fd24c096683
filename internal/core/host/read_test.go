package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What root reads by a link of another user is what that user could read.
func TestHostileReads(t *testing.T) {
	t.Parallel()
	ways := func(h Host) map[string]func(p string) error {
		return map[string]func(p string) error{
			"ReadFile": func(p string) error { _, err := h.ReadFile(p); return err },
			"Open": func(p string) error {
				f, err := h.Open(p)
				if err == nil {
					_ = f.Close()
				}
				return err
			},
			"ReadTarget": func(p string) error { _, err := h.ReadTarget(p); return err },
		}
	}
	check := func(t *testing.T, h Host, dir string) {
		t.Helper()
		at := func(p string) string { return filepath.Join(dir, p) }
		link := func(name, to string) {
			t.Helper()
			if err := errors.Join(h.Symlink(at(to), at(name)), h.Lchown(at(name), mallory, mallory)); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range []string{"etc/public", "closed/public"} {
			err := errors.Join(h.MkdirAll(filepath.Dir(at(p)), 0o755), h.WriteFile(at(p), strings.NewReader("x"), WriteOptions{}), h.Chmod(at(p), 0o644))
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := h.Chmod(at("closed"), 0o700); err != nil {
			t.Fatal(err)
		}
		link("home/public", "etc/public")
		link("home/closed", "closed/public")
		link("home/mine", "home/own")
		for name, do := range ways(h) {
			for _, p := range []string{"home/file", "home/dir/shadow", "home/closed"} {
				err := do(at(p))
				unsafe, ok := errors.AsType[*UnsafeLinkError](err)
				if !ok || unsafe.UID != mallory || !unsafe.Read {
					t.Errorf("%s %s: %v, want an UnsafeLinkError", name, p, err)
				}
			}
			for _, p := range []string{"home/public", "home/dir/public", "home/mine", "home/own", "etc/shadow"} {
				if err := do(at(p)); err != nil {
					t.Errorf("%s %s: %v", name, p, err)
				}
			}
		}
		for _, p := range []string{"home/public", "home/file", "home/dir/public"} { // by these rules it could be changed
			for name, do := range map[string]func(string) (string, error){"Target": h.Target, "EvalSymlinks": h.EvalSymlinks} {
				if got, err := do(at(p)); !errors.As(err, new(*UnsafeLinkError)) {
					t.Errorf("%s %s = %q, %v", name, p, got, err)
				}
			}
		}
	}
	t.Run("fake", func(t *testing.T) {
		t.Parallel()
		check(t, fakeLair(), "/t")
	})
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		check(t, NewLocal(), malloryDir(t))
	})
}

// malloryDir is a lair on this machine, which mallory can get to.
func malloryDir(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir, err := os.MkdirTemp("/tmp", "brine-lair-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	lair(t, dir)
	return dir
}

// The error says whose link it is and what to do.
func TestUnsafeLinkError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  *UnsafeLinkError
		want string
	}{
		{&UnsafeLinkError{Link: "/home/u/x", UID: 1000, User: "u"}, `not following the link "/home/u/x" of u, it leads to what that user does not own: name the real path, or make the link root's (chown -h root)`},
		{&UnsafeLinkError{Link: "/home/u/x", UID: 1000, Read: true}, `not following the link "/home/u/x" of user 1000, it leads to what that user does not own and cannot read: name the real path, or make the link root's (chown -h root)`},
	} {
		wrapped := &os.PathError{Op: "open", Path: "/home/u/x", Err: tt.err}
		if tt.err.Error() != tt.want || OSError(wrapped) != tt.want || Strerror(wrapped) != tt.want {
			t.Errorf("%q, %q, want %q", tt.err, OSError(wrapped), tt.want)
		}
	}
}

// Programs that have root's rights start where the link of another user does not
// lead astray, with paths that it does not lead astray.
func TestHostilePrograms(t *testing.T) {
	t.Parallel()
	dir := malloryDir(t)
	h := NewLocal()
	at := func(p string) string { return filepath.Join(dir, p) }
	nobody, err := h.LookupUser("nobody")
	if err != nil {
		t.Skip("there is no other account")
	}
	if err := os.Symlink(at("etc"), at("byroot")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		cmd  Cmd
		bad  bool
	}{
		{"directory", Cmd{Argv: []string{"cat", "shadow"}, Dir: at("home/dir")}, true},
		{"directory, verbatim", Cmd{Argv: []string{"cat", "shadow"}, Dir: at("home/dir"), Verbatim: true}, true},
		{"directory of root's link", Cmd{Argv: []string{"cat", "shadow"}, Dir: at("byroot")}, false},
		{"word", Cmd{Argv: []string{"cat", at("home/file")}}, true},
		{"word that only looks", Cmd{Argv: []string{"cat", at("home/file")}, ReadOnly: true}, true},
		{"word behind an option", Cmd{Argv: []string{"echo", "--file=" + at("home/dir/x")}}, true},
		{"verbatim", Cmd{Argv: []string{"cat", at("home/file")}, Verbatim: true}, false},
		{"another account", Cmd{Argv: []string{"cat", at("home/own")}, User: &nobody, Dir: "/"}, false},
		{"root's link", Cmd{Argv: []string{"cat", at("byroot/shadow")}}, false},
	} {
		_, err := h.Run(t.Context(), tt.cmd)
		if unsafe := errors.As(err, new(*UnsafeLinkError)); unsafe != tt.bad || !unsafe && err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if _, err := h.Run(t.Context(), Cmd{Argv: []string{"true"}, Dir: at("missing")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is missing: %v", err)
	}
	for name, do := range map[string]func() error{
		"MkdirTemp": func() error { _, err := h.MkdirTemp(at("home/dir"), "x*"); return err },
		"Lock":      func() error { _, err := h.Lock(at("home/dir/lock")); return err },
	} {
		if err := do(); !errors.As(err, new(*UnsafeLinkError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostileReadRace swaps a directory for a link while root reads below it and
// starts programs in it.
func TestHostileReadRace(t *testing.T) {
	t.Parallel()
	dir := malloryDir(t)
	h := NewLocal()
	sub, link, aside := filepath.Join(dir, "home/sub"), filepath.Join(dir, "home/evil"), filepath.Join(dir, "home/aside")
	err := errors.Join(os.Mkdir(sub, 0o755), os.WriteFile(filepath.Join(sub, "shadow"), []byte("own"), 0o644), os.Symlink("../etc", link),
		os.Lchown(sub, mallory, mallory), os.Lchown(filepath.Join(sub, "shadow"), mallory, mallory), os.Lchown(link, mallory, mallory))
	if err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(sub, aside)
			_ = os.Rename(link, sub)
			_ = os.Rename(sub, link)
			_ = os.Rename(aside, sub)
		}
	}()
	own, refused := 0, 0
	for i, end := 0, time.Now().Add(time.Minute); (own < 200 || refused < 200) && time.Now().Before(end); i++ {
		text, err := h.ReadFile(filepath.Join(sub, "shadow"))
		if i%20 == 0 {
			var out Output
			out, err = h.Run(t.Context(), Cmd{Argv: []string{"cat", "shadow"}, Dir: sub})
			text = out.Stdout
		}
		switch {
		case string(text) == "root":
			t.Errorf("read what root's file has")
			own, refused = 200, 200
		case errors.As(err, new(*UnsafeLinkError)):
			refused++
		case string(text) == "own":
			own++
		}
	}
	close(stop)
	<-ended
	if own == 0 || refused == 0 {
		t.Errorf("%d reads and %d refusals are no race", own, refused)
	}
}

// What is everybody's is no file system of the kernel, and neither is a path that
// only begins like one.
func TestPlain(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/proc/self/status": true, "/dev/null": true, "/sys/class/net": true,
		"/dev/shm/x": false, "/dev/mqueue/x": false, "/proc/../home/x": false, "/home/u/../../proc/x": false, "/proc": false, "/etc/passwd": false,
	} {
		if got := plain(path); got != want {
			t.Errorf("plain(%q) = %v, want %v", path, got, want)
		}
	}
}

// A program that writes a tree gets only what nobody else can change.
func TestCheckAlone(t *testing.T) {
	t.Parallel()
	f := NewFake()
	f.PutUser(Account{Name: "mallory", UID: mallory, GID: mallory, Home: "/home/mallory"})
	f.PutGroup(Group{Name: "team", GID: 500, Members: []string{"mallory"}})
	f.PutGroup(Group{Name: "empty", GID: 501})
	for dir, mode := range map[string]uint32{"/tmp": 0o1777, "/tmp/root": 0o755, "/open": 0o777, "/open/x": 0o755, "/team": 0o775, "/empty": 0o775, "/home/mallory/app": 0o755, "/tmp/mallory": 0o755} {
		f.PutDir(dir, FileMode(mode))
	}
	f.PutOwner("/home/mallory", mallory, mallory)
	f.PutOwner("/tmp/mallory", mallory, mallory)
	f.PutOwner("/team", 0, 500)
	f.PutOwner("/empty", 0, 501)
	f.PutLink("/srv/link", "/home/mallory/app")
	for path, want := range map[string]string{
		"/": "", "/srv": "", "/srv/new/sub": "", "/tmp/root": "", "/tmp/new": "", "/empty/x": "",
		"/home/mallory":       "/home/mallory can be changed by user mallory",
		"/home/mallory/app":   "/home/mallory/app is in /home/mallory, which can be changed by user mallory",
		"/home/mallory/new/x": "/home/mallory/new/x is in /home/mallory, which can be changed by user mallory",
		"/tmp/mallory/x":      "/tmp/mallory/x is in /tmp/mallory, which can be changed by user mallory",
		"/open/x":             "/open/x is in /open, which can be changed by everybody",
		"/team/x":             "can be changed by members of the group team",
		"/srv/link":           "can be changed by user mallory",
	} {
		err := CheckAlone(f, path, "user")
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", path, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "with the argument user")):
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	f.UID = 1000
	if err := CheckAlone(f, "/open/x", ""); err != nil {
		t.Errorf("not as root: %v", err)
	}
}

// A program that is kept from what is on the way gets what is root's, wherever it is.
func TestCheckOwn(t *testing.T) {
	t.Parallel()
	f := NewFake()
	f.PutUser(Account{Name: "mallory", UID: mallory, GID: mallory, Home: "/home/mallory"})
	f.PutGroup(Group{Name: "team", GID: 500, Members: []string{"mallory"}})
	for dir, mode := range map[string]uint32{
		"/tmp": 0o1777, "/tmp/his/app": 0o755, "/home/mallory/app/sub": 0o755, "/home/mallory/app/his/x": 0o755, "/home/mallory/open": 0o777, "/home/mallory/team": 0o775, "/open": 0o777, "/open/x": 0o755,
	} {
		f.PutDir(dir, FileMode(mode))
	}
	for _, dir := range []string{"/home/mallory", "/tmp/his", "/home/mallory/app/his"} {
		f.PutOwner(dir, mallory, mallory)
	}
	f.PutOwner("/home/mallory/team", 0, 500)
	for paths, want := range map[string]string{
		"/srv": "", "/srv /home/mallory/app": "", "/home/mallory/app/sub": "", "/home/mallory/app/new": "", "/open/x": "", "/home/mallory/app/his/x": "",
		"/home/mallory":      "/home/mallory can be changed by user mallory",
		"/home/mallory/new":  "/home/mallory/new is in /home/mallory, which can be changed by user mallory",
		"/home/mallory/open": "/home/mallory/open can be changed by everybody",
		"/home/mallory/team": "can be changed by members of the group team",
		"/open":              "/open can be changed by everybody",
		"/tmp/his/app":       "/tmp/his/app is in /tmp/his, which can be changed by user mallory",
		"/home/mallory/app /home/mallory/app/his":   "/home/mallory/app/his can be changed by user mallory",
		"/home/mallory/app /home/mallory/app/his/x": "/home/mallory/app/his/x is in /home/mallory/app/his, which can be changed by user mallory",
	} {
		err := CheckOwn(f, "user", strings.Fields(paths)...)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", paths, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "with the argument user")):
			t.Errorf("%s: %v, want %q", paths, err, want)
		}
	}
	a, err := planApart(f, "user", []string{"/home/mallory/app/sub", "/open/x"})
	if err != nil {
		t.Fatal(err)
	}
	if a.dirs[0].path != "/home/mallory/app" || len(a.dirs) != 2 || len(a.covers) != 2 || a.covers[0].path != "/home/mallory" {
		t.Errorf("the view has %v and covers %v", a.dirs, a.covers)
	}
	for _, tt := range []struct {
		c    Cmd
		want bool
	}{
		{Cmd{Dir: "/", Argv: []string{"tar", "/home/mallory/app/x", "--to=/open/x", "/srv/a"}}, true},
		{Cmd{Dir: "/home/mallory/app"}, true},
		{Cmd{Dir: "/home/mallory"}, false},
		{Cmd{Dir: "/", Argv: []string{"tar", "/home/mallory/app/../a.tar"}}, false},
		{Cmd{Dir: "/", Argv: []string{"tar", "--to=/home/mallory/b"}}, false},
		{Cmd{Dir: "/", Argv: []string{"git", "file:///open/b"}}, false},
		{Cmd{Dir: "/", Env: []string{"KEY=/home/mallory/.ssh/id"}}, false},
	} {
		if err := a.admits(tt.c); (err == nil) != tt.want {
			t.Errorf("%+v: %v", tt.c, err)
		}
	}
}

// The link of another user is not given to somebody whose links are followed, but
// where only root could change it.
func TestHostileGift(t *testing.T) {
	t.Parallel()
	dir := malloryDir(t)
	h := NewLocal()
	link := filepath.Join(dir, "home/file")
	root, err := h.OpenRoot(filepath.Join(dir, "home"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, do := range map[string]func() error{
		"Lchown":      func() error { return h.Lchown(link, 0, 0) },
		"Root.Lchown": func() error { return root.Lchown("file", 0, 0) },
	} {
		if err := do(); !errors.As(err, new(*GivenLinkError)) || !errors.Is(err, os.ErrPermission) {
			t.Errorf("%s: %v, want a GivenLinkError", name, err)
		}
	}
	if st, err := h.Lstat(link); err != nil || st.UID != mallory {
		t.Errorf("the link is of user %d, %v", st.UID, err)
	}
	if err := errors.Join(h.Lchown(link, -1, 0), h.Lchown(link, mallory+1, 0), h.Lchown(link, mallory, mallory), h.Lchown(filepath.Join(dir, "home/own"), 0, 0)); err != nil {
		t.Errorf("what is no such gift: %v", err)
	}
	if err := errors.Join(os.Symlink("x", filepath.Join(dir, "etc/l")), os.Lchown(filepath.Join(dir, "etc/l"), mallory, mallory), h.Lchown(filepath.Join(dir, "etc/l"), 0, 0)); err != nil {
		t.Errorf("in a directory of root's: %v", err)
	}
}
