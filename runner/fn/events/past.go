package events

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	jobsrun "brine/runner/fn/jobs"
)

// maxLive bounds the events that come while a log is read, and those of the log that are
// recognized when they come as well.
const maxLive = 20_000

// A past is what is shown before the events that come: those of a log. nil: nothing is.
type past struct {
	log   Log
	since time.Time

	mu     sync.Mutex
	done   bool          // the log has been read
	wait   []event.Event // that came meanwhile
	lost   int           // of those
	seen   map[[sha256.Size]byte]bool
	recent [][sha256.Size]byte // in the order of seen
	err    error
}

// newPast returns what since asks for; nil: nothing.
func newPast(ctx context.Context, c *fun.Call, a *watchArgs, open OpenLog) (*past, error) {
	if a.Since == "" {
		if !a.Follow {
			return nil, fun.Errorf("follow=False is for since, which prints the events of a log: without it there is nothing to print")
		}
		return nil, nil
	}
	p := &past{seen: map[[sha256.Size]byte]bool{}}
	if d, err := time.ParseDuration(a.Since); err == nil && d > 0 {
		p.since = c.Env.Host.Now().Add(-d).UTC()
	} else {
		jid, err := jobsrun.Bound(a.Since, "since")
		if err != nil {
			return nil, err
		}
		if p.since, err = jobs.TimeOf(jid); err != nil {
			return nil, fun.Errorf("since %q is not a time", a.Since)
		}
	}
	var err error
	if p.log, err = open(ctx, c.Env); err != nil {
		return nil, fun.Errorf("%v", err)
	}
	return p, nil
}

// keyOf recognizes an event that comes twice.
func keyOf(e event.Event) [sha256.Size]byte {
	b, err := value.AppendJSON([]byte(e.Tag+"\n"), e.Data, value.JSONOptions{Repr: true, SortKeys: true, SkipKeys: true, EscapeNonASCII: true})
	if err != nil {
		b = []byte(e.Tag + "\n" + value.Repr(e.Data))
	}
	return sha256.Sum256(b)
}

// read shows the events of the log, then those that came meanwhile; false: it failed, or
// enough were shown.
func (p *past) read(ctx context.Context, c *fun.Call, show func(event.Event) bool) bool {
	more := true
	err := p.log.Read(ctx, p.since, func(e event.Event) bool {
		p.note(keyOf(e))
		more = show(e)
		return more && ctx.Err() == nil
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
	if err != nil && ctx.Err() == nil {
		p.err = fun.Errorf("%s: %v", p.log.Name, err)
		return false
	}
	if p.lost > 0 {
		c.Env.Note("%d events came while %s was read, and are not shown", p.lost, p.log.Name)
	}
	for _, e := range p.wait {
		if more && !p.seen[keyOf(e)] {
			more = show(e)
		}
	}
	p.wait = nil
	return more
}

// note remembers an event of the log.
func (p *past) note(key [sha256.Size]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen[key] {
		return
	}
	p.seen[key] = true
	if p.recent = append(p.recent, key); len(p.recent) > maxLive {
		delete(p.seen, p.recent[0])
		p.recent = p.recent[1:]
	}
}

// live shows an event that comes: after those of the log, and unless it was among them.
func (p *past) live(show func(event.Event) bool) func(event.Event) bool {
	if p == nil {
		return show
	}
	return func(e event.Event) bool {
		p.mu.Lock()
		switch {
		case p.done && p.seen[keyOf(e)]:
			p.mu.Unlock()
			return true
		case p.done:
			p.mu.Unlock()
			return show(e)
		case len(p.wait) < maxLive:
			p.wait = append(p.wait, e)
		default:
			p.lost++
		}
		p.mu.Unlock()
		return true
	}
}

// failed is why the log could not be read.
func (p *past) failed() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
