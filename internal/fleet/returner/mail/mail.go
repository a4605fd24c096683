// Package mail is Salt's returners "smtp", returns by e-mail, and "highstate",
// reports of states by file or e-mail.
package mail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"brine/internal/core/render"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/smtp"
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

type mailer struct {
	s returner.Settings
	smtp.Relay
}

// prepare refuses what would send in the clear what is to be encrypted.
func prepare(s returner.Settings) (returner.Settings, error) {
	if s.Str("gpgowner") != "" {
		return s, errors.New("smtp.gpgowner: mails cannot be encrypted here, and are not sent in the clear instead")
	}
	return s, nil
}

func open(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	m := &mailer{s, smtp.Relay{
		Host: s.Str("host"), Port: s.Str("port"), User: s.Str("username"), Password: s.Str("password"), TLS: s.Bool("tls"),
		From: s.Str("from"), To: addresses(s.Str("to")),
	}}
	if len(m.To) == 0 {
		return nil, fmt.Errorf("smtp.to: %q has no address", s.Str("to"))
	}
	return m, m.Check()
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

// Close has nothing to end: each batch has a connection of its own.
func (m *mailer) Close() error { return nil }

// Return sends a mail a return, all over one connection.
func (m *mailer) Return(ctx context.Context, rets []*value.Map) error {
	c, err := m.Dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, r := range rets {
		text, err := m.message(ctx, r)
		if err != nil {
			return err
		}
		if err := m.Send(c, text); err != nil {
			return err
		}
	}
	return c.Quit()
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
	return m.Compose(subject, "plain", body, m.s.Env.Host.Now())
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
