package sshexec

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/roster"
	"brine/internal/py/value"
	"brine/internal/testkit/relaytest"
	"brine/internal/testkit/sshtest"
	"brine/sshexec/agent"
	"brine/sshexec/link"
	"brine/sshexec/relay"
)

// behind are targets behind the relay b1 whose agents, in this process, return the
// hash of the file "big" of the tree.
type behind struct {
	*relayed
	p     *Provider
	homes []string
	log   *buffer
	file  []byte
	up    *heard
	call  func(ctx context.Context, up fun.Upstream, name string) string // what agents do
}

// heard is what a relay reads.
type heard struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(b)
}

func (h *heard) bytes() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Bytes()
}

// teed is a channel whose bytes are heard, too.
type teed struct {
	io.Reader
	io.WriteCloser
}

// newBehind makes n targets that get a file of size bytes. change makes the entry of
// one other.
func newBehind(t *testing.T, n, size int, change func(e *roster.Entry)) *behind {
	return newBehindBy(t, n, size, change, func(ctx context.Context, rw io.ReadWriteCloser) error { return relay.Serve(ctx, rw, t.TempDir()) })
}

// newBehindBy is newBehind with what serves the relay.
func newBehindBy(t *testing.T, n, size int, change func(e *roster.Entry), serve func(ctx context.Context, rw io.ReadWriteCloser) error) *behind {
	t.Helper()
	sshtest.Require(t, "sh")
	b := &behind{relayed: &relayed{t: t}, log: &buffer{}, file: make([]byte, size), up: &heard{}, call: sumOfFile}
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b.file)
	b.relay("b1", func(ctx context.Context, rw io.ReadWriteCloser) error {
		return serve(ctx, teed{io.TeeReader(rw, b.up), rw})
	})
	for i := range n {
		home := t.TempDir()
		b.homes = append(b.homes, home)
		b.add(fmt.Sprintf("web%d", i), b.serve(home))
		e := b.entries[i+1]
		e.Relay, e.ThinDir, e.Timeout = "b1", filepath.Join(home, "thin"), 10*time.Minute // the machine may be busy
		if change != nil {
			change(e)
		}
	}
	root := t.TempDir()
	for name, text := range map[string][]byte{"big": b.file, "small": b.file[:min(size, link.LargeFile-1)]} {
		if err := os.WriteFile(filepath.Join(root, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.p = b.provider()
	exe := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(exe, program(0), 0o755); err != nil {
		t.Fatal(err)
	}
	b.p.place.images = &Images{Exe: exe}
	for _, home := range b.homes {
		dir := filepath.Join(home, "thin", "agent")
		mkdir(t, dir)
		if err := os.WriteFile(filepath.Join(dir, "brine-"+own(t, &b.p.place).hash), program(0), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	files := fileserver.New(host.NewLocal(), &fileserver.Roots{Envs: []string{"base"}, Dirs: map[string][]string{"base": {root}}})
	b.p.place.opts.Tree = link.NewTree(files)
	b.p.s.Dialer.o.Log = slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return b
}

// serve runs commands on a machine, and its agent in this process.
func (b *behind) serve(home string) func(s *sshtest.Session) int {
	return func(s *sshtest.Session) int {
		in := bufio.NewReader(s)
		script, err := startLines(in)
		if err != nil {
			return 255
		}
		if strings.Contains(script, "exec ./$h agent") {
			h := host.NewLocal()
			err := agent.Serve(b.t.Context(), firstLine{in, s}, agent.Options{
				Hello: value.MapOf("version", "test"), Host: h, CacheDir: filepath.Join(home, "thin", "agent", "cache"), CloseAll: h.CloseAll,
				Build: func(_ context.Context, s agent.Session) (*fun.Env, error) {
					return &fun.Env{Machine: fun.Machine{Host: h, Up: s.Up, CacheDir: home}}, nil
				},
				Call: func(ctx context.Context, env *fun.Env, job fun.Job) fun.Return {
					return fun.Return{Body: fun.ValueBody{V: b.call(ctx, env.Up, job.Fun)}}
				},
			})
			if err != nil {
				return 1
			}
			return 0
		}
		c := exec.Command("sh", "-c", s.Command)
		c.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		c.Stdout, c.Stderr = s, s.Stderr()
		stdin, err := c.StdinPipe()
		if err != nil || c.Start() != nil {
			return 255
		}
		go func() {
			_, _ = io.Copy(stdin, io.MultiReader(strings.NewReader(script), in))
			stdin.Close()
		}()
		_ = c.Wait()
		return c.ProcessState.ExitCode()
	}
}

func sumOfFile(ctx context.Context, up fun.Upstream, name string) string {
	f, err := up.Open(ctx, "base", name)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err.Error()
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fetch has all targets fetch a file at once.
func (b *behind) fetch(name string, want []byte) {
	b.t.Helper()
	var ids []string
	for _, e := range b.entries[1:] {
		ids = append(ids, e.ID)
	}
	b.p.Prepare(b.t.Context(), ids)
	sum := sha256.Sum256(want)
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			ret := b.p.Run(b.t.Context(), fun.Job{JID: "20261123050000000001", Fun: name, Args: fun.Args{Kw: value.NewMap(0)}}, id, func() {})
			v, err := ret.Value()
			if ret.Err != nil || err != nil || v != hex.EncodeToString(sum[:]) {
				b.t.Errorf("%s: %v, %v, %v", id, v, ret.Err, err)
			}
		})
	}
	wg.Wait()
}

// left are the names of sealed files on the targets.
func (b *behind) left() []string {
	var out []string
	for _, home := range b.homes {
		names, _ := filepath.Glob(filepath.Join(home, "thin/agent/cache/files/tmp-*"))
		out = append(out, names...)
	}
	return out
}

// TestRelayFiles: a large file crosses the link to a relay once, whatever the number
// of targets behind it. What the relay gets is not the file, and a small one goes as
// all else does.
func TestRelayFiles(t *testing.T) {
	t.Parallel()
	const n, size = 10, 5_000_000
	b := newBehind(t, n, size, nil)
	b.fetch("big", b.file)
	got := len(b.up.bytes())
	t.Logf("%d bytes to the relay for %d targets and a file of %d bytes", got, n, size)
	if got < size || got > size*3/2 {
		t.Errorf("%d bytes went to the relay for %d targets and a file of %d bytes", got, n, size)
	}
	if sent := strings.Count(b.log.String(), "file sent by its relay"); sent != n {
		t.Errorf("%d of %d files were sent by the relay: %s", sent, n, b.log)
	}
	for at := 0; at < size; at += size / 10 {
		if bytes.Contains(b.up.bytes(), b.file[at:at+64]) {
			t.Fatalf("the relay was sent the content, at %d", at)
		}
	}
	legible, err := relaytest.Read(b.up.bytes())
	if err != nil || len(legible.Decrypted) != n || legible.Find("cache/files") == nil {
		t.Fatalf("%d connections were decrypted, %v", len(legible.Decrypted), err)
	}
	b.p.seals.mu.Lock()
	for _, x := range b.p.seals.all {
		raw, err := hex.DecodeString(x.key)
		if err != nil || len(raw) != 32 {
			t.Fatalf("a key of %d bytes, %v", len(raw), err)
		}
		for name, secret := range map[string]string{"key": string(raw), "key in hex": x.key, "hash of the content": x.plain} {
			if found := legible.Find(secret); len(found) > 0 {
				t.Errorf("the relay can read the %s: %v", name, found)
			}
		}
	}
	b.p.seals.mu.Unlock()
	b.fetch("small", b.file[:link.LargeFile-1])
	if sent := strings.Count(b.log.String(), "file sent by its relay"); sent != n {
		t.Error("a small file was sent by the relay")
	}
	if left := b.left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestRelayFilesForged: what somebody changes on the way to a target is not taken.
// The file comes from the controller then.
func TestRelayFilesForged(t *testing.T) {
	t.Parallel()
	var conns atomic.Int32
	b := newBehind(t, 2, 300_000, func(e *roster.Entry) {
		if e.ID == "web1" {
			forge(t, e, &conns)
		}
	})
	for i, l := range b.known {
		if i == 2 { // the key is that of the machine, under the port of who forges
			b.known[i] = strings.Replace(l, fmt.Sprintf(":%d", portOf(l)), fmt.Sprintf(":%d", b.entries[2].Port), 1)
		}
	}
	b.p.s.Dialer = NewDialer(Options{
		Host: host.NewLocal(), Home: t.TempDir(), Me: "me", Config: []string{}, KnownHosts: []string{known(t, b.known...)}, Log: b.p.s.Dialer.o.Log,
	})
	b.fetch("big", b.file)
	if log := b.log.String(); strings.Count(log, "file sent by its relay") != 1 || !strings.Contains(log, "file not sent by its relay") || conns.Load() != 2 {
		t.Errorf("%d connections; %s", conns.Load(), log)
	}
	if left := b.left(); len(left) > 1 { // the one that broke off is removed when it is old
		t.Errorf("left: %v", left)
	}
}

// portOf returns the port of a line of known_hosts.
func portOf(line string) (port int) {
	_, rest, _ := strings.Cut(line, "]:")
	_, _ = fmt.Sscan(rest, &port)
	return port
}

// forge puts somebody before the machine of e who changes a byte of each connection
// but the first, far behind the log-in.
func forge(t *testing.T, e *roster.Entry, conns *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	to := net.JoinHostPort("127.0.0.1", fmt.Sprint(e.Port))
	e.Port = l.Addr().(*net.TCPAddr).Port
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			bad := conns.Add(1) > 1
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			go func() {
				defer in.Close()
				_, _ = io.Copy(in, out)
			}()
			go func() {
				defer out.Close()
				if bad {
					if _, err := io.CopyN(out, in, 100_000); err != nil {
						return
					}
					var one [1]byte
					if _, err := io.ReadFull(in, one[:]); err != nil {
						return
					}
					one[0] ^= 1
					if _, err := out.Write(one[:]); err != nil {
						return
					}
				}
				_, _ = io.Copy(out, in)
			}()
		}
	}()
}

// TestRelayFilesAlone: for a machine that is alone behind its relay, and for one that
// is sent a password, a file goes as all else does.
func TestRelayFilesAlone(t *testing.T) {
	t.Parallel()
	b := newBehind(t, 1, 100_000, nil)
	b.fetch("big", b.file)
	if strings.Contains(b.log.String(), "sent by its relay") {
		t.Errorf("alone: %s", b.log)
	}
	b = newBehind(t, 2, 100_000, func(e *roster.Entry) { e.Passwd = roster.NewSecret("secret") })
	b.fetch("big", b.file)
	if strings.Contains(b.log.String(), "sent by its relay") {
		t.Errorf("with a password: %s", b.log)
	}
}

// TestSeals: what is sealed is another text each time, and takes no more room than
// there is: the oldest that nobody uses goes.
func TestSeals(t *testing.T) {
	t.Parallel()
	dropped := make(chan string, 9)
	s := &seals{limit: 25, drop: func(sum string) { dropped <- sum }}
	large := func(text string) link.Large {
		sum := sha256.Sum256([]byte(text))
		return link.Large{Size: int64(len(text)), Sum: hex.EncodeToString(sum[:]), Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(text)), nil
		}}
	}
	take := func(text string) (*sealed, func()) {
		t.Helper()
		x, leave, err := s.take(t.Context(), large(text))
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, x.size)
		if _, err := x.file.ReadAt(b, 0); err != nil || string(b) == text {
			t.Errorf("%q is sealed as %q, %v", text, b, err)
		}
		return x, leave
	}
	a, leaveA := take("0123456789")
	_, leaveB := take("abcdefghij")
	again, leave := take("0123456789")
	if again != a {
		t.Error("it was sealed again")
	}
	leave()
	if _, _, err := s.take(t.Context(), large("ABCDEFGHIJ")); !errors.Is(err, errNoRoom) {
		t.Errorf("while all are used: %v", err)
	}
	leaveA()
	leaveB()
	_, leaveC := take("ABCDEFGHIJ")
	if sum := <-dropped; sum != a.sum {
		t.Error("not the oldest went")
	}
	leaveC()
	other, leaveD := take("0123456789")
	if other.sum == a.sum || other.key == a.key {
		t.Error("it was sealed the same again")
	}
	leaveD()
	lie := large("12345")
	lie.Sum = strings.Repeat("0", 64)
	if _, _, err := s.take(t.Context(), lie); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("a file that was changed: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	hang := large("12345")
	hang.Open = func(context.Context) (io.ReadCloser, error) { <-t.Context().Done(); return nil, t.Context().Err() }
	go func() { _, _, _ = s.take(context.WithoutCancel(t.Context()), hang) }()
	for i := 0; ; i++ {
		s.mu.Lock()
		begun := s.all[hang.Sum] != nil
		s.mu.Unlock()
		if begun {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	if _, _, err := s.take(ctx, hang); !errors.Is(err, context.Canceled) {
		t.Errorf("who gives up: %v", err)
	}
}
