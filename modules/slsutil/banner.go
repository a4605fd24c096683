package slsutil

import (
	"context"
	"strings"
	"unicode/utf8"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// What a banner says where nothing else is given.
const (
	bannerTitle = "THIS FILE IS MANAGED BY SALT - DO NOT EDIT"
	bannerText  = "The contents of this file are managed by Salt. Any changes to this file may be overwritten automatically and without warning."
)

// maxBanner bounds the width of a banner in columns.
const maxBanner = 100000

type bannerArgs struct {
	_           fun.Arguments
	Width       value.Value     `arg:"width,int" default:"72" unit:"columns" doc:"width of the box"`
	Commentchar string          `arg:"commentchar" default:"#" doc:"start of a comment line"`
	Borderchar  string          `arg:"borderchar" default:"#" doc:"character of the first and last line"`
	Blockstart  fun.Opt[string] `arg:"blockstart" doc:"start of a comment block"`
	Blockend    fun.Opt[string] `arg:"blockend" doc:"end of a comment block"`
	Title       fun.Opt[string] `arg:"title" doc:"the first text, centred"`
	Text        fun.Opt[string] `arg:"text" doc:"the second text"`
	Newline     bool            `arg:"newline" default:"False" doc:"end with a newline"`
}

func banner(_ context.Context, c *fun.Call, a *bannerArgs) (fun.Result, error) {
	w := fun.IntOf(a.Width)
	if w > maxBanner {
		return fun.Result{}, fun.Errorf("width must be an integer up to %d, not %s", maxBanner, value.Repr(a.Width))
	}
	width, comment, border := int(w), a.Commentchar, a.Borderchar
	title, text := bannerTitle, bannerText
	if a.Title.Given {
		title = a.Title.V
	}
	if a.Text.Given {
		text = a.Text.V
	}
	left, right := strings.TrimRight(comment, " \t\n"), strings.TrimSpace(comment)
	gutterL, gutterR := left+" ", " "+right
	inner := width - utf8.RuneCountInString(gutterL) - utf8.RuneCountInString(gutterR)
	if inner <= 0 {
		return fun.Result{}, fun.Errorf("Width is too small to render banner")
	}
	if _, n := utf8.DecodeRuneInString(border); n < len(border) {
		border = border[:n]
	}
	edge := comment + repeat(border, width-utf8.RuneCountInString(left)-utf8.RuneCountInString(right)) + right
	spacer := comment + repeat(" ", width-2*utf8.RuneCountInString(comment)) + comment
	var lines []string
	if a.Blockstart.Given {
		lines = append(lines, a.Blockstart.V)
	}
	lines = append(lines, edge, spacer)
	for _, l := range wrap(title, inner) {
		lines = append(lines, gutterL+center(l, inner)+gutterR)
	}
	lines = append(lines, spacer)
	for _, l := range wrap(text, inner) {
		lines = append(lines, gutterL+l+repeat(" ", inner-utf8.RuneCountInString(l))+gutterR)
	}
	lines = append(lines, edge)
	if a.Blockend.Given {
		lines = append(lines, a.Blockend.V)
	}
	s := strings.Join(lines, "\n")
	if a.Newline {
		s += "\n"
	}
	return fun.Value(s)
}

func repeat(s string, n int) string { return strings.Repeat(s, max(n, 0)) }

// center pads s on both sides as Python's str.center.
func center(s string, width int) string {
	pad := width - utf8.RuneCountInString(s)
	if pad <= 0 {
		return s
	}
	left := pad/2 + pad&width&1
	return repeat(" ", left) + s + repeat(" ", pad-left)
}

// wrap breaks text into lines of at most width, as Python's textwrap.wrap: at
// blanks, after hyphens within words, and within words that are too long.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	count := utf8.RuneCountInString
	flush := func() {
		if l := strings.TrimRight(line, " "); l != "" {
			lines = append(lines, l)
		}
		line = ""
	}
	for _, chunk := range chunks(text) {
		blank := strings.TrimLeft(chunk, " ") == ""
		if blank && line == "" && len(lines) > 0 {
			continue
		}
		if count(line)+count(chunk) <= width {
			line += chunk
			continue
		}
		if blank {
			flush()
			continue
		}
		if count(chunk) <= width {
			flush()
			line = chunk
			continue
		}
		for rs := []rune(chunk); len(rs) > 0; {
			room := width - count(line)
			if room <= 0 {
				flush()
				continue
			}
			n := min(room, len(rs))
			line += string(rs[:n])
			rs = rs[n:]
		}
	}
	flush()
	return lines
}

// chunks splits text into words, parts of words up to a hyphen, and the blanks
// between them. Every white space is a blank.
func chunks(text string) []string {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\t\n\v\f\r", r) {
			return ' '
		}
		return r
	}, strings.ReplaceAll(text, "\t", "        "))
	var out []string
	for text != "" {
		n := len(text) - len(strings.TrimLeft(text, " "))
		if n > 0 {
			out = append(out, text[:n])
			text = text[n:]
			continue
		}
		word, _, _ := strings.Cut(text, " ")
		text = text[len(word):]
		start := 0
		for k := 1; k+1 < len(word); k++ {
			if word[k] == '-' && letter(word[k-1]) && letter(word[k+1]) {
				out = append(out, word[start:k+1])
				start = k + 1
			}
		}
		out = append(out, word[start:])
	}
	return out
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 }
