package master

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"brine/internal/testkit/sshtest"
)

// shellHost is a Host that runs commands here.
type shellHost struct{ starts atomic.Int32 }

type shellRun struct {
	c     *exec.Cmd
	files [3]*os.File
	once  sync.Once
	done  chan struct{}
}

func (h *shellHost) Start(cmd Command, env []string, files [3]*os.File) (Running, error) {
	h.starts.Add(1)
	if cmd.Subsystem {
		closeFiles(files)
		return nil, errors.New("no subsystem " + cmd.Line)
	}
	c := exec.Command("/bin/sh", "-c", cmd.Line)
	c.Env = append(os.Environ(), env...)
	for _, f := range files { // a command waits for its input, as one behind sshd does
		if err := syscall.SetNonblock(int(f.Fd()), false); err != nil {
			closeFiles(files)
			return nil, err
		}
	}
	c.Stdin, c.Stdout, c.Stderr = files[0], files[1], files[2]
	if err := c.Start(); err != nil {
		closeFiles(files)
		return nil, err
	}
	r := &shellRun{c: c, files: files, done: make(chan struct{})}
	go func() {
		_ = c.Wait()
		closeFiles(files)
		close(r.done)
	}()
	return r, nil
}

func (r *shellRun) Wait() (int, bool) {
	<-r.done
	return r.c.ProcessState.ExitCode(), r.c.ProcessState.Exited()
}

func (r *shellRun) Close() error {
	r.once.Do(func() { _ = r.c.Process.Kill() })
	return nil
}

func (h *shellHost) Dial(host string, port int) (io.ReadWriteCloser, error) {
	if host != "echo" {
		return nil, errors.New("nobody is there")
	}
	a, b := net.Pipe()
	go func() { _, _ = io.Copy(b, b) }()
	return a, nil
}

// served is a server at a socket.
func served(t *testing.T, uid int) (s *Server, h *shellHost, path string) {
	t.Helper()
	path = filepath.Join(socketDir(t), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	h = &shellHost{}
	s = &Server{Host: h, UID: uid}
	done := make(chan struct{})
	go func() {
		_ = s.Serve(l)
		close(done)
	}()
	t.Cleanup(func() {
		s.Close()
		_ = l.Close()
		<-done
	})
	return s, h, path
}

// TestServer: what is served can be used as a master of OpenSSH is.
func TestServer(t *testing.T) {
	t.Parallel()
	s, _, path := served(t, os.Geteuid())
	c, err := Open(t.Context(), path, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.PID() != os.Getpid() {
		t.Errorf("process ID %d", c.PID())
	}
	if out, errs, status := run(t, c, "cat; echo more; echo bad >&2; exit 7", "text\n"); out != "text\nmore\n" || errs != "bad\n" || status != 7 {
		t.Errorf("%q, %q, %d", out, errs, status)
	}
	if _, _, status := run(t, c, "kill -9 $$", ""); status != signaled {
		t.Errorf("status %d after a signal", status)
	}
	if _, err := c.Start(t.Context(), Command{Line: "sftp", Subsystem: true}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "no subsystem sftp") {
		t.Errorf("%v", err)
	}
	if _, err := c.Start(t.Context(), Command{}); !errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
	if _, err := c.Dial(t.Context(), "nowhere", 1); !errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
	f, err := c.Dial(t.Context(), "echo", 7)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "hello"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(f, got); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	if clients, sessions := s.Busy(); clients != 2 || sessions != 1 {
		t.Errorf("%d clients, %d sessions", clients, sessions)
	}
	_ = f.Close()
}

// TestServerEnds: a client sees the end of a server as that of a master, not as that of
// its session.
func TestServerEnds(t *testing.T) {
	t.Parallel()
	s, _, path := served(t, os.Geteuid())
	c, err := Open(t.Context(), path, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	x, err := c.Start(t.Context(), Command{Line: "echo on; exec cat"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(x.Stdout, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	<-c.Done()
	if _, err := x.Wait(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
	if _, err := Open(t.Context(), path, os.Geteuid()); err == nil {
		t.Error("it serves on")
	}
}

// TestHostileClient: what is no message, too long, or comes without its files starts
// nothing and ends the client alone.
func TestHostileClient(t *testing.T) {
	t.Parallel()
	_, h, path := served(t, os.Geteuid())
	hello := func() []byte { return frame(number(msgHello), number(version)) }
	session := func() []byte {
		return frame(number(msgNewSession), number(0), text(""), number(0), number(0), number(0), number(0), number(noEscape), text(""), text("true"))
	}
	for name, said := range map[string][]byte{
		"not a message": []byte("GET / HTTP/1.1\r\n\r\n"),
		"another hello": frame(number(msgHello), number(9)),
		"too long":      append(hello(), number(messageMax+1)...),
		"cut":           append(hello(), number(12)...),
		"no request":    append(hello(), frame(number(msgAlive))...),
		"no command":    append(hello(), frame(number(msgNewSession), number(0), text(""))...),
		"no files":      append(hello(), append(session(), 0, 0, 0)...),
		"no fields":     append(hello(), frame(number(msgForward), number(0))...),
		"lies":          append(hello(), frame(number(msgForward), number(0), number(1<<30))...),
	} {
		t.Run(name, func(t *testing.T) {
			u, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			defer u.Close()
			if _, err := u.Write(said); err != nil {
				t.Fatal(err)
			}
			_ = u.CloseWrite()
			if err := u.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, u); err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("it is not ended: %v", err)
			}
		})
	}
	if n := h.starts.Load(); n != 0 {
		t.Errorf("%d commands were started", n)
	}
	c, err := Open(t.Context(), path, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if out, _, _ := run(t, c, "echo served", ""); out != "served\n" {
		t.Errorf("%q", out)
	}
}

func frame(fields ...[]byte) []byte {
	var b strings.Builder
	_ = send(&b, fields...)
	return []byte(b.String())
}

// TestServerOpenSSH: ssh uses what is served, but for terminals.
func TestServerOpenSSH(t *testing.T) {
	t.Parallel()
	ssh := sshtest.Require(t, "ssh")
	_, _, path := served(t, os.Geteuid())
	call := func(args ...string) (string, int) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, ssh, append([]string{"-F", "/dev/null", "-o", "ProxyCommand=exit 1", "-S", path}, args...)...)
		c.Stdin = strings.NewReader("in\n")
		out, _ := c.CombinedOutput()
		return string(out), c.ProcessState.ExitCode()
	}
	if out, status := call("-O", "check", "x"); status != 0 || !strings.Contains(out, "Master running") {
		t.Errorf("%d, %q", status, out)
	}
	if out, status := call("x", "cat; exit 3"); status != 3 || out != "in\n" {
		t.Errorf("%d, %q", status, out)
	}
	if out, status := call("-tt", "x", "true"); status != 255 || !strings.Contains(out, "gives no terminal") {
		t.Errorf("%d, %q", status, out)
	}
}
