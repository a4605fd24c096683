package shims_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	mod "brine/modules/shims"
	"brine/states/shims"
)

// A machine has the tools that git can clone, and what they did.
type machine struct {
	*host.Fake
	versions []string
	global   string
	ran      []string
	env      []string
}

func newMachine() *machine {
	m := &machine{Fake: host.NewFake(), global: "system"}
	m.PutExe("/usr/bin/git")
	m.PutExe("/usr/bin/gem")
	m.PutUser(host.Account{Name: "ann", UID: 1000, GID: 1000, Home: "/home/ann"})
	_ = m.MkdirAll("/root", 0o755)
	_ = m.MkdirAll("/home/ann", 0o755)
	m.HandleCommand("/usr/bin/git *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		m.ran = append(m.ran, strings.Join(c.Argv[1:], " "))
		if c.Argv[1] != "clone" {
			return host.Output{}, nil
		}
		dir := c.Argv[4]
		_ = m.MkdirAll(dir, 0o755)
		for _, tool := range []string{"rbenv", "pyenv"} {
			if strings.HasSuffix(dir, tool) {
				m.PutExe(dir + "/bin/" + tool)
			}
		}
		return host.Output{}, nil
	})
	m.HandleCommand("/usr/bin/gem *", func(context.Context, host.Cmd) (host.Output, error) {
		return host.Output{Stdout: []byte("gems")}, nil
	})
	for _, tool := range []string{"/usr/local/rbenv/bin/rbenv", "/usr/local/pyenv/bin/pyenv", "/home/ann/.rbenv/bin/rbenv"} {
		m.HandleCommand(tool+" *", m.tool)
	}
	return m
}

func (m *machine) tool(_ context.Context, c host.Cmd) (host.Output, error) {
	m.env = c.Env
	args := c.Argv[1:]
	m.ran = append(m.ran, strings.Join(args, " "))
	switch {
	case args[0] == "versions":
		return host.Output{Stdout: []byte(strings.Join(m.versions, "\n"))}, nil
	case args[0] == "global" && len(args) == 1:
		return host.Output{Stdout: []byte(m.global + "\n")}, nil
	case args[0] == "global":
		m.global = args[1]
	case args[0] == "install" && args[1] == "--list":
		return host.Output{Stdout: []byte("Available versions:\n  3.1.0\n  3.2.2\n")}, nil
	case args[0] == "install" && args[1] == "9":
		m.versions = append(m.versions, "9") // half of it
		return host.Output{Status: 1, Stderr: []byte("definition not found: 9")}, nil
	case args[0] == "install":
		m.versions = append(m.versions, args[1])
		return host.Output{Stderr: []byte("Installed " + args[1])}, nil
	case args[0] == "uninstall":
		m.versions = nil
	}
	return host.Output{}, nil
}

func (m *machine) rig() *calltest.Rig {
	return calltest.New(m.Fake,
		fun.Entry{Kind: fun.Exec, Name: "rbenv", Load: mod.RbenvModule}, fun.Entry{Kind: fun.State, Name: "rbenv", Load: shims.RbenvStates},
		fun.Entry{Kind: fun.Exec, Name: "pyenv", Load: mod.PyenvModule}, fun.Entry{Kind: fun.State, Name: "pyenv", Load: shims.PyenvStates})
}

func TestRbenv(t *testing.T) {
	t.Parallel()
	m := newMachine()
	r := m.rig()
	r.Env.Pillar = value.MapOf("rbenv", value.MapOf("build_env", `CFLAGS="-O2 -g" X=1`))
	r.Steps(t, []calltest.Step{
		{"call rbenv.is_installed {}", "False"},
		{"call rbenv.versions {}", "[]"},
		{"test rbenv.install_rbenv {name: x}", "None: Rbenv is set to be installed {}"},
		{"state rbenv.absent {name: 3.2.2}", "True: Rbenv not installed, 3.2.2 not either {}"},
		{"test rbenv.installed {name: ruby-3.2.2}", "None: Ruby 3.2.2 is set to be installed {}"},
		{"state rbenv.installed {name: ruby-3.2.2, default: true}", "True: Successfully installed ruby {'3.2.2': 'Installed'}"},
		{"state rbenv.installed {name: 3.2.2, default: true}", "True: Requested ruby exists {}"},
		{"test rbenv.installed {name: 3.2.2, default: true}", "True: Ruby 3.2.2 is already installed {}"},
		{"state rbenv.install_rbenv {name: x}", "True: Rbenv is already installed {}"},
		{"call rbenv.default {}", "'3.2.2'"},
		{"call rbenv.default {ruby: system}", "True"},
		{"test rbenv.installed {name: 3.2.2, default: true}", "None: Ruby 3.2.2 is set to become the default {}"},
		{"state rbenv.installed {name: 3.2.2, default: true}", "True: Requested ruby exists {'default': '3.2.2'}"},
		{"call rbenv.list {}", "['3.1.0', '3.2.2']"},
		{"call rbenv.do {cmdline: gem list}", "'gems'"},
		{"call rbenv.do_with_ruby {ruby: 3.2.2, cmdline: \"gem 'a b'\"}", "'gems'"},
		{"call rbenv.do {cmdline: ''}", "error: Command must be specified"},
		{"test rbenv.absent {name: 3.2.2}", "None: Ruby 3.2.2 is set to be uninstalled {}"},
		{"state rbenv.absent {name: 3.2.2}", "True: Successfully removed ruby {'3.2.2': 'Uninstalled'}"},
		{"state rbenv.absent {name: 3.2.2}", "True: Ruby 3.2.2 is already absent {}"},
		{"state rbenv.installed {name: 9}", "False: Failed to install ruby {}"},
		{"call rbenv.versions {}", "[]"},
		{"call rbenv.install_ruby {ruby: --help}", "error: invalid version of ruby: '--help'"},
		{"state rbenv.installed {name: 3.1.0, user: ann}", "True: Successfully installed ruby {'3.1.0': 'Installed'}"},
	})
	if m.global != "system" {
		t.Errorf("the default is %s, which was removed", m.global)
	}
	ran, env := strings.Join(m.ran, "; "), strings.Join(m.env, " ")
	for _, want := range []string{"rbenv.git /usr/local/rbenv", "ruby-build.git /usr/local/rbenv/plugins/ruby-build", "rbenv.git /home/ann/.rbenv", "uninstall --force 9"} {
		if !strings.Contains(ran, want) {
			t.Errorf("%s did not run: %s", want, ran)
		}
	}
	if !strings.Contains(env, "RBENV_ROOT=/home/ann/.rbenv") {
		t.Error(env)
	}
}

func TestPyenv(t *testing.T) {
	t.Parallel()
	m := newMachine()
	m.rig().Steps(t, []calltest.Step{
		{"state pyenv.install_pyenv {name: x}", "True: pyenv installed {'pyenv': 'Installed'}"},
		{"test pyenv.installed {name: python-3.12.4}", "None: python 3.12.4 is set to be installed {}"},
		{"state pyenv.installed {name: python-3.12.4}", "True: Successfully installed python {'3.12.4': 'Installed'}"},
		{"state pyenv.installed {name: 3.12.4}", "True: Requested python exists. {}"},
		{"state pyenv.installed {name: 9}", "False: Could not install python. {}"},
		{"call pyenv.install_python {python: 3.9.1}", "'Installed 3.9.1'"},
		{"call pyenv.uninstall_python {python: 3.9.1}", "True"},
		{"call pyenv.update {}", "True"},
		{"call pyenv.rehash {}", "True"},
		{"test pyenv.absent {name: 3.12.4}", "True: python 3.12.4 is already uninstalled {}"},
	})
}
