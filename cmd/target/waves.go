package target

import (
	"context"
	"errors"
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/session"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/proc"
	"brine/internal/py/value"
)

// waveFlags are those of jobs that begin on a few targets first.
type waveFlags struct {
	list, check, failures string
	wait                  float64

	parsed []fun.Wave
	most   *fun.Share
	call   []string // words of check
}

func (o *waveFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.list, "waves", "", "start with a few targets: how many have started with each wave, as in 1,10%,100%, or compound targets")
	f.Float64Var(&o.wait, "wave-wait", 0, "seconds to wait between two waves")
	f.StringVar(&o.check, "wave-check", "", "function and arguments that must succeed on a wave before the next one starts")
	f.StringVar(&o.failures, "max-failures", "", "how many targets may fail before no further ones are started: a number or a percentage (with --waves default 0)")
}

// read reads the flags and refuses what does not go together.
func (o *waveFlags) read(c *cobra.Command, s *Options) (err error) {
	switch {
	case o.wait < 0 || math.IsNaN(o.wait):
		return app.Usagef(c, "--wave-wait cannot be negative")
	case o.failures != "" && s.FailHard:
		return app.Usagef(c, "--failhard is --max-failures 0: give one of them")
	case o.list == "" && (o.check != "" || o.wait > 0):
		return app.Usagef(c, "--wave-check and --wave-wait are for what comes between waves: give --waves, too")
	}
	if c.Flags().Changed("waves") {
		if o.parsed, err = fun.ParseWaves(o.list); err != nil {
			return app.Usagef(c, "--waves: %s", err)
		}
	}
	if o.failures != "" {
		share, err := fun.ParseShare(o.failures)
		if err == nil && share.Percent > 100 {
			err = errors.New("there are no more than 100% of the targets")
		}
		if err != nil {
			return app.Usagef(c, "--max-failures: %s", err)
		}
		o.most = &share
	}
	if c.Flags().Changed("wave-check") {
		if o.call, err = proc.Split(o.check); err != nil {
			return app.Usagef(c, "--wave-check: %s", err)
		}
		if len(o.call) == 0 {
			return app.Usagef(c, "--wave-check: no function was given")
		}
	}
	return nil
}

// Checker returns what checks a wave of a job, nil where nothing does.
func (o *waveFlags) Checker(s *session.Session, env *fun.Env, of fun.Job) func(context.Context, fun.WaveDone) error {
	if len(o.call) == 0 {
		return nil
	}
	args := dispatch.ParseInput(o.call[1:], s.Flags.Unparsed())
	return func(ctx context.Context, w fun.WaveDone) error {
		if len(w.Good) == 0 {
			return errors.New("no target of the wave succeeded")
		}
		job := fun.Job{
			Fun: o.call[0], Args: args, Tgt: value.Strings(w.Good...), TgtType: "list", User: of.User, Timeout: of.Timeout,
			Fleet: of.Fleet, Published: of.Published, Peer: true,
		}
		return fun.RunCheck(ctx, env.Fleet, job, fun.Healthy)
	}
}
