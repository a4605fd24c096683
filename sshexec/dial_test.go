package sshexec

import (
	"context"
	"testing"
	"time"

	"brine/internal/host"
	"brine/internal/roster"
	"brine/internal/sshtest"
)

func testOptions(t *testing.T, s *sshtest.Server) Options {
	return Options{Host: host.NewLocal(), Home: t.TempDir(), Me: "me", Config: []string{}, KnownHosts: []string{s.KnownHosts}}
}

func TestDialRealSSHD(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	d := NewDialer(testOptions(t, s))
	defer d.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := d.Dial(ctx, &roster.Entry{ID: "web1", Host: "127.0.0.5", Port: s.Port, User: s.User, Priv: s.Key})
	if err != nil {
		t.Fatal(err, s.Log())
	}
	defer c.Close()
	sess, err := c.ssh.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	out, err := sess.CombinedOutput("echo $HOME; id -u")
	t.Log(string(out), err, time.Since(start))
}
