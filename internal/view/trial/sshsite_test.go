package trial

import (
	"crypto/ed25519"
	"crypto/rand"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/view/casefile"
)

// TestSSHKeys: the machines of an orchestration accept the key of its controller and no
// other, and only their user can read it.
func TestSSHKeys(t *testing.T) {
	t.Parallel()
	h := host.NewLocal()
	w := &World{Host: h, Settings: value.NewMap(0)}
	p := &plan{Lab: &Lab{World: w}, ws: &workspace{dir: t.TempDir()}}
	p.nodes = []*plan{{Lab: p.Lab, name: "web1", job: Job{Case: &casefile.Case{}}}}
	if err := p.newSSH(); err != nil {
		t.Fatal(err)
	}
	text, err := h.ReadFile(filepath.Join(p.ws.dir, sshDir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := ssh.ParsePrivateKey(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.ssh.config.PublicKeyCallback(nil, own.PublicKey()); err != nil {
		t.Errorf("the key of the controller: %v", err)
	}
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.ssh.config.PublicKeyCallback(nil, other); err == nil {
		t.Error("another key is accepted")
	}
	st, err := h.Stat(filepath.Join(p.ws.dir, sshDir, "key"))
	if err != nil || st.Perm() != 0o600 {
		t.Errorf("the mode of the key: %o, %v", st.Perm(), err)
	}
	known, err := h.ReadFile(filepath.Join(p.ws.dir, sshDir, "known_hosts"))
	if err != nil || !strings.HasPrefix(string(known), "web1 ssh-ed25519 ") {
		t.Errorf("known_hosts: %q, %v", known, err)
	}
}
