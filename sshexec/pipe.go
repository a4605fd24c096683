package sshexec

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"brine/internal/core/host"
	"brine/internal/core/sshconf"
)

// pipe is the connection that a ProxyCommand makes: what it reads and writes.
type pipe struct {
	r      *io.PipeReader
	w      *io.PipeWriter
	cancel context.CancelFunc
	ended  chan struct{}
	addr   pipeAddr

	mu  sync.Mutex
	err bytes.Buffer
}

type pipeAddr string

func (pipeAddr) Network() string  { return "command" }
func (a pipeAddr) String() string { return string(a) }

// proxyLine returns the ProxyCommand of t with its marks filled in. What stands
// for them comes from a roster and reaches a shell, within quotes of the command
// or outside, so nothing is taken that means something to a shell; ssh refuses
// the same.
func (d *Dialer) proxyLine(t *dest) (string, error) {
	return d.config.Fill(t.proxy, t.target(), func(token byte, text string) error {
		if !sshconf.Harmless(text) {
			return fmt.Errorf("%q cannot stand in a ProxyCommand (%%%c): it has characters that a shell reads", text, token)
		}
		return nil
	})
}

// command starts a ProxyCommand by the shell, as ssh does.
func (d *Dialer) command(t *dest, line string) *pipe {
	ctx, cancel := context.WithCancel(context.Background())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &pipe{r: outR, w: inW, cancel: cancel, ended: make(chan struct{}), addr: pipeAddr(t.addr())}
	go func() {
		defer close(p.ended)
		_, err := d.o.Host.Run(ctx, host.Cmd{Argv: []string{"/bin/sh", "-c", "exec " + line}, Env: d.o.Env, Dir: d.o.Dir, Stdin: inR, Stdout: outW, Stderr: complaints{p}})
		if err != nil {
			p.note(err.Error())
		}
		_ = outW.CloseWithError(io.EOF)
		_ = inR.CloseWithError(io.ErrClosedPipe)
	}()
	return p
}

// pipeStderr is the most that is kept of what a command complains.
const pipeStderr = 2048

func (p *pipe) note(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if room := pipeStderr - p.err.Len(); room > 0 {
		p.err.WriteString(s[:min(room, len(s))])
	}
}

// stderr returns what the command complained, on one line.
func (p *pipe) stderr() string {
	select {
	case <-p.ended:
	case <-time.After(time.Second):
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(strings.Fields(p.err.String()), " ")
}

func (p *pipe) Read(b []byte) (int, error)  { return p.r.Read(b) }
func (p *pipe) Write(b []byte) (int, error) { return p.w.Write(b) }

// Close ends the command.
func (p *pipe) Close() error {
	_ = p.w.Close()
	_ = p.r.Close()
	p.cancel()
	return nil
}

func (p *pipe) LocalAddr() net.Addr              { return pipeAddr("local") }
func (p *pipe) RemoteAddr() net.Addr             { return p.addr }
func (p *pipe) SetDeadline(time.Time) error      { return nil }
func (p *pipe) SetReadDeadline(time.Time) error  { return nil }
func (p *pipe) SetWriteDeadline(time.Time) error { return nil }

// complaints is the stderr of the command.
type complaints struct{ p *pipe }

func (c complaints) Write(b []byte) (int, error) {
	c.p.note(string(b))
	return len(b), nil
}
