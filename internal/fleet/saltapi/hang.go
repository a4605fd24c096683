package saltapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"
)

// dialTimeout is how long a server has to accept a connection.
const dialTimeout = 15 * time.Second

// The stages of a request. One that hangs is named by the stage that it is in.
const (
	stageConnect int32 = iota
	stageTLS
	stageSend
	stageHeader
	stageBody
)

// A waiting notes how far a request has come.
type waiting struct {
	outer context.Context //nolint:containedctx // of who asks, to tell whose limit has passed
	limit time.Duration   // 0: there is none but that of outer
	begun time.Time
	stage atomic.Int32
	bytes atomic.Int64 // of the answer
}

func newWaiting(outer context.Context, limit time.Duration) *waiting {
	return &waiting{outer: outer, limit: limit, begun: time.Now()}
}

func (w *waiting) to(stage int32) { w.stage.Store(stage) }

// watch returns ctx for a request whose stages are noted.
func (w *waiting) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeStart: func() { w.to(stageTLS) },
		GotConn:           func(httptrace.GotConnInfo) { w.to(stageSend) },
		WroteRequest:      func(httptrace.WroteRequestInfo) { w.to(stageHeader) },
	})
}

// count returns r, whose bytes are counted.
func (w *waiting) count(r io.Reader) io.Reader { return counting{r, &w.bytes} }

type counting struct {
	io.Reader
	n *atomic.Int64
}

func (c counting) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// describe names what was waited for.
func (w *waiting) describe() string {
	switch w.stage.Load() {
	case stageConnect:
		return "there was no connection"
	case stageTLS:
		return "the server accepted the connection, but the TLS handshake did not end"
	case stageSend:
		return "the server did not take the request"
	case stageHeader:
		return "the server took the request, but did not begin to answer"
	}
	if n := w.bytes.Load(); n > 0 {
		return fmt.Sprintf("the answer was not complete, %d bytes of it had arrived", n)
	}
	return "the server began to answer, but sent nothing more"
}

// A hungError says that a master did not do in time what it was asked.
type hungError struct {
	after  time.Duration
	what   string
	hint   string
	unsent bool // there was no connection to send it over
	err    error
}

func (e *hungError) Error() string {
	after := e.after.Round(time.Second)
	if after == 0 {
		after = e.after.Round(time.Millisecond)
	}
	return fmt.Sprintf("no answer within %s: %s", after, e.what)
}

func (e *hungError) Unwrap() error { return e.err }

// hung returns the error of a request, worded if the time for it has passed.
func (c *client) hung(w *waiting, op string, err error) error {
	tls := err != nil && strings.Contains(err.Error(), "TLS handshake timeout")
	if !tls && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &hungError{after: w.limit, what: w.describe(), unsent: w.stage.Load() < stageSend, err: err, hint: fmt.Sprintf("the key timeout of the fleet %s says how long brine waits (%s)", c.conf.Name, c.conf.Timeout)}
	switch {
	case tls:
		e.after = c.conf.Timeout
	case w.outer.Err() == nil: // the request's own limit
	default:
		e.after, e.hint = time.Since(w.begun), ""
		if op == opAsk || op == opFind {
			e.hint = "gather_job_timeout says how long brine waits for that"
		}
	}
	if w.stage.Load() == stageTLS {
		e.hint = strings.TrimPrefix(e.hint+"; if salt-api runs there without TLS (disable_ssl), url begins with http://", "; ")
	}
	return e
}
