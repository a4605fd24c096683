package assembly

import "brine/internal/py/source"

// sourceFault makes the Env's Fault of a function that shows any error.
func sourceFault(show func(error)) func(*source.Error) {
	if show == nil {
		return nil
	}
	return func(e *source.Error) { show(e) }
}

// A FaultError is a fault that a target found, as EnvOptions.Fault gets it.
type FaultError struct {
	ID, Text string
	At       *source.Error // nil: not known
}

// Error names the target.
func (f *FaultError) Error() string { return f.ID + ": " + f.Text }
