// Package natstest runs NATS servers for tests: in the process of the test by [Start], or in one
// that can be killed by [StartProcess].
package natstest

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A Server listens on a port of 127.0.0.1 that stays the same.
type Server struct {
	opts server.Options
	srv  *server.Server
}

// Start starts a server. change sets more of its options; nil: none.
func Start(t testing.TB, change func(*server.Options)) *Server {
	t.Helper()
	s := &Server{opts: server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, StoreDir: t.TempDir()}}
	if change != nil {
		change(&s.opts)
	}
	s.Again(t)
	t.Cleanup(s.Stop)
	return s
}

// Again starts a server that was stopped, on its port and with what it stored.
func (s *Server) Again(t testing.TB) {
	t.Helper()
	opts := s.opts
	srv, err := server.NewServer(&opts)
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	if !srv.ReadyForConnections(time.Minute) {
		t.Fatal("the NATS server does not start")
	}
	s.srv = srv
	s.opts.Port = srv.Addr().(*net.TCPAddr).Port
}

// Stop stops the server.
func (s *Server) Stop() {
	s.srv.Shutdown()
	s.srv.WaitForShutdown()
}

// URL returns where the server is.
func (s *Server) URL() string { return "nats://" + s.srv.Addr().String() }

// processEnv is the variable that has a test binary be a server with a JetStream in a directory:
// PORT DIRECTORY.
const processEnv = "BRINE_TEST_NATS"

func init() {
	if v := os.Getenv(processEnv); v != "" {
		os.Exit(serve(v))
	}
}

// serve is the server of a process of its own, until its standard input ends, as when its test is
// killed. It prints its port.
func serve(v string) int {
	port, dir, _ := strings.Cut(v, " ")
	n, err := strconv.Atoi(port)
	if err != nil {
		return 2
	}
	srv, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: n, NoLog: true, NoSigs: true, JetStream: true, StoreDir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	srv.Start()
	if !srv.ReadyForConnections(time.Minute) {
		return 1
	}
	fmt.Println(srv.Addr().(*net.TCPAddr).Port)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// A Process is a server with a JetStream in a process of its own, which can be killed. Its port
// and what it stored stay the same.
type Process struct {
	dir  string
	port int
	cmd  *exec.Cmd
	in   io.Closer
}

// StartProcess starts a server in a process of its own.
func StartProcess(t testing.TB) *Process {
	t.Helper()
	p := &Process{dir: t.TempDir(), port: server.RANDOM_PORT}
	p.Again(t)
	t.Cleanup(p.Kill)
	return p
}

// Again starts a server that was killed.
func (p *Process) Again(t testing.TB) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(exe)
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", processEnv, p.port, p.dir))
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		p.in, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscan(out, &p.port); err != nil {
		t.Fatalf("the NATS server does not start: %v", err)
	}
}

// Kill kills the server with SIGKILL.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	_ = p.in.Close()
}

// URL returns where the server is.
func (p *Process) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", p.port) }
