package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"
	"time"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
)

// Limits of what is read.
const (
	maxMembers = 2_000_000
	maxZip     = 1 << 30 // a zip is held in memory, since its directory is at its end
)

// A Member is one entry of an archive.
type Member struct {
	Name     string // as the archive has it
	Mode     fs.FileMode
	Link     string // target of a symbolic link
	HardLink string // name of the member that this is another name of
	UID, GID int    // -1 where the archive does not say
	Mtime    time.Time
}

// IsDir reports whether the member is a directory.
func (m *Member) IsDir() bool { return m.Mode.IsDir() }

// ErrFormat says that a file is no archive that can be read here: it may be of
// a compression that only the tar program knows.
var ErrFormat = errors.New("not a readable archive")

// Guess returns the format of an archive by its name: tar, zip or rar; "" where
// it is none. Salt: salt/utils/files.py guess_archive_type.
func Guess(name string) string {
	name = strings.ToLower(name)
	for _, e := range []string{"tar", "tar.gz", "tgz", "tar.bz2", "tbz2", "tbz", "tar.xz", "txz", "tar.lzma", "tlz", "tar.zst", "tzst"} {
		if strings.HasSuffix(name, "."+e) {
			return "tar"
		}
	}
	for _, e := range []string{"zip", "rar"} {
		if strings.HasSuffix(name, "."+e) {
			return e
		}
	}
	return ""
}

// Each calls visit for each member of an archive in order, with its content.
func Each(ctx context.Context, files host.Files, file, format string, visit func(Member, io.Reader) error) error {
	f, err := files.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if format == "zip" {
		return eachZip(ctx, f, visit)
	}
	return eachTar(ctx, f, visit)
}

func eachTar(ctx context.Context, f io.Reader, visit func(Member, io.Reader) error) error {
	r, err := decompressed(f)
	if err != nil {
		return err
	}
	t := tar.NewReader(r)
	for n := 0; ; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			if n == 0 {
				return ErrFormat
			}
			return nil
		}
		if err != nil {
			if n == 0 {
				return ErrFormat
			}
			return fmt.Errorf("read the archive: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if n >= maxMembers {
			return fmt.Errorf("the archive has more than %d members", maxMembers)
		}
		m := Member{Name: h.Name, Mode: h.FileInfo().Mode(), UID: h.Uid, GID: h.Gid, Mtime: h.ModTime}
		switch h.Typeflag {
		case tar.TypeSymlink:
			m.Link = h.Linkname
		case tar.TypeLink:
			m.HardLink = h.Linkname
		case tar.TypeXGlobalHeader:
			continue
		}
		if err := visit(m, t); err != nil {
			return err
		}
	}
}

// decompressed returns a reader of what a tar archive holds, by its first bytes.
func decompressed(f io.Reader) (io.Reader, error) {
	head := make([]byte, 6)
	n, err := io.ReadFull(f, head)
	if err != nil && n == 0 {
		return nil, ErrFormat
	}
	r := io.MultiReader(bytes.NewReader(head[:n]), f)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, ErrFormat
		}
		return z, nil
	case bytes.HasPrefix(head, []byte("BZh")):
		return bzip2.NewReader(r), nil
	}
	return r, nil
}

func eachZip(ctx context.Context, f io.Reader, visit func(Member, io.Reader) error) error {
	b, err := io.ReadAll(io.LimitReader(f, maxZip+1))
	if err != nil {
		return err
	}
	if len(b) > maxZip {
		return fmt.Errorf("the archive is larger than %d bytes", maxZip)
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return ErrFormat
	}
	for _, zf := range z.File {
		if err := ctx.Err(); err != nil {
			return err
		}
		m := Member{Name: zf.Name, Mode: zf.Mode(), UID: -1, GID: -1, Mtime: zf.Modified}
		if strings.HasSuffix(zf.Name, "/") {
			m.Mode |= fs.ModeDir
		}
		if zf.Flags&1 != 0 {
			return fun.Errorf("File '%s' is encrypted, password required for extraction", zf.Name)
		}
		r, err := zf.Open()
		if err != nil {
			return fmt.Errorf("read %s of the archive: %w", zf.Name, err)
		}
		if m.Mode&fs.ModeSymlink != 0 {
			target, err := io.ReadAll(io.LimitReader(r, 4096))
			if err != nil {
				r.Close()
				return err
			}
			m.Link = string(target)
		}
		err = visit(m, r)
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// A Listing is what is in an archive; directories end in a slash.
type Listing struct {
	Dirs, Files, Links          []string
	TopDirs, TopFiles, TopLinks []string
}

// List returns what is in an archive, the first strip parts of names taken off.
//
// Salt: salt/modules/archive.py list_.
func List(ctx context.Context, files host.Files, file, format string, strip int) (*Listing, error) {
	dirs, plain, links := map[string]bool{}, map[string]bool{}, map[string]bool{}
	err := Each(ctx, files, file, format, func(m Member, _ io.Reader) error {
		name, ok := stripped(m.Name, strip)
		if !ok {
			return nil
		}
		switch {
		case m.IsDir():
			dirs[name+"/"] = true
		case m.Link != "":
			links[name] = true
		default:
			plain[name] = true
		}
		// Directories that the archive only implies count too.
		for d := path.Dir(name); d != "." && d != "/"; d = path.Dir(d) {
			dirs[d+"/"] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	l := &Listing{Dirs: sorted(dirs), Files: sorted(plain), Links: sorted(links)}
	top := func(all []string) (tops []string) {
		for _, n := range all {
			if !strings.Contains(strings.TrimSuffix(n, "/"), "/") {
				tops = append(tops, n)
			}
		}
		return tops
	}
	l.TopDirs, l.TopFiles, l.TopLinks = top(l.Dirs), top(l.Files), top(l.Links)
	return l, nil
}

// stripped returns a member's name, without its first parts, cleaned; false
// where nothing is left.
func stripped(name string, strip int) (string, bool) {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	for range strip {
		_, rest, ok := strings.Cut(name, "/")
		if !ok {
			return "", false
		}
		name = rest
	}
	return name, name != ""
}

func sorted(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// Value returns the listing as Salt's dict.
func (l *Listing) Value() *value.Map {
	return value.MapOf(
		"dirs", value.Strings(l.Dirs...), "files", value.Strings(l.Files...), "links", value.Strings(l.Links...),
		"top_level_dirs", value.Strings(l.TopDirs...), "top_level_files", value.Strings(l.TopFiles...), "top_level_links", value.Strings(l.TopLinks...),
	)
}
