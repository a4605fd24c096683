package gitfs

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"brine/internal/core/printable"
)

// An SSHTarget is where a remote over SSH is.
type SSHTarget struct {
	Host, User string
	Port       int // 0: that of ssh_config
	Auth       Auth
}

// A Dialer runs a command over SSH. Its stream's Close ends it.
type Dialer func(ctx context.Context, to SSHTarget, command string) (io.ReadWriteCloser, error)

// stall is how long a remote may send nothing.
const stall = 2 * time.Minute

// A conn is a conversation with a remote.
type conn interface {
	// refs returns what the remote has.
	refs() (*refAd, error)
	// fetch sends a request and returns the pack.
	fetch(ad *refAd, req []byte) (io.Reader, error)
	Close() error
}

// connect reaches a remote. The connection ends with ctx.
func connect(ctx context.Context, r *Remote, dial Dialer) (conn, error) {
	scheme, err := schemeOf(r.URL)
	if err != nil {
		return nil, err
	}
	switch scheme {
	case "http", "https":
		return newHTTP(ctx, r), nil
	case "git":
		return dialGit(ctx, r)
	case "ssh":
		to, p, err := sshTarget(r)
		if err != nil {
			return nil, err
		}
		if dial == nil {
			return nil, errors.New("remotes over SSH are not available here")
		}
		rw, err := dial(ctx, to, "git-upload-pack '"+strings.ReplaceAll(p, "'", `'\''`)+"'")
		if err != nil {
			return nil, err
		}
		return newStream(ctx, rw), nil
	}
	return nil, fmt.Errorf("remotes by %s are not fetched", scheme)
}

// A stream is a conversation over one connection.
type stream struct {
	rw   io.ReadWriteCloser
	in   *bufio.Reader
	stop func() bool

	asked bool
}

func newStream(ctx context.Context, rw io.ReadWriteCloser) *stream {
	w := &watched{Reader: rw, end: func() { _ = rw.Close() }}
	return &stream{rw: rw, in: bufio.NewReaderSize(w, 70000), stop: context.AfterFunc(ctx, func() { _ = rw.Close() })}
}

func (s *stream) refs() (*refAd, error) { return readRefs(s.in) }

func (s *stream) fetch(ad *refAd, req []byte) (io.Reader, error) {
	s.asked = true
	if _, err := s.rw.Write(req); err != nil {
		return nil, err
	}
	return packIn(ad, s.in)
}

// Close says good-bye where nothing was asked for, and ends the connection.
func (s *stream) Close() error {
	if s.stop() && !s.asked {
		_, _ = io.WriteString(s.rw, "0000")
	}
	return s.rw.Close()
}

// A watched reader is ended where nothing comes for the time of stall.
type watched struct {
	io.Reader
	end func()
}

func (w *watched) Read(b []byte) (int, error) {
	t := time.AfterFunc(stall, w.end)
	defer t.Stop()
	return w.Reader.Read(b)
}

func dialGit(ctx context.Context, r *Remote) (conn, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, errors.New("not a URL")
	}
	addr := u.Host
	if u.Port() == "" {
		addr = net.JoinHostPort(u.Hostname(), "9418")
	}
	d := net.Dialer{Timeout: time.Minute}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	s := newStream(ctx, c)
	if strings.ContainsRune(u.Path, 0) {
		_ = s.Close()
		return nil, errors.New("not a URL")
	}
	if _, err := io.WriteString(c, pkt("git-upload-pack %s\x00host=%s\x00", u.Path, u.Host)); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// sshTarget reads ssh://user@host:port/path and user@host:path.
func sshTarget(r *Remote) (SSHTarget, string, error) {
	to := SSHTarget{Auth: r.Auth}
	p := ""
	if strings.Contains(r.URL, "://") {
		u, err := url.Parse(r.URL)
		if err != nil || u.Hostname() == "" || u.Path == "" {
			return to, "", errors.New("not a URL like ssh://git@host/path")
		}
		to.Host, to.User, p = u.Hostname(), u.User.Username(), u.Path
		if n := u.Port(); n != "" {
			if _, err := fmt.Sscanf(n, "%d", &to.Port); err != nil || to.Port > 65535 {
				return to, "", fmt.Errorf("port %q is not a number", n)
			}
		}
		if strings.HasPrefix(p, "/~") {
			p = p[1:]
		}
	} else {
		var host string
		host, p, _ = strings.Cut(r.URL, ":")
		if user, h, ok := strings.Cut(host, "@"); ok {
			to.User, host = user, h
		}
		to.Host = host
	}
	if to.User == "" {
		to.User = r.Auth.User
	}
	if strings.HasPrefix(to.Host, "-") || to.Host == "" || strings.HasPrefix(p, "-") || strings.ContainsAny(p, "\n\x00") {
		return to, "", errors.New("not a URL like ssh://git@host/path")
	}
	return to, p, nil
}

// A httpConn speaks git's smart HTTP.
type httpConn struct {
	ctx    context.Context //nolint:containedctx // the requests of one conversation end with it
	cancel context.CancelFunc
	r      *Remote
	client *http.Client
	tr     *http.Transport
	base   string // where the repository is, after redirects
	own    bool   // base is on the host of the URL
	bodies []io.Closer
}

func newHTTP(ctx context.Context, r *Remote) *httpConn {
	tr := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		TLSClientConfig:       &tls.Config{InsecureSkipVerify: r.Auth.SkipVerify, MinVersion: tls.VersionTLS12}, // ssl_verify: false asks for it
		TLSHandshakeTimeout:   time.Minute,
		ResponseHeaderTimeout: stall,
		DialContext:           (&net.Dialer{Timeout: time.Minute}).DialContext,
		ForceAttemptHTTP2:     true,
	}
	ctx, cancel := context.WithCancel(ctx)
	h := &httpConn{ctx: ctx, cancel: cancel, r: r, tr: tr, base: strings.TrimSuffix(r.URL, "/"), own: true}
	h.client = &http.Client{Transport: tr, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= 5 {
			return errors.New("more than 5 redirects")
		}
		if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
			return errors.New("a redirect from https to http is not followed")
		}
		if req.URL.Host != via[0].URL.Host {
			req.Header.Del("Authorization")
		}
		return nil
	}}
	return h
}

func (h *httpConn) Close() error {
	h.cancel()
	for _, b := range h.bodies {
		_ = b.Close()
	}
	h.tr.CloseIdleConnections()
	return nil
}

func (h *httpConn) do(method, to string, body []byte) (*http.Response, *bufio.Reader, error) {
	req, err := http.NewRequestWithContext(h.ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, nil, errors.New("not a URL")
	}
	req.Header.Set("User-Agent", "git/brine")
	if body != nil {
		req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
		req.Header.Set("Accept", "application/x-git-upload-pack-result")
	}
	if h.own && (h.r.Auth.User != "" || h.r.Auth.Password != "") {
		req.SetBasicAuth(h.r.Auth.User, h.r.Auth.Password)
	}
	res, err := h.client.Do(req)
	if err != nil {
		if ue := (*url.Error)(nil); errors.As(err, &ue) {
			err = ue.Err // without the URL
		}
		return nil, nil, err
	}
	h.bodies = append(h.bodies, res.Body)
	if res.StatusCode != http.StatusOK {
		hint := ""
		if res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden {
			hint = ": user and password (or a token as password) are needed, or are wrong"
		}
		return nil, nil, fmt.Errorf("the server answers %s%s", printable.Line(res.Status), hint)
	}
	return res, bufio.NewReaderSize(&watched{Reader: res.Body, end: h.cancel}, 70000), nil
}

func (h *httpConn) refs() (*refAd, error) {
	const service = "/info/refs?service=git-upload-pack"
	res, in, err := h.do(http.MethodGet, h.base+service, nil)
	if err != nil {
		return nil, err
	}
	if t := res.Header.Get("Content-Type"); t != "application/x-git-upload-pack-advertisement" {
		return nil, fmt.Errorf("the server does not speak git's smart HTTP (its answer is %s)", printable.Line(t))
	}
	if final := res.Request.URL; final.Host != "" {
		was, err := url.Parse(h.base)
		h.own = err == nil && was.Host == final.Host
		if base, ok := strings.CutSuffix(final.String(), service); ok {
			h.base = base
		}
	}
	return readRefs(in)
}

func (h *httpConn) fetch(ad *refAd, req []byte) (io.Reader, error) {
	_, in, err := h.do(http.MethodPost, h.base+"/git-upload-pack", req)
	if err != nil {
		return nil, err
	}
	return packIn(ad, in)
}
