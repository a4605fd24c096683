package sshauth_test

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/ssh"
	"brine/states/sshauth"
	"brine/states/sshknownhosts"
)

const (
	keyA = "AAAAC3NzaC1lZDI1NTE5AAAAIJ9UUXvwPjPJ5CfDV3sVSTSrmcdXeWJpWKkqYkPsVqqv"
	keyB = "AAAAC3NzaC1lZDI1NTE5AAAAIA1v3vYrbYBqiYHWXAcRXJqcI3rZkzj7b+mDkFpVU4hF"
)

func rig() (*calltest.Rig, *host.Fake) {
	h := host.NewFake()
	h.PutUser(host.Account{Name: "ku", UID: 1000, GID: 1000, Home: "/home/ku"})
	h.PutDir("/home/ku", 0o755)
	h.PutOwner("/home/ku", 1000, 1000)
	return calltest.New(h, fun.Entry{Kind: fun.State, Name: "ssh_auth", Load: sshauth.States}, fun.Entry{Kind: fun.State, Name: "ssh_known_hosts", Load: sshknownhosts.States}), h
}

func TestAuth(t *testing.T) {
	t.Parallel()
	r, h := rig()
	h.PutFile("/srv/salt/keys", "ssh-ed25519 "+keyA+" f\nssh-ed25519 "+keyB+" f\n", 0o644)
	h.PutFile("/srv/salt/empty", "\n", 0o644)
	const a = "The authorized host key " + keyA
	r.Steps(t, []calltest.Step{
		{"test ssh_auth.present {name: ssh-ed25519 " + keyA + " c, user: ku}", "None: Key " + keyA + " for user ku is set to be added {}"},
		{"state ssh_auth.present {name: ssh-ed25519 " + keyA + " c, user: ku}", "True: " + a + " for user ku was added {'" + keyA + "': 'New'}"},
		{"state ssh_auth.present {name: " + keyA + " c, enc: ed25519, user: ku}", "True: " + a + " is already present for user ku {}"},
		{"test ssh_auth.present {name: no-pty ssh-ed25519 " + keyA + " c, user: ku}", "None: Key " + keyA + " for user ku is set to be updated {}"},
		{"state ssh_auth.present {name: no-pty ssh-ed25519 " + keyA + " c, user: ku}", "True: " + a + " for user ku was updated {'" + keyA + "': 'Updated'}"},
		{"test ssh_auth.present {name: not a key, user: ku}", "False: Invalid public ssh key, most likely has spaces or invalid syntax {}"},
		{"state ssh_auth.present {name: " + keyA + ", enc: x, user: ku}", "error: Incorrect encryption key type 'x'."},
		{"state ssh_auth.present {name: " + keyA + ", user: nosuch}", "False: Failed to add the ssh key. Is the home directory available, and/or does the key file exist? {}"},
		{"test ssh_auth.present {name: s, user: ku, source: 'salt://keys'}", "None: Set to update: " + keyA + "\nSet to add: " + keyB + "\n {}"},
		{"state ssh_auth.present {name: s, user: ku, source: 'salt://keys'}", "True: The authorized host key s for user ku was updated {'s': 'Updated'}"},
		{"state ssh_auth.present {name: s, user: ku, source: 'salt://keys'}", "True: The authorized host key s is already present for user ku {}"},
		{"test ssh_auth.present {name: s, user: ku, source: 'salt://keys'}", "True: All host keys in file salt://keys are already present {}"},
		{"state ssh_auth.present {name: s, user: ku, source: 'salt://none'}", "False: Failed to add the ssh key. Source file salt://none is missing {}"},
		{"test ssh_auth.present {name: s, user: ku, source: 'salt://empty'}", "False: No keys detected in salt://empty. Is file properly formatted? {}"},
		{"test ssh_auth.manage {name: m, user: ku, ssh_keys: [ssh-ed25519 " + keyB + " f]}", "None: " + keyA + " Key set for removal\nThe authorized host key " + keyB + " is already present for user ku {}"},
		{"state ssh_auth.manage {name: m, user: ku, ssh_keys: [ssh-ed25519 " + keyB + " g]}", "True:  {'" + keyA + "': 'Key removed', '" + keyB + "': 'Updated'}"},
		{"test ssh_auth.absent {name: ssh-ed25519 " + keyB + " x, user: ku}", "None: Key " + keyB + " for user ku is set for removal {}"},
		{"test ssh_auth.absent {name: s, source: 'salt://keys', user: ku}", "None: Set to remove: " + keyB + "\n {}"},
		{"state ssh_auth.absent {name: " + keyB + ", user: ku}", "True: Key removed {'" + keyB + "': 'Removed'}"},
		{"state ssh_auth.absent {name: " + keyB + ", user: ku}", "True: Key not present {}"},
		{"test ssh_auth.absent {name: " + keyB + ", user: ku}", "True: Key is already absent {}"},
		{"test ssh_auth.absent {name: s, source: 'salt://keys', user: ku}", "True: All host keys in file salt://keys are already absent {}"},
		{"state ssh_auth.absent {name: s, source: 'salt://none', user: ku}", "False: Failed to remove the ssh key. Source file salt://none is missing {}"},
	})
}

func TestKnownHosts(t *testing.T) {
	t.Parallel()
	printA, _ := ssh.Fingerprint(keyA, "")
	r, h := rig()
	h.OnCommand("ssh-keygen -R h *", host.Output{Stdout: []byte("# Host h found: line 1\n")})
	h.OnCommand("ssh-keyscan *", host.Output{Status: 1})
	r.Steps(t, []calltest.Step{
		{"test ssh_known_hosts.present {name: h, user: ku, key: " + keyA + ", enc: ed25519}", "None: Key for h is set to be added to .ssh/known_hosts {}"},
		{"state ssh_known_hosts.present {name: h, user: ku, key: " + keyA + ", enc: ed25519, hash_known_hosts: False}", "True: h's key saved to .ssh/known_hosts (key: " + keyA + ") {'old': None, 'new': [{'hostname': 'h', 'enc': 'ssh-ed25519', 'key': '" + keyA + "'}]}"},
		{"state ssh_known_hosts.present {name: h, user: ku, key: " + keyA + ", enc: ed25519}", "True: h already exists in .ssh/known_hosts {}"},
		{"test ssh_known_hosts.present {name: h, user: ku, key: " + keyA + ", enc: ed25519}", "True: Host h is already in .ssh/known_hosts {}"},
		{"test ssh_known_hosts.present {name: h, user: ku, key: " + keyB + ", enc: ed25519}", "None: Key for h is set to be updated in .ssh/known_hosts {}"},
		{"state ssh_known_hosts.present {name: h, user: ku, key: " + keyA + ", enc: ed25519, fingerprint: 'aa:bb'}", "False: The key does not have the fingerprint aa:bb: its fingerprint is " + printA + " {}"},
		{"test ssh_known_hosts.present {name: h, user: ku, key: " + keyA + ", enc: ed25519, fingerprint: 'aa:bb'}", "False: The key does not have the fingerprint aa:bb: its fingerprint is " + printA + " {}"},
		// Salt refuses the pair in test mode, and writes the key of whatever fingerprint.
		{"test ssh_known_hosts.present {name: p, user: ku, key: " + keyA + ", enc: ed25519, fingerprint: '" + printA + "'}", "None: Key for p is set to be added to .ssh/known_hosts {}"},
		{"state ssh_known_hosts.present {name: p, user: ku, key: " + keyA + ", enc: ed25519, fingerprint: '" + printA + "', hash_known_hosts: False}", "True: p's key saved to .ssh/known_hosts (key: " + keyA + ") {'old': None, 'new': [{'hostname': 'p', 'enc': 'ssh-ed25519', 'key': '" + keyA + "'}]}"},
		{"state ssh_known_hosts.present {name: p, user: ku, key: " + keyA + ", enc: ed25519, fingerprint: '" + printA + "'}", "True: p already exists in .ssh/known_hosts {}"},
		{"test ssh_known_hosts.present {name: p, user: ku, key: " + keyA + ", enc: ed25519, fingerprint: '" + printA + "'}", "True: Host p is already in .ssh/known_hosts {}"},
		{"state ssh_known_hosts.present {name: h, user: ku, key: x}", `False: Required argument "enc" if using "key" argument. {}`},
		{"state ssh_known_hosts.present {name: h, config: .ssh/x}", `False: If not specifying a "user", specify an absolute "config". {}`},
		{"state ssh_known_hosts.present {name: x, user: ku}", "False: Unable to receive remote host keys {}"},
		{"state ssh_known_hosts.present {name: x, user: nosuch, key: " + keyA + ", enc: ed25519}", "False: User nosuch does not exist {}"},
		{"test ssh_known_hosts.present {name: x, user: nosuch, key: " + keyA + ", enc: ed25519}", "None: Key for x is set to be added to .ssh/known_hosts {}"},
		{"test ssh_known_hosts.absent {name: h, user: ku}", "None: Key for h is set to be removed from .ssh/known_hosts {}"},
		{"state ssh_known_hosts.absent {name: n, user: ku}", "True: Host is already absent {}"},
		{"state ssh_known_hosts.absent {name: n, user: nosuch}", "True: Host is already absent {}"},
		{"test ssh_known_hosts.absent {name: n, user: nosuch}", "None: Key for n is set to be removed from .ssh/known_hosts {}"},
	})
	if got := r.State(t, "ssh_known_hosts.absent", "{name: h, user: ku}", false); !strings.HasPrefix(got, "True: # Host h found: line 1 {'old': [{'hostname': 'h', ") || !strings.HasSuffix(got, "}], 'new': None}") {
		t.Error(got)
	}
}
