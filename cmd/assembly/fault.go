package assembly

import "brine/internal/source"

// sourceFault makes the Env's Fault of a function that shows any error.
func sourceFault(show func(error)) func(*source.Error) {
	if show == nil {
		return nil
	}
	return func(e *source.Error) { show(e) }
}
