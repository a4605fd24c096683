package relay

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// stalling returns a connection to a relay that serves handle, and waits for it but a
// moment.
func stalling(t *testing.T, handle func(ctx context.Context, s *wire.Stream) error) *Conn {
	t.Helper()
	here, there := net.Pipe()
	go func() {
		m, err := wire.Greet(context.Background(), there, wire.Options{Role: wire.Agent, Hello: value.MapOf("is", hello), Handle: handle})
		if err == nil {
			<-m.Done()
		}
	}()
	c, err := Connect(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	c.stall = 100 * time.Millisecond
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestHostileStall: a relay that takes nothing of a file, does not say whether it has
// it, or does not say that it took it, is waited for once. Connections go on.
func TestHostileStall(t *testing.T) {
	t.Parallel()
	wait := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	file := bytes.Repeat([]byte("x"), 1<<20)
	for name, handle := range map[string]func(ctx context.Context, s *wire.Stream) error{
		"the question": func(ctx context.Context, _ *wire.Stream) error { return wait(ctx) },
		"the bytes": func(ctx context.Context, s *wire.Stream) error {
			if s.Method() == methodHas {
				return s.Answer(false)
			}
			return wait(ctx)
		},
		"the answer": func(ctx context.Context, s *wire.Stream) error {
			if s.Method() == methodHas {
				return s.Answer(false)
			}
			_, _ = io.Copy(io.Discard, s)
			return wait(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := stalling(t, func(ctx context.Context, s *wire.Stream) error {
				if s.Method() == methodDial {
					_, _ = s.Write([]byte{1})
					return wait(ctx)
				}
				return handle(ctx, s)
			})
			const want = "the relay took nothing, or did not answer, for 100ms"
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for range 2 {
				if err := c.Put(ctx, sumOf(file), file); err == nil || err.Error() != want {
					t.Fatalf("%v, want %s", err, want)
				}
			}
			c.stall = time.Hour // none of these is waited for
			if err := c.Hold(ctx, sumOf(file), int64(len(file)), bytes.NewReader(file)); err == nil || err.Error() != want {
				t.Errorf("another file: %v", err)
			}
			way, err := c.Dial(ctx, "tcp", "192.0.2.1:22")
			if err != nil {
				t.Fatal(err)
			}
			_ = way.Close()
		})
	}
}

// TestHostileStallOnce: who gives up by himself says nothing of the relay.
func TestHostileStallOnce(t *testing.T) {
	t.Parallel()
	c := stalling(t, func(ctx context.Context, _ *wire.Stream) error { <-ctx.Done(); return nil })
	c.stall = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := c.Put(ctx, sumOf(nil), nil); !errors.Is(err, context.Canceled) || c.stalled != nil {
		t.Errorf("%v, and later %v", err, c.stalled)
	}
}

// TestHostileWords: what a relay says is marked, short, and stands for nothing.
func TestHostileWords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 20_000)
	c := stalling(t, func(_ context.Context, s *wire.Stream) error {
		return &wire.RemoteError{Code: wire.CodeCanceled, Text: long}
	})
	c.stall = time.Minute
	_, dialled := c.Dial(t.Context(), "tcp", "192.0.2.1:22")
	for name, err := range map[string]error{
		"dial": dialled, "put": c.Put(t.Context(), sumOf(nil), nil), "hold": c.Hold(t.Context(), sumOf([]byte("x")), 1, strings.NewReader("x")),
	} {
		said, ok := errors.AsType[*ReportedError](err)
		if !ok || errors.Is(err, context.Canceled) || len(said.Text) > maxReported+3 || !strings.HasPrefix(err.Error(), "the relay says: é") {
			t.Errorf("%s: %T, %.100v", name, err, err)
		}
	}
	// In a connection that was made, too.
	c = stalling(t, func(_ context.Context, s *wire.Stream) error {
		_, _ = s.Write([]byte{1})
		return &wire.RemoteError{Code: wire.CodeCanceled, Text: long}
	})
	way, err := c.Dial(t.Context(), "tcp", "192.0.2.1:22")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = way.Read(make([]byte, 1)); !errors.Is(err, ErrBroken) || errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) || len(err.Error()) > 500 {
		t.Errorf("%.100v", err)
	}
}

// rawFrame is a frame of the channel.
func rawFrame(kind byte, stream uint32, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	b = binary.BigEndian.AppendUint32(append(b, kind), stream)
	return append(b, payload...)
}

// TestHostileFrames: frames that nobody asked for, out of their order, too many or too
// large, end the channel, or mean nothing. TestHostileFlood has what is sent without end.
func TestHostileFrames(t *testing.T) {
	t.Parallel()
	const (
		kindHello = iota + 1
		kindOpen
		kindData
		kindCredit
		kindEnd
		kindCancel
		kindNote
		kindPing
		kindPong
		kindAck
		kindBye
	)
	end := rawFrame(kindEnd, 1, []byte{0, 12, 0}) // an end without a value
	for name, tt := range map[string]struct {
		raw  []byte
		want string
	}{
		"another hello":           {rawFrame(kindHello, 0, nil), "a second hello"},
		"a request":               {rawFrame(kindOpen, 2, []byte{0, 1, 'x', 12, 0}), "none is expected"},
		"a note":                  {rawFrame(kindNote, 0, []byte{1, 'x', 0}), "none is expected"},
		"bytes of nobody's":       {rawFrame(kindData, 99, []byte("x")), "never open"},
		"bytes of its own":        {rawFrame(kindData, 2, []byte("x")), "never open"},
		"an end of nobody's":      {rawFrame(kindEnd, 99, []byte{0}), "never open"},
		"more than was granted":   {rawFrame(kindData, 1, bytes.Repeat([]byte{1}, 512<<10)), "was granted"}, // at once, before any of it is read
		"credit":                  {bytes.Repeat(rawFrame(kindCredit, 1, []byte{0x3f, 0xff, 0xff, 0xff}), 3), "a credit of"},
		"half a credit":           {rawFrame(kindCredit, 1, []byte{1}), "a credit of 1 bytes"},
		"an end without a code":   {rawFrame(kindEnd, 1, nil), "an end of 0 bytes"},
		"two ends":                {append(rawFrame(kindEnd, 1, []byte{9}), rawFrame(kindEnd, 1, []byte{9})...), "ended twice"},
		"bytes behind the end":    {append(rawFrame(kindEnd, 1, []byte{9}), rawFrame(kindData, 1, []byte("x"))...), "after the end"},
		"an end that is no value": {rawFrame(kindEnd, 1, []byte{0, 200}), "the relay"},
		"an acknowledgement":      {rawFrame(kindAck, 0, make([]byte, 8)), "nobody asked for"},
		"half an acknowledgement": {rawFrame(kindAck, 0, nil), "an acknowledgement of 0 bytes"},
		"a farewell":              {rawFrame(kindBye, 0, nil), "closed the channel"},
		"an unknown frame":        {rawFrame(77, 1, nil), "unknown type"},
		"a frame of 4 GiB":        {[]byte{0xff, 0xff, 0xff, 0xff, kindData, 0, 0, 0, 1}, "the limit is"},
		"a cancel":                {rawFrame(kindCancel, 1, bytes.Repeat([]byte("x"), 100<<10)), "the relay says: cancelled by the peer: xxx"},
		"a good end":              {end, ""},
		"pongs":                   {bytes.Repeat(rawFrame(kindPong, 0, nil), 1000), "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, there := net.Pipe()
			t.Cleanup(func() { _ = there.Close() })
			asked := make(chan struct{})
			go func() {
				m, err := wire.Greet(context.Background(), there, wire.Options{Role: wire.Agent, Hello: value.MapOf("is", hello), Handle: func(ctx context.Context, _ *wire.Stream) error {
					close(asked)
					<-ctx.Done()
					return nil
				}})
				if err == nil {
					<-m.Done()
				}
			}()
			c, err := Connect(t.Context(), here)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go func() {
				<-asked
				_, _ = there.Write(tt.raw)
			}()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if tt.want == "deadline" {
				ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
			}
			defer cancel()
			way, err := c.Dial(ctx, "tcp", "192.0.2.1:22")
			if err == nil { // bytes came in the place of the one that says so
				stop := context.AfterFunc(ctx, func() { _ = way.Close() })
				_, err = io.Copy(io.Discard, way)
				stop()
			}
			if err == nil || !strings.Contains(err.Error()+" the relay", tt.want) || len(err.Error()) > 1000 {
				t.Errorf("%.300v, want %q", err, tt.want)
			}
		})
	}
}

// TestHostileFlood: whatever a relay sends without end, the controller keeps little of it.
func TestHostileFlood(t *testing.T) { // not parallel: it measures the memory
	for name, frame := range map[string][]byte{
		"pings":               rawFrame(8, 0, make([]byte, 1<<10)),
		"large pings":         rawFrame(8, 0, make([]byte, 1<<20)),
		"pongs":               rawFrame(9, 0, make([]byte, 1<<20)),
		"notes":               rawFrame(7, 0, append([]byte{1, 'x', 9, 0x80, 0x80, 0x40}, make([]byte, 1<<19)...)),
		"requests":            rawFrame(2, 2, append([]byte{0, 1, 'x'}, make([]byte, 1<<10)...)),
		"bytes":               rawFrame(3, 1, make([]byte, 32<<10)),
		"bytes of a target":   rawFrame(3, 1, bytes.Repeat([]byte{1}, 32<<10)),
		"no bytes":            rawFrame(3, 1, nil),
		"ends":                rawFrame(5, 1, append([]byte{1}, make([]byte, 60<<10)...)),
		"cancels":             rawFrame(6, 1, make([]byte, 1<<20)),
		"values in an end":    rawFrame(5, 1, append([]byte{0, 12, 0x80, 0x80, 4}, make([]byte, 1<<16-10)...)),
		"acknowledgements":    rawFrame(10, 0, make([]byte, 8)),
		"bytes of a dead one": rawFrame(3, 3, make([]byte, 32<<10)),
	} {
		t.Run(name, func(t *testing.T) {
			here, there := net.Pipe()
			asked := make(chan struct{}, 9)
			go func() {
				m, err := wire.Greet(context.Background(), there, wire.Options{Role: wire.Agent, Hello: value.MapOf("is", hello), Handle: func(ctx context.Context, _ *wire.Stream) error {
					asked <- struct{}{}
					<-ctx.Done()
					return nil
				}})
				if err == nil {
					<-m.Done()
				}
			}()
			c, err := Connect(t.Context(), here)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			dialled := make(chan error, 1)
			go func() {
				_, err := c.Dial(ctx, "tcp", "192.0.2.1:22")
				dialled <- err
			}()
			<-asked
			var before, now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			most, sent := uint64(0), 0
			frame = bytes.Repeat(frame, 1+4096/len(frame))
			for sent < 64<<20 {
				if _, err := there.Write(frame); err != nil {
					break
				}
				if sent += len(frame); sent%(1<<20) < len(frame) {
					runtime.ReadMemStats(&now)
					most = max(most, now.HeapInuse-min(now.HeapInuse, before.HeapInuse))
				}
			}
			cancel()
			<-dialled
			_ = c.Close()
			_ = there.Close()
			t.Logf("%d MiB were sent, %d MiB of memory were used", sent>>20, most>>20)
			if most > 32<<20 {
				t.Errorf("%d MiB of memory for %d MiB that were sent", most>>20, sent>>20)
			}
		})
	}
}

// TestHostileStore: what lies in the place of a relay's files is used if it is what is
// looked for, and only if the place is the relay's own. Nothing is read or written
// elsewhere.
func TestHostileStore(t *testing.T) {
	t.Parallel()
	b := []byte("an agent")
	sum := sumOf(b)
	for name, tt := range map[string]struct {
		make func(t *testing.T, dir string) error
		kept bool // it is there for later runs
	}{
		"nothing": {func(*testing.T, string) error { return nil }, true},
		"another file": {func(_ *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, sum), []byte("another!"), 0o600)
		}, true},
		"a link to a file":      {link, true},
		"a directory":           {func(_ *testing.T, dir string) error { return os.Mkdir(filepath.Join(dir, sum), 0o700) }, false},
		"a pipe":                {func(_ *testing.T, dir string) error { return syscall.Mkfifo(filepath.Join(dir, sum), 0o600) }, true},
		"a link to a directory": {linked, false},
		"for all to write":      {func(_ *testing.T, dir string) error { return os.Chmod(dir, 0o777) }, false},
		"a file as directory": {func(_ *testing.T, dir string) error {
			return errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o600))
		}, false},
		"of another user": {func(t *testing.T, dir string) error {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a directory away")
			}
			return os.Chown(dir, 65534, 65534)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "relay")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(t, dir); err != nil {
				t.Fatal(err)
			}
			victim, _ := os.ReadFile(filepath.Join(filepath.Dir(dir), "victim"))
			c, _ := pairOf(t, &store{dir: dir})
			if err := c.Put(t.Context(), sum, b); err != nil {
				t.Fatal(err)
			}
			if err := c.Hold(t.Context(), sumOf([]byte("held")), 4, strings.NewReader("held")); err != nil {
				t.Fatal(err)
			}
			if got := (&store{dir: dir}).get(sum); (got != nil) != tt.kept || got != nil && !bytes.Equal(got, b) {
				t.Errorf("a later run finds %q, want %v", got, tt.kept)
			}
			if v, _ := os.ReadFile(filepath.Join(filepath.Dir(dir), "victim")); !bytes.Equal(v, victim) {
				t.Errorf("a file elsewhere is %q now", v)
			}
			if names, err := os.ReadDir(filepath.Join(filepath.Dir(dir), "elsewhere")); err == nil && len(names) > 0 {
				t.Errorf("there is %v elsewhere", names)
			}
		})
	}
}

// link puts a link to a file of somebody else's where a file is kept.
func link(_ *testing.T, dir string) error {
	victim := filepath.Join(filepath.Dir(dir), "victim")
	return errors.Join(os.WriteFile(victim, []byte("a victim"), 0o600), os.Symlink(victim, filepath.Join(dir, sumOf([]byte("an agent")))))
}

// linked puts a link to a directory where the files are kept.
func linked(_ *testing.T, dir string) error {
	elsewhere := filepath.Join(filepath.Dir(dir), "elsewhere")
	return errors.Join(os.Remove(dir), os.Mkdir(elsewhere, 0o700), os.Symlink(elsewhere, dir))
}

// TestHostileNames: no name leads a relay to another file.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := []byte("a secret")
	if err := os.WriteFile(filepath.Join(dir, "secret"), secret, 0o600); err != nil {
		t.Fatal(err)
	}
	st := &store{dir: filepath.Join(dir, "relay")}
	c, _ := pairOf(t, st)
	for _, name := range []string{"../secret", "/etc/passwd", "", ".", strings.Repeat("../", 30) + "etc/passwd", strings.ToUpper(sumOf(secret)), sumOf(secret) + "\x00", "..%2fsecret"} {
		if err := c.Put(t.Context(), name, secret); err == nil {
			t.Errorf("%q is a name", name)
		}
		if err := c.Hold(t.Context(), name, 1, strings.NewReader("x")); err == nil {
			t.Errorf("%q is a name of a held file", name)
		}
		if b := st.get(name); b != nil {
			t.Errorf("%q is %q", name, b)
		}
		if b, err := st.part(name, 0, 1); err == nil {
			t.Errorf("of %q there is %q", name, b)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 2 {
		t.Errorf("there are %v, %v", names, err)
	}
	if b, err := readKept(dir, "secret", int64(len(secret))-1); err == nil {
		t.Errorf("of a file that is too large there are %d bytes", len(b))
	}
}

// TestHostileReplaced: a file that is replaced on the relay after it was compared is
// not what is sent.
func TestHostileReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := []byte("an agent")
	sum := sumOf(b)
	(&store{dir: dir}).save(sum, b)
	st := &store{dir: dir}
	if st.get(sum) == nil {
		t.Fatal("it is not there")
	}
	if err := os.WriteFile(filepath.Join(dir, sum), []byte("ANOTHER!"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := st.part(sum, 0, 8); err != nil || string(got) != "an agent" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestHostileDisk: where the disk of a relay is full, or a quota is reached, it takes no
// file to hold, says so, and leaves nothing; agents are in memory for the run.
func TestHostileDisk(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("BRINE_TEST_FULL"); dir != "" {
		onFullDisk(t, dir)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "-test.run=^TestHostileDisk$")
	c.Env = append(os.Environ(), "BRINE_TEST_FULL="+t.TempDir())
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// onFullDisk is the test in a process of which no file may have more than 64 KiB.
func onFullDisk(t *testing.T, dir string) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}); err != nil {
		t.Fatal(err)
	}
	st := &store{dir: dir}
	c, _ := pairOf(t, st)
	large := bytes.Repeat([]byte("large"), 100_000)
	err := c.Hold(t.Context(), sumOf(large), int64(len(large)), bytes.NewReader(large))
	if err == nil || !strings.Contains(err.Error(), "the relay says: ") || !strings.Contains(err.Error(), "file too large") {
		t.Errorf("a file for which there is no room: %v", err)
	}
	if st.sum != 0 {
		t.Errorf("it counts as %d bytes", st.sum)
	}
	if err := c.Put(t.Context(), sumOf(large), large); err != nil || !bytes.Equal(st.get(sumOf(large)), large) {
		t.Errorf("an agent for which there is no room: %v", err)
	}
	if err := c.Hold(t.Context(), sumOf([]byte("small")), 5, strings.NewReader("small")); err != nil {
		t.Errorf("a file for which there is room: %v", err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("%v are left: %v", names, err)
	}
}
