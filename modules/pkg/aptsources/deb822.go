package aptsources

import (
	"slices"
	"strings"
)

// A field of a stanza: its name, and its lines as they are, with line ends.
type field struct {
	name string // "" for comments and empty lines
	raw  string
}

// A stanza is a paragraph of a deb822 file: one entry for each of its types,
// addresses and suites.
type stanza struct {
	fields  []field
	entries []*Entry
	before  []Entry // what entries were when they were read
}

// value returns the words of a field, "" where it is not there.
func (s *stanza) value(name string) string {
	for _, f := range s.fields {
		if strings.EqualFold(f.name, name) {
			_, val, _ := strings.Cut(f.raw, ":")
			return strings.TrimSpace(val)
		}
	}
	return ""
}

func (s *stanza) words(name string) []string { return strings.Fields(s.value(name)) }

// set sets a field in place, or adds it; "" removes it.
func (s *stanza) set(name, val string) {
	for i, f := range s.fields {
		if !strings.EqualFold(f.name, name) {
			continue
		}
		if val == "" {
			s.fields = slices.Delete(s.fields, i, i+1)
			return
		}
		s.fields[i].raw = f.name + ": " + val + "\n"
		return
	}
	if val != "" {
		end := len(s.fields)
		for end > 0 && strings.TrimSpace(s.fields[end-1].raw) == "" {
			end--
		}
		s.fields = slices.Insert(s.fields, end, field{name, name + ": " + val + "\n"})
	}
}

// optionFields are the settings of one-line files whose field has another name
// than the setting with capital letters.
var optionFields = []Option{{"lang", "Languages"}, {"target", "Targets"}, {"pdiffs", "PDiffs"}}

func fieldOf(option string) string {
	for _, o := range optionFields {
		if o.Name == option {
			return o.Value
		}
	}
	parts := strings.Split(option, "-")
	for i, p := range parts {
		if p != "" {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "-")
}

func optionOf(name string) string {
	for _, o := range optionFields {
		if strings.EqualFold(o.Value, name) {
			return o.Name
		}
	}
	return strings.ToLower(name)
}

// ownFields are the fields that an entry has besides its options.
var ownFields = []string{"types", "uris", "suites", "components", "enabled", "architectures", "signed-by", "", "x-repolib-name"}

// parse822 reads a deb822 file.
func parse822(file, text string) []*stanza {
	var list []*stanza
	now := &stanza{}
	flush := func() {
		if len(now.fields) > 0 {
			now.expand(file)
			list = append(list, now)
			now = &stanza{}
		}
	}
	for line := range strings.Lines(text) {
		last := len(now.fields) - 1
		switch {
		case strings.TrimSpace(line) == "":
			now.fields = append(now.fields, field{"", line})
			flush()
		case strings.HasPrefix(line, "#"):
			now.fields = append(now.fields, field{"", line})
		case (line[0] == ' ' || line[0] == '\t') && last >= 0 && now.fields[last].name != "":
			now.fields[last].raw += line
		default:
			name, _, ok := strings.Cut(line, ":")
			if !ok {
				name = ""
			}
			now.fields = append(now.fields, field{strings.TrimSpace(name), line})
		}
	}
	flush()
	return list
}

// maxEntries bounds how many entries a stanza may have.
const maxEntries = 1000

// expand makes the entries of a stanza.
func (s *stanza) expand(file string) {
	kinds, uris, suites := s.words("Types"), s.words("URIs"), s.words("Suites")
	if n := len(kinds) * len(uris) * len(suites); n == 0 || n > maxEntries {
		return
	}
	base := Entry{
		File: file, Comps: s.words("Components"), Archs: s.words("Architectures"), SignedBy: s.value("Signed-By"), at: s,
		Disabled: slices.Contains([]string{"no", "false", "0", "off", "without", "disable"}, strings.ToLower(s.value("Enabled"))),
	}
	for _, f := range s.fields {
		if !slices.Contains(ownFields, strings.ToLower(f.name)) {
			base.Options = append(base.Options, Option{optionOf(f.name), strings.Join(s.words(f.name), ",")})
		}
	}
	for _, kind := range kinds {
		for _, uri := range uris {
			for _, suite := range suites {
				e := base
				e.Type, e.URI, e.Dist = kind, uri, suite
				e.Comps, e.Archs, e.Options = slices.Clone(base.Comps), slices.Clone(base.Archs), slices.Clone(base.Options)
				e.Line = e.line()
				s.entries = append(s.entries, &e)
				s.before = append(s.before, e)
			}
		}
	}
}

// line is the entry in one line; a key that is part of the stanza is left out.
func (e *Entry) line() string {
	one := *e
	if strings.ContainsAny(one.SignedBy, "\n ") {
		one.SignedBy = ""
	}
	return one.String()
}

func (e *Entry) same(o *Entry) bool { return e.String() == o.String() && e.SignedBy == o.SignedBy }

// text returns the stanza with its entries as they are now: changed says which of
// them are to be written again, and those that are no longer in kept are left out.
func (s *stanza) text(kept []*Entry) string {
	var same, changed []*Entry
	for i, e := range s.entries {
		switch {
		case !slices.Contains(kept, e):
		case e.same(&s.before[i]):
			same = append(same, e)
		default:
			changed = append(changed, e)
		}
	}
	if len(same) == len(s.entries) {
		return s.raw()
	}
	var parts []string
	for _, p := range cover(same) {
		part := stanza{fields: slices.Clone(s.fields)}
		part.set("Types", strings.Join(p.types, " "))
		part.set("URIs", strings.Join(p.uris, " "))
		part.set("Suites", strings.Join(p.suites, " "))
		parts = append(parts, part.raw())
	}
	for _, e := range changed {
		part := stanza{fields: slices.Clone(s.fields)}
		part.fill(e, &s.before[slices.Index(s.entries, e)])
		parts = append(parts, part.raw())
	}
	for i := range parts[:max(0, len(parts)-1)] {
		parts[i] = strings.TrimRight(parts[i], "\n") + "\n\n"
	}
	return strings.Join(parts, "")
}

func (s *stanza) raw() string {
	var b strings.Builder
	for _, f := range s.fields {
		b.WriteString(f.raw)
		if !strings.HasSuffix(f.raw, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// fill sets the fields of a stanza to those of one entry, where they differ from
// what the entry was.
func (s *stanza) fill(e, was *Entry) {
	s.set("Types", e.Type)
	s.set("URIs", e.URI)
	s.set("Suites", e.Dist)
	if !slices.Equal(e.Comps, was.Comps) {
		s.set("Components", strings.Join(e.Comps, " "))
	}
	if !slices.Equal(e.Archs, was.Archs) {
		s.set("Architectures", strings.Join(e.Archs, " "))
	}
	if e.SignedBy != was.SignedBy {
		s.set("Signed-By", e.SignedBy)
	}
	if e.Disabled != was.Disabled {
		s.set("Enabled", map[bool]string{true: "no", false: "yes"}[e.Disabled])
	}
	for _, o := range e.Options {
		if !was.Has(o) {
			s.set(fieldOf(o.Name), strings.ReplaceAll(o.Value, ",", " "))
		}
	}
}

// new822 returns a stanza for an entry.
func new822(e *Entry) string {
	s := stanza{}
	if e.Comment != "" {
		s.fields = append(s.fields, field{"", "#" + e.Comment + "\n"})
	}
	s.fill(e, &Entry{})
	return s.raw()
}

// A part is a set of entries that one stanza can stand for.
type part struct{ types, uris, suites []string }

// cover returns parts that stand for some entries and no others.
func cover(list []*Entry) []part {
	var parts []part
	for _, e := range list {
		parts = append(parts, part{[]string{e.Type}, []string{e.URI}, []string{e.Dist}})
	}
	merge := func(same func(a, b *part) bool, join func(a, b *part)) {
		for i := 0; i < len(parts); i++ {
			for j := i + 1; j < len(parts); {
				if !same(&parts[i], &parts[j]) {
					j++
					continue
				}
				join(&parts[i], &parts[j])
				parts = slices.Delete(parts, j, j+1)
			}
		}
	}
	merge(func(a, b *part) bool { return slices.Equal(a.uris, b.uris) && slices.Equal(a.suites, b.suites) },
		func(a, b *part) { a.types = append(a.types, b.types...) })
	merge(func(a, b *part) bool { return slices.Equal(a.uris, b.uris) && slices.Equal(a.types, b.types) },
		func(a, b *part) { a.suites = append(a.suites, b.suites...) })
	merge(func(a, b *part) bool { return slices.Equal(a.types, b.types) && slices.Equal(a.suites, b.suites) },
		func(a, b *part) { a.uris = append(a.uris, b.uris...) })
	return parts
}
