package runner

import (
	"context"
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

// AddSchedule adds a schedule to a queue, whose times are those of r from now on.
func AddSchedule(ctx context.Context, q *queue.Store, x *queue.Schedule, r *schedule.Recurrence) (err error) {
	if x.Created, err = q.Now(ctx); err != nil {
		return err
	}
	x.Planned, _ = r.Next(x.Created, x.Created)
	x.Due = x.DueAt(x.Planned)
	return q.AddSchedule(ctx, x)
}

// ResumeSchedule ends the pause of a schedule, and sets when it is due next.
func ResumeSchedule(ctx context.Context, h host.Host, q *queue.Store, x *queue.Schedule) (*schedule.Recurrence, error) {
	r, err := Recurrence(h, x)
	if err != nil {
		return nil, err
	}
	now, err := q.Now(ctx)
	if err != nil {
		return nil, err
	}
	x.Planned, _ = r.Next(now, x.Created)
	x.Due = x.DueAt(x.Planned)
	return r, q.ResumeSchedule(ctx, x.Name, x.Planned, x.Due)
}
