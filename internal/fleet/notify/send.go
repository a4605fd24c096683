package notify

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"time"
)

// Send sends a notice. The error has no secrets.
func (d *Destination) Send(ctx context.Context, n *Notice, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	var err error
	if d.Kind == Mail {
		err = d.mail(ctx, n.Message, now)
	} else {
		err = d.post(ctx, n, now)
	}
	return mask(err, d.secrets)
}

var slackSigns = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// SlackText escapes Slack's own signs, so that what a host or an event says calls nobody
// and links to nothing.
func SlackText(s string) string { return slackSigns.Replace(s) }

// request returns what is sent over HTTP.
func (d *Destination) request(n *Notice) (method, to string, body []byte, err error) {
	m := n.Message
	switch d.Kind {
	case Slack:
		body, err = json.Marshal(map[string]string{"text": SlackText(m.Text())})
	case Matrix:
		// Without the field, what a host returned could call all of a room.
		body, err = json.Marshal(map[string]any{"msgtype": "m.text", "body": m.Text(), "m.mentions": struct{}{}})
		return http.MethodPut, strings.TrimSuffix(d.hook.url, "/") + "/_matrix/client/v3/rooms/" + url.PathEscape(d.room) + "/send/m.room.message/" + n.ID, body, err
	default:
		body, err = json.Marshal(m)
	}
	return http.MethodPost, d.hook.url, body, err
}

// post sends a notice over HTTP.
func (d *Destination) post(ctx context.Context, n *Notice, now time.Time) error {
	method, to, body, err := d.request(n)
	if err != nil {
		return err
	}
	event, delivery := n.Message.Event, n.ID
	if d.Kind != Webhook {
		event, delivery = "", ""
	}
	return d.hook.send(ctx, method, to, body, event, delivery, now)
}

// mail sends a mail.
func (d *Destination) mail(ctx context.Context, m *Message, now time.Time) error {
	text, err := d.relay.Compose("brine: "+m.Title(), "plain", m.Text()+"\n", now)
	if err != nil {
		return err
	}
	c, err := d.relay.Dial(ctx)
	if err == nil {
		defer c.Close()
		if err = d.relay.Send(c, text); err == nil {
			_ = c.Quit() // the server has taken the mail
			return nil
		}
	}
	if t, ok := errors.AsType[*textproto.Error](err); ok && t.Code >= 500 {
		return &permanentError{err: err}
	}
	return err
}
