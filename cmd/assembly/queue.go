//go:build !slim

package assembly

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/fleet/queue"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/returner/sqldb"
	"brine/internal/py/source"
	"brine/internal/py/value"
	queuerun "brine/runner/fn/queue"
)

// errNoQueue says what is missing for a queue.
var errNoQueue = errors.New("a queue needs a database: set master_job_cache to mysql, pgjsonb, postgres or sqlite3, or the option queue, such as queue: {store: postgres, host: db1}")

// CheckQueue returns an error where the queue is not configured, without asking the
// database.
func CheckQueue(ctx context.Context, env *fun.Env) error {
	name, set, err := queueSettings(env)
	if err != nil {
		return err
	}
	_, err = CheckSettings(ctx, env, name, set)
	return err
}

// HasQueue reports whether a queue is configured.
func HasQueue(env *fun.Env) bool {
	_, _, err := queueSettings(env)
	return !errors.Is(err, errNoQueue)
}

// Answers reports whether an error of OpenQueue is an answer of the database or of the
// configuration, such as to a wrong password, which waiting does not change.
func Answers(err error) bool { return !sqldb.Unavailable(err) }

// OpenQueue opens the queue of orchestrations: in the database of the option queue,
// else in that of the job cache. The caller closes it.
func OpenQueue(ctx context.Context, env *fun.Env) (*queue.Store, error) {
	name, set, err := queueSettings(env)
	if err != nil {
		return nil, err
	}
	r, err := OpenReturner(ctx, env, name, set)
	if err != nil {
		return nil, fmt.Errorf("the queue in %s: %w", name, err)
	}
	q, ok := r.(interface{ Queue() *queue.Store })
	if !ok {
		_ = r.Close()
		return nil, errNoQueue
	}
	s := q.Queue()
	if err := s.Create(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("the queue in %s: %w; 'brine run returner.schema %s' prints its table", name, err, name)
	}
	return s, nil
}

// queueSettings returns the returner whose database has the queue, and its
// settings.
func queueSettings(env *fun.Env) (string, returner.Settings, error) {
	var set returner.Settings
	v := env.Opts.At("queue")
	if v == nil {
		name := historySource(env)
		if name == localHistory {
			return "", set, errNoQueue
		}
		return name, set, nil
	}
	m, ok := v.(*value.Map)
	if !ok {
		return "", set, fmt.Errorf("queue: %s is not a mapping such as {store: postgres, host: db1}", value.Repr(v))
	}
	set.Kwargs = m.Copy()
	set.Kwargs.Delete("store")
	name := m.Str("store")
	if name == "" {
		if name = historySource(env); name == localHistory {
			return "", set, errNoQueue
		}
	}
	var known []string
	for _, s := range Returners() {
		if s.History {
			known = append(known, s.Name)
		}
	}
	spec, ok := returner.Find(Returners(), name)
	if !ok || !spec.History {
		return "", set, fmt.Errorf("queue: store: %q is none of %s%s", name, strings.Join(known, ", "), source.DidYouMean(name, known))
	}
	return name, set, UnknownSettings("queue", []string{name}, set.Kwargs)
}

// queueRunner is the runner module "queue".
func queueRunner() fun.Module { return queuerun.Runners(OpenQueue) }
