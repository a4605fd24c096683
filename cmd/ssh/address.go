package ssh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"brine/cmd/app"
	"brine/cmd/session"
	"brine/cmd/target"
	"brine/internal/core/fun"
	"brine/internal/core/roster"
	"brine/internal/py/value"
)

// nameTargets takes what the command line says of targets that no roster has: a
// user@host[:port], or several with -L.
func nameTargets(s *session.Session, o *target.Options, job fun.Job) (fun.Job, error) {
	text, ok := job.Tgt.(string)
	if !ok || job.TgtType != "glob" && job.TgtType != "list" || o.RetryFailed != "" {
		return job, noUpdates(o)
	}
	// To the roster clustershell, @ is the sign of a group.
	kinds := roster.KindsOf(s.Cfg.Opts)
	group := strings.HasPrefix(text, "@") && slices.ContainsFunc(kinds, roster.FromTarget)
	if !strings.Contains(text, "@") || o.Prog == target.SaltCLI || group || roster.AllFromTarget(kinds) {
		return job, noUpdates(o)
	}
	parts := []string{text}
	if job.TgtType == "list" {
		parts = strings.Split(text, ",")
	}
	ids := value.NewList()
	for _, part := range parts {
		part = strings.TrimSpace(part)
		a, ok, err := roster.ParseAddress(part)
		switch {
		case err != nil:
			return job, &app.StatusError{Status: app.ExitUsage, Err: err, Hint: "a target without a roster entry is user@host, user@host:port or user@[address]:port"}
		case !ok:
			ids.Append(part)
			continue
		}
		s.SSH.AdHoc = append(s.SSH.AdHoc, a)
		ids.Append(a.ID())
	}
	if len(s.SSH.AdHoc) == 0 { // a glob with an @
		return job, noUpdates(o)
	}
	job.Tgt, job.TgtType = ids, "list"
	return job, canUpdate(s, o)
}

// preferIDs takes a word of the command line that looks like an address, and is an
// id of the roster, for that id.
func preferIDs(ctx context.Context, s *session.Session, env *fun.Env, job fun.Job) (fun.Job, error) {
	if len(s.SSH.AdHoc) == 0 {
		return job, nil
	}
	ids, err := env.Fleet.Match(ctx, "*", "glob")
	if err != nil {
		return job, err
	}
	list, ok := job.Tgt.(*value.List)
	if !ok {
		return job, nil
	}
	out := value.NewList()
	for _, v := range list.Items {
		for _, a := range s.SSH.AdHoc {
			if a.ID() == v && slices.Contains(ids, a.Text) {
				v = a.Text
				break
			}
		}
		out.Append(v)
	}
	job.Tgt = out
	return job, nil
}

// noUpdates refuses --update-roster where no target is given by its address.
func noUpdates(o *target.Options) error {
	if !o.Updates || o.Prog == target.SaltSSH {
		return nil
	}
	return &app.StatusError{Status: app.ExitUsage, Err: errors.New("--update-roster adds targets that are given as user@host; there is none"), Hint: "brine ssh --update-roster user@host test.ping"}
}

// canUpdate refuses --update-roster before anything runs, where the roster is not a file
// that can have more entries.
func canUpdate(s *session.Session, o *target.Options) error {
	path := s.RosterPath()
	if st, err := os.Stat(path); !o.Updates || err != nil || st.Mode().IsRegular() {
		return nil
	}
	return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--update-roster: %s is not a file", path), Hint: "--roster-file names the file that gets the new targets"}
}

// updateRoster adds the addresses that answered to the roster file. Passwords are
// not written.
func updateRoster(s *session.Session, sum fun.Summary) error {
	path := s.RosterPath()
	for _, a := range added(s) {
		if slices.Contains(sum.Missing, a.ID()) {
			continue
		}
		text := a.Lines()
		if b, err := os.ReadFile(path); err == nil && len(b) > 0 && b[len(b)-1] != '\n' {
			text = "\n" + text
		}
		if err := s.App.Host.AppendFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("--update-roster: %w", err)
		}
		fmt.Fprintf(s.App.Err, "brine: %s is now in %s\n", a.ID(), path)
	}
	return nil
}

// added returns the addresses of the command line that the roster file lacks.
func added(s *session.Session) []roster.Address {
	text, err := os.ReadFile(s.RosterPath())
	if err != nil {
		return s.SSH.AdHoc
	}
	return slices.DeleteFunc(slices.Clone(s.SSH.AdHoc), func(a roster.Address) bool {
		key, _, _ := strings.Cut(a.Lines(), "\n")
		return slices.ContainsFunc(strings.Split(string(text), "\n"), func(line string) bool { return strings.HasPrefix(line, key) })
	})
}
