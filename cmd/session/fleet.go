package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// SSHOptions returns what the flags add to the roster; --askpass asks here.
func SSHOptions(a *app.App, f *app.FleetFlags) (assembly.SSHOptions, error) {
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

// Controller returns the Env of a runner function: this machine, with the
// fleet of the roster.
func (s *Session) Controller(ctx context.Context, jid string) (*fun.Env, error) {
	o := s.EnvOptions(jid)
	env := assembly.NewEnv(ctx, o)
	f, err := assembly.NewFleet(ctx, env, o, s.NewJID)
	if err != nil {
		return nil, err
	}
	f.Watch, f.Keep, f.Output = s.Watch, s.App.Keep, s.Output
	f.Jobs, f.Warn, f.OldEvents = s, s.Warn, value.Truth(s.Cfg.Opts.At("old_event_tags"))
	if s.Files != nil {
		f.Store = s.Files
	}
	if s.Leaves {
		f.Background = s.App.Background
	} else {
		f.Stay = s.staying.stay(ctx)
	}
	f.Waiting = s.waiting
	f.AskJID = func() string { return s.JIDs.Next(s.App.Host.Now()) }
	env.Fleet = f
	for _, text := range s.limitTexts {
		if err := s.limitTo(ctx, f, text); err != nil {
			return nil, err
		}
	}
	env.OnRunner = s.runnerJob
	env.OnNote = s.Note
	env.OnPrint = func(line string) { fmt.Fprintln(s.App.Out, printable.Text(line)) }
	if err := s.OpenReturners(env); err != nil {
		return nil, err
	}
	if err := s.openBus(ctx, env, f); err != nil {
		return nil, err
	}
	s.OnEnd(func() { _ = f.Close() }, func() { s.staying.wait(s.App.Err) })
	return env, nil
}

// waiting names the targets that a job still waits for.
func (s *Session) waiting(jid string, ids []string, since time.Duration) {
	const shown = 10
	names := strings.Join(ids[:min(shown, len(ids))], ", ")
	if len(ids) > shown {
		names += fmt.Sprintf(" and %d more", len(ids)-shown)
	}
	s.App.Intr.SetWaiting(names)
	if s.Level > slog.LevelWarn {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.App.Err, "brine: job %s: still waiting for %s, after %s\n", jid, printable.Line(names), since)
}

// RosterPath is where the roster is looked for.
func (s *Session) RosterPath() string {
	if p := value.Str(s.Cfg.Opts.At("roster_file")); s.Cfg.Opts.At("roster_file") != nil && p != "" {
		return p
	}
	return filepath.Join(s.Cfg.Dir, "roster")
}
