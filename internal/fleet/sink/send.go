// Package sink sends events to places outside: webhooks, Slack, logstash, syslog and files.
// What waits to be sent is in fleet/queue. Start at [Read] and [Sink.Send].
package sink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/printable"
	"brine/internal/fleet/notify"
	"brine/internal/fleet/queue"
	"brine/internal/py/value"
)

// sendTime bounds one attempt to send.
const sendTime = 10 * time.Second

// maxDatagram bounds an event that is sent as a datagram, in bytes.
const maxDatagram = 65_000

// A record is an event as it waits.
type record struct {
	Tag  string          `json:"tag"`
	Data json.RawMessage `json:"data"`
}

// Encode returns an event as it waits for a sink. data has no secrets by now.
func Encode(tag string, data *value.Map) (string, error) {
	b, err := value.AppendJSON(nil, value.MapOf("tag", tag, "data", data), value.JSONOptions{Repr: true, Strict: true, SkipKeys: true, EscapeNonASCII: true})
	return string(b), err
}

// An entry is an event as a receiver gets it.
type entry struct {
	ID string `json:"id"`
	record
	stamp time.Time
	about about
}

// about is what the text about an event shows of its data.
type about struct {
	Stamp   string `json:"_stamp"`
	ID      any    `json:"id"`
	Fun     any    `json:"fun"`
	Success *bool  `json:"success"`
	Retcode any    `json:"retcode"`
}

// entries reads what waits. What is not an event of ours is sent nowhere.
func entries(events []queue.SinkEvent, now time.Time) (out []entry, wrong []queue.SinkEvent) {
	for _, e := range events {
		x := entry{ID: short(e.ID)}
		if json.Unmarshal([]byte(e.Payload), &x.record) != nil || x.Tag == "" {
			wrong = append(wrong, e)
			continue
		}
		_ = json.Unmarshal(x.Data, &x.about) // data of another shape has none of these
		x.stamp = now
		if t, err := time.Parse(event.StampFormat, x.about.Stamp); err == nil {
			x.stamp = t
		}
		out = append(out, x)
	}
	return out, wrong
}

// short is an ID as receivers get it.
func short(id string) string { return id[:min(len(id), 32)] }

// Send sends events, all or with an error none as far as that is known. from names the
// controller. The error has no secrets.
func (s *Sink) Send(ctx context.Context, from string, events []queue.SinkEvent, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	all, wrong := entries(events, now)
	if len(wrong) > 0 {
		return &UnfitError{Events: wrong, Err: errors.New("what waits is not an event")}
	}
	switch s.Kind {
	case Webhook, Slack:
		return s.post(ctx, from, events, all, now)
	case File:
		return s.write(all)
	}
	return s.lines(ctx, from, events, all)
}

// An UnfitError names events that the receiver will never take.
type UnfitError struct {
	Events []queue.SinkEvent
	Err    error
}

func (e *UnfitError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *UnfitError) Unwrap() error { return e.Err }

// post sends events over HTTP.
func (s *Sink) post(ctx context.Context, from string, events []queue.SinkEvent, all []entry, now time.Time) error {
	var body []byte
	var err error
	name, delivery := "", ""
	if s.Kind == Slack {
		body, err = json.Marshal(map[string]string{"text": slackText(all)})
	} else {
		sum := sha256.New()
		for _, e := range all {
			_, _ = io.WriteString(sum, e.ID)
		}
		name, delivery = "events", hex.EncodeToString(sum.Sum(nil)[:16])
		body, err = json.Marshal(struct {
			Version    int     `json:"version"`
			Controller string  `json:"controller"`
			Events     []entry `json:"events"`
		}{1, from, all})
	}
	if err == nil {
		err = s.hook.Post(ctx, body, name, delivery, now)
	}
	if notify.Unwanted(err) && len(events) == 1 {
		return &UnfitError{Events: events, Err: err}
	}
	return err
}

// Divides reports whether an error is about one of several events, which are to be sent
// one by one.
func Divides(err error) bool { return notify.Unwanted(err) }

// maxSlackEvent bounds the line of an event, in bytes.
const maxSlackEvent = 400

// slackText is a text for people, with a line for each event. What somebody wrote into an
// event calls nobody: Slack's own signs are escaped.
func slackText(all []entry) string {
	escape := func(s string) string { return notify.SlackText(strings.ReplaceAll(s, "`", "'")) }
	var lines []string
	for _, e := range all {
		var parts []string
		for _, v := range [...]any{e.about.ID, e.about.Fun} {
			if v != nil {
				parts = append(parts, fmt.Sprint(v))
			}
		}
		switch {
		case e.about.Success == nil:
		case *e.about.Success:
			parts = append(parts, "succeeded")
		default:
			parts = append(parts, "failed")
		}
		if len(parts) == 0 {
			parts = []string{string(e.Data)}
		}
		text := printable.Line(strings.Join(parts, " "))
		if len(text) > maxSlackEvent {
			text = strings.ToValidUTF8(text[:maxSlackEvent], "") + "..."
		}
		lines = append(lines, "`"+escape(printable.Line(e.Tag))+"` "+escape(text))
	}
	return strings.Join(lines, "\n")
}

// write appends events to a file, each as a line of JSON, and has them on the disk when it
// returns.
func (s *Sink) write(all []entry) (err error) {
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	st, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", s.path)
	}
	var b bytes.Buffer
	if size := st.Size(); size > 0 { // a process that was killed may have left half a line
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			b.WriteByte('\n')
		}
	}
	enc := json.NewEncoder(&b)
	for _, e := range all {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	if _, err := f.Write(b.Bytes()); err != nil {
		return err
	}
	return f.Sync()
}

// lines sends events over a connection, each as a line or a datagram.
func (s *Sink) lines(ctx context.Context, from string, events []queue.SinkEvent, all []entry) error {
	var unfit []queue.SinkEvent
	messages := make([][]byte, len(all))
	datagrams := s.to.network == "udp"
	for i, e := range all {
		text, err := s.message(from, e)
		if err != nil {
			return err
		}
		if messages[i] = text; datagrams && len(text) > maxDatagram {
			unfit = append(unfit, events[i])
		}
	}
	if len(unfit) > 0 {
		return &UnfitError{Events: unfit, Err: fmt.Errorf("%d events have more than %d bytes, which udp does not carry", len(unfit), maxDatagram)}
	}
	c, err := s.dial(ctx)
	if err != nil {
		return plain(err)
	}
	defer c.Close()
	if until, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(until)
	}
	_, isGram := c.(*net.UnixConn)
	isGram = datagrams || isGram && c.RemoteAddr().Network() == "unixgram"
	if isGram {
		for _, m := range messages {
			if _, err := c.Write(m); err != nil {
				return plain(err)
			}
		}
		return nil
	}
	var b bytes.Buffer
	for _, m := range messages {
		if s.Kind == Syslog && s.to.network == "tcp" {
			fmt.Fprintf(&b, "%d ", len(m)) // RFC 6587: with its length
			b.Write(m)
			continue
		}
		b.Write(m)
		b.WriteByte('\n')
	}
	if _, err := c.Write(b.Bytes()); err != nil {
		return plain(err)
	}
	return finish(c)
}

// finish waits for the other side to have read what was sent, where it says so by ending the
// connection: what a broken connection had in its buffers is not taken for sent.
func finish(c net.Conn) error {
	if t, ok := c.(interface{ CloseWrite() error }); ok {
		if err := t.CloseWrite(); err != nil {
			return plain(err)
		}
	}
	_ = c.SetReadDeadline(time.Now().Add(finishTime))
	_, err := io.Copy(io.Discard, io.LimitReader(c, 1<<16))
	if t, ok := errors.AsType[net.Error](err); err == nil || ok && t.Timeout() { // it keeps the connection
		return nil
	}
	return plain(err)
}

// finishTime is how long a receiver may take to end a connection.
const finishTime = 2 * time.Second

// plain takes what the operating system says from an error of a connection.
func plain(err error) error {
	if _, refused := errors.AsType[*notify.AddressError](err); refused {
		return err
	}
	return errors.New(printable.Line(err.Error()))
}

// dial connects to the receiver.
func (s *Sink) dial(ctx context.Context) (net.Conn, error) {
	to := &s.to
	if to.network == "unix" {
		d := net.Dialer{}
		c, err := d.DialContext(ctx, "unixgram", to.address)
		if errors.Is(err, syscall.EPROTOTYPE) {
			c, err = d.DialContext(ctx, "unix", to.address)
		}
		return c, err
	}
	c, err := to.guard.Dial(ctx, to.network, to.address)
	if err != nil || to.server == "" {
		return c, err
	}
	t := tls.Client(c, &tls.Config{ServerName: to.server, RootCAs: to.guard.Roots, MinVersion: tls.VersionTLS12})
	if err := t.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return t, nil
}

// message is an event as a receiver of lines takes it.
func (s *Sink) message(from string, e entry) ([]byte, error) {
	if s.Kind == Logstash {
		return json.Marshal(struct {
			Timestamp  string `json:"@timestamp"`
			Version    string `json:"@version"`
			Type       string `json:"type"`
			Controller string `json:"controller"`
			Message    string `json:"message"`
			entry
		}{e.stamp.UTC().Format("2006-01-02T15:04:05.000000Z"), "1", "brine", from, e.Tag, e})
	}
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	severity := 6 // informational
	if e.about.Success != nil && !*e.about.Success {
		severity = 3 // error
	}
	return fmt.Appendf(nil, "<%d>1 %s %s brine - event - %s", s.to.facility*8+severity, e.stamp.UTC().Format("2006-01-02T15:04:05.000000Z"), hostName(from), text), nil
}

// hostName is a name as syslog takes it: printable ASCII without blanks.
func hostName(name string) string {
	out := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, name)
	return out[:min(len(out), 255)]
}
