package tool

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
)

// Accounts runs the tools that change accounts, such as useradd.
type Accounts struct {
	Host host.Host
	Root string       // a directory to work in, "" is the machine itself
	Log  *slog.Logger // gets the messages of tools that fail; nil discards them
	// Status is the exit status of the last tool that ran.
	Status int
}

// OnAccounts returns the Accounts of a call.
func OnAccounts(c *fun.Call, root string) Accounts {
	return Accounts{Host: c.Env.Host, Root: root, Log: c.Env.Log()}
}

// Run runs a tool to its end. flag is how the tool names the directory to work in.
// Errors name the program alone: its arguments may be secret.
func (a *Accounts) Run(ctx context.Context, stdin io.Reader, flag string, argv ...string) (Out, error) {
	if a.Root != "" {
		argv = slices.Insert(argv, 1, flag, a.Root)
	}
	out, err := RunWith(ctx, a.Host, Options{Accounts: true, Stdin: stdin, Name: argv[0]}, argv...)
	if err != nil {
		return out, err
	}
	a.Status = out.Status
	if !out.OK() && a.Log != nil {
		a.Log.Error(argv[0]+" failed", "status", out.Status, "message", strings.TrimSpace(out.Stderr))
	}
	return out, nil
}

// Changed is the return of a change; one that failed has the exit status of the tool.
func (a *Accounts) Changed(ok bool, err error) (fun.Result, error) {
	res := fun.Result{Value: ok}
	if !ok {
		res.Retcode = a.Status
	}
	return res, err
}
