package e2e

import (
	"os/exec"
	"testing"

	"brine/internal/testkit/sshtest"
)

// TestSSHTree applies states of a git repository to targets, with a pillar of git and
// classes of master_tops.
func TestSSHTree(t *testing.T) {
	t.Parallel()
	sshtest.Require(t, "git")
	s := newSite(t, sshtest.Options{})
	s.roster(2)
	s.write("states/web.sls", "page:\n  file.managed:\n    - name: "+s.path("page")+"-{{ grains.id }}\n    - source: salt://files/page\n    - template: jinja\n")
	s.write("states/files/page", "{{ grains.id }} {{ pillar.who }}\n")
	s.write("states/top.sls", "base: {'nobody': [web]}\n")
	s.write("people/top.sls", "base: {'*': [p]}\n")
	s.write("people/p.sls", "who: anna\n")
	for _, repo := range []string{"states", "people"} {
		cmd := exec.Command("sh", "-c", "git init -q -b main . && git add -A && git -c user.name=a -c user.email=a@b commit -q -m x && git tag v1")
		cmd.Dir = s.path(repo)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	s.write("nodes", "case $1 in web1) echo 'classes: [web]' ;; *) echo '{}' ;; esac\n")
	s.write("master.d/tree.conf", "fileserver_backend: [roots, gitfs]\ngitfs_base: main\ngitfs_remotes:\n- file://"+s.path("states")+":\n  - name: states\n"+
		"ext_pillar:\n- git:\n  - main file://"+s.path("people")+":\n    - env: base\n    - name: people\nmaster_tops: {ext_nodes: sh "+s.path("nodes")+"}\n")
	s.want(s.brine("ssh", "*", "state.show_top", "--out=json", "--out-indent=-1", "--static"), 0, `"web1": {"base": ["web"]}`, `"web2": {}`)
	s.want(s.brine("ssh", "web1", "state.apply"), 0, "page-web1", "Succeeded: 1 (changed=1)")
	if got := read(t, s.path("page-web1")); got != "web1 anna\n" {
		t.Errorf("the page is %q", got)
	}
	s.want(s.brine("run", "jobs.list_jobs", "--out=json"), 0, `"pillarenv": "base"`, `"remote": "states"`, `"remote": "people"`)
	s.want(s.brine("ssh", "web1", "state.apply", "--async"), 0)
	s.write("nodes", "echo no such node >&2; exit 3\n")
	s.want(s.brine("ssh", "web1", "state.apply"), 20, "ended with status 3: no such node")
	s.want(s.brine("ssh", "web1", "test.ping", "--at", "people=v2"), 1, "--at v2: git_pillar remote people has no such commit, tag or branch")
}
