package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/internal/fleet/migration"
)

const (
	// sinkTable has what became of the events of each sink.
	sinkTable = "brine_sinks"
	// sinkEventTable has the events that wait for a sink, and for a while those that were
	// sent, so that nobody brings them again.
	sinkEventTable = "brine_sink_events"
)

// sinkColumns are those of sinkTable. holder sends until the time held; due is when the next
// attempt may be, after tries that failed in a row. bytes is what waits, newest the newest place in
// sinkEventTable.
var sinkColumns = []string{
	"name key64", "holder key64", "held long", "due long", "tries int", "sent long", "lost long", "bytes long", "newest long", "error text",
	seenColumn,
}

// seenColumn is until when all events were brought that a worker could hear. It came later than
// the others.
const seenColumn = "seen long"

// sinkEventColumns are those of sinkEventTable: id is the key of the event for its sink, place
// its place in the order, waits 1 until it was sent.
var sinkEventColumns = []string{"id key64", "sink key64", "place long", "size long", "waits int", "payload text"}

// sinkTables describes the tables of sinks, which have a version of their own: programs that
// do not know them go on with the queue.
func (d Dialect) sinkTables() *migration.Tables {
	return &migration.Tables{
		Name: "queue_sinks", Title: "the events that wait for sinks", Names: []string{sinkTable, sinkEventTable},
		Newest: append(d.makes(sinkTable, sinkColumns, "name"), d.makes(sinkEventTable, sinkEventColumns, "id", "place: sink, waits, place")...),
		Steps:  [][]migration.Change{{{Table: sinkTable, Column: "seen", SQL: "ALTER TABLE " + sinkTable + " ADD COLUMN " + d.column(seenColumn)}}},
	}
}

// SentFor is how long a sink recognizes an event that it has sent, before the time until which
// all events were brought.
const SentFor = time.Hour

// A SinkEvent is an event for a sink.
type SinkEvent struct {
	// ID is the same for all who bring the event to the sink.
	ID      string
	Payload string
}

// SinkID is the ID of an event for a sink; key is that of the event.
func SinkID(sink, key string) string { return Key("sink", sink, key) }

// Spool has events wait for a sink in their order, each once however many workers bring it.
// Events that make what waits larger than most bytes are lost, which is counted: lost is
// their number.
func (s *Store) Spool(ctx context.Context, sink string, most int64, events []SinkEvent) (lost int, err error) {
	begins, ends := s.d.insertNew()
	// By itself: in MySQL, two transactions that begin so share a lock of the row, which
	// both then want alone.
	if _, err := s.exec(ctx, s.db, begins+sinkTable+" (name, holder, held, due, tries, sent, lost, bytes, newest, error, seen) VALUES (?, '', 0, 0, 0, 0, 0, 0, 0, '', "+s.d.now()+")"+ends, sink); err != nil || len(events) == 0 {
		return 0, err
	}
	err = s.again(ctx, func(tx *sql.Tx) error {
		lost = 0
		// One brings at a time: what waits is counted, and two do not wait for each other.
		if _, err := s.exec(ctx, tx, "UPDATE "+sinkTable+" SET newest = "+s.d.greatest("newest + 1", s.d.now())+" WHERE name = ?", sink); err != nil {
			return err
		}
		var bytes, last int64
		if err := tx.QueryRowContext(ctx, s.d.bind("SELECT bytes, newest FROM "+sinkTable+" WHERE name = ?"), sink).Scan(&bytes, &last); err != nil {
			return err
		}
		for _, e := range events {
			size, waits := int64(len(e.Payload)), 1
			if bytes+size > most {
				size, waits, e.Payload = 0, 0, ""
			}
			n, err := s.exec(ctx, tx, begins+sinkEventTable+" (id, sink, place, size, waits, payload) VALUES (?, ?, ?, ?, ?, ?)"+ends, e.ID, sink, last, size, waits, e.Payload)
			if err != nil {
				return err
			}
			if n == 0 { // another worker was first
				continue
			}
			last++
			bytes += size
			lost += 1 - waits
		}
		_, err := s.exec(ctx, tx, "UPDATE "+sinkTable+" SET bytes = ?, newest = ?, lost = lost + ? WHERE name = ?", bytes, last, lost, sink)
		return err
	})
	return lost, err
}

// SinkSeen returns until when all events were brought to a sink, and the time now: both by the
// clock of the database. A sink that nobody brought events to begins now.
func (s *Store) SinkSeen(ctx context.Context, sink string) (seen, now time.Time, err error) {
	if _, err := s.Spool(ctx, sink, 0, nil); err != nil {
		return seen, now, err
	}
	var at, us int64
	if err := s.db.QueryRowContext(ctx, s.d.bind("SELECT seen, "+s.d.now()+" FROM "+sinkTable+" WHERE name = ?"), sink).Scan(&at, &us); err != nil {
		return seen, now, err
	}
	now = time.UnixMicro(us).UTC()
	if at == 0 { // an older program made the row
		return now, now, nil
	}
	return time.UnixMicro(at).UTC(), now, nil
}

// SawSink notes until when all events were brought to a sink.
func (s *Store) SawSink(ctx context.Context, sink string, until time.Time) error {
	us := until.UnixMicro()
	_, err := s.exec(ctx, s.db, "UPDATE "+sinkTable+" SET seen = ? WHERE name = ? AND seen < ?", us, sink, us)
	return err
}

// again does something in a transaction, again where the database ended one that waited for
// another.
func (s *Store) again(ctx context.Context, do func(*sql.Tx) error) (err error) {
	const tries = 5
	for n := range tries {
		if err = s.within(ctx, do); err == nil || ctx.Err() != nil || n == tries-1 {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond << n):
		}
	}
	return err
}

// within does something in a transaction.
func (s *Store) within(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, s.isolation())
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// SinkLost counts events that did not get as far as the spool of a sink.
func (s *Store) SinkLost(ctx context.Context, sink string, n int) error {
	_, err := s.exec(ctx, s.db, "UPDATE "+sinkTable+" SET lost = lost + ? WHERE name = ?", n, sink)
	return err
}

// HoldSink reports whether a worker is the one that sends what waits for a sink, from now on
// for lease: the first who asks is, until it has not asked for so long. due is how long it is
// to wait before it sends, after an attempt that failed; tries is how many failed in a row.
func (s *Store) HoldSink(ctx context.Context, sink, worker string, lease time.Duration) (held bool, due time.Duration, tries int, err error) {
	name := Key(worker)
	n, err := s.exec(ctx, s.db, "UPDATE "+sinkTable+" SET holder = ?, held = "+s.d.now()+" + ? WHERE name = ? AND (holder = ? OR held < "+s.d.now()+")", name, lease.Microseconds(), sink, name)
	if err != nil || n == 0 {
		return false, 0, 0, err
	}
	var us int64
	err = s.db.QueryRowContext(ctx, s.d.bind("SELECT due - "+s.d.now()+", tries FROM "+sinkTable+" WHERE name = ?"), sink).Scan(&us, &tries)
	return err == nil, max(0, time.Duration(us)*time.Microsecond), tries, err
}

// LeaveSink has another worker send what waits for a sink, at once.
func (s *Store) LeaveSink(ctx context.Context, sink, worker string) error {
	_, err := s.exec(ctx, s.db, "UPDATE "+sinkTable+" SET held = 0 WHERE name = ? AND holder = ?", sink, Key(worker))
	return err
}

// SinkBatch returns what waits for a sink, the oldest first: at most n events, which have
// about most bytes. age is how long the oldest one has waited, full whether there may be more.
func (s *Store) SinkBatch(ctx context.Context, sink string, n, most int) (events []SinkEvent, age time.Duration, full bool, err error) {
	rows, err := s.db.QueryContext(ctx, s.d.bind(fmt.Sprintf("SELECT id, payload, "+s.d.now()+" - place FROM "+sinkEventTable+" WHERE sink = ? AND waits = 1 ORDER BY place, id LIMIT %d", n)), sink)
	if err != nil {
		return nil, 0, false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for bytes := 0; rows.Next(); {
		var e SinkEvent
		var us int64
		if err := rows.Scan(&e.ID, &e.Payload, &us); err != nil {
			return nil, 0, false, err
		}
		if len(events) == 0 {
			age = time.Duration(us) * time.Microsecond
		}
		events = append(events, e)
		if bytes += len(e.Payload); bytes >= most {
			return events, age, true, nil
		}
	}
	return events, age, len(events) >= n, rows.Err()
}

// maxIDs bounds the parameters of a statement.
const maxIDs = 500

// SinkSent notes that events of a sink were sent, or where lost is true that they never
// will be.
func (s *Store) SinkSent(ctx context.Context, sink string, events []SinkEvent, lost bool, why string) error {
	return s.again(ctx, func(tx *sql.Tx) error {
		// In the order of Spool: first the row of the sink.
		if _, err := s.exec(ctx, tx, "UPDATE "+sinkTable+" SET due = 0, tries = 0, error = ? WHERE name = ?", cut(why, maxError), sink); err != nil {
			return err
		}
		var n, bytes int64
		for i := 0; i < len(events); i += maxIDs {
			part := events[i:min(i+maxIDs, len(events))]
			ids := make([]any, len(part))
			for k, e := range part {
				ids[k] = e.ID
			}
			in := " WHERE id IN (?" + strings.Repeat(", ?", len(part)-1) + ") AND waits = 1"
			var size int64
			if err := tx.QueryRowContext(ctx, s.d.bind("SELECT COALESCE(SUM(size), 0) FROM "+sinkEventTable+in), ids...).Scan(&size); err != nil {
				return err
			}
			changed, err := s.exec(ctx, tx, "UPDATE "+sinkEventTable+" SET waits = 0, payload = '', size = 0"+in, ids...)
			if err != nil {
				return err
			}
			n, bytes = n+changed, bytes+size
		}
		column := "sent"
		if lost {
			column = "lost"
		}
		_, err := s.exec(ctx, tx, "UPDATE "+sinkTable+" SET "+column+" = "+column+" + ?, bytes = bytes - ? WHERE name = ?", n, bytes, sink)
		return err
	})
}

// SinkFailed notes that an attempt to send failed, and when the next one may be.
func (s *Store) SinkFailed(ctx context.Context, sink string, delay time.Duration, why string) error {
	_, err := s.exec(ctx, s.db, "UPDATE "+sinkTable+" SET due = "+s.d.now()+" + ?, tries = tries + 1, error = ? WHERE name = ?", delay.Microseconds(), cut(why, maxError), sink)
	return err
}

// CleanSinks removes the events that were sent and that nobody will bring again.
func (s *Store) CleanSinks(ctx context.Context) error {
	// A worker reads a log from the time on until which all were brought, and knows by these
	// rows what of it was sent.
	_, err := s.exec(ctx, s.db, "DELETE FROM "+sinkEventTable+" WHERE waits = 0 AND place < (SELECT CASE WHEN s.seen = 0 THEN "+s.d.now()+" ELSE s.seen END FROM "+sinkTable+" s WHERE s.name = "+sinkEventTable+".sink) - ?", SentFor.Microseconds())
	return err
}

// A SinkState is what became of the events of a sink.
type SinkState struct {
	Name       string
	Waiting    int
	Bytes      int64 // of those that wait
	Sent, Lost int64
	Tries      int       // that failed in a row
	Due        time.Time // of the next attempt; zero: now
	Held       bool      // a worker sends
	Error      string    // of the last attempt
	Seen       time.Time // until when all events were brought; zero: not known
}

// Sinks returns what became of the events of all sinks, by name.
func (s *Store) Sinks(ctx context.Context) (out []SinkState, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT name, bytes, sent, lost, tries, due, CASE WHEN held > "+s.d.now()+" THEN 1 ELSE 0 END, error, (SELECT COUNT(*) FROM "+sinkEventTable+" e WHERE e.sink = s.name AND e.waits = 1), seen FROM "+sinkTable+" s ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var x SinkState
		var due, seen int64
		if err := rows.Scan(&x.Name, &x.Bytes, &x.Sent, &x.Lost, &x.Tries, &due, &x.Held, &x.Error, &x.Waiting, &seen); err != nil {
			return nil, err
		}
		if seen > 0 {
			x.Seen = time.UnixMicro(seen).UTC()
		}
		if due > 0 {
			x.Due = time.UnixMicro(due).UTC()
		}
		out = append(out, x)
	}
	return out, rows.Err()
}
