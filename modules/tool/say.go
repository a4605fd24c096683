package tool

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Said is what a program printed, stdout and stderr in the order of writing, and
// its status.
type Said struct {
	Text   string // without line ends at its end
	Status int
}

// Lines returns the lines of the text.
func (s Said) Lines() []string {
	if s.Text == "" {
		return nil
	}
	return strings.Split(s.Text, "\n")
}

// Result returns the text with the status, as functions that hand a program's
// output on return it.
func (s Said) Result() fun.Result { return fun.Result{Value: s.Text, Retcode: s.Status} }

// Merged runs a program in the C locale as cmd.run does. A program that is missing
// or cannot be started is a *fun.CommandError.
func Merged(ctx context.Context, h host.Host, argv ...string) (Said, error) {
	return merged(ctx, h, host.Cmd{Argv: argv})
}

// Look is Merged for a program that changes nothing.
func Look(ctx context.Context, h host.Host, argv ...string) (Said, error) {
	return merged(ctx, h, host.Cmd{Argv: argv, ReadOnly: true})
}

func merged(ctx context.Context, h host.Host, c host.Cmd) (Said, error) {
	c.Env, c.Merge = locale(h.Environ()), true
	out, err := h.Run(ctx, c)
	if ctx.Err() != nil {
		return Said{}, ctx.Err()
	}
	if err != nil {
		return Said{}, fun.Errorf("Unable to run command '%s': %s", strings.Join(c.Argv, " "), host.OSError(err))
	}
	return Said{Text: strings.TrimRight(value.DecodeReplace(out.Stdout), "\r\n"), Status: out.Status}, nil
}

// Need returns an error in Salt's words where a program is missing.
func Need(h host.Host, name string) error {
	if _, err := h.LookPath(name, ""); err != nil {
		return fun.Errorf("The '%s' binary was not found in $PATH.", name)
	}
	return nil
}
