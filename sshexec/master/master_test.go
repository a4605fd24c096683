package master

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"brine/internal/testkit/sshtest"
)

// socketDir returns a directory whose path a socket's name can have.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "m")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// held is a master to a real sshd, and the process ID of the master.
func held(t *testing.T, config ...string) (*sshtest.Server, *Conn, int) {
	t.Helper()
	s := sshtest.Start(t, sshtest.Options{Config: config})
	path := filepath.Join(socketDir(t), "s")
	pid := s.Master(t, "127.0.0.1", path)
	c, err := Open(t.Context(), path, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if c.PID() != pid {
		t.Fatalf("the master has process ID %d, it says %d", pid, c.PID())
	}
	return s, c, pid
}

// run runs a command to its end.
func run(t *testing.T, c *Conn, line, stdin string) (out, errs string, status int) {
	t.Helper()
	s, err := c.Start(t.Context(), Command{Line: line})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	said := make(chan string)
	go func() {
		b, _ := io.ReadAll(s.Stderr)
		said <- string(b)
	}()
	go func() {
		_, _ = io.WriteString(s.Stdin, stdin)
		_ = s.Stdin.Close()
	}()
	b, err := io.ReadAll(s.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	errs = <-said
	status, err = s.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return string(b), errs, status
}

func TestSessions(t *testing.T) {
	t.Parallel()
	s, c, _ := held(t)
	big := strings.Repeat("0123456789abcdef", 1<<16)
	for _, tt := range []struct {
		line, stdin, out, errs string
		status                 int
	}{
		{"echo out; echo err >&2; exit 7", "", "out\n", "err\n", 7},
		{"cat", big, big, "", 0},
		{"cat >&2", big, "", big, 0},
		{"kill -9 $$", "", "", "", signaled},
		{"exit 255", "", "", "", 255},
		{"(sleep 0.3; echo later) & exit 3", "", "later\n", "", 3},
	} {
		if out, errs, status := run(t, c, tt.line, tt.stdin); out != tt.out || errs != tt.errs || status != tt.status {
			t.Errorf("%s: stdout %.40q, stderr %.40q, status %d", tt.line, out, errs, status)
		}
	}
	sub, err := c.Start(t.Context(), Command{Line: "sftp", Subsystem: true})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	// SSH_FXP_INIT of version 3, which is answered by SSH_FXP_VERSION.
	if _, err := sub.Stdin.Write([]byte{0, 0, 0, 5, 1, 0, 0, 0, 3}); err != nil {
		t.Fatal(err)
	}
	var head [5]byte
	if _, err := io.ReadFull(sub.Stdout, head[:]); err != nil || head[4] != 2 {
		t.Errorf("sftp answers %v, %v", head, err)
	}
	if n := strings.Count(s.Log(), "Accepted publickey"); n != 1 {
		t.Errorf("%d logins, want the master's", n)
	}
}

func TestForward(t *testing.T) {
	t.Parallel()
	s, c, _ := held(t)
	f, err := c.Dial(t.Context(), "127.0.0.1", s.Port)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var banner [4]byte
	if _, err := io.ReadFull(f, banner[:]); err != nil || string(banner[:]) != "SSH-" {
		t.Fatalf("%q, %v", banner, err)
	}
	// What ends at the other end ends here.
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		if in, err := ln.Accept(); err == nil {
			_, _ = io.WriteString(in, "bye")
			_ = in.Close()
		}
	}()
	g, err := c.Dial(t.Context(), "127.0.0.1", ln.Addr().(*net.TCPAddr).Port)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if b, err := io.ReadAll(g); err != nil || string(b) != "bye" {
		t.Errorf("%q, %v", b, err)
	}
	_ = ln.Close()
	if _, err := c.Dial(t.Context(), "127.0.0.1", 1); !errors.Is(err, ErrRefused) {
		t.Errorf("a closed port: %v", err)
	}
	_ = f.SetReadDeadline(time.Now().Add(-time.Second))
	if _, err := f.Read(make([]byte, 1<<10)); err == nil {
		if _, err = f.Read(make([]byte, 1<<10)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after the deadline: %v", err)
		}
	}
}

// TestRefused: sshd opens no more sessions than MaxSessions.
func TestRefused(t *testing.T) {
	t.Parallel()
	_, c, _ := held(t, "MaxSessions 1")
	first, err := c.Start(t.Context(), Command{Line: "cat"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Start(t.Context(), Command{Line: "true"}); !errors.Is(err, ErrRefused) {
		t.Errorf("a second session: %v", err)
	}
	_ = first.Close()
}

// TestMasterEnds: whoever waits for a session or a connection of a master that is
// killed does not wait for ever.
func TestMasterEnds(t *testing.T) {
	t.Parallel()
	s, c, pid := held(t)
	sess, err := c.Start(t.Context(), Command{Line: "cat"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Dial(t.Context(), "127.0.0.1", s.Port)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	if _, err := sess.Wait(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the session ends with %v", err)
	}
	if _, err := io.Copy(io.Discard, f); err != nil && !errors.Is(err, os.ErrClosed) {
		t.Errorf("the connection ends with %v", err)
	}
	if _, err := c.Start(t.Context(), Command{Line: "true"}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a session of a dead master: %v", err)
	}
	for { // it may listen a moment longer
		_, err := Open(t.Context(), c.path, os.Geteuid())
		if errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
		if err == nil {
			t.Fatal("the socket that it left has a master")
		}
	}
}

// TestCloseEndsCommand: the host closes the command's stdin.
func TestCloseEndsCommand(t *testing.T) {
	t.Parallel()
	_, c, _ := held(t)
	file := filepath.Join(t.TempDir(), "ended")
	s, err := c.Start(t.Context(), Command{Line: "echo begun; cat; echo ended > " + file})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(s.Stdout, make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if _, err := s.Wait(); err == nil {
		t.Error("a session that was closed has a status")
	}
	for range 1000 {
		if _, err := os.Stat(file); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the command did not end")
}

// fake listens at a socket and hands connections to serve.
func fake(t *testing.T, serve func(c net.Conn)) string {
	t.Helper()
	path := filepath.Join(socketDir(t), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return path
}

// greet answers the hello and the question whether it is alive.
func greet(c net.Conn, rounds int) bool {
	for range rounds {
		m, err := receive(c)
		if err != nil {
			return false
		}
		switch m.number() {
		case msgHello:
			err = send(c, number(msgHello), number(version), text("info"), text("fake"))
		case msgAlive:
			err = send(c, number(msgIsAlive), m.rest, number(42))
		}
		if err != nil {
			return false
		}
	}
	return true
}

// answer answers the first message with bytes.
func answer(b []byte) func(c net.Conn) {
	return func(c net.Conn) {
		if _, err := receive(c); err == nil {
			_, _ = c.Write(b)
			_, _ = io.Copy(io.Discard, c)
		}
	}
}

// TestHostileMaster: what is no master is told apart, and bounds hold.
func TestHostileMaster(t *testing.T) {
	t.Parallel()
	huge := binary.BigEndian.AppendUint32(nil, 1<<31)
	for name, tt := range map[string]struct {
		serve func(c net.Conn)
		want  string
	}{
		"closes":      {func(c net.Conn) { _, _ = receive(c) }, "no master answers"},
		"says text":   {answer([]byte("SSH-2.0-OpenSSH\r\n")), "a message of"},
		"huge":        {answer(huge), "a message of 2147483648 bytes"},
		"short":       {answer([]byte{0, 0, 0, 2, 0, 0}), "is not a master that speaks"},
		"old version": {answer(slices.Concat(number(8), number(msgHello), number(3))), "is not a master that speaks version 4"},
		"not alive": {func(c net.Conn) {
			if !greet(c, 1) {
				return
			}
			if _, err := receive(c); err == nil {
				_ = send(c, number(msgFailure), number(0), text("no"))
			}
		}, "does not say that it is alive"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Open(t.Context(), fake(t, tt.serve), os.Geteuid()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	t.Run("answers nothing", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := Open(ctx, fake(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), os.Geteuid()); err == nil {
			t.Error("it is a master")
		}
	})
	for name, tt := range map[string]struct {
		answer [][]byte
		want   string
	}{
		"unknown":   {[][]byte{number(7), number(0)}, "not understood"},
		"no number": {[][]byte{number(msgOpened), number(0)}, "not understood"},
		"escapes":   {[][]byte{number(msgDenied), number(0), text("\x1b[2Jno")}, `the master refuses: `},
		"lies":      {[][]byte{number(msgFailure), number(0), number(1 << 30)}, "the master refuses: "},
	} {
		t.Run("session "+name, func(t *testing.T) {
			t.Parallel()
			var first atomic.Bool
			path := fake(t, func(c net.Conn) {
				if first.CompareAndSwap(false, true) {
					if greet(c, 2) {
						_, _ = io.Copy(io.Discard, c)
					}
					return
				}
				if greet(c, 1) {
					if _, err := receive(c); err == nil {
						_ = send(c, tt.answer...)
						_, _ = io.Copy(io.Discard, c)
					}
				}
			})
			c, err := Open(t.Context(), path, os.Geteuid())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.Start(t.Context(), Command{Line: "true"})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%q, want %q", err, tt.want)
			}
		})
	}
}
