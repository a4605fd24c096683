package saltapi

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"strings"

	"brine/internal/core/printable"
	"brine/internal/core/redact"
	"brine/internal/py/value"
)

// What is asked of a master, as errors name it.
const (
	opLogin  = "log in"
	opEvents = "follow the events"
	opFind   = "find the targets"
	opRun    = "publish the job"
	opAsk    = "ask whether the job runs"
	opEnd    = "end the job"
	opLook   = "look up the job"
	opRunner = "call the runner"
	opWheel  = "call the wheel function"
)

// An Error says what a master did not do, why, and what to do about it.
type Error struct {
	Fleet  string
	URL    string
	Op     string
	Status int // of HTTP; 0: there was no answer
	Err    error
	Hint   string
}

// Error returns one line with everything in it.
func (e *Error) Error() string {
	s := fmt.Sprintf("fleet %s (%s): %s: %v", e.Fleet, e.URL, e.Op, e.Err)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return printable.Line(s)
}

func (e *Error) Unwrap() error { return e.Err }

var errNotSaltAPI = errors.New("the answer is not one of salt-api")

// errUnknownJob says that a master knows nothing of a job.
var errUnknownJob = errors.New("the master does not know the job")

// fingerprintError says that a server showed another certificate.
type fingerprintError struct{ got string }

func (e *fingerprintError) Error() string {
	return "the server's certificate has the fingerprint " + e.got
}

// fault words what went wrong; text is what the master said of it, or where it
// redirects to.
func (c *client) fault(op string, status int, text string, err error) error {
	e := &Error{Fleet: c.conf.Name, URL: c.conf.URL.String(), Op: op, Status: status, Err: err}
	if err != nil {
		e.Hint, e.Err = transportFault(err)
		return e
	}
	if text = strings.TrimRight(strings.TrimSpace(c.hide(text)), "."); len(text) > 500 {
		text = text[:500] + "..."
	}
	e.Err = fmt.Errorf("%d %s", status, http.StatusText(status))
	if text != "" {
		e.Err = fmt.Errorf("%w: %s", e.Err, text)
	}
	e.Hint = hintOf(op, status, text)
	return e
}

// minSecret is how long a secret is that is looked for: shorter ones are part of
// ordinary words.
const minSecret = 6

// hide removes the credentials from what a server said: some show the request that
// they refuse.
func (c *client) hide(text string) string {
	secrets := []string{c.conf.Password, c.conf.Token}
	if token := c.shown.Load(); token != nil {
		secrets = append(secrets, *token)
	}
	for _, s := range secrets {
		if len(s) < minSecret {
			continue
		}
		text = strings.ReplaceAll(text, s, redact.Hidden)
		text = strings.ReplaceAll(text, strings.Trim(string(value.EncodeJSON(s)), `"`), redact.Hidden)
	}
	return text
}

// hintOf says what to do where a master refuses.
func hintOf(op string, status int, text string) string {
	switch {
	case status >= 300 && status < 400:
		return "redirects are not followed, since they would take the token along; write the address that salt-api itself has as url"
	case status == http.StatusUnauthorized && op == opLogin:
		return "check eauth, user and password of the fleet, and external_auth in the master's configuration"
	case status == http.StatusUnauthorized && op == opEvents:
		return "the token was refused"
	case status == http.StatusUnauthorized:
		return "the user is not permitted to do this: external_auth in the master's configuration must allow " + permission(op)
	case strings.Contains(text, "netapi_enable_clients"), strings.Contains(text, "Invalid Client"):
		return "the master's configuration must enable it: netapi_enable_clients: [local_async, runner, runner_async, wheel], and ssh for a fleet with client: ssh; rest_tornado has no wheel client"
	case status == http.StatusNotFound:
		return "there is no salt-api under this url: check host, port and path"
	case status == http.StatusServiceUnavailable:
		return "salt-api runs, but its master does not"
	case status == http.StatusInternalServerError && (op == opRunner || op == opLook):
		return "the master's log says why; external_auth must allow " + permission(op)
	}
	return ""
}

func permission(op string) string {
	switch op {
	case opFind:
		return "test.ping, by which targets are found"
	case opAsk:
		return "saltutil.find_job, by which silent minions are asked"
	case opEnd:
		return "saltutil.term_job, by which minions end a job"
	case opLook:
		return "'@jobs' or '@runner', by which returns are looked up"
	case opRunner:
		return "'@runner', or this function of it"
	case opWheel:
		return "'@wheel', or this function of it"
	}
	return "the function on these minions"
}

// transportFault words why there was no answer.
func transportFault(err error) (hint string, short error) {
	if e, ok := errors.AsType[*hungError](err); ok {
		return e.hint, e
	}
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		print     *fingerprintError
		dns       *net.DNSError
	)
	text := err.Error()
	// url.Error repeats the method and the URL.
	if _, after, ok := strings.Cut(text, "\": "); ok {
		text = after
	}
	short = wrapped{text: text, err: err}
	switch {
	case errors.Is(err, errNotSaltAPI):
		return "check the url: something else answers there", err
	case errors.As(err, &print):
		return "if the certificate was replaced, set fingerprint to this one; otherwise somebody answers in the master's place", short
	case errors.As(err, &authority):
		return "set ca to the file of the authority that signed the certificate, or fingerprint to the certificate's own", short
	case errors.As(err, &name):
		return "url must have a name that the certificate is for, or set fingerprint", short
	case strings.Contains(text, "tls: certificate required"), strings.Contains(text, "tls: unknown certificate authority"), strings.Contains(text, "tls: bad certificate"):
		return "the server wants a certificate of the client, or another one: see client_cert and client_key of the fleet", short
	case errors.As(err, &invalid):
		return "the certificate is not valid (now)", short
	case strings.Contains(text, "server gave HTTP response to HTTPS client"), strings.Contains(text, "first record does not look like a TLS handshake"):
		return "salt-api may run there without TLS (disable_ssl): url begins with http:// then", short
	case strings.Contains(text, "malformed HTTP response"):
		return "salt-api may run there with TLS: url begins with https:// then", short
	case errors.As(err, &dns):
		return "check the host of url", short
	case strings.Contains(text, "connection refused"):
		return "check that salt-api runs and listens there", short
	case unsent(err) && strings.Contains(text, "i/o timeout"):
		return fmt.Sprintf("nothing accepted a connection within %s: check host and port of url, and firewalls", dialTimeout), short
	}
	return "", short
}

// wrapped is an error with a shorter text.
type wrapped struct {
	text string
	err  error
}

func (w wrapped) Error() string { return w.text }
func (w wrapped) Unwrap() error { return w.err }

// reason takes the reason out of a page that an error is answered with.
func reason(page []byte) string {
	_, after, ok := bytes.Cut(page, []byte("<p>"))
	if ok {
		text, _, _ := bytes.Cut(after, []byte("</p>"))
		return html.UnescapeString(string(text))
	}
	if bytes.Contains(page, []byte("<html")) || bytes.Contains(page, []byte("<!DOCTYPE")) {
		return ""
	}
	return string(page)
}

// tornadoStatus returns the status that rest_tornado should have answered where
// its answer is a text that tells of an error; 0 where it is none.
func tornadoStatus(text string) int {
	switch {
	case text == "Failed to authenticate", strings.Contains(text, "Authentication failure of type"), strings.Contains(text, "Authorization error occurred"):
		return http.StatusUnauthorized
	case strings.HasPrefix(text, "Unexpected exception while handling request"):
		return http.StatusInternalServerError
	}
	return 0
}

// isHung reports whether a master did not answer in time.
func isHung(err error) bool {
	_, ok := errors.AsType[*hungError](err)
	return ok
}

// warnOf warns of a question that the master refused or did not answer. Other
// errors are returned to the caller, or mean that the master is down, which is
// reported elsewhere.
func (p *Provider) warnOf(err error) {
	if refused(err) || isHung(err) {
		p.warnOnce(err.Error())
	}
}

// unsent reports whether a request surely never reached the master.
func unsent(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	if e, ok := errors.AsType[*hungError](err); ok && e.unsent {
		return true
	}
	_, dns := errors.AsType[*net.DNSError](err)
	return dns
}

// refused reports whether the master answered a request, and did nothing of it.
func refused(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Status >= 300 && e.Status < 500 || e.Status == http.StatusServiceUnavailable || e.Op == opLogin)
}
