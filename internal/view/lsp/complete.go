package lsp

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/jinja"
	"brine/internal/py/jinja/saltjinja"
	"brine/internal/py/value"
	"brine/internal/view/lint"
)

// maxItems bounds how many completions are sent.
const maxItems = 400

type completePatterns struct {
	saltFn, path, dots, colon, filter, template, url, item, word, arg, value, requisite *regexp.Regexp
}

var completing = sync.OnceValue(func() completePatterns {
	re := regexp.MustCompile
	return completePatterns{
		saltFn:   re(`salt(?:\[\s*['"]|\.)([\w.]*)$`),
		path:     re(`\b(pillar|grains)((?:\[\s*['"][^'"]*['"]\s*\]|\.get\(\s*['"][^'"]*['"]\s*(?:,[^()]*)?\))*)(?:\[\s*|\.get\(\s*)['"]([^'"]*)$`),
		dots:     re(`(?:^|[^.\w'"])(pillar|grains)((?:\.\w+|\[\s*['"][^'"]*['"]\s*\])*)\.(\w*)$`),
		colon:    re(`salt\[\s*['"](pillar|grains|config)\.(?:get|item|fetch|has_value|keys|filter_by)['"]\s*\]\(\s*['"]([^'"]*)$`),
		filter:   re(`\|\s*(\w*)$`),
		template: re(`\{%[-+]?\s*(?:from|import|include|extends)\s+['"]([^'"]*)$`),
		url:      re(`salt://([^\s'",\]}|]*)$`),
		item:     re(`^\s*(?:- +)*- +['"]?([^\s'":{}\[\]]*)$`),
		word:     re(`([\w.]*)$`),
		arg:      re(`^\s*(?:- +)*- +(\w*)$`),
		value:    re(`^\s*(?:- +)*- +(\w+): +['"]?([^'"]*)$`),
		requisite: re(
			`^\s*- +(?:(\w+)(?:\.\w+)?: +)?['"]?([^'"]*)$`),
	}
})

// completions are those of one place.
type completions struct {
	q     *query
	start int // where the text begins that is replaced
	items []completionItem
	more  bool
}

func (c *completions) add(item completionItem) {
	if len(c.items) >= maxItems {
		c.more = true
		return
	}
	text := item.Label
	if item.TextEdit != nil {
		text = item.TextEdit.NewText
	}
	item.TextEdit = &textEdit{c.q.doc.span(c.q.line, c.start, c.q.col), text}
	c.items = append(c.items, item)
}

// insert adds an item whose text differs from its label.
func (c *completions) insert(item completionItem, text string) {
	item.TextEdit = &textEdit{NewText: text}
	c.add(item)
}

func (c *completions) names(kind int, detail string, names []string) {
	for _, n := range names {
		c.add(completionItem{Label: n, Kind: kind, Detail: detail})
	}
}

// completion returns what may be written at the place.
func (q *query) completion() (any, error) {
	c := &completions{q: q, start: q.col}
	before := q.text[:q.col]
	if expr, ok := q.jinja(); ok {
		c.inJinja(before, expr)
	} else {
		c.inYAML(before)
	}
	items := c.items
	if items == nil {
		items = []completionItem{}
	}
	return completionList{IsIncomplete: c.more, Items: items}, nil
}

// maxJinjaLines is how far back the begin of an expression is looked for.
const maxJinjaLines = 30

// jinja returns the text of the expression or tag of Jinja that the place is in.
func (q *query) jinja() (string, bool) {
	text := ""
	for i := q.line; i >= 0 && i > q.line-maxJinjaLines; i-- {
		line := q.doc.line(i)
		if i == q.line {
			line = q.text[:q.col]
		}
		text = line + "\n" + text
		open := max(strings.LastIndex(text, "{{"), strings.LastIndex(text, "{%"))
		closed := max(strings.LastIndex(text, "}}"), strings.LastIndex(text, "%}"))
		switch {
		case open > closed:
			return strings.TrimSuffix(text[open:], "\n"), true
		case closed >= 0:
			return "", false
		}
	}
	return "", false
}

func (c *completions) inJinja(before, expr string) {
	q, p := c.q, completing()
	at := func(word string) { c.start = q.col - len(word) }
	if m := p.colon.FindStringSubmatch(before); m != nil {
		keys := strings.Split(m[2], ":")
		at(keys[len(keys)-1])
		maps := q.pillars()
		if m[1] == "grains" {
			maps = q.view.Grains
		}
		c.names(kindProperty, m[1], keysUnder(maps, keys[:len(keys)-1]))
		return
	}
	if m := p.path.FindStringSubmatch(before); m != nil {
		at(m[3])
		maps := q.pillars()
		if m[1] == "grains" {
			maps = q.view.Grains
		}
		c.names(kindProperty, m[1], keysUnder(maps, quoted(m[2])))
		return
	}
	if m := p.dots.FindStringSubmatch(before); m != nil {
		at(m[3])
		maps := q.pillars()
		if m[1] == "grains" {
			maps = q.view.Grains
		}
		names := keysUnder(maps, steps(m[2]))
		c.names(kindProperty, m[1], slices.DeleteFunc(names, func(n string) bool { return !wordPattern().MatchString(n) }))
		return
	}
	if m := p.template.FindStringSubmatch(expr); m != nil {
		at(m[1])
		for _, f := range q.view.Files {
			if ext := path.Ext(f.Path); f.Pillar == q.file.Pillar && ext != ".py" && (strings.Contains(ext, "j") || ext == ".sls" || ext == ".map" || ext == ".macros") {
				c.add(completionItem{Label: f.Path, Kind: kindFile})
			}
		}
		return
	}
	if m := p.saltFn.FindStringSubmatch(before); m != nil {
		at(m[1])
		c.functions(fun.Exec, m[1])
		return
	}
	if m := p.filter.FindStringSubmatch(before); m != nil {
		at(m[1])
		c.names(kindFunction, "filter", filters())
		return
	}
	if strings.Count(expr, "'")%2 == 1 || strings.Count(expr, `"`)%2 == 1 {
		if m := p.url.FindStringSubmatch(before); m != nil {
			c.files(m[1])
		}
		return
	}
	m := p.word.FindStringSubmatch(before)
	if strings.Contains(m[1], ".") {
		return
	}
	at(m[1])
	for _, v := range variables {
		c.add(completionItem{Label: v.name, Kind: kindVariable, Detail: v.kind, Documentation: markdown(v.doc)})
	}
	c.names(kindVariable, "set in this file", q.setVariables())
}

var (
	quotedPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`['"]([^'"]*)['"]\s*[\],)]`) })
	setPattern    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{%[-+]?\s*(?:set\s+(\w+)|macro\s+(\w+)|for\s+(\w+)|(?:from\s+\S+\s+)?import\s+.*?\bas\s+(\w+)|from\s+\S+\s+import\s+(\w+))`)
	})
	filters = sync.OnceValue(func() []string {
		return jinja.New(jinja.Options{Extension: saltjinja.New(saltjinja.Options{})}, nil).FilterNames()
	})
)

var (
	stepPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.(\w+)|\[\s*['"]([^'"]*)['"]\s*\]`) })
	wordPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*$`) })
)

// steps returns the names in a chain of attributes and subscripts.
func steps(chain string) []string {
	var out []string
	for _, m := range stepPattern().FindAllStringSubmatch(chain, -1) {
		out = append(out, m[1]+m[2])
	}
	return out
}

// quoted returns the strings in a chain of subscripts.
func quoted(chain string) []string {
	var out []string
	for _, m := range quotedPattern().FindAllStringSubmatch(chain, -1) {
		out = append(out, m[1])
	}
	return out
}

// setVariables returns the variables and macros that the document sets.
func (q *query) setVariables() []string {
	var out []string
	for _, line := range q.doc.lines {
		if !strings.Contains(line, "{%") {
			continue
		}
		for _, m := range setPattern().FindAllStringSubmatch(line, -1) {
			for _, name := range m[1:] {
				if name != "" && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// functions adds the functions that begin with a prefix; without a dot in it, the
// modules as well.
func (c *completions) functions(kind fun.Kind, prefix string) {
	t := c.q.view.Table
	mod, _, dotted := strings.Cut(prefix, ".")
	if !dotted {
		c.more = true // more functions once the module is there
		for _, m := range t.Modules(kind) {
			c.add(completionItem{Label: m, Kind: kindModule, SortText: "1" + m})
		}
		if prefix == "" {
			return
		}
	}
	for _, m := range t.Modules(kind) {
		if dotted && m != mod || !strings.HasPrefix(m, mod) {
			continue
		}
		seen := map[string]bool{}
		for _, provider := range t.Providers(kind, m) {
			for i := range provider.Specs {
				s := &provider.Specs[i]
				if seen[s.Name] {
					continue
				}
				seen[s.Name] = true
				first, _, _ := strings.Cut(s.Doc, "\n")
				c.add(completionItem{Label: m + "." + s.Name, Kind: kindFunction, Detail: first, SortText: "0" + m + "." + s.Name, Data: kind.Short() + " " + m + "." + s.Name})
			}
		}
	}
}

// resolve adds the documentation of an item.
func (s *server) resolve(item completionItem) completionItem {
	kind, name, _ := strings.Cut(item.Data, " ")
	for _, k := range []fun.Kind{fun.State, fun.Exec} {
		if k.Short() != kind {
			continue
		}
		if mod, spec, ok := s.Table.Lookup(k, name); ok {
			item.Documentation = markdown(s.functionDoc(mod, name, spec))
		}
	}
	return item
}

// files adds the files and directories under the roots that may follow "salt://".
func (c *completions) files(prefix string) {
	dir := prefix[:strings.LastIndex(prefix, "/")+1]
	c.start = c.q.col - len(prefix)
	seen := map[string]bool{}
	for _, f := range c.q.view.Files {
		rest, ok := strings.CutPrefix(f.Path, dir)
		if f.Pillar || !ok {
			continue
		}
		name, _, deeper := strings.Cut(rest, "/")
		label := dir + name
		if deeper {
			label += "/"
			c.more = true
		}
		if !seen[label] {
			seen[label] = true
			c.add(completionItem{Label: label, Kind: kindFile})
		}
	}
}

// slsNames adds the names of SLS files.
func (c *completions) slsNames(pillar bool) {
	for _, f := range c.q.view.Files {
		if f.SLS != "" && f.Pillar == pillar && path.Base(f.Path) != "top.sls" && f.Abs != c.q.file.Abs {
			c.add(completionItem{Label: f.SLS, Kind: kindModule, Detail: f.Path})
		}
	}
}

func (c *completions) inYAML(before string) {
	q, p := c.q, completing()
	if m := p.url.FindStringSubmatch(before); m != nil {
		c.files(m[1])
		return
	}
	top, req := q.around()
	isTop := path.Base(q.file.Path) == "top.sls"
	switch {
	case isTop || top == "include":
		if m := p.item.FindStringSubmatch(before); m != nil {
			c.start = q.col - len(m[1])
			c.slsNames(q.file.Pillar)
		}
		return
	case q.file.Pillar || q.file.SLS == "" && path.Ext(q.file.Path) != ".sls":
		return
	case req != "":
		if m := p.requisite.FindStringSubmatch(before); m != nil {
			c.targets(m[1], m[2])
		}
		return
	case top == "extend":
		if m := p.word.FindStringSubmatch(before); m != nil && indentOf(before) <= 2 {
			c.start = q.col - len(m[1])
			for _, f := range q.scope(q.file)[1:] {
				for _, id := range q.outline(f.Abs).ids {
					c.insert(completionItem{Label: id.name, Kind: kindReference, Detail: f.SLS}, id.name+":")
				}
			}
		}
		return
	}
	if strings.TrimSpace(before) == before && p.word.FindString(before) == before {
		c.start = 0
		for _, w := range []string{"include", "extend", "exclude"} {
			c.insert(completionItem{Label: w, Kind: kindKeyword}, w+":")
		}
		return
	}
	id, state := q.out.idAt(q.line)
	if id == nil {
		return
	}
	if m := p.arg.FindStringSubmatch(before); m != nil && state != nil && state.line < q.line {
		c.start = q.col - len(m[1])
		c.arguments(state, m[1])
		return
	}
	if m := p.value.FindStringSubmatch(before); m != nil && state != nil {
		c.start = q.col - len(m[2])
		c.values(state, m[1])
		return
	}
	if word := strings.TrimLeft(before, " "); word != before && p.word.FindString(word) == word {
		c.start = q.col - len(word)
		c.functions(fun.State, word)
	}
}

// around returns the key without indentation that the line is under, and the
// requisite whose items it is among.
func (q *query) around() (top, req string) {
	indent := indentOf(q.text)
	limit := indent
	for i := q.line - 1; i >= 0; i-- {
		line := q.doc.line(i)
		if isBlank(line) {
			continue
		}
		n := indentOf(line)
		k, ok := parseKey(line)
		if n == 0 {
			if ok && !k.dashed && indent > 0 || ok && k.key == "include" {
				top = k.key
			}
			if ok || indent > 0 {
				return top, req
			}
			continue
		}
		if n < limit {
			limit = n
			if ok && req == "" && isRequisite(k.key) && k.value == "" {
				req = k.key
			}
			if ok && !isRequisite(k.key) && req == "" && k.dashed {
				req = "-" // data of another argument
			}
		}
	}
	if req == "-" {
		req = ""
	}
	return top, req
}

// given returns the arguments that a state has on other lines.
func (q *query) given(state *stateLine) map[string]bool {
	given := map[string]bool{}
	for i := state.line + 1; i < len(q.doc.lines); i++ {
		line := q.doc.line(i)
		if i == q.line || isBlank(line) {
			continue
		}
		k, ok := parseKey(line)
		if indentOf(line) < state.indent || ok && !k.dashed && indentOf(line) <= state.indent {
			break
		}
		if ok && k.dashed {
			given[k.key] = true
		}
	}
	return given
}

// arguments adds the arguments of a state, those first that are required.
func (c *completions) arguments(state *stateLine, prefix string) {
	given := c.q.given(state)
	kind, name := fun.State, state.fn
	if mod, fn, ok := strings.Cut(name, "."); ok && mod == "module" && fn == "run" && prefix != "" {
		c.functions(fun.Exec, prefix)
	}
	_, spec := c.q.spec(kind, name)
	var own []string
	if spec != nil {
		for i := range spec.Args {
			a := &spec.Args[i]
			own = append(own, a.Name)
			if given[a.Name] {
				continue
			}
			rank := "1"
			if a.Required && a.Name != "name" {
				rank = "0"
			}
			c.insert(completionItem{
				Label: a.Name, Kind: kindField, Detail: argKind(a) + "; " + argDefault(a), Documentation: markdown(argDoc(a)),
				SortText: rank + fmt.Sprintf("%03d", i),
			}, a.Name+":"+after(a))
		}
	} else if !strings.Contains(name, ".") { // "pkg:" and "- installed"
		if mod, ok := c.q.view.Table.Module(kind, name); ok {
			for i := range mod.Specs {
				first, _, _ := strings.Cut(mod.Specs[i].Doc, "\n")
				c.add(completionItem{Label: mod.Specs[i].Name, Kind: kindFunction, Detail: first, Data: "state " + name + "." + mod.Specs[i].Name})
			}
		}
	}
	for i := range globals {
		g := &globals[i]
		if !given[g.name] && !slices.Contains(own, g.name) {
			c.insert(completionItem{Label: g.name, Kind: kindKeyword, Detail: g.kind, Documentation: markdown(globalDoc(g)), SortText: "2" + g.name}, g.name+":")
		}
	}
}

// after returns what follows the colon of an argument.
func after(a *fun.Arg) string {
	if a.Type != fun.Any && a.Type&(fun.List|fun.Dict|fun.Comma) != 0 && a.Type&fun.Str == 0 {
		return ""
	}
	return " "
}

// values adds what an argument may be.
func (c *completions) values(state *stateLine, name string) {
	_, spec := c.q.spec(fun.State, state.fn)
	if spec == nil {
		return
	}
	for i := range spec.Args {
		a := &spec.Args[i]
		if a.Name != name {
			continue
		}
		c.names(kindValue, "", a.OneOf)
		if name == "template" {
			c.names(kindValue, "", lint.TemplateEngines())
		}
		if a.Type&fun.Bool != 0 {
			c.names(kindValue, "", []string{"True", "False"})
		}
		if s, ok := a.Default.(string); ok && s != "" && !slices.Contains(a.OneOf, s) {
			c.add(completionItem{Label: value.Str(s), Kind: kindValue, Detail: "default"})
		}
	}
}

// targets adds the states that a requisite may name.
func (c *completions) targets(state, prefix string) {
	c.start = c.q.col - len(prefix)
	switch state {
	case "sls":
		c.slsNames(false)
		return
	case "":
		c.insert(completionItem{Label: "sls", Kind: kindModule, Detail: "all states of an SLS", SortText: "1"}, "sls: ")
	}
	own, _ := c.q.out.idAt(c.q.line)
	seen := map[string]bool{}
	for _, f := range c.q.scope(c.q.file) {
		for _, id := range c.q.outline(f.Abs).ids {
			if own != nil && f.Abs == c.q.file.Abs && id.line == own.line {
				continue
			}
			for _, s := range id.states {
				mod, _, _ := strings.Cut(s.fn, ".")
				label := id.name
				if state == "" {
					label = mod + ": " + id.name
				} else if mod != state && state != "id" {
					continue
				}
				if !seen[label] {
					seen[label] = true
					c.add(completionItem{Label: label, Kind: kindReference, Detail: f.SLS, SortText: "0" + label})
				}
			}
		}
	}
}
