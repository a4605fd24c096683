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
		event := ":\n\n" // shows that the page is still there
		if b.String() != last || u.over {
			name := "update"
			if u.over {
				name = "end"
			}
			last = b.String()
			event = fmt.Sprintf("event: %s\ndata: %s\n\n", name, strings.ReplaceAll(last, "\n", "\ndata: "))
		}
		_ = out.SetWriteDeadline(s.opts.Now().Add(writeTimeout))
		if _, err := w.Write([]byte(event)); err != nil || out.Flush() != nil || u.over {
			return
		}
		if u.again != nil {
			select {
			case <-u.again:
			case <-time.After(writeTimeout / 4):
			case <-r.Context().Done():
				return
			}
		}
		select {
		case <-time.After(u.pace):
		case <-r.Context().Done():
			return
		}
	}
}
