// Package saltnames knows the names of the functions of Salt 3006, so that brine
// can say of a function that it lacks whether Salt has it.
package saltnames

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"slices"
	"strings"
	"sync"
)

// Version is the Salt release that the names are of.
const Version = "3006"

// salt3006 has a line for each module: kind, module, functions.
//
//go:embed salt3006.txt.gz
var salt3006 []byte

var modules = sync.OnceValue(func() map[string][]string {
	z, err := gzip.NewReader(bytes.NewReader(salt3006))
	if err != nil {
		panic("the names of Salt's functions are damaged: " + err.Error())
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic("the names of Salt's functions are damaged: " + err.Error())
	}
	all := make(map[string][]string, 1000)
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 2 {
			all[words[0]+" "+words[1]] = words[2:]
		}
	}
	return all
})

// Functions returns the functions of a module of Salt, sorted; nil where Salt has
// no such module. The kind is "state", "execution", "runner" or "wheel".
func Functions(kind, module string) []string { return modules()[kind+" "+module] }

// Has reports whether Salt has the function "module.function" of a kind.
func Has(kind, name string) bool {
	mod, fn, ok := strings.Cut(name, ".")
	if !ok {
		return false
	}
	return slices.Contains(Functions(kind, mod), fn)
}

// ModulesOf returns the names of the modules of a kind, sorted.
func ModulesOf(kind string) []string {
	var names []string
	for key := range modules() {
		if name, ok := strings.CutPrefix(key, kind+" "); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
