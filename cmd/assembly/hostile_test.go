//go:build !slim

package assembly

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// hostileGrains are grains of a target that name programs and files of the
// controller. mark is a file that is there if one of them was run.
func hostileGrains(dir string) (g *value.Map, mark string) {
	mark = filepath.Join(dir, "mark")
	evil := filepath.Join(dir, "evil")
	_ = os.WriteFile(evil, []byte("#!/bin/sh\ntouch "+mark+"\necho evil\n"), 0o755)
	return value.MapOf(
		"id", "web0", "os", "Debian", "os_family", "Debian", "shell", evil, "ps", evil, "systemd", value.MapOf("version", "1; "+evil),
		"kernel", "$("+evil+")", "path", dir, "pythonpath", value.Strings(dir), "pythonexecutable", evil, "saltpath", dir,
		"gpg_keydir", dir, "num_cpus", "`"+evil+"`", "init", evil, "virtual", evil, "osarch", evil, "role", "r",
	), mark
}

// TestHostileGrainsRunNothing renders a pillar whose files call functions that
// run programs: those of the controller, whatever the target reports. What
// templates see are the grains of the target.
func TestHostileGrainsRunNothing(t *testing.T) {
	t.Parallel()
	p := pillarTree(t, 1, map[string]string{
		"pillar/top.sls": "base: {'role:r': [{match: grain}, a]}\n",
		"pillar/a.sls": `
shell: {{ salt['cmd.shell']('echo hi') | tojson }}
piped: {{ salt['cmd.run']('echo hi | cat', python_shell=True) | tojson }}
run: {{ salt['cmd.run']('echo hi') | tojson }}
all: {{ salt['cmd.run_all']('echo hi', python_shell=True)['stdout'] | tojson }}
stdout: {{ salt['cmd.run_stdout']('echo hi', python_shell=True) | tojson }}
code: {{ salt['cmd.retcode']('true', python_shell=True) }}
procs: {{ salt['status.procs']() | length > 0 }}
pid: {{ salt['status.pid']('nonesuch-program') | tojson }}
role: {{ grains['role'] }}
get: {{ salt['grains.get']('role') }}
conf: {{ salt['config.get']('role') }}
match: {{ salt['match.grain']('role:r') }}
is: {{ grains.shell.endswith('evil') }}
`,
	})
	g, mark := hostileGrains(t.TempDir())
	m, err := p.render(t.Context(), "web0", g, fun.PillarRequest{Foreign: true})
	if err != nil {
		t.Fatal(err)
	}
	want := "{'shell': 'hi', 'piped': 'hi', 'run': 'hi', 'all': 'hi', 'stdout': 'hi', 'code': 0, 'procs': True, 'pid': '', 'role': 'r', 'get': 'r', 'conf': 'r', 'match': True, 'is': True}"
	if got := value.Repr(m); got != want {
		t.Errorf("pillar = %s\nwant     %s", got, want)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program that the target named was run")
	}
}

// TestHostileKeys has a target choose the keys that decrypt, and send messages
// to be decrypted by those of the controller: in an override, and in grains that
// a template puts into a text which is decrypted.
func TestHostileKeys(t *testing.T) {
	t.Parallel()
	gpg, err := exec.LookPath("gpg")
	if err != nil {
		t.Skip("gpg is not installed")
	}
	keys := filepath.Join(t.TempDir(), "k") // short: a socket is in it
	if err := os.Mkdir(keys, 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(stdin string, args ...string) string {
		c := exec.Command(gpg, append([]string{"--homedir", keys, "--batch", "--no-tty", "--pinentry-mode", "loopback", "--passphrase", ""}, args...)...)
		c.Stdin = strings.NewReader(stdin)
		out, err := c.Output()
		if err != nil {
			t.Skipf("gpg does not work here: %v", err)
		}
		return string(out)
	}
	t.Cleanup(func() {
		c := exec.Command("gpgconf", "--homedir", keys, "--kill", "all")
		_ = c.Run()
	})
	run("", "--quick-gen-key", "controller@example.com", "rsa2048", "encr", "never")
	other := strings.TrimSpace(run("other host's secret", "--armor", "--trust-model", "always", "-r", "controller@example.com", "-e"))
	own := strings.TrimSpace(run("own secret", "--armor", "--trust-model", "always", "-r", "controller@example.com", "-e"))
	indented := func(s string) string { return "|\n  " + strings.ReplaceAll(s, "\n", "\n  ") + "\n" }
	p := pillarTree(t, 1, map[string]string{
		"pillar/top.sls":   "base: {'*': [a, grain]}\n",
		"pillar/a.sls":     "secret: " + indented(own),
		"pillar/grain.sls": "#!jinja|yaml|gpg\nhello: {{ grains['motd'] | tojson }}\nlist: {{ grains['motds'] | tojson }}\n",
	})
	opts := p.o.Config.Opts
	opts.Set("gpg_keydir", keys)
	opts.Set("decrypt_pillar", value.Strings("secret", "stolen", "deep:stolen"))
	opts.Set("decrypt_pillar_default", "gpg")
	opts.Set("decrypt_pillar_renderers", value.Strings("gpg"))
	dir := t.TempDir()
	g, mark := hostileGrains(dir)
	g.Set("motd", other)
	g.Set("motds", value.NewList("x", value.MapOf("a", other)))
	if err := os.WriteFile(filepath.Join(dir, "gpg.conf"), []byte("logger-file "+mark+"\nverbose\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, list := range []bool{false, true} {
		opts.Set("ext_pillar_first", list)
		opts.Set("pillar_merge_lists", list)
		m, err := p.render(t.Context(), "web0", g, fun.PillarRequest{
			Foreign: true, Override: value.MapOf("stolen", other, "deep", value.MapOf("stolen", other, "port", int64(1))),
		})
		if err != nil {
			t.Fatal(err)
		}
		if m.Str("secret") != "own secret" {
			t.Errorf("the target's own secret is %.60q", m.Str("secret"))
		}
		if text := value.Repr(m); strings.Contains(text, "other host") {
			t.Errorf("a message of the target was decrypted: %s", text)
		}
		if m.Str("stolen") != other || m.Map("deep").At("port") != int64(1) {
			t.Errorf("the override is not merged: %s", value.Repr(m))
		}
	}
	// Without keys of the controller's choosing there are none.
	opts.Delete("gpg_keydir")
	m, err := p.render(t.Context(), "web0", g, fun.PillarRequest{Foreign: true})
	if err != nil || !strings.Contains(m.Str("secret"), "PGP MESSAGE") {
		t.Errorf("secret = %.60q, %v", m.Str("secret"), err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("gpg read the configuration that the target named")
	}
}

// TestHostilePillarenv has a target ask for other environments than the one
// that is configured.
func TestHostilePillarenv(t *testing.T) {
	t.Parallel()
	p := pillarTree(t, 1, map[string]string{
		"pillar/top.sls": "base: {'*': [a]}\n", "pillar/a.sls": "env: base\n",
		"other/top.sls": "prod: {'*': [a]}\n", "other/a.sls": "env: prod\nsecret: x\n",
	})
	opts := p.o.Config.Opts
	dir := filepath.Dir(opts.Map("pillar_roots").List("base").Items[0].(string))
	opts.Map("pillar_roots").Set("prod", value.Strings(filepath.Join(dir, "other")))
	g := value.MapOf("id", "web0", "os", "x")
	for _, fromSaltenv := range []bool{false, true} {
		opts.Set("pillarenv", "base")
		opts.Set("pillarenv_from_saltenv", fromSaltenv)
		for _, req := range []fun.PillarRequest{{PillarEnv: "prod"}, {SaltEnv: "prod"}, {SaltEnv: "prod", PillarEnv: "prod"}, {}} {
			req.Foreign = true
			m, err := p.render(t.Context(), "web0", g, req)
			if err != nil || m.Str("env") != "base" || m.Has("secret") {
				t.Errorf("%+v: %s, %v", req, value.Repr(m), err)
			}
		}
	}
	// What the controller's own call named is served.
	m, err := p.render(t.Context(), "web0", g, fun.PillarRequest{Foreign: true, PillarEnv: "prod", Named: []string{"prod"}})
	if err != nil || m.Str("env") != "prod" {
		t.Errorf("a pillarenv of the call: %s, %v", value.Repr(m), err)
	}
}

// TestHostileRoster has a roster lie where brine looks, which another user could
// have written: a roster names programs (ProxyCommand) and passwords.
func TestHostileRoster(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		uid   int
		mode  fs.FileMode
		named bool
		good  bool
	}{
		{"own", 0, 0o644, false, true},
		{"of another", 1000, 0o644, false, false},
		{"for all to write", 0, 0o666, false, false},
		{"of another, named", 1000, 0o644, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := host.NewFake()
			f.PutFile("/etc/salt/roster", "web: {host: 192.0.2.1}\n", tt.mode)
			f.PutOwner("/etc/salt/roster", tt.uid, 0)
			env, _ := fakeEnv(f)
			r, err := Roster(t.Context(), env, &config.Config{Dir: "/etc/salt", Named: tt.named}, SSHOptions{})
			var bad *host.UntrustedFileError
			switch {
			case tt.good && (err != nil || len(r.Entries()) != 1):
				t.Errorf("not read: %v", err)
			case !tt.good && !errors.As(err, &bad):
				t.Errorf("error = %v", err)
			}
		})
	}
}
