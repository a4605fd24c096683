package machine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/host"
)

// Kinds of identities of images.
const (
	ByPackages = "packages" // the versions of its packages
	ByFiles    = "files"    // all its files
	ByArchive  = "archive"  // the archive that is unpacked
	ByDigest   = "oci"      // its reference with the digest of a registry
	ByID       = "oci_id"   // its reference with the id that its engine has for it
)

// An Identity says which image one is, for all who have it.
type Identity struct{ Kind, Text string }

// Identify returns the identity of an image. path is what the user named, "" if it was made;
// image is what Of or Reference returned for it.
func (i *Images) Identify(ctx context.Context, d *Driver, path, image string) (Identity, error) {
	if d.container {
		return i.identifyOCI(ctx, d, image)
	}
	if st, err := i.Host.Stat(path); path != "" && err == nil && st.Mode.IsRegular() {
		f, err := os.Open(path)
		if err != nil {
			return Identity{}, err
		}
		defer f.Close()
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		return Identity{ByArchive, digestText(sum)}, err
	}
	packages, err := i.packages(image)
	if err != nil {
		return Identity{}, err
	}
	if len(packages) > 0 {
		sum := sha256.New()
		_, _ = io.WriteString(sum, strings.Join(packages, "\n"))
		return Identity{ByPackages, fmt.Sprintf("%s of %d", digestText(sum), len(packages))}, nil
	}
	sum, err := sumOfFiles(image)
	return Identity{ByFiles, sum}, err
}

func digestText(h hash.Hash) string { return fmt.Sprintf("sha256:%x", h.Sum(nil)) }

// packages are the packages of a root file system with their versions, of those package
// managers whose database is text.
func (i *Images) packages(root string) ([]string, error) {
	for _, db := range []struct{ path, name, version, arch string }{
		{"var/lib/dpkg/status", "Package: ", "Version: ", "Architecture: "},
		{"lib/apk/db/installed", "P:", "V:", "A:"},
	} {
		text, err := i.Host.ReadFile(filepath.Join(root, db.path))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var out []string
		for part := range strings.SplitSeq(string(text), "\n\n") {
			words := []string{"", "", ""}
			for line := range strings.Lines(part) {
				for n, field := range []string{db.name, db.version, db.arch} {
					if v, ok := strings.CutPrefix(line, field); ok {
						words[n] = strings.TrimSpace(v)
					}
				}
			}
			if words[0] != "" {
				out = append(out, strings.Join(words, " "))
			}
		}
		slices.Sort(out)
		return out, nil
	}
	return nil, nil
}

// sumOfFiles is a digest of the files of a directory: their names, modes, links and contents.
func sumOfFiles(root string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q %v\n", rel, st.Mode())
		switch {
		case st.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			fmt.Fprintf(sum, "%q\n", to)
			return err
		case !st.Mode().IsRegular():
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		own := sha256.New()
		_, err = io.Copy(own, f)
		fmt.Fprintf(sum, "%x\n", own.Sum(nil))
		return err
	})
	return digestText(sum), err
}

// identifyOCI returns the digest by which a registry has an image, else the id of its engine.
func (i *Images) identifyOCI(ctx context.Context, d *Driver, ref string) (Identity, error) {
	out, err := i.Host.Run(ctx, host.Cmd{
		Argv:  []string{d.Name, "image", "inspect", "--format", `{{.Id}}{{range .RepoDigests}} {{.}}{{end}}`, ref},
		Merge: true, Timeout: lookTime, ReadOnly: true,
	})
	if err != nil {
		return Identity{}, err
	}
	words := strings.Fields(string(out.Stdout))
	if out.Status != 0 || len(words) == 0 {
		return Identity{}, fmt.Errorf("%s image inspect %s: %s", d.Name, ref, strings.TrimSpace(string(out.Stdout)))
	}
	name := repository(ref)
	for _, w := range words[1:] {
		if repo, digest, ok := strings.Cut(w, "@"); ok && (repo == name || strings.HasSuffix(repo, "/"+name) || strings.HasSuffix(name, "/"+repo)) {
			return Identity{ByDigest, tagged(ref) + "@" + digest}, nil
		}
	}
	id := words[0]
	if !strings.Contains(id, ":") {
		id = "sha256:" + id
	}
	return Identity{ByID, ref + "@" + id}, nil
}

// tagged is a reference without its digest.
func tagged(ref string) string {
	name, _, _ := strings.Cut(ref, "@")
	return name
}

// repository is a reference without its tag and digest.
func repository(ref string) string {
	name := tagged(ref)
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name = name[:i]
	}
	return name
}

// Pinned returns the reference of an image by its digest, after it was pulled where the engine
// does not have it. text is that of an identity by digest.
func (i *Images) Pinned(ctx context.Context, d *Driver, system, text string) (string, error) {
	_, digest, _ := strings.Cut(text, "@")
	ref := repository(text) + "@" + digest
	if _, err := i.Reference(ctx, d, system, ReferencePrefix+ref); err == nil {
		return ref, nil
	}
	return ref, i.Pull(ctx, d, system, ref)
}

// Pull has the engine of a driver fetch an image.
func (i *Images) Pull(ctx context.Context, d *Driver, system, ref string) error {
	i.Note("%s pull %s", d.Name, ref)
	return i.run(ctx, system, []string{d.Name, "pull", "--quiet", ref})
}
