package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A page is a Markdown file, and the text of its page in the site.
type page struct {
	Path  string `json:"path"` // in the site, such as ssh.html
	Title string `json:"title"`
	Body  string `json:"body"`

	name  string // of the file, such as docs/ssh.md
	text  []byte
	doc   ast.Node
	ids   map[string]bool
	links []*ast.Link
	// images are the pictures of the page.
	images []*ast.Image
}

var markdown = goldmark.New(goldmark.WithExtensions(
	// Alignment is an attribute: the pages forbid styles that are not in a file.
	extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
	extension.Strikethrough, extension.Linkify,
))

// parse reads a page. It gives headings the anchors that GitHub gives them, and
// removes comments.
func parse(name string, source []byte) (*page, error) {
	p := &page{name: name, Path: target(name), text: source, ids: map[string]bool{}}
	p.doc = markdown.Parser().Parse(text.NewReader(source))
	var comments []ast.Node
	var faults []error
	err := ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			title := plain(n, source)
			if n.Level == 1 && p.Title == "" {
				p.Title = title
			}
			n.SetAttributeString("id", []byte(p.anchor(title)))
		case *ast.Link:
			p.links = append(p.links, n)
		case *ast.Image:
			p.images = append(p.images, n)
		case *ast.HTMLBlock:
			if n.HTMLBlockType != ast.HTMLBlockType2 {
				faults = append(faults, fmt.Errorf("%s: HTML is not supported: %s", name, n.Lines().Value(source)))
			}
			comments = append(comments, n)
		case *ast.RawHTML:
			if html := n.Segments.Value(source); !bytes.HasPrefix(html, []byte("<!--")) {
				faults = append(faults, fmt.Errorf("%s: HTML is not supported: %s", name, html))
			}
			comments = append(comments, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range comments {
		n.Parent().RemoveChild(n.Parent(), n)
	}
	if p.Title == "" {
		faults = append(faults, fmt.Errorf("%s: it has no title: a line that begins with #", name))
	}
	return p, errors.Join(append(faults, err)...)
}

// anchor returns the anchor of a heading, as GitHub makes it.
func (p *page) anchor(title string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
	unique := id
	for i := 1; p.ids[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", id, i)
	}
	p.ids[unique] = true
	return unique
}

// plain returns the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(unescape(c.Segment.Value(source)))
			if c.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		default:
			b.WriteString(plain(c, source))
		}
	}
	return b.String()
}

// unescape removes the backslashes before punctuation.
func unescape(s []byte) []byte {
	var out []byte
	for i, c := range s {
		if c == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]) {
			continue
		}
		out = append(out, c)
	}
	return out
}

// resolve has the links of a page lead to pages of the site, and reports those that
// lead nowhere.
func (s *site) resolve(p *page) error {
	var faults []error
	for _, l := range p.links {
		dest := string(l.Destination)
		if strings.Contains(dest, "://") || strings.HasPrefix(dest, "mailto:") {
			continue
		}
		file, anchor, _ := strings.Cut(dest, "#")
		to := p
		if file != "" {
			name := path.Join(path.Dir(p.name), file)
			if to = s.pages[name]; to == nil {
				if err := s.leave(l, name); err != nil {
					faults = append(faults, fmt.Errorf("%s: a link leads nowhere: %s", p.place(dest), dest))
				}
				continue
			}
		}
		if anchor != "" && !to.ids[anchor] {
			faults = append(faults, fmt.Errorf("%s: there is no such anchor: %s", p.place(dest), dest))
			continue
		}
		if file == "" {
			continue
		}
		rel, err := filepath.Rel(path.Dir(p.Path), to.Path)
		if err != nil {
			return err
		}
		if anchor != "" {
			rel += "#" + anchor
		}
		l.Destination = []byte(filepath.ToSlash(rel))
	}
	return errors.Join(faults...)
}

// leave has a link lead to a file of the repository that is not a page. Where nobody
// knows the address of the repository, its text alone stays.
func (s *site) leave(l *ast.Link, name string) error {
	if _, err := os.Stat(filepath.Join(s.root, name)); err != nil {
		return err
	}
	if s.source != "" {
		l.Destination = []byte(s.source + name)
		return nil
	}
	parent := l.Parent()
	for l.FirstChild() != nil {
		parent.InsertBefore(parent, l, l.FirstChild())
	}
	parent.RemoveChild(parent, l)
	return nil
}

// illustrate takes the pictures of a page along, or has their descriptions stand for
// them.
func (s *site) illustrate(p *page) error {
	var faults []error
	for _, img := range p.images {
		dest := string(img.Destination)
		name := path.Join(path.Dir(p.name), dest)
		data, err := os.ReadFile(filepath.Join(s.root, name))
		switch {
		case err != nil || path.Ext(name) != ".png":
			faults = append(faults, fmt.Errorf("%s: there is no such picture of the type PNG: %s", p.place(dest), dest))
		case img.FirstChild() == nil:
			faults = append(faults, fmt.Errorf("%s: the picture has no description: %s", p.place(dest), dest))
		case s.pictures != nil:
			at := strings.TrimPrefix(name, "docs/")
			s.pictures[at] = data
			rel, err := filepath.Rel(path.Dir(p.Path), at)
			faults = append(faults, err)
			img.Destination = []byte(filepath.ToSlash(rel))
		default:
			text := ast.NewEmphasis(1)
			for img.FirstChild() != nil {
				text.AppendChild(text, img.FirstChild())
			}
			img.Parent().ReplaceChild(img.Parent(), img, text)
		}
	}
	return errors.Join(faults...)
}

// place returns the file and line of a link.
func (p *page) place(dest string) string {
	at := max(0, bytes.Index(p.text, []byte("]("+dest)))
	return fmt.Sprintf("%s:%d", p.name, 1+bytes.Count(p.text[:at], []byte("\n")))
}

// render makes the HTML of a page.
func (p *page) render() error {
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, p.text, p.doc); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.Body = b.String()
	return nil
}

// outline returns the groups of the page that is the navigation. Its links are
// resolved.
func (p *page) outline() (groups []group) {
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				groups = append(groups, group{Title: plain(n, p.text)})
			}
		case *ast.List:
			for item := n.FirstChild(); item != nil && len(groups) > 0; item = item.NextSibling() {
				if l := firstLink(item); l != nil {
					g := &groups[len(groups)-1]
					g.Entries = append(g.Entries, entry{Path: string(l.Destination), Title: plain(l, p.text)})
				}
			}
		}
	}
	return groups
}

// firstLink returns the first link in a node.
func firstLink(n ast.Node) (found *ast.Link) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		l, ok := n.(*ast.Link)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		found = l
		return ast.WalkStop, nil
	})
	return found
}
