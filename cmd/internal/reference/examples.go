// Package reference documents the functions of the table: an example for each,
// and the generated pages, docs/reference and the tables of
// docs/compatibility. Start at [Example] and [Pages].
//
// The examples are data files and not part of the rows, so that an agent, which
// shows no documentation, does not contain them.
package reference

import (
	"embed"
	"io/fs"
	"path"
	"strings"
	"sync"

	"brine/internal/core/fun"
)

// examples has a file for each module, examples/KIND/MODULE.txt. A line
// "-- FUNCTION --" begins the example of a function, "-- FUNCTION PROVIDER --"
// that of one provider of a virtual module, where it differs.
//
//go:embed examples
var examples embed.FS

// dirs are the directories of the kinds, here and in docs/reference.
var dirs = [...]string{fun.Exec: "modules", fun.State: "states", fun.Runner: "runners", fun.Wheel: "wheel"}

var parsed = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	// The embedded files can be read.
	_ = fs.WalkDir(examples, "examples", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := examples.ReadFile(name)
		all[strings.TrimSuffix(strings.TrimPrefix(name, "examples/"), ".txt")] = parseExamples(string(text))
		return err
	})
	return all
})

// parseExamples returns the examples of a file by "FUNCTION" and "FUNCTION PROVIDER".
func parseExamples(text string) map[string]string {
	byName := map[string]string{}
	name := ""
	for line := range strings.Lines(text) {
		if inner, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "-- "); ok && strings.HasSuffix(inner, " --") {
			name = strings.TrimSuffix(inner, " --")
			byName[name] = ""
			continue
		}
		byName[name] += line
	}
	for name, text := range byName {
		byName[name] = strings.TrimRight(text, "\n")
	}
	return byName
}

// Example returns an example of a module's function: the SLS of a state; for
// the other kinds command lines without the leading "brine". It is "" for a
// function that has none, such as one of a custom module.
func Example(mod *fun.Module, function string) string {
	of := parsed()[path.Join(dirs[mod.Kind], mod.Name)]
	if text, ok := of[function+" "+mod.Provider]; ok {
		return text
	}
	return of[function]
}

// ExampleNames returns the names in the file of a module, "FUNCTION" or
// "FUNCTION PROVIDER", and modules that have a file as "KIND/MODULE".
func ExampleNames() map[string][]string {
	out := map[string][]string{}
	for module, of := range parsed() {
		for name := range of {
			out[module] = append(out[module], name)
		}
	}
	return out
}
