package host

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFakeIsLikeLocal does the same to a Fake and to a directory of the real
// machine and compares what comes of it.
func TestFakeIsLikeLocal(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fake := NewFake()
	fake.PutDir(dir, 0o755)
	m := fs.FileMode(0o640)
	steps := []struct {
		name string
		do   func(h Host, at func(string) string) (any, error)
	}{
		{"mkdir", func(h Host, at func(string) string) (any, error) { return nil, h.Mkdir(at("d"), 0o700) }},
		{"mkdir again", func(h Host, at func(string) string) (any, error) { return nil, h.Mkdir(at("d"), 0o700) }},
		{"mkdir orphan", func(h Host, at func(string) string) (any, error) { return nil, h.Mkdir(at("x/y"), 0o700) }},
		{"mkdirall", func(h Host, at func(string) string) (any, error) { return nil, h.MkdirAll(at("p/q/r"), 0o700) }},
		{"write", func(h Host, at func(string) string) (any, error) {
			return nil, h.WriteFile(at("d/f"), strings.NewReader("text"), WriteOptions{Mode: &m})
		}},
		{"write dir", func(h Host, at func(string) string) (any, error) {
			return nil, h.WriteFile(at("d"), strings.NewReader(""), WriteOptions{})
		}},
		{"write orphan", func(h Host, at func(string) string) (any, error) {
			return nil, h.WriteFile(at("no/f"), strings.NewReader(""), WriteOptions{})
		}},
		{"append", func(h Host, at func(string) string) (any, error) {
			return nil, h.AppendFile(at("d/f"), []byte("+"), 0o600)
		}},
		{"read", func(h Host, at func(string) string) (any, error) {
			b, err := h.ReadFile(at("d/f"))
			return string(b), err
		}},
		{"read dir", func(h Host, at func(string) string) (any, error) {
			b, err := h.ReadFile(at("d"))
			return string(b), err
		}},
		{"read missing", func(h Host, at func(string) string) (any, error) {
			b, err := h.ReadFile(at("none"))
			return string(b), err
		}},
		{"read below a file", func(h Host, at func(string) string) (any, error) {
			b, err := h.ReadFile(at("d/f/x"))
			return string(b), err
		}},
		{"symlink", func(h Host, at func(string) string) (any, error) { return nil, h.Symlink("d/f", at("l")) }},
		{"symlink again", func(h Host, at func(string) string) (any, error) { return nil, h.Symlink("d/f", at("l")) }},
		{"symlink up", func(h Host, at func(string) string) (any, error) { return nil, h.Symlink("../l", at("d/up")) }},
		{"loop", func(h Host, at func(string) string) (any, error) { return nil, h.Symlink("loop", at("loop")) }},
		{"read loop", func(h Host, at func(string) string) (any, error) {
			b, err := h.ReadFile(at("loop"))
			return string(b), err
		}},
		{"read link", func(h Host, at func(string) string) (any, error) {
			b, err := h.ReadFile(at("d/up"))
			return string(b), err
		}},
		{"readlink", func(h Host, at func(string) string) (any, error) { return h.Readlink(at("d/up")) }},
		{"readlink file", func(h Host, at func(string) string) (any, error) { return h.Readlink(at("d/f")) }},
		{"eval", func(h Host, at func(string) string) (any, error) { return h.EvalSymlinks(at("d/up")) }},
		{"eval missing", func(h Host, at func(string) string) (any, error) { return h.EvalSymlinks(at("none")) }},
		{"lstat link", func(h Host, at func(string) string) (any, error) {
			s, err := h.Lstat(at("l"))
			return s.Mode.Type(), err
		}},
		{"stat link", func(h Host, at func(string) string) (any, error) {
			s, err := h.Stat(at("l"))
			return []any{s.Mode, s.Size}, err
		}},
		{"link", func(h Host, at func(string) string) (any, error) { return nil, h.Link(at("d/f"), at("hard")) }},
		{"links", func(h Host, at func(string) string) (any, error) { s, err := h.Stat(at("hard")); return s.Nlink, err }},
		{"chmod", func(h Host, at func(string) string) (any, error) {
			return nil, h.Chmod(at("l"), 0o711|fs.ModeSetuid|fs.ModeSticky)
		}},
		{"mode", func(h Host, at func(string) string) (any, error) { s, err := h.Stat(at("hard")); return s.Perm(), err }},
		{"remove full", func(h Host, at func(string) string) (any, error) { return nil, h.Remove(at("d")) }},
		{"rename", func(h Host, at func(string) string) (any, error) { return nil, h.Rename(at("d/f"), at("p/g")) }},
		{"rename into itself", func(h Host, at func(string) string) (any, error) { return nil, h.Rename(at("p"), at("p/q/p")) }},
		{"rename missing", func(h Host, at func(string) string) (any, error) { return nil, h.Rename(at("none"), at("n")) }},
		{"rename over dir", func(h Host, at func(string) string) (any, error) { return nil, h.Rename(at("p/g"), at("d")) }},
		{"list", func(h Host, at func(string) string) (any, error) {
			n, err := h.ReadDir(at("p"))
			return strings.Join(n, " "), err
		}},
		{"list file", func(h Host, at func(string) string) (any, error) {
			n, err := h.ReadDir(at("p/g"))
			return strings.Join(n, " "), err
		}},
		{"removeall", func(h Host, at func(string) string) (any, error) { return nil, h.RemoveAll(at("p")) }},
		{"removeall missing", func(h Host, at func(string) string) (any, error) { return nil, h.RemoveAll(at("p")) }},
		{"remove missing", func(h Host, at func(string) string) (any, error) { return nil, h.Remove(at("p")) }},
		{"remove link", func(h Host, at func(string) string) (any, error) { return nil, h.Remove(at("l")) }},
		{"chtimes", func(h Host, at func(string) string) (any, error) {
			return nil, h.Chtimes(at("hard"), time.Unix(1, 2), time.Unix(3, 4))
		}},
		{"mtime", func(h Host, at func(string) string) (any, error) {
			s, err := h.Stat(at("hard"))
			return s.Mtime.UnixNano(), err
		}},
		{"all", func(h Host, at func(string) string) (any, error) {
			n, err := h.ReadDir(at(""))
			return strings.Join(n, " "), err
		}},
	}
	at := func(s string) string { return filepath.Join(dir, s) }
	local := NewLocal()
	for _, s := range steps {
		gotL, errL := s.do(local, at)
		gotF, errF := s.do(fake, at)
		if (errL == nil) != (errF == nil) {
			t.Errorf("%s: local %v, fake %v", s.name, errL, errF)
			continue
		}
		for _, e := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission} {
			if errors.Is(errL, e) != errors.Is(errF, e) {
				t.Errorf("%s: local %v, fake %v", s.name, errL, errF)
			}
		}
		if l, ok := gotL.([]any); ok {
			if !slices.Equal(l, gotF.([]any)) {
				t.Errorf("%s: local %v, fake %v", s.name, gotL, gotF)
			}
		} else if errL == nil && gotL != gotF {
			t.Errorf("%s: local %v, fake %v", s.name, gotL, gotF)
		}
	}
}

func TestFakeCommands(t *testing.T) {
	t.Parallel()
	f := NewFake()
	f.OnCommand("systemctl is-active *", Output{Stdout: []byte("active\n")})
	f.OnCommand("systemctl is-active dead", Output{Stdout: []byte("inactive\n"), Status: 3})
	for _, tt := range []struct {
		argv   string
		out    string
		status int
	}{
		{"systemctl is-active sshd", "active\n", 0},
		{"systemctl is-active dead", "inactive\n", 3},
	} {
		out, err := f.Run(t.Context(), Cmd{Argv: strings.Fields(tt.argv)})
		if err != nil || string(out.Stdout) != tt.out || out.Status != tt.status {
			t.Errorf("%s: %+v, %v", tt.argv, out, err)
		}
	}
	if _, err := f.Run(t.Context(), Cmd{Argv: []string{"nothing"}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unknown command: %v", err)
	}
	if n := len(f.Calls()); n != 3 {
		t.Errorf("%d calls", n)
	}
	if w := f.Writes(); len(w) > 0 {
		t.Errorf("writes: %v", w)
	}
}

// TestFakeNUL checks that the fake refuses names with a NUL, as a system does.
func TestFakeNUL(t *testing.T) {
	t.Parallel()
	f := NewFake()
	if _, err := f.Stat("/a/\x00"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("Stat: %v", err)
	}
	if err := f.Symlink("\x00", "/l"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("Symlink: %v", err)
	}
}
