// Package timezone is Salt's execution module "timezone": the time zone of the
// system and of its hardware clock.
//
// What timedatectl would tell is read from the files that it reads.
package timezone

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "timezone".
func Module() fun.Module {
	return fun.Module{Name: "timezone", Kind: fun.Exec, Doc: "Time zone of the system and of its hardware clock.", Avail: available, Specs: specs}
}

func available(env *fun.Env) (bool, string) {
	switch machine.Grain(env, "kernel") {
	case "Windows", "Darwin", "SunOS", "AIX":
		return false, "only for Linux and BSD"
	}
	return true, ""
}

const (
	zones   = "/usr/share/zoneinfo/"
	adjtime = "/etc/adjtime"
)

// Arguments of set_hwclock.
const (
	utc   = "UTC"
	local = "localtime"
)

// A clock is the time zone of a machine.
type clock struct {
	env    *fun.Env
	h      host.Host
	family string
}

func of(c *fun.Call) clock {
	return clock{c.Env, c.Env.Host, machine.Grain(c.Env, "os_family")}
}

// systemd reports whether timedatectl sets the zone.
func (k clock) systemd() bool { return machine.Booted(k.h) && tool.Has(k.h, "timedatectl") }

// localtime is the file that says what the local time is.
func (k clock) localtime() string {
	if strings.Contains(k.family, "NILinuxRT") && strings.Contains(machine.Grain(k.env, "lsb_distrib_id"), "nilrt") {
		return "/etc/natinst/share/localtime"
	}
	return "/etc/localtime"
}

// linked returns the zone that the file of the local time leads to, or is a copy of.
func (k clock) linked() (string, error) {
	file := k.localtime()
	to, err := k.h.Readlink(file)
	if err == nil {
		if !path.IsAbs(to) {
			to = path.Join("/etc", to)
		}
		if zone, ok := strings.CutPrefix(path.Clean(to), zones); ok {
			return zone, nil
		}
		return "", fun.Errorf("Unable to determine timezone")
	}
	text, err := k.h.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && k.systemd():
		return utc, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", fun.Errorf("%s does not exist", file)
	case err != nil:
		return "", fun.Errorf("%v", err)
	}
	if zone := k.copyOf(text, ""); zone != "" {
		return zone, nil
	}
	return "", fun.Errorf("Unable to determine timezone")
}

// copyOf returns the zone below a directory of zones whose file has a content.
func (k clock) copyOf(text []byte, below string) string {
	names, _ := k.h.ReadDir(zones + below)
	for _, n := range names {
		if n == "" || n[0] >= 'a' && n[0] <= 'z' || strings.HasPrefix(n, ".") {
			continue // posix, right, tzdata.zi, ...
		}
		zone := path.Join(below, n)
		st, err := k.h.Lstat(zones + zone)
		switch {
		case err != nil:
		case st.Mode.IsDir():
			if found := k.copyOf(text, zone); found != "" {
				return found
			}
		case st.Mode.IsRegular() && st.Size == int64(len(text)):
			if data, err := k.h.ReadFile(zones + zone); err == nil && bytes.Equal(data, text) {
				return zone
			}
		}
	}
	return ""
}

// zone returns the name of the zone. Salt: salt/modules/timezone.py get_zone.
func (k clock) zone() (string, error) {
	is := func(families ...string) bool {
		for _, f := range families {
			if strings.Contains(k.family, f) {
				return true
			}
		}
		return false
	}
	switch {
	case k.systemd() || strings.EqualFold(machine.Grain(k.env, "os"), "centos"):
		return k.linked()
	case is("RedHat", "Suse"):
		for _, key := range []string{"ZONE", "TIMEZONE"} {
			if zone, ok := machine.Setting(k.h, "/etc/sysconfig/clock", key); ok {
				if zone == "" {
					zone = utc
				}
				return zone, nil
			}
		}
		return k.linked()
	case is("Debian", "Gentoo"):
		text, err := k.h.ReadFile("/etc/timezone")
		if err == nil && strings.TrimSpace(string(text)) != "" {
			return strings.TrimSpace(value.DecodeReplace(text)), nil
		}
	}
	return k.linked()
}

func getZone(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	zone, err := of(c).zone()
	return fun.Result{Value: zone}, err
}

// date asks date(1), which knows of a zone that was changed meanwhile.
func date(ctx context.Context, c *fun.Call, format string) (fun.Result, error) {
	out, err := tool.Look(ctx, c.Env.Host, "date", format)
	return fun.Result{Value: strings.TrimSpace(out.Stdout)}, err
}

func getZonecode(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return date(ctx, c, "+%Z")
}

func getOffset(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return date(ctx, c, "+%z")
}

// zoneFile returns the file of a zone.
func zoneFile(zone string) (string, error) {
	if zone == "" || strings.HasPrefix(zone, "-") || path.Clean("/" + zone)[1:] != zone || strings.ContainsRune(zone, 0) {
		return "", fun.Errorf("'%s' is not the name of a timezone", zone)
	}
	return zones + zone, nil
}

// setZone sets the zone. It returns text, as Salt does, for one that there is not.
func setZone(ctx context.Context, c *fun.Call, a *zoneArgs) (fun.Result, error) {
	k, zone := of(c), a.Timezone
	file, err := zoneFile(zone)
	if err != nil {
		return fun.Result{}, err
	}
	if st, err := k.h.Stat(file); err != nil || !st.Mode.IsRegular() {
		return fun.Result{Value: "Zone does not exist: " + file, Retcode: 1}, nil
	}
	// The file beside the link comes first: if the disk is full, nothing has changed.
	if err := k.note(zone); err != nil {
		return fun.Result{}, err
	}
	if k.systemd() {
		if out, err := tool.Run(ctx, k.h, "timedatectl", "--no-ask-password", "set-timezone", zone); err != nil || out.Status != 0 {
			k.env.Log().Debug("timedatectl set-timezone failed", "stderr", out.Fault())
		}
	}
	if err := k.link(file); err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(true)
}

// link makes the file of the local time a link to a zone's file, in one step.
func (k clock) link(file string) error {
	at := k.localtime()
	if to, err := k.h.Readlink(at); err == nil && to == file {
		return nil
	}
	next := at + ".brine"
	_ = k.h.Remove(next)
	if err := k.h.Symlink(file, next); err != nil {
		return err
	}
	err := k.h.Rename(next, at)
	if err != nil {
		_ = k.h.Remove(next)
	}
	return err
}

// note writes the zone into the file that the system keeps beside the link.
func (k clock) note(zone string) error {
	const sysconfig = "/etc/sysconfig/clock"
	switch {
	case strings.Contains(k.family, "RedHat") && machine.Exists(k.h, sysconfig):
		return machine.Set(k.h, sysconfig, "ZONE", `ZONE="`+zone+`"`, false)
	case strings.Contains(k.family, "Suse") && machine.Exists(k.h, sysconfig):
		return machine.Set(k.h, sysconfig, "TIMEZONE", `TIMEZONE="`+zone+`"`, false)
	case strings.Contains(k.family, "Debian") || strings.Contains(k.family, "Gentoo"):
		return machine.Write(k.h, "/etc/timezone", zone+"\n")
	}
	return nil
}

// zoneCompare reports whether the local time is that of a zone, under whatever name.
func zoneCompare(_ context.Context, c *fun.Call, a *zoneArgs) (fun.Result, error) {
	k, zone := of(c), a.Timezone
	file, err := zoneFile(zone)
	if err != nil {
		return fun.Result{}, err
	}
	want, err := k.h.ReadFile(file)
	if err != nil {
		return fun.Result{}, &fun.InvocationError{Msg: `Can't find a local timezone "` + zone + `"`}
	}
	at := k.localtime()
	has, err := k.h.ReadFile(at)
	if err != nil {
		if strings.Contains(k.family, "Arch") || strings.Contains(k.family, "FreeBSD") || errors.Is(err, fs.ErrNotExist) && k.systemd() {
			is, err := k.zone()
			return machine.Bool(is == zone, err)
		}
		return fun.Result{}, fun.Errorf("Failed to read %s to determine current timezone: %s", at, host.OSError(err))
	}
	return fun.Value(bytes.Equal(has, want))
}

// hwclock returns what the hardware clock shows: UTC or localtime, as files say.
// Salt: salt/modules/timezone.py get_hwclock.
func (k clock) hwclock() (value.Value, error) {
	if k.systemd() {
		if k.adjusted() == "LOCAL" {
			return local, nil
		}
		return utc, nil
	}
	has := func(family string) bool { return strings.Contains(k.family, family) }
	switch {
	case has("Debian"):
		if v, ok := machine.Setting(k.h, "/etc/default/rcS", utc); ok {
			if strings.EqualFold(v, "yes") {
				return utc, nil
			}
			return local, nil
		}
	case has("Gentoo") && !machine.Exists(k.h, adjtime):
		switch v, _ := machine.Setting(k.h, "/etc/conf.d/hwclock", "clock"); v {
		case utc:
			return utc, nil
		case "local":
			return "LOCAL", nil
		}
		return nil, fun.Errorf("Correct offset value not found in /etc/conf.d/hwclock")
	case has("Slackware") && !machine.Exists(k.h, adjtime):
		text, err := k.h.ReadFile("/etc/hardwareclock")
		if err == nil && !strings.Contains("\n"+string(text), "\nUTC") {
			return local, nil
		}
		return utc, nil
	}
	switch word := k.adjusted(); {
	case word != "":
		return word, nil
	case machine.Exists(k.h, "/dev/rtc"):
		return nil, fun.Errorf("Unable to get hwclock timezone from %s", adjtime)
	}
	return nil, nil // there is no such clock
}

// adjusted returns the last line of /etc/adjtime: UTC or LOCAL.
func (k clock) adjusted() string {
	text, err := k.h.ReadFile(adjtime)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(lines) < 3 && k.systemd() {
		return ""
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

func getHwclock(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	word, err := of(c).hwclock()
	return fun.Result{Value: word}, err
}

type setHwclockArgs struct {
	_     fun.Arguments
	Clock string `arg:"clock,required" doc:"UTC or localtime"`
}

func setHwclock(ctx context.Context, c *fun.Call, a *setHwclockArgs) (fun.Result, error) {
	k, word := of(c), a.Clock
	if k.systemd() {
		truth := "false"
		if word == local {
			truth = "true"
		}
		return tool.Succeeds(ctx, k.h, "timedatectl", "--no-ask-password", "set-local-rtc", truth)
	}
	if word != utc && word != local {
		return fun.Result{}, &fun.InvocationError{Msg: "Only 'UTC' and 'localtime' are allowed"}
	}
	if k.family == "NILinuxRT" {
		if word != utc {
			return fun.Result{}, &fun.InvocationError{Msg: "UTC is the only permitted value"}
		}
		return fun.Value(true)
	}
	return machine.Bool(true, k.noteHwclock(word))
}

// noteHwclock writes what the hardware clock shows into the file by which the
// system sets it at boot.
func (k clock) noteHwclock(word string) error {
	const rcs, confd, slack = "/etc/default/rcS", "/etc/conf.d/hwclock", "/etc/hardwareclock"
	switch {
	case strings.Contains(k.family, "Debian") && machine.Exists(k.h, rcs):
		yes := "no"
		if word == utc {
			yes = "yes"
		}
		if _, ok := machine.Setting(k.h, rcs, utc); ok {
			return machine.Set(k.h, rcs, utc, "UTC="+yes, false)
		}
	case strings.Contains(k.family, "Gentoo") && machine.Exists(k.h, confd):
		if word == local {
			word = "local"
		}
		return machine.Set(k.h, confd, "clock", `clock="`+word+`"`, true)
	case strings.Contains(k.family, "Slackware"):
		return machine.Write(k.h, slack, word+"\n")
	}
	return k.adjust(word)
}

// adjust writes the third line of /etc/adjtime.
func (k clock) adjust(word string) error {
	if word == local {
		word = "LOCAL"
	}
	lines := []string{"0.0 0 0.0", "0"}
	if text, err := k.h.ReadFile(adjtime); err == nil {
		if old := strings.Split(strings.TrimRight(string(text), "\n"), "\n"); len(old) >= 2 {
			lines = old[:2]
		}
	}
	return machine.Write(k.h, adjtime, strings.Join(append(lines, word), "\n")+"\n")
}
