package e2e

import (
	"os/exec"
	"strings"
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

	// One __context__ for the states and functions of a run, in both languages, and one
	// for each target.
	s.write("roster", read(t, s.path("roster"))+"here: {connection: local}\n")
	s.write("salt/_states/first.py", "def noted(name):\n    __context__.setdefault('seen', []).append(name + '@' + __grains__['id'])\n    return {'name': name, 'changes': {}, 'result': True, 'comment': ''}\n")
	s.write("salt/_states/next.star", "def noted(name):\n    __context__['seen'].append('star')\n    return {'name': name, 'changes': {}, 'result': True, 'comment': 'so far ' + ' '.join(__context__['seen'])}\n")
	s.write("salt/_modules/seen.py", "def all():\n    return __context__.get('seen')\n")
	s.write("salt/both.sls", "a: {first.noted: []}\nb: {next.noted: []}\nc: {first.noted: []}\nd: {next.noted: []}\n")
	s.want(s.brine("ssh", "*", "state.apply", "both"), 0, "so far a@web1 star c@web1 star", "so far a@here star c@here star")
	s.want(s.brine("ssh", "*", "seen.all", "--out=json", "--out-indent=-1", "--static"), 0, `"web1": null`, `"here": null`)

	// What is rendered there, and what the controller renders for it.
	s.write("salt/_grains/roles.py", "def roles():\n    return {'roles': ['web'], 'kernel_seen': __grains__['kernel']}\n")
	s.write("salt/_renderers/shout.py", "def render(data, saltenv='base', sls='', **kwargs):\n    return data.read().replace('one', 'ONE')\n")
	s.write("salt/_pillar/extra.py", "def ext_pillar(minion_id, pillar, word):\n    return {'a': [minion_id, word, __grains__.get('roles')]}\n")
	s.write("salt/loud.sls", "#!shout|yaml\none: {test.nop: []}\n")
	s.write("salt/py.sls", "#!py\ndef run():\n    return {'x': {'test.configurable_test_state': [{'changes': False}, {'result': True}, {'comment': '%s %s %s' % (__grains__['roles'][0], __grains__['kernel_seen'], __pillar__['a'])}]}}\n")
	s.write("master", read(t, s.path("master"))+"ext_pillar:\n  - extra: hey\n")
	s.want(s.brine("ssh", "web1", "state.apply", "loud"), 0, "ID: ONE")
	s.want(s.brine("ssh", "web1", "state.apply", "py"), 0, "Comment: web Linux ['web1', 'hey', ['web']]")
	s.write("salt/_matchers/role_match.py", "def match(tgt, opts=None, minion_id=None):\n    return tgt in opts['grains']['roles'] and minion_id == __opts__['id']\n")
	s.write("salt/top.sls", "base:\n  web:\n    - match: role\n    - loud\n  db:\n    - match: role\n    - py\n  '*':\n    - match: rule\n    - web\n")
	r := s.brine("ssh", "web1", "state.show_top", "--out=json", "--out-indent=-1")
	s.want(r, 0, `{"web1": {"base": ["loud"]}}`)
	if !strings.Contains(r.stderr, `unknown target type "rule"`) {
		t.Errorf("the unknown type is not warned of: %s", r.stderr)
	}
	s.want(s.brine("ssh", "web1", "grains.get", "roles", "--out=json", "--out-indent=-1"), 0, `{"web1": ["web"]}`)
}
