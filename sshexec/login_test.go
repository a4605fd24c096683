package sshexec

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"

	"brine/internal/core/fun"
	"brine/internal/core/roster"
	"brine/internal/testkit/sshtest"
)

// A host whose key has changed is logged in to where nothing checks keys, and is
// given no secret, as ssh does.
func TestChangedKeyUnchecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := sshtest.WriteKey(t, filepath.Join(dir, "key"), "")
	other := sshtest.WriteKey(t, filepath.Join(dir, "other"), "").PublicKey()
	for _, tt := range []struct {
		name string
		set  func(f *sshtest.Fake, e *roster.Entry)
		want string // "" is success
	}{
		{"password", func(f *sshtest.Fake, e *roster.Entry) { f.Password, e.Passwd = "s3cret", roster.NewSecret("s3cret") }, "passwords are not sent, since the host's key has changed"},
		{"keyboard-interactive", func(f *sshtest.Fake, e *roster.Entry) {
			f.Interactive, e.Passwd = "s3cret", roster.NewSecret("s3cret")
		}, "passwords are not sent"},
		{"key", func(f *sshtest.Fake, e *roster.Entry) {
			f.Keys, e.Priv, e.Passwd = []ssh.PublicKey{key.PublicKey()}, filepath.Join(dir, "key"), roster.NewSecret("s3cret")
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := sshtest.NewFake(t)
			e := entry(f)
			tt.set(f, e)
			f.Start()
			o := options(t, known(t, xknownhosts.Line([]string{f.Addr}, other)))
			var warned []string
			o.Warn = func(text string) { warned = append(warned, text) }
			o.AgentSocket = sshAgent(t, filepath.Join(dir, "key"), "")
			e.SSHOptions = []string{"StrictHostKeyChecking=no", "ForwardAgent=" + o.AgentSocket, "IdentityAgent=none"}
			c, err := dial(t, o, e)
			if len(warned) != 1 || !strings.Contains(warned[0], "REMOTE HOST IDENTIFICATION HAS CHANGED") || !strings.Contains(warned[0], "known_hosts:1") || !strings.Contains(warned[0], "remove that line: ssh-keygen -f ") {
				t.Errorf("warnings %q", warned)
			}
			if tt.want != "" {
				wantStage(t, err, Auth, tt.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.doubt == nil || c.way.(*ownCarrier).forwardsAgent {
				t.Errorf("doubt %v, agent lent: %t", c.doubt, c.way.(*ownCarrier).forwardsAgent)
			}
			if _, err := (&placer{}).options(c).Pillar(t.Context(), "web1", nil, fun.PillarRequest{}); err == nil || !strings.Contains(err.Error(), "no pillar is sent to web1: the host's key is not the known one") {
				t.Errorf("pillar: %v", err)
			}
			l := launchOf(e, "true")
			l.sudo = true
			if _, err := c.start(t.Context(), l); err == nil || !strings.Contains(err.Error(), "the password of sudo is not sent") {
				t.Errorf("sudo: %v", err)
			}
		})
	}
}

// asker answers prompts from a list, and keeps them.
type asker struct {
	mu      sync.Mutex
	answers []string
	asked   []string
}

func (a *asker) ask(prompt string, _ bool) (roster.Secret, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, prompt)
	if len(a.answers) == 0 {
		return roster.Secret{}, errors.New("no answers left")
	}
	s := a.answers[0]
	a.answers = a.answers[1:]
	return roster.NewSecret(s), nil
}

func TestPrompts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := sshtest.WriteKey(t, filepath.Join(dir, "key"), "")
	sshtest.WriteKey(t, filepath.Join(dir, "locked"), "open sesame")
	for _, tt := range []struct {
		name    string
		set     func(f *sshtest.Fake, e *roster.Entry)
		answers []string
		none    bool // nobody can be asked
		asked   []string
		want    string
	}{
		{"password", func(f *sshtest.Fake, _ *roster.Entry) { f.Password = "s3cret" }, []string{"a", "b", "s3cret"}, false, []string{"root@127.0.0.1's password: "}, ""},
		{"password, three tries", func(f *sshtest.Fake, _ *roster.Entry) { f.Password = "s3cret" }, []string{"a", "b", "c", "s3cret"}, false, nil, "unable to authenticate"},
		{"NumberOfPasswordPrompts", func(f *sshtest.Fake, e *roster.Entry) {
			f.Password, e.SSHOptions = "s3cret", []string{"NumberOfPasswordPrompts=1"}
		}, []string{"a", "s3cret"}, false, nil, "unable to authenticate"},
		{"BatchMode", func(f *sshtest.Fake, e *roster.Entry) {
			f.Password, e.SSHOptions = "s3cret", []string{"BatchMode=yes"}
		}, []string{"s3cret"}, false, []string{}, "unable to authenticate"},
		{"the roster's password, then a person's", func(f *sshtest.Fake, e *roster.Entry) {
			f.Password, e.Passwd = "s3cret", roster.NewSecret("old")
		}, []string{"s3cret"}, false, []string{"root@127.0.0.1's password: "}, ""},
		{"code after a key", func(f *sshtest.Fake, e *roster.Entry) {
			f.Keys, f.Code, e.Priv = []ssh.PublicKey{key.PublicKey()}, "123456", filepath.Join(dir, "key")
		}, []string{"123456"}, false, []string{"(root@127.0.0.1) Verification code: "}, ""},
		{"code after a key, not the roster's password", func(f *sshtest.Fake, e *roster.Entry) {
			f.Keys, f.Code, e.Priv, e.Passwd = []ssh.PublicKey{key.PublicKey()}, "123456", filepath.Join(dir, "key"), roster.NewSecret("x")
		}, []string{"1", "123456"}, false, []string{"(root@127.0.0.1) Verification code: "}, ""},
		{"code, and nobody to ask", func(f *sshtest.Fake, e *roster.Entry) {
			f.Keys, f.Code, e.Priv = []ssh.PublicKey{key.PublicKey()}, "123456", filepath.Join(dir, "key")
		}, nil, true, nil, `publickey succeeded, and the host asks for a second factor: "Verification code:"; run on a terminal to answer`},
		{"passphrase, three tries", func(f *sshtest.Fake, e *roster.Entry) { e.Priv = filepath.Join(dir, "locked") }, []string{"a", "b", "open sesame"}, false, []string{"Passphrase of " + filepath.Join(dir, "locked") + ": "}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := sshtest.NewFake(t)
			e := entry(f)
			tt.set(f, e)
			f.Start()
			o := options(t, known(t, line(f)))
			a := &asker{answers: tt.answers}
			if !tt.none {
				o.Ask = a.ask
			}
			_, err := dial(t, o, e)
			if tt.want != "" {
				wantStage(t, err, Auth, tt.want)
			} else if err != nil {
				t.Error(err)
			}
			if tt.asked != nil && !slices.Equal(slices.Compact(a.asked), tt.asked) {
				t.Errorf("asked %q, want %q", a.asked, tt.asked)
			}
		})
	}
}

// The same question for the same account is asked once where the person says so,
// and nothing more once a question was not answered.
func TestPromptOnce(t *testing.T) {
	t.Parallel()
	for _, once := range []bool{true, false} {
		a := &asker{answers: []string{"s3cret", "s3cret", "s3cret"}}
		var lines []string
		var fakes []*sshtest.Fake
		for range 3 {
			f := sshtest.NewFake(t)
			f.Password = "s3cret"
			f.Start()
			fakes, lines = append(fakes, f), append(lines, line(f))
		}
		o := options(t, known(t, lines...))
		o.Ask, o.AskOnce = a.ask, once
		d := NewDialer(o)
		var wg sync.WaitGroup
		for _, f := range fakes {
			wg.Go(func() {
				c, err := d.Dial(t.Context(), entry(f))
				if err != nil {
					t.Error(err)
					return
				}
				_ = c.Close()
			})
		}
		wg.Wait()
		if want := map[bool]int{true: 1, false: 3}[once]; len(a.asked) != want {
			t.Errorf("once %t: asked %d times, want %d", once, len(a.asked), want)
		}
	}
	a := &asker{}
	p := &prompter{ask: a.ask}
	for range 3 {
		if _, err := p.get("k", "p", false, roster.Secret{}); !errors.Is(err, errNoAnswer) {
			t.Error(err)
		}
	}
	if len(a.asked) != 1 {
		t.Errorf("asked %d times after no answer", len(a.asked))
	}
}

// The time of a host stands still while a person is asked.
func TestWaitContext(t *testing.T) {
	t.Parallel()
	w := newWait(t.Context(), time.Hour)
	resume := w.hold()
	w.left = time.Nanosecond
	if w.Err() != nil {
		t.Error("it ends while it is held")
	}
	resume()
	<-w.Done()
	if !errors.Is(w.Err(), context.DeadlineExceeded) {
		t.Errorf("ends with %v", w.Err())
	}
	w = newWait(t.Context(), time.Hour)
	w.stop()
	if <-w.Done(); !errors.Is(w.Err(), context.Canceled) {
		t.Errorf("stops with %v", w.Err())
	}
}

// Keys that are named by their public part are those of the ssh-agent.
func TestPublicIdentities(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := sshtest.WriteKey(t, filepath.Join(dir, "key"), "")
	sock := sshAgent(t, filepath.Join(dir, "key"), "")
	pub := filepath.Join(dir, "named.pub")
	if err := os.WriteFile(pub, ssh.MarshalAuthorizedKey(key.PublicKey()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		set  func(e *roster.Entry, o *Options)
		want string
	}{
		{"IdentityFile x.pub", func(e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"IdentityFile=" + pub, "IdentitiesOnly=yes"}
		}, ""},
		{"IdentityFile x, and only x.pub is there", func(e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"IdentityFile=" + strings.TrimSuffix(pub, ".pub"), "IdentitiesOnly=yes"}
		}, ""},
		{"priv of the roster", func(e *roster.Entry, _ *Options) { e.Priv, e.IdentitiesOnly = pub, true }, ""},
		{"no agent", func(e *roster.Entry, o *Options) { e.Priv, o.AgentSocket = pub, "" }, "named.pub: the file has a public key, and the ssh-agent does not hold its private key"},
		{"an algorithm that is not accepted", func(e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"PubkeyAcceptedAlgorithms=rsa-sha2-512"}
		}, "no key"},
		{"an algorithm that is accepted", func(e *roster.Entry, _ *Options) { e.SSHOptions = []string{"PubkeyAcceptedAlgorithms=-rsa*"} }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := sshtest.NewFake(t)
			f.Keys = []ssh.PublicKey{key.PublicKey()}
			f.Start()
			e, o := entry(f), options(t, known(t, line(f)))
			o.AgentSocket = sock
			tt.set(e, &o)
			if _, err := dial(t, o, e); tt.want != "" {
				wantStage(t, err, Auth, tt.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// Encrypted PKCS#8, as ssh-keygen and openssl write it.
func TestPKCS8(t *testing.T) {
	t.Parallel()
	keygen := sshtest.Require(t, "ssh-keygen")
	dir := t.TempDir()
	for _, typ := range []string{"ecdsa", "rsa"} {
		path := filepath.Join(dir, typ)
		if out, err := exec.CommandContext(t.Context(), keygen, "-q", "-t", typ, "-m", "PKCS8", "-N", "open sesame", "-f", path).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		checkPKCS8(t, path)
	}
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		return
	}
	plain := filepath.Join(dir, "plain")
	if out, err := exec.CommandContext(t.Context(), openssl, "genpkey", "-algorithm", "ed25519", "-out", plain).CombinedOutput(); err != nil {
		t.Skipf("openssl: %v: %s", err, out)
	}
	for _, args := range [][]string{{"-v2", "aes-256-cbc"}, {"-v2", "des3", "-v2prf", "hmacWithSHA1"}, {"-v2", "aes128", "-v2prf", "hmacWithSHA512"}, {"-scrypt"}} {
		path := filepath.Join(dir, strings.Join(args, "_"))
		args = append([]string{"pkcs8", "-topk8", "-in", plain, "-out", path, "-passout", "pass:open sesame"}, args...)
		if out, err := exec.CommandContext(t.Context(), openssl, args...).CombinedOutput(); err != nil {
			t.Logf("%q: %v: %s", args, err, out)
			continue
		}
		checkPKCS8(t, path)
	}
}

func checkPKCS8(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	der := encryptedPKCS8(text)
	raw, err := decryptPKCS8(der, []byte("open sesame"))
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
	if _, err := ssh.NewSignerFromKey(raw); err != nil {
		t.Errorf("%s: %v", filepath.Base(path), err)
	}
	if _, err := decryptPKCS8(der, []byte("no")); err == nil {
		t.Errorf("%s: any passphrase opens it", filepath.Base(path))
	}
	if pub, err := os.ReadFile(path + ".pub"); err == nil {
		want, _, _, _, _ := ssh.ParseAuthorizedKey(pub)
		if s, err := ssh.NewSignerFromKey(raw); err != nil || !sameKey(s.PublicKey(), want) {
			t.Errorf("%s: another key, %v", filepath.Base(path), err)
		}
	}
}

func FuzzPKCS8(f *testing.F) {
	f.Add([]byte("0\x82\x01"))
	f.Fuzz(func(_ *testing.T, der []byte) {
		if len(der) < 200 { // more can ask for many rounds, in vain
			_, _ = decryptPKCS8(der, []byte("x"))
		}
	})
}

// serveAgent starts OpenSSH's agent, which may load providers.
func serveAgent(t *testing.T, sshAgent, sock string, env []string, providers string) {
	t.Helper()
	a := exec.Command(sshAgent, "-D", "-a", sock, "-P", providers)
	a.Env = append(os.Environ(), env...)
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Process.Kill(); _ = a.Wait() })
	until(t, "the agent listens", func() bool { _, err := os.Stat(sock); return err == nil })
}

// A PKCS#11 token signs by the ssh-agent: here SoftHSM, of the system or in the
// directory BRINE_TEST_SOFTHSM.
func TestPKCS11(t *testing.T) {
	t.Parallel()
	root := os.Getenv("BRINE_TEST_SOFTHSM")
	found, _ := filepath.Glob(root + "/usr/lib/*/softhsm/libsofthsm2.so")
	util := filepath.Join(root, "/usr/bin/softhsm2-util")
	if _, err := os.Stat(util); err != nil || len(found) == 0 {
		t.Skip("SoftHSM is not installed")
	}
	provider := found[0]
	keygen, sshAgent, sshAdd := sshtest.Require(t, "ssh-keygen"), sshtest.Require(t, "ssh-agent"), sshtest.Require(t, "ssh-add")
	openssl := sshtest.Require(t, "openssl")
	dir, err := os.MkdirTemp("", "brine-p11") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"conf": "directories.tokendir = " + in("tokens") + "\nobjectstore.backend = file\n",
		"pin":  "#!/bin/sh\necho 1234\n",
	} {
		if err := os.WriteFile(in(name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mkdir(t, dir, "tokens")
	env := []string{"SOFTHSM2_CONF=" + in("conf"), "SSH_AUTH_SOCK=" + in("sock"), "SSH_ASKPASS=" + in("pin"), "SSH_ASKPASS_REQUIRE=force"}
	run := func(name string, args ...string) []byte {
		c := exec.CommandContext(t.Context(), name, args...)
		c.Env = append(os.Environ(), env...)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		return out
	}
	run(util, "--module", provider, "--init-token", "--free", "--label", "brine", "--pin", "1234", "--so-pin", "1234")
	run(openssl, "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", in("key.pem"))
	run(util, "--module", provider, "--import", in("key.pem"), "--token", "brine", "--pin", "1234", "--label", "key", "--id", "01")
	pub := run(keygen, "-D", provider)
	if err := os.WriteFile(in("token.pub"), pub, 0o600); err != nil {
		t.Fatal(err)
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(pub)
	if err != nil {
		t.Fatalf("%v: %s", err, pub)
	}
	serveAgent(t, sshAgent, in("sock"), env, provider)
	run(sshAdd, "-q", "-s", provider)
	f := sshtest.NewFake(t)
	f.Keys = []ssh.PublicKey{key}
	f.Start()
	o := options(t, known(t, line(f)))
	o.AgentSocket = in("sock")
	for _, identity := range []string{"token.pub", "token"} {
		e := entry(f)
		e.SSHOptions = []string{"IdentityFile=" + in(identity), "IdentitiesOnly=yes"}
		if _, err := dial(t, o, e); err != nil {
			t.Errorf("%s: %v", identity, err)
		}
	}
}

// A hardware key signs by the ssh-agent: here the software authenticator of
// OpenSSH's tests.
func TestSecurityKey(t *testing.T) {
	t.Parallel()
	const provider = "/usr/lib/openssh/regress/misc/sk-dummy/sk-dummy.so"
	if _, err := os.Stat(provider); err != nil {
		t.Skip("Debian's openssh-tests is not installed")
	}
	keygen, sshAgent, sshAdd := sshtest.Require(t, "ssh-keygen"), sshtest.Require(t, "ssh-agent"), sshtest.Require(t, "ssh-add")
	dir, err := os.MkdirTemp("", "brine-sk") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path, sock := filepath.Join(dir, "key"), filepath.Join(dir, "sock")
	if out, err := exec.CommandContext(t.Context(), keygen, "-q", "-t", "ed25519-sk", "-w", provider, "-N", "", "-f", path).CombinedOutput(); err != nil {
		t.Skipf("ssh-keygen: %v: %s", err, out)
	}
	serveAgent(t, sshAgent, sock, nil, "/usr/lib/openssh/*")
	add := exec.CommandContext(t.Context(), sshAdd, "-q", "-S", provider, path)
	add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+sock)
	if out, err := add.CombinedOutput(); err != nil {
		t.Skipf("ssh-add: %v: %s", err, out)
	}
	text, err := os.ReadFile(path + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	pub, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		t.Fatal(err)
	}
	f := sshtest.NewFake(t)
	f.Keys = []ssh.PublicKey{pub}
	f.Start()
	o := options(t, known(t, line(f)))
	o.AgentSocket = sock
	for _, identity := range []string{path, path + ".pub"} {
		e := entry(f)
		e.SSHOptions = []string{"IdentityFile=" + identity, "IdentitiesOnly=yes"}
		if _, err := dial(t, o, e); err != nil {
			t.Errorf("%s: %v", filepath.Base(identity), err)
		}
	}
}

func TestKnownHostsOptions(t *testing.T) {
	t.Parallel()
	other := sshtest.WriteKey(t, filepath.Join(t.TempDir(), "k"), "").PublicKey()
	script := func(t *testing.T, text string) string {
		p := write(t, "#!/bin/sh\n"+text+"\n")
		if err := os.Chmod(p, 0o700); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, tt := range []struct {
		name  string
		lines func(f *sshtest.Fake) []string
		set   func(t *testing.T, f *sshtest.Fake, e *roster.Entry, o *Options)
		want  string // of the error; "" is success
	}{
		{"KnownHostsCommand", nil, func(t *testing.T, _ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"KnownHostsCommand=" + script(t, `echo "$1 $2 $3"`) + " %H %t %K"}
		}, ""},
		{"KnownHostsCommand that knows nothing", nil, func(_ *testing.T, _ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"KnownHostsCommand=/bin/true"}
		}, "is not known"},
		{"KnownHostsCommand that fails", nil, func(t *testing.T, _ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"KnownHostsCommand=" + script(t, "echo broken >&2; exit 3")}
		}, "KnownHostsCommand: "},
		{"KnownHostsCommand that is looked for in PATH", nil, func(_ *testing.T, _ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"KnownHostsCommand=echo %H %t %K"}
		}, `KnownHostsCommand: "echo %H %t %K" does not begin with the absolute path of a program`},
		{"ProxyUseFdpass", nil, func(_ *testing.T, _ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"ProxyCommand=nc %h %p", "ProxyUseFdpass=yes"}
		}, "ProxyUseFdpass is not supported"},
		{"hint with an alias", nil, func(_ *testing.T, _ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"HostKeyAlias=Shared"}
		}, "with the name shared (HostKeyAlias) in place of the host's"},
		{"hint with an alias, changed", func(*sshtest.Fake) []string { return []string{xknownhosts.Line([]string{"shared"}, other)} }, func(_ *testing.T, _ *sshtest.Fake, e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"HostKeyAlias=shared"}
		}, "known_hosts -R shared"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := sshtest.NewFake(t).Start()
			var lines []string
			if tt.lines != nil {
				lines = tt.lines(f)
			}
			e, o := entry(f), options(t, known(t, lines...))
			tt.set(t, f, e, &o)
			_, err := dial(t, o, e)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// A name in a line that is added is hashed where HashKnownHosts says so.
func TestHashKnownHosts(t *testing.T) {
	t.Parallel()
	f := sshtest.NewFake(t).Start()
	file := known(t)
	o, e := options(t, file), entry(f)
	o.Policy = AcceptNew
	e.SSHOptions = []string{"HashKnownHosts=yes"}
	if _, err := dial(t, o, e); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(strings.TrimSpace(string(b)), "|1|") {
		t.Errorf("%q, %v", b, err)
	}
	o.Policy = Strict
	if _, err := dial(t, o, e); err != nil {
		t.Error(err)
	}
}

// debugLog returns a log, and a func that returns what it has.
func debugLog() (log *slog.Logger, text func() string) {
	var buf bytes.Buffer
	var mu sync.Mutex
	log = slog.New(slog.NewTextHandler(writer(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return buf.Write(b)
	}), &slog.HandlerOptions{Level: slog.LevelDebug}))
	return log, func() string {
		mu.Lock()
		defer mu.Unlock()
		return buf.String()
	}
}

// The debug log has the keys that a host is offered, where each is from, and the
// one that the host takes.
func TestDebugLogKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other := sshtest.WriteKey(t, filepath.Join(dir, "other"), "")
	key := sshtest.WriteKey(t, filepath.Join(dir, "key"), "")
	for _, tt := range []struct {
		name, offered, from string
		set                 func(e *roster.Entry, o *Options)
	}{
		{"a file", filepath.Join(dir, "other"), filepath.Join(dir, "key"), func(e *roster.Entry, _ *Options) {
			e.SSHOptions = []string{"IdentityFile=" + filepath.Join(dir, "other"), "IdentityFile=" + filepath.Join(dir, "key")}
		}},
		{"the agent", filepath.Join(dir, "other"), "the ssh-agent at", func(e *roster.Entry, o *Options) {
			o.AgentSocket = sshAgent(t, filepath.Join(dir, "key"), "")
			e.SSHOptions = []string{"IdentityFile=" + filepath.Join(dir, "other")}
		}},
	} {
		f := sshtest.NewFake(t)
		f.Keys = []ssh.PublicKey{key.PublicKey()}
		f.Start()
		o, e := options(t, known(t, line(f))), entry(f)
		var text func() string
		o.Log, text = debugLog()
		tt.set(e, &o)
		if _, err := dial(t, o, e); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			`msg="key to offer" host=web1 key=` + ssh.FingerprintSHA256(other.PublicKey()) + " type=ssh-ed25519 from=" + tt.offered,
			`msg="key to offer" host=web1 key=` + ssh.FingerprintSHA256(key.PublicKey()),
			`msg="key accepted by the host" host=web1 key=` + ssh.FingerprintSHA256(key.PublicKey()) + " type=ssh-ed25519 from=",
			tt.from,
		} {
			if !strings.Contains(text(), want) {
				t.Errorf("%s: no %q in\n%s", tt.name, want, text())
			}
		}
		if strings.Count(text(), "key accepted by") != 1 {
			t.Errorf("%s: the log is\n%s", tt.name, text())
		}
	}
}

// The debug log has each step with the host's name, and no secret.
func TestDebugLog(t *testing.T) {
	t.Parallel()
	f := sshtest.NewFake(t)
	f.Password = "s3cret"
	f.Start()
	o := options(t, known(t, line(f)))
	var text func() string
	o.Log, text = debugLog()
	o.Config = []string{write(t, "ConnectTimeout 30\n")}
	e := entry(f)
	e.Passwd = roster.NewSecret("s3cret")
	if _, err := dial(t, o, e); err != nil {
		t.Fatal(err)
	}
	log := text()
	for _, want := range []string{
		`msg="ssh configuration" file=` + o.Config[0], "msg=setting host=web1 keyword=connecttimeout value=30 from=" + o.Config[0] + ":1",
		"msg=connect host=web1 address=127.0.0.1:", `msg="host key accepted" host=web1`, "known_hosts:1", "msg=authentication host=web1", `msg="logged in" host=web1 user=root`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in\n%s", want, log)
		}
	}
	if strings.Contains(log, "s3cret") {
		t.Error("the log has the password")
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// TestConfirm: a key that nobody knows is asked for once a host, as ssh asks.
func TestConfirm(t *testing.T) {
	t.Parallel()
	f := sshtest.NewFake(t).Start()
	fingerprint := ssh.FingerprintSHA256(f.HostKey.PublicKey())
	for _, tt := range []struct {
		name    string
		answers []string
		option  string
		asked   int
		want    string // "": logged in
	}{
		{"yes", []string{"yes"}, "", 1, ""},
		{"its fingerprint", []string{"maybe", fingerprint}, "StrictHostKeyChecking=ask", 2, ""},
		{"another fingerprint", []string{"SHA256:x", "no"}, "", 2, "not accepted at the prompt"},
		{"no", []string{"NO"}, "", 1, "not accepted at the prompt"},
		{"an empty answer", []string{""}, "", 1, "not accepted at the prompt"},
		{"no answer", nil, "", 1, "no answer to the prompt"},
		{"strict", []string{"yes"}, "StrictHostKeyChecking=yes", 0, "is not known: ssh-ed25519 " + fingerprint},
		{"batch", []string{"yes"}, "BatchMode=yes", 0, "is not known: ssh-ed25519 " + fingerprint},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := known(t)
			a := &asker{answers: tt.answers}
			o := options(t, file)
			o.Ask = a.ask
			e := entry(f)
			if tt.option != "" {
				e.SSHOptions = []string{tt.option}
			}
			d := NewDialer(o)
			defer d.Close()
			for range 2 { // the second time the answer is known, unless it was no
				c, err := d.Dial(t.Context(), e)
				if tt.want != "" {
					wantStage(t, err, HostKey, tt.want)
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				_ = c.Close()
			}
			if len(a.asked) != tt.asked {
				t.Errorf("asked %q", a.asked)
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if lines := strings.Count(string(b), "ssh-ed25519"); lines != map[bool]int{true: 1, false: 0}[tt.want == ""] {
				t.Errorf("known_hosts has %d lines: %q", lines, b)
			}
		})
	}
}
