package machine

import (
	"time"

	"brine/internal/core/fun"
)

// MaxAge is how long what was learnt of the machine holds while nothing was done
// by brine: it changes by itself, too.
const MaxAge = 2 * time.Second

// A kept value is what was learnt of the machine, and when.
type kept struct {
	seen  uint64 // host.Host.Changes
	at    time.Time
	value any
}

// Keep returns what learn does, and for the rest of the run the same while nothing
// may have changed the machine.
func Keep[T any](env *fun.Env, key any, learn func() (T, error)) (T, error) {
	if env.Memo == nil {
		return learn()
	}
	now, seen := env.Host.Now(), env.Host.Changes()
	if v, ok := env.Memo.Load(key); ok {
		k := v.(kept)
		if age := now.Sub(k.at); k.seen == seen && age >= 0 && age <= MaxAge {
			return k.value.(T), nil
		}
	}
	v, err := learn()
	if err == nil {
		env.Memo.Store(key, kept{seen, now, v})
	}
	return v, err
}
