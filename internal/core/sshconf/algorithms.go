package sshconf

import (
	"slices"
	"strings"
)

// Algorithms returns the algorithms that a list of ssh_config selects: "+a"
// adds to the default, "-a*" removes from it, "^a" moves to the front, "a,b"
// replaces it. Names are patterns that are matched with all. See
// kex_assemble_names of OpenSSH.
func Algorithms(list string, def, all []string) []string {
	if list == "" {
		return def
	}
	op := list[0]
	if strings.IndexByte("+-^", op) < 0 {
		return named(list, all)
	}
	list = list[1:]
	switch op {
	case '-':
		var out []string
		for _, a := range def {
			if !anyPattern(list, a) {
				out = append(out, a)
			}
		}
		return out
	case '+':
		return distinct(def, named(list, all))
	default:
		return distinct(named(list, all), def)
	}
}

// named returns what a comma list of patterns means, in its order.
func named(list string, all []string) (out []string) {
	for pat := range strings.SplitSeq(list, ",") {
		for _, a := range all {
			if Pattern(strings.TrimSpace(pat), a) && !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	return out
}

func anyPattern(list, name string) bool {
	for pat := range strings.SplitSeq(list, ",") {
		if Pattern(strings.TrimSpace(pat), name) {
			return true
		}
	}
	return false
}

func distinct(lists ...[]string) (out []string) {
	for _, l := range lists {
		for _, a := range l {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	return out
}
