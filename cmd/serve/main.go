package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"brine/internal/core/grains"
	"brine/internal/core/host"
	"brine/internal/core/python/wire"
	"brine/internal/core/render"
	"brine/internal/core/star"
	"brine/internal/core/version"
)

// Exit statuses, as of brine.
const (
	exitFailed = 1
	exitUsage  = 64
)

// Main is the command line of a slim agent. It returns the exit status.
func Main() int { return run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr) }

func run(args []string, in io.Reader, out, errs io.Writer) int {
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case "agent":
		return agent(args[1:], in, out, errs)
	case render.PongoCommand:
		return render.ServePongo(in, out, errs)
	case wire.Starlark:
		return star.Serve(in, out, errs)
	case "version", "--version":
		if err := Version(out); err != nil {
			return exitFailed
		}
		return 0
	}
	fmt.Fprintf(errs, "brine: this is an agent of brine %s, which 'brine ssh' places on its targets; of the commands it has agent and version\n", version.Number())
	return exitUsage
}

func agent(args []string, in io.Reader, out, errs io.Writer) int {
	o := Options{In: in, Out: out, Host: host.NewLocal()}
	f := flag.NewFlagSet("agent", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.CacheDir, "cache-dir", "", "")
	f.BoolVar(&o.Wipe, "wipe", false, "")
	f.BoolVar(&o.Detached, "detached", false, "")
	f.StringVar(&o.Resume, "resume", "", "")
	f.BoolVar(&o.Relay, "relay", false, "")
	f.Int64Var(&o.Skip, "skip", 0, "")
	sum := f.Bool("sum", false, "")
	err := f.Parse(args)
	if err == nil && f.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	switch {
	case err != nil:
		fmt.Fprintf(errs, "brine: agent: %v\n", err)
		return exitUsage
	case *sum:
		err = Sum(out)
	default:
		err = Agent(context.Background(), o)
	}
	switch {
	case errors.Is(err, ErrTerminal):
		fmt.Fprintf(errs, "brine: %v\nhint: %s\n", err, TerminalHint)
		return exitUsage
	case err != nil:
		fmt.Fprintf(errs, "brine: %v\n", err)
		return exitFailed
	}
	return 0
}

// Version prints what this program is.
func Version(w io.Writer) error {
	_, err := fmt.Fprintf(w, "brine %s%s\nfollows Salt %s\n%s %s/%s\n",
		version.Number(), version.Revision(), grains.SaltVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
