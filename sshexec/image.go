package sshexec

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"brine/internal/host"
	"brine/internal/version"
)

// Images are the agents that can be placed on targets. For each platform the
// first of these is taken: a file of Dir, one that a release build has in it,
// for its own platform the running program.
type Images struct {
	Exe string // the running program
	// Dir has files brine-<platform>, as Platform names it; "" is none. Named
	// says that it was asked for: then a file there that is no agent of this
	// version is an error, where it is passed over else.
	Dir   string
	Named bool
	// Embedded has SUMS, a line "platform hash size version" for each agent,
	// and the agent itself as <name>.gz; nil: there are none.
	Embedded fs.FS
	Cache    string // directory where hashes are kept between runs; "" is none
	// Host runs the program zstd, where there is one; nil: it is not used.
	Host host.Host

	mu   sync.Mutex
	list map[string][]*image // by platform, in their order
}

// An image is the agent of one platform.
type image struct {
	platform string // "linux-amd64"
	from     string // where it comes from, for people
	path     string // of the program; "" where it is embedded
	gzName   string // in fsys, of the compressed one
	fsys     fs.FS
	must     bool // what is wrong with it is an error

	ready   sync.Once
	hash    string // hex
	size    int64
	version string // "" where it is no brine
	err     error

	packing sync.Mutex
	packed  map[string][]byte // by the program that unpacks it
}

// An Image is what a person is told of an agent.
type Image struct {
	Platform string // "linux/arm64"
	From     string // "embedded", "this program", or the path of a file
	Hash     string
	Size     int64
	Version  string
	Err      error // why it cannot be placed
	Used     bool  // it is the one that its platform's targets are given
}

// open opens the program.
func (i *image) open() (io.ReadCloser, error) {
	if i.fsys == nil {
		return os.Open(i.path)
	}
	f, err := i.fsys.Open(i.gzName)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// images returns all images there are, by platform.
func (m *Images) images() map[string][]*image {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.list != nil {
		return m.list
	}
	m.list = map[string][]*image{}
	add := func(i *image) { m.list[i.platform] = append(m.list[i.platform], i) }
	if m.Dir != "" {
		names, _ := os.ReadDir(m.Dir)
		for _, n := range names {
			if p, ok := strings.CutPrefix(n.Name(), "brine-"); ok && !n.IsDir() && isPlatform(p) {
				path := filepath.Join(m.Dir, n.Name())
				add(&image{platform: p, path: path, from: path, must: m.Named})
			}
		}
	}
	if m.Embedded != nil {
		sums, err := fs.ReadFile(m.Embedded, "SUMS")
		for line := range strings.Lines(string(sums)) {
			f := strings.Fields(line)
			if len(f) != 4 || !isPlatform(f[0]) {
				continue
			}
			i := &image{platform: f[0], from: "embedded", fsys: m.Embedded, gzName: "brine-" + f[0] + ".gz", hash: f[1], version: f[3]}
			if i.size, err = strconv.ParseInt(f[2], 10, 64); err != nil || len(f[1]) != hex.EncodedLen(sha256.Size) {
				i.err = errors.New("its line in SUMS makes no sense")
			}
			i.ready.Do(func() {}) // its hash is known
			add(i)
		}
	}
	if m.Exe != "" {
		add(&image{platform: runtime.GOOS + "-" + runtime.GOARCH, path: m.Exe, from: "this program"})
	}
	return m.list
}

// isPlatform reports whether name looks like "linux-amd64".
func isPlatform(name string) bool {
	return strings.Count(name, "-") == 1 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		!strings.HasPrefix(name, "-") && !strings.HasSuffix(name, "-")
}

// platforms returns the platforms that there may be an agent for, sorted.
func (m *Images) platforms() []string {
	list := m.images()
	names := make([]string, 0, len(list))
	for n := range list {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// lookup returns the image that targets of a platform are given, hashed. Both
// results are nil where there is none; the error says why one that is there
// cannot be used.
func (m *Images) lookup(platform string) (*image, error) {
	var first error
	for _, i := range m.images()[platform] {
		err := m.check(i)
		if err == nil {
			return i, nil
		}
		if i.must {
			return nil, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// check hashes an image and reports whether it is an agent of this version.
func (m *Images) check(i *image) error {
	i.ready.Do(func() { i.err = m.sum(i) })
	switch {
	case i.err != nil:
		return i.err
	case i.version == "":
		return fmt.Errorf("%s is no agent of brine", i.from)
	case i.version != version.Number():
		return fmt.Errorf("%s is an agent of brine %s, and this is brine %s", i.from, i.version, version.Number())
	}
	return nil
}

// List returns what there is for people to see, sorted by platform. With verify
// embedded agents are unpacked and compared with their hashes.
func (m *Images) List(verify bool) []Image {
	var out []Image
	for _, p := range m.platforms() {
		used, _ := m.lookup(p)
		for _, i := range m.images()[p] {
			x := Image{Platform: PlatformName(p), From: i.from, Err: m.check(i), Used: i == used}
			if x.Err == nil && verify && i.fsys != nil {
				x.Err = i.verify()
			}
			x.Hash, x.Size, x.Version = i.hash, i.size, i.version
			out = append(out, x)
		}
	}
	return out
}

// verify compares an embedded image with what is said of it.
func (i *image) verify() error {
	hash, size, v, err := scan(i.open)
	switch {
	case err != nil:
		return fmt.Errorf("the embedded agent for %s cannot be unpacked: %w", PlatformName(i.platform), err)
	case hash != i.hash || size != i.size || v != i.version:
		return fmt.Errorf("the embedded agent for %s is not the one of its hash", PlatformName(i.platform))
	}
	return nil
}

// scan reads a program: its hash, size and version.
func scan(open func() (io.ReadCloser, error)) (hash string, size int64, v string, err error) {
	f, err := open()
	if err != nil {
		return "", 0, "", err
	}
	defer f.Close()
	h, s := sha256.New(), &version.Scanner{}
	if size, err = io.CopyBuffer(io.MultiWriter(h, s), onlyReader{f}, make([]byte, 256<<10)); err != nil {
		return "", 0, "", err
	}
	return hex.EncodeToString(h.Sum(nil)), size, s.Found(), nil
}

type onlyReader struct{ io.Reader }

// sum works out the hash, size and version of a file. That is done once for
// each file that was written, which is told by its inode and times.
func (m *Images) sum(i *image) error {
	st, err := os.Stat(i.path)
	if err != nil {
		return err
	}
	i.size = st.Size()
	var ino uint64
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		ino = uint64(sys.Ino) //nolint:unconvert // its type differs by platform
	}
	key := fmt.Sprintf("%s %d %d %d", i.path, st.Size(), st.ModTime().UnixNano(), ino)
	note := ""
	if m.Cache != "" {
		id := sha256.Sum256([]byte(key))
		note = filepath.Join(m.Cache, "agent-"+hex.EncodeToString(id[:8]))
		if b, err := os.ReadFile(note); err == nil {
			if f := strings.SplitN(strings.TrimSuffix(string(b), "\n"), " ", 3); len(f) == 3 && f[2] == key && len(f[0]) == 64 {
				i.hash, i.version = f[0], strings.TrimPrefix(f[1], "v")
				return nil
			}
		}
	}
	if i.hash, i.size, i.version, err = scan(i.open); err != nil {
		return err
	}
	if note != "" && os.MkdirAll(m.Cache, 0o700) == nil {
		tmp := note + "." + strconv.Itoa(os.Getpid())
		if os.WriteFile(tmp, []byte(i.hash+" v"+i.version+" "+key+"\n"), 0o600) == nil {
			_ = os.Rename(tmp, note)
		}
	}
	return nil
}

// packers are the programs that unpack an image on its target, the best one
// first. What is embedded is compressed already.
func (m *Images) packers(i *image) []string {
	_, zerr := m.zstd()
	switch {
	case i.fsys != nil && zerr == nil:
		return []string{"gzip", "zstd", "cat"}
	case zerr == nil:
		return []string{"zstd", "gzip", "cat"}
	}
	return []string{"gzip", "cat"}
}

func (m *Images) zstd() (string, error) {
	if m.Host == nil {
		return "", fs.ErrNotExist
	}
	return m.Host.LookPath("zstd", "")
}

// stream returns the image as the program named unpacks it, and its size.
// Compressing is done once.
func (m *Images) stream(ctx context.Context, i *image, unpack string) (io.ReadCloser, int64, error) {
	if unpack == "cat" {
		f, err := i.open()
		return f, i.size, err
	}
	i.packing.Lock()
	defer i.packing.Unlock()
	b, ok := i.packed[unpack]
	if !ok {
		var err error
		if b, err = m.pack(ctx, i, unpack); err != nil {
			return nil, 0, err
		}
		if i.packed == nil {
			i.packed = map[string][]byte{}
		}
		i.packed[unpack] = b
	}
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}

func (m *Images) pack(ctx context.Context, i *image, by string) ([]byte, error) {
	if by == "gzip" && i.fsys != nil {
		return fs.ReadFile(i.fsys, i.gzName)
	}
	f, err := i.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var buf bytes.Buffer
	if by == "zstd" {
		exe, err := m.zstd()
		if err != nil {
			return nil, err
		}
		out, err := m.Host.Run(ctx, host.Cmd{Argv: []string{exe, "-5", "-q", "-c"}, Stdin: f, Stdout: &buf})
		if err == nil && out.Status != 0 {
			err = fmt.Errorf("zstd ended with status %d: %s", out.Status, oneLine(string(out.Stderr)))
		}
		return buf.Bytes(), err
	}
	err = Compress(&buf, f, gzip.BestSpeed)
	return buf.Bytes(), err
}

// Compress writes what r has as gzip does, the same bytes each time.
func Compress(w io.Writer, r io.Reader, level int) error {
	b := bufio.NewWriter(w)
	z, err := gzip.NewWriterLevel(b, level)
	if err != nil {
		return err
	}
	if _, err := io.Copy(z, r); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return b.Flush()
}

// PlatformName returns the name of a platform as people and Go write it:
// "linux/arm64", "linux/arm/v6".
func PlatformName(platform string) string {
	goos, arch, _ := strings.Cut(platform, "-")
	if v, ok := strings.CutPrefix(arch, "armv"); ok {
		arch = "arm/v" + v
	}
	return goos + "/" + arch
}

// uname translates what uname -s and -m print to the name of a platform; ""
// where there is none. An agent for arm is one for ARMv7.
func uname(sys, machine string) string {
	goos := map[string]string{"Linux": "linux", "FreeBSD": "freebsd", "Darwin": "darwin", "OpenBSD": "openbsd", "NetBSD": "netbsd"}[sys]
	arch := map[string]string{
		"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "armv8l": "arm", "armv7l": "arm", "armv7": "arm", "armv6l": "armv6",
		"i386": "386", "i486": "386", "i586": "386", "i686": "386", "riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x",
		"ppc64": "ppc64", "loongarch64": "loong64", "mips64": "mips64",
	}[machine]
	if sys == "FreeBSD" && machine == "riscv" {
		arch = "riscv64"
	}
	if goos == "" || arch == "" {
		return ""
	}
	return goos + "-" + arch
}

// unames are the answers of "uname -sm" that mean a platform.
func unames(platform string) []string {
	var out []string
	for _, s := range []string{"Linux", "FreeBSD", "Darwin", "OpenBSD", "NetBSD"} {
		for _, m := range []string{
			"x86_64", "amd64", "aarch64", "arm64", "armv8l", "armv7l", "armv7", "armv6l", "i386", "i486", "i586", "i686",
			"riscv64", "riscv", "ppc64le", "s390x", "ppc64", "loongarch64", "mips64",
		} {
			if uname(s, m) == platform {
				out = append(out, s+" "+m)
			}
		}
	}
	return out
}
