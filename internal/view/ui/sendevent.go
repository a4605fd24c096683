package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// ErrNotSent says that nothing took an event.
var ErrNotSent = errors.New("nothing hears events at the moment: no worker runs, and neither event_bus nor event_return is configured")

// maxEventTag bounds the tag of an event.
const maxEventTag = 1024

// eventsOnly is the rule of sending events: the tag is looked at when the body was read.
func eventsOnly(_ *Server, _ *http.Request, x *Scope) error {
	if len(x.Events) == 0 {
		return errScope(x)
	}
	return nil
}

// apiSendEvent sends an event as a minion does. Its id is the name of the token, so that no
// machine can speak for another one.
func (s *Server) apiSendEvent(c *apiCall, in *sendEvent) (*SentEvent, error) {
	switch {
	case in.Tag == "" || len(in.Tag) > maxEventTag || printable.Line(in.Tag) != in.Tag:
		return nil, &apiError{kind: badBody, detail: fmt.Sprintf("tag must have 1 to %d printable characters.", maxEventTag)}
	case !c.scope().Sends(in.Tag):
		e := &apiError{kind: outOfScope, detail: fmt.Sprintf("The token %s may not send events with the tag %s.", c.v.token.Name, in.Tag)}
		if len(c.scope().Events) > 0 {
			e.detail += " It is limited to " + c.scope().String() + "."
		} else {
			e.hint = "brine ui token add NAME --role operator --events PREFIX makes a token that may send events."
		}
		return nil, e
	}
	data := value.NewMap(0)
	if len(in.Data) > 0 {
		v, err := value.ParseJSON(string(in.Data))
		m, ok := v.(*value.Map)
		if err != nil || !ok {
			return nil, &apiError{kind: badBody, detail: "data must be an object."}
		}
		data = m
	}
	load := value.MapOf("id", c.v.token.Name, "tag", in.Tag, "data", data, "cmd", "_minion_event")
	by, err := s.back(c.r.Context()).sendEvent(c.r.Context(), in.Tag, load)
	if err != nil {
		return nil, &apiError{kind: unavailable, detail: "The event was not sent: " + err.Error() + "."}
	}
	return &SentEvent{Tag: in.Tag, ID: c.v.token.Name, TakenBy: by}, nil
}

func (g granted) sendEvent(ctx context.Context, tag string, data *value.Map) (by string, err error) {
	if err := g.needs(sendEvents); err != nil {
		return "", err
	}
	return g.b.SendEvent(ctx, tag, data)
}
