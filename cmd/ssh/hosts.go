package ssh

import (
	"context"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/output"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// listHosts prints the targets that the rosters have, by roster file, and the
// host of each; nobody is connected to.
// Salt: salt/client/ssh/__init__.py run, list_hosts.
func listHosts(ctx context.Context, rep *output.Report) error {
	s := rep.Session
	env := assembly.NewEnv(ctx, s.EnvOptions(s.NewJID()))
	r, err := assembly.Roster(ctx, env, s.Cfg, s.SSH)
	if err != nil {
		return err
	}
	if len(r.Entries()) == 0 {
		return noTargets(s, fun.Job{Tgt: "*", TgtType: "glob"})
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
	if err := rep.Print(out, "nested", app.ExitOK); err != nil {
		return err
	}
	return app.Silent(s.StrictStatus(app.ExitOK))
}
