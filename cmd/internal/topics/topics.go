// Package topics is what the help says of all commands together: the environment
// variables that brine reads, the files that it reads and writes, and its exit
// statuses. "brine help TOPIC", the manual page brine(1) and the pages of the
// documentation are made of it.
package topics

import (
	"strings"

	"brine/cmd/internal/columns"
)

// A Row is one name of a topic, and what it means.
type Row struct{ Name, Text string }

// A Part is rows of a topic that belong together. Its title may be empty.
type Part struct {
	Title string
	Rows  []Row
}

// A Topic is a page of the help that is not about one command.
type Topic struct {
	Name    string // as in brine help NAME
	Title   string
	Short   string // what it is, for lists
	Section string // heading in brine(1)
	Head    string // of the column of names
	Intro   string
	Parts   []Part
	Outro   string
}

// All returns the topics.
func All() []Topic { return []Topic{environment, files, statuses} }

// Find returns a topic by its name.
func Find(name string) (Topic, bool) {
	for _, t := range All() {
		if t.Name == name {
			return t, true
		}
	}
	return Topic{}, false
}

// Names returns the names of all topics.
func Names() (names []string) {
	for _, t := range All() {
		names = append(names, t.Name)
	}
	return names
}

// Text returns a topic for a terminal.
func (t Topic) Text(width int) string {
	var b strings.Builder
	b.WriteString(columns.Prose(t.Intro, width))
	for _, p := range t.Parts {
		b.WriteString("\n")
		if p.Title != "" {
			b.WriteString(p.Title + ":\n")
		}
		var entries []columns.Entry
		for _, r := range p.Rows {
			entries = append(entries, columns.Entry{Name: r.Name, Text: r.Text})
		}
		b.WriteString(columns.Entries(entries, "  ", width))
	}
	if t.Outro != "" {
		b.WriteString("\n" + columns.Prose(t.Outro, width))
	}
	return b.String()
}

// Markdown returns a topic as a page of the documentation.
func (t Topic) Markdown() string {
	var b strings.Builder
	b.WriteString("# " + t.Title + "\n\n<!-- cmd/internal/topics has this text; go generate ./cmd/reference writes it -->\n\n" + fill(t.Intro))
	cell := strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`).Replace
	for _, p := range t.Parts {
		if p.Title != "" {
			b.WriteString("\n## " + p.Title + "\n")
		}
		b.WriteString("\n| " + t.Head + " | meaning |\n|---|---|\n")
		for _, r := range p.Rows {
			b.WriteString("| `" + r.Name + "` | " + cell(r.Text) + " |\n")
		}
	}
	if t.Outro != "" {
		b.WriteString("\n" + fill(t.Outro))
	}
	return b.String()
}

// fill breaks the lines of a page as those that people write.
func fill(text string) string {
	var parts []string
	for p := range strings.SplitSeq(text, "\n\n") {
		parts = append(parts, strings.Join(columns.Wrap(p, 118), "\n"))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// Roff returns a topic as a section of a manual page.
func (t Topic) Roff() string {
	var b strings.Builder
	b.WriteString(".SH " + t.Section + "\n" + roff(t.Intro) + "\n")
	for _, p := range t.Parts {
		if p.Title != "" {
			b.WriteString(".SS " + roff(p.Title) + "\n")
		}
		for _, r := range p.Rows {
			b.WriteString(".TP\n\\fB" + roff(r.Name) + "\\fP\n" + roff(r.Text) + "\n")
		}
	}
	if t.Outro != "" {
		b.WriteString(".PP\n" + roff(t.Outro) + "\n")
	}
	return b.String()
}

// roff keeps troff from taking text as its commands.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "\n\n", "\n.PP\n").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") && line != ".PP" {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
