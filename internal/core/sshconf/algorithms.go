package sshconf

import (
	"slices"
	"strings"
)

// Algorithms returns the algorithms that a list of ssh_config means: "+a" adds
// to the default, "-a*" takes away from it, "^a" puts first, "a,b" are the only
// ones. Names are patterns of what is there, all.
// See kex_assemble_names of OpenSSH.
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
