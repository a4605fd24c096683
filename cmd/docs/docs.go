// Package docs is brine docs: the handbook, to read, search, write or serve.
package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/view/handbook"
)

type options struct {
	from, dir string
	list      bool
	open      bool
}

// maxHits is how many pages a search prints.
const maxHits = 15

// New returns "brine docs". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "docs [<page> | <word>...]",
		Short: "Read and search the documentation in a browser",
		Long: `Serve the documentation to a browser on this machine, and print its address.
With <page>, the address is that of the page. Other words are searched for: the
matching sections are printed, the best ones first. Press Ctrl-C to stop the
server. It does not need a network, and only this machine can reach it.

Exit status: 0 success; 1 the program does not contain the documentation, nothing
was found, or the server or a file failed; 64 usage error; 130 the server was
stopped by Ctrl-C.`,
		Example: `  brine docs
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
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "it is in releases and in what 'make build' builds; its sources are in the directory docs"}
	}
	return b, err
}

func run(ctx context.Context, a *app.App, c *cobra.Command, o *options, args []string) error {
	switch {
	case o.list && o.dir != "":
		return app.Usagef(c, "--list and --dir exclude each other")
	case (o.list || o.dir != "") && (o.open || len(args) > 0):
		return app.Usagef(c, "--list and --dir are for all pages: they take no words and no --open")
	}
	b, err := book(a, o)
	if err != nil {
		return err
	}
	address := ""
	if len(args) == 1 {
		address, _ = b.Find(args[0])
	}
	switch {
	case o.list:
		for _, p := range b.Pages {
			fmt.Fprintf(a.Out, "%-36s %s\n", p.Name(), p.Title)
		}
		return nil
	case o.dir != "":
		return write(a, b, o.dir)
	case len(args) > 0 && address == "" && o.open:
		return app.Usagef(c, "--open: there is no page %q", strings.Join(args, " "))
	case len(args) > 0 && address == "":
		return search(a, b, strings.Join(args, " "))
	}
	return serve(ctx, a, b, o, address)
}

// search prints what fits the words.
func search(a *app.App, b *handbook.Book, words string) error {
	hits := b.Search(words, maxHits)
	if len(hits) == 0 {
		return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("nothing in the documentation fits %q", words), Hint: "'brine docs --list' lists the pages"}
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
		fmt.Fprintf(a.Err, "brine: 'brine docs %s' serves the first of these\n", hits[0].Name)
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
