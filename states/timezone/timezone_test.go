package timezone_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	zone "brine/modules/timezone"
	"brine/states/timezone"
)

func env(h *host.Fake, family string) *fun.Env {
	return calltest.Env(h, value.MapOf("kernel", "Linux", "os", family, "os_family", family),
		fun.Entry{Kind: fun.Exec, Name: "timezone", Load: zone.Module},
		fun.Entry{Kind: fun.State, Name: "timezone", Load: timezone.States})
}

// machine is in Paris, with or without systemd.
func machine(systemd bool) *host.Fake {
	h := host.NewFake()
	h.PutFile("/usr/share/zoneinfo/Etc/UTC", "utc", 0o644)
	h.PutFile("/usr/share/zoneinfo/UTC", "utc", 0o644)
	h.PutFile("/usr/share/zoneinfo/Europe/Paris", "paris", 0o644)
	h.PutFile("/usr/share/zoneinfo/right/Europe/Paris", "paris", 0o644)
	h.PutLink("/etc/localtime", "../usr/share/zoneinfo/Europe/Paris")
	h.PutFile("/etc/timezone", "Europe/Paris\n", 0o644)
	if systemd {
		h.PutDir("/run/systemd/system", 0o755)
		h.PutExe("/usr/bin/timedatectl")
	}
	h.OnCommand("timedatectl *", host.Output{})
	h.OnCommand("date +%Z", host.Output{Stdout: []byte("CET\n")})
	h.OnCommand("date +%z", host.Output{Stdout: []byte("+0100\n")})
	return h
}

func TestSystem(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, args string
		adjtime    string
		test       bool
		want       string
		calls      string
	}{
		{"is set", "{name: Europe/Paris}", "", false, "True Timezone Europe/Paris already set, UTC already set to Europe/Paris {}", ""},
		{"is set, any clock", "{name: Europe/Paris, utc: false}", "0\n0\nLOCAL\n", false, "True Timezone Europe/Paris already set {}", ""},
		{"due", "{name: UTC}", "", true, "None Timezone UTC needs to be set {}", ""},
		{"set", "{name: UTC}", "", false, "True Set timezone UTC {'timezone': 'UTC'}", "timedatectl --no-ask-password set-timezone UTC"},
		{"both due", "{name: UTC}", "0\n0\nLOCAL\n", true, "None Timezone UTC needs to be set, UTC needs to be set to True {}", ""},
		{
			"both", "{name: UTC}", "0\n0\nLOCAL\n", false, "True Set timezone UTC, Set UTC to True {'timezone': 'UTC', 'utc': True}",
			"timedatectl --no-ask-password set-timezone UTC; timedatectl --no-ask-password set-local-rtc false",
		},
		{"unknown", "{name: Mars/Base}", "", false, `False Unable to compare desired timezone 'Mars/Base' to system timezone: Can't find a local timezone "Mars/Base" {}`, ""},
		{"elsewhere", "{name: ../../etc/passwd}", "", false, "False Unable to compare desired timezone '../../etc/passwd' to system timezone: '../../etc/passwd' is not the name of a timezone {}", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := machine(true)
			if tt.adjtime != "" {
				h.PutFile("/etc/adjtime", tt.adjtime, 0o644)
			}
			if diff := cmp.Diff(tt.want, calltest.State(t, env(h, "Debian"), "timezone.system", tt.args, tt.test)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.calls, calltest.Commands(h)); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(tt.want, "Set timezone") {
				to, _ := h.Readlink("/etc/localtime")
				text, _ := h.ReadFile("/etc/timezone")
				if to != "/usr/share/zoneinfo/UTC" || string(text) != "UTC\n" {
					t.Errorf("localtime leads to %s, /etc/timezone is %q", to, text)
				}
			}
		})
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		family, fun, args string
		put               func(h *host.Fake)
		want              string
	}{
		{"Debian", "get_zone", "{}", nil, "'Europe/Paris'"},
		{"Debian", "get_zonecode", "{}", nil, "'CET'"},
		{"Debian", "get_offset", "{}", nil, "'+0100'"},
		{"Debian", "zone_compare", "{timezone: Europe/Paris}", nil, "True"},
		{"Debian", "zone_compare", "{timezone: Etc/UTC}", nil, "False"},
		{"Debian", "get_hwclock", "{}", nil, "None"},
		{"Debian", "get_hwclock", "{}", func(h *host.Fake) { h.PutFile("/etc/default/rcS", "#UTC=no\nUTC=yes\n", 0o644) }, "'UTC'"},
		{"Debian", "get_hwclock", "{}", func(h *host.Fake) { h.PutFile("/etc/adjtime", "0.0 0 0.0\n0\nLOCAL\n", 0o644) }, "'LOCAL'"},
		{"Debian", "get_hwclock", "{}", func(h *host.Fake) { h.PutFile("/dev/rtc", "", 0o644) }, "error: Unable to get hwclock timezone from /etc/adjtime"},
		{"Gentoo", "get_hwclock", "{}", func(h *host.Fake) { h.PutFile("/etc/conf.d/hwclock", "clock=\"local\"\n", 0o644) }, "'LOCAL'"},
		{"Slackware", "get_hwclock", "{}", func(h *host.Fake) { h.PutFile("/etc/hardwareclock", "localtime\n", 0o644) }, "'localtime'"},
		{"RedHat", "get_zone", "{}", func(h *host.Fake) { h.PutFile("/etc/sysconfig/clock", "# ZONE=x\nZONE=\"Etc/UTC\"\n", 0o644) }, "'Etc/UTC'"},
		{"Slackware", "get_zone", "{}", func(h *host.Fake) { h.PutFile("/etc/localtime", "paris", 0o644) }, "'Europe/Paris'"},
		{"Slackware", "get_zone", "{}", func(h *host.Fake) { h.PutFile("/etc/localtime", "mars", 0o644) }, "error: Unable to determine timezone"},
		{"Debian", "set_zone", "{timezone: Mars}", nil, "'Zone does not exist: /usr/share/zoneinfo/Mars'"},
		{"Debian", "set_zone", "{timezone: UTC}", nil, "True"},
		{"Debian", "set_hwclock", "{clock: UTC}", func(h *host.Fake) { h.PutFile("/etc/default/rcS", "UTC=no\n", 0o644) }, "True"},
		{"Debian", "set_hwclock", "{clock: sundial}", nil, "error: Only 'UTC' and 'localtime' are allowed"},
	} {
		t.Run(tt.family+" "+tt.fun+" "+tt.args+" "+tt.want, func(t *testing.T) {
			t.Parallel()
			h := machine(false)
			if tt.put != nil {
				tt.put(h)
			}
			if diff := cmp.Diff(tt.want, calltest.Call(t, env(h, tt.family), "timezone."+tt.fun, tt.args)); diff != "" {
				t.Error(diff)
			}
		})
	}
	h := machine(false)
	if got := calltest.Call(t, env(h, "Arch"), "timezone.set_hwclock", "{clock: localtime}"); got != "True" {
		t.Error(got)
	}
	if text, _ := h.ReadFile("/etc/adjtime"); string(text) != "0.0 0 0.0\n0\nLOCAL\n" {
		t.Errorf("/etc/adjtime: %q", text)
	}
}
