package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/call"
	"brine/internal/core/grains"
	"brine/internal/core/version"
)

// errVersion ends a command that was asked for its version.
var errVersion = errors.New("the version is printed")

// addVersionFlag gives the command that is to run --version and --versions-report. A
// Salt program answers with the Salt version that brine follows, which scripts ask for,
// and its -V is --versions-report; -V of brine and of its commands is --version, unless
// the command has its own. cobra's own version flag would link its templates.
func addVersionFlag(a *app.App, root, c *cobra.Command) {
	f := c.Flags()
	add := func(name, short, usage string) {
		if f.Lookup(name) != nil {
			return
		}
		if f.ShorthandLookup(short) != nil {
			short = ""
		}
		f.BoolP(name, short, false, usage)
		if c != root { // help has it once, with brine
			_ = f.MarkHidden(name)
		}
	}
	if root.Name() == "brine" {
		add("version", "V", "print the version")
		if c != root {
			add("versions-report", "", "print the versions of Salt and of the system")
		}
	} else {
		add("version", "", "print the version")
		add("versions-report", "V", "print the versions of Salt and of the system")
	}
	valid := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if asked, _ := c.Flags().GetBool("version"); asked {
			text := "brine " + version.Number()
			if name := root.Name(); name != "brine" {
				text = fmt.Sprintf("%s %s (brine %s)", name, grains.SaltVersion, version.Number())
			}
			if _, err := fmt.Fprintln(a.Out, text); err != nil {
				return err
			}
			return errVersion
		}
		if asked, _ := c.Flags().GetBool("versions-report"); asked {
			if err := call.VersionsReport(c.Context(), a, c); err != nil {
				return err
			}
			return errVersion
		}
		if valid == nil {
			return nil
		}
		return valid(c, args)
	}
}
