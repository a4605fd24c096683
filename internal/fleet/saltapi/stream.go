package saltapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// The pauses between two tries to follow the events: they grow by half. Where the
// master refuses them, it is asked again after refusedPause.
const (
	streamPause    = 200 * time.Millisecond
	streamPauseMax = 5 * time.Second
	refusedPause   = 30 * time.Second
)

// A stream follows the events of a master, over one connection after another.
type stream struct {
	c     *client
	event func(tag string, data *value.Map, size int64)
	up    func() // the events are followed again: some may have been missed
	warn  func(text string)

	mu    sync.Mutex
	live  bool
	tried chan struct{} // closed when it is known whether events can be followed
}

func newStream(c *client) *stream { return &stream{c: c, tried: make(chan struct{})} }

// following reports whether events are being followed.
func (s *stream) following() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// set notes whether events are being followed.
func (s *stream) set(live bool) {
	s.mu.Lock()
	again := live && !s.live
	s.live = live
	select {
	case <-s.tried:
	default:
		again = false
		close(s.tried)
	}
	s.mu.Unlock()
	if again {
		s.up()
	}
}

// run follows the events until ctx ends.
func (s *stream) run(ctx context.Context) {
	pause, refused := streamPause, ""
	for ctx.Err() == nil {
		token, err := s.c.auth(ctx, refused)
		if err == nil {
			begun := time.Now()
			if err = s.follow(ctx, token); err == nil { // it ended after it had begun
				refused = ""
				if time.Since(begun) > streamPauseMax {
					pause = streamPause
				}
			}
		}
		s.set(false)
		wait := pause
		// Who cannot log in learns that from the job.
		if e, ok := errors.AsType[*Error](err); ok && e.Op == opEvents && isHung(err) && ctx.Err() == nil {
			s.warn(e.Error() + insteadOfEvents)
			wait = refusedPause
		} else if e, ok := errors.AsType[*Error](err); ok && e.Status != 0 && e.Op == opEvents {
			if e.Status == http.StatusUnauthorized && s.c.conf.Token == "" && refused == "" {
				refused = token
			} else {
				s.warn(e.Error() + insteadOfEvents)
				wait, refused = refusedPause, ""
			}
		}
		pause = min(pause*3/2, streamPauseMax)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

const insteadOfEvents = ": returns are looked up in the job cache of the master instead, which takes longer"

// follow reads the events of one connection until it ends. It returns an error
// where there were none to be had. The first line comes within the time of a request:
// the master writes it at once. Later ones come when there are events.
func (s *stream) follow(ctx context.Context, token string) error {
	limit := s.c.conf.Timeout
	w := newWaiting(ctx, limit)
	own, cancel := context.WithCancelCause(w.watch(ctx))
	defer cancel(nil)
	late := time.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })
	defer late.Stop()
	hung := func(err error) error {
		if ctx.Err() == nil && errors.Is(context.Cause(own), context.DeadlineExceeded) {
			return s.c.fault(opEvents, 0, "", s.c.hung(w, opEvents, context.DeadlineExceeded))
		}
		return err
	}
	req, err := http.NewRequestWithContext(own, http.MethodGet, s.c.conf.URL.String()+"/events", nil)
	if err != nil {
		return err
	}
	resp, err := s.c.send(req, token)
	if err != nil {
		return hung(s.c.fault(opEvents, 0, "", s.c.hung(w, opEvents, err)))
	}
	defer resp.Body.Close()
	w.to(stageBody)
	if resp.StatusCode != http.StatusOK {
		return hung(s.c.refusal(opEvents, resp))
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return s.c.fault(opEvents, resp.StatusCode, "the answer is not a stream of events", nil)
	}
	err = s.read(resp.Body, func() {
		late.Stop()
		s.c.answers(resp)
	})
	if ctx.Err() == nil && !errors.Is(err, errNothing) {
		return nil
	}
	return hung(err)
}

// errNothing says that a stream ended before its first line.
var errNothing = errors.New("the stream of events ended before it began")

// read reads the events of a stream: lines "tag: T" and "data: JSON", and an empty
// line behind each event. first is called when the first line is there.
func (s *stream) read(body io.Reader, first func()) error {
	r := bufio.NewReaderSize(body, 64<<10)
	var data []byte
	begun := false
	for {
		line, long, err := readLine(r)
		if err != nil {
			if !begun {
				return errNothing
			}
			return err
		}
		if !begun {
			// The master subscribes before it writes the first line.
			begun = true
			first()
			s.set(true)
		}
		switch {
		case long:
			s.warn(fmt.Sprintf("fleet %s: an event of more than %d bytes was passed over", s.c.conf.Name, maxLine))
			data = nil
		case len(line) == 0:
			if len(data) > 0 {
				s.deliver(data)
			}
			data = nil
		case bytes.HasPrefix(line, []byte("data:")):
			part := bytes.TrimPrefix(line[5:], []byte(" "))
			if len(data)+len(part) > maxLine {
				data = nil
				continue
			}
			data = append(data, part...)
		}
	}
}

// readLine reads a line without its end. One of more than maxLine bytes is passed
// over and reported as long.
func readLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if len(line) > maxLine {
			line, long = nil, true
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		return bytes.TrimRight(line, "\r\n"), long, nil
	}
}

// maxTag bounds the tags of events.
const maxTag = 4096

func (s *stream) deliver(text []byte) {
	v, cost, err := value.ParseJSONWithin(string(text), maxLineCost)
	if tooMuch(err) {
		s.warn(fmt.Sprintf("fleet %s: an event was passed over: %v", s.c.conf.Name, err))
		return
	}
	m, ok := v.(*value.Map)
	if err != nil || !ok {
		return
	}
	tag, ok := m.At("tag").(string)
	data, isMap := m.At("data").(*value.Map)
	if ok && isMap && tag != "" && len(tag) <= maxTag && printable.Line(tag) == tag {
		s.event(tag, data, cost)
	}
}
