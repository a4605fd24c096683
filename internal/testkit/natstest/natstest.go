// Package natstest runs NATS servers for tests, in the process of the test.
package natstest

import (
	"net"
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
