package sqldb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/internal/core/event"
)

const (
	// eventPage is how many events are read at once.
	eventPage = 500
	// storedLate is how much later than it was sent an event may be stored.
	storedLate = time.Hour
)

// Events calls each with the events in salt_events that were sent since a time, in the order
// in which they were stored, until each returns false.
func (s *store) Events(ctx context.Context, since time.Time, each func(event.Event) bool) error {
	for last := int64(0); ; {
		page, err := s.eventsAfter(ctx, last, since)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, e := range page {
			last = int64(e.Seq)
			if e.Stamp.Before(since) {
				continue
			}
			if !each(e) {
				return nil
			}
		}
	}
}

// eventsAfter reads the events whose number is above one.
func (s *store) eventsAfter(ctx context.Context, last int64, since time.Time) (out []event.Event, err error) {
	old, args := s.d.old(max(time.Second, time.Since(since)) + storedLate)
	mark := s.d.mark(len(args) + 1)
	q := fmt.Sprintf("SELECT id, tag, %s FROM salt_events WHERE alter_time >= %s AND id > %s ORDER BY id LIMIT %d", s.d.text("data"), old, mark, eventPage)
	rows, err := s.db.QueryContext(ctx, q, append(args, last)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e event.Event
		var text string
		if err := rows.Scan(&e.Seq, &e.Tag, &text); err != nil {
			return nil, err
		}
		e.Data = decode(text)
		e.Stamp = since // where it has no time of its own, that of the row decides
		if t, err := time.Parse(event.StampFormat, e.Data.Str("_stamp")); err == nil {
			e.Stamp = t
		}
		out = append(out, e)
	}
	return out, rows.Err()
}
