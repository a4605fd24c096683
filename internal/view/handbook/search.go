package handbook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// indexName is the file that the script of the pages searches.
const indexName = "index.js"

// A Hit is a part of a page that fits a search.
type Hit struct {
	Name  string // of the page, with the anchor of the part
	Title string // of the part
	Page  string // title of the page
	Text  string // of the part: around what was searched for, or how it begins
}

// index is what a search looks at. assets/docs.js searches it in the same way.
type index struct {
	pages    []*Page
	sections []section
	words    map[string][]int // the sections that have a word, in order
	asked    []answer
}

// An answer is the section that people mean by words which the documentation may not
// have: those of other programs.
type answer struct {
	words   []string // all of them are in the search
	section int
}

// A section is a part of a page under a heading.
type section struct {
	page              int
	anchor            string
	title, text       string
	all               string          // all of the text, or how it begins
	titles, pageTitle map[string]bool // the words of the title, and of the page's
}

// maxText is how many bytes of a section the script of the pages gets, to show what it
// found.
const maxText = 1500

// asked are what people search for and the pages that answer it. Of a page that is
// missing, nothing is answered.
var asked = []struct{ words, address string }{
	{"dry run", "plan"},
	{"check mode", "plan"},
	{"test true", "plan"},
	{"inventory", "ssh/roster"},
	{"hosts file", "ssh/roster"},
	{"host list", "ssh/roster"},
	{"become", "ssh/roster"},
	{"sudo password", "ssh/login#passwords-and-codes"},
	{"jump host", "ssh/login#ssh_config"},
	{"bastion", "ssh/login#ssh_config"},
	{"playbook", "glossary"},
	{"ansible", "migrate"},
	{"role", "glossary"},
	{"facts", "grains"},
	{"group vars", "guide/configuration#pillar"},
	{"variables", "guide/configuration#pillar"},
	{"environment variable", "environment"},
	{"custom module", "custom"},
	{"own module", "custom"},
	{"plugin", "custom"},
	{"vault", "cookbook#secrets-in-vault"},
	{"secret", "guide/configuration#pillar"},
	{"rolling update", "waves"},
	{"canary", "waves"},
	{"rollback", "undo"},
	{"exit code", "exit-status"},
	{"exit status", "exit-status"},
	{"cron", "schedule"},
	{"gui", "ui"},
	{"web interface", "ui"},
	{"uninstall", "upgrade"},
	{"update brine", "upgrade"},
	{"gitlab", "gitlab"},
	{"jenkins", "jenkins"},
	{"junit", "reports"},
	{"slack", "returners"},
	{"galaxy", "formulas"},
	{"lock", "ssh/locks"},
}

// common are words that no search needs.
var common = strings.Fields("a an and are as at be by for from has have if in is it its no not of on or that the they this to was which with you your")

// maxWord is the length of the longest word that is indexed.
const maxWord = 40

// splitWords returns the words of a text, in lower case, without common ones.
func splitWords(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
	})
	return slices.DeleteFunc(all, func(w string) bool {
		return len(w) < 2 || len(w) > maxWord || slices.Contains(common, w)
	})
}

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range splitWords(text) {
		set[w] = true
	}
	return set
}

// excerpt returns the first sentence or so of a section.
func excerpt(body string) string {
	_, text, ok := strings.Cut(body, "<p>")
	if !ok {
		return ""
	}
	text, _, _ = strings.Cut(text, "</p>")
	text = plain(text)
	if len(text) <= 110 {
		return text
	}
	at := strings.LastIndexByte(text[:110], ' ')
	return text[:max(at, 0)] + " …"
}

func newIndex(pages []*Page) *index {
	x := &index{pages: pages, words: map[string][]int{}}
	for i, p := range pages {
		at := heading().FindAllStringSubmatchIndex(p.Body, -1)
		pageTitle := wordSet(p.Title)
		for j, h := range at {
			end := len(p.Body)
			if j+1 < len(at) {
				end = at[j+1][0]
			}
			s := section{page: i, anchor: p.Body[h[4]:h[5]], title: plain(p.Body[h[6]:h[7]]), text: excerpt(p.Body[h[1]:end]), pageTitle: pageTitle}
			if j == 0 {
				s.anchor = ""
			}
			s.titles = wordSet(s.title)
			// Words of neighbouring cells and lines must not run together.
			text := html.UnescapeString(tag().ReplaceAllString(p.Body[h[0]:end], " "))
			s.all = beginning(html.UnescapeString(tag().ReplaceAllStringFunc(p.Body[h[1]:end], func(t string) string {
				if inline().MatchString(t) {
					return ""
				}
				return " "
			})), maxText)
			n := len(x.sections)
			for w := range wordSet(p.Title + " " + text) {
				x.words[w] = append(x.words[w], n)
			}
			x.sections = append(x.sections, s)
		}
	}
	x.answers()
	return x
}

// beginning returns a text with single blanks, cut at a blank before n bytes.
func beginning(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= n {
		return text
	}
	return text[:max(strings.LastIndexByte(text[:n], ' '), 0)]
}

// inline finds the tags inside of a line.
var inline = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^</?(a|code|em|strong|del)\b`) })

// answers finds the sections of what people ask.
func (x *index) answers() {
	sections := map[string]int{}
	for n, s := range x.sections {
		name := x.pages[s.page].Name()
		if s.anchor != "" {
			name += "#" + s.anchor
		}
		if _, ok := sections[name]; !ok {
			sections[name] = n
		}
	}
	for _, a := range asked {
		if n, ok := sections[a.address]; ok {
			x.asked = append(x.asked, answer{splitWords(a.words), n})
		} else if n, ok := sections[a.address+"/index"]; ok {
			x.asked = append(x.asked, answer{splitWords(a.words), n})
		}
	}
}

// answered returns the sections that people mean by words.
func (x *index) answered(words []string) (sections []int) {
	have := map[string]bool{}
	for _, w := range words {
		for _, v := range variants(w) {
			have[v] = true
		}
	}
	for _, a := range x.asked {
		all := true
		for _, w := range a.words {
			all = all && (have[w] || have[strings.TrimSuffix(w, "s")])
		}
		if all && !slices.Contains(sections, a.section) {
			sections = append(sections, a.section)
		}
	}
	return sections
}

// maxExcerpt is how many bytes of a section a hit shows, and before how many of them
// stand before the first word that was searched for.
const (
	maxExcerpt = 140
	before     = 50
)

// around returns the part of a section that has the first of the words, or how it begins.
func (s *section) around(words []string) string {
	var forms []string
	for _, w := range words {
		for _, v := range variants(w) {
			forms = append(forms, regexp.QuoteMeta(v))
		}
	}
	if len(forms) == 0 {
		return s.text
	}
	at := regexp.MustCompile(`(?i)(?:^|[^_\pL\pN])(` + strings.Join(forms, "|") + `)`).FindStringSubmatchIndex(s.all)
	if at == nil {
		return s.text
	}
	text, first := s.all, ""
	if at[2] > before {
		from := at[2] - before
		if i := strings.IndexByte(text[from:at[2]], ' '); i >= 0 {
			from += i + 1
		} else {
			from = at[2]
		}
		text, first = text[from:], "… "
	}
	if len(text) > maxExcerpt {
		text = beginning(text, maxExcerpt) + " …"
	}
	return first + text
}

// variants are the forms in which a word of a search may appear in a text:
// hosts also as host.
func variants(w string) []string {
	if short := strings.TrimSuffix(w, "s"); len(short) > 2 && short != w {
		return []string{w, short}
	}
	return []string{w}
}

// rate adds to scores what a word of a search is worth in each section, and counts
// the words that a section has.
func (x *index) rate(word string, scores map[int]float64, counts map[int]int) {
	best := map[int]float64{}
	for w, in := range x.words {
		worth := 0.0
		for _, v := range variants(word) {
			switch {
			case w == v:
				worth = 3
			case strings.HasPrefix(w, v):
				worth = max(worth, 1)
			}
		}
		if worth == 0 {
			continue
		}
		worth *= math.Log(1 + float64(len(x.sections))/float64(len(in)))
		for _, n := range in {
			s := &x.sections[n]
			v := worth
			switch {
			case s.titles[w]:
				v *= 4
			case s.pageTitle[w]:
				v *= 2
			}
			// The guides explain, the reference lists.
			if strings.HasPrefix(x.pages[s.page].Path, "reference/") {
				v *= 0.8
			}
			best[n] = max(best[n], v)
		}
	}
	for n, v := range best {
		scores[n] += v
		counts[n]++
	}
}

// Search returns the parts of pages that have all the words, or, if there are none,
// those that have most of them; the best first, at most limit.
func (b *Book) Search(words string, limit int) []Hit {
	x := b.index()
	scores, counts, most := map[int]float64{}, map[int]int{}, 0
	split := slices.Compact(slices.Sorted(slices.Values(splitWords(words))))
	for _, w := range split {
		x.rate(w, scores, counts)
	}
	answers := x.answered(split)
	for _, n := range counts {
		most = max(most, n)
	}
	var found []int
	for n := range scores {
		if counts[n] == most && !slices.Contains(answers, n) {
			found = append(found, n)
		}
	}
	slices.SortFunc(found, func(a, b int) int {
		// Sums may differ by the order of their terms, not by more.
		if d := scores[b] - scores[a]; math.Abs(d) > 1e-6 {
			return cmp.Compare(d, 0)
		}
		return cmp.Compare(a, b)
	})
	found = append(answers, found...)
	var hits []Hit
	for _, n := range found[:min(limit, len(found))] {
		s := x.sections[n]
		h := Hit{Name: x.pages[s.page].Name(), Title: s.title, Page: x.pages[s.page].Title, Text: s.around(split)}
		if s.anchor != "" {
			h.Name += "#" + s.anchor
		}
		hits = append(hits, h)
	}
	return hits
}

// script returns the index as a script, which also works where pages are files.
// A line of "words" is a word and its sections: each as the distance from the one
// before, in base 36.
func (x *index) script() []byte {
	var words strings.Builder
	for _, w := range slices.Sorted(maps.Keys(x.words)) {
		words.WriteString(w)
		last := 0
		for _, n := range x.words[w] {
			words.WriteString(" " + strconv.FormatInt(int64(n-last), 36))
			last = n
		}
		words.WriteByte('\n')
	}
	data := struct {
		Pages    [][2]string `json:"pages"`    // path, title
		Sections [][5]any    `json:"sections"` // number of the page, anchor, title, how it begins, all of it
		Asked    [][2]any    `json:"asked"`    // words, section
		Words    string      `json:"words"`
		Common   []string    `json:"common"`
	}{Words: words.String(), Common: common}
	for _, p := range x.pages {
		data.Pages = append(data.Pages, [2]string{p.Path, p.Title})
	}
	for _, s := range x.sections {
		data.Sections = append(data.Sections, [5]any{s.page, s.anchor, s.title, s.text, s.all})
	}
	for _, a := range x.asked {
		data.Asked = append(data.Asked, [2]any{a.words, a.section})
	}
	var b bytes.Buffer
	b.WriteString("brineIndex = ")
	_ = json.NewEncoder(&b).Encode(data) // strings and numbers, to memory
	return b.Bytes()
}
