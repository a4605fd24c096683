//go:build !slim

// Package ldap connects to servers of LDAP. [Dial] is the place to start. Every wait and
// every answer has a bound, and certificates are verified unless the caller says otherwise.
package ldap

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	client "github.com/go-ldap/ldap/v3"

	"brine/internal/core/printable"
)

const (
	connectWait = 30 * time.Second // for the connection, TLS and the log-in
	requestWait = 60 * time.Second // for the answer to a request
	maxMessage  = 4 << 20          // of the server: an entry
	maxDepth    = 32               // of the elements of a message
)

// maxAnswer is how many bytes an answer may have: all entries of a search.
const maxAnswer = 16 << 20

// A Server is how to connect to a server, and as whom.
type Server struct {
	URL      string // ldap://HOST:PORT, ldaps://HOST:PORT or ldapi://%2fPATH
	StartTLS bool
	TLS      *tls.Config // nil: what the system trusts

	// DN and Password are of a simple bind; without both the connection is anonymous.
	// External is the bind with the SASL mechanism EXTERNAL: the user of the socket, or
	// the certificate of the client.
	DN, Password string
	External     bool

	Wait time.Duration // for the connection and for each answer; 0 is the default
}

// A Conn is a connection. Its methods are not for concurrent use.
type Conn struct {
	over func() error // the error of the context
	c    *client.Conn
	raw  *limited
	stop func() bool
}

// limited is a connection that refuses to read more than an answer may have.
type limited struct {
	net.Conn
	left atomic.Int64
}

var errTooMuch = fmt.Errorf("the answer has more than %d MiB", maxAnswer>>20)

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if l.left.Add(-int64(n)) < 0 {
		return 0, errTooMuch
	}
	return n, err
}

func (l *limited) Write(b []byte) (int, error) {
	if err := l.SetWriteDeadline(time.Now().Add(requestWait)); err != nil {
		return 0, err
	}
	return l.Conn.Write(b)
}

// setLimits sets the limits of the library, which are global.
var setLimits = sync.OnceFunc(func() {
	ber.MaxPacketLengthBytes, ber.MaxNestingDepth = maxMessage, maxDepth
	client.Logger(log.New(io.Discard, "", 0))
})

// Dial connects to a server and logs in. The connection ends with ctx.
func Dial(ctx context.Context, s Server) (*Conn, error) {
	setLimits()
	network, addr, host, err := address(s.URL)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, cmp.Or(s.Wait, connectWait))
	defer cancel()
	var d net.Dialer
	nc, err := d.DialContext(wait, network, addr)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", s.URL, err)
	}
	raw := &limited{Conn: nc}
	raw.left.Store(maxAnswer)
	// This bounds what the library waits for without a limit of its own.
	_ = raw.SetReadDeadline(time.Now().Add(cmp.Or(s.Wait, connectWait)))
	conf := s.TLS.Clone()
	if conf == nil {
		conf = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	conf.ServerName = host
	isTLS := strings.HasPrefix(strings.ToLower(s.URL), "ldaps:")
	stream := net.Conn(raw)
	if isTLS {
		t := tls.Client(raw, conf)
		if err := t.HandshakeContext(wait); err != nil {
			_ = nc.Close()
			return nil, fmt.Errorf("connect to %s: %w", s.URL, err)
		}
		stream = t
	}
	c := &Conn{over: ctx.Err, c: client.NewConn(stream, isTLS), raw: raw}
	c.c.SetTimeout(cmp.Or(s.Wait, connectWait))
	c.c.Start()
	c.stop = context.AfterFunc(ctx, func() { _ = nc.Close() })
	if s.StartTLS {
		if isTLS {
			err = errors.New("starttls is for ldap://, and the URL is ldaps://")
		} else {
			err = c.do(func() error { return c.c.StartTLS(conf) })
		}
	}
	if err == nil {
		err = c.do(func() error { return c.bind(&s) })
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("connect to %s: %w", s.URL, err)
	}
	_ = raw.SetReadDeadline(time.Time{})
	c.c.SetTimeout(cmp.Or(s.Wait, requestWait))
	return c, nil
}

// bind logs in. A DN without a password is refused: servers count it as anonymous, and
// answer that it succeeded.
func (c *Conn) bind(s *Server) error {
	switch {
	case s.External:
		return c.c.ExternalBind()
	case s.DN == "" && s.Password == "":
		return nil
	case s.Password == "":
		return fmt.Errorf("the bind as %s has no password", s.DN)
	}
	return c.c.Bind(s.DN, s.Password)
}

// address returns where a URL leads.
func address(at string) (network, addr, host string, err error) {
	scheme, rest, ok := strings.Cut(at, "://")
	scheme = strings.ToLower(scheme)
	if ok && scheme == "ldapi" {
		path, err := url.PathUnescape(strings.TrimSuffix(rest, "/"))
		switch {
		case err != nil || path != "" && !strings.HasPrefix(path, "/"):
			return "", "", "", fmt.Errorf("the path of the socket in %q is not one like ldapi://%%2Frun%%2Fldapi", at)
		case path == "":
			path = "/var/run/slapd/ldapi"
		}
		return "unix", path, "localhost", nil
	}
	u, err := url.Parse(at)
	port := map[string]string{"ldap": "389", "ldaps": "636"}[scheme]
	if err != nil || port == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", "", "", errors.New("the URL of the server must be ldap://HOST:PORT, ldaps://HOST:PORT or ldapi://")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	if host = u.Hostname(); host == "" {
		host = "localhost"
	}
	return "tcp", net.JoinHostPort(host, port), host, nil
}

// Close ends the connection.
func (c *Conn) Close() {
	c.stop()
	_ = c.c.Close()
	_ = c.raw.Close()
}

// do runs a request, whose answer may have maxAnswer bytes.
func (c *Conn) do(f func() error) (err error) {
	c.raw.left.Store(maxAnswer)
	defer func() {
		if r := recover(); r != nil { // the library expects a form of answers
			err = errors.New("the answer is not one of LDAP")
		}
		if e := c.over(); e != nil && err != nil {
			err = e
		}
		if err != nil && c.raw.left.Load() < 0 {
			err = errTooMuch
		}
	}()
	return plain(f())
}

// An Error is a result of a server that is not success.
type Error struct {
	Code uint16 // of RFC 4511
	text string
}

func (e *Error) Error() string { return e.text }

// plain returns an error of the library with the words of the server bounded.
func plain(err error) error {
	var e *client.Error
	if !errors.As(err, &e) || e.ResultCode >= client.ErrorNetwork {
		return err
	}
	text := fmt.Sprintf("the server answered with %d", e.ResultCode)
	if name := client.LDAPResultCodeMap[e.ResultCode]; name != "" {
		text += " (" + name + ")"
	}
	if words := e.Err; words != nil && words.Error() != "" {
		text += ": " + printable.Line(cut(words.Error()))
	}
	return &Error{e.ResultCode, text}
}

func cut(s string) string {
	if len(s) > 300 {
		return strings.ToValidUTF8(s[:300], "") + "..."
	}
	return s
}

// NoSuchObject reports whether an error says that an entry does not exist.
func NoSuchObject(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == client.LDAPResultNoSuchObject
}

// An Attr is an attribute and its values, which may be any bytes.
type Attr struct {
	Name   string
	Values []string
}

// An Entry is what a search found.
type Entry struct {
	DN    string
	Attrs []Attr
}

// A Query is a search.
type Query struct {
	Base, Filter string
	Scope        int // 0 base, 1 one level, 2 subtree
	Attrs        []string
	NamesOnly    bool
}

// Search returns what a query finds. Referrals to other servers are not followed.
func (c *Conn) Search(q Query) ([]Entry, error) {
	filter := q.Filter
	if !strings.HasPrefix(filter, "(") {
		filter = "(" + filter + ")"
	}
	if _, err := client.CompileFilter(filter); err != nil {
		return nil, fmt.Errorf("the filter %q: %w", q.Filter, err)
	}
	var got *client.SearchResult
	err := c.do(func() (err error) {
		got, err = c.c.Search(client.NewSearchRequest(q.Base, q.Scope, client.NeverDerefAliases, 0, 0, q.NamesOnly, filter, q.Attrs, nil))
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]Entry, len(got.Entries))
	for i, e := range got.Entries {
		out[i].DN = e.DN
		for _, a := range e.Attributes {
			out[i].Attrs = append(out[i].Attrs, Attr{a.Name, a.Values})
		}
	}
	return out, nil
}

// Add makes an entry.
func (c *Conn) Add(dn string, attrs []Attr) error {
	r := client.NewAddRequest(dn, nil)
	for _, a := range attrs {
		r.Attribute(a.Name, a.Values)
	}
	return c.do(func() error { return c.c.Add(r) })
}

// Delete removes an entry.
func (c *Conn) Delete(dn string) error {
	return c.do(func() error { return c.c.Del(client.NewDelRequest(dn, nil)) })
}

// A Mod is a change of an attribute: Op is "add", "delete" or "replace".
type Mod struct {
	Op string
	Attr
}

// Modify changes an entry.
func (c *Conn) Modify(dn string, mods []Mod) error {
	r := client.NewModifyRequest(dn, nil)
	for _, m := range mods {
		switch m.Op {
		case "add":
			r.Add(m.Name, m.Values)
		case "delete":
			r.Delete(m.Name, m.Values)
		case "replace":
			r.Replace(m.Name, m.Values)
		default:
			return fmt.Errorf("unknown operation %q; there are add, delete and replace", m.Op)
		}
	}
	return c.do(func() error { return c.c.Modify(r) })
}

// Escape makes text a value of a filter or of a DN, in a template of YAML, too: all but
// letters, digits and some marks are escaped as these two do, by their number.
func Escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("._-/@", c) >= 0,
			c == ' ' && i > 0 && i < len(s)-1:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\%02x`, c)
		}
	}
	return b.String()
}
