package e2e

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"brine/internal/testkit/relaytest"
	"brine/internal/testkit/sshtest"
)

// recorder is a shell that keeps what its commands read and write, of one address.
const recorder = `#!/bin/sh
set -- "$1" "$2" $SSH_CONNECTION
case $5 in
%[1]s) ;;
*) exec sh "$1" "$2";;
esac
n=%[2]s/$$
mkfifo $n.pipe
exec 3<&0
tee $n.in <&3 >$n.pipe &
t=$!
{ sh "$1" "$2" <$n.pipe; echo $? >$n.status; } | tee $n.out
kill $t 2>/dev/null
exit $(cat $n.status)
`

// TestHostileRelayReads records every byte that a relay gets of a run and sends of it,
// decrypts what it can, and looks for all that is a secret, and for names: none is there.
// The ssh-agent is lent to a target through the relay, and not to the relay.
func TestHostileRelayReads(t *testing.T) {
	t.Parallel()
	seen := t.TempDir()
	shell := filepath.Join(t.TempDir(), "shell")
	const relay = "127.9.0.1"
	if err := os.WriteFile(shell, fmt.Appendf(nil, recorder, relay, seen), 0o755); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, sshtest.Options{Shell: shell})
	key, err := ssh.ParseRawPrivateKey([]byte(read(t, s.sshd.Key)))
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "SSH_AUTH_SOCK="+sshtest.ListenAgent(t, ring))
	// Each is a word of its own, which is nowhere else.
	words := map[string]string{}
	word := func(what string) string {
		if words[what] == "" {
			words[what] = "w" + strings.ToLower(rand.Text())
		}
		return words[what]
	}
	s.write("roster", fmt.Sprintf(`b1: {host: %s, thin_dir: %s}
web1: {host: 127.9.0.2, relay: b1, thin_dir: %s, grains: {%s: %s}}
web2: {host: 127.9.0.3, relay: b1, thin_dir: %s, passwd: %s, minion_opts: {%s: %s}}
web3: {host: 127.9.0.4, relay: b1, thin_dir: %s, priv: agent-forwarding}
`, relay, s.path("b1"), s.path("t1"), word("name of a grain"), word("grain"), s.path("t2"), word("password of a log-in"),
		word("name of an option"), word("option"), s.path("t3")))
	s.write("pillar/top.sls", "base: {'*': [p]}\n")
	s.write("pillar/p.sls", fmt.Sprintf("%s: {%s: %s}\npassword: %s\n", word("key of the pillar"), word("inner key of the pillar"), word("pillar"), word("password")))
	dir, file := word("directory"), word("file name")
	s.write("salt/"+dir+"/"+file, word("small file")+"\n")
	s.write("salt/"+dir+"/big", strings.Repeat(word("large file")+"\n", 20_000))
	s.write("salt/"+word("SLS")+".sls", fmt.Sprintf(`%[1]s:
  file.managed:
    - name: %[2]s-{{ grains.id }}
    - source: salt://%[3]s/big
    - makedirs: True
%[4]s:
  file.managed:
    - name: %[2]s-small-{{ grains.id }}
    - source: salt://%[3]s/%[5]s
%[6]s:
  cmd.run:
    - name: printf %%s "$V" | sha256sum
    - env: [{V: %[7]s}]
    - stdin: %[8]s
`, word("ID of a state"), s.path("out/"+word("target file")), dir, word("second ID"), file, word("third ID"), word("variable"), word("stdin")))
	returned := sha256.Sum256([]byte(word("variable")))
	words["return"] = hex.EncodeToString(returned[:])
	r := s.brine("ssh", "web*", "state.apply", words["SLS"], "-l", "debug")
	s.want(r, 0, words["return"])
	if strings.Count(r.stderr, "agent sent by its relay") == 0 || strings.Count(r.stderr, "file sent by its relay") == 0 {
		t.Errorf("the relay had neither the agent nor a file to send: %s", r.stderr)
	}
	s.want(s.brine("ssh", "web1", "cmd.run", "echo "+word("argument"), "env={'X': '"+word("argument of env")+"'}"), 0, words["argument"])
	s.want(s.brine("ssh", "web2", "-r", "echo "+word("raw command")), 0, words["raw command"])
	lent := s.brine("ssh", "*", "-r", `[ -S "$SSH_AUTH_SOCK" ] && echo "lent" || echo "kept"`, "--static", "--out=json")
	s.want(lent, 0)
	for id, v := range s.decode(lent) {
		if text := fmt.Sprint(v); strings.Contains(text, "lent") != (id == "web3") {
			t.Errorf("the ssh-agent on %s: %s", id, text)
		}
	}
	lines := strings.Split(strings.TrimSpace(read(t, s.sshd.Key)), "\n")
	words["private key"] = lines[len(lines)/2]
	checkSeen(t, seen, words, []string{"127.9.0.2", "127.9.0.3", "127.9.0.4"}, s.sshd.User)
}

// checkSeen looks into what a relay got.
func checkSeen(t *testing.T, seen string, words map[string]string, addrs []string, user string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(seen, "*.in"))
	if err != nil || len(names) == 0 {
		t.Fatalf("nothing was recorded: %v", err)
	}
	outs, _ := filepath.Glob(filepath.Join(seen, "*.out"))
	files, decrypted, dials := 0, 0, map[string]bool{}
	scripts := false
	for _, name := range append(names, outs...) {
		l := &relaytest.Legible{Raw: []byte(read(t, name))}
		if slices.Contains(names, name) {
			if l, err = relaytest.Read(l.Raw); err != nil {
				t.Fatal(err)
			}
		}
		for what, word := range words {
			if found := l.Find(word); len(found) > 0 {
				t.Errorf("the relay can read the %s (%s) in %s, %s", what, word, filepath.Base(name), found)
			}
		}
		for _, addr := range l.Dials {
			host, _, _ := strings.Cut(addr, ":")
			dials[host] = true
		}
		files += l.Files
		for _, b := range l.Decrypted {
			decrypted++
			// What is known to be there is found, so what is not found is not there.
			if (&relaytest.Legible{Decrypted: [][]byte{b}}).Find(user) == nil {
				t.Error("what was decrypted does not even have the account of the log-in")
			}
			scripts = scripts || strings.Contains(string(b), "cache/files")
		}
	}
	for _, addr := range addrs {
		if !dials[addr] {
			t.Errorf("the relay did not dial %s", addr)
		}
	}
	if files < 1 || decrypted == 0 || !scripts {
		t.Errorf("the relay was given %d files and %d connections for them, scripts %v", files, decrypted, scripts)
	}
}
