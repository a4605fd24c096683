//go:build linux

package providertest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/cmd/assembly"
	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/providertest"
)

// here skips a test unless this is a machine that may be changed, whose os_family grain
// is in BRINE_TEST_PROVIDERS: e2e's TestProvidersOnMachines runs this program in one. It
// has to have the programs.
func here(t *testing.T, family string, programs ...string) {
	t.Helper()
	switch is := os.Getenv("BRINE_TEST_PROVIDERS"); is {
	case "":
		t.Skip("it changes the machine: TestProvidersOnMachines of e2e runs it in a throw-away one")
	case family:
	default:
		if family != "" {
			t.Skipf("this machine is one of %s", is)
		}
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("this machine has no %s", p)
		}
	}
}

// A real machine is the one that the test runs on. It keeps what is run, and can answer
// in the place of programs. What changed is what the file system says.
type real struct {
	host.Host
	*record
}

type record struct {
	mu    sync.Mutex
	calls []host.Cmd
	match func(host.Cmd) bool
	reply func(context.Context, host.Cmd) (host.Output, error)
	since time.Time
}

func (r real) Run(ctx context.Context, c host.Cmd) (host.Output, error) {
	r.mu.Lock()
	r.calls = append(r.calls, c)
	match, reply := r.match, r.reply
	r.mu.Unlock()
	if match != nil && match(c) {
		return reply(ctx, c)
	}
	return r.Host.Run(ctx, c)
}

func (r real) Fork() host.Host  { return real{r.Host.Fork(), r.record} }
func (r real) Force() host.Host { return real{r.Host.Force(), r.record} }

func (r *record) Calls() []host.Cmd {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

func (r *record) Handle(match func(host.Cmd) bool, reply func(context.Context, host.Cmd) (host.Output, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.match, r.reply = match, reply
}

// tick is longer than the kernel's clock for times of files stands still.
const tick = 20 * time.Millisecond

func (r *record) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	time.Sleep(tick)
	r.calls, r.since = nil, time.Now()
	time.Sleep(tick)
}

// own are files that programs change while they look: a database's shared memory.
func own(path string) bool {
	return strings.HasSuffix(path, ".sqlite-shm") || strings.HasSuffix(path, ".sqlite-wal")
}

// Writes are the files that changed, but caches and logs.
func (r *record) Writes() []string {
	var list []string
	for _, root := range []string{"/etc", "/usr", "/opt", "/root", "/srv", "/home", "/var/lib"} {
		_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() && strings.HasPrefix(path, "/var/lib/systemd") {
				return filepath.SkipDir
			}
			if info, err := d.Info(); err == nil && d.Type().IsRegular() && !own(path) {
				if s, ok := info.Sys().(*syscall.Stat_t); ok && time.Unix(s.Ctim.Unix()).After(r.since) {
					list = append(list, path)
				}
			}
			return nil
		})
	}
	return list
}

// machine prepares this machine by lines of sh.
func machine(t *testing.T, opts *value.Map, prepare string) providertest.Machine {
	t.Helper()
	c := exec.Command("sh", "-ec", prepare)
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("prepare the machine: %v\n%s", err, out)
	}
	r := real{host.NewLocal(), &record{}}
	dir := t.TempDir()
	conf := "cachedir: " + dir + "/cache\nfile_client: local\nid: real\n" + os.Getenv("BRINE_TEST_PROVIDERS_CONF")
	if err := os.WriteFile(filepath.Join(dir, "minion"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Options{Kind: config.Minion, Host: r, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range opts.All() {
		cfg.Opts.Set(k, v)
	}
	env := assembly.NewEnv(t.Context(), assembly.EnvOptions{Host: r, Config: cfg, Table: assembly.Table(), Warn: func(w fun.Warning) { t.Log(w) }})
	return providertest.Machine{Env: env, Host: r}
}

func TestApt(t *testing.T) {
	here(t, "Debian", "apt-get")
	(&providertest.Pkg{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			return machine(t, nil, "apt-get -qq -y --allow-downgrades install brine-a=1.0 brine-all=1.2")
		},
		Old:     providertest.Package{Name: "brine-a", Installed: "1.0", Available: "2.0"},
		Current: providertest.Package{Name: "brine-all", Installed: "1.2", Available: "1.2"},
		Unknown: "nope",
		Looks: func(command string) bool {
			return strings.HasPrefix(command, "apt-cache ") || strings.Contains(command, " --simulate ") || strings.Contains(command, " --just-print ")
		},
		Without: map[string]string{
			"purge returns the version that was there": "as in Salt, purge returns a mapping of removed and installed",
		},
	}).Test(t)
}

// rpms has packages of .ci/machines' second image: see testdata/packages/rpm.sh.
func rpms(t *testing.T, prepare string, looks func(string) bool) {
	(&providertest.Pkg{
		New:     func(t *testing.T) providertest.Machine { t.Helper(); return machine(t, nil, prepare) },
		Old:     providertest.Package{Name: "foo", Installed: "1.0-1", Available: "2.0-1"},
		Current: providertest.Package{Name: "epo", Installed: "1:2.0-1", Available: "1:2.0-1"},
		Unknown: "nope", Looks: looks,
	}).Test(t)
}

const rpmState = "for p in foo epo; do rpm -e --nodeps $p 2>/dev/null || true; done; rpm -i --nodeps /srv/rpm/one/foo-1.0-1.noarch.rpm /srv/rpm/one/epo-2.0-1.noarch.rpm"

func TestDnf(t *testing.T) {
	here(t, "RedHat", "dnf")
	rpms(t, rpmState, nil)
}

func TestZypper(t *testing.T) {
	here(t, "Suse", "zypper")
	rpms(t, rpmState, nil)
}

func TestPacman(t *testing.T) {
	here(t, "Arch", "pacman")
	(&providertest.Pkg{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			return machine(t, nil, `pacman -Rdd --noconfirm foo epo 2>/dev/null || true
rm -f /var/cache/pacman/pkg/*
python3 /tmp/build/mk.py 1.0-1
pacman -Syy
pacman -S --noconfirm foo epo
python3 /tmp/build/mk.py 2.0-1
pacman -Syy`)
		},
		Old:     providertest.Package{Name: "foo", Installed: "1.0-1", Available: "2.0-1"},
		Current: providertest.Package{Name: "epo", Installed: "1:2.0-1", Available: "1:2.0-1"},
		Unknown: "nope",
	}).Test(t)
}

func TestSystemd(t *testing.T) {
	here(t, "Debian", "systemctl")
	const units = `for u in a b; do
	printf '[Unit]\nDescription=%s\n[Service]\nExecStart=/bin/sleep infinity\nExecReload=/bin/true\n[Install]\nWantedBy=multi-user.target\n' $u >/etc/systemd/system/promise-$u.service
done
systemctl daemon-reload
systemctl -q disable --now promise-a
systemctl -q enable --now promise-b`
	(&providertest.Service{
		New:     func(t *testing.T) providertest.Machine { t.Helper(); return machine(t, nil, units) },
		Running: "promise-b", Stopped: "promise-a", Enabled: "promise-b", Disabled: "promise-a", Unknown: "none",
	}).Test(t)
}

func TestGroup(t *testing.T) {
	here(t, "Debian", "groupadd", "gpasswd")
	(&providertest.Group{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			return machine(t, nil, `for u in ann bob; do id $u >/dev/null 2>&1 || useradd $u; done
for g in have nope; do groupdel $g 2>/dev/null || true; done
groupadd have; gpasswd -a ann have`)
		},
		Have: "have", Member: "ann", User: "bob", Unknown: "nope", Free: 4711,
	}).Test(t)
}

func TestIptables(t *testing.T) {
	here(t, "Debian", "iptables")
	(&providertest.Firewall{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			return machine(t, nil, "iptables -F; iptables -X")
		},
		Module: "iptables", Table: "filter", Chain: "INPUT", Custom: "PROMISE",
		Rule:  []value.Value{"proto", "tcp", "dport", "80", "jump", "ACCEPT"},
		Other: []value.Value{"source", "10.0.0.1", "jump", "DROP"},
		First: []value.Value{"position", int64(1)},
		Looks: func(command string) bool {
			return strings.Contains(command, "iptables-save ") || strings.Contains(command, " -C ") || strings.HasSuffix(command, " --help")
		},
	}).Test(t)
}

func TestNftables(t *testing.T) {
	here(t, "Debian", "nft")
	(&providertest.Firewall{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			return machine(t, nil, "nft flush ruleset; nft add table ip t; nft add chain ip t c")
		},
		Module: "nftables", Table: "t", Chain: "c", Custom: "promise",
		Rule:  []value.Value{"proto", "tcp", "dport", "80", "jump", "accept"},
		Other: []value.Value{"saddr", "10.0.0.1", "jump", "drop"},
		Looks: func(command string) bool { return strings.Contains(command, " list ") },
	}).Test(t)
}
