// Package pagetext writes pages of the documentation as text for a terminal: headings,
// paragraphs, lists, code, and tables that fit the width. Links have the names by which
// "brine docs" finds their pages.
package pagetext

import (
	"html"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"brine/cmd/internal/columns"
	"brine/internal/core/printable"
	"brine/internal/view/handbook"
)

// token finds the tags of a body. Text in bodies has no bare "<".
var token = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<(/?)([a-z][a-z0-9]*)([^>]*)>`) })

// attribute finds the attributes that matter.
var attribute = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(id|href|alt|start)="([^"]*)"`) })

// Render returns a page as text. With an anchor it is only the part under that heading.
func Render(p *handbook.Page, anchor string, width int) string {
	body := p.Body
	if anchor != "" {
		body = part(body, anchor)
	}
	w := &writer{width: width, page: p.Path}
	at := 0
	for _, m := range token().FindAllStringSubmatchIndex(body, -1) {
		w.text(body[at:m[0]])
		at = m[1]
		name := body[m[4]:m[5]]
		if body[m[2]:m[3]] == "/" {
			w.close(name)
			continue
		}
		attrs := map[string]string{}
		for _, a := range attribute().FindAllStringSubmatch(body[m[6]:m[7]], -1) {
			attrs[a[1]] = html.UnescapeString(a[2])
		}
		w.open(name, attrs)
	}
	w.text(body[at:])
	w.paragraph()
	return printable.Text(strings.TrimLeft(w.out.String(), "\n"))
}

var heading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<h([1-6]) id="([^"]*)">`) })

// part returns what is under a heading, up to the next one that is not below it.
func part(body, anchor string) string {
	begin, level := -1, ""
	for _, m := range heading().FindAllStringSubmatchIndex(body, -1) {
		switch {
		case begin >= 0 && body[m[2]:m[3]] <= level:
			return body[begin:m[0]]
		case begin < 0 && body[m[4]:m[5]] == anchor:
			begin, level = m[0], body[m[2]:m[3]]
		}
	}
	if begin < 0 {
		return body
	}
	return body[begin:]
}

// A list is one that is being written: the number of its next item, 0 without numbers.
type list struct{ next int }

type writer struct {
	out   strings.Builder
	width int
	page  string

	inline strings.Builder // of the paragraph, heading or cell
	mark   string          // before its first line
	lists  []list
	quote  int
	pre    bool
	href   string // of the link that is open
	linkAt int    // where its text begins in inline
	rows   [][]string
	tight  bool // no empty line before the next block
}

func (w *writer) text(s string) {
	s = html.UnescapeString(s)
	if w.pre {
		w.inline.WriteString(s)
		return
	}
	if strings.TrimSpace(s) == "" && w.inline.Len() == 0 {
		return
	}
	w.inline.WriteString(strings.ReplaceAll(s, "\n", " "))
}

func (w *writer) open(name string, attrs map[string]string) {
	switch name {
	case "p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "table":
		w.paragraph()
		if name == "blockquote" {
			w.quote++
		}
		if name == "table" {
			w.rows = nil
		}
	case "ul", "ol":
		w.paragraph()
		l := list{}
		if name == "ol" {
			l.next = 1
			if n, err := strconv.Atoi(attrs["start"]); err == nil {
				l.next = n
			}
		}
		w.lists = append(w.lists, l)
		w.tight = len(w.lists) > 1
	case "li":
		w.item()
	case "pre":
		w.paragraph()
		w.pre = true
	case "code":
		if !w.pre {
			w.inline.WriteByte('`')
		}
	case "a":
		w.href, w.linkAt = attrs["href"], w.inline.Len()
	case "img":
		w.inline.WriteString("[picture: " + attrs["alt"] + "]")
	case "br":
		w.inline.WriteByte(' ')
	case "hr":
		w.paragraph()
		w.block(strings.Repeat("-", min(w.width, 20)) + "\n")
	case "tr":
		w.rows = append(w.rows, nil)
	case "td", "th":
		w.inline.Reset()
	}
}

func (w *writer) item() {
	w.paragraph()
	w.mark = "- "
	if n := len(w.lists); n > 0 && w.lists[n-1].next > 0 {
		w.mark = strconv.Itoa(w.lists[n-1].next) + ". "
		w.lists[n-1].next++
	}
}

func (w *writer) close(name string) {
	switch name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		w.heading(name)
	case "p":
		w.paragraph()
	case "li":
		w.paragraph()
		w.mark, w.tight = "", true
	case "ul", "ol":
		w.paragraph()
		w.lists = w.lists[:max(len(w.lists)-1, 0)]
		w.tight = len(w.lists) > 0
	case "blockquote":
		w.paragraph()
		w.quote = max(w.quote-1, 0)
	case "pre":
		w.code()
	case "code":
		if !w.pre {
			w.inline.WriteByte('`')
		}
	case "a":
		w.link()
	case "td", "th":
		if n := len(w.rows); n > 0 {
			w.rows[n-1] = append(w.rows[n-1], strings.Join(strings.Fields(w.inline.String()), " "))
		}
		w.inline.Reset()
	case "table":
		w.table()
	}
}

// indent is the blanks before a block: those of the lists around it.
func (w *writer) indent() int { return 2*max(len(w.lists)-1, 0) + 2*w.quote }

// block writes lines as they are, after an empty line unless a list goes on.
func (w *writer) block(text string) {
	if !w.tight {
		w.out.WriteByte('\n')
	}
	w.tight = false
	w.out.WriteString(text)
}

// paragraph writes what was gathered.
func (w *writer) paragraph() {
	text := w.inline.String()
	w.inline.Reset()
	if strings.TrimSpace(text) == "" {
		return
	}
	lead := strings.Repeat(" ", w.indent())
	rest := lead
	if len(w.lists) > 0 {
		rest += "  "
		if w.mark != "" {
			rest = lead + strings.Repeat(" ", len(w.mark))
			lead += w.mark
			w.mark = ""
		} else {
			lead = rest
		}
	}
	w.block(columns.Hang(lead, text, len(rest), w.width))
}

// heading writes a heading: the large ones are underlined.
func (w *writer) heading(name string) {
	lines := columns.Wrap(w.inline.String(), w.width)
	w.inline.Reset()
	long := 0
	for _, l := range lines {
		long = max(long, columns.Len(l))
	}
	text := strings.Join(lines, "\n") + "\n"
	switch name {
	case "h1":
		text += strings.Repeat("=", long) + "\n"
	case "h2":
		text += strings.Repeat("-", long) + "\n"
	}
	w.tight = false
	w.block(text)
}

// code writes a block of code: it is indented, and its lines are never broken.
func (w *writer) code() {
	w.pre = false
	lead := strings.Repeat(" ", w.indent()+4)
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(w.inline.String(), "\n") + "\n") {
		if strings.TrimSpace(line) != "" {
			b.WriteString(lead)
		}
		b.WriteString(line)
	}
	w.inline.Reset()
	w.tight = false
	w.block(b.String())
}

func (w *writer) table() {
	lead := strings.Repeat(" ", w.indent())
	var b strings.Builder
	for line := range strings.Lines(columns.Table(w.rows, w.width-len(lead))) {
		b.WriteString(lead + line)
	}
	w.rows = nil
	w.tight = false
	w.block(b.String())
}

// link names the page that a link leads to, or its address.
func (w *writer) link() {
	all := w.inline.String()
	text := all[min(w.linkAt, len(all)):]
	name := w.nameOf(w.href)
	w.href = ""
	bare := strings.Trim(text, "`")
	switch {
	case name == "" || strings.EqualFold(name, bare):
		return
	case strings.HasSuffix(bare, ".md"): // it names the file of the page
		w.inline.Reset()
		w.inline.WriteString(all[:w.linkAt] + name)
	default:
		w.inline.WriteString(" (" + name + ")")
	}
}

// nameOf returns how a person names where a link leads; "" for a part of this page.
func (w *writer) nameOf(href string) string {
	if strings.Contains(href, "://") || strings.HasPrefix(href, "mailto:") {
		return strings.TrimPrefix(href, "mailto:")
	}
	file, anchor, found := strings.Cut(href, "#")
	if file == "" {
		return ""
	}
	name := strings.TrimSuffix(path.Join(path.Dir(w.page), file), ".html")
	if found {
		name += "#" + anchor
	}
	return name
}
