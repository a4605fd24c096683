package options

import (
	"fmt"
	"strings"
)

// Page returns the table of docs/configuration.md.
func Page() string {
	var b strings.Builder
	count := map[Verdict]int{}
	for _, o := range All() {
		count[o.Verdict]++
	}
	fmt.Fprintf(&b, "%d options: ", len(all))
	for i, v := range Verdicts()[:4] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d %s", count[v], v)
	}
	b.WriteString(". Those in bold restrict.\n\n| option | file | verdict | |\n|---|---|---|---|\n")
	for _, o := range All() {
		b.WriteString(o.row())
	}
	return b.String()
}

func (o Option) row() string {
	note := strings.ReplaceAll(o.Note, "|", `\|`)
	bold := ""
	if o.Restrictive {
		bold = "**"
	}
	return fmt.Sprintf("| %s`%s`%s | %s | %s | %s |\n", bold, o.Name, bold, o.In, o.Verdict, linked(note))
}

// linked makes links of the pages that a note names.
func linked(note string) string {
	before, rest, ok := strings.Cut(note, "docs/")
	if !ok {
		return note
	}
	page, after, _ := strings.Cut(rest, ".md")
	return before + "[" + page + "](" + page + ".md)" + linked(after)
}
