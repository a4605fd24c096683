package e2e

import (
	"strings"
	"testing"

	"brine/internal/testkit/sshtest"
)

// TestSSHMine applies a template that reads the mine of the other machines: one
// that is gathered while the states of all are under way.
func TestSSHMine(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(3)
	s.write("pillar/top.sls", "base: {'*': [m]}\n")
	s.write("pillar/m.sls", `mine_functions:
  who: [{mine_function: grains.get}, id]
  loop: {mine_function: mine.get, tgt: '*', fun: who}
  priv: {mine_function: test.echo, text: secret, allow_tgt: web1}
`)
	s.write("salt/conf.sls", `show:
  test.show_notification:
    - text: "{{ salt['mine.get']('*', 'who').values() | join('+') }} {{ salt['mine.get']('web2', 'priv') }}"
`)
	r := s.brine("ssh", "*", "state.apply", "conf", "--out=json")
	s.want(r, 0)
	for id, ret := range s.decode(r) {
		step := ret.(map[string]any)["test_|-show_|-show_|-show_notification"].(map[string]any)
		want := "web1+web2+web3 {}"
		if id == "web1" {
			want = "web1+web2+web3 {'web2': 'secret'}"
		}
		if step["comment"] != want {
			t.Errorf("%s: %v, want %s", id, step["comment"], want)
		}
	}
	// What was kept is read again, and a target changes its own.
	s.want(s.brine("ssh", "web3", "mine.flush"), 0, "True")
	r = s.brine("run", "mine.get", "*", "who")
	s.want(r, 0, "web2")
	if strings.Contains(r.stdout, "web3") {
		t.Errorf("web3 is there after mine.flush: %s", r.stdout)
	}
	s.want(s.brine("ssh", "web1", "mine.get", "web*", "who"), 0, "web2")
}
