package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
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
type permanentError struct {
	err  error
	code int // of HTTP; 0: it is another one
}

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

// A Hook is where messages over HTTP go.
type Hook struct {
	url     string
	header  http.Header
	key     string // of the signature
	guard   Guard
	secrets []string
}

// Where names the server, without secrets.
func (h *Hook) Where() string {
	u, err := url.Parse(h.url)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// Post sends JSON. event and delivery are for the headers that describe it; "": it has
// none of them. The error has no secrets.
func (h *Hook) Post(ctx context.Context, body []byte, event, delivery string, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return mask(h.send(ctx, http.MethodPost, h.url, body, event, delivery, now), h.secrets)
}

// mask takes secrets from the error of an attempt to send.
func mask(err error, secrets []string) error {
	if err == nil {
		return nil
	}
	text := errors.New(masked(plain(err).Error(), secrets))
	if permanent(err) {
		code := 0
		if a, ok := errors.AsType[*permanentError](err); ok {
			code = a.code
		}
		return &permanentError{text, code}
	}
	return text
}

// plain takes the address, which may be a secret, from an error of a request.
func plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func masked(text string, secrets []string) string {
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "********")
	}
	return printable.Line(text)
}

// Unwanted reports whether an error is an answer about what was sent, which the same
// receiver may give to no other message.
func Unwanted(err error) bool {
	p, ok := errors.AsType[*permanentError](err)
	return ok && (p.code == http.StatusBadRequest || p.code == http.StatusRequestEntityTooLarge || p.code == http.StatusUnprocessableEntity)
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 10

// send sends a request, once.
func (h *Hook) send(ctx context.Context, method, to string, body []byte, event, delivery string, now time.Time) error {
	r, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = h.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "brine")
	if delivery != "" {
		h.describe(r.Header, body, event, delivery, now)
	}
	c := h.guard.Client()
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
func (h *Hook) describe(to http.Header, body []byte, event, delivery string, now time.Time) {
	to.Set(EventHeader, event)
	to.Set(DeliveryHeader, delivery)
	if h.key == "" {
		return
	}
	at := strconv.FormatInt(now.Unix(), 10)
	to.Set(TimestampHeader, at)
	to.Set(SignatureHeader, Sign(h.key, at, body))
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
	return &permanentError{err, code}
}
