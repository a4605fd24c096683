package lint

import (
	"fmt"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/source"
)

// patterns are those of the checks of text, made on first use.
type patterns struct {
	octal, octalFlow, boolKey, boolItem, key, secretKey, notSecretKey, placeholder, keyHeader,
	call, callDot, pillarGet, imports, block, aws *regexp.Regexp
}

var pattern = sync.OnceValue(func() *patterns {
	re := regexp.MustCompile
	return &patterns{
		octal:        re(`^(\s*(?:- +)?['"]?([\w.-]+)['"]?:\s+)(0[0-9]+)\s*(?:#.*)?$`),
		octalFlow:    re(`[{,]\s*['"]?([\w.-]+)['"]?:\s+(0[0-9]+)\s*[,}]`),
		boolKey:      re(`^\s*(?:- +)?((?i:on|off|yes|no))\s*:(?:\s|$)`),
		boolItem:     re(`^\s*- +((?i:on|off|yes|no))\s*(?:#.*)?$`),
		key:          re(`^(\s*(?:- +)*['"]?)([A-Za-z_][\w.-]*)['"]?\s*:\s+(.*)$`),
		secretKey:    re(`(?i)(?:^|[_.-])(?:password|passwd|passphrase|secret|token|api_?key|secret_?key|access_?key|private_?key|credentials?)$|[a-z]Password$`),
		notSecretKey: re(`(?i)(?:^no_?|hide|show|use_|hash_|enforce|reset|empty|allow|require|public)`),
		placeholder:  re(`(?i)^(?:change[-_ ]?me|not[-_ ]a[-_ ]secret|x+|\*+|<.*>|\.\.\.|none|null|true|false|yes|no|on|off|~|todo|example.*|your[-_ ].*|placeholder|redacted|dummy|prompt|ask)$`),
		keyHeader:    re(`-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----`),
		aws:          re(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`),
		call:         re(`\bsalt\[\s*(['"])([\w.]+)['"]\s*\]`),
		callDot:      re(`\bsalt\.(\w+\.\w+)\s*\(`),
		pillarGet:    re(`(?:^|[^\w.'"\[])pillar\.get\(\s*(['"])([^'"]*:[^'"]*)['"]`),
		imports:      re(`\{%-?\s*from\s+.+?\s+import\s+(.+?)(?:\s+with(?:out)?\s+context)?\s*-?%\}`),
		block:        re(`(?:^|\s)[|>][+-]?[0-9]?[+-]?\s*(?:#.*)?$`),
	}
})

// scan checks the text of a file.
func (l *linter) scan(f *file) {
	if f.lines == nil {
		return
	}
	l.privateKey(f)
	f.words = map[string]bool{}
	for _, line := range f.lines {
		for word := range strings.FieldsFuncSeq(line, notWord) {
			f.words[word] = true
		}
	}
	if f.star != nil {
		for _, x := range f.star.Faults {
			// Its column counts characters already.
			f.found = append(f.found, Finding{Rule: starlark, Pos: source.Pos{File: f.Abs, Line: x.Line, Col: x.Col}, Message: x.Message})
		}
	}
	if !f.isTemplate() {
		l.used.python(f)
		return
	}
	l.style(f)
	text := withoutComments(f.lines)
	l.templates(f, text)
	l.grainNames(f, text)
	if f.sls != "" {
		l.yaml(f, text)
		l.imports(f, text)
		l.used.renderers(f)
	}
}

// privateKey finds private keys in any file.
func (l *linter) privateKey(f *file) {
	if name := path.Base(f.Path); strings.Contains(name, "example") || strings.Contains(name, "sample") {
		return
	}
	for i, line := range f.lines {
		if at := pattern().keyHeader.FindStringIndex(line); at != nil {
			f.addf(i+1, at[0]+1, secretText, "", "a private key is in the tree as plain text")
			return
		}
	}
}

// withoutComments returns lines in which Jinja comments are blanks.
func withoutComments(lines []string) []string {
	out := slices.Clone(lines)
	in := false
	for i, line := range out {
		var b strings.Builder
		for j := 0; j < len(line); j++ {
			switch {
			case !in && strings.HasPrefix(line[j:], "{#"):
				in = true
				b.WriteString("  ")
				j++
			case in && strings.HasPrefix(line[j:], "#}"):
				in = false
				b.WriteString("  ")
				j++
			case in:
				b.WriteByte(' ')
			default:
				b.WriteByte(line[j])
			}
		}
		out[i] = b.String()
	}
	return out
}

// templates checks what templates call.
func (l *linter) templates(f *file, lines []string) {
	p := pattern()
	whole := strings.Join(lines, "\n")
	for i, line := range lines {
		// The patterns cost more than to look for the words that they all have.
		salt, pillar := strings.Contains(line, "salt"), strings.Contains(line, "pillar.get")
		if !salt && !pillar {
			continue
		}
		for name, col := range callsOf(line) {
			l.call(f, whole, name, i+1, col)
		}
		if m := p.pillarGet.FindStringSubmatchIndex(line); m != nil && strings.Contains(line, "{") {
			name := line[m[4]:m[5]]
			f.addf(i+1, m[4]+1, pillarColon, fmt.Sprintf("write salt['pillar.get']('%s')", name), "pillar.get looks for a key named %q", name)
		}
	}
}

// callsOf returns the functions that a line of a template calls, with their columns.
func callsOf(line string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		if !strings.Contains(line, "salt") {
			return
		}
		for _, m := range pattern().call.FindAllStringSubmatchIndex(line, -1) {
			if !yield(line[m[4]:m[5]], m[4]+1) {
				return
			}
		}
		for _, m := range pattern().callDot.FindAllStringSubmatchIndex(line, -1) {
			if !yield(line[m[2]:m[3]], m[2]+1) {
				return
			}
		}
	}
}

// asksFor reports whether a template asks whether a function is there.
func asksFor(whole, name string) bool {
	return strings.Contains(whole, "'"+name+"' in salt") || strings.Contains(whole, `"`+name+`" in salt`)
}

// call checks a function that a template calls.
func (l *linter) call(f *file, whole, name string, line, col int) {
	pos := source.Pos{File: f.Abs, Line: line, Col: col}
	mod, _, ok := strings.Cut(name, ".")
	if !ok || mod == "get" || strings.HasPrefix(name, "get.") {
		return
	}
	l.used.function(fun.Exec, name, pos)
	if _, _, ok := l.known.Lookup(fun.Exec, name); ok {
		return
	}
	if asksFor(whole, name) {
		return
	}
	nf := l.known.NotFound(fun.Exec, name)
	if nf.InSalt {
		f.addf(line, col, notInBrine, nf.Hint(), "execution function %q of Salt is not available in brine", name)
		return
	}
	f.addf(line, col, unknownFunction, nf.Hint(), "unknown execution function %q", name)
}

// imports finds names that an SLS imports and does not use.
func (l *linter) imports(f *file, lines []string) {
	whole := strings.Join(lines, "\n")
	for i, line := range lines {
		m := pattern().imports.FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		from := m[2] // where the item begins
		for item := range strings.SplitSeq(line[m[2]:m[3]], ",") {
			start := from
			from += len(item) + 1
			name := strings.TrimSpace(item)
			if _, as, ok := strings.Cut(name, " as "); ok {
				name = strings.TrimSpace(as)
			}
			if name == "" || strings.ContainsAny(name, " %}") {
				continue
			}
			if re, err := regexp.Compile(`\b` + regexp.QuoteMeta(name) + `\b`); err == nil && len(re.FindAllStringIndex(whole, 2)) < 2 {
				at := start + len(item) - len(strings.TrimLeft(item, " "))
				out := Finding{Rule: unusedImport, Pos: source.Pos{File: f.Abs, Line: i + 1, Col: at + 1}, Message: "the imported name " + name + " is not used"}
				switch end := start + len(item); {
				case end < m[3]: // with the comma after it
					next := end + 1
					out.Fix = &Edit{Start: at, End: next + len(line[next:]) - len(strings.TrimLeft(line[next:], " "))}
				case start > m[2]: // with the comma before it
					out.Fix = &Edit{Start: start - 1, End: start + len(strings.TrimRight(item, " "))}
				}
				f.add(out)
			}
		}
	}
}

// yaml checks the YAML of an SLS, line by line.
func (l *linter) yaml(f *file, lines []string) {
	p := pattern()
	block := -1 // indentation of the key whose block scalar this is
	for i, line := range lines {
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		if block >= 0 && (trimmed == "" || indent > block) {
			continue
		}
		block = -1
		if trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "{%") {
			continue
		}
		if strings.ContainsAny(line, "|>") && p.block.MatchString(line) && !strings.Contains(line, "{%") {
			block = indent
			continue
		}
		if strings.Contains(line, " 0") || strings.Contains(line, "\t0") {
			if m := p.octal.FindStringSubmatchIndex(line); m != nil {
				l.octal(f, i, line[m[4]:m[5]], m[6], m[7], line[m[6]:m[7]])
			}
			for _, m := range p.octalFlow.FindAllStringSubmatchIndex(line, -1) {
				l.octal(f, i, line[m[2]:m[3]], m[4], m[5], line[m[4]:m[5]])
			}
		}
		for _, re := range []*regexp.Regexp{p.boolKey, p.boolItem} {
			if m := re.FindStringSubmatchIndex(line); m != nil {
				word := line[m[2]:m[3]]
				f.addf(i+1, m[2]+1, yamlBoolean, "quote it if it is a word: '"+word+"'", "YAML reads %s as a boolean", word)
			}
		}
		l.secret(f, i, line)
	}
}

func (l *linter) octal(f *file, i int, key string, start, end int, number string) {
	out := Finding{
		Rule: yamlOctal, Pos: source.Pos{File: f.Abs, Line: i + 1, Col: start + 1},
		Message: fmt.Sprintf("the number %s starts with 0", number), Hint: "quote it: '" + number + "'",
	}
	if strings.HasSuffix(key, "mode") && len(number) <= 5 && !strings.ContainsAny(number, "89") {
		out.Fix = &Edit{Start: start, End: end, New: "'" + number + "'"}
	}
	f.add(out)
}

// secret finds passwords and the like that are written out.
func (l *linter) secret(f *file, i int, line string) {
	p := pattern()
	if at := p.aws.FindStringIndex(line); at != nil {
		f.addf(i+1, at[0]+1, secretText, "", "an access key of AWS is in the tree as plain text")
		return
	}
	m := p.key.FindStringSubmatchIndex(line)
	if m == nil {
		return
	}
	key, val := line[m[4]:m[5]], strings.TrimSpace(line[m[6]:m[7]])
	if !p.secretKey.MatchString(key) || p.notSecretKey.MatchString(key) {
		return
	}
	if quoted := strings.Trim(val, `'"`); quoted != val {
		val = quoted
	} else if before, _, ok := strings.Cut(val, " #"); ok {
		val = strings.TrimSpace(before)
	}
	if isSecret(val) {
		f.addf(i+1, m[6]+1, secretText, "encrypt it with the gpg renderer, or read it from an external pillar", "%s is in the tree as plain text", key)
	}
}

// isSecret reports whether the value of a secret key is a secret itself: no
// template, reference, hash, path, number of days or placeholder.
func isSecret(val string) bool {
	if len(val) < 4 || strings.Contains(val, "{{") || strings.ContainsAny(val[:1], "&*!|>[{%@`/#$~") || strings.Contains(val, "://") || strings.Contains(val, "${") {
		return false
	}
	return !pattern().placeholder.MatchString(val) && !strings.HasPrefix(val, "salt-") && !strings.Contains(val, ": ")
}

// saltKeys are keys of the pillar that Salt itself reads.
var saltKeys = words("schedule mine_functions mine_interval mine_enabled beacons providers include environment saltenv pillarenv reactor startup_states startup_states_list ssh_minion_opts")

// unused finds includes of SLS files without states, and pillar keys that no file
// mentions.
func (s *Session) unused(m *merge) {
	exists, filled := map[string]bool{}, map[string]bool{} // filled has those that were rendered
	for _, f := range s.l.sls {
		exists[f.saltenv+":"+f.sls] = true
	}
	for _, r := range s.runs {
		for _, e := range r.cache {
			filled[e.name] = filled[e.name] || e.filled
		}
	}
	for _, r := range s.runs {
		for _, e := range r.cache {
			for name, pos := range e.includes {
				if has, known := filled[name]; exists[name] && known && !has {
					_, sls, _ := strings.Cut(name, ":")
					m.add("", Finding{Rule: unusedInclude, Pos: pos, Message: "the included SLS " + sls + " has no states on any system"})
				}
			}
		}
	}
	if s.l.unread > 0 {
		return // one of those files may mention a key
	}
	for key, pos := range s.pillarKeys() {
		if !saltKeys[key] && !strings.ContainsFunc(key, notWord) && !s.l.mentions(key) {
			m.add("", Finding{Rule: unusedPillar, Pos: pos, Message: "no file of the tree mentions the pillar key " + key})
		}
	}
}

// pillarKeys returns the top-level keys of the pillar, with one place of each.
func (s *Session) pillarKeys() map[string]source.Pos {
	keys := map[string]source.Pos{}
	for _, r := range s.runs {
		for _, f := range s.l.files {
			p := r.pillarFiles[f.id()]
			if p == nil {
				continue
			}
			for k := range p.data.All() {
				if key, ok := k.(string); ok && keys[key].IsZero() && !isUnknown(key) {
					pos := p.data.Pos(k)
					pos.File = f.Abs
					keys[key] = pos
				}
			}
		}
	}
	return keys
}

// mentions reports whether a file of the tree has a word, or part of its path is it.
func (l *linter) mentions(word string) bool {
	for _, f := range l.files {
		if f.words[word] && (!f.pillar || f.isTop()) {
			return true
		}
		if !strings.Contains(f.Path, word) {
			continue
		}
		for part := range strings.SplitSeq(f.Path, "/") {
			if strings.TrimSuffix(part, path.Ext(part)) == word {
				return true
			}
		}
	}
	return false
}

func (f *file) isTop() bool { return path.Base(f.Path) == "top.sls" }

func notWord(r rune) bool {
	return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
