//go:build linux

package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brine/internal/testkit/machine"
	"brine/internal/testkit/turn"
)

// siteFiles are orchestrations over machines: one that is right, and those with faults
// that only a run over machines shows.
var siteFiles = map[string]string{
	"web.sls": `/etc/web.conf:
  file.managed:
    - contents: {{ grains.id }} {{ grains.roles | join(',') }} {{ pillar.port }}
`,
	"listens.sls": `listens:
  cmd.run:
    - name: systemd-run -q --unit listens python3 -m http.server 8080 --directory /etc
    - unless: systemctl is-active listens
`,
	"asks.sls": `asks:
  cmd.run:
    - name: for i in $(seq 100); do curl -sSf http://db1:8080/hostname >/srv/answer && exit; sleep 0.1; done; exit 1
    - creates: /srv/answer
`,
	"stamp.sls":       "stamp:\n  cmd.run:\n    - name: date +%N >>/etc/stamp\n",
	"broken.sls":      "broken:\n  cmd.run:\n    - name: echo no luck on $(hostname); exit 3\n",
	"slow.sls":        "wait:\n  cmd.run:\n    - name: echo here >&2; exec sleep 10000\n",
	"writes.sls":      "{% do salt['cmd.run']('touch /etc/written') %}\nnothing:\n  test.nop: []\n",
	"fine.sls":        "x:\n  test.nop: []\n",
	"orch/ok.sls":     "here:\n  file.managed:\n    - name: /etc/only-controller\n    - contents: x\n" + siteStep("web", "roles:web", "grain", "web") + siteStep("db", "db1", "list", "listens") + siteStep("asks", "web*", "glob", "asks"),
	"orch/calls.sls":  "ping:\n  salt.function:\n    - name: test.ping\n    - tgt: '*'\n",
	"orch/none.sls":   siteStep("proxies", "proxy*", "glob", "web"),
	"orch/stamp.sls":  siteStep("stamp", "web1", "glob", "stamp"),
	"orch/broken.sls": siteStep("all", "*", "glob", "web") + siteStep("one", "web2", "glob", "broken"),
	"orch/slow.sls":   siteStep("slow", "web1", "glob", "slow"),
	"orch/writes.sls": siteStep("writes", "db1", "glob", "writes"),
}

// siteStep is a step that applies an SLS.
func siteStep(id, tgt, kind, sls string) string {
	if kind == "list" {
		tgt = "[" + tgt + "]"
	} else {
		tgt = "'" + tgt + "'"
	}
	return id + ":\n  salt.state:\n    - tgt: " + tgt + "\n    - tgt_type: " + kind + "\n    - sls: " + sls + "\n"
}

// newMachineSite is a tree with three machines for each case.
func newMachineSite(t *testing.T, cases string) *trialTree {
	t.Helper()
	image := machine.Image(t)
	machines := `    machines:
      web1: {grains: {roles: [web, first]}, expect: {files: {/etc/web.conf: {content: "web1 web,first 80\n"}, /etc/only-controller: {type: absent}}}}
      web2: {grains: {roles: [web]}, pillar: {port: 81}, expect: {files: {/etc/web.conf: {content: "web2 web 81\n"}}, script: 'grep db1 /etc/hosts'}}
      db1: {grains: {roles: [db]}, expect: {files: {/etc/web.conf: {type: absent}}}}
`
	files := map[string]string{"tests/all.yml": "systems: [debian-12]\nimages: {debian-12: " + image + "}\npillar: {port: 80}\ncases:\n  fast: {sls: fine}\n" +
		strings.ReplaceAll(cases, "MACHINES\n", machines)}
	maps.Copy(files, siteFiles)
	return newTrialTree(t, files)
}

// TestTrialSite: an orchestration over three machines passes, which reach each other, and
// what is wrong on one of them is found and named.
func TestTrialSite(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	x := newMachineSite(t, `  ok:
    orchestrate: orch.ok
MACHINES
  calls:
    orchestrate: orch.calls
    machines: {web1: {}}
  none:
    orchestrate: orch.none
MACHINES
  stamp:
    orchestrate: orch.stamp
    machines: {web1: {}, web2: {}}
  broken:
    orchestrate: orch.broken
MACHINES
  writes:
    orchestrate: orch.writes
    machines: {db1: {}}
  expects:
    orchestrate: orch.calls
    machines: {web1: {}, web2: {expect: {files: {/etc/web.conf: {}}}}}
`)
	x.run(0, []string{"web1: file /etc/web.conf; web1: file /etc/only-controller; web2: file /etc/web.conf; web2: script; db1: file /etc/web.conf; plan: empty", "1 test: 1 passed"},
		"-k", "ok", "--driver", "nspawn")
	for _, name := range []string{"br0", "port0"} {
		if _, err := os.Stat("/sys/class/net/" + name); err == nil {
			t.Errorf("this machine has the interface %s of the machines", name)
		}
	}
	x.run(0, []string{"nothing changed; not looked at: what 1 call of functions changed", "1 test: 1 passed"}, "-k", "calls", "--driver", "namespace")
	x.run(1, []string{
		"orch/none.sls:2:3: apply: proxies (salt.state) in orch.none failed: No minions returned",
		"hint: the case has the machines web1, web2, db1",
		"stamp.sls:2:3: web1: again: stamp (cmd.run) in stamp changed something the second time",
		"broken.sls:2:3: web2: apply: broken (cmd.run) in broken failed: Command \"echo no luck on $(hostname); exit 3\" run",
		"db1: test: the run with test=True changed files: /etc/written",
		"web2: file /etc/web.conf: expected a file, and it does not exist",
		"5 tests: 0 passed, 5 failed",
	}, "-k", "none,stamp,broken,writes,expects", "--driver", "namespace")
}

// TestTrialSiteEnds: nothing is left of an orchestration that was ended, however it was.
func TestTrialSiteEnds(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	x := newMachineSite(t, "  slow:\n    orchestrate: orch.slow\nMACHINES\n")
	for _, driver := range []string{"namespace", "nspawn"} {
		waitGone(t, x.begin(driver, syscall.SIGINT)...)
		x.left()
		waitGone(t, x.begin(driver, syscall.SIGKILL)...)
		x.run(0, []string{"brine: removed what process", "1 test: 1 passed"}, "-k", "fast", "--driver", driver)
	}
}

// ownImage makes an image of a few programs of another one. A user without root can change
// nothing in one whose files are not their own.
func ownImage(t *testing.T, from, dir string) {
	t.Helper()
	for _, link := range []string{"bin", "sbin", "lib", "lib64"} {
		must(t, os.Symlink("usr/"+link, filepath.Join(dir, link)))
	}
	for _, pattern := range []string{
		"etc/passwd", "etc/group", "etc/os-release", "usr/lib64/ld-linux*", "usr/lib/ld-linux*", "usr/lib/*-linux-gnu/lib{c,m,selinux,pcre2-8,acl,attr,crypto}.so*",
		"usr/bin/{sh,cat,chmod,cp,cut,dirname,env,grep,head,id,ln,ls,mkdir,mktemp,mv,rm,rmdir,sed,sha256sum,sleep,stat,tail,touch,tr,uname,wc}",
	} {
		must(t, exec.Command("bash", "-c", `cd "$1" && for f in `+pattern+`; do [ ! -e "$f" ] || install -D "$f" "$2/$f"; done`, "bash", from, dir).Run())
	}
}

// TestTrialSiteUser: without root, machines of an orchestration reach each other by their
// names.
func TestTrialSiteUser(t *testing.T) {
	turn.Skip(t)
	image := machine.Image(t)
	t.Parallel()
	x := newTrialTree(t, map[string]string{
		"app.sls":  "/etc/app.conf:\n  file.managed:\n    - contents: x\n",
		"orch.sls": siteStep("all", "*", "glob", "app"),
		"tests/all.yml": "systems: [debian-12]\nimages: {debian-12: image}\ncases:\n  site:\n    orchestrate: orch\n    machines:\n      web1: {}\n" +
			"      web2:\n        expect:\n          functions: [network.connect: {args: [web1, 9], has: {result: false}}]\n" +
			"          files: {/proc/net/arp: {match: '^198\\.18\\.0\\.2 +0x1 +0x2 '}}\n",
		"image/empty": "",
	})
	ownImage(t, image, filepath.Join(x.dir, "image"))
	x.asUser()
	x.run(0, []string{"web2: network.connect web1 9; web2: file /proc/net/arp; plan: empty\n1 test: 1 passed, 0 failed\n"})
}
