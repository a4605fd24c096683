package docker

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
)

const (
	// DefaultTimeout is how long the engine may take for an answer to begin.
	DefaultTimeout = 60 * time.Second
	// maxAnswer bounds an answer of the engine.
	maxAnswer = 64 << 20
	socket    = "/var/run/docker.sock"
)

// An APIError is an answer of the engine that something is wrong.
type APIError struct {
	Status int
	Msg    string
}

func (e *APIError) Error() string { return fmt.Sprintf("Error %d: %s", e.Status, e.Msg) }

// Missing reports whether err says that something does not exist.
func Missing(err error) bool {
	e, ok := errors.AsType[*APIError](err)
	return ok && e.Status == http.StatusNotFound
}

// An Engine is a Docker engine, or Podman's service that speaks its API.
type Engine struct {
	env     *fun.Env
	network string // of the connection
	address string
	shown   string // as messages name it
	host    string // of requests
	prefix  string // "/v1.43", or "" for the engine's newest
	tls     *tls.Config
	timeout time.Duration
}

// New returns the engine that docker.url of the configuration, else DOCKER_HOST,
// names: by default the one of this machine.
func New(ctx context.Context, env *fun.Env, timeout time.Duration) (*Engine, error) {
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	e := &Engine{env: env, host: "docker", timeout: timeout}
	vars := map[string]string{}
	for _, kv := range env.Host.Environ() {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	e.shown = option(ctx, env, "docker.url")
	if e.shown == "" {
		e.shown = vars["DOCKER_HOST"]
	}
	if e.shown == "" {
		e.shown = "unix://" + socket
	}
	if v := option(ctx, env, "docker.version"); v != "" && v != "auto" {
		e.prefix = "/v" + strings.TrimPrefix(v, "v")
	}
	scheme, rest, ok := strings.Cut(e.shown, "://")
	switch {
	case !ok:
		scheme, rest = "tcp", e.shown
	case scheme == "unix", scheme == "http+unix":
		e.network, e.address = "unix", rest
		return e, nil
	case scheme != "tcp" && scheme != "http" && scheme != "https":
		return nil, fun.Errorf("Invalid docker.url: %s", e.shown)
	}
	rest = strings.TrimSuffix(rest, "/")
	secure := scheme == "https" || scheme == "tcp" && vars["DOCKER_TLS_VERIFY"] != ""
	if _, _, err := net.SplitHostPort(rest); err != nil {
		port := "2375"
		if secure {
			port = "2376"
		}
		rest = net.JoinHostPort(rest, port)
	}
	e.network, e.address, e.host = "tcp", rest, rest
	if !secure {
		return e, nil
	}
	var err error
	e.tls, err = tlsConfig(env.Host, vars["DOCKER_CERT_PATH"], rest)
	return e, err
}

// tlsConfig reads ca.pem, cert.pem and key.pem of a directory.
func tlsConfig(h host.Host, dir, address string) (*tls.Config, error) {
	name, _, _ := net.SplitHostPort(address)
	c := &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12}
	if dir == "" {
		return c, nil
	}
	ca, err := h.ReadFile(path.Join(dir, "ca.pem"))
	if err != nil {
		return nil, fun.Errorf("DOCKER_CERT_PATH: %s", host.OSError(err))
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(ca) {
		return nil, fun.Errorf("DOCKER_CERT_PATH: no certificate in %s", path.Join(dir, "ca.pem"))
	}
	cert, err := h.ReadFile(path.Join(dir, "cert.pem"))
	if err != nil {
		return nil, fun.Errorf("DOCKER_CERT_PATH: %s", host.OSError(err))
	}
	key, err := h.ReadFile(path.Join(dir, "key.pem"))
	if err != nil {
		return nil, fun.Errorf("DOCKER_CERT_PATH: %s", host.OSError(err))
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fun.Errorf("DOCKER_CERT_PATH: %v", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

func option(ctx context.Context, env *fun.Env, name string) string {
	if v := machine.Option(ctx, env, name); value.Truth(v) {
		return value.Str(v)
	}
	return ""
}

// dial connects to the engine.
func (e *Engine) dial(ctx context.Context) (net.Conn, error) {
	conn, err := e.env.Host.Dial(ctx, e.network, e.address)
	if err != nil {
		cause := err
		if op, ok := errors.AsType[*net.OpError](err); ok {
			cause = op.Err
		}
		return nil, fun.Errorf("Cannot connect to the Docker engine at %s: %s", e.shown, host.Strerror(cause))
	}
	if e.tls == nil {
		return conn, nil
	}
	secure := tls.Client(conn, e.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, fun.Errorf("Cannot connect to the Docker engine at %s: %v", e.shown, err)
	}
	return secure, nil
}

// A call is a request to the engine.
type call struct {
	method, path string
	query        url.Values
	body         any           // JSON, or an io.Reader
	kind         string        // Content-Type of a reader
	auth         string        // X-Registry-Auth
	wait         time.Duration // beyond the timeout; below 0 is for ever
}

// stream sends a request and returns the body of its answer, which is to be
// closed. An answer that is none of success is an *APIError.
func (e *Engine) stream(ctx context.Context, c call) (io.ReadCloser, error) {
	resp, err := e.send(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// send is stream; upgrade, where it is not nil, is given the connection, on which
// raw data follows the answer.
func (e *Engine) send(ctx context.Context, c call, upgrade func(net.Conn)) (*http.Response, error) {
	for part := range strings.SplitSeq(c.path[1:], "/") {
		if part == "" || part == "." || part == ".." {
			return nil, fun.Errorf("Resource ID was not provided, or is invalid: %s", c.path)
		}
	}
	var body io.Reader
	kind := c.kind
	switch b := c.body.(type) {
	case nil:
	case io.Reader:
		body = b
	case value.Mapping:
		body, kind = bytes.NewReader(value.EncodeJSON(b)), "application/json"
	default:
		return nil, fmt.Errorf("docker: a request with a %T", b)
	}
	u := url.URL{Scheme: "http", Host: e.host, Path: e.prefix + c.path, RawQuery: c.query.Encode()}
	req, err := http.NewRequestWithContext(ctx, c.method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if c.auth != "" {
		req.Header.Set("X-Registry-Auth", c.auth)
	}
	conn, err := e.dial(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	if upgrade == nil {
		req.Close = true
	}
	if c.wait >= 0 {
		_ = conn.SetDeadline(time.Now().Add(e.timeout + c.wait))
	}
	var resp *http.Response
	r := bufio.NewReader(conn)
	if err = req.Write(conn); err == nil {
		resp, err = http.ReadResponse(r, req)
	}
	if err != nil {
		stop()
		_ = conn.Close()
		return nil, e.fault(ctx, err)
	}
	if c.wait >= 0 {
		_ = conn.SetDeadline(time.Time{})
	}
	resp.Body = &answer{Reader: resp.Body, e: e, conn: conn, stop: stop}
	if resp.StatusCode >= http.StatusBadRequest {
		defer func() { _ = resp.Body.Close() }()
		return nil, explain(resp)
	}
	if upgrade != nil {
		upgrade(conn)
		resp.Body = &answer{Reader: r, e: e, conn: conn, stop: stop}
	}
	return resp, nil
}

func (e *Engine) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		return fun.Errorf("The Docker engine at %s did not answer within %s", e.shown, e.timeout)
	}
	return fun.Errorf("The Docker engine at %s does not answer: %v", e.shown, err)
}

// An answer is the body of an answer, whose connection ends with it. The engine
// may be silent for as long as its timeout.
type answer struct {
	io.Reader
	e    *Engine
	conn net.Conn
	stop func() bool
}

func (a *answer) Close() error {
	a.stop()
	return a.conn.Close()
}

// explain makes an error of an answer: {"message": "..."}, or text.
func explain(resp *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	var msg struct{ Message string }
	if json.Unmarshal(raw, &msg) == nil && msg.Message != "" {
		return &APIError{resp.StatusCode, msg.Message}
	}
	text := strings.TrimSpace(value.DecodeReplace(raw))
	if text == "" {
		text = http.StatusText(resp.StatusCode)
	}
	return &APIError{resp.StatusCode, text}
}

// do sends a request and returns its answer as data: nil for none.
func (e *Engine) do(ctx context.Context, c call) (value.Value, error) {
	body, err := e.stream(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, e.fault(ctx, err)
	case len(raw) > maxAnswer:
		return nil, fun.Errorf("The answer of the Docker engine has more than %d bytes", maxAnswer)
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, nil
	}
	v, err := value.ParseJSON(value.DecodeReplace(raw))
	if err != nil {
		return nil, fun.Errorf("The answer of the Docker engine is not JSON: %v", err)
	}
	return v, nil
}

func (e *Engine) get(ctx context.Context, p string, query url.Values) (value.Value, error) {
	return e.do(ctx, call{method: http.MethodGet, path: p, query: query})
}

// mapping is get for an answer that has to be a mapping.
func (e *Engine) mapping(ctx context.Context, p string) (*value.Map, error) {
	v, err := e.get(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, fun.Errorf("Unexpected answer of the Docker engine to %s", p)
	}
	return m, nil
}

// list is get for an answer that has to be a list of mappings.
func (e *Engine) list(ctx context.Context, p string, query url.Values) ([]*value.Map, error) {
	v, err := e.get(ctx, p, query)
	if err != nil {
		return nil, err
	}
	return maps(v), nil
}

func maps(v value.Value) []*value.Map {
	l, _ := v.(*value.List)
	if l == nil {
		return nil
	}
	var out []*value.Map
	for _, item := range l.Items {
		if m, ok := item.(*value.Map); ok {
			out = append(out, m)
		}
	}
	return out
}

// post sends a request without an interesting answer.
func (e *Engine) post(ctx context.Context, p string, query url.Values, body value.Mapping) error {
	c := call{method: http.MethodPost, path: p, query: query}
	if body != nil {
		c.body = body
	}
	answer, err := e.stream(ctx, c)
	if err != nil {
		return err
	}
	_, _ = io.CopyN(io.Discard, answer, maxAnswer) // podman says "OK" here and there
	return answer.Close()
}

// events reads an answer of JSON objects one after the other, as pull, push and
// build send them, and calls each for every one.
func (e *Engine) events(ctx context.Context, c call, each func(*value.Map)) error {
	body, err := e.stream(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	a, _ := body.(*answer)
	dec := json.NewDecoder(io.LimitReader(body, maxAnswer))
	for {
		if a != nil {
			_ = a.conn.SetReadDeadline(time.Now().Add(max(e.timeout, DefaultTimeout)))
		}
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return e.fault(ctx, err)
		}
		v, err := value.ParseJSON(value.DecodeReplace(raw))
		if err != nil {
			return fun.Errorf("Unable to interpret API event: '%s'", value.DecodeReplace(raw))
		}
		if m, ok := v.(*value.Map); ok {
			each(m)
		}
	}
}
