package lsp

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/view/lint"
)

type hoverPatterns struct{ call, path, colon, ignore *regexp.Regexp }

var hovering = sync.OnceValue(func() hoverPatterns {
	re := regexp.MustCompile
	return hoverPatterns{
		call:   re(`salt(?:\[\s*['"]|\.)(\w+\.\w+)`),
		path:   re(`\b(pillar|grains)((?:\[\s*['"][^'"]*['"]\s*\]|\.get\(\s*['"][^'"]*['"]\s*(?:,[^()]*)?\)|\.\w+)+)`),
		colon:  re(`salt\[\s*['"](pillar|grains)\.(?:get|item|fetch|has_value|keys)['"]\s*\]\(\s*['"]([^'"]*)['"]`),
		ignore: re(`#\s*brine:\s*ignore(?:-file)?[ \t]+([\w-]+(?:\s*,\s*[\w-]+)*)`),
	}
})

// hover documents what is at the place.
func (q *query) hover() (any, error) {
	if text, start, end := q.docAt(); text != "" {
		at := q.doc.span(q.line, start, end)
		return hover{*markdown(text), &at}, nil
	}
	return nil, nil
}

// docAt returns the documentation of what is at the place, and its bytes.
func (q *query) docAt() (text string, start, end int) {
	p := hovering()
	for _, m := range p.ignore.FindAllStringSubmatchIndex(q.text, -1) {
		if q.col >= m[2] && q.col <= m[3] {
			return q.ruleDoc(m[2], m[3])
		}
	}
	for _, m := range p.call.FindAllStringSubmatchIndex(q.text, -1) {
		if q.col >= m[2] && q.col <= m[3] {
			name := q.text[m[2]:m[3]]
			if mod, spec := q.spec(fun.Exec, name); spec != nil {
				return q.s.functionDoc(mod, name, spec), m[2], m[3]
			}
			return "", 0, 0
		}
	}
	if kind, keys, start, end := q.pathAt(); len(keys) > 0 {
		return q.valueDoc(kind, keys), start, end
	}
	if _, inside := q.jinja(); inside {
		return "", 0, 0
	}
	return q.stateDoc()
}

// stateDoc returns the documentation of a state or argument at the place.
func (q *query) stateDoc() (text string, start, end int) {
	k, ok := parseKey(q.text)
	id, state := q.out.idAt(q.line)
	if q.file.Pillar || id == nil || state == nil {
		return "", 0, 0
	}
	if state.in(q.line, q.col) || state.line != q.line && strings.HasSuffix(state.fn, "."+strings.Trim(q.text, " -")) {
		start, end := state.start, state.end
		if state.line != q.line {
			start, end = indentOf(q.text), len(q.text)
		}
		if mod, spec := q.spec(fun.State, state.fn); spec != nil {
			return q.s.functionDoc(mod, state.fn, spec), start, end
		}
		return "", 0, 0
	}
	if !ok || !k.dashed || q.col < k.start || q.col > k.end {
		return "", 0, 0
	}
	if _, spec := q.spec(fun.State, state.fn); spec != nil {
		for i := range spec.Args {
			if spec.Args[i].Name == k.key {
				return argDoc(&spec.Args[i]), k.start, k.end
			}
		}
	}
	if g := globalOf(k.key); g != nil {
		return globalDoc(g), k.start, k.end
	}
	return "", 0, 0
}

func (q *query) ruleDoc(start, end int) (string, int, int) {
	for _, r := range lint.Rules() {
		if at := strings.Index(q.text[start:end], r.ID); at >= 0 && q.col >= start+at && q.col <= start+at+len(r.ID) {
			return fmt.Sprintf("**%s** (%s)\n\n%s %s", r.ID, r.Severity, r.Doc, r.Why), start + at, start + at + len(r.ID)
		}
	}
	return "", 0, 0
}

// pathAt returns the path of keys of the pillar or of grains that the place is on:
// as far as the key there.
func (q *query) pathAt() (kind string, keys []string, start, end int) {
	p := hovering()
	for _, m := range p.colon.FindAllStringSubmatchIndex(q.text, -1) {
		if q.col < m[4] || q.col > m[5] {
			continue
		}
		whole, at := q.text[m[4]:m[5]], m[4]
		for key := range strings.SplitSeq(whole, ":") {
			keys = append(keys, key)
			if q.col <= at+len(key) {
				return q.text[m[2]:m[3]], keys, at, at + len(key)
			}
			at += len(key) + 1
		}
	}
	for _, m := range p.path.FindAllStringSubmatchIndex(q.text, -1) {
		if q.col < m[4] || q.col > m[5] || strings.HasSuffix(q.text[:m[0]], "'") || strings.HasSuffix(q.text[:m[0]], `"`) {
			continue
		}
		keys = nil
		for _, k := range chainPattern().FindAllStringSubmatchIndex(q.text[m[4]:m[5]], -1) {
			g := 2
			if k[g] < 0 {
				g = 4
			}
			from, to := m[4]+k[g], m[4]+k[g+1]
			keys = append(keys, q.text[from:to])
			if q.col <= to {
				return q.text[m[2]:m[3]], keys, from, to
			}
		}
	}
	return "", nil, 0, 0
}

var chainPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\[|\.get\()\s*['"]([^'"]*)['"][^\])]*[\])]|\.(\w+)`)
})

// maxValues bounds how many values a hover shows.
const maxValues = 6

// valueDoc shows what the pillar or grains have at a path: the type of what may be
// secret, the value of grains.
func (q *query) valueDoc(kind string, keys []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n\n", kind, code(strings.Join(keys, ":")))
	n := 0
	if kind == "grains" {
		seen := map[string]bool{}
		for _, g := range q.view.Grains {
			var v value.Value = g
			for _, k := range keys {
				v = value.ToMap(v).At(k)
			}
			if text := value.Repr(v); v != nil && !seen[text] && n < maxValues && len(text) < 200 {
				seen[text] = true
				n++
				b.WriteString("- " + code(text) + "\n")
			}
		}
		return b.String()
	}
	for _, p := range q.pillarAt(keys) {
		if n++; n > maxValues {
			break
		}
		fmt.Fprintf(&b, "- %s in %s\n", value.TypeName(p.val), code(q.nameOf(p.abs)))
	}
	if n == 0 {
		return ""
	}
	return b.String()
}

// nameOf returns the path of a file under its root.
func (q *query) nameOf(abs string) string {
	for _, f := range q.view.Files {
		if f.Abs == abs {
			return f.Path
		}
	}
	return abs
}
