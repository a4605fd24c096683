// Package system is Salt's execution module "system": reboot and shutdown, date
// and time, and the machine's description.
//
// [Going] is for the rest of brine: whether a machine is about to go down.
package system

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/proc"
	"brine/internal/value"
	"brine/modules/cmd"
)

// Module returns the rows of the execution module "system".
func Module() fun.Module {
	src := func(name string) string { return "modules/system.py " + name }
	offset := fun.Arg{Name: "utc_offset", Type: fun.Str, Doc: "offset from UTC as +0600 or 0600; none is the machine's time zone"}
	when := fun.Arg{Name: "at_time", Unit: "min", Doc: "when: minutes from now, or what else shutdown(8) takes, such as 23:30; none is at once"}
	part := func(name, doc string) fun.Arg {
		return fun.Arg{Name: name, Type: fun.Int, Doc: doc + "; none leaves it as it is"}
	}
	return fun.Module{
		Name: "system", Kind: fun.Exec, Doc: "Reboot and shutdown, date and time of a POSIX machine.",
		Avail: avail,
		Specs: []fun.Spec{
			{Name: "get_computer_desc", Doc: "Return the pretty name of the machine, False where it has none.", Src: src("get_computer_desc"), Fn: getDesc},
			{Name: "get_computer_name", Doc: "Return the host name.", Src: src("get_computer_name"), Fn: getName},
			{Name: "get_system_date", Doc: "Return the date, as 'Wed 12/31/2025'.", Src: src("get_system_date"), Args: []fun.Arg{offset}, Fn: shown("%a %m/%d/%Y")},
			{Name: "get_system_date_time", Doc: "Return date and time, as '2025-12-31 23:59:59'.", Src: src("get_system_date_time"), Args: []fun.Arg{offset}, Fn: shown("%Y-%m-%d %H:%M:%S")},
			{Name: "get_system_time", Doc: "Return the time, as '11:59:59 PM'.", Src: src("get_system_time"), Args: []fun.Arg{offset}, Fn: shown("%I:%M:%S %p")},
			{Name: "halt", Doc: "Halt the machine and return what halt(8) says.", Src: src("halt"), Fn: program("halt")},
			{Name: "has_settable_hwclock", Doc: "Tell whether the machine has a hardware clock that can be set.", Src: src("has_settable_hwclock"), Fn: hasHWClock},
			{
				Name: "init", Doc: "Change the runlevel and return what init(8) says.", Src: src("init"), Fn: initLevel,
				Args: []fun.Arg{{Name: "runlevel", Required: true, Doc: "the runlevel; 0 halts, 6 reboots"}},
			},
			{Name: "poweroff", Doc: "Switch the machine off and return what poweroff(8) says.", Src: src("poweroff"), Fn: program("poweroff")},
			{
				Name: "reboot", Src: src("reboot"), Args: []fun.Arg{when}, Fn: down("-r"),
				Doc: "Reboot the machine and return what shutdown(8) says.\n\nIn an orchestration, reboot a minute ahead (system.reboot 1), so that the\nstep returns, and wait with salt.wait_for_event for salt/minion/*/start.",
			},
			{
				Name: "set_computer_desc", Doc: "Set the pretty name of the machine; False where that fails.", Src: src("set_computer_desc"), Fn: setDesc,
				Args: []fun.Arg{{Name: "desc", Type: fun.Str, Required: true, Doc: "the name"}},
			},
			{
				Name: "set_system_date", Doc: "Set the date, and the hardware clock where there is one.", Src: src("set_system_date"), Fn: setDate,
				Args: []fun.Arg{
					{Name: "newdate", Type: fun.Str, Required: true, Doc: "YYYY-MM-DD, MM-DD-YYYY or MM-DD-YY, also with slashes"},
					offset,
				},
			},
			{
				Name: "set_system_date_time", Doc: "Set parts of date and time, and the hardware clock where there is one.", Src: src("set_system_date_time"), Fn: setDateTime,
				Args: []fun.Arg{
					part("years", "the year, four digits"), part("months", "1 to 12"), part("days", "1 to 31"),
					part("hours", "0 to 23"), part("minutes", "0 to 59"), part("seconds", "0 to 59"), offset,
				},
			},
			{
				Name: "set_system_time", Doc: "Set the time, and the hardware clock where there is one; False for text that is no time.", Src: src("set_system_time"), Fn: setTime,
				Args: []fun.Arg{
					{Name: "newtime", Type: fun.Str, Required: true, Doc: "HH:MM or HH:MM:SS, also with AM or PM behind; quote it twice, since 11:20 is a number to YAML"},
					offset,
				},
			},
			{Name: "shutdown", Doc: "Shut the machine down and return what shutdown(8) says.", Src: src("shutdown"), Args: []fun.Arg{when}, Fn: down("-h")},
		},
	}
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

func program(name string) fun.ExecFn {
	return func(ctx context.Context, c *fun.Call) (fun.Result, error) { return output(ctx, c, name) }
}

// down calls shutdown(8). Salt: salt/modules/system.py reboot, shutdown.
func down(flag string) fun.ExecFn {
	return func(ctx context.Context, c *fun.Call) (fun.Result, error) {
		at := "now"
		if v := c.Value("at_time"); value.Truth(v) {
			at = value.Str(v)
		}
		return output(ctx, c, "shutdown", flag, at)
	}
}

func initLevel(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return output(ctx, c, "init", c.Str("runlevel"))
}

func getName(_ context.Context, c *fun.Call) (fun.Result, error) {
	name, err := c.Env.Host.Hostname()
	return fun.Result{Value: name}, err
}

const machineInfo = "/etc/machine-info"

// getDesc asks hostnamectl, else reads PRETTY_HOSTNAME.
// Salt: salt/modules/system.py get_computer_desc.
func getDesc(ctx context.Context, c *fun.Call) (fun.Result, error) {
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

// setDesc tells hostnamectl, else writes PRETTY_HOSTNAME.
// Salt: salt/modules/system.py set_computer_desc. Difference: the line that is
// there keeps its line end.
func setDesc(ctx context.Context, c *fun.Call) (fun.Result, error) {
	desc := strings.NewReplacer(`"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(c.Str("desc"))
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
