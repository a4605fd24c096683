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
	"slices"
	"sort"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Limits of what is read.
const (
	maxZip   = 1 << 30 // a zip is held in memory, since its directory is at its end
	maxNames = 256 << 20
)

// Limits bound what an archive may hold, so that a small one does not fill the
// machine.
type Limits struct {
	Bytes   int64 // decompressed
	Members int
}

// LimitsOf returns the limits that the options archive_max_size and
// archive_max_members set: 16 GiB and a million members unless they say
// otherwise.
func LimitsOf(opts *value.Map) Limits {
	l := Limits{Bytes: 16 << 30, Members: 1_000_000}
	if n, ok := fun.SizeOf(opts.At("archive_max_size")); ok && n > 0 {
		l.Bytes = n
	}
	if n, ok := value.AsInt(opts.At("archive_max_members")); ok && n > 0 {
		l.Members = int(n)
	}
	return l
}

// A budget is what may still be read of an archive.
type budget struct {
	Limits
	bytes   int64
	members int
	names   int64
}

// member counts a member.
func (b *budget) member(m *Member) error {
	if b.members++; b.members > b.Members {
		return fun.Errorf("the archive has more than %d members (archive_max_members)", b.Members)
	}
	if b.names += int64(len(m.Name) + len(m.Link) + len(m.HardLink)); b.names > maxNames {
		return fun.Errorf("the names in the archive have more than %d bytes", maxNames)
	}
	return nil
}

// reader counts what is read of r.
func (b *budget) reader(r io.Reader) io.Reader { return &counted{r, b} }

type counted struct {
	r io.Reader
	b *budget
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.b.bytes += int64(n); c.b.bytes > c.b.Bytes {
		return n, fun.Errorf("the archive holds more than %d bytes (archive_max_size)", c.b.Bytes)
	}
	return n, err
}

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

// ErrFormat says that a file is not an archive that can be read here: it may be of
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
// A tar archive may be compressed by gzip or bzip2, or by xz, lzma or zstd where
// that program is there. An archive that holds more than the limits is an error.
func Each(ctx context.Context, h host.Host, file, format string, limits Limits, visit func(Member, io.Reader) error) error {
	f, err := h.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if format == "zip" {
		return eachZip(ctx, f, limits, visit)
	}
	return eachTar(ctx, h, f, limits, visit)
}

func eachTar(ctx context.Context, h host.Host, f io.Reader, limits Limits, visit func(Member, io.Reader) error) error {
	if p, ok := f.(*pipe); ok {
		defer func() { _ = p.Close() }() // the program's fault is that of the last read
	}
	r, err := decompressed(ctx, h, f)
	if err != nil {
		return err
	}
	defer r.Close()
	left := &budget{Limits: limits}
	t := tar.NewReader(left.reader(r))
	for n := 0; ; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			if n == 0 {
				return ErrFormat
			}
			return nil
		}
		if _, full := errors.AsType[*fun.CommandError](err); full {
			return err
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
		m := Member{Name: h.Name, Mode: h.FileInfo().Mode(), UID: h.Uid, GID: h.Gid, Mtime: h.ModTime}
		switch h.Typeflag {
		case tar.TypeSymlink:
			m.Link = h.Linkname
		case tar.TypeLink:
			m.HardLink = h.Linkname
		case tar.TypeXGlobalHeader:
			continue
		}
		if err := left.member(&m); err != nil {
			return err
		}
		if err := visit(m, t); err != nil {
			return err
		}
	}
}

// decompressed returns a reader of what a tar archive holds, by its first bytes.
func decompressed(ctx context.Context, h host.Host, f io.Reader) (io.ReadCloser, error) {
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
		return io.NopCloser(bzip2.NewReader(r)), nil
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return piped(ctx, h, r, "xz", "--decompress", "--stdout") // for its memory see xzMemory
	case bytes.HasPrefix(head, []byte("\x5d\x00\x00")):
		return piped(ctx, h, r, "xz", "--format=lzma", "--decompress", "--stdout")
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return piped(ctx, h, r, "zstd", "--decompress", "--stdout")
	}
	return io.NopCloser(r), nil
}

// xzMemory bounds what xz takes to unpack: an archive of a few bytes can ask for 4 GiB.
// It is not an argument, since the xz of BusyBox does not know it. zstd takes 128 MiB.
const xzMemory = "XZ_DEFAULTS=--memlimit-decompress=1GiB"

// A pipe reads what a program writes; closing it ends the program.
type pipe struct {
	*io.PipeReader
	cancel context.CancelFunc
	ended  chan struct{}
}

func (p *pipe) Close() error {
	p.cancel()
	err := p.PipeReader.Close()
	<-p.ended
	return err
}

// piped returns what a program makes of f. It returns ErrFormat where there is
// no such program.
func piped(ctx context.Context, h host.Host, f io.Reader, argv ...string) (io.ReadCloser, error) {
	if _, err := h.LookPath(argv[0], ""); err != nil {
		return nil, ErrFormat
	}
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	p := &pipe{PipeReader: r, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		out, err := h.Run(ctx, host.Cmd{Argv: argv, Stdin: f, Stdout: w, Env: append(h.Environ(), xzMemory)})
		if err == nil && out.Status != 0 {
			if err = ErrFormat; bytes.Contains(out.Stderr, []byte("Memory usage limit")) {
				err = fun.Errorf("the archive needs more than 1 GiB of memory to be unpacked")
			}
		}
		_ = w.CloseWithError(err)
	}()
	return p, nil
}

// readZip reads a zip file and its directory.
func readZip(f io.Reader, limits Limits) (*zip.Reader, error) {
	b, err := io.ReadAll(io.LimitReader(f, maxZip+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxZip {
		return nil, fun.Errorf("the archive is larger than %d bytes", maxZip)
	}
	// Before the directory is read: what it says of its own size may be wrong.
	if n := bytes.Count(b, []byte("PK\x01\x02")); n > limits.Members {
		return nil, fun.Errorf("the archive has more than %d members (archive_max_members)", limits.Members)
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, ErrFormat
	}
	return z, nil
}

func eachZip(ctx context.Context, f io.Reader, limits Limits, visit func(Member, io.Reader) error) error {
	z, err := readZip(f, limits)
	if err != nil {
		return err
	}
	left := &budget{Limits: limits}
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
		if err = left.member(&m); err == nil {
			err = visit(m, left.reader(r))
		}
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// A Listing is what is in an archive, by the names in it; directories end in a
// slash.
type Listing struct {
	Dirs, Files, Links          []string
	TopDirs, TopFiles, TopLinks []string
	// Outside is the first name that leads out of where the archive would be
	// unpacked; "": there is none.
	Outside string
}

// Unlisted is what Salt says of an archive that cannot be listed: name is what
// it was asked for, cached where it is.
//
// Salt: salt/modules/archive.py list_.
func Unlisted(name, cached, format string) string {
	why := name + " is not a ZIP file"
	if format != "zip" {
		why = "Unable to list contents of " + name + ". If this is an XZ-compressed tar archive, install XZ Utils to enable listing its contents. " +
			"If it is compressed using something other than XZ, it may be necessary to specify CLI options to decompress the archive. See the documentation for details"
	}
	return why + ". Additional info follows:\n\narchive location:\n    " + cached
}

// List returns what is in an archive, the first strip parts of names taken off.
// A zip that has no entries for directories gets those that its files are in.
// Where a tar archive cannot be read, it is what the command decompress makes of
// it.
//
// Salt: salt/modules/archive.py list_.
func List(ctx context.Context, h host.Host, file, format string, limits Limits, strip int, decompress ...string) (*Listing, error) {
	dirs, plain, links := map[string]bool{}, map[string]bool{}, map[string]bool{}
	outside := ""
	visit := func(m Member, _ io.Reader) error {
		if outside == "" && m.check() != nil {
			outside = m.Name
		}
		switch {
		case m.IsDir():
			dirs[strings.TrimRight(m.Name, "/")+"/"] = true
		case m.Link != "":
			links[m.Name] = true
		default:
			plain[m.Name] = true
		}
		if i := strings.LastIndexByte(m.Name, '/'); format == "zip" && !m.IsDir() && m.Link == "" && i >= 0 {
			dirs[m.Name[:i+1]] = true
		}
		return nil
	}
	err := Each(ctx, h, file, format, limits, visit)
	if errors.Is(err, ErrFormat) && format == "tar" && len(decompress) > 0 {
		err = eachPiped(ctx, h, file, decompress, limits, visit)
	}
	if err != nil {
		return nil, err
	}
	l := &Listing{Dirs: stripped(dirs, strip), Files: stripped(plain, strip), Links: stripped(links, strip), Outside: outside}
	top := func(all []string, slashes int) (tops []string) {
		for _, n := range all {
			if strings.Count(n, "/") == slashes {
				tops = append(tops, n)
			}
		}
		return tops
	}
	l.TopDirs, l.TopFiles, l.TopLinks = top(l.Dirs, 1), top(l.Files, 0), top(l.Links, 0)
	// The directory that all are in need not be in the archive itself.
	if first, _, ok := strings.Cut(commonPrefix(l.Dirs), "/"); ok && !slices.Contains(l.TopDirs, first+"/") {
		l.TopDirs = append(l.TopDirs, first+"/")
	}
	return l, nil
}

// eachPiped is Each of a tar archive that a command decompresses to its stdout.
func eachPiped(ctx context.Context, h host.Host, file string, argv []string, limits Limits, visit func(Member, io.Reader) error) error {
	r, err := piped(ctx, h, nil, append(slices.Clone(argv), file)...)
	if err != nil {
		return err
	}
	return eachTar(ctx, h, r, limits, visit)
}

// commonPrefix returns the text that all names, which are in order, begin with.
func commonPrefix(names []string) string {
	if len(names) == 0 {
		return ""
	}
	a, b := names[0], names[len(names)-1]
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// stripped returns the names in order, without their first parts; those that
// have no more are left out.
func stripped(set map[string]bool, strip int) []string {
	names := sorted(set)
	if strip <= 0 {
		return names
	}
	left := make([]string, 0, len(names))
	for _, n := range names {
		if parts := strings.SplitN(n, "/", strip+1); len(parts) > strip && parts[strip] != "" {
			left = append(left, parts[strip])
		}
	}
	sort.Strings(left)
	return left
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
