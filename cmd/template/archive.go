package template

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/library"
	"brine/internal/view/orchestration"
)

func newExport(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "export <template>",
		Short: "Write the files of an orchestration template as an archive",
		Long: `Write the files of an orchestration template to stdout as a tar archive that 'brine
template import' reads, also one of a package or formula. Kept answers are not in it.

Exit status: 0 success; 1 there is no such template, or it cannot be read; 64 usage
error, also where stdout is a terminal.`,
		Example:     "  brine template export restart_web > restart_web.tar",
		Annotations: map[string]string{"wants": "give the name of one template"},
	}
	return command(a, c, 1, 1, func(_ context.Context, t *library.Templates, args []string) error {
		if f, ok := a.Out.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
			return app.Usagef(c, "an archive is not for a terminal: write it to a file, such as > %s.tar", args[0])
		}
		from, err := orchestration.Find(a.Host, t.Roots, args[0])
		if err != nil {
			return err
		}
		return orchestration.Export(a.Host, from, a.Out)
	})
}

func newImport(a *app.App) *cobra.Command {
	as := ""
	c := &cobra.Command{
		Use:   "import <file>",
		Short: "Create an orchestration template from an archive",
		Long: `Create an orchestration template from a tar archive such as 'brine template export'
writes or, with -, from stdin, in the first directory of file_roots. It may be compressed
by gzip. Nothing is written if there is a template with the name, if the template is not
valid, or if the archive has anything else. 'brine template check' also looks at what the
template applies.

Exit status: 0 success; 1 the archive is not right, the template exists, or it cannot be
written; 64 usage error.`,
		Example: `  brine template import restart_web.tar
  brine template export restart_web -c test | brine template import - --as restart_db -c prod`,
		Annotations: map[string]string{"wants": "give the archive of one template, or - for stdin"},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"tar", "tgz", "gz"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	c.Flags().StringVar(&as, "as", "", "name of the template (default: that in the archive)")
	return command(a, c, 1, 1, func(_ context.Context, t *library.Templates, args []string) error {
		if as != "" {
			if err := orchestration.CheckName(as); err != nil {
				return &app.StatusError{Status: app.ExitUsage, Err: err}
			}
		}
		in := io.NopCloser(a.In)
		if args[0] != "-" {
			f, err := a.Host.Open(args[0])
			if err != nil {
				return err
			}
			in = f
		}
		defer in.Close()
		err := makeFiles(a, t, func(root string) (name string, made []string, err error) {
			return orchestration.Import(a.Host, in, root, as)
		})
		if errors.Is(err, os.ErrExist) {
			return &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "--as NAME takes another name"}
		}
		return err
	})
}
