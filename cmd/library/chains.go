// Package library finds the chains and the orchestration templates of a tree, their
// targets, and the timers that run chains later.
package library

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"brine/cmd/app"
	"brine/cmd/session"
	"brine/internal/view/chain"
)

// Chains returns the directory of the chains of a session.
func Chains(s *session.Session) *chain.Store {
	dir := s.Cfg.Opts.Str("orchestration_chains")
	if dir == "" {
		dir = filepath.Join(s.Cfg.CacheDir, "chains")
		if s.Cfg.Dir != "" {
			dir = filepath.Join(s.Cfg.Dir, "chains")
		}
	}
	name, _ := s.App.Host.Hostname()
	return &chain.Store{Files: s.App.Host, Dir: dir, Who: fmt.Sprintf("process %d of %s on %s", os.Getpid(), s.UserName(), name)}
}

// ReadChain reads a chain, and hints at what to do if there is none.
func ReadChain(st *chain.Store, name string) (*chain.Chain, []byte, error) {
	c, text, err := st.Read(name)
	return c, text, HintChain(name, err)
}

// HintChain hints at what to do if an error is that there is no chain with a name.
func HintChain(name string, err error) error {
	if _, ok := errors.AsType[*chain.NotFoundError](err); ok {
		err = &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "'brine chain list' lists the chains, 'brine chain new " + name + "' makes one"}
	}
	return err
}

// ParseWhen reads the time of --at, which must be ahead, and returns it in the time
// zone of now.
func ParseWhen(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{"2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		when, err := time.ParseInLocation(layout, text, now.Location())
		if err != nil {
			continue
		}
		if !when.After(now) {
			return when, fmt.Errorf("%s is over; it is %s", text, now.Format("2006-01-02 15:04"))
		}
		return when.In(now.Location()), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a date and time such as 2026-12-01 02:00", text)
}
