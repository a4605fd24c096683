package sshexec

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Images are the agents that can be placed on targets: this program itself for
// its own platform, files of a directory for others.
type Images struct {
	Exe   string // the running program
	Dir   string // of brine-<os>-<arch>; "" is none
	Cache string // directory where hashes are kept between runs; "" is none

	mu   sync.Mutex
	list map[string]*image // by platform
}

// An image is the agent of one platform.
type image struct {
	platform string // "linux-amd64"
	path     string

	hashed sync.Once
	hash   string // hex
	size   int64
	err    error

	zipped sync.Once
	gz     []byte
	zerr   error
}

// platforms returns the images there are, by platform.
func (m *Images) platforms() map[string]*image {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.list != nil {
		return m.list
	}
	m.list = map[string]*image{}
	if m.Dir != "" {
		names, _ := os.ReadDir(m.Dir)
		for _, n := range names {
			if p, ok := strings.CutPrefix(n.Name(), "brine-"); ok && !n.IsDir() && strings.Count(p, "-") == 1 {
				m.list[p] = &image{platform: p, path: filepath.Join(m.Dir, n.Name())}
			}
		}
	}
	if own := runtime.GOOS + "-" + runtime.GOARCH; m.list[own] == nil && m.Exe != "" {
		m.list[own] = &image{platform: own, path: m.Exe}
	}
	return m.list
}

// sum returns the hash of the image and notes its size. A hash is worked out
// once for each file that was written, which is told by its inode and times.
func (m *Images) sum(i *image) (string, error) {
	i.hashed.Do(func() {
		st, err := os.Stat(i.path)
		if err != nil {
			i.err = err
			return
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
				if h, k, ok := strings.Cut(strings.TrimSuffix(string(b), "\n"), " "); ok && k == key && len(h) == 64 {
					i.hash = h
					return
				}
			}
		}
		f, err := os.Open(i.path)
		if err != nil {
			i.err = err
			return
		}
		defer f.Close()
		h := sha256.New()
		if _, i.err = io.Copy(h, f); i.err != nil {
			return
		}
		i.hash = hex.EncodeToString(h.Sum(nil))
		if note != "" && os.MkdirAll(m.Cache, 0o700) == nil {
			tmp := note + "." + strconv.Itoa(os.Getpid())
			if os.WriteFile(tmp, []byte(i.hash+" "+key+"\n"), 0o600) == nil {
				_ = os.Rename(tmp, note)
			}
		}
	})
	return i.hash, i.err
}

// compressed returns the image as gzip has it, made once.
func (i *image) compressed() ([]byte, error) {
	i.zipped.Do(func() {
		f, err := os.Open(i.path)
		if err != nil {
			i.zerr = err
			return
		}
		defer f.Close()
		var buf bytes.Buffer
		w, _ := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
		if _, i.zerr = io.Copy(w, f); i.zerr == nil {
			i.zerr = w.Close()
		}
		i.gz = buf.Bytes()
	})
	return i.gz, i.zerr
}

// uname translates what uname -s and -m print to a platform of Go; "" where
// there is none.
func uname(sys, machine string) string {
	goos := map[string]string{"Linux": "linux", "FreeBSD": "freebsd", "Darwin": "darwin", "OpenBSD": "openbsd", "NetBSD": "netbsd"}[sys]
	arch := map[string]string{
		"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "armv8l": "arm", "armv7l": "arm", "armv6l": "arm",
		"i386": "386", "i486": "386", "i586": "386", "i686": "386", "riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x",
		"ppc64": "ppc64", "loongarch64": "loong64", "mips64": "mips64",
	}[machine]
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
			"x86_64", "amd64", "aarch64", "arm64", "armv8l", "armv7l", "armv6l", "i386", "i486", "i586", "i686",
			"riscv64", "ppc64le", "s390x", "ppc64", "loongarch64", "mips64",
		} {
			if uname(s, m) == platform {
				out = append(out, s+" "+m)
			}
		}
	}
	return out
}
