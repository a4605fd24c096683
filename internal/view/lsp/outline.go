package lsp

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// An outline is what the lines of an SLS show without rendering it. It is made of
// any text, complete or not, so that it serves while the user types.
type outline struct {
	ids      []idLine
	includes []nameAt
	extends  []nameAt // the IDs under extend
	imports  []nameAt // templates that are imported or included
	urls     []nameAt // salt:// URLs, with the scheme
	refs     []refAt  // requisites to IDs
}

// A nameAt is a name at a place.
type nameAt struct {
	name       string
	line       int
	start, end int // bytes
}

// A refAt is one item of a requisite: "- pkg: nginx".
type refAt struct {
	nameAt
	state string // "pkg"; "" where the item is an ID alone
}

// An idLine is an ID with its states.
type idLine struct {
	nameAt
	last   int // its last line
	states []stateLine
}

// A stateLine is a state of an ID: "pkg.installed:".
type stateLine struct {
	nameAt
	fn     string // "pkg.installed", joined from the list where it is there
	indent int
	name   nameAt // the value of the argument name; its name is "" where it is absent
}

type outlinePatterns struct {
	key, dash, imports, url *regexp.Regexp
}

var patterns = sync.OnceValue(func() outlinePatterns {
	return outlinePatterns{
		// indent, dashes, the quote, the key, the rest
		key:     regexp.MustCompile(`^(\s*(?:- +)*)(?:"([^"]*)"|'([^']*)'|([^\s#'"{\[\]}&*!|>%@-][^#]*?|-[^\s#][^#]*?|\{\{.*?\}\}[^#]*?)) *:(?: +(.*))?$`),
		dash:    regexp.MustCompile(`^(\s*(?:- +)*- +)["']?([^"'\s#{}\[\]:]+)["']?\s*(?:#.*)?$`),
		imports: regexp.MustCompile(`\{%[-+]?\s*(?:from|import|include|extends)\s+(?:"([^"]*)"|'([^']*)')`),
		url:     regexp.MustCompile(`salt://[^\s'",\]}|]+`),
	}
})

// A keyLine is a line of YAML that has a key.
type keyLine struct {
	indent     int // of the key, behind the dashes
	dashed     bool
	key        string
	start, end int // of the key
	value      string
	valueAt    int
}

// parseKey reads a line "key: value" or "- key: value".
func parseKey(line string) (k keyLine, ok bool) {
	m := patterns().key.FindStringSubmatchIndex(line)
	if m == nil {
		return k, false
	}
	k.indent = m[3]
	k.dashed = strings.Contains(line[:m[3]], "-")
	for _, g := range []int{4, 6, 8} {
		if m[g] >= 0 {
			k.key, k.start, k.end = line[m[g]:m[g+1]], m[g], m[g+1]
		}
	}
	if m[10] >= 0 {
		k.value, k.valueAt = trimValue(line[m[10]:m[11]]), m[10]
		if q := line[m[10]:]; strings.HasPrefix(q, "'") || strings.HasPrefix(q, `"`) {
			k.valueAt++
		}
	}
	return k, true
}

// trimValue returns a scalar without quotes and comments.
func trimValue(s string) string {
	s = strings.TrimSpace(s)
	if s != "" && (s[0] == '\'' || s[0] == '"') {
		if i := strings.IndexByte(s[1:], s[0]); i >= 0 {
			return s[1 : i+1]
		}
		return s[1:]
	}
	if i := strings.Index(s, " #"); i >= 0 {
		s = strings.TrimSpace(s[:i])
	}
	if strings.HasPrefix(s, "#") {
		return ""
	}
	return s
}

// requisites are the arguments that name other states.
var requisites = []string{
	"require", "require_any", "require_in", "watch", "watch_any", "watch_in", "onchanges", "onchanges_any", "onchanges_in",
	"onfail", "onfail_any", "onfail_all", "onfail_in", "prereq", "prereq_in", "use", "use_in", "listen", "listen_in",
}

func isRequisite(name string) bool { return slices.Contains(requisites, name) }

// indentOf returns how many blanks a line begins with.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// isBlank reports whether a line has no YAML: it is empty, a comment or a tag of
// Jinja.
func isBlank(line string) bool {
	t := strings.TrimSpace(line)
	return t == "" || t[0] == '#' || strings.HasPrefix(t, "{%") || strings.HasPrefix(t, "{#")
}

// outlineOf reads the lines of an SLS.
func outlineOf(lines []string) *outline {
	o := &outline{}
	top := "" // the key without indentation that a line is under
	req, reqIndent, reqDashed := "", 0, false
	block := -1 // the indentation of the key whose block scalar a line is in
	for i, line := range lines {
		o.anywhere(i, line)
		if isBlank(line) {
			continue
		}
		indent := indentOf(line)
		if block >= 0 && indent > block {
			continue
		}
		block = -1
		k, isKey := parseKey(line)
		if isKey && indent == 0 && !k.dashed {
			top, req = k.key, ""
			o.topKey(i, k)
			continue
		}
		if req != "" && (indent < reqIndent || indent == reqIndent && (reqDashed || line[indent] != '-')) {
			req = ""
		}
		if isKey && (strings.HasPrefix(k.value, "|") || strings.HasPrefix(k.value, ">")) {
			block = indent
		}
		switch {
		case top == "include":
			if m := patterns().dash.FindStringSubmatchIndex(line); m != nil {
				o.includes = append(o.includes, nameAt{line[m[4]:m[5]], i, m[4], m[5]})
			}
		case top == "exclude":
			o.excluded(i, k, isKey)
		case top == "extend" && isKey && !k.dashed && indent <= 2:
			o.extends = append(o.extends, nameAt{k.key, i, k.start, k.end})
		case req != "" && o.reference(i, line, k, isKey):
		case isKey && isRequisite(k.key):
			req, reqIndent, reqDashed = k.key, indent, k.dashed
			o.inlineRefs(i, k)
		case isKey && !k.dashed && top != "extend":
			o.state(i, k, indent)
		case top != "extend":
			o.inState(i, line, k, isKey)
		}
	}
	o.close(lines)
	return o
}

// close sets the last lines of the IDs.
func (o *outline) close(lines []string) {
	for i := range o.ids {
		o.ids[i].last = len(lines) - 1
		if i+1 < len(o.ids) {
			o.ids[i].last = o.ids[i+1].line - 1
		}
		for o.ids[i].last > o.ids[i].line && isBlank(lines[o.ids[i].last]) {
			o.ids[i].last--
		}
	}
}

// anywhere notes what any line may have.
func (o *outline) anywhere(i int, line string) {
	if strings.Contains(line, "{%") {
		for _, m := range patterns().imports.FindAllStringSubmatchIndex(line, -1) {
			g := 2
			if m[g] < 0 {
				g = 4
			}
			o.imports = append(o.imports, nameAt{line[m[g]:m[g+1]], i, m[g], m[g+1]})
		}
	}
	if strings.Contains(line, "salt://") {
		for _, m := range patterns().url.FindAllStringIndex(line, -1) {
			o.urls = append(o.urls, nameAt{line[m[0]:m[1]], i, m[0], m[1]})
		}
	}
}

func (o *outline) topKey(i int, k keyLine) {
	switch k.key {
	case "include", "extend", "exclude":
		return
	}
	id := idLine{nameAt: nameAt{k.key, i, k.start, k.end}}
	if fn := strings.TrimSuffix(k.value, ": []"); strings.Contains(fn, ".") && !strings.ContainsAny(fn, " {[") { // id: mod.fun
		id.states = append(id.states, stateLine{nameAt: nameAt{fn, i, k.valueAt, k.valueAt + len(fn)}, fn: fn})
	}
	o.ids = append(o.ids, id)
}

// excluded notes an item of exclude: "- id: nginx".
func (o *outline) excluded(i int, k keyLine, isKey bool) {
	if isKey && k.key == "id" && k.value != "" {
		o.refs = append(o.refs, refAt{nameAt{k.value, i, k.valueAt, k.valueAt + len(k.value)}, ""})
	}
}

// state notes a state of the last ID.
func (o *outline) state(i int, k keyLine, indent int) {
	if len(o.ids) == 0 || strings.Contains(k.key, " ") {
		return
	}
	id := &o.ids[len(o.ids)-1]
	if n := len(id.states); n > 0 && indent > id.states[n-1].indent && id.states[n-1].line != id.line {
		return // data of an argument
	}
	id.states = append(id.states, stateLine{nameAt: nameAt{k.key, i, k.start, k.end}, fn: k.key, indent: indent})
}

// inState notes the function and the name in the arguments of a state.
func (o *outline) inState(i int, line string, k keyLine, isKey bool) {
	if len(o.ids) == 0 || len(o.ids[len(o.ids)-1].states) == 0 {
		return
	}
	states := o.ids[len(o.ids)-1].states
	s := &states[len(states)-1]
	if isKey {
		if k.key == "name" && k.dashed && s.name.name == "" && k.value != "" {
			s.name = nameAt{k.value, i, k.valueAt, k.valueAt + len(k.value)}
		}
		return
	}
	if m := patterns().dash.FindStringSubmatchIndex(line); m != nil && !strings.Contains(s.fn, ".") && isWord(line[m[4]:m[5]]) {
		s.fn += "." + line[m[4]:m[5]]
	}
}

// reference notes an item of a requisite; it reports whether the line is one.
func (o *outline) reference(i int, line string, k keyLine, isKey bool) bool {
	if isKey {
		if !k.dashed {
			return false
		}
		if isRequisite(k.key) || k.value == "" || k.value[0] == '{' && !strings.HasPrefix(k.value, "{{") {
			return false
		}
		state, _, _ := strings.Cut(k.key, ".")
		if !isWord(state) {
			return false
		}
		o.refs = append(o.refs, refAt{nameAt{k.value, i, k.valueAt, k.valueAt + len(k.value)}, state})
		return true
	}
	t := strings.TrimLeft(line, " -")
	if !strings.HasPrefix(strings.TrimLeft(line, " "), "-") || t == "" {
		return false
	}
	at := len(line) - len(t)
	if t[0] == '\'' || t[0] == '"' {
		at++
	}
	name := trimValue(t)
	if name == "" {
		return false
	}
	o.refs = append(o.refs, refAt{nameAt{name, i, at, at + len(name)}, ""})
	return true
}

// inlineRefs notes a requisite that is written in its line: "- require: [{pkg: a}]"
// or "- require_in: a".
func (o *outline) inlineRefs(i int, k keyLine) {
	for state, name := range flowItems(k.value) {
		at := k.valueAt + name[0]
		o.refs = append(o.refs, refAt{nameAt{k.value[name[0]:name[1]], i, at, at + name[1] - name[0]}, state})
	}
}

var flowItem = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\s*(\w+)\s*:\s*["']?([^"'{}\[\],]+?)["']?\s*\}`)
})

// flowItems returns the items of a flow list of mappings: the states, and the
// bytes of the names.
func flowItems(s string) func(func(string, [2]int) bool) {
	return func(yield func(string, [2]int) bool) {
		for _, m := range flowItem().FindAllStringSubmatchIndex(s, -1) {
			if !yield(s[m[2]:m[3]], [2]int{m[4], m[5]}) {
				return
			}
		}
	}
}

func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// idAt returns the ID that a line is under, and its state; nil where it is under
// none.
func (o *outline) idAt(line int) (*idLine, *stateLine) {
	for i := len(o.ids) - 1; i >= 0; i-- {
		id := &o.ids[i]
		if id.line > line {
			continue
		}
		if line > id.last+1 && i+1 < len(o.ids) && line >= o.ids[i+1].line {
			return nil, nil
		}
		var state *stateLine
		for j := range id.states {
			if id.states[j].line <= line {
				state = &id.states[j]
			}
		}
		return id, state
	}
	return nil, nil
}

// in reports whether a place is on a name.
func (n *nameAt) in(line, col int) bool { return n.line == line && col >= n.start && col <= n.end }
