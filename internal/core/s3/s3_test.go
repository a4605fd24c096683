package s3

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"brine/internal/testkit/s3test"
)

// The signatures are those of the examples in Amazon's documentation.
func TestSign(t *testing.T) {
	who := credentials{keyID: "AKIAIOSFODNN7EXAMPLE", key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	now := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ at, head, want string }{
		{"https://examplebucket.s3.amazonaws.com/test.txt", "bytes=0-9", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J", "", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tt.at, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.head != "" {
			req.Header.Set("Range", tt.head)
		}
		sign(req, who, "us-east-1", now)
		if got := req.Header.Get("Authorization"); !strings.HasSuffix(got, ",Signature="+tt.want) || !strings.Contains(got, "=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,") {
			t.Errorf("%s: %s", tt.at, got)
		}
	}
}

func client(t *testing.T, of Service) *Client {
	t.Helper()
	c, err := New(of)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestList(t *testing.T) {
	s := s3test.New(t)
	s.Page = 2
	for _, k := range []string{"a", "b c+d", "sub/é", "sub/x", "z"} {
		s.Put("states", k, "text of "+k)
	}
	c := client(t, Service{Host: s.Host, Plain: true, PathStyle: true, KeyID: "anna", Key: "secret"})
	for _, tt := range []struct {
		bucket, prefix, want string
	}{
		{"states", "", "a b c+d sub/é sub/x z"},
		{"states", "sub/", "sub/é sub/x"},
		{"states", "no", ""},
		{"nothing", "", "error: NoSuchBucket: The bucket does not exist."},
		{"a b", "", `error: NoSuchBucket: The bucket does not exist.`},
	} {
		objects, err := c.List(t.Context(), tt.bucket, tt.prefix)
		var got []string
		for _, o := range objects {
			got = append(got, o.Key)
			var text strings.Builder
			if err := c.Read(t.Context(), tt.bucket, o, &text); err != nil || text.String() != "text of "+o.Key {
				t.Errorf("%s: %q %v", o.Key, text.String(), err)
			}
		}
		if err != nil {
			got = append(got, "error: "+err.Error())
		}
		if all := strings.Join(got, " "); all != tt.want && all != strings.ReplaceAll(tt.want, "sub/é sub/x", "sub/x sub/é") {
			t.Errorf("%s %s: %s\nwant: %s", tt.bucket, tt.prefix, all, tt.want)
		}
	}
	objects, err := c.List(t.Context(), "states", "a")
	if err != nil || len(objects) != 1 {
		t.Fatal(objects, err)
	}
	s.Put("states", "a", "new")
	if err := c.Read(t.Context(), "states", objects[0], &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "it changed while it was read") {
		t.Errorf("changed: %v", err)
	}
}

// A service is not trusted: it may send without an end, or be no service of S3 at all.
func TestHostileService(t *testing.T) {
	s := s3test.New(t)
	c := client(t, Service{Host: s.Host, Plain: true, PathStyle: true, KeyID: "anna", Key: "secret"})
	const list = `<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a</Key><ETag>x</ETag><Size>3</Size></Contents></ListBucketResult>`
	read := false
	for _, tt := range []struct {
		name, want string
		status     int
		body       string
	}{
		{"the same page for ever", "does not send them", 200, list},
		{"a page", "does not answer as S3 does", 200, "<html>hello</html>"},
		{"no XML", "does not answer as S3 does", 200, "hello"},
		{"a login", "answers 302 Found, and not as S3 does", 302, "<html/>"},
		{"an error of another server", "answers 404 Not Found, and not as S3 does", 404, "<html>404</html>"},
		{"control characters", `Denied: no\x1b[2Jway`, 403, "<Error><Code>Denied</Code><Message>no&#x9b;way</Message></Error>"},
	} {
		s.Answer = func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(tt.status)
			fmt.Fprint(w, tt.body)
			return true
		}
		_, err := c.List(t.Context(), "states", "")
		if tt.name == "control characters" {
			if err == nil || strings.ContainsRune(err.Error(), '\u009b') {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	s.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		for range 1 << 20 {
			if _, err := fmt.Fprint(w, strings.Repeat("x", 1<<10)); err != nil {
				return true
			}
		}
		read = true
		return true
	}
	var got strings.Builder
	if err := c.Read(t.Context(), "states", Object{Key: "a", Size: 3}, &got); err == nil || got.Len() > 4 || read {
		t.Errorf("an object without an end: %v, %d bytes, to the end: %v", err, got.Len(), read)
	}
	for _, host := range []string{"a b", "a/b", "user@host", "a?b", "http://x"} {
		if _, err := New(Service{Host: host}); err == nil {
			t.Errorf("the host %q is taken", host)
		}
	}
}

func TestRole(t *testing.T) {
	asked := 0
	meta := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch {
		case r.URL.Path == "/latest/api/token" && r.Method == http.MethodPut:
			fmt.Fprint(w, "tok")
		case r.Header.Get("X-Aws-Ec2-Metadata-Token") != "tok":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/latest/meta-data/iam/security-credentials/":
			fmt.Fprint(w, "web role\n")
		case r.URL.Path == "/latest/meta-data/iam/security-credentials/web role":
			fmt.Fprintf(w, `{"AccessKeyId": "anna", "SecretAccessKey": "s", "Token": "session", "Expiration": %q}`, time.Now().Add(time.Hour).Format(time.RFC3339))
		case r.URL.Path == "/latest/meta-data/placement/region":
			fmt.Fprint(w, "eu-central-1")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer meta.Close()
	s := s3test.New(t)
	s.Put("states", "a", "x")
	var head http.Header
	s.Answer = func(_ http.ResponseWriter, r *http.Request) bool { head = r.Header; return false }
	c := client(t, Service{Host: s.Host, Plain: true, PathStyle: true, KeyID: FromRole})
	c.metadata = meta.URL
	for range 2 {
		if list, err := c.List(context.Background(), "states", ""); err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
	}
	if head.Get("X-Amz-Security-Token") != "session" || !strings.Contains(head.Get("Authorization"), "/eu-central-1/s3/") || asked != 4 {
		t.Errorf("%v, the instance was asked %d times", head, asked)
	}
	c = client(t, Service{Host: s.Host, Plain: true, PathStyle: true})
	c.metadata = meta.URL + "/nothing"
	if _, err := c.List(context.Background(), "states", ""); err == nil || !strings.Contains(err.Error(), "keyid and key are not both set") {
		t.Errorf("no role: %v", err)
	}
}
