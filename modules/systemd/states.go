package systemd

import (
	"context"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/modules/machine"
)

// Serves reports whether the services of a run are units of systemd, of which the
// states can then tell more than the functions that all providers have.
func Serves(env *fun.Env) bool {
	if env.Table == nil {
		return false
	}
	mod, _ := env.Provider(fun.Exec, "service")
	return mod != nil && mod.Provider == Name && machine.Booted(env.Host)
}

// Look returns what systemd knows of a unit.
func Look(ctx context.Context, env *fun.Env, name string) (*Unit, error) {
	return newManager(env).unit(ctx, name)
}

// FileState returns the word of systemctl is-enabled for a unit: enabled,
// disabled, static, masked, ...; "" where there is none.
func FileState(ctx context.Context, env *fun.Env, name string) (string, error) {
	st, err := newManager(env).fileState(ctx, name)
	return st.word, err
}

// settling is how often a unit is looked at until it has started.
const settling = 100 * time.Millisecond

// Settle waits until nothing is under way with a unit, at most for a time.
func Settle(ctx context.Context, env *fun.Env, name string, most time.Duration) error {
	m := newManager(env)
	for ; most > 0; most -= settling {
		m.forget()
		u, err := m.unit(ctx, name)
		if err != nil || u.Active != "activating" && !u.Queued {
			return err
		}
		if err := env.Host.Sleep(ctx, min(settling, most)); err != nil {
			return err
		}
	}
	m.forget()
	return nil
}

// Forget has systemd asked again: time has passed.
func Forget(env *fun.Env) { newManager(env).forget() }

// ShowJournal shows on stderr, with the place of the state, what a unit wrote to
// the journal since a time.
func ShowJournal(ctx context.Context, env *fun.Env, at source.Pos, name string, since time.Time) {
	showJournal(ctx, env, at, name, since)
}
