package e2e

import (
	"os"
	"testing"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// TestSSHLimits: what the configuration of the controller forbids is not done by an
// agent either, and what is wrong with these options ends the session there.
func TestSSHLimits(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(1)
	ran := s.path("ran")
	s.write("states/ways.sls", "a:\n  cmd.run:\n    - name: touch "+ran+"\nb:\n  test.nop:\n    - onlyif: touch "+ran+"\n"+
		"c:\n  module.run:\n    - cmd.run:\n      - cmd: touch "+ran+"\n")
	s.write("states/tmpl.sls", "a:\n  test.nop:\n    - x: {{ salt['cmd.run']('touch "+ran+"') }}\n")
	s.write("states/_modules/mine.py", "def f():\n    return 'mine'\n")
	s.write("states/_grains/own.py", "def own():\n    return {'own': 1}\n")
	s.write("master.d/limits.conf", "file_roots: {base: ["+s.path("states")+"]}\ncmd_blacklist_glob: ['touch *']\ndisable_modules: [network]\n"+
		"disabled_requisites: [require]\nextmod_whitelist: {modules: [other]}\ndisable_grains: [own]\n")
	for _, call := range [][]string{
		{"cmd.run", "touch " + ran},
		{"state.apply", "ways"},
		{"state.apply", "tmpl"},
	} {
		s.want(s.brine(append([]string{"ssh", "web1"}, call...)...), 20, `The shell command "touch `+ran+`" is not permitted`)
		if _, err := os.Stat(ran); err == nil {
			t.Fatalf("%v ran the command", call)
		}
	}
	s.want(s.brine("ssh", "web1", "network.ip_addrs"), 20, "'network.ip_addrs' is not available", "disable_modules")
	s.want(s.brine("ssh", "web1", "mine.f"), 20, "'mine.f' is not available")
	s.want(s.brine("ssh", "web1", "grains.has_value", "own"), 0, "False")
	s.want(s.brine("ssh", "web1", "cmd.run", "echo fine"), 0, "fine")
	s.write("master.d/limits.conf", "ssh_minion_opts: {disable_modules: {network: true}}\n")
	s.want(s.brine("ssh", "web1", "test.ping"), 20, "the option disable_modules must be a list")
}
