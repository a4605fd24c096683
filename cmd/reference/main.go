// Command reference writes what is generated in docs: the pages of docs/reference
// the tables of docs/compatibility, the rules in docs/lint.md, the options in
// docs/configuration.md, and the pages of the topics of the help.
//
//go:generate go run . ../../docs
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"brine/cmd/assembly"
	"brine/cmd/internal/reference"
	"brine/cmd/internal/topics"
	"brine/internal/core/absent"
	"brine/internal/core/config/options"
	"brine/internal/view/lint"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./cmd/reference docs")
		os.Exit(64)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// write brings the generated files under docs up to date.
func write(docs string) error {
	files, err := generate(docs)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(docs, "reference")); err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(docs, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the generated files by their paths under docs.
func generate(docs string) (map[string]string, error) {
	table := assembly.Table()
	files := map[string]string{}
	for name, text := range reference.Pages(table) {
		files["reference/"+name] = text
	}
	for _, t := range topics.All() {
		files[t.Name+".md"] = t.Markdown()
	}
	tables, err := reference.Tables(table, assembly.Offers)
	if err != nil {
		return nil, err
	}
	// The tables have links to pages beside a directory of docs.
	up := strings.NewReplacer("](reference/", "](../reference/").Replace
	parts := []struct{ page, name, text string }{
		{"lint.md", "rules", lint.Page()},
		{"configuration.md", "options", options.Page()},
		{"compatibility/states.md", "state functions", up(tables["state functions"])},
		{"compatibility/functions.md", "execution functions", up(tables["execution functions"])},
		{"compatibility/runners.md", "runner functions", up(tables["runner functions"])},
		{"compatibility/runners.md", "wheel functions", up(tables["wheel functions"])},
	}
	for _, kind := range absent.Kinds() {
		parts = append(parts, struct{ page, name, text string }{"compatibility/modules.md", kind, up(tables[kind])})
	}
	for _, part := range parts {
		page, ok := files[part.page]
		if !ok {
			b, err := os.ReadFile(filepath.Join(docs, part.page))
			if err != nil {
				return nil, err
			}
			page = string(b)
		}
		if files[part.page], err = insert(page, part.name, part.text); err != nil {
			return nil, fmt.Errorf("%s: %w", part.page, err)
		}
	}
	return files, nil
}

// insert puts a generated part into a page: between the comments
// <!-- begin NAME --> and <!-- end NAME -->.
func insert(page, name, text string) (string, error) {
	before, rest, ok := strings.Cut(page, "<!-- begin "+name)
	end := "<!-- end " + name + " -->"
	if !ok {
		return "", fmt.Errorf("there is no comment %q", "begin "+name)
	}
	open, rest, _ := strings.Cut(rest, "-->\n")
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("there is no comment %q", "end "+name)
	}
	return before + "<!-- begin " + name + open + "-->\n" + text + end + after, nil
}
