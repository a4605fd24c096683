package cmd

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"brine/internal/grains"
)

// version is brine's own, set at link time by a release build.
var version = "0.1.0"

func newVersionCmd(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print brine's version and the Salt version it follows",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.Out, "brine %s%s\nfollows Salt %s\n%s %s/%s\n", version, revision(), grains.SaltVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// addVersionFlag gives a root command --version. A Salt program answers with the
// Salt version that brine follows, which scripts ask for.
func addVersionFlag(root *cobra.Command) {
	root.Version = version
	text := "brine " + version
	if name := root.Name(); name != "brine" {
		text = fmt.Sprintf("%s %s (brine %s)", name, grains.SaltVersion, version)
	}
	root.SetVersionTemplate(text + "\n")
	root.Flags().Bool("version", false, "print the version")
}

// revision names the commit that the binary was built from, where Go knows it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return " (" + s.Value[:12] + ")"
		}
	}
	return ""
}
