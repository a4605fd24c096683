// Command site renders the documentation of a repository: it reads the Markdown
// files and writes an archive of pages, which "brine docs" serves and "make docs"
// unpacks. The same files give the same bytes.
//
//	site [-source URL] [-pictures] -o FILE [DIRECTORY]
//
// Pictures are left out, and their descriptions stand for them, unless they are asked
// for: they take more room than all the text.
//
// It fails where a link or an anchor leads nowhere, and where a page has HTML. The
// list of docs/README.md is the navigation.
//
// The archive is JSON, compressed with xz: see internal/view/handbook, which reads it.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ulikunitz/xz"
)

// An archive is all that is written.
type archive struct {
	Groups []group `json:"groups"`
	Pages  []*page `json:"pages"`
	// Pictures are by their paths in the site.
	Pictures map[string][]byte `json:"pictures,omitempty"`
}

// A group is a part of the navigation.
type group struct {
	Title   string  `json:"title"`
	Entries []entry `json:"entries"`
}

// An entry is a page in the navigation.
type entry struct {
	Path  string `json:"path"`
	Title string `json:"title"`
}

func main() {
	out := flag.String("o", "", "file of the archive")
	source := flag.String("source", "", "address that the paths of files follow which are not pages, such as https://example.org/brine/blob/main/")
	pictures := flag.Bool("pictures", false, "take pictures along")
	flag.Parse()
	root := "../.."
	if flag.NArg() == 1 {
		root = flag.Arg(0)
	}
	if flag.NArg() > 1 || *out == "" {
		fmt.Fprintln(os.Stderr, "usage: site [-source URL] [-pictures] -o FILE [DIRECTORY]")
		os.Exit(64)
	}
	s := &site{root: root, source: *source, pages: map[string]*page{}}
	if *pictures {
		s.pictures = map[string][]byte{}
	}
	size, err := s.make(*out)
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(os.Stderr, "site:", line)
		}
		os.Exit(1)
	}
	fmt.Printf("%s: %d pages in %d bytes\n", *out, len(s.pages), size)
}

// A site is the documentation of a repository.
type site struct {
	root     string
	source   string
	pages    map[string]*page  // by the path of their source, such as docs/ssh.md
	pictures map[string][]byte // by their paths in the site; nil leaves them out
}

// make writes the archive to a file and returns its size. It returns all faults of
// all pages.
func (s *site) make(out string) (size int, err error) {
	names, err := s.find()
	if err != nil {
		return 0, err
	}
	var faults []error
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(s.root, name))
		if err != nil {
			return 0, err
		}
		p, err := parse(name, text)
		faults = append(faults, err)
		s.pages[name] = p
	}
	a := archive{Pictures: s.pictures}
	for _, name := range names {
		p := s.pages[name]
		faults = append(faults, s.resolve(p), s.illustrate(p), p.render())
		a.Pages = append(a.Pages, p)
	}
	if a.Groups, err = s.navigation(); err != nil {
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return 0, err
	}
	data, err := pack(a)
	if err != nil {
		return 0, err
	}
	return len(data), os.WriteFile(out, data, 0o644)
}

// find returns the Markdown files that are pages: those of docs and of examples,
// and those beside them.
func (s *site) find() (names []string, err error) {
	for _, dir := range []string{".", "docs", "examples"} {
		err := filepath.WalkDir(filepath.Join(s.root, dir), func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, err := filepath.Rel(s.root, file)
			switch {
			case err != nil:
				return err
			case d.IsDir() && dir == "." && name != ".":
				return fs.SkipDir
			case !d.IsDir() && path.Ext(name) == ".md":
				names = append(names, filepath.ToSlash(name))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return names, nil
}

// target returns the path of a page in the site, from that of its source.
func target(name string) string {
	dir, file := path.Split(strings.TrimPrefix(name, "docs/"))
	file = strings.ToLower(strings.TrimSuffix(file, ".md"))
	if file == "readme" && name != "README.md" {
		file = "index"
	}
	return dir + file + ".html"
}

// navigation reads docs/README.md: a heading is a group, the first link of each
// item of a list under it is a page. Pages of docs that it does not list come last.
func (s *site) navigation() ([]group, error) {
	const index = "docs/README.md"
	p := s.pages[index]
	if p == nil {
		return nil, errors.New("there is no " + index)
	}
	groups := p.outline()
	listed := map[string]bool{target(index): true}
	for _, g := range groups {
		for _, e := range g.Entries {
			listed[e.Path] = true
		}
	}
	more := group{Title: "More"}
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		generated := strings.HasPrefix(name, "docs/reference/") && name != "docs/reference/README.md"
		if strings.HasPrefix(name, "docs/") && !generated && !listed[target(name)] {
			more.Entries = append(more.Entries, entry{Path: target(name), Title: s.pages[name].Title})
		}
	}
	if len(more.Entries) > 0 {
		groups = append(groups, more)
	}
	return groups, nil
}

// pack returns the bytes of an archive.
func pack(a archive) ([]byte, error) {
	var text, out bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a); err != nil {
		return nil, err
	}
	w, err := xz.WriterConfig{DictCap: 8 << 20, CheckSum: xz.CRC32}.NewWriter(&out)
	if err != nil {
		return nil, err
	}
	if _, err := text.WriteTo(w); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
