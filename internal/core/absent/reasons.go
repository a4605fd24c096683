//go:build !slim

package absent

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
)

var (
	//go:embed salt.txt
	saltText string
	//go:embed reasons.txt
	reasonText string
)

// reasons are the contents of reasons.txt by kind and name.
var reasons = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	kind, why := "", ""
	for line := range strings.Lines(reasonText) {
		line = strings.TrimSpace(line)
		if of, ok := strings.CutPrefix(line, "of "); ok {
			kind, why = of, ""
			if all[kind] == nil {
				all[kind] = map[string]string{}
			}
			continue
		}
		if rest, ok := strings.CutPrefix(line, "absent "); ok {
			why = rest
			continue
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		for name := range strings.FieldsSeq(line) {
			all[kind][name] = why
		}
	}
	return all
})

// Why returns why brine lacks a module of Salt, or a function "module.function", of
// a kind; "" where nothing is known of that. A reason for a module of states is one
// for the execution module of that name, too, if that has none.
func Why(kind, name string) string {
	if key := Key(kind, name); key != "" {
		kind, name, _ = strings.Cut(key, " ")
		return reasons()[kind][name]
	}
	return ""
}

// Key returns the kind and name of the reason that Why has; "" where it has none.
func Key(kind, name string) string {
	kinds := []string{kind}
	if kind == "execution" {
		kinds = append(kinds, "state")
	}
	for _, k := range kinds {
		names := []string{name, module(name)}
		if k != kind && strings.Contains(name, ".") {
			names = names[1:] // functions of the same name are something else
		}
		for _, n := range names {
			if reasons()[k][n] != "" {
				return k + " " + n
			}
		}
	}
	return ""
}

// Names returns the modules of Salt of a kind without functions, sorted.
func Names(kind string) []string {
	for line := range strings.Lines(saltText) {
		if words := strings.Fields(line); words[0] == kind {
			return words[1:]
		}
	}
	return nil
}

// Listed returns what has reasons of a kind, sorted.
func Listed(kind string) []string { return slices.Sorted(maps.Keys(reasons()[kind])) }
