// Package cmdtest runs commands of brine without a process.
package cmdtest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/host"
)

// New returns an App with an environment, and what is written to it. PWD and PATH of the
// environment are those of its machine, which is this one otherwise.
func New(env map[string]string) (a *app.App, out, errs *bytes.Buffer) {
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return &app.App{
		In: strings.NewReader(""), Out: out, Err: errs, Program: "brine", Intr: &app.Interrupt{},
		Getenv: func(k string) string { return env[k] }, Host: &placed{host.NewLocal(), env["PWD"], env["PATH"]},
	}, out, errs
}

// Execute runs a command line of brine whose first word is the command.
func Execute(a *app.App, c *cobra.Command, args ...string) error {
	root := &cobra.Command{Use: "brine", SilenceUsage: true, SilenceErrors: true}
	root.SetFlagErrorFunc(app.FlagError)
	app.AddCommands(root, c)
	a.Args = args
	root.SetArgs(args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	return root.ExecuteContext(context.Background())
}

// Run runs a command line of brine whose first word is the command that makes returns.
func Run(t *testing.T, env map[string]string, makes func(*app.App) *cobra.Command, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	a, out, errs := New(env)
	for k, v := range env {
		if err := a.Host.Setenv(k, v); err != nil {
			t.Fatal(err)
		}
	}
	status = a.Report(Execute(a, makes(a), args...))
	return status, out.String(), errs.String()
}

// A Usage is a command line and the error that it is refused with; "" is none.
type Usage struct {
	Args []string
	Want string
}

// Check runs command lines and compares their errors. makes returns the command.
func Check(t *testing.T, makes func(*app.App) *cobra.Command, usages []Usage) {
	t.Helper()
	for _, u := range usages {
		a, _, errs := New(nil)
		err := Execute(a, makes(a), u.Args...)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != u.Want {
			t.Errorf("brine %s: %q, want %q (%s)", strings.Join(u.Args, " "), got, u.Want, errs)
		}
		if status := a.Report(err); (status == app.ExitUsage) != (u.Want != "") {
			t.Errorf("brine %s: status %d", strings.Join(u.Args, " "), status)
		}
	}
}

// Write writes a file with its directories, and returns its path.
func Write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// placed is a machine with another working directory and PATH.
type placed struct {
	*host.Local
	wd, path string
}

func (p *placed) Getwd() (string, error) { return p.wd, nil }

func (p *placed) LookPath(name, _ string) (string, error) { return p.Local.LookPath(name, p.path) }
