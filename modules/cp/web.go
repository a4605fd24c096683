package cp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
)

// webTimeout bounds one download: Salt's http_request_timeout.
const webTimeout = time.Hour

// webKey is a download of this run in the Memo, which is not repeated.
type webKey struct{ source, saltenv string }

// cacheWeb downloads a URL to dest, or to the cache where dest is "".
func (c *Client) cacheWeb(ctx context.Context, source, dest string, o Options) (string, error) {
	key := webKey{source, c.SaltEnv}
	toCache := dest == ""
	if toCache {
		dest = c.extern(source, c.SaltEnv)
		if _, ok := c.Env.Memo.Load(key); ok {
			if _, err := c.Env.Host.Stat(dest); err == nil {
				return dest, nil
			}
		}
		if o.SourceHash != "" && c.hasHash(dest, o.SourceHash) {
			return dest, nil
		}
		if err := c.Env.Host.MkdirAll(filepath.Dir(dest), 0o700); err != nil {
			return "", err
		}
	}
	if err := c.download(ctx, source, dest, o); err != nil {
		return "", err
	}
	if toCache {
		c.Env.Memo.Store(key, true)
	}
	return dest, nil
}

// hasHash reports whether a file has a digest, its kind told by the length.
func (c *Client) hasHash(path, want string) bool {
	algo := HashType(len(want))
	if algo == "" {
		return false
	}
	have, err := HashFile(c.Env.Host, path, algo)
	return err == nil && have == strings.ToLower(want)
}

func (c *Client) download(ctx context.Context, source, dest string, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, webTimeout)
	defer cancel()
	req, err := request(ctx, http.MethodGet, source)
	if err != nil {
		return err
	}
	etag := dest + ".etag"
	if o.UseETag {
		if tag, err := c.Env.Host.ReadFile(etag); err == nil {
			if _, err := c.Env.Host.Stat(dest); err == nil {
				req.Header.Set("If-None-Match", string(tag))
			}
		}
	}
	client := webClient(o)
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return fun.Errorf("Error: %s reading %s", reason(err), req.URL.Path)
	}
	defer resp.Body.Close()
	if o.UseETag && resp.StatusCode == http.StatusNotModified {
		return nil
	}
	if resp.StatusCode/100 != 2 {
		return fun.Errorf("Error: HTTP %d: %s reading %s", resp.StatusCode, http.StatusText(resp.StatusCode), req.URL.Path)
	}
	if err := c.Env.Host.WriteFile(dest, resp.Body, c.options(dest)); err != nil {
		return fmt.Errorf("download %s: %w", Redact(source), err)
	}
	if tag := resp.Header.Get("ETag"); o.UseETag && tag != "" {
		return c.Env.Host.WriteFile(etag, strings.NewReader(tag), host.WriteOptions{})
	}
	return nil
}

// Reachable reports whether a server answers a HEAD request for a URL well.
func (c *Client) Reachable(ctx context.Context, source string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := request(ctx, http.MethodHead, source)
	if err != nil {
		return false
	}
	client := webClient(Options{})
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode/100 == 2
}

func request(ctx context.Context, method, source string) (*http.Request, error) {
	u, err := url.Parse(source)
	if err != nil {
		return nil, fun.Errorf("Error reading %s: %s", Redact(source), "not a URL")
	}
	user := u.User
	u.User = nil
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if user != nil {
		pass, _ := user.Password()
		req.SetBasicAuth(user.Username(), pass)
	}
	// Accepting no encoding keeps what is stored as it is on the server.
	req.Header.Set("Accept-Encoding", "identity")
	return req, nil
}

func webClient(o Options) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if o.NoVerify {
		t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // verify_ssl: False asks for it
	}
	return &http.Client{Transport: t}
}

// reason returns why a request failed, as Python says it.
func reason(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return host.OSError(errno)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err.Error()
	}
	return err.Error()
}

// HashType returns the algorithm whose hex digest has n digits, "" where there
// is none.
func HashType(n int) string {
	switch n {
	case 32:
		return "md5"
	case 40:
		return "sha1"
	case 56:
		return "sha224"
	case 64:
		return "sha256"
	case 96:
		return "sha384"
	case 128:
		return "sha512"
	}
	return ""
}
