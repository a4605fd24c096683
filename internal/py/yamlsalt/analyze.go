package yamlsalt

import (
	"strings"
	"unicode/utf8"
)

// An analysis says how the text of a scalar may be written.
type analysis struct {
	multiline             bool
	flowPlain, blockPlain bool
	singleQuoted          bool
	block                 bool // | and >
}

// isPrintable is libyaml's: tabs and all beyond the basic plane are escaped.
func isPrintable(r rune) bool {
	return r == '\n' || r >= ' ' && r <= '~' || r >= 0xa0 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd && r != 0xfeff
}

func analyze(s string, unicode bool) analysis {
	if s == "" {
		return analysis{blockPlain: true, singleQuoted: true}
	}
	var flowIndicator, blockIndicator, lineBreak, special bool
	var leading, trailingSpace, trailingBreak, breakSpace, spaceBreak bool
	var wasSpace, wasBreak bool
	if strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") {
		flowIndicator, blockIndicator = true, true
	}
	afterBlank := true
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		next := i + n
		beforeBlank := next >= len(s) || s[next] == ' ' || s[next] == '\t' || breakAt(s, next) > 0
		inFlow, inBlock := indicator(r, i == 0, afterBlank, beforeBlank)
		flowIndicator, blockIndicator = flowIndicator || inFlow, blockIndicator || inBlock
		isBreak := isBreakRune(r)
		if !isPrintable(r) || r >= utf8.RuneSelf && !unicode {
			special = true
		}
		switch {
		case r == ' ':
			leading = leading || i == 0
			trailingSpace = next == len(s)
			breakSpace = breakSpace || wasBreak
			wasSpace, wasBreak = true, false
		case isBreak:
			lineBreak = true
			leading = leading || i == 0
			trailingBreak = next == len(s)
			spaceBreak = spaceBreak || wasSpace
			wasSpace, wasBreak = false, true
		default:
			wasSpace, wasBreak = false, false
		}
		afterBlank = r == ' ' || r == '\t' || isBreak
		i = next
	}
	plain := !leading && !trailingSpace && !trailingBreak && !breakSpace && !spaceBreak && !special && !lineBreak
	return analysis{
		multiline:    lineBreak,
		flowPlain:    plain && !flowIndicator,
		blockPlain:   plain && !blockIndicator,
		singleQuoted: !breakSpace && !spaceBreak && !special,
		block:        !trailingSpace && !spaceBreak && !special,
	}
}

// indicator reports whether a character, the first of the text or between
// blanks, has a meaning of its own in flow and in block context.
func indicator(r rune, first, afterBlank, beforeBlank bool) (flow, block bool) {
	if first {
		switch r {
		case '#', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
			return true, true
		case '?', ':':
			return true, beforeBlank
		case '-':
			return beforeBlank, beforeBlank
		}
		return false, false
	}
	switch r {
	case ',', '?', '[', ']', '{', '}':
		return true, false
	case ':':
		return true, beforeBlank
	case '#':
		return afterBlank, afterBlank
	}
	return false, false
}
