package machine

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"

	"brine/internal/core/host"
)

// A Repository is a directory of Debian packages, from which apt of a machine installs
// without a network.
type Repository struct {
	Host host.Host
	Dir  string
	// index is the file Packages.
	index strings.Builder
	names map[string]bool
}

// A Stub is an empty package: what it has is made of nothing but what is named here.
type Stub struct {
	Name, Version string
	// Services have units that only sleep. As those of packages of Debian, they are
	// enabled and started when the package is installed.
	Services []string
	Users    []string // system users that are made when it is installed
	// Depends, Conflicts, Provides and Replaces are as in the description of a package.
	Depends, Conflicts, Provides, Replaces []string
	Files                                  []StubFile
}

// A StubFile is a file of a [Stub]. One that begins with "#!" is a program.
type StubFile struct{ Path, Text string }

// NewRepository makes an empty repository in a directory that does not exist.
func NewRepository(h host.Host, dir string) (*Repository, error) {
	return &Repository{Host: h, Dir: dir, names: map[string]bool{}}, h.MkdirAll(dir, 0o755)
}

// AddStub adds an empty package.
func (r *Repository) AddStub(s Stub) error {
	text, err := s.deb()
	if err != nil {
		return fmt.Errorf("make the package %s: %w", s.Name, err)
	}
	name := s.Name + "_" + strings.ReplaceAll(s.Version, ":", "%3a") + "_all.deb"
	mode := host.FileMode(0o644)
	if err := r.Host.WriteFile(filepath.Join(r.Dir, name), bytes.NewReader(text), host.WriteOptions{Mode: &mode}); err != nil {
		return err
	}
	return r.list(name, s.control(), text)
}

// list adds a package to the index.
func (r *Repository) list(name, control string, text []byte) error {
	if r.names[name] {
		return fmt.Errorf("there are two packages %s", name)
	}
	r.names[name] = true
	fmt.Fprintf(&r.index, "%s\nFilename: ./%s\nSize: %d\nSHA256: %x\n\n", strings.TrimSpace(control), name, len(text), sha256.Sum256(text))
	return nil
}

// maxPackage bounds a package of a directory.
const maxPackage = 1 << 30

// AddDir adds the packages in a directory, and returns how many there are.
func (r *Repository) AddDir(dir string) (int, error) {
	names, err := r.Host.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, name := range names {
		if filepath.Ext(name) != ".deb" {
			continue
		}
		n++
		from := filepath.Join(dir, name)
		if st, err := r.Host.Stat(from); err != nil {
			return n, err
		} else if !st.Mode.IsRegular() || st.Size > maxPackage {
			return n, fmt.Errorf("%s is not a file of at most 1 GiB", from)
		}
		text, err := r.Host.ReadFile(from)
		if err != nil {
			return n, err
		}
		control, err := controlOf(text)
		if err != nil {
			return n, fmt.Errorf("%s is not a package of Debian: %w", from, err)
		}
		mode := host.FileMode(0o644)
		if err := r.Host.WriteFile(filepath.Join(r.Dir, name), bytes.NewReader(text), host.WriteOptions{Mode: &mode}); err != nil {
			return n, err
		}
		if err := r.list(name, control, text); err != nil {
			return n, err
		}
	}
	return n, nil
}

// label names the repository, so that apt prefers what is in it.
const label = "brine-test"

// Close writes the index.
func (r *Repository) Close() error {
	mode := host.FileMode(0o644)
	index := r.index.String()
	release := fmt.Sprintf("Label: %s\nOrigin: %s\nSuite: stable\nSHA256:\n %x %d Packages\n", label, label, sha256.Sum256([]byte(index)), len(index))
	for name, text := range map[string]string{"Packages": index, "Release": release} {
		if err := r.Host.WriteFile(filepath.Join(r.Dir, name), strings.NewReader(text), host.WriteOptions{Mode: &mode}); err != nil {
			return err
		}
	}
	return nil
}

// control is the description of a package, as dpkg reads it.
func (s *Stub) control() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: brine test <brine@localhost>\n", s.Name, s.Version)
	for _, f := range []struct {
		name string
		of   []string
	}{{"Depends", s.Depends}, {"Conflicts", s.Conflicts}, {"Provides", s.Provides}, {"Replaces", s.Replaces}} {
		if len(f.of) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", f.name, strings.Join(f.of, ", "))
		}
	}
	b.WriteString("Description: an empty package for brine test\n")
	return b.String()
}

// units is where packages have their units.
const units = "/usr/lib/systemd/system/"

// unit is that of a service that only sleeps.
func (s *Stub) unit(name string) string {
	return fmt.Sprintf(`[Unit]
Description=%s of an empty package
[Service]
ExecStart=/bin/sleep infinity
ExecReload=/bin/true
[Install]
WantedBy=multi-user.target
`, name)
}

// scripts are those of a package: what it does when it is installed and removed, as
// packages of Debian do. Names are checked by who reads them.
func (s *Stub) scripts() map[string]string {
	var made, removed, after strings.Builder
	for _, u := range s.Users {
		fmt.Fprintf(&made, "getent passwd %[1]s >/dev/null || useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin %[1]s\n", u)
	}
	for _, u := range s.Services {
		if strings.HasSuffix(u, "@") {
			continue // a template has no service of its own
		}
		fmt.Fprintf(&made, "if command -v systemctl >/dev/null; then\n\tsystemctl --quiet enable %[1]s.service\n\tif [ -d /run/systemd/system ]; then\n\t\tsystemctl daemon-reload\n\t\tsystemctl start %[1]s.service\n\tfi\nfi\n", u)
		fmt.Fprintf(&removed, "if [ -d /run/systemd/system ]; then systemctl stop %s.service; fi\n", u)
		fmt.Fprintf(&after, "rm -f /etc/systemd/system/multi-user.target.wants/%s.service\n", u)
	}
	if after.Len() > 0 {
		after.WriteString("if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi\n")
	}
	out := map[string]string{}
	for name, text := range map[string]string{"postinst": made.String(), "prerm": removed.String(), "postrm": after.String()} {
		action := map[string]string{"postinst": "configure", "prerm": "remove", "postrm": "remove"}[name]
		if text != "" {
			out[name] = "#!/bin/sh\nset -e\n[ \"$1\" = " + action + " ] || exit 0\n" + text
		}
	}
	return out
}

// deb is the package as a file.
func (s *Stub) deb() ([]byte, error) {
	control := map[string]string{"/control": s.control()}
	for name, text := range s.scripts() {
		control["/"+name] = text
	}
	files := map[string]string{"/usr/share/doc/" + s.Name + "/README": "This package was made by brine test, and is empty.\n"}
	for _, u := range s.Services {
		files[units+u+".service"] = s.unit(u)
	}
	var conffiles strings.Builder
	for _, f := range s.Files {
		files[f.Path] = f.Text
		if strings.HasPrefix(f.Path, "/etc/") {
			fmt.Fprintln(&conffiles, f.Path)
		}
	}
	if conffiles.Len() > 0 {
		control["/conffiles"] = conffiles.String()
	}
	controlTar, err := archive(control)
	if err != nil {
		return nil, err
	}
	dataTar, err := archive(files)
	if err != nil {
		return nil, err
	}
	b := bytes.NewBufferString(arMagic)
	for _, m := range []struct {
		name string
		text []byte
	}{{"debian-binary", []byte("2.0\n")}, {"control.tar.gz", controlTar}, {"data.tar.gz", dataTar}} {
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.name, 0, 0, 0, 0o100644, len(m.text))
		b.Write(m.text)
		if len(m.text)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes(), nil
}

// archive is a tar archive, compressed by gzip, of files by absolute path with the
// directories that lead to them.
func archive(files map[string]string) ([]byte, error) {
	texts := map[string]string{}
	for name, text := range files {
		texts["."+name] = text
		for dir := path.Dir(name); ; dir = path.Dir(dir) {
			texts["."+strings.TrimSuffix(dir, "/")+"/"] = ""
			if dir == "/" {
				break
			}
		}
	}
	var names []string
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names) // a directory is before what is in it
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range names {
		h := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(texts[name])), ModTime: time.Unix(0, 0), Uname: "root", Gname: "root"}
		if strings.HasSuffix(name, "/") {
			h.Typeflag, h.Mode = tar.TypeDir, 0o755
		} else if strings.HasPrefix(texts[name], "#!") {
			h.Mode = 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, texts[name]); err != nil {
			return nil, err
		}
	}
	err := errors.Join(w.Close(), z.Close())
	return b.Bytes(), err
}

const (
	arMagic  = "!<arch>\n"
	arHeader = 60
	// maxControl bounds the description of a package.
	maxControl = 1 << 20
)

// controlOf returns the description in a package.
func controlOf(deb []byte) (string, error) {
	rest, ok := bytes.CutPrefix(deb, []byte(arMagic))
	if !ok {
		return "", errors.New("it is not an archive of ar")
	}
	for len(rest) >= arHeader {
		name := strings.TrimRight(string(rest[:16]), " /")
		var size int
		if _, err := fmt.Sscanf(strings.TrimSpace(string(rest[48:58])), "%d", &size); err != nil || size < 0 || size > len(rest)-arHeader {
			return "", errors.New("its archive is damaged")
		}
		text := rest[arHeader : arHeader+size]
		if strings.HasPrefix(name, "control.tar") {
			return controlIn(name, text)
		}
		rest = rest[min(len(rest), arHeader+size+size%2):]
	}
	return "", errors.New("it has no description")
}

// controlIn returns the description in an archive of this name.
func controlIn(name string, text []byte) (string, error) {
	var r io.Reader = bytes.NewReader(text)
	var err error
	switch filepath.Ext(name) {
	case ".tar":
	case ".gz":
		r, err = gzip.NewReader(r)
	case ".xz":
		r, err = xz.NewReader(r, 0)
	case ".zst":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20)); err == nil {
			defer z.Close()
		}
		r = z
	default:
		err = fmt.Errorf("%s has an unknown compression", name)
	}
	if err != nil {
		return "", err
	}
	files := tar.NewReader(io.LimitReader(r, 16*maxControl))
	for {
		h, err := files.Next()
		if err != nil {
			return "", errors.New("its description is damaged")
		}
		if path.Clean(h.Name) != "control" {
			continue
		}
		control, err := io.ReadAll(io.LimitReader(files, maxControl+1))
		if err != nil || len(control) > maxControl {
			return "", errors.New("its description is damaged, or has more than 1 MiB")
		}
		return oneParagraph(string(control))
	}
}

// oneParagraph checks that a description says nothing of other packages, which would get
// into the index.
func oneParagraph(control string) (string, error) {
	control = strings.TrimSpace(strings.ReplaceAll(control, "\r", ""))
	hasName := false
	for line := range strings.Lines(control) {
		if strings.TrimSpace(line) == "" {
			return "", errors.New("its description has an empty line")
		}
		field, _, ok := strings.Cut(line, ":")
		if continued := line[0] == ' ' || line[0] == '\t'; !ok && !continued {
			return "", fmt.Errorf("its description has the line %q", strings.TrimSpace(line))
		}
		switch strings.ToLower(field) {
		case "package":
			hasName = true
		case "filename", "size", "sha256":
			return "", fmt.Errorf("its description has the field %s", field)
		}
	}
	if !hasName {
		return "", errors.New("its description does not name it")
	}
	return control, nil
}
