package systemd_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/systemdtest"
	"brine/modules/systemd"
	testmod "brine/modules/test"
)

func machine() *systemdtest.Machine {
	m := systemdtest.New(map[string]*systemdtest.Unit{
		"a.service":      {},
		"b.service":      {Active: "active", State: "enabled", Reloads: true},
		"c@.service":     {},
		"c@1.service":    {Active: "reloading"},
		"fails.service":  {Refuse: "Job for fails.service failed."},
		"masked.service": {Load: "masked"},
		"s.service":      {State: "static"},
		"stuck.service":  {Active: "active", Stuck: true},
		"t.timer":        {Active: "active"},
		"sysv.service":   {Source: "/etc/init.d/sysv", State: "generated"},
	})
	m.PutExe("/etc/init.d/sysv")
	m.PutFile("/etc/init.d/README", "", 0o644)
	m.PutFile("/etc/systemd/system/fresh.service", "", 0o644)
	m.PutDir("/usr/lib/systemd/system/a.service.d", 0o755)
	m.PutExe("/usr/sbin/update-rc.d")
	m.PutExe("/sbin/runlevel")
	m.PutLink("/etc/rc5.d/S01sysv", "../init.d/sysv")
	m.OnCommand("runlevel", host.Output{Stdout: []byte("N 5\n")})
	m.OnCommand("update-rc.d *", host.Output{})
	m.OnCommand("systemctl --no-pager --full --no-legend list-unit-files", host.Output{Stdout: []byte(
		"a.service                disabled  enabled\nb.service                enabled   enabled\ns.service                static    -\nx.slice                  static    -\nt.timer                  enabled   enabled\nbroken\n")})
	m.OnCommand("systemctl --no-pager --full --no-legend --plain list-units", host.Output{Stdout: []byte(
		"b.service loaded active running B it is\nt.timer loaded active waiting T\nfails.service loaded failed failed F\nx.slice loaded active running\n\n")})
	m.OnCommand("systemd-firstboot --keymap=jp*", host.Output{})
	m.OnCommand("systemd-firstboot --timezone*", host.Output{Status: 1, Stderr: []byte("no such zone\n")})
	return m
}

func call(t *testing.T, m *systemdtest.Machine, fn, args string) (fun.Result, []string, error) {
	t.Helper()
	var faults []string
	env := &fun.Env{
		Machine: fun.Machine{Host: m},
		Data:    fun.Data{Memo: &fun.Memo{}, Grains: value.MapOf("kernel", "Linux")},
		UI:      fun.UI{OnFault: func(e *source.Error) { faults = append(faults, e.Trace()) }},
	}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "systemd_service", Virtual: "service", Load: systemd.Module}})
	env.Invoker = dispatch.New(env)
	kw, err := yamlsalt.LoadString(args)
	if err != nil {
		t.Fatal(err)
	}
	res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "service."+fn, fun.Args{Kw: kw.(*value.Map)})
	return res, faults, err
}

// The expected values are those of the recordings m-service-x-run, or follow
// salt/modules/systemd_service.py.
func TestFunctions(t *testing.T) {
	t.Parallel()
	const show, is = "systemctl show ", "systemctl is-enabled "
	for _, tt := range []struct {
		fun, args, want string
		calls           string // joined by ;
	}{
		{"available", "{name: a}", "True", show + "a.service"},
		{"available", "{name: none}", "False", show + "none.service"},
		{"available", "{name: c@}", "True", ""},
		{"available", "{name: d@}", "False", ""},
		{"available", "{name: masked.service}", "True", show + "masked.service"},
		{"available", "{name: fresh}", "False", show + "fresh.service;systemctl --system daemon-reload;" + show + "fresh.service"},
		{"missing", "{name: none}", "True", show + "none.service"},
		{"missing", "{name: a}", "False", show + "a.service"},
		{"status", "{name: b, sig: x}", "True", show + "b.service"},
		{"status", "{name: c@1}", "True", show + "c@1.service"},
		{"status", "{name: 'none'}", "False", show + "none.service"},
		{"status", "{name: '[ab]*'}", "{'a': False, 'b': True}", show + "a.service b.service"},
		{"status", "{name: 'c*'}", "{'c@': False, 'c@1': True}", show + "c@1.service"},
		{"status", "{name: '*.timer'}", "{'t.timer': True}", show + "t.timer"},
		{"start", "{name: a}", "True", show + "a.service;systemctl start a.service"},
		{"start", "{name: a, no_block: true}", "True", show + "a.service;systemctl --no-block start a.service"},
		{"start", "{name: none}", "Failed to start none.service: Unit none.service not found.", show + "none.service;systemctl start none.service;journalctl --sync;journalctl --quiet --output cat --lines 10 --unit none.service --since @1704164645"},
		{"start", "{name: fails}", "Job for fails.service failed.", show + "fails.service;systemctl start fails.service;journalctl --sync;journalctl --quiet --output cat --lines 10 --unit fails.service --since @1704164645"},
		{"start", "{name: masked, unmask: true, unmask_runtime: true}", "True", show + "masked.service;systemctl unmask masked.service;" + show + "masked.service;systemctl start masked.service"},
		{"restart", "{name: '-x'}", "Failed to restart -x.service: Unit -x.service not found.", show + "-x.service;systemctl restart -x.service;journalctl --sync;journalctl --quiet --output cat --lines 10 --unit -x.service --since @1704164645"},
		{"reload", "{name: b}", "True", show + "b.service;systemctl reload b.service"},
		{"force_reload", "{name: a}", "True", show + "a.service;systemctl --no-block force-reload a.service"},
		{"stop", "{name: b}", "True", show + "b.service;systemctl stop b.service"},
		{"stop", "{name: stuck}", "False", show + "stuck.service;systemctl stop stuck.service"},
		{"enable", "{name: a}", "True", show + "a.service;systemctl enable a.service"},
		{"enable", "{name: a, root: /mnt}", "True", "systemctl --root /mnt enable a.service"},
		{"enable", "{name: none}", "Failed to enable none.service: Unit none.service not found.", show + "none.service;systemctl enable none.service"},
		{"enable", "{name: sysv}", "True", show + "sysv.service;update-rc.d -f sysv defaults 99"},
		{"disable", "{name: b}", "True", show + "b.service;systemctl disable b.service"},
		{"disable", "{name: sysv}", "True", show + "sysv.service;update-rc.d -f sysv remove"},
		{"disable", "{name: none}", "False", show + "none.service;systemctl disable none.service"},
		{"enabled", "{name: b}", "True", show + "b.service;" + is + "b.service"},
		{"enabled", "{name: s}", "True", show + "s.service;" + is + "s.service"},
		{"enabled", "{name: none}", "False", show + "none.service;" + is + "none.service"},
		{"enabled", "{name: sysv}", "True", show + "sysv.service;" + is + "sysv.service;runlevel"},
		{"enabled", "{name: b, root: /mnt}", "True", "systemctl --root /mnt is-enabled b.service"},
		{"disabled", "{name: a}", "True", show + "a.service;" + is + "a.service"},
		{"mask", "{name: a, runtime: true}", "True", show + "a.service;systemctl mask --runtime a.service"},
		{"masked", "{name: masked}", "True", ""},
		{"masked", "{name: masked, runtime: true}", "False", ""},
		{"unmask", "{name: a}", "True", show + "a.service"},
		{"unmask", "{name: masked}", "True", show + "masked.service;systemctl unmask masked.service"},
		{"get_all", "{}", "['a', 'b', 'c@', 'c@1', 'fails', 'fresh', 'masked', 's', 'stuck', 'sysv', 't.timer']", ""},
		{"get_enabled", "{}", "['b', 'sysv', 't.timer']", "systemctl --full --no-legend list-unit-files;runlevel"},
		{"get_disabled", "{}", "['a']", "systemctl --full --no-legend list-unit-files;runlevel"},
		{"get_static", "{}", "['s']", "systemctl --full --no-legend list-unit-files"},
		{"get_running", "{}", "['b']", "systemctl --full --no-legend --plain list-units"},
		{"offline", "{}", "False", ""},
		{"systemctl_reload", "{}", "True", "systemctl --system daemon-reload"},
		{"firstboot", "{keymap: jp, root: /mnt}", "True", "systemd-firstboot --keymap=jp --root=/mnt"},
		{"firstboot", "{timezone: Mars}", "systemd-firstboot error: no such zone", "systemd-firstboot --timezone=Mars"},
	} {
		t.Run(tt.fun+" "+tt.args, func(t *testing.T) {
			t.Parallel()
			m := machine()
			res, faults, err := call(t, m, tt.fun, tt.args)
			got := value.Repr(res.Value)
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.calls, strings.Join(m.Commands(), ";")); diff != "" {
				t.Error(diff)
			}
			if journal := strings.Contains(tt.calls, "journalctl"); journal != (len(faults) == 1) || journal && !strings.Contains(faults[0], "it said why") {
				t.Errorf("faults %q", faults)
			}
		})
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	res, _, err := call(t, machine(), "show", "{name: b}")
	if err != nil {
		t.Fatal(err)
	}
	show := res.Value.(*value.Map)
	if got := value.Repr(show.At("ExecStart")); got != "{'path': '/bin/b.service', 'argv[]': '/bin/b.service -x', 'ignore_errors': 'no'}" || show.Str("ActiveState") != "active" {
		t.Errorf("show: %s", value.Repr(show))
	}
	res, _, err = call(t, machine(), "execs", "{}")
	if err != nil {
		t.Fatal(err)
	}
	execs := res.Value.(*value.Map)
	if execs.Len() != 9 || execs.Str("b") != "/bin/b.service" {
		t.Errorf("execs: %s", value.Repr(execs))
	}
}

func TestAvailable(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	env := &fun.Env{Machine: fun.Machine{Host: h}, Data: fun.Data{Grains: value.MapOf("kernel", "Linux")}}
	avail := systemd.Module().Avail
	if ok, why := avail(env); ok || why != "this system was not booted with systemd" {
		t.Errorf("without systemd: %v %q", ok, why)
	}
	h.PutExe("/usr/bin/systemctl")
	if ok, _ := avail(env); !ok {
		t.Error("not in an image that has the tools")
	}
	h.PutDir("/run/systemd/system", 0o755)
	if ok, _ := avail(env); !ok {
		t.Error("not on a machine with systemd")
	}
	env.Grains = value.MapOf("kernel", "FreeBSD")
	if ok, _ := avail(env); ok {
		t.Error("on FreeBSD")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Id=a.service\nExecStart={ path=/bin/a ; argv[]=/bin/a=b }\n\nId=b\n")
	f.Add("=\n{=}\nAfter=a b\nX={ ; ; = }\r\n\x00")
	f.Fuzz(func(_ *testing.T, text string) { systemd.Parse(text) })
}

// In a chroot, where systemctl is and no systemd runs, the files tell which services
// there are. Templates of images ask.
func TestOffline(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/usr/bin/systemctl", "", 0o755)
	for _, unit := range []string{"a.service", "c@.service", "t.timer"} {
		h.PutFile("/usr/lib/systemd/system/"+unit, "[Service]\n", 0o644)
	}
	h.PutFile("/etc/init.d/script", "", 0o755)
	r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: systemd.Name, Virtual: "service", Load: systemd.Module}, fun.Entry{Kind: fun.Exec, Name: "test", Load: testmod.Module})
	r.Env.Grains.(*value.Map).Set("kernel", "Linux")
	r.Steps(t, []calltest.Step{
		{"call service.offline {}", "True"},
		{"call service.available {name: a}", "True"},
		{"call service.available {name: a.service}", "True"},
		{"call service.available {name: script}", "True"},
		{"call service.available {name: c@1}", "True"},
		{"call service.available {name: t.timer}", "True"},
		{"call service.available {name: none}", "False"},
		{"call service.available {name: c}", "False"},
		{"call service.missing {name: none}", "True"},
		{"call service.missing {name: a}", "False"},
		{"call service.status {name: a}", "False"},
		{"call service.status {name: 'c*'}", "{'c@': False}"},
		{"call test.provider {module: service}", "'systemd_service'"},
	})
}
