// Package mail is Salt's returners "smtp", returns by e-mail, and "highstate",
// reports of states by file or e-mail.
package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/smtp"
	"strings"
	"time"

	"brine/internal/core/render"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// Specs returns the returners, alphabetically.
func Specs() []returner.Spec { return []returner.Spec{highstateSpec(), smtpSpec()} }

func smtpSpec() returner.Spec {
	return returner.Spec{
		Name: "smtp", Doc: "Send returns by e-mail.", Src: "returners/smtp_return.py", New: open, Prepare: prepare,
		Keys: returner.Keys(`
			from* -- sender
			to*@ -- receivers, text with commas
			host*@ -- mail server
			port@ = 25 -- its port
			username -- account
			password! -- its password
			tls = False -- begin TLS with STARTTLS
			subject = Email from Salt -- subject, a Jinja template with the keys of the return
			fields -- keys of the return to put behind the subject, text with commas
			gpgowner -- refused: mails are not encrypted here
			template -- salt:// file with the text, a Jinja template with the keys of the return
		`),
	}
}

const timeout = 10 * time.Second

type mailer struct {
	s returner.Settings
	relay
}

// A relay is a mail server and an envelope.
type relay struct {
	host, port     string
	user, password string
	tls            bool
	from           string
	to             []string
}

// prepare refuses what would send in the clear what is to be encrypted.
func prepare(s returner.Settings) (returner.Settings, error) {
	if s.Str("gpgowner") != "" {
		return s, errors.New("smtp.gpgowner: mails cannot be encrypted here, and are not sent in the clear instead")
	}
	return s, nil
}

func open(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	m := &mailer{s, relay{
		host: s.Str("host"), port: s.Str("port"), user: s.Str("username"), password: s.Str("password"), tls: s.Bool("tls"),
		from: s.Str("from"), to: addresses(s.Str("to")),
	}}
	if len(m.to) == 0 {
		return nil, fmt.Errorf("smtp.to: %q has no address", s.Str("to"))
	}
	return m, m.check()
}

// addresses splits a list with commas.
func addresses(s string) []string {
	var out []string
	for t := range strings.SplitSeq(s, ",") {
		if t = strings.TrimSpace(t); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// check refuses addresses that would add lines to a mail.
func (m *relay) check() error {
	for _, a := range append([]string{m.from}, m.to...) {
		if strings.ContainsAny(a, "\r\n") {
			return fmt.Errorf("%q is not an address", a)
		}
	}
	return nil
}

// Close has nothing to end: each batch has a connection of its own.
func (m *mailer) Close() error { return nil }

// Return sends a mail a return, all over one connection.
func (m *mailer) Return(ctx context.Context, rets []*value.Map) error {
	c, err := m.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, r := range rets {
		text, err := m.message(ctx, r)
		if err != nil {
			return err
		}
		if err := m.send(c, text); err != nil {
			return err
		}
	}
	return c.Quit()
}

func (m *relay) dial(ctx context.Context) (*smtp.Client, error) {
	host := m.host
	d := net.Dialer{Timeout: timeout}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, m.port))
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
	if m.tls {
		if err := c.StartTLS(&tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}); err != nil {
			c.Close()
			return nil, err
		}
	}
	if m.user != "" {
		if err := c.Auth(smtp.PlainAuth("", m.user, m.password, host)); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

func (m *relay) send(c *smtp.Client, text []byte) error {
	if err := c.Mail(m.from); err != nil {
		return err
	}
	for _, t := range m.to {
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

// message is a whole mail.
func (m *mailer) message(ctx context.Context, r *value.Map) ([]byte, error) {
	subject, err := m.render(ctx, "smtp.subject", m.s.Str("subject"), r)
	if err != nil {
		return nil, err
	}
	for f := range strings.SplitSeq(m.s.Str("fields"), ",") {
		if v, ok := r.Get(strings.TrimSpace(f)); ok {
			subject += " " + value.Str(v)
		}
	}
	body := fmt.Sprintf("id: %s\nfunction: %s\nfunction args: %s\njid: %s\nreturn: %s\n",
		r.Str("id"), r.Str("fun"), value.Str(r.At("fun_args")), r.Str("jid"), pyformat.Pformat(r.At("return"), 80))
	if path, ok := strings.CutPrefix(m.s.Str("template"), "salt://"); ok {
		if body, err = m.file(ctx, path, r); err != nil {
			return nil, err
		}
	}
	return m.compose(subject, "plain", body, m.s.Env.Host.Now())
}

// compose makes a whole mail of a text of a kind: plain, html, ...
func (m *relay) compose(subject, kind, body string, now time.Time) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "From: %s\r\nTo: %s\r\nSubject: %s\r\n", m.from, strings.Join(m.to, ", "), mime.QEncoding.Encode("utf-8", strings.Join(strings.Fields(subject), " ")))
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

// render renders a template with the keys of a return.
func (m *mailer) render(ctx context.Context, name, text string, r *value.Map) (string, error) {
	if !strings.Contains(text, "{") {
		return text, nil
	}
	return render.For(m.s.Env).Template(ctx, "jinja", render.Input{Path: name, SaltEnv: m.s.Env.SaltEnv, Text: []byte(text), Vars: r})
}

// maxTemplate bounds a template, in bytes.
const maxTemplate = 1 << 20

func (m *mailer) file(ctx context.Context, path string, r *value.Map) (string, error) {
	f, err := m.s.Env.Up.Open(ctx, m.s.Env.SaltEnv, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTemplate))
	if err != nil {
		return "", err
	}
	return render.For(m.s.Env).Template(ctx, "jinja", render.Input{Path: path, SaltEnv: m.s.Env.SaltEnv, Text: text, Vars: r})
}
