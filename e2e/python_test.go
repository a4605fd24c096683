package e2e

import (
	"os/exec"
	"testing"

	"brine/internal/testkit/sshtest"
)

// TestPythonOverSSH runs Python modules and states of the tree on a machine over
// SSH, by its own python3.
func TestPythonOverSSH(t *testing.T) {
	t.Parallel()
	if err := exec.Command("python3", "-c", "import inspect, json").Run(); err != nil {
		t.Skipf("there is no python3 with its library: %v", err)
	}
	s := newSite(t, sshtest.Options{})
	s.roster(1)
	s.write("salt/_modules/mymod.py", "def f(x):\n    return [x, __grains__['id'], __salt__['test.echo']('hi'), __pillar__.get('a')]\n\ndef boom():\n    raise ValueError('no good')\n")
	s.write("salt/_states/thing.py", "def present(name):\n    return {'name': name, 'changes': {'made': __salt__['mymod.f'](1)[2]}, 'result': True, 'comment': 'made'}\n")
	s.write("salt/web.sls", "one:\n  thing.present:\n    - name: {{ salt['mymod.f'](5)[1] }}\n")
	s.want(s.brine("ssh", "web1", "mymod.f", "7", "--out=json", "--out-indent=-1"), 0, `{"web1": [7, "web1", "hi", null]}`)
	s.want(s.brine("ssh", "web1", "state.apply", "web"), 0, "Comment: made", "hi")
	if r := s.brine("ssh", "web1", "mymod.boom"); r.exit == 0 {
		t.Errorf("an exception is a success: %s", r.stdout)
	}
}
