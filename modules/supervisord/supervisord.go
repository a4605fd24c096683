// Package supervisord is Salt's execution module "supervisord": it drives
// supervisorctl.
package supervisord

import (
	"context"
	"path"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// Module returns the execution module "supervisord".
func Module() fun.Module {
	return fun.Module{Name: "supervisord", Kind: fun.Exec, Doc: "Manage processes of supervisord.", Specs: specs}
}

// A Ctl is how supervisorctl is called.
type Ctl struct {
	Env      *fun.Env
	User     string // "" is oneself
	ConfFile string // "" is supervisorctl's own choice
	BinEnv   string // path of supervisorctl, or of its virtualenv
}

// Ctl returns the Ctl that the arguments describe.
func (a *CtlArgs) Ctl(e *fun.Env) *Ctl {
	return &Ctl{Env: e, User: a.User, ConfFile: a.ConfFile, BinEnv: a.BinEnv}
}

// binary returns the path of supervisorctl.
func (s *Ctl) binary() (string, error) {
	const name = "supervisorctl"
	missing := fun.Errorf("Could not find a `%s` binary", name)
	if s.BinEnv == "" {
		found, err := s.Env.Host.LookPath(name, "")
		if err != nil {
			return "", missing
		}
		return found, nil
	}
	if st, err := s.Env.Host.Stat(s.BinEnv); err == nil && st.Mode.IsDir() {
		bin := path.Join(s.BinEnv, "bin", name)
		if st, err := s.Env.Host.Stat(bin); err != nil || !st.Mode.IsRegular() {
			return "", missing
		}
		return bin, nil
	}
	return s.BinEnv, nil
}

// account returns the user that supervisorctl runs as; nil is oneself.
func (s *Ctl) account(ctx context.Context) (*host.Account, error) {
	user := s.User
	if user == "" {
		user = fun.RunAsFrom(ctx).User
	}
	if user == "" {
		return nil, nil
	}
	a, err := s.Env.Host.LookupUser(user)
	if err != nil {
		return nil, fun.Errorf("User '%s' is not available", user)
	}
	return &a, nil
}

// run calls a command of supervisorctl and returns what it prints; a failure
// begins with or has "ERROR".
func (s *Ctl) run(ctx context.Context, command, name string) (string, error) {
	bin, err := s.binary()
	if err != nil {
		return "", err
	}
	user, err := s.account(ctx)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(name, "-") {
		return "", fun.Errorf("invalid name of a process: %s", name)
	}
	argv := []string{bin}
	if s.ConfFile != "" {
		argv = append(argv, "-c", s.ConfFile)
	}
	argv = append(argv, command)
	if name != "" {
		argv = append(argv, name)
	}
	out, err := tool.RunWith(ctx, s.Env.Host, tool.Options{User: user}, argv...)
	if err != nil {
		return "", err
	}
	text := out.Text()
	// status ends with 3 where a process does not run, which is not a failure
	isStatus := command == "status" || strings.HasPrefix(command, "status ")
	if out.OK() || strings.Contains(text, "ERROR") || isStatus && out.Status == 3 {
		return text, nil
	}
	if text == "" {
		text = out.Fault()
	}
	return "ERROR: " + text, nil
}

// group returns the name of a group for start, stop and restart: "group:".
func group(name string) string {
	if strings.HasSuffix(name, ":*") {
		return name[:len(name)-1]
	}
	return name
}

// bare returns the name of a group for add, remove and update: "group".
func bare(name string) string { return strings.TrimSuffix(strings.TrimSuffix(name, ":*"), ":") }

// Start starts a process or group and returns what supervisorctl prints.
func (s *Ctl) Start(ctx context.Context, name string) (string, error) {
	return s.run(ctx, "start", group(name))
}

// Stop stops a process or group.
func (s *Ctl) Stop(ctx context.Context, name string) (string, error) {
	return s.run(ctx, "stop", group(name))
}

// Restart restarts a process or group.
func (s *Ctl) Restart(ctx context.Context, name string) (string, error) {
	return s.run(ctx, "restart", group(name))
}

// Add activates updates of the configuration of a process or group.
func (s *Ctl) Add(ctx context.Context, name string) (string, error) {
	return s.run(ctx, "add", bare(name))
}

// Reread reads the configuration again.
func (s *Ctl) Reread(ctx context.Context) (string, error) { return s.run(ctx, "reread", "") }

// Update reads the configuration again and restarts what changed; name limits it
// to a group.
func (s *Ctl) Update(ctx context.Context, name string) (string, error) {
	return s.run(ctx, "update", bare(name))
}

// A Process is the status of a process.
type Process struct{ Name, State, Reason string }

// Status returns the status of the processes, in the order of supervisorctl.
func (s *Ctl) Status(ctx context.Context, name string) ([]Process, error) {
	text, err := s.run(ctx, "status", name)
	return parse(text), err
}

// parse reads the lines of "supervisorctl status".
func parse(text string) []Process {
	var out []Process
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		p := Process{Name: f[0], State: f[1]}
		if len(f) > 2 {
			rest := strings.TrimLeft(strings.TrimSpace(line)[len(f[0]):], " \t")
			p.Reason = strings.TrimSpace(rest[len(f[1]):])
		}
		out = append(out, p)
	}
	return out
}

func printed(text string, err error) (fun.Result, error) { return fun.Result{Value: text}, err }

// addArgs are the arguments of add and remove.
type addArgs struct {
	nameArg
	CtlArgs
}

func add(ctx context.Context, c *fun.Call, a *addArgs) (fun.Result, error) {
	return printed(a.Ctl(c.Env).Add(ctx, a.Name))
}

type customArgs struct {
	Command string `arg:"command,required" doc:"the command with its arguments"`
	CtlArgs
}

func custom(ctx context.Context, c *fun.Call, a *customArgs) (fun.Result, error) {
	return printed(a.Ctl(c.Env).run(ctx, a.Command, ""))
}

func remove(ctx context.Context, c *fun.Call, a *addArgs) (fun.Result, error) {
	return printed(a.Ctl(c.Env).run(ctx, "remove", bare(a.Name)))
}

func reread(ctx context.Context, c *fun.Call, a *CtlArgs) (fun.Result, error) {
	return printed(a.Ctl(c.Env).Reread(ctx))
}

// restartArgs are the arguments of restart, start and stop.
type restartArgs struct {
	allArg
	CtlArgs
}

func restart(ctx context.Context, c *fun.Call, a *restartArgs) (fun.Result, error) {
	return printed(a.Ctl(c.Env).Restart(ctx, a.Name))
}

func start(ctx context.Context, c *fun.Call, a *restartArgs) (fun.Result, error) {
	return printed(a.Ctl(c.Env).Start(ctx, a.Name))
}

func stop(ctx context.Context, c *fun.Call, a *restartArgs) (fun.Result, error) {
	return printed(a.Ctl(c.Env).Stop(ctx, a.Name))
}

type updateArgs struct {
	CtlArgs
	Name string `arg:"name" doc:"only this group"`
}

func update(ctx context.Context, c *fun.Call, a *updateArgs) (fun.Result, error) {
	return printed(a.Ctl(c.Env).Update(ctx, a.Name))
}

// statusArgs are the arguments of status and statusRaw.
type statusArgs struct {
	someArg
	CtlArgs
}

func status(ctx context.Context, c *fun.Call, a *statusArgs) (fun.Result, error) {
	all, err := a.Ctl(c.Env).Status(ctx, a.Name)
	if err != nil {
		return fun.Result{}, err
	}
	out := value.NewMap(len(all))
	for _, p := range all {
		out.Set(p.Name, value.MapOf("state", p.State, "reason", p.Reason))
	}
	return fun.Value(out)
}

func statusRaw(ctx context.Context, c *fun.Call, a *statusArgs) (fun.Result, error) {
	return printed(a.Ctl(c.Env).run(ctx, "status", a.Name))
}

type statusBoolArgs struct {
	Name          string `arg:"name,required" doc:"the process"`
	ExpectedState string `arg:"expected_state" doc:"state that it has to be in, such as RUNNING"`
	CtlArgs
}

// statusBool reports whether a process is there, in a state where one is named.
func statusBool(ctx context.Context, c *fun.Call, a *statusBoolArgs) (fun.Result, error) {
	all, err := a.Ctl(c.Env).Status(ctx, a.Name)
	if err != nil {
		return fun.Result{}, err
	}
	want := a.ExpectedState
	for _, p := range all {
		if p.Name == a.Name && p.Reason != "(no such process)" {
			return fun.Value(want == "" || p.State == want)
		}
	}
	return fun.Value(false)
}
