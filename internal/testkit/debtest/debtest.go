// Package debtest is a fake Debian machine: dpkg's database as a file, and apt and
// dpkg as far as tests of packages need them.
package debtest

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// A Machine is a fake Debian machine. Repo has the versions of packages that apt
// knows, newest first. A package whose name ends in "-fails" cannot be configured.
type Machine struct {
	*host.Fake
	Repo map[string][]string
	// Locked is how often apt says that another program has the lock.
	Locked int
	env    *fun.Env
	t      testing.TB
}

// New returns a machine with the packages that status lists: lines of name,
// version, want and status, the last two of which may be left out. Its table of
// functions is table.
func New(t testing.TB, table *fun.Table, status string) *Machine {
	t.Helper()
	m := &Machine{Fake: host.NewFake(), t: t, Repo: map[string][]string{
		"tool": {"2.0", "1.1", "1.0"}, "lib": {"1.2"}, "held": {"2.0", "1.0"}, "odd-fails": {"1.0"}, "epoch": {"1:2.0-1", "1:1.0-1"},
	}}
	for _, exe := range []string{"apt-get", "apt-cache", "dpkg", "dpkg-query", "dpkg-deb"} {
		m.PutExe("/usr/bin/" + exe)
	}
	m.PutDir("/var/lib/apt/lists", 0o755)
	m.PutDir("/var/cache/brine", 0o755)
	var pkgs []pkg
	for l := range strings.SplitSeq(status, "\n") {
		if f := strings.Fields(l); len(f) > 1 {
			f = append(f, []string{"install", "installed"}[len(f)-2:]...)
			pkgs = append(pkgs, pkg{f[0], f[1], f[2], f[3]})
		}
	}
	m.write(pkgs)
	m.Handle(func(host.Cmd) bool { return true }, m.run)
	m.env = &fun.Env{
		Identity:  fun.Identity{ID: "deb", SaltEnv: "base"},
		Machine:   fun.Machine{Host: m.Fake, CacheDir: "/var/cache/brine"},
		Functions: fun.Functions{Table: table},
		Data: fun.Data{
			Memo: &fun.Memo{}, Opts: value.MapOf("id", "deb"), Pillar: value.NewMap(0),
			Grains: value.MapOf("os", "Debian", "os_family", "Debian", "osarch", "amd64", "cpuarch", "x86_64"),
		},
	}
	m.env.Invoker = dispatch.New(m.env)
	return m
}

// Env returns the Env of a run on the machine.
func (m *Machine) Env() *fun.Env { return m.env }

// Args reads keyword arguments, which are written as YAML.
func (m *Machine) Args(text string) *value.Map {
	m.t.Helper()
	v, err := yamlsalt.LoadString(text)
	if err != nil {
		m.t.Fatal(err)
	}
	if v == nil {
		return value.NewMap(0)
	}
	return v.(*value.Map)
}

// Exec calls an execution function and returns the repr of what it returns, or the
// error.
func (m *Machine) Exec(name, kw string, pos ...value.Value) string {
	m.t.Helper()
	res, err := m.env.Invoker.Invoke(m.t.Context(), fun.Exec, name, fun.Args{Pos: pos, Kw: m.Args(kw)})
	if err != nil {
		return "error: " + err.Error()
	}
	return value.Repr(res.Value)
}

// State calls a state and returns the repr of its result, comment and changes.
func (m *Machine) State(name, args string, test bool) string {
	m.t.Helper()
	ret := m.Ret(name, args, test)
	if ret.Err != nil {
		return "error: " + ret.Err.Error()
	}
	changes := ret.Changes
	if changes == nil {
		changes = value.NewMap(0)
	}
	return value.Str(ret.Result.Value()) + " | " + value.Str(ret.Comment) + " | " + value.Repr(changes)
}

// Ret calls a state and returns what it returns.
func (m *Machine) Ret(name, args string, test bool) fun.Ret {
	m.t.Helper()
	mod, spec, err := m.env.Find(fun.State, name)
	if err != nil {
		m.t.Fatal(err)
	}
	kw := m.Args(args)
	c, err := m.env.Invoker.Bind(mod, spec, fun.Args{Kw: kw})
	if err != nil {
		return fun.Raise(err)
	}
	c.Test = test
	c.Low = &fun.Chunk{State: mod.Name, Fun: spec.Name, ID: c.Name, Name: c.Name, SaltEnv: "base", Low: kw}
	return spec.State(m.t.Context(), c)
}

// Lines returns the commands that were run since the last call, and forgets them.
func (m *Machine) Lines() []string {
	var lines []string
	for _, c := range m.Calls() {
		lines = append(lines, strings.Join(c.Argv, " "))
	}
	m.Forget()
	return lines
}

type pkg struct{ name, version, want, status string }

const heldChanged = "E: Held packages were changed and -y was used without --allow-change-held-packages."

const statusFile = "/var/lib/dpkg/status"

func (m *Machine) write(pkgs []pkg) {
	var b strings.Builder
	for _, p := range pkgs {
		name, arch, ok := strings.Cut(p.name, ":")
		if !ok {
			arch = "amd64"
		}
		b.WriteString("Package: " + name + "\nStatus: " + p.want + " ok " + p.status + "\nSection: misc\nArchitecture: " + arch +
			"\nVersion: " + p.version + "\nDescription: test\n Package: inside\n\n")
	}
	m.PutFile(statusFile, b.String(), 0o644)
}

func (m *Machine) read() []pkg {
	var pkgs []pkg
	for par := range strings.SplitSeq(m.Text(statusFile), "\n\n") {
		var p pkg
		for l := range strings.SplitSeq(par, "\n") {
			key, val, _ := strings.Cut(l, ": ")
			switch key {
			case "Package":
				p.name = val
			case "Version":
				p.version = val
			case "Architecture":
				if val != "amd64" {
					p.name += ":" + val
				}
			case "Status":
				f := strings.Fields(val)
				p.want, p.status = f[0], f[2]
			}
		}
		if p.name != "" {
			pkgs = append(pkgs, p)
		}
	}
	return pkgs
}

func (m *Machine) run(_ context.Context, c host.Cmd) (host.Output, error) {
	words := c.Argv
	if i := slices.Index(words, "--"); i >= 0 {
		words = words[i+1:]
	} else {
		words = nil
	}
	said := func(s string) (host.Output, error) { return host.Output{Stdout: []byte(s)}, nil }
	failed := func(s string) (host.Output, error) { return host.Output{Status: 100, Stderr: []byte(s + "\n")}, nil }
	has := func(w string) bool { return slices.Contains(c.Argv, w) }
	switch {
	case m.Locked > 0 && c.Argv[0] == "apt-get":
		m.Locked--
		return failed("E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 77 (unattended-upgr)")
	case c.Argv[0] == "apt-get" && has("update"):
		return said("Hit:1 http://deb.example bookworm InRelease\nGet:2 http://deb.example sid InRelease [12.3 kB]\nIgn:3 x\nErr:4 y z\nReading package lists...\n")
	case c.Argv[0] == "apt-cache" && has("policy"):
		var b strings.Builder
		for _, w := range words {
			if v, ok := m.Repo[w]; ok {
				b.WriteString(w + ":\n  Installed: (none)\n  Candidate: " + v[0] + "\n  Version table:\n")
			}
		}
		return said(b.String())
	case c.Argv[0] == "apt-cache" && has("show"):
		var b strings.Builder
		for _, w := range words {
			for _, v := range m.Repo[w] {
				b.WriteString("Package: " + w + "\nVersion: " + v + "\nPriority: optional\n\n")
			}
		}
		return said(b.String())
	case c.Argv[0] == "apt-cache" && has("pkgnames"):
		return said("tool\nlib\nheld\n")
	case c.Argv[0] == "apt-get" && has("--just-print"):
		var b strings.Builder
		for _, p := range m.read() {
			if v := m.Repo[p.name]; len(v) > 0 && p.status == "installed" && v[0] != p.version {
				b.WriteString("Inst " + p.name + "\nConf " + p.name + " (" + v[0] + " Debian:testing [amd64])\n")
			}
		}
		return said(b.String())
	case c.Argv[0] == "apt-get" && has("--simulate") && has("install"):
		return m.simulate(words)
	case c.Argv[0] == "apt-get" && has("install"):
		return m.install(words, has("--only-upgrade"))
	case c.Argv[0] == "apt-get" && (has("upgrade") || has("dist-upgrade")):
		for _, p := range m.read() {
			words = append(words, p.name)
		}
		return m.install(words, true)
	case c.Argv[0] == "apt-get" && has("--simulate"):
		var b strings.Builder
		for _, p := range m.read() {
			switch {
			case !slices.Contains(words, p.name):
			case p.want == "hold":
				return failed(heldChanged)
			default:
				b.WriteString("Remv " + p.name + " [" + p.version + "]\n")
				if p.name == "lib" {
					b.WriteString("Remv tool [1.0]\n") // which needs it
				}
			}
		}
		return said(b.String())
	case c.Argv[0] == "apt-get" && has("remove"), has("purge"):
		return m.remove(words, has("purge"))
	case c.Argv[0] == "dpkg" && has("--set-selections"):
		in, _ := io.ReadAll(c.Stdin)
		pkgs := m.read()
		for l := range strings.SplitSeq(string(in), "\n") {
			f := strings.Fields(l)
			if i := slices.IndexFunc(pkgs, func(p pkg) bool { return len(f) == 2 && p.name == f[0] }); i >= 0 {
				pkgs[i].want = f[1]
			}
		}
		m.write(pkgs)
		return said("")
	case c.Argv[0] == "dpkg-deb":
		base := c.Argv[2][strings.LastIndexByte(c.Argv[2], '/')+1:]
		f := strings.Split(strings.TrimSuffix(base, ".deb"), "_")
		if len(f) != 3 {
			return failed("dpkg-deb: error: '" + c.Argv[2] + "' is not a Debian format archive")
		}
		return said("Package: " + f[0] + "\nVersion: " + f[1] + "\nArchitecture: " + f[2] + "\n")
	}
	return host.Output{Status: 2, Stderr: []byte("unexpected: " + strings.Join(c.Argv, " "))}, nil
}

// simulate says what install would do: tool needs lib, and takes the place of epoch.
func (m *Machine) simulate(words []string) (host.Output, error) {
	var b strings.Builder
	have := map[string]string{}
	for _, p := range m.read() {
		if p.status == "installed" {
			have[p.name] = p.version
		}
	}
	for _, w := range words {
		name, version, exact := strings.Cut(w, "=")
		v := m.Repo[name]
		switch {
		case len(v) == 0:
			return host.Output{Status: 100, Stderr: []byte("E: Unable to locate package " + name + "\n")}, nil
		case !exact:
			version = v[0]
		}
		if name == "tool" {
			if have["lib"] == "" {
				b.WriteString("Inst lib (" + m.Repo["lib"][0] + " Debian:testing [amd64])\n")
			}
			if have["epoch"] != "" {
				b.WriteString("Remv epoch [" + have["epoch"] + "]\n")
			}
		}
		old := ""
		if have[name] != "" {
			old = "[" + have[name] + "] "
		}
		b.WriteString("Inst " + name + " " + old + "(" + version + " Debian:testing [amd64]) []\nConf " + name + " (" + version + " Debian:testing [amd64])\n")
	}
	return host.Output{Stdout: []byte(b.String())}, nil
}

func (m *Machine) install(words []string, only bool) (host.Output, error) {
	pkgs := m.read()
	status := 0
	text := ""
	for _, w := range words {
		name, version, exact := strings.Cut(w, "=")
		if strings.HasSuffix(w, ".deb") {
			f := strings.Split(w[strings.LastIndexByte(w, '/')+1:], "_")
			name, version = f[0], f[1]
		} else if v := m.Repo[name]; len(v) == 0 {
			return host.Output{Status: 100, Stderr: []byte("E: Unable to locate package " + name + "\n")}, nil
		} else if !exact {
			version = v[0]
		} else if !slices.Contains(v, version) {
			return host.Output{Status: 100, Stderr: []byte("E: Version '" + version + "' for '" + name + "' was not found\n")}, nil
		}
		p := pkg{name, version, "install", "installed"}
		if strings.HasSuffix(name, "-fails") {
			p.status, status, text = "half-configured", 100, "E: Sub-process /usr/bin/dpkg returned an error code (1)\n"
		}
		if i := slices.IndexFunc(pkgs, func(q pkg) bool { return q.name == name }); i >= 0 {
			pkgs[i] = p
		} else if !only {
			pkgs = append(pkgs, p)
		}
	}
	m.write(pkgs)
	return host.Output{Status: status, Stderr: []byte(text)}, nil
}

func (m *Machine) remove(words []string, purge bool) (host.Output, error) {
	pkgs := m.read()
	for _, w := range words {
		i := slices.IndexFunc(pkgs, func(p pkg) bool { return p.name == w })
		switch {
		case i >= 0 && pkgs[i].want == "hold":
			return host.Output{Status: 100, Stderr: []byte(heldChanged + "\n")}, nil
		case i >= 0 && purge:
			pkgs = slices.Delete(pkgs, i, i+1)
		case i >= 0:
			pkgs[i].want, pkgs[i].status = "deinstall", "config-files"
		}
	}
	m.write(pkgs)
	return host.Output{}, nil
}
