package queue

import (
	"context"
	"database/sql"
	"errors"
	"slices"
)

// PutOnce adds an entry as [Store.Put] does, unless one was added for one of the keys
// before: known, with the jid of that one. Keys are forgotten with the entries that have
// ended.
func (s *Store) PutOnce(ctx context.Context, e *Entry, keys []string) (jid string, known bool, err error) {
	payload, err := e.Work.Encode()
	if err != nil {
		return "", false, err
	}
	e.Version, e.SLS = e.Work.version(), e.Work.Names()
	if err := e.check(payload, int64(len(payload))); err != nil {
		return "", false, err
	}
	tx, err := s.db.BeginTx(ctx, s.isolation())
	if err != nil {
		return "", false, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	keys = slices.Clone(keys)
	slices.Sort(keys) // transactions that wait for each other take them in one order
	for _, key := range keys {
		if jid, known, err = s.claimKey(ctx, tx, e, key); known || err != nil {
			return jid, known, err
		}
	}
	if err := s.insert(ctx, tx, e, payload, "", Queued, ""); err != nil {
		return "", false, err
	}
	return e.JID, false, tx.Commit()
}

// claimKey notes that an entry is added for a key, unless another one was.
func (s *Store) claimKey(ctx context.Context, tx *sql.Tx, e *Entry, key string) (jid string, known bool, err error) {
	begins, ends := s.d.insertNew()
	event := Key(e.Queue, "once", key)
	n, err := s.exec(ctx, tx, begins+eventTable+" (event, queue, same, jid, cause, created) VALUES (?, ?, '', ?, '', "+s.d.now()+")"+ends, event, e.Queue, e.JID)
	if err != nil || n > 0 {
		return "", false, err
	}
	err = tx.QueryRowContext(ctx, s.d.bind("SELECT jid FROM "+eventTable+" WHERE event = ?"), event).Scan(&jid)
	if errors.Is(err, sql.ErrNoRows) { // removed at this moment
		err = nil
	}
	return jid, true, err
}
