package cmd

import (
	"context"

	"github.com/spf13/pflag"

	"brine/internal/assembly"
	"brine/internal/fun"
	"brine/internal/value"
)

// fleetFlags say which machines there are and how they are reached.
type fleetFlags struct {
	roster     string
	rosterFile string
	maxProcs   int
	timeout    int
}

func (f *fleetFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.roster, "roster", "", "kind of roster (default: flat)")
	fs.StringVar(&f.rosterFile, "roster-file", "", "file that lists the targets (default: roster in the configuration directory)")
	fs.IntVar(&f.maxProcs, "max-procs", 0, "targets worked on at once (default: 64)")
	fs.IntVar(&f.timeout, "timeout", 0, "seconds before a silent target is asked whether it still works")
}

// override returns what the flags put over the configuration.
func (f *fleetFlags) override() *value.Map {
	m := value.NewMap(4)
	if f.roster != "" {
		m.Set("roster", f.roster)
	}
	if f.rosterFile != "" {
		m.Set("roster_file", f.rosterFile)
	}
	if f.maxProcs > 0 {
		m.Set("ssh_max_procs", int64(f.maxProcs))
	}
	if f.timeout > 0 {
		m.Set("timeout", int64(f.timeout))
	}
	return m
}

// controller returns the Env of a runner function: this machine, with the
// fleet of the roster.
func (s *session) controller(ctx context.Context, jid string) (*fun.Env, error) {
	o := s.envOptions(jid)
	env := assembly.NewEnv(ctx, o)
	f, err := assembly.NewFleet(ctx, env, o, s.newJID)
	if err != nil {
		return nil, err
	}
	env.Fleet = f
	return env, nil
}
