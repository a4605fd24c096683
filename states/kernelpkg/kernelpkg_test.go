package kernelpkg_test

import (
	"context"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	kernelpkgmod "brine/modules/kernelpkg"
	"brine/states/kernelpkg"
)

// rig is a machine that runs a kernel and has a provider of "pkg" in memory.
func rig(running, version, depends string, installed ...string) *calltest.Rig {
	pkgs := value.MapOf("linux-image-cloud-x", "1", "linux-image-6.1.0-9-rt-amd64", "1")
	for _, p := range installed {
		pkgs.Set("linux-image-"+p, "1")
	}
	one := func(name string, fn func(name string) value.Value) fun.Spec {
		return fun.Spec{Name: name, VarKw: true, Args: []fun.Arg{{Name: "name", Type: fun.Str}}, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			return fun.Value(fn(c.Args.Str("name")))
		}}
	}
	mod := func() fun.Module {
		return fun.Module{Name: "pkg", Kind: fun.Exec, Specs: []fun.Spec{
			one("install", func(n string) value.Value {
				pkgs.Set(n, "2")
				return value.MapOf(n, value.MapOf("old", "", "new", "2"))
			}),
			one("latest_version", func(string) value.Value { return version }),
			one("list_pkgs", func(string) value.Value { return pkgs }),
			one("purge", func(n string) value.Value { pkgs.Delete(n); return nil }),
			one("show", func(n string) value.Value {
				return value.MapOf(n, value.MapOf(version, value.MapOf("Depends", depends)))
			}),
		}}
	}
	reboots := func() fun.Module {
		return fun.Module{Name: "system", Kind: fun.Exec, Specs: []fun.Spec{{Name: "reboot", Args: []fun.Arg{{Name: "at_time"}}, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			if c.Args.At("at_time") == nil {
				return fun.Result{}, fun.Errorf("no time")
			}
			return fun.Value("")
		}}}}
	}
	r := calltest.New(host.NewFake(),
		fun.Entry{Kind: fun.Exec, Name: "aptpkg", Virtual: "pkg", Load: mod},
		fun.Entry{Kind: fun.Exec, Name: "system", Load: reboots},
		fun.Entry{Kind: fun.Exec, Name: "kernelpkg_linux_apt", Virtual: "kernelpkg", Load: kernelpkgmod.Module},
		fun.Entry{Kind: fun.State, Name: "kernelpkg", Load: kernelpkg.States})
	r.Env.Grains = value.MapOf("os_family", "Debian", "kernelrelease", running)
	return r
}

func TestDebian(t *testing.T) {
	t.Parallel()
	rig("6.1.0-9-amd64", "6.1.76-1", "linux-image-6.1.0-18-amd64 (= 6.1.76-1)", "6.1.0-9-amd64", "6.1.0-10-amd64").Steps(t, []calltest.Step{
		{"call kernelpkg.active {}", "'6.1.0-9-amd64'"},
		{"call kernelpkg.list_installed {}", "['6.1.0-9-amd64', '6.1.0-10-amd64']"},
		{"call kernelpkg.latest_available {}", "'6.1.0-18-amd64'"},
		{"call kernelpkg.upgrade_available {}", "True"},
		{"test kernelpkg.latest_installed {name: k}", "None: The latest kernel package will be installed: 6.1.0-18-amd64 {}"},
		{"state kernelpkg.latest_installed {name: k}", "True: The latest kernel package has been installed, but not activated. {'linux-image-6.1.0-18-amd64': {'old': '', 'new': '2'}}"},
		{"state kernelpkg.latest_installed {name: k}", "True: The latest kernel package is already installed: 6.1.0-18-amd64 {}"},
		{"call kernelpkg.needs_reboot {}", "True"},
		{"test kernelpkg.latest_active {name: k}", "None: The system will be booted to activate kernel: 6.1.0-18-amd64 {'kernel': {'old': '6.1.0-9-amd64', 'new': '6.1.0-18-amd64'}}"},
		{"state kernelpkg.latest_active {name: k}", "error: no time"},
		{"state kernelpkg.latest_wait {name: k, at_time: 1}", "True:  {}"},
		{"watch kernelpkg.latest_wait {name: k, at_time: 1}", "True: The system will be booted to activate kernel: 6.1.0-18-amd64 {'kernel': {'old': '6.1.0-9-amd64', 'new': '6.1.0-18-amd64'}}"},
		{"watch kernelpkg.latest_installed {name: k}", "False: kernelpkg.latest_installed does not work with the watch requisite. {}"},
		{"call kernelpkg.remove [6.1.0-9-amd64]", "error: Active kernel cannot be removed"},
		{"call kernelpkg.remove [6.1.0-1-amd64]", "error: Kernel release '6.1.0-1-amd64' is not installed"},
		{"call kernelpkg.cleanup {}", "{'removed': ['linux-image-6.1.0-10-amd64']}"},
		{"call kernelpkg.remove [6.1.0-18-amd64]", "{'removed': ['linux-image-6.1.0-18-amd64']}"},
		{"call kernelpkg.needs_reboot {}", "False"},
		{"state kernelpkg.latest_active {name: k}", "True: The latest installed kernel package is active: 6.1.0-9-amd64 {}"},
		{"call kernelpkg.upgrade {reboot: true, at_time: 5}", "{'upgrades': {'linux-image-6.1.0-18-amd64': {'old': '', 'new': '2'}}, 'active': '6.1.0-9-amd64', 'latest_installed': '6.1.0-18-amd64', 'reboot_requested': True, 'reboot_required': True}"},
	})
}

func TestOthers(t *testing.T) {
	t.Parallel()
	rig("5.15.0-91-generic", "5.15.0.101.98", "", "5.15.0-91-generic").Steps(t, []calltest.Step{
		{"call kernelpkg.latest_available {}", "'5.15.0-101-generic'"},
		{"call kernelpkg.cleanup {keep_latest: false}", "{'removed': []}"},
	})
	rig("5.15.0-91-generic", "", "", "5.15.0-91-generic").Steps(t, []calltest.Step{
		{"call kernelpkg.latest_available {}", "'5.15.0-91-generic'"},
		{"call kernelpkg.upgrade_available {}", "False"},
	})
	rig("amd64", "1", "").Steps(t, []calltest.Step{
		{"call kernelpkg.list_installed {}", "error: the type of the running kernel cannot be told from its release amd64"},
	})
	rig("6.1.0-9-amd64", "6.1.76-1", "libc6").Steps(t, []calltest.Step{
		{"call kernelpkg.latest_installed {}", "None"},
		{"call kernelpkg.latest_available {}", "error: the release of the kernel of linux-image-amd64 6.1.76-1 is not known"},
	})
}
