package ui

import (
	"net/url"
	"slices"
	"strings"

	"brine/internal/view/orchestration"
)

// The kinds of targets that a form offers: the letter that stands before the @ of
// an expression, and what it is called.
var targetKinds = [][2]string{
	{"", "Glob, or an expression"}, {"L", "List of IDs"}, {"G", "Grain"}, {"N", "Nodegroup"}, {"E", "Regular expression"}, {"I", "Pillar"}, {"S", "Network"}, {"C", "Compound"},
}

// kindsFor are the kinds of targets that a form offers for a target that takes some
// types of expressions; none are all.
func kindsFor(types []string) (out [][2]string) {
	if len(types) == 0 {
		return targetKinds
	}
	for _, k := range targetKinds[1:] {
		if slices.Contains(types, orchestration.ParseExpr(k[0]+"@x").Type) {
			out = append(out, k)
		}
	}
	if len(out) < len(types) { // globs, or what has to be written as an expression
		out = slices.Insert(out, 0, targetKinds[0])
	}
	return out
}

// splitTarget takes the kind out of an expression, if a form offers it.
func splitTarget(expr string) (kind, text string) {
	if letter, rest, ok := strings.Cut(expr, "@"); ok && rest != "" && letter != "" {
		for _, k := range targetKinds {
			if k[0] == letter {
				return letter, rest
			}
		}
	}
	return "", expr
}

// targetOf is the expression that the inputs of a form with a name have. A kind
// that is chosen and typed as well counts once.
func targetOf(f url.Values, name string) string {
	text, kind := strings.TrimSpace(f.Get(name)), f.Get(kindInput(name))
	if text == "" || kind == "" {
		return text
	}
	if e := orchestration.ParseExpr(text); e.Text != text && e.Type == orchestration.ParseExpr(kind+"@x").Type {
		return text
	}
	return kind + "@" + text
}

// kindInput is the name of the input with the kind of targets.
func kindInput(name string) string { return "kind:" + name }
