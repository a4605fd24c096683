// Package cmdtest runs commands of brine without a process.
package cmdtest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/host"
)

// newApp returns an App with an environment, and what is written to it. PWD and PATH of the
// environment are those of its machine, which is this one otherwise.
func newApp(env map[string]string) (a *app.App, out, errs *bytes.Buffer) {
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return &app.App{
		In: strings.NewReader(""), Out: out, Err: errs, Program: "brine", Intr: &app.Interrupt{},
		Getenv: func(k string) string { return env[k] }, Host: &placed{host.NewLocal(), env["PWD"], env["PATH"]},
	}, out, errs
}

// execute runs a command line of brine whose first word is the command.
func execute(a *app.App, c *cobra.Command, args ...string) error {
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
	a, out, errs := newApp(env)
	for k, v := range env {
		if err := a.Host.Setenv(k, v); err != nil {
			t.Fatal(err)
		}
	}
	status = a.Report(execute(a, makes(a), args...))
	return status, out.String(), errs.String()
}

// A Case is a command line, its words separated by blanks, and what it means.
type Case[O any] struct {
	Args string
	Set  func(*O) // the options that its flags change
	Rest string   // its arguments without flags
	Err  string   // with which it is refused
}

// Flags compares the options and arguments of command lines; nothing is run. The first one
// has no flags, and what the others change is compared with its options.
func Flags[O any](t *testing.T, makes func(*app.App, func(context.Context, *O, []string) error) *cobra.Command, cases []Case[O]) {
	t.Helper()
	var none O
	for i, tt := range cases {
		a, _, _ := newApp(nil)
		var got *O
		var rest []string
		err := execute(a, makes(a, func(_ context.Context, o *O, args []string) error {
			got, rest = o, args
			return nil
		}), strings.Fields(tt.Args)...)
		if tt.Err != "" || err != nil {
			refused(t, a, tt.Args, err, tt.Err)
			continue
		}
		if i == 0 {
			none = *got
		}
		want := none
		if tt.Set != nil {
			tt.Set(&want)
		}
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("brine %s: %+v, want %+v", tt.Args, *got, want)
		}
		if r := strings.Join(rest, " "); r != tt.Rest {
			t.Errorf("brine %s: the arguments are %q, want %q", tt.Args, r, tt.Rest)
		}
	}
}

// refused compares the error of a command line, which is a usage fault.
func refused(t *testing.T, a *app.App, args string, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if status := a.Report(err); got != want || status != app.ExitUsage {
		t.Errorf("brine %s: status %d, %q, want %q", args, status, got, want)
	}
}

// Refuses runs command lines, their words separated by blanks, that are usage faults, and
// compares the errors. The configuration is empty.
func Refuses(t *testing.T, makes func(*app.App) *cobra.Command, errs map[string]string) {
	t.Helper()
	dir := t.TempDir()
	Write(t, filepath.Join(dir, "master"), "cachedir: "+dir+"/cache\n", 0o644)
	Write(t, filepath.Join(dir, "minion"), "cachedir: "+dir+"/cache\n", 0o644)
	for args, want := range errs {
		a, _, _ := newApp(map[string]string{"PWD": dir, "PATH": os.Getenv("PATH")})
		for k, v := range map[string]string{"HOME": dir, "BRINE_CONFIG_DIR": dir} {
			if err := a.Host.Setenv(k, v); err != nil {
				t.Fatal(err)
			}
		}
		refused(t, a, args, execute(a, makes(a), strings.Fields(args)...), want)
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
