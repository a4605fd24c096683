package sysctl_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/linuxsysctl"
	"brine/states/sysctl"
)

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "linux_sysctl", Virtual: "sysctl", Load: linuxsysctl.Module}, fun.Entry{Kind: fun.State, Name: "sysctl", Load: sysctl.States})
}

func machine() *host.Fake {
	h := host.NewFake()
	h.PutDir("/run/systemd/system", 0o755)
	h.PutFile("/proc/sys/net/a", "0\n", 0o644)
	h.PutFile("/proc/sys/net/b", "1\t2\n", 0o644)
	h.HandleCommand("sysctl -w *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		name, val, _ := strings.Cut(c.Argv[2], "=")
		if val == "bad" {
			return host.Output{Status: 255, Stderr: []byte("sysctl: setting key \"" + name + "\": Invalid argument\n")}, nil
		}
		h.PutFile("/proc/sys/"+strings.ReplaceAll(name, ".", "/"), val+"\n", 0o644)
		return host.Output{Stdout: []byte(name + " = " + val + "\n")}, nil
	})
	h.OnCommand("sysctl -n *", host.Output{Status: 255, Stderr: []byte("sysctl: cannot stat /proc/sys/net/no: No such file or directory\n")})
	h.OnCommand("sysctl -a", host.Output{Stdout: []byte("net.a = 0\nnet.b = 1 2\nnonsense\n")})
	return h
}

func TestSysctl(t *testing.T) {
	t.Parallel()
	h := machine()
	r := rig(h)
	const file = "/etc/sysctl.d/99-salt.conf"
	r.Steps(t, []calltest.Step{
		{"test sysctl.present {name: net.a, value: 1}", "None: Sysctl option net.a set to be changed to 1 {}"},
		{"test sysctl.present {name: net.b, value: '1 2'}", "None: Sysctl value is currently set on the running system but not in a config file. Sysctl option net.b set to be changed to 1 2 in config file. {}"},
		{"state sysctl.present {name: net.a, value: 1}", "True: Updated sysctl value net.a = 1 {'net.a': 1}"},
		{"state sysctl.present {name: net.a, value: '1'}", "True: Sysctl value net.a = 1 is already set {}"},
		{"test sysctl.present {name: net.a, value: 1}", "True: Sysctl value net.a = 1 is already set {}"},
		{"test sysctl.present {name: net.a, value: 0}", "None: Sysctl option net.a would be changed to 0 {}"},
		{"state sysctl.present {name: net.b, value: bad}", "False: Failed to set net.b to bad: sysctl -w failed: sysctl: setting key \"net.b\": Invalid argument {}"},
		{"state sysctl.present {name: net.no, value: 1}", "False: Failed to set net.no to 1: sysctl net.no does not exist {}"},
		{"state sysctl.present {name: 'net.a//../etc', value: 1}", "False: Failed to set net.a//../etc to 1: invalid name of a kernel parameter: 'net.a//../etc' {}"},
		{`state sysctl.present {name: net.a, value: "1\n2"}`, "False: Failed to set net.a to 1\n2: the value of net.a must be a single line {}"},
		{"call sysctl.get [net.b]", `'1\t2'`},
		{"call sysctl.get [net.no]", "'sysctl: cannot stat /proc/sys/net/no: No such file or directory'"},
		{"call sysctl.show []", "{'net.a': '0', 'net.b': '1 2'}"},
		{"call sysctl.show [/etc/none]", "[]"},
		{"call sysctl.default_config []", "'" + file + "'"},
		{"call sysctl.assign [net.a, 5]", "{'net.a': '5'}"},
	})
	if got, want := h.Text(file), "#\n# Kernel sysctl configuration\n#\nnet.a = 1\nnet.b = bad\nnet.no = 1\n"; got != want {
		t.Errorf("%s: %q, want %q", file, got, want)
	}
}

// Other lines stay as they are; other ways to write the name are the same name.
func TestPersist(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutFile("/etc/s.conf", "# net.a = 3\n; net.a = 4\n\n-net/a=7\nnet.b   =   1  2", 0o640)
	r := rig(h)
	r.Steps(t, []calltest.Step{
		{"call sysctl.persist [net.a, 9, /etc/s.conf]", "'Updated'"},
		{"call sysctl.persist [net.b, 1 2, /etc/s.conf]", "'Already set'"},
		{"call sysctl.show [/etc/s.conf]", "{'; net.a': '4', '-net.a': '9', 'net.b': '1  2'}"},
		{"test sysctl.present {name: net.b, value: '1 3', config: /etc/s.conf}", "None: Sysctl option net.b would be changed to 1 3 {}"},
	})
	if got, want := h.Text("/etc/s.conf"), "# net.a = 3\n; net.a = 4\n\n-net.a = 9\nnet.b   =   1  2\n"; got != want {
		t.Errorf("file: %q, want %q", got, want)
	}
}
