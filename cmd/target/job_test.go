package target_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/target"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// jobOf makes the job of a command line, its words separated by blanks.
func jobOf(t *testing.T, line string) (fun.Job, error) {
	t.Helper()
	c := &cobra.Command{Use: "ssh"}
	o := &target.Options{}
	o.Register(c.Flags())
	if err := c.ParseFlags(strings.Fields(line)); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return o.Job(c, c.Flags().Args())
}

// TestJob: what a command line asks of which targets.
func TestJob(t *testing.T) {
	t.Parallel()
	tenth, err := fun.ParseShare("10%")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		line string
		want fun.Job
		args string // positional and keyword arguments, as Python prints them
	}{
		{"web* test.ping", fun.Job{Tgt: "web*", TgtType: "glob", Fun: "test.ping"}, "[]{}"},
		{"-L a,b test.arg 1 x=[2] y", fun.Job{Tgt: "a,b", TgtType: "list", Fun: "test.arg"}, "[1, 'y']{'x': [2]}"},
		{"-G role:web state.apply -b 25% --batch-wait 1.5", fun.Job{Tgt: "role:web", TgtType: "grain", Fun: "state.apply", Batch: "25%", BatchWait: 1500 * time.Millisecond}, "[]{}"},
		{"-I a|b* state.apply --delimiter |", fun.Job{Tgt: "I|@a|b*", TgtType: "compound", Fun: "state.apply"}, "[]{}"},
		{"-r web1 uptime", fun.Job{Tgt: "web1", TgtType: "glob", Shell: "uptime"}, ""},
		{"-C G@a:b test.ping --subset 2 --failhard --async", fun.Job{Tgt: "G@a:b", TgtType: "compound", Fun: "test.ping", Subset: 2, FailHard: true, Async: true}, "[]{}"},
		{"* test.ping --waves 1,100% --wave-wait 2 --max-failures 10%", fun.Job{
			Tgt: "*", TgtType: "glob", Fun: "test.ping", WaveWait: 2 * time.Second, MaxFailures: &tenth,
		}, "[]{}"},
	} {
		got, err := jobOf(t, tt.line)
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		args := ""
		if got.Args.Kw != nil || got.Args.Pos != nil {
			args = value.Repr(value.NewList(got.Args.Pos...)) + value.Repr(got.Args.Kw)
		}
		if waves := len(got.Waves); strings.Contains(tt.line, "--waves") != (waves == 2) {
			t.Errorf("%s: %d waves", tt.line, waves)
		}
		got.Args, got.Waves = fun.Args{}, nil
		if !reflect.DeepEqual(got, tt.want) || args != tt.args {
			t.Errorf("%s: %+v with %s, want %+v with %s", tt.line, got, args, tt.want, tt.args)
		}
	}
}

// TestJobRefused: what does not go together is a usage error that names the flag.
func TestJobRefused(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                                     "no target was given",
		"test.ping":                            "no function was given, or no target",
		"-L -G x test.ping":                    "-L and -G both say what the target is; give one of them",
		"-G a|b test.ping --delimiter ||":      "--delimiter: it is one character",
		"x test.ping -b 0":                     "",
		"x test.ping --timeout -1":             "--subset, --max-procs, --timeout and --batch-wait cannot be negative",
		"x test.ping --priv-passwd y":          "--priv-passwd would show the passphrase to every user of this machine",
		"x test.ping --max-failures 101%":      "--max-failures: there are no more than 100% of the targets",
		"x test.ping --waves 1 --wave-wait -1": "--wave-wait cannot be negative",
	} {
		job, err := jobOf(t, line)
		var status *app.StatusError
		if !errors.As(err, &status) || status.Status != app.ExitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", line, job, err, want)
		}
	}
}
