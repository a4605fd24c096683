package target

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Bounds of compounds.
const (
	maxWords = 20_000 // with groups written out
	maxParen = 1_000  // parentheses within each other
)

// engines are the target types that the letters of a compound stand for.
func engine(letter byte) (tgtType string, ok bool) {
	switch letter {
	case 'G':
		return "grain", true
	case 'P':
		return "grain_pcre", true
	case 'I':
		return "pillar", true
	case 'J':
		return "pillar_pcre", true
	case 'L':
		return "list", true
	case 'S':
		return "ipcidr", true
	case 'E':
		return "pcre", true
	case 'N':
		return "nodegroup", true
	}
	return "", false
}

const letters = "G@ grain, P@ grain_pcre, I@ pillar, J@ pillar_pcre, L@ list, N@ nodegroup, S@ ipcidr, E@ pcre"

// splitWord splits "G@os:Debian" into letter and pattern, and the delimiter,
// which may follow the letters that take one ("G|@os|Debian"). letter is 0 for
// a word without a letter.
func splitWord(word string) (letter byte, delim, pattern string) {
	if len(word) < 3 || strings.IndexByte("GPIJLNSER", word[0]) < 0 {
		return 0, "", word
	}
	rest := word[1:]
	if strings.IndexByte("GPIJ", word[0]) >= 0 {
		// "G@@x" has the delimiter "@".
		_, n := utf8.DecodeRuneInString(rest)
		if n < len(rest) && rest[n] == '@' && len(rest) > n+1 {
			return word[0], rest[:n], rest[n+1:]
		}
	}
	if rest[0] == '@' {
		return word[0], "", rest[1:]
	}
	return 0, "", word
}

func isOperator(word string) bool {
	switch word {
	case "and", "or", "not", "(", ")":
		return true
	}
	return false
}

// compound compiles text, or a list of words.
func (c *compiler) compound(expr value.Value, pillarExact bool) (node, error) {
	words, err := compoundWords(expr)
	if err != nil {
		return nil, err
	}
	return c.expression(words, pillarExact)
}

// compoundWords returns the words of a compound, as they are written.
func compoundWords(expr value.Value) ([]string, error) {
	var words []string
	switch v := expr.(type) {
	case string:
		words = strings.Fields(v)
	case *value.List:
		for _, x := range v.Items {
			words = append(words, value.Str(x))
		}
	case value.Tuple:
		for _, x := range v {
			words = append(words, value.Str(x))
		}
	default:
		s, err := text(expr, "compound")
		if err != nil {
			return nil, err
		}
		words = strings.Fields(s)
	}
	return words, nil
}

// An item is a word of an expression: an operator, or what a word compiled to.
type item struct {
	op   string
	word string
	leaf node
}

// expression compiles the words of a compound. The words of a node group are
// put in its place without parentheses where it names no other group, so that
// "N@x and y" of x "a or b" is "a or (b and y)": as in Salt.
func (c *compiler) expression(words []string, pillarExact bool) (node, error) {
	var items []item
	queue := slices.Clone(words)
	for len(queue) > 0 {
		word := queue[0]
		queue = queue[1:]
		if c.words++; c.words > maxWords {
			return nil, fmt.Errorf("compound target of more than %d words", maxWords)
		}
		if isOperator(word) {
			last := ""
			if len(items) > 0 {
				last = items[len(items)-1].op
			}
			switch {
			case len(items) == 0 && word != "(" && word != "not":
				return nil, fmt.Errorf("Invalid beginning operator: %s", word)
			case len(items) > 0 && last == "(" && (word == "and" || word == "or"):
				return nil, fmt.Errorf("Invalid beginning operator after \"(\": %s", word)
			case len(items) > 0 && word == "not" && last != "and" && last != "or" && last != "(":
				items = append(items, item{op: "and", word: "and"})
			}
			items = append(items, item{op: word, word: word})
			continue
		}
		letter, delim, pattern := splitWord(word)
		if letter == 'N' {
			group, err := c.group(pattern)
			if err != nil {
				return nil, err
			}
			queue = append(slices.Clone(group), queue...)
			continue
		}
		leaf, err := c.word(word, letter, delim, pattern, pillarExact)
		if err != nil {
			return nil, err
		}
		items = append(items, item{word: word, leaf: leaf})
	}
	p := expressionParser{items: items}
	n, err := p.or(0)
	if err == nil && p.i < len(p.items) {
		err = p.unexpected()
	}
	if err != nil {
		return nil, fmt.Errorf("Invalid compound target %q: %w", strings.Join(words, " "), err)
	}
	return n, nil
}

func (c *compiler) word(word string, letter byte, delim, pattern string, pillarExact bool) (node, error) {
	if letter == 0 {
		if len(word) > 2 && word[1] == '@' && word[0] >= 'A' && word[0] <= 'Z' {
			c.warn("%q in the compound target is taken for a glob: there is no engine %q (there are %s)", word, word[:2], letters)
		}
		if strings.HasPrefix(word, "(") != strings.HasSuffix(word, ")") {
			c.warn("%q in the compound target is taken for a glob: parentheses need blanks on both sides", word)
		}
		return glob(word), nil
	}
	tgtType, ok := engine(letter)
	if !ok {
		return nil, fmt.Errorf("Unrecognized target engine %q for target expression %q", string(letter), word)
	}
	if pillarExact && (letter == 'I' || letter == 'J') {
		tgtType = "pillar_exact"
	}
	var n node
	var err error
	if delim == "" {
		delim = value.DefaultDelim
	}
	switch letter {
	case 'G', 'P', 'I', 'J':
		n, err = c.dataNode(pattern, tgtType, delim)
	default:
		n, err = c.compile(pattern, tgtType)
	}
	if err == nil {
		return n, nil
	}
	err = fmt.Errorf("in %q: %w", word, err)
	switch letter {
	case 'G', 'P', 'I', 'J', 'S':
		// To Salt these match nothing, and the rest of the compound counts.
		c.warn("%v; it matches nothing", err)
		return anyOf(nil), nil
	}
	return nil, err
}

type (
	allOf []node
	anyOf []node
	notOf struct{ n node }
)

func (a allOf) match(m *Minion) (bool, error) {
	for _, n := range a {
		if hit, err := n.match(m); !hit || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (a anyOf) match(m *Minion) (bool, error) {
	for _, n := range a {
		if hit, err := n.match(m); hit || err != nil {
			return hit, err
		}
	}
	return false, nil
}

func (n notOf) match(m *Minion) (bool, error) {
	hit, err := n.n.match(m)
	return !hit && err == nil, err
}

// An expressionParser parses with Python's precedence: not, and, or.
type expressionParser struct {
	items []item
	i     int
}

func (p *expressionParser) op() string {
	if p.i < len(p.items) {
		return p.items[p.i].op
	}
	return ""
}

func (p *expressionParser) unexpected() error {
	if p.i >= len(p.items) {
		return fmt.Errorf("unexpected end of expression")
	}
	it := p.items[p.i]
	if it.op == "" {
		for _, w := range []item{it, p.items[max(p.i-1, 0)]} {
			if low := strings.ToLower(w.word); low != w.word && isOperator(low) {
				return fmt.Errorf("unexpected %q (did you mean %q?)", w.word, low)
			}
		}
		return fmt.Errorf("unexpected %q: there is no \"and\" or \"or\" before it", it.word)
	}
	return fmt.Errorf("unexpected %q", it.op)
}

func (p *expressionParser) or(depth int) (node, error) {
	return p.chain("or", depth, p.and, func(ns []node) node { return anyOf(ns) })
}

func (p *expressionParser) and(depth int) (node, error) {
	return p.chain("and", depth, p.not, func(ns []node) node { return allOf(ns) })
}

func (p *expressionParser) chain(op string, depth int, next func(int) (node, error), join func([]node) node) (node, error) {
	var ns []node
	for {
		n, err := next(depth)
		if err != nil {
			return nil, err
		}
		ns = append(ns, n)
		if p.op() != op {
			break
		}
		p.i++
	}
	if len(ns) == 1 {
		return ns[0], nil
	}
	return join(ns), nil
}

func (p *expressionParser) not(depth int) (node, error) {
	switch p.op() {
	case "not":
		p.i++
		n, err := p.not(depth)
		return notOf{n}, err
	case "(":
		if depth > maxParen {
			return nil, fmt.Errorf("more than %d parentheses within each other", maxParen)
		}
		p.i++
		n, err := p.or(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.op() != ")" {
			if p.i >= len(p.items) {
				return nil, fmt.Errorf("a parenthesis is not closed")
			}
			return nil, p.unexpected()
		}
		p.i++
		return n, nil
	}
	if p.i >= len(p.items) || p.items[p.i].op != "" {
		return nil, p.unexpected()
	}
	p.i++
	return p.items[p.i-1].leaf, nil
}

// Node groups.

// group returns the words that a node group stands for.
// Salt: salt/utils/minions.py nodegroup_comp.
func (c *compiler) group(name string) ([]string, error) {
	words, nested, err := c.expand(name, nil)
	if err != nil {
		return nil, err
	}
	if nested {
		return words, nil
	}
	// Without groups in it, it stands for its words as they are.
	own, _ := c.groupWords(name)
	if one := asOneWord(own); one != "" {
		return []string{one}, nil
	}
	return own, nil
}

func (c *compiler) groupWords(name string) ([]string, error) {
	v, ok := c.o.Nodegroups.Get(name)
	if !ok {
		var names []string
		for _, k := range c.o.Nodegroups.Keys() {
			names = append(names, value.Str(k))
		}
		slices.Sort(names)
		hint := source.DidYouMean(name, names)
		if hint == "" {
			if hint = "; there are no nodegroups"; len(names) > 0 {
				hint = "; there are " + strings.Join(names, ", ")
			}
		}
		return nil, fmt.Errorf("unknown nodegroup %q%s", name, hint)
	}
	var words []string
	switch v := v.(type) {
	case string:
		words = strings.Fields(v)
	case *value.List:
		for _, x := range v.Items {
			words = append(words, value.Str(x))
		}
	case value.Tuple:
		for _, x := range v {
			words = append(words, value.Str(x))
		}
	default:
		return nil, fmt.Errorf("Nodegroup '%s' (%s) is neither a string, list nor tuple", name, value.Str(v))
	}
	return words, nil
}

// expand returns the words of a group in parentheses, those of the groups in it
// in their places, and whether there were such.
func (c *compiler) expand(name string, open []string) (out []string, nested bool, err error) {
	if slices.Contains(open, name) {
		return nil, false, fmt.Errorf("nodegroup %q contains itself: %s", name, strings.Join(append(open, name), " → "))
	}
	if len(open) > maxParen {
		return nil, false, fmt.Errorf("more than %d nodegroups within each other", maxParen)
	}
	words, err := c.groupWords(name)
	if err != nil {
		if len(open) > 0 {
			err = fmt.Errorf("in nodegroup %q: %w", open[len(open)-1], err)
		}
		return nil, false, err
	}
	open = append(slices.Clip(open), name)
	out = append(out, "(")
	for _, w := range words {
		if len(w) < 3 || !strings.HasPrefix(w, "N@") {
			out = append(out, w)
			continue
		}
		nested = true
		inner, deep, err := c.expand(w[2:], open)
		if err != nil {
			return nil, false, err
		}
		if one := ""; !deep {
			own, _ := c.groupWords(w[2:])
			if one = asOneWord(own); one != "" {
				inner = []string{one}
			}
		}
		out = append(out, inner...)
		if c.words += len(inner); c.words > maxWords {
			return nil, false, fmt.Errorf("nodegroup %q stands for more than %d words", name, maxWords)
		}
	}
	return append(out, ")"), nested, nil
}

// asOneWord returns the one word that a group of bare ids is: a list, or a
// regular expression where a word looks like one. It is "" for other groups.
func asOneWord(words []string) string {
	regexp := false
	for _, w := range words {
		if isOperator(w) || strings.Contains(w, "*") || len(w) > 1 && w[1] == '@' && w[0] >= 'A' && w[0] <= 'Z' {
			return ""
		}
		regexp = regexp || strings.ContainsAny(w, `([{\?}])`)
	}
	if regexp {
		return "E@" + strings.Join(words, ",")
	}
	return "L@" + strings.Join(words, ",")
}
