// Package repofile reads and writes the files in which yum, dnf and zypper keep
// repositories: sections of options, as Python's configparser reads them.
package repofile

import (
	"fmt"
	"path"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/textfile"
)

// A File is the content of a file. Sections has a mapping of options to text by
// repository; the option comments is the list of the comments after the section's
// head, without their marks.
type File struct {
	Header   string // the comments before the first section
	Sections *value.Map
}

// Read reads a file. A file that does not begin with a section has none. strict
// refuses a section or an option that occurs twice, of which the last one counts
// else.
func Read(h host.Host, name string, strict bool) (*File, error) {
	text, err := textfile.Read(h, name)
	if err != nil {
		return nil, err
	}
	f, err := Parse(text, strict)
	if err != nil {
		return nil, fun.Errorf("%s: %v", name, err)
	}
	return f, nil
}

// Parse reads the content of a file; see [Read].
// Python: Lib/configparser.py RawConfigParser._read.
func Parse(text string, strict bool) (*File, error) {
	p := parser{f: &File{Sections: value.NewMap(4)}, strict: strict, seen: map[string]bool{}}
	for i, line := range textfile.Lines(text) {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if p.headless {
			return &File{Sections: value.NewMap(0)}, nil
		}
	}
	p.endSection()
	return p.f, nil
}

type parser struct {
	f        *File
	strict   bool
	headless bool            // there is an option before the first section
	seen     map[string]bool // sections, and section and option
	name     string          // of the section
	section  *value.Map      // nil before the first one
	comments []string        // of the section
	option   string          // "" where none can go on
	lines    []string        // of the option's value
	indent   int
}

func (p *parser) line(line string) error {
	trimmed := value.TrimSpace(line)
	switch {
	case strings.HasPrefix(trimmed, "#"), strings.HasPrefix(trimmed, ";"):
		p.comment(trimmed)
		return nil
	case trimmed == "":
		if p.option != "" {
			p.lines = append(p.lines, "")
		}
		return nil
	}
	indent := len(line) - len(strings.TrimLeft(line, " \t\r\f\v"))
	if p.section != nil && p.option != "" && indent > p.indent {
		p.lines = append(p.lines, trimmed)
		return nil
	}
	p.indent = indent
	if end := strings.LastIndexByte(trimmed, ']'); trimmed[0] == '[' && end > 1 {
		return p.begin(trimmed[1:end])
	}
	if p.section == nil {
		p.headless = true
		return nil
	}
	return p.set(trimmed)
}

func (p *parser) comment(line string) {
	text, ok := strings.CutPrefix(line, "#")
	switch {
	case !ok:
	case p.section == nil:
		p.f.Header += line + "\n"
	default:
		p.comments = append(p.comments, strings.TrimLeft(text, " \t"))
	}
}

// begin starts a section. The section DEFAULT is none of a repository.
func (p *parser) begin(name string) error {
	p.endSection()
	p.name = name
	if had := p.f.Sections.Map(name); had != nil {
		if p.strict {
			return fmt.Errorf("section '%s' already exists", name)
		}
		p.section = had
		return nil
	}
	p.section = value.NewMap(8)
	if name != "DEFAULT" {
		p.f.Sections.Set(name, p.section)
	}
	return nil
}

func (p *parser) set(line string) error {
	p.end()
	i := strings.IndexAny(line, "=:")
	if i <= 0 {
		return fmt.Errorf("not an option: %s", line)
	}
	option := strings.ToLower(value.TrimSpace(line[:i]))
	key := p.name + "\x00" + option
	if p.strict && p.seen[key] {
		return fmt.Errorf("option '%s' in section '%s' already exists", option, p.name)
	}
	p.seen[key] = true
	p.option, p.lines = option, []string{value.TrimSpace(line[i+1:])}
	return nil
}

// endSection ends an option and its section, of which the comments are the last.
func (p *parser) endSection() {
	p.end()
	if p.section != nil && len(p.comments) > 0 {
		p.section.Set("comments", value.Strings(p.comments...))
	}
	p.comments = nil
}

// end ends an option.
func (p *parser) end() {
	if p.option != "" && p.section != nil {
		p.section.Set(p.option, strings.TrimRight(strings.Join(p.lines, "\n"), " \t\r\n"))
	}
	p.option, p.lines = "", nil
}

// String returns the content of the file. Lines of a value after the first are
// indented.
func (f *File) String() string {
	var b strings.Builder
	b.WriteString(f.Header)
	for name, v := range f.Sections.All() {
		b.WriteString("[" + value.Str(name) + "]\n")
		section, _ := v.(*value.Map)
		for option, v := range section.All() {
			if option != "comments" {
				b.WriteString(value.Str(option) + "=" + text(v) + "\n")
			}
		}
		for _, c := range comments(section) {
			b.WriteString("# " + strings.TrimLeft(strings.TrimLeft(c, "#"), " \t") + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func comments(section *value.Map) []string {
	var list []string
	if l := section.List("comments"); l != nil {
		for _, c := range l.Items {
			list = append(list, strings.ReplaceAll(value.Str(c), "\n", " "))
		}
	}
	return list
}

func text(v value.Value) string {
	switch v {
	case true:
		return "1"
	case false:
		return "0"
	case nil:
		return ""
	}
	return strings.ReplaceAll(value.Str(v), "\n", "\n ")
}

// Write replaces a file by f.
func (f *File) Write(h host.Host, name string) error { return textfile.Write(h, name, f.String()) }

// Repositories returns the repositories of the files *.repo in directories, each
// with its file as the option file. A directory that is not there has none.
func Repositories(h host.Host, dirs []string, strict bool) (*value.Map, error) {
	repos := value.NewMap(0)
	for _, dir := range dirs {
		names, err := h.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, n := range names {
			if !strings.HasSuffix(n, ".repo") {
				continue
			}
			file := path.Join(dir, n)
			f, err := Read(h, file, strict)
			if err != nil {
				return nil, err
			}
			for name, v := range f.Sections.All() {
				section := v.(*value.Map)
				section.Set("file", file)
				repos.Set(name, section)
			}
		}
	}
	return repos, nil
}

// CheckName refuses a name of a repository that cannot be that of a section or of a
// file.
func CheckName(name string) error {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/[]\n\x00") {
		return &fun.InvocationError{Msg: "invalid name of a repository: " + value.Repr(name), Arg: "repo"}
	}
	return nil
}
