//go:build !slim

package assembly

import (
	"context"
	"fmt"
	"path/filepath"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/notify"
)

// Destinations reads where notifications go.
func Destinations(env *fun.Env) (*notify.Destinations, error) {
	return notify.Parse(env.Opts.At(notify.Option), env.Host.ReadFile)
}

// OpenNotices opens the notifications that are to be sent: they are kept in the database
// of the history. The caller closes it.
func OpenNotices(ctx context.Context, env *fun.Env, warn func(error)) (*notify.Store, error) {
	h, err := openHistory(ctx, env, historySource(env), warn)
	if err != nil {
		return nil, fmt.Errorf("the notifications: %w", err)
	}
	db, dialect := h.Database()
	s := notify.New(db, dialect, h.Close)
	if err := s.Create(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("the notifications: %w", err)
	}
	return s, nil
}

// NoticeSink returns what takes the rows of notifications to the database, and keeps them
// in files while that does not answer.
func NoticeSink(env *fun.Env, warn func(error)) *jobs.Sink {
	return &jobs.Sink{
		Name: "notifications", Warn: warn, Spool: filepath.Join(env.CacheDir, "notify", "spool"),
		Open: func(ctx context.Context) (jobs.Returner, error) { return OpenNotices(ctx, env, warn) },
	}
}

// DeliverNotices sends the notifications that are due, also those of runs that could not
// reach the database.
func DeliverNotices(ctx context.Context, env *fun.Env, x *notify.Destinations, warn func(error), report func(*notify.Notice)) error {
	if s := NoticeSink(env, warn); jobs.Spooled(s.Spool) {
		s.Resend()
		_ = s.Close() // it has warned
	}
	s, err := OpenNotices(ctx, env, warn)
	if err != nil {
		return err
	}
	err = s.Deliver(ctx, x, env.Host.Now, report)
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	return err
}
