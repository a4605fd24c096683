package e2e

import (
	"testing"

	"brine/internal/testkit/sshtest"
)

// TestSSHPublish applies a template that calls a function on the other machines
// and on its own, while the states of all are under way.
func TestSSHPublish(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(2)
	s.write("master", read(t, s.path("master"))+"peer: {'web.*': [grains.get, test.arg]}\npeer_run: {web1: [test.arg]}\n")
	s.write("salt/conf.sls", `show:
  test.show_notification:
    - text: "{{ salt['publish.publish']('*', 'grains.get', 'id').values() | join('+') }}"
`)
	r := s.brine("ssh", "*", "state.apply", "conf", "--out=json")
	s.want(r, 0)
	for id, ret := range s.decode(r) {
		step := ret.(map[string]any)["test_|-show_|-show_|-show_notification"].(map[string]any)
		if step["comment"] != "web1+web2" {
			t.Errorf("%s: %v, want web1+web2", id, step["comment"])
		}
	}
	s.want(s.brine("ssh", "web1", "publish.publish", "web2", "test.arg", "[__pub_id=web9]", "--out=json"), 0, `"__pub_id": "web1"`)
	s.want(s.brine("ssh", "web1", "publish.runner", "test.arg", "hello"), 0, "hello")
	s.want(s.brine("ssh", "web2", "publish.runner", "test.arg", "hello"), 20, "web2 may not call test.arg, a runner")
	s.want(s.brine("ssh", "web1", "publish.publish", "*", "cmd.run", "id"), 20, "web1 may not call cmd.run on other machines")
}
