package trial

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/host"
	"brine/internal/py/difflib"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/casefile"
)

// goldenOptions write a line for each value, so that a difference is one of lines.
func goldenOptions() yamlsalt.DumpOptions {
	o := yamlsalt.SafeOptions()
	o.FlowStyle, o.Width, o.SortOrdered = yamlsalt.FlowNever, -1, true
	return o
}

// goldenPath is where the low data of a job are kept.
func (w *World) goldenPath(j Job) string {
	return filepath.Join(w.Tree, casefile.Golden, j.Case.Name, j.System+".yml")
}

// golden compares low data with the golden file of a job, or writes it.
func (w *World) golden(j Job, low value.Value, update bool) Check {
	c := Check{Name: "golden"}
	fail := func(err error) Check {
		c.Status, c.Text = Failed, err.Error()
		return c
	}
	text, err := yamlsalt.Dump(low, goldenOptions())
	if err != nil {
		return fail(err)
	}
	path := w.goldenPath(j)
	before, err := w.Host.ReadFile(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return fail(err)
	}
	switch {
	case string(before) == text:
		c.Text = "as in " + w.Name(path)
		return c
	case update:
		if err := w.writeGolden(path, text); err != nil {
			return fail(err)
		}
		c.Text = "wrote " + w.Name(path)
		return c
	case missing:
		return w.noGolden(j, path)
	}
	c.Status, c.Hint = Failed, "if the change is meant, write it with --update"
	c.Pos = source.Pos{File: path, Line: 1}
	diff := difflib.String(difflib.SplitLines(string(before)), difflib.SplitLines(text), w.Name(path), "now")
	c.Text = "the low data differ from the golden file\n" + strings.TrimRight(diff, "\n")
	return c
}

// noGolden is the check of a job without a golden file. A case that has one for another
// system is to have one for this, too.
func (w *World) noGolden(j Job, path string) Check {
	if names, err := w.Host.ReadDir(filepath.Dir(path)); err == nil && len(names) > 0 {
		return Check{Name: "golden", Status: Failed, Text: w.Name(path) + " does not exist, and the case has golden files of other systems", Hint: "write it with --update", Pos: j.Case.Pos}
	}
	return Check{Name: "golden", Status: Skipped, Text: "the case has no golden files: --update writes them"}
}

func (w *World) writeGolden(path, text string) error {
	if err := w.Host.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return w.Host.WriteFile(path, strings.NewReader(text), host.WriteOptions{})
}

// Stale returns the golden files that no case of a suite has.
func (w *World) Stale(s *casefile.Suite) []string {
	known := map[string]bool{}
	for _, c := range s.Cases {
		for _, sys := range c.Systems {
			known[w.goldenPath(Job{c, sys})] = true
		}
	}
	var out []string
	dir := filepath.Join(w.Tree, casefile.Golden)
	cases, err := w.Host.ReadDir(dir)
	if err != nil {
		return nil // there are none
	}
	for _, name := range cases {
		files, err := w.Host.ReadDir(filepath.Join(dir, name))
		if err != nil {
			continue // not a directory
		}
		for _, f := range files {
			if path := filepath.Join(dir, name, f); !known[path] {
				out = append(out, path)
			}
		}
	}
	return out
}

func sortedKeys(m map[string]bool) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// count writes a number with a word.
func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
