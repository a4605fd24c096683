// Package s3 reads the buckets of services with the API of Amazon S3.
//
// A [Client] lists and reads objects. Requests are signed by version 4 of Amazon's signature,
// with the keys of the configuration or those of the role of an EC2 instance.
package s3

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"brine/internal/core/printable"
)

// A Service is where buckets are, and who asks.
type Service struct {
	Host       string // a name or address, with a port or without; "" is s3.amazonaws.com
	Plain      bool   // HTTP instead of HTTPS
	PathStyle  bool   // the bucket is a part of the path, not of the host's name
	SkipVerify bool   // certificates are not checked
	CA         string // file of certificates that count instead of those of the system
	Region     string // "": that of the instance, else us-east-1

	// KeyID and Key are the credentials. Where one is empty, or FromRole, those of the role of
	// the instance are used.
	KeyID, Key string
}

// FromRole stands for the credentials of the role of the instance.
const FromRole = "use-instance-role-credentials"

// String hides the secrets.
func (Service) String() string { return "(a service of S3)" }

// GoString hides the secrets.
func (Service) GoString() string { return "(a service of S3)" }

// Bucket reports whether a bucket may have a name, which becomes a part of the host's name or of
// the path.
func (s Service) Bucket(name string) bool {
	return len(name) >= 3 && len(name) <= 63 && !strings.Contains(name, "..") && name[0] != '.' && name[0] != '-' &&
		!strings.ContainsFunc(name, func(c rune) bool {
			old := c >= 'A' && c <= 'Z' || c == '_' // which are in no name of a host
			return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-' && (!old || !s.PathStyle)
		})
}

// An Object is what a bucket has under a key.
type Object struct {
	Key  string `xml:"Key"`
	ETag string `xml:"ETag"` // other content has another one
	Size int64  `xml:"Size"` // bytes
}

// Bounds of what a service may send.
const (
	maxObjects = 1_000_000
	maxPage    = 64 << 20 // bytes of a page of a list, which has 1,000 objects
	maxProblem = 64 << 10 // bytes of an error
	stall      = 2 * time.Minute
)

// A Client speaks to a service. It is safe for concurrent use.
type Client struct {
	of   Service
	http *http.Client
	now  func() time.Time
	// metadata is the address of the service that tells an instance about itself.
	metadata string

	mu  sync.Mutex
	who credentials
}

// New returns a client. It is an error if the host of the service cannot be one, or its
// certificates cannot be read.
func New(of Service) (*Client, error) {
	of.Host = cmp.Or(of.Host, "s3.amazonaws.com")
	if u, err := url.Parse("https://" + of.Host + "/"); err != nil || u.Host != of.Host || u.Hostname() == "" {
		return nil, fmt.Errorf("%q is not a host: write its name, as in s3.example.com or s3.example.com:9000", of.Host)
	}
	var roots *x509.CertPool
	if of.CA != "" {
		b, err := os.ReadFile(of.CA)
		if err != nil {
			return nil, err
		}
		if roots = x509.NewCertPool(); !roots.AppendCertsFromPEM(b) {
			return nil, fmt.Errorf("%s has no certificate", of.CA)
		}
	}
	c := &Client{of: of, now: time.Now, metadata: cmp.Or(os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), "http://169.254.169.254")}
	c.http = &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			TLSClientConfig:       &tls.Config{InsecureSkipVerify: of.SkipVerify, RootCAs: roots, MinVersion: tls.VersionTLS12}, // s3.verify_ssl: False asks for it
			TLSHandshakeTimeout:   time.Minute,
			ResponseHeaderTimeout: stall,
			IdleConnTimeout:       stall,
			DialContext:           (&net.Dialer{Timeout: time.Minute}).DialContext,
		},
		// A signature is for one host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close ends the connections that nobody uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A page is one answer of a list.
type page struct {
	XMLName     xml.Name `xml:"ListBucketResult"`
	IsTruncated bool     `xml:"IsTruncated"`
	NextMarker  string   `xml:"NextMarker"`
	Contents    []Object `xml:"Contents"`
}

// List returns the objects of a bucket whose keys begin with prefix, in their order. An error
// names what the service says of it.
func (c *Client) List(ctx context.Context, bucket, prefix string) ([]Object, error) {
	var out []Object
	for marker := ""; ; {
		q := url.Values{}
		if prefix != "" {
			q.Set("prefix", prefix)
		}
		if marker != "" {
			q.Set("marker", marker)
		}
		p, err := c.page(ctx, bucket, q)
		if err != nil {
			return nil, err
		}
		if out = append(out, p.Contents...); len(out) > maxObjects {
			return nil, fmt.Errorf("it has more than %d objects", maxObjects)
		}
		if !p.IsTruncated {
			return out, nil
		}
		next := p.NextMarker
		if n := len(p.Contents); next == "" && n > 0 {
			next = p.Contents[n-1].Key
		}
		if next <= marker {
			return nil, errors.New("the service says that there are more objects, and does not send them")
		}
		marker = next
	}
}

func (c *Client) page(ctx context.Context, bucket string, q url.Values) (*page, error) {
	body, err := c.get(ctx, bucket, "", q, "")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	p := &page{}
	b, err := io.ReadAll(io.LimitReader(body, maxPage+1))
	if err == nil && len(b) > maxPage {
		err = fmt.Errorf("a list has more than %d bytes", maxPage)
	}
	if err == nil && xml.Unmarshal(b, p) != nil {
		err = fmt.Errorf("%s does not answer as S3 does", c.of.Host)
	}
	return p, err
}

// Read writes an object of a list to w. One that has changed since then is an error.
func (c *Client) Read(ctx context.Context, bucket string, o Object, w io.Writer) error {
	body, err := c.get(ctx, bucket, o.Key, nil, o.ETag)
	if err != nil {
		return err
	}
	defer body.Close()
	n, err := io.Copy(w, io.LimitReader(body, o.Size+1))
	if err == nil && n != o.Size {
		err = fmt.Errorf("it does not have the %d bytes of the list", o.Size)
	}
	return err
}

// get returns the body of an answer, which ends where nothing comes for a while.
func (c *Client) get(ctx context.Context, bucket, key string, q url.Values, etag string) (io.ReadCloser, error) {
	u := url.URL{Scheme: "https", Host: c.of.Host, RawQuery: strings.ReplaceAll(q.Encode(), "+", "%20")}
	if c.of.Plain {
		u.Scheme = "http"
	}
	if c.of.PathStyle {
		u.Path, u.RawPath = "/"+bucket+"/"+key, "/"+escape(bucket)+"/"+escape(key)
	} else {
		u.Host = bucket + "." + u.Host
		u.Path, u.RawPath = "/"+key, "/"+escape(key)
	}
	ctx, cancel := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil || req.URL.Host != u.Host {
		cancel()
		return nil, fmt.Errorf("%q is not a bucket", bucket)
	}
	who, region, err := c.credentials(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	if etag != "" {
		req.Header.Set("If-Match", etag)
	}
	sign(req, who, region, c.now())
	res, err := c.http.Do(req)
	if err != nil {
		cancel()
		if ue := (*url.Error)(nil); errors.As(err, &ue) {
			err = ue.Err
		}
		return nil, err
	}
	body := &watched{res.Body, cancel}
	if res.StatusCode == http.StatusOK {
		return body, nil
	}
	defer func() { _ = body.Close() }()
	return nil, problem(res, body)
}

// A watched body ends where nothing comes for the time of stall.
type watched struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (w *watched) Read(b []byte) (int, error) {
	t := time.AfterFunc(stall, w.cancel)
	defer t.Stop()
	return w.ReadCloser.Read(b)
}

// Close ends the request.
func (w *watched) Close() error {
	defer w.cancel()
	return w.ReadCloser.Close()
}

// problem is what the service says of a request that it does not carry out.
func problem(res *http.Response, body io.Reader) error {
	var said struct {
		XMLName xml.Name `xml:"Error"`
		Code    string   `xml:"Code"`
		Message string   `xml:"Message"`
	}
	b, err := io.ReadAll(io.LimitReader(body, maxProblem))
	if err != nil || xml.Unmarshal(b, &said) != nil || said.Code == "" {
		return fmt.Errorf("%s answers %s, and not as S3 does", printable.Line(res.Request.URL.Host), printable.Line(res.Status))
	}
	hint := ""
	if region := res.Header.Get("X-Amz-Bucket-Region"); region != "" && (said.Code == "PermanentRedirect" || said.Code == "AuthorizationHeaderMalformed") {
		hint = "; the bucket is in the region " + printable.Line(region)
	}
	if said.Code == "PreconditionFailed" {
		hint = "; it changed while it was read"
	}
	return fmt.Errorf("%s: %s%s", printable.Line(said.Code), printable.Line(said.Message), hint)
}
