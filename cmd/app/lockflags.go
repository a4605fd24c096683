package app

import (
	"math"

	"github.com/spf13/cobra"
)

// lockFlags say whether an orchestration is locked.
type lockFlags struct {
	On, Off bool
	Wait    float64 // seconds; negative: not given
	Given   bool    // wait was given
}

// Register adds the flags of a command that runs an orchestration.
func (f *lockFlags) Register(c *cobra.Command) {
	c.Flags().BoolVar(&f.On, "lock", false, "lock the targets: other runs of this orchestration on them must wait or fail (as orchestrate_lock: True)")
	c.Flags().BoolVar(&f.Off, "no-lock", false, "run even if another run has the lock")
	c.Flags().Float64Var(&f.Wait, "lock-wait", 0, "seconds to wait for a lock that another run has")
}

// Check returns an error for flags that contradict each other.
func (f *lockFlags) Check(c *cobra.Command) error {
	f.Given = c.Flags().Changed("lock-wait")
	switch {
	case f.On && f.Off:
		return Usagef(c, "--lock and --no-lock exclude each other")
	case f.Off && f.Given:
		return Usagef(c, "--lock-wait waits for a lock, and --no-lock takes none")
	case f.Given && (f.Wait < 0 || math.IsNaN(f.Wait) || f.Wait > 1e8):
		return Usagef(c, "--lock-wait: %v is not a number of seconds", f.Wait)
	}
	return nil
}
