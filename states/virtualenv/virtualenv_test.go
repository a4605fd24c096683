package virtualenv_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/virtualenv"
	states "brine/states/virtualenv"
)

// rig returns a machine with an environment /v and programs; a run whose
// arguments said does not have fails.
func rig(said map[string]string, programs ...string) *calltest.Rig {
	h := host.NewFake()
	h.PutExe("/v/bin/python")
	for _, p := range programs {
		h.PutExe("/usr/bin/" + p)
	}
	_ = h.MkdirAll("/root", 0o700)
	h.HandleCommand("*", func(_ context.Context, c host.Cmd) (host.Output, error) {
		key := strings.TrimPrefix(strings.Join(c.Argv, " "), "/usr/bin/")
		out, ok := said[key]
		if !ok {
			return host.Output{Status: 1, Stderr: []byte("no " + key)}, nil
		}
		if at, made := strings.CutPrefix(out, "makes "); made {
			h.PutExe(at + "/bin/python")
		}
		return host.Output{Stdout: []byte(out)}, nil
	})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "virtualenv", Load: virtualenv.Module}, fun.Entry{Kind: fun.State, Name: "virtualenv", Load: states.States})
}

func TestVirtualenv(t *testing.T) {
	t.Parallel()
	said := map[string]string{
		"virtualenv --version": "virtualenv 20.17.1+ds from /usr\n",
		"virtualenv --python=python3 --extra-search-dir=/x --never-download --prompt=pr --system-site-packages /n": "makes /n",
		"virtualenv --clear /v":              "",
		"pyvenv --upgrade --symlinks /p":     "done",
		"/v/bin/python -m pip --version":     "pip 23.0 from /v\n",
		"/v/bin/python -m pip freeze --all":  "pip==23.0\n",
		"/v/bin/python -m pip install alpha": "",
		"/v/bin/python -V":                   "Python 3.11\n",
		"/n/bin/python -V":                   "Python 3.11\n",
		"/v/bin/python -c import sysconfig; print(sysconfig.get_path(\"purelib\"))": "/v/lib\n",
	}
	r := rig(said, "virtualenv", "pyvenv", "python3")
	r.Steps(t, []calltest.Step{
		{"test virtualenv.managed {name: /new}", "None: Virtualenv /new is set to be created {}"},
		{"test virtualenv.managed {name: /v}", "True: Virtualenv /v is already created {}"},
		{"test virtualenv.managed {name: /v, clear: true}", "None: Virtualenv /v is set to be cleared {'cleared_packages': ['pip==23.0'], 'old': ''}"},
		{"state virtualenv.managed {name: /v}", "True: virtualenv exists {}"},
		{"state virtualenv.managed {name: /v, clear: true}", "True: Cleared existing virtualenv {'cleared_packages': ['pip==23.0'], 'old': '', 'new': ''}"},
		{"state virtualenv.managed {name: /n, python: python3, extra_search_dir: /x, never_download: true, prompt: pr, system_site_packages: true}", "True: Created new virtualenv {'new': ''}"},
		{"state virtualenv.managed {name: /x}", "False: no virtualenv /x {}"},
		{"state virtualenv.managed {name: /x, python: nopy}", "error: Cannot find requested python (nopy)."},
		{"state virtualenv.managed {name: /v, requirements: 'salt://none'}", "False: pip requirements file 'salt://none' not found {}"},
		{"state virtualenv.managed {name: /v, use_wheel: true}", "False: The 'use_wheel' option is only supported in pip between 1.4 and 9.0.3. The version of pip detected was 23.0. {}"},
		{"state virtualenv.manage {name: /v, pip_pkgs: [alpha]}", "True: virtualenv exists {}"},
		{"state virtualenv.managed {name: /v, pip_pkgs: [beta]}", "False: virtualenv exists\n\nno /v/bin/python -m pip install beta {}"},
		{"call virtualenv.create {path: /p, upgrade: true}", "error: The `upgrade`(`--upgrade`) option is not supported by 'virtualenv'"},
		{"call virtualenv.create {path: /p, symlinks: true}", "error: The `symlinks`(`--symlinks`) option is not supported by 'virtualenv'"},
		{"call virtualenv.create {path: /p, venv_bin: pyvenv, python: x}", "error: The `python`(`--python`) option is not supported by 'pyvenv'"},
		{"call virtualenv.create {path: /p, venv_bin: pyvenv, never_download: true}", "error: The `never_download`(`--never-download`) option is not supported by 'pyvenv'"},
		{"call virtualenv.create {path: /p, venv_bin: -x}", "error: invalid venv_bin '-x': it must not start with a dash"},
		{"call virtualenv.create {path: -p}", "error: invalid path '-p': it must not be empty or start with a dash"},
		{"call virtualenv.get_site_packages [/v]", "'/v/lib'"},
		{"call virtualenv.get_site_packages [/none]", "error: Path '/none' does not appear to be a virtualenv: bin/python not found."},
		{"call virtualenv.virtualenv_ver [virtualenv]", "[20, 17, 1]"},
	})
}

// Without virtualenv the module of Python makes environments.
func TestStandard(t *testing.T) {
	t.Parallel()
	r := rig(map[string]string{"python3 -m venv --prompt pr /n": "makes /n", "python3.9 -m venv /m": "makes /m", "/n/bin/python -V": "", "/m/bin/python -V": ""}, "python3", "python3.9")
	r.Steps(t, []calltest.Step{
		{"state virtualenv.managed {name: /n, prompt: pr}", "True: Created new virtualenv {'new': ''}"},
		{"state virtualenv.managed {name: /m, python: python3.9}", "True: Created new virtualenv {'new': ''}"},
		{"state virtualenv.managed {name: /o, venv_bin: python3 -m venv, python: python3.9}", "error: The `python`(`--python`) option is not supported by 'python3 -m venv'"},
	})
}
