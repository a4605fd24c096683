package system_test

import (
	"errors"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/system"
)

func newEnv(h host.Host) *fun.Env {
	e := &fun.Env{Machine: fun.Machine{Host: h}, Data: fun.Data{Memo: &fun.Memo{}, Opts: value.NewMap(0), Grains: value.MapOf("shell", "/bin/sh"), Pillar: value.NewMap(0)}}
	e.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "system", Load: system.Module}})
	e.Invoker = dispatch.New(e)
	return e
}

func call(t *testing.T, h host.Host, name string, pos ...value.Value) (fun.Result, error) {
	t.Helper()
	return newEnv(h).Invoker.Invoke(t.Context(), fun.Exec, "system."+name, fun.Args{Pos: pos, Kw: value.NewMap(0)})
}

// ran are the commands that a machine was asked to run.
func ran(h *host.Fake) []string {
	var out []string
	for _, c := range h.Calls() {
		out = append(out, path.Base(c.Argv[0])+strings.TrimPrefix(strings.Join(c.Argv, " "), c.Argv[0]))
	}
	return out
}

// machine is one that has programs.
func machine(programs ...string) *host.Fake {
	h := host.NewFake()
	for _, p := range programs {
		h.PutExe("/usr/sbin/" + p)
	}
	return h
}

// Salt 3006, salt/modules/system.py: the words of each command.
func TestGoingDown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fun, want string
		args      []value.Value
	}{
		{"reboot", "shutdown -r now", nil},
		{"reboot", "shutdown -r now", []value.Value{int64(0)}},
		{"reboot", "shutdown -r 1", []value.Value{int64(1)}},
		{"reboot", "shutdown -r 23:30", []value.Value{"23:30"}},
		{"reboot", "shutdown -r '1; true'", []value.Value{"1; true"}},
		{"shutdown", "shutdown -h now", nil},
		{"shutdown", "shutdown -h 5", []value.Value{int64(5)}},
		{"halt", "halt", nil},
		{"poweroff", "poweroff", nil},
		{"init", "init 3", []value.Value{int64(3)}},
	} {
		h := machine("shutdown", "halt", "poweroff", "init")
		h.OnCommand("*", host.Output{Stdout: []byte("Shutdown scheduled\n"), Status: 0})
		res, err := call(t, h, tt.fun, tt.args...)
		if err != nil || res.Value != "Shutdown scheduled" || res.Retcode != 0 {
			t.Errorf("%s %v = %v, %v", tt.fun, tt.args, res, err)
		}
		// A word of several stays one.
		want := strings.NewReplacer("'", "").Replace(tt.want)
		if got := ran(h); !slices.Equal(got, []string{want}) || len(h.Calls()[0].Argv) != len(strings.Split(strings.ReplaceAll(tt.want, "; ", ";"), " ")) {
			t.Errorf("%s %v ran %q, want %q", tt.fun, tt.args, got, want)
		}
	}
	h := machine("shutdown")
	h.OnCommand("*shutdown *", host.Output{Stderr: []byte("must be root\n"), Status: 1})
	if res, err := call(t, h, "reboot"); err != nil || res.Value != "must be root" || res.Retcode != 1 {
		t.Errorf("refused: %v, %v", res, err)
	}
	if _, err := call(t, h, "halt"); err == nil || !strings.Contains(err.Error(), "halt") {
		t.Errorf("a machine without halt: %v", err)
	}
	if _, err := call(t, h, "init"); err == nil {
		t.Error("init without a runlevel is no error")
	}
}

func TestAvail(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.Kernel.Sysname = "Darwin"
	var nf *fun.NotFoundError
	if _, err := call(t, h, "reboot"); !errors.As(err, &nf) || !strings.Contains(err.Error(), "Mac OS") {
		t.Errorf("on a Mac: %v", err)
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	h := host.NewFake() // 2024-01-02 03:04:05 UTC
	for _, tt := range []struct{ fun, offset, want string }{
		{"get_system_time", "", "03:04:05 AM"},
		{"get_system_time", "+1030", "01:34:05 PM"},
		{"get_system_time", "0000", "03:04:05 AM"},
		{"get_system_date", "", "Tue 01/02/2024"},
		{"get_system_date", "-0500", "Mon 01/01/2024"},
		{"get_system_date_time", "-0500", "2024-01-01 22:04:05"},
		{"get_system_date_time", "", "2024-01-02 03:04:05"},
	} {
		var args []value.Value
		if tt.offset != "" {
			args = append(args, tt.offset)
		}
		if res, err := call(t, h, tt.fun, args...); err != nil || res.Value != tt.want {
			t.Errorf("%s %s = %v, %v; want %s", tt.fun, tt.offset, res.Value, err, tt.want)
		}
	}
	for _, bad := range []string{"5", "+-0500", "12345", "+05:0", "0x10", "+"} {
		var ie *fun.InvocationError
		if _, err := call(t, h, "get_system_time", bad); !errors.As(err, &ie) || ie.Msg != "Invalid UTC offset" {
			t.Errorf("offset %q: %v", bad, err)
		}
	}
}

func TestSetClock(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fun  string
		args []value.Value
		want string // "" is an argument that is refused
	}{
		{"set_system_time", []value.Value{"11:20"}, "date 010211202024.00"},
		{"set_system_time", []value.Value{"9:05:07 pm"}, "date 010221052024.07"},
		{"set_system_time", []value.Value{"1:2 AM"}, "date 010201022024.00"},
		{"set_system_time", []value.Value{"11:20", "-0500"}, "date -u 010116202024.00"},
		{"set_system_date", []value.Value{"2025-12-31"}, "date 123103042025.05"},
		{"set_system_date", []value.Value{"12-31-25"}, "date 123103042025.05"},
		{"set_system_date", []value.Value{"3/1/2025"}, "date 030103042025.05"},
		{"set_system_date", []value.Value{"2025/3/1"}, "date 030103042025.05"},
		{"set_system_date", []value.Value{"soon"}, ""},
		{"set_system_date_time", []value.Value{int64(2015), int64(5), int64(12), int64(11), int64(37), int64(53)}, "date 051211372015.53"},
		{"set_system_date_time", []value.Value{nil, int64(13)}, ""},
		{"set_system_date_time", []value.Value{int64(2023), int64(2), int64(29)}, ""},
	} {
		h := machine("date")
		h.OnCommand("*date *", host.Output{})
		res, err := call(t, h, tt.fun, tt.args...)
		var ie *fun.InvocationError
		switch {
		case tt.want == "":
			if !errors.As(err, &ie) || len(h.Calls()) != 0 {
				t.Errorf("%s %v: %v, %v", tt.fun, tt.args, err, ran(h))
			}
		case err != nil || res.Value != true || !slices.Equal(ran(h), []string{tt.want}):
			t.Errorf("%s %v = %v, %v, ran %q; want %q", tt.fun, tt.args, res.Value, err, ran(h), tt.want)
		}
	}
	h := machine("date")
	if res, err := call(t, h, "set_system_time", "680"); err != nil || res.Value != false || len(h.Calls()) != 0 {
		t.Errorf("no time: %v, %v", res.Value, err)
	}
	// A date(1) that knows no seconds, and a hardware clock.
	h.PutExe("/usr/sbin/hwclock")
	h.OnCommand("*date *.*", host.Output{Status: 1, Stderr: []byte("illegal time format\n")})
	if _, err := call(t, h, "set_system_time", "11:20"); err == nil {
		t.Error("a date that refuses both is no error")
	}
	h.OnCommand("*date 010211202024", host.Output{})
	h.OnCommand("*hwclock *", host.Output{})
	h.Forget()
	if res, err := call(t, h, "set_system_time", "11:20"); err != nil || res.Value != true ||
		strings.Join(ran(h), "|") != "date 010211202024.00|date 010211202024|hwclock --test --systohc|hwclock --systohc" {
		t.Errorf("%v, %v, ran %q", res.Value, err, ran(h))
	}
	h.OnCommand("*hwclock --systohc", host.Output{Status: 1, Stderr: []byte("busy\n")})
	if _, err := call(t, h, "set_system_time", "11:20"); err == nil || err.Error() != "hwclock failed to set hardware clock from software clock: busy" {
		t.Errorf("hwclock that fails: %v", err)
	}
	if res, err := call(t, h, "has_settable_hwclock"); err != nil || res.Value != true {
		t.Errorf("has_settable_hwclock = %v, %v", res.Value, err)
	}
	if res, err := call(t, host.NewFake(), "has_settable_hwclock"); err != nil || res.Value != false {
		t.Errorf("has_settable_hwclock without hwclock = %v, %v", res.Value, err)
	}
}

func TestDesc(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	get := func() value.Value {
		t.Helper()
		res, err := call(t, h, "get_computer_desc")
		if err != nil {
			t.Fatal(err)
		}
		return res.Value
	}
	if v := get(); v != false {
		t.Errorf("no file: %v", v)
	}
	h.PutFile("/etc/machine-info", "CHASSIS=vm\n", 0o644)
	if v := get(); v != false {
		t.Errorf("no name: %v", v)
	}
	for _, desc := range []string{`Ann's "box"`, "two\nlines\tand"} {
		if res, err := call(t, h, "set_computer_desc", desc); err != nil || res.Value != true {
			t.Errorf("set %q: %v, %v", desc, res.Value, err)
		}
		if v := get(); v != desc {
			t.Errorf("got %q, want %q", v, desc)
		}
	}
	b, _ := h.ReadFile("/etc/machine-info")
	if string(b) != "CHASSIS=vm\nPRETTY_HOSTNAME=\"two\\nlines\\tand\"\n" {
		t.Errorf("the file is %q", b)
	}
	h.PutExe("/usr/bin/hostnamectl")
	h.OnCommand("/usr/bin/hostnamectl status --pretty", host.Output{Stdout: []byte("A Box\n")})
	h.OnCommand("/usr/bin/hostnamectl set-hostname --pretty *", host.Output{Status: 1})
	if v := get(); v != "A Box" {
		t.Errorf("hostnamectl: %v", v)
	}
	if res, err := call(t, h, "set_computer_desc", "x y"); err != nil || res.Value != false {
		t.Errorf("hostnamectl that fails: %v, %v", res.Value, err)
	}
	if res, err := call(t, h, "get_computer_name"); err != nil || res.Value != "fake" {
		t.Errorf("name: %v, %v", res.Value, err)
	}
}

func TestGoing(t *testing.T) {
	t.Parallel()
	at := time.UnixMicro(1705000000123456)
	for _, tt := range []struct {
		name string
		set  func(h *host.Fake)
		want system.Shutdown
		ok   bool
	}{
		{"nothing", func(*host.Fake) {}, system.Shutdown{}, false},
		{"systemd, shutdown -r +1", func(h *host.Fake) {
			h.PutFile("/run/systemd/shutdown/scheduled", "USEC=1705000000123456\nWARN_WALL=1\nMODE=reboot\nUID=0\nTTY=pts/0\n", 0o644)
		}, system.Shutdown{Mode: "reboot", At: at, By: "/run/systemd/shutdown/scheduled"}, true},
		{"systemd, shutdown -k", func(h *host.Fake) {
			h.PutFile("/run/systemd/shutdown/scheduled", "USEC=1705000000123456\nMODE=dry-reboot\n", 0o644)
		}, system.Shutdown{}, false},
		{
			"a file of nonsense", func(h *host.Fake) { h.PutFile("/run/systemd/shutdown/scheduled", "USEC=x\n\x00", 0o644) },
			system.Shutdown{By: "/run/systemd/shutdown/scheduled"},
			true,
		},
		{"systemd, stopping", func(h *host.Fake) {
			h.PutDir("/run/systemd/system", 0o755)
			h.PutExe("/usr/bin/systemctl")
			h.OnCommand("systemctl is-system-running", host.Output{Stdout: []byte("stopping\n"), Status: 1})
		}, system.Shutdown{By: "systemctl is-system-running"}, true},
		{"systemd, delayed", func(h *host.Fake) {
			h.PutDir("/run/systemd/system", 0o755)
			h.PutDir("/run/systemd/seats", 0o755)
			h.PutExe("/usr/bin/systemctl")
			h.PutExe("/usr/bin/loginctl")
			h.OnCommand("systemctl is-system-running", host.Output{Stdout: []byte("running\n")})
			h.OnCommand("loginctl show-session --property=PreparingForShutdown", host.Output{Stdout: []byte("PreparingForShutdown=yes\n")})
		}, system.Shutdown{By: "loginctl show-session"}, true},
		{"systemd, running", func(h *host.Fake) {
			h.PutDir("/run/systemd/system", 0o755)
			h.PutExe("/usr/bin/systemctl")
			h.OnCommand("systemctl is-system-running", host.Output{Stdout: []byte("degraded\n"), Status: 1})
		}, system.Shutdown{}, false},
		{"sysvinit, waiting", func(h *host.Fake) {
			h.PutFile("/run/shutdown.pid", "812\n", 0o644)
			h.PutDir("/proc/812", 0o555)
		}, system.Shutdown{By: "/run/shutdown.pid"}, true},
		{"sysvinit, a file left behind", func(h *host.Fake) { h.PutFile("/run/shutdown.pid", "812\n", 0o644) }, system.Shutdown{}, false},
		{"sysvinit, going down", func(h *host.Fake) {
			h.PutExe("/sbin/runlevel")
			h.OnCommand("runlevel", host.Output{Stdout: []byte("2 6\n")})
		}, system.Shutdown{Mode: "reboot", By: "runlevel"}, true},
		{"sysvinit, up", func(h *host.Fake) {
			h.PutExe("/sbin/runlevel")
			h.OnCommand("runlevel", host.Output{Stdout: []byte("N 2\n")})
		}, system.Shutdown{}, false},
		{
			"OpenRC", func(h *host.Fake) { h.PutFile("/run/openrc/softlevel", "reboot\n", 0o644) },
			system.Shutdown{Mode: "reboot", By: "/run/openrc/softlevel"},
			true,
		},
		{"OpenRC, up", func(h *host.Fake) { h.PutFile("/run/openrc/softlevel", "default\n", 0o644) }, system.Shutdown{}, false},
		{"FreeBSD", func(h *host.Fake) { h.PutFile("/var/run/nologin", "", 0o644) }, system.Shutdown{By: "/var/run/nologin"}, true},
		{"nologin on Linux", func(h *host.Fake) {
			h.PutFile("/var/run/nologin", "", 0o644)
			h.PutDir("/proc/self", 0o755)
		}, system.Shutdown{}, false},
	} {
		h := host.NewFake()
		tt.set(h)
		got, ok := system.Going(t.Context(), h)
		if ok != tt.ok || got.Mode != tt.want.Mode || got.By != tt.want.By || !got.At.Equal(tt.want.At) {
			t.Errorf("%s: %+v, %v; want %+v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
		if w := h.Writes(); len(w) > 0 {
			t.Errorf("%s: wrote %v", tt.name, w)
		}
	}
}

func TestRebootWitness(t *testing.T) {
	t.Parallel()
	h := machine()
	for _, step := range []struct {
		fun  string
		want bool
	}{
		{"get_reboot_required_witnessed", false},
		{"set_reboot_required_witnessed", true},
		{"get_reboot_required_witnessed", true},
		{"set_reboot_required_witnessed", true},
	} {
		if res, err := call(t, h, step.fun); err != nil || res.Value != step.want {
			t.Errorf("%s = %v, %v", step.fun, res.Value, err)
		}
	}
	h.Fault = func(op, _ string) error {
		if op == "MkdirAll" {
			return errors.New("full")
		}
		return nil
	}
	if _, err := call(t, h, "set_reboot_required_witnessed"); err == nil || !strings.Contains(err.Error(), "Error creating /var/volatile/tmp/salt") {
		t.Errorf("set_reboot_required_witnessed: %v", err)
	}
}
