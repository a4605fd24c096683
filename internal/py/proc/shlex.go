// Package proc has what commands are made of: words and quotes of a POSIX
// shell.
package proc

import (
	"errors"
	"strings"
)

// Errors of Split, in the words of Python's shlex.
var (
	ErrNoClosingQuote = errors.New("No closing quotation")
	ErrNoEscaped      = errors.New("No escaped character")
)

// Split splits a command into words as Python's shlex.split does: blanks
// separate, quotes and backslashes quote, nothing is expanded.
func Split(s string) ([]string, error) {
	var (
		words []string
		word  strings.Builder
		open  bool // a word has begun
	)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\r', '\n':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		case '\'':
			open = true
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return nil, ErrNoClosingQuote
			}
			word.WriteString(s[i+1 : i+1+end])
			i += end + 1
		case '"':
			open = true
			for i++; ; i++ {
				if i >= len(s) {
					return nil, ErrNoClosingQuote
				}
				if s[i] == '"' {
					break
				}
				// Within double quotes a backslash quotes only itself and the
				// quote.
				if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\\' || s[i+1] == '"') {
					i++
				}
				word.WriteByte(s[i])
			}
		case '\\':
			if i+1 >= len(s) {
				return nil, ErrNoEscaped
			}
			open = true
			i++
			word.WriteByte(s[i])
		default:
			open = true
			word.WriteByte(c)
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// Quote returns s as one word of a POSIX shell, as Python's shlex.quote.
func Quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}
