package session

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/py/value"
)

// RefuseLogin refuses --eauth where external_auth is set: brine has no login, and the
// permissions of that user would not hold.
func (s *Session) RefuseLogin(c *cobra.Command) error {
	for _, name := range [...]string{"eauth", "make-token"} {
		if f := c.Flags().Lookup(name); f != nil && f.Changed && value.Truth(s.Cfg.Opts.At("external_auth")) {
			return &app.StatusError{
				Status: app.ExitUsage, Err: fmt.Errorf("--%s: external_auth says what those may do who log in to a master, which brine does not have", name),
				Hint: "run without it, with the permissions of who starts brine, or let people use brine ui: see 'brine docs ui'",
			}
		}
	}
	return nil
}

// WarnNoEffect names the given flags that have no effect, unless the log level
// hides warnings.
func (s *Session) WarnNoEffect(c *cobra.Command, p app.SaltProgs) {
	if s.Level > slog.LevelWarn {
		return
	}
	for _, x := range app.NoEffect {
		if x.Progs&p != 0 && c.Flags().Changed(x.Name) {
			fmt.Fprintf(s.App.Err, "brine: --%s has no effect: %s\n", x.Name, x.Why)
		}
	}
}
