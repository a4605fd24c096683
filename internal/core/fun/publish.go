package fun

import (
	"context"
	"time"

	"brine/internal/py/value"
)

// A Publisher calls functions for a machine on others of its run, and runner
// functions on the controller: Salt's publish. It returns an error where the
// controller's configuration does not allow the call. It is safe for concurrent use.
type Publisher interface {
	// Publish returns {id: return} of a function, the return of a runner.
	Publish(ctx context.Context, req PublishRequest) (value.Value, error)
}

// A PublishRequest is a call that a machine asks for.
type PublishRequest struct {
	// ID is the machine that asks, JID its job.
	ID, JID string

	Runner bool // Fun is a runner function; Tgt and what follows it are not for it
	Fun    string
	Args   []value.Value

	Tgt      value.Value
	TgtType  string // "" is glob
	Returner string
	// Timeout is how long a machine may be silent before it is asked whether it
	// still works on the call; 0: the configuration's.
	Timeout time.Duration
	// Full has each return in a dict, as ret, beside the outputter that the function
	// wishes, as out.
	Full bool
}
