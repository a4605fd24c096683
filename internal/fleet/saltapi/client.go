package saltapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"brine/internal/py/value"
)

// Bounds of what a master may send.
const (
	maxBody = 64 << 20 // of an answer
	maxLine = 32 << 20 // of an event

	// What they may take in memory once they are read: a text of empty lists takes
	// fifty times its size.
	maxBodyCost = 512 << 20
	maxLineCost = 256 << 20
)

// A client speaks to one salt-api.
type client struct {
	conf       Config
	http       *http.Client
	file       string // of the token between runs; "" is nowhere
	now        func() time.Time
	lastAnswer atomic.Int64           // when the master answered last, in nanoseconds; 0: never
	failed     atomic.Int64           // since when it does not; 0: it does
	shown      atomic.Pointer[string] // the token that the server was shown last, for hide

	secret func(text string) // is called with credentials

	login chan struct{} // has room for one: who logs in

	mu      sync.Mutex // guards the rest, and is never held while something is asked
	token   string
	expires time.Time
	failure loginFailure
}

// A loginFailure is the last log-in that failed.
type loginFailure struct {
	err error
	at  time.Time
}

// loginHolds is how long a log-in without an answer holds for others who want one.
const loginHolds = time.Second

func newClient(conf Config, cache string, now func() time.Time) (*client, error) {
	t, err := transport(conf)
	if err != nil {
		return nil, err
	}
	c := &client{conf: conf, now: now, login: make(chan struct{}, 1), http: &http.Client{
		Transport: t,
		// A redirect would carry the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if conf.Token != "" {
		c.token = conf.Token
		return c, nil
	}
	if cache != "" {
		sum := sha256.Sum256([]byte(conf.URL.String() + "\x00" + conf.EAuth + "\x00" + conf.User))
		c.file = filepath.Join(cache, conf.Name+"-"+hex.EncodeToString(sum[:8])+".token")
		c.load()
	}
	return c, nil
}

// transport returns the connections to the master. Its certificate is verified by
// the system's authorities, by ca, or by being the one of fingerprint.
func transport(conf Config) (*http.Transport, error) {
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:    conf.Timeout, // of requests that have no other limit
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        time.Minute,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if conf.CA != "" {
		pem, err := os.ReadFile(conf.CA)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca: %s has no certificate", conf.CA)
		}
	}
	if conf.Fingerprint != "" {
		// The certificate itself is known, so who signed it does not matter.
		t.TLSClientConfig.InsecureSkipVerify = true
		t.TLSClientConfig.VerifyConnection = func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return errors.New("the server has no certificate")
			}
			sum := sha256.Sum256(s.PeerCertificates[0].Raw)
			if got := hex.EncodeToString(sum[:]); got != conf.Fingerprint {
				return &fingerprintError{got: got}
			}
			return nil
		}
	}
	if conf.Cert != "" {
		pair, err := tls.LoadX509KeyPair(conf.Cert, conf.Key)
		if err != nil {
			return nil, fmt.Errorf("client_cert: %w", err)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// maxStored bounds the file of a token.
const maxStored = 4096

// stored is a token between runs.
type stored struct {
	Token   string  `json:"token"`
	Expires float64 `json:"expires"`
}

// load reads the token of an earlier run. A file that others own, read or write is
// not trusted.
func (c *client) load() {
	f, err := os.OpenFile(c.file, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() || st.Mode().Perm()&0o077 != 0 || st.Size() > maxStored {
		return
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != os.Geteuid() {
		return
	}
	b, err := io.ReadAll(io.LimitReader(f, maxStored))
	var s stored
	if err != nil || json.Unmarshal(b, &s) != nil || !sane(s.Token) {
		return
	}
	c.token, c.expires = s.Token, time.Unix(int64(s.Expires), 0)
}

// save keeps a token for later runs, where that is possible.
func (c *client) save(token string, expires time.Time) {
	if c.file == "" {
		return
	}
	b, err := json.Marshal(stored{Token: token, Expires: float64(expires.Unix())})
	if err != nil || os.MkdirAll(filepath.Dir(c.file), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(c.file), ".token") // of mode 0600
	if err != nil {
		return
	}
	_, err = f.Write(b)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), c.file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

// sane reports whether a token can be put into a header.
func sane(token string) bool {
	if token == "" || len(token) > 1024 {
		return false
	}
	for _, r := range token {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return true
}

// renewBefore is how long before its end a token is replaced.
const renewBefore = time.Minute

// leastToken is how long a new token is used, whatever the master says of its end.
const leastToken = 30 * time.Second

// auth returns a token, which is not refused, "" being none that was. One logs in
// at a time; those who wait for it wait no longer than ctx.
func (c *client) auth(ctx context.Context, refused string) (string, error) {
	if c.conf.Token != "" {
		if refused != "" {
			return "", c.fault(opLogin, 401, "", nil)
		}
		return c.conf.Token, nil
	}
	if token := c.current(refused); token != "" {
		return token, nil
	}
	begun := time.Now()
	select {
	case c.login <- struct{}{}:
		defer func() { <-c.login }()
	case <-ctx.Done():
		return "", c.fault(opLogin, 0, "", ctx.Err())
	}
	if token := c.current(refused); token != "" {
		return token, nil // somebody else logged in
	}
	if err := c.failedSince(begun); err != nil {
		return "", err
	}
	token, expires, err := c.logIn(ctx)
	if err == nil {
		c.secret(token)
	}
	c.mu.Lock()
	if err == nil {
		c.token, c.expires = token, expires
	} else if !errors.Is(err, context.Canceled) { // by who gave up
		c.failure = loginFailure{err, time.Now()}
	}
	c.mu.Unlock()
	if err != nil {
		return "", err
	}
	c.save(token, expires)
	return token, nil
}

// failedSince returns the error of a log-in that failed since a time, while others
// waited for it: they do not try it one after the other. One that was not answered holds
// a little longer.
func (c *client) failedSince(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.failure
	if f.err != nil && (f.at.After(at) || isHung(f.err) && time.Since(f.at) < loginHolds) {
		return f.err
	}
	return nil
}

// logIn returns a new token, and when it ends.
func (c *client) logIn(ctx context.Context) (token string, expires time.Time, err error) {
	low := value.MapOf("eauth", c.conf.EAuth, "username", c.conf.User)
	if c.conf.Password != "" {
		low.Set("password", c.conf.Password)
	}
	v, err := c.post(ctx, c.conf.Timeout, opLogin, "/login", "", low)
	if err != nil {
		return "", expires, err
	}
	m, _ := first(v).(*value.Map)
	if token, _ = m.At("token").(string); !sane(token) {
		return "", expires, c.fault(opLogin, 0, "", errNotSaltAPI)
	}
	expires = c.now().Add(time.Hour)
	if at, err := value.ToFloat(m.At("expire")); err == nil && at > 0 && at < 1e11 {
		expires = time.Unix(int64(at), 0)
	}
	// One that has ended already, to the clock here, is used until it is refused: else
	// every request would log in.
	if least := c.now().Add(renewBefore + leastToken); expires.Before(least) {
		expires = least
	}
	return token, expires, nil
}

// current returns the token that there is; "" where there is none that lasts and is
// not refused.
func (c *client) current(refused string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == refused || !c.now().Add(renewBefore).Before(c.expires) {
		return ""
	}
	return c.token
}

// ended reports whether a request was refused since its token has ended, so that
// nothing of it was begun, and not since the user is not permitted to make it. The
// master says 401 to both; whether it knows the token, the events tell. Where they
// do not, a request that changes nothing is made once more.
func (c *client) ended(ctx context.Context, op, token string) bool {
	ctx, cancel := context.WithTimeout(ctx, c.conf.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.conf.URL.String()+"/events", nil)
	if err != nil {
		return false
	}
	if resp, err := c.send(req, token); err == nil {
		defer resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			c.answers(resp)
			return false
		}
		if e, ok := errors.AsType[*Error](c.refusal(opEvents, resp)); ok && e.Status == http.StatusUnauthorized {
			return true
		}
	}
	return op == opFind || op == opAsk || op == opLook
}

// first returns the only item of the list that an answer is.
func first(v value.Value) value.Value {
	if l, ok := v.(*value.List); ok && l.Len() == 1 {
		return l.Items[0]
	}
	return nil
}

// call has the master run one low chunk and returns what it answers. A token that
// is refused is replaced once.
func (c *client) call(ctx context.Context, op string, low *value.Map) (value.Value, error) {
	return c.callFor(ctx, c.conf.Timeout, op, low)
}

// callFor is call with another timeout; 0 means only that of ctx.
func (c *client) callFor(ctx context.Context, d time.Duration, op string, low *value.Map) (value.Value, error) {
	refused := ""
	for {
		token, err := c.auth(ctx, refused)
		if err != nil {
			return nil, err
		}
		v, err := c.post(ctx, d, op, "/", token, value.NewList(low))
		if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusUnauthorized && refused == "" && c.conf.Token == "" && c.ended(ctx, op, token) {
			refused = token
			continue
		}
		if err != nil {
			return nil, err
		}
		answer := first(v)
		// rest_tornado answers 200 with the text of what went wrong.
		if text, ok := answer.(string); ok {
			if status := tornadoStatus(text); status != 0 {
				return nil, c.fault(op, status, text, nil)
			}
		}
		return answer, nil
	}
}

// post sends a request and returns the value of "return" in its answer, which
// must arrive within d; 0 means no limit.
func (c *client) post(ctx context.Context, d time.Duration, op, path, token string, body value.Value) (value.Value, error) {
	w := newWaiting(ctx, d)
	if d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(w.watch(ctx), http.MethodPost, c.conf.URL.String()+path, bytes.NewReader(value.EncodeJSON(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.send(req, token)
	if err != nil {
		return nil, c.fault(op, 0, "", c.hung(w, op, err))
	}
	defer resp.Body.Close()
	w.to(stageBody)
	if resp.StatusCode != http.StatusOK {
		err := c.refusal(op, resp)
		c.answers(resp)
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(w.count(resp.Body), maxBody+1))
	switch {
	case err != nil:
		c.silent(req.Context())
		return nil, c.fault(op, 0, "", c.hung(w, op, err))
	case len(b) > maxBody:
		return nil, c.fault(op, 0, "", fmt.Errorf("the answer has more than %d bytes", maxBody))
	}
	c.answers(resp)
	v, _, err := value.ParseJSONWithin(string(b), maxBodyCost)
	if tooMuch(err) {
		return nil, c.fault(op, 0, "", fmt.Errorf("the answer cannot be read: %w", err))
	}
	m, ok := v.(*value.Map)
	if err != nil || !ok || !m.Has("return") {
		return nil, c.fault(op, 0, "", errNotSaltAPI)
	}
	return m.At("return"), nil
}

// tooMuch reports whether a document was not read since it is too large or too deep.
func tooMuch(err error) bool {
	_, invalid := errors.AsType[*value.JSONError](err)
	return err != nil && !invalid
}

// send sends a request and notes if the master does not answer. That it does, the
// caller notes by answers, when all is there.
func (c *client) send(req *http.Request, token string) (*http.Response, error) {
	if req.Method == http.MethodPost { // for events, rest_tornado refuses all but */*
		req.Header.Set("Accept", "application/json")
	}
	req.Header.Set("User-Agent", "brine")
	if token != "" {
		req.Header.Set("X-Auth-Token", token)
		c.shown.Store(&token)
	}
	resp, err := c.http.Do(req)
	switch {
	case err != nil || down(resp):
		c.silent(req.Context())
	default:
		c.lastAnswer.Store(c.now().UnixNano())
	}
	return resp, err
}

// down reports whether something answers in place of a master that does not.
func down(resp *http.Response) bool {
	return resp.StatusCode == http.StatusBadGateway || resp.StatusCode == http.StatusServiceUnavailable
}

// answers notes that the master answers.
func (c *client) answers(resp *http.Response) {
	if !down(resp) {
		c.failed.Store(0)
	}
}

// silent records that the master does not answer, or stopped while answering;
// ctx is that of the request.
func (c *client) silent(ctx context.Context) {
	if err := ctx.Err(); err == nil || errors.Is(err, context.DeadlineExceeded) {
		c.failed.CompareAndSwap(0, c.now().UnixNano())
	}
}

// downSince returns since when the master does not answer; false where it does.
func (c *client) downSince() (time.Time, bool) {
	at := c.failed.Load()
	return time.Unix(0, at), at != 0
}

// refusal reads the answer to a request that was refused.
func (c *client) refusal(op string, resp *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	status, text := resp.StatusCode, reason(b)
	if status >= 300 && status < 400 {
		to := resp.Header.Get("Location")
		if to == "/login" || to == c.conf.URL.String()+"/login" {
			return c.fault(op, http.StatusUnauthorized, "", nil) // rest_tornado, to who has not logged in
		}
		return c.fault(op, status, to, nil)
	}
	return c.fault(op, status, text, nil)
}
