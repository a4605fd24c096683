// Package systemdtest is a fake machine with systemd: systemctl and journalctl,
// as far as brine uses them.
package systemdtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/host"
)

// A Unit is a unit of the fake machine.
type Unit struct {
	Load    string // default: loaded
	Active  string // default: inactive
	State   string // of its file: enabled, disabled, static; default: disabled
	Type    string // of a service; default: simple
	Source  string // init script
	Remains bool
	Changed bool
	Reloads bool
	Refuse  string // what systemctl says when it will not start
	Then    string // ActiveState after a start that worked; default: active
	Stuck   bool   // does not stop
	Status  int    // exit status of its main process, which fails where it is not 0
	Stale   bool   // Status is that of an earlier start: this one did not get so far
	Wrote   string // what its processes wrote to the journal
}

// A Machine is a fake machine with units. Calls lists what its systemctl did.
type Machine struct {
	*host.Fake
	Units map[string]*Unit
}

// New returns a machine with units by their full names.
func New(units map[string]*Unit) *Machine {
	m := &Machine{Fake: host.NewFake(), Units: units}
	m.PutDir("/run/systemd/system", 0o755)
	m.PutDir("/etc/systemd/system", 0o755)
	m.PutDir("/usr/lib/systemd/system", 0o755)
	m.PutExe("/usr/bin/systemctl")
	for name, u := range units {
		for _, f := range []struct {
			field *string
			def   string
		}{{&u.Load, "loaded"}, {&u.Active, "inactive"}, {&u.State, "disabled"}, {&u.Type, "simple"}, {&u.Then, "active"}} {
			if *f.field == "" {
				*f.field = f.def
			}
		}
		if u.Load == "masked" {
			m.PutLink("/etc/systemd/system/"+name, "/dev/null")
			u.State = "masked"
		}
		if u.Source == "" && u.Load == "loaded" {
			m.PutFile("/usr/lib/systemd/system/"+name, "[Unit]\n", 0o644)
		}
	}
	m.HandleCommand("systemctl *", m.systemctl)
	m.HandleCommand("journalctl *", m.journalctl)
	return m
}

// journalctl has what the processes of a unit wrote, or a line of systemd's.
func (m *Machine) journalctl(_ context.Context, c host.Cmd) (host.Output, error) {
	text := "it said why\n"
	for _, a := range c.Argv {
		if name, ok := strings.CutPrefix(a, "_SYSTEMD_UNIT="); ok {
			text = ""
			if u := m.Units[name]; u != nil {
				text = u.Wrote
			}
		}
	}
	return host.Output{Stdout: []byte(text)}, nil
}

// Commands returns the command lines that were run, without options that every
// call has.
func (m *Machine) Commands() []string {
	var out []string
	for _, c := range m.Calls() {
		line := strings.Join(c.Argv, " ")
		for _, o := range []string{" --no-pager", " --no-ask-password", " --"} {
			line = strings.ReplaceAll(line+" ", o+" ", " ")
			line = strings.TrimRight(line, " ")
		}
		if i := strings.Index(line, " --property "); i >= 0 {
			rest := strings.SplitN(line[i+len(" --property "):], " ", 2)
			line = line[:i] + " " + rest[len(rest)-1]
		}
		out = append(out, line)
	}
	return out
}

func (m *Machine) systemctl(_ context.Context, c host.Cmd) (host.Output, error) {
	var action string
	var names, options []string
	for i := 1; i < len(c.Argv); i++ {
		switch a := c.Argv[i]; {
		case slices.Contains(c.Argv[1:i], "--"):
			names = append(names, a)
		case a == "--property" || a == "--root":
			i++
		case strings.HasPrefix(a, "-"):
			options = append(options, a)
		case action == "":
			action = a
		default:
			names = append(names, a)
		}
	}
	switch action {
	case "show":
		var blocks []string
		for _, n := range names {
			blocks = append(blocks, m.show(n))
		}
		return host.Output{Stdout: []byte(strings.Join(blocks, "\n"))}, nil
	case "is-enabled":
		return m.isEnabled(names), nil
	case "daemon-reload":
		for _, u := range m.Units {
			u.Changed = false
		}
		return host.Output{}, nil
	}
	for _, n := range names {
		if out := m.act(action, n, slices.Contains(options, "--runtime")); out.Status != 0 {
			return out, nil
		}
	}
	return host.Output{}, nil
}

func (m *Machine) show(name string) string {
	u := m.Units[name]
	if u == nil {
		return fmt.Sprintf("Id=%s\nLoadState=not-found\nActiveState=inactive\nUnitFileState=\nNeedDaemonReload=no\nFragmentPath=\n", name)
	}
	yes := map[bool]string{true: "yes", false: "no"}
	result, ended := "success", 20
	if u.Status != 0 {
		result = "exit-code"
	}
	if u.Stale {
		ended = 5
	}
	frag := "/usr/lib/systemd/system/" + name
	if u.Source != "" {
		frag = "/run/systemd/generator.late/" + name
	}
	return fmt.Sprintf("Type=%s\nRemainAfterExit=%s\nResult=%s\nExecMainCode=1\nExecMainStatus=%d\nExecMainExitTimestampMonotonic=%d\nInactiveExitTimestampMonotonic=10\nId=%s\nLoadState=%s\nActiveState=%s\nSubState=x\nFragmentPath=%s\nSourcePath=%s\nUnitFileState=%s\nCanReload=%s\nNeedDaemonReload=%s\nExecStart={ path=/bin/%s ; argv[]=/bin/%s -x ; ignore_errors=no }\n",
		u.Type, yes[u.Remains], result, u.Status, ended, name, u.Load, u.Active, frag, u.Source, u.State, yes[u.Reloads], yes[u.Changed], name, name)
}

func (m *Machine) isEnabled(names []string) host.Output {
	var out host.Output
	out.Status = 1
	for _, n := range names {
		u := m.Units[n]
		if u == nil {
			out.Stderr = fmt.Appendf(nil, "Failed to get unit file state for %s: No such file or directory\n", n)
			out.Status = 1
			return out
		}
		out.Stdout = fmt.Appendf(out.Stdout, "%s\n", u.State)
		if u.State == "enabled" || u.State == "static" {
			out.Status = 0
		}
	}
	return out
}

func fail(status int, format string, a ...any) host.Output {
	return host.Output{Status: status, Stderr: fmt.Appendf(nil, format+"\n", a...)}
}

func (m *Machine) act(action, name string, runtime bool) host.Output {
	u := m.Units[name]
	dir := "/etc/systemd/system/"
	if runtime {
		dir = "/run/systemd/system/"
	}
	switch action {
	case "mask":
		m.PutLink(dir+name, "/dev/null")
		if u != nil {
			u.Load, u.State = "masked", "masked"
		}
		return host.Output{}
	case "unmask":
		_ = m.Remove(dir + name)
		if u != nil {
			u.Load, u.State = "loaded", "disabled"
		}
		return host.Output{}
	}
	if u == nil {
		return fail(5, "Failed to %s %s: Unit %s not found.", action, name, name)
	}
	switch action {
	case "start", "restart", "reload", "force-reload":
		switch {
		case u.Load == "masked":
			return fail(1, "Failed to %s %s: Unit %s is masked.", action, name, name)
		case u.Refuse != "":
			return fail(1, "%s", u.Refuse)
		case action == "reload" && !u.Reloads:
			return fail(3, "Failed to reload %s: Job type reload is not applicable for unit %s.", name, name)
		}
		u.Active = u.Then
	case "stop":
		if u.Stuck {
			return fail(1, "Job for %s canceled.", name)
		}
		u.Active = "inactive"
	case "enable":
		if u.Load == "masked" {
			return fail(1, "Failed to enable unit: Unit file /etc/systemd/system/%s is masked.", name)
		}
		if u.State == "disabled" {
			u.State = "enabled"
		}
	case "disable":
		if u.State == "enabled" {
			u.State = "disabled"
		}
	}
	return host.Output{}
}
