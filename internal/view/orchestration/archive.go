package orchestration

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"brine/internal/core/host"
)

// Bounds of an archive, which anybody may have made.
const (
	maxArchive = 16 << 20 // bytes of its files
	maxMembers = 2000     // files and directories
)

// Export writes the files of a template as a tar archive, which [Import] reads. Equal files
// make equal archives: there are no times and no owners in it.
func Export(files host.Host, t *Template, w io.Writer) error {
	all, err := t.members(files)
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	for _, m := range all {
		head := tar.Header{Typeflag: tar.TypeReg, Name: path.Join(m.part, t.Name, m.path), Mode: int64(m.mode), Size: int64(len(m.text)), ModTime: time.Unix(0, 0)}
		if err := out.WriteHeader(&head); err != nil {
			return err
		}
		if _, err := out.Write(m.text); err != nil {
			return err
		}
	}
	return out.Close()
}

// Import makes a template of a tar archive, which may be compressed by gzip, below a root,
// and returns its name and the paths of its files. name "" is the name that it has in the
// archive. Nothing is made where the archive or the template is not right. It returns
// fs.ErrExist if there is a template with the name.
func Import(files host.Host, archive io.Reader, root, name string) (as string, made []string, err error) {
	own, all, err := unpack(archive)
	if err != nil {
		return "", nil, err
	}
	if name == "" {
		name = own
	}
	if err := CheckName(name); err != nil {
		return name, nil, err
	}
	if err := free(files, root, name); err != nil {
		return name, nil, err
	}
	if err := files.MkdirAll(root, 0o755); err != nil {
		return name, nil, err
	}
	staging, err := files.MkdirTemp(root, ".import-")
	if err != nil {
		return name, nil, err
	}
	defer func() { _ = files.RemoveAll(staging) }()
	if _, err := write(files, staging, name, all); err != nil {
		return name, nil, err
	}
	for _, m := range all {
		made = append(made, m.below(root, name))
	}
	if _, err := Find(files, []string{staging}, name); err != nil {
		return name, nil, fmt.Errorf("the archive has no valid template: %s", strings.ReplaceAll(err.Error(), staging+string(filepath.Separator), ""))
	}
	for i, part := range parts {
		err := files.MkdirAll(filepath.Join(root, part), 0o755)
		if err == nil {
			err = files.Rename(filepath.Join(staging, part, name), filepath.Join(root, part, name))
		}
		if err != nil {
			for _, done := range parts[:i] {
				err = errors.Join(err, files.RemoveAll(filepath.Join(root, done, name)))
			}
			return name, nil, err
		}
	}
	return name, made, nil
}

// unpack reads an archive: the name of its template, and the files.
func unpack(archive io.Reader) (name string, all []member, err error) {
	in := bufio.NewReader(archive)
	var plain io.Reader = in
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return "", nil, fmt.Errorf("the archive cannot be read: %w", err)
		}
		plain = z
	}
	tr, seen, left := tar.NewReader(plain), map[string]bool{}, int64(maxArchive)
	for n := 0; ; n++ {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", nil, fmt.Errorf("the archive cannot be read: %w", err)
		}
		if n == maxMembers {
			return "", nil, fmt.Errorf("the archive has more than %d files and directories", maxMembers)
		}
		full := strings.TrimSuffix(strings.TrimPrefix(h.Name, "./"), "/")
		if h.Typeflag == tar.TypeDir && (full == "" || full == "." || slices.Contains(parts, full)) {
			continue
		}
		part, rest, _ := strings.Cut(full, "/")
		own, rel, _ := strings.Cut(rest, "/")
		switch {
		case !slices.Contains(parts, part) || own == "" || path.Clean(full) != full || strings.ContainsFunc(full, func(c rune) bool { return unicode.IsControl(c) || c == '\\' }):
			return "", nil, fmt.Errorf("the archive has %q: all of it must be below states/NAME and metadata/NAME", h.Name)
		case name != "" && own != name:
			return "", nil, fmt.Errorf("the archive has two templates, %q and %q: make one of each", name, own)
		case !ValidName(own):
			return "", nil, fmt.Errorf("the archive has %q: %w", h.Name, CheckName(own))
		case seen[full]:
			return "", nil, fmt.Errorf("the archive has %q twice", h.Name)
		}
		name, seen[full] = own, true
		switch {
		case h.Typeflag == tar.TypeDir:
			continue
		case h.Typeflag != tar.TypeReg || rel == "":
			return "", nil, fmt.Errorf("the archive has %q, which is neither a file of a template nor a directory", h.Name)
		}
		if left -= h.Size; left < 0 {
			return "", nil, fmt.Errorf("the files of the archive have more than %d MiB", maxArchive>>20)
		}
		text, err := io.ReadAll(tr)
		if err != nil {
			return "", nil, fmt.Errorf("the archive cannot be read: %w", err)
		}
		all = append(all, member{part: part, path: rel, mode: fs.FileMode(h.Mode)&0o755 | 0o600, text: text})
	}
	if name == "" {
		return "", nil, errors.New("the archive has no template: 'brine template export' makes such archives")
	}
	return name, all, nil
}
