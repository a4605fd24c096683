package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/library"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/py/difflib"
	"brine/internal/view/chain"
)

func newEdit(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "edit <chain>",
		Short: "Edit the file of a chain",
		Long: `Edit the file of a chain with the program in VISUAL or EDITOR (default: vi). If
the new text is invalid, or if someone else has changed the chain meanwhile, an
error is shown and the chain is not changed; your text is kept in another file. The
error shows both changes.` + exitStatus,
	}
	return command(a, c, 1, 1, "give the name of one chain", func(ctx context.Context, st *chain.Store, args []string) error {
		_, old, err := library.ReadChain(st, args[0])
		if old == nil { // a chain that is not right can be edited, too
			return err
		}
		dir, err := a.Host.MkdirTemp(os.TempDir(), "brine-chain-")
		if err != nil {
			return err
		}
		path := filepath.Join(dir, args[0]+".yml")
		if err := a.Host.WriteFile(path, strings.NewReader(string(old)), host.WriteOptions{Mode: new(fs.FileMode(0o600))}); err != nil {
			return err
		}
		editor := cmp.Or(a.Getenv("VISUAL"), a.Getenv("EDITOR"), "vi")
		out, err := a.Host.Run(ctx, host.Cmd{Argv: []string{"sh", "-c", editor + ` "$1"`, "sh", path}, Foreground: true, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
		if err == nil && out.Status != 0 {
			err = fmt.Errorf("%s: exit status %d", editor, out.Status)
		}
		var text []byte
		if err == nil {
			text, err = a.Host.ReadFile(path)
		}
		if err == nil && string(text) != string(old) {
			if _, err = chain.Parse(args[0], path, text); err == nil {
				err = st.Write(args[0], old, text)
			}
			if err != nil {
				return &app.StatusError{Status: app.ExitGeneric, Err: conflict(err, text), Hint: "nothing was changed; your text is in " + path}
			}
		}
		_ = a.Host.RemoveAll(dir)
		return err
	})
}

// conflict shows both changes where somebody else has changed a chain that was edited.
func conflict(err error, yours []byte) error {
	c, ok := errors.AsType[*chain.ConflictError](err)
	if !ok {
		return err
	}
	diff := func(text []byte, name string) string {
		return strings.TrimRight(difflib.String(difflib.SplitLines(string(c.Was)), difflib.SplitLines(string(text)), "before", name), "\n")
	}
	if c.Now == nil {
		return fmt.Errorf("%w while you edited it; you have changed:\n%s", err, diff(yours, "yours"))
	}
	return fmt.Errorf("%w while you edited it, so that it is now:\n%s\nand you have changed:\n%s", err, diff(c.Now, "now"), diff(yours, "yours"))
}

func newExport(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "export <chain>", Short: "Print the file of a chain",
		Long:    "Print the file of a chain, a YAML file that 'brine chain import' reads." + exitStatus,
		Example: "  brine chain export deploy-friday > deploy-friday.yml",
	}
	return command(a, c, 1, 1, "give the name of one chain", func(_ context.Context, st *chain.Store, args []string) error {
		_, text, err := library.ReadChain(st, args[0])
		if err != nil {
			return err
		}
		_, err = a.Out.Write(text)
		return err
	})
}

// maxFile bounds the file of a chain that is imported.
const maxFile = 1 << 20

func newImport(a *app.App) *cobra.Command {
	as, replace := "", false
	c := &cobra.Command{
		Use: "import <file>", Short: "Create a chain from a file",
		Long: `Create a chain from a file such as 'brine chain export' prints or, with -, from stdin. It
has the name of the file without .yml, or that of --as. Nothing is written if the file
is not a valid chain, or if there is a chain with the name, unless --replace is given.` + exitStatus,
		Example: `  brine chain import deploy-friday.yml
  brine chain import deploy-friday.yml --as deploy-saturday
  brine chain export deploy-friday -c test | brine chain import - --as deploy-friday --replace -c prod`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yml", "yaml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	c.Flags().StringVar(&as, "as", "", "name of the chain (default: that of the file, without .yml)")
	c.Flags().BoolVar(&replace, "replace", false, "replace a chain with this name")
	return command(a, c, 1, 1, "give the file of one chain, or - for stdin", func(_ context.Context, st *chain.Store, args []string) error {
		file := args[0]
		base := filepath.Base(file)
		name := cmp.Or(as, strings.TrimSuffix(base, filepath.Ext(base)))
		if file == "-" && as == "" {
			return app.Usagef(c, "a chain from stdin needs a name: give --as NAME")
		}
		if err := chain.CheckName(name); err != nil {
			return &app.StatusError{Status: app.ExitUsage, Err: err, Hint: "--as NAME gives the chain another name than that of the file"}
		}
		text, err := read(a, file)
		if err != nil {
			return err
		}
		if file == "-" {
			file = "stdin"
		}
		if _, err := chain.Parse(name, file, text); err != nil {
			return err
		}
		if replace {
			err = st.Replace(name, text)
		} else {
			err = st.Write(name, nil, text)
		}
		if _, exists := errors.AsType[*chain.ExistsError](err); exists {
			return &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "--replace replaces it, --as NAME takes another name"}
		}
		if err == nil {
			fmt.Fprintln(a.Out, printable.Line(st.Path(name)))
		}
		return err
	})
}

// read reads the file of a chain, or stdin.
func read(a *app.App, file string) ([]byte, error) {
	in := io.NopCloser(a.In)
	if file != "-" {
		f, err := a.Host.Open(file)
		if err != nil {
			return nil, err
		}
		in = f
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes: it is not the file of a chain", file, maxFile)
	}
	return text, err
}
