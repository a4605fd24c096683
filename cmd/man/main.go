// Command man writes brine's manual pages, one for each command, and the files for
// completion to a directory: man/brine.1, man/brine-call.1 ..., completion/brine.bash,
// _brine and brine.fish.
//
//	man DIRECTORY
//
// The date of the pages is $SOURCE_DATE_EPOCH, in seconds; without it they have that
// of 1980-01-01, so that they are the same each time.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"brine/cmd"
	"brine/cmd/internal/topics"
	"brine/internal/core/version"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: man DIRECTORY")
		os.Exit(64)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	date := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	if text := os.Getenv("SOURCE_DATE_EPOCH"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH=%s is not a number of seconds", text)
		}
		date = time.Unix(n, 0).UTC()
	}
	root := cmd.Commands()
	pages, completion := filepath.Join(dir, "man"), filepath.Join(dir, "completion")
	for _, d := range []string{pages, completion} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	for name, write := range map[string]func(string) error{
		"brine.bash": func(file string) error { return root.GenBashCompletionFileV2(file, true) },
		"_brine":     root.GenZshCompletionFile,
		"brine.fish": func(file string) error { return root.GenFishCompletionFile(file, true) },
	} {
		if err := write(filepath.Join(completion, name)); err != nil {
			return err
		}
	}
	prepare(root)
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: "brine " + version.Number(), Manual: "brine"}
	if err := doc.GenManTree(root, header, pages); err != nil {
		return err
	}
	return addTopics(filepath.Join(pages, "brine.1"))
}

// addTopics puts the topics of the help into the page of brine, before its last section.
func addTopics(file string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	const last = ".SH SEE ALSO"
	before, after, ok := strings.Cut(string(page), last)
	if !ok {
		return fmt.Errorf("%s has no section %q", file, last)
	}
	for _, t := range topics.All() {
		before += t.Roff()
	}
	return os.WriteFile(file, []byte(before+last+after), 0o644)
}

// prepare takes out what differs from build to build, and has cobra's generator,
// which takes texts as Markdown, write them as they are.
func prepare(c *cobra.Command) {
	c.DisableAutoGenTag = true
	c.Use, c.Short, c.Long = escape(c.Use), escape(c.Short), paragraphs(c.Long)
	c.Flags().VisitAll(func(f *pflag.Flag) { f.Usage, f.DefValue = escape(f.Usage), escape(f.DefValue) })
	c.PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Usage, f.DefValue = escape(f.Usage), escape(f.DefValue) })
	for _, sub := range c.Commands() {
		prepare(sub)
	}
}

var marks = strings.NewReplacer(`\`, `\\`, "<", `\<`, ">", `\>`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "#", `\#`, "|", `\|`, "~", `\~`)

// escape keeps Markdown from taking characters as marks.
func escape(text string) string { return marks.Replace(text) }

// paragraphs escapes text, and keeps the lines that are indented as they are.
func paragraphs(text string) string {
	var b strings.Builder
	indented := false
	for line := range strings.Lines(text) {
		now := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		if now != indented && strings.TrimSpace(line) != "" {
			b.WriteByte('\n')
		}
		switch {
		case now:
			b.WriteString("    " + line)
		default:
			b.WriteString(escape(line))
		}
		indented = now || indented && strings.TrimSpace(line) == ""
	}
	return b.String()
}
