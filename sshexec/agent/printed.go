package agent

import (
	"context"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/tee"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// maxPrinted bounds what of a call's output waits to be sent, in bytes. What is more is
// dropped: programs do not wait for a slow link.
const maxPrinted = 4 << 20

// printed is what the programs of a call print, on its way to the controller.
type printed struct {
	to *progress

	mu      sync.Mutex
	queue   []tee.Part
	size    int
	dropped int64
	sending sync.WaitGroup
	busy    bool // something is being sent
}

// context returns the context of a call, whose programs are heard if somebody listens.
func (p *printed) context(ctx context.Context, s *server, env *fun.Env, job fun.Job) context.Context {
	src := &tee.Source{Wanted: s.listened.Load, Send: p.send, Mask: env.Secrets.Line}
	if job.OfState() {
		return src.Context(ctx, "")
	}
	return src.Context(ctx, job.Fun)
}

// send has a part sent, after those before it.
func (p *printed) send(part tee.Part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(part.Text); p.size+n > maxPrinted {
		p.dropped += int64(n) + part.Dropped
		part.Text, part.Dropped = "", 0
		if !part.Ended {
			return
		}
	}
	part.Dropped += p.dropped
	p.dropped = 0
	p.size += len(part.Text)
	p.queue = append(p.queue, part)
	if !p.busy {
		p.busy = true
		p.sending.Go(p.work)
	}
}

// work sends what is queued.
func (p *printed) work() {
	for {
		p.mu.Lock()
		if len(p.queue) == 0 {
			p.busy = false
			p.mu.Unlock()
			return
		}
		parts := p.queue
		p.queue, p.size = nil, 0
		p.mu.Unlock()
		for _, part := range parts {
			b, err := wire.AppendValue(nil, value.Tuple{part.Of, part.Program, part.Stderr, part.Text, part.Dropped, part.Ended, part.Status})
			if err == nil {
				err = p.to.write(recordPart, b)
			}
			if err != nil {
				break // the return says that the channel is gone
			}
		}
	}
}

// end waits until what was printed is on its way, before the return.
func (p *printed) end() { p.sending.Wait() }
