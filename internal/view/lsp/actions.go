package lsp

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/view/lint"
)

var ignoring = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`#\s*brine:\s*ignore[ \t]+[\w-]+(?:\s*,\s*[\w-]+)*`)
})

// actions returns what corrects or silences the findings in a range.
func (s *server) actions(p actionParams) []codeAction {
	abs := pathOf(p.TextDocument.URI)
	s.mu.Lock()
	d, t := s.docs[abs], s.treeFor(abs)
	s.mu.Unlock()
	out := []codeAction{}
	if d == nil || t == nil {
		return out
	}
	t.mu.Lock()
	var findings []shownFinding
	if shown := t.shown[t.real(abs)]; shown != nil {
		findings = shown.findings
	}
	t.mu.Unlock()
	wants := func(kind string) bool {
		return len(p.Context.Only) == 0 && kind == "quickfix" || slices.ContainsFunc(p.Context.Only, func(o string) bool {
			return o == kind || strings.HasPrefix(kind, o+".")
		})
	}
	var all []textEdit
	for _, f := range findings {
		line := f.Pos.Line - 1
		if line < 0 || line >= len(d.lines) || d.lines[line] != f.line {
			continue // the text changed since
		}
		// Edits of one answer must not overlap: a second one follows with the next save.
		if e := fixOf(d, line, f.Fix); e != nil && !slices.ContainsFunc(all, func(x textEdit) bool { return overlap(x.Range, e.Range) }) {
			all = append(all, *e)
		}
		if !wants("quickfix") || line < p.Range.Start.Line || line > p.Range.End.Line {
			continue
		}
		edit := func(e textEdit) workspaceEdit {
			return workspaceEdit{map[string][]textEdit{p.TextDocument.URI: {e}}}
		}
		diags := []diagnostic{f.diagnostic}
		if e := fixOf(d, line, f.Fix); e != nil {
			out = append(out, codeAction{"Fix " + f.Rule, "quickfix", diags, true, edit(*e)})
		}
		if e, word := suggestedEdit(d, line, f); e != nil {
			out = append(out, codeAction{"Change to " + word, "quickfix", diags, f.Fix == nil, edit(*e)})
		}
		out = append(out,
			codeAction{"Ignore " + f.Rule + " on this line", "quickfix", diags, false, edit(ignoreLine(d, line, f.Rule))},
			codeAction{"Ignore " + f.Rule + " in this file", "quickfix", diags, false, edit(ignoreFile(d, f.Rule))},
		)
	}
	if wants("source.fixAll.brine") && len(all) > 0 {
		out = append(out, codeAction{Title: "Fix all that brine can fix", Kind: "source.fixAll.brine", Edit: workspaceEdit{map[string][]textEdit{p.TextDocument.URI: all}}})
	}
	return out
}

// overlap reports whether two ranges of one line have characters in common, or begin at
// one place.
func overlap(a, b span) bool {
	return a.Start.Line == b.Start.Line && a.Start.Character <= b.End.Character && b.Start.Character <= a.End.Character
}

// fixOf returns the edit that corrects a line; nil for none.
func fixOf(d *document, line int, fix *lint.Edit) *textEdit {
	if fix == nil || fix.Start < 0 || fix.Start > fix.End || fix.End > len(d.line(line)) {
		return nil
	}
	return &textEdit{d.span(line, fix.Start, fix.End), fix.New}
}

var suggestionPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`did you mean "([^"]+)"\?`) })

// suggestedEdit returns the edit that writes the name that the user most likely meant.
func suggestedEdit(d *document, line int, f shownFinding) (*textEdit, string) {
	m := suggestionPattern().FindStringSubmatch(f.Hint)
	if m == nil {
		return nil, ""
	}
	text := d.line(line)
	for _, q := range quotedName().FindAllStringSubmatch(f.Finding.Message, -1) {
		wrong := q[1] + q[2]
		if at := strings.Index(text, wrong); at >= 0 && strings.Count(text, wrong) == 1 {
			return &textEdit{d.span(line, at, at+len(wrong)), m[1]}, m[1]
		}
	}
	return nil, ""
}

var quotedName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([^"]+)"|'([^']+)'`) })

// ignoreLine returns the edit that silences a rule on a line. In a block of text,
// where # is no comment of YAML, it is a comment of Jinja.
func ignoreLine(d *document, line int, rule string) textEdit {
	text := d.line(line)
	if m := ignoring().FindStringIndex(text); m != nil {
		return textEdit{d.span(line, m[1], m[1]), ", " + rule}
	}
	comment := "  # brine: ignore " + rule
	if inBlock(d, line) || strings.Count(text, "'")%2 == 1 || strings.Count(text, `"`)%2 == 1 {
		comment = "{# brine: ignore " + rule + " #}"
	}
	end := len(strings.TrimRight(text, " \t"))
	if rule == "trailing-space" {
		end = len(text)
	}
	return textEdit{d.span(line, end, end), comment}
}

// ignoreFile returns the edit that silences a rule in a document.
func ignoreFile(d *document, rule string) textEdit {
	line := 0
	if strings.HasPrefix(d.line(0), "#!") && len(d.lines) > 1 {
		line = 1
	}
	end := "\n"
	if d.ends[0] != "" {
		end = d.ends[0]
	}
	return textEdit{d.span(line, 0, 0), "# brine: ignore-file " + rule + end}
}

// inBlock reports whether a line is in a block scalar.
func inBlock(d *document, line int) bool {
	indent := indentOf(d.line(line))
	for i := line - 1; i >= 0; i-- {
		text := d.line(i)
		if strings.TrimSpace(text) == "" || indentOf(text) >= indent {
			continue
		}
		indent = indentOf(text)
		if blockPattern().MatchString(text) {
			return true
		}
	}
	return false
}

var blockPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)[|>][+-]?[0-9]?[+-]?\s*(?:#.*)?$`) })
