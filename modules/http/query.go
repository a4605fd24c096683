package http

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/grains"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// maxBody bounds what is read of an answer, whatever http_max_body says: the
// answer is held in memory.
const maxBody = 256 << 20

// maxRedirects is what Tornado follows.
const maxRedirects = 5

// query sends the request of a call.
// Salt: salt/utils/http.py query, with Tornado as backend.
func query(ctx context.Context, c *fun.Call, a *queryRowArgs) (*value.Map, error) {
	opts := c.Env.Opts
	if own := a.Opts; own.Len() > 0 {
		all := value.NewMap(opts.Len() + own.Len())
		all.Update(opts)
		all.Update(own)
		opts = all
	}
	target := fun.TextOf(a.URL)
	ret := value.NewMap(4)
	if a.Test {
		if !a.TestURL.Given {
			return ret, nil
		}
		target = a.TestURL.V
		ret.Set("test", true)
	}
	req, err := request(ctx, c, a, target)
	if err != nil {
		return nil, err
	}
	client, err := client(c, a, opts, req.URL)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	c.Env.Log().Debug("http request", "method", req.Method, "url", req.URL.Scheme+"://"+req.URL.Host+req.URL.Path)
	resp, err := client.Do(req)
	if err != nil {
		return failed(ctx, a, ret, err)
	}
	defer resp.Body.Close()
	limit := int64(maxBody)
	if n, ok := value.AsInt(opts.At("http_max_body")); ok && n > 0 {
		limit = min(n, limit)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return failed(ctx, a, ret, err)
	}
	if int64(len(raw)) > limit {
		return nil, fun.Errorf("the answer has more than %d bytes (http_max_body)", limit)
	}
	if err := answer(c, a, ret, resp, raw, limit); err != nil {
		return nil, err
	}
	return ret, nil
}

// request makes the request of a call.
func request(ctx context.Context, c *fun.Call, a *queryRowArgs, target string) (*nethttp.Request, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, fun.Errorf("not a URL: %s", secretless(target))
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fun.Errorf("Unsupported url scheme: %s", secretless(target))
	}
	if params := a.Params; value.Truth(params) {
		if err := addParams(u, params); err != nil {
			return nil, err
		}
	}
	var body io.Reader
	form := false
	data := a.Data
	if path := a.DataFile; path != "" {
		b, err := c.Env.Host.ReadFile(path)
		if err != nil {
			return nil, fun.Errorf("%s", host.OSError(err))
		}
		data = value.Bytes(b)
	}
	switch d := data.(type) {
	case nil:
	case value.Bytes:
		body = strings.NewReader(string(d))
	case value.Mapping:
		body, form = strings.NewReader(encode(pairsOf(d))), true
	default:
		body = strings.NewReader(value.Str(d))
	}
	req, err := nethttp.NewRequestWithContext(ctx, a.Method, u.String(), body)
	if err != nil {
		return nil, fun.Errorf("not a request: method %q", a.Method)
	}
	user, password := a.Username, a.Password
	if auth := a.Auth; len(auth) == 2 {
		user, password = auth[0], auth[1]
	} else if len(auth) > 0 {
		return nil, &fun.InvocationError{Msg: "http.query: auth has to be a list of two: user and password"}
	}
	if user != nil && u.User == nil {
		if password == nil {
			password = ""
		}
		req.SetBasicAuth(value.Str(user), value.Str(password))
	}
	if err := setHeaders(c, a, req.Header); err != nil {
		return nil, err
	}
	if h := req.Header.Get("Host"); h != "" {
		req.Host = h
	}
	if (form || req.Method == nethttp.MethodPost) && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return req, nil
}

// setHeaders sets the headers that a call gives: those of a list prevail over
// those of a dict, and a file replaces the list.
func setHeaders(c *fun.Call, a *queryRowArgs, h nethttp.Header) error {
	set := func(name, v string) error {
		name, v = strings.TrimSpace(name), strings.TrimSpace(v)
		if name == "" || strings.ContainsAny(name, " \t\r\n") || strings.ContainsAny(v, "\r\n") {
			return fun.Errorf("not a header: %q", name)
		}
		h.Set(name, v)
		return nil
	}
	h.Set("Accept-Encoding", "identity")
	for k, v := range a.HeaderDict.All() {
		if err := set(value.Str(k), value.Str(v)); err != nil {
			return err
		}
	}
	lines := a.HeaderList
	if path := a.HeaderFile; path != "" {
		b, err := c.Env.Host.ReadFile(path)
		if err != nil {
			return fun.Errorf("%s", host.OSError(err))
		}
		lines = strings.Split(string(b), "\n")
	}
	for _, line := range lines {
		if name, v, ok := strings.Cut(line, ":"); ok {
			if err := set(name, v); err != nil {
				return err
			}
		}
	}
	agent := a.Agent
	if agent == "" {
		agent = "Salt/" + grains.SaltVersion + " http.query()"
	}
	h.Set("User-Agent", agent)
	return nil
}

// addParams adds params to the query of a URL.
func addParams(u *url.URL, params value.Value) error {
	var pairs [][2]string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		k, v, ok := strings.Cut(part, "=")
		if !ok && k == "" {
			continue
		}
		k, err := url.QueryUnescape(k)
		if err == nil {
			v, err = url.QueryUnescape(v)
		}
		if err != nil {
			return fun.Errorf("not a query: %s", err)
		}
		pairs = append(pairs, [2]string{k, v})
	}
	switch p := params.(type) {
	case value.Mapping:
		pairs = append(pairs, pairsOf(p)...)
	case *value.List, value.Tuple:
		items, _ := value.Items(p)
		for _, x := range items {
			pair, err := value.Items(x)
			if err != nil || len(pair) != 2 {
				return fun.Errorf("params has to be a dict or a list of pairs")
			}
			pairs = append(pairs, [2]string{value.Str(pair[0]), value.Str(pair[1])})
		}
	default:
		return fun.Errorf("'args' parameter should be dict, list or tuple. Not <class '%s'>", value.TypeName(params))
	}
	u.RawQuery = encode(pairs)
	return nil
}

func pairsOf(m value.Mapping) [][2]string {
	var pairs [][2]string
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		pairs = append(pairs, [2]string{value.Str(k), value.Str(v)})
	}
	return pairs
}

// encode is Python's urlencode: in the order that pairs have.
func encode(pairs [][2]string) string {
	parts := make([]string, len(pairs))
	for i, p := range pairs {
		parts[i] = url.QueryEscape(p[0]) + "=" + url.QueryEscape(p[1])
	}
	return strings.Join(parts, "&")
}

// client returns what sends the request: the options say whom it trusts.
func client(c *fun.Call, a *queryRowArgs, opts *value.Map, u *url.URL) (*nethttp.Client, error) {
	option := func(given value.Value, name string) value.Value {
		if given != nil {
			return given
		}
		return opts.At(name)
	}
	conf := &tls.Config{}
	if v := option(a.VerifySSL, "verify_ssl"); v != nil && !value.Truth(v) {
		conf.InsecureSkipVerify = true // verify_ssl: False asks for it
	} else if path, _ := option(a.CaBundle, "ca_bundle").(string); path != "" {
		b, err := c.Env.Host.ReadFile(path)
		if err != nil {
			return nil, fun.Errorf("%s", host.OSError(err))
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(b) {
			return nil, fun.Errorf("there is no certificate in %s", path)
		}
	}
	if v := option(a.Cert, "cert"); v != nil {
		cert, err := clientCert(c.Env.Host, v)
		if err != nil {
			return nil, err
		}
		conf.Certificates = cert
	}
	dial := &net.Dialer{Timeout: 20 * time.Second}
	connect, err := optSeconds(opts, "http_connect_timeout")
	if err != nil {
		return nil, err
	}
	if connect > 0 {
		dial.Timeout = connect
	}
	t := &nethttp.Transport{DialContext: dial.DialContext, TLSClientConfig: conf, TLSHandshakeTimeout: dial.Timeout, DisableCompression: true, DisableKeepAlives: true}
	if p := proxy(opts, u); p != nil {
		t.Proxy = nethttp.ProxyURL(p)
	}
	timeout := a.Timeout
	if timeout == 0 {
		var err error
		if timeout, err = optSeconds(opts, "http_request_timeout"); err != nil {
			return nil, err
		}
	}
	if timeout == 0 {
		timeout = time.Hour
	}
	return &nethttp.Client{Transport: t, Timeout: timeout, CheckRedirect: func(req *nethttp.Request, via []*nethttp.Request) error {
		if len(via) > maxRedirects {
			return nethttp.ErrUseLastResponse
		}
		keepSecrets(req, via[0])
		return nil
	}}, nil
}

// keepSecrets takes the headers off a redirected request to another host, or
// from https to http, that the call gave it: X-Vault-Token and the like are for
// the first host.
func keepSecrets(req, first *nethttp.Request) {
	if req.URL.Host == first.URL.Host && (req.URL.Scheme == first.URL.Scheme || req.URL.Scheme == "https") {
		return
	}
	for name := range req.Header {
		switch name {
		case "Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "Content-Length", "User-Agent", "Referer":
		default:
			req.Header.Del(name)
		}
	}
}

// optSeconds reads an option that is a time; 0 where there is none.
func optSeconds(opts *value.Map, name string) (time.Duration, error) {
	d, err := value.Seconds(opts.At(name))
	if err != nil {
		return 0, &fun.InvocationError{Msg: name + " must be a number of seconds, not " + value.Repr(opts.At(name))}
	}
	return d, nil
}

// clientCert reads the client's certificate: a file that has the key too, or a
// list of two files.
func clientCert(h host.Host, v value.Value) ([]tls.Certificate, error) {
	paths := []value.Value{v, v}
	if l, ok := v.(*value.List); ok {
		paths = l.Items
	}
	var pem [][]byte
	for _, p := range paths {
		b, err := h.ReadFile(value.Str(p))
		if err != nil {
			return nil, fun.Errorf("%s", host.OSError(err))
		}
		pem = append(pem, b)
	}
	if len(pem) != 2 {
		return nil, fun.Errorf("cert has to be a file, or a list of two: certificate and key")
	}
	cert, err := tls.X509KeyPair(pem[0], pem[1])
	if err != nil {
		return nil, fun.Errorf("the client's certificate: %s", err)
	}
	return []tls.Certificate{cert}, nil
}

// proxy is the server that the options send requests through; nil is none.
func proxy(opts *value.Map, u *url.URL) *url.URL {
	name, port := opts.At("proxy_host"), opts.At("proxy_port")
	if !value.Truth(name) || !value.Truth(port) {
		return nil
	}
	if not := opts.List("no_proxy"); not != nil && slices.ContainsFunc(not.Items, func(v value.Value) bool { return value.Str(v) == u.Hostname() }) {
		return nil
	}
	p := &url.URL{Scheme: "http", Host: net.JoinHostPort(value.Str(name), value.Str(port))}
	if user, pass := opts.At("proxy_username"), opts.At("proxy_password"); value.Truth(user) && value.Truth(pass) {
		p.User = url.UserPassword(value.Str(user), value.Str(pass))
	}
	return p
}

// failed is the return where there is no answer.
func failed(ctx context.Context, a *queryRowArgs, ret *value.Map, err error) (*value.Map, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		ret.Set("status", int64(599))
		ret.Set("error", "HTTP 599: Timeout during request")
		return ret, nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		ret.Set("status", int64(599))
		ret.Set("error", "HTTP 599: Stream closed")
		return ret, nil
	}
	if a.Status {
		ret.Set("status", int64(0))
	}
	ret.Set("error", reason(err))
	return ret, nil
}

// reason is why a server is not reached, as Python says it.
func reason(err error) string {
	var (
		errno syscall.Errno
		dns   *net.DNSError
		cert  *tls.CertificateVerificationError
		u     *url.Error
	)
	switch {
	case errors.As(err, &errno):
		return host.OSError(errno)
	case errors.As(err, &dns) && dns.IsNotFound:
		return "[Errno -2] Name or service not known"
	case errors.As(err, &dns):
		return "[Errno -3] Temporary failure in name resolution"
	case errors.As(err, &cert):
		return "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: " + cert.Err.Error()
	case errors.As(err, &u):
		return u.Err.Error()
	}
	return err.Error()
}

// answer puts what is asked for of an answer into ret.
func answer(c *fun.Call, a *queryRowArgs, ret *value.Map, resp *nethttp.Response, raw []byte, limit int64) error {
	fault := resp.StatusCode/100 != 2 && a.RaiseError
	if fault {
		text := nethttp.StatusText(resp.StatusCode)
		if text == "" {
			text = "Unknown"
		}
		ret.Set("status", int64(resp.StatusCode))
		ret.Set("error", fmt.Sprintf("HTTP %d: %s", resp.StatusCode, text))
	}
	body, err := bodyOf(resp, raw, limit, a.DecodeBody)
	if err != nil {
		return fun.Errorf("%s", err)
	}
	ret.Set("body", body)
	if fault {
		return nil
	}
	if path := a.TextOut; path != "" {
		if err := c.Env.Host.WriteFile(path, bytes.NewReader(raw), host.WriteOptions{FollowLinks: true}); err != nil {
			return fun.Errorf("%s", host.OSError(err))
		}
	}
	if a.Status {
		ret.Set("status", int64(resp.StatusCode))
	}
	if a.Headers {
		h := value.NewMap(len(resp.Header))
		names := make([]string, 0, len(resp.Header))
		for name := range resp.Header {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			h.Set(name, strings.Join(resp.Header[name], ","))
		}
		ret.Set("headers", h)
	}
	wantText := a.Text
	if a.Decode {
		ok, plain, err := decoded(a, ret, resp, value.Str(body))
		if !ok || err != nil {
			return err
		}
		wantText = wantText || plain
		if path := a.DecodeOut; path != "" {
			if err := c.Env.Host.WriteFile(path, bytes.NewReader(raw), host.WriteOptions{FollowLinks: true}); err != nil {
				return fun.Errorf("%s", host.OSError(err))
			}
		}
	}
	if wantText {
		ret.Set("text", body)
	}
	return nil
}

// decoded reads the body as data. ok is false where there is no such type,
// plain says that it stays text.
func decoded(a *queryRowArgs, ret *value.Map, resp *nethttp.Response, text string) (ok, plain bool, err error) {
	kind := a.DecodeType
	if kind == "auto" {
		content := resp.Header.Get("Content-Type")
		if len(resp.Header["Content-Type"]) == 0 {
			content = "application/json"
		}
		kind = "plain"
		for _, k := range []string{"xml", "json", "yaml"} {
			if strings.Contains(content, k) {
				kind = k
				break
			}
		}
	}
	var v value.Value
	switch kind {
	case "plain":
		return true, true, nil
	case "json":
		v, err = value.ParseJSON(text)
	case "yaml":
		v, err = yamlsalt.LoadString(text)
	case "xml":
		v, err = parseXML(text)
	default:
		ret.Set("error", "Invalid decode_type specified. Valid decode types are: ('json', 'xml', 'yaml', 'plain')")
		return false, false, nil
	}
	if err != nil {
		return false, false, fun.Errorf("%s", err)
	}
	ret.Set("dict", v)
	return true, false, nil
}

// secretless is a URL as messages may show it: without user, password and
// query.
func secretless(s string) string {
	s, _, _ = strings.Cut(s, "?")
	if scheme, rest, ok := strings.Cut(s, "://"); ok {
		authority, path, slash := strings.Cut(rest, "/")
		authority = authority[strings.LastIndexByte(authority, '@')+1:]
		s = scheme + "://" + authority
		if slash {
			s += "/" + path
		}
	}
	return s
}
