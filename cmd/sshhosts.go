package cmd

import (
	"context"
	"fmt"
	"os"

	"brine/cmd/assembly"
	"brine/internal/value"
)

// listHosts prints the targets that the rosters have, by roster file, and the
// host of each; nobody is connected to.
// Salt: salt/client/ssh/__init__.py run, list_hosts.
func (s *session) listHosts(ctx context.Context) error {
	env := assembly.NewEnv(ctx, s.envOptions(s.newJID()))
	r, err := assembly.Roster(ctx, env, s.cfg, s.ssh)
	if err != nil {
		return err
	}
	if len(r.Entries()) == 0 {
		return s.noTargets()
	}
	out := value.NewMap(1)
	for _, e := range r.Entries() {
		file := e.Pos.File
		hosts := out.Map(file)
		if hosts == nil {
			hosts = value.NewMap(8)
			out.Set(file, hosts)
		}
		hosts.Set(e.ID, e.Host)
	}
	if err := s.print(out, "nested", exitOK); err != nil {
		return err
	}
	return silent(s.strictStatus(exitOK))
}

// noTargets says that there is nobody in the rosters.
func (s *session) noTargets() error {
	hint := fmt.Sprintf("it is %s; --roster-file names another one, 'brine init' writes one to start from", s.rosterPath())
	if _, err := os.Stat("roster"); err == nil && s.rosterPath() != "roster" {
		hint = fmt.Sprintf("it is %s; -c . takes the configuration and the roster of this directory", s.rosterPath())
	}
	return &statusError{status: exitGeneric, err: fmt.Errorf("the roster has no targets"), hint: hint}
}

// checkFailedFile sees that --failed-file can be written while nothing has been
// done yet.
func (o *sshOpts) checkFailedFile() error {
	if o.failedFile == "" {
		return nil
	}
	f, err := os.OpenFile(o.failedFile, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return &statusError{status: exitUsage, err: fmt.Errorf("--failed-file: %w", err)}
	}
	return f.Close()
}
