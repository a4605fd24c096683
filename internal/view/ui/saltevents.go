package ui

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// maxSaltStreams is how many programs may watch events at once.
const maxSaltStreams = 50

// saltCookie is the cookie of a log-in, which counts for events alone: what changes something
// needs the header, which other sites cannot send.
const saltCookie = "session_id"

// saltEvents sends the events of the runs of this controller, as server-sent events in the form
// that salt-api has them.
// Salt: salt/netapi/rest_cherrypy/app.py Events.
func (s *Server) saltEvents(w http.ResponseWriter, r *http.Request) {
	token := r.Header.Get("X-Auth-Token")
	for _, name := range []string{"token", "salt_token"} {
		if token == "" {
			token = r.URL.Query().Get(name)
		}
	}
	if c, err := r.Cookie(saltCookie); err == nil && token == "" {
		token = c.Value
	}
	row := route{pattern: "GET " + saltBase + "/events", least: Viewer, may: from(Viewer, readRecords|runTemplates), api: &apiOp{scope: byHostsOnly}}
	v, err := s.saltVisit(r, value.MapOf("token", token))
	if err == nil {
		r = row.grant(r, v)
		err = row.refuses(s, r, v)
	}
	if err != nil {
		writeSaltError(w, err)
		return
	}
	select {
	case s.saltStreams <- struct{}{}:
		defer func() { <-s.saltStreams }()
	default:
		writeSaltError(w, &apiError{kind: unavailable, detail: fmt.Sprintf("%d programs watch events already.", maxSaltStreams)})
		return
	}
	s.sendSaltEvents(w, r, v)
}

// sendSaltEvents sends events for as long as the token is valid and the client is there.
func (s *Server) sendSaltEvents(w http.ResponseWriter, r *http.Request, v *visit) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	ready, texts, ended := make(chan struct{}), make(chan string), make(chan struct{})
	var fault error // of the events; known when they have ended
	limits := v.limits()
	go func() {
		defer close(ended)
		fault = s.back(ctx).events(ctx, func() { close(ready) }, func(tag string, data *value.Map) bool {
			if data = limits.eventSeen(tag, data); data == nil {
				return true
			}
			select {
			case texts <- saltEvent(tag, data):
				return true
			case <-ctx.Done():
				return false
			}
		})
	}()
	select {
	case <-ended:
		if fault != nil && ctx.Err() == nil {
			writeSaltError(w, fault)
		}
		return
	case <-ready:
	}
	w.Header().Set("Content-Type", "text/event-stream;charset=utf-8")
	out := http.NewResponseController(w)
	text := "retry: 400\n\n"
	if only := limits.hostsText(); only != "" {
		text += ": " + only + "\n\n"
	}
	alive := time.NewTicker(writeTimeout / 4)
	defer alive.Stop()
	for s.saltValid(v) {
		_ = out.SetWriteDeadline(s.opts.Now().Add(writeTimeout))
		if _, err := w.Write([]byte(text)); err != nil || out.Flush() != nil {
			break
		}
		select {
		case text = <-texts:
		case <-alive.C:
			text = ":\n\n" // shows that the server is still there
		case <-ended:
			return
		case <-ctx.Done():
			return
		}
	}
	cancel()
	<-ended
}

// saltEvent is an event as text. Whoever sent it cannot make two of it.
func saltEvent(tag string, data *value.Map) string {
	return fmt.Sprintf("tag: %s\ndata: %s\n\n", printable.Line(tag), value.StrictJSON(value.MapOf("tag", tag, "data", data)))
}

// saltValid reports whether the user or the token of a visit of salt-api is as it was.
func (s *Server) saltValid(v *visit) bool {
	if s.opts.Now().Sub(v.began) > saltLife {
		return false
	}
	if v.token != nil {
		return s.stillValid(v)
	}
	return s.current(v)
}

// events calls a function for each event of the runs of this controller, without secrets,
// until it returns false; ready is called when none is missed any more.
func (g granted) events(ctx context.Context, ready func(), each func(tag string, data *value.Map) bool) error {
	if err := g.needs(readRecords | runTemplates); err != nil {
		return err
	}
	return g.b.Events(ctx, ready, each)
}

// eventSeen is what somebody with limits may see of an event; nil: nothing. Of those who are
// limited to hosts, these are the jobs of the hosts and what the hosts returned.
func (x *Scope) eventSeen(tag string, data *value.Map) *value.Map {
	if len(x.Hosts) == 0 {
		return data
	}
	parts := strings.Split(tag, "/")
	if len(parts) < 4 || parts[0] != "salt" || parts[1] != "job" {
		return nil
	}
	switch parts[3] {
	case "ret", "prog":
		if id := data.Str("id"); len(parts) > 4 && id == parts[4] && x.onHost(id) {
			return data
		}
	case "new":
		ids := data.List("minions").Strs()
		seen := x.only(ids)
		if len(seen) == 0 {
			return nil
		}
		out := data.Copy()
		out.Set("minions", value.Strings(seen...))
		out.Set("missing", value.Strings(slices.DeleteFunc(data.List("missing").Strs(), func(id string) bool { return !x.onHost(id) })...))
		return out
	}
	return nil
}
