package sysv

import (
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/service"
	"brine/modules/tool"
)

// RedHat returns the execution module "service" of Red Hat's systems before
// systemd: init scripts, and jobs of upstart where that is the init.
func RedHat() fun.Module {
	return fun.Module{Name: "service", Kind: fun.Exec, Doc: "Manage init scripts and upstart jobs of Red Hat.", Avail: onRedHat, Specs: redhatSpecs}
}

// firstSystemd returns the major release from which a system has systemd; 0 is none.
func firstSystemd(os string) (major int, known bool) {
	switch os {
	case "XenServer", "XCP-ng", "RedHat", "CentOS", "ScientificLinux", "OEL", "CloudLinux":
		return 7, true
	case "Fedora":
		return 15, true
	case "SUSE":
		return 12, true
	case "Amazon", "ALT", "SUSE  Enterprise Server", "McAfee  OS Server", "VirtuozzoLinux":
		return 0, true
	}
	return 0, false
}

func onRedHat(env *fun.Env) (bool, string) {
	if machine.Booted(env.Host) {
		return false, "this system was booted with systemd"
	}
	os := machine.Grain(env, "os")
	first, ok := firstSystemd(os)
	if !ok {
		return false, "only for Red Hat and what is made of it"
	}
	major, _, _ := strings.Cut(machine.Grain(env, "osrelease"), ".")
	n, err := strconv.Atoi(major)
	if err == nil && first > 0 && n >= first || os == "SUSE" && n != 11 {
		return false, os + " " + major + " uses systemd"
	}
	return true, ""
}

// hasUpstart reports whether upstart is there.
func hasUpstart(h host.Host) bool {
	_, err := h.LookPath("initctl", "")
	return err == nil
}

func jobFile(name string) string { return path.Join("/etc/init", name+".conf") }

// isUpstart reports whether a service is a job of upstart.
func isUpstart(h host.Host, name string) bool {
	return hasUpstart(h) && service.Check(name) == nil && machine.Exists(h, jobFile(name))
}

// manual finds the stanza that keeps a job from starting by itself.
const manual = `(?m)^[ \t]*manual\b.*\n?`

// jobEnabled reports whether a job starts by itself.
func jobEnabled(h host.Host, name string) bool {
	for _, f := range []string{jobFile(name), "/etc/init/" + name + ".override"} {
		text, err := h.ReadFile(f)
		if err == nil && regexp.MustCompile(manual).Match(text) {
			return false
		}
	}
	return true
}

// switchJob has a job start by itself or not.
func switchJob(h host.Host, name string, on bool) (bool, error) {
	if jobEnabled(h, name) == on {
		return true, nil
	}
	override := "/etc/init/" + name + ".override"
	if !on {
		if err := h.AppendFile(override, []byte("manual\n"), 0o644); err != nil {
			return false, fun.Errorf("%v", err)
		}
		return !jobEnabled(h, name), nil
	}
	re := regexp.MustCompile(manual)
	for _, f := range []string{jobFile(name), override} {
		text, err := h.ReadFile(f)
		if err != nil || !re.Match(text) {
			continue
		}
		rest := re.ReplaceAll(text, nil)
		if f == override && len(rest) == 0 {
			err = h.Remove(f)
		} else {
			err = h.WriteFile(f, strings.NewReader(string(rest)), host.WriteOptions{})
		}
		if err != nil {
			return false, fun.Errorf("%v", err)
		}
	}
	return jobEnabled(h, name), nil
}

func jobs(h host.Host) []string {
	if !hasUpstart(h) {
		return nil
	}
	files, _ := h.ReadDir("/etc/init")
	var names []string
	for _, f := range files {
		if n, ok := strings.CutSuffix(f, ".conf"); ok {
			names = append(names, n)
		}
	}
	return names
}

// levels are the runlevels by init script that chkconfig knows.
type levels map[string]string

type levelsKey struct{}

// chkconfig returns the scripts that chkconfig knows, asked for all at once.
func chkconfig(ctx context.Context, c *fun.Call) (levels, error) {
	return machine.Keep(c.Env, levelsKey{}, func() (levels, error) {
		out, err := tool.Look(ctx, c.Env.Host, "/sbin/chkconfig", "--list")
		return parseLevels(out.Stdout), err
	})
}

// parseLevels reads lines such as "sshd 0:off 1:off 2:on ...", and of xinetd
// "rsync on" and "rsync: on".
func parseLevels(text string) levels {
	l := levels{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) > 1 && strings.HasPrefix(f[1], "0:"):
			l[f[0]] = strings.Join(f[1:], " ") + " "
		case len(f) == 2 && (f[1] == "on" || f[1] == "off"):
			l[strings.TrimSuffix(f[0], ":")] = f[1]
		}
	}
	return l
}

// on reports whether a script is on in a runlevel.
func (l levels) on(name, level string) bool {
	return l[name] == "on" || strings.Contains(" "+l[name], " "+level+":on ")
}

// scriptOn reports whether an init script is started in the current runlevel.
func scriptOn(ctx context.Context, c *fun.Call, name string) (bool, error) {
	l, err := chkconfig(ctx, c)
	if err != nil {
		return false, err
	}
	level, err := runlevel(ctx, c.Env, "3")
	if err != nil {
		return false, err
	}
	return l.on(name, level) || starting(c.Env.Host, "/etc/rc.d/rc"+level+".d")[name], nil
}

func redhatOn(ctx context.Context, c *fun.Call, a *nameArgs) (bool, error) {
	if name := a.Name; !isUpstart(c.Env.Host, name) {
		return scriptOn(ctx, c, name)
	}
	return jobEnabled(c.Env.Host, a.Name), nil
}

func redhatIsEnabled(ctx context.Context, c *fun.Call, a *debianIsEnabledArgs) (fun.Result, error) {
	return machine.Bool(redhatOn(ctx, c, &a.nameArgs))
}

func redhatIsDisabled(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	on, err := redhatOn(ctx, c, a)
	return machine.Bool(!on, err)
}

// isScript reports whether there is an init script of a name.
func isScript(h host.Host, name string) bool {
	return service.Check(name) == nil && machine.Executable(h, scriptAt(name))
}

// limited returns the services of the kinds that limit lets through, with whether they
// are enabled where ask says so.
func limited(ctx context.Context, c *fun.Call, limit string, ask bool) (map[string]bool, error) {
	limit = strings.ToLower(limit)
	h, all := c.Env.Host, map[string]bool{}
	if limit != "upstart" {
		l, err := chkconfig(ctx, c)
		if err != nil {
			return nil, err
		}
		for name := range maps.Keys(l) {
			if !strings.Contains(l[name], ":") || !isScript(h, name) {
				continue
			}
			on := false
			if ask {
				if on, err = scriptOn(ctx, c, name); err != nil {
					return nil, err
				}
			}
			all[name] = on
		}
	}
	if limit != "sysvinit" {
		for _, name := range jobs(h) {
			all[name] = jobEnabled(h, name)
		}
	}
	return all, nil
}

// redhatList returns the services for which keep holds, sorted.
func redhatList(ctx context.Context, c *fun.Call, limit string, ask bool, keep func(on bool) bool) ([]string, error) {
	all, err := limited(ctx, c, limit, ask)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(all))
	return slices.DeleteFunc(names, func(n string) bool { return !keep(all[n]) }), nil
}

func anyOf(bool) bool    { return true }
func isOn(on bool) bool  { return on }
func isOff(on bool) bool { return !on }

func redhatAll(ctx context.Context, c *fun.Call) ([]string, error) {
	return redhatList(ctx, c, "", false, anyOf)
}

func redhatGetAll(ctx context.Context, c *fun.Call, a *limitArg) (fun.Result, error) {
	return machine.Strings(redhatList(ctx, c, a.Limit, false, anyOf))
}

func redhatGetEnabled(ctx context.Context, c *fun.Call, a *limitArg) (fun.Result, error) {
	return machine.Strings(redhatList(ctx, c, a.Limit, true, isOn))
}

func redhatGetDisabled(ctx context.Context, c *fun.Call, a *limitArg) (fun.Result, error) {
	return machine.Strings(redhatList(ctx, c, a.Limit, true, isOff))
}

// there reports whether there is a service of the kind that limit names.
func there(ctx context.Context, c *fun.Call, a *redhatAvailableArgs) (bool, error) {
	h, name := c.Env.Host, a.Name
	switch a.Limit {
	case "upstart":
		return isUpstart(h, name), nil
	case "sysvinit":
		return isScript(h, name), nil
	}
	if isUpstart(h, name) || isScript(h, name) {
		return true, nil
	}
	l, err := chkconfig(ctx, c)
	return l[name] != "", err
}

// redhatAvailableArgs are the arguments of redhatAvailable and redhatMissing.
type redhatAvailableArgs struct {
	service.NameArg
	limitArg
}

func redhatAvailable(ctx context.Context, c *fun.Call, a *redhatAvailableArgs) (fun.Result, error) {
	return machine.Bool(there(ctx, c, a))
}

func redhatMissing(ctx context.Context, c *fun.Call, a *redhatAvailableArgs) (fun.Result, error) {
	is, err := there(ctx, c, a)
	return machine.Bool(!is, err)
}

// redhatDo runs a command of a service.
func redhatDo(ctx context.Context, c *fun.Call, a *nameArgs, command string) (fun.Result, error) {
	name := a.Name
	if err := service.Check(name); err != nil {
		return fun.Result{}, err
	}
	if isUpstart(c.Env.Host, name) {
		return tool.Succeeds(ctx, c.Env.Host, command, name)
	}
	return tool.Succeeds(ctx, c.Env.Host, "/sbin/service", name, command)
}

func redhatStart(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return redhatDo(ctx, c, a, "start")
}

func redhatStop(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return redhatDo(ctx, c, a, "stop")
}

func redhatRestart(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return redhatDo(ctx, c, a, "restart")
}

func redhatReload(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return redhatDo(ctx, c, a, "reload")
}

func redhatStatus(ctx context.Context, c *fun.Call, _ *debianStatusArgs) (fun.Result, error) {
	return service.Status(ctx, c, redhatAll, redhatRuns)
}

func redhatRuns(ctx context.Context, c *fun.Call, name string) (bool, error) {
	if err := service.Check(name); err != nil {
		return false, err
	}
	if isUpstart(c.Env.Host, name) {
		out, err := tool.Look(ctx, c.Env.Host, "status", name)
		return strings.Contains(out.Stdout, "start/running"), err
	}
	out, err := tool.Look(ctx, c.Env.Host, "/sbin/service", name, "status")
	return out.Status == 0, err
}

// redhatSwitch has a service started at boot or not. A script that chkconfig does
// not know is made known to it.
func redhatSwitch(ctx context.Context, c *fun.Call, a *debianIsEnabledArgs, on bool) (fun.Result, error) {
	h, name := c.Env.Host, a.Name
	if err := service.Check(name); err != nil {
		return fun.Result{}, err
	}
	if isUpstart(h, name) {
		return machine.Bool(switchJob(h, name, on))
	}
	l, err := chkconfig(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	if l[name] == "" {
		if res, err := tool.Succeeds(ctx, h, "/sbin/chkconfig", "--add", name); err != nil || !value.Truth(res.Value) {
			return res, err
		}
	}
	word := "off"
	if on {
		word = "on"
	}
	return tool.Succeeds(ctx, h, "/sbin/chkconfig", name, word)
}

func redhatEnable(ctx context.Context, c *fun.Call, a *debianIsEnabledArgs) (fun.Result, error) {
	return redhatSwitch(ctx, c, a, true)
}

func redhatDisable(ctx context.Context, c *fun.Call, a *debianIsEnabledArgs) (fun.Result, error) {
	return redhatSwitch(ctx, c, a, false)
}

// redhatDelete takes a service out of chkconfig's hands, or a job out of upstart's.
func redhatDelete(ctx context.Context, c *fun.Call, a *debianIsEnabledArgs) (fun.Result, error) {
	h, name := c.Env.Host, a.Name
	if err := service.Check(name); err != nil {
		return fun.Result{}, err
	}
	if isUpstart(h, name) {
		if err := h.Rename(jobFile(name), jobFile(name)+".removed"); err != nil {
			return fun.Result{}, fun.Errorf("%v", err)
		}
		return fun.Value(true)
	}
	l, err := chkconfig(ctx, c)
	if err != nil || l[name] == "" {
		return machine.Bool(false, err)
	}
	return tool.Succeeds(ctx, h, "/sbin/chkconfig", "--del", name)
}
