package serial

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"brine/internal/py/value"
)

// maxInterpolation bounds how deep values of an INI file refer to others.
const maxInterpolation = 10

// iniOptions are keywords of Python's configparser.ConfigParser.
type iniOptions struct {
	defaults                *value.Map
	allowNoValue, strict    bool
	emptyLines, interpolate bool
	delimiters, comments    []string
	inlineComments          []string
	defaultSection          string
}

func newINIOptions(o *value.Map) *iniOptions {
	io := &iniOptions{
		defaults: o.Map("defaults"), allowNoValue: value.Truth(o.At("allow_no_value")), strict: true, emptyLines: true, interpolate: true,
		delimiters: []string{"=", ":"}, comments: []string{"#", ";"}, defaultSection: "DEFAULT",
	}
	if v, ok := o.Get("strict"); ok {
		io.strict = value.Truth(v)
	}
	if v, ok := o.Get("empty_lines_in_values"); ok {
		io.emptyLines = value.Truth(v)
	}
	if v, ok := o.Get("interpolation"); ok && v == nil {
		io.interpolate = false
	}
	if s := o.Str("default_section"); s != "" {
		io.defaultSection = s
	}
	for name, list := range map[string]*[]string{"delimiters": &io.delimiters, "comment_prefixes": &io.comments, "inline_comment_prefixes": &io.inlineComments} {
		v, ok := o.Get(name)
		if !ok {
			continue
		}
		*list = nil
		if items, err := value.Items(v); err == nil {
			for _, it := range items {
				if s := value.Str(it); s != "" {
					*list = append(*list, s)
				}
			}
		}
	}
	return io
}

// writeINI writes sections of keys as Python's configparser does.
func writeINI(v value.Value, o *value.Map) (value.Value, error) {
	m, ok := v.(value.Mapping)
	if !ok {
		return nil, value.Raise("TypeError", "configparser can only serialize dictionaries, not %s", typeText(v))
	}
	io := newINIOptions(o)
	defaults := value.NewMap(4)
	if err := io.set(defaults, io.defaults); err != nil {
		return nil, err
	}
	sections := value.NewMap(m.Len())
	for _, k := range m.Keys() {
		x, _ := m.Get(k)
		name := value.Str(k)
		keys, ok := x.(value.Mapping)
		into := defaults
		switch {
		case name == "DEFAULT":
		case name == io.defaultSection:
			return nil, value.Raise("ValueError", "Invalid section name: %s", value.QuoteStr(name))
		case sections.Has(name):
			return nil, value.Raise("configparser.DuplicateSectionError", "Section %s already exists", value.QuoteStr(name))
		default:
			into = value.NewMap(4)
			sections.Set(name, into)
		}
		if !ok {
			return nil, value.Raise("AttributeError", "'%s' object has no attribute 'items'", value.TypeName(x))
		}
		if err := io.set(into, keys); err != nil {
			return nil, err
		}
	}
	var b strings.Builder
	if defaults.Len() > 0 {
		io.section(&b, io.defaultSection, defaults)
	}
	for k, x := range sections.All() {
		io.section(&b, k.(string), x.(*value.Map))
	}
	return b.String(), nil
}

// set checks keys and puts them into a section.
func (io *iniOptions) set(into *value.Map, keys value.Mapping) error {
	if m, ok := keys.(*value.Map); keys == nil || ok && m == nil {
		return nil
	}
	for _, k := range keys.Keys() {
		x, _ := keys.Get(k)
		if x == nil {
			if !io.allowNoValue {
				return value.Raise("TypeError", "option values must be strings")
			}
			into.Set(strings.ToLower(value.Str(k)), nil)
			continue
		}
		s := value.Str(x)
		if io.interpolate {
			if at := badPercent(s); at >= 0 {
				return value.Raise("ValueError", "invalid interpolation syntax in %s at position %d", value.QuoteStr(s), at)
			}
		}
		into.Set(strings.ToLower(value.Str(k)), s)
	}
	return nil
}

// badPercent returns the place of a percent sign that is neither doubled nor the
// start of %(name)s, counted in the text without those; -1 is none.
func badPercent(s string) int {
	s = strings.ReplaceAll(s, "%%", "")
	var b strings.Builder
	for s != "" {
		if rest, ok := strings.CutPrefix(s, "%("); ok {
			if i := strings.IndexByte(rest, ')'); i > 0 && strings.HasPrefix(rest[i:], ")s") {
				s = rest[i+2:]
				continue
			}
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	if before, _, ok := strings.Cut(b.String(), "%"); ok {
		return value.TextLen(before)
	}
	return -1
}

func (io *iniOptions) section(b *strings.Builder, name string, keys *value.Map) {
	fmt.Fprintf(b, "[%s]\n", name)
	delimiter := "="
	if len(io.delimiters) > 0 {
		delimiter = io.delimiters[0]
	}
	for k, x := range keys.All() {
		b.WriteString(k.(string))
		if s, ok := x.(string); ok {
			b.WriteString(" " + delimiter + " " + strings.ReplaceAll(s, "\n", "\n\t"))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// readINI reads what configparser reads: sections, key = value or key: value,
// comments, values that go on on indented lines, %(name)s for other values.
func readINI(text, name string, o *value.Map) (value.Value, error) {
	if name == "" {
		name = "<???>"
	}
	r := &iniReader{iniOptions: newINIOptions(o), name: name, sections: value.NewMap(4), defaults: value.NewMap(4), added: map[[2]string]bool{}}
	if err := r.set(r.defaults, r.iniOptions.defaults); err != nil {
		return nil, err
	}
	for _, line := range strings.SplitAfter(text, "\n") {
		r.line++
		if line == "" {
			continue
		}
		if err := r.read(line); err != nil {
			return nil, err
		}
	}
	if r.faults != "" {
		return nil, value.Raise("configparser.ParsingError", "Source contains parsing errors: %s%s", value.QuoteStr(name), r.faults)
	}
	return r.data()
}

type iniReader struct {
	*iniOptions
	name               string
	sections, defaults *value.Map
	section            *value.Map // that is being read
	sectionName, key   string
	line, indent       int
	added              map[[2]string]bool
	faults             string
}

func (r *iniReader) read(line string) error {
	text, comment := r.strip(line)
	if text == "" {
		switch {
		case !r.emptyLines:
			r.indent = math.MaxInt
		case !comment && r.section != nil && r.key != "" && r.section.At(r.key) != nil:
			r.section.Set(r.key, r.section.Str(r.key)+"\n")
		}
		return nil
	}
	indent := value.TextLen(line) - value.TextLen(strings.TrimLeftFunc(line, unicode.IsSpace))
	if r.section != nil && r.key != "" && indent > r.indent {
		if r.section.At(r.key) == nil {
			return value.Raise("AttributeError", "'NoneType' object has no attribute 'append'")
		}
		r.section.Set(r.key, r.section.Str(r.key)+"\n"+text)
		return nil
	}
	r.indent = indent
	if end := strings.LastIndexByte(text, ']'); text[0] == '[' && end > 1 {
		return r.open(text[1:end])
	}
	if r.section == nil {
		return value.Raise("configparser.MissingSectionHeaderError", "File contains no section headers.\nfile: %s, line: %d\n%s", value.QuoteStr(r.name), r.line, value.QuoteStr(line))
	}
	return r.option(text, line)
}

// strip removes comments and blanks; comment reports that there was one.
func (r *iniReader) strip(line string) (text string, comment bool) {
	bare := strings.TrimSpace(line)
	for _, p := range r.comments {
		if strings.HasPrefix(bare, p) {
			return "", true
		}
	}
	cut := -1
	for _, p := range r.inlineComments {
		for from := 0; ; {
			i := strings.Index(line[from:], p)
			if i < 0 {
				break
			}
			if i += from; i == 0 || strings.ContainsRune(" \t\v\f\r\n", rune(line[i-1])) {
				if cut < 0 || i < cut {
					cut = i
				}
				break
			}
			from = i + 1
		}
	}
	if cut >= 0 {
		return strings.TrimSpace(line[:cut]), true
	}
	return bare, false
}

func (r *iniReader) open(name string) error {
	r.key, r.sectionName = "", name
	switch {
	case r.sections.Has(name):
		if r.strict {
			return value.Raise("configparser.DuplicateSectionError", "While reading from %s [line %2d]: section %s already exists", value.QuoteStr(r.name), r.line, value.QuoteStr(name))
		}
		r.section = r.sections.Map(name)
	case name == r.defaultSection:
		r.section = r.defaults
	default:
		r.section = value.NewMap(4)
		r.sections.Set(name, r.section)
	}
	return nil
}

func (r *iniReader) option(text, line string) error {
	at, size := -1, 0
	for _, d := range r.delimiters {
		if i := strings.Index(text, d); i >= 0 && (at < 0 || i < at) {
			at, size = i, len(d)
		}
	}
	if at < 0 && !r.allowNoValue || at == 0 {
		r.faults += fmt.Sprintf("\n\t[line %2d]: %s", r.line, value.QuoteStr(line))
		return nil
	}
	var val value.Value
	name := text
	if at >= 0 {
		name, val = text[:at], strings.TrimSpace(text[at+size:])
	}
	r.key = strings.ToLower(strings.TrimRightFunc(name, unicode.IsSpace))
	if k := [2]string{r.sectionName, r.key}; r.strict && r.added[k] {
		return value.Raise("configparser.DuplicateOptionError", "While reading from %s [line %2d]: option %s in section %s already exists",
			value.QuoteStr(r.name), r.line, value.QuoteStr(r.key), value.QuoteStr(r.sectionName))
	} else {
		r.added[k] = true
	}
	r.section.Set(r.key, val)
	return nil
}

// data returns the sections, each with the defaults, and with what values refer
// to put in.
func (r *iniReader) data() (value.Value, error) {
	for _, m := range append([]value.Value{r.defaults}, slices.Collect(values(r.sections))...) {
		m := m.(*value.Map)
		for k, x := range m.All() {
			if s, ok := x.(string); ok {
				m.Set(k, strings.TrimRightFunc(s, unicode.IsSpace))
			}
		}
	}
	steps := 0
	out := value.NewMap(r.sections.Len())
	for k, x := range r.sections.All() {
		raw := r.defaults.Copy()
		raw.Update(x.(*value.Map))
		m := value.NewMap(raw.Len())
		for name, v := range raw.All() {
			s, _ := v.(string) // None becomes ''
			if r.interpolate {
				in := interpolation{vars: raw, section: k.(string), option: name.(string), raw: s, steps: &steps}
				if err := in.expand(s, 1); err != nil {
					return nil, err
				}
				v = in.out.String()
			}
			m.Set(name, v)
		}
		out.Set(k, m)
	}
	return out, nil
}

func values(m *value.Map) func(func(value.Value) bool) {
	return func(yield func(value.Value) bool) {
		for _, v := range m.All() {
			if !yield(v) {
				return
			}
		}
	}
}

// maxSteps bounds the references of a file, which may refer to each other.
const maxSteps = 1 << 20

// An interpolation expands one value.
type interpolation struct {
	out                  strings.Builder
	vars                 *value.Map
	section, option, raw string
	steps                *int
}

// expand writes text with %% as % and %(name)s as that value.
func (in *interpolation) expand(text string, depth int) error {
	if depth > maxInterpolation {
		return value.Raise("configparser.InterpolationDepthError", "Recursion limit exceeded in value substitution: option %s in section %s contains an interpolation key which cannot be substituted in %d steps. Raw value: %s",
			value.QuoteStr(in.option), value.QuoteStr(in.section), maxInterpolation, value.QuoteStr(in.raw))
	}
	for text != "" {
		i := strings.IndexByte(text, '%')
		if i < 0 {
			in.out.WriteString(text)
			break
		}
		in.out.WriteString(text[:i])
		text = text[i:]
		switch {
		case strings.HasPrefix(text, "%%"):
			in.out.WriteByte('%')
			text = text[2:]
			continue
		case !strings.HasPrefix(text, "%("):
			return value.Raise("configparser.InterpolationSyntaxError", "'%%' must be followed by '%%' or '(', found: %s", value.QuoteStr(text))
		}
		end := strings.IndexByte(text, ')')
		if end < 3 || !strings.HasPrefix(text[end:], ")s") {
			return value.Raise("configparser.InterpolationSyntaxError", "bad interpolation variable reference %s", value.QuoteStr(text))
		}
		name := strings.ToLower(text[2:end])
		v, ok := in.vars.Get(name)
		if !ok {
			return value.Raise("configparser.InterpolationMissingOptionError", "Bad value substitution: option %s in section %s contains an interpolation key %s which is not a valid option name. Raw value: %s",
				value.QuoteStr(in.option), value.QuoteStr(in.section), value.QuoteStr(name), value.QuoteStr(in.raw))
		}
		text = text[end+2:]
		s, _ := v.(string)
		if *in.steps++; in.out.Len()+len(s) > value.MaxBytes || *in.steps > maxSteps {
			return value.Raise("MemoryError", "the values are too large")
		}
		if !strings.Contains(s, "%") {
			in.out.WriteString(s)
			continue
		}
		if err := in.expand(s, depth+1); err != nil {
			return err
		}
	}
	return nil
}
