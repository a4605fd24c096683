package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// sshOptions returns what the flags add to the roster; --askpass asks here.
func sshOptions(a *app.App, f *app.FleetFlags) (assembly.SSHOptions, error) {
	o := assembly.SSHOptions{User: f.User, Priv: f.Priv, Getenv: a.Getenv}
	in, ok := a.In.(*os.File)
	if ok && f.RosterFile == "-" && isatty.IsTerminal(in.Fd()) {
		return o, &app.StatusError{Status: app.ExitUsage, Err: errors.New("--roster-file -: standard input is a terminal, and not a roster"), Hint: "pipe one into brine, or name a file"}
	}
	o.Ask, o.AskOnce = a.Asker(), f.Askpass
	if !f.Askpass {
		return o, nil
	}
	if o.Ask == nil {
		return o, &app.StatusError{Status: app.ExitUsage, Err: errors.New("--ask-pass needs a terminal to ask on"), Hint: "set SSH_ASKPASS, or passwd in the roster, or use keys"}
	}
	var err error
	o.Password, err = o.Ask("Password: ", false)
	return o, err
}

// controller returns the Env of a runner function: this machine, with the
// fleet of the roster.
func (s *session) controller(ctx context.Context, jid string) (*fun.Env, error) {
	o := s.envOptions(jid)
	env := assembly.NewEnv(ctx, o)
	f, err := assembly.NewFleet(ctx, env, o, s.newJID)
	if err != nil {
		return nil, err
	}
	f.Watch = s.watch
	f.Jobs, f.Warn, f.OldEvents = s, s.warn, value.Truth(s.cfg.Opts.At("old_event_tags"))
	if s.files != nil {
		f.Store = s.files
	}
	if s.leaves {
		f.Background = s.app.Background
	} else {
		f.Stay = s.staying.stay(ctx)
	}
	f.Waiting = s.waiting
	f.AskJID = func() string { return s.jids.Next(s.app.Host.Now()) }
	env.Fleet = f
	env.OnRunner = s.runnerJob
	env.OnNote = s.note
	env.OnPrint = func(line string) { fmt.Fprintln(s.app.Out, printable.Text(line)) }
	if err := s.openReturners(env); err != nil {
		return nil, err
	}
	if err := s.openBus(ctx, env, f); err != nil {
		return nil, err
	}
	s.close = append(s.close, func() { _ = f.Close() }, func() { s.staying.wait(s.app.Err) })
	return env, nil
}

// waiting names the targets that a job still waits for.
func (s *session) waiting(jid string, ids []string, since time.Duration) {
	const shown = 10
	names := strings.Join(ids[:min(shown, len(ids))], ", ")
	if len(ids) > shown {
		names += fmt.Sprintf(" and %d more", len(ids)-shown)
	}
	s.app.Intr.SetWaiting(names)
	if s.level > slog.LevelWarn {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.app.Err, "brine: job %s: still waiting for %s, after %s\n", jid, printable.Line(names), since)
}
