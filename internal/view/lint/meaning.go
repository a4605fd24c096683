package lint

import (
	"slices"
	"strings"

	"brine/internal/core/target"
	"brine/internal/py/value"
)

// A meaning is which machines a target of a top file matches, as far as its text tells: those
// that match all literals of one of its clauses. Grains of the system are decided already.
type meaning []clause

type clause []literal

// A literal is one word of a target.
type literal struct {
	not           bool
	kind, pattern string
	glob          []globToken // of a glob, and of a regular expression that says the same as one
	ids           []string    // all machines that it matches; nil: not known
}

// Bounds of meanings. Targets beyond them match what no other target says anything about.
const (
	maxClauses  = 64
	maxLiterals = 64
	maxGlob     = 256
)

// meaningOf returns the meaning of a target on a system; id is that of its only machine, "" is not known.
func meaningOf(grains value.Mapping, id string, nodegroups *value.Map, tgt, kind string) meaning {
	p := meaningParser{grains: grains, id: id}
	switch kind {
	case "compound", "nodegroup":
		var err error
		if p.words, err = target.Words(tgt, kind, nodegroups); err == nil {
			if m, ok := p.either(false); ok && p.at == len(p.words) {
				return m
			}
		}
		return meaning{{literal{kind: kind, pattern: tgt}}}
	case "grain", "grain_pcre":
		if means, known := meansSystem(grains, tgt, kind); known {
			return decided(means)
		}
	}
	return p.literal(kind, tgt, false)
}

// decided is a target that matches all machines or none.
func decided(all bool) meaning {
	if all {
		return meaning{{}}
	}
	return nil
}

// literal returns the meaning of a word about IDs, or of one of which nothing is known.
func (p *meaningParser) literal(kind, pattern string, not bool) meaning {
	l := literalOf(kind, pattern, not)
	switch {
	case len(l.glob) == 1 && l.glob[0].star:
		return decided(!not)
	case p.id != "" && l.decides():
		return decided(l.match(p.id))
	}
	return meaning{{l}}
}

func literalOf(kind, pattern string, not bool) literal {
	l := literal{not: not, kind: kind, pattern: pattern}
	switch kind {
	case "glob":
		l.glob = globTokens(pattern)
		if !value.HasGlob(pattern) {
			l.ids = []string{pattern}
		}
	case "list":
		l.ids = strings.Split(pattern, ",")
	case "pcre":
		if glob, ok := globOf(pattern); ok {
			l.glob = globTokens(glob)
		}
	}
	return l
}

// A meaningParser reads the words of a compound.
type meaningParser struct {
	words  []string
	at     int
	depth  int
	grains value.Mapping
	id     string
}

func (p *meaningParser) next(word string) bool {
	if p.at < len(p.words) && p.words[p.at] == word {
		p.at++
		return true
	}
	return false
}

// either reads words with or between them; not is whether what they say is denied.
func (p *meaningParser) either(not bool) (meaning, bool) {
	if p.depth++; p.depth > maxClauses {
		return nil, false
	}
	defer func() { p.depth-- }()
	return p.chain("or", not, not, p.both)
}

// both reads words with and between them.
func (p *meaningParser) both(not bool) (meaning, bool) {
	return p.chain("and", !not, not, p.one)
}

// chain reads parts between operators, and joins them: all of them, or one of them.
func (p *meaningParser) chain(op string, all, not bool, part func(bool) (meaning, bool)) (meaning, bool) {
	out, ok := part(not)
	for ok && p.next(op) {
		var m meaning
		if m, ok = part(not); !ok {
			break
		}
		if all {
			out, ok = product(out, m)
		} else {
			out = append(out, m...)
		}
	}
	return out, ok && len(out) <= maxClauses
}

// product is what matches two meanings.
func product(a, b meaning) (meaning, bool) {
	if len(a)*len(b) > maxClauses {
		return nil, false
	}
	var out meaning
	for _, x := range a {
		for _, y := range b {
			out = append(out, slices.Concat(x, y))
		}
	}
	return out, !slices.ContainsFunc(out, func(c clause) bool { return len(c) > maxLiterals })
}

func (p *meaningParser) one(not bool) (meaning, bool) {
	switch {
	case p.at >= len(p.words):
		return nil, false
	case p.next("not"):
		return p.one(!not)
	case p.next("("):
		m, ok := p.either(not)
		return m, ok && p.next(")")
	case target.IsOperator(p.words[p.at]):
		return nil, false
	}
	word := p.words[p.at]
	p.at++
	if kind, pattern, ok := target.IDWord(word); ok {
		return p.literal(kind, pattern, not), true
	}
	if means, known := meansSystem(p.grains, word, "compound"); known {
		return decided(means != not), true
	}
	return p.literal("compound", word, not), true
}

// possible returns the meaning without clauses that no machine can match.
func (m meaning) possible() meaning {
	return slices.DeleteFunc(slices.Clone(m), clause.impossible)
}

// implies reports whether all machines that m matches match other, for sure.
func (m meaning) implies(other meaning) bool {
	for _, c := range m {
		if !c.impossible() && !slices.ContainsFunc(other, c.implies) {
			return false
		}
	}
	return true
}

// meets reports whether some machine may match both.
func (m meaning) meets(other meaning) bool {
	for _, a := range m {
		for _, b := range other {
			if !slices.Concat(a, b).impossible() {
				return true
			}
		}
	}
	return false
}

func (c clause) implies(other clause) bool {
	return !slices.ContainsFunc(other, func(l literal) bool { return !c.impliesLiteral(l) })
}

func (c clause) impliesLiteral(l literal) bool {
	if ids, ok := c.machines(); ok && l.decides() {
		return !slices.ContainsFunc(ids, func(id string) bool { return !l.match(id) })
	}
	return slices.ContainsFunc(c, func(own literal) bool { return own.implies(l) })
}

// impossible reports whether no machine matches a clause, for sure.
func (c clause) impossible() bool {
	if ids, ok := c.machines(); ok && len(ids) == 0 {
		return true
	}
	for i, a := range c {
		for _, b := range c[:i] {
			b.not = !b.not
			if a.implies(b) {
				return true
			}
		}
	}
	return false
}

// machines returns the machines of a clause that names them.
func (c clause) machines() (ids []string, ok bool) {
	for _, l := range c {
		if l.ids != nil && !l.not {
			ids, ok = slices.Clone(l.ids), true
			break
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool {
		return slices.ContainsFunc(c, func(l literal) bool { return l.decides() && !l.match(id) })
	}), ok
}

// decides reports whether an ID alone says whether a literal matches.
func (l *literal) decides() bool { return l.kind == "glob" || l.kind == "list" || l.kind == "pcre" }

func (l *literal) match(id string) bool {
	hit := false
	switch l.kind {
	case "glob":
		hit = value.Fnmatch(l.pattern, id)
	case "list":
		hit = slices.Contains(l.ids, id)
	case "pcre":
		if m, err := target.Compile(l.pattern, l.kind, nil); err == nil {
			ok, err := m.Match(target.Minion{ID: id})
			hit = err == nil && ok
		}
	}
	return hit != l.not
}

// implies reports whether all machines that l matches match other, for sure.
func (l literal) implies(other literal) bool {
	if l.kind == other.kind && l.pattern == other.pattern {
		return l.not == other.not
	}
	if l.not {
		if !other.not {
			return false
		}
		// No machine of one is what no machine of the other is, the other way about.
		l.not, other.not = false, false
		return other.implies(l)
	}
	if l.ids != nil && other.decides() {
		return !slices.ContainsFunc(l.ids, func(id string) bool { return !other.match(id) })
	}
	switch {
	case l.glob == nil || len(l.glob) > maxGlob || len(other.glob) > maxGlob:
		return false
	case other.not && other.ids != nil:
		return !slices.ContainsFunc(other.ids, l.match)
	case other.glob == nil:
		return false
	case other.not:
		return !overlap(l.glob, other.glob)
	}
	return covers(other.glob, l.glob)
}

// A globToken is a character of a glob, ? (any), * (star), or a set of characters.
type globToken struct {
	any, star bool
	set       string // as written, with its brackets
	char      rune
}

// globTokens splits a glob; of ? and * beside each other, all ? are first.
func globTokens(glob string) []globToken {
	out := []globToken{}
	runes := []rune(glob)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; c {
		case '*':
			if n := len(out); n == 0 || !out[n-1].star {
				out = append(out, globToken{star: true})
			}
		case '?':
			out = append(out, globToken{any: true})
			if n := len(out); n > 1 && out[n-2].star {
				out[n-2], out[n-1] = out[n-1], out[n-2]
			}
		case '[':
			end := i + 1
			if end < len(runes) && runes[end] == '!' {
				end++
			}
			if end < len(runes) && runes[end] == ']' {
				end++
			}
			for end < len(runes) && runes[end] != ']' {
				end++
			}
			if end < len(runes) {
				out = append(out, globToken{set: string(runes[i : end+1])})
				i = end
				continue
			}
			fallthrough
		default:
			out = append(out, globToken{char: c})
		}
	}
	return out
}

// has reports whether a token of one character matches a character.
func (t globToken) has(c rune) bool {
	return t.any || t.set != "" && value.Fnmatch(t.set, string(c)) || t.set == "" && t.char == c
}

// covers reports whether a glob matches all that another one does, for sure.
func covers(glob, other []globToken) bool {
	return walkGlobs(glob, other, func(a, b globToken) bool {
		return a.any || a == b || b.char != 0 && a.has(b.char)
	}, false)
}

// overlap reports whether some text may match both globs.
func overlap(a, b []globToken) bool {
	return walkGlobs(a, b, func(a, b globToken) bool {
		return a.any || b.any || a.char == 0 && b.char == 0 || a.char != 0 && b.has(a.char) || b.char != 0 && a.has(b.char)
	}, true)
}

// walkGlobs matches the tokens of two globs with each other. A star of a matches any tokens of b; with
// both, a star of b any of a as well.
func walkGlobs(a, b []globToken, one func(a, b globToken) bool, both bool) bool {
	// ends[j] is whether what follows in a matches b from j on.
	ends := make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		now := make([]bool, len(b)+1)
		for j := len(b); j >= 0; j-- {
			starA, starB := i < len(a) && a[i].star, j < len(b) && b[j].star
			switch {
			case i == len(a) && j == len(b):
				now[j] = true
			case starA:
				now[j] = ends[j] || j < len(b) && now[j+1] || starB && both && now[j+1]
			case starB:
				now[j] = both && (now[j+1] || i < len(a) && ends[j])
			case i < len(a) && j < len(b):
				now[j] = one(a[i], b[j]) && ends[j+1]
			}
		}
		ends = now
	}
	return ends[0]
}

// globOf returns the glob that matches the same as a regular expression, if there is one.
func globOf(pattern string) (string, bool) {
	rest, open := strings.TrimPrefix(pattern, "^"), true
	var b strings.Builder
	for rest != "" {
		c := rest[0]
		switch {
		case rest == "$":
			rest, open = "", false
			continue
		case strings.HasPrefix(rest, ".*"):
			b.WriteByte('*')
			rest = rest[2:]
			continue
		case c == '\\' && len(rest) > 1 && strings.IndexByte(".-_", rest[1]) >= 0:
			b.WriteByte(rest[1])
			rest = rest[2:]
		case c == '.':
			b.WriteByte('?')
			rest = rest[1:]
		case c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			b.WriteByte(c)
			rest = rest[1:]
		default:
			return "", false
		}
		if rest != "" && strings.IndexByte("*+?{", rest[0]) >= 0 {
			return "", false
		}
	}
	if open {
		b.WriteByte('*')
	}
	return b.String(), true
}
