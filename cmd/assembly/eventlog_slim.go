//go:build slim

package assembly

import (
	"context"
	"errors"

	"brine/internal/core/fun"
	"brine/runner/fn/events"
)

// eventLog: an agent has no log of events.
func eventLog(context.Context, *fun.Env) (events.Log, error) {
	return events.Log{}, errors.New("this is an agent, which reads no log of events")
}
