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
		if i == 0 {
			switch r {
			case '#', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
				flowIndicator, blockIndicator = true, true
			case '?', ':':
				flowIndicator = true
				blockIndicator = blockIndicator || beforeBlank
			case '-':
				if beforeBlank {
					flowIndicator, blockIndicator = true, true
				}
			}
		} else {
			switch r {
			case ',', '?', '[', ']', '{', '}':
				flowIndicator = true
			case ':':
				flowIndicator = true
				blockIndicator = blockIndicator || beforeBlank
			case '#':
				if afterBlank {
					flowIndicator, blockIndicator = true, true
				}
			}
		}
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
