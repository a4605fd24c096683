package sshexec

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh"

	"brine/internal/testkit/sshtest"
)

// A private key of one's own that others can read is not used, as ssh does; one of
// somebody else is, and a public key may be read by everybody.
func TestOpenPrivateKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		mode os.FileMode
		uid  int
		want string
	}{
		{0o600, -1, ""},
		{0o400, -1, ""},
		{0o644, -1, "others can read the private key (permissions 0644), it is not used: chmod 600 "},
		{0o640, -1, "(permissions 0640)"},
		{0o601, -1, "(permissions 0601)"},
		{0o644, 12345, ""},
	} {
		t.Run(tt.mode.String(), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "key")
			key := sshtest.WriteKey(t, path, "")
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			if tt.uid >= 0 {
				if os.Geteuid() != 0 {
					t.Skip("only root can give files away")
				}
				if err := os.Chown(path, tt.uid, -1); err != nil {
					t.Fatal(err)
				}
			}
			f := sshtest.NewFake(t)
			f.Keys = []ssh.PublicKey{key.PublicKey()}
			f.Start()
			e, o := entry(f), options(t, known(t, line(f)))
			e.Priv, e.IdentitiesOnly = path, true
			if _, err := dial(t, o, e); tt.want != "" {
				wantStage(t, err, Auth, tt.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// RequiredRSASize holds for the keys to log in with and for those of hosts.
func TestRequiredRSASize(t *testing.T) {
	t.Parallel()
	raw, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(raw, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		size    string
		rsaHost bool
		stage   Stage
		want    string
	}{
		{"long enough", "2048", false, "", ""},
		{"a short key to log in with", "3072", false, Auth, "no key"},
		{"a short key of the host", "3072", true, HostKey, "the RSA key has 2048 bits, and at least 3072 are required (RequiredRSASize)"},
		{"a host key that is long enough", "2048", true, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := sshtest.NewFake(t)
			f.Keys = []ssh.PublicKey{signer.PublicKey()}
			if tt.rsaHost {
				f.HostKey = signer
			}
			f.Start()
			e, o := entry(f), options(t, known(t, line(f)))
			e.Priv, e.IdentitiesOnly = path, true
			e.SSHOptions = []string{"RequiredRSASize=" + tt.size}
			if _, err := dial(t, o, e); tt.want != "" {
				wantStage(t, err, tt.stage, tt.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
