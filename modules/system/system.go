// Package system is Salt's execution module "system": reboot and shutdown, date
// and time, and the machine's description.
//
// [Going] is for the rest of brine: whether a machine is about to go down.
package system

import (
	"context"
	"fmt"
	"path"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	"brine/modules/cmd"
)

// Module returns the execution module "system".
func Module() fun.Module {
	return fun.Module{Name: "system", Kind: fun.Exec, Doc: "Reboot and shutdown, date and time of a POSIX machine.", Avail: avail, Specs: specs}
}

// avail is Salt's __virtual__.
func avail(e *fun.Env) (bool, string) {
	u, err := e.Host.Uname()
	if err != nil {
		return true, ""
	}
	switch u.Sysname {
	case "Darwin":
		return false, "This module is not available on Mac OS"
	case "SunOS":
		return false, "This module is not available on SunOS"
	}
	return true, ""
}

// run runs a program without a shell, as cmd.run does.
func run(ctx context.Context, c *fun.Call, argv ...string) (cmd.Out, error) {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = proc.Quote(w)
	}
	return cmd.Run(ctx, c.Env, strings.Join(words, " "), cmd.Options{Merge: true})
}

// output runs a program and returns its output with its status.
func output(ctx context.Context, c *fun.Call, argv ...string) (fun.Result, error) {
	out, err := run(ctx, c, argv...)
	return fun.Result{Value: out.Stdout, Retcode: out.Retcode}, err
}

func halt(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return output(ctx, c, "halt")
}

func poweroff(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return output(ctx, c, "poweroff")
}

func reboot(ctx context.Context, c *fun.Call, a *whenArg) (fun.Result, error) {
	return down(ctx, c, a, "-r")
}

func shutdown(ctx context.Context, c *fun.Call, a *whenArg) (fun.Result, error) {
	return down(ctx, c, a, "-h")
}

// down calls shutdown(8). Salt: salt/modules/system.py reboot, shutdown.
func down(ctx context.Context, c *fun.Call, a *whenArg, flag string) (fun.Result, error) {
	at := "now"
	if v := a.AtTime; value.Truth(v) {
		at = value.Str(v)
	}
	return output(ctx, c, "shutdown", flag, at)
}

type initLevelArgs struct {
	_        fun.Arguments
	Runlevel string `arg:"runlevel,required" doc:"the runlevel; 0 halts, 6 reboots"`
}

func initLevel(ctx context.Context, c *fun.Call, a *initLevelArgs) (fun.Result, error) {
	return output(ctx, c, "init", a.Runlevel)
}

func getName(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	name, err := c.Env.Host.Hostname()
	return fun.Result{Value: name}, err
}

type setNameArgs struct {
	_        fun.Arguments
	Hostname value.Value `arg:"hostname,required,str" doc:"the name"`
}

// setName calls network.mod_hostname.
func setName(ctx context.Context, c *fun.Call, a *setNameArgs) (fun.Result, error) {
	return c.Env.Invoker.Invoke(ctx, fun.Exec, "network.mod_hostname", fun.Args{Pos: []value.Value{a.Hostname}})
}

// rebootWitness is on a file system that a reboot empties.
const rebootWitness = "/var/volatile/tmp/salt/reboot_witnessed"

// setRebootWitnessed notes that a reboot is needed.
// Salt: salt/modules/system.py set_reboot_required_witnessed. Difference: it also
// notes it where the directory is there already.
func setRebootWitnessed(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	h := c.Env.Host
	if err := h.MkdirAll(path.Dir(rebootWitness), 0o755); err != nil {
		return fun.Result{}, &fun.InvocationError{Msg: fmt.Sprintf("Error creating %s: %s", path.Dir(rebootWitness), host.Strerror(err))}
	}
	return fun.Value(h.WriteFile(rebootWitness, strings.NewReader(""), host.WriteOptions{}) == nil)
}

func getRebootWitnessed(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return fun.Value(exists(c.Env.Host, rebootWitness))
}

const machineInfo = "/etc/machine-info"

// getDesc asks hostnamectl, else reads PRETTY_HOSTNAME.
// Salt: salt/modules/system.py get_computer_desc.
func getDesc(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	if p := cmd.Which(c.Env, "hostnamectl"); p != "" {
		out, err := run(ctx, c, p, "status", "--pretty")
		return fun.Result{Value: unescape(out.Stdout), Retcode: out.Retcode}, err
	}
	b, err := c.Env.Host.ReadFile(machineInfo)
	if err != nil {
		return fun.Value(false)
	}
	desc, found := "", false
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_HOSTNAME="); ok {
			desc, found = unquote(strings.TrimSpace(v)), true
		}
	}
	if !found {
		return fun.Value(false)
	}
	return fun.Value(unescape(desc))
}

func unquote(s string) string {
	if len(s) > 1 && s[0] == s[len(s)-1] && (s[0] == '"' || s[0] == '\'') {
		return s[1 : len(s)-1]
	}
	return s
}

func unescape(s string) string {
	return strings.NewReplacer(`\"`, `"`, `\n`, "\n", `\t`, "\t").Replace(s)
}

type setDescArgs struct {
	_    fun.Arguments
	Desc string `arg:"desc,required" doc:"the name"`
}

// setDesc tells hostnamectl, else writes PRETTY_HOSTNAME.
// Salt: salt/modules/system.py set_computer_desc. Difference: a line that
// exists keeps its line end.
func setDesc(ctx context.Context, c *fun.Call, a *setDescArgs) (fun.Result, error) {
	desc := strings.NewReplacer(`"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(a.Desc)
	if p := cmd.Which(c.Env, "hostnamectl"); p != "" {
		out, err := run(ctx, c, p, "set-hostname", "--pretty", desc)
		return fun.Result{Value: err == nil && out.Retcode == 0, Retcode: out.Retcode}, err
	}
	b, err := c.Env.Host.ReadFile(machineInfo)
	if err != nil && !isMissing(err) {
		return fun.Value(false)
	}
	var lines []string
	for line := range strings.Lines(string(b)) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	set, done := `PRETTY_HOSTNAME="`+desc+`"`, false
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "PRETTY_HOSTNAME=") {
			lines[i], done = set, true
			break
		}
	}
	if !done {
		lines = append(lines, set)
	}
	return fun.Value(write(c.Env.Host, machineInfo, strings.Join(lines, "\n")+"\n") == nil)
}
