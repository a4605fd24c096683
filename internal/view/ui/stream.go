package ui

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"
)

// pace is how long the page of a run waits between two updates.
const pace = 100 * time.Millisecond

// beat is how often a page hears from the server at least. A page that hears nothing for
// four of them says so (app.js): a server that hangs, or a network that is away, ends no
// connection.
const beat = 15 * time.Second

// An update is the state of a page that is kept up to date.
type update struct {
	part  templ.Component // the elements that the browser replaces, by their ids
	over  bool            // nothing changes any more
	again <-chan struct{} // closed when there is something new; nil: pace tells when to look
	pace  time.Duration   // the shortest time until the next update
}

// stream sends what changes on a page, as server-sent events with the HTML of the
// parts that changed, until it is over or the session ends. When look fails, the
// browser asks again.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, v *visit, look func() (update, error)) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(name, data string) bool {
		_ = out.SetWriteDeadline(s.opts.Now().Add(writeTimeout))
		_, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, strings.ReplaceAll(data, "\n", "\ndata: "))
		return err == nil && out.Flush() == nil
	}
	// rest waits, until there is something new if that can be told.
	rest := func(most time.Duration, again <-chan struct{}) bool {
		end, beats := time.After(most), time.NewTicker(beat)
		defer beats.Stop()
		for {
			select {
			case <-again:
				return true
			case <-end:
				return true
			case <-beats.C:
				if !send("beat", "1") {
					return false
				}
			case <-r.Context().Done():
				return false
			}
		}
	}
	last := ""
	for s.valid(v) {
		u, err := look()
		if err != nil {
			return
		}
		var b strings.Builder
		if err := u.part.Render(r.Context(), &b); err != nil {
			return
		}
		name, data := "beat", "1"
		if b.String() != last || u.over {
			name, data = "update", b.String()
			last = data
		}
		if u.over {
			name = "end"
		}
		if !send(name, data) || u.over || u.again != nil && !rest(writeTimeout/4, u.again) || !rest(u.pace, nil) {
			return
		}
	}
}
