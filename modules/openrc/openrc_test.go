package openrc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/openrc"
	"brine/modules/status"
	"brine/states/service"
)

// What rc-update -v show prints on Alpine.
const shown = `              acpid |      default                               
             bootmisc | boot                                         
              crond |      default                               
         killprocs |                        shutdown          
               sshd |                                        
            staticroute |                                        
        networking | boot default                             
`

func env(h *host.Fake) *fun.Env {
	return calltest.Env(h, value.MapOf("os", "Alpine", "kernel", "Linux"),
		fun.Entry{Kind: fun.Exec, Name: "gentoo_service", Virtual: "service", Load: openrc.Module},
		fun.Entry{Kind: fun.Exec, Name: "status", Load: status.Module},
		fun.Entry{Kind: fun.State, Name: "service", Load: service.States})
}

func machine() *host.Fake {
	h := host.NewFake()
	h.OnCommand("rc-update *", host.Output{})
	h.OnCommand("rc-update -v show", host.Output{Stdout: []byte(shown)})
	h.OnCommand("rc-update add bad*", host.Output{Status: 1, Stderr: []byte(" * rc-update: service `bad' does not exist\n")})
	h.OnCommand("rc-service *", host.Output{})
	h.OnCommand("rc-service sshd status", host.Output{Status: 3, Stdout: []byte(" * status: stopped\n")})
	h.OnCommand("ps *", host.Output{Stdout: []byte("root 77 sleep 9\n")})
	return h
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	const list = "rc-update -v show"
	for _, tt := range []struct{ fun, args, want, calls string }{
		{"available", "{name: sshd}", "True", list},
		{"available", "{name: none}", "False", list},
		{"missing", "{name: none}", "True", list},
		{"get_all", "{}", "{'acpid': ['default'], 'bootmisc': ['boot'], 'crond': ['default'], 'killprocs': ['shutdown'], 'networking': ['boot', 'default'], 'sshd': [], 'staticroute': []}", list},
		{"get_enabled", "{}", "{'acpid': ['default'], 'bootmisc': ['boot'], 'crond': ['default'], 'killprocs': ['shutdown'], 'networking': ['boot', 'default']}", list},
		{"get_disabled", "{}", "['sshd', 'staticroute']", list},
		{"enabled", "{name: crond}", "True", list},
		{"enabled", "{name: crond, runlevels: boot}", "False", list},
		{"enabled", "{name: networking, runlevels: [default, boot]}", "True", list},
		{"enabled", "{name: sshd}", "False", list},
		{"disabled", "{name: sshd}", "True", list},
		{"disabled", "{name: none}", "False", list},
		{"start", "{name: sshd}", "True", "rc-service sshd start"},
		{"stop", "{name: sshd}", "True", "rc-service sshd stop"},
		{"restart", "{name: sshd}", "True", "rc-service sshd restart"},
		{"reload", "{name: sshd}", "True", "rc-service sshd reload"},
		{"zap", "{name: sshd}", "True", "rc-service sshd zap"},
		{"start", "{name: --all}", "error: '--all' is not the name of a service", ""},
		{"status", "{name: sshd}", "False", "rc-service sshd status"},
		{"status", "{name: '[cs]*d'}", "{'crond': True, 'sshd': False}", list + "; rc-service crond status; rc-service sshd status"},
		{"enable", "{name: sshd}", "True", "rc-update add sshd"},
		{"enable", "{name: bad}", "False", "rc-update add bad"},
		{"enable", "{name: sshd, runlevels: [default, boot]}", "True", list + "; rc-update add sshd boot default"},
		{"enable", "{name: networking, runlevels: [boot, single]}", "True", list + "; rc-update delete networking default; rc-update add networking single"},
		{"enable", "{name: crond, runlevels: default}", "True", list},
		{"enable", "{name: sshd, runlevels: -a}", "error: '-a' is not the name of a runlevel", list},
		{"disable", "{name: crond}", "True", "rc-update delete crond"},
		{"disable", "{name: networking, runlevels: [boot, single]}", "True", list + "; rc-update delete networking boot"},
		{"disable", "{name: crond, runlevels: boot}", "True", list},
	} {
		t.Run(tt.fun+" "+tt.args, func(t *testing.T) {
			t.Parallel()
			h := machine()
			got := calltest.Call(t, env(h), "service."+tt.fun, tt.args)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.calls, calltest.Commands(h)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The states work with this provider, too.
func TestStates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ fun, args, want string }{
		{"running", "{name: crond, enable: true}", "True The service crond is already running {}"},
		{"running", "{name: none}", "False The named service none is not available {}"},
		{"dead", "{name: sshd, enable: false}", "True The service sshd is already dead {}"},
		{"enabled", "{name: crond, runlevels: default}", "True Service crond is already enabled, and is in the desired state {}"},
		{"enabled", "{name: crond, runlevels: [boot]}", "True Service crond has been enabled, and is in the desired state {}"},
		{"masked", "{name: crond}", "False Service masking not available on this minion {}"},
	} {
		t.Run(tt.fun+" "+tt.args, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, calltest.State(t, env(machine()), "service."+tt.fun, tt.args, false)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzTable(f *testing.F) {
	f.Add(shown)
	f.Add("|\n a | | b")
	f.Fuzz(func(_ *testing.T, text string) { openrc.Parse(text) })
}
