// Command hosts stands in for a fleet: an SSH server on all of 127.0.0.0/8
// whose sessions are agents in its own process. Each address is a host with a
// cache of its own. Handshakes, frames and agents are real; what is missing is
// sshd, the processes and the disks of ten thousand machines.
//
//	hosts <directory> [<n>]
//
// It writes to the directory: port, id (a private key that may log in),
// known_hosts; and serves until it is ended. With a number, it serves only
// 127.0.0.1, 127.0.0.2 and so on, as many as that, and not all networks.
package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"

	"brine/cmd/assembly"
	"brine/internal/core/fun"
	"brine/internal/core/host"
)

func main() {
	n := 0
	if len(os.Args) == 3 {
		n, _ = strconv.Atoi(os.Args[2])
	}
	if len(os.Args) < 2 || len(os.Args) == 3 && n <= 0 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: hosts <directory> [<n>]")
		os.Exit(64)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, os.Args[1], n); err != nil {
		fmt.Fprintln(os.Stderr, "hosts:", err)
		os.Exit(1)
	}
}

// A fleet is what all hosts share.
type fleet struct {
	dir   string
	conf  *ssh.ServerConfig
	table *fun.Table
}

func serve(ctx context.Context, dir string, n int) error {
	host, _, err := newKey()
	if err != nil {
		return err
	}
	client, secret, err := newKey()
	if err != nil {
		return err
	}
	lns, err := listen(n)
	if err != nil {
		return err
	}
	port := lns[0].Addr().(*net.TCPAddr).Port
	for name, text := range map[string]string{
		"id":          secret,
		"known_hosts": fmt.Sprintf("[127.*]:%d %s", port, ssh.MarshalAuthorizedKey(host.PublicKey())),
		"port":        strconv.Itoa(port) + "\n",
	} {
		tmp := filepath.Join(dir, "."+name)
		if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
			return err
		}
		if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	want := string(client.PublicKey().Marshal())
	f := &fleet{dir: dir, table: assembly.Table(), conf: &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
			if string(k.Marshal()) != want {
				return nil, errors.New("another key")
			}
			return nil, nil
		},
	}}
	f.conf.AddHostKey(host)
	failed := make(chan error, len(lns))
	for _, ln := range lns {
		context.AfterFunc(ctx, func() { ln.Close() })
		go func() { failed <- f.accept(ctx, ln) }()
	}
	return <-failed
}

func (f *fleet) accept(ctx context.Context, ln net.Listener) error {
	for {
		c, err := ln.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		go f.host(ctx, c)
	}
}

// listen listens on a port of n addresses from 127.0.0.1 on, or of all where n is 0.
func listen(n int) ([]net.Listener, error) {
	if n == 0 {
		ln, err := net.Listen("tcp4", "0.0.0.0:0")
		return []net.Listener{ln}, err
	}
	var failed error
	for range 20 { // another address may have the port in use
		var lns []net.Listener
		port := 0
		for i := range n {
			ln, err := net.Listen("tcp4", fmt.Sprintf("127.0.%d.%d:%d", i/250, 1+i%250, port))
			if failed = err; err != nil {
				break
			}
			port = ln.Addr().(*net.TCPAddr).Port
			lns = append(lns, ln)
		}
		if failed == nil {
			return lns, nil
		}
		for _, ln := range lns {
			ln.Close()
		}
	}
	return nil, failed
}

// newKey returns a key and its private half as a file has it.
func newKey() (ssh.Signer, string, error) {
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, "", err
	}
	block, err := ssh.MarshalPrivateKey(priv, "bench")
	if err != nil {
		return nil, "", err
	}
	signer, err := ssh.NewSignerFromKey(priv)
	return signer, string(pem.EncodeToMemory(block)), err
}

// host serves one connection.
func (f *fleet) host(ctx context.Context, c net.Conn) {
	defer c.Close()
	conn, chans, reqs, err := ssh.NewServerConn(c, f.conf)
	if err != nil {
		return
	}
	defer conn.Close()
	go ssh.DiscardRequests(reqs)
	name, _, _ := net.SplitHostPort(c.LocalAddr().String())
	for nc := range chans {
		if nc.ChannelType() != "session" {
			_ = nc.Reject(ssh.UnknownChannelType, "no such channel")
			continue
		}
		ch, reqs, err := nc.Accept()
		if err != nil {
			return
		}
		go f.session(ctx, name, ch, reqs)
	}
}

// session answers a command with an agent, or a relay: whatever the script is that
// comes first, it would start one.
func (f *fleet) session(ctx context.Context, name string, ch ssh.Channel, reqs <-chan *ssh.Request) {
	defer ch.Close()
	for r := range reqs {
		if r.Type != "exec" {
			if r.WantReply {
				_ = r.Reply(r.Type == "env", nil)
			}
			continue
		}
		_ = r.Reply(true, nil)
		go ssh.DiscardRequests(reqs)
		in := bufio.NewReader(ch)
		script, err := in.ReadString('\n')
		if err == nil && strings.Contains(script, " --skip ") {
			_, err = in.ReadString('\n') // for a host where no agent is
		}
		if err != nil {
			return
		}
		if strings.Contains(script, "agent --relay") {
			err = assembly.ServeRelay(ctx, agentEnd{in, ch}, "")
		} else {
			h := host.NewLocal()
			err = assembly.ServeAgent(ctx, agentEnd{in, ch}, assembly.AgentOptions{
				Host: h, Table: f.table, Version: "bench", CacheDir: filepath.Join(f.dir, "hosts", name), CloseAll: h.CloseAll,
			})
		}
		status := uint32(0)
		if err != nil {
			status = 1
		}
		_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
		return
	}
}

// agentEnd is the agent's end of a channel.
type agentEnd struct {
	io.Reader
	ssh.Channel
}

func (e agentEnd) Read(b []byte) (int, error) { return e.Reader.Read(b) }
