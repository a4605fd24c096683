package sshexec

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"

	"brine/internal/core/version"
)

// Images are the agents that can be placed on targets. For each platform the
// first of these is taken: a file of Dir, one that a release build has in it, one
// of Shared, for its own platform the running program.
type Images struct {
	Exe string // the running program
	// Dir has files brine-<platform>, where Platform names the platform; ""
	// means none. Named says that the user configured it: then a file in it
	// that is not an agent of this version is an error; otherwise the file is
	// ignored.
	Dir   string
	Named bool
	// Embedded has SUMS, a line "platform hash size version" for each agent,
	// and the agent itself as <name>.xz or <name>.zst; nil: there are none.
	Embedded fs.FS
	// Shared are directories in the form of Embedded that were installed with the
	// program. Those that do not exist are passed over.
	Shared []string
	Cache  string // directory where hashes and packed agents are kept between runs; "" is none

	mu   sync.Mutex
	list map[string][]*image // by platform, in their order
}

// An image is the agent of one platform.
type image struct {
	platform string // "linux-amd64"
	from     string // where it comes from, for people
	path     string // of the program; "" where it is embedded
	packName string // in fsys, of the compressed one
	packedBy string // the program that unpacks that one
	fsys     fs.FS
	must     bool // what is wrong with it is an error

	ready   sync.Once
	hash    string // hex
	size    int64
	version string // "" if it is not brine
	err     error

	packing sync.Mutex
	packed  map[string]packed // by the program that unpacks it
}

// packed is an image as a program unpacks it, and the hash of that, in hex.
type packed struct {
	b   []byte
	sum string
}

// An Image describes an agent for people.
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
	f, err := i.fsys.Open(i.packName)
	if err != nil {
		return nil, err
	}
	if i.packedBy == "xz" {
		z, err := xz.NewReader(f, 0)
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		return unxz{i.bounded(z), f}, nil
	}
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return unpacked{i.bounded(z), z, f}, nil
}

// maxWindow is the default maximum window of zstd.
const maxWindow = 128 << 20

// bounded returns what r unpacks, up to one byte more than the image has: then its hash
// is another one.
func (i *image) bounded(r io.Reader) io.Reader { return io.LimitReader(r, i.size+1) }

// unpacked is an embedded image while it is read.
type unpacked struct {
	io.Reader
	z *zstd.Decoder
	f io.Closer
}

func (u unpacked) Close() error {
	u.z.Close()
	return u.f.Close()
}

// unxz is unpacked for an image that xz compressed.
type unxz struct {
	io.Reader
	io.Closer
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
		for _, i := range packedImages(m.Embedded, "embedded") {
			add(i)
		}
	}
	for _, dir := range m.Shared {
		for _, i := range packedImages(os.DirFS(dir), dir) {
			add(i)
		}
	}
	if m.Exe != "" {
		add(&image{platform: runtime.GOOS + "-" + runtime.GOARCH, path: m.Exe, from: "this program"})
	}
	return m.list
}

// packedImages returns the compressed agents that fsys lists in SUMS: none without
// such a file. They come from the place called from.
func packedImages(fsys fs.FS, from string) []*image {
	sums, err := fs.ReadFile(fsys, "SUMS")
	if err != nil {
		return nil
	}
	var out []*image
	for line := range strings.Lines(string(sums)) {
		f := strings.Fields(line)
		if len(f) != 4 || !isPlatform(f[0]) {
			continue
		}
		i := &image{platform: f[0], from: from, fsys: fsys, packName: "brine-" + f[0] + ".xz", packedBy: "xz", hash: f[1], version: f[3]}
		if _, err := fs.Stat(fsys, i.packName); err != nil {
			i.packName, i.packedBy = "brine-"+f[0]+".zst", "zstd"
		}
		if i.size, err = strconv.ParseInt(f[2], 10, 64); err != nil || len(f[1]) != hex.EncodedLen(sha256.Size) {
			i.err = errors.New("its line in SUMS is invalid")
		}
		i.ready.Do(func() {}) // its hash is known
		out = append(out, i)
	}
	return out
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

// lookup returns the image for targets of a platform, with its hash. Both
// results are nil if there is none; the error says why an existing one cannot
// be used.
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
		return fmt.Errorf("%s is not an agent of brine", i.from)
	case i.version != version.Number():
		return fmt.Errorf("%s is an agent of brine %s, and this is brine %s", i.from, i.version, version.Number())
	}
	return nil
}

// List returns the available images, sorted by platform. With verify, embedded
// agents are unpacked and compared with their hashes.
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
		return fmt.Errorf("the agent for %s (%s) cannot be unpacked: %w", PlatformName(i.platform), i.from, err)
	case hash != i.hash || size != i.size || v != i.version:
		return fmt.Errorf("the agent for %s (%s) is not the one of its hash", PlatformName(i.platform), i.from)
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

// sum computes the hash, size and version of a file: once for each state of the
// file, identified by its inode and times.
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
	if note != "" {
		m.keep(note, []byte(i.hash+" v"+i.version+" "+key+"\n"))
	}
	return nil
}

// packers are the programs that unpack an image on its target, the best one
// first.
var packers = []string{"xz", "zstd", "gzip", "cat"}

// XZ returns the command that compresses the agent of a platform; append the name
// of its file. The result is in a file of that name with ".xz". The target needs
// 9 MiB of memory to unpack it.
func XZ(platform string) []string {
	argv := []string{"xz", "-k", "-f", "-q", "-T1", "--check=crc32"}
	// The filter of arm64 is newer than the xz of many targets.
	if f := map[string]string{"linux-amd64": "--x86", "freebsd-amd64": "--x86", "darwin-amd64": "--x86", "linux-386": "--x86", "linux-arm": "--arm", "linux-armv6": "--arm"}[platform]; f != "" {
		argv = append(argv, f)
	}
	// Literals by the upper four bits of the byte before them: 0.3 % less, and all that lzma2 allows.
	return append(argv, "--lzma2=preset=9e,dict=8MiB,lc=4")
}

// ways returns those of the programs of a target that can unpack an image there,
// the best one first. It takes seconds to compress by xz, and the program xz, so
// that is done when an agent is built.
func (m *Images) ways(i *image, programs string) []string {
	var out []string
	for _, by := range packers {
		if !slices.Contains(strings.Split(programs, ","), by) {
			continue
		}
		if by == "xz" && i.packedBy != by {
			if _, err := os.Stat(m.kept(i.hash, by)); m.Cache == "" || err != nil {
				continue
			}
		}
		out = append(out, by)
	}
	return out
}

// kept returns the file of the cache that has an agent as a program unpacks it.
func (m *Images) kept(hash, by string) string {
	return filepath.Join(m.Cache, "agent-"+hash[:min(16, len(hash))]+map[string]string{"xz": ".xz", "zstd": ".zst", "gzip": ".gz"}[by])
}

// KeepXZ puts into the cache what the command line of [XZ] made of an agent of
// this hash.
func (m *Images) KeepXZ(hash string, packed []byte) {
	if m.Cache != "" {
		m.keep(m.kept(hash, "xz"), packed)
	}
}

// stream returns the image as the program named unpacks it, and the size and the
// hash of that. Compressing is done once. What it returns is an io.Seeker, too,
// unless it has to be unpacked first.
func (m *Images) stream(i *image, unpack string) (body io.ReadCloser, size int64, sum string, err error) {
	if unpack == "cat" {
		f, err := i.open()
		return f, i.size, i.hash, err
	}
	i.packing.Lock()
	defer i.packing.Unlock()
	x, ok := i.packed[unpack]
	if !ok {
		if x.b, err = m.pack(i, unpack); err != nil {
			return nil, 0, "", err
		}
		h := sha256.Sum256(x.b)
		x.sum = hex.EncodeToString(h[:])
		if i.packed == nil {
			i.packed = map[string]packed{}
		}
		i.packed[unpack] = x
	}
	return inMemory{bytes.NewReader(x.b)}, int64(len(x.b)), x.sum, nil
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// pack compresses an image for the program by. An agent is packed as small as
// can be, which takes seconds, and kept for other runs; the running program is
// sent where nobody built an agent, and packed quickly.
func (m *Images) pack(i *image, by string) ([]byte, error) {
	if i.fsys != nil && by == i.packedBy {
		return fs.ReadFile(i.fsys, i.packName)
	}
	agent := i.fsys != nil || i.path != m.Exe
	kept := ""
	if agent && m.Cache != "" {
		kept = m.kept(i.hash, by)
		if b, err := os.ReadFile(kept); err == nil {
			return b, nil
		}
	}
	if by == "xz" {
		return nil, fmt.Errorf("%s does not exist any more", kept)
	}
	f, err := i.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var buf bytes.Buffer
	if by == "zstd" {
		level := zstd.SpeedBestCompression
		if !agent {
			level = zstd.SpeedFastest
		}
		err = Compress(&buf, f, level)
	} else {
		level := gzip.BestCompression
		if !agent {
			level = gzip.BestSpeed
		}
		err = compressGzip(&buf, f, level)
	}
	if err == nil && kept != "" {
		m.keep(kept, buf.Bytes())
	}
	return buf.Bytes(), err
}

// keep writes a file of the cache, all of it or nothing.
func (m *Images) keep(path string, b []byte) {
	if os.MkdirAll(m.Cache, 0o700) != nil {
		return
	}
	tmp := path + "." + strconv.Itoa(os.Getpid())
	if os.WriteFile(tmp, b, 0o600) != nil || os.Rename(tmp, path) != nil {
		_ = os.Remove(tmp)
	}
}

// Compress writes what r has as zstd does, the same bytes each time.
func Compress(w io.Writer, r io.Reader, level zstd.EncoderLevel) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(level), zstd.WithWindowSize(packWindow), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if _, err := io.Copy(z, r); err != nil {
		_ = z.Close()
		return err
	}
	return z.Close()
}

// packWindow is what unpacking takes of the target's memory. The program zstd
// unpacks no window of more than 128 MiB, and 8 MiB is what it takes for sure.
const packWindow = 8 << 20

func compressGzip(w io.Writer, r io.Reader, level int) error {
	z, err := gzip.NewWriterLevel(w, level)
	if err != nil {
		return err
	}
	if _, err := io.Copy(z, r); err != nil {
		return err
	}
	return z.Close()
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
