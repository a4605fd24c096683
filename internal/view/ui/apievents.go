package ui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// apiRunEvents sends how a run goes, as server-sent events: each has the run with those
// of its steps that changed. Its id is the revision of the run, so that who connects
// again with Last-Event-ID gets what has changed since.
func (s *Server) apiRunEvents(c *apiCall, _ *nothing) (*RunDetail, error) {
	x, err := s.findRun(c.r.Context(), c.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	after, _ := strconv.Atoi(c.r.Header.Get("Last-Event-ID"))
	if view, _ := s.viewRun(c.r.Context(), x, 0); after > view.Rev { // of another run of the server
		after = 0
	}
	c.w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(c.w)
	for first := true; s.stillValid(c.v); first = false {
		view, changed := s.viewRun(c.r.Context(), x, after)
		event := ":\n\n" // shows that the server is still there
		if first || view.Rev > after {
			event = runEvent(view)
		}
		after = view.Rev
		_ = out.SetWriteDeadline(s.opts.Now().Add(writeTimeout))
		if _, err := c.w.Write([]byte(event)); err != nil || out.Flush() != nil || view.over() {
			return nil, nil
		}
		if !waits(c.r.Context().Done(), changed, writeTimeout/4) || !waits(c.r.Context().Done(), nil, pace) {
			return nil, nil
		}
	}
	return nil, nil
}

// waits waits for a change, or for some time, and reports whether the client is still
// there.
func waits(gone, changed <-chan struct{}, most time.Duration) bool {
	select {
	case <-changed:
	case <-time.After(most):
	case <-gone:
		return false
	}
	return true
}

// runEvent is the event for a view of a run.
func runEvent(v runView) string {
	name := "run"
	if v.over() {
		name = "end"
	}
	text, err := json.Marshal(runDetailOf(v))
	if err != nil { // no type of the API can fail
		return ":\n\n"
	}
	return fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", v.Rev, name, text)
}
