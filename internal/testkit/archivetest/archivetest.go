// Package archivetest makes archives, hostile ones above all: names that lead
// out, links that later entries go through, bombs.
package archivetest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"testing"
	"time"
)

// An Entry is a member of an archive.
type Entry struct {
	Name string
	Mode fs.FileMode // fs.ModeDir: a directory; 0 is 0644, of a directory 0755
	Link string      // a symbolic link to this
	Hard string      // another name of this member; tar only
	Text string
	Zero int64 // so many zero bytes instead of Text
	UID  int
}

// Dir returns a directory, File a file, Link a symbolic link.
func Dir(name string) Entry { return Entry{Name: name + "/", Mode: fs.ModeDir | 0o755} }

// File returns a file with its name as content.
func File(name string) Entry { return Entry{Name: name, Text: name} }

// Link returns a symbolic link.
func Link(name, to string) Entry { return Entry{Name: name, Link: to} }

// zeros gives zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func (e Entry) content() (io.Reader, int64) {
	if e.Zero > 0 {
		return io.LimitReader(zeros{}, e.Zero), e.Zero
	}
	return bytes.NewReader([]byte(e.Text)), int64(len(e.Text))
}

func (e Entry) perm() fs.FileMode {
	if e.Mode == 0 {
		return 0o644
	}
	return e.Mode
}

// Tar returns a tar archive.
func Tar(tb testing.TB, entries ...Entry) []byte {
	tb.Helper()
	var b bytes.Buffer
	writeTar(tb, &b, entries)
	return b.Bytes()
}

// TarGz returns a compressed tar archive.
func TarGz(tb testing.TB, entries ...Entry) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	writeTar(tb, z, entries)
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func writeTar(tb testing.TB, to io.Writer, entries []Entry) {
	tb.Helper()
	w := tar.NewWriter(to)
	for _, e := range entries {
		h := &tar.Header{Name: e.Name, Typeflag: tar.TypeReg, Mode: int64(e.perm().Perm()), Uid: e.UID, Gid: e.UID, ModTime: time.Unix(1577836800, 0)}
		if e.perm()&fs.ModeSetuid != 0 {
			h.Mode |= 0o4000
		}
		content, n := e.content()
		switch {
		case e.Mode.IsDir():
			h.Typeflag, n = tar.TypeDir, 0
		case e.Link != "":
			h.Typeflag, h.Linkname, n = tar.TypeSymlink, e.Link, 0
		case e.Hard != "":
			h.Typeflag, h.Linkname, n = tar.TypeLink, e.Hard, 0
		}
		h.Size = n
		if err := w.WriteHeader(h); err != nil {
			tb.Fatal(err)
		}
		if n > 0 {
			if _, err := io.Copy(w, content); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
}

// Zip returns a zip archive.
func Zip(tb testing.TB, entries ...Entry) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.Name, Method: zip.Deflate, Modified: time.Unix(1577836800, 0)}
		h.SetMode(e.perm())
		content, n := e.content()
		if e.Link != "" {
			h.SetMode(fs.ModeSymlink | 0o777)
			content, n = bytes.NewReader([]byte(e.Link)), int64(len(e.Link))
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			tb.Fatal(err)
		}
		if n > 0 {
			if _, err := io.Copy(f, content); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}
