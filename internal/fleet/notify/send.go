package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/printable"
)

// The headers of webhooks, in and out.
const (
	SignatureHeader = "X-Brine-Signature-256"
	TimestampHeader = "X-Brine-Timestamp"
	DeliveryHeader  = "X-Brine-Delivery"
	EventHeader     = "X-Brine-Event"
)

// A permanentError is the answer to a message that trying again does not change.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// permanent reports whether an error lasts: the destination or the configuration has to
// be changed.
func permanent(err error) bool {
	_, refused := errors.AsType[*AddressError](err)
	_, told := errors.AsType[*permanentError](err)
	return refused || told || errors.Is(err, errRedirect)
}

// Sign returns the signature of a body at a time, in seconds since 1970: the HMAC-SHA256
// of "TIMESTAMP.BODY".
func Sign(key, timestamp string, body []byte) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(timestamp + "."))
	h.Write(body)
	return "sha256=" + hex.EncodeToString(h.Sum(nil))
}

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
	if err == nil {
		return nil
	}
	text := d.masked(plain(err).Error())
	if permanent(err) {
		return &permanentError{errors.New(text)}
	}
	return errors.New(text)
}

// plain takes the address, which may be a secret, from an error of a request.
func plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func (d *Destination) masked(text string) string {
	for _, s := range d.secrets {
		text = strings.ReplaceAll(text, s, "********")
	}
	return printable.Line(text)
}

// request returns what is sent over HTTP.
func (d *Destination) request(n *Notice) (method, to string, body []byte, err error) {
	m := n.Message
	switch d.Kind {
	case Slack:
		body, err = json.Marshal(map[string]string{"text": m.Text()})
	case Matrix:
		body, err = json.Marshal(map[string]string{"msgtype": "m.text", "body": m.Text()})
		return http.MethodPut, strings.TrimSuffix(d.url, "/") + "/_matrix/client/v3/rooms/" + url.PathEscape(d.room) + "/send/m.room.message/" + n.ID, body, err
	default:
		body, err = json.Marshal(m)
	}
	return http.MethodPost, d.url, body, err
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 10

func (d *Destination) post(ctx context.Context, n *Notice, now time.Time) error {
	method, to, body, err := d.request(n)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = d.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "brine")
	if d.Kind == Webhook {
		d.describe(r.Header, n, body, now)
	}
	c := d.guard.Client()
	defer c.CloseIdleConnections()
	answer, err := c.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer))
	return status(answer.StatusCode)
}

// describe puts what a receiver has to know of a webhook into its headers.
func (d *Destination) describe(h http.Header, n *Notice, body []byte, now time.Time) {
	h.Set(EventHeader, n.Message.Event)
	h.Set(DeliveryHeader, n.ID)
	if d.key == "" {
		return
	}
	at := strconv.FormatInt(now.Unix(), 10)
	h.Set(TimestampHeader, at)
	h.Set(SignatureHeader, Sign(d.key, at, body))
}

// status returns an error for an answer that does not take a message.
func status(code int) error {
	if code >= 200 && code < 300 {
		return nil
	}
	err := fmt.Errorf("the answer is %d %s", code, http.StatusText(code))
	switch {
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code >= 500:
		return err
	}
	return &permanentError{err}
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
		return &permanentError{err}
	}
	return err
}
