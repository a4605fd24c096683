package main

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// texts are the files of doc/ that archives have at their top.
var texts = []string{"README.md", "CHANGELOG.md", "LICENSE", "NOTICE", "LICENSES.txt"}

// archives makes an archive for each binary, and one of the agents.
func (r *release) archives() error {
	for _, b := range r.bins {
		top := "brine-" + r.version + "-" + b.name()
		err := r.create(top+".tar.gz", func(w io.Writer) error {
			t := newArchive(w, r.date)
			t.file(top+"/brine", b.path, 0o755)
			for _, name := range texts {
				t.file(top+"/"+name, filepath.Join(r.dir, "doc", name), 0o644)
			}
			t.tree(top+"/man", filepath.Join(r.dir, "doc", "man"))
			t.tree(top+"/etc", filepath.Join(r.dir, "doc", "etc"))
			t.tree(top+"/completion", filepath.Join(r.dir, "doc", "completion"))
			return t.close()
		})
		if err != nil {
			return err
		}
	}
	return r.create("brine-agents-"+r.version+".tar.gz", func(w io.Writer) error {
		t := newArchive(w, r.date)
		t.tree("brine-agents", filepath.Join(r.dir, "agents"))
		return t.close()
	})
}

// An archive is a compressed archive whose bytes depend on its files alone. The first
// error is kept for close.
type archive struct {
	z    *gzip.Writer
	t    *tar.Writer
	date time.Time
	dirs map[string]bool
	err  error
}

func newArchive(w io.Writer, date time.Time) *archive {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	return &archive{z: z, t: tar.NewWriter(z), date: date, dirs: map[string]bool{".": true}, err: err}
}

// dir adds the directories that lead to name.
func (t *archive) dir(name string) {
	if t.err != nil || t.dirs[name] {
		return
	}
	t.dir(path.Dir(name))
	t.dirs[name] = true
	t.err = t.t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, ModTime: t.date, Format: tar.FormatUSTAR})
}

// file adds the file src.
func (t *archive) file(name, src string, mode int64) {
	b, err := os.ReadFile(src)
	if err != nil && t.err == nil {
		t.err = err
	}
	t.bytes(name, b, mode)
}

// bytes adds a file.
func (t *archive) bytes(name string, b []byte, mode int64) {
	t.dir(path.Dir(name))
	if t.err != nil {
		return
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(b)), ModTime: t.date, Format: tar.FormatUSTAR}
	if t.err = t.t.WriteHeader(h); t.err == nil {
		_, t.err = t.t.Write(b)
	}
}

// tree adds all files below src.
func (t *archive) tree(name, src string) {
	err := filepath.WalkDir(src, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(src, p)
		if err != nil {
			return err
		}
		t.file(name+"/"+filepath.ToSlash(rel), p, 0o644)
		return t.err
	})
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("%s: %w", src, err)
	}
}

func (t *archive) close() error {
	if t.err != nil {
		return t.err
	}
	if err := t.t.Close(); err != nil {
		return err
	}
	return t.z.Close()
}
