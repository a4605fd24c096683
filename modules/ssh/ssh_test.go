package ssh_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/ssh"
)

const (
	keyA = "AAAAC3NzaC1lZDI1NTE5AAAAIJ9UUXvwPjPJ5CfDV3sVSTSrmcdXeWJpWKkqYkPsVqqv"
	keyB = "AAAAC3NzaC1lZDI1NTE5AAAAIA1v3vYrbYBqiYHWXAcRXJqcI3rZkzj7b+mDkFpVU4hF"
	fpA  = "27:f9:a3:da:51:e9:57:ba:d5:63:0d:9d:a2:c1:ce:19"
)

func machine() *host.Fake {
	h := host.NewFake()
	h.PutExe("/usr/bin/ssh")
	h.PutUser(host.Account{Name: "ku", UID: 1000, GID: 1000, Home: "/home/ku"})
	h.PutUser(host.Account{Name: "kn", UID: 1001, GID: 1001, Home: "/home/none"})
	h.PutDir("/home/ku", 0o755)
	h.PutOwner("/home/ku", 1000, 1000)
	return h
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "ssh", Load: ssh.Module})
}

func TestAuth(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutFile("/srv/salt/keys", "# c\nssh-ed25519 "+keyA+" from@file\n", 0o644)
	h.PutFile("/srv/salt/none", "# c\n", 0o644)
	r := rig(h)
	r.Steps(t, []calltest.Step{
		{"call ssh.auth_keys [ku]", "{}"},
		{"call ssh.set_auth_key [ku, " + keyA + ", ed25519, 'a  b']", "'new'"},
		{"call ssh.set_auth_key [ku, " + keyA + ", ed25519, 'a b']", "'no change'"},
		{"call ssh.check_key [ku, " + keyA + ", ed25519, other, [no-pty]]", "'update'"},
		{"call ssh.check_key [ku, " + keyB + ", ed25519, '', null]", "'add'"},
		{"call ssh.check_key [ku, " + keyB + ", bogus, '', null]", "error: Incorrect encryption key type 'bogus'."},
		{"call ssh.set_auth_key {user: ku, key: " + keyA + ", enc: ed25519, comment: c, options: [no-pty, 'command=\"a b\"']}", "'replace'"},
		{"call ssh.set_auth_key [ku, '%%%', ed25519]", "'Invalid public key'"},
		{"call ssh.set_auth_key [ku, 'a b', ed25519]", "'invalid'"},
		{`call ssh.set_auth_key [ku, ` + keyB + `, ed25519, "a\nssh-rsa x"]`, "'Invalid public key'"},
		{"call ssh.set_auth_key [nosuch, " + keyA + ", ed25519]", "'fail'"},
		{"call ssh.set_auth_key [kn, " + keyA + ", ed25519]", "'fail'"},
		{"call ssh.set_auth_key {user: ku, key: " + keyA + ", enc: ed25519, config: '%x'}", `error: AuthorizedKeysFile path: unknown token character "%x"`},
		{"call ssh.set_auth_key {user: ku, key: " + keyA + ", enc: ed25519, config: '%h/%u.keys'}", "'new'"},
		{"call ssh.auth_keys {user: [ku, nosuch], fingerprint_hash_type: md5}", "{'ku': {'" + keyA + "': {'enc': 'ssh-ed25519', 'comment': 'c', 'options': ['no-pty', 'command=\"a b\"'], 'fingerprint': '" + fpA + "'}}}"},
		{"call ssh.auth_keys {user: ku, fingerprint_hash_type: x}", "error: The fingerprint_hash_type x is not supported."},
		{"call ssh.check_key_file [ku, 'salt://keys']", "{'" + keyA + "': 'update'}"},
		{"call ssh.check_key_file [ku, 'salt://missing']", "{}"},
		{"call ssh.set_auth_key_from_file [ku, 'salt://keys']", "'replace'"},
		{"call ssh.set_auth_key_from_file [ku, 'salt://none']", "'fail'"},
		{"call ssh.set_auth_key_from_file [ku, 'salt://missing']", "error: Failed to pull key file from salt file server"},
		{"call ssh.rm_auth_key [ku, " + keyB + "]", "'Key not present'"},
		{"call ssh.rm_auth_key_from_file [ku, 'salt://keys']", "'Key removed'"},
		{"call ssh.rm_auth_key [nosuch, " + keyB + "]", "'Key not present'"},
	})
	if got := h.Text("/home/ku/ku.keys"); got != "ssh-ed25519 "+keyA+"\n" {
		t.Errorf("keys: %q", got)
	}
	for path, mode := range map[string]uint32{"/home/ku/.ssh": 0o700, "/home/ku/.ssh/authorized_keys": 0o600} {
		if st, err := h.Stat(path); err != nil || st.Perm() != mode || st.UID != 1000 || st.GID != 1000 {
			t.Errorf("%s: %o %d:%d %v", path, st.Perm(), st.UID, st.GID, err)
		}
	}
}

// What others wrote into the file stays as it is.
func TestKeepsLines(t *testing.T) {
	t.Parallel()
	const before = "# by hand\n\n  ssh-ed25519 " + keyB + "\n@nonsense\ncommand=\"echo ssh-rsa x\" ssh-ed25519 " + keyA + " me"
	h := machine()
	h.PutFile("/home/ku/.ssh/authorized_keys", before, 0o640)
	rig(h).Steps(t, []calltest.Step{
		{"call ssh.set_auth_key [ku, " + keyA + ", ed25519, me]", "'replace'"},
		{"call ssh.rm_auth_key [ku, " + keyB + "]", "'Key removed'"},
	})
	if got, want := h.Text("/home/ku/.ssh/authorized_keys"), "# by hand\n\n@nonsense\nssh-ed25519 "+keyA+" me\n"; got != want {
		t.Errorf("file: %q, want %q", got, want)
	}
}

// A link of the user to what belongs to root is not written through.
func TestLinks(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutFile("/etc/shadow", "secret\n", 0o600)
	h.PutDir("/home/ku/.ssh", 0o700)
	h.PutOwner("/home/ku/.ssh", 1000, 1000)
	h.PutLink("/home/ku/.ssh/authorized_keys", "/etc/shadow")
	rig(h).Steps(t, []calltest.Step{{
		"call ssh.set_auth_key [ku, " + keyA + ", ed25519]",
		"error: Could not write to key file: /home/ku/.ssh/authorized_keys leads to /etc/shadow, which does not belong to ku",
	}})
	if h.Text("/etc/shadow") != "secret\n" {
		t.Error("it wrote")
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutExe("/usr/bin/ssh-keyscan")
	h.HandleCommand("ssh-keyscan *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		if c.Argv[len(c.Argv)-1] != "scan.example.org" {
			return host.Output{Status: 1}, nil
		}
		return host.Output{Stdout: []byte("# scan.example.org:22 SSH\nscan.example.org ssh-ed25519 " + keyA + "\n")}, nil
	})
	h.OnCommand("ssh-keygen -R *", host.Output{Stdout: []byte("# Host found: line 1\n")})
	entry := "{'hostname': 'a.example.org', 'key': '" + keyA + "', 'enc': 'ssh-ed25519', 'fingerprint': '" + fpA + "'}"
	rig(h).Steps(t, []calltest.Step{
		{"call ssh.check_known_host [ku, a.example.org]", "'add'"},
		{"call ssh.check_known_host [nosuch, a.example.org]", "{'status': 'error', 'error': 'User nosuch does not exist'}"},
		{"call ssh.set_known_host {user: ku, hostname: a.example.org, key: " + keyA + ", enc: ed25519, hash_known_hosts: False}", "{'status': 'updated', 'old': None, 'new': [{'hostname': 'a.example.org', 'enc': 'ssh-ed25519', 'key': '" + keyA + "'}]}"},
		{"call ssh.set_known_host {user: ku, hostname: a.example.org, key: " + keyA + ", enc: ed25519}", "{'status': 'exists', 'keys': ['" + keyA + "']}"},
		{"call ssh.get_known_host_entries {user: ku, hostname: a.example.org, fingerprint_hash_type: md5}", "[" + entry + "]"},
		{"call ssh.check_known_host {user: ku, hostname: a.example.org, fingerprint: '" + fpA + "', fingerprint_hash_type: md5}", "'exists'"},
		{"call ssh.check_known_host {user: ku, hostname: a.example.org, fingerprint: aa}", "'update'"},
		{"call ssh.set_known_host {user: ku, hostname: a.example.org, key: " + keyB + ", enc: ed25519, fingerprint_hash_type: md5}", "{'status': 'updated', 'old': [" + entry + "], 'new': [{'hostname': 'a.example.org', 'enc': 'ssh-ed25519', 'key': '" + keyB + "'}]}"},
		{"call ssh.check_known_host {user: ku, hostname: A.example.org, key: " + keyB + "}", "'exists'"},
		{"call ssh.set_known_host {user: ku, hostname: a, key: x y, enc: ed25519}", "{'status': 'error', 'error': 'Invalid public ssh key, most likely has spaces or invalid syntax'}"},
		{"call ssh.set_known_host {user: ku, hostname: '-oProxy'}", "{'status': 'error', 'error': \"invalid host name '-oProxy'\"}"},
		{"call ssh.set_known_host {user: ku, hostname: a, port: 23}", "{'status': 'error', 'error': 'argument port can not be used in conjunction with argument hash_known_hosts'}"},
		{"call ssh.set_known_host {hostname: p, key: " + keyA + ", enc: rsa, port: 23, hash_known_hosts: False}", "{'status': 'updated', 'old': None, 'new': [{'hostname': 'p', 'enc': 'ssh-rsa', 'key': '" + keyA + "', 'port': 23}]}"},
		{"call ssh.set_known_host {user: ku, hostname: gone.example.org}", "{'status': 'error', 'error': 'Unable to receive remote host keys'}"},
		{"call ssh.set_known_host {user: ku, hostname: scan.example.org, fingerprint: aa}", "{'status': 'error', 'error': 'Remote host public keys found but none of their fingerprints match the one you have provided'}"},
		{"call ssh.recv_known_host_entries {hostname: scan.example.org, fingerprint_hash_type: md5}", "[" + strings.Replace(entry, "a.ex", "scan.ex", 1) + "]"},
		{"call ssh.rm_known_host [ku, a.example.org]", "{'status': 'removed', 'comment': '# Host found: line 1'}"},
		{"call ssh.rm_known_host [kn, a.example.org]", "{'status': 'error', 'error': 'Known hosts file /home/none/.ssh/known_hosts does not exist'}"},
	})
	if got := h.Text("/home/ku/.ssh/known_hosts"); !strings.HasPrefix(got, "|1|") || !strings.HasSuffix(got, " ssh-ed25519 "+keyB+"\n") {
		t.Errorf("known_hosts: %q", got)
	}
	if got := h.Text("/etc/ssh/ssh_known_hosts"); got != "[p]:23 ssh-rsa "+keyA+"\n" {
		t.Errorf("ssh_known_hosts: %q", got)
	}
}

// Names of other hosts and patterns survive a new key.
func TestDrop(t *testing.T) {
	t.Parallel()
	f := ssh.ParseKnown("# c\na,b ssh-rsa K\n*.x ssh-rsa K\na ssh-rsa L c\n@cert-authority a ssh-rsa M\nnonsense\n")
	want := "# c\nb ssh-rsa K\n*.x ssh-rsa K\n@cert-authority a ssh-rsa M\nnonsense\n"
	if got := f.Drop("a", []string{"ssh-rsa"}).String(); got != want {
		t.Errorf("Drop: %q, want %q", got, want)
	}
}

func TestMachineKeys(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutFile("/etc/ssh/ssh_host_rsa_key", "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n", 0o600)
	h.PutFile("/etc/ssh/ssh_host_rsa_key.pub", "ssh-rsa AAAA root@x\n", 0o644)
	h.PutFile("/etc/ssh/ssh_host_rsa_key-cert.pub", "cert\n", 0o644)
	h.PutFile("/etc/ssh/sshd_config", "", 0o644)
	h.PutFile("/home/ku/.ssh/id_rsa.pub", "pub\n", 0o644)
	h.PutFile("/home/ku/.ssh/id_rsa", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n", 0o600)
	rig(h).Steps(t, []calltest.Step{
		{"call ssh.host_keys {private: False, certs: False}", "{'rsa.pub': 'ssh-rsa AAAA root@x'}"},
		{"call ssh.host_keys {private: False}", "{'rsa-cert.pub': 'cert', 'rsa.pub': 'ssh-rsa AAAA root@x'}"},
		{"call ssh.host_keys [/nowhere]", "error: [Errno 2] No such file or directory: '/nowhere'"},
		{"call ssh.user_keys {user: ku, prvfile: False}", "{'ku': {'id_rsa.pub': 'pub'}}"},
		{"call ssh.user_keys {user: [ku, kn], pubfile: /home/ku/.ssh/id_rsa.pub, prvfile: False}", "{'ku': {'id_rsa.pub': 'pub'}, 'kn': {'id_rsa.pub': 'pub'}}"},
		{"call ssh.key_is_encrypted [/home/ku/.ssh/id_rsa]", "True"},
		{"call ssh.key_is_encrypted [/etc/ssh/ssh_host_rsa_key]", "False"},
		{"call ssh.key_is_encrypted [/etc/ssh/sshd_config]", "error: /etc/ssh/sshd_config is not a private key"},
	})
}

func TestFlaw(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ enc, key, want string }{
		{"ssh-ed25519", keyA, ""},
		{"ssh-rsa", keyA, "its type is 'ssh-ed25519'"},
		{"ssh-rsa", "AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7", "it is cut short"},
		{"ssh-rsa", "", "it is empty"},
		{"ssh-rsa", "%", "it is not base64"},
	} {
		if got := ssh.Flaw(tt.enc, tt.key); got != tt.want {
			t.Errorf("Flaw(%s, %s) = %q, want %q", tt.enc, tt.key, got, tt.want)
		}
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("# c\nssh-ed25519 "+keyA+" me\ncommand=\"a \\\" b\",no-pty ssh-rsa "+keyB+"\n\n", "a")
	f.Add("a,b ssh-rsa K\n|1|c2FsdA==|c3Vt ssh-rsa K\n[h]:1 ssh-rsa K\n*.?,!x ssh-rsa K", "x.y")
	f.Fuzz(func(t *testing.T, text, name string) {
		end := text
		if end != "" && !strings.HasSuffix(end, "\n") {
			end += "\n"
		}
		keys := ssh.ParseKeys(text)
		if got := keys.String(); got != end {
			t.Errorf("keys printed again: %q", got)
		}
		k := ssh.Key{Enc: "ssh-ed25519", Key: keyA, Comment: "fuzz"}
		if set := keys.Set(k); set.Status(k) != "exists" {
			t.Errorf("the key does not settle in %q", set.String())
		}
		known := ssh.ParseKnown(text)
		if got := known.String(); got != end {
			t.Errorf("known hosts printed again: %q", got)
		}
		_, _ = known.Find(name, "")
		_ = known.Drop(name, []string{"ssh-rsa"})
	})
}
