package runner

import (
	"fmt"

	"brine/internal/core/host"
	"brine/internal/core/schedule"
	"brine/internal/fleet/queue"
)

// Recurrence returns when a schedule of a queue is due.
func Recurrence(h host.Host, x *queue.Schedule) (*schedule.Recurrence, error) {
	zone, err := schedule.Zone(h, x.Zone)
	if err != nil {
		return nil, err
	}
	r, err := schedule.ParseRecurrence(x.Recurrence, zone)
	if err != nil {
		return nil, fmt.Errorf("its times cannot be read: %w", err)
	}
	return r, nil
}
