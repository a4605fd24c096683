package assembly

import "brine/internal/source"

// sourceFault makes the Env's Fault of a function that shows any error.
func sourceFault(show func(error)) func(*source.Error) {
	if show == nil {
		return nil
	}
	return func(e *source.Error) { show(e) }
}

// A TargetFault is a fault that a target found, as EnvOptions.Fault gets it.
type TargetFault struct {
	ID, Text string
	At       *source.Error // nil: not known
}

// Error names the target.
func (f *TargetFault) Error() string { return f.ID + ": " + f.Text }
