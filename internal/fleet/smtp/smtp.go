// Package smtp sends mails through a mail server, a [Relay].
package smtp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/smtp"
	"strings"
	"time"
)

const timeout = 10 * time.Second

// A Relay is a mail server and an envelope.
type Relay struct {
	Host, Port     string
	User, Password string
	TLS            bool // begin TLS with STARTTLS, or send nothing
	From           string
	To             []string
	// Connect makes the connection; nil: as any program does.
	Connect func(ctx context.Context, network, address string) (net.Conn, error)
	// Roots are who may have signed the certificate; nil: who the machine trusts.
	Roots *x509.CertPool
}

// Check refuses addresses that would add lines to a mail.
func (m *Relay) Check() error {
	for _, a := range append([]string{m.From}, m.To...) {
		if strings.ContainsAny(a, "\r\n") {
			return fmt.Errorf("%q is not an address", a)
		}
	}
	return nil
}

// Dial connects to the server and logs in.
func (m *Relay) Dial(ctx context.Context) (*smtp.Client, error) {
	host, connect := m.Host, m.Connect
	if connect == nil {
		connect = (&net.Dialer{Timeout: timeout}).DialContext
	}
	conn, err := connect(ctx, "tcp", net.JoinHostPort(host, m.Port))
	if err != nil {
		return nil, err
	}
	if t, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(t)
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		conn.Close()
		return nil, err
	}
	if m.TLS {
		if err := c.StartTLS(&tls.Config{ServerName: host, RootCAs: m.Roots, MinVersion: tls.VersionTLS12}); err != nil {
			c.Close()
			return nil, err
		}
	}
	if m.User != "" {
		if err := c.Auth(smtp.PlainAuth("", m.User, m.Password, host)); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// Send sends a mail over a connection of Dial.
func (m *Relay) Send(c *smtp.Client, text []byte) error {
	if err := c.Mail(m.From); err != nil {
		return err
	}
	for _, t := range m.To {
		if err := c.Rcpt(t); err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	return w.Close()
}

// Compose makes a whole mail of a text of a kind: plain, html, ...
func (m *Relay) Compose(subject, kind, body string, now time.Time) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "From: %s\r\nTo: %s\r\nSubject: %s\r\n", m.From, strings.Join(m.To, ", "), mime.QEncoding.Encode("utf-8", strings.Join(strings.Fields(subject), " ")))
	fmt.Fprintf(&b, "Date: %s\r\nMIME-Version: 1.0\r\nContent-Type: text/%s; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n", now.Format(time.RFC1123Z), kind)
	w := quotedprintable.NewWriter(&b)
	if _, err := w.Write([]byte(body)); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}
