package plantext

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"brine/internal/view/plan"
)

// maxWords is how many words of a state may differ between hosts that are shown
// together.
const maxWords = 6

// A shared is a state on hosts on which it differs in words at most.
type shared struct {
	hosts []string
	lines []line
}

// A variant is what a state is on hosts on which it is the same.
type variant struct {
	hosts []string
	body  *body
	words [][]string // of each line
}

// share returns a joint as text: hosts on which it has the same lines, but for some
// words, are together. w gets these words.
func share(j *plan.Joint, bodies map[*plan.State]*body, w *words) []shared {
	var variants []*variant
	same := map[string]*variant{}
	for _, p := range j.Parts {
		b := bodies[p.State]
		k := b.key()
		v := same[k]
		if v == nil {
			v = &variant{body: b}
			same[k] = v
			variants = append(variants, v)
		}
		v.hosts = append(v.hosts, p.Hosts...)
	}
	if len(variants) == 1 {
		return []shared{{variants[0].hosts, variants[0].body.lines}}
	}
	var out []shared
	for _, like := range shapes(variants) {
		if s, ok := w.share(like); ok {
			out = append(out, s)
			continue
		}
		for _, v := range like {
			out = append(out, shared{v.hosts, v.body.lines})
		}
	}
	return out
}

// key tells states apart as they are shown, with what is left out for its length.
func (b *body) key() string {
	var k strings.Builder
	for _, l := range b.lines {
		l.writeKind(&k)
		k.WriteString(l.text)
		k.WriteByte('\n')
	}
	k.WriteString(b.hidden)
	return k.String()
}

// writeKind writes what of a line is not its text.
func (l *line) writeKind(b *strings.Builder) {
	b.WriteByte(byte(l.indent))
	b.WriteString(l.colour)
	b.WriteByte(' ')
}

// shapes puts variants together whose lines differ in words alone.
func shapes(variants []*variant) [][]*variant {
	var out [][]*variant
	at := map[string]int{}
	for _, v := range variants {
		var shape strings.Builder
		for _, l := range v.body.lines {
			ws := split(l.text)
			v.words = append(v.words, ws)
			l.writeKind(&shape)
			for _, x := range ws {
				if isWord(x) {
					x = "w"
				}
				shape.WriteString(x)
			}
			shape.WriteByte('\n')
		}
		i, ok := at[shape.String()]
		if !ok {
			i = len(out)
			at[shape.String()] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], v)
	}
	return out
}

// inWord reports whether a character is of a word; those that only join others are not
// at its ends.
func inWord(r rune) (in, joins bool) {
	joins = r == '.' || r == '-' || r == ':'
	return joins || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r), joins
}

func isWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	in, joins := inWord(r)
	return in && !joins
}

// split returns the words of a line, and what is between them, as it is.
func split(s string) []string {
	var out []string
	for s != "" {
		end := 0
		for i, r := range s {
			in, joins := inWord(r)
			if !in || end == 0 && joins {
				break
			}
			if !joins {
				end = i + utf8.RuneLen(r)
			}
		}
		if end == 0 {
			_, end = utf8.DecodeRuneInString(s)
		}
		out = append(out, s[:end])
		s = s[end:]
	}
	return out
}

// A column is a word that differs between hosts.
type column struct {
	number int
	ids    bool // it is the ID of each host
	values []struct {
		text  string
		hosts []string
	}
}

// words are those of a step that differ between hosts. A word that differs in the same
// way in several places has one number.
type words struct {
	taken   map[string]bool // what looks like the mark of a word, and is text
	found   map[string]*column
	columns []*column
}

var mark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[0-9]+\}`) })

func newWords(bodies map[*plan.State]*body) *words {
	w := &words{taken: map[string]bool{}, found: map[string]*column{}}
	for _, b := range bodies {
		for _, l := range b.lines {
			if strings.IndexByte(l.text, '{') < 0 {
				continue
			}
			for _, m := range mark().FindAllString(l.text, -1) {
				w.taken[m] = true
			}
		}
	}
	return w
}

// share returns variants of one shape as one text, with marks for the words that
// differ; false where these are too many.
func (w *words) share(variants []*variant) (out shared, ok bool) {
	for _, v := range variants {
		out.hosts = append(out.hosts, v.hosts...)
	}
	first := variants[0]
	if len(variants) == 1 {
		out.lines = first.body.lines
		return out, true
	}
	// What differs is numbered only when it is known that it is not too much.
	texts := make([][]string, len(first.words))
	var columns []*column
	var places [][2]int
	seen := map[string]bool{}
	for i, ws := range first.words {
		texts[i] = slices.Clone(ws)
		for k := range ws {
			if !slices.ContainsFunc(variants[1:], func(v *variant) bool { return v.words[i][k] != ws[k] }) {
				continue
			}
			c, before, after := columnOf(variants, i, k)
			texts[i][k] = before + "\x00" + after
			columns, places = append(columns, c), append(places, [2]int{i, k})
			if seen[c.key()] = true; len(seen) > maxWords {
				return shared{}, false
			}
		}
	}
	for n, c := range columns {
		i, k := places[n][0], places[n][1]
		texts[i][k] = strings.Replace(texts[i][k], "\x00", w.mark(c), 1)
	}
	for i, l := range first.body.lines {
		l.text = strings.Join(texts[i], "")
		out.lines = append(out.lines, l)
	}
	if slices.ContainsFunc(variants[1:], func(v *variant) bool { return v.body.hidden != first.body.hidden }) {
		out.lines = append(out.lines, line{9, "", "what is not shown differs between these hosts (--out=json has all)"})
	}
	return out, true
}

// columnOf returns the word at a place of variants that differs. Where it has the ID of
// each host in it, that is what differs, and before and after is the rest of the word.
func columnOf(variants []*variant, i, k int) (c *column, before, after string) {
	c = &column{ids: true}
	at := map[string]int{}
	for n, v := range variants {
		text := v.words[i][k]
		if c.ids {
			var b, a string
			if len(v.hosts) == 1 && v.hosts[0] != "" {
				b, a, c.ids = strings.Cut(text, v.hosts[0])
			} else {
				c.ids = false
			}
			if n == 0 {
				before, after = b, a
			}
			c.ids = c.ids && b == before && a == after
		}
		x, ok := at[text]
		if !ok {
			x = len(c.values)
			at[text] = x
			c.values = append(c.values, struct {
				text  string
				hosts []string
			}{text: text})
		}
		c.values[x].hosts = append(c.values[x].hosts, v.hosts...)
	}
	if !c.ids {
		return c, "", ""
	}
	return c, before, after
}

// key tells columns apart.
func (c *column) key() string {
	if c.ids {
		return "" // of each host, whichever they are
	}
	var k strings.Builder
	for _, v := range c.values {
		fmt.Fprintf(&k, "%q %q\n", v.text, v.hosts)
	}
	return k.String()
}

// mark returns what stands for a word in the text.
func (w *words) mark(c *column) string {
	k := c.key()
	if w.found[k] == nil {
		n := 1
		if len(w.columns) > 0 {
			n = w.columns[len(w.columns)-1].number + 1
		}
		for w.taken[fmt.Sprintf("{%d}", n)] {
			n++
		}
		c.number = n
		w.found[k] = c
		w.columns = append(w.columns, c)
	}
	return fmt.Sprintf("{%d}", w.found[k].number)
}

// lines says what the marks stand for.
func (w *words) lines() []line {
	var out []line
	for _, c := range w.columns {
		if c.ids {
			out = append(out, lineOf(5, "", "{%d} is the ID of each host", c.number))
			continue
		}
		out = append(out, lineOf(5, "", "{%d} is", c.number))
		for _, v := range c.values {
			out = append(out, lineOf(9, "", "%q on %s", v.text, Hosts(v.hosts)))
		}
	}
	return out
}
