// Command pack makes what a release consists of from the binaries in a directory:
// archives, packages for dpkg, rpm and apk, a container image as an OCI layout, a list
// of components (SBOM), a Homebrew formula and a PKGBUILD, the provenance, and
// SHA256SUMS. The same binaries, commit and date give the same bytes.
//
//	pack [flags] DIRECTORY
//
// DIRECTORY has bin/brine-VERSION-OS-ARCH for each platform, agents/ with SUMS and the
// packed agents, and doc/ with man/, completion/ and the texts. The results are written
// beside them.
package main

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A release is what is made.
type release struct {
	dir     string
	version string // 1.2.3 or 1.2.3-rc.1
	date    time.Time
	url     string // of the project, and of its releases
	commit  string // that the binaries were built from; "" is not known
	bins    []binary
	made    []string // names of files in dir
}

// A binary is brine for a platform.
type binary struct {
	os, arch, arm string // as in GOOS, GOARCH and GOARM
	path          string
}

// name is the part of file names that tells the platform.
func (b binary) name() string {
	if b.arch == "arm" {
		return b.os + "-armv" + b.arm
	}
	return b.os + "-" + b.arch
}

func main() {
	r := &release{}
	flag.StringVar(&r.version, "version", "", "version of the binaries")
	flag.StringVar(&r.url, "url", home("url"), "where the project is hosted")
	flag.StringVar(&r.commit, "commit", "", "commit that the binaries were built from")
	date := flag.String("date", os.Getenv("SOURCE_DATE_EPOCH"), "date of all files, in seconds since 1970 (default: $SOURCE_DATE_EPOCH)")
	flag.Parse()
	seconds, err := strconv.ParseInt(*date, 10, 64)
	if flag.NArg() != 1 || r.version == "" || err != nil {
		fmt.Fprintln(os.Stderr, "usage: pack -version VERSION -date SECONDS [-url URL] [-commit COMMIT] DIRECTORY")
		os.Exit(64)
	}
	if homeless(r.url) {
		fmt.Fprintln(os.Stderr, "pack: warning: nobody has said where the project is hosted: make home URL=https://host/path")
	}
	r.dir, r.date = flag.Arg(0), time.Unix(seconds, 0).UTC()
	if err := r.run(); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func (r *release) run() error {
	if err := r.find(); err != nil {
		return err
	}
	for _, step := range []func() error{r.archives, r.packages, r.image, r.components, r.recipes, r.provenance, r.sums} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// find lists the binaries.
func (r *release) find() error {
	prefix := filepath.Join(r.dir, "bin", "brine-"+r.version+"-")
	files, err := filepath.Glob(prefix + "*")
	if err != nil {
		return err
	}
	for _, f := range files {
		system, arch, ok := strings.Cut(strings.TrimPrefix(f, prefix), "-")
		if !ok {
			return fmt.Errorf("%s does not name a platform", f)
		}
		b := binary{os: system, arch: arch, path: f}
		if v, ok := strings.CutPrefix(arch, "armv"); ok {
			b.arch, b.arm = "arm", v
		}
		r.bins = append(r.bins, b)
	}
	if len(r.bins) == 0 {
		return errors.New("there are no binaries " + prefix + "*")
	}
	slices.SortFunc(r.bins, func(a, b binary) int { return cmp.Compare(a.path, b.path) })
	return nil
}

// create makes a file of the release, which write fills.
func (r *release) create(name string, write func(io.Writer) error) (err error) {
	f, err := os.Create(filepath.Join(r.dir, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := write(w); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.made = append(r.made, name)
	return w.Flush()
}

// sum returns the SHA-256 of a file of the release.
func (r *release) sum(name string) (string, error) {
	f, err := os.Open(filepath.Join(r.dir, name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// sums writes SHA256SUMS over all that was made.
func (r *release) sums() error {
	slices.Sort(r.made)
	var b strings.Builder
	for _, name := range r.made {
		s, err := r.sum(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", s, name)
	}
	return os.WriteFile(filepath.Join(r.dir, "SHA256SUMS"), []byte(b.String()), 0o644)
}
