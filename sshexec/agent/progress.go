package agent

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// The records of an answer to invoke: states that are done, then the return.
const (
	recordReturn byte = iota // the rest of the stream is the return, as JSON
	recordState              // length as a varint, then a tuple: tag, number of states, return
	recordPart               // length as a varint, then a tuple: see printed.write
)

// maxState bounds the return of a state that is sent before the run is done.
const maxState = 256 << 10

// flushTime bounds how long a state waits for the return of the one before it
// to be on its way.
const flushTime = 50 * time.Millisecond

// A progress is the fun.Journal of a call: it tells the controller of each
// state that is done, so that those are known even if the machine is lost.
type progress struct {
	mu    sync.Mutex
	st    *wire.Stream
	total int
	ended bool
}

// Begin notes how many states there are.
func (p *progress) Begin(_ context.Context, _ *fun.Env, chunks []*fun.Chunk) (map[string]*value.Map, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total = len(chunks)
	return nil, nil
}

// Done sends the return of a state. A channel that is gone shows elsewhere.
func (p *progress) Done(c *fun.Chunk, ret *value.Map) {
	b, err := wire.AppendValue(nil, value.Tuple{c.Tag(), int64(p.total), ret})
	if err != nil || len(b) > maxState {
		return
	}
	if p.write(recordState, b) == nil {
		// The next state may be what ends this process.
		p.st.Flush(flushTime)
	}
}

// errEnded says that the return has begun.
var errEnded = errors.New("the call has ended")

// write sends a record.
func (p *progress) write(kind byte, b []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return errEnded
	}
	rec := binary.AppendUvarint([]byte{kind}, uint64(len(b)))
	_, err := p.st.Write(append(rec, b...))
	return err
}

// end begins the return; what Done is called with from now on is dropped.
func (p *progress) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	_, err := p.st.Write([]byte{recordReturn})
	return err
}
