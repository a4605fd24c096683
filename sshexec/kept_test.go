package sshexec

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"brine/internal/core/host"
	"brine/internal/core/roster"
	"brine/internal/testkit/sshtest"
	"brine/sshexec/master"
)

// A keepTest is a keeper in this process, and what runs said.
type keepTest struct {
	t      *testing.T
	dir    string
	f      *sshtest.Fake
	o      Options
	starts int

	mu     sync.Mutex
	warned []string
	stop   context.CancelFunc
	ended  chan struct{}
}

// newKeepTest is for connections that stay for a time.
func newKeepTest(t *testing.T, stays time.Duration) *keepTest {
	t.Helper()
	dir, err := os.MkdirTemp("", "k")
	if err != nil {
		t.Fatal(err)
	}
	k := &keepTest{t: t, dir: dir, f: sshtest.NewFake(t).Start()}
	t.Cleanup(func() {
		k.kill()
		_ = os.RemoveAll(dir)
	})
	k.o = options(t, known(t, line(k.f)))
	k.o.Warn = func(text string) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.warned = append(k.warned, text)
	}
	k.o.Keep = &Keeping{Dir: func(bool) (string, error) { return dir, nil }, Start: k.start, For: &stays}
	return k
}

func (k *keepTest) start(dir string, ready *os.File) error {
	k.starts++
	r, w := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	k.stop, k.ended = stop, ended
	go func() {
		_ = Keep(ctx, host.NewLocal(), dir, w, slog.New(slog.DiscardHandler))
		close(ended)
	}()
	_, err := io.Copy(ready, r)
	return err
}

// kill ends the keeper.
func (k *keepTest) kill() {
	if k.stop != nil {
		k.stop()
		<-k.ended
	}
}

// run is one run that connects to an entry and says how it went.
func (k *keepTest) run(o Options, e *roster.Entry) error {
	k.t.Helper()
	d := NewDialer(o)
	defer d.Close()
	ctx, cancel := context.WithTimeout(k.t.Context(), 3*time.Minute)
	defer cancel()
	d.Prepare(ctx, []*roster.Entry{e})
	c, err := d.Dial(ctx, e)
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := c.open(ctx, "echo hello", false, 0)
	if err == nil {
		_ = s.Close() // it may have ended
	}
	return err
}

// want runs and checks how many log-ins there have been.
func (k *keepTest) want(e *roster.Entry, logins int) {
	k.t.Helper()
	if err := k.run(k.o, e); err != nil {
		k.t.Fatal(err)
	}
	if n := int(k.f.Dials.Load()); n != logins {
		k.t.Errorf("%d connections, want %d", n, logins)
	}
}

func (k *keepTest) list() []Kept {
	k.t.Helper()
	kept, err := ListKept(k.t.Context(), k.dir, os.Geteuid())
	if err != nil {
		k.t.Fatal(err)
	}
	return kept
}

// TestKeptUsed: a connection is used by later runs, is listed, and ends when it is asked to.
func TestKeptUsed(t *testing.T) {
	t.Parallel()
	k := newKeepTest(t, time.Hour)
	if got := k.list(); len(got) != 0 {
		t.Errorf("%v is kept", got)
	}
	for range 3 {
		k.want(entry(k.f), 1)
	}
	got := k.list()
	if len(got) != 1 || got[0].ID != "web1" || got[0].User != "root" || got[0].For != time.Hour || got[0].PID != os.Getpid() {
		t.Fatalf("%+v", got)
	}
	if n, err := CloseKept(t.Context(), k.dir, os.Geteuid(), []string{"another"}); n != 0 || err != nil {
		t.Errorf("%d ended, %v", n, err)
	}
	if n, err := CloseKept(t.Context(), k.dir, os.Geteuid(), []string{got[0].Key}); n != 1 || err != nil {
		t.Errorf("%d ended, %v", n, err)
	}
	<-k.ended // it keeps nothing more
	if names, _ := filepath.Glob(filepath.Join(k.dir, "*")); len(names) != 1 {
		t.Errorf("%q are left", names)
	}
	k.want(entry(k.f), 2)
	k.kill()
	k.want(entry(k.f), 3)
	if len(k.warned) != 0 || k.starts != 3 {
		t.Errorf("%d starts, warnings %q", k.starts, k.warned)
	}
}

// TestKeptTime: a connection ends when nobody has used it for its time, and the keeper
// with the last one.
func TestKeptTime(t *testing.T) {
	t.Parallel()
	k := newKeepTest(t, 50*time.Millisecond)
	k.want(entry(k.f), 1)
	<-k.ended
	k.want(entry(k.f), 2)
}

// TestKeptKey: nothing that decides where a connection goes, and as whom, may be another.
func TestKeptKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	sshtest.WriteKey(t, key, "")
	o := options(t, known(t, ""))
	keyOf := func(o Options, e roster.Entry) string {
		t.Helper()
		d := NewDialer(o)
		defer d.Close()
		to, err := d.dest(t.Context(), &e)
		if err != nil {
			t.Fatal(err)
		}
		k, err := d.keyOf(t.Context(), to)
		if err != nil || len(k) != keyLen {
			t.Fatal(k, err)
		}
		return k
	}
	base := roster.Entry{ID: "web1", Host: "web1", Port: 22, User: "root", Priv: key}
	first := keyOf(o, base)
	seen := map[string]string{first: "nothing"}
	for name, change := range map[string]func(o *Options, e *roster.Entry){
		"host":          func(_ *Options, e *roster.Entry) { e.Host = "web2" },
		"port":          func(_ *Options, e *roster.Entry) { e.Port = 23 },
		"user":          func(_ *Options, e *roster.Entry) { e.User = "me" },
		"key":           func(_ *Options, e *roster.Entry) { e.Priv = key + "2" },
		"only":          func(_ *Options, e *roster.Entry) { e.IdentitiesOnly = true },
		"policy":        func(o *Options, _ *roster.Entry) { o.Policy = Off },
		"known_hosts":   func(o *Options, _ *roster.Entry) { o.KnownHosts = []string{"/dev/null"} },
		"agent":         func(o *Options, _ *roster.Entry) { o.AgentSocket = "/tmp/agent" },
		"proxy":         func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"ProxyCommand=nc %h %p"} },
		"other proxy":   func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"ProxyCommand=nc -x %h %p"} },
		"jump":          func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"ProxyJump=a"} },
		"other jump":    func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"ProxyJump=b"} },
		"user of jump":  func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"ProxyJump=me2@a"} },
		"ciphers":       func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"Ciphers=aes256-ctr"} },
		"HostName":      func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"HostName=web9"} },
		"HostKeyAlias":  func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"HostKeyAlias=web9"} },
		"BindAddress":   func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"BindAddress=127.0.0.9"} },
		"IdentityFile":  func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"IdentityFile=" + key + "3"} },
		"strict":        func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"StrictHostKeyChecking=yes"} },
		"CheckHostIP":   func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"CheckHostIP=yes"} },
		"no keys":       func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"PubkeyAuthentication=no"} },
		"KnownHostsCmd": func(_ *Options, e *roster.Entry) { e.SSHOptions = []string{"KnownHostsCommand=/bin/true"} },
	} {
		o2, e := o, base
		change(&o2, &e)
		k := keyOf(o2, e)
		if other, was := seen[k]; was {
			t.Errorf("%s: the connection of %s would be used", name, other)
		}
		seen[k] = name
	}
	same := base
	same.Passwd, same.Timeout, same.ID, same.Sudo = roster.NewSecret("x"), time.Hour, "another", true
	if keyOf(o, same) != first {
		t.Error("a password, a time, a name or sudo makes another connection")
	}
	sshtest.WriteKey(t, key, "") // another key in the same file
	if keyOf(o, base) == first {
		t.Error("the connection would be used with another key in the file")
	}
}

// TestKeptHostKey: a connection is not used if the key of its host would not be accepted
// now.
func TestKeptHostKey(t *testing.T) {
	t.Parallel()
	k := newKeepTest(t, time.Hour)
	k.want(entry(k.f), 1)
	other := sshtest.WriteKey(t, filepath.Join(t.TempDir(), "other"), "")
	text := strings.Fields(line(k.f))[0] + " " + string(ssh.MarshalAuthorizedKey(other.PublicKey()))
	if err := os.WriteFile(k.o.KnownHosts[0], []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if err := k.run(k.o, entry(k.f)); !errors.As(err, &e) || e.Stage != HostKey {
		t.Errorf("%v", err)
	}
	if got := k.list(); len(got) != 0 {
		t.Errorf("%v is kept", got)
	}
}

// TestKeptFails: a connection that the keeper cannot make fails as one of the run's own,
// and the person is asked by the run.
func TestKeptFails(t *testing.T) {
	t.Parallel()
	k := newKeepTest(t, time.Hour)
	e := entry(k.f)
	e.Port = 1
	var x *Error
	if err := k.run(k.o, e); !errors.As(err, &x) || x.Stage != Connect || !strings.Contains(x.Hint, "sshd is listening") {
		t.Errorf("%v", err)
	}
	o := k.o
	o.KnownHosts, o.Policy = []string{filepath.Join(t.TempDir(), "none")}, Ask
	var asked []string
	o.Ask = func(prompt string, _ bool) (roster.Secret, error) {
		asked = append(asked, prompt)
		return roster.NewSecret("no"), nil
	}
	if err := k.run(o, entry(k.f)); !errors.As(err, &x) || x.Stage != HostKey {
		t.Errorf("%v", err)
	}
	if len(asked) != 1 || !strings.Contains(asked[0], "Are you sure") {
		t.Errorf("asked %q", asked)
	}
}

// TestKeptHostDies: a connection whose host ends it is kept no longer.
func TestKeptHostDies(t *testing.T) {
	t.Parallel()
	k := newKeepTest(t, time.Hour)
	k.want(entry(k.f), 1)
	k.f.Kill()
	<-k.ended
	k.want(entry(k.f), 2)
}

// TestKeptHostSilent: a connection over which nothing comes any more, as after the machine
// slept, opens no session, and ends.
func TestKeptHostSilent(t *testing.T) {
	t.Parallel()
	k := newKeepTest(t, time.Hour)
	k.want(entry(k.f), 1)
	k.f.Freeze()
	if err := k.run(k.o, entry(k.f)); !errors.Is(err, master.ErrRefused) || !strings.Contains(err.Error(), "does not answer over this connection") {
		t.Errorf("%v", err)
	}
	<-k.ended
	k.want(entry(k.f), 2)
}

// TestHostileKeepDir: a directory that others could put sockets in is not used.
func TestHostileKeepDir(t *testing.T) {
	t.Parallel()
	uid := os.Geteuid()
	for name, tt := range map[string]struct {
		make func(dir string) error
		uid  int
		want string
	}{
		"new":   {func(string) error { return nil }, uid, ""},
		"there": {func(dir string) error { return os.MkdirAll(dir, 0o700) }, uid, ""},
		"open":  {func(dir string) error { return errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o755)) }, uid, "other users have access to it (mode 0755)"},
		"above": {func(dir string) error {
			return errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(filepath.Dir(dir), 0o770))
		}, uid, "other users have access to it (mode 0770)"},
		"a link": {func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Dir(dir), 0o700), os.Symlink("/tmp", dir))
		}, uid, "it is a link"},
		"a file": {func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Dir(dir), 0o700), os.WriteFile(dir, nil, 0o700))
		}, uid, "it is not a directory"},
		"of other": {func(dir string) error { return os.MkdirAll(dir, 0o700) }, uid + 1, "it belongs to another user"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache, err := os.MkdirTemp("", "c")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(cache)
			if err := tt.make(filepath.Join(cache, cachedKeep)); err != nil {
				t.Fatal(err)
			}
			dir, err := KeepDir("", cache, tt.uid, true)
			var bad *KeepDirError
			if tt.want == "" && (err != nil || dir != filepath.Join(cache, cachedKeep)) || tt.want != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%q, %v", dir, err)
			}
		})
	}
	// The runtime directory of another user is not that of this one.
	runtime, cache := t.TempDir(), "/tmp/c"
	if dir, _ := KeepDir(runtime, cache, uid+1, false); strings.HasPrefix(dir, runtime) {
		t.Errorf("%q is used", dir)
	}
	if _, err := KeepDir("", "/"+strings.Repeat("x", 100), uid, false); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("%v", err)
	}
}

// TestHostileKeeper: what answers in the place of a keeper and is none does not keep a
// host from being worked on.
func TestHostileKeeper(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]string{
		"ends":     "",
		"garbage":  "\x00\x01\x02",
		"another":  `{"version":9}`,
		"nonsense": `{"version":1,"kept":[{"Key":"x"}]}|{"n":1,"opened":{"Key":"x","Path":"/dev/null"}}`,
		"bad":      `{"version":1}|{"n":1,"fault":{"Declined":"no"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeepTest(t, time.Hour)
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(k.dir, keeperSocket), Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					u, err := l.AcceptUnix()
					if err != nil {
						return
					}
					go func() {
						defer u.Close()
						for _, part := range strings.SplitAfter(say, "|") {
							_, _ = u.Read(make([]byte, 4096)) // what the run says
							_, _ = io.WriteString(u, strings.TrimSuffix(part, "|"))
						}
						if strings.Contains(say, "|") { // until the run goes
							_, _ = io.Copy(io.Discard, u)
						}
					}()
				}
			}()
			k.o.Keep.Start = func(string, *os.File) error { return errors.New("not here") }
			k.want(entry(k.f), 1)
		})
	}
}

// TestPersistOf: when connections stay, and for how long.
func TestPersistOf(t *testing.T) {
	t.Parallel()
	zero, minute := time.Duration(0), time.Minute
	for conf, tt := range map[string]struct {
		is   *time.Duration
		want time.Duration
	}{
		"":                    {nil, 0},
		"User me":             {&minute, time.Minute},
		"ControlPersist 10m":  {nil, 0},
		"ControlPath none":    {&minute, 0},
		"ControlPath /x/%C":   {nil, 0},
		"ControlPath /y/%C\n": {&zero, 0},
		"ControlMaster auto\nControlPath /x/%C\nControlPersist 10m":   {nil, 10 * time.Minute},
		"ControlMaster auto\nControlPath /z/%C\nControlPersist 10m":   {&zero, 0},
		"ControlMaster yes\nControlPath /x/%C\nControlPersist yes":    {nil, forever},
		"ControlMaster auto\nControlPath /x/%C\nControlPersist no":    {nil, 0},
		"ControlMaster auto\nControlPath /x/%C\nControlPersist 1h30m": {nil, 90 * time.Minute},
		"ControlMaster no\nControlPath /x/%C\nControlPersist 10m":     {nil, 0},
		"ControlMaster ask\nControlPath /x/%C\nControlPersist 10m":    {nil, 0},
	} {
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(conf+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		d := NewDialer(Options{Host: host.NewLocal(), Home: t.TempDir(), Me: "me", Config: []string{file}, Keep: &Keeping{For: tt.is}})
		to, err := d.dest(t.Context(), &roster.Entry{ID: "web1", Host: "web1"})
		if err != nil {
			t.Fatal(err)
		}
		if to.persist != tt.want {
			t.Errorf("%q: %v, want %v", conf, to.persist, tt.want)
		}
		d.Close()
	}
	if slices.Contains([]time.Duration{0, time.Second}, forever) {
		t.Error("forever is a time")
	}
}
