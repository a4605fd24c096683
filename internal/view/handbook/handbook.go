// Package handbook is the documentation of brine as a site: its pages, the layout
// around them, the search, and a server for this machine.
//
// The pages come from an archive that .ci/site makes of the Markdown files. "make
// build" and "make release" make it first and build with the tag release; without
// the tag the program has none.
package handbook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/therootcompany/xz"
)

// maxArchive is how large an archive may be when it is unpacked.
const maxArchive = 64 << 20

// ErrNone says that this program was built without its documentation.
var ErrNone = errors.New("this program was built without the documentation")

// A Book is the documentation.
type Book struct {
	// Groups are the navigation.
	Groups []Group `json:"groups"`
	// Pages are all pages, in the order of their files.
	Pages []*Page `json:"pages"`
	// Pictures are PNG files by their paths. The archive in the program has none.
	Pictures map[string][]byte `json:"pictures"`

	byPath map[string]*Page
	index  func() *index
}

// A Group is a part of the navigation.
type Group struct {
	Title   string  `json:"title"`
	Entries []Entry `json:"entries"`
}

// An Entry is a page in the navigation.
type Entry struct {
	Path  string `json:"path"`
	Title string `json:"title"`
}

// A Page is a page without the layout.
type Page struct {
	Path  string `json:"path"` // such as reference/states/file.html
	Title string `json:"title"`
	Body  string `json:"body"` // HTML; its headings have ids
}

// Name is how people name the page: its path without .html.
func (p *Page) Name() string { return strings.TrimSuffix(p.Path, ".html") }

// Embedded returns the documentation in this program. It returns ErrNone if there
// is none.
func Embedded() (*Book, error) {
	if embedded == nil {
		return nil, ErrNone
	}
	return Read(bytes.NewReader(embedded))
}

// Read reads an archive of pages.
func Read(r io.Reader) (*Book, error) {
	z, err := xz.NewReader(r, 0)
	if err != nil {
		return nil, fmt.Errorf("the archive of the documentation: %w", err)
	}
	b := &Book{}
	if err := json.NewDecoder(io.LimitReader(z, maxArchive)).Decode(b); err != nil {
		return nil, fmt.Errorf("the archive of the documentation: %w", err)
	}
	return b, b.prepare()
}

// prepare checks the pages. Their paths become names of files.
func (b *Book) prepare() error {
	b.byPath = map[string]*Page{}
	for _, p := range b.Pages {
		if p == nil || !validPath(p.Path, ".html") {
			return errors.New("the archive of the documentation has a page with an invalid path")
		}
		b.byPath[p.Path] = p
	}
	for name := range b.Pictures {
		if !validPath(name, ".png") {
			return errors.New("the archive of the documentation has a picture with an invalid path")
		}
	}
	if b.byPath["index.html"] == nil {
		return errors.New("the archive of the documentation has no page index.html")
	}
	b.index = sync.OnceValue(func() *index { return newIndex(b.Pages) })
	return nil
}

// validPath reports whether a path stays in the site and has the suffix.
func validPath(name, suffix string) bool {
	return path.Clean("/" + name)[1:] == name && path.Ext(name) == suffix
}

// Find returns the address in the site of what a person names: a page, such as ssh,
// ssh.md, docs/ssh.md or ssh.html, which an anchor may follow.
func (b *Book) Find(name string) (address string, ok bool) {
	name, anchor, found := strings.Cut(strings.TrimPrefix(name, "docs/"), "#")
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".md"), ".html") + ".html"
	p := b.byPath[name]
	if p == nil {
		p = b.byPath[strings.TrimSuffix(name, ".html")+"/index.html"]
	}
	if p == nil {
		return "", false
	}
	if found {
		return p.Path + "#" + anchor, strings.Contains(p.Body, ` id="`+anchor+`"`)
	}
	return p.Path, true
}

// Page returns the page with a path in the site, nil if there is none.
func (b *Book) Page(path string) *Page { return b.byPath[path] }

// Anchors returns the anchors of the headings of the page.
func (p *Page) Anchors() (anchors []string) {
	for _, h := range heading().FindAllStringSubmatch(p.Body, -1) {
		anchors = append(anchors, h[2])
	}
	return anchors
}

// Files returns the paths of all files of the site, sorted.
func (b *Book) Files() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(b.byPath)), maps.Keys(assets))
	names = slices.AppendSeq(append(names, indexName), maps.Keys(b.Pictures))
	slices.Sort(names)
	return names
}

// File returns a file of the site.
func (b *Book) File(name string) (content []byte, ok bool) {
	if p := b.byPath[name]; p != nil {
		return b.layout(p), true
	}
	if text, ok := assets[name]; ok {
		return []byte(text), true
	}
	if name == indexName {
		return b.index().script(), true
	}
	content, ok = b.Pictures[name]
	return content, ok
}
