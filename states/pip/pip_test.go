package pip_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/pip"
	"brine/states/pip"
)

func rig(said map[string]string) *calltest.Rig {
	h := host.NewFake()
	h.PutExe("/v/bin/python")
	h.PutFile("/srv/salt/req.txt", "alpha\n", 0o644)
	_ = h.MkdirAll("/root", 0o700)
	h.HandleCommand("*", func(_ context.Context, c host.Cmd) (host.Output, error) {
		out, ok := said[strings.Join(c.Argv[3:], " ")]
		if !ok {
			return host.Output{Status: 1, Stderr: []byte("no " + strings.Join(c.Argv[3:], " "))}, nil
		}
		return host.Output{Stdout: []byte(out)}, nil
	})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "pip", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "pip", Load: pip.States})
}

func TestInstalled(t *testing.T) {
	t.Parallel()
	said := map[string]string{
		"--version":               "pip 23.0.1 from /x\n",
		"list --format=json":      `[{"name": "alpha", "version": "1.0"}, {"name": "under_score", "version": "2.0+local"}]`,
		"index versions -- alpha": "Available versions: 1.1, 1.0\n",
		"install --requirement /srv/salt/req.txt --disable-pip-version-check": "Requirement already satisfied: alpha\n",
		"install --disable-pip-version-check --editable /src":                 "Successfully installed x\n",
		"install --disable-pip-version-check https://h/x.zip":                 "Successfully installed x\n",
		"install --disable-pip-version-check --force-reinstall alpha":         "Successfully installed alpha-1.0\n",
		"uninstall -y under_score":                                            "",
	}
	r := rig(said)
	r.Steps(t, []calltest.Step{
		{"state pip.installed {name: alpha, bin_env: /v}", "True: Python package alpha was already installed\nAll specified packages are already installed {}"},
		{"state pip.installed {name: x, bin_env: /v, pkgs: ['alpha>=1', 'under-score==2.0']}", "True: Python package alpha>=1 was already installed\nPython package under-score==2.0 was already installed\nAll specified packages are already installed {}"},
		{"state pip.installed {name: x, bin_env: /v, pkgs: alpha}", "False: pkgs argument must be formatted as a list {}"},
		{"test pip.installed {name: alpha~=1.1, bin_env: /v}", "None: Python package alpha~=1.1 is set to be installed {}"},
		{"test pip.installed {name: x, bin_env: /v, pkgs: [alpha, beta]}", "None: Python package(s) set to be installed:\nalpha\nbeta {}"},
		{"test pip.installed {name: alpha, bin_env: /v, upgrade: true}", "None: Python package alpha is set to be installed {}"},
		{"state pip.installed {name: alpha<1.1, bin_env: /v, upgrade: true}", "True: Python package alpha<1.1 was already installed\nAll specified packages are already installed and up-to-date {}"},
		{"state pip.installed {name: alpha, bin_env: /v, force_reinstall: true}", "True: All packages were successfully installed {'alpha==1.0': 'Installed'}"},
		{"state pip.installed {name: beta, bin_env: /v}", "False: Failed to install packages: beta. Error:  no install --disable-pip-version-check beta {}"},
		{"state pip.installed {name: a=1, bin_env: /v}", "False: Invalid version specification in package a=1. '=' is not supported, use '==' instead. {}"},
		{"state pip.installed {name: 'https://h/x.zip', bin_env: /v}", "True: All packages were successfully installed {'https://h/x.zip==???': 'Installed'}"},
		{"state pip.installed {name: alpha, bin_env: /none}", "False: Error installing 'alpha': Access denied to /none, could not find a pip binary {}"},
		{"state pip.installed {name: alpha, bin_env: /v, use_wheel: true}", "False: The 'use_wheel' option is only supported in pip between 1.4 and 9.0.3. The version of pip detected was 23.0.1. {}"},
		{"test pip.installed {name: r, bin_env: /v, requirements: 'salt://req.txt', editable: /src}", "None: Requirements file 'salt://req.txt' will be processed. Package will be installed in editable mode (i.e. setuptools \"develop mode\") from /src. {}"},
		{"state pip.installed {name: r, bin_env: /v, requirements: 'salt://req.txt'}", "True: Requirements were already installed. {}"},
		{"state pip.installed {name: r, bin_env: /v, requirements: 'salt://none'}", `False: Unable to process requirements file "salt://none" Error: pip requirements file 'salt://none' not found {}`},
		{"state pip.installed {name: r, bin_env: /v, editable: /src}", "True: Package successfully installed from VCS checkout /src. {'editable': True}"},
		{"state pip.removed {name: beta, bin_env: /v}", "True: Package is not installed. {}"},
		{"test pip.removed {name: alpha, bin_env: /v}", "None: Package alpha is set to be removed {}"},
		{"state pip.removed {name: alpha, bin_env: /v}", "False: Could not remove package. no uninstall -y alpha {}"},
		{"state pip.removed {name: Under.Score, bin_env: /v}", "True: Package was successfully removed. {'Under.Score': 'Removed'}"},
		{"state pip.removed {name: alpha, bin_env: /none}", "False: Error uninstalling 'alpha': Access denied to /none, could not find a pip binary {}"},
		{"state pip.uptodate {name: x, bin_env: /v}", "False: no list --outdated --format=json {}"},
	})
	said["list --outdated --format=json"] = "[]"
	r.Steps(t, []calltest.Step{{"state pip.uptodate {name: x, bin_env: /v}", "True: System is already up-to-date. {}"}})
	said["list --outdated --format=json"] = `[{"name": "alpha", "latest_version": "1.1", "latest_filetype": "wheel"}]`
	said["install -U alpha"] = ""
	r.Steps(t, []calltest.Step{
		{"test pip.uptodate {name: x, bin_env: /v}", "None: System update will be performed {}"},
		{"state pip.uptodate {name: x, bin_env: /v}", "True: Upgrade successful. {'changes': {}, 'result': True, 'comment': ''}"},
	})
}
