package sshexec

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"

	"brine/internal/core/roster"
)

func rsaKey(t *testing.T) ssh.PublicKey {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pub, err := ssh.NewPublicKey(&k.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return pub
}

// TestHostileHostKeys asks for no host key that is signed with SHA-1, whatever
// known_hosts has, unless ssh_config says so.
func TestHostileHostKeys(t *testing.T) {
	t.Parallel()
	known := filepath.Join(t.TempDir(), "known_hosts")
	key := rsaKey(t)
	if err := appendKnown(known, "web1:22", key, false); err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"web1", "unknown"} {
		for _, policy := range []Policy{Strict, AcceptNew, Off} {
			_, algs, err := (&hostKeys{}).verify(&dest{host: host, port: 22, known: []string{known}, policy: policy})
			if err != nil || len(algs) == 0 {
				t.Fatalf("%v, %v", algs, err)
			}
			for _, weak := range []string{ssh.KeyAlgoRSA, ssh.CertAlgoRSAv01, "ssh-dss"} {
				if slices.Contains(algs, weak) {
					t.Errorf("%s of %s is asked for", weak, host)
				}
			}
		}
	}
	_, algs, err := (&hostKeys{}).verify(&dest{host: "web1", port: 22, known: []string{known}, hostKeyAlgs: []string{ssh.KeyAlgoRSA}})
	if err != nil || !slices.Equal(algs, []string{ssh.KeyAlgoRSA}) {
		t.Errorf("what ssh_config names is not asked for: %v, %v", algs, err)
	}
}

// TestHostileStart has runs that begin at once note the key of a new host: it
// is noted once, and one that was given another key hears of it.
func TestHostileStart(t *testing.T) {
	t.Parallel()
	known := filepath.Join(t.TempDir(), "known_hosts")
	key, other := rsaKey(t), rsaKey(t)
	// Enough lines that all of them read the file before one of them writes, if they may.
	const lines = 4000
	blob := base64.StdEncoding.EncodeToString(other.Marshal())
	var old strings.Builder
	for i := range lines {
		fmt.Fprintf(&old, "host%d ssh-rsa %s\n", i, blob)
	}
	if err := os.WriteFile(known, []byte(old.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := appendKnown(known, "web1:2222", key, i%2 == 0); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b, err := os.ReadFile(known)
	if n := strings.Count(string(b), "\n"); err != nil || n != lines+1 {
		t.Errorf("known_hosts has %d lines, %v, want one more than %d", n, err, lines)
	}
	if err := appendKnown(known, "web1:2222", other, false); err == nil {
		t.Error("another key of the same host is noted")
	}
	if err := appendKnown(known, "web2:22", other, false); err != nil {
		t.Error(err)
	}
}

// TestHostileForwarding: an ssh_config that forwards the ssh-agent to all hosts forwards
// it to none of the roster, unless the entry says so itself.
func TestHostileForwarding(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte("Host *\n  ForwardAgent yes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options(t, "")
	o.Config, o.AgentSocket = []string{config}, "/run/agent"
	d := NewDialer(o)
	for _, tt := range []struct {
		e    roster.Entry
		want string
	}{
		{roster.Entry{}, ""},
		{roster.Entry{Priv: "agent-forwarding"}, "/run/agent"},
		{roster.Entry{SSHOptions: []string{"ForwardAgent=yes"}}, "/run/agent"},
		{roster.Entry{Priv: "agent-forwarding", SSHOptions: []string{"ForwardAgent=no"}}, ""},
	} {
		tt.e.ID, tt.e.Host = "web1", "192.0.2.1"
		if to, err := d.dest(t.Context(), &tt.e); err != nil || to.forward != tt.want {
			t.Errorf("priv %q, %q: the agent is forwarded by %q, %v, want %q", tt.e.Priv, tt.e.SSHOptions, to.forward, err, tt.want)
		}
	}
}
