//go:build !slim

package assembly

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/approval"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
	historyrun "brine/runner/fn/history"
)

// localHistory names the history of this machine.
const localHistory = "local_cache"

// historySource names the database that has the history of orchestrations: the
// job cache where it can keep one, else the file of this machine.
func historySource(env *fun.Env) string {
	for _, key := range []string{"ext_job_cache", "master_job_cache"} {
		for _, name := range jobs.Names(env.Opts.Str(key)) {
			if spec, ok := returner.Find(Returners(), name); ok && spec.History {
				return name
			}
		}
	}
	return localHistory
}

// HistorySink returns what takes the rows of a history.Recorder to where env
// keeps the history.
func HistorySink(ctx context.Context, env *fun.Env, warn func(error)) *jobs.Sink {
	source := historySource(env)
	s := &jobs.Sink{
		Name: "history", Warn: warn, Keep: Keep(env.Opts, "keep_history"), Spool: filepath.Join(env.CacheDir, "history", "spool"),
		Open:  func(ctx context.Context) (jobs.Returner, error) { return openHistory(ctx, env, source, warn) },
		Aside: "those of a newer brine are stored by the first run of such a brine",
	}
	defer func() {
		if err := history.Recall(s.Spool); err != nil {
			warn(fmt.Errorf("rows of the history that were put aside in %s stay there: %w", s.Spool, err))
		}
	}()
	if source == localHistory {
		return s
	}
	s.Name = "history in " + source
	s.Spool += "-" + source
	if set, err := CheckSettings(ctx, env, source, returner.Settings{}); err == nil {
		sp := SpoolOf(env.CacheDir, source, set, nil)
		s.Spool, s.Down = filepath.Join(env.CacheDir, "history", filepath.Base(sp.Dir)), sp.Down
	}
	return s
}

// Keep is how old records may become by an option in seconds; 0 means no bound. What is
// longer than a time.Duration, is none.
func Keep(opts *value.Map, option string) time.Duration {
	keep, _ := value.AsInt(opts.At(option))
	if keep < 0 || keep > int64(math.MaxInt64/time.Second) {
		return 0
	}
	return time.Duration(keep) * time.Second
}

// OpenHistory opens the history of orchestrations to read from: that of a source,
// the name of a returner or local_cache, or with "" where env keeps it. What runs
// that were killed left is stored first. The caller closes it.
func OpenHistory(ctx context.Context, env *fun.Env, source string, warn func(error)) (*history.Store, error) {
	own := historySource(env)
	if source == "" {
		source = own
	}
	if source == own {
		if s := HistorySink(ctx, env, warn); jobs.Spooled(s.Spool) && jobs.Hung(s.Down) == nil {
			s.Resend()
			_ = s.Close() // it has warned
		}
	}
	s, err := openHistory(ctx, env, source, warn)
	if err != nil {
		return nil, err
	}
	files := jobs.NewFiles(env.CacheDir, 0, env.Host.Now)
	known := s.Alive
	s.Alive = func(ctx context.Context, e *history.Execution) history.Outcome {
		f := outcomeOf(ctx, env, files, e, source == localHistory)
		if f.Status == history.Unfinished && known != nil {
			return known(ctx, e)
		}
		return f
	}
	asked := sync.OnceValue(func() map[string]*approval.Entry {
		all, err := Approvals(ctx, env)
		if err != nil {
			warn(fmt.Errorf("which runs wait for an approval is not known: %w", err))
		}
		waiting := map[string]*approval.Entry{}
		for _, e := range all {
			if e.Waits() {
				waiting[e.Asker()] = e
			}
		}
		return waiting
	})
	s.Waits = func(jid string) bool { return asked()[jid] != nil }
	return s, nil
}

func openHistory(ctx context.Context, env *fun.Env, source string, warn func(error)) (*history.Store, error) {
	if source == localHistory {
		return history.Open(ctx, history.Path(env.CacheDir), warn)
	}
	spec, ok := returner.Find(Returners(), source)
	if !ok {
		return nil, CheckReturner(env, source)
	}
	if !spec.History {
		return nil, fmt.Errorf("returner %s keeps no history; mysql, pgjsonb, postgres and sqlite3 do, and %s is that of this machine", source, localHistory)
	}
	r, err := OpenReturner(ctx, env, source, returner.Settings{})
	if err != nil {
		return nil, fmt.Errorf("returner %s: %w", source, err)
	}
	h, ok := r.(interface{ History() *history.Store })
	if !ok {
		_ = r.Close()
		return nil, fmt.Errorf("returner %s keeps no history", source)
	}
	s := h.History()
	if f, ok := r.(interface {
		Outcome(ctx context.Context, e *history.Execution) history.Outcome
	}); ok {
		s.Alive = f.Outcome
	}
	if err := s.Create(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("returner %s: %w; 'brine run returner.schema %s' prints the tables", source, err, source)
	}
	return s, nil
}

// outcomeOf finds out what became of an execution that has no end: the job cache of
// the machine that ran it knows. Where the history is not mine alone, one that this
// cache does not have may be that of another machine with the same id and directory:
// containers often have those in common.
func outcomeOf(ctx context.Context, env *fun.Env, files *jobs.Files, e *history.Execution, mine bool) history.Outcome {
	if e.Controller != env.ID || e.Cache != env.CacheDir {
		return history.Outcome{Status: history.Unfinished}
	}
	j, err := files.Job(ctx, e.JID)
	switch {
	case err != nil, j == nil && !mine:
		return history.Outcome{Status: history.Unfinished}
	case j == nil:
		return history.Outcome{Status: history.Interrupted}
	case j.State == jobs.Active:
		return history.Outcome{Status: history.Running}
	}
	f := history.Outcome{Status: history.Interrupted}
	at := j.EndTime
	if j.Killed != 0 {
		f.Status, f.Signal, at = history.Killed, j.Killed, j.KilledAt
	}
	f.At, _ = jobs.ParseTime(at)
	return f
}

// historyRunner is the runner module "history".
func historyRunner() fun.Module {
	return historyrun.Runners(func(ctx context.Context, env *fun.Env, source string) (*history.Store, error) {
		return OpenHistory(ctx, env, source, func(err error) { env.Warn(fun.Warning{Text: err.Error()}) })
	})
}
