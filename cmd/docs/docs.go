// Package docs is brine docs: the handbook, to read, search, write or serve.
package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/internal/columns"
	"brine/cmd/internal/pagetext"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/py/source"
	"brine/internal/view/handbook"
)

type options struct {
	from, dir string
	list      bool
	open      bool
	text      bool
	serve     bool
}

// maxHits is how many pages a search prints.
const maxHits = 15

// New returns "brine docs". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "docs [<page> | <word>...]",
		Short: "Read and search the documentation",
		Long: `Read the documentation. Without an argument, it is served to a browser on this
machine, and its address is printed. <page> is printed as text if there is no
desktop, if stdout is not a terminal, or with --text; on a terminal, $PAGER shows
it. <page>#<anchor> is a part of a page. Otherwise <page> is served as well. Other
words are searched for: the matching sections are printed, the best ones first.
Press Ctrl-C to stop the server. It does not need a network, and only this machine
can reach it.

Exit status: 0 success; 1 the program does not contain the documentation, nothing
was found, or the server, the pager or a file failed; 64 usage error; 130 the server
was stopped by Ctrl-C.`,
		Example: `  brine docs
  brine docs tutorial
  brine docs ssh/roster --text
  brine docs tutorial --open
  brine docs jump host
  brine docs --list
  brine docs --dir /srv/www/brine`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			b, err := book(a, o)
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, p := range b.Pages {
				names = append(names, p.Name())
			}
			return app.Begins(names, prefix), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return run(c.Context(), a, c, o, args)
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	f := c.Flags()
	f.BoolVar(&o.open, "open", false, "open the page in the browser of this desktop")
	f.BoolVar(&o.text, "text", false, "print the page as text, also where there is a browser")
	f.BoolVar(&o.serve, "serve", false, "serve the page to a browser, also where there is no desktop")
	f.BoolVar(&o.list, "list", false, "list the pages")
	f.StringVar(&o.dir, "dir", "", "write the pages to a directory instead; they also work as files")
	f.StringVar(&o.from, "from", "", "archive of the documentation, as 'make docs' writes it (default: the one in this program)")
	return c
}

// book returns the documentation.
func book(a *app.App, o *options) (*handbook.Book, error) {
	if o.from != "" {
		text, err := a.Host.ReadFile(o.from)
		if err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
		return handbook.Read(bytes.NewReader(text))
	}
	b, err := handbook.Embedded()
	if errors.Is(err, handbook.ErrNone) {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "it is in releases and in what 'make build' builds; of a clone, 'make docs' writes dist/docs.xz, which --from reads"}
	}
	return b, err
}

// check returns the fault of flags that exclude each other.
func check(c *cobra.Command, o *options, args []string) error {
	switch {
	case o.list && o.dir != "":
		return app.Usagef(c, "--list and --dir exclude each other")
	case (o.list || o.dir != "") && (o.open || o.text || o.serve || len(args) > 0):
		return app.Usagef(c, "--list and --dir are for all pages: they take no words and no --open, --text and --serve")
	case o.text && (o.open || o.serve):
		return app.Usagef(c, "--text excludes --open and --serve")
	case o.text && len(args) == 0:
		return app.Usagef(c, "--text: which page? 'brine docs --list' lists them")
	}
	return nil
}

func run(ctx context.Context, a *app.App, c *cobra.Command, o *options, args []string) error {
	if err := check(c, o, args); err != nil {
		return err
	}
	b, err := book(a, o)
	if err != nil {
		return err
	}
	switch {
	case o.list:
		for _, p := range b.Pages {
			fmt.Fprintf(a.Out, "%-36s %s\n", p.Name(), p.Title)
		}
		return nil
	case o.dir != "":
		return write(a, b, o.dir)
	case len(args) == 0:
		return serve(ctx, a, b, o, "")
	}
	words := strings.Join(args, " ")
	address, found := "", false
	if len(args) == 1 {
		address, found = b.Find(args[0])
	}
	switch {
	case !found && (o.open || o.text || o.serve || len(args) == 1 && namesPage(args[0])):
		return noPage(b, words)
	case !found:
		return search(a, b, words)
	case o.open || o.serve || !o.text && browser(a):
		return serve(ctx, a, b, o, address)
	}
	name, anchor, _ := strings.Cut(address, "#")
	return show(ctx, a, pagetext.Render(b.Page(name), anchor, columns.Width(a.Out, a.Getenv)))
}

// namesPage reports whether a word can only be the name of a page.
func namesPage(word string) bool {
	return strings.ContainsAny(word, "/#") || strings.HasSuffix(word, ".md") || strings.HasSuffix(word, ".html")
}

// noPage is the fault of a name that no page has. It names the nearest page, or the
// nearest part of the page.
func noPage(b *handbook.Book, name string) error {
	page, anchor, _ := strings.Cut(name, "#")
	if address, ok := b.Find(page); ok && anchor != "" {
		near := ""
		if n, ok := source.Nearest(anchor, b.Page(address).Anchors()); ok {
			near = fmt.Sprintf(" (did you mean %q?)", page+"#"+n)
		}
		return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("the page %s has no part %q%s", page, anchor, near), Hint: fmt.Sprintf("'brine docs %s' prints all of it", page)}
	}
	return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("there is no page %q%s", name, nearPage(b, page)), Hint: "'brine docs --list' lists the pages; without flags, words are searched for"}
}

// nearPage returns the nearest name of a page as a question, "" where none is near.
func nearPage(b *handbook.Book, name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md"), ".html")
	var names, last []string
	full := map[string]string{}
	for _, p := range b.Pages {
		if strings.HasSuffix(p.Name(), "/"+name) {
			return fmt.Sprintf(" (did you mean %q?)", p.Name())
		}
		names = append(names, p.Name())
		if base := path.Base(p.Name()); full[base] == "" {
			last, full[base] = append(last, base), p.Name()
		}
	}
	if n, ok := source.Nearest(name, names); ok {
		return fmt.Sprintf(" (did you mean %q?)", n)
	}
	if n, ok := source.Nearest(path.Base(name), last); ok {
		return fmt.Sprintf(" (did you mean %q?)", full[n])
	}
	return ""
}

// browser reports whether a person sits at a desktop on this machine.
func browser(a *app.App) bool {
	if !a.Terminal {
		return false
	}
	if runtime.GOOS == "darwin" {
		return a.Getenv("SSH_CONNECTION") == ""
	}
	if a.Getenv("DISPLAY") == "" && a.Getenv("WAYLAND_DISPLAY") == "" {
		return false
	}
	_, err := a.Host.LookPath("xdg-open", a.Getenv("PATH"))
	return err == nil
}

// show prints a text; on a terminal, a pager does.
func show(ctx context.Context, a *app.App, text string) error {
	pager := strings.TrimSpace(a.Getenv("PAGER"))
	if pager == "" {
		if _, err := a.Host.LookPath("less", a.Getenv("PATH")); err == nil {
			pager = "less"
		}
	}
	if !a.Terminal || pager == "" || pager == "cat" || a.Getenv("TERM") == "dumb" {
		_, err := io.WriteString(a.Out, text)
		return err
	}
	dir, err := a.Host.MkdirTemp(os.TempDir(), "brine-docs-")
	if err != nil {
		return err
	}
	defer func() { _ = a.Host.RemoveAll(dir) }()
	file, mode := filepath.Join(dir, "page.txt"), fs.FileMode(0o600)
	if err := a.Host.WriteFile(file, strings.NewReader(text), host.WriteOptions{Mode: &mode}); err != nil {
		return err
	}
	// F: what fits on the screen is only printed.
	script := `LESS=${LESS-FRX}; export LESS; (` + pager + `) <"$1"`
	out, err := a.Host.Run(ctx, host.Cmd{Argv: []string{"sh", "-c", script, "sh", file}, Verbatim: true, ReadOnly: true, Foreground: true, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
	if err == nil && out.Status != 0 {
		return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("PAGER: %s: exit status %d", pager, out.Status), Hint: "'brine docs PAGE | cat' prints without a pager"}
	}
	return err
}

// search prints what fits the words.
func search(a *app.App, b *handbook.Book, words string) error {
	hits := b.Search(words, maxHits)
	if len(hits) == 0 {
		return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("nothing in the documentation fits %q%s", words, nearPage(b, words)), Hint: "'brine docs --list' lists the pages"}
	}
	for _, h := range hits {
		title := h.Title
		if title != h.Page {
			title = h.Page + ": " + title
		}
		fmt.Fprintf(a.Out, "%s\n    %s\n", h.Name, title)
		if h.Text != "" {
			fmt.Fprintf(a.Out, "    %s\n", h.Text)
		}
	}
	if a.Terminal {
		fmt.Fprintf(a.Err, "brine: 'brine docs %s' shows the first of these\n", hits[0].Name)
	}
	return nil
}

// write writes the site to a directory.
func write(a *app.App, b *handbook.Book, dir string) error {
	mode := fs.FileMode(0o644)
	for _, name := range b.Files() {
		text, _ := b.File(name)
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := a.Host.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("--dir: %w", err)
		}
		if err := a.Host.WriteFile(file, bytes.NewReader(text), host.WriteOptions{Mode: &mode}); err != nil {
			return fmt.Errorf("--dir: %w", err)
		}
	}
	fmt.Fprintf(a.Err, "brine: the first page is %s\n", printable.Line(filepath.Join(dir, "index.html")))
	return nil
}

// serve serves the site until Ctrl-C.
func serve(ctx context.Context, a *app.App, b *handbook.Book, o *options, address string) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	url := "http://" + l.Addr().String() + "/" + strings.TrimSuffix(address, "index.html")
	fmt.Fprintln(a.Out, url)
	fmt.Fprintln(a.Err, "brine: the documentation is at this address; Ctrl-C ends it")
	if o.open {
		remove, err := a.OpenBrowser(url)
		if err != nil {
			fmt.Fprintf(a.Err, "brine: warning: --open: %s\n", printable.Line(err.Error()))
		}
		defer remove()
	}
	if err := b.Serve(ctx, l); err != nil {
		return err
	}
	return app.ErrInterrupted
}
