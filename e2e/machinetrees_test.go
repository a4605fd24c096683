//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/testkit/machine"
	"brine/internal/testkit/turn"
)

// where an example lies in its machine.
const exampleDir = "/srv/example"

// An exampleTree is a directory of examples and what a test adds to it.
type exampleTree struct {
	dir    string
	before []string // run in the machine first
	args   []string // of state.apply
	steps  int      // at least so many states are there
	again  int      // of these at least so many change something at first
	after  []string // have to succeed when the tree was applied
	unseen []string // IDs whose result test mode cannot predict
}

var exampleTrees = []exampleTree{
	{
		dir:   "lamp",
		args:  []string{`pillar={"lamp": {"packages": ["brine-svc", "brine-conf"]}}`},
		steps: 22, again: 18,
		after: []string{
			"curl -sf http://www.shop.example.org/ | grep -q '<p>database shop</p>'",
			"mysql -u shop -pchange-me -e 'show tables' shop",
			"/usr/local/sbin/backup-shop && test -s /var/backups/shop/dump.sql",
			"crontab -l | grep -q '^30 3 . . . /usr/local/sbin/backup-shop$'",
			"dpkg -s brine-svc brine-conf",
			"systemctl is-enabled shop nginx mariadb && systemctl is-active shop nginx mariadb",
		},
		unseen: []string{"shop-database", "shop-user", "shop-grants", "shop-answers"}, // servers that do not run yet
	},
	{
		dir: "hardened",
		before: []string{
			"mount -o remount,bind,rw /proc/sys",
			"useradd -m mallory && apt-get install -y brine-all brine-hold",
		},
		args:  []string{`pillar={"hardened": {"packages": {"installed": ["brine-a"], "removed": ["brine-all", "brine-hold"]}}}`},
		steps: 30, again: 25,
		after: []string{
			"! id mallory && id -nG alice | grep -qw ops",
			"sshd -T | grep -qx 'passwordauthentication no'",
			"nft list chain inet filter input | grep -q 'policy drop'",
			"test $(cat /proc/sys/net/ipv4/conf/all/rp_filter) = 1",
			"dpkg -s brine-a && ! dpkg -s brine-all && ! dpkg -s brine-hold",
			"test $(systemctl is-enabled debug-shell) = masked",
			"grep -Pq '^UMASK\\t+027$' /etc/login.defs",
			"systemctl is-active ssh cron nftables systemd-journald",
		},
		unseen: []string{"alice"}, // a member of a group that is not there yet
	},
	{
		dir:   "formulas",
		args:  []string{`pillar={"nginx": {"pkg": {"extra": ["brine-svc"]}}}`},
		steps: 20, again: 15,
		after: []string{
			"curl -sf http://127.0.0.1:8081/status | grep -qx 'status of web1'",
			"grep -qx 'keepalive_timeout 20;' /etc/nginx/conf.d/00-tuning.conf && grep -qx 'client_max_body_size 8m;' /etc/nginx/conf.d/00-tuning.conf",
			"id -nG deploy | grep -qw www-data && test $(stat -c %a /srv/deploy) = 750",
			"visudo -c -f /etc/sudoers.d/deploy",
			"crontab -l | grep -qx 'LANG=C.UTF-8' && crontab -l | grep -q '^@daily /usr/bin/find'",
			"dpkg -s brine-svc",
		},
	},
}

// The trees of examples, each on a machine of its own: test mode predicts
// changes, the first run makes them, the second one has nothing to do.
func TestMachineExamples(t *testing.T) {
	image := machine.Image(t)
	t.Parallel()
	brine := staticBrine(t)
	for _, e := range exampleTrees {
		t.Run(e.dir, func(t *testing.T) {
			turn.Skip(t)
			t.Parallel()
			e.run(t, machine.Boot(t, image), brine)
		})
	}
}

func (e *exampleTree) run(t *testing.T, m *machine.Machine, brine string) {
	m.Install(t, brineInside, brine)
	if err := os.CopyFS(filepath.Join(m.Root, exampleDir), os.DirFS(filepath.Join("examples", e.dir))); err != nil {
		t.Fatal(err)
	}
	m.Write(t, exampleDir+"/grains", "id: web1\nroles: [web]\n", 0o644)
	for _, line := range e.before {
		if r := m.Shell("/", line); r.Exit != 0 {
			t.Fatalf("%s: exit status %d: %s%s", line, r.Exit, r.Stdout, r.Stderr)
		}
	}
	for tag, s := range e.apply(t, m, "test=True") {
		if s.Result != nil && !*s.Result && !e.isUnseen(tag) {
			t.Errorf("test mode: %s: %s", tag, s.Comment)
		}
	}
	changed := 0
	first := e.apply(t, m)
	for tag, s := range first {
		if !s.ok() {
			t.Errorf("first run: %s: %s", tag, s.Comment)
		}
		if len(s.Changes) > 0 {
			changed++
		}
	}
	if len(first) < e.steps || changed < e.again {
		t.Errorf("%d states, %d of them changed something", len(first), changed)
	}
	for _, line := range e.after {
		if r := m.Shell("/", line); r.Exit != 0 {
			t.Errorf("%s: exit status %d: %s%s", line, r.Exit, r.Stdout, r.Stderr)
		}
	}
	for run, args := range [][]string{{"test=True"}, nil} {
		for tag, s := range e.apply(t, m, args...) {
			if !s.ok() && (args == nil || !e.isUnseen(tag)) || len(s.Changes) > 0 {
				t.Errorf("run %d after the first: %s: %s, changes %v", run+1, tag, s.Comment, s.Changes)
			}
		}
	}
}

func (e *exampleTree) isUnseen(tag string) bool {
	return slices.Contains(e.unseen, strings.Split(tag, "_|-")[1])
}

// apply applies the tree and returns its states by their tags.
func (e *exampleTree) apply(t *testing.T, m *machine.Machine, args ...string) map[string]step {
	t.Helper()
	line := append([]string{"/usr/local/bin/brine", "call", "-c", exampleDir, "--id", "web1", "--out=json", "state.apply"}, e.args...)
	r := m.Run(4*time.Minute, "/", append(line, args...)...)
	var doc struct{ Local map[string]step }
	if err := json.Unmarshal([]byte(r.Stdout), &doc); err != nil {
		t.Fatalf("%s: %v: exit status %d\n%s%s", strings.Join(line, " "), err, r.Exit, r.Stdout, r.Stderr)
	}
	return doc.Local
}
