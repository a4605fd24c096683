package inimanage

import (
	"slices"
	"strings"

	"brine/internal/py/value"
	"brine/modules/textfile"
)

// An item is an option with the lines that continue it, or another line that stays
// as it is.
type item struct {
	raw     []string
	option  bool
	comment bool
	indent  string
	name    string
	value   string
}

func (it *item) blank() bool {
	return !it.option && len(it.raw) == 1 && strings.TrimSpace(it.raw[0]) == ""
}

// A section is a header with what is under it; that of the lines above the first
// header has none.
type section struct {
	name, header string
	items        []*item
}

// A File is an INI file. Lines that are not changed stay as and where they are.
type File struct {
	sep      string
	end      string // "\r" where lines end so
	sections []*section
}

// Parse reads an INI file whose options are written with a separator. Options with
// = or : are known too. It takes any text.
func Parse(text, sep string) *File {
	f := &File{sep: sep, sections: []*section{{}}}
	if sep == "" {
		f.sep = "="
	}
	for i, l := range textfile.Lines(text) {
		if i == 0 && strings.HasSuffix(l, "\r") {
			f.end = "\r"
		}
		f.add(l)
	}
	return f
}

func (f *File) add(raw string) {
	cur := f.sections[len(f.sections)-1]
	l := strings.TrimRight(raw, " \t\r")
	s := strings.TrimLeft(l, " \t")
	if len(s) > 2 && s[0] == '[' && s[len(s)-1] == ']' {
		f.sections = append(f.sections, &section{name: s[1 : len(s)-1], header: raw})
		return
	}
	it := &item{raw: []string{raw}, indent: l[:len(l)-len(s)]}
	var last *item
	if n := len(cur.items); n > 0 {
		last = cur.items[n-1]
	}
	switch {
	case s == "":
	case s[0] == '#' || s[0] == ';':
		it.comment = true
	case last != nil && last.option && len(width(it.indent)) > len(width(last.indent)):
		last.raw = append(last.raw, raw)
		last.value += "\n" + l
		return
	default:
		it.name, it.value, it.option = split(s, f.sep)
	}
	cur.items = append(cur.items, it)
}

// width returns an indent with tabs of four blanks.
func width(indent string) string { return strings.ReplaceAll(indent, "\t", "    ") }

// split reads an option: by the separator of the file, else by = or :.
func split(s, sep string) (name, val string, ok bool) {
	cut := func(sep string) bool {
		name, val, ok = strings.Cut(s, sep)
		name, val = strings.TrimSpace(name), strings.TrimSpace(val)
		return ok && name != ""
	}
	if sep == "=" {
		// A colon after one word stands before an = in the value: url: http://x/?a=b.
		if i := strings.Index(s, ":"); i > 0 && i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '\t') && !strings.ContainsAny(strings.TrimRight(s[:i], " \t"), "= \t") {
			return strings.TrimRight(s[:i], " \t"), strings.TrimSpace(s[i+1:]), true
		}
	}
	if cut(sep) {
		if strings.TrimSpace(sep) == "" && val != "" && (val[0] == '=' || val[0] == ':') {
			val = strings.TrimSpace(val[1:])
		}
		return name, val, true
	}
	for _, other := range []string{"=", ":"} {
		if other != sep && cut(other) && !strings.ContainsAny(name, " \t") {
			return name, val, true
		}
	}
	return "", "", false
}

// String returns the file as it is written: with a blank line before each header.
func (f *File) String() string {
	var lines []string
	for i, s := range f.sections {
		if i > 0 {
			if n := len(lines); n > 0 && strings.TrimSpace(lines[n-1]) != "" {
				lines = append(lines, f.end)
			}
			lines = append(lines, s.header)
		}
		for _, it := range s.items {
			lines = append(lines, it.raw...)
		}
	}
	return textfile.Join(lines)
}

// find returns the last section of a name; "" is the part above the first header.
func (f *File) find(name string) *section {
	if name == "" {
		return f.sections[0]
	}
	for i := len(f.sections) - 1; i > 0; i-- {
		if f.sections[i].name == name {
			return f.sections[i]
		}
	}
	return nil
}

// all returns the sections of a name.
func (f *File) all(name string) (ss []*section) {
	for i, s := range f.sections {
		if s.name == name && (i > 0) == (name != "") {
			ss = append(ss, s)
		}
	}
	return ss
}

// option returns the last option of a name.
func (s *section) option(name string) *item {
	for _, v := range slices.Backward(s.items) {
		if it := v; it.option && it.name == name {
			return it
		}
	}
	return nil
}

// Get returns the value of an option.
func (f *File) Get(sect, name string) (string, bool) {
	ss := f.all(sect)
	for _, s := range slices.Backward(ss) {
		if it := s.option(name); it != nil {
			return it.value, true
		}
	}
	return "", false
}

// Has reports whether there is a section.
func (f *File) Has(sect string) bool { return f.find(sect) != nil }

// line returns the lines of an option.
func (f *File) line(indent, name, val string) []string {
	sep := f.sep
	if strings.TrimSpace(sep) != "" {
		sep = " " + sep + " "
	}
	text := strings.TrimRight(indent+name+sep+val, " \t")
	return strings.Split(strings.ReplaceAll(text+f.end, "\n", f.end+"\n"), "\n")
}

// Set gives an option a value and reports whether it had another. A new option
// takes the place of one that is commented out, else comes last in its section.
func (f *File) Set(sect, name, val string) (changed bool) {
	ss := f.all(sect)
	if len(ss) == 0 {
		ss = []*section{f.Add(sect)}
	}
	for _, s := range slices.Backward(ss) {
		if it := s.option(name); it != nil {
			if it.value == strings.TrimSpace(val) {
				return false
			}
			it.value, it.raw = val, f.line(it.indent, name, val)
			return true
		}
	}
	s := ss[len(ss)-1]
	it := &item{option: true, name: name, value: val}
	for i, old := range s.items {
		if !old.comment {
			continue
		}
		if n, _, ok := split(strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(old.raw[0]), "#")), f.sep); ok && n == name && strings.HasPrefix(strings.TrimSpace(old.raw[0]), "#") {
			it.raw = f.line("", name, val)
			s.items[i] = it
			return true
		}
	}
	at := len(s.items)
	for at > 0 && s.items[at-1].blank() {
		at--
	}
	if at > 0 && s.items[at-1].option {
		it.indent = s.items[at-1].indent
	}
	it.raw = f.line(it.indent, name, val)
	s.items = append(s.items[:at:at], append([]*item{it}, s.items[at:]...)...)
	return true
}

// Add puts a new section at the end.
func (f *File) Add(name string) *section {
	s := &section{name: name, header: "[" + name + "]" + f.end}
	f.sections = append(f.sections, s)
	return s
}

// Remove takes an option out and returns its value.
func (f *File) Remove(sect, name string) (val string, found bool) {
	val, found = f.Get(sect, name)
	for _, s := range f.all(sect) {
		kept := s.items[:0:0]
		for _, it := range s.items {
			if !it.option || it.name != name {
				kept = append(kept, it)
			}
		}
		s.items = kept
	}
	return val, found
}

// RemoveSection takes a section out.
func (f *File) RemoveSection(name string) bool {
	if name == "" || !f.Has(name) {
		return false
	}
	var kept []*section
	for i, s := range f.sections {
		if i == 0 || s.name != name {
			kept = append(kept, s)
		}
	}
	f.sections = kept
	last := kept[len(kept)-1]
	for n := len(last.items); n > 0 && last.items[n-1].blank(); n-- {
		last.items = last.items[:n-1]
	}
	return true
}

// Section returns the options of a section.
func (f *File) Section(name string) *value.Map {
	m := value.NewMap(4)
	for _, s := range f.all(name) {
		for _, it := range s.items {
			if it.option {
				m.Set(it.name, it.value)
			}
		}
	}
	return m
}

// Value returns the file as ini.get_ini does: the options above the first header,
// and the sections.
func (f *File) Value() *value.Map {
	m := f.Section("")
	for _, s := range f.sections[1:] {
		m.Set(s.name, f.Section(s.name))
	}
	return m
}
