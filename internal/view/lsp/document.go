package lsp

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// A document is a text that the editor has open, or a file of the tree. It does
// not change: an edit makes another.
type document struct {
	uri     string
	abs     string
	version int
	lines   []string // without line ends
	ends    []string // the line ends: "\n", "\r\n", or "" of the last
	size    int      // in bytes
	large   bool     // it has more than maxDocument bytes, and is not read: it has no text here
	open    bool
}

// newDocument returns the document of a text; of one that is too large, an empty
// one.
func newDocument(uri, abs string, version int, text string) *document {
	d := &document{uri: uri, abs: abs, version: version, large: len(text) > maxDocument}
	if d.large {
		text = ""
	}
	d.size = len(text)
	for {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			break
		}
		line, end := text[:i], "\n"
		if rest, ok := strings.CutSuffix(line, "\r"); ok {
			line, end = rest, "\r\n"
		}
		d.lines, d.ends = append(d.lines, line), append(d.ends, end)
		text = text[i+1:]
	}
	d.lines, d.ends = append(d.lines, text), append(d.ends, "")
	return d
}

// text returns the whole text.
func (d *document) text() string {
	var b strings.Builder
	for i, line := range d.lines {
		b.WriteString(line)
		b.WriteString(d.ends[i])
	}
	return b.String()
}

// line returns a line; "" outside of the document.
func (d *document) line(i int) string {
	if i < 0 || i >= len(d.lines) {
		return ""
	}
	return d.lines[i]
}

// offset returns the byte of a line that UTF-16 code units lead to: at most the
// length of the line, and never within a character.
func offset(line string, units int) int {
	at := 0
	for at < len(line) && units > 0 {
		r, n := utf8.DecodeRuneInString(line[at:])
		if units--; r > 0xffff {
			if units == 0 {
				return at
			}
			units--
		}
		at += n
	}
	return at
}

// units returns how many UTF-16 code units the first bytes of a line are.
func units(line string, at int) int {
	n := 0
	for _, r := range line[:min(max(at, 0), len(line))] {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// at returns the line and byte of a position, which are in the document.
func (d *document) at(p position) (line, col int) {
	switch {
	case p.Line < 0:
		return 0, 0
	case p.Line >= len(d.lines):
		return len(d.lines) - 1, len(d.lines[len(d.lines)-1])
	}
	return p.Line, offset(d.lines[p.Line], p.Character)
}

// pos returns the position of a byte of a line.
func (d *document) pos(line, col int) position {
	return position{line, units(d.line(line), col)}
}

// span returns the range of bytes of a line.
func (d *document) span(line, start, end int) span {
	return span{d.pos(line, start), d.pos(line, end)}
}

// edit returns the document after changes. A range outside of it ends at its end.
// What a change of a range makes of a document that is too large is not known: it
// stays too large until its whole text comes.
func (d *document) edit(version int, changes []change) *document {
	own := false // the lines of d are not those of a document that others read
	for _, c := range changes {
		if c.Range == nil {
			d, own = newDocument(d.uri, d.abs, version, c.Text), true
			continue
		}
		if d.large {
			continue
		}
		if !own {
			d, own = &document{uri: d.uri, abs: d.abs, size: d.size, lines: slices.Clone(d.lines), ends: slices.Clone(d.ends)}, true
		}
		d.replace(*c.Range, c.Text)
	}
	next := *d
	next.version, next.open = version, true
	return &next
}

// replace replaces a range of a document whose lines nobody else has.
func (d *document) replace(r span, text string) {
	l1, c1 := d.at(r.Start)
	l2, c2 := d.at(r.End)
	if l2 < l1 || l2 == l1 && c2 < c1 {
		l2, c2 = l1, c1
	}
	before := 0
	for i := l1; i <= l2; i++ {
		before += len(d.lines[i]) + len(d.ends[i])
	}
	mid := newDocument("", "", 0, d.lines[l1][:c1]+text+d.lines[l2][c2:]+d.ends[l2])
	if mid.large || d.size-before+mid.size > maxDocument {
		*d = document{uri: d.uri, abs: d.abs, large: true, lines: []string{""}, ends: []string{""}}
		return
	}
	if l2 < len(d.lines)-1 { // the line end of the last line is not a line of its own
		mid.lines, mid.ends = mid.lines[:len(mid.lines)-1], mid.ends[:len(mid.ends)-1]
	}
	d.size += mid.size - before
	d.lines = slices.Replace(d.lines, l1, l2+1, mid.lines...)
	d.ends = slices.Replace(d.ends, l1, l2+1, mid.ends...)
}

// pathOf returns the path that a URI names; "" for one that is not a file's.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) || strings.ContainsRune(u.Path, 0) {
		return ""
	}
	return filepath.Clean(u.Path)
}

// uriOf returns the URI of a path.
func uriOf(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }
