package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// during calls look once, when a part of the content has been read.
type during struct {
	look func()
	n    int
}

func (d *during) Read(b []byte) (int, error) {
	d.n++
	switch d.n {
	case 1:
		return copy(b, "first half, "), nil
	case 2:
		d.look()
		return copy(b, "second half"), nil
	}
	return 0, os.ErrClosed
}

// TestWriteFileHasNoName writes where the directory can hold a file without a
// name: nothing is to be seen of it, so that nothing is left of a process that
// is killed in the midst of it.
func TestWriteFileHasNoName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f := nameless(root, 0o600)
	if f == nil {
		t.Skip("no O_TMPFILE here")
	}
	defer f.Close()
	looked := false
	content := &during{look: func() {
		looked = true
		if got := names(t, dir); len(got) > 0 {
			t.Errorf("while it is written: %v", got)
		}
	}}
	if err := NewLocal().WriteFile(filepath.Join(dir, "f"), content, WriteOptions{}); err == nil || !looked {
		t.Errorf("a content that fails: %v, looked %t", err, looked)
	}
	if got := names(t, dir); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

// TestNamedCopies gives a name to a file that cannot have one any more.
func TestNamedCopies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f, err := os.CreateTemp(dir, "")
	if err == nil {
		_, err = f.WriteString("content")
	}
	if err == nil {
		err = os.Remove(f.Name())
	}
	if err != nil {
		t.Fatal(err)
	}
	m := fs.FileMode(0o640)
	l := NewLocal()
	if err := l.commit(&tempFile{root: root, file: f, want: attrs{mode: &m, uid: -1, gid: -1}}, "f"); err != nil {
		t.Fatal(err)
	}
	got, err := root.ReadFile("f")
	st, err2 := l.Stat(filepath.Join(dir, "f"))
	if err != nil || err2 != nil || string(got) != "content" || st.Mode != 0o640 {
		t.Errorf("content %q, mode %v (%v, %v)", got, st.Mode, err, err2)
	}
	if got := names(t, dir); len(got) != 1 || len(l.temps) > 0 {
		t.Errorf("left: %v, %d noted", got, len(l.temps))
	}
}
