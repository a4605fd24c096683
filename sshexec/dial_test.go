package sshexec

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"

	"brine/internal/core/host"
	"brine/internal/core/roster"
	"brine/internal/testkit/sshtest"
)

// known writes a known_hosts file of lines.
func known(t *testing.T, lines ...string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(p, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func line(f *sshtest.Fake) string {
	return xknownhosts.Line([]string{f.Addr}, f.HostKey.PublicKey())
}

// options are those of a person with an empty home.
func options(t *testing.T, knownHosts string) Options {
	return Options{Host: host.NewLocal(), Home: t.TempDir(), Me: "me", Config: []string{}, KnownHosts: []string{knownHosts}, Retries: -1}
}

func entry(f *sshtest.Fake) *roster.Entry {
	return &roster.Entry{ID: "web1", Host: "127.0.0.1", Port: f.Port(), User: "root", Timeout: time.Minute}
}

// dial dials and closes what it gets when the test ends.
func dial(t *testing.T, o Options, e *roster.Entry) (*Client, error) {
	t.Helper()
	d := NewDialer(o)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // keys are slow to decrypt under the race detector
	defer cancel()
	d.Prepare(ctx, []*roster.Entry{e})
	c, err := d.Dial(ctx, e)
	t.Cleanup(func() {
		if c != nil {
			c.Close()
		}
		d.Close()
	})
	return c, err
}

func wantStage(t *testing.T, err error, want Stage, texts ...string) {
	t.Helper()
	if stageOf(err) != want {
		t.Fatalf("error %v is of stage %q, want %q", err, stageOf(err), want)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q says nothing of %q", err, text)
		}
	}
}

func TestDialStages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		set   func(f *sshtest.Fake, e *roster.Entry, o *Options)
		stage Stage
		text  string
	}{
		{"hangs before the version", func(f *sshtest.Fake, e *roster.Entry, _ *Options) {
			f.Hang, e.Timeout = sshtest.AtAccept, 200*time.Millisecond
		}, Handshake, "no answer within 200ms"},
		{"hangs after the version", func(f *sshtest.Fake, e *roster.Entry, _ *Options) {
			f.Hang, e.Timeout = sshtest.AtVersion, 200*time.Millisecond
		}, Handshake, "no answer within 200ms"},
		{"hangs at authentication", func(f *sshtest.Fake, e *roster.Entry, _ *Options) {
			f.Hang, e.Timeout = sshtest.AtAuth, 300*time.Millisecond
		}, Auth, "no answer within 300ms"},
		{"resets at once", func(f *sshtest.Fake, _ *roster.Entry, o *Options) { f.Reset, o.Retries = sshtest.AtAccept, 1 }, Handshake, "MaxStartups"},
		{"drops within the handshake", func(f *sshtest.Fake, _ *roster.Entry, o *Options) { f.DropAfter, o.Retries = 300, 1 }, Handshake, ""},
		{"refuses the password", func(f *sshtest.Fake, e *roster.Entry, _ *Options) {
			f.Password, e.Passwd = "right", roster.NewSecret("wrong-secret")
		}, Auth, "unable to authenticate by password; tried as root: no key, a password"},
		{"has no key", func(f *sshtest.Fake, _ *roster.Entry, _ *Options) { f.Password = "x" }, Auth, "set priv in the roster"},
		{"key file missing", func(_ *sshtest.Fake, e *roster.Entry, _ *Options) { e.Priv = "/nonexistent/key" }, Auth, "see priv in the roster"},
		{"wrong passphrase", func(_ *sshtest.Fake, e *roster.Entry, o *Options) {
			e.Priv, e.PrivPasswd = filepath.Join(o.Home, "locked"), roster.NewSecret("no-secret")
		}, Auth, "see priv_passwd in the roster"},
		{"unknown host key", func(_ *sshtest.Fake, _ *roster.Entry, o *Options) { o.KnownHosts = []string{os.DevNull} }, HostKey, "ssh-keyscan"},
		{"nobody listens", func(_ *sshtest.Fake, e *roster.Entry, _ *Options) { e.Port = 1 }, Connect, "connection refused"},
		{"no such name", func(_ *sshtest.Fake, e *roster.Entry, _ *Options) { e.Host = "no-such-name.invalid" }, Resolve, "see host in the roster"},
		{"a bad option", func(_ *sshtest.Fake, e *roster.Entry, _ *Options) { e.SSHOptions = []string{"nothing"} }, Resolve, `ssh option "nothing" is not <keyword>=<value>`},
		{"a misspelt option", func(_ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"UserKnownHostFile=/dev/null"}
		}, Resolve, `ssh option "UserKnownHostFile=/dev/null": unknown keyword (did you mean "UserKnownHostsFile"?)`},
		{"ciphers that brine does not have", func(_ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"Ciphers=aes192-cbc,aes256-cbc"}
		}, Resolve, "Ciphers aes192-cbc,aes256-cbc leaves none of those that brine has: aes"},
		{"ciphers that the host does not have", func(_ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"Ciphers=arcfour"}
		}, Handshake, "Ciphers in ssh_config leaves out aes"},
		{"a jump host with an unknown token", func(_ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"ProxyJump=%i@127.0.0.1"}
		}, Resolve, "unknown token %i"},
		{"a jump host with a user that a shell would read", func(_ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.User, e.SSHOptions = "a;b", []string{"ProxyJump=%r@127.0.0.1"}
		}, Resolve, `"a;b" cannot stand in a ProxyJump (%r)`},
		{"a module that is missing", func(f *sshtest.Fake, e *roster.Entry, _ *Options) {
			f.Password, e.SSHOptions = "x", []string{"PKCS11Provider=/nonexistent/lib.so"}
		}, Auth, "the PKCS11Provider /nonexistent/lib.so cannot be read: no such file or directory"},
		{"a module that only ssh-agent uses", func(f *sshtest.Fake, e *roster.Entry, _ *Options) {
			f.Password, e.SSHOptions = "x", []string{"PKCS11Provider=opensc-pkcs11.so"}
		}, Auth, "the keys of the PKCS11Provider opensc-pkcs11.so are used by ssh-agent alone: ssh-add -s opensc-pkcs11.so"},
		{"revoked keys that cannot be read", func(_ *sshtest.Fake, e *roster.Entry, o *Options) {
			e.SSHOptions = []string{"RevokedHostKeys=" + write(t, "SSHKRL\n\x00...")}
			o.Policy = Off
		}, HostKey, "is a binary list (KRL)"},
		{"a circle of jump hosts", func(_ *sshtest.Fake, e *roster.Entry, o *Options) {
			o.Config = []string{write(t, "Host a\n ProxyJump b\nHost b\n ProxyJump a\n")}
			e.SSHOptions = []string{"ProxyJump=a"}
		}, Connect, "circle: a > b > a"},
		{"a command that fails", func(_ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"ProxyCommand=echo no way >&2; exit 1"}
		}, Connect, "no way"},
		{"a command that ends without a word", func(_ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"ProxyCommand=false"}
		}, Connect, "the ProxyCommand ended before the host answered"},
		{"a bind address that is none", func(_ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"BindAddress=nosuch.invalid"}
		}, Resolve, "BindAddress: lookup nosuch.invalid"},
		{"a bind address of another family", func(_ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"BindAddress=::1"}
		}, Connect, "BindAddress ::1 has no address of the family of 127.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := sshtest.NewFake(t)
			e := entry(f)
			o := options(t, known(t, line(f)))
			sshtest.WriteKey(t, filepath.Join(o.Home, "locked"), "open sesame")
			tt.set(f, e, &o)
			f.Start()
			_, err := dial(t, o, e)
			if tt.stage == Handshake && stageOf(err) == Connect && errors.Is(err, errDropped) {
				return // the reset came before the connection was seen
			}
			wantStage(t, err, tt.stage, "web1", tt.text)
			if strings.Contains(err.Error(), "wrong-secret") {
				t.Errorf("the error has the password: %v", err)
			}
		})
	}
}

func TestDialRetries(t *testing.T) {
	t.Parallel()
	f := sshtest.NewFake(t)
	f.Flaky = 2
	f.Start()
	if _, err := dial(t, options(t, known(t, line(f))), entry(f)); err != nil {
		t.Fatal(err)
	}
	if n := f.Dials.Load(); n != 3 {
		t.Errorf("%d connections, want 3", n)
	}
}

// TestDialRetriesSilence dials hosts that say nothing at first.
func TestDialRetriesSilence(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		hang     sshtest.Point
		stubborn bool
		dials    int32
		ok       bool
	}{
		{"before the version, retries asked for", sshtest.AtAccept, true, 2, true},
		{"in the handshake, retries asked for", sshtest.AtVersion, true, 2, true},
		{"in the handshake, by default", sshtest.AtVersion, false, 1, false},
		{"at the log-in, which is not done twice", sshtest.AtAuth, true, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := sshtest.NewFake(t)
			f.Hang, f.Hangs = tt.hang, 1
			f.Start()
			e, o := entry(f), options(t, known(t, line(f)))
			e.Timeout, o.RetryUnreachable = 4*time.Second, tt.stubborn
			_, err := dial(t, o, e)
			if n := f.Dials.Load(); n != tt.dials || (err == nil) != tt.ok {
				t.Errorf("%d connections, want %d: %v", n, tt.dials, err)
			}
		})
	}
}

// TestJumpSilent has many machines behind a bastion that says nothing: they wait
// for it together, not one after the other.
func TestJumpSilent(t *testing.T) {
	t.Parallel()
	bastion := sshtest.NewFake(t)
	bastion.Hang = sshtest.AtVersion
	bastion.Start()
	o := options(t, known(t, line(bastion)))
	o.Config = []string{write(t, fmt.Sprintf("Host bastion\n HostName 127.0.0.1\n Port %d\n ConnectTimeout 1\nHost *\n ConnectTimeout 30\n", bastion.Port()))}
	d := NewDialer(o)
	t.Cleanup(d.Close)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			e := &roster.Entry{ID: fmt.Sprintf("web%d", i), Host: "127.0.0.1", Port: 1, SSHOptions: []string{"ProxyJump=bastion"}}
			_, err := d.Dial(t.Context(), e)
			if stageOf(err) != Connect || !strings.Contains(err.Error(), "by jump host bastion") {
				t.Errorf("%s: %v", e.ID, err)
			}
		})
	}
	wg.Wait()
	if n := bastion.Dials.Load(); n > 2 {
		t.Errorf("the bastion was dialled %d times", n)
	}
}

func TestDialWays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := sshtest.WriteKey(t, filepath.Join(dir, "plain"), "")
	locked := sshtest.WriteKey(t, filepath.Join(dir, "locked"), "open sesame")
	sshtest.WriteKey(t, filepath.Join(dir, "unrelated"), "")
	for _, tt := range []struct {
		name string
		set  func(t *testing.T, f *sshtest.Fake, e *roster.Entry, o *Options)
		ok   bool
	}{
		{"password", func(_ *testing.T, f *sshtest.Fake, e *roster.Entry, _ *Options) {
			f.Password, e.Passwd = "s3cret", roster.NewSecret("s3cret")
		}, true},
		{"password of the command line", func(_ *testing.T, f *sshtest.Fake, _ *roster.Entry, o *Options) {
			f.Password, o.Password = "s3cret", roster.NewSecret("s3cret")
		}, true},
		{"keyboard-interactive", func(_ *testing.T, f *sshtest.Fake, e *roster.Entry, _ *Options) {
			f.Interactive, e.Passwd = "s3cret", roster.NewSecret("s3cret")
		}, true},
		{"methods that are not allowed", func(_ *testing.T, f *sshtest.Fake, e *roster.Entry, _ *Options) {
			f.Password, e.Passwd = "s3cret", roster.NewSecret("s3cret")
			e.SSHOptions = []string{"PreferredAuthentications=publickey"}
		}, false},
		{"key", func(_ *testing.T, f *sshtest.Fake, e *roster.Entry, _ *Options) {
			f.Keys, e.Priv = []ssh.PublicKey{plain.PublicKey()}, filepath.Join(dir, "plain")
		}, true},
		{"encrypted key", func(_ *testing.T, f *sshtest.Fake, e *roster.Entry, _ *Options) {
			f.Keys, e.Priv, e.PrivPasswd = []ssh.PublicKey{locked.PublicKey()}, filepath.Join(dir, "locked"), roster.NewSecret("open sesame")
		}, true},
		{"encrypted key, wrong passphrase", func(_ *testing.T, f *sshtest.Fake, e *roster.Entry, _ *Options) {
			f.Keys, e.Priv, e.PrivPasswd = []ssh.PublicKey{locked.PublicKey()}, filepath.Join(dir, "locked"), roster.NewSecret("no")
		}, false},
		{"encrypted key, asked for", func(_ *testing.T, f *sshtest.Fake, e *roster.Entry, o *Options) {
			f.Keys, e.Priv = []ssh.PublicKey{locked.PublicKey()}, filepath.Join(dir, "locked")
			o.Ask = func(string, bool) (roster.Secret, error) { return roster.NewSecret("open sesame"), nil }
		}, true},
		{"key of the agent", func(t *testing.T, f *sshtest.Fake, _ *roster.Entry, o *Options) {
			f.Keys, o.AgentSocket = []ssh.PublicKey{locked.PublicKey()}, sshAgent(t, filepath.Join(dir, "locked"), "open sesame")
		}, true},
		{"encrypted key that the agent has", func(t *testing.T, f *sshtest.Fake, e *roster.Entry, o *Options) {
			f.Keys, e.Priv = []ssh.PublicKey{locked.PublicKey()}, filepath.Join(dir, "locked")
			o.AgentSocket = sshAgent(t, filepath.Join(dir, "locked"), "open sesame")
		}, true},
		{"IdentitiesOnly leaves the agent's keys out", func(t *testing.T, f *sshtest.Fake, e *roster.Entry, o *Options) {
			f.Keys, o.AgentSocket = []ssh.PublicKey{plain.PublicKey()}, sshAgent(t, filepath.Join(dir, "plain"), "")
			e.Priv, e.IdentitiesOnly = filepath.Join(dir, "unrelated"), true
		}, false},
		{"default key", func(t *testing.T, f *sshtest.Fake, _ *roster.Entry, o *Options) {
			key := sshtest.WriteKey(t, mkdir(t, o.Home, ".ssh")+"/id_ed25519", "")
			f.Keys = []ssh.PublicKey{key.PublicKey()}
		}, true},
		{"key of ssh_config", func(t *testing.T, f *sshtest.Fake, e *roster.Entry, o *Options) {
			f.Keys = []ssh.PublicKey{plain.PublicKey()}
			o.Config = []string{write(t, fmt.Sprintf("Host alias\n HostName 127.0.0.1\n Port %d\n User someone\n IdentityFile %s/plain\n", f.Port(), dir))}
			*e = roster.Entry{ID: "web1", Host: "alias", Timeout: time.Minute}
		}, true},
		{"the key is not in every file", func(t *testing.T, f *sshtest.Fake, e *roster.Entry, o *Options) {
			f.Keys = []ssh.PublicKey{plain.PublicKey()}
			o.Config = []string{write(t, "IdentityFile /nonexistent\nIdentityFile "+dir+"/unrelated\nIdentityFile "+dir+"/plain\n")}
		}, true},
		{"ProxyCommand", func(t *testing.T, f *sshtest.Fake, e *roster.Entry, _ *Options) {
			sshtest.Require(t, "socat")
			e.SSHOptions = []string{"ProxyCommand=socat - TCP:%h:%p"}
		}, true},
		{"IPv6 wish on an IPv4 host", func(_ *testing.T, _ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"AddressFamily=inet6"}
		}, false},
		{"a cipher of one's own", func(_ *testing.T, _ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"Ciphers=aes256-ctr", "MACs -hmac-sha1*"}
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := sshtest.NewFake(t)
			e := entry(f)
			o := options(t, known(t, line(f)))
			tt.set(t, f, e, &o)
			f.Start()
			_, err := dial(t, o, e)
			if (err == nil) != tt.ok {
				t.Errorf("error %v, want success %v", err, tt.ok)
			}
		})
	}
}

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	p := filepath.Join(parts...)
	if err := os.MkdirAll(p, 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t *testing.T, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// sshAgent serves an ssh-agent that holds one key.
func sshAgent(t *testing.T, path, passphrase string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var key any
	if passphrase == "" {
		key, err = ssh.ParseRawPrivateKey(text)
	} else {
		key, err = ssh.ParseRawPrivateKeyWithPassphrase(text, []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}
	return sshtest.ListenAgent(t, ring)
}

func TestHostKeys(t *testing.T) {
	t.Parallel()
	other := sshtest.WriteKey(t, filepath.Join(t.TempDir(), "k"), "").PublicKey()
	ca := sshtest.WriteKey(t, filepath.Join(t.TempDir(), "ca"), "")
	entryLine := func(mark string, f *sshtest.Fake, key ssh.PublicKey) string {
		return mark + xknownhosts.Line([]string{f.Addr}, key)
	}
	for _, tt := range []struct {
		name    string
		lines   func(f *sshtest.Fake) []string
		set     func(e *roster.Entry, o *Options)
		cert    bool
		ecdsa   bool   // the type of the host's key
		revokes bool   // RevokedHostKeys has it
		fault   string // "" is success
		adds    bool
		policy  Policy
	}{
		{name: "known", lines: func(f *sshtest.Fake) []string { return []string{line(f)} }},
		{name: "hashed", lines: func(f *sshtest.Fake) []string {
			return []string{xknownhosts.HashHostname(xknownhosts.Normalize(f.Addr)) + " " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(f.HostKey.PublicKey())))}
		}},
		{name: "changed", lines: func(f *sshtest.Fake) []string { return []string{"# a comment", entryLine("", f, other)} }, fault: "known_hosts:2"},
		{name: "changed, accept-new", policy: AcceptNew, lines: func(f *sshtest.Fake) []string { return []string{entryLine("", f, other)} }, fault: "known_hosts -R '[127.0.0.1]:"},
		{name: "unknown", lines: func(*sshtest.Fake) []string { return nil }, fault: "is not known"},
		{name: "unknown, accept-new", policy: AcceptNew, lines: func(*sshtest.Fake) []string { return []string{"# no end of line"} }, adds: true},
		{name: "unknown, off", policy: Off, lines: func(*sshtest.Fake) []string { return nil }, adds: true},
		{name: "unknown, StrictHostKeyChecking no", lines: func(*sshtest.Fake) []string { return nil }, set: func(e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"StrictHostKeyChecking=no"}
		}, adds: true},
		{name: "unknown, off, and known_hosts cannot be written", policy: Off, lines: func(*sshtest.Fake) []string { return nil }, set: func(_ *roster.Entry, o *Options) {
			o.KnownHosts = []string{"/proc/none/known_hosts"}
		}},
		{name: "unknown, NoHostAuthenticationForLocalhost", lines: func(*sshtest.Fake) []string { return nil }, set: func(e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"NoHostAuthenticationForLocalhost=yes"}
		}},
		{name: "an alias, NoHostAuthenticationForLocalhost", lines: func(*sshtest.Fake) []string { return nil }, set: func(e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"NoHostAuthenticationForLocalhost=yes", "HostKeyAlias=db"}
		}, fault: "is not known"},
		{name: "BindAddress", lines: func(f *sshtest.Fake) []string { return []string{line(f)} }, set: func(e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"BindAddress=localhost"}
		}},
		{name: "revoked", lines: func(f *sshtest.Fake) []string {
			return []string{line(f), entryLine("@revoked ", f, f.HostKey.PublicKey())}
		}, fault: "revoked"},
		{name: "certificate", cert: true, lines: func(f *sshtest.Fake) []string { return []string{entryLine("@cert-authority ", f, ca.PublicKey())} }},
		{name: "certificate of a key of another type than the authority's", cert: true, ecdsa: true, lines: func(f *sshtest.Fake) []string { return []string{entryLine("@cert-authority ", f, ca.PublicKey())} }},
		{name: "no certificate", lines: func(f *sshtest.Fake) []string { return []string{entryLine("@cert-authority ", f, ca.PublicKey())} }, fault: "shows no certificate, only ssh-ed25519"},
		{name: "key of another type", ecdsa: true, lines: func(f *sshtest.Fake) []string { return []string{entryLine("", f, other)} }, fault: "no key of the kind that known_hosts has for it, only ecdsa-sha2-nistp256; compare its key, then add it: ssh-keyscan"},
		{name: "revoked by a file of its own", revokes: true, lines: func(f *sshtest.Fake) []string { return []string{line(f)} }, fault: "is revoked ("},
		{name: "revoked by a file of its own, off", revokes: true, policy: Off, lines: func(*sshtest.Fake) []string { return nil }, fault: ":2); do not log in"},
		{name: "revoked, off", policy: Off, lines: func(f *sshtest.Fake) []string {
			return []string{entryLine("@revoked ", f, f.HostKey.PublicKey())}
		}, fault: "revoked"},
		{name: "certificate of a revoked authority, off", cert: true, policy: Off, lines: func(f *sshtest.Fake) []string {
			return []string{entryLine("@revoked ", f, ca.PublicKey())}
		}, fault: "revoked"},
		{name: "certificate of another authority", cert: true, lines: func(f *sshtest.Fake) []string { return []string{entryLine("@cert-authority ", f, other)} }, fault: ""},
		{name: "alias", lines: func(f *sshtest.Fake) []string {
			return []string{xknownhosts.Line([]string{"db"}, f.HostKey.PublicKey())}
		}, set: func(e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"HostKeyAlias db"}
		}},
		{name: "nonsense beside it", lines: func(f *sshtest.Fake) []string {
			return []string{"this is no line at all", "[127.0.0.1 ssh-ed25519 AAAA", line(f)}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := sshtest.NewFake(t)
			if tt.ecdsa {
				key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
				if err != nil {
					t.Fatal(err)
				}
				if f.HostKey, err = ssh.NewSignerFromKey(key); err != nil {
					t.Fatal(err)
				}
			}
			if tt.cert {
				cert := &ssh.Certificate{Key: f.HostKey.PublicKey(), CertType: ssh.HostCert, ValidPrincipals: []string{"127.0.0.1"}, ValidBefore: ssh.CertTimeInfinity}
				if err := cert.SignCert(rand.Reader, ca); err != nil {
					t.Fatal(err)
				}
				signer, err := ssh.NewCertSigner(cert, f.HostKey)
				if err != nil {
					t.Fatal(err)
				}
				f.HostKey = signer
			}
			f.Start()
			o := options(t, known(t, tt.lines(f)...))
			o.Policy = tt.policy
			e := entry(f)
			if tt.revokes {
				e.SSHOptions = []string{"RevokedHostKeys " + write(t, "# gone\n"+string(ssh.MarshalAuthorizedKey(f.HostKey.PublicKey())))}
			}
			if tt.set != nil {
				tt.set(e, &o)
			}
			_, err := dial(t, o, e)
			if tt.name == "certificate of another authority" {
				wantStage(t, err, HostKey)
				return
			}
			if tt.fault == "" && err != nil {
				t.Fatal(err)
			}
			if tt.fault != "" {
				wantStage(t, err, HostKey, tt.fault)
			}
			if tt.adds {
				o.Policy = Strict
				if _, err := dial(t, o, e); err != nil {
					t.Errorf("the key that was accepted: %v", err)
				}
			}
		})
	}
}

// stuckAgent holds a key and never signs, as one whose owner is to touch it.
type stuckAgent struct {
	agent.Agent
	until <-chan struct{}
}

func (a stuckAgent) Sign(ssh.PublicKey, []byte) (*ssh.Signature, error) {
	<-a.until
	return nil, errors.New("nobody touched it")
}

// TestHungAgent: an ssh-agent that does not answer holds nobody up.
func TestHungAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := sshtest.WriteKey(t, filepath.Join(dir, "key"), "")
	f := sshtest.NewFake(t)
	f.Keys = []ssh.PublicKey{key.PublicKey()}
	f.Start()

	o := options(t, known(t, line(f)))
	o.AgentSocket = sshtest.ListenAgent(t, nil)
	d := NewDialer(o)
	t.Cleanup(d.Close)
	d.keys.agentTimeout = 200 * time.Millisecond
	e := entry(f)
	e.Priv = filepath.Join(dir, "key")
	if c, err := d.Dial(t.Context(), e); err != nil {
		t.Errorf("with a key of a file: %v", err)
	} else {
		c.Close()
	}
	e.Priv = ""
	_, err := d.Dial(t.Context(), e)
	wantStage(t, err, Auth, "does not answer: no answer within 200ms")

	text, err := os.ReadFile(filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := ssh.ParseRawPrivateKey(text)
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: raw}); err != nil {
		t.Fatal(err)
	}
	o.AgentSocket = sshtest.ListenAgent(t, stuckAgent{ring, t.Context().Done()})
	// The time of the host has to reach for what comes before, also on a loaded machine.
	for e.Timeout = 3 * time.Second; ; e.Timeout *= 2 {
		_, err = dial(t, o, e)
		if es, ok := errors.AsType[*Error](err); !ok || es.Stage == Auth || e.Timeout > time.Minute {
			break
		}
	}
	wantStage(t, err, Auth, fmt.Sprintf("no answer within %s", e.Timeout))
}

func TestJump(t *testing.T) {
	t.Parallel()
	bastion, inner := sshtest.NewFake(t).Start(), sshtest.NewFake(t).Start()
	targets := []*sshtest.Fake{sshtest.NewFake(t).Start(), sshtest.NewFake(t).Start(), sshtest.NewFake(t).Start()}
	lines := []string{line(bastion), line(inner)}
	for _, f := range targets {
		lines = append(lines, line(f))
	}
	d := NewDialer(options(t, known(t, lines...)))
	defer d.Close()
	for i, f := range targets {
		e := entry(f)
		e.SSHOptions = []string{fmt.Sprintf("ProxyJump=127.0.0.1:%d,ssh://me@127.0.0.1:%d", bastion.Port(), inner.Port())}
		c, err := d.Dial(t.Context(), e)
		if err != nil {
			t.Fatal(i, err)
		}
		defer c.Close()
	}
	if b, n := bastion.Dials.Load(), inner.Dials.Load(); b != 1 || n != 1 {
		t.Errorf("%d connections to the bastion, %d to the one behind it; want one each", b, n)
	}
	e := &roster.Entry{ID: "gone", Host: "127.0.0.1", Port: 1, SSHOptions: []string{fmt.Sprintf("ProxyJump=127.0.0.1:%d", bastion.Port())}, Timeout: time.Minute}
	_, err := d.Dial(t.Context(), e)
	wantStage(t, err, Connect, "gone (127.0.0.1:1)", "by jump host 127.0.0.1")
	bastion.Close()
	e.SSHOptions = []string{fmt.Sprintf("ProxyJump=127.0.0.1:%d", bastion.Port())}
	_, err = d.Dial(t.Context(), e)
	wantStage(t, err, Connect, "jump host 127.0.0.1")
}

// TestKeepAliveSettings: what the command line says of keepalives comes before ssh_config.
func TestKeepAliveSettings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		set   func(*Options)
		conf  []string
		every time.Duration
		count int
	}{
		{"nothing", func(*Options) {}, nil, 15 * time.Second, 3},
		{"ssh_config", func(*Options) {}, []string{"ServerAliveInterval=40", "ServerAliveCountMax=7"}, 40 * time.Second, 7},
		{"both", func(o *Options) { o.KeepAlive, o.KeepAliveCount = time.Minute, 2 }, []string{"ServerAliveInterval=40", "ServerAliveCountMax=7"}, time.Minute, 2},
		{"none", func(o *Options) { o.NoKeepAlive, o.KeepAlive = true, time.Minute }, []string{"ServerAliveInterval=40"}, 0, 3},
	} {
		o := options(t, "")
		tt.set(&o)
		d := NewDialer(o)
		x, err := d.dest(t.Context(), &roster.Entry{ID: "web1", Host: "127.0.0.1", SSHOptions: tt.conf})
		d.Close()
		if err != nil || x.alive != tt.every || x.aliveCount != tt.count {
			t.Errorf("%s: %v, %v %d", tt.name, err, x.alive, x.aliveCount)
		}
	}
	// Without keepalives a host that answers none keeps its connection.
	f := sshtest.NewFake(t)
	f.DeafToKeepalive = true
	f.Start()
	o := options(t, known(t, line(f)))
	o.KeepAlive, o.NoKeepAlive = 20*time.Millisecond, true
	c, err := dial(t, o, entry(f))
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Done():
		t.Error("the connection was closed")
	case <-time.After(300 * time.Millisecond):
	}
}

// TestJumpTokens: the tokens of a ProxyJump are those of the host behind, as ssh fills
// them in.
func TestJumpTokens(t *testing.T) {
	t.Parallel()
	bastion, target := sshtest.NewFake(t).Start(), sshtest.NewFake(t).Start()
	d := NewDialer(options(t, known(t, line(bastion), line(target))))
	defer d.Close()
	e := entry(target)
	e.User, e.SSHOptions = "anna", []string{fmt.Sprintf("ProxyJump=%%r@%%h:%d", bastion.Port())}
	x, err := d.dest(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("anna@127.0.0.1:%d", bastion.Port()); len(x.jump) != 1 || x.jump[0] != want {
		t.Errorf("jump hosts %q, want %q", x.jump, want)
	}
	c, err := d.Dial(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if bastion.Dials.Load() != 1 {
		t.Error("the bastion is not used")
	}
}

// TestUnlike: which setting decides that two sides have no algorithm in common.
func TestUnlike(t *testing.T) {
	t.Parallel()
	sup := ssh.SupportedAlgorithms()
	for _, tt := range []struct {
		name, what      string
		offered         []string
		set             func(*dest)
		want, hint, not string
	}{
		{
			"a key exchange that brine does not have", "key exchange",
			[]string{"sntrup761x25519-sha512", "kex-strict-s-v00@openssh.com"},
			nil,
			"the host offers no key exchange that brine has or may use, only sntrup761x25519-sha512", "to KexAlgorithms in the host's sshd_config: mlkem768x25519-sha256", "kex-strict",
		},
		{
			"codes that brine does not have", "client to server MAC",
			[]string{"umac-128-etm@openssh.com", "umac-64@openssh.com"},
			nil,
			"only umac-128-etm@openssh.com,umac-64@openssh.com", "to MACs in the host's sshd_config: hmac-sha2-256-etm@openssh.com", "ssh_config leaves",
		},
		{
			"what is weak", "key exchange",
			[]string{"diffie-hellman-group1-sha1"},
			nil,
			"only diffie-hellman-group1-sha1", "weak and have to be asked for: KexAlgorithms +diffie-hellman-group1-sha1 in ssh_config", "sshd_config",
		},
		{
			"what ssh_config leaves out", "server to client cipher",
			[]string{"aes256-ctr"},
			func(d *dest) { d.ciphers = []string{"aes128-ctr"} },
			"only aes256-ctr", "Ciphers in ssh_config leaves out aes256-ctr", "sshd_config",
		},
		{
			"what ssh_config asks for", "server to client MAC",
			[]string{"umac-64@openssh.com"},
			func(d *dest) { d.macs = []string{"hmac-sha1"} },
			"only umac-64@openssh.com", "to MACs in the host's sshd_config: hmac-sha1", "sha2",
		},
		{"another one", "client to server compression", []string{"zlib"}, nil, "no common algorithm", "Compression", "ssh_config leaves"},
	} {
		x := &dest{}
		if tt.set != nil {
			tt.set(x)
		}
		ours := map[string][]string{"key exchange": append(slices.Clone(sup.KeyExchanges), "ext-info-c"), "client to server MAC": sup.MACs}[tt.what]
		got := disagreed(x, fmt.Errorf("wrapped: %w", &ssh.AlgorithmNegotiationError{What: tt.what, RequestedAlgorithms: tt.offered, SupportedAlgorithms: ours}))
		if got == nil || !strings.Contains(got.err.Error(), tt.want) || !strings.Contains(got.hint, tt.hint) || strings.Contains(got.err.Error()+got.hint, tt.not) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

func TestKeepAlive(t *testing.T) {
	t.Parallel()
	f := sshtest.NewFake(t)
	f.DeafToKeepalive = true
	f.Start()
	o := options(t, known(t, line(f)))
	o.KeepAlive = 20 * time.Millisecond
	c, err := dial(t, o, entry(f))
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("a host that answers nothing is still believed to be there")
	}
	if c.Err() == nil || !strings.Contains(c.Err().Error(), "answered nothing") {
		t.Errorf("Err() = %v", c.Err())
	}
}

// TestHangsLater: hosts that hang after the log-in end with the context.
func TestHangsLater(t *testing.T) {
	t.Parallel()
	for _, p := range []sshtest.Point{sshtest.AtChannel, sshtest.AtExec} {
		f := sshtest.NewFake(t)
		f.Hang = p
		f.Start()
		c, err := dial(t, options(t, known(t, line(f))), entry(f))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, _, _, err = c.raw(ctx, entry(f), "true")
		cancel()
		wantStage(t, err, Shell)
	}
}

func TestRawEndsWithContext(t *testing.T) {
	t.Parallel()
	f := sshtest.NewFake(t)
	f.Exec = func(s *sshtest.Session) int {
		fmt.Fprint(s, "some output")
		_, _ = io.Copy(io.Discard, s)
		var b [1]byte
		_, _ = s.Read(b[:])
		select {
		case <-t.Context().Done():
		case <-time.After(10 * time.Second):
		}
		return 0
	}
	f.Start()
	c, err := dial(t, options(t, known(t, line(f))), entry(f))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, _, _, err = c.raw(ctx, entry(f), "sleep"); err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestDialIPv6(t *testing.T) {
	t.Parallel()
	f := sshtest.NewFakeOn(t, "[::1]:0").Start()
	e := entry(f)
	e.Host = "::1"
	if _, err := dial(t, options(t, known(t, line(f))), e); err != nil {
		t.Error(err)
	}
	e.SSHOptions = []string{"AddressFamily=inet"}
	_, err := dial(t, options(t, known(t, line(f))), e)
	wantStage(t, err, Connect)
}

func TestDialSlowLink(t *testing.T) {
	t.Parallel()
	f := sshtest.NewFake(t)
	f.Latency, f.Rate = 10*time.Millisecond, 64<<10
	f.Exec = func(s *sshtest.Session) int {
		fmt.Fprint(s, s.Command)
		return 4
	}
	f.Start()
	c, err := dial(t, options(t, known(t, line(f))), entry(f))
	if err != nil {
		t.Fatal(err)
	}
	out, _, status, err := c.raw(t.Context(), entry(f), "a command")
	if out != "a command" || status != 4 || err != nil {
		t.Errorf("%q, %d, %v", out, status, err)
	}
}

// TestRawBounds: what is dropped of an output is told, and a failure.
func TestRawBounds(t *testing.T) {
	t.Parallel()
	f := sshtest.NewFake(t)
	f.Exec = func(s *sshtest.Session) int {
		fmt.Fprint(s.Stderr(), strings.Repeat("e", 40<<10)) // more than is kept of what a host complains
		if s.Command == "much" {
			fmt.Fprint(s, strings.Repeat("o", shellMax+5))
		}
		return 0
	}
	f.Start()
	c, err := dial(t, options(t, known(t, line(f))), entry(f))
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{"little": "", "much": "\nbrine: 5 bytes of output beyond 16 MiB were dropped, so this counts as failed; the command itself returned 0. Have it print less, or write to a file that cp.push fetches\n"} {
		out, errs, status, err := c.raw(t.Context(), entry(f), command)
		if (status != 0) != (want != "") {
			t.Errorf("%s: status %d", command, status)
		}
		if kept, note, _ := strings.Cut(errs, "\n"); len(kept) != 40<<10 || strings.TrimPrefix(want, "\n") != note || len(out) > shellMax || err != nil {
			t.Errorf("%s: %d of stdout, %d of stderr, %q, %v", command, len(out), len(kept), note, err)
		}
	}
}

func TestSSHG(t *testing.T) {
	t.Parallel()
	sshtest.Require(t, "ssh")
	f := sshtest.NewFake(t).Start()
	o := options(t, known(t, line(f)))
	// A Match that ssh alone can decide.
	o.Config = []string{write(t, fmt.Sprintf("Match originalhost alias exec \"test 1 = 1\"\n HostName 127.0.0.1\n Port %d\nMatch exec \"false\"\n Port 1\n", f.Port()))}
	if _, err := dial(t, o, &roster.Entry{ID: "web1", Host: "alias", Timeout: time.Minute}); err != nil {
		t.Error(err)
	}
}

// What brine cannot read is asked of ssh, or refused with its place: the log-in
// is never that of another user.
func TestConfigRefused(t *testing.T) {
	t.Parallel()
	f := sshtest.NewFake(t).Start()
	alias := fmt.Sprintf("Host \"alias\"\n HostName 127.0.0.1\n Port %d\n User someone\n", f.Port())
	writable := write(t, alias)
	if err := os.Chmod(writable, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, config, want string }{
		{"quoted include", "Include '" + write(t, alias) + "'\n", ""},
		{"another ssh's include", "Include /nonexistent/%h\n" + alias, "ssh"},
		{"a keyword that is none", alias + " Usr x\n", ":5: unknown keyword Usr (did you mean \"User\"?)"},
		{"a file that all can write", "Include " + writable + "\n", writable + ": bad owner or permissions: every user can write to it (mode 0666)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.want == "ssh" {
				sshtest.Require(t, "ssh")
				tt.want = ""
			}
			o := options(t, known(t, line(f)))
			o.Config = []string{write(t, tt.config)}
			c, err := dial(t, o, &roster.Entry{ID: "web1", Host: "alias", Timeout: time.Minute})
			if tt.want != "" {
				wantStage(t, err, Resolve, tt.want)
			} else if err != nil || c.User != "someone" {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

// stageOf returns the stage of a failed connection, "" where err is none.
func stageOf(err error) Stage {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Stage
	}
	return ""
}
