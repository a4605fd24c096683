package sshexec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"brine/sshexec/master"
)

// Agents that are started ahead.
//
// Over a connection that is kept, most of the time of a short run is the start of the
// agent: sshd's session, the shell, the program itself. So at its end a run has the
// keeper start the agent of the next one, as startLaunch does, but with the first of the
// two lines of input alone: the agent runs, and waits for the bytes that it is to skip.
// It has looked at nothing yet. The next run gives it the second line, and goes on as
// with an agent that it started itself: configuration, grains, files and pillar are those
// of then.
//
// It is started for the same first line only, which names the agent by its hash, and
// never where sudo decides, or where agents leave no trace.

// aheadSubsystem is how a session asks the keeper for what was started ahead, with the
// digest of its input.
const aheadSubsystem = "brine-ahead@"

// ahead is how a connection starts agents ahead.
type ahead struct {
	digest string             // of the input that it was started with; "" is nothing
	next   func(input string) // starts one for the next run
	tried  atomic.Bool        // it is there once
}

// aheadInput returns the input of a start of the agent that may be made ahead; "" is none.
func aheadInput(p *placer, l launch, command string) string {
	if l.quick == "" || l.sudo || l.tty || p.wipe || command != p.command() {
		return ""
	}
	return encode(l.quick + "; " + readOn)
}

func aheadDigest(input string) string {
	sum := sha256.Sum256([]byte(input))
	return hex.EncodeToString(sum[:16])
}

// startedAhead returns the start of the agent that l makes, if it was made ahead; nil: it
// was not.
func (c *Client) startedAhead(ctx context.Context, p *placer, l launch, command string) *stream {
	m, ok := c.way.(*masterCarrier)
	if !ok || m.ahead == nil || m.ahead.digest == "" {
		return nil
	}
	if input := aheadInput(p, l, command); input == "" || aheadDigest(input) != m.ahead.digest || m.ahead.tried.Swap(true) {
		return nil
	}
	s, err := c.openRequest(ctx, request{line: aheadSubsystem + m.ahead.digest, subsystem: true}, l.keep)
	if err != nil {
		return nil
	}
	if err := s.give(encode(l.script)); err != nil {
		_ = s.Close()
		return nil
	}
	return s
}

// mayStartNext notes that the start of l may be made ahead for the next run.
func (c *Client) mayStartNext(p *placer, l launch, command string) {
	if input := aheadInput(p, l, command); input != "" {
		c.aheadInput.Store(&input)
	}
}

// startNext starts an agent for the next run, at the end of this one.
func (c *Client) startNext() {
	if m, ok := c.way.(*masterCarrier); ok && m.ahead != nil && !m.given.Load() {
		if input := c.aheadInput.Load(); input != nil {
			m.ahead.next(*input)
		}
	}
}

// keptAhead is what the keeper has started ahead.
type keptAhead struct {
	digest  string
	session *keptSession
}

// errNotAhead is that nothing was started ahead, or not this.
var errNotAhead = errors.New("nothing was started ahead")

// startAhead starts an agent for the next run, unless one is there.
func (c *keptConn) startAhead(input string) {
	digest := aheadDigest(input)
	s := &keptSession{exit: make(chan struct{})}
	a := &keptAhead{digest, s}
	c.mu.Lock()
	old := c.ahead
	if old != nil && old.digest == digest {
		c.mu.Unlock()
		return
	}
	c.ahead = nil
	c.mu.Unlock()
	if old != nil {
		_ = old.session.Close()
	}
	err := (*keptHost)(c).begin(s, master.Command{Line: bootstrap}, nil)
	if err == nil {
		_, err = io.WriteString(s.ch, input)
	}
	if err != nil {
		_ = s.Close()
		if errors.Is(err, master.ErrNoHost) {
			c.end(err.Error())
		}
		return
	}
	c.mu.Lock()
	taken := c.ahead != nil
	if !taken {
		c.ahead = a
	}
	c.mu.Unlock()
	if taken {
		_ = s.Close()
		return
	}
	<-s.exit // it ends with the run that takes it, or by itself
	c.mu.Lock()
	mine := c.ahead == a
	if mine {
		c.ahead = nil
	}
	c.mu.Unlock()
	if mine {
		_ = s.Close()
	}
}

// takeAhead makes s the session of what was started ahead. The host has to answer: what
// is sent to one that is gone would be waited for.
func (c *keptConn) takeAhead(s *keptSession, digest string) error {
	c.mu.Lock()
	a := c.ahead
	if a == nil || a.digest != digest {
		c.mu.Unlock()
		return errNotAhead
	}
	c.ahead = nil
	c.mu.Unlock()
	s.ch, s.from = a.session.ch, a.session
	if !(*keptHost)(c).answers() {
		return errNoResponse
	}
	return nil
}

// freshAnswer is how long an answer of a host holds.
const freshAnswer = time.Second

// answers reports whether the host answers over the connection.
func (h *keptHost) answers() bool {
	if h.client.pulse.receivedSince(time.Now().Add(-freshAnswer)) {
		return true
	}
	done := make(chan error, 1)
	go func() { done <- h.client.way.probe() }()
	select {
	case err := <-done:
		return err == nil
	case <-time.After(silence):
		h.client.lost.Store(&errNoResponse)
		return false
	}
}
